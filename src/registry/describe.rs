//! A tool as plain text, for a prompt.

use super::tool::Tool;
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write;

pub fn describe(tool: &Tool) -> String {
    let approval = if tool.needs_approval() { "True" } else { "False" };
    let mut text = format!(
        "Tool: {}\nDescription: {}\nCategory: {}\nRisk Level: {}\nRequires Approval: {approval}\n",
        tool.id,
        tool.shown_description(),
        tool.category,
        tool.risk_level
    );
    let mut section = |title: &str, body: String| {
        // Writing to a String cannot fail.
        let _ = write!(text, "\n{title}:\n{body}\n");
    };
    section("Parameters", pretty_schema(&tool.parameters_schema));
    if let Some(schema) = &tool.returns_schema {
        section("Returns", pretty_schema(schema));
    }
    if !tool.examples.is_empty() {
        section("Examples", pretty(&tool.examples).unwrap_or_default());
    }
    text
}

/// Indents a stored schema. A stored schema is always valid JSON; an invalid one would be shown unchanged.
fn pretty_schema(schema: &str) -> String {
    serde_json::from_str::<Value>(schema).ok().and_then(|value| pretty(&value)).unwrap_or_else(|| schema.to_owned())
}

fn pretty(value: &impl Serialize) -> Option<String> {
    serde_json::to_string_pretty(value).ok()
}
