//! Makes the schema of an operation fit the rules of the registry: its size, and patterns that the engine does not take.

use crate::registry::{Drafts, MAX_SCHEMA_BYTES, check_schema};
use serde_json::{Map, Value};

/// The text of a schema that keeps all rules, and notes about what it had to lose; or the reason why there is none.
pub fn fitted(mut schema: Value) -> Result<(String, Vec<&'static str>), String> {
    let mut notes = Vec::new();
    let mut text = schema.to_string();
    if text.len() > MAX_SCHEMA_BYTES {
        for definition in schema.get_mut("$defs").and_then(Value::as_object_mut).into_iter().flat_map(Map::values_mut) {
            without_words(definition);
        }
        text = schema.to_string();
    }
    if text.len() > MAX_SCHEMA_BYTES {
        for property in
            schema.get_mut("properties").and_then(Value::as_object_mut).into_iter().flat_map(Map::values_mut)
        {
            let description = property.get("description").cloned();
            without_words(property);
            if let (Some(keywords), Some(description)) = (property.as_object_mut(), description) {
                keywords.insert("description".to_owned(), description);
            }
        }
        text = schema.to_string();
    }
    if text.len() > MAX_SCHEMA_BYTES {
        let bytes = text.len();
        return Err(format!("its schema has {bytes} bytes without descriptions; {MAX_SCHEMA_BYTES} are allowed"));
    }
    let Err(fault) = check_schema(&text, Drafts::Any) else { return Ok((text, notes)) };
    // Documents have patterns for other engines: the server checks them, and Pegboard need not.
    for_each_schema(&mut schema, &mut |keywords| remove(keywords, &["pattern", "patternProperties"]));
    let without = schema.to_string();
    if without != text && check_schema(&without, Drafts::Any).is_ok() {
        notes.push("its patterns are not checked, because one of them cannot be");
        return Ok((without, notes));
    }
    let (place, reason) = fault;
    let place = if place.is_empty() { "its schema".to_owned() } else { format!("its schema, at {place},") };
    Err(format!("{place} {reason}"))
}

/// Removes descriptions, titles and examples from a schema and every schema inside it.
pub fn without_words(schema: &mut Value) {
    for_each_schema(schema, &mut |keywords| remove(keywords, &["description", "title", "examples"]));
}

fn remove(keywords: &mut Map<String, Value>, removed: &[&str]) {
    keywords.retain(|keyword, _| !removed.contains(&keyword.as_str()));
}

/// Changes a schema and every schema inside it.
fn for_each_schema(schema: &mut Value, change: &mut dyn FnMut(&mut Map<String, Value>)) {
    let Value::Object(keywords) = schema else { return };
    change(keywords);
    for (keyword, value) in keywords {
        match (keyword.as_str(), value) {
            ("properties" | "patternProperties" | "dependentSchemas" | "$defs", Value::Object(schemas)) => {
                schemas.values_mut().for_each(|it| for_each_schema(it, change));
            }
            ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(schemas)) => {
                schemas.iter_mut().for_each(|it| for_each_schema(it, change));
            }
            ("enum" | "const" | "examples", _) => {}
            (_, inner @ Value::Object(_)) => for_each_schema(inner, change),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn with(property: Value, definition: Value) -> Value {
        json!({"type": "object", "properties": {"body": property}, "$defs": {"D": definition}})
    }

    #[test]
    fn a_schema_that_fits_stays_as_it_is() {
        let schema = with(json!({"description": "x", "pattern": "^a"}), json!({"title": "D"}));
        assert_eq!(fitted(schema.clone()), Ok((schema.to_string(), vec![])));
    }

    #[test]
    fn a_large_schema_loses_its_words_from_the_inside() {
        let long = "x".repeat(70_000);
        let definition = json!({"description": long, "properties": {"description": {"type": "string", "title": "T"}}});
        let property = json!({"description": "Kept", "items": {"description": "Also kept"}});
        let (text, _) = fitted(with(property.clone(), definition)).unwrap();
        let expected = with(property, json!({"properties": {"description": {"type": "string"}}}));
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), expected);
        let property = json!({"description": "Kept", "items": {"description": long, "enum": [{"title": 1}]}});
        let (text, _) = fitted(with(property, json!({}))).unwrap();
        let expected = with(json!({"description": "Kept", "items": {"enum": [{"title": 1}]}}), json!({}));
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), expected);
        let values = (0..10_000).map(|it| format!("value{it}")).collect::<Vec<_>>();
        let fault = fitted(with(json!({"enum": values}), json!({}))).unwrap_err();
        assert!(fault.contains("65536 are allowed"), "{fault}");
    }

    #[test]
    fn a_pattern_that_cannot_be_checked_is_left_to_the_server() {
        let (text, notes) = fitted(with(json!({"type": "string", "pattern": "(?<!a)b"}), json!({}))).unwrap();
        assert!(!text.contains("pattern") && notes.len() == 1);
        let fault = fitted(with(json!({"$ref": "#/$defs/None"}), json!({}))).unwrap_err();
        assert!(fault.contains("its schema"), "{fault}");
    }
}
