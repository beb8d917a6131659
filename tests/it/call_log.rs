//! `/api/tool-calls`: the record of calls, with its filters and its summary.

use crate::harness::{Client, Tool, call_id, closed_workspace, open, workspace};
use serde_json::{Value, json};

fn ids(calls: &[Value]) -> Vec<&str> {
    calls.iter().map(|it| it["id"].as_str().unwrap()).collect()
}

#[test]
fn the_latest_come_first_in_pages_that_lead_to_each_other() {
    let client = workspace();
    let made = (0..7)
        .map(|_| client.execute("list_files", json!({})).result(200)["call_id"].as_str().unwrap().to_owned())
        .collect::<Vec<_>>();
    let listed = client.pages("/api/tool-calls", "tool_calls", 2);
    assert_eq!(ids(&listed), made.iter().rev().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(listed[0], client.get(&format!("/api/tool-calls/{}", made[6])).ok());
}

#[test]
fn every_filter_filters_alone_and_together() {
    let client = workspace();
    let agent = client.agent(json!({}));
    let call = |body: Value| client.call(body).result(200)["call_id"].as_str().unwrap().to_owned();
    let plain = call(json!({"tool_name": "list_files"}));
    let of_agent = call(json!({"tool_name": "list_files", "agent_id": agent, "message_id": "m"}));
    let in_session = call(json!({"tool_name": "read_file", "arguments": {"path": "/none"}, "session_id": "s"}));
    let check = |query: &str, expected: &[&String]| {
        let found = client.get(&format!("/api/tool-calls?{query}")).ok();
        let expected = expected.iter().map(|it| it.as_str()).collect::<Vec<_>>();
        assert_eq!(ids(found["tool_calls"].as_array().unwrap()), expected, "{query}");
    };
    check("tool_name=list_files", &[&of_agent, &plain]);
    check("tool_name=read_file", &[&in_session]);
    check(&format!("agent_id={agent}"), &[&of_agent]);
    check("session_id=s", &[&in_session]);
    check("session_id=default", &[&of_agent, &plain]);
    check("message_id=m", &[&of_agent]);
    check("status=success", &[&of_agent, &plain]);
    check("status=error", &[&in_session]);
    check("status=running", &[]);
    check("status=denied&tool_name=list_files", &[]);
    check("status=error&session_id=s&tool_name=read_file", &[&in_session]);
    check("since=2020-01-01T00:00:00Z", &[&in_session, &of_agent, &plain]);
    check("since=2990-01-01T00:00:00Z", &[]);
    check("until=2020-01-01T00:00:00Z", &[]);
    check("until=2990-01-01T00:00:00%2B01:00&message_id=m", &[&of_agent]);
    for bad in
        ["status=maybe", "since=yesterday", "since=2021-01-01T00:00:00Z&until=2020-01-01T00:00:00Z", "colour=red"]
    {
        client.get(&format!("/api/tool-calls?{bad}")).refused(400, "VALIDATION_ERROR");
    }
}

#[test]
fn a_bound_token_sees_its_agents_calls_alone() {
    let root = closed_workspace();
    let (own, other) = (root.agent(json!({})), root.agent(json!({})));
    let call = |agent: &str| root.call(json!({"tool_name": "list_files", "agent_id": agent})).result(200);
    let (mine, others) = (call(&own), call(&other));
    root.execute("list_files", json!({})).success();
    let bound = root.token(json!({"name": "b", "level": "user", "agent_id": own}));
    let listed = bound.get("/api/tool-calls").ok();
    assert_eq!(ids(listed["tool_calls"].as_array().unwrap()), [mine["call_id"].as_str().unwrap()]);
    bound.get(&format!("/api/tool-calls?agent_id={other}")).refused(403, "PERMISSION_DENIED");
    for path in ["", "/result", "/arguments"] {
        let path = format!("/api/tool-calls/{}{path}", others["call_id"].as_str().unwrap());
        bound.get(&path).refused(404, "NOT_FOUND");
        root.get(&path).ok();
    }
    assert_eq!(bound.get("/api/tool-calls/summary").ok()["calls"], 1);
    assert_eq!(root.get("/api/tool-calls/summary").ok()["calls"], 3);
}

/// Registers a tool whose schema names `text` and `limit`, with additional keywords.
fn counter(client: &Client, id: &str, keywords: Value) {
    let mut schema = json!({
        "type": "object",
        "properties": {"text": {"type": "string"}, "limit": {"type": "integer"}},
        "required": ["text"],
    });
    schema.as_object_mut().unwrap().extend(keywords.as_object().unwrap().clone());
    client.register(id, "1.0.0", json!({"parameters_schema": schema}));
}

#[test]
fn an_argument_that_the_schema_does_not_name_is_told() {
    let client = workspace();
    counter(&client, "count", json!({}));
    let made = client.execute("count", json!({"text": "a", "limt": 3, "a/b": 1})).result(200);
    let record = client.record(&made);
    assert_eq!(made["success"], true);
    assert_eq!(record["details"]["output"], Value::Null);
    let warnings = record["details"]["warnings"].as_array().unwrap();
    assert_eq!(warnings.iter().map(|it| it["path"].as_str().unwrap()).collect::<Vec<_>>(), ["/limt", "/a~1b"]);
    assert!(warnings[0]["message"].as_str().unwrap().contains("not named by the schema"), "{record}");
    assert_eq!(record["arguments"], json!({"text": "a", "limt": 3, "a/b": 1}), "it is passed on all the same");
    let known = client.execute("count", json!({"text": "a", "limit": 3})).result(200);
    assert_eq!(client.record(&known)["details"], Value::Null);
    assert_eq!(client.get("/api/tool-calls").ok()["tool_calls"][1]["details"], record["details"], "lists show it too");
    // A schema that says what other fields may be is taken at its word.
    for (id, keywords) in [
        ("open", json!({"additionalProperties": true})),
        ("closing", json!({"additionalProperties": {"type": "integer"}})),
        ("pattern", json!({"patternProperties": {"^l": {}}})),
        ("unevaluated", json!({"unevaluatedProperties": true})),
    ] {
        counter(&client, id, keywords);
        let made = client.execute(id, json!({"text": "a", "limt": 3})).result(200);
        assert_eq!(client.record(&made)["details"], Value::Null, "{id}");
    }
}

#[test]
fn arguments_that_do_not_fit_are_told_with_the_unknown_ones() {
    let client = workspace();
    counter(&client, "count", json!({}));
    let failed = client.execute("count", json!({"txet": "a"})).failed(400, "INVALID_ARGUMENTS");
    let message = failed["error"]["message"].as_str().unwrap();
    assert!(message.contains("\"text\" is a required property"), "{message}");
    assert!(message.ends_with("; the schema does not name \"txet\""), "{message}");
    assert_eq!(failed["error"]["details"]["unknown"], json!(["txet"]));
    assert_eq!(failed["error"]["details"]["violations"].as_array().unwrap().len(), 1, "the schema alone allows it");
    assert_eq!(client.record(&failed)["details"]["warnings"][0]["path"], "/txet");
    // A closed schema tells it by itself.
    counter(&client, "closed", json!({"additionalProperties": false}));
    let failed = client.execute("closed", json!({"txet": "a"})).failed(400, "INVALID_ARGUMENTS");
    assert_eq!(failed["error"]["details"]["violations"].as_array().unwrap().len(), 2);
    assert_eq!(failed["error"]["details"].get("unknown"), None);
}

#[test]
fn a_call_without_a_result_has_none_to_give() {
    let client = workspace();
    let failed = client.execute("read_file", json!({"path": "/none"})).failed(200, "TOOL_ERROR");
    let id = failed["call_id"].as_str().unwrap();
    client.get(&format!("/api/tool-calls/{id}/result")).refused(404, "NOT_FOUND");
    client.get("/api/tool-calls/call_0").refused(404, "NOT_FOUND");
}

#[test]
fn a_list_tells_of_what_is_not_small() {
    let client = workspace();
    client.execute("write_file", json!({"path": "/a", "content": "x".repeat(20_000)})).success();
    let listed = client.get("/api/tool-calls").ok()["tool_calls"][0].clone();
    let arguments = &listed["arguments"];
    assert_eq!(listed["shortened"], json!(["arguments"]));
    assert_eq!((&arguments["truncated"], arguments["prefix"].as_str().unwrap().len()), (&json!(true), 1_000));
    let whole = client.get(arguments["url"].as_str().unwrap());
    assert_eq!(whole.ok()["content"].as_str().unwrap().len(), 20_000);
    assert_eq!(arguments["size"], whole.text.len());
}

/// Records a call by SQL, without the API.
fn insert(client: &Client, id: &str, tool: &str, status: &str, duration: Option<u32>, error: Option<&str>) {
    let error = error.map(|code| json!({"code": code, "message": "m", "details": null}).to_string());
    open().sql(
        &format!(
            "INSERT INTO tool_calls (workspace_id, id, tool_name, operator, status, duration_ms, started_at, error)
             SELECT ?1, {}, ?3, 'tests', ?4, ?5, time, ?6
             FROM (SELECT strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-1 hour') AS time)",
            call_id("time", "?2")
        ),
        &[json!(client.workspace()), json!(id), json!(tool), json!(status), json!(duration), json!(error)],
    );
}

#[test]
fn the_summary_has_the_right_figures() {
    let client = workspace();
    for number in 1..=100 {
        insert(&client, &number.to_string(), "steady", "success", Some(number), None);
    }
    insert(&client, "refused", "steady", "error", None, Some("RATE_LIMITED"));
    for number in 0..3 {
        insert(&client, &format!("t{number}"), "shaky", "error", Some(1_000 + number), Some("TIMEOUT"));
    }
    insert(&client, "ok", "shaky", "success", Some(10), None);
    insert(&client, "wait", "waiting", "pending_approval", None, Some("APPROVAL_REQUIRED"));
    open().sql(
        "INSERT INTO tool_calls (workspace_id, id, tool_name, operator, status, duration_ms, started_at)
         VALUES (?1, 'call_016f5e66e800', 'old', 'tests', 'success', 5, '2020-01-01T00:00:00.000Z')",
        &[json!(client.workspace())],
    );
    let summary = client.get("/api/tool-calls/summary").ok();
    assert_eq!(summary["calls"], 106);
    assert_eq!(
        summary["tools"],
        json!([
            {"tool_name": "steady", "count": 101, "success_rate": 100.0 / 101.0, "avg_ms": 50.5, "min_ms": 1, "max_ms": 100,
             "p50_ms": 50, "p95_ms": 95},
            {"tool_name": "shaky", "count": 4, "success_rate": 0.25, "avg_ms": 753.25, "min_ms": 10, "max_ms": 1002,
             "p50_ms": 1000, "p95_ms": 1002},
            {"tool_name": "waiting", "count": 1, "success_rate": null, "avg_ms": null, "min_ms": null, "max_ms": null,
             "p50_ms": null, "p95_ms": null},
        ])
    );
    assert_eq!(summary["slowest"].as_array().unwrap().len(), 10);
    assert!(summary["slowest"][0]["id"].as_str().unwrap().ends_with("t2"));
    assert_eq!(
        summary["errors"],
        json!([
            {"tool_name": "shaky", "code": "TIMEOUT", "count": 3},
            {"tool_name": "steady", "code": "RATE_LIMITED", "count": 1},
        ])
    );
}

#[test]
fn a_workspace_without_calls_has_an_empty_summary() {
    let summary = workspace().get("/api/tool-calls/summary").ok();
    assert_eq!((&summary["calls"], &summary["tools"]), (&json!(0), &json!([])));
}

#[test]
fn the_sweep_ends_calls_whose_runtime_died() {
    let client = workspace();
    let insert = |id: &str, deadline: &str| {
        open().sql(
            "INSERT INTO tool_calls (workspace_id, id, tool_name, operator, status, started_at, deadline_at)
             VALUES (?1, ?2, 't', 'tests', 'running', '2026-01-01T00:00:00.000Z', ?3)",
            &[json!(client.workspace()), json!(id), json!(deadline)],
        );
    };
    insert("call_dead", "2026-01-01T00:01:00.000Z");
    insert("call_alive", "2990-01-01T00:01:00.000Z");
    assert_eq!(open().ask(json!({"scheduled": "*/5 * * * *"}))["outcome"], "ok");
    let dead = client.get("/api/tool-calls/call_dead").ok();
    assert_eq!((&dead["status"], &dead["error"]["code"]), (&json!("error"), &json!("TIMEOUT")));
    assert_eq!(client.get("/api/tool-calls/call_alive").ok()["status"], "running");
    assert_eq!(
        ids(client.get("/api/tool-calls?status=running").ok()["tool_calls"].as_array().unwrap()),
        ["call_alive"]
    );
}

#[test]
fn a_running_call_knows_when_it_may_be_taken_for_dead() {
    let client = workspace();
    Tool::new("patient").builtin("list_files").with(json!({"timeout_seconds": 600})).put(open(), &client);
    client.execute("patient", json!({})).success();
    let seconds = || {
        open().sql(
            "SELECT unixepoch(deadline_at) - unixepoch(started_at) AS seconds FROM tool_calls WHERE workspace_id = ?1
             ORDER BY seconds",
            &[json!(client.workspace())],
        )
    };
    assert_eq!(seconds(), [json!({"seconds": 660})]);
    // Of several calls in one request, one may have to wait for the calls before it.
    let agent = client.agent(json!({}));
    client.post(&format!("/api/agents/{agent}/tools"), json!({"tool_id": "patient"})).created();
    let asked = |id: &str| json!({"type": "tool_use", "id": id, "name": "patient", "input": {}});
    client.post(&format!("/api/agents/{agent}/tool-calls"), json!([asked("a"), asked("b")])).ok();
    assert_eq!(seconds(), [660, 660, 1320].map(|it| json!({"seconds": it})));
}

#[test]
fn a_page_of_many_calls_reads_its_own_rows() {
    let client = workspace();
    open().sql(
        &format!(
            "INSERT INTO tool_calls (workspace_id, id, tool_name, operator, status, started_at, duration_ms, session_id)
             WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9999)
             SELECT ?1, {}, 'tool-' || (i % 50), 'tests', iif(i % 100 = 0, 'error', 'success'), time, i % 97,
               'session-' || (i % 30)
             FROM (SELECT i, strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-' || i || ' seconds') AS time FROM n)",
            call_id("time", "i")
        ),
        &[json!(client.workspace())],
    );
    // After some time in use, the query planner has statistics.
    open().sql("ANALYZE", &[]);
    for query in ["", "tool_name=tool-7", "session_id=session-3", "status=error", "status=success", "status=denied"] {
        let answer = client.get(&format!("/api/tool-calls?{query}"));
        answer.ok();
        let read = answer.cost("rows_read");
        assert!(read <= 160, "{query} read {read} rows");
        assert_eq!(answer.cost("round_trips"), 1);
    }
    let call = client.execute("list_files", json!({}));
    call.success();
    assert!(call.cost("rows_read") <= 40, "a call read {} rows", call.cost("rows_read"));
}
