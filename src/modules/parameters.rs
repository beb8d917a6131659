//! The parameters of a tool in a manifest: a JSON Schema, or a list with one entry for each parameter. Pure.

use crate::error::shortened;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

/// The types that an entry of the list may have.
const TYPES: [&str; 7] = ["string", "integer", "number", "boolean", "array", "object", "null"];

/// The text of the schema. A schema keeps its text. The reason for a refusal begins with the place inside the parameters.
pub fn schema_of(given: Option<&RawValue>) -> Result<String, String> {
    let Some(given) = given.filter(|it| it.get() != "null") else {
        return Ok(json!({"type": "object", "properties": {}}).to_string());
    };
    match serde_json::from_str::<Value>(given.get()) {
        Ok(Value::Object(_)) => Ok(given.get().to_owned()),
        Ok(Value::Array(entries)) => of_list(entries).map(|it| it.to_string()),
        Ok(_) | Err(_) => Err(": must be a list of parameters, or a JSON Schema that is an object".to_owned()),
    }
}

/// The schema of a list. Everything in an entry besides `name` and `required` is a part of the parameter's own schema.
fn of_list(entries: Vec<Value>) -> Result<Value, String> {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (index, entry) in entries.into_iter().enumerate() {
        let Value::Object(mut entry) = entry else { return Err(format!("/{index}: must be an object")) };
        let Some(Value::String(name)) = entry.shift_remove("name") else {
            return Err(format!("/{index}/name: must be a text"));
        };
        match entry.shift_remove("required") {
            Some(Value::Bool(true)) => required.push(Value::from(name.as_str())),
            None | Some(Value::Bool(false) | Value::Null) => {}
            Some(_) => return Err(format!("/{index}/required: must be true or false")),
        }
        match entry.get("type") {
            Some(Value::String(it)) if TYPES.contains(&it.as_str()) => {}
            Some(Value::String(it)) => {
                return Err(format!("/{index}/type: {} is none of {}", shortened(it), TYPES.join(", ")));
            }
            _ => return Err(format!("/{index}/type: must be one of {}", TYPES.join(", "))),
        }
        entry.retain(|_, value| !value.is_null());
        if properties.contains_key(&name) {
            return Err(format!("/{index}/name: {} comes twice", shortened(&name)));
        }
        properties.insert(name, Value::Object(entry));
    }
    Ok(json!({"type": "object", "properties": properties, "required": required}))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(given: &str) -> Result<Value, String> {
        let given = RawValue::from_string(given.to_owned()).unwrap();
        schema_of(Some(&given)).map(|it| serde_json::from_str(&it).unwrap())
    }

    #[test]
    fn a_list_becomes_an_object() {
        let given = r#"[{"name": "q", "type": "string", "description": "Text", "required": true, "enum": ["a"]},
            {"name": "n", "type": "array", "items": {"type": "integer"}, "enum": null}]"#;
        let expected = json!({
            "type": "object",
            "properties": {
                "q": {"type": "string", "description": "Text", "enum": ["a"]},
                "n": {"type": "array", "items": {"type": "integer"}},
            },
            "required": ["q"],
        });
        assert_eq!(schema(given), Ok(expected));
        assert_eq!(schema_of(None).unwrap(), r#"{"type":"object","properties":{}}"#);
    }

    #[test]
    fn a_schema_keeps_its_text() {
        let text = r#"{ "$schema": "http://json-schema.org/draft-07/schema#",  "type": "object" }"#;
        assert_eq!(schema_of(Some(&RawValue::from_string(text.to_owned()).unwrap())).unwrap(), text);
    }

    #[test]
    fn every_fault_has_its_place() {
        for (given, reason) in [
            ("7", ": must be a list"),
            ("[7]", "/0: must be an object"),
            (r#"[{"type": "string"}]"#, "/0/name: must be a text"),
            (r#"[{"name": "a"}]"#, "/0/type: must be one of"),
            (r#"[{"name": "a", "type": "text"}]"#, "/0/type: text is none of"),
            (r#"[{"name": "a", "type": "null", "required": 1}]"#, "/0/required"),
            (r#"[{"name": "a", "type": "null"}, {"name": "a", "type": "null"}]"#, "/1/name: a comes twice"),
        ] {
            assert!(schema(given).unwrap_err().starts_with(reason), "{given}");
        }
    }
}
