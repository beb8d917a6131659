//! JSON Schema: compiled once per isolate, defaults filled in, every violation listed with its place.

use crate::error::{Error, Result};
use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ValidationError, Validator};
use serde::Serialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use utoipa::ToSchema;

/// How many compiled schemas an isolate keeps; at about 20 KB each, far below its memory.
const CACHED: usize = 512;

/// How deep, and in how many places, defaults are looked for. Only a schema that refers to itself goes beyond,
/// and it would go on for ever.
const MAX_DEPTH: usize = 64;
const MAX_STEPS: usize = 10_000;

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

impl From<ValidationError<'_>> for Violation {
    fn from(error: ValidationError<'_>) -> Self {
        Self { path: error.instance_path().to_string(), message: error.to_string() }
    }
}

/// A document that was held against a schema.
pub struct Checked {
    pub document: Value,
    pub violations: Vec<Violation>,
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
    fn violations(&self, document: &Value) -> Vec<Violation> {
        self.validator.iter_errors(document).map(Violation::from).collect()
    }

    /// `document` with its defaults filled in, and every way in which it does not fit.
    pub fn check(&self, mut document: Value) -> Checked {
        let violations = match self.fill_defaults(&mut document) {
            Ok(()) => self.violations(&document),
            Err(violation) => vec![violation],
        };
        Checked { document, violations }
    }

    /// The ways in which some properties, taken by themselves, do not fit: that others are missing, or that
    /// the object as a whole fits none of several forms, is left out.
    pub fn violations_of_properties(&self, properties: &Map<String, Value>) -> Vec<Violation> {
        let document = Value::Object(properties.clone());
        let about_a_property = |error: &ValidationError<'_>| {
            !error.instance_path().as_str().is_empty()
                || matches!(
                    error.kind(),
                    ValidationErrorKind::AdditionalProperties { .. }
                        | ValidationErrorKind::UnevaluatedProperties { .. }
                        | ValidationErrorKind::PropertyNames { .. }
                )
        };
        self.validator.iter_errors(&document).filter(about_a_property).map(Violation::from).collect()
    }

    /// Fills in the defaults of all that `document` leaves out, at every depth.
    fn fill_defaults(&self, document: &mut Value) -> std::result::Result<(), Violation> {
        let mut steps = MAX_STEPS;
        self.fill(&self.definition, document, MAX_DEPTH, &mut steps);
        if steps > 0 {
            return Ok(());
        }
        Err(Violation { path: String::new(), message: "The schema has too many defaults within defaults".into() })
    }

    fn fill(&self, schema: &Value, document: &mut Value, depth: usize, steps: &mut usize) {
        if depth == 0 || *steps == 0 {
            return;
        }
        *steps -= 1;
        if let Some(target) = self.referred(schema) {
            self.fill(target, document, depth - 1, steps);
        }
        for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.fill(part, document, depth - 1, steps);
        }
        match document {
            Value::Object(fields) => {
                for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
                    if let (None, Some(default)) = (fields.get(name), self.default(property)) {
                        fields.insert(name.clone(), default.clone());
                    }
                    if let Some(field) = fields.get_mut(name) {
                        self.fill(property, field, depth - 1, steps);
                    }
                }
            }
            Value::Array(elements) => {
                let Some(items) = schema.get("items") else { return };
                let already_given = schema.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len);
                for element in elements.iter_mut().skip(already_given) {
                    self.fill(items, element, depth - 1, steps);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// A property's default: its own, or that of what it refers to.
    fn default<'a>(&'a self, property: &'a Value) -> Option<&'a Value> {
        std::iter::successors(Some(property), |it| self.referred(it)).take(MAX_DEPTH).find_map(|it| it.get("default"))
    }

    /// What a schema's `$ref` leads to within the whole.
    fn referred(&self, schema: &Value) -> Option<&Value> {
        self.definition.pointer(schema.get("$ref")?.as_str()?.strip_prefix('#')?)
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
        schema(definition).fill_defaults(&mut document).unwrap();
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
    fn a_default_may_stand_where_a_reference_leads() {
        check_defaults(
            json!({
                "properties": {"limit": {"$ref": "#/$defs/limit"}, "loop": {"$ref": "#/$defs/loop"}},
                "$defs": {"limit": {"default": 10}, "loop": {"$ref": "#/$defs/loop"}},
            }),
            json!({}),
            json!({"limit": 10}),
        );
    }

    #[test]
    fn a_schema_that_refers_to_itself_comes_to_an_end() {
        let fill = |definition| {
            let mut document = json!({});
            (schema(definition).fill_defaults(&mut document), document)
        };
        let (filled, document) = fill(json!({"properties": {"next": {"$ref": "#", "default": {}}}}));
        assert!(filled.is_ok() && document["next"]["next"].is_object());
        let (filled, _) = fill(json!({"allOf": [{"$ref": "#"}, {"$ref": "#"}]}));
        assert!(filled.is_err());
        let twice = json!({"properties": {"a": {"$ref": "#", "default": {}}, "b": {"$ref": "#", "default": {}}}});
        assert!(fill(twice).0.is_err());
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
            "allOf": [{"properties": {"query": {"maxLength": 3}}}],
            "anyOf": [{"required": ["query"]}, {"required": ["id"]}],
            "additionalProperties": false,
            "$defs": {"limit": {"type": "integer", "maximum": 50}},
        }));
        let check = |properties: Value, expected: &[&str]| {
            let violations = schema.violations_of_properties(properties.as_object().unwrap());
            assert_eq!(violations.iter().map(|it| it.path.as_str()).collect::<Vec<_>>(), expected);
        };
        check(json!({"limit": 20}), &[]);
        check(json!({"limit": 99}), &["/limit"]);
        check(json!({"query": "long"}), &["/query"]);
        check(json!({"limti": 20}), &[""]);
    }

    #[test]
    fn compiled_schemas_are_kept() {
        let text = r#"{"type": "object"}"#;
        assert!(Rc::ptr_eq(&compiled(text).unwrap(), &compiled(text).unwrap()));
        assert!(compiled("{").is_err());
    }
}
