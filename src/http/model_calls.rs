//! `/api/agents/{agent_id}/tool-calls`: runs the calls in a model's message.

use super::extract::{Bytes, Guest, Named, Query, read_any_json};
use super::respond::Json;
use crate::error::{Error, Result};
use crate::ids::{AgentId, SessionId};
use crate::model_calls::{self, ModelCallContext, ToolCallsOut};
use serde::Deserialize;
use utoipa::IntoParams;

const MAX_TEXT_CHARS: usize = 250;

/// The fields of the calls besides tool and arguments. They are in the query, because the body is the model's own
/// message.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ToolCallsQuery {
    /// The session whose files the calls use; `default` if not given.
    #[param(pattern = "^[A-Za-z0-9_-]{1,64}$")]
    session_id: Option<String>,
    #[param(max_length = 250)]
    user_id: Option<String>,
    #[param(max_length = 250)]
    message_id: Option<String>,
    /// A retry with the same key and the same calls within 24 hours returns their first outcomes, and runs nothing.
    /// Without a key, the provider's ids of the calls serve as keys, for this agent and session.
    #[param(min_length = 1, max_length = 250)]
    idempotency_key: Option<String>,
}

impl ToolCallsQuery {
    fn checked(&self) -> Result<Option<SessionId>> {
        let texts = [
            ("user_id", &self.user_id, 0),
            ("message_id", &self.message_id, 0),
            ("idempotency_key", &self.idempotency_key, 1),
        ];
        for (name, text, least) in texts {
            let fits = |it: &str| (least..=MAX_TEXT_CHARS).contains(&it.chars().count());
            if !text.as_deref().is_none_or(fits) {
                return Err(Error::query(name, format!("must have {least} to {MAX_TEXT_CHARS} characters")));
            }
        }
        let session = self.session_id.as_deref().map(|it| {
            SessionId::parse(it).ok_or_else(|| Error::query("session_id", "must be 1 to 64 letters, digits, _ or -"))
        });
        session.transpose()
    }
}

/// Run the calls in a model's message
///
/// The body is the output of the model: OpenAI's `tool_calls` or `function_call` items, Anthropic's `tool_use` blocks,
/// Gemini's `functionCall` parts, or the message or response that holds them. At most 32 calls are allowed, and each
/// call is treated like any other call. Calls that read or write state keep their order; the other calls run side by
/// side. If the arguments of a call are not valid JSON, its result tells the model so. A call that is posted again, with
/// the same agent, session and provider's id, returns its first outcome, and does not run again.
#[utoipa::path(post, path = "/api/agents/{agent_id}/tool-calls", tag = "calls",
    params(("agent_id" = String, Path), ToolCallsQuery),
    request_body(content = Value, description = "The calls, as the model's provider gives them", example = json!([
        {"id": "call_1", "type": "function", "function": {"name": "list_files", "arguments": "{\"path\": \"/\"}"}}])),
    responses((status = 200, description = "What came of the calls", body = ToolCallsOut)))]
#[worker::send]
pub async fn run_tool_calls(
    Guest(scope): Guest,
    Named(agent_id): Named<AgentId>,
    Query(query): Query<ToolCallsQuery>,
    Bytes(body): Bytes,
) -> Result<Json<ToolCallsOut>> {
    let session_id = query.checked()?;
    let message = read_any_json(&body)?;
    // The run may take long, and the body may be large.
    drop(body);
    let ToolCallsQuery { user_id, message_id, idempotency_key, .. } = query;
    let context = ModelCallContext { agent_id, session_id, user_id, message_id, idempotency_key };
    model_calls::run(&scope, &context, message).await.map(Json)
}
