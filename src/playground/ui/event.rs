//! The events of the UI message stream, and their bytes. An event of an unknown type ends the stream in every version
//! of the client, so only types are here that versions 5, 6 and 7 know, and the two about approvals that 6 has added.

use crate::playground::part::{CallData, FinishReason};
use crate::text_enum::text_enum;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// The headers of a response that is such a stream.
pub const HEADERS: [(&str, &str); 4] = [
    ("content-type", "text/event-stream"),
    ("cache-control", "no-cache"),
    ("x-vercel-ai-ui-message-stream", "v1"),
    ("x-accel-buffering", "no"),
];

/// The last line of a stream.
pub const DONE: &[u8] = b"data: [DONE]\n\n";

/// A comment, which clients ignore. It keeps a connection open on which nothing else is sent.
pub const KEEP_ALIVE: &[u8] = b": keep-alive\n\n";

text_enum! {
    /// How a client is told of approvals.
    ApprovalStyle {
        /// By `tool-approval-request` and `tool-output-denied`, which clients know since version 6.
        Events = "events",
        /// By `data-approval` and `tool-output-error`, for clients of version 5.
        Data = "data",
    }
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum Event<'a> {
    Start {
        message_id: &'a str,
    },
    StartStep,
    FinishStep,
    ReasoningStart {
        id: &'a str,
    },
    ReasoningDelta {
        id: &'a str,
        delta: &'a str,
    },
    ReasoningEnd {
        id: &'a str,
    },
    TextStart {
        id: &'a str,
    },
    TextDelta {
        id: &'a str,
        delta: &'a str,
    },
    TextEnd {
        id: &'a str,
    },
    ToolInputStart {
        tool_call_id: &'a str,
        tool_name: &'a str,
        dynamic: Dynamic,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<&'a str>,
    },
    ToolInputDelta {
        tool_call_id: &'a str,
        /// A piece of the JSON text.
        input_text_delta: &'a str,
    },
    ToolInputAvailable {
        tool_call_id: &'a str,
        tool_name: &'a str,
        input: &'a Value,
        dynamic: Dynamic,
        /// An object of objects: the client refuses anything else.
        #[serde(skip_serializing_if = "Option::is_none")]
        provider_metadata: Option<&'a Map<String, Value>>,
    },
    ToolInputError {
        tool_call_id: &'a str,
        tool_name: &'a str,
        /// The text that the model wrote.
        input: &'a Value,
        error_text: &'a str,
        dynamic: Dynamic,
    },
    ToolApprovalRequest {
        approval_id: &'a str,
        tool_call_id: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<&'a str>,
    },
    ToolOutputAvailable {
        tool_call_id: &'a str,
        output: &'a Value,
        dynamic: Dynamic,
    },
    ToolOutputError {
        tool_call_id: &'a str,
        error_text: &'a str,
        dynamic: Dynamic,
    },
    ToolOutputDenied {
        tool_call_id: &'a str,
    },
    /// The record of a call. `id` is the `toolCallId`.
    DataCall {
        id: &'a str,
        data: &'a CallData,
    },
    /// What clients of version 5 get instead of `tool-approval-request`. `id` is the `toolCallId`.
    DataApproval {
        id: &'a str,
        data: AskedApproval<'a>,
    },
    Finish {
        finish_reason: FinishReason,
        #[serde(skip_serializing_if = "Option::is_none")]
        message_metadata: Option<&'a Value>,
    },
    Abort {
        reason: &'a str,
    },
    Error {
        error_text: &'a str,
    },
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AskedApproval<'a> {
    pub approval_id: &'a str,
    pub tool_call_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'a str>,
}

/// The field `dynamic` of every event about a call. It is always true: without it, the client makes a part that is
/// named after the tool, and version 5 does not find the part of a call again.
pub struct Dynamic;

impl Serialize for Dynamic {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bool(true)
    }
}

impl Event<'_> {
    /// Adds the event's bytes to `out`.
    pub fn sse(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(b"data: ");
        let json = out.len();
        // Writing to memory cannot fail. If it did, half an event would end the client's stream.
        if serde_json::to_writer(&mut *out, self).is_err() {
            out.truncate(start);
            return;
        }
        escape_line_ends(out, json);
        out.extend_from_slice(b"\n\n");
    }
}

/// Escapes the characters at which some readers of streams end a line, although server-sent events do not say so:
/// U+0085, U+2028 and U+2029. JSON has them in strings only, and already escapes the others.
fn escape_line_ends(out: &mut Vec<u8>, from: usize) {
    const ESCAPES: [(&[u8], &[u8]); 3] =
        [("\u{85}".as_bytes(), b"\\u0085"), ("\u{2028}".as_bytes(), b"\\u2028"), ("\u{2029}".as_bytes(), b"\\u2029")];
    // Nearly every byte is neither of the two with which these characters begin.
    let is_one = |bytes: &[u8]| match bytes.first() {
        Some(0xc2 | 0xe2) => ESCAPES.iter().find(|(it, _)| bytes.starts_with(it)),
        Some(_) | None => None,
    };
    let Some(first) = (from..out.len()).find(|at| is_one(&out[*at..]).is_some()) else { return };
    let rest = out.split_off(first);
    let mut at = 0;
    while at < rest.len() {
        match is_one(&rest[at..]) {
            Some((character, escape)) => {
                out.extend_from_slice(escape);
                at += character.len();
            }
            None => {
                out.push(rest[at]);
                at += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn written(event: &Event<'_>) -> String {
        let mut out = Vec::new();
        event.sse(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn an_event_is_one_line_of_data_and_an_empty_line() {
        let check = |event: Event<'_>, expected: &str| assert_eq!(written(&event), format!("data: {expected}\n\n"));
        check(Event::StartStep, r#"{"type":"start-step"}"#);
        check(Event::Start { message_id: "msg_1" }, r#"{"type":"start","messageId":"msg_1"}"#);
        check(
            Event::ToolInputStart { tool_call_id: "c", tool_name: "t", dynamic: Dynamic, title: Some("T") },
            r#"{"type":"tool-input-start","toolCallId":"c","toolName":"t","dynamic":true,"title":"T"}"#,
        );
        check(
            Event::ToolOutputAvailable { tool_call_id: "c", output: &Value::Null, dynamic: Dynamic },
            r#"{"type":"tool-output-available","toolCallId":"c","output":null,"dynamic":true}"#,
        );
        check(
            Event::DataApproval {
                id: "c",
                data: AskedApproval { approval_id: "appr_1", tool_call_id: "c", reason: None },
            },
            r#"{"type":"data-approval","id":"c","data":{"approvalId":"appr_1","toolCallId":"c"}}"#,
        );
        check(
            Event::Finish { finish_reason: FinishReason::ContentFilter, message_metadata: Some(&json!({"a": 1})) },
            r#"{"type":"finish","finishReason":"content-filter","messageMetadata":{"a":1}}"#,
        );
    }

    #[test]
    fn no_character_of_a_text_ends_the_line() {
        let text = "a\nb\r\u{b}\u{c}\u{1c}\u{0}\u{85}\u{2028}\u{2029}\"\\u2028🎈é\u{c2}…\u{feff}";
        let written = written(&Event::TextDelta { id: "t\u{2028}", delta: text });
        let line = written.strip_prefix("data: ").unwrap().strip_suffix("\n\n").unwrap();
        assert!(!line.contains(|it: char| it.is_control() || it == '\u{2028}' || it == '\u{2029}'), "{line}");
        let read = serde_json::from_str::<Value>(line).unwrap();
        assert_eq!(read, json!({"type": "text-delta", "id": "t\u{2028}", "delta": text}));
    }
}
