//! LangChain's `StructuredTool`. LangChain takes a JSON Schema as the tool's `args_schema`, and passes the schema on to
//! any provider.

use super::ExportedTool;
use super::json::{object, put};
use serde_json::Value;

pub fn tool(tool: &ExportedTool<'_>) -> Value {
    // LangChain's own conversions read the name of a function from its schema's title.
    let mut schema = tool.plain.schema.clone();
    put(&mut schema, "title", tool.name.as_str().into());
    object(tool.fields("args_schema", schema))
}
