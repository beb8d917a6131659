//! Anthropic's Messages: JSON Schema as it is, but for its top and the names of its properties.

use super::ExportedTool;
use super::json::object;
use serde_json::Value;

pub fn tool(tool: &ExportedTool<'_>) -> Value {
    object(tool.fields("input_schema", tool.plain.schema.clone()))
}
