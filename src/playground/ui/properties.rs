//! Tests of the writer and of replays with many orders of calls, against a model of the client's reader.

use super::event::ApprovalStyle;
use super::reader::Reader;
use super::writer::{MessageWriter, denial};
use crate::dice::Dice;
use crate::ids::MessageId;
use crate::playground::part::{CallData, CallPart, FinishReason, Part};
use crate::text_enum::TextEnum;
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn message_id() -> MessageId {
    MessageId::parse("msg_1").unwrap()
}

fn record(status: &str) -> CallData {
    CallData {
        call_id: "call_1".into(),
        version: None,
        status: status.into(),
        duration_ms: 12,
        render_plan: Some(json!({"a": status})),
        approval_id: None,
    }
}

const TEXTS: [&str; 8] = ["", "a", "é🎈", "\u{2028}\n\u{85}", "\"\\", "\u{0}", "{\"a\":", "\r\n\r\ndata: [DONE]\n\n"];

/// Calls one method of the writer.
fn act(writer: &mut MessageWriter, dice: &mut Dice) -> Vec<u8> {
    let (text, other) = (dice.pick(&TEXTS), dice.pick(&TEXTS));
    let id = &format!("c{}", dice.below(6));
    let maybe = Some(other).filter(|_| dice.once_in(2));
    match dice.below(24) {
        0..=3 => writer.text(text),
        4..=5 => writer.reasoning(text),
        6..=8 => writer.begin_call(id, "tool", maybe),
        9..=10 => writer.call_arguments(id, text),
        11..=13 => {
            let metadata = json!({"pegboard": {"a": text}}).as_object().cloned().filter(|_| dice.once_in(2));
            writer.call_ready(id, "tool2", json!({"a": text, other: null}), metadata)
        }
        14 => writer.call_unreadable(id, "tool", text, other),
        15 => writer.call_succeeded(id, if dice.once_in(2) { Value::Null } else { json!([text]) }),
        16 => writer.call_failed(id, text),
        17 => writer.call_awaits(id, &format!("appr_{}", dice.below(9)), text),
        18 => writer.call_denied(id, maybe),
        19..=20 => writer.call_record(id, record(text)),
        21 => writer.begin_step(),
        22 => writer.end_step(),
        _ if dice.once_in(8) => writer.interrupt(text),
        _ => Vec::new(),
    }
}

fn end(writer: &mut MessageWriter, dice: &mut Dice) -> Vec<u8> {
    let text = dice.pick(&TEXTS);
    match dice.below(4) {
        0 => writer.abort(text),
        1 => writer.error(text),
        _ => writer.finish(dice.pick(FinishReason::ALL), &json!({"a": text})),
    }
}

/// The parts of the message, as they are at a client that has answered no approval itself.
fn as_client_has_them(parts: &[Part], style: ApprovalStyle) -> (Vec<Value>, BTreeMap<String, String>) {
    let mut approvals = BTreeMap::new();
    let mut shown = Vec::new();
    for part in parts {
        let mut json = serde_json::to_value(part).unwrap();
        if let Some(CallPart { tool_call_id, approval: Some(approval), .. }) = part.as_call() {
            match style {
                ApprovalStyle::Events => json["approval"] = json!({"id": approval.id}),
                ApprovalStyle::Data => {
                    approvals.insert(tool_call_id.clone(), approval.id.clone());
                    json.as_object_mut().unwrap().shift_remove("approval");
                }
            }
        }
        if style == ApprovalStyle::Data && json["state"] == "approval-requested" {
            json["state"] = "input-available".into();
        }
        if style == ApprovalStyle::Data && json["state"] == "output-denied" {
            let approval = part.as_call().unwrap().approval.as_ref();
            json["state"] = "output-error".into();
            json["errorText"] = denial(approval.and_then(|it| it.reason.as_deref())).into();
        }
        shown.push(json);
    }
    (shown, approvals)
}

#[track_caller]
fn check(reader: &Reader, writer: &MessageWriter, about: &str) {
    let (parts, approvals) = as_client_has_them(writer.parts(), writer.style);
    assert_eq!(reader.parts(), parts, "{about}");
    assert_eq!(reader.told_approvals(), approvals, "{about}");
    assert_eq!(reader.message_id.as_deref(), Some("msg_1"));
}

/// A client that came back in the middle of a turn.
struct Returned {
    reader: Reader,
    has_all: bool,
}

fn come_back(writer: &MessageWriter, max_bytes: usize) -> Returned {
    let replay = writer.replay(max_bytes);
    let least = writer.replay(0).len();
    assert!(replay.len() <= max_bytes.max(least), "{} {max_bytes} {least}", replay.len());
    let mut reader = Reader::new(writer.style);
    reader.read(&replay);
    let told = reader.parts();
    let calls = told.iter().filter_map(|it| it["toolCallId"].as_str()).collect::<Vec<_>>();
    let is_lost = |it: &&Value| it["type"] == "data-call" && !calls.contains(&it["id"].as_str().unwrap());
    assert_eq!(told.iter().find(is_lost), None);
    let has_all = told.len() == writer.parts().len();
    Returned { reader, has_all }
}

#[test]
fn every_order_of_calls_gives_a_valid_stream_and_every_client_that_comes_back_rebuilds_the_message() {
    let mut left_out = 0;
    for seed in 0..50 {
        let mut dice = Dice(seed);
        let style = dice.pick(ApprovalStyle::ALL);
        let mut reader = Reader::new(style);
        let mut writer = MessageWriter::new(message_id(), style);
        for turn in 0..2 {
            if turn > 0 {
                reader = reader.next_stream();
                writer = MessageWriter::resumed(message_id(), writer.into_parts(), style);
            }
            reader.read(&writer.start());
            let mut returned = Vec::new();
            let acts = dice.below(25);
            for act_number in 0..=acts {
                returned.push(come_back(&writer, usize::MAX));
                returned.push(come_back(&writer, dice.below(1_500)));
                let bytes = if act_number < acts { act(&mut writer, &mut dice) } else { end(&mut writer, &mut dice) };
                let about = format!("seed {seed}, turn {turn}, act {act_number}");
                reader.read(&bytes);
                check(&reader, &writer, &about);
                returned.iter_mut().for_each(|it| it.reader.read(&bytes));
            }
            for client in returned.iter().filter(|it| it.has_all) {
                check(&client.reader, &writer, &format!("seed {seed}, turn {turn}"));
            }
            let last = come_back(&writer, usize::MAX);
            check(&last.reader, &writer, "after the end");
            assert_eq!(last.reader.ending, reader.ending);
            assert!(act(&mut writer, &mut dice).is_empty());
            left_out += returned.iter().filter(|it| !it.has_all).count();
        }
    }
    assert!(left_out > 200, "{left_out}");
}

#[test]
fn the_oldest_parts_are_left_out_of_a_replay_first() {
    let mut writer = MessageWriter::new(message_id(), ApprovalStyle::Events);
    writer.start();
    writer.call_ready("waits", "t", json!({}), None);
    writer.call_ready("old", "t", json!({}), None);
    writer.call_succeeded("old", json!("x".repeat(1_000)));
    writer.call_record("waits", record("pending"));
    writer.call_record("old", record("success"));
    writer.begin_step();
    writer.text("closed");
    writer.reasoning("open");
    let told = |max_bytes| {
        let mut reader = Reader::new(ApprovalStyle::Events);
        reader.read(&writer.replay(max_bytes));
        let name = |it: &Value| match it["type"].as_str().unwrap() {
            "dynamic-tool" => it["toolCallId"].as_str().unwrap().to_owned(),
            "data-call" => format!("record of {}", it["id"].as_str().unwrap()),
            kind => kind.to_owned(),
        };
        reader.parts().iter().map(name).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(told(usize::MAX), "step-start, waits, old, record of waits, record of old, step-start, text, reasoning");
    assert_eq!(told(1_500), "step-start, waits, record of waits, step-start, text, reasoning");
    assert_eq!(told(0), "step-start, waits, record of waits, step-start, reasoning");
}
