//! A client that leaves before its response. The work that it asked for goes on, and the record is whole.

use crate::harness::{Client, Upstream, workspace};
use serde_json::{Value, json};
use std::time::Duration;

/// A workspace with the tool `later`, whose server answers after two seconds.
fn with_slow_tool(fields: Value) -> (Client, Upstream) {
    let (client, upstream) = (workspace(), Upstream::start());
    let mut all = json!({
        "handler": {"type": "http", "url": upstream.at("/later")},
        "parameters_schema": {"type": "object"},
        "resource_class": "state",
        "side_effects": [{"effect_type": "post", "description": "Posts", "reversible": false, "scope": "there"}],
    });
    all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    client.register("later", "1.0.0", all);
    (client, upstream)
}

/// The records of all calls, as soon as none of them runs any more.
fn ended(client: &Client) -> Vec<Value> {
    for _ in 0..200 {
        let calls = client.get("/api/tool-calls").ok()["tool_calls"].as_array().unwrap().clone();
        if !calls.is_empty() && calls.iter().all(|it| it["status"] != "running") {
            return calls;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("a call still runs: {}", client.get("/api/tool-calls").text)
}

#[track_caller]
fn whole(record: &Value) {
    assert_eq!((&record["status"], &record["result"]), (&json!("success"), &json!("done")), "{record}");
    assert!(record["duration_ms"].as_u64().unwrap() >= 1_900, "{record}");
}

#[test]
fn a_call_outlives_its_client() {
    let (client, upstream) = with_slow_tool(json!({}));
    client.post_and_leave("/api/execute", &json!({"tool_name": "later"}), || upstream.received().len() == 1);
    assert_eq!(client.get("/api/tool-calls").ok()["tool_calls"][0]["status"], "running");
    let calls = ended(&client);
    assert_eq!(calls.len(), 1);
    whole(&client.get(&format!("/api/tool-calls/{}", calls[0]["id"].as_str().unwrap())).ok());
}

#[test]
fn an_approved_call_outlives_the_approver() {
    let (client, upstream) = with_slow_tool(json!({"requires_approval": true}));
    let pending = client.execute("later", json!({})).result(202);
    let approval = pending["error"]["details"]["approval_id"].as_str().unwrap();
    let path = format!("/api/approvals/{approval}/approve");
    client.post_and_leave(&path, &json!({}), || upstream.received().len() == 1);
    ended(&client);
    whole(&client.record(&pending));
    assert_eq!(client.get(&format!("/api/approvals/{approval}")).ok()["status"], "approved");
}

#[test]
fn every_call_of_a_message_outlives_the_model() {
    let (client, upstream) = with_slow_tool(json!({}));
    let agent = client.agent(json!({}));
    client.post(&format!("/api/agents/{agent}/tools"), json!({"tool_id": "later"})).created();
    let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "later", "arguments": "{}"}});
    // Calls of this class run one after the other, so the second begins when the client has long left.
    let message = json!([call("one"), call("two")]);
    client.post_and_leave(&format!("/api/agents/{agent}/tool-calls"), &message, || upstream.received().len() == 1);
    let calls = ended(&client);
    assert_eq!((calls.len(), upstream.received().len()), (2, 2));
    for call in calls {
        whole(&client.get(&format!("/api/tool-calls/{}", call["id"].as_str().unwrap())).ok());
    }
}

#[test]
fn a_call_through_mcp_outlives_its_client() {
    let (client, upstream) = with_slow_tool(json!({}));
    let message =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "later", "arguments": {}}});
    let client = client.with_header("MCP-Protocol-Version", "2025-11-25");
    client.post_and_leave("/mcp", &message, || upstream.received().len() == 1);
    let calls = ended(&client);
    whole(&client.get(&format!("/api/tool-calls/{}", calls[0]["id"].as_str().unwrap())).ok());
}

#[test]
fn a_tool_that_may_take_longer_is_run_by_an_object_that_owns_the_call() {
    let (client, upstream) = with_slow_tool(json!({"timeout_seconds": 31}));
    client.register(
        "short",
        "1.0.0",
        json!({"handler": {"type": "http", "url": upstream.at("/echo")}, "timeout_seconds": 30}),
    );
    // The Worker looks the call up; the object reads the tool and writes the record, and tells no cost.
    let short = client.execute("short", json!({"text": "x"}));
    let long = client.execute("later", json!({}));
    assert_eq!((short.cost("round_trips"), long.cost("round_trips")), (2, 1));
    assert_eq!(long.success(), "done");
    whole(&client.record(&long.json()));

    client.post_and_leave("/api/execute", &json!({"tool_name": "later"}), || upstream.received().len() == 3);
    for call in ended(&client).iter().filter(|it| it["tool_name"] == "later") {
        whole(&client.get(&format!("/api/tool-calls/{}", call["id"].as_str().unwrap())).ok());
    }
}

#[test]
fn an_owned_call_fails_as_any_other() {
    let (client, upstream) = (workspace(), Upstream::start());
    let register = |id: &str, path: &str, fields: Value| {
        let mut all = json!({
            "handler": {"type": "http", "url": upstream.at(path)}, "parameters_schema": {"type": "object"},
            "timeout_seconds": 60,
        });
        all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        client.register(id, "1.0.0", all);
    };
    register("broken", "/broken", json!({}));
    register("misfit", "/echo", json!({"returns_schema": {"type": "string"}}));
    register("limited", "/echo", json!({"rate_limit": 1}));
    register("asks", "/echo", json!({"requires_approval": true}));
    let run = |id: &str| client.execute(id, json!({"a": 1}));
    let failed = run("broken").failed(200, "TOOL_ERROR");
    assert_eq!(client.record(&failed)["error"], failed["error"]);
    run("misfit").failed(200, "INVALID_RESULT");
    run("limited").success();
    run("limited").failed(429, "RATE_LIMITED");
    let pending = run("asks").result(202);
    let approval = pending["error"]["details"]["approval_id"].as_str().unwrap();
    let done = client.post(&format!("/api/approvals/{approval}/approve"), json!({})).success();
    assert_eq!(done["arguments"], json!({"a": 1}));
    assert_eq!(client.record(&pending)["status"], "success");

    // A result is cut as the caller asks, and a retry gets the recorded one.
    let keyed = json!({"tool_name": "limited@1.0.0", "arguments": {}, "idempotency_key": "k", "max_result_bytes": 5});
    client.call(keyed).failed(429, "RATE_LIMITED");
    register("cut", "/echo", json!({}));
    let keyed = json!({"tool_name": "cut", "arguments": {}, "idempotency_key": "k", "max_result_bytes": 5});
    let first = client.call(keyed.clone()).success();
    assert!(first.as_str().unwrap().contains("[cut: 5 of"), "{first}");
    assert_eq!(client.call(keyed).success(), first);
}
