//! Anthropic's `tool_use` blocks. Their results go into one message of the user.

use super::{CallFormat, CallOutcome, ModelCall, ProviderCall, text};
use crate::formats::json::object;
use serde_json::Value;

pub fn read(item: &mut Value) -> Option<ProviderCall> {
    let is_call = item.get("type")? == "tool_use";
    is_call.then(|| ProviderCall::take(CallFormat::Anthropic, text(item, "id"), item, "input"))
}

pub fn block(call: &ModelCall, outcome: &CallOutcome) -> Value {
    object(vec![
        ("type", "tool_result".into()),
        ("tool_use_id", call.id()),
        ("content", outcome.text()),
        ("is_error", (!outcome.succeeded).into()),
    ])
}
