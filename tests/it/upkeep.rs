//! The work of the cron trigger.

use crate::harness::{Server, Tool, Upstream};
use serde_json::{Value, json};

/// A server of its own, because upkeep changes the rows of other tests.
fn server(name: &str) -> Server {
    Server::start(name, &[("AUTH", "open")])
}

fn run(server: &Server) -> Value {
    server.ask(json!({"scheduled": "*/5 * * * *"}))
}

#[test]
fn the_cron_trigger_runs_to_its_end() {
    let answer = run(&server("upkeep"));
    assert_eq!(answer["outcome"], "ok", "{answer}");
}

#[test]
fn a_step_that_fails_is_told_and_does_not_keep_the_others_from_running() {
    let server = server("upkeep-failing");
    let blobs = "INSERT INTO blobs (workspace_id, sha256, size, encoding, chunks, created_at)";
    server.sql(&format!("{blobs} VALUES ('ws', printf('%064d', 1), 1, 'utf8', 1, '2026-11-16T01:00:00.000Z')"), &[]);
    server.sql("INSERT INTO stale_blobs (workspace_id, sha256) VALUES ('ws', printf('%064d', 1))", &[]);
    server.sql("ALTER TABLE idempotency_keys RENAME TO away", &[]);
    let answer = run(&server);
    assert_ne!(answer["outcome"], "ok", "{answer}");
    assert_eq!(server.sql("SELECT count(*) AS n FROM blobs", &[])[0]["n"], 0);
    server.sql("ALTER TABLE away RENAME TO idempotency_keys", &[]);
    let answer = run(&server);
    assert_eq!(answer["outcome"], "ok", "{answer}");
}

#[test]
fn what_a_restore_has_left_behind_is_deleted_after_an_hour() {
    let server = server("upkeep-restores");
    let insert = "INSERT INTO restore_chunks (workspace_id, id, created_at, data)
        VALUES (?1, ?2, strftime('%Y-%m-%dT%H:%M:%fZ', 'now', ?3), '[]')";
    for (workspace, id, age) in
        [("a", "1/00/000000", "-61 minutes"), ("b", "2/00/000000", "-2 days"), ("a", "3/00/000000", "-50 minutes")]
    {
        server.sql(insert, &[json!(workspace), json!(id), json!(age)]);
    }
    assert_eq!(run(&server)["outcome"], "ok");
    assert_eq!(server.sql("SELECT id FROM restore_chunks", &[]), [json!({"id": "3/00/000000"})]);
}

#[test]
fn header_values_that_were_stored_as_given_are_sealed() {
    let vars = [("AUTH", "open"), ("PRIVATE_URLS", "allow"), ("SECRET_KEY", "a secret of the tests")];
    let (server, upstream) = (Server::start("upkeep-headers", &vars), Upstream::start());
    let client = server.client("ws");
    Tool::new("old").http(&upstream.at("/echo")).put(&server, &client);
    let stored =
        || server.sql("SELECT handler FROM tool_versions WHERE workspace_id = 'ws'", &[])[0]["handler"].to_string();
    assert!(stored().contains("s3cret"));
    assert_eq!(run(&server)["outcome"], "ok");
    assert!(!stored().contains("s3cret"), "{}", stored());
    let sealed = stored();
    assert_eq!(run(&server)["outcome"], "ok");
    assert_eq!(stored(), sealed);
    assert_eq!(server.sql("SELECT count(*) AS n FROM unsealed_versions", &[])[0]["n"], 0);
    client.execute("old", json!({})).success();
    assert!(upstream.received()[0].headers.contains(&("x-key".to_owned(), "s3cret".to_owned())));
}

/// Rows that a trigger reads count as read by the statement that fires it.
#[test]
fn contents_are_freed_at_the_same_cost_however_many_there_are() {
    let server = server("upkeep-blobs");
    let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)";
    let sha256 = "printf('%064d', i)";
    for statement in [
        format!(
            "INSERT INTO blobs (workspace_id, sha256, size, encoding, chunks, created_at)
             {numbers} SELECT 'ws', {sha256}, 1, 'utf8', 1, '2026-11-16T01:00:00.000Z' FROM n"
        ),
        format!("INSERT INTO blob_chunks {numbers} SELECT 'ws', {sha256}, 0, 'x' FROM n"),
        format!(
            "INSERT INTO file_entries (workspace_id, tree_id, path, label, sha256, size)
             {numbers} SELECT 'ws', 'tree', '/' || i, 'a1', {sha256}, 1 FROM n WHERE i > 5"
        ),
        format!("INSERT INTO stale_blobs (workspace_id, sha256) {numbers} SELECT 'ws', {sha256} FROM n WHERE i <= 10"),
        "ANALYZE".to_owned(),
    ] {
        server.sql(&statement, &[]);
    }
    let answer = server.ask(json!({"sql": "DELETE FROM stale_blobs WHERE turn <= 10", "params": []}));
    let read = answer["meta"]["rows_read"].as_u64().unwrap_or_else(|| panic!("{answer}"));
    assert!(read <= 150, "{read} rows were read");
    for table in ["blobs", "blob_chunks"] {
        assert_eq!(server.sql(&format!("SELECT count(*) AS n FROM {table}"), &[])[0]["n"], 9_995, "{table}");
    }
}
