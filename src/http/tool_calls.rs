//! `/api/agents/{agent_id}/tool-calls`: what a model asks for, run as it comes.

use super::extract::{Bytes, Guest, Named, Query, read_any_json};
use super::respond::Json;
use crate::agents;
use crate::callers::Scope;
use crate::error::{Error, Result};
use crate::execution::{self, Call, CallFailure, Code, Status, ToolResult};
use crate::formats::calls::{self, Asked, Came};
use crate::formats::json::object;
use crate::ids::{AgentId, SessionId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

const MAX_TEXT_CHARS: usize = 250;

/// What a call says besides its tool and arguments. It stands in the query, as the body is the model's own.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ToolCallsQuery {
    /// Whose files the calls see: `default` if it is not given.
    #[param(pattern = "^[A-Za-z0-9_-]{1,64}$")]
    session_id: Option<String>,
    #[param(max_length = 250)]
    user_id: Option<String>,
    #[param(max_length = 250)]
    message_id: Option<String>,
    /// Sent again with the same key within 24 hours, the same calls answer what they came to, and run nothing.
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

#[derive(Serialize, ToSchema)]
pub struct ToolCallsOut {
    /// Whose calls they were: `openai`, `openai_responses`, `anthropic` or `gemini`.
    #[schema(example = "openai")]
    format: &'static str,
    /// What is to be appended to the conversation: messages with the role `tool`, `function_call_output` items, one
    /// message with `tool_result` blocks, or one content with `functionResponse` parts.
    #[schema(value_type = Vec<Object>)]
    messages: Vec<Value>,
    /// How each call went, in their order.
    calls: Vec<CallMade>,
}

#[derive(Serialize, ToSchema)]
pub struct CallMade {
    /// The provider's id for it.
    id: Option<String>,
    tool_name: String,
    /// Its record.
    call_id: Option<String>,
    status: Status,
    error: Option<CallFailure>,
}

/// Run what a model asks for
///
/// The body is what the model gave: OpenAI's `tool_calls` or `function_call` items, Anthropic's `tool_use` blocks, Gemini's
/// `functionCall` parts, or the message or response that they are in. Each is a call like any other, at most 32. Those that
/// touch state keep their order; the others run side by side. Arguments that are not valid JSON are a result that tells the
/// model so.
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
    let (format, mut asked) =
        calls::read(read_any_json(&body)?).map_err(|it| Error::body("", format!("The body {it}")))?;
    // The run may take long, and the body be large.
    drop(body);
    agents::get(&scope, &agent_id).await?;
    let calls = asked.iter_mut().enumerate().map(|(index, asked)| Call {
        tool_name: asked.name.clone(),
        unreadable: asked.arguments.as_mut().err().map(std::mem::take),
        arguments: asked.arguments.as_mut().map(std::mem::take).unwrap_or_default(),
        agent_id: Some(agent_id.to_string()),
        session_id: session_id.clone(),
        user_id: query.user_id.clone(),
        message_id: query.message_id.clone(),
        idempotency_key: query.idempotency_key.as_ref().map(|it| format!("{it}#{index}")),
        ..Call::default()
    });
    let results = execution::execute_all(&scope, calls.collect()).await?;
    let (mut made, mut came) = (Vec::new(), Vec::new());
    for (asked, result) in asked.into_iter().zip(results) {
        let (call, outcome) = shown(&scope, &asked, result);
        made.push(call);
        came.push((asked, outcome));
    }
    Ok(Json(ToolCallsOut { format: format.as_str(), messages: calls::answer(format, &came), calls: made }))
}

fn shown(scope: &Scope, asked: &Asked, result: Result<ToolResult>) -> (CallMade, Came) {
    let id = asked.id.clone();
    match result {
        Ok(result) => {
            let value = result.result.and_then(|it| serde_json::from_str(it.get()).ok());
            let value = result.error.as_ref().map(told).or(value).unwrap_or(Value::Null);
            let (tool_name, call_id) = (result.tool_name, Some(result.call_id));
            let made = CallMade { id, tool_name, call_id, status: result.status, error: result.error };
            (made, Came { succeeded: result.success, value })
        }
        Err(error) => {
            let failure = CallFailure::of(&error, scope.app().request_id());
            let came = Came { succeeded: false, value: told(&failure) };
            let tool_name = asked.name.clone();
            (CallMade { id, tool_name, call_id: None, status: Status::Error, error: Some(failure) }, came)
        }
    }
}

/// A failure in the words that a model gets: what it can do about it stands in the message.
fn told(failure: &CallFailure) -> Value {
    let mut told = vec![("code", failure.code.as_str().into()), ("message", failure.message.as_str().into())];
    // The message has the violations already.
    if let Some(details) = failure.details.as_ref().filter(|_| failure.code != Code::InvalidArguments) {
        told.push(("details", details.clone()));
    }
    object(told)
}
