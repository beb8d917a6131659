//! Reads what a chat's client sends: our own short form, or the body that `useChat` posts. Of the client's messages
//! only one counts, because the history is the session's.

use super::event::ApprovalStyle;
use crate::error::{self, Error, Problem, Result};
use crate::ids::{ApprovalId, MessageId};
use crate::json_size::{MAX_VALUES, values};
use crate::playground::part::Part;
use crate::playground::start::{ApprovalAnswer, MessagePlace, TurnStart};
use crate::text_enum::text_enum;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use utoipa::ToSchema;

/// How many bytes of text a message of the user may have.
const MAX_USER_TEXT_BYTES: usize = 256 * 1024;

/// The longest name of a user, as in `POST /api/execute`.
const MAX_USER_ID_CHARS: usize = 256;

/// The longest reason of a decision, as in `POST /api/approvals/{approval_id}/approve`.
const MAX_REASON_CHARS: usize = 1_000;

/// How many faults one response names.
const MAX_PROBLEMS: usize = 50;

const ONLY_TEXT: &str =
    "must be a part of type text: only text is taken. Upload files with PUT /api/sessions/{id}/files";
const ID: &str = "must be 1 to 64 letters, digits, _ or -";

text_enum! {
    /// What the client asks for.
    ChatTrigger {
        /// An answer to a new message, to an edited one, or to approvals.
        SubmitMessage = "submit-message",
        /// Another answer to the same message.
        RegenerateMessage = "regenerate-message",
    }
}

/// A turn of the chat. Give either `message`, or the fields that AI SDK's `useChat` sends: `id`, `messages`, `trigger`
/// and `messageId`.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ChatIn {
    /// The message of the user: a text, or a `UIMessage` with parts of type `text`. It may have 256 KB.
    #[cfg_attr(not(target_arch = "wasm32"), schema(schema_with = described::message))]
    #[cfg_attr(target_arch = "wasm32", schema(value_type = Option<Object>))]
    message: Option<Box<RawValue>>,
    /// The agent that answers. A token that is bound to an agent may leave it out.
    #[schema(example = "agent_6f1c0d2b9a8e4f7d8c5b3a2f1e0d9c8b")]
    agent_id: Option<String>,
    /// The same as `agentId`.
    #[serde(rename = "agent_id")]
    other_agent_id: Option<String>,
    /// The person behind the caller, for the records of the calls.
    #[schema(max_length = 256)]
    user_id: Option<String>,
    /// The message after which the new one comes; the last one of the active branch if not given. Another message
    /// begins a branch.
    #[schema(pattern = "^[A-Za-z0-9_-]{1,64}$")]
    parent_id: Option<String>,
    /// How the stream tells of approvals: `events` (the default) needs version 6 of AI SDK, and `data` also suits
    /// version 5.
    #[schema(inline)]
    approvals: Option<ApprovalStyle>,
    /// The id that the client has for the chat. It is ignored: the session is in the path.
    #[serde(rename = "id")]
    _id: Option<String>,
    /// The client's messages, of type `UIMessage`. Only the last one counts: the user's new message, the
    /// assistant's message with the user's answers to its approvals, or the user's message to answer again.
    #[schema(value_type = Option<Vec<Object>>)]
    messages: Option<Vec<Box<RawValue>>>,
    /// `submit-message` if not given.
    #[schema(inline)]
    trigger: Option<ChatTrigger>,
    /// With `submit-message`, the message of the user that the new one replaces, or the message of the assistant whose
    /// approvals are answered. With `regenerate-message`, the message of the assistant to replace. If not given, the last
    /// of `messages` is answered again if it is the user's, and else the last answer is replaced.
    #[schema(pattern = "^[A-Za-z0-9_-]{1,64}$")]
    message_id: Option<String>,
}

#[cfg(not(target_arch = "wasm32"))]
mod described {
    use utoipa::openapi::schema::{ObjectBuilder, SchemaType, Type};
    use utoipa::openapi::{RefOr, Schema};

    pub fn message() -> RefOr<Schema> {
        let types = SchemaType::Array(vec![Type::String, Type::Object, Type::Null]);
        let form = "The message of the user: a text, or an object `{id?, parts: [{type: \"text\", text}]}` as AI SDK's \
                    `UIMessage`. The texts may have 256 KB.";
        ObjectBuilder::new().schema_type(types).description(Some(form)).into()
    }
}

/// What a client asks for.
#[derive(Debug, PartialEq)]
pub struct ChatRequest {
    pub agent_id: Option<String>,
    pub style: ApprovalStyle,
    pub user_id: Option<String>,
    pub start: TurnStart,
}

impl ChatIn {
    pub fn read(mut self) -> Result<ChatRequest> {
        let mut problems = Problems::default();
        let agent_id = self.agent(&mut problems);
        let style = self.approvals.unwrap_or(ApprovalStyle::Events);
        let start = match self.trigger.unwrap_or(ChatTrigger::SubmitMessage) {
            ChatTrigger::SubmitMessage => self.submitted(&mut problems),
            ChatTrigger::RegenerateMessage => self.regenerated(&mut problems),
        };
        let user_id = self.user_id.take();
        let chars = user_id.as_deref().map_or(0, |it| it.chars().count());
        if chars > MAX_USER_ID_CHARS {
            problems.add("/userId", format!("has {chars} characters; {MAX_USER_ID_CHARS} are allowed"));
        }
        match start.filter(|_| problems.0.is_empty()) {
            Some(start) => Ok(ChatRequest { agent_id, style, user_id, start }),
            None => Err(Error::Invalid(problems.0)),
        }
    }

    fn agent(&mut self, problems: &mut Problems) -> Option<String> {
        let (agent, other) = (self.agent_id.take(), self.other_agent_id.take());
        if agent.is_some() && other.is_some() && agent != other {
            problems.add("/agent_id", "must be the same as agentId, or absent");
        }
        agent.or(other)
    }

    fn regenerated(&self, problems: &mut Problems) -> Option<TurnStart> {
        if self.parent_id.is_some() {
            problems.add("/parentId", "is for a new message: name the answer to replace with messageId");
        }
        if self.message.is_some() {
            problems.add("/message", "is not taken with regenerate-message");
        }
        let Some(named) = self.message_id.as_deref() else {
            // The client has cut its messages after the one to answer. That one may never have come here: a client that was
            // refused regenerates too.
            return self.shown_question(problems).or(Some(TurnStart::Regenerate { message: None }));
        };
        Some(TurnStart::Regenerate { message: problems.id("/messageId", named) })
    }

    /// The last of the client's messages, if it is the user's.
    fn shown_question(&self, problems: &mut Problems) -> Option<TurnStart> {
        let (last, before) = self.messages.as_ref()?.split_last()?;
        Head::of(last).filter(|it| it.role.as_deref() == Some("user"))?;
        let at = format!("/messages/{}", before.len());
        let message = read_message(last, &at, problems)?;
        let parts = texts(&message, &at, problems);
        Some(TurnStart::Again { id: message["id"].as_str().and_then(MessageId::parse), parts })
    }

    fn submitted(&self, problems: &mut Problems) -> Option<TurnStart> {
        let parent = self.parent_id.as_deref().and_then(|it| problems.id("/parentId", it));
        let named = self.message_id.as_deref().and_then(|it| problems.id("/messageId", it));
        if self.parent_id.is_some() && self.message_id.is_some() {
            problems.add("/messageId", "must not be given together with parentId");
        }
        let (message, at) = self.counting_message(problems)?;
        let message = &message;
        if let Value::String(text) = message {
            let place = place(parent, named);
            problems.check_text(&at, text.len(), text.trim().is_empty());
            return Some(TurnStart::Message { id: None, parts: vec![Part::Text { text: text.clone() }], place });
        }
        match (message["role"].as_str(), message.get("role").is_some_and(|it| !it.is_null())) {
            (Some("user"), _) | (None, false) => {
                let parts = texts(message, &at, problems);
                let id = message["id"].as_str().and_then(MessageId::parse).filter(|it| named.as_ref() != Some(it));
                Some(TurnStart::Message { id, parts, place: place(parent, named) })
            }
            (Some("assistant"), _) => {
                if self.parent_id.is_some() {
                    problems.add("/parentId", "is not taken with answers to approvals");
                }
                let id = message["id"].as_str().unwrap_or_default();
                let message_id = problems.id(&format!("{at}/id"), id);
                let answers = answers(message, &at, problems);
                Some(TurnStart::Approvals { message: message_id?, answers })
            }
            (Some(_) | None, _) => {
                problems.add(format!("{at}/role"), "must be user or assistant");
                None
            }
        }
    }

    /// The message that counts, and its place in the body. The others stay unread: an old chat posts megabytes of them.
    fn counting_message(&self, problems: &mut Problems) -> Option<(Value, String)> {
        let (message, at) = match (&self.message, &self.messages) {
            (Some(_), Some(_)) => {
                problems.add("/messages", "must not be given together with message");
                return None;
            }
            (None, None) => {
                problems.add("/message", "is required, or messages");
                return None;
            }
            (Some(message), None) => (message, "/message".to_owned()),
            (None, Some(messages)) => {
                let index = self.counting_index(messages);
                let Some((index, message)) = index.and_then(|it| Some((it, messages.get(it)?))) else {
                    problems.add("/messages", "must not be empty");
                    return None;
                };
                (message, format!("/messages/{index}"))
            }
        };
        let message = read_message(message, &at, problems)?;
        let is_short = self.message.is_some();
        let is_message = message.is_object() || (is_short && message.is_string());
        if !is_message {
            problems.add(at, if is_short { "must be a text, or an object with parts" } else { "must be an object" });
            return None;
        }
        Some((message, at))
    }

    /// Which of the client's messages counts: the last one. Version 7 of the client may answer the approvals of an earlier
    /// message.
    fn counting_index(&self, messages: &[Box<RawValue>]) -> Option<usize> {
        let is_answered = |it: &RawValue| {
            Head::of(it).is_some_and(|it| it.role.as_deref() == Some("assistant") && it.id == self.message_id)
        };
        let answered = self.message_id.as_ref().and_then(|_| messages.iter().rposition(|it| is_answered(it)));
        answered.or_else(|| messages.len().checked_sub(1))
    }
}

/// What is read of a message that may not count.
#[derive(Deserialize)]
struct Head {
    role: Option<String>,
    id: Option<String>,
}

impl Head {
    fn of(message: &RawValue) -> Option<Self> {
        serde_json::from_str(message.get()).ok()
    }
}

fn read_message(message: &RawValue, at: &str, problems: &mut Problems) -> Option<Value> {
    if values(message.get().as_bytes()) > MAX_VALUES {
        problems.add(at, format!("holds more than {MAX_VALUES} values"));
        return None;
    }
    Some(serde_json::from_str(message.get()).unwrap_or(Value::Null))
}

fn place(parent: Option<MessageId>, edited: Option<MessageId>) -> MessagePlace {
    match (parent, edited) {
        (Some(parent), _) => MessagePlace::Under(parent),
        (None, Some(edited)) => MessagePlace::Instead(edited),
        (None, None) => MessagePlace::AfterActive,
    }
}

/// The texts of a user's message.
fn texts(message: &Value, at: &str, problems: &mut Problems) -> Vec<Part> {
    let at = format!("{at}/parts");
    let Some(parts) = message["parts"].as_array() else {
        problems.add(at, "must be an array of parts");
        return Vec::new();
    };
    let (mut texts, mut bytes, mut is_blank) = (Vec::new(), 0, true);
    for (index, part) in parts.iter().enumerate() {
        if part["type"] != "text" {
            problems.add(format!("{at}/{index}"), ONLY_TEXT);
            // The message may hold no text beside its files, which is no second fault.
            is_blank = false;
        } else if let Some(text) = part["text"].as_str() {
            bytes += text.len();
            is_blank &= text.trim().is_empty();
            // An empty text would be a part without content.
            texts.extend((!text.is_empty()).then(|| Part::Text { text: text.to_owned() }));
        } else {
            problems.add(format!("{at}/{index}/text"), "must be a string");
            is_blank = false;
        }
    }
    problems.check_text(&at, bytes, is_blank);
    texts
}

/// The answers to approvals in a message of the assistant. Those of calls that have ended were given before.
fn answers(message: &Value, at: &str, problems: &mut Problems) -> Vec<ApprovalAnswer> {
    let Some(parts) = message["parts"].as_array() else {
        problems.add(format!("{at}/parts"), "must be an array of parts");
        return Vec::new();
    };
    let mut answers = Vec::<ApprovalAnswer>::new();
    let mut is_answer_wrong = false;
    for (index, part) in parts.iter().enumerate() {
        let (state, approval) = (part["state"].as_str().unwrap_or_default(), &part["approval"]);
        let is_answer = state == "approval-responded" || approval["approved"].is_boolean();
        if !is_answer || state.starts_with("output-") {
            continue;
        }
        match read_answer(approval, &format!("{at}/parts/{index}/approval"), problems) {
            Some(answer) => {
                answers.retain(|it| it.approval_id != answer.approval_id);
                answers.push(answer);
            }
            None => is_answer_wrong = true,
        }
    }
    if answers.is_empty() && !is_answer_wrong {
        problems.add(at, "is a message of the assistant without an answer to an approval: end with the user's message");
    }
    answers
}

fn read_answer(approval: &Value, at: &str, problems: &mut Problems) -> Option<ApprovalAnswer> {
    let approval_id = approval["id"].as_str().and_then(ApprovalId::parse);
    if approval_id.is_none() {
        problems.add(format!("{at}/id"), ID);
    }
    let approved = approval["approved"].as_bool();
    if approved.is_none() {
        problems.add(format!("{at}/approved"), "must be true or false");
    }
    let reason = match &approval["reason"] {
        Value::Null => None,
        Value::String(reason) => Some(reason.clone()),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            problems.add(format!("{at}/reason"), "must be a string");
            return None;
        }
    };
    match reason.as_ref().map(|it| it.chars().count()) {
        Some(chars) if chars > MAX_REASON_CHARS => {
            problems.add(format!("{at}/reason"), format!("has {chars} characters; {MAX_REASON_CHARS} are allowed"));
            None
        }
        Some(_) | None => Some(ApprovalAnswer { approval_id: approval_id?, approved: approved?, reason }),
    }
}

/// The faults of a body.
#[derive(Default)]
struct Problems(Vec<Problem>);

impl Problems {
    fn add(&mut self, path: impl Into<String>, message: impl Into<String>) {
        if self.0.len() < MAX_PROBLEMS {
            self.0.push(Problem { place: error::Place::Body, path: path.into(), message: message.into() });
        }
    }

    fn id(&mut self, path: &str, text: &str) -> Option<MessageId> {
        let id = MessageId::parse(text);
        if id.is_none() {
            self.add(path, ID);
        }
        id
    }

    fn check_text(&mut self, path: &str, bytes: usize, is_blank: bool) {
        if is_blank {
            self.add(path, "must hold a text that is not blank");
        } else if bytes > MAX_USER_TEXT_BYTES {
            self.add(path, format!("has {bytes} bytes of text; {MAX_USER_TEXT_BYTES} are allowed"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(body: Value) -> Result<ChatRequest> {
        serde_json::from_value::<ChatIn>(body).unwrap().read()
    }

    fn id(text: &str) -> MessageId {
        MessageId::parse(text).unwrap()
    }

    fn message(client_id: Option<&str>, text: &str, place: MessagePlace) -> TurnStart {
        TurnStart::Message { id: client_id.map(id), parts: vec![Part::Text { text: text.into() }], place }
    }

    #[track_caller]
    fn check(body: Value, start: TurnStart) {
        let agent_id = Some("agent_1".to_owned());
        assert_eq!(read(body), Ok(ChatRequest { agent_id, style: ApprovalStyle::Events, user_id: None, start }));
    }

    #[test]
    fn the_short_form_is_a_text_or_a_message() {
        let hello = || message(None, "Hello", MessagePlace::AfterActive);
        check(json!({"message": "Hello", "agentId": "agent_1"}), hello());
        check(json!({"message": "Hello", "agent_id": "agent_1", "parentId": null}), hello());
        check(json!({"message": {"parts": [{"type": "text", "text": "Hello"}]}, "agentId": "agent_1"}), hello());
        check(
            json!({"message": "Hello", "agentId": "agent_1", "parentId": "msg_1"}),
            message(None, "Hello", MessagePlace::Under(id("msg_1"))),
        );
        let several =
            json!([{"type": "text", "text": " "}, {"type": "text", "text": ""}, {"type": "text", "text": "b"}]);
        let parts = [" ", "b"].map(|it| Part::Text { text: it.into() }).to_vec();
        check(
            json!({"message": {"id": "m1", "role": "user", "parts": several}, "agentId": "agent_1", "id": "chat"}),
            TurnStart::Message { id: Some(id("m1")), parts, place: MessagePlace::AfterActive },
        );
        let bound = read(json!({"message": "Hello", "approvals": "data"})).unwrap();
        assert_eq!((bound.agent_id, bound.style), (None, ApprovalStyle::Data));
    }

    /// A message of the user as `sendMessage` of versions 5, 6 and 7 makes it.
    fn user_message(id: &str, text: &str) -> Value {
        json!({"parts": [{"type": "text", "text": text}], "id": id, "role": "user"})
    }

    fn assistant_message(parts: Value) -> Value {
        json!({"id": "msg_2", "metadata": {"x": 1}, "role": "assistant", "parts": parts})
    }

    /// The body that `DefaultChatTransport` of versions 5, 6 and 7 posts, with `body: {agentId}`.
    fn posted(messages: Value, trigger: &str, message_id: Option<&str>) -> Value {
        let mut body =
            json!({"agentId": "agent_1", "id": "bEjG3bnAyTGlBDUn", "messages": messages, "trigger": trigger});
        if let Some(message_id) = message_id {
            body["messageId"] = message_id.into();
        }
        body
    }

    #[test]
    fn what_use_chat_posts_is_read() {
        let answer = assistant_message(json!([
            {"type": "step-start"},
            {"type": "text", "text": "Hi", "state": "done"},
        ]));
        let first = user_message("EOTGxVLnSY8OVuyW", "Hello");
        let second = user_message("a7XxqMCkmQvTUSmJ", "And?");
        check(
            posted(json!([first]), "submit-message", None),
            message(Some("EOTGxVLnSY8OVuyW"), "Hello", MessagePlace::AfterActive),
        );
        check(
            posted(json!([first, answer, second]), "submit-message", None),
            message(Some("a7XxqMCkmQvTUSmJ"), "And?", MessagePlace::AfterActive),
        );
        // An edited message keeps the id of the old one, which stays in the other branch.
        check(
            posted(json!([user_message("EOTGxVLnSY8OVuyW", "Bye")]), "submit-message", Some("EOTGxVLnSY8OVuyW")),
            message(None, "Bye", MessagePlace::Instead(id("EOTGxVLnSY8OVuyW"))),
        );
        // In version 7, it may also have an id of its own.
        check(
            posted(json!([user_message("own", "Bye")]), "submit-message", Some("EOTGxVLnSY8OVuyW")),
            message(Some("own"), "Bye", MessagePlace::Instead(id("EOTGxVLnSY8OVuyW"))),
        );
        check(
            posted(json!([first]), "regenerate-message", Some("msg_2")),
            TurnStart::Regenerate { message: Some(id("msg_2")) },
        );
    }

    #[test]
    fn the_message_to_answer_again_is_the_last_one_that_the_client_shows() {
        let (first, second) = (user_message("EOTGxVLnSY8OVuyW", "Hello"), user_message("a7XxqMCkmQvTUSmJ", "And?"));
        let answer = assistant_message(json!([{"type": "text", "text": "Hi"}]));
        let again = |client_id: Option<&str>, text: &str| TurnStart::Again {
            id: client_id.map(id),
            parts: vec![Part::Text { text: text.into() }],
        };
        let regenerate = |messages: Value| posted(messages, "regenerate-message", None);
        check(regenerate(json!([first])), again(Some("EOTGxVLnSY8OVuyW"), "Hello"));
        // The second message was refused, so that only the client knows it.
        check(regenerate(json!([first, answer, second])), again(Some("a7XxqMCkmQvTUSmJ"), "And?"));
        check(regenerate(json!([user_message("a b", "Hello")])), again(None, "Hello"));
        // Nothing tells which message is meant.
        for messages in [json!([]), json!([first, answer]), json!([1]), Value::Null] {
            check(regenerate(messages), TurnStart::Regenerate { message: None });
        }
        check(json!({"trigger": "regenerate-message", "agentId": "agent_1"}), TurnStart::Regenerate { message: None });
        let blank = regenerate(json!([first, user_message("x", " ")]));
        let Err(Error::Invalid(problems)) = read(blank) else { panic!() };
        assert_eq!((problems.len(), problems[0].path.as_str()), (1, "/messages/1/parts"));
    }

    #[test]
    fn answers_to_approvals_are_read_as_versions_6_and_7_post_them() {
        let call = |id: &str, state: &str, approval: Value| {
            json!({
                "type": "dynamic-tool", "toolName": "send_mail", "toolCallId": id, "state": state, "input": {"to": "a"},
                "approval": approval,
            })
        };
        let answered = assistant_message(json!([
            {"type": "step-start"},
            call("c1", "output-available", json!({"id": "appr_0", "approved": true})),
            {"type": "data-call", "id": "c1", "data": {}},
            call("c2", "approval-responded", json!({"id": "appr_1", "approved": true})),
            call("c3", "approval-responded",
                json!({"id": "appr_2", "approved": false, "reason": "No", "requestReason": "It sends mail"})),
            call("c4", "approval-requested", json!({"id": "appr_3"})),
            call("c5", "approval-requested", json!({"id": "appr_4", "approved": true, "reason": null})),
        ]));
        let answer = |id: &str, approved, reason: Option<&str>| ApprovalAnswer {
            approval_id: ApprovalId::parse(id).unwrap(),
            approved,
            reason: reason.map(str::to_owned),
        };
        let start = || TurnStart::Approvals {
            message: id("msg_2"),
            answers: vec![
                answer("appr_1", true, None),
                answer("appr_2", false, Some("No")),
                answer("appr_4", true, None),
            ],
        };
        let first = user_message("EOTGxVLnSY8OVuyW", "Hello");
        check(posted(json!([first, answered]), "submit-message", Some("msg_2")), start());
        check(posted(json!([first, answered]), "submit-message", None), start());
        // Version 7 answers the approvals of an earlier message.
        let later = user_message("later", "Well?");
        check(posted(json!([first, answered, later]), "submit-message", Some("msg_2")), start());
        // A client of its own sends the last message alone.
        check(json!({"message": answered, "agentId": "agent_1", "messageId": "msg_2"}), start());
    }

    #[test]
    fn every_fault_has_its_place() {
        let text = |text: &str| json!([{"type": "text", "text": text}]);
        let long = "x".repeat(MAX_USER_TEXT_BYTES + 1);
        let assistant = |part: Value| json!({"messages": [assistant_message(json!([part]))]});
        let answer = |approval: Value| assistant(json!({"state": "approval-responded", "approval": approval}));
        let cases = [
            (json!({}), vec!["/message is required"]),
            (json!({"message": null, "messages": null}), vec!["/message is required"]),
            (json!({"message": "a", "messages": []}), vec!["/messages must not be given"]),
            (json!({"messages": []}), vec!["/messages must not be empty"]),
            (json!({"messages": ["a"]}), vec!["/messages/0 must be an object"]),
            (json!({"message": 7}), vec!["/message must be a text, or an object"]),
            (json!({"message": " \n"}), vec!["/message must hold a text"]),
            (json!({"message": long}), vec!["/message has 262145 bytes"]),
            (json!({"message": {"parts": text(&long)}}), vec!["/message/parts has 262145 bytes"]),
            (json!({"message": {}}), vec!["/message/parts must be an array"]),
            (json!({"message": {"parts": []}}), vec!["/message/parts must hold a text"]),
            (json!({"message": {"parts": text(" ")}}), vec!["/message/parts must hold a text"]),
            (json!({"message": {"role": "system", "parts": text("a")}}), vec!["/message/role must be user"]),
            (json!({"message": {"role": 1, "parts": text("a")}}), vec!["/message/role must be user"]),
            (
                json!({"messages": [{}, {"role": "user", "parts": [{"type": "file"}, {"type": "text"}, 1]}]}),
                vec![
                    "/messages/1/parts/0 must be a part of type text",
                    "/messages/1/parts/1/text must be a string",
                    "/messages/1/parts/2 must be a part of type text",
                ],
            ),
            (
                json!({"message": "", "agentId": "a", "agent_id": "b", "parentId": "ä", "messageId": "a b"}),
                vec![
                    "/agent_id must be the same",
                    "/parentId must be 1 to 64",
                    "/messageId must be 1 to 64",
                    "/messageId must not be given together",
                    "/message must hold a text",
                ],
            ),
            (
                json!({"trigger": "regenerate-message", "message": "a", "parentId": "a", "messageId": ""}),
                vec!["/parentId is for", "/message is not taken", "/messageId must be 1 to 64"],
            ),
            (assistant(json!({"type": "text", "text": "Hi"})), vec!["/messages/0 is a message of the assistant"]),
            (
                answer(json!({"id": "a b"})),
                vec!["/messages/0/parts/0/approval/id must be", "/messages/0/parts/0/approval/approved must be"],
            ),
            (
                answer(json!({"id": "a", "approved": true, "reason": 1})),
                vec!["/messages/0/parts/0/approval/reason must be a string"],
            ),
            (
                answer(json!({"id": "a", "approved": true, "reason": "x".repeat(1_001)})),
                vec!["/messages/0/parts/0/approval/reason has 1001 characters"],
            ),
            (
                json!({"message": {"role": "assistant", "id": "ä", "parts": 1}, "parentId": "a"}),
                vec!["/parentId is not taken", "/message/id must be", "/message/parts must be an array"],
            ),
        ];
        for (body, expected) in cases {
            let shown = error::shortened(&body.to_string());
            let Err(Error::Invalid(problems)) = read(body) else { panic!("{shown}") };
            let told = problems.iter().map(|it| format!("{} {}", it.path, it.message)).collect::<Vec<_>>();
            assert_eq!(told.len(), expected.len(), "{shown}: {told:?}");
            for (told, expected) in told.iter().zip(expected) {
                assert!(told.starts_with(expected), "{shown}: {told}");
            }
        }
    }

    #[test]
    fn of_a_long_history_only_the_message_that_counts_is_read() {
        let many = json!(vec![0; MAX_VALUES + 1]);
        let old = json!({"id": "msg_1", "role": "assistant", "parts": [{"type": "data-x", "data": many}]});
        let new = json!({"id": "q2", "role": "user", "parts": [{"type": "text", "text": "Hi"}]});
        check(
            json!({"messages": [old, new], "agentId": "agent_1"}),
            message(Some("q2"), "Hi", MessagePlace::AfterActive),
        );
        let Err(Error::Invalid(problems)) = read(json!({"messages": [new, old]})) else { panic!() };
        assert_eq!((problems.len(), problems[0].path.as_str()), (1, "/messages/1"));
    }

    #[test]
    fn a_field_that_is_unknown_is_a_fault_outside_of_messages_only() {
        let read = |body: Value| serde_json::from_value::<ChatIn>(body).map(|_| ()).map_err(|it| it.to_string());
        assert!(read(json!({"message": "a", "mesage": "b"})).unwrap_err().starts_with("unknown field `mesage`"));
        assert!(read(json!({"message": "a", "trigger": "resume-stream"})).is_err());
        assert!(read(json!({"message": "a", "approvals": "none"})).is_err());
        assert_eq!(read(json!({"messages": [{"role": "user", "new": 1}], "agentId": "a"})), Ok(()));
    }

    #[test]
    fn the_schema_names_the_fields_of_both_forms() {
        let schema = serde_json::to_value(<ChatIn as utoipa::PartialSchema>::schema()).unwrap();
        let fields = schema["properties"].as_object().unwrap().keys().map(String::as_str).collect::<Vec<_>>();
        let ours = ["message", "agentId", "agent_id", "userId", "parentId", "approvals"];
        let theirs = ["id", "messages", "trigger", "messageId"];
        assert_eq!(fields, [&ours[..], &theirs].concat());
        assert_eq!((&schema["required"], &schema["additionalProperties"]), (&Value::Null, &json!(false)));
    }
}
