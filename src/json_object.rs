//! A JSON object that is written field by field.

use serde_json::{Map, Value};

/// The text of a JSON object. Values that are JSON text already are copied into it, and not parsed again.
pub struct JsonObject(String);

impl Default for JsonObject {
    fn default() -> Self {
        Self("{".to_owned())
    }
}

impl JsonObject {
    pub fn new() -> Self {
        Self::default()
    }

    /// An object with these fields. Their names may need escapes.
    pub fn of(fields: &Map<String, Value>) -> Self {
        let mut object = Self::new();
        for (name, value) in fields {
            let name = Value::from(name.as_str()).to_string();
            object.put(&name[1..name.len() - 1], &value.to_string());
        }
        object
    }

    /// Adds a text.
    pub fn text(&mut self, name: &str, text: &str) {
        self.put(name, &Value::from(text).to_string());
    }

    /// Adds a field whose value is JSON text. The name must need no escapes.
    pub fn put(&mut self, name: &str, json: &str) {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.extend(["\"", name, "\":", json]);
    }

    pub fn finish(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_are_written_in_their_order_and_escaped() {
        let mut object = JsonObject::new();
        object.put("a", "1");
        object.text("b", "x\"y");
        object.put("c", r#"{"d":[1.0]}"#);
        assert_eq!(object.finish(), r#"{"a":1,"b":"x\"y","c":{"d":[1.0]}}"#);
        assert_eq!(JsonObject::new().finish(), "{}");
        let odd = json!({"a\"b\\": 1, "": null});
        assert_eq!(serde_json::from_str::<Value>(&JsonObject::of(odd.as_object().unwrap()).finish()).unwrap(), odd);
    }
}
