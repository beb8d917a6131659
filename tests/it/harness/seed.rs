//! Writes tools straight into the database, with the columns that a test needs.

use super::{Client, Server};
use serde_json::{Value, json};

/// The SQL of an id as a call has that started at `time`, which is SQL too. The id ends with `name`.
pub fn call_id(time: &str, name: &str) -> String {
    format!("printf('call_%012x', CAST(round(1000 * unixepoch({time}, 'subsec')) AS INTEGER)) || {name}")
}

pub struct Tool {
    id: String,
    source: &'static str,
    version: Value,
}

impl Tool {
    pub fn new(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            source: "registered",
            version: json!({
                "major": 1, "minor": 0, "patch": 0,
                "name": id, "description": format!("The tool {id}"),
                "parameters_schema": r#"{"type":"object"}"#, "returns_schema": null,
                "handler_key": "http",
                "handler": r#"{"type":"http","url":"https://example.com/run","headers":{"X-Key":"s3cret"}}"#,
                "category": "general", "examples": "[]", "risk_level": "low", "required_permission": "guest",
                "required_capabilities": "[]", "requires_approval": 0, "rate_limit": null, "timeout_seconds": 30,
                "execution_mode": "local", "resource_class": "control", "rollback_strategy": "none",
                "credentials_required": "[]", "side_effects": "[]",
                "registered_at": "2026-11-16T01:00:00.000Z", "registered_by": "tests",
                "active": 1, "deactivated_at": null, "deactivated_reason": null,
            }),
        }
    }

    /// Sets the source. A tool of the source `module` brings the row of its module, and a tool of the source `toolset` the
    /// row of its toolset, unless there is one.
    pub fn source(mut self, source: &'static str) -> Self {
        self.source = source;
        self
    }

    /// Sets columns of the version; lists are given as JSON and stored as text.
    pub fn with(mut self, columns: Value) -> Self {
        for (name, value) in columns.as_object().unwrap() {
            self.version[name] = if value.is_array() { value.to_string().into() } else { value.clone() };
        }
        self
    }

    /// Gives the tool the handler of a built-in.
    pub fn builtin(self, key: &str) -> Self {
        let handler = json!({"type": "builtin", "key": key}).to_string();
        self.with(json!({"handler_key": key, "handler": handler}))
    }

    /// Gives the tool an HTTP handler.
    pub fn http(self, url: &str) -> Self {
        let handler = json!({"type": "http", "url": url, "headers": {"X-Key": "s3cret"}}).to_string();
        self.with(json!({"handler": handler}))
    }

    pub fn schema(self, schema: Value) -> Self {
        self.with(json!({"parameters_schema": schema.to_string()}))
    }

    pub fn inactive(self, reason: &str) -> Self {
        self.with(json!({"active": 0, "deactivated_at": "2026-11-16T02:00:00.000Z", "deactivated_reason": reason}))
    }

    /// Writes the tool, or one more version of it.
    pub fn put(self, server: &Server, client: &Client) {
        Self::put_all([self], server, client);
    }

    /// Writes many tools in one batch.
    pub fn put_all(tools: impl IntoIterator<Item = Self>, server: &Server, client: &Client) {
        let workspace = client.workspace();
        let batch = tools.into_iter().flat_map(|it| it.statements(workspace)).collect::<Vec<_>>();
        let answer = server.ask(json!({"batch": batch}));
        assert!(answer["error"].is_null(), "{answer}");
    }

    fn statements(self, workspace: &str) -> Vec<Value> {
        let columns = self.version.as_object().unwrap();
        let names = columns.keys().cloned().collect::<Vec<_>>().join(", ");
        let places = (3..columns.len() + 3).map(|index| format!("?{index}")).collect::<Vec<_>>().join(", ");
        let mut params = vec![json!(workspace), json!(self.id)];
        params.extend(columns.values().cloned());
        let module = self.id.split('.').next().filter(|_| self.source == "module");
        let mut statements = module.map(|it| module_row(workspace, it)).into_iter().collect::<Vec<_>>();
        if let Some((toolset, tool)) = self.id.split_once(':').filter(|_| self.source == "toolset") {
            statements.extend(toolset_rows(workspace, toolset, tool));
        }
        statements.extend([
            json!({
                "sql": "INSERT OR IGNORE INTO tools (workspace_id, id, source, created_at)
                        VALUES (?1, ?2, ?3, '2026-11-16T01:00:00.000Z')",
                "params": [workspace, self.id, self.source],
            }),
            json!({
                "sql": format!(
                    "INSERT INTO tool_versions (workspace_id, tool_key, {names})
                     SELECT ?1, key, {places} FROM tools WHERE workspace_id = ?1 AND id = ?2"
                ),
                "params": params,
            }),
        ]);
        statements
    }
}

/// The statement that writes a module that is enabled and not due for discovery, unless it exists.
fn module_row(workspace: &str, name: &str) -> Value {
    json!({
        "sql": "INSERT OR IGNORE INTO upstreams (workspace_id, name, kind, url, slow, headers, enabled, auto_accept,
                  created_at, revision, status, discovered_at, expires_at)
                VALUES (?1, ?2, 'manifest', 'http://127.0.0.1:9', 0, '{}', 1, 0, '2026-11-16T01:00:00.000Z', 1, 'ok',
                  '2026-11-16T01:00:00.000Z', '2126-11-16T01:00:00.000Z')",
        "params": [workspace, name],
    })
}

/// The statements that write a toolset that is enabled, and the declaration of its tool, unless they exist.
fn toolset_rows(workspace: &str, toolset: &str, tool: &str) -> [Value; 2] {
    [
        json!({
            "sql": "INSERT OR IGNORE INTO toolsets (workspace_id, id, name, version, description, enabled, installed_at,
                      manifest_version, decided_by) VALUES (?1, ?2, ?2, '1.0.0', '', 1, '2026-11-16T01:00:00.000Z', '1', '')",
            "params": [workspace, toolset],
        }),
        json!({
            "sql": "INSERT OR IGNORE INTO toolset_tools (workspace_id, toolset_id, tool, position, declaration)
                    VALUES (?1, ?2, ?3, 0, json_object('id', ?3, 'entrypoint', 'tools.main:run'))",
            "params": [workspace, toolset, tool],
        }),
    ]
}
