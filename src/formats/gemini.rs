//! Gemini's function declarations. Gemini's API knows a part of OpenAPI 3.0. It refuses the whole request because of
//! one other keyword, type or enum, one array without items, or one object without properties.

use super::ExportedTool;
use super::json::{fields, has_any, list, object, only, push_new, put, put_new, text, without};
use super::schema::merged;
use super::strict::{kind_of, kinds_of_values, named};
use crate::registry::MAX_EXPORTED_DEPTH;
use serde_json::{Map, Value};

/// The keywords that are copied, by type.
const OF_STRINGS: [&str; 3] = ["minLength", "maxLength", "pattern"];
const OF_NUMBERS: [&str; 2] = ["minimum", "maximum"];
const OF_ARRAYS: [&str; 2] = ["minItems", "maxItems"];
const FORMATS: [&str; 6] =
    ["STRING date-time", "STRING enum", "NUMBER float", "NUMBER double", "INTEGER int32", "INTEGER int64"];

pub fn tool(tool: &ExportedTool<'_>) -> Value {
    let parameters = parameters(&tool.plain.schema);
    let has_none = parameters.is_none();
    let mut fields = tool.fields("parameters", parameters.unwrap_or_default());
    if has_none {
        fields.pop();
    }
    object(fields)
}

/// The parameters of a tool. None, if the tool has no parameters.
fn parameters(plain: &Map<String, Value>) -> Option<Map<String, Value>> {
    // The tool has a description of its own.
    Some(schema(&without(plain.clone(), &["description"]))).filter(|it| text(it, "type") == "OBJECT")
}

fn schema(given: &Map<String, Value>) -> Map<String, Value> {
    let given = &whole(given);
    let mut kinds = kinds(given);
    let all = kinds.len();
    kinds.retain(|it| *it != "null");
    let mut nullable = kinds.len() < all;
    let mut variants = Vec::new();
    let forms = [list(given, "anyOf"), list(given, "oneOf")].concat();
    if !forms.is_empty() && !given.contains_key("properties") {
        for form in forms.iter().filter_map(Value::as_object) {
            if text(form, "type") == "null" {
                nullable = true;
            } else {
                variants.push(schema(form));
            }
        }
    } else if kinds.len() > 1 {
        for kind in &kinds {
            variants.push(of_kind(given, kind));
        }
    }
    if variants.len() > 1 {
        // Gemini takes no other keyword beside `anyOf`.
        return any_of(variants.into_iter().map(|it| completed(it, given, nullable)).collect());
    }
    let only = variants.pop().unwrap_or_else(|| of_kind(given, kinds.first().unwrap_or(&"string")));
    completed(only, given, nullable)
}

fn any_of(forms: Vec<Map<String, Value>>) -> Map<String, Value> {
    let mut either = Map::new();
    put(&mut either, "anyOf", forms.into_iter().map(Value::Object).collect::<Vec<_>>().into());
    either
}

/// The schema with the title and description of `given`, unless it has its own, and with `nullable`.
fn completed(mut schema: Map<String, Value>, given: &Map<String, Value>, nullable: bool) -> Map<String, Value> {
    if schema.contains_key("anyOf") {
        return schema;
    }
    for word in ["title", "description"] {
        if let Some(text) = given.get(word) {
            put_new(&mut schema, word, text);
        }
    }
    if nullable {
        put(&mut schema, "nullable", true.into());
    }
    schema
}

/// The schema merged with the parts of `allOf`, and with the properties that only some of its forms have. Of two
/// different values for one keyword the first is kept.
fn whole(given: &Map<String, Value>) -> Map<String, Value> {
    let mut whole = given.clone();
    if has_properties(given) {
        whole = merged(given, MAX_EXPORTED_DEPTH);
        if let Some(kinds) = given.get("type") {
            put(&mut whole, "type", kinds.clone());
        }
    }
    for part in list(given, "allOf").iter().filter_map(Value::as_object) {
        for (keyword, value) in &self::whole(part) {
            put_new(&mut whole, keyword, value);
        }
    }
    without(whole, &["allOf"])
}

/// Whether the schema describes properties outside of its forms.
fn has_properties(given: &Map<String, Value>) -> bool {
    given.contains_key("properties") || list(given, "allOf").iter().filter_map(Value::as_object).any(has_properties)
}

/// The types that a schema accepts: the types that it names, else the types of its listed values, else the types that
/// its keywords are about.
fn kinds(given: &Map<String, Value>) -> Vec<&str> {
    match given.get("type") {
        Some(Value::String(kind)) => return vec![kind],
        Some(Value::Array(kinds)) => return kinds.iter().filter_map(Value::as_str).collect(),
        _ => {}
    }
    if let Some(kinds) = kinds_of_values(given) {
        return kinds;
    }
    let about = [
        // Not `additionalProperties`: such a schema accepts texts too, so an object that came as text would stay a
        // text.
        ("object", &["properties"][..]),
        ("array", &["items", "prefixItems", "minItems", "maxItems"]),
        ("number", &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]),
    ];
    about.iter().find(|(_, keywords)| has_any(given, keywords)).map(|(kind, _)| *kind).into_iter().collect()
}

/// The schema for values of one type.
fn of_kind(given: &Map<String, Value>, kind: &str) -> Map<String, Value> {
    let mut written = Map::new();
    let mut note = String::new();
    let mut kind = kind.to_ascii_uppercase();
    let mut kept: &[&str] = &[];
    match kind.as_str() {
        "NUMBER" | "INTEGER" => kept = &OF_NUMBERS,
        "BOOLEAN" => {}
        "ARRAY" => {
            kept = &OF_ARRAYS;
            put(&mut written, "items", items(given).into());
        }
        "OBJECT" if properties(given, &mut written) => {}
        // Gemini refuses an object without properties. A text may hold any object, and `arguments` restores it.
        "OBJECT" => {
            "STRING".clone_into(&mut kind);
            "A JSON object, written as text".clone_into(&mut note);
        }
        _ => {
            "STRING".clone_into(&mut kind);
            kept = &OF_STRINGS;
        }
    }
    let mut own = named(given).to_vec();
    own.retain(|it| fits(it, &kind));
    if kind == "STRING" && !own.is_empty() && !own.contains(&"".into()) {
        put(&mut written, "enum", own.into());
        put(&mut written, "format", "enum".into());
    } else if !own.is_empty() {
        let values = Value::Array(own).to_string();
        note = format!("One of {}", &values[1..values.len() - 1]);
    }
    let format = text(given, "format");
    if FORMATS.contains(&format!("{kind} {format}").as_str()) {
        put(&mut written, "format", format.into());
    }
    for (keyword, value) in only(given, kept) {
        put(&mut written, &keyword, value);
    }
    let mut written = completed(written, given, false);
    if !note.is_empty() {
        let before = text(&written, "description");
        let space = if before.is_empty() { "" } else { " " };
        let description = format!("{before}{space}({note})");
        put(&mut written, "description", description.into());
    }
    put(&mut written, "type", kind.into());
    written
}

/// Whether a value has the type, by Gemini's name for it.
fn fits(value: &Value, kind: &str) -> bool {
    match kind_of(value) {
        "integer" => matches!(kind, "INTEGER" | "NUMBER"),
        own => own.eq_ignore_ascii_case(kind),
    }
}

fn items(given: &Map<String, Value>) -> Map<String, Value> {
    let mut forms = Vec::new();
    let first = list(given, "prefixItems").iter().filter_map(Value::as_object);
    for form in first.chain(fields(given, "items").filter(|it| !it.is_empty() && !it.contains_key("not"))) {
        push_new(&mut forms, schema(form));
    }
    match forms.len() {
        0 => schema(&Map::new()),
        1 => forms.remove(0),
        _ => any_of(forms),
    }
}

/// Writes the properties. Returns whether there are any.
fn properties(given: &Map<String, Value>, written: &mut Map<String, Value>) -> bool {
    let (mut properties, mut required) = (Map::new(), list(given, "required").to_vec());
    for (name, it) in fields(given, "properties").into_iter().flatten() {
        put(&mut properties, name, schema(it.as_object().unwrap_or(&Map::new())).into());
    }
    required.retain(|it| it.as_str().is_some_and(|it| properties.contains_key(it)));
    if properties.is_empty() {
        return false;
    }
    put(written, "properties", properties.into());
    if !required.is_empty() {
        put(written, "required", required.into());
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::schema::plain;
    use serde_json::json;

    #[track_caller]
    fn check(property: Value, expected: Value) {
        let whole = json!({"type": "object", "properties": {"a": property}});
        let written = parameters(&plain(&whole.to_string()).schema).unwrap();
        assert_eq!(written["properties"]["a"], expected);
    }

    #[test]
    fn types_and_null() {
        check(json!({"type": "string", "default": "x", "$comment": "c"}), json!({"type": "STRING"}));
        check(json!({"type": ["integer", "null"]}), json!({"type": "INTEGER", "nullable": true}));
        check(json!({"type": ["string", "number"]}), json!({"anyOf": [{"type": "STRING"}, {"type": "NUMBER"}]}));
        check(json!(true), json!({"type": "STRING"}));
        check(
            json!({"anyOf": [{"type": "string"}, {"type": "null"}], "description": "d"}),
            json!({"type": "STRING", "description": "d", "nullable": true}),
        );
    }

    #[test]
    fn enums_are_of_texts() {
        check(json!({"enum": ["a", "b"]}), json!({"enum": ["a", "b"], "format": "enum", "type": "STRING"}));
        check(json!({"const": "a"}), json!({"enum": ["a"], "format": "enum", "type": "STRING"}));
        check(json!({"enum": [1, 2]}), json!({"description": "(One of 1,2)", "type": "INTEGER"}));
        check(
            json!({"enum": ["a", 1, null], "description": "d"}),
            json!({"anyOf": [
                {"enum": ["a"], "format": "enum", "description": "d", "type": "STRING", "nullable": true},
                {"description": "d (One of 1)", "type": "INTEGER", "nullable": true},
            ]}),
        );
    }

    #[test]
    fn arrays_have_items_and_objects_properties() {
        check(json!({"type": "array"}), json!({"items": {"type": "STRING"}, "type": "ARRAY"}));
        check(
            json!({"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": false}),
            json!({"items": {"anyOf": [{"type": "STRING"}, {"type": "INTEGER"}]}, "type": "ARRAY"}),
        );
        let as_text = json!({"description": "(A JSON object, written as text)", "type": "STRING"});
        check(json!({"type": "object"}), as_text.clone());
        check(json!({"type": "object", "additionalProperties": {"type": "string"}}), as_text);
        check(
            json!({"allOf": [{"properties": {"x": {"type": "string"}}, "required": ["x", "z"]}, {"properties": {"y": true}}]}),
            json!({"properties": {"x": {"type": "STRING"}, "y": {"type": "STRING"}}, "required": ["x"], "type": "OBJECT"}),
        );
        check(json!({"additionalProperties": {"type": "string"}}), json!({"type": "STRING"}));
    }

    #[test]
    fn parts_and_forms_inside_are_one_object() {
        let form = |name: &str| json!({"properties": {name: {"type": "string"}}, "required": ["kind", name]});
        let kind = json!({"kind": {"type": "string"}});
        let expected = json!({"properties": {
            "kind": {"type": "STRING"}, "path": {"type": "STRING"}, "url": {"type": "STRING"},
        }, "required": ["kind"], "type": "OBJECT"});
        let forms = json!([form("path"), form("url")]);
        check(json!({"type": "object", "properties": kind, "required": ["kind"], "oneOf": forms}), expected.clone());
        let part = json!({"properties": kind, "required": ["kind"]});
        check(json!({"allOf": [part, part], "anyOf": forms}), expected.clone());
        let mut nullable = expected;
        nullable["nullable"] = true.into();
        check(json!({"type": ["object", "null"], "properties": kind, "required": ["kind"], "oneOf": forms}), nullable);
        check(
            json!({"allOf": [{"enum": ["a"]}, {"maxLength": 3}], "description": "d"}),
            json!({"enum": ["a"], "format": "enum", "maxLength": 3, "description": "d", "type": "STRING"}),
        );
    }

    #[test]
    fn a_tool_without_parameters_has_none() {
        for schema in [json!({}), json!({"type": "object"}), json!({"type": "object", "properties": {}})] {
            assert_eq!(parameters(&plain(&schema.to_string()).schema), None);
        }
    }
}
