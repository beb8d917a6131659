//! The conversations of the playground, as far as they need no model: pages, branches, and checking a message out.

use crate::harness::{Client, closed, closed_workspace, open, workspace};
use serde_json::{Value, json};

const SESSION: &str = "/api/playground/sessions/talk";

/// Inserts a message of the session `talk`. `place` is its depth, its line, the line's first depth and its parent line.
fn message(client: &Client, id: &str, parent: Option<&str>, place: [Option<u32>; 4], manifest: &Value) {
    let sql = "INSERT INTO messages (workspace_id, session_id, generation, id, parent_id, depth, line, line_start,
        parent_line, role, manifest_id, created_at, bytes, chunks, parts)
        VALUES (?1, 'talk', 0, ?2, ?3, ?4, ?5, ?6, ?7, iif(?4 % 2 = 0, 'user', 'assistant'), ?8,
          '2026-11-18T00:00:00.000Z', 640, 1, json_array(json_object('type', 'text', 'text', ?2)))";
    let mut params = vec![json!(client.workspace()), json!(id), json!(parent)];
    params.extend(place.map(|it| json!(it)));
    params.push(manifest.clone());
    open().sql(sql, &params);
}

/// A conversation with two branches: q1, a1, q2, a2, and q3 beside q2.
fn furnish(client: &Client) -> [Value; 2] {
    let write = |text: &str| client.put("/api/sessions/talk/files/x", text).json()["manifest_id"].clone();
    let manifests = [write("1"), write("2")];
    message(client, "q1", None, [Some(0), Some(1), Some(0), None], &Value::Null);
    message(client, "a1", Some("q1"), [Some(1), Some(1), Some(0), None], &manifests[0]);
    message(client, "q2", Some("a1"), [Some(2), Some(1), Some(0), None], &manifests[0]);
    message(client, "a2", Some("q2"), [Some(3), Some(1), Some(0), None], &manifests[1]);
    message(client, "q3", Some("a1"), [Some(2), Some(2), Some(2), Some(1)], &manifests[0]);
    let active = "UPDATE sessions SET active_message_id = 'a2' WHERE workspace_id = ?1 AND id = 'talk'";
    open().sql(active, &[json!(client.workspace())]);
    manifests
}

fn ids(messages: &[Value]) -> Vec<&str> {
    messages.iter().map(|it| it["id"].as_str().unwrap()).collect()
}

#[test]
fn a_conversation_is_read_page_by_page() {
    let client = workspace();
    let manifests = furnish(&client);
    let url = format!("{SESSION}/messages");
    let all = client.get(&url).ok();
    let messages = all["messages"].as_array().unwrap();
    assert_eq!((ids(messages), &all["next_cursor"]), (vec!["q1", "a1", "q2", "a2"], &Value::Null));
    assert_eq!(
        messages[2],
        json!({"id": "q2", "session_id": "talk", "parent_id": "a1", "role": "user",
            "parts": [{"type": "text", "text": "q2"}], "agent_id": null, "manifest_id": manifests[0],
            "finish_reason": null, "usage": null, "metadata": null, "siblings": ["q2", "q3"],
            "created_at": "2026-11-18T00:00:00.000Z"})
    );
    assert_eq!(client.pages(&url, "messages", 1), *messages);
    let branch = client.get(&format!("{url}?leaf=q3")).ok();
    assert_eq!(ids(branch["messages"].as_array().unwrap()), ["q1", "a1", "q3"]);
    let first = client.get(&format!("{url}?leaf=q3&limit=1")).ok();
    let cursor = first["next_cursor"].as_str().unwrap();
    client.get(&format!("{url}?leaf=a2&cursor={cursor}")).refused(400, "VALIDATION_ERROR");
    client.get(&format!("{url}?cursor=00")).refused(400, "VALIDATION_ERROR");
    client.get(&format!("{url}?leaf=nobody")).refused(404, "NOT_FOUND");
    client.get("/api/playground/sessions/nobody/messages").refused(404, "NOT_FOUND");
    client.put("/api/sessions/silent/files/x", "1").created();
    let silent = client.get("/api/playground/sessions/silent/messages").ok();
    assert_eq!(silent, json!({"messages": [], "next_cursor": null}));
}

#[test]
fn checking_a_message_out_moves_its_files_too() {
    let client = workspace();
    let manifests = furnish(&client);
    let check_out = |id: &str| client.post(&format!("{SESSION}/checkout"), json!({"message_id": id}));
    let session = check_out("q3").ok();
    assert_eq!((&session["active_message_id"], &session["active_manifest_id"]), (&json!("q3"), &manifests[0]));
    assert_eq!(client.get("/api/sessions/talk").ok(), session);
    assert_eq!(client.get("/api/sessions/talk/files/x").text, "1");
    let refused = check_out("nobody").refused(404, "NOT_FOUND");
    assert_eq!(refused.message, "Message not found: nobody");
    // Before the first answer there were no files, and writing begins anew.
    assert_eq!(check_out("q1").ok()["active_manifest_id"], Value::Null);
    client.put("/api/sessions/talk/files/y", "new").created();
    client.get("/api/sessions/talk/files/x").refused(404, "NOT_FOUND");
    assert_eq!(check_out("a2").ok()["files"], json!(1));
    assert_eq!(client.get("/api/sessions/talk/files/x").text, "2");
    client.post("/api/playground/sessions/nobody/checkout", json!({"message_id": "q1"})).refused(404, "NOT_FOUND");
}

#[test]
fn a_bound_token_sees_the_conversations_of_its_agent_alone() {
    let root = closed_workspace();
    let agent = root.agent(json!({}));
    let bound = root.token(json!({"name": "t", "level": "user", "agent_id": agent}));
    root.put("/api/sessions/talk/files/x", "1").created();
    let sql =
        "INSERT INTO messages (workspace_id, session_id, generation, id, depth, line, line_start, role, created_at,
        bytes, chunks, parts) VALUES (?1, 'talk', 0, 'q1', 0, 1, 0, 'user', '2026-11-18T00:00:00.000Z', 602, 1, '[]')";
    closed().sql(sql, &[json!(root.workspace())]);
    let url = format!("{SESSION}/messages?leaf=q1");
    assert_eq!(root.get(&url).ok()["messages"][0]["id"], json!("q1"));
    bound.get(&url).refused(404, "NOT_FOUND");
    bound.post(&format!("{SESSION}/checkout"), json!({"message_id": "q1"})).refused(404, "NOT_FOUND");
    assert_eq!(root.get("/api/sessions/talk").ok()["active_message_id"], Value::Null);
}
