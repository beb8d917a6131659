//! `POST /api/execute`: every stage of a call, the refusals of that stage, and their record.

use crate::harness::{Client, Server, Tool, Upstream, closed, closed_workspace, definition, open, unique, workspace};
use serde_json::{Value, json};

/// Checks that a refused call is recorded with its code, and was not run.
#[track_caller]
fn recorded(client: &Client, result: &Value) -> Value {
    let record = client.record(result);
    assert_eq!(record["status"], result["status"]);
    assert_eq!(record["error"], result["error"]);
    assert_eq!(record["version"], result["version"]);
    if result["success"] == false {
        assert_eq!(record["result"], Value::Null);
    }
    record
}

#[test]
fn the_file_tools_say_what_the_document_says() {
    let client = workspace();
    let path = "/output/results.json";
    let written = client.execute("write_file", json!({"path": path, "content": "{\"score\": 95}"})).result(200);
    assert_eq!(written["result"], "Wrote 13 bytes to /output/results.json");
    assert!(written["pre_manifest_id"].is_null() && written["post_manifest_id"].is_string());
    assert_eq!(client.execute("read_file", json!({"path": path})).success(), "{\"score\": 95}");
    client.execute("write_file", json!({"path": "notes.txt", "content": "äöü"})).success();
    assert_eq!(
        client.execute("list_files", json!({})).success(),
        "Contents of /:\n[DIR]  /output\n[FILE] /notes.txt (6 bytes)"
    );
    assert_eq!(
        client.execute("list_files", json!({"path": "output/"})).success(),
        "Contents of /output:\n[FILE] /output/results.json (13 bytes)"
    );
    let missing = client.execute("read_file", json!({"path": "/x"})).failed(200, "TOOL_ERROR");
    assert_eq!(missing["error"]["message"], "File not found: /x");
    let missing = client.execute("list_files", json!({"path": "/nowhere"})).failed(200, "TOOL_ERROR");
    assert_eq!(missing["error"]["message"], "Directory not found: /nowhere");
    recorded(&client, &missing);
}

#[test]
fn an_unused_root_is_empty_and_sessions_are_apart() {
    let client = workspace();
    assert_eq!(client.execute("list_files", json!({"path": "/"})).success(), "Contents of /:");
    let call = |session: &str, tool: &str, arguments: Value| {
        client.call(json!({"tool_name": tool, "arguments": arguments, "session_id": session}))
    };
    call("one", "write_file", json!({"path": "a", "content": "1"})).success();
    call("two", "read_file", json!({"path": "a"})).failed(200, "TOOL_ERROR");
    assert_eq!(client.get("/api/sessions/two").ok()["active_manifest_id"], Value::Null, "a call makes its session");
    client.get("/api/sessions/three").refused(404, "NOT_FOUND");
}

#[test]
fn a_call_is_recorded_whole() {
    let client = workspace();
    let agent = client.agent(json!({}));
    let written = client
        .call(json!({
            "tool_name": "write_file", "arguments": {"path": "/a", "content": "x"}, "agent_id": agent,
            "session_id": "s1", "user_id": "ada", "message_id": "m1",
        }))
        .result(200);
    let mut record = client.record(&written);
    for time in ["started_at", "finished_at"] {
        assert!(record[time].take().as_str().is_some_and(|it| it.ends_with('Z')), "{time}");
    }
    assert!(record["duration_ms"].take().is_u64());
    assert_eq!(
        record,
        json!({
            "id": written["call_id"], "tool_name": "write_file", "version": "1.0.0", "agent_id": agent, "user_id": "ada",
            "session_id": "s1", "message_id": "m1", "arguments": {"path": "/a", "content": "x"},
            "result": "Wrote 1 bytes to /a", "shortened": [], "error": null, "details": null, "status": "success",
            "duration_ms": null, "started_at": null, "finished_at": null, "pre_manifest_id": null,
            "render_plan": {"renderer": "code", "config": {"file": "/a"}},
            "post_manifest_id": written["post_manifest_id"], "operator": "anonymous",
        })
    );
}

#[test]
fn an_unknown_tool_version_or_agent_is_not_found() {
    let client = workspace();
    for name in ["nothing", "read_file@9.9.9", "a b", "read_file@latest", "", &"x".repeat(5_000)] {
        let refused = client.execute(name, json!({"secret": 1})).failed(404, "UNKNOWN_TOOL");
        let record = recorded(&client, &refused);
        assert_eq!(record["arguments"], Value::Null, "what is secret in them is not known");
    }
    for agent in ["agent_0", "no agent at all"] {
        let body = json!({"tool_name": "read_file", "arguments": {"path": "/a"}, "agent_id": agent});
        recorded(&client, &client.call(body).failed(404, "UNKNOWN_AGENT"));
    }
    let foreign = workspace().agent(json!({}));
    client.call(json!({"tool_name": "read_file", "agent_id": foreign})).failed(404, "UNKNOWN_AGENT");
    let other = workspace();
    Tool::new("foreign-tool").builtin("list_files").put(open(), &other);
    client.execute("foreign-tool", json!({})).failed(404, "UNKNOWN_TOOL");
}

#[test]
fn the_callers_level_counts_and_the_agents_too() {
    let root = closed_workspace();
    let guest = root.token(json!({"name": "g", "level": "guest"}));
    let refused = guest.execute("write_file", json!({"path": "/a", "content": "x"})).failed(403, "PERMISSION_DENIED");
    assert_eq!(refused["error"]["details"], json!({"needed": "user", "effective": "guest"}));
    recorded(&root, &refused);
    guest.execute("list_files", json!({})).success();

    let agent = root.agent(json!({"permission_level": "guest"}));
    let body = json!({"tool_name": "write_file", "arguments": {"path": "/a", "content": "x"}, "agent_id": agent});
    root.call(body).failed(403, "PERMISSION_DENIED");
    assert_eq!(root.execute("list_files", json!({})).success(), "Contents of /:");
}

#[test]
fn a_bound_token_calls_as_its_agent() {
    let root = closed_workspace();
    let (own, other) = (root.agent(json!({})), root.agent(json!({})));
    let bound = root.token(json!({"name": "b", "level": "owner", "agent_id": own}));
    let done = bound.execute("list_files", json!({})).result(200);
    let record = root.record(&done);
    assert_eq!(record["agent_id"], own.as_str());
    assert!(record["operator"].as_str().unwrap().starts_with("tok_"));
    bound.call(json!({"tool_name": "list_files", "agent_id": other})).failed(403, "PERMISSION_DENIED");
    bound.execute("email_get", json!({"message_id": "x"})).failed(403, "NOT_ATTACHED");
}

#[test]
fn nobody_without_a_good_token_leaves_a_trace() {
    let root = closed_workspace();
    let call = json!({"tool_name": "list_files", "arguments": {}});
    root.without_header("Authorization").call(call.clone()).refused(401, "UNAUTHORIZED");
    root.with_token("peg_tok_0_0").call(call.clone()).refused(401, "UNAUTHORIZED");
    let foreign = closed_workspace().token(json!({"name": "x", "level": "owner"}));
    foreign.in_workspace(root.workspace()).call(call).refused(401, "UNAUTHORIZED");
    assert_eq!(root.get("/api/tool-calls").ok()["tool_calls"], json!([]));
    root.get("/api/sessions/default").refused(404, "NOT_FOUND");
}

#[test]
fn an_agent_uses_what_is_attached_or_the_default_set() {
    let client = workspace();
    let call = |agent: &str, tool: &str| {
        client.call(json!({"tool_name": tool, "arguments": {"message_id": "x"}, "agent_id": agent}))
    };
    let plain = client.agent(json!({}));
    let listed = client.call(json!({"tool_name": "list_files", "agent_id": plain}));
    listed.success();
    recorded(&client, &call(&plain, "email_get").failed(403, "NOT_ATTACHED"));

    let none = client.agent(json!({"default_tools": false}));
    client.call(json!({"tool_name": "list_files", "agent_id": none})).failed(403, "NOT_ATTACHED");

    client.post(&format!("/api/agents/{plain}/tools"), json!({"tool_id": "read_file"})).created();
    client.call(json!({"tool_name": "list_files", "agent_id": plain})).failed(403, "NOT_ATTACHED");
}

#[test]
fn capabilities_risk_modules_and_activity_each_have_their_code() {
    let client = workspace();
    let agent = client.agent(json!({"capabilities": ["mail"], "max_risk": "low", "allowed_modules": ["kitchen"]}));
    let check = |tool: Tool, id: &str, status: u16, code: &str, said: &str| {
        tool.builtin("list_files").put(open(), &client);
        client.post(&format!("/api/agents/{agent}/tools"), json!({"tool_id": id})).created();
        let refused = client.call(json!({"tool_name": id, "agent_id": agent})).failed(status, code);
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.contains(said), "{message}");
        recorded(&client, &refused);
    };
    let needs = Tool::new("needs").with(json!({"required_capabilities": ["mail", "net"]}));
    check(needs, "needs", 403, "CAPABILITY_MISSING", "net");
    check(Tool::new("risky").with(json!({"risk_level": "medium"})), "risky", 403, "RISK_TOO_HIGH", "medium");
    check(Tool::new("garage.open").source("module"), "garage.open", 403, "MODULE_NOT_ALLOWED", "garage");
    check(Tool::new("gone").inactive("deprecated"), "gone", 409, "TOOL_DISABLED", "not active");
}

#[test]
fn a_pin_runs_what_is_active_or_was_replaced() {
    let client = workspace();
    let put = |version: u32, reason: Option<&str>| {
        let tool = Tool::new("pinned").builtin("list_files").with(json!({"major": version}));
        match reason {
            Some(reason) => tool.inactive(reason).put(open(), &client),
            None => tool.put(open(), &client),
        }
    };
    put(1, Some("version_update"));
    put(2, Some("security"));
    put(3, Some("operator_request"));
    put(4, None);
    let run = |name: &str| client.execute(name, json!({}));
    assert_eq!(run("pinned").result(200)["version"], "4.0.0");
    assert_eq!(run("pinned@4.0.0").result(200)["version"], "4.0.0");
    assert_eq!(run("pinned@1.0.0").result(200)["version"], "1.0.0");
    for disabled in ["pinned@2.0.0", "pinned@3.0.0"] {
        recorded(&client, &run(disabled).failed(409, "TOOL_DISABLED"));
    }
    run("pinned@5.0.0").failed(404, "UNKNOWN_TOOL");
}

#[test]
fn every_violation_is_listed_with_its_pointer() {
    let client = workspace();
    Tool::new("strict")
        .builtin("list_files")
        .schema(json!({
            "type": "object", "required": ["query"], "additionalProperties": false,
            "properties": {
                "query": {"type": "string"}, "limit": {"type": "integer", "maximum": 50},
                "page": {"type": "object", "default": {}, "properties": {"size": {"type": "integer", "default": 5}}},
            },
        }))
        .put(open(), &client);
    let refused = client.execute("strict", json!({"limit": 80, "extra": 1})).failed(400, "INVALID_ARGUMENTS");
    let mut paths = refused["error"]["details"]["violations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["path"].as_str().unwrap())
        .collect::<Vec<_>>();
    paths.sort_unstable();
    assert_eq!(paths, ["", "", "/limit"]);
    assert!(refused["error"]["message"].as_str().unwrap().contains("/limit: 80 is greater than the maximum of 50"));
    recorded(&client, &refused);
    let done = client.execute("strict", json!({"query": "a"})).result(200);
    assert_eq!(client.record(&done)["arguments"], json!({"query": "a", "page": {"size": 5}}));
}

#[test]
fn an_attachments_defaults_come_before_the_schemas() {
    let client = workspace();
    Tool::new("lister")
        .builtin("list_files")
        .schema(json!({"properties": {"path": {"type": "string", "default": "/"}, "depth": {"default": 1}}}))
        .put(open(), &client);
    let agent = client.agent(json!({}));
    let config = json!({"tool_id": "lister", "config": {"default_path": "/data"}});
    client.post(&format!("/api/agents/{agent}/tools"), config).created();
    client.execute("write_file", json!({"path": "/data/a", "content": ""})).success();
    let body = |arguments: Value| json!({"tool_name": "lister", "agent_id": agent, "arguments": arguments});
    let done = client.call(body(json!({}))).result(200);
    assert_eq!(done["result"], "Contents of /data:\n[FILE] /data/a (0 bytes)");
    assert_eq!(client.record(&done)["arguments"], json!({"path": "/data", "depth": 1}));
    assert!(client.call(body(json!({"path": "/"}))).success().as_str().unwrap().starts_with("Contents of /:"));
}

#[test]
fn hostile_paths_are_told_as_the_arguments_fault_and_change_nothing() {
    let client = workspace();
    let long = format!("/{}", "x".repeat(2_000));
    for path in ["../x", "/a/../../x", "a\u{0}b", "a\nb", "\u{7f}", &long, "/", ""] {
        let refused =
            client.execute("write_file", json!({"path": path, "content": "x"})).failed(400, "INVALID_ARGUMENTS");
        assert_eq!(refused["error"]["details"]["violations"][0]["path"], "/path", "{path:?}");
    }
    client.get("/api/sessions/default").refused(404, "NOT_FOUND");
    client.execute("write_file", json!({"path": "/a", "content": "x"})).success();
    client.execute("write_file", json!({"path": "/a/b", "content": "x"})).failed(200, "TOOL_ERROR");
    client.execute("write_file", json!({"path": "/d/e", "content": "x"})).success();
    client.execute("write_file", json!({"path": "/d", "content": "x"})).failed(200, "TOOL_ERROR");
    assert_eq!(client.get("/api/sessions/default/manifests").ok()["manifests"].as_array().unwrap().len(), 2);
}

#[test]
fn what_is_wrong_with_the_request_is_told_in_its_place() {
    let client = workspace();
    for (body, path) in [
        (json!({"tool_name": "list_files", "bogus": 1}), "/bogus"),
        (json!({"tool_name": "list_files", "arguments": []}), "/arguments"),
        (json!({"tool_name": "list_files", "session_id": "a/b"}), "/session_id"),
        (json!({"tool_name": "list_files", "max_result_bytes": -1}), "/max_result_bytes"),
    ] {
        let refused = client.call(body).failed(400, "VALIDATION_ERROR");
        assert_eq!(refused["error"]["details"]["problems"][0]["path"], path);
        recorded(&client, &refused);
    }
    for body in [json!({}), json!({"tool_name": null}), json!({"tool_name": {}})] {
        client.call(body).refused(400, "VALIDATION_ERROR");
    }
    let deep = format!(r#"{{"tool_name": "list_files", "arguments": {}"#, r#"{"a":"#.repeat(10_000));
    client.send("POST", "/api/execute", Some(deep.into_bytes())).refused(400, "VALIDATION_ERROR");
    let large = json!({"tool_name": "list_files", "arguments": {"path": "x".repeat(20_000_000)}}).to_string();
    client.send("POST", "/api/execute", Some(large.into_bytes())).refused(413, "PAYLOAD_TOO_LARGE");
    assert_eq!(client.get("/api/tool-calls").ok()["tool_calls"].as_array().unwrap().len(), 4);
}

#[test]
fn a_pattern_cannot_hang_the_worker() {
    let client = workspace();
    let large = "()".repeat(10_000);
    for (index, pattern) in ["^(a|aa)+$", "^(?:[a-z]{1,50} ?){1,50}$", &large].into_iter().enumerate() {
        let id = format!("pattern-{index}");
        let schema = json!({"properties": {"text": {"type": "string", "pattern": format!("{pattern}!$")}}});
        Tool::new(&id).builtin("list_files").schema(schema).put(open(), &client);
        client.execute(&id, json!({"text": "a".repeat(1_000_000)})).failed(400, "INVALID_ARGUMENTS");
    }
}

#[test]
fn large_arguments_are_arguments_like_any_other() {
    let client = workspace();
    let schema = json!({"properties": {"xs": {"items": {"type": "number"}}, "path": {"default": "/"}}});
    Tool::new("numbers").builtin("list_files").schema(schema).put(open(), &client);
    client.execute("numbers", json!({"xs": vec![1; 100_000]})).success();
    let wrong = client.execute("numbers", json!({"xs": vec!["x"; 100_000]})).failed(400, "INVALID_ARGUMENTS");
    assert_eq!(wrong["error"]["details"]["violations"].as_array().unwrap().len(), 1);

    let content = "ä\n".repeat(3_000_000);
    let body =
        json!({"tool_name": "write_file", "arguments": {"path": "/l", "content": content}, "idempotency_key": "k"});
    client.call(body).success();
    assert_eq!(client.execute("read_file", json!({"path": "/l"})).success(), content);
}

#[test]
fn a_fault_leaves_the_rest_of_the_record_whole() {
    let client = workspace();
    let body = json!({"tool_name": "list_files", "session_id": "s", "user_id": "ada", "max_result_bytes": 0});
    let record = recorded(&client, &client.call(body).failed(400, "VALIDATION_ERROR"));
    assert_eq!((&record["session_id"], &record["user_id"]), (&json!("s"), &json!("ada")));
}

#[test]
fn a_call_that_the_sweep_took_for_dead_is_recorded_as_it_ended() {
    let (client, upstream) = (workspace(), Upstream::start());
    Tool::new("slow").http(&upstream.at("/slow")).put(open(), &client);
    let result = std::thread::scope(|threads| {
        let call = threads.spawn(|| client.execute("slow", json!({})).result(200));
        while upstream.received().is_empty() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        open().sql(
            "UPDATE tool_calls SET deadline_at = '2026-01-01T00:00:00.000Z' WHERE workspace_id = ?1",
            &[json!(client.workspace())],
        );
        open().ask(json!({"scheduled": "*/5 * * * *"}));
        assert_eq!(client.get("/api/tool-calls").ok()["tool_calls"][0]["error"]["code"], "TIMEOUT");
        call.join().unwrap()
    });
    assert_eq!(result["result"], "too late");
    assert_eq!(recorded(&client, &result)["result"], "too late");
}

#[test]
fn without_a_secret_what_needs_one_says_so_and_is_recorded() {
    let server = Server::start("secretless", &[("AUTH", "open")]);
    let client = server.client(&unique("ws"));
    let keyed = json!({"tool_name": "list_files", "idempotency_key": "k"});
    let schema = json!({"properties": {"pin": {"writeOnly": true}}});
    Tool::new("waits").schema(schema).with(json!({"risk_level": "high"})).put(&server, &client);
    for answer in [client.call(keyed), client.execute("waits", json!({"pin": "hunter2"}))] {
        let refused = answer.failed(503, "UNAVAILABLE");
        assert!(refused["error"]["message"].as_str().unwrap().contains("SECRET_KEY"));
        recorded(&client, &refused);
    }
    assert_eq!(client.get("/api/approvals").ok()["approvals"], json!([]));
}

#[test]
fn no_tool_is_pegboard_itself() {
    let client = workspace();
    let port = open().url().rsplit_once(':').unwrap().1;
    let tool = |url: &str| json!({"handler": {"type": "http", "url": url}, "parameters_schema": {"type": "object"}});
    for host in ["127.0.0.1", "localhost", "LOCALHOST", "[::1]", "0.0.0.0", "127.1"] {
        let url = format!("http://{host}:{port}/api/execute");
        let refused =
            client.post("/api/tools", definition("own", "1.0.0", tool(&url))).refused(400, "VALIDATION_ERROR");
        assert_eq!(refused.paths(), ["/handler/url"], "{url}");
        assert!(refused.message.contains("own address"), "{}", refused.message);
        let id = unique("own").replace('_', "-");
        Tool::new(&id).http(&url).put(open(), &client);
        let failed = client.execute(&id, json!({"a": 1})).failed(200, "UNREACHABLE");
        assert!(failed["error"]["message"].as_str().unwrap().contains("own address"), "{failed}");
    }
    // A backup brings no such tool in either.
    client.register("fine", "1.0.0", tool(&Upstream::start().at("/echo")));
    open().sql("DELETE FROM tools WHERE workspace_id = ?1 AND id <> 'fine'", &[json!(client.workspace())]);
    let mut backup = client.get("/api/registry/backup").ok();
    backup["versions"][0]["handler"]["url"] = json!(open().url());
    let refused = client.post("/api/registry/restore", backup).refused(400, "VALIDATION_ERROR");
    assert_eq!(refused.paths(), ["/versions/0/handler/url"]);
    // Another port is another server.
    client.execute("fine", json!({})).success();
    // Behind a name, the usual ports are all Pegboard's.
    let named = closed_workspace().with_header("Host", "peg.example");
    for (url, status) in [
        ("https://peg.example/x", 400),
        ("http://peg.example/x", 400),
        ("https://peg.example:8443/x", 201),
        ("https://tools.peg.example/x", 201),
    ] {
        let id = unique("t").replace('_', "-");
        assert_eq!(named.post("/api/tools", definition(&id, "1.0.0", tool(url))).status, status, "{url}");
    }
}

#[test]
fn a_server_is_sent_the_call_and_nothing_of_the_callers() {
    let (client, upstream) = (workspace(), Upstream::start());
    Tool::new("echo").http(&upstream.at("/echo")).put(open(), &client);
    let sender = client.with_header("X-Secret", "s").with_header("Cookie", "c=1");
    let sent = json!({"tool_name": "echo", "arguments": {"a": [1, "ä"]}, "user_id": "ada"});
    assert_eq!(sender.call(sent.clone()).success(), sent);
    let received = &upstream.received()[0];
    assert_eq!(received.body, sent);
    let header = |name: &str| received.headers.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_str());
    assert_eq!((header("x-key"), header("content-type")), (Some("s3cret"), Some("application/json")));
    assert_eq!((header("x-secret"), header("cookie"), header("x-workspace-id")), (None, None, None));
}

#[test]
fn what_a_server_does_is_the_tools_failure() {
    let (client, upstream) = (workspace(), Upstream::start());
    let check = |path: &str, code: &str, said: &str| {
        let id = format!("at{}", path.replace('/', "-"));
        Tool::new(&id).http(&upstream.at(path)).put(open(), &client);
        let failed = client.execute(&id, json!({})).failed(200, code);
        assert!(failed["error"]["message"].as_str().unwrap().contains(said), "{failed}");
        recorded(&client, &failed);
    };
    check("/broken", "TOOL_ERROR", "500: it broke");
    check("/elsewhere", "TOOL_ERROR", "302");
    check("/huge", "TOOL_ERROR", "more than");
    check("/many", "TOOL_ERROR", "250000 values");
    Tool::new("empty").http(&upstream.at("/empty")).put(open(), &client);
    assert_eq!(client.execute("empty", json!({})).success(), "");
    Tool::new("text").http(&upstream.at("/text")).put(open(), &client);
    assert_eq!(client.execute("text", json!({})).success(), "plain words");
    Tool::new("nobody").http("http://127.0.0.1:9/").put(open(), &client);
    recorded(&client, &client.execute("nobody", json!({})).failed(200, "UNREACHABLE"));
}

#[test]
fn a_private_address_is_refused_unless_allowed() {
    let root = closed_workspace();
    Tool::new("inside").http("http://169.254.169.254/latest").put(closed(), &root);
    let failed = root.execute("inside", json!({})).failed(200, "UNREACHABLE");
    assert!(failed["error"]["message"].as_str().unwrap().contains("private network"), "{failed}");
}

#[test]
fn what_comes_too_late_is_a_timeout() {
    let (client, upstream) = (workspace(), Upstream::start());
    Tool::new("slow").http(&upstream.at("/slow")).with(json!({"timeout_seconds": 1})).put(open(), &client);
    let failed = client.execute("slow", json!({})).failed(200, "TIMEOUT");
    let duration = failed["duration_ms"].as_u64().unwrap();
    assert!((1_000..4_000).contains(&duration), "{duration} ms");
    recorded(&client, &failed);
}

#[test]
fn a_result_must_fit_its_schema() {
    let client = workspace();
    let returns = json!({"type": "object", "required": ["n"]}).to_string();
    Tool::new("wrong").builtin("list_files").with(json!({"returns_schema": returns})).put(open(), &client);
    let failed = client.execute("wrong", json!({})).failed(200, "INVALID_RESULT");
    assert!(failed["error"]["message"].as_str().unwrap().contains("is not of type"), "{failed}");
    recorded(&client, &failed);
}

#[test]
fn a_long_result_is_cut_and_kept_whole() {
    let client = workspace();
    let text = "ä".repeat(1_000);
    let written = client.execute("write_file", json!({"path": "/long", "content": text})).result(200);
    let body = json!({"tool_name": "read_file", "arguments": {"path": "/long"}, "max_result_bytes": 101});
    let read = client.call(body).result(200);
    let shown = read["result"].as_str().unwrap();
    let url = format!("/api/tool-calls/{}/result", read["call_id"].as_str().unwrap());
    assert_eq!(shown, format!("{}\n[cut: 100 of 2000 bytes; the whole is at GET {url}]", "ä".repeat(50)));
    assert_eq!(client.get(&url).ok(), json!(text));
    assert_eq!(client.record(&read)["result"], json!(text));
    assert_eq!(read["post_manifest_id"], written["post_manifest_id"]);

    let agent = client.agent(json!({}));
    let config = json!({"tool_id": "read_file", "config": {"max_result_bytes": 10}});
    client.post(&format!("/api/agents/{agent}/tools"), config).created();
    let body = json!({"tool_name": "read_file", "arguments": {"path": "/long"}, "agent_id": agent});
    assert!(client.call(body).success().as_str().unwrap().starts_with("äääää\n[cut: 10 of 2000 bytes"));
}

#[test]
fn large_arguments_and_results_are_blobs_of_which_the_record_tells() {
    let client = workspace();
    let text = "x".repeat(300_000);
    let written = client.execute("write_file", json!({"path": "/large", "content": text})).result(200);
    let record = client.record(&written);
    let arguments = json!({"path": "/large", "content": text});
    assert_eq!(record["arguments"]["truncated"], true);
    assert_eq!(record["arguments"]["size"], arguments.to_string().len());
    assert!(arguments.to_string().starts_with(record["arguments"]["prefix"].as_str().unwrap()));
    assert_eq!(client.get(record["arguments"]["url"].as_str().unwrap()).ok(), arguments);

    let reads = [(); 2].map(|()| client.execute("read_file", json!({"path": "/large"})).result(200));
    let records = reads.each_ref().map(|it| client.record(it));
    assert_eq!(reads[0]["result"], text.as_str());
    assert_eq!(records[0]["result"]["sha256"], records[1]["result"]["sha256"]);
    assert_eq!(client.get(records[0]["result"]["url"].as_str().unwrap()).ok(), json!(text));
    let blobs = open().sql("SELECT count(*) AS n FROM blobs WHERE workspace_id = ?1", &[json!(client.workspace())]);
    assert_eq!(blobs[0]["n"], 3, "the file, its arguments, and a result that two calls share");
}

#[test]
fn binary_files_are_read_as_base64_with_a_flag() {
    let client = workspace();
    let put = client.send("PUT", "/api/sessions/default/files/raw", Some(vec![0, 255, 1]));
    put.created();
    assert_eq!(
        client.execute("read_file", json!({"path": "/raw"})).success(),
        json!({"binary": true, "encoding": "base64", "content": "AP8B"})
    );
}

#[test]
fn secrets_are_shown_nowhere() {
    let (client, upstream) = (workspace(), Upstream::start());
    let schema = json!({
        "type": "object", "additionalProperties": false,
        "properties": {
            "user": {"type": "string"}, "password": {"type": "string", "format": "password", "minLength": 4},
            "keys": {"type": "array", "items": {"type": "string", "writeOnly": true}},
        },
    });
    Tool::new("login").http(&upstream.at("/echo")).schema(schema).put(open(), &client);
    let arguments = json!({"user": "ada", "password": "hunter2", "keys": ["k1-hidden"]});
    let done = client.execute("login", arguments.clone()).result(200);
    assert_eq!(upstream.received()[0].body["arguments"], arguments);
    let shown = json!({"user": "ada", "password": "[redacted]", "keys": ["[redacted]"]});
    let record = client.record(&done);
    assert_eq!(record["arguments"], shown);
    assert_eq!(done["result"]["arguments"], arguments, "the answer is the tool's own");
    assert_eq!(record["result"]["arguments"], shown, "the record is without what the tool repeats");
    let text = json!({"tool_name": "login", "arguments": arguments.to_string()});
    let refused = client.call(text).failed(400, "VALIDATION_ERROR");
    assert!(!refused.to_string().contains("hunter2"), "{refused}");
    for bad in [json!({"password": "hu2"}), json!({"pasword": "hunter2"}), json!({"user": 1, "password": "hunter2"})] {
        let refused = client.execute("login", bad).failed(400, "INVALID_ARGUMENTS");
        for shown in [refused.to_string(), client.record(&refused).to_string()] {
            assert!(!shown.contains("hunter2") && !shown.contains("hu2"), "{shown}");
        }
    }
    let rows = open().sql(
        "SELECT group_concat(coalesce(arguments, '') || coalesce(result, '') || coalesce(error, '')) AS all_of_it
         FROM tool_calls WHERE workspace_id = ?1",
        &[json!(client.workspace())],
    );
    let stored = rows[0]["all_of_it"].as_str().unwrap();
    assert!(!stored.contains("hunter2") && !stored.contains("k1-hidden"), "{stored}");
}

#[test]
fn a_call_takes_a_round_trip_before_the_tool_and_one_after() {
    let root = closed_workspace();
    let owner = root.token(json!({"name": "o", "level": "owner"}));
    let agent = owner.agent(json!({}));
    let call = |tool: &str, arguments: Value| {
        owner.call(json!({"tool_name": tool, "arguments": arguments, "agent_id": agent, "idempotency_key": tool}))
    };
    let written = call("write_file", json!({"path": "/a", "content": "x"}));
    written.success();
    assert_eq!(written.cost("round_trips"), 3, "one of the tool's own");
    let read = call("read_file", json!({"path": "/a"}));
    read.success();
    assert_eq!(read.cost("round_trips"), 2, "the file is read together with the look-up");
    let refused = owner.execute("read_file", json!({}));
    refused.failed(400, "INVALID_ARGUMENTS");
    assert_eq!(refused.cost("round_trips"), 2);
    let again = call("read_file", json!({"path": "/a"}));
    again.success();
    assert_eq!(again.cost("round_trips"), 1, "answered from the record");
}

#[test]
fn a_call_that_changes_nothing_is_written_once() {
    let root = closed_workspace();
    let owner = root.token(json!({"name": "o", "level": "owner"}));
    owner.execute("write_file", json!({"path": "/a/b", "content": "x"})).success();
    for (tool, arguments) in [("read_file", json!({"path": "/a/b"})), ("list_files", json!({"path": "/"}))] {
        let answer = owner.execute(tool, arguments.clone());
        answer.success();
        assert_eq!((answer.cost("round_trips"), answer.cost("rows_written")), (2, 4), "{tool}");
        let record = owner.record(&answer.json());
        assert_eq!((&record["arguments"], &record["status"]), (&arguments, &json!("success")));
    }
    let agent = owner.agent(json!({}));
    let bound = owner.token(json!({"name": "b", "level": "user", "agent_id": agent}));
    let call = json!({"tool_name": "read_file", "arguments": {"path": "/a/b"}, "user_id": "u", "message_id": "m"});
    let record = owner.record(&bound.call(call).result(200));
    assert_eq!(
        (&record["agent_id"], &record["user_id"], &record["message_id"]),
        (&json!(agent), &json!("u"), &json!("m"))
    );
    let refused =
        owner.call(json!({"tool_name": "read_file", "arguments": {"path": "/a/b"}, "agent_id": "agent_none"}));
    recorded(&owner, &refused.failed(404, "UNKNOWN_AGENT"));
    recorded(&owner, &owner.execute("nothing_of_the_kind", json!({})).failed(404, "UNKNOWN_TOOL"));
}

#[test]
fn only_a_call_that_may_change_something_has_a_row_while_it_runs() {
    let (client, upstream) = (workspace(), Upstream::start());
    for (id, more) in [
        ("looks", json!({"risk_level": "safe"})),
        ("acts", json!({"risk_level": "low"})),
        (
            "tells",
            json!({"risk_level": "safe", "side_effects": [
            {"effect_type": "mail", "description": "sends", "reversible": false, "scope": "all"}]}),
        ),
    ] {
        Tool::new(id).http(&upstream.at("/slow")).with(more).put(open(), &client);
    }
    std::thread::scope(|threads| {
        let calls = ["looks", "acts", "tells"].map(|id| {
            let client = &client;
            threads.spawn(move || client.execute(id, json!({})).result(200))
        });
        let mut patience = 4_000;
        while upstream.received().len() < 3 && patience > 0 {
            std::thread::sleep(std::time::Duration::from_millis(1));
            patience -= 1;
        }
        let running = client.get("/api/tool-calls?status=running").ok();
        let mut running =
            running["tool_calls"].as_array().unwrap().iter().map(|it| it["tool_name"].clone()).collect::<Vec<_>>();
        running.sort_by_key(Value::to_string);
        assert_eq!(running, ["acts", "tells"]);
        for call in calls {
            let result = call.join().unwrap();
            assert_eq!(recorded(&client, &result)["status"], "success");
        }
    });
}

#[test]
fn a_file_that_is_read_early_is_the_file_that_is_meant() {
    let client = workspace();
    client.execute("write_file", json!({"path": "/d/a", "content": "1"})).success();
    let agent = client.agent(json!({}));
    let path = format!("/api/agents/{agent}/tools");
    client.post(&path, json!({"tool_id": "list_files", "config": {"default_path": "/d"}})).created();
    let call = json!({"tool_name": "list_files", "arguments": {}, "agent_id": agent});
    assert_eq!(client.call(call).success(), "Contents of /d:\n[FILE] /d/a (1 bytes)");
    // The agent has no read_file, so it sees nothing of the file.
    let call = json!({"tool_name": "read_file", "arguments": {"path": "/d/a"}, "agent_id": agent});
    let refused = client.call(call).failed(403, "NOT_ATTACHED");
    assert_eq!(refused["result"], Value::Null);
}
