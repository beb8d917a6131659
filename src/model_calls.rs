//! The calls in one message of a model. They are read in the format of the model's provider, run, and answered in the
//! same format.

use crate::agents;
use crate::callers::Scope;
use crate::error::{Error, Result};
use crate::execution::{self, Call, CallFailure, Code, ModelCallName, Status, ToolResult};
use crate::formats::calls::{self, CallOutcome, ModelCall};
use crate::formats::json::object;
use crate::ids::{AgentId, SessionId};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// The facts that all calls of a message share.
pub struct ModelCallContext {
    pub agent_id: AgentId,
    pub session_id: Option<SessionId>,
    pub user_id: Option<String>,
    pub message_id: Option<String>,
    /// The key of the message. Each call has its own key, made of this key and the call's place. Without it, the
    /// provider's id of a call serves as its key.
    pub idempotency_key: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub struct ToolCallsOut {
    /// The format of the calls: `openai`, `openai_responses`, `anthropic` or `gemini`.
    #[schema(example = "openai")]
    format: &'static str,
    /// The messages to append to the conversation: messages with the role `tool`, `function_call_output` items, one
    /// message with `tool_result` blocks, or one content with `functionResponse` parts.
    #[schema(value_type = Vec<Object>)]
    messages: Vec<Value>,
    /// The outcome of each call, in the order of the calls.
    calls: Vec<CallMade>,
}

#[derive(Serialize, ToSchema)]
pub struct CallMade {
    /// The provider's id of the call.
    id: Option<String>,
    tool_name: String,
    /// The id of the call's record.
    call_id: Option<String>,
    status: Status,
    error: Option<CallFailure>,
}

/// Runs the calls that `message` holds: a list of calls, or a message or response with such a list.
pub async fn run(scope: &Scope, context: &ModelCallContext, message: Value) -> Result<ToolCallsOut> {
    let (format, mut asked) = calls::read(message).map_err(|it| Error::body("", format!("The body {it}")))?;
    agents::get(scope, &context.agent_id).await?;
    let names = names(&asked);
    let calls = asked.iter_mut().enumerate().zip(names);
    let calls = calls.map(|((index, asked), name)| Call { model_call: name, ..context.call(index, asked) }).collect();
    let results = execution::execute_all(scope, calls).await?;
    let (mut made, mut came) = (Vec::new(), Vec::new());
    for (asked, result) in asked.into_iter().zip(results) {
        let (call, outcome) = shown(scope, &asked, result);
        made.push(call);
        came.push((asked, outcome));
    }
    Ok(ToolCallsOut { format: format.as_str(), messages: calls::answer(format, &came), calls: made })
}

impl ModelCallContext {
    /// The call that a model asks for. Takes the arguments out of `asked`.
    fn call(&self, index: usize, asked: &mut ModelCall) -> Call {
        Call {
            tool_name: asked.name.clone(),
            unreadable: asked.arguments.as_mut().err().map(std::mem::take),
            arguments: asked.arguments.as_mut().map(std::mem::take).unwrap_or_default(),
            agent_id: Some(self.agent_id.to_string()),
            session_id: self.session_id.clone(),
            user_id: self.user_id.clone(),
            message_id: self.message_id.clone(),
            idempotency_key: self.idempotency_key.as_ref().map(|it| format!("{it}#{index}")),
            ..Call::default()
        }
    }
}

/// The names of the calls, as far as the provider gave ids. A call with unreadable arguments has none: it is refused,
/// and nothing is to be kept from running twice.
fn names(asked: &[ModelCall]) -> Vec<Option<ModelCallName>> {
    let name = |(index, call): (usize, &ModelCall)| {
        let id = call.id.as_ref().filter(|it| !it.is_empty() && call.arguments.is_ok())?;
        let before = asked[..index].iter().filter(|it| it.id.as_ref() == Some(id)).count();
        Some(ModelCallName { id: id.clone(), before })
    };
    asked.iter().enumerate().map(name).collect()
}

fn shown(scope: &Scope, asked: &ModelCall, result: Result<ToolResult>) -> (CallMade, CallOutcome) {
    let id = asked.id.clone();
    match result {
        Ok(result) => {
            let value = result.result.and_then(|it| serde_json::from_str(it.get()).ok());
            let value = result.error.as_ref().map(for_model).or(value).unwrap_or(Value::Null);
            let (tool_name, call_id) = (result.tool_name, Some(result.call_id));
            let made = CallMade { id, tool_name, call_id, status: result.status, error: result.error };
            (made, CallOutcome { succeeded: result.success, value })
        }
        Err(error) => {
            let failure = CallFailure::of(&error, scope.app().request_id());
            let came = CallOutcome { succeeded: false, value: for_model(&failure) };
            let tool_name = asked.name.clone();
            (CallMade { id, tool_name, call_id: None, status: Status::Error, error: Some(failure) }, came)
        }
    }
}

/// A failure for the model. The message says what the model can do about the failure.
fn for_model(failure: &CallFailure) -> Value {
    let mut fields = vec![("code", failure.code.as_str().into()), ("message", failure.message.as_str().into())];
    // The message already lists the violations.
    if let Some(details) = failure.details.as_ref().filter(|_| failure.code != Code::InvalidArguments) {
        fields.push(("details", details.clone()));
    }
    object(fields)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Map;

    #[test]
    fn calls_are_named_by_their_ids() {
        let call = |id: Option<&str>, readable: bool| ModelCall {
            id: id.map(str::to_owned),
            name: "t".into(),
            arguments: if readable { Ok(Map::new()) } else { Err("broken".into()) },
        };
        let asked = [call(Some("a"), true), call(None, true), call(Some("a"), true), call(Some(""), true)];
        let shown = |it: Option<ModelCallName>| it.map(|it| (it.id, it.before));
        let named = names(&asked).into_iter().map(shown).collect::<Vec<_>>();
        assert_eq!(named, [Some(("a".into(), 0)), None, Some(("a".into(), 1)), None]);
        assert!(names(&[call(Some("a"), false)])[0].is_none());
    }
}
