//! The messages that the client sends.

use crate::json_object::JsonObject;
use crate::json_rpc::RpcId;
use crate::mcp_protocol::McpMethod;
use serde_json::{Map, Value, json};

/// A client takes an answer in both forms.
pub const ACCEPT_BOTH: &str = "application/json, text/event-stream";

/// The largest answer to a handshake.
pub const MAX_HANDSHAKE_BYTES: usize = 1024 * 1024;

/// What is asked, in any era.
pub struct Question {
    pub method: McpMethod,
    pub params: Map<String, Value>,
    /// The headers that repeat arguments since 2026-07-28.
    pub param_headers: Vec<(String, String)>,
    pub max_bytes: usize,
}

impl Question {
    /// Whether the question can have an effect, so that it must not be asked twice.
    pub fn is_call(&self) -> bool {
        self.method == McpMethod::CallTool
    }
}

/// A request of one era, with its id.
pub struct Words<'a> {
    pub id: RpcId,
    pub method: McpMethod,
    pub params: &'a Map<String, Value>,
    pub max_bytes: usize,
}

impl Words<'_> {
    pub fn write(&self) -> String {
        let mut message = JsonObject::new();
        message.text("jsonrpc", "2.0");
        message.put("id", &self.id.to_string());
        message.text("method", self.method.as_str());
        message.put("params", &JsonObject::of(self.params).finish());
        message.finish()
    }
}

/// The client's name and version, as MCP's `Implementation`.
pub fn client_info() -> Value {
    json!({"name": "pegboard", "title": "Pegboard", "version": env!("CARGO_PKG_VERSION")})
}

/// The parameters of a handshake. The client offers nothing of its own.
pub fn handshake_params(revision: &str) -> Map<String, Value> {
    let capabilities = Value::Object(Map::new());
    [("protocolVersion", Value::from(revision)), ("capabilities", capabilities), ("clientInfo", client_info())]
        .map(|(name, value)| (name.to_owned(), value))
        .into_iter()
        .collect()
}

/// The notification that ends a handshake.
pub const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// The notification that a request's answer is not wanted any more.
pub fn cancellation(id: &RpcId) -> String {
    let mut params = JsonObject::new();
    params.put("requestId", &id.to_string());
    params.text("reason", "The time for the call is over");
    let mut message = JsonObject::new();
    message.text("jsonrpc", "2.0");
    message.text("method", "notifications/cancelled");
    message.put("params", &params.finish());
    message.finish()
}
