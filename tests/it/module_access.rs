//! Who may use the tools of modules: the toolbox of an agent, calls, and trying a tool out.

use crate::harness::{Client, Server, Tool, Upstream, closed, closed_workspace, open, workspace};
use serde_json::{Value, json};

/// A tool of a module that runs without a server.
fn tool(id: &str) -> Tool {
    Tool::new(id).source("module").builtin("list_files")
}

fn ids(answer: &Value) -> Vec<String> {
    answer["tools"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect()
}

fn toolbox(client: &Client, agent: &str) -> Vec<String> {
    ids(&client.get(&format!("/api/agents/{agent}/toolbox")).ok())
}

fn set_defaults(client: &Client, modules: &[&str]) {
    client.patch("/api/workspace", json!({"default_guest_modules": modules})).ok();
}

fn set_enabled(server: &Server, client: &Client, module: &str, enabled: bool) {
    server.sql(
        "UPDATE upstreams SET enabled = ?3 WHERE workspace_id = ?1 AND name = ?2",
        &[json!(client.workspace()), json!(module), json!(u8::from(enabled))],
    );
}

/// "Two-Stage Filtering" of the document: a user, a persona with three modules, and seven tools of four modules.
#[test]
fn the_documents_example_has_the_documents_result() {
    let root = closed_workspace();
    for (id, level) in [
        ("research.web_search", "guest"),
        ("research.fetch_webpage", "guest"),
        ("file_manager.create_document", "guest"),
        ("file_manager.delete_file", "user"),
        ("code_executor.run_python", "user"),
        ("code_executor.run_shell", "admin"),
        ("scheduler.add_job", "admin"),
    ] {
        tool(id).with(json!({"required_permission": level})).put(closed(), &root);
    }
    let user = root.token(json!({"name": "user", "level": "user"}));
    let persona = json!({"default_tools": false, "permission_level": "owner",
        "allowed_modules": ["research", "file_manager", "code_executor"]});
    let agent = user.agent(persona);
    assert_eq!(
        toolbox(&user, &agent),
        [
            "research.web_search",
            "research.fetch_webpage",
            "file_manager.create_document",
            "file_manager.delete_file",
            "code_executor.run_python",
        ]
    );
    // The calls are of one mind with the toolbox.
    let call = |tool: &str| user.call(json!({"tool_name": tool, "agent_id": agent}));
    call("file_manager.delete_file").success();
    call("code_executor.run_shell").failed(403, "PERMISSION_DENIED");
    call("scheduler.add_job").failed(403, "PERMISSION_DENIED");
}

#[test]
fn a_module_is_allowed_by_the_agents_list_or_else_by_the_workspaces() {
    let client = workspace();
    tool("research.web").put(open(), &client);
    tool("files.wipe").put(open(), &client);
    let own = client.agent(json!({"default_tools": false, "allowed_modules": ["files"]}));
    let none = client.agent(json!({"default_tools": false}));
    let call = |agent: &str, tool: &str| client.call(json!({"tool_name": tool, "agent_id": agent}));

    call(&own, "files.wipe").success();
    let refused = call(&own, "research.web").failed(403, "MODULE_NOT_ALLOWED");
    assert_eq!(refused["error"]["details"], json!({"module": "research"}));
    assert_eq!(
        refused["error"]["message"],
        "research.web@1.0.0 belongs to the module research, which the agent may not use"
    );
    assert_eq!(client.record(&refused)["error"]["code"], "MODULE_NOT_ALLOWED");
    call(&none, "files.wipe").failed(403, "MODULE_NOT_ALLOWED");
    assert_eq!((toolbox(&client, &own), toolbox(&client, &none)), (vec!["files.wipe".to_owned()], vec![]));

    set_defaults(&client, &["research"]);
    call(&none, "research.web").success();
    call(&none, "files.wipe").failed(403, "MODULE_NOT_ALLOWED");
    // A list of its own replaces the workspace's.
    call(&own, "research.web").failed(403, "MODULE_NOT_ALLOWED");
    assert_eq!(toolbox(&client, &none), ["research.web"]);

    // An attachment allows nothing, and says so.
    for (agent, tool, warns) in [
        (&own, "files.wipe", false),
        (&own, "research.web", true),
        (&none, "research.web", false),
        (&none, "files.wipe", true),
    ] {
        let attached = client.post(&format!("/api/agents/{agent}/tools"), json!({"tool_id": tool})).created();
        assert_eq!(attached["warnings"].as_array().unwrap().len(), usize::from(warns), "{attached}");
        assert_eq!(call(agent, tool).json()["success"], !warns, "{tool}");
    }
    call(&own, "research.web").failed(403, "MODULE_NOT_ALLOWED");
    assert_eq!(
        (toolbox(&client, &own), toolbox(&client, &none)),
        (vec!["files.wipe".to_owned()], vec!["research.web".to_owned()])
    );
}

#[test]
fn a_guest_without_an_agent_is_held_to_the_default_modules() {
    let root = closed_workspace();
    tool("research.web").put(closed(), &root);
    let [guest, user] = ["guest", "user"].map(|it| root.token(json!({"name": it, "level": it})));
    let refused = guest.execute("research.web", json!({})).failed(403, "MODULE_NOT_ALLOWED");
    assert_eq!(
        refused["error"]["message"],
        "research.web@1.0.0 belongs to the module research, which guests may not use"
    );
    user.execute("research.web", json!({})).success();
    // A bound guest is held to the agent's list.
    let agent = root.agent(json!({"allowed_modules": ["research"]}));
    let bound = root.token(json!({"name": "bound", "level": "guest", "agent_id": agent}));
    bound.execute("research.web", json!({})).success();
    // Lists show all, and other tools are as open as before.
    assert_eq!(ids(&guest.get("/api/tools?source=module").ok()), ["research.web"]);
    guest.execute("list_files", json!({})).success();
    set_defaults(&root, &["research"]);
    guest.execute("research.web", json!({})).success();
}

#[test]
fn levels_capabilities_and_risk_hold_as_before() {
    let client = workspace();
    let agent = client.agent(json!({"allowed_modules": ["kit"], "capabilities": ["mail"], "max_risk": "low"}));
    let check = |it: Tool, id: &str, code: &str| {
        it.put(open(), &client);
        client.call(json!({"tool_name": id, "agent_id": agent})).failed(403, code);
        assert!(!toolbox(&client, &agent).contains(&id.to_owned()));
    };
    check(tool("kit.admin").with(json!({"required_permission": "admin"})), "kit.admin", "PERMISSION_DENIED");
    check(tool("kit.net").with(json!({"required_capabilities": ["net"]})), "kit.net", "CAPABILITY_MISSING");
    check(tool("kit.risky").with(json!({"risk_level": "medium"})), "kit.risky", "RISK_TOO_HIGH");
    tool("kit.fits").with(json!({"required_capabilities": ["mail"]})).put(open(), &client);
    client.call(json!({"tool_name": "kit.fits", "agent_id": agent})).success();
}

#[test]
fn the_tools_of_a_disabled_module_are_disabled_and_in_no_toolbox() {
    let client = workspace();
    tool("kit.one").put(open(), &client);
    tool("kit.waits").with(json!({"requires_approval": 1})).put(open(), &client);
    tool("other.one").put(open(), &client);
    let agent = client.agent(json!({"default_tools": false, "allowed_modules": ["kit", "other", "unregistered"]}));
    client.post(&format!("/api/agents/{agent}/tools"), json!({"tool_id": "kit.one"})).created();
    assert_eq!(toolbox(&client, &agent), ["kit.one", "kit.waits", "other.one"]);
    let waits = client.execute("kit.waits", json!({})).result(202);
    let approval = waits["error"]["details"]["approval_id"].as_str().unwrap();

    set_enabled(open(), &client, "kit", false);
    assert_eq!(toolbox(&client, &agent), ["other.one"]);
    let found = client.get(&format!("/api/agents/{agent}/toolbox?q=one")).ok();
    assert_eq!(ids(&found), ["other.one"]);
    for name in ["kit.one", "kit.one@1.0.0"] {
        client.execute(name, json!({})).failed(409, "TOOL_DISABLED");
        client.call(json!({"tool_name": name, "agent_id": agent})).failed(409, "TOOL_DISABLED");
    }
    client.post(&format!("/api/approvals/{approval}/approve"), json!({})).refused(409, "CONFLICT");
    client.delete(&format!("/api/agents/{agent}/tools/kit.one")).no_content();
    let attached = client.post(&format!("/api/agents/{agent}/tools"), json!({"tool_id": "kit.one"})).created();
    assert_eq!(attached["warnings"][0]["message"], "The agent cannot use kit.one now: kit.one is not active");

    set_enabled(open(), &client, "kit", true);
    assert_eq!(toolbox(&client, &agent), ["kit.one", "kit.waits", "other.one"]);
    client.execute("kit.one", json!({})).success();
    client.post(&format!("/api/approvals/{approval}/approve"), json!({})).success();
}

#[test]
fn a_toolbox_has_each_tool_once_in_the_order_of_creation() {
    let client = workspace();
    tool("b.first").put(open(), &client);
    Tool::new("plain").put(open(), &client);
    tool("a.second").put(open(), &client);
    tool("a.off").inactive("deprecated").put(open(), &client);
    tool("a-b.other").put(open(), &client);
    tool("b.third").schema(json!({"type": "object", "properties": {"path": {"type": "string"}}})).put(open(), &client);
    let agent = client.agent(json!({"allowed_modules": ["a", "b"]}));
    let path = format!("/api/agents/{agent}");
    let defaults = ["execute_python", "read_file", "write_file", "list_files"];
    assert_eq!(toolbox(&client, &agent), [&defaults[..], &["b.first", "a.second", "b.third"]].concat());
    assert_eq!(client.get(&path).ok()["default_tools_in_use"], true, "tools of modules are no attachments");
    // Every page is cut at its place, also among the default tools.
    for limit in [1, 2, 3, 5] {
        let paged = client.pages(&format!("{path}/toolbox"), "tools", limit);
        assert_eq!(ids(&json!({"tools": paged})), toolbox(&client, &agent), "{limit}");
    }
    client.get(&format!("{path}/toolbox?cursor=7a7a")).refused(400, "VALIDATION_ERROR");

    let config = json!({"default_path": "/notes"});
    client.post(&format!("{path}/tools"), json!({"tool_id": "b.third", "config": config})).created();
    client.post(&format!("{path}/tools"), json!({"tool_id": "plain"})).created();
    let shown = client.get(&format!("{path}/toolbox")).ok();
    assert_eq!(ids(&shown), ["b.first", "plain", "a.second", "b.third"]);
    let configs = shown["tools"].as_array().unwrap().iter().map(|it| it["config"].clone()).collect::<Vec<_>>();
    assert_eq!(configs, [Value::Null, Value::Null, Value::Null, config]);
    let exported = client.get(&format!("{path}/toolbox?format=openai")).ok();
    assert_eq!(exported["tools"].as_array().unwrap().len(), 4);
}

#[test]
fn a_search_finds_the_tools_of_allowed_modules() {
    let client = workspace();
    let described = |it: Tool, text: &str| it.with(json!({"description": text}));
    described(tool("kit.stars"), "Lists the stars of a galaxy").put(open(), &client);
    described(tool("kit.moons"), "Lists the moons of a planet").put(open(), &client);
    described(tool("other.stars"), "Lists the stars of a galaxy").put(open(), &client);
    described(Tool::new("plain"), "Lists the stars of a film").put(open(), &client);
    let agent = client.agent(json!({"allowed_modules": ["kit"]}));
    let found = |query: &str| ids(&client.get(&format!("/api/agents/{agent}/toolbox?q={query}")).ok());
    assert_eq!(found("stars"), ["kit.stars"]);
    assert_eq!(found("galaxy+planet").len(), 2);
    assert_eq!(found("python"), ["execute_python"]);
    assert_eq!(found("nothing-like-it"), [""; 0]);
    client.post(&format!("/api/agents/{agent}/tools"), json!({"tool_id": "plain"})).created();
    client
        .post(&format!("/api/agents/{agent}/tools"), json!({"tool_id": "kit.stars", "config": {"default_path": "/"}}))
        .created();
    let both = client.get(&format!("/api/agents/{agent}/toolbox?q=stars")).ok();
    let mut names = ids(&both);
    names.sort();
    assert_eq!(names, ["kit.stars", "plain"]);
    let stars = both["tools"].as_array().unwrap().iter().find(|it| it["id"] == "kit.stars").unwrap();
    assert_eq!(stars["config"], json!({"default_path": "/"}));
    assert_eq!(found("python"), [""; 0], "the attachment has ended the default tools");
    let first = client.get(&format!("/api/agents/{agent}/toolbox?q=stars+planet&limit=2")).ok();
    let cursor = first["next_cursor"].as_str().unwrap();
    let second = client.get(&format!("/api/agents/{agent}/toolbox?q=stars+planet&limit=2&cursor={cursor}")).ok();
    let mut all = [ids(&first), ids(&second)].concat();
    all.sort();
    assert_eq!(all, ["kit.moons", "kit.stars", "plain"]);
}

#[test]
fn an_unknown_module_is_told_to_the_letter() {
    let client = workspace();
    tool("research.web_search").put(open(), &client);
    let message = |name: &str| {
        let refused = client.execute(name, json!({})).failed(404, "UNKNOWN_TOOL");
        let error = refused["error"].clone();
        assert_eq!(client.record(&refused)["error"], error);
        (error["message"].as_str().unwrap().to_owned(), error["details"].clone())
    };
    assert_eq!(message("weather.today"), ("Unknown module: weather".to_owned(), Value::Null));
    assert_eq!(message("weather.today@1.0.0").0, "Unknown module: weather");
    assert_eq!(message("weather.today.late").0, "Unknown module: weather");
    // The suggestion is no part of the message.
    let nearest = json!({"nearest": "research.web_search"});
    assert_eq!(message("reserch.web_search"), ("Unknown module: reserch".to_owned(), nearest.clone()));
    // The module exists, so its tool is what is missing.
    assert_eq!(message("research.fly_to_mars_and_back").0, "Tool not found: research.fly_to_mars_and_back");
    let near = "Tool not found: research.web_serch. Did you mean research.web_search?";
    assert_eq!(message("research.web_serch"), (near.to_owned(), nearest));
    assert_eq!(message("research.web_search@9.9.9").0, "Tool not found: research.web_search@9.9.9");
    // These are no names of modules.
    assert_eq!(message("nothing_at_all").0, "Tool not found: nothing_at_all");
    assert_eq!(message("../x").0, "Tool not found: ../x");
    // The module of another workspace is unknown here.
    let other = workspace().execute("research.web_search", json!({})).failed(404, "UNKNOWN_TOOL");
    assert_eq!(other["error"]["message"], "Unknown module: research");
}

#[test]
fn a_modules_tool_is_tried_through_the_pipeline() {
    let client = workspace();
    let upstream = Upstream::start();
    let handler = json!({"type": "module", "module": "research"}).to_string();
    Tool::new("research.echo")
        .source("module")
        .with(json!({"handler_key": "module", "handler": handler}))
        .put(open(), &client);
    tool("files.list").put(open(), &client);
    open().sql(
        "UPDATE upstreams SET url = ?2 WHERE workspace_id = ?1 AND name = 'research'",
        &[json!(client.workspace()), json!(upstream.at(""))],
    );
    let path = "/api/modules/research/execute";
    let answer = client.post(
        path,
        json!({"tool_name": "research.echo", "arguments": {"query": "gas"}, "user_id": "ada", "session_id": "s1"}),
    );
    let result = answer.result(200);
    let sent = json!({"tool_name": "research.echo", "arguments": {"query": "gas"}, "user_id": "ada"});
    assert_eq!(result["result"], sent);
    assert_eq!(upstream.received().last().unwrap().body, sent);
    let record = client.record(&result);
    assert_eq!((&record["user_id"], &record["session_id"]), (&json!("ada"), &json!("s1")));

    let agent = client.agent(json!({"allowed_modules": ["files"]}));
    client.post(path, json!({"tool_name": "research.echo", "agent_id": agent})).failed(403, "MODULE_NOT_ALLOWED");
    client.post("/api/modules/files/execute", json!({"tool_name": "files.list", "agent_id": agent})).success();

    let refused = client.post(path, json!({"tool_name": "echo"})).failed(400, "VALIDATION_ERROR");
    assert_eq!(refused["error"]["message"], "Invalid tool name format: echo. Expected 'module.tool_name'.");
    assert_eq!(refused["error"]["details"]["problems"][0]["path"], "/tool_name");
    assert_eq!(client.record(&refused)["error"], refused["error"]);
    let refused = client.post(path, json!({"tool_name": "files.list"})).failed(400, "VALIDATION_ERROR");
    assert_eq!(refused["error"]["message"], "/tool_name: files.list is no tool of the module research");
    let unknown = client.post("/api/modules/weather/execute", json!({"tool_name": "weather.today"}));
    assert_eq!(unknown.failed(404, "UNKNOWN_TOOL")["error"]["message"], "Unknown module: weather");
    let missing = client.post(path, json!({"tool_name": "research.nothing_of_the_kind"}));
    assert_eq!(missing.failed(404, "UNKNOWN_TOOL")["error"]["message"], "Tool not found: research.nothing_of_the_kind");
    client.post(path, json!({"tool_name": "research.echo", "message_id": "m"})).failed(400, "VALIDATION_ERROR");
    client.post(path, json!({"tool_name": "research.echo", "session_id": "a b"})).failed(400, "VALIDATION_ERROR");
    client.post(path, json!({"arguments": {}})).refused(400, "VALIDATION_ERROR");
    client.post("/api/modules/Research/execute", json!({"tool_name": "x.y"})).refused(404, "NOT_FOUND");
    assert_eq!(upstream.received().len(), 1);
}

#[test]
fn a_guest_who_tries_a_tool_leaves_no_row() {
    let root = closed_workspace();
    tool("kit.list").put(closed(), &root);
    let guest = root.token(json!({"name": "guest", "level": "guest"}));
    let body = json!({"tool_name": "kit.list"});
    guest.post("/api/modules/kit/execute", body.clone()).refused(403, "PERMISSION_DENIED");
    let calls = || root.get("/api/tool-calls").ok()["tool_calls"].as_array().unwrap().len();
    assert_eq!(calls(), 0);
    root.token(json!({"name": "user", "level": "user"})).post("/api/modules/kit/execute", body).success();
    assert_eq!(calls(), 1);
}

/// `count` tools of a module, and as many registered tools.
fn many(client: &Client, module: &str, count: u32) {
    let params = json!([client.workspace(), module, count]);
    let answer = open().ask(json!({"batch": [
        {
            "sql": "INSERT INTO upstreams (workspace_id, name, kind, url, slow, headers, enabled, auto_accept, created_at,
                      revision, status, discovered_at, expires_at)
                    SELECT ?1, ?2, 'manifest', 'http://127.0.0.1:9', 0, '{}', 1, 0, '2026-11-16T01:00:00.000Z', 1, 'ok',
                      '2026-11-16T01:00:00.000Z', '2126-11-16T01:00:00.000Z' WHERE ?3 > 0",
            "params": params,
        },
        {
            "sql": "INSERT INTO tools (workspace_id, id, source, created_at)
                    WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?3 - 1)
                    SELECT ?1, ?2 || separator || 'tool' || printf('%04d', i), source, '2026-11-16T01:00:00.000Z' FROM n,
                      (SELECT '.' AS separator, 'module' AS source UNION ALL SELECT '-', 'registered') ORDER BY i",
            "params": params,
        },
        {
            "sql": "INSERT INTO tool_versions (workspace_id, tool_key, major, minor, patch, name, description,
                      parameters_schema, handler_key, handler, category, registered_at, registered_by, active)
                    SELECT ?1, key, 1, 0, 0, 'Tool ' || id, 'A tool that does a thing very well', '{\"type\":\"object\"}',
                      'list_files', '{\"type\":\"builtin\",\"key\":\"list_files\"}', ?2,
                      '2026-11-16T01:00:00.000Z', 'tests', 1
                    FROM tools WHERE workspace_id = ?1 AND id GLOB ?2 || '[.-]*' AND ?3 > 0",
            "params": params,
        },
    ]}));
    assert!(answer["error"].is_null(), "{answer}");
}

#[test]
fn a_toolbox_of_a_thousand_module_tools_reads_its_own_rows() {
    let client = workspace();
    many(&client, "large", 1_000);
    many(&client, "small", 10);
    many(&client, "other", 1_000);
    let cost = |agent: &str, query: &str| {
        let answer = client.get(&format!("/api/agents/{agent}/toolbox{query}"));
        assert_eq!(answer.cost("round_trips"), 1);
        (ids(&answer.ok()).len(), answer.cost("rows_read"))
    };
    let of_module = |module: &str| client.agent(json!({"default_tools": false, "allowed_modules": [module]}));
    let attached = client.agent(json!({"default_tools": false}));
    for it in 0..10 {
        let body = json!({"tool_id": format!("small-tool{it:04}")});
        client.post(&format!("/api/agents/{attached}/tools"), body).created();
    }
    let (attached, small) = (cost(&attached, ""), cost(&of_module("small"), ""));
    let large = of_module("large");
    let (page, large) = (cost(&large, "?limit=10"), cost(&large, ""));
    let figures = format!("tools and rows: attached {attached:?}, small {small:?}, large {large:?}, a page {page:?}");
    assert_eq!([attached.0, small.0, large.0, page.0], [10, 10, 1_000, 10], "{figures}");
    println!("{figures}");
    // Each tool costs the same, whatever else is in the registry. A tool of a module reads the row of its module besides.
    assert!(small.1 <= attached.1 + 20, "{figures}");
    assert!(large.1 / 1_000 <= small.1 / 10, "{figures}");
    // A page reads the keys of all tools, and the definitions of some.
    assert!(page.1 <= large.1 / 2, "{figures}");
}

#[test]
fn a_toolbox_of_more_than_a_thousand_tools_comes_in_pages() {
    let client = workspace();
    many(&client, "large", 1_100);
    let agent = client.agent(json!({"allowed_modules": ["large"]}));
    let path = format!("/api/agents/{agent}/toolbox");
    let first = client.get(&path).ok();
    assert_eq!(ids(&first).len(), 1_000);
    let second = client.get(&format!("{path}?cursor={}", first["next_cursor"].as_str().unwrap())).ok();
    assert_eq!(second["next_cursor"], Value::Null);
    let all = [ids(&first), ids(&second)].concat();
    assert_eq!(all.len(), 1_104);
    assert_eq!(
        (all[0].as_str(), all[4].as_str(), all[1_103].as_str()),
        ("execute_python", "large.tool0000", "large.tool1099")
    );
    // A search has its limit of matches, and its pages lead on too.
    let found = client.get(&format!("{path}?q=tool&limit=200")).ok();
    assert_eq!(ids(&found).len(), 200);
    assert!(found["next_cursor"].is_string());
}

#[test]
fn a_call_of_another_tool_costs_no_row_for_modules() {
    let client = workspace();
    set_defaults(&client, &["kit"]);
    Tool::new("plain").builtin("list_files").put(open(), &client);
    tool("kit.list").put(open(), &client);
    let agent = client.agent(json!({"allowed_modules": ["kit"]}));
    client.post(&format!("/api/agents/{agent}/tools"), json!({"tool_id": "plain"})).created();
    let cost = |name: &str, figure: &str| {
        client.call(json!({"tool_name": name, "agent_id": agent})).success();
        client.call(json!({"tool_name": name, "agent_id": agent})).cost(figure)
    };
    assert_eq!(cost("plain", "round_trips"), cost("kit.list", "round_trips"));
    let (plain, module) = (cost("plain", "rows_read"), cost("kit.list", "rows_read"));
    println!("plain: {plain} rows, of a module: {module} rows");
    assert!(module <= plain + 3, "{module} rows instead of {plain}");
}
