//! The addresses of resources: files of sessions, tools and their parameters, and recorded calls.

use crate::files::FilePath;
use crate::hex::{percent_decoded, percent_encoded};
use crate::ids::{CallId, SessionId};

/// The resource that an address names.
#[derive(Debug, PartialEq)]
pub enum ResourceAddress {
    /// `session://{session}/{+path}`. An address with an unknown scheme is a file too, in the endpoint's session
    /// (None), because a file may be stored under the address that it comes from.
    File(Option<SessionId>, FilePath),
    /// `tool://{tool}`
    Tool(String),
    /// `tool://{tool}/{parameter}{?value}`
    Parameter(String, String),
    /// `call://{call}`
    Call(CallId),
}

/// The templates of addresses, as MCP's `ResourceTemplate`s.
pub const TEMPLATES: &str = include_str!(concat!(env!("OUT_DIR"), "/templates.json"));
pub const TOOL_TEMPLATE: &str = "tool://{tool}";
pub const PARAMETER_TEMPLATE: &str = "tool://{tool}/{parameter}{?value}";

/// Parses an address. None, if no resource can have this address.
pub fn parse(uri: &str) -> Option<ResourceAddress> {
    let (scheme, rest) = uri.split_once(':')?;
    let rest = rest.strip_prefix("//");
    match (scheme, rest) {
        ("session", Some(rest)) => {
            let (session, path) = rest.split_once('/')?;
            Some(ResourceAddress::File(Some(SessionId::parse(session)?), path_of(path)?))
        }
        ("tool", Some(rest)) => {
            let rest = rest.split_once('?').map_or(rest, |(path, _)| path);
            match rest.split_once('/') {
                None => percent_decoded(rest).map(ResourceAddress::Tool),
                Some((tool, parameter)) => {
                    Some(ResourceAddress::Parameter(percent_decoded(tool)?, percent_decoded(parameter)?))
                }
            }
        }
        ("call", Some(id)) => CallId::parse(id).map(ResourceAddress::Call),
        _ => Some(ResourceAddress::File(None, path_of(uri)?)),
    }
}

fn path_of(text: &str) -> Option<FilePath> {
    FilePath::parse(&percent_decoded(text)?).ok().filter(|it| !it.is_root())
}

/// The address of a file.
pub fn of_file(session: &SessionId, path: &str) -> String {
    let steps = path.split('/').map(percent_encoded).collect::<Vec<_>>();
    format!("session://{session}{}", steps.join("/"))
}

/// The media type of a file, by the end of its name. None, if the end is unknown.
pub fn mime_type(path: &str) -> Option<&'static str> {
    let name = path.rsplit('/').next()?;
    Some(match name.rsplit_once('.')?.1.to_ascii_lowercase().as_str() {
        "txt" | "log" => "text/plain",
        "md" => "text/markdown",
        "html" | "htm" => "text/html",
        "csv" => "text/csv",
        "js" => "text/javascript",
        "py" => "text/x-python",
        "json" => "application/json",
        "pdf" => "application/pdf",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "svg" => "image/svg+xml",
        "wav" => "audio/wav",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(session: Option<&str>, path: &str) -> Option<ResourceAddress> {
        Some(ResourceAddress::File(session.and_then(SessionId::parse), FilePath::parse(path).unwrap()))
    }

    #[test]
    fn what_can_be_completed_is_among_the_templates() {
        let templates = serde_json::from_str::<Vec<serde_json::Value>>(TEMPLATES).unwrap();
        for template in [TOOL_TEMPLATE, PARAMETER_TEMPLATE] {
            assert!(templates.iter().any(|it| it["uriTemplate"] == template), "{template}");
        }
    }

    #[test]
    fn addresses_say_what_they_are_of() {
        assert_eq!(parse("session://default/notes.txt"), file(Some("default"), "/notes.txt"));
        assert_eq!(parse("session://s/a%20b/%C3%A4.csv"), file(Some("s"), "/a b/ä.csv"));
        assert_eq!(parse("tool://read_file"), Some(ResourceAddress::Tool("read_file".into())));
        assert_eq!(
            parse("tool://kit%3Arun/mode?value=fast"),
            Some(ResourceAddress::Parameter("kit:run".into(), "mode".into()))
        );
        assert_eq!(parse("call://call_1"), Some(ResourceAddress::Call(CallId::parse("call_1").unwrap())));
    }

    #[test]
    fn others_are_files_under_their_own_name() {
        assert_eq!(parse("test://static-text"), file(None, "/test:/static-text"));
        assert_eq!(parse("https://example.com/a%20b"), file(None, "/https:/example.com/a b"));
        assert_eq!(parse("urn:isbn:7"), file(None, "/urn:isbn:7"));
    }

    #[test]
    fn what_nothing_can_be_at_is_none() {
        for uri in [
            "",
            "notes.txt",
            "session://",
            "session://s",
            "session://s/",
            "session://a b/x",
            "session://s/..",
            "session://s/%0A",
            "session://s/%",
            "session://s/%zz",
            "session://s/%FF",
            "call://",
            "call://a b",
            "tool://%ff",
        ] {
            assert_eq!(parse(uri), None, "{uri}");
        }
    }

    #[test]
    fn a_files_address_leads_back_to_it() {
        let session = SessionId::parse("s").unwrap();
        for path in ["/a", "/a b/ä/%41", "/?#[]@!$&'()*+,;=:", "/https:/example.com/x"] {
            assert_eq!(parse(&of_file(&session, path)), file(Some("s"), path), "{path}");
        }
    }

    #[test]
    fn names_tell_what_files_hold() {
        assert_eq!(mime_type("/a/B.JSON"), Some("application/json"));
        for path in ["/a", "/a.b/c", "/a.xyz", "/."] {
            assert_eq!(mime_type(path), None, "{path}");
        }
    }
}
