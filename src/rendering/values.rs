//! Finds the values of expressions, and fills them into a configuration. The values of a plan are bounded: a text that is
//! too long is cut, and another value that is too large is left out. Nothing here can fail.

use super::expression::{Expression, Piece, Root, pieces};
use super::plan::PlanSources;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io;

/// The most bytes of JSON that all values of a plan may have together. With its configuration and its lists of missing
/// and cut values, a plan then has less than 256 KiB.
pub const MAX_VALUES_BYTES: usize = 192 * 1024;

/// The most bytes of JSON that one value may have, so that a large value leaves room for small ones.
const MAX_VALUE_BYTES: usize = 128 * 1024;

/// The end of a text that is cut.
const NOTICE: &str = "\n[cut: the record of the call has the whole]";

/// The bytes of the notice in JSON: its line break takes two.
const NOTICE_BYTES: usize = NOTICE.len() + 1;

/// Fills values into the texts of a configuration.
pub struct Filling<'a> {
    sources: &'a PlanSources<'a>,
    /// How many bytes the values may still have.
    room: usize,
    /// The expressions that lead to no value.
    pub missing: BTreeSet<String>,
    /// The expressions whose values were too large.
    pub cut: BTreeSet<String>,
}

impl<'a> Filling<'a> {
    pub fn new(sources: &'a PlanSources<'a>) -> Self {
        Self { sources, room: MAX_VALUES_BYTES, missing: BTreeSet::new(), cut: BTreeSet::new() }
    }

    /// The fields with their values filled in. Their names stay as they are.
    pub fn fields(&mut self, fields: &Map<String, Value>) -> Map<String, Value> {
        fields.iter().map(|(name, value)| (name.clone(), self.value(value))).collect()
    }

    fn value(&mut self, value: &Value) -> Value {
        match value {
            Value::String(text) => match Expression::whole(text) {
                Some(expression) => self.whole(expression),
                None => Value::String(self.text(text)),
            },
            Value::Array(elements) => elements.iter().map(|it| self.value(it)).collect(),
            Value::Object(fields) => Value::Object(self.fields(fields)),
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    /// The value of a text that is one expression. The value keeps its type.
    fn whole(&mut self, expression: Expression<'_>) -> Value {
        match self.find(expression).as_deref() {
            None => Value::Null,
            Some(Value::String(text)) => Value::String(self.fitting(expression, text)),
            Some(value) => match json_of(value, self.room_of_value()) {
                Ok(json) => {
                    self.room -= json.len();
                    value.clone()
                }
                Err(_) => {
                    self.cut.insert(expression.written.to_owned());
                    Value::Null
                }
            },
        }
    }

    /// A text with the texts of its expressions.
    fn text(&mut self, text: &str) -> String {
        let mut filled = String::new();
        for piece in pieces(text) {
            match piece {
                Piece::Text(text) | Piece::Unknown(text) => filled.push_str(text),
                Piece::Expression(expression) => match self.find(expression).as_deref() {
                    None | Some(Value::Null) => {}
                    Some(Value::String(text)) => filled.push_str(&self.fitting(expression, text)),
                    Some(value) => filled.push_str(&match json_of(value, self.room_of_value()) {
                        Ok(json) => self.fitting(expression, &json),
                        Err(begin) => self.cut_text(expression, &begin),
                    }),
                },
            }
        }
        filled
    }

    /// The value of an expression. An expression without one is noted as missing.
    fn find(&mut self, expression: Expression<'_>) -> Option<Cow<'a, Value>> {
        let sources = self.sources;
        let text = |it: String| Some(Cow::Owned(Value::String(it)));
        let found = match expression.root {
            Root::Args => expression.find(sources.arguments).map(Cow::Borrowed),
            Root::Return => expression.find(sources.result).map(Cow::Borrowed),
            Root::ChatId => text(sources.session.to_string()),
            Root::Workspace => text(format!("/api/sessions/{}/files", sources.session)),
            Root::Toolset => sources.toolset_files().and_then(text),
        };
        if found.is_none() {
            self.missing.insert(expression.written.to_owned());
        }
        found
    }

    fn room_of_value(&self) -> usize {
        self.room.min(MAX_VALUE_BYTES)
    }

    /// The text of an expression, cut if it does not fit.
    fn fitting(&mut self, expression: Expression<'_>, text: &str) -> String {
        let (begin, bytes) = beginning(text, self.room_of_value());
        if begin.len() < text.len() {
            return self.cut_text(expression, text);
        }
        self.room -= bytes;
        text.to_owned()
    }

    /// The beginning of a text that does not fit, with a notice. Where there is no room for the notice, the text is empty.
    fn cut_text(&mut self, expression: Expression<'_>, text: &str) -> String {
        self.cut.insert(expression.written.to_owned());
        let Some(room) = self.room_of_value().checked_sub(NOTICE_BYTES) else { return String::new() };
        let (begin, bytes) = beginning(text, room);
        self.room -= bytes + NOTICE_BYTES;
        format!("{begin}{NOTICE}")
    }
}

/// The longest beginning of a text that has at most `room` bytes within a JSON text, and these bytes.
fn beginning(text: &str, room: usize) -> (&str, usize) {
    let mut bytes = 0;
    for (at, letter) in text.char_indices() {
        let more = match letter {
            '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
            '\0'..' ' => 6,
            _ => letter.len_utf8(),
        };
        if bytes + more > room {
            return (&text[..at], bytes);
        }
        bytes += more;
    }
    (text, bytes)
}

/// The JSON of a value. Fails with its beginning if it has more than `most` bytes; the rest is not written then.
fn json_of(value: &Value, most: usize) -> Result<String, String> {
    struct Bounded {
        json: Vec<u8>,
        most: usize,
    }
    impl io::Write for Bounded {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            match bytes.len().min(self.most - self.json.len()) {
                0 if !bytes.is_empty() => Err(io::ErrorKind::WriteZero.into()),
                fitting => {
                    self.json.extend_from_slice(&bytes[..fitting]);
                    Ok(fitting)
                }
            }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut bounded = Bounded { json: Vec::new(), most };
    let written = serde_json::to_writer(&mut bounded, value);
    // A character that was cut in two is left out.
    let json = String::from_utf8(bounded.json).unwrap_or_else(|it| {
        let end = it.utf8_error().valid_up_to();
        String::from_utf8_lossy(&it.as_bytes()[..end]).into_owned()
    });
    if written.is_ok() { Ok(json) } else { Err(json) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_beginning_of_a_text_is_measured_as_json() {
        for text in ["", "abc", "ä🎈", "a\"\\\n\r\t\u{8}\u{c}", "\u{0}\u{1f}\u{7f}\u{2028}x"] {
            let whole = json!(text).to_string().len() - 2;
            assert_eq!(beginning(text, whole), (text, whole), "{text:?}");
            if whole > 0 {
                let (begin, bytes) = beginning(text, whole - 1);
                assert!(text.starts_with(begin) && begin.len() < text.len());
                assert_eq!(json!(begin).to_string().len() - 2, bytes, "{text:?}");
            }
        }
    }

    #[test]
    fn json_stops_where_there_is_no_room() {
        let value = json!({"a": ["ä", 1]});
        let whole = value.to_string();
        assert_eq!(json_of(&value, whole.len()), Ok(whole.clone()));
        for most in 0..whole.len() {
            let begin = json_of(&value, most).unwrap_err();
            assert!(whole.starts_with(&begin) && begin.len() <= most && begin.len() + 1 >= most, "{most}: {begin}");
        }
    }
}
