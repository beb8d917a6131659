//! What carries a tool's calls out.

use super::Tool;
use crate::error::{Error, Result};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Debug, Deserialize, PartialEq)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Handler {
    /// Code of the Worker itself.
    Builtin { key: String },
    /// A server that calls are posted to.
    Http {
        url: String,
        #[serde(default)]
        headers: BTreeMap<String, String>,
    },
    /// A function that runs in the sandbox.
    Python { code: String, function: String },
}

impl Handler {
    pub fn of(tool: &Tool) -> Result<Self> {
        serde_json::from_str(tool.handler.get())
            .map_err(|cause| Error::Internal(format!("the tool {} has a broken handler: {cause}", tool.id)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::fixture;
    use serde_json::value::RawValue;

    #[test]
    fn handlers_are_told_apart_by_their_type() {
        let check = |json: &str, expected: Option<Handler>| {
            let mut tool = fixture("x");
            tool.handler = RawValue::from_string(json.to_owned()).unwrap();
            assert_eq!(Handler::of(&tool).ok(), expected, "{json}");
        };
        check(r#"{"type":"builtin","key":"read_file"}"#, Some(Handler::Builtin { key: "read_file".into() }));
        check(
            r#"{"type":"http","url":"https://a.example"}"#,
            Some(Handler::Http { url: "https://a.example".into(), headers: BTreeMap::new() }),
        );
        check(
            r#"{"type":"python","code":"def f(a): ...","function":"f"}"#,
            Some(Handler::Python { code: "def f(a): ...".into(), function: "f".into() }),
        );
        check(r#"{"type":"shell"}"#, None);
    }
}
