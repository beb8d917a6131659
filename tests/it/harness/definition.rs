//! Tools in the form in which they are registered.

use super::Client;
use serde_json::{Value, json};

/// The body that registers a version of a tool, with the given fields added or replaced.
pub fn definition(id: &str, version: &str, fields: Value) -> Value {
    let mut definition = json!({
        "id": id,
        "version": version,
        "name": "Count words",
        "description": "Counts the words of a text",
        "parameters_schema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
        "handler": {"type": "builtin", "key": "list_files"},
    });
    definition.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    definition
}

impl Client {
    /// Registers a version.
    #[track_caller]
    pub fn register(&self, id: &str, version: &str, fields: Value) -> Value {
        self.post("/api/tools", definition(id, version, fields)).created()
    }

    /// The whole change log.
    pub fn changes(&self) -> Vec<Value> {
        self.pages("/api/registry/changes", "changes", 200)
    }
}
