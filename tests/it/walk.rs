//! Tries every path and method of /openapi.json with the callers that must be refused: a caller of another workspace
//! with this workspace's ids, every lower level, and a token bound to another agent. A route that is not in the table
//! fails the test.

use crate::harness::{Client, Tool, bundle, closed, closed_workspace, definition};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// One route: its level, its body, and whether it is about one agent.
struct Route {
    method: &'static str,
    path: &'static str,
    /// The level that the route needs; none if it needs no token.
    level: Option<&'static str>,
    body: Option<Value>,
    /// The status for a token that is bound to another agent than the path's, or to any agent if the path names none.
    bound: u16,
    /// The status for another workspace with ids of this one.
    foreign: u16,
}

const LEVELS: [&str; 4] = ["guest", "user", "admin", "owner"];

/// The level of routes that need the root token: a workspace's token of any level is not enough.
const ROOT: &str = "root";

fn routes() -> Vec<Route> {
    let route =
        |method, path, level, body, bound, foreign| Route { method, path, level: Some(level), body, bound, foreign };
    let site = |path| Route { method: "get", path, level: None, body: None, bound: 200, foreign: 200 };
    let attachment = Some(json!({"tool_id": "email_get"}));
    let tool_calls = Some(json!([{"type": "tool_use", "id": "t", "name": "list_files", "input": {}}]));
    let module = Some(json!({"name": "another", "url": "https://module.example", "enabled": false}));
    let mcp_server = Some(json!({"id": "another", "url": "https://server.example/mcp", "enabled": false}));
    let registration = Some(definition("another", "1.0.0", json!({})));
    let nothing = Some(json!({"tools": [], "versions": [], "agents": [], "attachments": [], "credentials": []}));
    vec![
        route("get", "/api/tools", "guest", None, 200, 200),
        route("get", "/api/tools/{tool_id}", "guest", None, 200, 404),
        route("get", "/api/tools/{tool_id}/description", "guest", None, 200, 404),
        route("post", "/api/tools/{tool_id}/validate", "guest", Some(json!({"arguments": {}})), 200, 404),
        route("get", "/api/tools/{tool_id}/rate-limit", "guest", None, 200, 404),
        route("get", "/api/agents", "guest", None, 200, 200),
        route("post", "/api/agents", "user", Some(json!({"name": "x"})), 403, 201),
        route("get", "/api/agents/{agent_id}", "guest", None, 403, 404),
        route("patch", "/api/agents/{agent_id}", "user", Some(json!({"name": "x"})), 403, 404),
        route("delete", "/api/agents/{agent_id}", "user", None, 403, 404),
        route("get", "/api/agents/{agent_id}/toolbox", "guest", None, 403, 404),
        route("get", "/api/agents/{agent_id}/tools", "guest", None, 403, 404),
        route("post", "/api/agents/{agent_id}/tools", "user", attachment, 403, 404),
        route("patch", "/api/agents/{agent_id}/tools/{tool_id}", "user", Some(json!({"config": {}})), 403, 404),
        route("delete", "/api/agents/{agent_id}/tools/{tool_id}", "user", None, 403, 404),
        route("get", "/api/sessions", "user", None, 200, 200),
        route("get", "/api/sessions/{session_id}", "user", None, 404, 404),
        route("get", "/api/sessions/{session_id}/manifests", "user", None, 404, 404),
        route("get", "/api/sessions/{session_id}/manifests/{manifest_id}", "user", None, 404, 404),
        route("get", "/api/sessions/{session_id}/diff", "user", None, 404, 404),
        route(
            "post",
            "/api/sessions/{session_id}/checkout",
            "user",
            Some(json!({"manifest_id": "{manifest_id}"})),
            404,
            404,
        ),
        route(
            "post",
            "/api/playground/sessions/{session_id}/chat",
            "user",
            Some(json!({"agentId": "{agent_id}", "message": "Hello"})),
            403,
            404,
        ),
        route("get", "/api/playground/sessions/{session_id}/chat/{chat_id}/stream", "user", None, 204, 204),
        route("post", "/api/playground/sessions/{session_id}/stop", "user", None, 404, 404),
        route("get", "/api/playground/sessions/{session_id}/messages", "user", None, 404, 404),
        route(
            "post",
            "/api/playground/sessions/{session_id}/checkout",
            "user",
            Some(json!({"message_id": "house-message"})),
            404,
            404,
        ),
        route(
            "post",
            "/api/sessions/{session_id}/branch",
            "user",
            Some(json!({"manifest_id": "{manifest_id}"})),
            404,
            404,
        ),
        route("get", "/api/sessions/{session_id}/files", "user", None, 404, 404),
        route("get", "/api/sessions/{session_id}/files/{path}", "user", None, 404, 404),
        route("put", "/api/sessions/{session_id}/files/{path}", "user", Some(json!({})), 403, 201),
        route("delete", "/api/sessions/{session_id}/files/{path}", "user", None, 404, 404),
        route("delete", "/api/sessions/{session_id}", "user", None, 404, 404),
        route("post", "/api/execute", "guest", Some(json!({"tool_name": "list_files"})), 200, 200),
        route("post", "/api/modules/{module}/execute", "user", Some(json!({"tool_name": "kit.list"})), 403, 404),
        route("post", "/api/agents/{agent_id}/tool-calls", "guest", tool_calls, 403, 404),
        route("get", "/api/tool-calls", "user", None, 200, 200),
        route("get", "/api/tool-calls/summary", "user", None, 200, 200),
        route("get", "/api/tool-calls/series", "admin", None, 403, 200),
        route("get", "/api/tool-calls/{call_id}", "user", None, 404, 404),
        route("get", "/api/tool-calls/{call_id}/result", "user", None, 404, 404),
        route("get", "/api/tool-calls/{call_id}/arguments", "user", None, 404, 404),
        route("get", "/api/tool-calls/{call_id}/render", "user", None, 404, 404),
        route("get", "/api/approvals", "admin", None, 403, 200),
        route("get", "/api/approvals/{approval_id}", "admin", None, 403, 404),
        route("post", "/api/approvals/{approval_id}/approve", "admin", None, 403, 404),
        route("post", "/api/approvals/{approval_id}/deny", "admin", Some(json!({"reason": "x"})), 403, 404),
        route("post", "/api/tools", "admin", registration, 403, 201),
        route("get", "/api/tools/{tool_id}/versions", "admin", None, 200, 404),
        route("get", "/api/tools/{tool_id}/versions/{version}", "guest", None, 200, 404),
        route("get", "/api/tools/{tool_id}/compare", "admin", None, 403, 404),
        route("post", "/api/tools/{tool_id}/rollback", "admin", Some(json!({"version": "0.9.0"})), 403, 404),
        route("post", "/api/tools/{tool_id}/deactivate", "admin", Some(json!({"reason": "deprecated"})), 403, 404),
        route("post", "/api/tools/{tool_id}/activate", "admin", Some(json!({"version": "1.0.0"})), 403, 404),
        route("get", "/api/credentials", "admin", None, 403, 200),
        route("post", "/api/credentials", "admin", Some(json!({"id": "HOUSE_KEY"})), 403, 201),
        route("delete", "/api/credentials/{credential_id}", "admin", None, 403, 404),
        route("get", "/api/modules", "admin", None, 403, 200),
        route("post", "/api/modules", "admin", module, 403, 201),
        route("get", "/api/modules/{module}", "admin", None, 403, 404),
        route("patch", "/api/modules/{module}", "admin", Some(json!({"slow": true})), 403, 404),
        route("delete", "/api/modules/{module}", "admin", None, 403, 404),
        route("post", "/api/refresh-tools", "admin", Some(json!({})), 403, 200),
        route("get", "/api/modules/{module}/held-back", "admin", None, 403, 404),
        route("post", "/api/modules/{module}/accept", "admin", Some(json!({})), 403, 404),
        route("get", "/api/mcp-servers", "admin", None, 403, 200),
        route("post", "/api/mcp-servers", "admin", mcp_server, 403, 201),
        route("get", "/api/mcp-servers/{server_id}", "admin", None, 403, 404),
        route("patch", "/api/mcp-servers/{server_id}", "admin", Some(json!({"auto_accept": true})), 403, 404),
        route("delete", "/api/mcp-servers/{server_id}", "admin", None, 403, 404),
        route("post", "/api/mcp-servers/{server_id}/refresh", "admin", None, 403, 404),
        route("get", "/api/mcp-servers/{server_id}/held-back", "admin", None, 403, 404),
        route("post", "/api/mcp-servers/{server_id}/accept", "admin", Some(json!({})), 403, 404),
        route("get", "/api/toolsets", "user", None, 200, 200),
        route("post", "/api/toolsets", "admin", None, 403, 201),
        route("get", "/api/toolsets/{toolset_id}", "user", None, 200, 404),
        route("delete", "/api/toolsets/{toolset_id}", "admin", None, 403, 404),
        route("get", "/api/toolsets/{toolset_id}/export", "admin", None, 403, 404),
        route("post", "/api/toolsets/{toolset_id}/enable", "admin", None, 403, 404),
        route("post", "/api/toolsets/{toolset_id}/disable", "admin", None, 403, 404),
        route("get", "/api/toolsets/{toolset_id}/files/{path}", "user", None, 200, 404),
        route("get", "/api/toolsets/{toolset_id}/overrides/{tool_id}", "user", None, 200, 404),
        route(
            "put",
            "/api/toolsets/{toolset_id}/overrides/{tool_id}",
            "admin",
            Some(json!({"enabled": true})),
            403,
            404,
        ),
        route("delete", "/api/toolsets/{toolset_id}/overrides/{tool_id}", "admin", None, 403, 404),
        route("get", "/api/registry/changes", "admin", None, 403, 200),
        route("get", "/api/registry/state", "admin", None, 403, 200),
        route("get", "/api/registry/invariants", "admin", None, 403, 200),
        route("get", "/api/registry/backup", "owner", None, 403, 200),
        route("post", "/api/registry/restore", "owner", nothing, 403, 200),
        route("get", "/api/whoami", "guest", None, 200, 200),
        route("get", "/api/workspace", "user", None, 200, 200),
        route("patch", "/api/workspace", "admin", Some(json!({"default_guest_modules": ["house"]})), 403, 200),
        route("get", "/api/tokens", "owner", None, 403, 200),
        route("post", "/api/tokens", "owner", Some(json!({"name": "x", "level": "guest"})), 403, 201),
        route("delete", "/api/tokens/{token_id}", "owner", None, 403, 404),
        route("get", "/api/benchmarks/inboxes", "guest", None, 200, 200),
        route("get", "/api/registry/stats", "admin", None, 403, 200),
        route("get", "/api/registry/health", "admin", None, 403, 200),
        route("get", "/metrics", ROOT, None, 401, 200),
        route("post", "/mcp", "guest", tools_list(), 200, 200),
        route("post", "/w/{workspace}/mcp", "guest", tools_list(), 200, 400),
        route("post", "/w/{workspace}/agents/{agent_id}/mcp", "guest", tools_list(), 403, 400),
        site("/"),
        site("/healthz"),
        site("/openapi.json"),
        site("/docs"),
    ]
}

/// An MCP request.
fn tools_list() -> Option<Value> {
    Some(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}))
}

/// A workspace that has the ids of all paths.
struct House {
    root: Client,
    agent: String,
    token: String,
    manifest: String,
    call: String,
    /// A call that has a page.
    page: String,
    approval: String,
}

impl House {
    fn new() -> Self {
        let root = closed_workspace();
        let agent = root.agent(json!({}));
        Tool::new("house-tool").put(closed(), &root);
        Tool::new("house-tool").with(json!({"major": 0, "minor": 9})).inactive("deprecated").put(closed(), &root);
        root.post("/api/credentials", json!({"id": "OTHER_KEY"})).created();
        root.post("/api/modules", json!({"name": "house", "url": "https://house.example"})).created();
        // A server that is not enabled is not asked.
        let server = json!({"id": "house", "url": "https://house.example/mcp", "enabled": false});
        root.post("/api/mcp-servers", server).created();
        Tool::new("house-waits").builtin("list_files").with(json!({"requires_approval": 1})).put(closed(), &root);
        Tool::new("kit.list").source("module").builtin("list_files").put(closed(), &root);
        let called = root.execute("list_files", json!({})).result(200);
        Tool::new("housekit:list").source("toolset").builtin("list_files").put(closed(), &root);
        let page = json!({"renderer": "html", "renderer_config": {"content": "<p>$return</p>"}}).to_string();
        root.put("/api/toolsets/housekit/overrides/list", page).ok();
        let shown = root.execute("housekit:list", json!({})).result(200);
        let waits = root.execute("house-waits", json!({})).result(202);
        root.post(&format!("/api/agents/{agent}/tools"), json!({"tool_id": "house-tool"})).created();
        let token = root.post("/api/tokens", json!({"name": "x", "level": "guest"})).created();
        let written = root.put("/api/sessions/house-session/files/house-file", "contents").created();
        // OR IGNORE, because Miniflare was seen to run a statement twice on a busy machine.
        let file = "INSERT OR IGNORE INTO toolset_files (workspace_id, toolset_id, path, kind, sha256, size)
            VALUES (?1, 'housekit', 'house-file', 'asset', ?2, 8)";
        closed().sql(file, &[json!(root.workspace()), written["sha256"].clone()]);
        let message =
            "INSERT OR IGNORE INTO messages (workspace_id, session_id, generation, id, depth, line, line_start, role,
            manifest_id, created_at, bytes, chunks, parts) VALUES (?1, 'house-session', 0, 'house-message', 0, 1, 0,
            'user', ?2, '2026-11-18T00:00:00.000Z', 602, 1, '[]')";
        closed().sql(message, &[json!(root.workspace()), written["manifest_id"].clone()]);
        let id = |thing: &Value, name: &str| thing[name].as_str().unwrap().to_owned();
        Self {
            root,
            agent,
            token: id(&token, "id"),
            manifest: id(&written, "manifest_id"),
            call: id(&called, "call_id"),
            page: id(&shown, "call_id"),
            approval: id(&waits["error"]["details"], "approval_id"),
        }
    }

    fn knock(&self, client: &Client, route: &Route) -> u16 {
        let filled = |text: &str| {
            text.replace("{module}/execute", "kit/execute")
                .replace("{call_id}/render", &format!("{}/render", self.page))
                .replace("{toolset_id}/overrides/{tool_id}", "housekit/overrides/housekit:list")
                .replace("{toolset_id}", "housekit")
                .replace("{tool_id}", "house-tool")
                .replace("{version}", "1.0.0")
                .replace("{agent_id}", &self.agent)
                .replace("{chat_id}", "chat")
                .replace("{token_id}", &self.token)
                .replace("{call_id}", &self.call)
                .replace("{approval_id}", &self.approval)
                .replace("{session_id}", "house-session")
                .replace("{manifest_id}", &self.manifest)
                .replace("{credential_id}", "OTHER_KEY")
                .replace("{module}", "house")
                .replace("{server_id}", "house")
                .replace("{path}", "house-file")
                .replace("{workspace}", self.root.workspace())
        };
        let query = match route.path.rsplit('/').next() {
            Some("diff") => "?from={manifest_id}&to={manifest_id}",
            Some("compare") => "?from={version}",
            _ => "",
        };
        let path = filled(&format!("{}{query}", route.path));
        let mut body = route.body.as_ref().map(|it| filled(&it.to_string()).into_bytes());
        if (route.method, route.path) == ("post", "/api/toolsets") {
            let manifest = json!({"manifest_version": 1, "id": "another", "name": "Another", "version": "1.0.0"});
            body = Some(bundle(&manifest, &[]));
        }
        client.send(&route.method.to_uppercase(), &path, body).status
    }

    /// All contents of the house, to check that they did not change.
    fn contents(&self) -> String {
        let attached = format!("/api/agents/{}/tools", self.agent);
        let sessions = ["/api/sessions", "/api/sessions/house-session/files"];
        let others = ["/api/agents", "/api/tokens", "/api/approvals", "/api/workspace", &attached];
        sessions.iter().chain(&others).map(|path| self.root.get(path).text).collect::<Vec<_>>().join("\n")
    }
}

#[test]
fn the_table_names_every_route() {
    let description = closed_workspace().get("/openapi.json").ok();
    let described = description["paths"]
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(path, item)| item.as_object().unwrap().keys().map(move |method| format!("{method} {path}")))
        .collect::<BTreeSet<_>>();
    let walked = routes().iter().map(|it| format!("{} {}", it.method, it.path)).collect::<BTreeSet<_>>();
    assert_eq!(described, walked, "tests/it/walk.rs must know every route, and no other");
}

#[test]
fn a_foreign_workspace_finds_nothing_of_this_one() {
    let house = House::new();
    let before = house.contents();
    for route in routes() {
        let foreigner = closed_workspace();
        assert_eq!(house.knock(&foreigner, &route), route.foreign, "{} {}", route.method, route.path);
    }
    assert_eq!(house.contents(), before);
}

#[test]
fn lower_levels_are_refused_and_the_level_itself_is_not() {
    for route in routes() {
        let house = House::new();
        let as_level = |level: &str| house.root.token(json!({"name": level, "level": level}));
        let stranger = house.root.without_header("Authorization");
        let Some(needed) = route.level else {
            assert_eq!(house.knock(&stranger, &route), 200, "{}", route.path);
            continue;
        };
        if needed == ROOT {
            for caller in std::iter::once(stranger).chain(LEVELS.map(as_level)) {
                assert_eq!(house.knock(&caller, &route), 401, "{}", route.path);
            }
            assert_eq!(house.knock(&house.root, &route), 200, "{}", route.path);
            continue;
        }
        let needed = LEVELS.iter().position(|it| *it == needed).unwrap();
        let callers = LEVELS.map(as_level);
        let before = house.contents();
        assert_eq!(house.knock(&stranger, &route), 401, "{} {}", route.method, route.path);
        for (level, caller) in LEVELS.iter().zip(&callers).take(needed) {
            assert_eq!(house.knock(caller, &route), 403, "{level}: {} {}", route.method, route.path);
        }
        assert_eq!(house.contents(), before);
        let status = house.knock(&callers[needed], &route);
        // A turn is let in, but this server has no model.
        let lacks_model = route.path.ends_with("/chat") && status == 503;
        assert!(
            (200..300).contains(&status) || lacks_model,
            "{}: {} {} answered {status}",
            LEVELS[needed],
            route.method,
            route.path
        );
    }
}

#[test]
fn a_token_bound_to_another_agent_is_kept_to_it() {
    let house = House::new();
    let other = house.root.agent(json!({"name": "other"}));
    let bound = house.root.token(json!({"name": "bound", "level": "owner", "agent_id": other}));
    let before = house.contents();
    for route in routes() {
        assert_eq!(house.knock(&bound, &route), route.bound, "{} {}", route.method, route.path);
    }
    assert_eq!(house.contents(), before);
}
