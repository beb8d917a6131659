//! The revisions that the client speaks after a handshake.

use super::failure::FailureCause;
use super::memory::{PeerEra, PeerMemory};
use crate::json_rpc::RpcError;
use serde::Deserialize;
use serde_json::Value;

/// The latest first.
pub const HANDSHAKE_REVISIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// The revisions that a server lists in its refusal of another one.
pub fn supported_in(error: &RpcError) -> Vec<String> {
    #[derive(Default, Deserialize)]
    struct Data {
        #[serde(default)]
        supported: Vec<String>,
    }
    // A refusal that lists nothing, or not texts, lists no revision.
    error.data.as_deref().and_then(|it| serde_json::from_str::<Data>(it).ok()).unwrap_or_default().supported
}

/// What the result of a handshake says.
pub fn agreed(result: &str, era: PeerEra, session: Option<String>) -> Result<PeerMemory, FailureCause> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Handshake {
        protocol_version: String,
        server_info: Option<Value>,
    }
    let handshake = serde_json::from_str::<Handshake>(result)
        .map_err(|cause| FailureCause::Protocol(format!("sent a handshake that cannot be read: {cause}")))?;
    let revision = handshake.protocol_version;
    if !HANDSHAKE_REVISIONS.contains(&revision.as_str()) {
        return Err(FailureCause::Protocol(format!("answered the handshake with the unknown revision {revision:?}")));
    }
    // The session travels in a header.
    if session
        .as_ref()
        .is_some_and(|it| it.is_empty() || it.len() > 4_096 || !it.bytes().all(|it| it.is_ascii_graphic()))
    {
        return Err(FailureCause::Protocol("gave a session id that cannot be sent back".to_owned()));
    }
    Ok(PeerMemory { era, revision, session, server_info: handshake.server_info })
}
