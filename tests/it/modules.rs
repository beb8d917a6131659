//! Modules: other people's servers, whose tools are tools of the workspace. The modules here are real servers.

mod calls;
mod discovery;
mod held_back;
mod hostile;
mod settings;

use crate::harness::{Client, ModuleServer};
use serde_json::{Value, json};

/// The tools of the specification's second document.
fn research() -> Value {
    json!([
        {"name": "research.web_search", "description": "Search the web and return results",
         "parameters": [
            {"name": "query", "type": "string", "description": "Search query", "required": true},
            {"name": "max_results", "type": "integer", "description": "Max results", "required": false}],
         "required_permission": "guest"},
        {"name": "fetch_webpage", "description": "Fetch a page", "parameters": {"type": "object"}},
    ])
}

/// Registers a module at this server, and returns it.
fn register(client: &Client, name: &str, server: &ModuleServer) -> Value {
    client.post("/api/modules", json!({"name": name, "url": server.url()})).created()
}

/// Discovers one module, and returns what was found.
fn refresh(client: &Client, name: &str) -> Value {
    client.post("/api/refresh-tools", json!({"modules": [name]})).ok()["modules"][0].clone()
}

fn ids(values: &Value, field: &str) -> Vec<String> {
    values.as_array().unwrap().iter().map(|it| it[field].as_str().unwrap().to_owned()).collect()
}

/// The active version of a tool.
fn version(client: &Client, id: &str) -> String {
    client.get(&format!("/api/tools/{id}")).ok()["version"].as_str().unwrap().to_owned()
}
