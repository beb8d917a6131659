//! Warnings about a valid tool: parts that a model's provider refuses, and likely mistakes of its author. Exports
//! rewrite what a provider refuses, but a schema that needs no rewriting is better.

use super::portable::is_portable;
use super::tool::Tool;
use crate::error::{escaped, shortened};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

const MAX_WARNINGS: usize = 50;
/// Schemas that are nested deeper than this are exported as "any value".
pub const MAX_DEPTH: usize = 24;
const MAX_NAME_BYTES: usize = 64;

/// A part of a tool that is allowed, but that the author should know about; or an argument that is allowed, but probably
/// a mistake.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Warning {
    /// A JSON pointer into the registration, or into the arguments of a call.
    #[schema(example = "/parameters_schema/properties/tags")]
    path: String,
    #[schema(example = "OpenAI and Gemini refuse an array without items")]
    message: String,
}

impl Warning {
    pub fn new(path: &str, message: &str) -> Self {
        Self { path: path.to_owned(), message: message.to_owned() }
    }
}

pub fn warnings(tool: &Tool) -> Vec<Warning> {
    let mut found = WarningList(Vec::new());
    if tool.id.as_str().len() > MAX_NAME_BYTES {
        found.add("/id", "models get a shortened name: providers allow 64 characters");
    } else if tool.id.as_str().starts_with(|it: char| it.is_ascii_digit() || it == '-') {
        found.add("/id", "models get another name: Gemini refuses one that does not begin with a letter or _");
    }
    if let Ok(Value::Object(schema)) = serde_json::from_str(&tool.parameters_schema) {
        found.top(&schema);
        found.schema("/parameters_schema", &Value::Object(schema), MAX_DEPTH);
    }
    if tool.returns_schema.as_deref().is_some_and(|it| !serde_json::from_str(it).is_ok_and(|it| is_portable(&it))) {
        let message = "MCP clients are not shown it: some cannot compile a pattern outside ECMAScript, $id, id, an empty enum or nullable without type";
        found.add("/returns_schema", message);
    }
    found.0.truncate(MAX_WARNINGS);
    found.0
}

/// Whether a value is what people write for a property: the name of a type, or a schema with one.
fn is_like_a_property(value: &Value) -> bool {
    const TYPES: [&str; 7] = ["string", "integer", "number", "boolean", "array", "object", "null"];
    let named = value.get("type").unwrap_or(value).as_str();
    named.is_some_and(|it| TYPES.contains(&it))
}

struct WarningList(Vec<Warning>);

impl WarningList {
    fn add(&mut self, path: &str, message: &str) {
        self.0.push(Warning { path: shortened(path), message: message.to_owned() });
    }

    /// Warns about the schema as a whole.
    fn top(&mut self, schema: &Map<String, Value>) {
        let at = "/parameters_schema";
        if schema.get("type").and_then(Value::as_str) != Some("object") {
            self.add(at, "OpenAI, Anthropic and Gemini refuse parameters whose type is not \"object\"");
        }
        if ["type", "properties", "$ref", "anyOf", "oneOf", "allOf"].iter().all(|it| !schema.contains_key(*it)) {
            for (name, _) in schema.iter().filter(|(_, it)| is_like_a_property(it)) {
                let at = format!("{at}/{}", escaped(name));
                self.add(&at, "is no keyword of JSON Schema: a parameter stands in properties");
            }
        }
        for keyword in ["anyOf", "oneOf", "allOf", "enum", "not"] {
            if schema.contains_key(keyword) {
                let message = "OpenAI and Anthropic refuse this at the top of the parameters";
                self.add(&format!("{at}/{keyword}"), message);
            }
        }
    }

    /// Warns about one part of the schema and all parts inside it.
    fn schema(&mut self, path: &str, schema: &Value, depth: usize) {
        let (Some(keywords), true) = (schema.as_object(), self.0.len() < MAX_WARNINGS) else { return };
        if depth == 0 {
            self.add(path, "is nested so deep that models are not shown it");
            return;
        }
        self.keywords(path, keywords);
        for (keyword, value) in keywords {
            let at = format!("{path}/{keyword}");
            match (keyword.as_str(), value) {
                (
                    "properties" | "$defs" | "definitions" | "patternProperties" | "dependentSchemas",
                    Value::Object(parts),
                ) => {
                    for (name, part) in parts {
                        let name = name.replace('~', "~0").replace('/', "~1");
                        self.schema(&format!("{at}/{name}"), part, depth - 1);
                    }
                }
                ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(parts)) => {
                    for (index, part) in parts.iter().enumerate() {
                        self.schema(&format!("{at}/{index}"), part, depth - 1);
                    }
                }
                ("items" | "additionalProperties" | "not" | "if" | "then" | "else" | "contains", part) => {
                    self.schema(&at, part, depth - 1);
                }
                _ => {}
            }
        }
    }

    fn keywords(&mut self, path: &str, keywords: &Map<String, Value>) {
        for name in keywords.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys) {
            if !is_key(name) {
                let at = format!("{path}/properties/{}", name.replace('~', "~0").replace('/', "~1"));
                self.add(&at, "Anthropic refuses names of properties but those of 1 to 64 letters, digits, _ . or -");
            }
        }
        match keywords.get("type") {
            Some(Value::String(kind)) if kind == "array" && !keywords.contains_key("items") => {
                self.add(path, "OpenAI and Gemini refuse an array without items");
            }
            Some(Value::Array(_)) => self.add(&format!("{path}/type"), "Gemini refuses a list of types"),
            _ => {}
        }
        let is_text = |it: &Value| it.is_string();
        if keywords.get("enum").and_then(Value::as_array).is_some_and(|it| !it.iter().all(is_text)) {
            self.add(&format!("{path}/enum"), "Gemini refuses an enum of anything but texts");
        }
        for keyword in ["$ref", "const", "patternProperties", "not", "if", "prefixItems"] {
            if keywords.contains_key(keyword) {
                self.add(&format!("{path}/{keyword}"), "Gemini does not know this");
            }
        }
    }
}

/// Whether all providers accept the name of a property: `^[a-zA-Z0-9_.-]{1,64}$`
pub fn is_key(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.bytes().all(|it| it.is_ascii_alphanumeric() || b"_.-".contains(&it))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::fixture;
    use serde_json::json;

    #[track_caller]
    fn check(schema: Value, expected: &[&str]) {
        let mut tool = fixture("x");
        tool.parameters_schema = schema.to_string();
        let found = warnings(&tool);
        let paths = found.iter().map(|it| it.path.strip_prefix("/parameters_schema").unwrap()).collect::<Vec<_>>();
        assert_eq!(paths, expected, "{found:?}");
    }

    #[test]
    fn a_plain_schema_troubles_nobody() {
        check(
            json!({"type": "object", "properties": {
                "query": {"type": "string", "enum": ["a", "b"]},
                "tags": {"type": "array", "items": {"type": "string"}},
            }, "required": ["query"], "additionalProperties": false}),
            &[],
        );
    }

    #[test]
    fn what_a_provider_refuses_is_told_with_its_place() {
        check(json!({"type": "string"}), &[""]);
        check(json!({"type": "object", "anyOf": [{"required": ["a"]}]}), &["/anyOf"]);
        check(
            json!({"type": "object", "properties": {
                "a b": {"type": ["string", "null"]},
                "list": {"type": "array"},
                "one": {"enum": [1]},
                "deep": {"type": "object", "properties": {"x": {"$ref": "#/$defs/x"}}},
            }, "$defs": {"x": {"const": 1}}, "definitions": {"y": {"const": 1}}}),
            &[
                "/properties/a b",
                "/properties/a b/type",
                "/properties/list",
                "/properties/one/enum",
                "/properties/deep/properties/x/$ref",
                "/$defs/x/const",
                "/definitions/y/const",
            ],
        );
    }

    #[test]
    fn results_that_clients_cannot_be_promised_are_told() {
        let mut tool = fixture("x");
        for (schema, expected) in [(r#"{"pattern": "^a$"}"#, 0), (r#"{"pattern": "(?i)a"}"#, 1)] {
            tool.returns_schema = Some(schema.to_owned());
            let found = warnings(&tool);
            assert_eq!(found.iter().filter(|it| it.path == "/returns_schema").count(), expected, "{found:?}");
        }
    }

    #[test]
    fn an_id_that_models_do_not_get_is_told() {
        let mut tool = fixture("x");
        assert_eq!(warnings(&tool), []);
        tool.id = crate::ids::ToolId::parse(&"x".repeat(65)).unwrap();
        assert_eq!(warnings(&tool)[0].path, "/id");
        tool.id = crate::ids::ToolId::parse("7zip").unwrap();
        assert_eq!(warnings(&tool)[0].path, "/id");
    }
}
