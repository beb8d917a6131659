//! OpenAI's Responses API: the same function as in Chat Completions, without an object around it.

use super::json::object;
use super::{ExportedTool, openai};
use serde_json::Value;

pub fn tool(tool: &ExportedTool<'_>, strictly: bool) -> Value {
    let mut function = openai::function(tool, strictly);
    function.insert(0, ("type", "function".into()));
    object(function)
}
