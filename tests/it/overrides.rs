//! Overrides of the tools of toolsets and of their MCP servers: they hold wherever the tool is read or called, and make no
//! version. Toolsets that are disabled, and the files of toolsets.

use crate::harness::{Client, MODERN, McpPeer, Tool, open, race, workspace};
use serde_json::{Value, json};

const LIST: &str = "/api/toolsets/kit/overrides/list";

/// A workspace with the toolset `kit`, whose tool `list` lists files.
fn with_kit() -> Client {
    let client = workspace();
    Tool::new("kit:list").source("toolset").builtin("list_files").put(open(), &client);
    client
}

fn put(client: &Client, body: Value) -> Value {
    client.put(LIST, body.to_string()).ok()
}

/// An agent that has the tool.
fn agent_with(client: &Client, tool: &str) -> String {
    let agent = client.agent(json!({"max_risk": "high"}));
    client.post(&format!("/api/agents/{agent}/tools"), json!({"tool_id": tool})).created();
    agent
}

/// The ids of the tools in the agent's toolbox.
fn toolbox(client: &Client, agent: &str) -> Vec<Value> {
    let tools = client.get(&format!("/api/agents/{agent}/toolbox")).ok();
    tools["tools"].as_array().unwrap().iter().map(|it| it["id"].clone()).collect()
}

/// The tools that a client of MCP is shown.
fn mcp_tools(client: &Client) -> Vec<Value> {
    let listed = client.post("/mcp", json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})).ok();
    listed["result"]["tools"].as_array().unwrap().clone()
}

fn set_toolset(client: &Client, enabled: bool) {
    let sql = "UPDATE toolsets SET enabled = ?2 WHERE workspace_id = ?1";
    open().sql(sql, &[json!(client.workspace()), json!(u8::from(enabled))]);
}

#[test]
fn an_override_is_shown_wherever_the_tool_is() {
    let client = with_kit();
    let before = client.get("/api/tools/kit:list").ok();
    assert_eq!(
        (&before["toolset_id"], &before["server_id"], &before["module"]),
        (&json!("kit"), &json!(null), &json!(null))
    );
    assert_eq!(
        (&before["enabled"], &before["renderer"], &before["needs_approval"]),
        (&json!(true), &json!(null), &json!(false))
    );
    let config = json!({"file": "$args.path", "language": "text"});
    put(
        &client,
        json!({
            "name_override": "Directory walker", "description_override": "Enumerates quokkas", "requires_approval": true,
            "renderer": "code", "renderer_config": config,
        }),
    );
    let tool = client.get("/api/tools/kit:list").ok();
    let mut expected = before.clone();
    for (name, value) in [
        ("name", json!("Directory walker")),
        ("description", json!("Enumerates quokkas")),
        ("needs_approval", json!(true)),
        ("renderer", json!("code")),
        ("renderer_config", config),
    ] {
        expected[name] = value;
    }
    assert_eq!(tool, expected, "the version, and what it was registered with, stay");
    let listed = client.get("/api/tools?ids=kit:list").ok()["tools"][0].clone();
    assert_eq!(listed, tool);
    let all = client.get("/api/tools").ok();
    assert_eq!(*all["tools"].as_array().unwrap().iter().find(|it| it["id"] == "kit:list").unwrap(), tool);
    assert_eq!(client.get("/api/tools/kit:list?version=1.0.0").ok(), tool);
    assert_eq!(client.get("/api/tools/kit:list/versions").ok()["versions"], json!([tool]));
    let description = client.get("/api/tools/kit:list/description").text;
    assert!(description.contains("Description: Enumerates quokkas") && description.contains("Requires Approval: True"));
    let agent = agent_with(&client, "kit:list");
    let format = |name: &str| client.get(&format!("/api/agents/{agent}/toolbox?format={name}"));
    let mut attached = format("json").ok()["tools"][0].clone();
    attached.as_object_mut().unwrap().remove("config");
    assert_eq!(attached, tool);
    assert_eq!(format("openai").ok()["tools"][0]["function"]["description"], "Enumerates quokkas");
    assert_eq!(format("mcp").ok()["tools"][0]["title"], "Directory walker");
    let shown = mcp_tools(&client).into_iter().find(|it| it["title"] == "Directory walker").unwrap();
    assert_eq!(shown["description"], "Enumerates quokkas");
    // Search finds what is shown, and nothing else.
    let found = |text: &str| client.get(&format!("/api/tools?q={text}")).ok()["tools"].as_array().unwrap().len();
    assert_eq!((found("quokkas"), found("walker")), (1, 1));
    client.delete(LIST).no_content();
    assert_eq!((found("quokkas"), found("walker")), (0, 0));
    assert_eq!(client.get("/api/tools/kit:list").ok(), before);
}

#[test]
fn an_override_is_put_as_a_whole_and_recorded() {
    let client = with_kit();
    client.get(LIST).refused(404, "NOT_FOUND");
    client.delete(LIST).refused(404, "NOT_FOUND");
    let first = put(&client, json!({"name_override": "A", "enabled": true, "description_override": null}));
    let expected = json!({
        "toolset_id": "kit", "tool_id": "kit:list", "renderer": null, "renderer_config": null, "name_override": "A",
        "description_override": null, "requires_approval": null, "enabled": true, "by_admin": true,
    });
    assert_eq!(first, expected);
    assert_eq!(client.get(LIST).ok(), first);
    assert_eq!(client.get("/api/toolsets/kit/overrides/kit:list").ok(), first, "with or without the toolset's id");
    // What was read can be sent back, and writes nothing if it is the same.
    assert_eq!(put(&client, first.clone()), first);
    let second = put(&client, json!({"requires_approval": false}));
    assert_eq!((&second["name_override"], &second["requires_approval"]), (&json!(null), &json!(false)));
    client.delete(LIST).no_content();
    let log = client.get("/api/registry/changes?subject=override:kit:list").ok();
    let log = log["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| json!([it["action"], it["tool_id"], it["previous_state"], it["new_state"]]));
    let mut log = log.collect::<Vec<_>>();
    log.sort_by_key(|it| it[2] == second);
    assert_eq!(log.len(), 3);
    assert!(log.contains(&json!(["configure", "kit:list", null, first])));
    assert!(log.contains(&json!(["configure", "kit:list", first, second])));
    assert!(log.contains(&json!(["delete", "kit:list", second, null])));
}

#[test]
fn what_is_wrong_with_an_override_is_told() {
    let client = with_kit();
    let refused = |body: Value| client.put(LIST, body.to_string()).refused(400, "VALIDATION_ERROR").paths().join(" ");
    assert_eq!(refused(json!({})), "");
    assert_eq!(refused(json!({"enabled": "no"})), "/enabled");
    assert_eq!(refused(json!({"renderer": "code", "name_override": "a\nb"})), "/name_override /renderer_config");
    let html = |path: &str| json!({"renderer": "html", "renderer_config": {"artifact": path}});
    assert_eq!(refused(html("artifacts/none.html")), "/renderer_config/artifact");
    assert_eq!(refused(html("../none.html")), "/renderer_config/artifact");
    assert_eq!(refused(json!({"enabled": true, "by_admin": false})), "/by_admin");
    let body = json!({"enabled": true}).to_string();
    let unknown = |path: &str| client.put(path, body.as_str()).refused(404, "NOT_FOUND").message;
    assert_eq!(unknown("/api/toolsets/none/overrides/list"), "Toolset not found: none");
    assert!(unknown("/api/toolsets/kit/overrides/none").starts_with("Tool not found: none"));
    assert!(unknown("/api/toolsets/kit/overrides/other:list").starts_with("Tool not found: other:list"));
    assert!(unknown("/api/toolsets/kit/overrides/read_file").starts_with("Tool not found"));
    client.get("/api/toolsets/none/overrides/list").refused(404, "NOT_FOUND");
    // A tool of the workspace that belongs to nobody else has no override either.
    Tool::new("mine").put(open(), &client);
    assert!(unknown("/api/toolsets/kit/overrides/mine").starts_with("Tool not found"));
}

#[test]
fn racing_admins_leave_a_whole_log() {
    let client = with_kit();
    let answers =
        race(6, |index| client.put(LIST, json!({"name_override": format!("Name {index}")}).to_string()).status);
    let won = answers.iter().filter(|it| **it == 200).count();
    assert!(won >= 1 && answers.iter().all(|it| [200, 409].contains(it)), "{answers:?}");
    let log = client.get("/api/registry/changes?subject=override:kit:list").ok();
    let log = log["changes"].as_array().unwrap();
    assert_eq!(log.len(), won);
    let present = client.get(LIST).ok();
    assert!(log.iter().any(|it| it["new_state"] == present));
}

#[test]
fn an_override_decides_about_approvals_but_not_against_the_risk() {
    let client = workspace();
    let tool = |version: u32, columns: Value| {
        let mut all = json!({"major": version});
        all.as_object_mut().unwrap().extend(columns.as_object().unwrap().clone());
        Tool::new("kit:list").source("toolset").builtin("list_files").with(all)
    };
    tool(1, json!({"requires_approval": 1})).inactive("version_update").put(open(), &client);
    tool(2, json!({"requires_approval": 1, "risk_level": "safe"})).put(open(), &client);
    client.execute("kit:list", json!({})).result(202);
    put(&client, json!({"requires_approval": false}));
    client.execute("kit:list", json!({})).success();
    client.execute("kit:list@1.0.0", json!({})).success();
    put(&client, json!({"requires_approval": true}));
    let waits = client.execute("kit:list@1.0.0", json!({})).result(202);
    assert_eq!(client.record(&waits)["status"], "pending_approval");
    let approval = waits["error"]["details"]["approval_id"].as_str().unwrap();
    client.post(&format!("/api/approvals/{approval}/approve"), json!({})).success();
    put(&client, json!({"requires_approval": false}));
    let sql = "UPDATE tool_versions SET risk_level = 'high' WHERE workspace_id = ?1";
    open().sql(sql, &[json!(client.workspace())]);
    client.execute("kit:list", json!({})).result(202);
    assert_eq!(client.get("/api/tools/kit:list").ok()["needs_approval"], true);
}

/// Checks that the tool can be called, or that nobody can call it.
#[track_caller]
fn check_enabled(client: &Client, agent: &str, enabled: bool) {
    for name in ["kit:list", "kit:list@1.0.0", "kit:list@2.0.0"] {
        let answer = client.execute(name, json!({}));
        if enabled { drop(answer.success()) } else { drop(answer.failed(409, "TOOL_DISABLED")) }
    }
    let call = json!({"tool_name": "kit:list", "arguments": {}, "agent_id": agent});
    assert_eq!(client.call(call).status, if enabled { 200 } else { 409 });
    let tool = client.get("/api/tools/kit:list").ok();
    assert_eq!((&tool["enabled"], &tool["active"]), (&json!(enabled), &json!(true)));
    assert_eq!(toolbox(client, agent), if enabled { vec![json!("kit:list")] } else { vec![] });
    let in_mcp = mcp_tools(client).iter().any(|it| it["name"].as_str().unwrap().starts_with("kit_list"));
    assert_eq!(in_mcp, enabled);
}

#[test]
fn a_tool_that_is_switched_off_cannot_be_called() {
    let client = workspace();
    let version =
        |major: u32| Tool::new("kit:list").source("toolset").builtin("list_files").with(json!({"major": major}));
    version(1).inactive("version_update").put(open(), &client);
    version(2).put(open(), &client);
    let agent = agent_with(&client, "kit:list");
    check_enabled(&client, &agent, true);
    put(&client, json!({"enabled": false}));
    check_enabled(&client, &agent, false);
    put(&client, json!({"enabled": true}));
    check_enabled(&client, &agent, true);
    set_toolset(&client, false);
    check_enabled(&client, &agent, false);
    set_toolset(&client, true);
    check_enabled(&client, &agent, true);
    // Without its toolset, a tool is off too.
    open().sql("DELETE FROM toolsets WHERE workspace_id = ?1", &[json!(client.workspace())]);
    check_enabled(&client, &agent, false);
}

#[test]
fn a_call_that_waits_does_not_run_once_its_tool_is_switched_off() {
    let client = with_kit();
    put(&client, json!({"requires_approval": true}));
    let asked = client.execute("kit:list", json!({})).result(202);
    let approval = format!("/api/approvals/{}/approve", asked["error"]["details"]["approval_id"].as_str().unwrap());
    set_toolset(&client, false);
    client.post(&approval, json!({})).refused(409, "CONFLICT");
    set_toolset(&client, true);
    put(&client, json!({"requires_approval": true, "enabled": false}));
    client.post(&approval, json!({})).refused(409, "CONFLICT");
    put(&client, json!({"requires_approval": true}));
    client.post(&approval, json!({})).success();
}

#[test]
fn a_servers_tool_is_overridden_by_the_toolset_that_brought_the_server() {
    let client = with_kit();
    let peer = McpPeer::start(MODERN, json!([]));
    let server = json!({"id": "clock", "url": peer.url(), "requires_approval": false, "risk_level": "low"});
    client.post("/api/mcp-servers", server).created();
    let path = "/api/toolsets/kit/overrides/clock:now";
    let body =
        json!({"name_override": "Quokka clock", "renderer": "document", "renderer_config": {"content": "$return"}});
    client.put(path, body.to_string()).refused(404, "NOT_FOUND");
    let sql = "UPDATE upstreams SET toolset_id = 'kit' WHERE workspace_id = ?1 AND source = 'mcp'";
    open().sql(sql, &[json!(client.workspace())]);
    // The tool may appear after its override.
    client.put(path, body.to_string()).ok();
    client.get("/api/tools/clock:now").refused(404, "NOT_FOUND");
    peer.offer(json!([{"name": "now", "description": "The time", "inputSchema": {"type": "object"}}]));
    let settings = json!({"auto_accept": true});
    client.patch("/api/mcp-servers/clock", settings).ok();
    client.post("/api/mcp-servers/clock/refresh", json!({})).ok();
    let tool = client.get("/api/tools/clock:now").ok();
    assert_eq!((&tool["name"], &tool["version"]), (&json!("Quokka clock"), &json!("1.0.0")));
    assert_eq!(
        (&tool["toolset_id"], &tool["server_id"], &tool["renderer"]),
        (&json!("kit"), &json!("clock"), &json!("document"))
    );
    assert_eq!(client.get("/api/tools?q=quokka").ok()["tools"][0]["id"], "clock:now");
    // Another discovery changes no version because of the override.
    client.post("/api/mcp-servers/clock/refresh", json!({})).ok();
    assert_eq!(client.get("/api/tools/clock:now").ok()["version"], "1.0.0");
    client.patch("/api/mcp-servers/clock", json!({"enabled": false})).ok();
    assert_eq!(client.get("/api/tools/clock:now").ok()["enabled"], false);
    let agent = agent_with(&client, "clock:now");
    assert_eq!(toolbox(&client, &agent), Vec::<Value>::new());
}

#[test]
fn only_tools_of_others_cost_further_rows() {
    let client = with_kit();
    Tool::new("mine").builtin("list_files").put(open(), &client);
    put(&client, json!({"name_override": "A"}));
    let rows = |id: &str| client.get(&format!("/api/tools/{id}")).cost("rows_read");
    let (mine, overridden) = (rows("mine"), rows("kit:list"));
    assert!(mine <= 10 && overridden <= mine + 3, "{mine} and {overridden} rows");
}

#[test]
fn the_files_of_a_toolset_are_served_so_that_nothing_in_them_runs() {
    let client = with_kit();
    let files = [
        ("artifacts/page.html", "<script>alert(1)</script>", "text/html; charset=utf-8"),
        ("assets/pic.svg", "<svg/>", "image/svg+xml"),
        ("tools/main.py", "def run(): pass", "text/plain; charset=utf-8"),
        ("a b/ä.json", "{}", "application/json"),
    ];
    for (path, text, _) in files {
        file(&client, path, text.as_bytes());
    }
    file(&client, "assets/data.bin", &[0, 159, 146, 150]);
    for (path, text, kind) in files {
        let path = path.replace(' ', "%20").replace('ä', "%C3%A4");
        let answer = client.get(&format!("/api/toolsets/kit/files/{path}"));
        assert_eq!((answer.status, answer.text.as_str()), (200, text));
        assert_eq!(answer.header("content-type"), Some(kind));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert!(answer.header("content-security-policy").unwrap().starts_with("sandbox; default-src 'none'"));
        assert!(answer.header("etag").unwrap().len() == 66);
    }
    let bytes = client.get("/api/toolsets/kit/files/assets/data.bin");
    assert_eq!(bytes.header("content-type"), Some("application/octet-stream"));
    for path in ["kit/files/none", "kit/files/assets", "kit/files/", "none/files/tools/main.py"] {
        assert_eq!(client.get(&format!("/api/toolsets/{path}")).status, 404, "{path}");
    }
    assert_eq!(client.get("/api/toolsets/kit/files/../x").status, 400);
    let foreigner = workspace();
    foreigner.get("/api/toolsets/kit/files/tools/main.py").refused(404, "NOT_FOUND");
}

/// Gives the toolset `kit` a file. The contents are those of a session, which share their blobs.
pub fn file(client: &Client, path: &str, bytes: &[u8]) {
    let written = client.send("PUT", "/api/sessions/contents/files/it", Some(bytes.to_vec())).json();
    let sql = "INSERT OR REPLACE INTO toolset_files (workspace_id, toolset_id, path, kind, sha256, size)
        VALUES (?1, 'kit', ?2, 'asset', ?3, ?4)";
    let params = [json!(client.workspace()), json!(path), written["sha256"].clone(), written["size"].clone()];
    open().sql(sql, &params);
}
