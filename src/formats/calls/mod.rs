//! The calls in a model's message, and their results, in the format of each provider. The calls themselves show which
//! provider's format they have.

mod anthropic;
mod gemini;
mod openai;

use super::json::object;
use crate::json_size::{MAX_VALUES, values};
use crate::text_enum::text_enum;
use serde_json::{Map, Value};

/// How many calls one request may hold. Each call costs some requests to the database, and a Worker may make only a
/// limited number of them.
pub const MAX_CALLS: usize = 32;

text_enum! {
    /// The format in which a provider's models call tools and receive the results.
    CallFormat {
        /// Chat Completions.
        Openai = "openai",
        OpenaiResponses = "openai_responses",
        Anthropic = "anthropic",
        Gemini = "gemini",
    }
}

/// A call, as a model made it.
#[derive(Debug, PartialEq)]
pub struct ModelCall {
    /// The provider's id of the call. Gemini may give none.
    pub id: Option<String>,
    pub name: String,
    /// The arguments, or a text that tells the model what is wrong with them.
    pub arguments: Result<Map<String, Value>, String>,
}

impl ModelCall {
    fn id(&self) -> Value {
        self.id.as_deref().into()
    }
}

/// The outcome of a call, for the model.
pub struct CallOutcome {
    pub succeeded: bool,
    /// The result, or the failure.
    pub value: Value,
}

impl CallOutcome {
    /// The value as text: a text as it is, and any other value as JSON.
    fn text(&self) -> Value {
        match &self.value {
            text @ Value::String(_) => text.clone(),
            value => value.to_string().into(),
        }
    }
}

/// The calls in `body`: a list of calls, or a message, a response or a candidate that holds such a list. Other items of
/// the list (texts, thoughts) are ignored.
pub fn read(mut body: Value) -> Result<(CallFormat, Vec<ModelCall>), String> {
    let list = match place(&body, 4).and_then(|it| body.pointer_mut(&it)) {
        Some(Value::Array(list)) => list.as_mut_slice(),
        _ => std::slice::from_mut(&mut body),
    };
    // All calls are in memory at once, so their values are counted together.
    let mut left = MAX_VALUES;
    let mut calls = Vec::new();
    let mut format = None;
    for item in list {
        let found = openai::read(item).or_else(|| anthropic::read(item)).or_else(|| gemini::read(item));
        let Some(given) = found else { continue };
        let first = *format.get_or_insert(given.format);
        if first != given.format {
            return Err(format!("holds calls of two kinds, {first} and {}", given.format));
        }
        if calls.len() == MAX_CALLS {
            return Err(format!("holds more than {MAX_CALLS} calls"));
        }
        calls.push(ModelCall { id: given.id, name: given.name, arguments: arguments(given.arguments, &mut left) });
    }
    let format = format.ok_or(
        "holds no call: send OpenAI's tool_calls or function_call items, Anthropic's tool_use blocks, Gemini's \
         functionCall parts or LangChain's tool_calls, or the message that they are in",
    )?;
    Ok((format, calls))
}

/// The JSON pointer to the list of a message's parts.
fn place(body: &Value, depth: usize) -> Option<String> {
    if body.is_array() {
        return Some(String::new());
    }
    let held = ["tool_calls", "output", "content", "parts", "message", "choices", "candidates"];
    let (held, inner) = held.iter().find_map(|it| Some((*it, body.get(*it).filter(|it| !it.is_null())?)))?;
    match (held, inner) {
        // A conversation goes on with the first of several answers.
        ("choices" | "candidates", Value::Array(answers)) => {
            Some(format!("/{held}/0{}", place(answers.first()?, depth.checked_sub(1)?)?))
        }
        (_, inner) => Some(format!("/{held}{}", place(inner, depth.checked_sub(1)?)?)),
    }
}

/// A call in the format of its provider.
struct ProviderCall {
    format: CallFormat,
    id: Option<String>,
    name: String,
    arguments: Option<Value>,
}

impl ProviderCall {
    /// Takes the parts out of `call`. A call without a name gets an empty name, which no tool has.
    fn take(format: CallFormat, id: Option<String>, call: &mut Value, arguments: &str) -> Self {
        let name = text(call, "name").unwrap_or_default();
        Self { format, id, name, arguments: call.get_mut(arguments).map(Value::take) }
    }
}

fn text(call: &Value, field: &str) -> Option<String> {
    call.get(field)?.as_str().map(str::to_owned)
}

/// The messages that the client appends to the conversation. Providers also call them items or contents.
pub fn answer(format: CallFormat, results: &[(ModelCall, CallOutcome)]) -> Vec<Value> {
    let (one, held_in): (fn(&ModelCall, &CallOutcome) -> Value, _) = match format {
        CallFormat::Openai => (openai::message, ""),
        CallFormat::OpenaiResponses => (openai::item, ""),
        CallFormat::Anthropic => (anthropic::block, "content"),
        CallFormat::Gemini => (gemini::part, "parts"),
    };
    let all = results.iter().map(|(asked, came)| one(asked, came)).collect::<Vec<_>>();
    if held_in.is_empty() { all } else { vec![object(vec![("role", "user".into()), (held_in, all.into())])] }
}

/// The arguments of a call. `left` is the number of values that all calls together may still hold.
pub fn arguments(given: Option<Value>, left: &mut usize) -> Result<Map<String, Value>, String> {
    let text = match given {
        None | Some(Value::Null) => return Ok(Map::new()),
        // The values of the body were counted before it was parsed.
        Some(Value::Object(arguments)) => return Ok(arguments),
        // Models give an empty text for a tool without parameters.
        Some(Value::String(text)) if text.trim().is_empty() => return Ok(Map::new()),
        Some(Value::String(text)) => text,
        Some(_) => "0".to_owned(),
    };
    let count = values(text.as_bytes());
    if count > *left {
        return Err(format!("The arguments of all calls hold more than {MAX_VALUES} values"));
    }
    *left -= count;
    match serde_json::from_str(&text) {
        Ok(Value::Object(arguments)) => Ok(arguments),
        Ok(_) => {
            Err("The arguments are no JSON object. Call the tool again with a JSON object of arguments".to_owned())
        }
        Err(cause) => Err(format!(
            "The arguments are not valid JSON ({cause}). Nothing was run: call the tool again with the arguments as one \
             complete, valid JSON object"
        )),
    }
}

#[cfg(test)]
mod tests;
