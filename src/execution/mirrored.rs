//! Arguments that a request repeats outside of its body, for those on its way who read no bodies: MCP's `x-mcp-header`. What
//! is routed by the one must not be run by the other.

use super::call::Call;
use super::outcome::{Code, Failure};
use super::resolve::Target;
use crate::error::Result;
use crate::formats::names;
use crate::registry::schema;
use serde_json::{Value, json};

/// What the request says outside of its body, by names without regard to case; none, where it cannot be read.
pub type Mirrored = Vec<(String, Option<String>)>;

/// Where it says something else than the arguments, as they came.
pub fn contradiction(asked: &Call, target: &Target, arguments: &Value) -> Result<Option<Failure>> {
    let Some(mirrored) = &asked.mirrored else { return Ok(None) };
    let schema = schema::compiled(&target.tool.parameters_schema)?;
    // Who was shown no tool of that name does not know what it wants repeated.
    let finds_tools = target.standing.as_ref().is_some_and(|it| it.agent.profile.find_tools);
    let is_wanted = !finds_tools && asked.tool_name == names::exported(&target.tool.id);
    Ok(contradicted(schema.definition(), arguments, mirrored, is_wanted))
}

fn contradicted(schema: &Value, arguments: &Value, mirrored: &Mirrored, is_wanted: bool) -> Option<Failure> {
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let value = arguments.get(name).unwrap_or(&Value::Null);
        if let Some(header) = header_of(property) {
            let told = mirrored.iter().find(|(it, _)| it.eq_ignore_ascii_case(header)).map(|(_, it)| it.as_deref());
            let agrees = match (value, told) {
                (Value::Null, told) => told.is_none(),
                // It cannot be told, nor does it fit: the schema has the word.
                (Value::Object(_) | Value::Array(_), _) => true,
                (_, None) => !is_wanted,
                (value, Some(told)) => told.is_some_and(|it| is_same(value, it)),
            };
            if !agrees {
                let header = format!("Mcp-Param-{header}");
                let message = format!("Header mismatch: {header} does not say what the argument {name} says");
                return Some(Failure::new(Code::ValidationError, message).with(json!({"header": header})));
            }
        }
        let inner = contradicted(property, value, mirrored, is_wanted);
        if inner.is_some() {
            return inner;
        }
    }
    None
}

/// The header that repeats a property. On any but these types it means nothing, and clients give such a tool up.
fn header_of(property: &Value) -> Option<&str> {
    let kind = property.get("type")?.as_str()?;
    let header = property.get("x-mcp-header")?.as_str()?;
    ["string", "integer", "boolean"].contains(&kind).then_some(header)
}

/// Numbers are the same however they are written.
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
        let agrees = |arguments: Value, told: &[(&str, Option<&str>)], is_wanted| {
            let told = told.iter().map(|(name, text)| ((*name).to_owned(), text.map(str::to_owned))).collect();
            contradicted(&schema, &arguments, &told, is_wanted).is_none()
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
        assert!(check(json!({"region": ["eu"]}), &[]), "the schema has the word");
        assert!(check(json!({"odd": "x"}), &[]), "it means nothing there");
        assert!(agrees(json!({"region": "eu"}), &[], false), "nobody knew of it");
        assert!(!agrees(json!({"region": "eu"}), &[("region", Some("us"))], false));
    }
}
