//! Tools of MCP servers. A result is the structured content if there is one, else the text if there is only text, else the
//! content blocks. The blocks go along as they came, for clients that are MCP clients themselves.

use super::{Prepared, Run, RunFailure, RunOutput, RunTask, Runner, ToolReport};
use crate::callers::Scope;
use crate::error::Error;
use crate::federation::{self, ServerAnswer};
use crate::json_size::{MAX_VALUES, values};
use crate::mcp_client::{ClientFailure, FailureCause};
use crate::mcp_protocol::CallToolResult;
use crate::registry::Tool;
use serde_json::{Map, Value};
use std::time::Duration;

/// How long a run may take beyond its tool's time, so that the client can cancel the call on the server.
const CANCELLING: Duration = Duration::from_secs(3);

struct McpRunner {
    /// The name of the tool on its server.
    name: String,
}

pub fn prepare(name: String) -> Prepared {
    Ok(Box::new(McpRunner { name }))
}

impl Runner for McpRunner {
    fn run<'a>(&'a self, scope: &'a Scope, task: &'a RunTask<'a>) -> Run<'a> {
        Box::pin(call(scope, task, &self.name))
    }

    fn extra_wait(&self) -> Duration {
        CANCELLING
    }
}

async fn call(scope: &Scope, task: &RunTask<'_>, name: &str) -> Result<RunOutput, RunFailure> {
    let none = Map::new();
    let arguments = task.arguments.as_object().unwrap_or(&none);
    let time = Duration::from_secs(task.tool.timeout_seconds.into());
    match federation::call(scope, task.tool, name, arguments, time).await? {
        ServerAnswer::Result(result) => read(result),
        ServerAnswer::Failed(failure) => Err(failed(task.tool, &failure)),
        ServerAnswer::NotAsked(reason) => {
            Err(RunFailure::Unreachable(format!("{} cannot be called: {reason}", task.tool.id)))
        }
    }
}

/// The output that the server's result stands for.
fn read(result: CallToolResult) -> Result<RunOutput, RunFailure> {
    let bytes = result.content.len() + result.structured_content.as_ref().map_or(0, String::len);
    let count =
        values(result.content.as_bytes()) + result.structured_content.as_ref().map_or(0, |it| values(it.as_bytes()));
    if bytes > super::MAX_RESPONSE_BYTES || count > MAX_VALUES {
        return Err(RunFailure::tool("The MCP server answered too much"));
    }
    let blocks = serde_json::from_str::<Vec<Value>>(&result.content)
        .map_err(|cause| Error::Internal(format!("content blocks are not JSON: {cause}")))?;
    let text = text_of(&blocks);
    if result.is_error {
        let message = text.filter(|it| !it.is_empty());
        let message = message.unwrap_or_else(|| "The MCP server reported a failure without a text".to_owned());
        return Err(RunFailure::Tool(ToolReport {
            message,
            content: Some(result.content.into()),
            ..ToolReport::default()
        }));
    }
    let structured = result.structured_content.as_deref().map(serde_json::from_str::<Value>).transpose();
    let structured = structured.map_err(|cause| Error::Internal(format!("structured content is not JSON: {cause}")))?;
    let value = match (structured, text) {
        (Some(structured), _) => structured,
        (None, Some(text)) => Value::String(text),
        (None, None) => Value::Array(blocks),
    };
    let content = if value.is_array() { value.to_string() } else { result.content };
    Ok(RunOutput { content: Some(content), ..RunOutput::plain(value) })
}

/// The text of the blocks, if there are only texts.
fn text_of(blocks: &[Value]) -> Option<String> {
    let texts = blocks.iter().map(|it| match it.get("type").and_then(Value::as_str) {
        Some("text") => it.get("text").and_then(Value::as_str),
        _ => None,
    });
    texts.collect::<Option<Vec<_>>>().map(|it| it.join("\n"))
}

fn failed(tool: &Tool, failure: &ClientFailure) -> RunFailure {
    let cause = &failure.cause;
    // A caller who knows that nothing ran may try again.
    let end = if failure.surely_did_not_run() { "; the call did not run" } else { "" };
    let told = || format!("The MCP server of {} {cause}{end}", tool.id);
    match cause {
        FailureCause::TimedOut => RunFailure::timeout(tool),
        FailureCause::Unusable(_)
        | FailureCause::Unreachable(_)
        | FailureCause::BrokenOff(_)
        | FailureCause::Refused { status: 502..=504, .. } => RunFailure::Unreachable(told()),
        FailureCause::Rpc(error) => RunFailure::tool(error.message.clone()),
        FailureCause::TooLarge(_)
        | FailureCause::NotText
        | FailureCause::Refused { .. }
        | FailureCause::Protocol(_)
        | FailureCause::InputRequired(_) => RunFailure::tool(told()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn result(content: Value, structured: Option<Value>, is_error: bool) -> CallToolResult {
        CallToolResult {
            content: content.to_string(),
            structured_content: structured.map(|it| it.to_string()),
            is_error,
            ..CallToolResult::default()
        }
    }

    fn value(content: Value, structured: Option<Value>) -> Value {
        let Ok(output) = read(result(content.clone(), structured, false)) else { unreachable!("it succeeded") };
        assert_eq!(output.content, Some(content.to_string()));
        output.result
    }

    #[test]
    fn a_result_is_structured_or_text_or_blocks() {
        let text = |it: &str| json!({"type": "text", "text": it});
        let image = json!({"type": "image", "data": "AA==", "mimeType": "image/png"});
        assert_eq!(value(json!([text("{}")]), Some(json!({"a": 1}))), json!({"a": 1}));
        assert_eq!(value(json!([text("a")]), None), json!("a"));
        assert_eq!(value(json!([text("a"), text("b")]), None), json!("a\nb"));
        assert_eq!(value(json!([]), None), json!(""));
        assert_eq!(value(json!([text("a"), image]), None), json!([text("a"), image]));
    }

    #[test]
    fn an_error_has_the_servers_words() {
        let failure = |content| match read(result(content, Some(json!({"a": 1})), true)) {
            Err(RunFailure::Tool(report)) => report.message,
            _ => unreachable!("it failed"),
        };
        assert_eq!(failure(json!([{"type": "text", "text": "No such city"}])), "No such city");
        assert_eq!(failure(json!([])), "The MCP server reported a failure without a text");
    }
}
