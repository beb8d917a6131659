//! The schemas of a document as JSON Schema 2020-12. References stay references: a component that a schema refers to,
//! directly or through others, becomes one of the schema's `$defs`, so cycles need no care.

use super::document::{Document, leads_nowhere, pointer};
use super::fitting::without_words;
use super::names::short_hash;
use crate::registry::MAX_SCHEMA_BYTES;
use serde_json::{Map, Value, json};
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// The longest default that a description repeats, in bytes.
const MAX_DEFAULT_BYTES: usize = 200;

/// How many bytes of schemas are made of one document, components that are used again counted again.
const MAX_WORK: usize = 64 * 1024 * 1024;

const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

/// Translates the schemas of one document. A component is translated once.
pub struct Schemas<'a> {
    document: &'a Document,
    /// By JSON pointer.
    components: HashMap<String, Rc<Component>>,
    /// How many bytes of schemas may still be made. A small document can refer to one large component many times.
    work_left: Cell<usize>,
}

/// A translated component, or the reason why it cannot be used.
type Component = Result<WeighedSchema, String>;

/// A component with its descriptions and without them, each with its size as JSON.
struct WeighedSchema {
    full: (Value, usize),
    bare: (Value, usize),
    refers_to: Vec<String>,
}

/// A schema, and the JSON pointers of the components that it refers to directly.
pub struct Translated {
    pub schema: Value,
    pub refers_to: Vec<String>,
}

impl<'a> Schemas<'a> {
    pub fn of(document: &'a Document) -> Self {
        Self { document, components: HashMap::new(), work_left: Cell::new(MAX_WORK) }
    }

    pub fn translated(&self, schema: &Value) -> Result<Translated, String> {
        let mut translation = Translation { refers_to: Vec::new(), refs_stand_alone: self.document.is_3_0() };
        let schema = translation.schema(schema)?;
        self.charge(schema.to_string().len())?;
        Ok(Translated { schema, refers_to: translation.refers_to })
    }

    /// The type of a schema, if it or the component that it refers to has one.
    pub fn type_of(&self, schema: &Value) -> Option<String> {
        let schema = self.document.followed(schema).ok()?;
        match schema.get("type")? {
            Value::String(word) => Some(word.clone()),
            Value::Array(words) => words.iter().filter_map(Value::as_str).find(|it| *it != "null").map(str::to_owned),
            _ => None,
        }
    }

    fn charge(&self, bytes: usize) -> Result<(), String> {
        self.work_left.set(self.work_left.get().saturating_sub(bytes));
        if self.work_left.get() == 0 {
            Err(format!("the schemas of the document make more than {MAX_WORK} bytes"))
        } else {
            Ok(())
        }
    }

    /// The `$defs` of a schema that refers to these components: all that can be reached from there. They have no
    /// descriptions if they would be too large with them.
    pub fn definitions(&mut self, refers_to: Vec<String>) -> Result<Map<String, Value>, String> {
        let mut reached = BTreeMap::new();
        let (mut full_bytes, mut bare_bytes) = (0, 0);
        let mut waiting = refers_to;
        while let Some(pointer) = waiting.pop() {
            let name = definition_name(&pointer);
            if reached.contains_key(&name) {
                continue;
            }
            let component = self.component(&pointer);
            let weighed = component.as_ref().as_ref().map_err(Clone::clone)?;
            full_bytes += weighed.full.1;
            bare_bytes += weighed.bare.1;
            if bare_bytes > MAX_SCHEMA_BYTES {
                return Err(format!("its schema has more than {MAX_SCHEMA_BYTES} bytes without descriptions"));
            }
            waiting.extend(weighed.refers_to.iter().cloned());
            reached.insert(name, component);
        }
        let is_full = full_bytes <= MAX_SCHEMA_BYTES;
        self.charge(if is_full { full_bytes } else { bare_bytes })?;
        let schema = |weighed: &WeighedSchema| if is_full { weighed.full.0.clone() } else { weighed.bare.0.clone() };
        let definitions = reached.into_iter().filter_map(|(name, it)| Some((name, schema(it.as_ref().as_ref().ok()?))));
        Ok(definitions.collect())
    }

    fn component(&mut self, pointer: &str) -> Rc<Component> {
        if let Some(known) = self.components.get(pointer) {
            return known.clone();
        }
        let translated = match self.document.at(pointer) {
            Some(schema) => self.translated(schema),
            None => Err(leads_nowhere(&format!("#{pointer}"))),
        };
        let component = Rc::new(translated.map(weighed));
        self.components.insert(pointer.to_owned(), component.clone());
        component
    }
}

fn weighed(translated: Translated) -> WeighedSchema {
    let Translated { schema, refers_to } = translated;
    let mut bare = schema.clone();
    without_words(&mut bare);
    let bytes = |schema: &Value| schema.to_string().len();
    WeighedSchema { full: (schema.clone(), bytes(&schema)), bare: (bare.clone(), bytes(&bare)), refers_to }
}

/// The name of a component among the `$defs`. The same component always has the same name, so that a schema changes only if
/// the document does.
fn definition_name(pointer: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "_-.".contains(it);
    match pointer.strip_prefix("/components/schemas/") {
        Some(name) if !name.is_empty() && name.chars().all(is_plain) => name.to_owned(),
        _ => {
            let last = pointer.rsplit('/').next().unwrap_or_default();
            let plain = last.chars().filter(|it| is_plain(*it)).take(64).collect::<String>();
            format!("{plain}_{}", short_hash(pointer))
        }
    }
}

struct Translation {
    refers_to: Vec<String>,
    /// In 3.0 keywords beside a `$ref` mean nothing.
    refs_stand_alone: bool,
}

impl Translation {
    fn schema(&mut self, schema: &Value) -> Result<Value, String> {
        let from = match schema {
            Value::Object(from) => from,
            Value::Bool(_) => return Ok(schema.clone()),
            // What is no schema says nothing.
            Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => return Ok(json!({})),
        };
        let mut to = Map::new();
        if self.refs_stand_alone && from.contains_key("$ref") {
            // Whoever writes a description or `nullable` there means it all the same.
            for keyword in ["$ref", "description"] {
                from.get(keyword).map_or(Ok(()), |it| self.keyword(keyword, it, &mut to))?;
            }
            let is_nullable = from.get("nullable") == Some(&Value::Bool(true));
            return Ok(if is_nullable { nullable(to) } else { Value::Object(to) });
        }
        for (keyword, value) in from {
            self.keyword(keyword, value, &mut to)?;
        }
        translate_limits(from, &mut to);
        translate_required(from, &mut to);
        translate_annotations(from, &mut to);
        // In 3.1 `nullable` means nothing, but whoever writes it means it.
        if from.get("nullable") == Some(&Value::Bool(true)) {
            return Ok(nullable(to));
        }
        Ok(Value::Object(to))
    }

    /// Translates a keyword that can be translated alone. Unknown keywords, extensions among them, are left out: the texts
    /// are a stranger's, and some keywords mean something to Pegboard or its callers.
    fn keyword(&mut self, keyword: &str, value: &Value, to: &mut Map<String, Value>) -> Result<(), String> {
        let translated = match (keyword, value) {
            ("$ref", Value::String(reference)) => {
                let pointer = pointer(reference)?;
                let reference = format!("#/$defs/{}", definition_name(&pointer));
                self.refers_to.push(pointer);
                reference.into()
            }
            ("properties" | "patternProperties" | "dependentSchemas", Value::Object(schemas)) => {
                let schemas = schemas.iter().map(|(name, it)| Ok((name.clone(), self.schema(it)?)));
                Value::Object(schemas.collect::<Result<_, String>>()?)
            }
            ("items", Value::Array(schemas)) => {
                to.insert("prefixItems".to_owned(), self.list(schemas)?);
                return Ok(());
            }
            (
                "items"
                | "additionalProperties"
                | "not"
                | "if"
                | "then"
                | "else"
                | "contains"
                | "propertyNames"
                | "unevaluatedItems"
                | "unevaluatedProperties",
                Value::Object(_) | Value::Bool(_),
            ) => self.schema(value)?,
            ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(schemas)) if !schemas.is_empty() => {
                self.list(schemas)?
            }
            ("type", Value::String(word)) if TYPES.contains(&word.as_str()) => value.clone(),
            ("type", Value::Array(words)) if !words.is_empty() && words.iter().all(is_type) => value.clone(),
            ("enum", Value::Array(_)) | ("const", _) => value.clone(),
            (
                "title" | "description" | "format" | "pattern" | "contentEncoding" | "contentMediaType",
                Value::String(_),
            ) => value.clone(),
            ("minimum" | "maximum", Value::Number(_)) => value.clone(),
            ("multipleOf", Value::Number(number)) if number.as_f64().is_some_and(|it| it > 0.0) => value.clone(),
            (
                "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" | "minContains"
                | "maxContains",
                Value::Number(number),
            ) if number.is_u64() => value.clone(),
            ("uniqueItems" | "deprecated" | "readOnly" | "writeOnly", Value::Bool(_)) => value.clone(),
            _ => return Ok(()),
        };
        to.insert(keyword.to_owned(), translated);
        Ok(())
    }

    fn list(&mut self, schemas: &[Value]) -> Result<Value, String> {
        schemas.iter().map(|it| self.schema(it)).collect()
    }
}

fn is_type(word: &Value) -> bool {
    word.as_str().is_some_and(|it| TYPES.contains(&it))
}

/// In 3.0 `exclusiveMinimum` says whether `minimum` itself is excluded. In 2020-12 it is the bound.
fn translate_limits(from: &Map<String, Value>, to: &mut Map<String, Value>) {
    for (exclusive, inclusive) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        match from.get(exclusive) {
            Some(Value::Bool(true)) => {
                if let Some(bound) = to.remove(inclusive) {
                    to.insert(exclusive.to_owned(), bound);
                }
            }
            Some(bound @ Value::Number(_)) => {
                to.insert(exclusive.to_owned(), bound.clone());
            }
            _ => {}
        }
    }
}

/// A property that is `readOnly` is never required in a request.
fn translate_required(from: &Map<String, Value>, to: &mut Map<String, Value>) {
    let Some(names) = from.get("required").and_then(Value::as_array) else { return };
    let properties = from.get("properties");
    let is_read_only = |name: &str| properties.and_then(|it| it.get(name)?.get("readOnly")) == Some(&Value::Bool(true));
    let mut required = Vec::new();
    for name in names.iter().filter(|it| it.as_str().is_some_and(|it| !is_read_only(it))) {
        if !required.contains(name) {
            required.push(name.clone());
        }
    }
    if !required.is_empty() {
        to.insert("required".to_owned(), required.into());
    }
}

/// Examples, and the default. A default tells what the server does if a value is missing, and Pegboard fills defaults in: a
/// PATCH would then overwrite everything that its caller did not mention. So the default becomes a part of the description.
fn translate_annotations(from: &Map<String, Value>, to: &mut Map<String, Value>) {
    let examples = match (from.get("examples"), from.get("example")) {
        (Some(Value::Array(examples)), _) => Some(Value::Array(examples.clone())),
        (_, Some(example)) => Some(json!([example])),
        _ => None,
    };
    if let Some(examples) = examples {
        to.insert("examples".to_owned(), examples);
    }
    let default = from.get("default").filter(|it| !it.is_null()).map(Value::to_string);
    if let Some(default) = default.filter(|it| it.len() <= MAX_DEFAULT_BYTES) {
        let before = to.get("description").and_then(Value::as_str).unwrap_or_default();
        let space = if before.is_empty() { "" } else { " " };
        let description = format!("{before}{space}Default: {default}");
        to.insert("description".to_owned(), description.into());
    }
}

/// The schema that also admits null.
fn nullable(mut schema: Map<String, Value>) -> Value {
    let null = Value::from("null");
    if let Some(Value::Array(values)) = schema.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    match schema.get_mut("type") {
        Some(Value::Array(words)) if !words.contains(&null) => words.push(null),
        Some(Value::Array(_)) => {}
        Some(word) => *word = Value::Array(vec![word.take(), null]),
        None => return nullable_without_type(schema),
    }
    Value::Object(schema)
}

/// Without a type, only a schema that other schemas are a part of can refuse null.
fn nullable_without_type(mut schema: Map<String, Value>) -> Value {
    if !["$ref", "allOf", "anyOf", "oneOf", "not"].iter().any(|it| schema.contains_key(*it)) {
        return Value::Object(schema);
    }
    let description = schema.shift_remove("description");
    let mut whole = Map::new();
    whole.insert("anyOf".to_owned(), json!([schema, {"type": "null"}]));
    whole.extend(description.map(|it| ("description".to_owned(), it)));
    Value::Object(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(schemas: Value) -> Document {
        Document::read(&json!({"openapi": "3.0.0", "components": {"schemas": schemas}}).to_string()).unwrap()
    }

    #[track_caller]
    fn check(schema: Value, expected: Value) {
        let document = document(json!({}));
        assert_eq!(Schemas::of(&document).translated(&schema).unwrap().schema, expected);
    }

    #[test]
    fn what_3_0_says_in_its_own_way_is_said_as_in_2020_12() {
        check(json!({"type": "string", "nullable": true}), json!({"type": ["string", "null"]}));
        check(
            json!({"type": "string", "enum": ["a"], "nullable": true}),
            json!({"type": ["string", "null"], "enum": ["a", null]}),
        );
        check(
            json!({"allOf": [{"type": "object"}], "nullable": true, "description": "x"}),
            json!({"anyOf": [{"allOf": [{"type": "object"}]}, {"type": "null"}], "description": "x"}),
        );
        check(json!({"type": "string", "nullable": false}), json!({"type": "string"}));
        check(json!({"minimum": 1, "exclusiveMinimum": true}), json!({"exclusiveMinimum": 1}));
        check(json!({"maximum": 1, "exclusiveMaximum": false}), json!({"maximum": 1}));
        check(json!({"exclusiveMaximum": 3}), json!({"exclusiveMaximum": 3}));
        check(json!({"type": "string", "example": "a"}), json!({"type": "string", "examples": ["a"]}));
        check(json!({"items": [{"type": "string"}]}), json!({"prefixItems": [{"type": "string"}]}));
    }

    #[test]
    fn what_2020_12_does_not_know_is_left_out() {
        check(
            json!({
                "$schema": "http://json-schema.org/draft-04/schema#", "$id": "https://x.example", "xml": {}, "x-secret": 1,
                "discriminator": {"propertyName": "a"}, "externalDocs": {}, "required": true, "type": "file",
                "enum": "x", "minLength": -1, "allOf": [], "pattern": 7, "properties": [], "items": null,
            }),
            json!({}),
        );
        // The same words are names of properties below `properties`.
        let named = json!({"properties": {"nullable": {"type": "string"}, "xml": {}, "default": true, "example": 7}});
        check(
            named,
            json!({"properties": {"nullable": {"type": "string"}, "xml": {}, "default": true, "example": {}}}),
        );
    }

    #[test]
    fn a_default_is_told_and_never_filled_in() {
        check(json!({"type": "integer", "default": 30}), json!({"type": "integer", "description": "Default: 30"}));
        check(
            json!({"description": "Page size.", "default": "a"}),
            json!({"description": "Page size. Default: \"a\""}),
        );
        check(json!({"default": null}), json!({}));
        check(json!({"default": "x".repeat(300)}), json!({}));
    }

    #[test]
    fn properties_that_only_responses_have_are_not_required() {
        check(
            json!({"required": ["id", "name", "name", 7], "properties": {"id": {"readOnly": true}, "name": {}}}),
            json!({"properties": {"id": {"readOnly": true}, "name": {}}, "required": ["name"]}),
        );
        check(json!({"required": []}), json!({}));
    }

    #[test]
    fn reachable_components_become_definitions_and_cycles_end() {
        let document = document(json!({
            "Node": {"properties": {"next": {"$ref": "#/components/schemas/Node"}, "leaf": {"$ref": "#/components/schemas/Leaf%5B1%5D"}}},
            "Leaf[1]": {"type": "string"},
            "Unused": {"type": "integer"},
        }));
        let mut schemas = Schemas::of(&document);
        let schema = json!({"$ref": "#/components/schemas/Node", "description": "The first", "type": "string"});
        let Translated { schema, refers_to } = schemas.translated(&schema).unwrap();
        assert_eq!(schema, json!({"$ref": "#/$defs/Node", "description": "The first"}));
        let definitions = Value::Object(schemas.definitions(refers_to).unwrap());
        let leaf = format!("Leaf1_{}", short_hash("/components/schemas/Leaf[1]"));
        let next = json!({"$ref": "#/$defs/Node"});
        assert_eq!(
            definitions,
            json!({
                leaf.as_str(): {"type": "string"},
                "Node": {"properties": {"next": next, "leaf": {"$ref": format!("#/$defs/{leaf}")}}},
            })
        );
    }

    #[test]
    fn references_elsewhere_are_refused_also_far_away() {
        let document = document(json!({
            "A": {"items": {"$ref": "#/components/schemas/B"}},
            "B": {"$ref": "other.json#/B"},
            "C": {"$ref": "#/components/schemas/None"},
        }));
        let mut schemas = Schemas::of(&document);
        let mut fault = |name: &str| {
            let reached = schemas.translated(&json!({"$ref": format!("#/components/schemas/{name}")})).unwrap();
            schemas.definitions(reached.refers_to).unwrap_err()
        };
        assert!(fault("A").contains("other.json#/B"));
        assert!(fault("C").contains("#/components/schemas/None"));
        assert!(schemas.translated(&json!({"not": {"$ref": "https://evil.example/x"}})).is_err());
    }
}
