//! What the client remembers of a server between two requests of the Worker, so that a call needs no handshake.

use crate::text_enum::text_enum;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The session is a secret: whoever has it acts in the session. The keeper of the memory seals it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PeerMemory {
    pub era: PeerEra,
    /// The revision that client and server agreed on.
    pub revision: String,
    /// The session that the server gave, if its era has sessions and the server uses them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The server's name and version, in its own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_info: Option<Value>,
}

text_enum! {
    /// How a server is spoken to.
    PeerEra {
        /// Since 2026-07-28: no handshake, and each request tells its revision.
        Modern = "modern",
        /// 2025-03-26 to 2025-11-25: a handshake, and perhaps a session.
        Legacy = "legacy",
        /// 2024-11-05: a handshake on a stream of events, which one Worker request opens and closes.
        EventStream = "event_stream",
    }
}
