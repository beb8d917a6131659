//! The body of a registration: a version as its registrant sends it.

use super::fields::version_fields;
use super::handler::{Builtin, Handler};
#[cfg(not(target_arch = "wasm32"))]
use super::shown_schema::described;
use super::tool::{Example, ExecutionMode, ResourceClass, Risk, RollbackStrategy, SideEffect, Source, Tool};
use crate::callers::Level;
use crate::error::{Error, Place, Problem, Result};
use crate::ids::{ToolId, Version};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use utoipa::ToSchema;

macro_rules! tool_in {
    (own $own:tt
     shared { $($shared:ident: $type:tt, given [$($attributes:tt)*] ($($given:tt)*) $decide:expr, shown $shown:tt;)* }) => {
        #[derive(Deserialize, ToSchema)]
        #[serde(deny_unknown_fields)]
        pub struct ToolIn {
            #[schema(pattern = "^[a-z0-9_-]+$", max_length = 128, example = "line_count")]
            id: String,
            /// Exactly three numbers; higher than every version that there is.
            #[schema(pattern = r"^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$", example = "1.0.0")]
            version: String,
            #[schema(min_length = 1, max_length = 200, example = "Count lines")]
            name: String,
            #[schema(min_length = 10, max_length = 500, example = "Counts the lines of a text")]
            description: String,
            #[cfg_attr(not(target_arch = "wasm32"), schema(schema_with = described::parameters_given))]
            parameters_schema: Value,
            #[cfg_attr(not(target_arch = "wasm32"), schema(schema_with = described::returns_given))]
            returns_schema: Option<Value>,
            /// What carries calls out: `{"type": "builtin", "key"}`, `{"type": "http", "url", "headers"?}`,
            /// `{"type": "rest", "method", "url", "query"?, "headers"?, "header_params"?, "body"?, "content_type"?,
            /// "styles"?}` or
            /// `{"type": "python", "code", "function", "files"?, "requirements"?}`. A `rest` handler sends each argument as the
            /// part of a request that it names: `{name}` in the URL's path, a parameter of `query`, one of `header_params`, or
            /// the argument `body`. A `python` handler with `files: true` works on the files of the session, and
            /// `requirements` names the packages that it needs: `pydantic`, `covalt_toolset`.
            #[schema(value_type = Object, example = json!({"type": "http", "url": "https://tools.example.com/word_count"}))]
            handler: Value,
            /// Lower-case letters, digits, `_` and `-`; `general`, if not given.
            #[schema(pattern = "^[a-z0-9_-]{1,64}$", default = "general")]
            category: Option<String>,
            $($($attributes)* $shared: $($given)*,)*
        }

        impl ToolIn {
            /// Builds the version from its parsed parts. The version is active from `now` on.
            fn with(self, parts: Parts, handler: &Handler, registered_by: &str, now: Timestamp) -> Result<Tool> {
                let Parts { id, version, parameters_schema, returns_schema } = parts;
                Ok(Tool {
                    key: 0,
                    id,
                    source: Source::Registered,
                    created_at: now,
                    version,
                    handler_key: handler.key().to_owned(),
                    handler: handler_json(handler)?,
                    name: self.name,
                    description: self.description,
                    parameters_schema,
                    returns_schema,
                    category: self.category.unwrap_or_else(|| "general".to_owned()),
                    registered_at: now,
                    registered_by: registered_by.to_owned(),
                    active: true,
                    deactivated_at: None,
                    deactivated_reason: None,
                    missing_credentials: Vec::new(),
                    current_policy: None,
                    context: None,
                    upstream: None,
                    $($shared: decided(self.$shared, $decide),)*
                })
            }
        }
    };
}

version_fields!(tool_in);

/// Converts the given value of a field to the value in [`Tool`].
fn decided<G, T>(given: G, decide: impl FnOnce(G) -> T) -> T {
    decide(given)
}

/// The parsed parts of a registration, except its handler.
struct Parts {
    id: ToolId,
    version: Version,
    parameters_schema: String,
    returns_schema: Option<String>,
}

/// A parsed registration.
pub struct ReadTool {
    /// The active version. It holds its handler as it was given: nothing is sealed yet.
    pub tool: Tool,
    pub handler: Handler,
    /// The parts that have the wrong form. In the version, they have stand-ins, so that the rules for all other parts can
    /// be checked.
    pub problems: Vec<Problem>,
}

impl ToolIn {
    pub fn read(self, registered_by: &str, now: Timestamp) -> Result<ReadTool> {
        let mut problems = Vec::new();
        let mut problem = |path: &str, message: &str| {
            problems.push(Problem { place: Place::Body, path: path.to_owned(), message: message.to_owned() });
        };
        let id = ToolId::parse(&self.id).filter(|_| is_registered_id(&self.id));
        if id.is_none() {
            problem("/id", "must be 1 to 128 lower-case letters, digits, _ or -");
        }
        let version = Version::parse(&self.version);
        if version.is_none() {
            problem("/version", "must be three numbers such as 1.0.0");
        }
        let parameters_schema = schema_text(&self.parameters_schema);
        if parameters_schema.is_none() {
            problem("/parameters_schema", "must be a JSON Schema: an object, or its JSON as a string");
        }
        let returns_schema = self.returns_schema.as_ref().map(schema_text);
        if returns_schema == Some(None) {
            problem("/returns_schema", "must be a JSON Schema: an object, or its JSON as a string");
        }
        let handler = Handler::read(&self.handler).unwrap_or_else(|faults| {
            problems.extend(faults);
            Handler::Builtin { key: Builtin::ListFiles.as_str().to_owned() }
        });
        let stand_in = || ToolId::parse("-").ok_or_else(|| Error::Internal("- is no id of a tool".into()));
        let parts = Parts {
            id: id.map_or_else(stand_in, Ok)?,
            version: version.unwrap_or(Version { major: 0, minor: 0, patch: 0 }),
            parameters_schema: parameters_schema.unwrap_or_else(|| "{}".to_owned()),
            returns_schema: returns_schema.flatten(),
        };
        let mut tool = self.with(parts, &handler, registered_by, now)?;
        for name in handler.credentials() {
            if !tool.credentials_required.iter().any(|it| it == name) {
                tool.credentials_required.push(name.to_owned());
            }
        }
        Ok(ReadTool { tool, handler, problems })
    }
}

/// The JSON of a handler, as the column stores it.
pub fn handler_json(handler: &impl Serialize) -> Result<Box<RawValue>> {
    serde_json::value::to_raw_value(handler).map_err(|cause| Error::Internal(format!("a handler is not JSON: {cause}")))
}

/// The text of a schema. A schema that was given as text keeps that text.
fn schema_text(given: &Value) -> Option<String> {
    match given {
        Value::String(text) => Some(text.clone()),
        Value::Object(_) => Some(given.to_string()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    }
}

/// `^[a-z0-9_-]{1,128}$`
pub fn is_registered_id(text: &str) -> bool {
    (1..=128).contains(&text.len()) && text.bytes().all(is_id_byte)
}

pub const fn is_id_byte(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_' || byte == b'-'
}

fn without_repeats(words: Option<Vec<String>>) -> Vec<String> {
    let mut kept = Vec::new();
    for word in words.unwrap_or_default() {
        if !kept.contains(&word) {
            kept.push(word);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(change: Value) -> Result<Tool> {
        let mut given = json!({
            "id": "word_count", "version": "1.0.0", "name": "Count words", "description": "Counts the words of a text",
            "parameters_schema": {"type": "object"}, "handler": {"type": "http", "url": "https://a.example"},
        });
        given.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let given = serde_json::from_value::<ToolIn>(given).unwrap();
        let read = given.read("root", Timestamp::from_millis(0).unwrap()).unwrap();
        if read.problems.is_empty() { Ok(read.tool) } else { Err(Error::Invalid(read.problems)) }
    }

    #[test]
    fn what_is_not_given_has_its_default() {
        let tool = read(json!({})).unwrap();
        assert_eq!(
            (tool.category.as_str(), tool.risk_level, tool.required_permission),
            ("general", Risk::Low, Level::Guest)
        );
        assert_eq!((tool.timeout_seconds, tool.requires_approval, tool.rate_limit), (30, false, None));
        assert_eq!((tool.handler_key.as_str(), tool.active), ("http", true));
    }

    #[test]
    fn a_schema_given_as_text_is_kept_to_the_letter() {
        let text = r#"{ "type" : "object" }"#;
        let tool = read(json!({"parameters_schema": text, "returns_schema": {"type": "string"}})).unwrap();
        assert_eq!(tool.parameters_schema, text);
        assert_eq!(tool.returns_schema.as_deref(), Some(r#"{"type":"string"}"#));
    }

    #[test]
    fn credentials_that_headers_name_are_required() {
        let headers = json!({"Authorization": "Bearer ${B}", "X": "${A}"});
        let handler = json!({"type": "http", "url": "https://a.example", "headers": headers});
        let tool = read(json!({"handler": handler, "credentials_required": ["A", "A"]})).unwrap();
        assert_eq!(tool.credentials_required, ["A", "B"]);
    }

    #[test]
    fn every_part_of_a_wrong_form_is_told() {
        let given = json!({"id": "A", "version": "1", "parameters_schema": 1, "returns_schema": [], "handler": {}});
        let Err(Error::Invalid(problems)) = read(given) else { unreachable!("none of them fits") };
        let paths = problems.iter().map(|it| it.path.as_str()).collect::<Vec<_>>();
        assert_eq!(paths, ["/id", "/version", "/parameters_schema", "/returns_schema", "/handler/type"]);
    }
}
