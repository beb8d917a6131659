//! Arguments that a request repeats in its headers, so that a proxy can route it without reading its body: the
//! `x-mcp-header` of a property. A request that is routed by its headers must not be run with other arguments.

use crate::execution::{CallFailure, CalledTool, Code, DoorCheck};
use crate::formats::names;
use crate::mcp_protocol::{PARAM_HEADER_PREFIX, param_header};
use serde_json::{Value, json};

/// The arguments that the headers repeat, by name. The case of a name does not matter. None, where a value cannot be
/// decoded.
pub type Mirrored = Vec<(String, Option<String>)>;

/// The check that the headers of a call say the same as its arguments.
pub fn check(tool_name: &str, mirrored: Mirrored) -> DoorCheck {
    let tool_name = tool_name.to_owned();
    Box::new(move |called: &CalledTool<'_>, arguments: &Value| {
        // A client that looks tools up (`find_tools`), or calls the tool by another name than the list has, was not
        // shown this schema. It cannot know which arguments to repeat.
        let finds_tools = called.agent.is_some_and(|it| it.profile.find_tools);
        let is_required = !finds_tools && tool_name == names::exported(&called.tool.id);
        mismatch(called.parameters.definition(), arguments, &mirrored, is_required)
    })
}

/// The first header that does not agree with its argument.
fn mismatch(schema: &Value, arguments: &Value, mirrored: &Mirrored, is_required: bool) -> Option<CallFailure> {
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let value = arguments.get(name).unwrap_or(&Value::Null);
        if let Some(header) = param_header(property) {
            let told = mirrored.iter().find(|(it, _)| it.eq_ignore_ascii_case(header)).map(|(_, it)| it.as_deref());
            let agrees = match (value, told) {
                (Value::Null, told) => told.is_none(),
                // No header can repeat an object or an array. Such a value does not have the property's type, so the
                // check against the schema refuses it.
                (Value::Object(_) | Value::Array(_), _) => true,
                (_, None) => !is_required,
                (value, Some(told)) => told.is_some_and(|it| is_same(value, it)),
            };
            if !agrees {
                let header = format!("{PARAM_HEADER_PREFIX}{header}");
                let message = format!("Header mismatch: {header} does not say what the argument {name} says");
                return Some(CallFailure::new(Code::ValidationError, message).with(json!({"header": header})));
            }
        }
        let inner = mismatch(property, value, mirrored, is_required);
        if inner.is_some() {
            return inner;
        }
    }
    None
}

/// Whether a header has the same value as the argument. A number may be written in any form.
fn is_same(value: &Value, told: &str) -> bool {
    match value {
        Value::String(text) => text == told,
        Value::Number(number) => {
            let told = serde_json::from_str::<Value>(told).ok().and_then(|it| it.as_f64());
            number.as_f64().zip(told).is_some_and(|(it, told)| it.total_cmp(&told).is_eq())
        }
        Value::Bool(flag) => told == if *flag { "true" } else { "false" },
        Value::Null | Value::Array(_) | Value::Object(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_twice_is_told_the_same() {
        let schema = json!({"properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "count": {"type": "integer", "x-mcp-header": "Count"},
            "dry": {"type": "boolean", "x-mcp-header": "Dry"},
            "deep": {"properties": {"zone": {"type": "string", "x-mcp-header": "Zone"}}},
            "free": {"type": "string"},
            "odd": {"type": ["string", "null"], "x-mcp-header": "Odd"},
        }});
        let agrees = |arguments: Value, told: &[(&str, Option<&str>)], is_required| {
            let told = told.iter().map(|(name, text)| ((*name).to_owned(), text.map(str::to_owned))).collect();
            mismatch(&schema, &arguments, &told, is_required).is_none()
        };
        let check = |arguments: Value, told: &[(&str, Option<&str>)]| agrees(arguments, told, true);
        assert!(check(json!({}), &[]) && check(json!({"region": null, "free": "x"}), &[("other", Some("x"))]));
        assert!(check(json!({"region": "eu"}), &[("region", Some("eu"))]));
        assert!(!check(json!({"region": "eu"}), &[]), "it is missing");
        assert!(!check(json!({"region": "eu"}), &[("region", Some("EU"))]));
        assert!(!check(json!({"region": "eu"}), &[("region", None)]), "it cannot be read");
        assert!(!check(json!({}), &[("region", Some("eu"))]), "the body does not say it");
        assert!(check(json!({"count": 42}), &[("Count", Some("42"))]));
        assert!(check(json!({"count": 42}), &[("count", Some("42.0"))]));
        assert!(!check(json!({"count": 42}), &[("count", Some("\"42\""))]));
        assert!(check(json!({"dry": true}), &[("dry", Some("true"))]));
        assert!(!check(json!({"dry": true}), &[("dry", Some("false"))]));
        assert!(check(json!({"deep": {"zone": "a"}}), &[("zone", Some("a"))]));
        assert!(!check(json!({"deep": {"zone": "a"}}), &[]));
        assert!(check(json!({"region": ["eu"]}), &[]), "the schema's check refuses it");
        assert!(check(json!({"odd": "x"}), &[]), "it means nothing there");
        assert!(agrees(json!({"region": "eu"}), &[], false), "the client was not shown the schema");
        assert!(!agrees(json!({"region": "eu"}), &[("region", Some("us"))], false));
    }
}
