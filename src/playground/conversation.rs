//! The messages that a model gets, made of the stored ones. A stored message of the assistant is a whole turn, with all
//! its steps; the model gets a message for each step, and one for the result of each call. Pure.

use super::part::{CallPart, CallState, Part, Role};
use crate::formats::json::object;
use crate::formats::names::{HashedName, exported};
use crate::ids::{ToolId, is_slug};
use serde_json::Value;
use std::collections::HashSet;

/// What a message costs besides its text, in tokens.
const TOKENS_PER_MESSAGE: usize = 4;

/// About how many bytes of JSON are a token.
const BYTES_PER_TOKEN: usize = 4;

/// The longest name of a function that providers take.
const MAX_NAME_BYTES: usize = 64;

/// A stored message. The last one may be the assistant's unfinished message of the present turn.
#[derive(Clone, Copy)]
pub struct HistoryMessage<'a> {
    pub role: Role,
    pub parts: &'a [Part],
    /// Why the turn of the message ended early, if it did.
    pub ended_by: Option<&'a str>,
}

pub struct Conversation {
    /// The messages in the format of Chat Completions.
    pub messages: Vec<Value>,
    /// How many of the stored messages were left out, to keep to the budget and to begin with the user.
    pub dropped_messages: usize,
}

/// A message of the user, and all up to the next one.
#[derive(Default)]
struct Exchange {
    /// How many stored messages the turn has.
    stored: usize,
    messages: Vec<Value>,
}

impl Exchange {
    /// Ends the turn with a text of the assistant, because the user goes on. Some servers refuse a conversation in which the
    /// user follows a result, or himself.
    fn end(&mut self, ended_by: Option<&str>) {
        let last = self.messages.last();
        let is_answered = last.is_some_and(|it| it["role"] == "assistant" && it.get("tool_calls").is_none());
        if !is_answered {
            let why = ended_by.map(|it| format!(": {it}")).unwrap_or_default();
            self.messages.push(message("assistant", format!("The answer broke off{why}").into()));
        }
    }
}

/// The conversation for the model. The oldest turns are left out until about `budget_tokens` are left. The system prompt
/// and the last turn always stay.
pub fn conversation(system_prompt: Option<&str>, history: &[HistoryMessage<'_>], budget_tokens: usize) -> Conversation {
    let mut ids = CallIds::default();
    let mut turns = Vec::<Exchange>::new();
    // Only a part of a long conversation is read, and that may begin with an answer. Servers want the user to begin.
    let unasked = history.iter().position(|it| it.role == Role::User).unwrap_or(0);
    let mut ended_by = None;
    for message in &history[unasked..] {
        if message.role == Role::User || turns.is_empty() {
            turns.iter_mut().next_back().into_iter().for_each(|it| it.end(ended_by));
            turns.push(Exchange::default());
        }
        ended_by = message.ended_by;
        if let Some(turn) = turns.last_mut() {
            turn.stored += 1;
            match message.role {
                Role::User => turn.messages.extend(user_message(message.parts)),
                Role::Assistant => assistant_messages(message.parts, &mut ids, &mut turn.messages),
            }
        }
    }
    let system = system_prompt.filter(|it| !it.is_empty());
    let mut messages = system.map(|it| message("system", it.into())).into_iter().collect::<Vec<_>>();
    let first = first_kept(&turns, budget_tokens.saturating_sub(tokens(&messages)));
    let dropped_messages = unasked + turns[..first].iter().map(|it| it.stored).sum::<usize>();
    messages.extend(turns.drain(first..).flat_map(|it| it.messages));
    Conversation { messages, dropped_messages }
}

/// The first turn of those that fit the budget. The last turn stays even if it does not fit.
fn first_kept(turns: &[Exchange], budget_tokens: usize) -> usize {
    let mut first = turns.len();
    let mut used = 0;
    while let Some(before) = first.checked_sub(1) {
        used += tokens(&turns[before].messages);
        if used > budget_tokens && first < turns.len() {
            break;
        }
        first = before;
    }
    first
}

/// About how many tokens the messages are.
fn tokens(messages: &[Value]) -> usize {
    messages.iter().map(|it| it.to_string().len().div_ceil(BYTES_PER_TOKEN) + TOKENS_PER_MESSAGE).sum()
}

fn message(role: &'static str, content: Value) -> Value {
    object(vec![("role", role.into()), ("content", content)])
}

fn texts(parts: &[Part]) -> impl Iterator<Item = &str> {
    parts.iter().filter_map(|it| match it {
        Part::Text { text } => Some(text.as_str()),
        Part::StepStart | Part::Reasoning { .. } | Part::Call(_) | Part::CallRecord { .. } => None,
    })
}

/// None if the message has no text, because servers refuse empty messages.
fn user_message(parts: &[Part]) -> Option<Value> {
    let text = texts(parts).collect::<Vec<_>>().join("\n");
    (!text.is_empty()).then(|| message("user", text.into()))
}

/// Adds the messages of all steps.
fn assistant_messages(parts: &[Part], ids: &mut CallIds, messages: &mut Vec<Value>) {
    for step in parts.split(|it| *it == Part::StepStart) {
        let text = texts(step).collect::<String>();
        let calls = step.iter().filter_map(|it| match it {
            Part::Call(call) => Some((ids.unique(&call.tool_call_id), call.as_ref())),
            Part::StepStart | Part::Text { .. } | Part::Reasoning { .. } | Part::CallRecord { .. } => None,
        });
        let calls = calls.collect::<Vec<_>>();
        if calls.is_empty() {
            messages.extend((!text.is_empty()).then(|| message("assistant", text.into())));
            continue;
        }
        let content = if text.is_empty() { Value::Null } else { text.into() };
        let asked = calls.iter().map(|(id, call)| asked_call(id, call)).collect::<Vec<_>>();
        messages.push(object(vec![("role", "assistant".into()), ("content", content), ("tool_calls", asked.into())]));
        messages.extend(calls.into_iter().map(|(id, call)| {
            object(vec![("role", "tool".into()), ("tool_call_id", id.into()), ("content", result(call).into())])
        }));
    }
}

/// The call, as the model asked for it.
fn asked_call(id: &str, call: &CallPart) -> Value {
    // Servers refuse arguments that are no JSON object. The result says what was wrong with them.
    let arguments = if call.input.is_object() { call.input.to_string() } else { "{}".to_owned() };
    let function = object(vec![("name", function_name(&call.tool_name).into()), ("arguments", arguments.into())]);
    let mut fields = vec![("id", id.into()), ("type", "function".into()), ("function", function)];
    let metadata = call.call_provider_metadata.as_ref().and_then(|it| it.get("pegboard"));
    if let Some(extra) = metadata.and_then(|it| it.get("extra_content")) {
        fields.push(("extra_content", extra.clone()));
    }
    object(fields)
}

/// The name under which the model knows the tool. A name that the model made up may be of any form; providers refuse a
/// request with such a name.
fn function_name(tool_name: &str) -> String {
    if HashedName::parse(tool_name).is_some() {
        return tool_name.to_owned();
    }
    if let Some(id) = ToolId::parse(tool_name) {
        return exported(&id);
    }
    let fits = |it: char| it.is_ascii() && is_slug(it.encode_utf8(&mut [0; 4]));
    let name = tool_name.chars().take(MAX_NAME_BYTES).map(|it| if fits(it) { it } else { '_' }).collect::<String>();
    if name.is_empty() { "unknown".to_owned() } else { name }
}

/// The text of a call's result. The model gets one for every call, because servers refuse a call without a result.
fn result(call: &CallPart) -> String {
    match call.state {
        CallState::OutputAvailable => match &call.output {
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
            None => Value::Null.to_string(),
        },
        CallState::OutputError => call.error_text.clone().unwrap_or_else(|| "The call failed".to_owned()),
        CallState::OutputDenied => {
            let reason = call.approval.as_ref().and_then(|it| it.reason.as_deref()).filter(|it| !it.is_empty());
            let reason = reason.map(|it| format!(". The reason: {it}")).unwrap_or_default();
            format!("A person was asked to approve this call, and denied it. The call did not run{reason}")
        }
        CallState::ApprovalRequested => {
            "The call did not end: it waits for the approval of a person. There is no result yet".to_owned()
        }
        CallState::InputAvailable => "The call did not end: it was interrupted. There is no result".to_owned(),
    }
}

/// The ids of calls that the conversation has so far.
#[derive(Default)]
struct CallIds(HashSet<String>);

impl CallIds {
    /// The id, or another one if an earlier call has it: servers refuse a conversation in which an id occurs twice.
    fn unique(&mut self, id: &str) -> String {
        let mut unique = id.to_owned();
        let mut number = self.0.len();
        while unique.is_empty() || self.0.contains(&unique) {
            // Nine letters and digits, because Mistral takes no other ids.
            unique = format!("call{number:05}");
            number += 1;
        }
        self.0.insert(unique.clone());
        unique
    }
}

#[cfg(test)]
mod tests;
