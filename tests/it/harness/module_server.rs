//! A module: a small real HTTP server with `GET /manifest` and `POST /execute`. A test changes what it answers while it
//! runs. It keeps every request that it received.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// One request as it came in.
#[derive(Clone, Debug)]
pub struct Asked {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Value,
}

impl Asked {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_str())
    }
}

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
    asked: Vec<Asked>,
}

#[derive(Clone)]
pub struct ModuleServer {
    url: String,
    state: Arc<Mutex<State>>,
}

impl ModuleServer {
    /// Starts a module with these tools.
    pub fn start(tools: Value) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let reply = Reply::With(200, json!({"tools": tools}).to_string());
        let state = Arc::new(Mutex::new(State { reply, asked: Vec::new() }));
        let shared = state.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = shared.clone();
                thread::spawn(move || serve(stream, &shared));
            }
        });
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

    pub fn asked(&self) -> Vec<Asked> {
        self.state.lock().unwrap().asked.clone()
    }

    /// How often the module was asked for its manifest.
    pub fn times_asked(&self) -> usize {
        self.asked().iter().filter(|it| it.method == "GET").count()
    }
}

/// Serves one request. A broken connection is no failure: the client may have given up.
fn serve(mut stream: TcpStream, state: &Mutex<State>) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.push((name.to_ascii_lowercase(), value.to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length").map_or(Some(0), |it| it.1.parse().ok())?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let reply = {
        let mut state = state.lock().unwrap();
        state.asked.push(Asked { method: method.clone(), path: path.clone(), headers, body: body.clone() });
        state.reply.clone()
    };
    let reply = match (method.as_str(), path.as_str()) {
        ("POST", "/execute") => executed(&body),
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
        "crash" => Reply::With(500, "Internal Server Error".to_owned()),
        "number" => Reply::With(200, "7".to_owned()),
        "hang_up" => Reply::HangUp,
        "half" => Reply::Half("{".to_owned()),
        "slow" => Reply::Silence(Duration::from_secs(4)),
        "redirect" => Reply::With(302, String::new()),
        _ => answer(true, json!({"got": call["arguments"]}), Value::Null),
    }
}
