//! OpenAI's strict mode: OpenAI makes a model's arguments fit the schema. In return, a schema may use only a part of
//! JSON Schema: every object is closed, and every property is required. The model gives null for a property that it
//! leaves out.

use super::json::{fields, has_any, list, object, only, push_new, put, text, without};
use super::schema::takes;
use serde_json::{Map, Value};

/// OpenAI's limits.
const MAX_DEPTH: usize = 10;
const MAX_ENUM: usize = 1_000;
/// The characters in all names of properties, enums and constants together.
const MAX_TEXT: usize = 120_000;
/// An enum with more values than this may have fewer characters.
const MANY: usize = 250;
const MAX_TEXT_OF_MANY: usize = 15_000;

/// The keywords that are copied. The other keywords are checked when the tool is called.
const KEPT: [&str; 14] = [
    "type",
    "title",
    "description",
    "enum",
    "const",
    "multipleOf",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minItems",
    "maxItems",
    "format",
    "pattern",
];
const FORMATS: [&str; 9] = ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

/// The schema in strict mode. None, if strict mode cannot express the schema, because it has objects with any
/// properties, or values of any type.
pub fn strict(plain: &Map<String, Value>) -> Option<Map<String, Value>> {
    let mut writer = StrictWriter { text: 0, values: 0 };
    writer.schema(plain, 0)
}

struct StrictWriter {
    text: usize,
    values: usize,
}

impl StrictWriter {
    fn schema(&mut self, schema: &Map<String, Value>, depth: usize) -> Option<Map<String, Value>> {
        if has_any(schema, &["allOf", "patternProperties", "prefixItems"]) {
            return None;
        }
        for keyword in ["anyOf", "oneOf"] {
            if schema.contains_key(keyword) {
                return self.either(schema, list(schema, keyword), depth);
            }
        }
        let mut strict = only(schema, &KEPT);
        if !FORMATS.contains(&text(schema, "format")) {
            strict = without(strict, &["format"]);
        }
        // OpenAI knows only the simplest groups of regular expressions.
        if text(schema, "pattern").contains("(?") {
            strict = without(strict, &["pattern"]);
        }
        self.values(schema)?;
        if !schema.contains_key("type") {
            let kinds = kinds_of_values(schema)?;
            let only = kinds.first().filter(|_| kinds.len() == 1);
            put(&mut strict, "type", only.map_or_else(|| kinds.as_slice().into(), |it| (*it).into()));
        }
        if takes(schema, "object") {
            self.object(schema, &mut strict, depth)?;
        }
        if takes(schema, "array") {
            put(&mut strict, "items", self.schema(fields(schema, "items")?, depth + 1)?.into());
        }
        (depth <= MAX_DEPTH && self.values <= MAX_ENUM && self.text <= MAX_TEXT).then_some(strict)
    }

    /// Counts the listed values, and their bytes: a text never has fewer bytes than characters.
    fn values(&mut self, schema: &Map<String, Value>) -> Option<()> {
        let values = named(schema);
        let text = values.iter().map(|it| it.as_str().map_or_else(|| it.to_string().len(), str::len)).sum::<usize>();
        self.values += list(schema, "enum").len();
        self.text += text;
        (values.len() <= MANY || text <= MAX_TEXT_OF_MANY).then_some(())
    }

    fn object(&mut self, schema: &Map<String, Value>, strict: &mut Map<String, Value>, depth: usize) -> Option<()> {
        let none = Map::new();
        let properties = fields(schema, "properties").unwrap_or(&none);
        match schema.get("additionalProperties") {
            Some(Value::Bool(false)) => {}
            None if !properties.is_empty() => {}
            _ => return None,
        }
        let (mut all, mut names) = (Map::new(), Vec::new());
        for (name, property) in properties {
            self.text += name.len();
            let mut strict = self.schema(property.as_object()?, depth + 1)?;
            let name_value = Value::from(name.as_str());
            if !list(schema, "required").contains(&name_value) {
                strict = nullable(strict);
            }
            put(&mut all, name, strict.into());
            names.push(name_value);
        }
        put(strict, "required", names.into());
        put(strict, "properties", all.into());
        put(strict, "additionalProperties", false.into());
        Some(())
    }

    /// A schema of several forms. Beside them may stand descriptions, or the type that all forms have anyway.
    fn either(&mut self, schema: &Map<String, Value>, variants: &[Value], depth: usize) -> Option<Map<String, Value>> {
        if has_any(schema, &["properties", "items"]) || depth == 0 {
            return None;
        }
        let mut strict = Vec::new();
        for variant in variants {
            strict.push(Value::Object(self.schema(variant.as_object()?, depth + 1)?));
        }
        let mut either = only(schema, &["title", "description"]);
        put(&mut either, "anyOf", strict.into());
        Some(either)
    }
}

/// The values that a schema lists: its `const` or its `enum`.
pub fn named(schema: &Map<String, Value>) -> &[Value] {
    schema.get("const").map_or_else(|| list(schema, "enum"), std::slice::from_ref)
}

/// The types of the values that a schema lists, if it lists any.
pub fn kinds_of_values(schema: &Map<String, Value>) -> Option<Vec<&'static str>> {
    let mut kinds = Vec::new();
    for value in named(schema) {
        push_new(&mut kinds, kind_of(value));
    }
    (!kinds.is_empty()).then_some(kinds)
}

/// The type of a value.
pub fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The schema, or null: a model leaves a required property out by giving null.
fn nullable(mut schema: Map<String, Value>) -> Map<String, Value> {
    if let Some(only) = schema.get("const").cloned() {
        schema = without(schema, &["const"]);
        put(&mut schema, "enum", vec![only].into());
    }
    let null_type = object(vec![("type", "null".into())]);
    for (keyword, null) in [("anyOf", null_type), ("enum", Value::Null)] {
        if let Some(Value::Array(values)) = schema.get_mut(keyword) {
            push_new(values, null);
        }
    }
    let mut kinds = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.clone(),
        Some(kind) => vec![kind.clone()],
        None => return schema,
    };
    push_new(&mut kinds, "null".into());
    put(&mut schema, "type", kinds.into());
    schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::schema::plain;
    use serde_json::json;

    #[track_caller]
    fn check(schema: Value, expected: Option<Value>) {
        assert_eq!(strict(&plain(&schema.to_string()).schema).map(Value::Object), expected);
    }

    #[test]
    fn every_property_is_required_and_the_optional_ones_nullable() {
        check(
            json!({"type": "object", "properties": {
                "a": {"type": "string", "minLength": 1, "format": "uri"},
                "b": {"type": "integer", "default": 3, "maximum": 9},
                "c": {"enum": ["x", "y"]},
                "d": {"anyOf": [{"type": "string", "format": "date"}, {"type": "array", "items": {"const": 1}}]},
            }, "required": ["a"]}),
            Some(json!({"type": "object", "properties": {
                "a": {"type": "string"},
                "b": {"type": ["integer", "null"], "maximum": 9},
                "c": {"enum": ["x", "y", null], "type": ["string", "null"]},
                "d": {"anyOf": [{"type": "string", "format": "date"},
                    {"type": "array", "items": {"const": 1, "type": "integer"}}, {"type": "null"}]},
            }, "required": ["a", "b", "c", "d"], "additionalProperties": false})),
        );
        check(
            json!({"type": "object", "properties": {}, "additionalProperties": false}),
            Some(json!({"type": "object", "required": [], "properties": {}, "additionalProperties": false})),
        );
    }

    #[test]
    fn what_cannot_be_said_is_not() {
        for property in [
            json!({}),
            json!({"type": "object"}),
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            json!({"type": "object", "properties": {"a": {"type": "null"}}, "additionalProperties": true}),
            json!({"type": "object", "properties": {"a": {"type": "null"}}, "patternProperties": {"^x": {}}}),
            json!({"type": "array"}),
            json!({"type": "array", "prefixItems": [{"type": "string"}]}),
            json!({"allOf": [{"type": "string"}, {"maxLength": 3}]}),
            json!({"enum": (0..1_001).collect::<Vec<_>>()}),
        ] {
            check(json!({"type": "object", "properties": {"a": property}}), None);
        }
        let deep = (0..12).fold(json!({"type": "string"}), |it, _| json!({"type": "object", "properties": {"a": it}}));
        check(deep, None);
        let texts = |count: usize, length: usize| (0..count).map(|it| format!("{it:0>length$}")).collect::<Vec<_>>();
        let property = |values: Vec<String>| json!({"type": "object", "properties": {"a": {"enum": values}}});
        let is_strict = |schema: Value| strict(&plain(&schema.to_string()).schema).is_some();
        assert!(
            is_strict(property(texts(251, 59))) && !is_strict(property(texts(251, 60))),
            "15,000 characters of many"
        );
        assert!(is_strict(property(texts(250, 61))));
        let named = |length: usize| {
            let names = texts(1_000, 60).into_iter().map(|it| (it, json!({"type": "null"})));
            let mut all = names.collect::<Map<_, _>>();
            all.insert("x".into(), json!({"enum": texts(250, length)}));
            json!({"type": "object", "properties": all})
        };
        assert!(is_strict(named(239)) && !is_strict(named(240)), "120,000 characters in all");
    }
}
