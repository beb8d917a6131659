//! The count of bytes equals the sum of the tables, whatever is written, deleted and swept.

use super::{exact, sealed, server, text, upkeep};
use crate::harness::{Client, Dice, Tool, Upstream};
use serde_json::{Value, json};

/// One random request.
fn act(client: &Client, dice: &mut Dice) {
    let session = format!("s{}", dice.below(4));
    let path = dice.pick(&["a", "b", "d/a", "d/b", "d/e/c"]).to_owned();
    let bytes = *dice.pick(&[20, 500, 5_000, 80_000]);
    let sessions = |rest: &str| format!("/api/sessions/{session}{rest}");
    let manifests = || match client.get(&sessions("/manifests")) {
        it if it.status == 200 => it.json()["manifests"].as_array().unwrap().clone(),
        _ => Vec::new(),
    };
    let some_manifest = |dice: &mut Dice| {
        let manifests = manifests();
        (!manifests.is_empty()).then(|| json!({"manifest_id": dice.pick(&manifests)["id"]}))
    };
    match dice.below(20) {
        0..=5 => drop(client.put(&sessions(&format!("/files/{path}")), text(bytes))),
        6 => drop(client.put(&sessions(&format!("/files/{path}")), "always the same")),
        7 => drop(client.delete(&sessions(&format!("/files/{path}")))),
        8 => drop(client.delete(&sessions("/files/d"))),
        9 | 10 => {
            // A checkout and a write fork a line; many of them begin a tree.
            for _ in 0..6 {
                if let Some(body) = some_manifest(dice) {
                    client.post(&sessions("/checkout"), body).ok();
                    client.put(&sessions("/files/forked"), text(30));
                }
            }
        }
        11 => {
            if let Some(body) = some_manifest(dice) {
                client.post(&sessions("/branch"), body).created();
            }
        }
        12 => drop(client.delete(&sessions(""))),
        13 | 14 => drop(client.execute("echo", json!({ "text": text(bytes) })).result(200)),
        15 => drop(client.execute("echo", json!({ "text": text(300_000) })).result(200)),
        16 => drop(client.execute("list_files", json!({ "pth": text(bytes) })).result(400)),
        17 => drop(client.call(json!({"tool_name": "write_file", "arguments": {"path": path, "content": text(bytes)}, "session_id": session}))),
        18 => drop(client.execute("sealed", json!({ "key": text(bytes) })).result(202)),
        _ => {
            let waiting = client.get("/api/approvals?status=pending").ok()["approvals"].as_array().unwrap().clone();
            if let Some(id) = waiting.first().and_then(|it| it["id"].as_str()) {
                let word = dice.pick(&["approve", "deny"]);
                assert_eq!(client.post(&format!("/api/approvals/{id}/{word}"), json!({})).status, 200);
            }
        }
    }
}

#[test]
fn usage_is_exact_after_random_writes_deletions_calls_and_sweeps() {
    let (server, upstream) = (server("usage", "1000000000"), Upstream::start());
    let (client, other) = (server.client("ws"), server.client("other"));
    Tool::new("echo").http(&upstream.at("/echo")).put(&server, &client);
    sealed(&server, &client);
    other.put("/api/sessions/s/files/a", text(10_000)).created();
    let untouched = other.get("/api/registry/stats").ok()["usage"].clone();
    let mut dice = Dice(7);
    for round in 0..30 {
        for _ in 0..8 {
            act(&client, &mut dice);
        }
        exact(&server, &client);
        if round % 3 == 2 {
            upkeep(&server);
            exact(&server, &client);
        }
    }
    for session in client.pages("/api/sessions", "sessions", 200) {
        client.delete(&format!("/api/sessions/{}", session["id"].as_str().unwrap())).no_content();
    }
    for _ in 0..6 {
        upkeep(&server);
        exact(&server, &client);
    }
    let usage = client.get("/api/registry/stats").ok()["usage"].clone();
    assert_eq!(usage["files_bytes"], 0, "nothing is left of the files");
    assert_ne!(usage["calls_bytes"], 0);
    assert_eq!(other.get("/api/registry/stats").ok()["usage"], untouched, "another workspace is not touched");
}

#[test]
fn a_large_directory_is_counted_in_pieces() {
    let server = server("usage-directory", "1000000000");
    let client = server.client("ws");
    let paths = (0..1_100).map(|it| format!("/api/sessions/s/files/many/{it}")).collect::<Vec<_>>();
    for path in &paths {
        client.put(path, "the same").created();
    }
    exact(&server, &client);
    client.delete("/api/sessions/s/files/many").no_content();
    exact(&server, &client);
    // A write into the directory does the work of the sweep for its own path.
    client.put(&paths[7], "new").created();
    for _ in 0..3 {
        exact(&server, &client);
        upkeep(&server);
    }
    let usage: Value = client.get("/api/registry/stats").ok()["usage"].clone();
    assert!(usage["files_bytes"].as_u64().unwrap() > 1_100 * 2 * 300, "{usage}");
    client.delete("/api/sessions/s").no_content();
    for _ in 0..4 {
        upkeep(&server);
        exact(&server, &client);
    }
    assert_eq!(client.get("/api/registry/stats").ok()["usage"]["files_bytes"], 0);
}
