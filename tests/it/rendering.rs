//! Renderers of tools, and the render plans of calls.

use crate::harness::{Answer, Client, Server, Tool, Upstream, bundle, definition, open, unique, workspace};
use crate::overrides::file;
use serde_json::{Value, json};

/// The plan of a response. Panics unless the record of the call and the list of calls have the same.
#[track_caller]
fn plan(client: &Client, result: &Value) -> Value {
    let record = client.record(result);
    assert_eq!(record["render_plan"], result["render_plan"]);
    let listed = client.get("/api/tool-calls?limit=50").ok();
    let listed = listed["tool_calls"].as_array().unwrap().iter().find(|it| it["id"] == result["call_id"]).unwrap();
    assert_eq!(listed["render_plan"], result["render_plan"]);
    result["render_plan"].clone()
}

/// A server whose built-in of this id is a tool with other columns.
fn server_with(id: &str, columns: Value) -> Server {
    let vars = [("AUTH", "open"), ("SECRET_KEY", "a secret"), ("PRIVATE_URLS", "allow")];
    let server = Server::start(&unique("rendering"), &vars);
    for (name, value) in columns.as_object().unwrap() {
        let sql = format!(
            "UPDATE tool_versions SET {name} = ?1
             WHERE tool_key = (SELECT key FROM tools WHERE workspace_id = '' AND id = ?2)"
        );
        let value = if value.is_object() { json!(value.to_string()) } else { value.clone() };
        server.sql(&sql, &[value, json!(id)]);
    }
    server
}

#[test]
fn tools_show_their_renderer() {
    let client = workspace();
    client.register("plain", "1.0.0", json!({"handler": {"type": "builtin", "key": "read_file"}}));
    let file = json!(["code", {"file": "$args.path"}]);
    for (id, expected) in [
        ("read_file", file.clone()),
        ("write_file", file),
        ("execute_python", json!(["code", {"content": "$return", "language": "text"}])),
        ("list_files", json!([null, null])),
        ("email_search", json!([null, null])),
        // Only the built-in itself has its renderer.
        ("plain", json!([null, null])),
    ] {
        let shown = |tool: &Value| json!([tool["renderer"], tool["renderer_config"]]);
        let tool = client.get(&format!("/api/tools/{id}")).ok();
        assert_eq!(shown(&tool), expected, "{id}");
        let tools = client.get("/api/tools").ok();
        let listed = tools["tools"].as_array().unwrap().iter().find(|it| it["id"] == id).unwrap();
        assert_eq!(*listed, tool);
        assert_eq!(shown(&client.get(&format!("/api/tools/{id}/versions")).ok()["versions"][0]), expected, "{id}");
    }
    let email = client.get("/api/tools/email_get").ok();
    assert_eq!(email["renderer"], "document");
    let agent = client.agent(json!({}));
    let toolbox = client.get(&format!("/api/agents/{agent}/toolbox?format=json")).ok();
    let tool = toolbox["tools"].as_array().unwrap().iter().find(|it| it["id"] == "read_file").unwrap().clone();
    assert_eq!(tool["renderer_config"], json!({"file": "$args.path"}));
}

#[test]
fn no_tool_can_be_registered_with_a_renderer() {
    let client = workspace();
    let mut tool = definition("mine", "1.0.0", json!({"renderer": null, "renderer_config": null}));
    client.post("/api/tools", tool.clone()).created();
    (tool["version"], tool["renderer"]) = (json!("1.0.1"), json!("code"));
    assert_eq!(client.post("/api/tools", tool).refused(400, "VALIDATION_ERROR").paths(), ["/renderer"]);
}

#[test]
fn the_plan_of_a_file_names_the_file() {
    let client = workspace();
    let file = |path: &str| json!({"renderer": "code", "config": {"file": path}});
    let written = client.execute("write_file", json!({"path": "/a.py", "content": "x = 1"})).result(200);
    assert_eq!(plan(&client, &written), file("/a.py"));
    let read = client.execute("read_file", json!({"path": "a.py"})).result(200);
    assert_eq!(plan(&client, &read), file("a.py"));
    let listed = client.execute("list_files", json!({})).result(200);
    assert_eq!(plan(&client, &listed), Value::Null);
}

#[test]
fn the_plan_of_a_failed_call_has_the_error() {
    let client = workspace();
    let failed = client.execute("read_file", json!({"path": "/none"})).failed(200, "TOOL_ERROR");
    let error = json!({"code": "TOOL_ERROR", "message": "File not found: /none"});
    assert_eq!(plan(&client, &failed), json!({"renderer": "code", "config": {"file": "/none"}, "error": error}));
    let failed = client.execute("execute_python", json!({"code": "1 / 0"})).failed(200, "TOOL_ERROR");
    let plan = plan(&client, &failed);
    assert_eq!(plan["config"], json!({"content": null, "language": "text"}));
    assert_eq!(plan["error"]["code"], "TOOL_ERROR");
}

#[test]
fn a_refused_call_has_no_plan() {
    let client = workspace();
    let refused = client.execute("read_file", json!({"path": 1})).failed(400, "INVALID_ARGUMENTS");
    assert_eq!(plan(&client, &refused), Value::Null);
    let unknown = client.execute("none", json!({})).failed(404, "UNKNOWN_TOOL");
    assert_eq!(plan(&client, &unknown), Value::Null);
}

#[test]
fn the_plan_of_python_has_what_it_printed() {
    let client = workspace();
    let printed = client.execute("execute_python", json!({"code": "print('$args.code')"})).result(200);
    let expected = json!({"renderer": "code", "config": {"content": "$args.code\n", "language": "text"}});
    assert_eq!(plan(&client, &printed), expected);
    // A result that is cut for its reader leaves the plan whole.
    let call = json!({"tool_name": "execute_python", "arguments": {"code": "print('x' * 50)"}, "max_result_bytes": 5});
    let cut = client.call(call).result(200);
    assert!(cut["result"].as_str().unwrap().starts_with("xxxxx\n[cut:"));
    assert_eq!(plan(&client, &cut)["config"]["content"], format!("{}\n", "x".repeat(50)));
}

#[test]
fn a_list_shows_a_long_plan_without_its_configuration() {
    let client = workspace();
    let long = client.execute("execute_python", json!({"code": "print('x' * 20000)"})).result(200);
    assert_eq!(client.record(&long)["render_plan"], long["render_plan"]);
    let content = long["render_plan"]["config"]["content"].as_str().unwrap();
    assert_eq!(content.len(), 20_001);
    let size = long["render_plan"].to_string().len();
    let url = format!("/api/tool-calls/{}", long["call_id"].as_str().unwrap());
    let listed = client.get("/api/tool-calls").ok()["tool_calls"][0].clone();
    let expected = json!({"renderer": "code", "config": null, "truncated": true, "size": size, "url": url});
    assert_eq!(listed["render_plan"], expected);
}

#[test]
fn a_repeated_call_has_the_plan_of_the_first() {
    let client = workspace();
    for (code, status) in [("print(6 * 7)", true), ("1 / 0", false)] {
        let call = json!({"tool_name": "execute_python", "arguments": {"code": code}, "idempotency_key": code});
        let first = client.call(call.clone()).result(200);
        assert_eq!((&first["success"], first["render_plan"].is_object()), (&json!(status), true));
        assert_eq!(client.call(call).result(200), first);
    }
}

#[test]
fn a_models_call_is_recorded_with_its_plan() {
    let client = workspace();
    let agent = client.agent(json!({}));
    let calls = json!([{"id": "c1", "type": "function",
        "function": {"name": "write_file", "arguments": "{\"path\": \"/m\", \"content\": \"x\"}"}}]);
    let made = client.post(&format!("/api/agents/{agent}/tool-calls"), json!({"tool_calls": calls})).ok();
    let call = made["calls"][0]["call_id"].as_str().unwrap();
    let record = client.get(&format!("/api/tool-calls/{call}")).ok();
    assert_eq!(record["render_plan"], json!({"renderer": "code", "config": {"file": "/m"}}));
}

#[test]
fn a_plan_costs_no_round_trip_and_no_row() {
    let client = workspace();
    client.execute("write_file", json!({"path": "/a", "content": "x"})).success();
    let with_plan = client.execute("read_file", json!({"path": "/a"}));
    let without = client.execute("list_files", json!({"path": "/"}));
    assert!(with_plan.result(200)["render_plan"].is_object() && without.result(200)["render_plan"].is_null());
    for figure in ["round_trips", "rows_written"] {
        assert_eq!(with_plan.cost(figure), without.cost(figure), "{figure}");
    }
}

/// No built-in has secrets, so this one is another tool under its id.
#[test]
fn secrets_are_in_no_plan() {
    let upstream = Upstream::start();
    let secret = json!({"type": "string", "writeOnly": true});
    let server = server_with(
        "execute_python",
        json!({
            "handler_key": "http",
            "handler": {"type": "http", "url": upstream.at("/echo"), "headers": {}},
            "parameters_schema": {"properties": {"code": {"type": "string"}, "key": secret}},
        }),
    );
    let client = server.client("secrets");
    let arguments = json!({"code": "mine is hunter22", "key": "hunter22"});
    let done = client.execute("execute_python", arguments.clone()).result(200);
    assert_eq!(done["result"]["arguments"], arguments, "the answer is the tool's own");
    let shown = json!({"code": "mine is [redacted]", "key": "[redacted]"});
    let plan = plan(&client, &done);
    assert_eq!(plan["config"]["content"]["arguments"], shown, "a whole expression keeps its type");
    assert!(!plan.to_string().contains("hunter22"));
    let stored = server.sql("SELECT render_plan FROM tool_calls", &[]);
    assert!(!stored[0].to_string().contains("hunter22"), "{stored:?}");
}

#[test]
fn an_approved_call_and_a_long_call_have_their_plans() {
    let upstream = Upstream::start();
    let server = server_with(
        "execute_python",
        json!({
            "handler_key": "http",
            "handler": {"type": "http", "url": upstream.at("/text"), "headers": {}},
            "parameters_schema": {"type": "object"},
            // Such a call is run by its Durable Object.
            "timeout_seconds": 60,
        }),
    );
    let client = server.client("waits");
    let expected = json!({"renderer": "code", "config": {"content": "plain words", "language": "text"}});
    let long = client.execute("execute_python", json!({})).result(200);
    assert_eq!(plan(&client, &long), expected);

    server.sql(
        "UPDATE tool_versions SET requires_approval = 1, timeout_seconds = 30
         WHERE tool_key = (SELECT key FROM tools WHERE workspace_id = '' AND id = 'execute_python')",
        &[],
    );
    let pending = client.execute("execute_python", json!({})).failed(202, "APPROVAL_REQUIRED");
    assert_eq!(plan(&client, &pending), Value::Null);
    let id = pending["error"]["details"]["approval_id"].as_str().unwrap();
    let done = client.post(&format!("/api/approvals/{id}/approve"), json!({})).result(200);
    assert_eq!(plan(&client, &done), expected);
}

/// A plan is bounded, and so is the row that holds it.
#[test]
fn a_large_result_is_cut_in_the_plan() {
    let upstream = Upstream::start();
    let server = server_with(
        "execute_python",
        json!({
            "handler_key": "http",
            "handler": {"type": "http", "url": upstream.at("/echo"), "headers": {}},
            "parameters_schema": {"type": "object"},
        }),
    );
    let client = server.client("large");
    let large = client.execute("execute_python", json!({"text": "x".repeat(200_000)})).result(200);
    let config = json!({"content": null, "language": "text", "cut": ["$return"]});
    assert_eq!(plan(&client, &large), json!({"renderer": "code", "config": config}));
}

/// A workspace with the toolset `kit`, whose tool `list` lists files and is shown as a page.
fn with_page(config: Value) -> Client {
    let client = workspace();
    Tool::new("kit:list").source("toolset").builtin("list_files").put(open(), &client);
    file(
        &client,
        "artifacts/page.html",
        b"<!doctype html><html><HEAD><title>a</title></HEAD><body class='x'>b</body></html>",
    );
    let body = json!({"renderer": "html", "renderer_config": config});
    client.put("/api/toolsets/kit/overrides/list", body.to_string()).ok();
    client
}

/// The page of a call.
fn page(client: &Client, result: &Value) -> Answer {
    client.get(&format!("/api/tool-calls/{}/render", result["call_id"].as_str().unwrap()))
}

#[test]
fn a_page_is_the_artifact_with_the_data_of_the_call() {
    let client =
        with_page(json!({"artifact": "./artifacts/page.html", "data": {"dir": "$args.path", "from": "$toolset"}}));
    let hostile = "/</script><script>alert(1)</script>\u{2028}";
    let result = client.execute("kit:list", json!({"path": hostile})).result(200);
    let artifact = "/api/toolsets/kit/files/artifacts/page.html";
    assert_eq!(plan(&client, &result)["config"]["artifact"], artifact);
    let answer = page(&client, &result);
    let data =
        answer.text.strip_prefix("<!doctype html><html><HEAD><title>a</title><script>window.__TOOL_DATA__ = ").unwrap();
    let data = data.strip_suffix(";</script></HEAD><body class='x'>b</body></html>").unwrap();
    assert!(!data.contains(['<', '\u{2028}']), "{data}");
    let data: Value = serde_json::from_str(data).unwrap();
    assert_eq!(data, json!({"dir": hostile, "from": "/api/toolsets/kit/files"}));
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"));
    assert_eq!(
        answer.header("content-security-policy"),
        Some(
            "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
             img-src data: blob:; font-src data:; media-src data: blob:; base-uri 'none'; form-action 'none'; \
             frame-ancestors 'self'"
        )
    );
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
    assert_eq!(answer.header("connection-allowlist"), Some("()"));
    assert_eq!(answer.header("cache-control"), Some("private"));
    // The plan stays, and the artifact is the present one.
    file(&client, "artifacts/page.html", b"<p>new</p>");
    assert!(page(&client, &result).text.ends_with(";</script><p>new</p>"));
    file(&client, "artifacts/page.html", &[0, 255]);
    page(&client, &result).refused(409, "CONFLICT");
    open().sql("DELETE FROM toolset_files WHERE workspace_id = ?1", &[json!(client.workspace())]);
    page(&client, &result).refused(404, "NOT_FOUND");
}

#[test]
fn a_page_may_be_the_content_of_the_plan() {
    let client = with_page(json!({"content": "<body><p>$args.path</p>"}));
    let result = client.execute("kit:list", json!({"path": "/a"})).result(200);
    assert_eq!(page(&client, &result).text, "<body><script>window.__TOOL_DATA__ = null;</script><p>/a</p>");
    let client = with_page(json!({"content": "$args.none"}));
    let result = client.execute("kit:list", json!({})).result(200);
    page(&client, &result).refused(409, "CONFLICT");
}

#[test]
fn a_call_without_a_page_says_so() {
    let client = workspace();
    let of = |answer: Answer| {
        let id = answer.json()["call_id"].as_str().unwrap().to_owned();
        client.get(&format!("/api/tool-calls/{id}/render")).refused(409, "CONFLICT").message
    };
    let code = of(client.execute("write_file", json!({"path": "/a", "content": "b"})));
    assert!(code.contains("is code, and only html has a page"), "{code}");
    assert!(of(client.execute("list_files", json!({}))).contains("has no render plan"));
    Tool::new("waits").builtin("list_files").with(json!({"requires_approval": 1})).put(open(), &client);
    assert!(of(client.execute("waits", json!({}))).contains("waits for its approval"));
    client.get("/api/tool-calls/call_none/render").refused(404, "NOT_FOUND");
}

#[test]
fn an_imported_tool_shows_its_page() {
    let client = workspace();
    let manifest = json!({
        "manifest_version": "1", "id": "charts", "name": "Charts", "version": "1.0.0", "description": "Draws numbers",
        "tools": [{"id": "plot", "entrypoint": "tools.plot:plot"}],
        "tool_overrides": [{
            "tool_id": "plot", "renderer": "html",
            "renderer_config": {"artifact": "./artifacts/plot.html", "data": "$return"},
        }],
    });
    let python = b"def plot(values: list[float]) -> dict:\n    return {\"largest\": max(values)}\n";
    let files = [("artifacts/plot.html", b"<body>Plot</body>".as_slice()), ("tools/plot.py", python)];
    client.send("POST", "/api/toolsets", Some(bundle(&manifest, &files))).created();
    let result = client.execute("charts:plot", json!({"values": [1, 3, 2]})).result(200);
    let expected = json!({"artifact": "/api/toolsets/charts/files/artifacts/plot.html", "data": {"largest": 3.0}});
    assert_eq!(plan(&client, &result)["config"], expected);
    assert_eq!(
        page(&client, &result).text,
        "<body><script>window.__TOOL_DATA__ = {\"largest\":3.0};</script>Plot</body>"
    );
    let python = client.get("/api/toolsets/charts/files/tools/plot.py");
    assert!(python.text.starts_with("def plot"));
}
