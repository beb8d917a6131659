//! Every fixture tool in every format, compared with the reviewed files in tests/fixtures/golden.

use super::{Format, WrittenTools, schema, write};
use crate::registry::schema::Schema;
use crate::registry::{Tool, fixture};
use serde_json::Value;
use std::fs;
use std::path::Path;

const FORMATS: [(Format, bool, &str); 8] = [
    (Format::Openai, false, "openai"),
    (Format::Openai, true, "openai_strict"),
    (Format::OpenaiResponses, false, "openai_responses"),
    (Format::Anthropic, false, "anthropic"),
    (Format::Gemini, false, "gemini"),
    (Format::Langchain, false, "langchain"),
    (Format::Mcp, false, "mcp"),
    (Format::Text, false, "text"),
];

fn fixtures() -> Vec<(String, Tool)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tools");
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let given: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let text = |name: &str| given[name].as_str().unwrap().to_owned();
        let mut tool = fixture(&text("id"));
        tool.name = text("name");
        tool.description = text("description");
        tool.parameters_schema = given["parameters_schema"].to_string();
        tool.returns_schema = given.get("returns_schema").map(Value::to_string);
        let field = |name: &str, default: Value| given.get(name).cloned().unwrap_or(default);
        tool.risk_level = serde_json::from_value(field("risk_level", "low".into())).unwrap();
        tool.source = serde_json::from_value(field("source", "registered".into())).unwrap();
        tool.side_effects = serde_json::from_value(field("side_effects", Value::Array(Vec::new()))).unwrap();
        found.push((path.file_stem().unwrap().to_str().unwrap().to_owned(), tool));
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

#[test]
fn every_fixture_in_every_format() {
    let fixtures = fixtures();
    assert!(fixtures.len() >= 12);
    for (name, tool) in &fixtures {
        for (format, strictly, called) in FORMATS {
            let WrittenTools { is_json, body } = write(format, &[tool], strictly).unwrap();
            let written = if is_json {
                let value: Value = serde_json::from_str(&body).unwrap();
                serde_json::to_string_pretty(&value["tools"][0]).unwrap()
            } else {
                body
            };
            insta::with_settings!({
                snapshot_path => "../../tests/fixtures/golden",
                prepend_module_to_snapshot => false,
                omit_expression => true,
            }, { insta::assert_snapshot!(format!("{name}.{called}"), written) });
        }
    }
}

/// An exported schema is valid, and accepts all arguments that the stored schema accepts.
#[test]
fn what_is_handed_out_is_never_narrower() {
    for (name, tool) in fixtures() {
        let plain = schema::plain(&tool.parameters_schema);
        let exported = Schema::compile(Value::Object(plain.schema)).unwrap();
        let stored = Schema::compile(serde_json::from_str(&tool.parameters_schema).unwrap()).unwrap();
        for arguments in samples(&name) {
            assert_eq!(stored.violations(&arguments), [], "{name}: {arguments}");
            let mut given = arguments.clone();
            rename(&tool.parameters_schema, &mut given);
            assert_eq!(exported.violations(&given), [], "{name}: {given}");
            super::arguments::restore(&stored, &mut given);
            assert_eq!(given, arguments, "{name}");
        }
    }
}

/// In strict mode a model gives every property, and null for a property that it leaves out.
#[test]
fn what_strict_mode_asks_for_comes_back_as_it_was_meant() {
    let mut count = 0;
    for (name, tool) in fixtures() {
        let Some(strict) = super::strict::strict(&schema::plain(&tool.parameters_schema).schema) else { continue };
        let stored = Schema::compile(serde_json::from_str(&tool.parameters_schema).unwrap()).unwrap();
        let strict = Value::Object(strict);
        let exported = Schema::compile(strict.clone()).unwrap();
        for arguments in samples(&name) {
            let mut given = arguments.clone();
            rename(&tool.parameters_schema, &mut given);
            complete(&strict, &mut given);
            assert_eq!(exported.violations(&given), [], "{name}: {given}");
            super::arguments::restore(&stored, &mut given);
            assert_eq!(stored.violations(&given), [], "{name}: {given}");
            assert_eq!(given, arguments, "{name}");
            count += 1;
        }
    }
    assert!(count >= 8, "{count}");
}

/// Adds null for every missing property.
fn complete(strict: &Value, value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, property) in strict["properties"].as_object().into_iter().flatten() {
                complete(property, fields.entry(name).or_insert(Value::Null));
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(|it| complete(&strict["items"], it)),
        _ => {}
    }
}

/// An object that Gemini gives as text becomes an object again.
#[test]
fn what_gemini_gives_comes_back_as_it_was_meant() {
    let mut count = 0;
    for (name, tool) in fixtures() {
        let WrittenTools { body, .. } = write(Format::Gemini, &[&tool], false).unwrap();
        let exported: Value = serde_json::from_str(&body).unwrap();
        let stored = Schema::compile(serde_json::from_str(&tool.parameters_schema).unwrap()).unwrap();
        for mut arguments in samples(&name) {
            // Gemini gives a text for a property that may have any value.
            arguments.as_object_mut().unwrap().remove("anything");
            let mut given = arguments.clone();
            rename(&tool.parameters_schema, &mut given);
            count += as_text(&exported["tools"][0]["parameters"], &mut given);
            super::arguments::restore(&stored, &mut given);
            assert_eq!(given, arguments, "{name}");
        }
    }
    assert!(count >= 5, "{count}");
}

/// Writes objects as text where the schema asks for text. Returns how many there were.
fn as_text(schema: &Value, value: &mut Value) -> usize {
    match value {
        Value::Object(fields) if schema["type"] == "OBJECT" => {
            fields.iter_mut().map(|(name, it)| as_text(&schema["properties"][name], it)).sum()
        }
        Value::Array(elements) => elements.iter_mut().map(|it| as_text(&schema["items"], it)).sum(),
        Value::Object(_) if schema["type"] == "STRING" => {
            *value = value.to_string().into();
            1
        }
        _ => 0,
    }
}

/// Arguments that fit a fixture.
fn samples(name: &str) -> Vec<Value> {
    use serde_json::json;
    match name {
        "plain" => vec![json!({"query": "x"}), json!({"query": "x", "limit": 3, "order": "date"})],
        "odd_keys" => vec![json!({"first name": "a", "nested list": [{"日本": "b"}], "größe": 1.5, "$filter": "c"})],
        "references" => vec![
            json!({"from": {"street": "a"}, "to": [{"street": "b", "zip": "12345"}], "note": "n"}),
            json!({"from": {"street": "a"}, "tree": {"value": 1, "children": [{"value": 2, "children": [{"value": 3}]}]}}),
        ],
        "variants" => vec![json!({"kind": "file", "path": "/a"}), json!({"kind": "url", "url": "https://a"})],
        "all_of" => vec![json!({"page": 1, "where": {"city": "a", "zip": "b"}})],
        "open_maps" => vec![json!({"headers": {"a": "b"}, "env": {"A": "b"}, "anything": [1], "meta": {"x": {}},
            "labels": {"c": "d"}, "limits": {"e": 1}, "maps": [{"f": {"g": "h"}}]})],
        "values" => vec![
            json!({"mixed": null, "maybe": null}),
            json!({"mixed": 2.5, "maybe": "x", "fixed": "v1", "number": 7, "many": ["a"], "pair": ["a", 1], "tags": [1, "x"],
                "either": [1], "optional": null, "empty": ""}),
        ],
        "conditions" => vec![json!({"country": "DE", "code": "12345"}), json!({"country": "US", "state": "x"})],
        "module_tool" => vec![json!({"q": "x"})],
        "server_tool" => vec![json!({"title": "x", "labels": ["a", 1]})],
        "long_id" => vec![json!({"quarter": 4})],
        _ => vec![json!({})],
    }
}

/// Gives the properties the names that a model sees.
fn rename(schema: &str, arguments: &mut Value) {
    if !schema.contains("first name") {
        return;
    }
    fn all(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                let renamed = std::mem::take(fields).into_iter().map(|(name, mut value)| {
                    all(&mut value);
                    (super::keys::exported(&name).into_owned(), value)
                });
                *fields = renamed.collect();
            }
            Value::Array(elements) => elements.iter_mut().for_each(all),
            _ => {}
        }
    }
    all(arguments);
}
