//! A module: a small real HTTP server with `GET /manifest` and `POST /execute`. A test changes what it answers while it
//! runs. It keeps every request that it received.

use super::received::{Received, listen};
use serde_json::{Value, json};
use std::io::Write;
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// What the module answers to a GET.
#[derive(Clone)]
pub enum Reply {
    /// A status and a body.
    With(u16, String),
    /// Nothing, for this long. Then the connection is closed.
    Silence(Duration),
    /// The connection is closed at once.
    HangUp,
    /// Half of the body that Content-Length promises.
    Half(String),
    /// A body after some time.
    Late(Duration, String),
}

struct State {
    reply: Reply,
    asked: Vec<Received>,
}

#[derive(Clone)]
pub struct ModuleServer {
    url: String,
    state: Arc<Mutex<State>>,
}

impl ModuleServer {
    /// Starts a module with these tools.
    pub fn start(tools: Value) -> Self {
        let reply = Reply::With(200, json!({"tools": tools}).to_string());
        let state = Arc::new(Mutex::new(State { reply, asked: Vec::new() }));
        let shared = state.clone();
        let url = listen(move |stream| serve(stream, &shared));
        Self { url, state }
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// From now on the module offers these tools.
    pub fn offer(&self, tools: Value) {
        self.reply(Reply::With(200, json!({"tools": tools}).to_string()));
    }

    /// From now on the module answers this to a GET.
    pub fn reply(&self, reply: Reply) {
        self.state.lock().unwrap().reply = reply;
    }

    pub fn asked(&self) -> Vec<Received> {
        self.state.lock().unwrap().asked.clone()
    }

    /// How often the module was asked for its manifest.
    pub fn times_asked(&self) -> usize {
        self.asked().iter().filter(|it| it.method == "GET").count()
    }
}

/// Serves one request. A broken connection is no failure: the client may have given up.
fn serve(mut stream: TcpStream, state: &Mutex<State>) -> Option<()> {
    let request = Received::read(&stream)?;
    let reply = {
        let mut state = state.lock().unwrap();
        state.asked.push(request.clone());
        state.reply.clone()
    };
    let (method, path) = (request.method.as_str(), request.path());
    let reply = match (method, path) {
        ("POST", "/execute") => executed(&request.body),
        ("GET", "/manifest") => reply,
        _ => Reply::With(404, format!("nothing at {path}")),
    };
    let head = |status: u16, length: usize| {
        let more = if status == 302 { "Location: /manifest\r\n" } else { "" };
        format!("HTTP/1.1 {status} Status\r\n{more}Content-Length: {length}\r\nConnection: close\r\n\r\n")
    };
    let answer = match reply {
        Reply::With(status, text) => head(status, text.len()) + &text,
        Reply::Silence(time) => {
            thread::sleep(time);
            return None;
        }
        Reply::HangUp => return None,
        Reply::Half(text) => head(200, text.len() * 2) + &text,
        Reply::Late(time, text) => {
            thread::sleep(time);
            head(200, text.len()) + &text
        }
    };
    stream.write_all(answer.as_bytes()).ok()
}

/// The module's answer to a call. It depends on the name of the tool.
fn executed(call: &Value) -> Reply {
    let name = call["tool_name"].as_str().unwrap_or_default();
    let answer = |success: bool, result: Value, error: Value| {
        Reply::With(200, json!({"tool_name": name, "success": success, "result": result, "error": error}).to_string())
    };
    match name.rsplit('.').next().unwrap_or_default() {
        "fail" => answer(false, Value::Null, json!("No such page")),
        // A failure that says much, with a secret in the middle of it.
        "verbose" => {
            let long = "y".repeat(3_000_000);
            answer(false, json!({"token": "s3cret-token", "text": long}), json!("The token s3cret-token is stale"))
        }
        "long_winded" => answer(false, Value::Null, json!("z".repeat(3_000_000))),
        "crash" => Reply::With(500, "Internal Server Error".to_owned()),
        "number" => Reply::With(200, "7".to_owned()),
        "hang_up" => Reply::HangUp,
        "half" => Reply::Half("{".to_owned()),
        "slow" => Reply::Silence(Duration::from_secs(4)),
        "redirect" => Reply::With(302, String::new()),
        _ => answer(true, json!({"got": call["arguments"]}), Value::Null),
    }
}
