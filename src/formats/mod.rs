//! Tools in the format of each model provider. Pure: a format is a function from a tool to JSON or text, in a file of
//! its own. The room knows no database, no HTTP and no caller.

mod anthropic;
pub mod arguments;
pub mod calls;
mod gemini;
#[cfg(test)]
mod golden;
pub mod json;
mod keys;
mod langchain;
pub mod mcp;
pub mod names;
mod openai;
mod openai_responses;
mod schema;
mod strict;
mod text;

use crate::registry::{Tool, Warning};
use crate::text_enum::text_enum;
use schema::PlainSchema;
use serde_json::{Map, Value};

text_enum! {
    /// A format in which agents get tools.
    Format {
        Json = "json",
        /// Chat Completions.
        Openai = "openai",
        OpenaiResponses = "openai_responses",
        Anthropic = "anthropic",
        Gemini = "gemini",
        Langchain = "langchain",
        Mcp = "mcp",
        Text = "text",
    }
}

/// The body of a response: tools in a format.
pub struct WrittenTools {
    pub is_json: bool,
    pub body: String,
}

impl WrittenTools {
    /// Adds the cursor of the next page. JSON always has the field. A text has it as its last line, only if there is a
    /// next page.
    pub fn with_next(mut self, cursor: Option<&str>) -> Self {
        if self.is_json {
            self.body.pop();
            self.body.push_str(r#","next_cursor":"#);
            self.body.push_str(&Value::from(cursor).to_string());
            self.body.push('}');
        } else if let Some(cursor) = cursor {
            self.body.push_str("\nnext_cursor: ");
            self.body.push_str(cursor);
            self.body.push('\n');
        }
        self
    }
}

/// Writes tools as `{"tools": […]}`, or as text. None for the registry's own format, which the API writes itself.
pub fn write(format: Format, tools: &[&Tool], strictly: bool) -> Option<WrittenTools> {
    let tool_writer: &dyn Fn(&Tool) -> String = match format {
        Format::Json => return None,
        Format::Text => return Some(WrittenTools { is_json: false, body: text::tools(tools) }),
        Format::Mcp => &|tool| serde_json::to_string(&mcp::tool(tool)).unwrap_or_default(),
        Format::Openai => &|tool| openai::tool(&ExportedTool::new(tool), strictly).to_string(),
        Format::OpenaiResponses => &|tool| openai_responses::tool(&ExportedTool::new(tool), strictly).to_string(),
        Format::Anthropic => &|tool| anthropic::tool(&ExportedTool::new(tool)).to_string(),
        Format::Gemini => &|tool| gemini::tool(&ExportedTool::new(tool)).to_string(),
        Format::Langchain => &|tool| langchain::tool(&ExportedTool::new(tool)).to_string(),
    };
    let mut body = r#"{"tools":["#.to_owned();
    for (index, tool) in tools.iter().enumerate() {
        if index > 0 {
            body.push(',');
        }
        body.push_str(&tool_writer(tool));
    }
    body.push_str("]}");
    Some(WrittenTools { is_json: true, body })
}

/// Warns of a tool whose schema is so large that models are shown only the beginning of its text.
pub fn warn(tool: &Tool) -> Option<Warning> {
    let message = "is so large, with what it refers to, that models are shown any object instead";
    schema::plain(&tool.parameters_schema).too_large.then(|| Warning::new("/parameters_schema", message))
}

/// A tool with its exported name and schema, which all formats except MCP's are made of.
struct ExportedTool<'a> {
    name: String,
    tool: &'a Tool,
    plain: PlainSchema,
}

impl<'a> ExportedTool<'a> {
    fn new(tool: &'a Tool) -> Self {
        Self { name: names::exported(&tool.id), tool, plain: schema::plain(&tool.parameters_schema) }
    }

    /// The fields that these formats share. Each format has its own name for the schema (`schema_is`).
    fn fields(&self, schema_is: &'static str, schema: Map<String, Value>) -> Vec<(&'static str, Value)> {
        let description = self.plain.describe(self.tool.shown_description());
        vec![("name", self.name.as_str().into()), ("description", description.into()), (schema_is, schema.into())]
    }
}
