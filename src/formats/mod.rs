//! Tools in the language of each model's provider. Pure: a format is a function from a tool to what that provider takes,
//! in a file of its own. It knows neither the database, nor HTTP, nor who is calling.

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
use schema::Plain;
use serde_json::{Map, Value};

text_enum! {
    /// A form in which tools are handed to agents.
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

/// Tools in a format, as they are answered.
pub struct Written {
    pub is_json: bool,
    pub body: String,
}

impl Written {
    /// With where the next page begins: in JSON always, as a last line of text if there is one.
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

/// As `{"tools": […]}`, or as text. Nothing, where the format is that of the registry itself.
pub fn write(format: Format, tools: &[&Tool], strictly: bool) -> Option<Written> {
    match format {
        Format::Json => return None,
        Format::Text => return Some(Written { is_json: false, body: text::tools(tools) }),
        _ => {}
    }
    let mut body = r#"{"tools":["#.to_owned();
    for (index, tool) in tools.iter().enumerate() {
        if index > 0 {
            body.push(',');
        }
        body.push_str(&one(format, tool, strictly));
    }
    body.push_str("]}");
    Some(Written { is_json: true, body })
}

fn one(format: Format, tool: &Tool, strictly: bool) -> String {
    if format == Format::Mcp {
        return serde_json::to_string(&mcp::tool(tool)).unwrap_or_default();
    }
    let tool = &Exported::new(tool);
    let written = match format {
        Format::OpenaiResponses => openai_responses::tool(tool, strictly),
        Format::Anthropic => anthropic::tool(tool),
        Format::Gemini => gemini::tool(tool),
        Format::Langchain => langchain::tool(tool),
        Format::Openai | Format::Json | Format::Mcp | Format::Text => openai::tool(tool, strictly),
    };
    written.to_string()
}

/// Warns of a tool of whose schema models are shown nothing but a part of its text.
pub fn warn(tool: &Tool) -> Option<Warning> {
    let message = "is so large, with what it refers to, that models are shown any object instead";
    schema::plain(&tool.parameters_schema).too_large.then(|| Warning::new("/parameters_schema", message))
}

/// A tool with what all formats but MCP's begin with.
struct Exported<'a> {
    name: String,
    tool: &'a Tool,
    plain: Plain,
}

impl<'a> Exported<'a> {
    fn new(tool: &'a Tool) -> Self {
        Self { name: names::exported(&tool.id), tool, plain: schema::plain(&tool.parameters_schema) }
    }

    /// What all formats say of a tool, with its schema under their own name for it.
    fn fields(&self, schema_is: &'static str, schema: Map<String, Value>) -> Vec<(&'static str, Value)> {
        let description = self.plain.describe(&self.tool.description);
        vec![("name", self.name.as_str().into()), ("description", description.into()), (schema_is, schema.into())]
    }
}
