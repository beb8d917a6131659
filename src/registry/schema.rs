//! JSON Schema: compiled once per isolate, defaults filled in, every violation listed with its place.

use crate::error::{Error, Result};
use jsonschema::{PatternOptions, Validator};
use serde::Serialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use utoipa::ToSchema;

/// How many compiled schemas an isolate keeps; at about 20 KB each, far below its memory.
const CACHED: usize = 512;

/// How deep defaults are looked for; only a schema that refers to itself goes deeper.
const MAX_DEPTH: usize = 64;

/// Applicators at a schema's top that speak of the object as a whole, not of one property.
const ABOUT_THE_WHOLE: [&str; 12] = [
    "required",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
    "minProperties",
    "unevaluatedProperties",
];

/// A compiled schema.
pub struct Schema {
    definition: Value,
    validator: Validator,
}

/// One way in which a document does not fit its schema.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Violation {
    /// JSON pointer into the document; empty for the document itself.
    #[schema(example = "/limit")]
    pub path: String,
    #[schema(example = "80 is greater than the maximum of 50")]
    pub message: String,
}

/// The compiled form of a stored schema.
pub fn compiled(text: &str) -> Result<Rc<Schema>> {
    thread_local! {
        static CACHE: RefCell<HashMap<[u8; 32], Rc<Schema>>> = RefCell::default();
    }
    let hash = Sha256::digest(text).into();
    CACHE.with_borrow_mut(|cache| {
        if let Some(schema) = cache.get(&hash) {
            return Ok(schema.clone());
        }
        let schema = serde_json::from_str(text)
            .map_err(|cause| cause.to_string())
            .and_then(Schema::compile)
            .map(Rc::new)
            .map_err(|cause| Error::Internal(format!("a stored schema does not compile: {cause}")))?;
        if cache.len() >= CACHED {
            cache.clear();
        }
        cache.insert(hash, schema.clone());
        Ok(schema)
    })
}

impl Schema {
    /// Patterns run on an engine without backtracking: its time is linear in the text, so that no
    /// pattern can hang the Worker. References lead nowhere but into the schema itself.
    pub fn compile(definition: Value) -> std::result::Result<Self, String> {
        let validator = jsonschema::draft202012::options()
            .with_pattern_options(PatternOptions::regex())
            .build(&definition)
            .map_err(|cause| cause.to_string())?;
        Ok(Self { definition, validator })
    }

    /// Every way in which `document` does not fit.
    pub fn violations(&self, document: &Value) -> Vec<Violation> {
        self.validator
            .iter_errors(document)
            .map(|error| Violation { path: error.instance_path().to_string(), message: error.to_string() })
            .collect()
    }

    /// The ways in which some properties, taken by themselves, do not fit: what the schema says of
    /// the object as a whole (what is required, alternatives) is left out.
    pub fn violations_of_properties(
        &self,
        properties: &Map<String, Value>,
    ) -> std::result::Result<Vec<Violation>, String> {
        let mut definition = self.definition.clone();
        if let Some(keywords) = definition.as_object_mut() {
            keywords.retain(|keyword, _| !ABOUT_THE_WHOLE.contains(&keyword.as_str()));
        }
        Ok(Self::compile(definition)?.violations(&Value::Object(properties.clone())))
    }

    /// Fills in the defaults of all that `document` leaves out, at every depth.
    pub fn fill_defaults(&self, document: &mut Value) {
        self.fill(&self.definition, document, 0);
    }

    fn fill(&self, schema: &Value, document: &mut Value, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        if let Some(target) = schema.get("$ref").and_then(Value::as_str).and_then(|it| self.target(it)) {
            self.fill(target, document, depth + 1);
        }
        for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.fill(part, document, depth + 1);
        }
        match document {
            Value::Object(fields) => {
                for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
                    if let (None, Some(default)) = (fields.get(name), property.get("default")) {
                        fields.insert(name.clone(), default.clone());
                    }
                    if let Some(field) = fields.get_mut(name) {
                        self.fill(property, field, depth + 1);
                    }
                }
            }
            Value::Array(elements) => {
                let Some(items) = schema.get("items") else { return };
                let already_given = schema.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len);
                for element in elements.iter_mut().skip(already_given) {
                    self.fill(items, element, depth + 1);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn target(&self, reference: &str) -> Option<&Value> {
        self.definition.pointer(reference.strip_prefix('#')?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema(definition: Value) -> Schema {
        Schema::compile(definition).unwrap()
    }

    #[track_caller]
    fn check_defaults(definition: Value, document: Value, expected: Value) {
        let mut document = document;
        schema(definition).fill_defaults(&mut document);
        assert_eq!(document, expected);
    }

    #[test]
    fn every_violation_is_listed_with_its_place() {
        let schema = schema(json!({
            "type": "object",
            "properties": {"limit": {"type": "integer", "maximum": 50}, "to": {"type": "array", "items": {"type": "string"}}},
            "required": ["query"],
            "additionalProperties": false,
        }));
        let violations = schema.violations(&json!({"limit": 80, "to": ["a", 1], "extra": true}));
        let mut paths = violations.iter().map(|it| it.path.as_str()).collect::<Vec<_>>();
        paths.sort_unstable();
        assert_eq!(paths, ["", "", "/limit", "/to/1"]);
        assert!(violations.iter().any(|it| it.message == "80 is greater than the maximum of 50"));
        assert!(violations.iter().any(|it| it.message.contains("\"query\" is a required property")));
    }

    #[test]
    fn defaults_fill_only_what_is_left_out() {
        let definition = json!({"properties": {"limit": {"default": 10}, "order": {"default": "rank"}}});
        check_defaults(definition, json!({"limit": 3}), json!({"limit": 3, "order": "rank"}));
    }

    #[test]
    fn defaults_are_found_at_every_depth() {
        check_defaults(
            json!({
                "properties": {
                    "page": {"default": {}, "properties": {"size": {"default": 5}}},
                    "rows": {"items": {"$ref": "#/$defs/row"}},
                },
                "allOf": [{"properties": {"deep": {"default": true}}}],
                "$defs": {"row": {"properties": {"kind": {"default": "plain"}}}},
            }),
            json!({"rows": [{}, {"kind": "rich"}, 7]}),
            json!({"rows": [{"kind": "plain"}, {"kind": "rich"}, 7], "page": {"size": 5}, "deep": true}),
        );
    }

    #[test]
    fn a_schema_that_refers_to_itself_comes_to_an_end() {
        let mut document = json!({});
        schema(json!({"properties": {"next": {"$ref": "#", "default": {}}}})).fill_defaults(&mut document);
        assert!(document["next"]["next"].is_object());
    }

    #[test]
    fn a_hostile_pattern_answers_at_once() {
        let schema = schema(json!({"type": "string", "pattern": "^(a+)+$"}));
        assert_eq!(schema.violations(&json!("a".repeat(50_000) + "!")).len(), 1);
    }

    #[test]
    fn references_to_elsewhere_do_not_compile() {
        for reference in ["https://example.com/schema.json", "file:///etc/passwd"] {
            assert!(Schema::compile(json!({"$ref": reference})).is_err());
        }
    }

    #[test]
    fn properties_are_judged_without_the_whole() {
        let schema = schema(json!({
            "properties": {"limit": {"$ref": "#/$defs/limit"}, "query": {"type": "string"}},
            "required": ["query"],
            "additionalProperties": false,
            "$defs": {"limit": {"type": "integer", "maximum": 50}},
        }));
        let check = |properties: Value, expected: &[&str]| {
            let violations = schema.violations_of_properties(properties.as_object().unwrap()).unwrap();
            assert_eq!(violations.iter().map(|it| it.path.as_str()).collect::<Vec<_>>(), expected);
        };
        check(json!({"limit": 20}), &[]);
        check(json!({"limit": 99}), &["/limit"]);
        check(json!({"limti": 20}), &[""]);
    }

    #[test]
    fn compiled_schemas_are_kept() {
        let text = r#"{"type": "object"}"#;
        assert!(Rc::ptr_eq(&compiled(text).unwrap(), &compiled(text).unwrap()));
        assert!(compiled("{").is_err());
    }
}
