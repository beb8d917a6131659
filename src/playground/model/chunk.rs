//! One piece of a model's answer: a chunk of a stream, or a whole document. The many forms that servers have for the same
//! thing end here.

use super::answer::finish_reason;
use super::fault::{ModelFault, error_in};
use crate::playground::part::{FinishReason, Usage};
use serde_json::{Map, Value};

#[derive(Debug, Default, PartialEq)]
pub struct Chunk {
    pub reasoning: String,
    pub text: String,
    pub calls: Vec<CallPiece>,
    pub finish: Option<FinishReason>,
    pub usage: Option<Usage>,
    /// Whether this is a piece of an answer at all.
    pub is_answer: bool,
    /// Whether it has the form of Workers AI's own, `{"response": "…"}`, which may have no `finish_reason`.
    pub is_bare: bool,
}

/// A piece of a call. An empty text stands for what is missing.
#[derive(Debug, Default, PartialEq)]
pub struct CallPiece {
    pub index: Option<u64>,
    pub id: String,
    pub name: String,
    /// JSON text, or a part of it.
    pub arguments: String,
    pub extra_content: Option<Value>,
    /// Whether this is surely no part of another call: a document has whole calls.
    pub is_whole: bool,
}

pub fn read(json: &Value) -> Result<Chunk, ModelFault> {
    if let Some(fault) = error_in(json) {
        return Err(fault);
    }
    let mut chunk = Chunk::default();
    // Cloudflare's API wraps a whole answer.
    let body = json.get("result").filter(|it| it.is_object()).unwrap_or(json);
    chunk.usage = body.get("usage").and_then(usage);
    // The list is empty in the first chunk of Azure, and in the last chunk of most servers.
    if let Some(choices) = body.get("choices").and_then(Value::as_array) {
        chunk.is_answer = true;
        if let Some(choice) = choices.first() {
            chunk.read_choice(choice);
        }
    } else if ["response", "tool_calls", "finish_reason"].iter().any(|it| body.get(*it).is_some()) {
        (chunk.is_answer, chunk.is_bare) = (true, true);
        chunk.read_finish(body);
        chunk.read_content(body.get("response"));
        chunk.read_calls(body.get("tool_calls"));
    }
    Ok(chunk)
}

impl Chunk {
    fn read_choice(&mut self, choice: &Value) {
        self.read_finish(choice);
        let message = ["delta", "message"].iter().find_map(|it| choice.get(*it).filter(|it| it.is_object()));
        let Some(message) = message else { return };
        // Some servers send the same reasoning under both names.
        let names = ["reasoning_content", "reasoning"];
        let reasoning = names.iter().find_map(|it| message.get(*it)?.as_str().filter(|it| !it.is_empty()));
        self.reasoning.push_str(reasoning.unwrap_or_default());
        self.read_content(message.get("content"));
        self.text.push_str(text(message, "refusal"));
        self.read_calls(message.get("tool_calls"));
        if let Some(call) = message.get("function_call").filter(|it| it.is_object()) {
            self.calls.push(CallPiece::of(call));
        }
        let is_whole = choice.get("message").is_some_and(|it| std::ptr::eq(it, message));
        self.calls.iter_mut().for_each(|it| it.is_whole = is_whole);
    }

    fn read_finish(&mut self, choice: &Value) {
        self.finish = choice.get("finish_reason").and_then(Value::as_str).and_then(finish_reason);
    }

    /// Content is text. Mistral's is a list of texts and thoughts if the model thinks.
    fn read_content(&mut self, content: Option<&Value>) {
        match content {
            None | Some(Value::Null | Value::Bool(_)) => {}
            Some(Value::String(text)) => self.text.push_str(text),
            Some(Value::Array(parts)) => {
                for part in parts {
                    self.text.push_str(text(part, "text"));
                    thoughts(part.get("thinking"), &mut self.reasoning);
                }
            }
            // Workers AI sends a token that looks like a number as a number, and JSON that was asked for as an object.
            Some(value @ (Value::Number(_) | Value::Object(_))) => self.text.push_str(&value.to_string()),
        }
    }

    fn read_calls(&mut self, calls: Option<&Value>) {
        let calls = calls.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        self.calls.extend(calls.iter().filter(|it| it.is_object()).map(CallPiece::of));
    }
}

fn thoughts(thinking: Option<&Value>, reasoning: &mut String) {
    match thinking {
        Some(Value::String(text)) => reasoning.push_str(text),
        Some(Value::Array(parts)) => parts.iter().for_each(|it| reasoning.push_str(text(it, "text"))),
        None | Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) => {}
    }
}

impl CallPiece {
    fn of(call: &Value) -> Self {
        // Workers AI's own form has no `function` around name and arguments.
        let function = call.get("function").filter(|it| it.is_object()).unwrap_or(call);
        Self {
            index: call.get("index").and_then(Value::as_u64),
            id: text(call, "id").to_owned(),
            name: text(function, "name").to_owned(),
            arguments: match function.get("arguments") {
                None | Some(Value::Null) => String::new(),
                Some(Value::String(text)) => text.clone(),
                // LiteLLM and Workers AI send an object.
                Some(value) => value.to_string(),
            },
            extra_content: call.get("extra_content").filter(|it| !it.is_null()).cloned(),
            is_whole: false,
        }
    }

    /// Whether the piece says nothing. Workers AI closes a call with such a piece.
    pub fn is_empty(&self) -> bool {
        [&self.id, &self.name, &self.arguments].iter().all(|it| it.is_empty()) && self.extra_content.is_none()
    }
}

fn text<'a>(of: &'a Value, field: &str) -> &'a str {
    of.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn usage(value: &Value) -> Option<Usage> {
    let fields = value.as_object()?;
    let count = |name: &str| tokens(fields, name);
    let (input, output) = (count("prompt_tokens"), count("completion_tokens"));
    let total = count("total_tokens");
    input.or(output).or(total)?;
    let (input_tokens, output_tokens) = (input.unwrap_or(0), output.unwrap_or(0));
    Some(Usage {
        input_tokens,
        output_tokens,
        total_tokens: total.unwrap_or(input_tokens.saturating_add(output_tokens)),
    })
}

fn tokens(usage: &Map<String, Value>, name: &str) -> Option<u64> {
    usage.get(name)?.as_u64()
}
