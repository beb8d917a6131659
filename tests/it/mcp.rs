//! The registry as an MCP server: both revisions, from the first message to the result of a call.

#[path = "mcp/approvals.rs"]
mod approvals;
#[path = "mcp/resources.rs"]
mod resources;
#[path = "mcp/search.rs"]
mod search;
#[path = "mcp/tools.rs"]
mod tools;
#[path = "mcp/transport.rs"]
mod transport;

use crate::harness::{Answer, Client};
use serde_json::{Value, json};

const LEGACY: &str = "2025-11-25";
const MODERN: &str = "2026-07-28";
const BOTH: [&str; 2] = [LEGACY, MODERN];

/// An MCP client: a caller at an endpoint, with a revision.
#[derive(Clone)]
pub struct Mcp {
    client: Client,
    path: String,
    revision: &'static str,
    capabilities: Value,
}

impl Mcp {
    /// A client at the endpoint of the caller's workspace.
    pub fn new(client: &Client, revision: &'static str) -> Self {
        let path = format!("/w/{}/mcp", client.workspace());
        let client =
            client.without_header("X-Workspace-Id").with_header("Accept", "application/json, text/event-stream");
        Self { client, path, revision, capabilities: json!({}) }
    }

    fn of_agent(client: &Client, agent: &str, revision: &'static str) -> Self {
        let path = format!("/w/{}/agents/{agent}/mcp", client.workspace());
        Self { path, ..Self::new(client, revision) }
    }

    /// A client that can show forms to its user.
    pub fn with_forms(mut self) -> Self {
        self.capabilities = json!({"elicitation": {}});
        self
    }

    fn in_session(mut self, session: &str) -> Self {
        self.path.push_str(&format!("?session={session}"));
        self
    }

    pub fn send(&self, method: &str, mut params: Value) -> Answer {
        let mut client = self.client.with_header("MCP-Protocol-Version", self.revision);
        if self.revision == MODERN {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientCapabilities": self.capabilities,
            });
            client = client.with_header("Mcp-Method", method);
            if let Some(name) = params.get("name").or(params.get("uri")).and_then(Value::as_str) {
                client = client.with_header("Mcp-Name", name);
            }
        }
        client.post(&self.path, json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}))
    }

    #[track_caller]
    pub fn result(&self, method: &str, params: Value) -> Value {
        let answer = self.send(method, params).ok();
        assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!(7)), "{answer}");
        assert!(answer["result"].is_object(), "{answer}");
        answer["result"].clone()
    }

    /// The error in the response to a request, with this status.
    #[track_caller]
    fn fault(&self, status: u16, method: &str, params: Value) -> Value {
        let answer = self.send(method, params);
        assert_eq!(answer.status, status, "{}", answer.text);
        let answer = answer.json();
        assert_eq!(answer["id"], 7, "{answer}");
        answer["error"].clone()
    }

    #[track_caller]
    pub fn call(&self, name: &str, arguments: Value) -> Value {
        self.result("tools/call", json!({"name": name, "arguments": arguments}))
    }

    /// The text of the first block of a call's result, and whether the result is an error.
    #[track_caller]
    fn told(&self, name: &str, arguments: Value) -> (String, bool) {
        let result = self.call(name, arguments);
        (result["content"][0]["text"].as_str().unwrap().to_owned(), result["isError"].as_bool().unwrap())
    }

    /// The names of all tools, of all pages.
    fn names(&self) -> Vec<String> {
        let (mut names, mut params) = (Vec::new(), json!({}));
        loop {
            let page = self.result("tools/list", params);
            names.extend(page["tools"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap().to_owned()));
            match page.get("nextCursor") {
                Some(cursor) => params = json!({"cursor": cursor}),
                None => return names,
            }
        }
    }
}
