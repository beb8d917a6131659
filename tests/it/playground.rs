//! The playground: chats in which an agent uses its tools. The model is a scripted server in the test process.

mod access;
mod approvals;
mod branches;
mod cost;
mod crash;
mod interruptions;
mod messages;
mod model_faults;
mod model_keys;
mod retries;
mod sharing;
mod tools;
mod turn;

use crate::harness::{Answer, ChatStream, Client, ModelServer, ROOT_TOKEN, Server, unique, workspace};
use serde_json::{Value, json};
use std::sync::OnceLock;
use std::time::Duration;

/// A workspace with a scripted model, an agent and a session.
struct Chat {
    client: Client,
    model: ModelServer,
    agent: String,
    session: String,
}

impl Chat {
    /// A chat in a new workspace on the open server.
    fn new() -> Self {
        Self::with(json!({}))
    }

    /// A chat with an agent that has these fields.
    fn with(agent: Value) -> Self {
        Self::of(&workspace(), agent)
    }

    /// A chat in the client's workspace.
    #[track_caller]
    fn of(client: &Client, agent: Value) -> Self {
        let model = ModelServer::start();
        client.patch("/api/workspace", json!({"model_url": model.url(), "model_name": "scripted"})).ok();
        Self { client: client.clone(), agent: client.agent(agent), model, session: "s".to_owned() }
    }

    /// A chat of the root caller in a new workspace on the guarded server.
    fn guarded() -> Self {
        let Guarded { server, model } = guarded();
        let workspace = unique("ws");
        let client = server.client(&workspace).with_token(ROOT_TOKEN);
        client.patch("/api/workspace", json!({"model_name": workspace})).ok();
        let (model, agent) = (model.named(&workspace), client.agent(json!({})));
        Self { client, model, agent, session: "s".to_owned() }
    }

    /// A chat in a new workspace on the quick server.
    fn quick() -> Self {
        Self::of(&quick().client(&unique("ws")), json!({}))
    }

    /// The same chat for another caller.
    fn as_caller(&self, client: &Client) -> Self {
        let (model, agent, session) = (self.model.clone(), self.agent.clone(), self.session.clone());
        Self { client: client.clone(), model, agent, session }
    }

    fn path(&self, rest: &str) -> String {
        format!("/api/playground/sessions/{}/{rest}", self.session)
    }

    #[track_caller]
    fn attach(&self, tool: &str) {
        self.client.post(&format!("/api/agents/{}/tools", self.agent), json!({"tool_id": tool})).created();
    }

    /// Registers a tool that calls a server, and attaches it.
    #[track_caller]
    fn attach_http(&self, tool: &str, url: &str, fields: Value) {
        let mut all = json!({"handler": {"type": "http", "url": url}, "parameters_schema": {"type": "object"}});
        all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        self.client.register(tool, "1.0.0", all);
        self.attach(tool);
    }

    fn body(&self, fields: Value) -> Value {
        let mut body = json!({"agentId": self.agent});
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        body
    }

    /// Begins a turn, and opens its stream.
    #[track_caller]
    fn begin(&self, text: &str) -> ChatStream {
        self.client.open_chat(&self.session, &self.body(json!({"message": text})))
    }

    /// Sends a request with these fields, and returns all events of its turn.
    #[track_caller]
    fn send(&self, fields: Value) -> Vec<Value> {
        self.client.open_chat(&self.session, &self.body(fields)).rest()
    }

    /// Sends a message, and returns all events of the turn.
    #[track_caller]
    fn say(&self, text: &str) -> Vec<Value> {
        self.send(json!({"message": text}))
    }

    /// Sends a request that may be refused.
    fn post(&self, fields: Value) -> Answer {
        self.client.post(&self.path("chat"), self.body(fields))
    }

    /// The JSON document of a turn.
    #[track_caller]
    fn whole(&self, fields: Value) -> Value {
        self.as_caller(&self.client.with_header("Accept", "application/json")).post(fields).ok()
    }

    #[track_caller]
    fn resume(&self) -> Option<ChatStream> {
        self.client.resume_chat(&self.session)
    }

    fn stop(&self) -> Answer {
        self.client.post(&self.path("stop"), json!({}))
    }

    fn check_out(&self, message: &str) -> Answer {
        self.client.post(&self.path("checkout"), json!({"message_id": message}))
    }

    /// The messages of the active branch.
    #[track_caller]
    fn messages(&self) -> Vec<Value> {
        self.client.pages(&self.path("messages"), "messages", 50)
    }

    #[track_caller]
    fn last_message(&self) -> Value {
        self.messages().pop().expect("there are messages")
    }

    /// The records of all calls in the workspace, oldest first.
    fn records(&self) -> Vec<Value> {
        let mut calls = self.client.pages("/api/tool-calls", "tool_calls", 100);
        calls.reverse();
        calls
    }

    /// Waits until no turn is under way.
    #[track_caller]
    fn settle(&self) {
        // A look is a client, and too many of them at once are refused.
        let path = self.path("chat/any/stream");
        eventually("the turn ends", || self.client.begin("GET", &path, None).is_some_and(|it| it.status() == 204));
    }

    /// The text of a file of the session; None if there is none.
    fn file(&self, name: &str) -> Option<String> {
        let answer = self.client.get(&format!("/api/sessions/{}/files/{name}", self.session));
        (answer.status == 200).then_some(answer.text)
    }
}

/// Waits until something is so.
#[track_caller]
fn eventually(what: &str, is_so: impl Fn() -> bool) {
    for _ in 0..600 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("it never came that {what}");
}

/// A server whose chats wait for seconds where others wait for minutes.
fn quick() -> &'static Server {
    static QUICK: OnceLock<Server> = OnceLock::new();
    QUICK.get_or_init(|| {
        let times = json!({"keep_alive_seconds": 1, "silence_seconds": 2, "look_after_seconds": 1,
            "approval_look_seconds": 2});
        let times = times.to_string();
        let vars = [
            ("AUTH", "open"),
            ("PRIVATE_URLS", "allow"),
            ("SECRET_KEY", "a secret of the tests"),
            ("CHAT_TIMES", times.as_str()),
        ];
        Server::start("playground-quick", &vars)
    })
}

/// A server that asks for tokens. Such a server takes no workspace's model without https, so that its own model is the
/// scripted one.
struct Guarded {
    server: Server,
    model: ModelServer,
}

fn guarded() -> &'static Guarded {
    static GUARDED: OnceLock<Guarded> = OnceLock::new();
    GUARDED.get_or_init(|| {
        let model = ModelServer::start();
        let vars = [
            ("ROOT_TOKEN", ROOT_TOKEN),
            ("SECRET_KEY", "a secret of the tests"),
            ("PRIVATE_URLS", "allow"),
            ("MODEL_URL", model.url()),
        ];
        Guarded { server: Server::start("playground-guarded", &vars), model }
    })
}

/// The types of the events; of several that are alike in a row, one.
fn kinds(events: &[Value]) -> Vec<&str> {
    let mut kinds = events.iter().map(|it| it["type"].as_str().unwrap()).collect::<Vec<_>>();
    kinds.dedup();
    kinds
}

/// The first event of this type.
#[track_caller]
fn event<'a>(events: &'a [Value], kind: &str) -> &'a Value {
    events.iter().find(|it| it["type"] == kind).unwrap_or_else(|| panic!("no {kind} in {events:#?}"))
}

fn has(events: &[Value], kind: &str) -> bool {
    events.iter().any(|it| it["type"] == kind)
}

/// All text that the events tell.
fn said(events: &[Value]) -> String {
    let deltas = events.iter().filter(|it| it["type"] == "text-delta");
    deltas.map(|it| it["delta"].as_str().unwrap()).collect()
}

/// The reason with which the turn finished. A turn that finished so is over.
#[track_caller]
fn finished(events: &[Value]) -> &str {
    let last = events.last().expect("there are events");
    assert_eq!(last["type"], "finish", "{events:#?}");
    last["finishReason"].as_str().unwrap()
}

/// The sentence of the turn's error. The turn must have finished with it.
#[track_caller]
fn error(events: &[Value]) -> &str {
    assert_eq!(finished(events), "error");
    let error = &events[events.len() - 2];
    assert_eq!(error["type"], "error", "{events:#?}");
    error["errorText"].as_str().unwrap()
}

/// The text of a stored message.
fn text_of(message: &Value) -> String {
    let parts = message["parts"].as_array().unwrap().iter().filter(|it| it["type"] == "text");
    parts.map(|it| it["text"].as_str().unwrap()).collect()
}

/// The parts of a message that are calls.
fn calls_of(message: &Value) -> Vec<Value> {
    let parts = message["parts"].as_array().unwrap().iter();
    parts.filter(|it| it["type"] == "dynamic-tool").cloned().collect()
}

fn id_of(message: &Value) -> &str {
    message["id"].as_str().unwrap()
}

/// The parts with which a client ends up that has read these events, in the form of stored messages.
fn parts_of(events: &[Value]) -> Vec<Value> {
    let mut parts = Vec::<Value>::new();
    for event in events {
        let kind = event["type"].as_str().unwrap();
        let call = parts.iter_mut().find(|it| it["type"] == "dynamic-tool" && it["toolCallId"] == event["toolCallId"]);
        match (kind, call) {
            ("start-step", _) => parts.push(json!({"type": "step-start"})),
            ("text-start" | "reasoning-start", _) => {
                parts.push(json!({"type": kind.trim_end_matches("-start"), "text": ""}));
            }
            ("text-delta" | "reasoning-delta", _) => {
                let kind = kind.trim_end_matches("-delta");
                let part = parts.iter_mut().rfind(|it| it["type"] == kind).unwrap();
                part["text"] = format!("{}{}", part["text"].as_str().unwrap(), event["delta"].as_str().unwrap()).into();
            }
            ("tool-input-start", _) => {
                let (id, name) = (&event["toolCallId"], &event["toolName"]);
                parts.push(
                    json!({"type": "dynamic-tool", "toolCallId": id, "toolName": name, "state": "input-streaming"}),
                );
            }
            ("tool-input-available", Some(call)) => {
                call["state"] = "input-available".into();
                call["input"] = event["input"].clone();
            }
            ("tool-input-error", Some(call)) => {
                call["state"] = "output-error".into();
                call["input"] = event["input"].clone();
                call["errorText"] = event["errorText"].clone();
            }
            ("tool-approval-request", Some(call)) => {
                call["state"] = "approval-requested".into();
                call["approval"] = json!({"id": event["approvalId"]});
            }
            ("tool-output-available", Some(call)) => {
                call["state"] = "output-available".into();
                call["output"] = event["output"].clone();
            }
            ("tool-output-error", Some(call)) => {
                call["state"] = "output-error".into();
                call["errorText"] = event["errorText"].clone();
            }
            ("data-call", _) => {
                parts.retain(|it| it["type"] != "data-call" || it["id"] != event["id"]);
                parts.push(json!({"type": "data-call", "id": event["id"], "data": event["data"]}));
            }
            _ => {}
        }
    }
    parts
}

/// A client that has read these events has the same parts as the stored message.
#[track_caller]
fn agree(events: &[Value], message: &Value) {
    let told = event(events, "start")["messageId"].as_str().unwrap();
    assert_eq!((told, &json!(parts_of(events))), (id_of(message), &message["parts"]));
}
