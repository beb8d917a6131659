//! Idempotency keys: a call runs once, however often it is sent.

use crate::harness::{Tool, Upstream, closed_workspace, open, race, workspace};
use serde_json::{Value, json};

fn write(key: &str, content: &str) -> Value {
    json!({"tool_name": "write_file", "arguments": {"path": "/a", "content": content}, "idempotency_key": key})
}

#[test]
fn the_same_call_again_is_answered_from_the_record() {
    let client = workspace();
    let first = client.call(write("k", "x")).result(200);
    let reordered =
        json!({"idempotency_key": "k", "arguments": {"content": "x", "path": "/a"}, "tool_name": "write_file"});
    assert_eq!(client.call(reordered).result(200), first);
    assert_eq!(client.get("/api/sessions/default/manifests").ok()["manifests"].as_array().unwrap().len(), 1);
    assert_eq!(client.get("/api/tool-calls").ok()["tool_calls"].as_array().unwrap().len(), 1);
}

#[test]
fn a_failure_while_running_is_answered_again_too() {
    let client = workspace();
    let read = json!({"tool_name": "read_file", "arguments": {"path": "/none"}, "idempotency_key": "k"});
    let first = client.call(read.clone()).failed(200, "TOOL_ERROR");
    client.execute("write_file", json!({"path": "/none", "content": "x"})).success();
    assert_eq!(client.call(read).result(200), first);
}

#[test]
fn other_arguments_under_the_key_are_a_conflict_and_recorded() {
    let client = workspace();
    client.call(write("k", "x")).success();
    let conflict = client.call(write("k", "y")).failed(409, "CONFLICT");
    assert_eq!(client.record(&conflict)["status"], "error");
    let mut elsewhere = write("k", "x");
    elsewhere["session_id"] = "other".into();
    client.call(elsewhere).failed(409, "CONFLICT");
    client.call(write("k2", "y")).success();
    client.call(write("k", "x")).success();
}

#[test]
fn a_key_is_the_callers_own() {
    let root = closed_workspace();
    let callers = ["a", "b"].map(|name| root.token(json!({"name": name, "level": "user"})));
    let ids = callers.each_ref().map(|it| it.call(write("k", "x")).result(200)["call_id"].clone());
    assert_ne!(ids[0], ids[1]);
    assert_ne!(closed_workspace().call(write("k", "x")).result(200)["call_id"], ids[0]);
}

#[test]
fn a_refusal_frees_the_key() {
    let client = workspace();
    let call = |path: &str| json!({"tool_name": "list_files", "arguments": {"path": path}, "idempotency_key": "k"});
    client.call(call("..")).failed(400, "INVALID_ARGUMENTS");
    client.call(call("/")).success();
}

#[test]
fn a_key_lives_for_a_day() {
    let client = workspace();
    let first = client.call(write("k", "x")).result(200);
    open().sql(
        "UPDATE idempotency_keys SET expires_at = '2020-01-01T00:00:00.000Z' WHERE workspace_id = ?1",
        &[json!(client.workspace())],
    );
    let second = client.call(write("k", "y")).result(200);
    assert_ne!(first["call_id"], second["call_id"]);
    open().sql(
        "UPDATE idempotency_keys SET expires_at = '2020-01-01T00:00:00.000Z' WHERE workspace_id = ?1",
        &[json!(client.workspace())],
    );
    open().ask(json!({"scheduled": "*/5 * * * *"}));
    let left = open().sql("SELECT 1 FROM idempotency_keys WHERE workspace_id = ?1", &[json!(client.workspace())]);
    assert!(left.is_empty(), "the sweep forgets it");
}

#[test]
fn of_racing_calls_with_one_key_one_runs() {
    let (client, upstream) = (workspace(), Upstream::start());
    Tool::new("echo").http(&upstream.at("/echo")).put(open(), &client);
    let body = json!({"tool_name": "echo", "arguments": {"n": 1}, "idempotency_key": "k"});
    let answers = race(12, |_| client.call(body.clone()));
    assert_eq!(upstream.received().len(), 1);
    for answer in &answers {
        match answer.status {
            200 => drop(answer.success()),
            _ => drop(answer.failed(409, "CONFLICT")),
        }
    }
    let ids = answers.iter().filter(|it| it.status == 200).map(|it| it.json()["call_id"].to_string());
    assert_eq!(ids.collect::<std::collections::BTreeSet<_>>().len(), 1);
}

#[test]
fn a_pending_call_answers_the_same_and_once_decided_its_result() {
    let client = workspace();
    Tool::new("waits").builtin("list_files").with(json!({"requires_approval": 1})).put(open(), &client);
    let body = json!({"tool_name": "waits", "arguments": {}, "idempotency_key": "k"});
    let pending = client.call(body.clone()).result(202);
    assert_eq!(client.call(body.clone()).result(202), pending);
    let id = pending["error"]["details"]["approval_id"].as_str().unwrap();
    let done = client.post(&format!("/api/approvals/{id}/approve"), json!({})).result(200);
    assert_eq!(client.call(body).result(200), done);
}

#[test]
fn a_cut_answer_is_given_again_as_it_was_cut() {
    let client = workspace();
    client.execute("write_file", json!({"path": "/long", "content": "x".repeat(400_000)})).success();
    let body = json!({
        "tool_name": "read_file", "arguments": {"path": "/long"}, "idempotency_key": "k", "max_result_bytes": 10,
    });
    let first = client.call(body.clone()).result(200);
    assert!(first["result"].as_str().unwrap().starts_with("xxxxxxxxxx\n[cut: 10 of 400000 bytes"));
    assert_eq!(client.call(body).result(200), first);
}
