//! MCP servers of others, whose tools are tools of the workspace. The servers here are real servers.

mod backup;
mod calls;
mod content;
mod discovery;
mod held_back;
mod hostile;
mod oversight;
mod policy;
mod sessions;
mod settings;

use crate::harness::{Client, McpPeer};
use serde_json::{Value, json};

/// A tool that takes any object.
fn tool(name: &str) -> Value {
    json!({"name": name, "description": "A tool", "inputSchema": {"type": "object"}})
}

/// Registers a server whose tools run without an approval, and returns it.
fn register(client: &Client, id: &str, peer: &McpPeer) -> Value {
    register_with(client, id, peer, json!({"requires_approval": false, "risk_level": "low"}))
}

/// Registers a server with further fields, and returns it.
fn register_with(client: &Client, id: &str, peer: &McpPeer, more: Value) -> Value {
    let transport = if peer.url().ends_with("/sse") { "sse" } else { "streamable-http" };
    let mut given = json!({"id": id, "url": peer.url(), "transport": transport});
    given.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    client.post("/api/mcp-servers", given).created()
}

/// Discovers the server anew, and returns what was found.
fn refresh(client: &Client, id: &str) -> Value {
    client.post(&format!("/api/mcp-servers/{id}/refresh"), json!({})).ok()
}

/// The server `m`, which most tests have.
fn server(client: &Client) -> Value {
    client.get("/api/mcp-servers/m").ok()
}

/// The active version of a tool.
fn version(client: &Client, id: &str) -> String {
    client.get(&format!("/api/tools/{id}")).ok()["version"].as_str().unwrap().to_owned()
}
