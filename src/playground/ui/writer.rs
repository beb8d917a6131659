//! Writes the message of a turn: keeps its parts, and returns the events that tell clients of each change.
//!
//! The stream is valid whatever the order of the calls of these methods. A method that cannot be told to a client,
//! such as the output of an unknown call or a text after the end, changes nothing and returns no bytes.

use super::event::{ApprovalStyle, AskedApproval, Dynamic, Event};
use crate::ids::MessageId;
use crate::playground::part::{ApprovalPart, CallData, CallPart, CallState, FinishReason, Part};
use serde_json::{Map, Value};
use std::collections::HashMap;

pub struct MessageWriter {
    pub(super) id: MessageId,
    pub(super) style: ApprovalStyle,
    pub(super) parts: Vec<Part>,
    pub(super) open: Option<OpenText>,
    /// Calls whose arguments are not complete, in the order in which they began.
    pub(super) begun: Vec<BegunCall>,
    /// What was told about calls besides their parts, by `toolCallId`.
    pub(super) told: HashMap<String, Told>,
    /// How many texts the message has, reasoning included. Their ids are their numbers.
    texts: usize,
    /// An open text and a begun call are always within a step.
    pub(super) in_step: bool,
    /// The events that ended the message.
    pub(super) end: Option<Vec<u8>>,
}

/// The text to which the next piece belongs.
pub(super) struct OpenText {
    /// The index of its part.
    pub(super) at: usize,
    kind: TextKind,
    id: String,
}

#[derive(Clone, Copy, PartialEq)]
enum TextKind {
    Reasoning,
    Text,
}

/// A call whose arguments are still being written. The client has a part for it already, and the message has none.
pub(super) struct BegunCall {
    pub(super) tool_call_id: String,
    pub(super) tool_name: String,
    /// The text of the arguments so far.
    pub(super) arguments: String,
    /// The index at which the client has the part, so that both have the same order.
    pub(super) at: usize,
}

#[derive(Default)]
pub(super) struct Told {
    pub(super) title: Option<String>,
    /// Why an approval is needed. A part's own `reason` is the reason of the decision.
    pub(super) reason: Option<String>,
}

impl MessageWriter {
    pub fn new(id: MessageId, style: ApprovalStyle) -> Self {
        Self::resumed(id, Vec::new(), style)
    }

    /// Goes on with a message that an approval has paused.
    pub fn resumed(id: MessageId, parts: Vec<Part>, style: ApprovalStyle) -> Self {
        let texts = parts.iter().filter(|it| is_text(it)).count();
        Self { id, style, parts, open: None, begun: Vec::new(), told: HashMap::new(), texts, in_step: false, end: None }
    }

    /// A writer of the same message without its parts, for the last words to clients that leave before the message ends.
    pub fn without_parts(&self) -> Self {
        Self::new(self.id.clone(), self.style)
    }

    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    pub fn into_parts(self) -> Vec<Part> {
        self.parts
    }

    /// The first event of a stream.
    pub fn start(&self) -> Vec<u8> {
        let mut out = Vec::new();
        if self.end.is_none() {
            Event::Start { message_id: self.id.as_str() }.sse(&mut out);
        }
        out
    }

    /// Begins a step, after the end of the one before.
    pub fn begin_step(&mut self) -> Vec<u8> {
        let mut out = self.end_step();
        if self.end.is_none() {
            self.parts.push(Part::StepStart);
            self.in_step = true;
            Event::StartStep.sse(&mut out);
        }
        out
    }

    /// Ends the step, if there is one. Calls whose arguments are not complete are forgotten.
    pub fn end_step(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        if self.end.is_none() && self.in_step {
            self.close_text(&mut out);
            self.begun.clear();
            self.in_step = false;
            Event::FinishStep.sse(&mut out);
        }
        out
    }

    pub fn reasoning(&mut self, delta: &str) -> Vec<u8> {
        self.add_text(TextKind::Reasoning, delta)
    }

    pub fn text(&mut self, delta: &str) -> Vec<u8> {
        self.add_text(TextKind::Text, delta)
    }

    fn add_text(&mut self, kind: TextKind, delta: &str) -> Vec<u8> {
        let mut out = Vec::new();
        if self.end.is_some() || delta.is_empty() {
            return out;
        }
        if self.open.as_ref().is_none_or(|it| it.kind != kind) {
            self.open_text(kind, &mut out);
        }
        let Some(OpenText { at, id, .. }) = &self.open else { return out };
        if let Some(Part::Text { text } | Part::Reasoning { text }) = self.parts.get_mut(*at) {
            text.push_str(delta);
        }
        match kind {
            TextKind::Reasoning => Event::ReasoningDelta { id, delta },
            TextKind::Text => Event::TextDelta { id, delta },
        }
        .sse(&mut out);
        out
    }

    fn open_text(&mut self, kind: TextKind, out: &mut Vec<u8>) {
        self.close_text(out);
        self.need_step(out);
        let id = text_id(self.texts);
        self.texts += 1;
        match kind {
            TextKind::Reasoning => Event::ReasoningStart { id: &id },
            TextKind::Text => Event::TextStart { id: &id },
        }
        .sse(out);
        let part = match kind {
            TextKind::Reasoning => Part::Reasoning { text: String::new() },
            TextKind::Text => Part::Text { text: String::new() },
        };
        self.open = Some(OpenText { at: self.parts.len(), kind, id });
        self.parts.push(part);
    }

    fn close_text(&mut self, out: &mut Vec<u8>) {
        if let Some(OpenText { kind, id, .. }) = self.open.take() {
            match kind {
                TextKind::Reasoning => Event::ReasoningEnd { id: &id },
                TextKind::Text => Event::TextEnd { id: &id },
            }
            .sse(out);
        }
    }

    /// Begins a step if there is none, because every text and every call belongs to a step.
    fn need_step(&mut self, out: &mut Vec<u8>) {
        if !self.in_step {
            out.extend(self.begin_step());
        }
    }

    /// The model begins to write a call. The message has no part for it before its arguments are complete.
    pub fn begin_call(&mut self, tool_call_id: &str, tool_name: &str, title: Option<&str>) -> Vec<u8> {
        let mut out = Vec::new();
        let is_known = self.call(tool_call_id).is_some() || self.begun.iter().any(|it| it.tool_call_id == tool_call_id);
        if self.end.is_some() || is_known {
            return out;
        }
        self.close_text(&mut out);
        self.need_step(&mut out);
        self.begun.push(BegunCall {
            tool_call_id: tool_call_id.to_owned(),
            tool_name: tool_name.to_owned(),
            arguments: String::new(),
            at: self.parts.len(),
        });
        self.told.entry(tool_call_id.to_owned()).or_default().title = title.map(str::to_owned);
        Event::ToolInputStart { tool_call_id, tool_name, dynamic: Dynamic, title }.sse(&mut out);
        out
    }

    /// A piece of the JSON text of a call's arguments.
    pub fn call_arguments(&mut self, tool_call_id: &str, delta: &str) -> Vec<u8> {
        let mut out = Vec::new();
        let begun = self.begun.iter_mut().find(|it| it.tool_call_id == tool_call_id);
        if let Some(begun) = begun.filter(|_| self.end.is_none() && !delta.is_empty()) {
            begun.arguments.push_str(delta);
            Event::ToolInputDelta { tool_call_id, input_text_delta: delta }.sse(&mut out);
        }
        out
    }

    /// The arguments of a call are complete, and the call is about to run.
    pub fn call_ready(
        &mut self,
        tool_call_id: &str,
        tool_name: &str,
        input: Value,
        provider_metadata: Option<Map<String, Value>>,
    ) -> Vec<u8> {
        let mut part = new_call(tool_call_id, tool_name, CallState::InputAvailable, input);
        part.call_provider_metadata = provider_metadata;
        self.add_call(part)
    }

    /// The arguments of a call are no JSON object, so that the call cannot run.
    pub fn call_unreadable(&mut self, tool_call_id: &str, tool_name: &str, raw: &str, error: &str) -> Vec<u8> {
        let mut part = new_call(tool_call_id, tool_name, CallState::OutputError, raw.into());
        part.error_text = Some(error.to_owned());
        self.add_call(part)
    }

    fn add_call(&mut self, part: CallPart) -> Vec<u8> {
        // Without effect if the call has begun already.
        let mut out = self.begin_call(&part.tool_call_id, &part.tool_name, None);
        let place = self.begun.iter().position(|it| it.tool_call_id == part.tool_call_id);
        let Some(place) = place.filter(|_| self.end.is_none()) else { return out };
        let at = self.begun.remove(place).at;
        // Calls that began later, and the open text, now stand one place further back.
        self.begun.iter_mut().skip(place).for_each(|it| it.at += 1);
        self.open.iter_mut().filter(|it| it.at >= at).for_each(|it| it.at += 1);
        call_input(&part, &mut out);
        self.parts.insert(at, Part::Call(Box::new(part)));
        out
    }

    pub fn call_succeeded(&mut self, tool_call_id: &str, output: Value) -> Vec<u8> {
        self.change_call(tool_call_id, |part| {
            part.state = CallState::OutputAvailable;
            part.output = Some(output);
            part.approval.iter_mut().for_each(|it| it.approved = Some(true));
        })
    }

    /// The call has failed. If an approval was asked for, the approval was given.
    pub fn call_failed(&mut self, tool_call_id: &str, error_text: &str) -> Vec<u8> {
        self.change_call(tool_call_id, |part| fail(part, error_text))
    }

    /// The call waits for an approval. It may have waited before.
    pub fn call_awaits(&mut self, tool_call_id: &str, approval_id: &str, reason: &str) -> Vec<u8> {
        if self.end.is_none() && self.call(tool_call_id).is_some() {
            self.told.entry(tool_call_id.to_owned()).or_default().reason = Some(reason.to_owned());
        }
        self.change_call(tool_call_id, |part| {
            part.state = CallState::ApprovalRequested;
            part.approval = Some(ApprovalPart { id: approval_id.to_owned(), approved: None, reason: None });
        })
    }

    /// The call may not run: its approval was denied, or has expired.
    pub fn call_denied(&mut self, tool_call_id: &str, reason: Option<&str>) -> Vec<u8> {
        self.change_call(tool_call_id, |part| {
            part.state = CallState::OutputDenied;
            if let Some(approval) = &mut part.approval {
                approval.approved = Some(false);
                approval.reason = reason.map(str::to_owned);
            }
        })
    }

    /// Changes a call that has not ended, and tells how the call stands now.
    fn change_call(&mut self, tool_call_id: &str, change: impl FnOnce(&mut CallPart)) -> Vec<u8> {
        let mut out = Vec::new();
        let called = self.parts.iter_mut().find_map(|it| it.as_call_mut().filter(|it| it.tool_call_id == tool_call_id));
        if let Some(part) = called.filter(|it| self.end.is_none() && !has_ended(it)) {
            change(part);
            call_state(part, self.style, self.told.get(tool_call_id), &mut out);
        }
        out
    }

    /// The record of a call. It replaces an earlier one.
    pub fn call_record(&mut self, tool_call_id: &str, data: CallData) -> Vec<u8> {
        let mut out = Vec::new();
        if self.end.is_some() || self.call(tool_call_id).is_none() {
            return out;
        }
        Event::DataCall { id: tool_call_id, data: &data }.sse(&mut out);
        let kept = self.parts.iter().position(|it| it.as_record_of(tool_call_id).is_some());
        let record = Part::CallRecord { id: tool_call_id.to_owned(), data };
        match kept.and_then(|at| self.parts.get_mut(at)) {
            Some(kept) => *kept = record,
            None => self.parts.push(record),
        }
        out
    }

    /// Ends the message, and the step.
    pub fn finish(&mut self, reason: FinishReason, metadata: &Value) -> Vec<u8> {
        let mut out = self.end_step();
        self.end_with(&[Event::Finish { finish_reason: reason, message_metadata: Some(metadata) }], &mut out);
        out
    }

    /// The user has stopped the turn.
    pub fn abort(&mut self, reason: &str) -> Vec<u8> {
        let mut out = Vec::new();
        self.end_with(&[Event::Abort { reason }], &mut out);
        out
    }

    /// The turn has failed.
    pub fn error(&mut self, text: &str) -> Vec<u8> {
        let mut out = Vec::new();
        let finish = Event::Finish { finish_reason: FinishReason::Error, message_metadata: None };
        self.end_with(&[Event::Error { error_text: text }, finish], &mut out);
        out
    }

    fn end_with(&mut self, events: &[Event<'_>], out: &mut Vec<u8>) {
        if self.end.is_some() {
            return;
        }
        self.close_text(out);
        self.begun.clear();
        let mut end = Vec::new();
        events.iter().for_each(|it| it.sse(&mut end));
        out.extend_from_slice(&end);
        self.end = Some(end);
    }

    /// The calls that were under way have failed, because what ran them is gone. A call that waits for an approval
    /// still waits. The parts change even after the message's end.
    pub fn interrupt(&mut self, sentence: &str) -> Vec<u8> {
        let mut out = Vec::new();
        let under_way = |it: &&mut CallPart| it.state == CallState::InputAvailable;
        for part in self.parts.iter_mut().filter_map(Part::as_call_mut).filter(under_way) {
            fail(part, sentence);
            if self.end.is_none() {
                call_state(part, self.style, self.told.get(&part.tool_call_id), &mut out);
            }
        }
        out
    }

    fn call(&self, tool_call_id: &str) -> Option<&CallPart> {
        self.parts.iter().filter_map(Part::as_call).find(|it| it.tool_call_id == tool_call_id)
    }
}

/// The id of a text in the stream. The number counts the message's texts, so that a message that goes on later has no
/// id twice.
pub(super) fn text_id(number: usize) -> String {
    format!("t{number}")
}

fn is_text(part: &Part) -> bool {
    match part {
        Part::Reasoning { .. } | Part::Text { .. } => true,
        Part::StepStart | Part::Call(_) | Part::CallRecord { .. } => false,
    }
}

pub(super) fn has_ended(part: &CallPart) -> bool {
    match part.state {
        CallState::InputAvailable | CallState::ApprovalRequested => false,
        CallState::OutputAvailable | CallState::OutputError | CallState::OutputDenied => true,
    }
}

fn new_call(tool_call_id: &str, tool_name: &str, state: CallState, input: Value) -> CallPart {
    CallPart {
        tool_call_id: tool_call_id.to_owned(),
        tool_name: tool_name.to_owned(),
        state,
        input,
        output: None,
        error_text: None,
        approval: None,
        call_provider_metadata: None,
    }
}

fn fail(part: &mut CallPart, error_text: &str) {
    part.state = CallState::OutputError;
    part.error_text = Some(error_text.to_owned());
    part.approval.iter_mut().for_each(|it| it.approved = Some(true));
}

/// Whether the arguments of a call could not be read: they are a text then.
pub(super) fn is_unreadable(part: &CallPart) -> bool {
    part.state == CallState::OutputError && part.input.is_string() && part.approval.is_none()
}

/// Tells the whole input of a call.
pub(super) fn call_input(part: &CallPart, out: &mut Vec<u8>) {
    let CallPart { tool_call_id, tool_name, input, .. } = part;
    if is_unreadable(part) {
        let error_text = part.error_text.as_deref().unwrap_or_default();
        return Event::ToolInputError { tool_call_id, tool_name, input, error_text, dynamic: Dynamic }.sse(out);
    }
    // The client would end the stream for metadata of another form.
    let provider_metadata = part.call_provider_metadata.as_ref().filter(|it| it.values().all(Value::is_object));
    Event::ToolInputAvailable { tool_call_id, tool_name, input, dynamic: Dynamic, provider_metadata }.sse(out);
}

/// Tells that a call waits for an approval, or how it has ended.
fn call_state(part: &CallPart, style: ApprovalStyle, told: Option<&Told>, out: &mut Vec<u8>) {
    match part.state {
        CallState::InputAvailable => {}
        CallState::ApprovalRequested => call_approval(part, style, told, out),
        CallState::OutputAvailable | CallState::OutputError | CallState::OutputDenied => call_outcome(part, style, out),
    }
}

/// Tells that an approval is asked for.
pub(super) fn call_approval(part: &CallPart, style: ApprovalStyle, told: Option<&Told>, out: &mut Vec<u8>) {
    let Some(ApprovalPart { id: approval_id, .. }) = &part.approval else { return };
    let tool_call_id = part.tool_call_id.as_str();
    let reason = told.and_then(|it| it.reason.as_deref());
    match style {
        ApprovalStyle::Events => Event::ToolApprovalRequest { approval_id, tool_call_id, reason },
        ApprovalStyle::Data => {
            Event::DataApproval { id: tool_call_id, data: AskedApproval { approval_id, tool_call_id, reason } }
        }
    }
    .sse(out);
}

/// Tells how a call has ended.
pub(super) fn call_outcome(part: &CallPart, style: ApprovalStyle, out: &mut Vec<u8>) {
    let tool_call_id = part.tool_call_id.as_str();
    match (part.state, style) {
        (CallState::InputAvailable | CallState::ApprovalRequested, _) => {}
        (CallState::OutputAvailable, _) => {
            let output = part.output.as_ref().unwrap_or(&Value::Null);
            Event::ToolOutputAvailable { tool_call_id, output, dynamic: Dynamic }.sse(out);
        }
        (CallState::OutputError, _) => {
            let error_text = part.error_text.as_deref().unwrap_or_default();
            Event::ToolOutputError { tool_call_id, error_text, dynamic: Dynamic }.sse(out);
        }
        (CallState::OutputDenied, ApprovalStyle::Events) => Event::ToolOutputDenied { tool_call_id }.sse(out),
        (CallState::OutputDenied, ApprovalStyle::Data) => {
            let error_text = denial(part.approval.as_ref().and_then(|it| it.reason.as_deref()));
            Event::ToolOutputError { tool_call_id, error_text: &error_text, dynamic: Dynamic }.sse(out);
        }
    }
}

/// A denial as a sentence.
pub(super) fn denial(reason: Option<&str>) -> String {
    reason.map_or_else(|| "The call was denied".to_owned(), |it| format!("The call was denied: {it}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn writer(style: ApprovalStyle) -> MessageWriter {
        MessageWriter::new(message_id(), style)
    }

    fn message_id() -> MessageId {
        MessageId::parse("msg_1").unwrap()
    }

    fn record(status: &str) -> CallData {
        CallData {
            call_id: "call_1".into(),
            version: Some("1.0.0".into()),
            status: status.into(),
            duration_ms: 12,
            render_plan: None,
            approval_id: None,
        }
    }

    fn lines(bytes: &[Vec<u8>]) -> Vec<String> {
        let text = String::from_utf8(bytes.concat()).unwrap();
        text.split_terminator("\n\n").map(|it| it.strip_prefix("data: ").unwrap().to_owned()).collect()
    }

    #[test]
    fn an_ordinary_turn_has_exactly_these_bytes() {
        let mut writer = writer(ApprovalStyle::Events);
        let signature = json!({"pegboard": {"signature": "x"}}).as_object().cloned();
        let bytes = [
            writer.start(),
            writer.begin_step(),
            writer.reasoning("Hm"),
            writer.reasoning("."),
            writer.text("I look."),
            writer.begin_call("abcdefgh1", "read_file", Some("Read a file")),
            writer.call_arguments("abcdefgh1", "{\"path\":"),
            writer.call_arguments("abcdefgh1", "\"/a\"}"),
            writer.call_ready("abcdefgh1", "read_file", json!({"path": "/a"}), signature),
            writer.call_unreadable("abcdefgh2", "read_file", "{", "The arguments are no JSON"),
            writer.call_succeeded("abcdefgh1", json!({"content": "1\n2"})),
            writer.call_record("abcdefgh1", record("success")),
            writer.end_step(),
            writer.begin_step(),
            writer.text("It says"),
            writer.text(" 1."),
            writer.finish(FinishReason::Stop, &json!({"usage": 7})),
        ];
        insta::assert_snapshot!(String::from_utf8(bytes.concat()).unwrap(), @r#"
        data: {"type":"start","messageId":"msg_1"}

        data: {"type":"start-step"}

        data: {"type":"reasoning-start","id":"t0"}

        data: {"type":"reasoning-delta","id":"t0","delta":"Hm"}

        data: {"type":"reasoning-delta","id":"t0","delta":"."}

        data: {"type":"reasoning-end","id":"t0"}

        data: {"type":"text-start","id":"t1"}

        data: {"type":"text-delta","id":"t1","delta":"I look."}

        data: {"type":"text-end","id":"t1"}

        data: {"type":"tool-input-start","toolCallId":"abcdefgh1","toolName":"read_file","dynamic":true,"title":"Read a file"}

        data: {"type":"tool-input-delta","toolCallId":"abcdefgh1","inputTextDelta":"{\"path\":"}

        data: {"type":"tool-input-delta","toolCallId":"abcdefgh1","inputTextDelta":"\"/a\"}"}

        data: {"type":"tool-input-available","toolCallId":"abcdefgh1","toolName":"read_file","input":{"path":"/a"},"dynamic":true,"providerMetadata":{"pegboard":{"signature":"x"}}}

        data: {"type":"tool-input-start","toolCallId":"abcdefgh2","toolName":"read_file","dynamic":true}

        data: {"type":"tool-input-error","toolCallId":"abcdefgh2","toolName":"read_file","input":"{","errorText":"The arguments are no JSON","dynamic":true}

        data: {"type":"tool-output-available","toolCallId":"abcdefgh1","output":{"content":"1\n2"},"dynamic":true}

        data: {"type":"data-call","id":"abcdefgh1","data":{"call_id":"call_1","version":"1.0.0","status":"success","duration_ms":12,"render_plan":null,"approval_id":null}}

        data: {"type":"finish-step"}

        data: {"type":"start-step"}

        data: {"type":"text-start","id":"t2"}

        data: {"type":"text-delta","id":"t2","delta":"It says"}

        data: {"type":"text-delta","id":"t2","delta":" 1."}

        data: {"type":"text-end","id":"t2"}

        data: {"type":"finish-step"}

        data: {"type":"finish","finishReason":"stop","messageMetadata":{"usage":7}}
        "#);
    }

    #[test]
    fn an_approval_pauses_the_message_and_its_call_ends_before_the_next_step() {
        for (style, asked, denied) in [
            (
                ApprovalStyle::Events,
                r#"{"type":"tool-approval-request","approvalId":"appr_1","toolCallId":"c1","reason":"Why"}"#,
                r#"{"type":"tool-output-denied","toolCallId":"c1"}"#,
            ),
            (
                ApprovalStyle::Data,
                r#"{"type":"data-approval","id":"c1","data":{"approvalId":"appr_1","toolCallId":"c1","reason":"Why"}}"#,
                r#"{"type":"tool-output-error","toolCallId":"c1","errorText":"The call was denied: X","dynamic":true}"#,
            ),
        ] {
            let mut paused = writer(style);
            paused.start();
            paused.begin_step();
            paused.call_ready("c1", "send_mail", json!({}), None);
            let told =
                lines(&[paused.call_awaits("c1", "appr_1", "Why"), paused.finish(FinishReason::ToolCalls, &json!({}))]);
            let finish = r#"{"type":"finish","finishReason":"tool-calls","messageMetadata":{}}"#;
            assert_eq!(told, [asked, r#"{"type":"finish-step"}"#, finish]);

            let mut resumed = MessageWriter::resumed(message_id(), paused.into_parts(), style);
            let told = lines(&[resumed.start(), resumed.call_denied("c1", Some("X")), resumed.begin_step()]);
            assert_eq!(told, [r#"{"type":"start","messageId":"msg_1"}"#, denied, r#"{"type":"start-step"}"#]);
            let Part::Call(call) = &resumed.parts()[1] else { panic!() };
            assert_eq!(call.state, CallState::OutputDenied);
            let decision = ApprovalPart { id: "appr_1".into(), approved: Some(false), reason: Some("X".into()) };
            assert_eq!(call.approval, Some(decision));
        }
    }

    #[test]
    fn an_error_and_a_stop_end_the_open_text() {
        let begin = || {
            let mut writer = writer(ApprovalStyle::Events);
            writer.start();
            writer.text("I");
            writer
        };
        let end = r#"{"type":"text-end","id":"t0"}"#;
        let told = lines(&[begin().error("The model is gone")]);
        let error = r#"{"type":"error","errorText":"The model is gone"}"#;
        assert_eq!(told, [end, error, r#"{"type":"finish","finishReason":"error"}"#]);
        assert_eq!(lines(&[begin().abort("Enough")]), [end, r#"{"type":"abort","reason":"Enough"}"#]);
        let mut ended = begin();
        ended.abort("Enough");
        assert_eq!(ended.text("more"), b"");
        assert_eq!(ended.parts(), [Part::StepStart, Part::Text { text: "I".into() }]);
    }

    #[test]
    fn a_crash_ends_the_calls_that_were_under_way_and_no_others() {
        let mut writer = writer(ApprovalStyle::Events);
        for id in ["runs", "waits", "done"] {
            writer.call_ready(id, "t", json!({}), None);
        }
        writer.call_awaits("waits", "appr_1", "Why");
        writer.call_succeeded("done", json!(1));
        let told = lines(&[writer.interrupt("The turn was interrupted")]);
        let error =
            r#"{"type":"tool-output-error","toolCallId":"runs","errorText":"The turn was interrupted","dynamic":true}"#;
        assert_eq!(told, [error]);
        let states = writer.parts().iter().filter_map(Part::as_call).map(|it| it.state).collect::<Vec<_>>();
        assert_eq!(states, [CallState::OutputError, CallState::ApprovalRequested, CallState::OutputAvailable]);
    }

    #[test]
    fn metadata_that_the_client_would_refuse_is_kept_and_not_sent() {
        let mut writer = writer(ApprovalStyle::Events);
        let told = writer.call_ready("c1", "t", json!({}), json!({"pegboard": "x"}).as_object().cloned());
        assert!(!String::from_utf8(told).unwrap().contains("providerMetadata"));
        let kept = writer.parts()[1].as_call().unwrap().call_provider_metadata.as_ref().unwrap();
        assert_eq!(kept["pegboard"], "x");
    }
}
