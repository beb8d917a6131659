//! A small model of the client's reader, for tests: it rebuilds a message from the events, and is stricter than the
//! versions 5, 6 and 7 together.

use super::event::ApprovalStyle;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

pub struct Reader {
    style: ApprovalStyle,
    pub message_id: Option<String>,
    parts: Vec<Value>,
    /// The indices of the open texts by their ids.
    open: BTreeMap<String, usize>,
    used_ids: BTreeSet<String>,
    /// The texts of arguments that are not complete.
    arguments: BTreeMap<String, String>,
    in_step: bool,
    is_started: bool,
    pub ending: Option<String>,
}

impl Reader {
    pub fn new(style: ApprovalStyle) -> Self {
        Self {
            style,
            message_id: None,
            parts: Vec::new(),
            open: BTreeMap::new(),
            used_ids: BTreeSet::new(),
            arguments: BTreeMap::new(),
            in_step: false,
            is_started: false,
            ending: None,
        }
    }

    /// The client posts again after an approval, and keeps its message.
    pub fn next_stream(self) -> Self {
        assert!(self.ending.is_some());
        Self { arguments: BTreeMap::new(), in_step: false, is_started: false, ending: None, ..self }
    }

    #[track_caller]
    pub fn read(&mut self, bytes: &[u8]) {
        let text = std::str::from_utf8(bytes).unwrap();
        assert!(text.is_empty() || text.ends_with("\n\n"), "{text}");
        for event in text.split_terminator("\n\n") {
            let json = event.strip_prefix("data: ").unwrap();
            assert!(!json.contains(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']), "{json}");
            self.event(&serde_json::from_str(json).unwrap());
        }
    }

    /// The parts of the message. Calls whose arguments never ended are no parts of it.
    pub fn parts(&self) -> Vec<Value> {
        let is_kept = |it: &&Value| it["state"] != "input-streaming" && it["type"] != "data-approval";
        self.parts.iter().filter(is_kept).cloned().collect()
    }

    /// The approvals that `data-approval` has told, by `toolCallId`.
    pub fn told_approvals(&self) -> BTreeMap<String, String> {
        let told = self.parts.iter().filter(|it| it["type"] == "data-approval");
        told.map(|it| (text(it, "id"), text(&it["data"], "approvalId"))).collect()
    }

    #[track_caller]
    fn call(&mut self, event: &Value) -> &mut Value {
        let id = event["toolCallId"].as_str().unwrap();
        let found = self.parts.iter_mut().rfind(|it| it["type"] == "dynamic-tool" && it["toolCallId"] == id);
        let call = found.unwrap_or_else(|| panic!("no such call: {event}"));
        assert_ne!(call["state"], "input-streaming", "{event}");
        call
    }

    #[track_caller]
    fn event(&mut self, event: &Value) {
        let kind = event["type"].as_str().unwrap();
        assert_eq!(self.is_started, kind != "start", "{event}");
        let after_error = kind == "finish" && self.ending.as_deref() == Some("error");
        assert!(self.ending.is_none() || after_error, "after the end: {event}");
        match kind {
            "start" => {
                let id = text(event, "messageId");
                assert!(self.message_id.as_ref().is_none_or(|it| *it == id), "{event}");
                self.message_id = Some(id);
                self.is_started = true;
            }
            "start-step" => {
                assert!(!self.in_step);
                self.in_step = true;
                self.parts.push(json!({"type": "step-start"}));
            }
            "finish-step" => {
                assert!(self.in_step && self.open.is_empty());
                self.in_step = false;
                self.arguments.clear();
            }
            "text-start" | "reasoning-start" => {
                assert!(self.in_step, "{event}");
                let id = text(event, "id");
                assert!(self.used_ids.insert(id.clone()), "used before: {event}");
                self.open.insert(id, self.parts.len());
                self.parts.push(json!({"type": kind.trim_end_matches("-start"), "text": ""}));
            }
            "text-delta" | "reasoning-delta" => {
                let part = &mut self.parts[self.open[event["id"].as_str().unwrap()]];
                assert_eq!(part["type"], kind.trim_end_matches("-delta"));
                part["text"] = (text(part, "text") + &text(event, "delta")).into();
            }
            "text-end" | "reasoning-end" => {
                let at = self.open.remove(event["id"].as_str().unwrap()).unwrap();
                assert_eq!(self.parts[at]["type"], kind.trim_end_matches("-end"));
                assert_ne!(self.parts[at]["text"], "");
            }
            "tool-input-start" => {
                assert!(self.in_step && self.open.is_empty() && event["dynamic"] == true, "{event}");
                let id = text(event, "toolCallId");
                let is_same = |it: &Value| it["toolCallId"] == id.as_str() && it["state"] != "input-streaming";
                assert!(!self.parts.iter().any(is_same), "{event}");
                assert!(self.arguments.insert(id.clone(), String::new()).is_none(), "{event}");
                let part = json!({"type": "dynamic-tool", "toolCallId": id, "state": "input-streaming"});
                self.parts.push(part);
            }
            "tool-input-delta" => {
                let arguments = self.arguments.get_mut(event["toolCallId"].as_str().unwrap()).unwrap();
                arguments.push_str(event["inputTextDelta"].as_str().unwrap());
            }
            "tool-input-available" | "tool-input-error" => self.input(kind, event),
            "tool-output-available" => {
                assert!(event.get("output").is_some() && event["dynamic"] == true, "{event}");
                let call = self.call(event);
                call["state"] = "output-available".into();
                call["output"] = event["output"].clone();
            }
            "tool-output-error" => {
                assert_eq!(event["dynamic"], true, "{event}");
                let call = self.call(event);
                call["state"] = "output-error".into();
                call["errorText"] = text(event, "errorText").into();
            }
            "tool-approval-request" if self.style == ApprovalStyle::Events => {
                let call = self.call(event);
                call["state"] = "approval-requested".into();
                call["approval"] = json!({"id": text(event, "approvalId")});
            }
            "tool-output-denied" if self.style == ApprovalStyle::Events => {
                self.call(event)["state"] = "output-denied".into();
            }
            "data-approval" if self.style == ApprovalStyle::Data => {
                self.call(&event["data"]);
                self.data(event);
            }
            "data-call" => self.data(event),
            "finish" => {
                assert!(self.open.is_empty() && (after_error || !self.in_step), "{event}");
                self.ending = Some(text(event, "finishReason"));
            }
            "abort" | "error" => {
                assert!(self.open.is_empty(), "{event}");
                self.ending = Some(kind.to_owned());
            }
            unknown => panic!("the client does not know {unknown}"),
        }
    }

    #[track_caller]
    fn input(&mut self, kind: &str, event: &Value) {
        let id = text(event, "toolCallId");
        assert!(self.arguments.remove(&id).is_some(), "{event}");
        assert!(self.in_step && event["dynamic"] == true, "{event}");
        let part = self.parts.iter_mut().rfind(|it| it["toolCallId"] == id.as_str()).unwrap();
        part["toolName"] = text(event, "toolName").into();
        part["input"] = event.get("input").unwrap().clone();
        if let Some(metadata) = event.get("providerMetadata") {
            assert!(metadata.as_object().unwrap().values().all(Value::is_object), "{event}");
            part["callProviderMetadata"] = metadata.clone();
        }
        part["state"] = "input-available".into();
        if kind == "tool-input-error" {
            part["state"] = "output-error".into();
            part["errorText"] = text(event, "errorText").into();
        }
    }

    fn data(&mut self, event: &Value) {
        let is_same = |it: &&mut Value| it["type"] == event["type"] && it["id"] == event["id"];
        match self.parts.iter_mut().find(is_same) {
            Some(part) => *part = event.clone(),
            None => self.parts.push(event.clone()),
        }
    }
}

#[track_caller]
fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_else(|| panic!("no {name} in {value}")).to_owned()
}
