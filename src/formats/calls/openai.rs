//! OpenAI's two formats: the `tool_calls` of a message, and the `function_call` items of a response. Arguments are JSON
//! in a text. LangChain's own `tool_calls`, whose arguments are an object, get the same messages as OpenAI's, which
//! LangChain takes as they are.

use super::{CallFormat, CallOutcome, ModelCall, ProviderCall, text};
use crate::formats::json::object;
use serde_json::Value;

pub fn read(item: &mut Value) -> Option<ProviderCall> {
    let id = text(item, "id");
    if let Some(function) = item.get_mut("function").filter(|it| it.is_object()) {
        return Some(ProviderCall::take(CallFormat::Openai, id, function, "arguments"));
    }
    let kind = item.get("type")?;
    if kind == "tool_call" {
        return Some(ProviderCall::take(CallFormat::Openai, id, item, "args"));
    }
    let is_item = kind == "function_call";
    is_item.then(|| ProviderCall::take(CallFormat::OpenaiResponses, text(item, "call_id"), item, "arguments"))
}

pub fn message(call: &ModelCall, outcome: &CallOutcome) -> Value {
    object(vec![("role", "tool".into()), ("tool_call_id", call.id()), ("content", content(outcome))])
}

pub fn item(call: &ModelCall, outcome: &CallOutcome) -> Value {
    object(vec![("type", "function_call_output".into()), ("call_id", call.id()), ("output", content(outcome))])
}

/// The text of the result. OpenAI has no field for a failure, so the text contains the failure.
fn content(outcome: &CallOutcome) -> Value {
    if outcome.succeeded { outcome.text() } else { object(vec![("error", outcome.value.clone())]).to_string().into() }
}
