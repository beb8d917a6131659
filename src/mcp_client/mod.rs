//! The MCP client: asks the MCP servers of others for their tools, and calls them. It speaks every revision from
//! 2024-11-05 on, and finds out by itself which one a server speaks.
//!
//! The room knows no database, no caller and no settings. Whoever asks brings the server's checked URL and headers, keeps
//! what the client remembers of the server ([`PeerMemory`]), and decides what a failure means.

mod body;
mod calling;
mod conversation;
mod event_stream;
mod exchange;
mod failure;
mod legacy;
mod link;
mod listing;
mod memory;
mod modern;
mod network;
mod peer;
mod question;
mod revisions;
#[cfg(test)]
mod scripted;
#[cfg(test)]
mod tests;

pub use crate::mcp_protocol::fault_of_param_headers;
pub use failure::{ClientFailure, FailureCause, tells_unknown_tool};
#[cfg(test)]
pub use memory::PeerEra;
pub use memory::PeerMemory;
pub use peer::{McpPeer, McpTransport};

use crate::mcp_protocol::CallToolResult;
use conversation::Conversation;
use exchange::Exchange;
use network::Network;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::time::Duration;

/// How long a server may take to end a session.
const END_TIME: Duration = Duration::from_secs(2);

/// What came of a question, and what is to be remembered of the server from now on, even if the question failed.
pub struct PeerAnswer<T> {
    pub outcome: Result<T, ClientFailure>,
    pub memory: Option<PeerMemory>,
}

/// All pages of a server's list of tools.
#[derive(Debug, Default)]
pub struct ToolListing {
    /// Each tool's JSON to the letter.
    pub tools: Vec<Box<RawValue>>,
    /// For how long the list may be used, if the server says so.
    pub ttl_ms: Option<u64>,
}

/// One call of a tool.
#[derive(Clone, Copy)]
pub struct ToolCall<'a> {
    /// The tool's name on its server.
    pub name: &'a str,
    pub arguments: &'a Map<String, Value>,
    /// The schema of the arguments, as the server listed it. It may name headers that repeat an argument.
    pub schema: &'a Value,
}

/// Asks a server for its tools. `time` covers everything: the handshake, all pages, and coming back to a stream.
pub async fn list_tools(peer: &McpPeer<'_>, memory: Option<PeerMemory>, time: Duration) -> PeerAnswer<ToolListing> {
    let network = Network::to(peer);
    let mut talk = Conversation::new(&network, peer.transport, peer.turn, memory);
    let done = network.within(time, listing::list(&mut talk)).await;
    talk.end(done).await
}

/// Calls a tool, once. When `time` is over, the server is told that nobody waits for the result any more.
pub async fn call_tool(
    peer: &McpPeer<'_>,
    memory: Option<PeerMemory>,
    call: ToolCall<'_>,
    time: Duration,
) -> PeerAnswer<CallToolResult> {
    let network = Network::to(peer);
    let mut talk = Conversation::new(&network, peer.transport, peer.turn, memory);
    let done = network.within(time, calling::call(&mut talk, call)).await;
    talk.end(done).await
}

/// Ends the session with a server that is not asked any more. A server that does not answer keeps its session.
pub async fn end_session(peer: &McpPeer<'_>, memory: PeerMemory) {
    let network = Network::to(peer);
    let mut talk = Conversation::new(&network, peer.transport, peer.turn, Some(memory));
    network.within(END_TIME, talk.end_session()).await;
}
