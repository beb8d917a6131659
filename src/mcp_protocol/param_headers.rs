//! Headers that repeat an argument of a tool's call. The schema of a property names such a header as `x-mcp-header`.

use super::headers::{PARAM_HEADER_PREFIX, encoded};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

const ANNOTATION: &str = "x-mcp-header";

/// Keywords whose values are data, not schemas.
const DATA: [&str; 5] = ["const", "default", "enum", "example", "examples"];
/// Keywords whose values hold schemas by name.
const NAMED_SCHEMAS: [&str; 4] = ["$defs", "definitions", "dependentSchemas", "patternProperties"];

/// The header that repeats a property. Only a string, an integer or a boolean can have such a header. On other
/// properties the header has no meaning, and clients drop such a tool.
pub fn param_header(property: &Value) -> Option<&str> {
    let kind = property.get("type")?.as_str()?;
    let header = property.get(ANNOTATION)?.as_str()?;
    ["string", "integer", "boolean"].contains(&kind).then_some(header)
}

/// The headers that repeat arguments, with their values. An argument that is null or missing has none.
pub fn param_headers(schema: &Value, arguments: &Map<String, Value>) -> Vec<(String, String)> {
    let mut headers = Vec::new();
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let value = arguments.get(name).unwrap_or(&Value::Null);
        if let Some(header) = param_header(property) {
            let text = match value {
                Value::String(text) => Some(encoded(text)),
                Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
                Value::Null | Value::Array(_) | Value::Object(_) => None,
            };
            headers.extend(text.map(|it| (format!("{PARAM_HEADER_PREFIX}{header}"), it)));
        }
        if let Value::Object(inner) = value {
            headers.extend(param_headers(property, inner));
        }
    }
    headers
}

/// What is wrong with the headers that a tool's schema names, if something is. A client leaves such a tool out.
pub fn fault_of_param_headers(schema: &Value) -> Option<String> {
    fault(schema, true, &mut BTreeSet::new())
}

/// `is_reachable` says that only `properties` lead to the schema, so that an argument has a known place.
fn fault(schema: &Value, is_reachable: bool, seen: &mut BTreeSet<String>) -> Option<String> {
    let Value::Object(keywords) = schema else {
        return schema.as_array()?.iter().find_map(|it| fault(it, false, seen));
    };
    keywords.iter().find_map(|(keyword, value)| match keyword.as_str() {
        ANNOTATION => fault_of_name(schema, value, is_reachable, seen),
        "properties" => value.as_object()?.values().find_map(|it| fault(it, is_reachable, seen)),
        keyword if DATA.contains(&keyword) => None,
        keyword if NAMED_SCHEMAS.contains(&keyword) => {
            value.as_object()?.values().find_map(|it| fault(it, false, seen))
        }
        _ => fault(value, false, seen),
    })
}

fn fault_of_name(schema: &Value, name: &Value, is_reachable: bool, seen: &mut BTreeSet<String>) -> Option<String> {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let problem = match name.as_str() {
        Some(text) if text.is_empty() || !text.bytes().all(token) => "is not the name of a header",
        None => "is not the name of a header",
        Some(_) if !is_reachable => "stands where no argument has a known place",
        Some(_) if param_header(schema).is_none() => "is on a property that is not a string, an integer or a boolean",
        Some(text) if !seen.insert(text.to_ascii_lowercase()) => "is used twice",
        Some(_) => return None,
    };
    Some(format!("{ANNOTATION} {name} {problem}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn arguments_are_repeated_in_the_form_that_a_header_can_have() {
        let schema = json!({"properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "count": {"type": "integer", "x-mcp-header": "Count"},
            "dry": {"type": "boolean", "x-mcp-header": "Dry"},
            "deep": {"type": "object", "properties": {"zone": {"type": "string", "x-mcp-header": "Zone"}}},
            "free": {"type": "string"},
        }});
        let headers = |arguments: Value| param_headers(&schema, arguments.as_object().unwrap());
        let pair = |name: &str, value: &str| (format!("Mcp-Param-{name}"), value.to_owned());
        assert_eq!(headers(json!({"region": null, "free": "x"})), []);
        assert_eq!(
            headers(json!({"region": " a", "count": 42, "dry": false, "deep": {"zone": "a b"}})),
            [pair("Region", "=?base64?IGE=?="), pair("Count", "42"), pair("Dry", "false"), pair("Zone", "a b")]
        );
        assert_eq!(headers(json!({"region": "", "count": [1]})), [pair("Region", "")]);
    }

    #[test]
    fn a_tool_with_an_unusable_header_is_told() {
        let is_valid = |schema: Value| fault_of_param_headers(&schema).is_none();
        let of = |property: Value| json!({"type": "object", "properties": {"a": property}});
        let named = |name: &str| of(json!({"type": "string", "x-mcp-header": name}));
        assert!(is_valid(json!({})) && is_valid(json!(true)) && is_valid(named("Region")));
        assert!(is_valid(of(named("Deep"))));
        assert!(is_valid(of(
            json!({"default": {"x-mcp-header": ""}, "properties": {"x-mcp-header": {"type": "null"}}})
        )));
        for name in ["", "My Region", "Region:Primary", "Région", "Region\t1"] {
            assert!(!is_valid(named(name)), "{name}");
        }
        for kind in ["object", "array", "null", "number"] {
            assert!(!is_valid(of(json!({"type": kind, "x-mcp-header": "A"}))), "{kind}");
        }
        assert!(!is_valid(of(json!({"type": "string", "x-mcp-header": 7}))));
        assert!(!is_valid(of(json!({"x-mcp-header": "A"}))));
        let twice = json!({"properties": {
            "a": {"type": "string", "x-mcp-header": "MyField"}, "b": {"type": "string", "x-mcp-header": "myfield"}}});
        assert!(fault_of_param_headers(&twice).unwrap().ends_with("is used twice"));
        let part = json!({"type": "string", "x-mcp-header": "A"});
        for schema in [
            of(json!({"type": "array", "items": part})),
            json!({"anyOf": [named("A")]}),
            json!({"$defs": {"part": part}}),
            json!({"if": named("A")}),
        ] {
            assert!(!is_valid(schema.clone()), "{schema}");
        }
    }
}
