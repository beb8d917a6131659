//! OpenAI's two shapes: a message's `tool_calls`, and `function_call` items of a response. Arguments are JSON in a text.

use super::{Asked, Came, Given, text};
use crate::formats::Format;
use crate::formats::json::object;
use serde_json::Value;

pub fn read(item: &mut Value) -> Option<Given> {
    let id = text(item, "id");
    if let Some(function) = item.get_mut("function").filter(|it| it.is_object()) {
        return Some(Given::take(Format::Openai, id, function, "arguments"));
    }
    let is_item = item.get("type")? == "function_call";
    is_item.then(|| Given::take(Format::OpenaiResponses, text(item, "call_id"), item, "arguments"))
}

pub fn message(asked: &Asked, came: &Came) -> Value {
    object(vec![("role", "tool".into()), ("tool_call_id", asked.id()), ("content", content(came))])
}

pub fn item(asked: &Asked, came: &Came) -> Value {
    object(vec![("type", "function_call_output".into()), ("call_id", asked.id()), ("output", content(came))])
}

/// There is no sign for a failure but its words.
fn content(came: &Came) -> Value {
    if came.succeeded { came.text() } else { object(vec![("error", came.value.clone())]).to_string().into() }
}
