//! Tells what was probably meant by a backup that cannot be read in the form in which it was sent. This file serves no
//! route.

use crate::error::{Error, Result};

/// The first field of a line, and of a document.
const OF_LINES: [&str; 6] = ["credential", "agent", "tool", "version", "attachment", "end"];
const OF_DOCUMENTS: [&str; 5] = ["tools", "versions", "agents", "attachments", "credentials"];

const LINES_AS_DOCUMENT: &str =
    "must be application/x-ndjson for a backup as JSON Lines: add -H 'Content-Type: application/x-ndjson'";
const DOCUMENT_AS_LINES: &str =
    "is the beginning of a backup as one document: leave the Content-Type application/x-ndjson out";
const SEVERAL_ON_A_LINE: &str = "holds more than one record: each needs a line of its own (curl -d takes line breaks \
    away, and --data-binary keeps them)";

/// The document, or the fault of its body.
pub fn on_document<T>(read: Result<T>, body: &[u8]) -> Result<T> {
    match read {
        Err(Error::Invalid(_)) if begins_with(&OF_LINES, body) => Err(Error::header("Content-Type", LINES_AS_DOCUMENT)),
        read => read,
    }
}

/// The record of a line, or the fault of the line.
pub fn on_line<T>(read: Result<T>, line: &[u8]) -> Result<T> {
    let Err(Error::Invalid(problems)) = &read else { return read };
    if problems.iter().any(|it| it.message.starts_with("trailing characters")) {
        return Err(Error::body("", SEVERAL_ON_A_LINE));
    }
    let is_open = line.trim_ascii() == b"{";
    if is_open || begins_with(&OF_DOCUMENTS, line) { Err(Error::body("", DOCUMENT_AS_LINES)) } else { read }
}

/// Whether the text is an object whose first field has one of these names.
fn begins_with(names: &[&str], text: &[u8]) -> bool {
    let name = text.trim_ascii_start().strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
    let Some(rest) = name.and_then(|it| it.strip_prefix(b"\"")) else { return false };
    names.iter().any(|it| rest.strip_prefix(it.as_bytes()).is_some_and(|it| it.starts_with(b"\"")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_meant_is_told() {
        let refused = |message: &str| Err::<(), _>(Error::body("", message));
        let document = |body: &str| on_document(refused("no"), body.as_bytes()).unwrap_err().to_string();
        assert!(document("{\"tool\": {}}\n").starts_with("Content-Type: must be application/x-ndjson"));
        assert_eq!(document("{ \"tools\": [] }"), "no");
        let line = |message: &str, line: &str| on_line(refused(message), line.as_bytes()).unwrap_err().to_string();
        assert_eq!(line("no", "{\"tools\":[]}"), DOCUMENT_AS_LINES);
        assert_eq!(line("EOF while parsing", "{ "), DOCUMENT_AS_LINES);
        assert_eq!(line("trailing characters at line 1 column 9", "{\"tool\":{}}{"), SEVERAL_ON_A_LINE);
        assert_eq!(line("no", "{\"tool\":{}}"), "no");
    }
}
