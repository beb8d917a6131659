//! An MCP server of somebody else: a small real HTTP server that behaves, until a test scripts what it answers to a
//! JSON-RPC method. It keeps every request that it received.
//!
//! A peer speaks one era: 2026-07-28 without sessions, 2025-11-25 with sessions at any path, or 2024-11-05, whose answers
//! come on the stream of `GET /sse`.

use super::received::{Received, listen};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

pub const MODERN: &str = "2026-07-28";
pub const LEGACY: &str = "2025-11-25";
pub const SSE: &str = "2024-11-05";

/// How long a peer waits for a client that does not leave.
const LONGEST_WAIT: Duration = Duration::from_secs(45);

/// What the peer answers to one message.
#[derive(Clone)]
pub enum PeerReply {
    /// The result, in the envelope of the request's id.
    Result(Value),
    /// The error of this code and message, with the status 200.
    Error(i64, &'static str),
    /// A status and a JSON body, as they are.
    Json(u16, Value),
    /// A status and any bytes that claim to be JSON.
    Bytes(u16, Vec<u8>),
    /// A stream with these events, each with its fields as they are, e.g. `data: {}`. Then the stream ends.
    Events(Vec<String>),
    /// The answer after some time.
    Late(Duration, Box<PeerReply>),
    /// Nothing, for this long. Then the connection is closed.
    Silence(Duration),
    /// Nothing, until the client leaves. The peer then has received a request with the method `LEFT`.
    UntilLeft,
    /// The connection is closed at once.
    HangUp,
    /// Half of the body that Content-Length promises.
    Half(String),
    /// A status with a Location.
    Redirect(String),
}

impl PeerReply {
    /// A stream of whole messages.
    pub fn messages(messages: &[Value]) -> Self {
        Self::Events(messages.iter().map(|it| format!("event: message\ndata: {it}")).collect())
    }
}

/// The message that answers a request, for a stream.
pub fn answer_to(request: &Received, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": request.body["id"], "result": result})
}

type Script = Arc<dyn Fn(&Received) -> PeerReply + Send + Sync>;

struct State {
    revision: &'static str,
    tools: Value,
    scripts: HashMap<String, Script>,
    received: Vec<Received>,
    /// Whether ordinary answers come as streams.
    streams: bool,
    sessions: Vec<String>,
    opened: usize,
    /// The status of a request with a session that is not known.
    unknown_session: u16,
    /// The streams of `GET /sse`, by their sessions.
    open_streams: HashMap<String, TcpStream>,
}

#[derive(Clone)]
pub struct McpPeer {
    url: String,
    state: Arc<Mutex<State>>,
}

impl McpPeer {
    /// Starts a server of this revision with these tools. A call returns its arguments, as a text and structured.
    pub fn start(revision: &'static str, tools: Value) -> Self {
        let state = Arc::new(Mutex::new(State {
            revision,
            tools,
            scripts: HashMap::new(),
            received: Vec::new(),
            streams: false,
            sessions: Vec::new(),
            opened: 0,
            unknown_session: 404,
            open_streams: HashMap::new(),
        }));
        let shared = state.clone();
        let url = listen(move |stream| serve(stream, &shared));
        Self { url: format!("{url}{}", if revision == SSE { "/sse" } else { "/mcp" }), state }
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// From now on the peer offers these tools.
    pub fn offer(&self, tools: Value) {
        self.state.lock().unwrap().tools = tools;
    }

    /// From now on messages of this method are answered so. The methods `GET` and `DELETE` are the requests of HTTP.
    pub fn on(&self, method: &str, reply: impl Fn(&Received) -> PeerReply + Send + Sync + 'static) {
        self.state.lock().unwrap().scripts.insert(method.to_owned(), Arc::new(reply));
    }

    /// From now on the peer behaves again.
    pub fn behave(&self) {
        self.state.lock().unwrap().scripts.clear();
    }

    /// From now on ordinary answers come as streams.
    pub fn stream(&self) {
        self.state.lock().unwrap().streams = true;
    }

    /// The peer forgets its sessions. Requests of theirs get this status.
    pub fn forget_sessions(&self, status: u16) {
        let mut state = self.state.lock().unwrap();
        state.sessions.clear();
        state.unknown_session = status;
    }

    pub fn received(&self) -> Vec<Received> {
        self.state.lock().unwrap().received.clone()
    }

    /// The messages of this method that the peer received.
    pub fn asked(&self, method: &str) -> Vec<Received> {
        self.received().into_iter().filter(|it| it.body["method"] == method).collect()
    }
}

/// Serves one request. A broken connection is no failure: the client may have given up.
fn serve(mut stream: TcpStream, state: &Mutex<State>) -> Option<()> {
    let request = Received::read(&stream)?;
    let method = if request.method == "POST" { request.body["method"].as_str() } else { Some(request.method.as_str()) };
    // An answer of the client to a request of the server has no method.
    let method = method.unwrap_or_default().to_owned();
    let (script, revision, streams) = {
        let mut state = state.lock().unwrap();
        state.received.push(request.clone());
        (state.scripts.get(&method).cloned(), state.revision, state.streams)
    };
    if revision == SSE && method == "GET" {
        return open_stream(stream, state);
    }
    let reply = match script {
        Some(script) => script(&request),
        None => ordinary(&method, &request, &mut state.lock().unwrap()),
    };
    if revision == SSE {
        stream.write_all(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").ok()?;
        let session = request.target.split_once("session=")?.1;
        let mut open = state.lock().unwrap().open_streams.get(session)?.try_clone().ok()?;
        return match whole(&request, reply)? {
            PeerReply::Json(_, message) => write!(open, "event: message\ndata: {message}\n\n").ok(),
            PeerReply::Events(events) => events.iter().try_for_each(|it| write!(open, "{it}\n\n").ok()),
            // A notification has no answer.
            PeerReply::Bytes(202, _) => Some(()),
            // Any other reply breaks the stream.
            _ => open.shutdown(std::net::Shutdown::Both).ok(),
        };
    }
    if matches!(reply, PeerReply::UntilLeft) {
        stream.set_read_timeout(Some(LONGEST_WAIT)).ok()?;
        // The end of the connection, or its reset.
        let has_left = match stream.read(&mut [0]) {
            Ok(bytes) => bytes == 0,
            Err(error) => error.kind() == ErrorKind::ConnectionReset,
        };
        if has_left {
            state.lock().unwrap().received.push(Received { method: "LEFT".to_owned(), body: Value::Null, ..request });
        }
        return Some(());
    }
    let session = (method == "initialize").then(|| state.lock().unwrap().sessions.last().cloned()).flatten();
    let reply = match whole(&request, reply)? {
        PeerReply::Json(200, message) if streams && request.body.get("id").is_some() => PeerReply::messages(&[message]),
        reply => reply,
    };
    stream.write_all(&bytes(reply, session)?).ok()
}

/// Opens the stream of 2024-11-05, and tells where to post.
fn open_stream(mut stream: TcpStream, state: &Mutex<State>) -> Option<()> {
    let session = open_session(&mut state.lock().unwrap());
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
    write!(stream, "{head}event: endpoint\ndata: /message?session={session}\n\n").ok()?;
    state.lock().unwrap().open_streams.insert(session, stream);
    Some(())
}

fn open_session(state: &mut State) -> String {
    state.opened += 1;
    let session = format!("session-{}", state.opened);
    state.sessions.push(session.clone());
    session
}

/// The answer of a server that behaves.
fn ordinary(method: &str, request: &Received, state: &mut State) -> PeerReply {
    let modern = state.revision == MODERN;
    let known =
        |state: &State| request.header("mcp-session-id").is_some_and(|it| state.sessions.iter().any(|own| own == it));
    match method {
        "server/discover" if modern => {
            PeerReply::Result(json!({"resultType": "complete", "supportedVersions": [MODERN],
            "capabilities": {"tools": {}}, "serverInfo": {"name": "peer", "version": "1.0.0"}, "ttlMs": 0, "cacheScope": "private"}))
        }
        "initialize" if !modern => {
            if state.revision == LEGACY {
                open_session(state);
            }
            PeerReply::Result(json!({"protocolVersion": state.revision, "capabilities": {"tools": {}},
                "serverInfo": {"name": "peer", "version": "1.0.0"}}))
        }
        "GET" => PeerReply::Bytes(405, Vec::new()),
        _ if state.revision == LEGACY && request.header("mcp-session-id").is_none() => PeerReply::Json(
            400,
            json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": "Bad Request: Server not initialized"}}),
        ),
        _ if state.revision == LEGACY && !known(state) => PeerReply::Json(
            state.unknown_session,
            json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": "Bad Request: No valid session ID provided"}}),
        ),
        "DELETE" => PeerReply::Bytes(204, Vec::new()),
        // Notifications, and answers to requests of the server.
        _ if request.body.get("id").is_none() || method.is_empty() => PeerReply::Bytes(202, Vec::new()),
        "ping" => PeerReply::Result(json!({})),
        "tools/list" => PeerReply::Result(
            json!({"tools": state.tools, "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "peer", "version": "1.0.0"}}}),
        ),
        "tools/call" => {
            let arguments = &request.body["params"]["arguments"];
            PeerReply::Result(json!({"content": [{"type": "text", "text": arguments.to_string()}],
                "structuredContent": arguments, "resultType": "complete"}))
        }
        _ => PeerReply::Json(
            404,
            json!({"jsonrpc": "2.0", "id": request.body["id"],
            "error": {"code": -32601, "message": "Method not found"}}),
        ),
    }
}

/// Waits if the reply is late, and puts a result or an error into its envelope. None if there is nothing to send.
fn whole(request: &Received, reply: PeerReply) -> Option<PeerReply> {
    match reply {
        PeerReply::Result(result) => Some(PeerReply::Json(200, answer_to(request, result))),
        PeerReply::Error(code, message) => {
            let error = json!({"code": code, "message": message});
            Some(PeerReply::Json(200, json!({"jsonrpc": "2.0", "id": request.body["id"], "error": error})))
        }
        PeerReply::Late(time, reply) => {
            thread::sleep(time);
            whole(request, *reply)
        }
        PeerReply::Silence(time) => {
            thread::sleep(time);
            None
        }
        PeerReply::HangUp | PeerReply::UntilLeft => None,
        reply => Some(reply),
    }
}

/// The reply as HTTP.
fn bytes(reply: PeerReply, session: Option<String>) -> Option<Vec<u8>> {
    let session = session.map(|it| format!("Mcp-Session-Id: {it}\r\n")).unwrap_or_default();
    let with = |status: u16, kind: &str, length: String, body: &[u8]| {
        let head =
            format!("HTTP/1.1 {status} Status\r\nContent-Type: {kind}\r\n{length}{session}Connection: close\r\n\r\n");
        [head.as_bytes(), body].concat()
    };
    let sized = |length: usize| format!("Content-Length: {length}\r\n");
    Some(match reply {
        PeerReply::Json(status, body) => {
            let body = body.to_string();
            with(status, "application/json", sized(body.len()), body.as_bytes())
        }
        PeerReply::Bytes(status, body) => with(status, "application/json", sized(body.len()), &body),
        PeerReply::Events(events) => {
            let body = events.iter().map(|it| format!("{it}\n\n")).collect::<String>();
            with(200, "text/event-stream", String::new(), body.as_bytes())
        }
        PeerReply::Half(body) => with(200, "application/json", sized(body.len() * 2), body.as_bytes()),
        PeerReply::Redirect(to) => with(302, "text/plain", format!("Content-Length: 0\r\nLocation: {to}\r\n"), b""),
        PeerReply::Result(_)
        | PeerReply::Error(..)
        | PeerReply::Late(..)
        | PeerReply::Silence(_)
        | PeerReply::UntilLeft
        | PeerReply::HangUp => {
            return None;
        }
    })
}
