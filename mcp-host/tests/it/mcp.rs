//! A client of one server behind a host.

use crate::host::{Host, Response};
use serde_json::{Value, json};

pub struct Mcp<'a> {
    pub host: &'a Host,
    pub key: String,
    pub hash: String,
    pub session: Option<String>,
}

/// The configuration of a server of `servers/hostile.py`.
pub fn hostile(name: &str) -> Value {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/servers/hostile.py");
    json!({"command": "python3", "args": [file, name]})
}

impl<'a> Mcp<'a> {
    /// Takes a configuration, and starts nothing.
    #[track_caller]
    pub fn new(host: &'a Host, key: &str, configuration: Value) -> Self {
        Self { host, key: key.into(), hash: host.put(key, configuration), session: None }
    }

    /// Also makes the handshake.
    #[track_caller]
    pub fn open(host: &'a Host, key: &str, configuration: Value) -> Self {
        let mut mcp = Self::new(host, key, configuration);
        mcp.initialize();
        mcp
    }

    #[track_caller]
    pub fn initialize(&mut self) -> Value {
        self.session = None;
        let response = self.try_initialize();
        assert_eq!(response.status, 200, "{}", response.body);
        let session = response.headers.get("mcp-session-id").expect("there is a session").to_str().unwrap();
        self.session = Some(session.to_owned());
        let told = self.post(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        assert_eq!(told.status, 202);
        response.body["result"].clone()
    }

    pub fn try_initialize(&self) -> Response {
        let client = json!({"name": "it", "version": "1"});
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        self.request("initialize", params)
    }

    pub fn post(&self, body: &Value) -> Response {
        self.try_post(body).unwrap()
    }

    pub fn try_post(&self, body: &Value) -> Result<Response, ureq::Error> {
        let mut request = self.host.request("POST", &format!("/servers/{}/mcp", self.key));
        request = request.header("Mcp-Host-Config", &self.hash);
        if let Some(session) = &self.session {
            request = request.header("Mcp-Session-Id", session).header("MCP-Protocol-Version", "2025-11-25");
        }
        self.host.try_send(request, body.to_string())
    }

    pub fn request(&self, method: &str, params: Value) -> Response {
        self.post(&json!({"jsonrpc": "2.0", "id": "an id of the client", "method": method, "params": params}))
    }

    /// A request of 2026-07-28.
    pub fn modern(&self, method: &str, mut params: Value) -> Response {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "it", "version": "1"},
        });
        self.request(method, params)
    }

    pub fn try_call(&self, tool: &str, arguments: Value) -> Response {
        self.request("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// The text of a call's result.
    #[track_caller]
    pub fn call(&self, tool: &str, arguments: Value) -> String {
        let response = self.try_call(tool, arguments);
        assert_eq!(response.status, 200, "{}", response.body);
        assert_eq!(response.body["id"], "an id of the client");
        let text = response.body["result"]["content"][0]["text"].as_str();
        text.unwrap_or_else(|| panic!("{}", response.body)).to_owned()
    }

    #[track_caller]
    pub fn tools(&self) -> Vec<String> {
        let response = self.request("tools/list", json!({}));
        names(&response)
    }

    pub fn pid(&self) -> i32 {
        self.host.pid(&self.key)
    }
}

#[track_caller]
pub fn names(response: &Response) -> Vec<String> {
    assert_eq!(response.status, 200, "{}", response.body);
    let tools = response.body["result"]["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}
