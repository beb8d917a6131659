//! The fields of a document that its schema does not name.
//!
//! A schema with `properties` and without a word on other fields admits any field. Versions count such a schema as
//! closed (`compat/close.rs`), because its author did not think of other fields. So a field that the schema does not name
//! is probably misspelt.

use super::reference::References;
use super::subschemas;
use serde_json::{Map, Value};

/// Keywords by which a schema says something about the fields that it does not name.
const ON_OTHERS: [&str; 3] = ["additionalProperties", "unevaluatedProperties", "patternProperties"];

/// How many schemas may describe the document. A schema with more says nothing about unknown fields.
const MAX_SCHEMAS: usize = 256;

/// The fields that the schema does not name. None of them, if the schema has no `properties`, or says itself what other
/// fields may be.
pub fn unknown_fields<'a>(schema: &Value, document: &'a Value) -> Vec<&'a str> {
    let Some(fields) = document.as_object() else { return Vec::new() };
    if schema.get("properties").and_then(Value::as_object).is_none() {
        return Vec::new();
    }
    let references = References::of(schema);
    // A part of the schema (`allOf`, `anyOf`, a `$ref`, …) may name fields too.
    let mut parts = vec![schema];
    let mut at = 0;
    while let Some(keywords) = parts.get(at).map(|it| it.as_object()) {
        at += 1;
        let Some(keywords) = keywords else { continue };
        if ON_OTHERS.iter().any(|it| keywords.contains_key(*it)) || parts.len() > MAX_SCHEMAS {
            return Vec::new();
        }
        let referred = ["$ref", "$dynamicRef"].into_iter().filter_map(|it| references.follow(keywords, it));
        for part in subschemas::same(keywords).map(|it| it.schema).chain(referred) {
            if !parts.iter().any(|it| std::ptr::eq(*it, part)) {
                parts.push(part);
            }
        }
    }
    let names = |part: &Value, name: &str| {
        let named = part.get("properties").and_then(Value::as_object).is_some_and(|it| it.contains_key(name));
        let required =
            || part.get("required").and_then(Value::as_array).is_some_and(|it| it.iter().any(|it| it == name));
        named || required()
    };
    fields.keys().map(String::as_str).filter(|name| !parts.iter().any(|it| names(it, name))).collect()
}

/// The names of the properties at the top of the schema.
pub fn property_names(schema: &Value) -> Vec<&str> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flat_map(Map::keys).map(String::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(schema: Value, expected: &[&str]) {
        assert_eq!(unknown_fields(&schema, &json!({"text": 1, "txet": 2, "limit": 3})), expected, "{schema}");
    }

    #[test]
    fn a_schema_that_names_its_fields_knows_no_others() {
        check(json!({"properties": {"text": {}, "limit": {}}}), &["txet"]);
        check(json!({"properties": {}}), &["text", "txet", "limit"]);
        check(json!({"properties": {"text": {}}, "required": ["limit"]}), &["txet"]);
        check(json!({"properties": {"text": {}, "txet": {}, "limit": {}, "more": {}}}), &[]);
        assert!(unknown_fields(&json!({"properties": {}}), &json!([1])).is_empty());
    }

    #[test]
    fn a_schema_that_speaks_of_others_is_taken_at_its_word() {
        for keyword in ["additionalProperties", "unevaluatedProperties", "patternProperties"] {
            check(json!({"properties": {"text": {}}, keyword: {}}), &[]);
            check(json!({"properties": {"text": {}}, "allOf": [{keyword: {}}]}), &[]);
        }
        check(json!({"type": "object"}), &[]);
        check(json!({}), &[]);
    }

    #[test]
    fn parts_of_a_schema_name_fields_too() {
        check(json!({"properties": {"text": {}}, "anyOf": [{"properties": {"limit": {}}}, true]}), &["txet"]);
        check(
            json!({"properties": {"text": {}}, "$ref": "#/$defs/a", "$defs": {"a": {"required": ["limit"]}}}),
            &["txet"],
        );
        check(json!({"properties": {"text": {}}, "if": {"properties": {"limit": {}}}, "$ref": "#"}), &["txet"]);
    }
}
