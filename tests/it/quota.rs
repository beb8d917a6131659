//! What a workspace stores: the quota for files, history and calls, the count of bytes, and the retention of calls.

mod calls;
mod retention;
mod usage;

use crate::harness::{Client, Server, Tool, race, unique};
use serde_json::{Value, json};

/// A server whose workspaces may store this many bytes. It is of its own, because upkeep changes the rows of other tests.
fn server(name: &str, quota_bytes: &str) -> Server {
    let vars = [
        ("AUTH", "open"),
        ("COST_HEADER", "on"),
        ("PRIVATE_URLS", "allow"),
        ("SECRET_KEY", "a secret of the tests"),
        ("WORKSPACE_QUOTA_BYTES", quota_bytes),
    ];
    Server::start(name, &vars)
}

fn upkeep(server: &Server) {
    let answer = server.ask(json!({"scheduled": "*/5 * * * *"}));
    assert_eq!(answer["outcome"], "ok", "{answer}");
}

fn stats(client: &Client) -> Value {
    client.get("/api/registry/stats").ok()
}

fn used(client: &Client) -> u64 {
    stats(client)["usage"]["used_bytes"].as_u64().unwrap()
}

/// What the workspace stores, added up from the tables: files and their history, and calls.
fn stored(server: &Server, workspace: &str) -> (u64, u64) {
    let sum = |what: &str, from: &str| {
        let sql = format!("SELECT coalesce(sum({what}), 0) AS n FROM {from} AND workspace_id = ?1");
        server.sql(&sql, &[json!(workspace)])[0]["n"].as_u64().unwrap()
    };
    let documents =
        "coalesce(octet_length(arguments), 0) + coalesce(octet_length(result), 0) + coalesce(octet_length(error), 0)
         + coalesce(octet_length(details), 0) + coalesce(octet_length(render_plan), 0)";
    (
        sum("200 + size", "blobs WHERE use_path IS NOT NULL")
            + sum("600", "manifests WHERE true")
            + sum("300", "file_entries WHERE true"),
        sum("200 + size", "blobs WHERE use_path IS NULL")
            + sum(&format!("1000 + {documents}"), "tool_calls WHERE true")
            + sum("octet_length(sealed_arguments)", "approvals WHERE sealed_arguments IS NOT NULL"),
    )
}

/// The figures are those of the tables, at any time.
#[track_caller]
fn exact(server: &Server, client: &Client) {
    let usage = stats(client)["usage"].clone();
    let (files, calls) = stored(server, client.workspace());
    assert_eq!(
        (&usage["files_bytes"], &usage["calls_bytes"]),
        (&json!(files), &json!(calls)),
        "in {}",
        client.workspace()
    );
    assert_eq!(usage["used_bytes"], files + calls);
}

/// A tool with a secret parameter that needs an approval: its arguments wait sealed.
fn sealed(server: &Server, client: &Client) {
    let secret = json!({"type": "object", "properties": {"key": {"type": "string", "writeOnly": true}}});
    let tool = Tool::new("sealed").builtin("list_files").with(json!({"requires_approval": 1}));
    tool.schema(secret).put(server, client);
}

/// Text of this many bytes, which no other file has.
fn text(bytes: usize) -> String {
    let name = unique("text ");
    format!("{name}{}", ".".repeat(bytes - name.len()))
}

/// Fills the workspace, until there is no room for anything. A deletion is always allowed, and stores its file manifest.
fn fill(client: &Client) {
    client.put("/api/sessions/full/files/last", "last").created();
    for bytes in [50_000, 10_000, 1_000, 20] {
        let put = |number: usize| client.put(&format!("/api/sessions/full/files/{bytes}/{number}"), text(bytes)).status;
        let refused = (0..).map(put).find(|it| *it != 201);
        assert_eq!(refused, Some(413));
    }
    client.delete("/api/sessions/full/files/last").no_content();
}

#[test]
fn a_full_workspace_refuses_files_until_bytes_are_freed() {
    let server = server("quota-files", "200000");
    let (client, other) = (server.client("full"), server.client("other"));
    let put = |client: &Client, path: &str, bytes: usize| client.put(&format!("/api/sessions/{path}"), text(bytes));
    put(&client, "a/files/x", 100_000).created();
    put(&client, "b/files/x", 90_000).created();
    exact(&server, &client);
    let before = stats(&client)["usage"].clone();

    let refused = put(&client, "a/files/y", 50_000).refused(413, "PAYLOAD_TOO_LARGE");
    assert_eq!(refused.details, json!({"used_bytes": before["used_bytes"], "quota_bytes": 200_000}));
    let advice = [
        "Cannot write /y",
        "Delete sessions",
        "FILE_MANIFEST_RETENTION_DAYS",
        "CALL_RETENTION_DAYS",
        "WORKSPACE_QUOTA_BYTES",
    ];
    for word in advice {
        assert!(refused.message.contains(word), "{}", refused.message);
    }
    client.get("/api/sessions/a/files/y").refused(404, "NOT_FOUND");
    put(&client, "new/files/y", 50_000).refused(413, "PAYLOAD_TOO_LARGE");
    client.get("/api/sessions/new").refused(404, "NOT_FOUND");
    assert_eq!(stats(&client)["usage"], before, "a refused write stores nothing");
    // Contents that the workspace has already need hardly any room.
    let copy = client.get("/api/sessions/a/files/x").bytes;
    client.put("/api/sessions/a/files/copy", copy).created();

    put(&other, "a/files/x", 100_000).created();
    exact(&server, &other);

    client.delete("/api/sessions/b").no_content();
    put(&client, "a/files/y", 50_000).refused(413, "PAYLOAD_TOO_LARGE");
    for _ in 0..3 {
        upkeep(&server);
        exact(&server, &client);
    }
    put(&client, "a/files/y", 50_000).created();
    exact(&server, &client);
}

#[test]
fn the_tool_that_writes_files_tells_a_model_what_to_do() {
    let server = server("quota-tool", "100000");
    let client = server.client("ws");
    fill(&client);
    let arguments = json!({"path": "/notes.txt", "content": text(5_000)});
    let failed = client.execute("write_file", arguments).failed(200, "TOOL_ERROR");
    let message = failed["error"]["message"].as_str().unwrap();
    assert!(
        message.starts_with("Cannot write /notes.txt: the workspace stores ") && message.contains("of 100000 bytes")
    );
    assert!(message.contains("Delete sessions"), "{message}");
}

#[test]
fn in_a_full_workspace_files_can_be_deleted_and_the_past_be_gone_back_to() {
    let server = server("quota-deleting", "100000");
    let client = server.client("ws");
    let first = client.put("/api/sessions/s/files/a", "first").created()["manifest_id"].clone();
    client.put("/api/sessions/s/files/a", "second").ok();
    fill(&client);
    client.post("/api/sessions/s/branch", json!({ "manifest_id": first })).refused(413, "PAYLOAD_TOO_LARGE");
    client.post("/api/sessions/s/checkout", json!({ "manifest_id": first })).ok();
    client.delete("/api/sessions/s/files/a").no_content();
    client.delete("/api/sessions/full/files/10000").no_content();
    exact(&server, &client);
    let health = client.get("/api/registry/health").ok();
    assert_eq!((&health["status"], &health["alerts"][0]["condition"]), (&json!("warning"), &json!("storage_quota")));
    let (files, calls) = stored(&server, "ws");
    assert_eq!(health["alerts"][0]["details"], json!({"used_bytes": files + calls, "quota_bytes": 100_000}));
}

/// A deletion stores history, and a checkout brings the files back.
#[test]
fn deletions_do_not_grow_a_full_workspace_without_end() {
    let server = server("quota-deletions", "100000");
    let client = server.client("ws");
    let manifest = client.put("/api/sessions/s/files/a", "contents").created()["manifest_id"].clone();
    fill(&client);
    let delete = |_| {
        client.post("/api/sessions/s/checkout", json!({ "manifest_id": manifest })).ok();
        client.delete("/api/sessions/s/files/a")
    };
    let refused = (0..).map(delete).find(|it| it.status != 204).unwrap().refused(413, "PAYLOAD_TOO_LARGE");
    assert!(refused.message.starts_with("Cannot delete /a: the workspace stores "), "{}", refused.message);
    assert!((108_000..=110_000).contains(&used(&client)), "{}", used(&client));
    exact(&server, &client);
    for session in ["s", "full"] {
        client.delete(&format!("/api/sessions/{session}")).no_content();
    }
    for _ in 0..3 {
        upkeep(&server);
    }
    client.put("/api/sessions/s/files/a", text(50_000)).created();
    exact(&server, &client);
}

#[test]
fn racing_writers_do_not_slip_past_the_quota_together() {
    let server = server("quota-race", "200000");
    let client = server.client("ws");
    let statuses = race(12, |number| client.put(&format!("/api/sessions/s{number}/files/x"), text(50_000)).status);
    assert_eq!(statuses.iter().filter(|it| **it == 201).count(), 3, "{statuses:?}");
    assert!(statuses.iter().all(|it| matches!(it, 201 | 413)), "{statuses:?}");
    assert!(used(&client) <= 200_000);
    exact(&server, &client);
}

#[test]
fn health_warns_from_eighty_percent_on_and_metrics_show_the_sum() {
    let server = server("quota-health", "100000");
    let (client, other) = (server.client("ws"), server.client("other"));
    client.put("/api/sessions/s/files/a", text(78_000)).created();
    assert_eq!(client.get("/api/registry/health").ok()["alerts"], json!([]));
    client.put("/api/sessions/s/files/b", text(2_000)).created();
    let alerts = client.get("/api/registry/health").ok()["alerts"].clone();
    let found = (&alerts[0]["condition"], &alerts[0]["severity"], &alerts[0]["details"]["quota_bytes"]);
    assert_eq!(found, (&json!("storage_quota"), &json!("warning"), &json!(100_000)));
    assert_eq!(other.get("/api/registry/health").ok()["alerts"], json!([]));

    other.execute("list_files", json!({})).success();
    let sums = [client, other].map(|it| stored(&server, it.workspace()));
    let metrics = server.client("ws").get("/metrics").text;
    for (kind, bytes) in [("files", sums[0].0 + sums[1].0), ("calls", sums[0].1 + sums[1].1)] {
        assert!(metrics.contains(&format!("pegboard_stored_bytes{{kind=\"{kind}\"}} {bytes}\n")), "{metrics}");
    }
}
