//! The MCP endpoint of one server: Streamable HTTP in the form that fits what the server itself speaks.

use crate::connection::NotSent;
use crate::error::Refusal;
use crate::handshake::{Era, MODERN_REVISION, UNSUPPORTED_REVISION};
use crate::message::{Message, MessageKind, read};
use crate::process::Process;
use crate::reply;
use crate::server::Server;
use crate::servers::Servers;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// The largest message of a client.
pub const MAX_BYTES: usize = 16 * 1024 * 1024;
const SESSION: &str = "mcp-session-id";
const REVISION: &str = "mcp-protocol-version";
const RETRY: Duration = Duration::from_secs(1);

pub async fn post(
    servers: &Arc<Servers>,
    server: &Arc<Server>,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Response, Refusal> {
    let bad = |code, words: &str| Ok(reply::error(StatusCode::BAD_REQUEST, None, code, words, &Value::Null));
    let message = match Message::parse(body) {
        Ok(message) => message,
        Err(words) => return bad(reply::PARSE_ERROR, &words),
    };
    let Some(kind) = message.kind() else { return bad(reply::INVALID_REQUEST, "this is no JSON-RPC message") };
    let session = headers.get(SESSION);
    // A session ends with its process, so that an unknown session needs no process to be told so.
    if let Some(session) = session
        && !server.ready_process().is_some_and(|it| is_session(&it, session))
    {
        let words = "Session not found: the server was started again";
        return Ok(reply::error(StatusCode::NOT_FOUND, message.id(), reply::UNKNOWN_SESSION, words, &Value::Null));
    }
    let method = match kind {
        // The bridge answers what the process asks, so no client has anything to answer.
        MessageKind::Response => return Ok(reply::accepted()),
        MessageKind::Notification { method } => return notification(server, &message, &method),
        MessageKind::Request { method } => method,
    };
    let process = server.ready(servers).await?;
    match process.era.get() {
        Some(Era::Modern { supported }) => modern(&process, supported, message, &method).await,
        Some(Era::Legacy { initialized }) => {
            let is_modern = is_modern(headers, &message);
            let session = session.is_some_and(|it| is_session(&process, it));
            legacy(&process, initialized, message, &method, is_modern, session).await
        }
        None => Err(Refusal::later("The server is not ready", RETRY)),
    }
}

fn is_session(process: &Process, session: &HeaderValue) -> bool {
    matches!(process.era.get(), Some(Era::Legacy { .. })) && session.as_bytes() == process.id.as_bytes()
}

/// Whether a request states its revision itself, as requests do since 2026-07-28.
fn is_modern(headers: &HeaderMap, message: &Message) -> bool {
    #[derive(Deserialize)]
    struct Params {
        #[serde(rename = "_meta")]
        meta: Option<Meta>,
    }
    #[derive(Deserialize)]
    struct Meta {
        #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
        revision: Option<Value>,
    }
    let stated = message.get("params").and_then(read::<Params>).and_then(|it| it.meta).and_then(|it| it.revision);
    stated.is_some() || headers.get(REVISION).is_some_and(|it| it == MODERN_REVISION)
}

/// A notification never starts a process: without one, there is nobody to be told.
fn notification(server: &Server, message: &Message, method: &str) -> Result<Response, Refusal> {
    let Some(process) = server.ready_process() else { return Ok(reply::accepted()) };
    match method {
        // The bridge has said so itself.
        "notifications/initialized" => {}
        "notifications/cancelled" => {
            #[derive(Deserialize)]
            struct Cancelled<'a> {
                #[serde(borrow, rename = "requestId")]
                request_id: &'a RawValue,
            }
            if let Some(cancelled) = message.get("params").and_then(read::<Cancelled<'_>>) {
                process.connection.cancel(cancelled.request_id);
            }
        }
        _ => process.connection.notify(message).map_err(|it| not_sent(&it))?,
    }
    Ok(reply::accepted())
}

async fn modern(
    process: &Arc<Process>,
    supported: &[String],
    message: Message,
    method: &str,
) -> Result<Response, Refusal> {
    match method {
        "initialize" => {
            let words = "This server speaks revisions without a handshake alone";
            let data = json!({"supported": supported});
            Ok(reply::error(StatusCode::BAD_REQUEST, message.id(), UNSUPPORTED_REVISION, words, &data))
        }
        // It would be answered by notifications without an end, which have no way to the client.
        "subscriptions/listen" => {
            let words = "The host has no streams of notifications";
            Ok(reply::error(StatusCode::NOT_FOUND, message.id(), reply::METHOD_NOT_FOUND, words, &Value::Null))
        }
        _ => Ok(reply::modern(&forward(process, message).await?)),
    }
}

async fn legacy(
    process: &Arc<Process>,
    initialized: &RawValue,
    message: Message,
    method: &str,
    is_modern: bool,
    session: bool,
) -> Result<Response, Refusal> {
    if is_modern {
        let words = "This server needs a handshake: send initialize";
        return Ok(reply::error(StatusCode::BAD_REQUEST, message.id(), reply::NO_SESSION, words, &Value::Null));
    }
    if method == "initialize" {
        let id = message.id().map(ToOwned::to_owned).unwrap_or_default();
        let mut response = reply::legacy(&Message::result(&id, initialized));
        if let Ok(session) = HeaderValue::from_str(&process.id) {
            response.headers_mut().insert(SESSION, session);
        }
        return Ok(response);
    }
    if !session {
        let words = "Mcp-Session-Id is missing: send initialize first";
        return Ok(reply::error(StatusCode::BAD_REQUEST, message.id(), reply::NO_SESSION, words, &Value::Null));
    }
    Ok(reply::legacy(&forward(process, message).await?))
}

/// Sends a request to the process, once, and returns the answer under the client's own id.
async fn forward(process: &Arc<Process>, message: Message) -> Result<Message, Refusal> {
    let id = message.id().map(ToOwned::to_owned).unwrap_or_default();
    let mut answer = process.connection.request(message).map_err(|it| not_sent(&it))?;
    match answer.wait().await {
        Ok(answer) => Ok(answer.with_id(id)),
        Err(_) => {
            let ended = process.end().await;
            Err(Refusal::Ended { words: ended.words, stderr: ended.stderr })
        }
    }
}

fn not_sent(why: &NotSent) -> Refusal {
    match why {
        NotSent::Full => Refusal::later("Too many requests wait for this server: try again", RETRY),
        NotSent::Closed => Refusal::later("The server is being stopped: try again", RETRY),
    }
}
