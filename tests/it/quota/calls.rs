//! Calls in a full workspace, and the arguments of refused calls.

use super::{exact, fill, sealed, server, stored, text, upkeep};
use crate::harness::{Client, Tool, Upstream, open, workspace};
use serde_json::{Value, json};

/// The record of a document that was not kept: its hash and size, and no URL.
#[track_caller]
fn not_kept(document: &Value, reason: &str) {
    let fields = document.as_object().unwrap().keys().collect::<Vec<_>>();
    assert_eq!(fields, ["truncated", "sha256", "size", "prefix", "not_kept"], "{document}");
    assert_eq!((&document["not_kept"], document["sha256"].as_str().unwrap().len()), (&json!(reason), 64));
}

fn calls(client: &Client) -> usize {
    client.get("/api/tool-calls").ok()["tool_calls"].as_array().unwrap().len()
}

#[test]
fn in_a_full_workspace_calls_run_and_are_recorded_without_documents() {
    let (server, upstream) = (server("quota-calls", "100000"), Upstream::start());
    let client = server.client("ws");
    Tool::new("echo").http(&upstream.at("/echo")).put(&server, &client);
    client.put("/api/sessions/s/files/a", "contents").created();
    fill(&client);
    let read = json!({"tool_name": "read_file", "arguments": {"path": "/a"}, "session_id": "s"});
    let done = client.call(read).result(200);
    assert_eq!(done["result"], "contents");
    let record = client.record(&done);
    assert_eq!(record["status"], "success");
    not_kept(&record["arguments"], "quota");
    not_kept(&record["result"], "quota");
    assert_eq!((&record["result"]["size"], &record["result"]["prefix"]), (&json!(10), &json!("")));
    assert_eq!(client.get("/api/tool-calls?limit=1").ok()["tool_calls"][0]["result"], record["result"]);
    for document in ["result", "arguments"] {
        let path = format!("/api/tool-calls/{}/{document}", done["call_id"].as_str().unwrap());
        let refused = client.get(&path).refused(404, "NOT_FOUND");
        assert!(
            refused.message.contains("it was not kept, because the workspace's quota was used up"),
            "{}",
            refused.message
        );
    }
    // A call whose row is open, with documents that are inline, and with documents that are blobs.
    for bytes in [10, 10_000, 300_000] {
        let asked = text(bytes);
        let done = client.execute("echo", json!({ "text": asked })).result(200);
        assert_eq!(done["result"]["arguments"]["text"], asked);
        let record = client.record(&done);
        not_kept(&record["arguments"], "quota");
        not_kept(&record["result"], "quota");
    }
    let large = server.sql("SELECT max(bytes) AS n FROM tool_calls", &[])[0]["n"].as_u64().unwrap();
    assert!(large < 1_600, "{large}");
    assert_eq!(server.sql("SELECT count(*) AS n FROM call_blobs", &[])[0]["n"], 0);
    exact(&server, &client);
    upkeep(&server);
    exact(&server, &client);
}

/// A workspace that still has room for a small document, but not for a large one.
#[test]
fn a_document_is_kept_if_it_fits() {
    let (server, upstream) = (server("quota-fits", "200000"), Upstream::start());
    let client = server.client("ws");
    Tool::new("echo").http(&upstream.at("/echo")).put(&server, &client);
    let small = client.execute("echo", json!({ "text": "small" })).result(200);
    let large = client.execute("echo", json!({ "text": text(300_000) })).result(200);
    assert_eq!(client.record(&small)["arguments"], json!({"text": "small"}));
    not_kept(&client.record(&large)["arguments"], "quota");
    client.put("/api/sessions/s/files/a", text(10_000)).created();
    exact(&server, &client);
}

#[test]
fn errors_of_a_full_workspace_are_short() {
    let server = server("quota-errors", "100000");
    let client = server.client("ws");
    let schema = json!({"type": "object", "additionalProperties": {"type": "integer"}});
    Tool::new("strict").builtin("list_files").schema(schema).put(&server, &client);
    let many =
        (0..90).map(|it| (format!("property number {it}"), json!("x".repeat(300)))).collect::<serde_json::Map<_, _>>();
    let whole = client.execute("strict", Value::Object(many.clone())).failed(400, "INVALID_ARGUMENTS");
    assert!(client.record(&whole)["error"].to_string().len() > 5_000);
    exact(&server, &client);
    fill(&client);
    let again = client.execute("strict", Value::Object(many)).failed(400, "INVALID_ARGUMENTS");
    assert_eq!(again["error"], whole["error"], "the response is as long as ever");
    let error = client.record(&again)["error"].clone();
    assert!(error.to_string().len() < 600 && error["code"] == "INVALID_ARGUMENTS", "{error}");
    exact(&server, &client);
}

#[test]
fn a_retry_in_a_full_workspace_runs_nothing_and_says_that_the_result_is_lost() {
    let (server, upstream) = (server("quota-retry", "100000"), Upstream::start());
    let client = server.client("ws");
    Tool::new("echo").http(&upstream.at("/echo")).put(&server, &client);
    Tool::new("broken").http(&upstream.at("/broken")).put(&server, &client);
    let body = |tool: &str, key: &str| json!({"tool_name": tool, "arguments": {"n": 1}, "idempotency_key": key});
    let kept = client.call(body("echo", "before")).result(200);
    fill(&client);
    let first = client.call(body("echo", "k")).result(200);
    assert_eq!(first["success"], true);
    let before = (calls(&client), upstream.received().len());
    let retry = client.call(body("echo", "k")).failed(409, "CONFLICT");
    assert_eq!((&retry["call_id"], &retry["result"]), (&first["call_id"], &Value::Null));
    let details = &retry["error"]["details"];
    assert_eq!((&details["call_id"], &details["status"]), (&first["call_id"], &json!("success")));
    assert_eq!(details["sha256"], client.record(&first)["result"]["sha256"]);
    assert!(retry["error"]["message"].as_str().unwrap().starts_with("The call succeeded and is not run again"));
    assert_eq!(client.call(body("echo", "before")).result(200), kept, "an older result is here");
    assert_eq!((calls(&client), upstream.received().len()), before);
    // A failure is kept, and so it is answered again.
    let failed = client.call(body("broken", "f")).failed(200, "TOOL_ERROR");
    assert_eq!(client.call(body("broken", "f")).result(200), failed);
}

#[test]
fn in_a_full_workspace_no_call_waits_for_an_approval() {
    let server = server("quota-approvals", "100000");
    let client = server.client("ws");
    Tool::new("waits").builtin("list_files").with(json!({"requires_approval": 1})).put(&server, &client);
    sealed(&server, &client);
    let body = |key: &str| json!({"tool_name": "waits", "arguments": {}, "idempotency_key": key});
    let pending = client.call(body("before")).result(202);
    client.execute("sealed", json!({"key": "s".repeat(10_000)})).result(202);
    exact(&server, &client);
    let too_large = client.execute("sealed", json!({"key": "s".repeat(60_000)})).failed(413, "PAYLOAD_TOO_LARGE");
    assert_eq!(
        too_large["error"]["details"]["quota_bytes"], 100_000,
        "the sealed arguments have two digits for each byte"
    );
    fill(&client);
    let refused = client.call(body("k")).failed(413, "PAYLOAD_TOO_LARGE");
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("needs an approval") && message.contains("WORKSPACE_QUOTA_BYTES"), "{message}");
    let (files, _) = stored(&server, "ws");
    assert!(refused["error"]["details"]["used_bytes"].as_u64().unwrap() > files);
    let record = client.record(&refused);
    assert_eq!((&record["status"], &record["error"]["code"]), (&json!("error"), &json!("PAYLOAD_TOO_LARGE")));
    not_kept(&record["arguments"], "quota");
    assert_eq!(client.get("/api/approvals?status=pending").ok()["approvals"].as_array().unwrap().len(), 2);
    assert_eq!(client.call(body("k")).failed(413, "PAYLOAD_TOO_LARGE")["status"], "error", "the key was freed");
    // A call that has waited before still runs.
    let id = pending["error"]["details"]["approval_id"].as_str().unwrap();
    let done = client.post(&format!("/api/approvals/{id}/approve"), json!({})).result(200);
    assert_eq!(done["success"], true);
    not_kept(&client.record(&done)["result"], "quota");
    exact(&server, &client);
}

#[test]
fn an_approved_call_without_room_gives_its_arguments_back_too() {
    let (server, upstream) = (server("quota-approved", "400000"), Upstream::start());
    let client = server.client("ws");
    Tool::new("echo").http(&upstream.at("/echo")).with(json!({"requires_approval": 1})).put(&server, &client);
    let asked = text(70_000);
    let pending = client.execute("echo", json!({ "text": asked })).result(202);
    assert_eq!(server.sql("SELECT count(*) AS n FROM call_blobs", &[])[0]["n"], 1);
    fill(&client);
    let id = pending["error"]["details"]["approval_id"].as_str().unwrap();
    let done = client.post(&format!("/api/approvals/{id}/approve"), json!({})).result(200);
    assert_eq!(done["result"]["arguments"]["text"], asked);
    not_kept(&client.record(&done)["arguments"], "quota");
    assert_eq!(server.sql("SELECT count(*) AS n FROM call_blobs", &[])[0]["n"], 0);
    upkeep(&server);
    exact(&server, &client);
    client.put("/api/sessions/s/files/a", text(60_000)).created();
}

#[test]
fn a_refused_call_keeps_at_most_four_kilobytes_of_its_arguments() {
    let client = workspace();
    let secret = json!({"type": "object", "properties": {
        "a_key": {"type": "string", "format": "password"}, "text": {"type": "integer"}}});
    Tool::new("secret").builtin("list_files").schema(secret).put(open(), &client);
    Tool::new("off").builtin("list_files").inactive("operator_request").put(open(), &client);
    Tool::new("risky").builtin("list_files").with(json!({"required_permission": "owner"})).put(open(), &client);
    let agent = client.agent(json!({"max_risk": "safe"}));
    let large = "x".repeat(1_000_000);
    let refusals = [
        (client.execute("list_files", json!({ "pth": large })), 400),
        (client.execute("secret", json!({"a_key": "hush-hush", "text": large})), 400),
        (client.execute("off", json!({ "text": large })), 409),
        (client.call(json!({"tool_name": "risky", "arguments": {"text": large}, "agent_id": agent})), 403),
    ];
    for (answer, status) in refusals {
        let refused = answer.result(status);
        let record = client.record(&refused);
        not_kept(&record["arguments"], "refused");
        assert!(record["arguments"]["size"].as_u64().unwrap() > 1_000_000);
        let prefix = record["arguments"]["prefix"].as_str().unwrap();
        assert!(prefix.starts_with('{') && prefix.len() == 1_000 && !record.to_string().contains("hush-hush"));
        let path = format!("/api/tool-calls/{}/arguments", refused["call_id"].as_str().unwrap());
        let message = client.get(&path).refused(404, "NOT_FOUND").message;
        assert!(message.contains("a refused call keeps only the hash, size and beginning"), "{message}");
    }
    let secret = client.execute("secret", json!({"a_key": "hush-hush", "text": large})).result(400);
    assert!(client.record(&secret)["arguments"]["prefix"].as_str().unwrap().starts_with(r#"{"a_key":"[redacted]""#));
    let small = client.execute("list_files", json!({"pth": "y".repeat(3_000)})).result(400);
    assert_eq!(client.record(&small)["arguments"]["pth"].as_str().unwrap().len(), 3_000, "short arguments are whole");
    let longest = open().sql(
        "SELECT max(octet_length(arguments)) AS n FROM tool_calls WHERE workspace_id = ?1",
        &[json!(client.workspace())],
    );
    assert!(longest[0]["n"].as_u64().unwrap() <= 4_096, "{longest:?}");
    let blobs = open().sql("SELECT count(*) AS n FROM blobs WHERE workspace_id = ?1", &[json!(client.workspace())]);
    assert_eq!(blobs[0]["n"], 0);
    // A call that ran keeps its arguments, and so does a call that failed.
    let failed =
        client.execute("read_file", json!({"path": format!("/{}", "d/".repeat(500))})).failed(200, "TOOL_ERROR");
    assert!(client.record(&failed)["arguments"]["path"].is_string());
}
