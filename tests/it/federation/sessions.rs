//! Sessions with servers: kept between calls and sealed, opened once more when they are lost, and ended.

use super::{refresh, register, register_with, server, tool};
use crate::harness::{LEGACY, MODERN, McpPeer, PeerReply, open, race, workspace};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn a_session_is_kept_between_calls_and_sealed() {
    let (client, peer) = (workspace(), McpPeer::start(LEGACY, json!([tool("echo")])));
    register(&client, "m", &peer);
    for _ in 0..3 {
        client.execute("m:echo", json!({})).success();
    }
    refresh(&client, "m");
    assert_eq!(peer.asked("initialize").len(), 1);
    assert_eq!(peer.asked("notifications/initialized").len(), 1);
    assert!(peer.asked("tools/call").iter().all(|it| it.header("mcp-session-id") == Some("session-1")));
    let sql = "SELECT * FROM upstreams WHERE workspace_id = ?1";
    let row = json!(open().sql(sql, &[json!(client.workspace())])).to_string();
    assert!(row.contains("2025-11-25") && !row.contains("session-1"), "{row}");
    let shown = server(&client).to_string();
    assert!(!shown.contains("session-1") && !shown.contains("sealed"), "{shown}");
}

#[test]
fn a_lost_session_is_opened_once_more() {
    for status in [404, 400] {
        let (client, peer) = (workspace(), McpPeer::start(LEGACY, json!([tool("echo")])));
        register(&client, "m", &peer);
        peer.forget_sessions(status);
        let before = peer.asked("tools/list").len();
        assert_eq!(refresh(&client, "m")["status"], "ok", "{status}");
        assert_eq!((peer.asked("initialize").len(), peer.asked("tools/list").len() - before), (2, 2), "{status}");
        // The new session is kept.
        client.execute("m:echo", json!({})).success();
        assert_eq!(peer.asked("initialize").len(), 2);
        assert_eq!(peer.asked("tools/call")[0].header("mcp-session-id"), Some("session-2"));
    }
}

#[test]
fn a_server_that_loses_every_session_is_not_asked_for_ever() {
    for status in [404, 400] {
        let (client, peer) = (workspace(), McpPeer::start(LEGACY, json!([tool("echo")])));
        register(&client, "m", &peer);
        let body = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32001, "message": "Session not found"}});
        peer.on("tools/call", move |_| PeerReply::Json(status, body.clone()));
        let failed = client.execute("m:echo", json!({})).failed(200, "TOOL_ERROR");
        assert!(failed["error"]["message"].as_str().unwrap().contains("Session not found"), "{failed}");
        assert_eq!((peer.asked("initialize").len(), peer.asked("tools/call").len()), (2, 2), "{status}");
    }
}

#[test]
fn callers_that_lose_the_same_session_at_once_each_run_once() {
    let (client, peer) = (workspace(), McpPeer::start(LEGACY, json!([tool("echo")])));
    register(&client, "m", &peer);
    peer.forget_sessions(404);
    let results = race(6, |index| client.execute("m:echo", json!({"a": index})).success());
    for (index, result) in results.iter().enumerate() {
        assert_eq!(*result, json!({"a": index}));
    }
    // A call of the lost session did not run. Every call ran once, in a session that the server knew.
    let ran = peer.asked("tools/call").into_iter().filter(|it| it.header("mcp-session-id") != Some("session-1"));
    let mut ran = ran.map(|it| it.body["params"]["arguments"]["a"].as_u64().unwrap()).collect::<Vec<_>>();
    ran.sort_unstable();
    assert_eq!(ran, [0, 1, 2, 3, 4, 5]);
}

#[test]
fn a_call_that_may_have_run_is_not_made_again() {
    for revision in [LEGACY, MODERN] {
        for reply in [
            PeerReply::HangUp,
            PeerReply::Half("{}".to_owned()),
            PeerReply::Bytes(500, Vec::new()),
            PeerReply::Bytes(502, Vec::new()),
            PeerReply::Bytes(200, Vec::new()),
            PeerReply::Events(Vec::new()),
            PeerReply::Events(vec!["id: 1\nretry: 10\ndata: ".to_owned()]),
        ] {
            let (client, peer) = (workspace(), McpPeer::start(revision, json!([tool("echo")])));
            register(&client, "m", &peer);
            peer.on("tools/call", move |_| reply.clone());
            let failed = client.execute("m:echo", json!({})).result(200);
            assert_eq!(failed["success"], false, "{failed}");
            assert_eq!(peer.asked("tools/call").len(), 1, "{revision}: {failed}");
        }
    }
}

#[test]
fn a_stream_that_ends_early_is_gone_on_with() {
    let (client, peer) = (workspace(), McpPeer::start(LEGACY, json!([tool("echo")])));
    register(&client, "m", &peer);
    let id = Arc::new(std::sync::Mutex::new(Value::Null));
    let asked = id.clone();
    peer.on("tools/call", move |request| {
        *asked.lock().unwrap() = request.body["id"].clone();
        PeerReply::Events(vec!["id: event-1\nretry: 200\ndata: ".to_owned()])
    });
    let returns = Arc::new(AtomicUsize::new(0));
    let counted = returns.clone();
    peer.on("GET", move |request| {
        assert_eq!(request.header("last-event-id"), Some("event-1"));
        counted.fetch_add(1, Ordering::Relaxed);
        let result = json!({"content": [{"type": "text", "text": "the rest"}]});
        PeerReply::messages(&[json!({"jsonrpc": "2.0", "id": *id.lock().unwrap(), "result": result})])
    });
    assert_eq!(client.execute("m:echo", json!({})).success(), "the rest");
    assert_eq!((peer.asked("tools/call").len(), returns.load(Ordering::Relaxed)), (1, 1));
}

#[test]
fn the_endpoint_of_a_stream_is_on_the_same_server() {
    let (client, other) = (workspace(), McpPeer::start(LEGACY, json!([tool("echo")])));
    let peer = McpPeer::start(LEGACY, json!([tool("echo")]));
    let elsewhere = format!("event: endpoint\ndata: {}", other.url());
    peer.on("GET", move |_| PeerReply::Events(vec![elsewhere.clone()]));
    let made = register_with(&client, "m", &peer, json!({"transport": "sse", "headers": {"X-Key": "s3cret-value"}}));
    assert_eq!((&made["status"], &made["tools"]), (&json!("invalid"), &json!(0)));
    assert_eq!(made["last_error"], "The MCP server named an endpoint that is not on the same server");
    assert!(other.received().is_empty(), "the headers go nowhere else");
}
