//! JSON Schemas of tools. A schema is compiled once per isolate, fills in its defaults, and lists every violation with
//! its place.

use super::bounded_pattern::{self, NamePatterns, PatternBudget};
use super::redact;
use super::reference::References;
use super::rules::names_other_draft;
use super::unknown;
use super::validation_cost::{MAX_STEPS, SchemaCost};
use super::warnings::is_key;
use crate::error::{Error, Result, shortened};
use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde::Serialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use utoipa::ToSchema;

/// How many compiled schemas an isolate keeps. Each takes about 20 KB, so all of them stay far below an isolate's
/// memory.
const CACHED: usize = 512;

/// Limits of filling in defaults: the depth, the references that are followed at one value, and the number of defaults.
/// Only a schema that refers to itself exceeds these limits. Without them, filling in would never end.
const MAX_DEPTH: usize = 64;
const MAX_HOPS: usize = 1_000;
const MAX_DEFAULTS: usize = 10_000;

/// How often filling in defaults may apply a schema to a value, in one document. Only a schema that describes the same
/// values many times exceeds this limit.
const MAX_FILLS: usize = 2_000_000;

/// How many violations are reported.
const MAX_VIOLATIONS: usize = 100;

/// For a document with more values than this, only the first violation is reported. Otherwise all violations would be
/// collected before the first is reported.
const MAX_VALUES_FOR_ALL: usize = 20_000;

/// The most steps of a check that may each leave an error in memory. An error takes some hundred bytes.
const MAX_ERRORS: u32 = 200_000;

/// A compiled schema.
pub struct Schema {
    definition: Value,
    validator: Validator,
    budget: Arc<PatternBudget>,
    name_patterns: NamePatterns,
    cost: SchemaCost,
    /// Whether the schema marks any value as secret.
    has_secrets: bool,
    has_defaults: bool,
    /// Whether a property has a name that some providers refuse.
    has_foreign_keys: bool,
}

/// One way in which a document does not fit its schema.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Violation {
    /// A JSON pointer into the document; empty for the document itself.
    #[schema(example = "/limit")]
    pub path: String,
    #[schema(example = "80 is greater than the maximum of 50")]
    pub message: String,
}

impl Violation {
    /// Shortens both texts, because the caller controls parts of them: the message repeats the value that does not fit,
    /// and the path holds names of fields.
    fn new(error: &ValidationError<'_>, message: &str) -> Self {
        Self { path: shortened(error.instance_path().as_str()), message: shortened(message) }
    }

    /// A violation of the document as a whole.
    fn of_document(message: impl Into<String>) -> Self {
        Self { path: String::new(), message: message.into() }
    }

    fn of_long_name() -> Self {
        Self::of_document("The name of a property is too long to be matched with the schema's patternProperties")
    }
}

/// A document that was checked against a schema.
pub struct CheckedDocument {
    pub document: Value,
    pub violations: Vec<Violation>,
}

/// The compiled form of a stored schema, from the cache if possible.
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
    /// Compiles a schema, as one of 2020-12 whatever draft it names. `bounded_pattern` bounds the work of its patterns. References can lead only into the schema
    /// itself.
    pub fn compile(mut definition: Value) -> std::result::Result<Self, String> {
        if let (true, Some(fields)) = (names_other_draft(&definition), definition.as_object_mut()) {
            fields.shift_remove("$schema");
        }
        let budget = Arc::new(PatternBudget::default());
        let validator = bounded_pattern::build(&definition, &budget)?;
        let name_patterns = NamePatterns::of(&definition);
        let cost = SchemaCost::of(&definition);
        let (has_secrets, has_defaults) = (redact::marks_secrets(&definition), mentions_default(&definition));
        let has_foreign_keys = has_foreign_keys(&definition);
        Ok(Self { definition, validator, budget, name_patterns, cost, has_secrets, has_defaults, has_foreign_keys })
    }

    /// Every way in which `document` does not fit, up to a limit. The work has a limit, too: a document that would take
    /// more is refused, and so is a document that the patterns are too much for.
    pub fn violations(&self, document: &Value) -> Vec<Violation> {
        match self.fits(document) {
            Ok(true) => Vec::new(),
            Ok(false) => self.collected(document),
            Err(violation) => vec![violation],
        }
    }

    /// Whether the document fits, if this can be found out within the limits.
    fn fits(&self, document: &Value) -> std::result::Result<bool, Violation> {
        if self.name_patterns.are_too_much_for(document) {
            return Err(Violation::of_long_name());
        }
        if !(self.name_patterns.is_empty() && self.cost.is_low_for(document))
            && self.cost.count(&self.definition, &self.name_patterns, document).fits > MAX_STEPS
        {
            let message =
                format!("The document is too large for its schema: the check would take over {MAX_STEPS} steps");
            return Err(Violation::of_document(message));
        }
        self.budget.renew();
        let fits = self.validator.is_valid(document);
        match self.budget.exceeded() {
            Some(pattern) => {
                let message = format!("A text is too long to be matched with the pattern {}", shortened(&pattern));
                Err(Violation::of_document(message))
            }
            None => Ok(fits),
        }
    }

    /// The violations of a document that does not fit. The library collects all errors before it returns the first, so a
    /// document with very many of them gets fewer details.
    fn collected(&self, document: &Value) -> Vec<Violation> {
        match self.errors(document) {
            Some(errors) => errors.iter().map(|it| self.violation(it)).collect(),
            None => {
                vec![Violation::of_document("The document does not fit, and it is too large for a list of the places")]
            }
        }
    }

    /// The errors of a document as the library has them, up to a limit, for messages in other words than those of
    /// [`Self::violations`]. None if collecting them would take too much.
    pub fn errors<'a>(&'a self, document: &'a Value) -> Option<Vec<ValidationError<'a>>> {
        let steps = self.cost.count(&self.definition, &self.name_patterns, document);
        self.budget.renew();
        if steps.errors <= MAX_ERRORS && count(document) <= MAX_VALUES_FOR_ALL {
            return Some(self.validator.iter_errors(document).take(MAX_VIOLATIONS).collect());
        }
        let few = steps.errors <= MAX_STEPS && steps.kept <= MAX_ERRORS;
        few.then(|| self.validator.validate(document).err().into_iter().collect())
    }

    /// A message repeats the value that does not fit, and that value may hold a secret at any depth. So a schema with
    /// secrets gets messages without values.
    fn violation(&self, error: &ValidationError<'_>) -> Violation {
        let message = if self.has_secrets { error.masked().to_string() } else { error.to_string() };
        Violation::new(error, &message)
    }

    /// Replaces every value that the schema marks as secret, and returns the texts that these values held.
    pub fn redact(&self, document: &mut Value) -> Vec<String> {
        if self.has_secrets { redact::redact(&self.definition, document) } else { Vec::new() }
    }

    pub fn has_secrets(&self) -> bool {
        self.has_secrets
    }

    pub fn has_foreign_keys(&self) -> bool {
        self.has_foreign_keys
    }

    pub fn definition(&self) -> &Value {
        &self.definition
    }

    /// The fields of `document` that the schema does not name, if it counts as closed ([`unknown`]).
    pub fn unknown_fields<'a>(&self, document: &'a Value) -> Vec<&'a str> {
        unknown::unknown_fields(&self.definition, document)
    }

    /// The names of the properties at the top of the schema.
    pub fn property_names(&self) -> Vec<&str> {
        unknown::property_names(&self.definition)
    }

    /// Whether valid arguments may lack this property of an object: it is not required, and has no default.
    pub fn may_lack(&self, name: &str) -> bool {
        let is_required = self.definition["required"].as_array().is_some_and(|it| it.iter().any(|it| it == name));
        let filled = self.check(Value::Object(Map::new())).document;
        !is_required && filled.get(name).is_none()
    }

    /// Fills the defaults into `document`, and lists every way in which it does not fit.
    pub fn check(&self, mut document: Value) -> CheckedDocument {
        let violations = match self.fill_defaults(&mut document) {
            Ok(()) => self.violations(&document),
            Err(violation) => vec![violation],
        };
        CheckedDocument { document, violations }
    }

    /// The ways in which single properties do not fit. Missing properties are not reported, nor that the object as a
    /// whole fits none of several forms.
    pub fn violations_of_properties(&self, properties: &Map<String, Value>) -> Vec<Violation> {
        let document = Value::Object(properties.clone());
        match self.fits(&document) {
            Ok(true) => return Vec::new(),
            Ok(false) => {}
            Err(violation) => return vec![violation],
        }
        if self.cost.count(&self.definition, &self.name_patterns, &document).errors > MAX_ERRORS {
            return vec![Violation::of_document(
                "The properties do not fit, and are too many for a list of the places",
            )];
        }
        self.budget.renew();
        let about_a_property = |error: &ValidationError<'_>| {
            !error.instance_path().as_str().is_empty()
                || matches!(
                    error.kind(),
                    ValidationErrorKind::AdditionalProperties { .. }
                        | ValidationErrorKind::UnevaluatedProperties { .. }
                        | ValidationErrorKind::PropertyNames { .. }
                )
        };
        self.validator.iter_errors(&document).filter(about_a_property).map(|it| self.violation(&it)).collect()
    }

    /// Fills in the default of every value that `document` leaves out, at every depth.
    fn fill_defaults(&self, document: &mut Value) -> std::result::Result<(), Violation> {
        if !self.has_defaults {
            return Ok(());
        }
        let mut left = MAX_DEFAULTS;
        let defaults = Defaults { references: References::of(&self.definition), fills: Cell::new(MAX_FILLS) };
        defaults.fill_value(&self.definition, document, MAX_DEPTH, &mut left);
        if left > 0 {
            return Ok(());
        }
        Err(Violation::of_document("The schema has too many defaults within defaults"))
    }
}

struct Defaults<'a> {
    references: References<'a>,
    fills: Cell<usize>,
}

impl Defaults<'_> {
    /// Fills one value inside the document, by the schema that describes it.
    fn fill_value(&self, schema: &Value, document: &mut Value, depth: usize, left: &mut usize) {
        if depth > 0 {
            self.fill(schema, document, depth - 1, &mut { MAX_HOPS }, left);
        }
    }

    fn fill(&self, schema: &Value, document: &mut Value, depth: usize, hops: &mut usize, left: &mut usize) {
        self.fills.update(|it| it.saturating_sub(1));
        if *hops == 0 || self.fills.get() == 0 {
            *left = 0;
        }
        if *left == 0 {
            return;
        }
        *hops -= 1;
        if let Some(target) = self.referred(schema) {
            self.fill(target, document, depth, hops, left);
        }
        for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.fill(part, document, depth, hops, left);
        }
        match document {
            Value::Object(fields) => {
                let properties = schema.get("properties").and_then(Value::as_object);
                for (name, property) in properties.into_iter().flatten() {
                    if let (None, Some(default)) = (fields.get(name), self.default(property)) {
                        *left = left.saturating_sub(1);
                        fields.insert(name.clone(), default.clone());
                    }
                    if let Some(field) = fields.get_mut(name) {
                        self.fill_value(property, field, depth, left);
                    }
                }
                let Some(others) = schema.get("additionalProperties").filter(|it| it.is_object()) else { return };
                let described = |name: &String| properties.is_some_and(|it| it.contains_key(name));
                for (_, field) in fields.iter_mut().filter(|(name, _)| !described(name)) {
                    self.fill_value(others, field, depth, left);
                }
            }
            Value::Array(elements) => {
                let first = schema.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
                let items = schema.get("items");
                for (index, element) in elements.iter_mut().enumerate() {
                    if let Some(schema) = first.get(index).or(items) {
                        self.fill_value(schema, element, depth, left);
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// The default of a property: its own default, or the default of the schema that it refers to.
    fn default<'a>(&'a self, property: &'a Value) -> Option<&'a Value> {
        std::iter::successors(Some(property), |it| self.referred(it)).take(MAX_DEPTH).find_map(|it| it.get("default"))
    }

    /// The part of the schema that a `$ref` leads to.
    fn referred(&self, schema: &Value) -> Option<&Value> {
        self.references.follow(schema.as_object()?, "$ref")
    }
}

fn mentions_default(schema: &Value) -> bool {
    match schema {
        Value::Object(keywords) => keywords.contains_key("default") || keywords.values().any(mentions_default),
        Value::Array(parts) => parts.iter().any(mentions_default),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn has_foreign_keys(schema: &Value) -> bool {
    match schema {
        Value::Object(keywords) => {
            let properties = keywords.get("properties").and_then(Value::as_object);
            let required = keywords.get("required").and_then(Value::as_array);
            properties.is_some_and(|it| it.keys().any(|name| !is_key(name)))
                || required.into_iter().flatten().filter_map(Value::as_str).any(|name| !is_key(name))
                || keywords.values().any(has_foreign_keys)
        }
        Value::Array(parts) => parts.iter().any(has_foreign_keys),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// How many values a document holds, including itself.
fn count(document: &Value) -> usize {
    1 + match document {
        Value::Object(fields) => fields.values().map(count).sum(),
        Value::Array(elements) => elements.iter().map(count).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0_usize,
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
    fn defaults_are_found_in_tuples_and_in_further_fields() {
        check_defaults(
            json!({
                "properties": {"pair": {"prefixItems": [{"properties": {"a": {"default": 1}}}], "items": {"properties": {"b": {"default": 2}}}}},
                "additionalProperties": {"properties": {"c": {"default": 3}}},
            }),
            json!({"pair": [{}, {}], "more": {}}),
            json!({"pair": [{"a": 1}, {"b": 2}], "more": {"c": 3}}),
        );
    }

    #[test]
    fn a_large_document_is_no_fault() {
        let rows = schema(json!({"properties": {
            "rows": {"items": {"$ref": "#/$defs/row"}}, "limit": {"default": 5}, "numbers": {"items": {"type": "number"}},
        }, "$defs": {"row": {"properties": {"x": {"type": "number"}}}}}));
        let checked = rows.check(json!({"rows": vec![json!({"x": 1}); 30_000], "numbers": vec![1; 50_000]}));
        assert_eq!((checked.violations, &checked.document["limit"]), (vec![], &json!(5)));
        let wrong = rows.check(json!({"numbers": vec!["x"; 50_000]}));
        assert_eq!(wrong.violations.len(), 1, "all of them would take more memory than there is");
    }

    #[test]
    fn a_default_may_stand_where_a_reference_leads() {
        check_defaults(
            json!({"properties": {"limit": {"$ref": "#limit"}}, "$defs": {"l": {"$anchor": "limit", "default": 10}}}),
            json!({}),
            json!({"limit": 10}),
        );
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
        let (filled, _) = fill(json!({"allOf": [{"$ref": "#"}, {"$ref": "#"}], "properties": {"a": {"default": 1}}}));
        assert!(filled.is_err());
        let twice = json!({"properties": {"a": {"$ref": "#", "default": {}}, "b": {"$ref": "#", "default": {}}}});
        assert!(fill(twice).0.is_err());
    }

    #[test]
    fn a_long_value_leaves_the_message_readable() {
        let violations = schema(json!({"type": "integer"})).violations(&json!("ä".repeat(50_000)));
        assert!(violations[0].message.len() < 500 && violations[0].message.ends_with("is not of type \"integer\""));
        let many = schema(json!({"items": {"type": "string"}})).violations(&json!(vec![0; 5_000]));
        assert_eq!(many.len(), MAX_VIOLATIONS);
    }

    #[test]
    fn a_violation_never_shows_a_secret() {
        let schema = schema(json!({
            "properties": {"key": {"type": "string", "minLength": 99, "writeOnly": true}},
            "anyOf": [{"required": ["x"]}],
        }));
        let violations = schema.violations(&json!({"key": "hunter2"}));
        assert_eq!(violations.len(), 2);
        assert!(violations.iter().all(|it| !it.message.contains("hunter2")), "{violations:?}");
    }

    #[test]
    fn a_hostile_pattern_answers_at_once() {
        let schema = schema(json!({"type": "string", "pattern": "^(a+)+$"}));
        assert_eq!(schema.violations(&json!("a".repeat(50_000) + "!")).len(), 1);
    }

    #[test]
    fn a_pattern_that_cannot_be_run_does_not_compile() {
        for pattern in ["(?=a)b", r"(a)\1", r"\p{Nonsense}", "[a"] {
            for definition in [json!({"pattern": pattern}), json!({"patternProperties": {pattern: true}})] {
                let cause = Schema::compile(definition).err().unwrap();
                assert!(cause.contains("is not a \"regex\""), "{cause}");
            }
        }
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
