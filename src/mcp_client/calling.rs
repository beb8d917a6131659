//! Calls one tool.

use super::ToolCall;
use super::conversation::Conversation;
use super::exchange::Exchange;
use super::failure::FailureCause;
use super::question::Question;
use crate::mcp_protocol::{CallToolResult, McpMethod, param_headers};
use serde_json::{Map, Value};

const MAX_BYTES: usize = 10 * 1024 * 1024;

pub async fn call<E: Exchange>(
    talk: &mut Conversation<'_, E>,
    call: ToolCall<'_>,
) -> Result<CallToolResult, FailureCause> {
    let arguments = Value::Object(call.arguments.clone());
    let params = [("name", Value::from(call.name)), ("arguments", arguments)];
    let params = params.map(|(name, value)| (name.to_owned(), value)).into_iter().collect::<Map<_, _>>();
    let param_headers = param_headers(call.schema, call.arguments);
    let question = Question { method: McpMethod::CallTool, params, param_headers, max_bytes: MAX_BYTES };
    let result = talk.ask(&question).await?;
    CallToolResult::received(&result)
        .map_err(|problem| FailureCause::Protocol(format!("sent a result of a tool that {problem}")))
}
