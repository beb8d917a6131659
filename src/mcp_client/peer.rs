//! The server that is asked, and how it is reached.

use crate::memory_turn::MemoryTurn;
use crate::outgoing::Route;
use std::collections::BTreeMap;

/// One MCP server, ready to be asked. Whoever makes it has checked the URL, and has filled in the headers.
pub struct McpPeer<'a> {
    pub url: &'a str,
    pub headers: &'a BTreeMap<String, String>,
    pub transport: McpTransport,
    /// The network, or the Durable Object of a bridge that speaks Streamable HTTP for a stdio server.
    pub route: Route<'a>,
    pub turn: &'a MemoryTurn,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum McpTransport {
    /// The client finds out which era the server speaks, 2024-11-05 with its event stream included.
    StreamableHttp,
    /// The transport of 2024-11-05: all answers come on one stream of events.
    Sse,
}
