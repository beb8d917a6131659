//! `CALL_RETENTION_DAYS`: records of calls are deleted in pieces, and the figures stay.

use super::{exact, stats, text, upkeep};
use crate::harness::{Client, Server, Tool, Upstream, call_id};
use serde_json::{Value, json};

fn server(name: &str, days: &str) -> Server {
    let vars = [
        ("AUTH", "open"),
        ("PRIVATE_URLS", "allow"),
        ("SECRET_KEY", "a secret of the tests"),
        ("CALL_RETENTION_DAYS", days),
    ];
    Server::start(name, &vars)
}

/// Records calls of two days ago by SQL.
fn old_calls(server: &Server, client: &Client, count: u32) {
    let numbers = format!("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})");
    server.sql(
        &format!(
            "INSERT INTO tool_calls (workspace_id, id, tool_name, operator, status, started_at, finished_at, arguments, result)
             {numbers} SELECT ?1, {}, 'tool', 'tests', CASE i % 10 WHEN 0 THEN 'error' WHEN 1 THEN 'denied' ELSE 'success' END,
               time, time, '{{}}', iif(i % 100 = 0, printf('%.*c', 9000, 'x'), '1')
             FROM (SELECT i, strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-2 days', '+' || i || ' seconds') AS time FROM n)",
            call_id("time", "i")
        ),
        &[json!(client.workspace())],
    );
}

fn count(server: &Server, table: &str) -> u64 {
    server.sql(&format!("SELECT count(*) AS n FROM {table}"), &[])[0]["n"].as_u64().unwrap()
}

fn executions(client: &Client) -> Vec<Value> {
    let stats = stats(client);
    ["total_executions", "successful_executions", "failed_executions"].map(|it| stats[it].clone()).to_vec()
}

/// Makes all calls so far two days old.
fn age(server: &Server) {
    let time = "strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-2 days')";
    server.sql(
        &format!("UPDATE tool_calls SET started_at = {time}, finished_at = iif(finished_at IS NULL, NULL, {time})"),
        &[],
    );
}

#[test]
fn old_calls_are_deleted_in_pieces_while_the_figures_stay() {
    let server = server("call-retention", "1");
    let (one, two) = (server.client("one"), server.client("two"));
    old_calls(&server, &one, 8_000);
    old_calls(&server, &two, 5_000);
    one.execute("list_files", json!({})).success();
    let expected = [executions(&one), executions(&two)];
    assert_eq!(expected[0], [8_001, 6_401, 1_600]);
    exact(&server, &one);
    let mut left = vec![count(&server, "tool_calls")];
    for _ in 0..3 {
        upkeep(&server);
        left.push(count(&server, "tool_calls"));
        for (client, expected) in [(&one, &expected[0]), (&two, &expected[1])] {
            assert_eq!(&executions(client), expected);
            exact(&server, client);
        }
    }
    assert_eq!(left, [13_001, 3_001, 1, 1], "a run deletes 10,000 calls at the most, the oldest first");
    assert_eq!(one.get("/api/tool-calls").ok()["tool_calls"].as_array().unwrap().len(), 1);
    assert_eq!(two.get("/api/tool-calls").ok()["tool_calls"].as_array().unwrap().len(), 0);
    one.execute("list_files", json!({})).success();
    assert_eq!(executions(&one)[0], 8_002);
    upkeep(&server);
    assert_eq!(executions(&one)[0], 8_002);
    exact(&server, &one);
}

#[test]
fn what_belongs_to_a_call_goes_with_it_and_what_waits_stays() {
    let (server, upstream) = (server("call-retention-parts", "1"), Upstream::start());
    let client = server.client("ws");
    Tool::new("echo").http(&upstream.at("/echo")).put(&server, &client);
    Tool::new("waits").builtin("list_files").with(json!({"requires_approval": 1})).put(&server, &client);
    let large = client.execute("echo", json!({ "text": text(400_000) })).result(200);
    let approval = |result: &Value| result["error"]["details"]["approval_id"].as_str().unwrap().to_owned();
    let denied = approval(&client.execute("waits", json!({})).result(202));
    client.post(&format!("/api/approvals/{denied}/deny"), json!({})).ok();
    let waiting = client.execute("waits", json!({})).result(202);
    server.sql(
        "INSERT INTO tool_calls (workspace_id, id, tool_name, operator, status, started_at, deadline_at)
         VALUES ('ws', 'call_running', 't', 'tests', 'running', '2026-01-01T00:00:00.000Z', '2990-01-01T00:00:00.000Z')",
        &[],
    );
    age(&server);
    let young = client.execute("list_files", json!({})).result(200);
    let before = executions(&client);
    assert!(count(&server, "blobs") == 2 && count(&server, "call_blobs") == 2);
    upkeep(&server);
    client.get(&format!("/api/tool-calls/{}", large["call_id"].as_str().unwrap())).refused(404, "NOT_FOUND");
    client.get(&format!("/api/approvals/{denied}")).refused(404, "NOT_FOUND");
    assert_eq!(client.record(&waiting)["status"], "pending_approval");
    assert_eq!(client.record(&young)["status"], "success");
    assert_eq!(count(&server, "tool_calls WHERE id = 'call_running'"), 1);
    let listed = client.get("/api/approvals").ok()["approvals"].clone();
    assert_eq!((listed.as_array().unwrap().len(), &listed[0]["id"]), (1, &json!(approval(&waiting))));
    assert!(client.changes().iter().any(|it| it["action"] == "deny"), "the change log keeps the decision");
    upkeep(&server);
    assert_eq!((count(&server, "blobs"), count(&server, "call_blobs")), (0, 0), "contents are freed");
    assert_eq!(executions(&client), before);
    exact(&server, &client);
    // The waiting call can still be decided. Its retention counts from its end.
    let done = client.post(&format!("/api/approvals/{}/approve", approval(&waiting)), json!({})).result(200);
    upkeep(&server);
    assert_eq!(client.record(&done)["status"], "success");
    age(&server);
    client.execute("list_files", json!({})).success();
    for _ in 0..2 {
        upkeep(&server);
    }
    client.get(&format!("/api/tool-calls/{}", done["call_id"].as_str().unwrap())).refused(404, "NOT_FOUND");
    exact(&server, &client);
}

#[test]
fn the_last_call_stays_so_that_new_calls_come_after_the_mark() {
    let server = server("call-retention-last", "1");
    let client = server.client("ws");
    old_calls(&server, &client, 10);
    for _ in 0..2 {
        upkeep(&server);
    }
    assert_eq!(count(&server, "tool_calls"), 1);
    client.execute("list_files", json!({})).success();
    assert_eq!(executions(&client)[0], 11);
    upkeep(&server);
    assert_eq!((executions(&client)[0].clone(), count(&server, "tool_calls")), (json!(11), 1));
    exact(&server, &client);
}

#[test]
fn zero_days_keep_all_calls() {
    let server = server("call-retention-off", "0");
    let client = server.client("ws");
    old_calls(&server, &client, 10);
    server.sql("UPDATE tool_calls SET started_at = '2020-01-01T00:00:00.000Z', finished_at = NULL", &[]);
    upkeep(&server);
    assert_eq!(count(&server, "tool_calls"), 10);
}
