//! Anthropic's `tool_use` blocks, whose results all go into one message of the user.

use super::{Asked, Came, Given, text};
use crate::formats::Format;
use crate::formats::json::object;
use serde_json::Value;

pub fn read(item: &mut Value) -> Option<Given> {
    let is_call = item.get("type")? == "tool_use";
    is_call.then(|| Given::take(Format::Anthropic, text(item, "id"), item, "input"))
}

pub fn block(asked: &Asked, came: &Came) -> Value {
    object(vec![
        ("type", "tool_result".into()),
        ("tool_use_id", asked.id()),
        ("content", came.text()),
        ("is_error", (!came.succeeded).into()),
    ])
}
