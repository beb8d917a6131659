//! Finds out which kind of MCP a process speaks, once for each process.
//!
//! Since 2026-07-28 there is no handshake, and a server answers `server/discover`. An older server answers with an error, or
//! not at all, and then gets the handshake of its time. A server that starts slowly may answer late, after it was given
//! both, so a late answer still counts if the handshake is refused.

use crate::connection::{Answer, Connection};
use crate::message::{Message, read};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

pub const MODERN_REVISION: &str = "2026-07-28";
const LEGACY_REVISION: &str = "2025-11-25";

/// The error codes that only a server of the modern kind has: a header that does not fit the body, a capability that the
/// client lacks, a revision that the server lacks.
pub const HEADER_MISMATCH: i64 = -32020;
pub const MISSING_CAPABILITY: i64 = -32021;
pub const UNSUPPORTED_REVISION: i64 = -32022;

/// How long a server may be silent after `server/discover` before it counts as an old one.
const SILENCE: Duration = Duration::from_secs(3);
/// How long an answer to `server/discover` may still take after the handshake was refused.
const LATE: Duration = Duration::from_secs(1);

/// Which kind of MCP a process speaks.
pub enum Era {
    /// With the revisions that the server names.
    Modern { supported: Vec<String> },
    /// With the result of the handshake, and the name of the session that the bridge makes of it.
    Legacy { initialized: Box<RawValue> },
}

#[derive(Debug, PartialEq)]
pub enum HandshakeFailure {
    /// The process ended, or its pipe broke.
    Ended,
    /// The process ended when it was asked for the modern kind.
    EndedWhenProbed,
    /// The server refused the handshake, with these words.
    Refused(String),
}

pub async fn find_era(connection: &Arc<Connection>, probe: bool) -> Result<Era, HandshakeFailure> {
    let mut late = None;
    if probe {
        let mut discovered = ask(connection, "server/discover", json!({"_meta": meta()}))?;
        match timeout(SILENCE, discovered.wait()).await {
            Ok(Ok(answer)) => {
                if let Some(era) = modern(&answer) {
                    return Ok(era);
                }
            }
            Ok(Err(_)) => return Err(HandshakeFailure::EndedWhenProbed),
            Err(_) => late = Some(discovered),
        }
    }
    let client = json!({"name": "pegboard", "version": env!("CARGO_PKG_VERSION")});
    let params = json!({"protocolVersion": LEGACY_REVISION, "capabilities": {}, "clientInfo": client});
    let answer = ask(connection, "initialize", params)?.wait().await.map_err(|_| HandshakeFailure::Ended)?;
    if let Some(result) = answer.get("result") {
        let told = Message::new("notifications/initialized", &json!({}));
        connection.notify(&told).map_err(|_| HandshakeFailure::Ended)?;
        return Ok(Era::Legacy { initialized: result.to_owned() });
    }
    let discovered = match &mut late {
        Some(late) => timeout(LATE, late.wait()).await.ok().and_then(Result::ok),
        None => None,
    };
    discovered.as_ref().and_then(modern).ok_or_else(|| {
        let words = answer.get("error").and_then(read::<RpcError>).map(|it| it.message);
        HandshakeFailure::Refused(words.unwrap_or_default())
    })
}

/// What a client says about itself in each request of the modern kind.
fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": MODERN_REVISION,
        "io.modelcontextprotocol/clientInfo": {"name": "pegboard", "version": env!("CARGO_PKG_VERSION")},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

fn ask(connection: &Arc<Connection>, method: &str, params: Value) -> Result<Answer, HandshakeFailure> {
    // An old server would not know which request is meant by a cancellation.
    connection
        .request(Message::new(method, &params))
        .map(Answer::without_cancelling)
        .map_err(|_| HandshakeFailure::Ended)
}

#[derive(Deserialize)]
struct RpcError {
    code: i64,
    #[serde(default)]
    message: String,
}

#[derive(Deserialize)]
struct Discovered {
    #[serde(rename = "supportedVersions")]
    supported_versions: Vec<String>,
}

/// What an answer to `server/discover` says, if only a server of the modern kind could say it.
fn modern(answer: &Message) -> Option<Era> {
    if let Some(result) = answer.get("result") {
        let supported = read::<Discovered>(result)?.supported_versions;
        return supported.iter().any(|it| it == MODERN_REVISION).then_some(Era::Modern { supported });
    }
    let error = answer.get("error").and_then(read::<RpcError>)?;
    let is_modern = matches!(error.code, HEADER_MISMATCH | MISSING_CAPABILITY);
    is_modern.then(|| Era::Modern { supported: vec![MODERN_REVISION.to_owned()] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::Future;

    /// A process that answers each request with what the closure says, or stays silent.
    async fn with_process<T>(
        answers: impl Fn(&Value) -> Option<Value> + Send + 'static,
        asks: impl AsyncFnOnce(Arc<Connection>) -> T,
    ) -> T {
        let (connection, mut queued) = Connection::new();
        let process = connection.clone();
        let answering: std::pin::Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(async move {
            let mut held = Vec::new();
            while let Some(line) = queued.recv().await {
                let asked: Value = serde_json::from_slice(&line).unwrap();
                let Some(mut answer) = answers(&asked) else {
                    held.push(asked);
                    continue;
                };
                answer["id"] = asked["id"].clone();
                process.receive(answer.to_string().as_bytes());
                // A slow server answers all at once.
                for mut late in
                    held.drain(..).filter_map(|asked| Some((answers(&json!({"late": asked["method"]}))?, asked)))
                {
                    late.0["id"] = late.1["id"].clone();
                    process.receive(late.0.to_string().as_bytes());
                }
            }
        });
        tokio::spawn(answering);
        asks(connection).await
    }

    async fn era_of(answers: impl Fn(&Value) -> Option<Value> + Send + 'static) -> Result<String, HandshakeFailure> {
        let era = with_process(answers, async |connection| find_era(&connection, true).await).await?;
        Ok(match era {
            Era::Modern { supported } => format!("modern {}", supported.join(" ")),
            Era::Legacy { initialized } => format!("legacy {}", initialized.get()),
        })
    }

    fn discovered() -> Option<Value> {
        Some(json!({"result": {"supportedVersions": ["2026-07-28", "2025-11-25"]}}))
    }

    #[tokio::test(start_paused = true)]
    async fn eras_are_found_by_what_a_server_answers() {
        let found = era_of(|asked| (asked["method"] == "server/discover").then(discovered).flatten()).await;
        assert_eq!(found.unwrap(), "modern 2026-07-28 2025-11-25");
        let old = |asked: &Value| match asked["method"].as_str() {
            Some("server/discover") => Some(json!({"error": {"code": -32601, "message": "unknown"}})),
            Some("initialize") => Some(json!({"result": {"protocolVersion": "2025-11-25"}})),
            _ => None,
        };
        assert_eq!(era_of(old).await.unwrap(), r#"legacy {"protocolVersion":"2025-11-25"}"#);
        let silent = |asked: &Value| (asked["method"] == "initialize").then(|| json!({"result": 1}));
        assert_eq!(era_of(silent).await.unwrap(), "legacy 1");
    }

    #[tokio::test(start_paused = true)]
    async fn a_late_answer_counts_if_the_handshake_is_refused() {
        let slow = |asked: &Value| match (asked["method"].as_str(), asked["late"].as_str()) {
            (Some("initialize"), _) => Some(json!({"error": {"code": -32022, "message": "modern alone"}})),
            (_, Some("server/discover")) => discovered(),
            _ => None,
        };
        assert_eq!(era_of(slow).await.unwrap(), "modern 2026-07-28 2025-11-25");
        let never =
            |asked: &Value| (asked["method"] == "initialize").then(|| json!({"error": {"code": 1, "message": "no"}}));
        assert_eq!(era_of(never).await, Err(HandshakeFailure::Refused("no".into())));
    }
}
