//! The content blocks of a server's result: through the API, through our own MCP server, and after an approval.

use super::{register, register_with, tool};
use crate::harness::{Client, LEGACY, MODERN, McpPeer, PeerReply, workspace};
use crate::mcp::Mcp;
use serde_json::{Value, json};

/// One block of each kind.
fn blocks() -> Value {
    json!([
        {"type": "text", "text": "größer 🌍", "annotations": {"audience": ["user"], "priority": 0.5}},
        {"type": "image", "data": "AA==", "mimeType": "image/png"},
        {"type": "audio", "data": "AQ==", "mimeType": "audio/wav"},
        {"type": "resource_link", "uri": "note://1", "name": "note", "mimeType": "text/plain"},
        {"type": "resource", "resource": {"uri": "note://2", "text": "words", "mimeType": "text/plain"}},
    ])
}

/// The name of the tool `m:echo` in our own MCP server.
fn exported(client: &Client) -> String {
    let exported = client.get("/api/tools?ids=m:echo&format=mcp").ok();
    exported["tools"][0]["name"].as_str().unwrap().to_owned()
}

#[test]
fn a_result_is_structured_or_text_or_blocks() {
    let (client, peer) = (workspace(), McpPeer::start(MODERN, json!([tool("echo")])));
    register(&client, "m", &peer);
    let text = |it: &str| json!({"type": "text", "text": it});
    for (result, expected) in [
        (json!({"content": [text("{}")], "structuredContent": {"a": 1}}), json!({"a": 1})),
        (json!({"content": [text("a")]}), json!("a")),
        (json!({"content": [text("a"), text("b")]}), json!("a\nb")),
        (json!({"content": []}), json!("")),
        (json!({"content": blocks()}), blocks()),
    ] {
        let (answer, whole) = (result.clone(), json!([text("x")]));
        peer.on("tools/call", move |_| PeerReply::Result(answer.clone()));
        assert_eq!(client.execute("m:echo", json!({})).success(), expected, "{whole}");
        for revision in [LEGACY, MODERN] {
            let through = Mcp::new(&client, revision).call(&exported(&client), json!({}));
            assert_eq!(through["content"], result["content"], "{revision}");
            assert_eq!(through.get("structuredContent"), result.get("structuredContent"), "{revision}");
            assert_eq!(through["isError"], false);
        }
    }
}

#[test]
fn an_error_has_the_servers_words_and_blocks() {
    let (client, peer) = (workspace(), McpPeer::start(MODERN, json!([tool("echo")])));
    register(&client, "m", &peer);
    let content = json!([{"type": "text", "text": "No such city"}]);
    let answer = json!({"content": content, "isError": true, "resultType": "complete"});
    peer.on("tools/call", move |_| PeerReply::Result(answer.clone()));
    let failed = client.execute("m:echo", json!({})).failed(200, "TOOL_ERROR");
    assert_eq!(failed["error"]["message"], "No such city");
    for revision in [LEGACY, MODERN] {
        let through = Mcp::new(&client, revision).call(&exported(&client), json!({}));
        assert_eq!((&through["isError"], &through["content"]), (&json!(true), &content), "{revision}");
    }
}

#[test]
fn blocks_survive_an_approval() {
    for structured in [None, Some(json!({"a": 1}))] {
        let (client, peer) = (workspace(), McpPeer::start(MODERN, json!([tool("echo")])));
        register_with(&client, "m", &peer, json!({}));
        let mut answer = json!({"content": blocks(), "resultType": "complete"});
        if let Some(structured) = &structured {
            answer["structuredContent"] = structured.clone();
        }
        peer.on("tools/call", move |_| PeerReply::Result(answer.clone()));
        let mcp = Mcp::new(&client, MODERN).with_forms();
        let name = exported(&client);
        let first = mcp.call(&name, json!({}));
        assert_eq!(first["resultType"], "input_required", "{first}");
        let listed = client.get("/api/approvals?status=pending").ok();
        let id = listed["approvals"][0]["id"].as_str().unwrap().to_owned();
        client.post(&format!("/api/approvals/{id}/approve"), json!({})).result(200);
        let done = mcp.result(
            "tools/call",
            json!({"name": name, "arguments": {}, "requestState": first["requestState"],
                "inputResponses": {"approval": {"action": "accept", "content": {}}}}),
        );
        assert_eq!((&done["resultType"], &done["content"]), (&json!("complete"), &blocks()), "{done}");
        assert_eq!(done.get("structuredContent"), structured.as_ref());
        assert_eq!(peer.asked("tools/call").len(), 1);
    }
}

#[test]
fn secrets_that_a_server_repeats_are_scrubbed() {
    let (client, peer) = (workspace(), McpPeer::start(MODERN, json!([tool("echo")])));
    client.post("/api/credentials", json!({"id": "GITHUB_TOKEN"})).created();
    let headers = json!({"Authorization": "Bearer ${GITHUB_TOKEN}", "X-Literal": "s3cret-value"});
    register_with(&client, "m", &peer, json!({"headers": headers, "requires_approval": false}));
    let words = "I got gh-value-1234 and s3cret-value";
    let content =
        json!([{"type": "text", "text": words}, {"type": "resource_link", "uri": "note://s3cret-value", "name": "x"}]);
    let replies = [
        PeerReply::Result(json!({"content": content, "structuredContent": {"got": words}, "resultType": "complete"})),
        PeerReply::Result(json!({"content": content, "resultType": "complete"})),
        PeerReply::Result(json!({"content": content, "isError": true, "resultType": "complete"})),
        PeerReply::Error(-32603, "I got gh-value-1234 and s3cret-value"),
        PeerReply::Bytes(500, words.as_bytes().to_vec()),
        PeerReply::Result(json!({"content": words})),
        PeerReply::Json(200, json!({"jsonrpc": words, "id": 1, "result": words})),
    ];
    for reply in replies {
        peer.on("tools/call", move |_| reply.clone());
        let answer = client.execute("m:echo", json!({}));
        let record = client.record(&answer.json());
        let through = Mcp::new(&client, MODERN).send("tools/call", json!({"name": exported(&client), "arguments": {}}));
        for text in [answer.text, record.to_string(), through.text] {
            assert!(!text.contains("gh-value-1234") && !text.contains("s3cret-value"), "{text}");
        }
    }
    peer.on("tools/list", |_| PeerReply::Error(-32603, "I got gh-value-1234 and s3cret-value"));
    let found = super::refresh(&client, "m").to_string();
    assert!(!found.contains("gh-value-1234") && !found.contains("s3cret-value"), "{found}");
}
