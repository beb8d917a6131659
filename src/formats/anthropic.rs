//! Anthropic's Messages API. It takes JSON Schema, with an object at the top and names of properties that fit.

use super::ExportedTool;
use super::json::object;
use serde_json::Value;

pub fn tool(tool: &ExportedTool<'_>) -> Value {
    object(tool.fields("input_schema", tool.plain.schema.clone()))
}
