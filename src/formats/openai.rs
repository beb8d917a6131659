//! OpenAI's Chat Completions: `{"type": "function", "function": {…}}`.

use super::json::object;
use super::{ExportedTool, strict};
use serde_json::Value;

pub fn tool(tool: &ExportedTool<'_>, strictly: bool) -> Value {
    object(vec![("type", "function".into()), ("function", object(function(tool, strictly)))])
}

/// The function, in strict mode if the caller asks for it and strict mode can express the schema.
pub fn function(tool: &ExportedTool<'_>, strictly: bool) -> Vec<(&'static str, Value)> {
    let strict = if strictly { strict::strict(&tool.plain.schema) } else { None };
    let is_strict = strict.is_some();
    let parameters = strict.unwrap_or_else(|| tool.plain.schema.clone());
    let mut function = tool.fields("parameters", parameters);
    function.push(("strict", is_strict.into()));
    function
}
