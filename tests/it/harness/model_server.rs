//! A model's server, as OpenAI's Chat Completions describe it: a small real HTTP server with
//! `POST /v1/chat/completions`. A test scripts its answers. It keeps every request that it received.

use super::received::{Received, listen};
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::io::{ErrorKind, Write};
use std::net::TcpStream;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

/// How long an answer waits at a gate that nobody opens.
const PATIENCE: Duration = Duration::from_secs(60);

/// A place in an answer at which the server waits until the test opens the gate.
#[derive(Clone, Default)]
pub struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    pub fn open(&self) {
        *self.0.0.lock().unwrap() = true;
        self.0.1.notify_all();
    }

    /// Waits for a moment, and returns whether the gate is open.
    fn wait(&self, time: Duration) -> bool {
        let (open, changed) = &*self.0;
        *changed.wait_timeout_while(open.lock().unwrap(), time, |it| !*it).unwrap().0
    }
}

#[derive(Clone)]
enum Piece {
    Bytes(Vec<u8>),
    Pause(Duration),
    Wait(Gate),
    /// The connection ends in the middle of the body.
    Break,
}

/// One answer of the server.
#[derive(Clone)]
pub struct ModelReply {
    status: u16,
    headers: Vec<(&'static str, String)>,
    content_type: &'static str,
    pieces: Vec<Piece>,
    calls: usize,
}

impl ModelReply {
    /// A stream without any chunk yet.
    pub fn stream() -> Self {
        let (status, content_type) = (200, "text/event-stream");
        Self { status, headers: Vec::new(), content_type, pieces: Vec::new(), calls: 0 }
    }

    /// A whole stream that says this text.
    pub fn says(text: &str) -> Self {
        Self::stream().text(text).finish("stop")
    }

    /// A whole stream that asks for these calls.
    pub fn calls(calls: &[(&str, Value)]) -> Self {
        let asked = calls.iter().fold(Self::stream(), |it, (name, arguments)| it.call(name, &arguments.to_string()));
        asked.finish("tool_calls")
    }

    /// A body as it is, with this status.
    pub fn with(status: u16, body: impl Into<Vec<u8>>) -> Self {
        let pieces = vec![Piece::Bytes(body.into())];
        Self { status, content_type: "application/json", pieces, ..Self::stream() }
    }

    /// One JSON document with this message of the assistant.
    pub fn document(message: Value, finish_reason: &str) -> Self {
        let choice = json!({"index": 0, "message": message, "finish_reason": finish_reason});
        Self::with(
            200,
            json!({"id": "x", "object": "chat.completion", "choices": [choice], "usage": usage()}).to_string(),
        )
    }

    /// Adds the body of another answer.
    pub fn then(mut self, other: Self) -> Self {
        self.pieces.extend(other.pieces);
        self
    }

    pub fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    /// Adds a piece of text.
    pub fn text(self, text: &str) -> Self {
        self.delta(json!({"content": text}), Value::Null)
    }

    /// Adds a piece of reasoning.
    pub fn reasoning(self, text: &str) -> Self {
        self.delta(json!({"reasoning_content": text}), Value::Null)
    }

    /// Adds a call, with its arguments in two pieces.
    pub fn call(self, name: &str, arguments: &str) -> Self {
        let (index, id) = (self.calls, format!("call_of_the_model_{}", self.calls));
        let half = (0..=arguments.len() / 2).rev().find(|it| arguments.is_char_boundary(*it)).unwrap_or_default();
        let (first, rest) = arguments.split_at(half);
        let begun =
            json!({"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": first}});
        let mut reply = self.delta(json!({"tool_calls": [begun]}), Value::Null);
        reply.calls += 1;
        reply.delta(json!({"tool_calls": [{"index": index, "function": {"arguments": rest}}]}), Value::Null)
    }

    /// Ends the answer: the reason, the count of tokens, and the last line.
    pub fn finish(self, reason: &str) -> Self {
        let finished = self.delta(json!({}), json!(reason)).chunk(json!({"choices": [], "usage": usage()}));
        finished.raw("data: [DONE]\n\n")
    }

    fn delta(self, delta: Value, finish_reason: Value) -> Self {
        self.chunk(json!({"choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]}))
    }

    /// Adds a chunk.
    pub fn chunk(self, fields: Value) -> Self {
        let mut chunk = json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "scripted"});
        chunk.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        self.raw(&format!("data: {chunk}\n\n"))
    }

    /// Adds bytes as they are.
    pub fn raw(mut self, text: &str) -> Self {
        self.pieces.push(Piece::Bytes(text.as_bytes().to_vec()));
        self
    }

    pub fn pause(mut self, time: Duration) -> Self {
        self.pieces.push(Piece::Pause(time));
        self
    }

    /// The rest comes when the gate is open.
    pub fn wait(mut self, gate: &Gate) -> Self {
        self.pieces.push(Piece::Wait(gate.clone()));
        self
    }

    /// The connection ends here, in the middle of the body.
    pub fn break_off(mut self) -> Self {
        self.pieces.push(Piece::Break);
        self
    }
}

/// What every answer of the server costs.
fn usage() -> Value {
    json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15})
}

type Responder = dyn Fn(&Received) -> ModelReply + Send + Sync;

struct State {
    script: VecDeque<ModelReply>,
    otherwise: Arc<Responder>,
    asked: Vec<Received>,
    clients_that_left: usize,
}

impl Default for State {
    fn default() -> Self {
        Self {
            script: VecDeque::new(),
            otherwise: Arc::new(|_| ModelReply::with(500, "the script is over")),
            asked: Vec::new(),
            clients_that_left: 0,
        }
    }
}

type Shared = Arc<Mutex<State>>;

#[derive(Clone)]
pub struct ModelServer {
    url: String,
    state: Shared,
    /// The scripts of models with a name of their own.
    named: Arc<Mutex<HashMap<String, Shared>>>,
}

impl ModelServer {
    pub fn start() -> Self {
        let (state, named) = (Shared::default(), Arc::<Mutex<HashMap<String, Shared>>>::default());
        let (unnamed, others) = (state.clone(), named.clone());
        let url = listen(move |stream| {
            let request = Received::read(&stream)?;
            let model = request.body["model"].as_str().unwrap_or_default();
            let state = others.lock().unwrap().get(model).unwrap_or(&unnamed).clone();
            serve(stream, request, &state)
        });
        Self { url: url + "/v1", state, named }
    }

    /// The same server, as requests for the model of this name see it: with a script of its own.
    pub fn named(&self, model: &str) -> Self {
        let state = Shared::default();
        self.named.lock().unwrap().insert(model.to_owned(), state.clone());
        Self { state, ..self.clone() }
    }

    /// The URL as settings have it, without the endpoint.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Adds an answer to the script.
    pub fn reply(&self, reply: ModelReply) {
        self.state.lock().unwrap().script.push_back(reply);
    }

    /// Answers this way from the end of the script on.
    pub fn otherwise(&self, respond: impl Fn(&Received) -> ModelReply + Send + Sync + 'static) {
        self.state.lock().unwrap().otherwise = Arc::new(respond);
    }

    pub fn asked(&self) -> Vec<Received> {
        self.state.lock().unwrap().asked.clone()
    }

    /// How often the server was asked.
    pub fn times_asked(&self) -> usize {
        self.state.lock().unwrap().asked.len()
    }

    /// The body of the last request.
    #[track_caller]
    pub fn last_asked(&self) -> Value {
        self.asked().last().expect("the model was asked").body.clone()
    }

    /// The messages of the last request.
    #[track_caller]
    pub fn last_messages(&self) -> Vec<Value> {
        self.last_asked()["messages"].as_array().unwrap().clone()
    }

    /// How many clients left while their answer waited at a gate.
    pub fn clients_that_left(&self) -> usize {
        self.state.lock().unwrap().clients_that_left
    }
}

/// Whether the roles of the messages have the order that strict servers ask for: the user and the assistant in turns, the
/// results of all calls right after them, and no word of the user right after a result.
fn is_in_order(messages: &Value) -> bool {
    let mut messages = messages.as_array().into_iter().flatten().peekable();
    messages.next_if(|it| it["role"] == "system");
    let mut before = "assistant";
    while let Some(message) = messages.next() {
        let role = message["role"].as_str().unwrap_or_default();
        let follows = match role {
            "user" => before == "assistant",
            "assistant" => before == "user" || before == "tool",
            _ => false,
        };
        if !follows {
            return false;
        }
        before = role;
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            if messages.next_if(|it| it["role"] == "tool" && it["tool_call_id"] == call["id"]).is_none() {
                return false;
            }
            before = "tool";
        }
    }
    before != "assistant"
}

fn serve(mut stream: TcpStream, request: Received, state: &Mutex<State>) -> Option<()> {
    let reply = {
        let mut state = state.lock().unwrap();
        state.asked.push(request.clone());
        match (request.method.as_str(), request.path()) {
            ("POST", "/v1/chat/completions") if !is_in_order(&request.body["messages"]) => {
                Ok(ModelReply::with(400, "the roles of the messages are out of order"))
            }
            ("POST", "/v1/chat/completions") => state.script.pop_front().ok_or_else(|| state.otherwise.clone()),
            (_, path) => Ok(ModelReply::with(404, format!("nothing at {path}"))),
        }
    };
    let reply = reply.unwrap_or_else(|respond| respond(&request));
    let mut head = format!("HTTP/1.1 {} Status\r\nContent-Type: {}\r\n", reply.status, reply.content_type);
    for (name, value) in &reply.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).ok()?;
    for piece in reply.pieces {
        match piece {
            Piece::Bytes(bytes) if bytes.is_empty() => {}
            Piece::Bytes(bytes) => {
                stream.write_all(format!("{:x}\r\n", bytes.len()).as_bytes()).ok()?;
                stream.write_all(&bytes).ok()?;
                stream.write_all(b"\r\n").ok()?;
            }
            Piece::Pause(time) => thread::sleep(time),
            Piece::Wait(gate) => {
                if !stays(&stream, &gate) {
                    state.lock().unwrap().clients_that_left += 1;
                    return None;
                }
            }
            Piece::Break => return None,
        }
    }
    stream.write_all(b"0\r\n\r\n").ok()
}

/// Waits at the gate. Returns whether the client is still there when the gate opens.
fn stays(stream: &TcpStream, gate: &Gate) -> bool {
    let moment = Duration::from_millis(20);
    let moments = PATIENCE.as_millis() / moment.as_millis();
    stream.set_nonblocking(true).unwrap();
    for _ in 0..moments {
        let is_open = gate.wait(moment);
        // Nothing more is sent by a client that waits, so anything but "not yet" is the end of the connection.
        let is_there = matches!(stream.peek(&mut [0]), Err(error) if error.kind() == ErrorKind::WouldBlock);
        if !is_there || is_open {
            stream.set_nonblocking(false).unwrap();
            return is_there;
        }
    }
    false
}
