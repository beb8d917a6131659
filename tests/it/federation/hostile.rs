//! Servers that answer badly. Nothing hangs, nothing is taken on trust, and what was accepted before stays.

use super::{refresh, register, tool};
use crate::harness::{Client, LEGACY, MODERN, McpPeer, PeerReply, SSE, answer_to, workspace};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const ERAS: [&str; 3] = [MODERN, LEGACY, SSE];

#[test]
fn a_server_that_behaves_is_called_in_every_era() {
    for revision in ERAS {
        let (client, peer) = (workspace(), McpPeer::start(revision, json!([tool("echo")])));
        let server = register(&client, "m", &peer);
        assert_eq!((&server["status"], &server["protocol_version"]), (&json!("ok"), &json!(revision)), "{server}");
        assert_eq!(server["tool_ids"], json!(["m:echo"]));
        assert_eq!(client.execute("m:echo", json!({"a": 1})).success(), json!({"a": 1}), "{revision}");
        if revision != SSE {
            peer.stream();
            assert_eq!(client.execute("m:echo", json!({"a": 2})).success(), json!({"a": 2}), "{revision}, as a stream");
        }
        let calls = peer.asked("tools/call");
        assert_eq!(calls[0].header("mcp-name"), (revision == MODERN).then_some("echo"));
        client.delete("/api/mcp-servers/m").no_content();
        assert_eq!(client.get("/api/tools/m:echo").ok()["active"], false);
    }
}

#[test]
fn a_list_that_never_ends_is_left() {
    for revision in ERAS {
        let (client, peer) = (workspace(), McpPeer::start(revision, json!([tool("echo")])));
        register(&client, "m", &peer);
        // The same cursor again and again, and then a new cursor each time.
        peer.on("tools/list", |_| PeerReply::Result(json!({"tools": [], "nextCursor": "again"})));
        kept(&client, "The MCP server sent a list of tools that leads back to itself");
        peer.on("tools/list", |request| {
            let cursor = request.body["params"]["cursor"].as_str().unwrap_or_default();
            PeerReply::Result(json!({"tools": [], "nextCursor": format!("{cursor}x")}))
        });
        kept(&client, "The MCP server answered too many pages");
        assert!(peer.asked("tools/list").len() < 300, "{revision}: {} pages", peer.asked("tools/list").len());
        client.execute("m:echo", json!({})).success();
    }
}

#[test]
fn a_list_of_100_000_tools_is_refused() {
    let (client, peer) = (workspace(), McpPeer::start(MODERN, json!([tool("echo")])));
    register(&client, "m", &peer);
    // Written once, so that the server loses no time over it.
    let tools =
        (0..100_000).map(|it| format!(r#"{{"name":"t{it}","inputSchema":{{}}}}"#)).collect::<Vec<_>>().join(",");
    let list = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{tools}]}}}}"#).into_bytes();
    peer.on("tools/list", move |_| PeerReply::Bytes(200, list.clone()));
    kept(&client, "The MCP server sent a message that holds more than 250000 values");
    client.execute("m:echo", json!({})).success();
}

#[test]
fn what_is_no_tool_is_left_out_with_a_warning() {
    let (client, peer) = (workspace(), McpPeer::start(LEGACY, json!([])));
    let with = |name: &str, schema: Value| json!({"name": name, "inputSchema": schema});
    let remote = json!({"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/remote.json"}}});
    let deep = (0..200).fold(json!({"type": "object"}), |it, _| json!({"type": "object", "properties": {"a": it}}));
    peer.offer(json!([
        tool("good"), tool("good"), tool(""), tool("a\u{0}b"), tool(&"x".repeat(1_001)),
        {"inputSchema": {"type": "object"}}, {"name": 7, "inputSchema": {"type": "object"}}, 7, null, [], {"name": "none"},
        with("number", json!(7)), with("objekt", json!({"type": "objekt"})), with("text", json!({"type": "string"})),
        with("remote", remote), with("deep", deep),
        {"name": "hidden", "description": "Reads\u{e0041}\u{e0042} mail", "inputSchema": {"type": "object"}},
    ]));
    let server = register(&client, "m", &peer);
    assert_eq!((&server["status"], &server["tool_ids"]), (&json!("ok"), &json!(["m:good"])), "{server}");
    assert_eq!(server["warnings"].as_array().unwrap().len(), 16, "{server}");
    client.execute("m:good", json!({})).success();
}

#[test]
fn names_become_ids_and_calls_use_the_names() {
    let (client, long) = (workspace(), "x".repeat(300));
    let names = ["Get-Time", "a.b", "../x", "é", "two words", "a b", "a:b", &long];
    let peer = McpPeer::start(MODERN, names.iter().map(|it| tool(it)).collect());
    let server = register(&client, "m", &peer);
    assert_eq!((&server["tools"], &server["warnings"]), (&json!(8), &json!([])), "{server}");
    let ids = server["tool_ids"].as_array().unwrap().iter().map(|it| it.as_str().unwrap().to_owned());
    let ids = ids.collect::<Vec<_>>();
    for expected in ["m:Get-Time", "m:a.b", "m:.._x", "m:_", "m:two_words", &format!("m:{}", "x".repeat(128))] {
        assert!(ids.iter().any(|it| it == expected), "{expected} is not in {ids:?}");
    }
    let hashed = ids.iter().filter(|it| it.starts_with("m:a_b_") && it.len() == "m:a_b_".len() + 8);
    assert_eq!(hashed.count(), 2, "two names that would be one id: {ids:?}");
    for id in &ids {
        client.execute(id, json!({})).success();
    }
    let mut called = peer.asked("tools/call").iter().map(|it| it.body["params"]["name"].clone()).collect::<Vec<_>>();
    let mut offered = names.map(|it| json!(it)).to_vec();
    called.sort_by_key(Value::to_string);
    offered.sort_by_key(Value::to_string);
    assert_eq!(called, offered);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "this runs on the host")]
fn an_answer_that_is_no_list_is_told_and_changes_nothing() {
    let (client, peer) = (workspace(), McpPeer::start(MODERN, json!([tool("echo")])));
    register(&client, "m", &peer);
    let invalid_utf8 =
        [br#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":""#.as_slice(), &[0xff, 0xfe], br#""}]}}"#].concat();
    let no_message = "sent a message that is not JSON-RPC";
    for (reply, words) in [
        (PeerReply::Json(200, json!(7)), no_message),
        (
            PeerReply::Json(200, json!({"jsonrpc": "2.0", "id": "another", "result": {"tools": []}})),
            "answered another request than the one that was sent",
        ),
        (PeerReply::Bytes(200, b"<html>".to_vec()), no_message),
        (PeerReply::Bytes(200, Vec::new()), "answered a request with the status 200 and an empty body"),
        (PeerReply::Bytes(200, invalid_utf8), "answered something that is not UTF-8"),
        (PeerReply::Bytes(500, b"it broke".to_vec()), "answered with the status 500: it broke"),
        (PeerReply::Bytes(200, vec![b'['; 100_000]), no_message),
        (PeerReply::Bytes(202, Vec::new()), "answered a request with the status 202 and an empty body"),
        (PeerReply::Result(json!({"tools": {}})), "sent a list of tools that cannot be read"),
        (PeerReply::Result(json!({})), "sent a list of tools that cannot be read"),
        (PeerReply::Error(-32603, "Internal error"), "answered with the error -32603: Internal error"),
        (PeerReply::Redirect(peer.url().to_owned()), "answered with the status 302"),
        (PeerReply::Half(json!({"jsonrpc": "2.0"}).to_string()), "broke off its answer"),
        (PeerReply::HangUp, "could not be reached"),
        (PeerReply::Events(Vec::new()), "broke off its answer"),
        (PeerReply::Events(vec!["data: no JSON".to_owned(), ": a comment".to_owned(), "id".to_owned()]), no_message),
        (PeerReply::Events(vec![format!("data: {}", "x".repeat(50 * 1024 * 1024))]), "answered too many bytes"),
        (PeerReply::Silence(Duration::from_secs(40)), "did not answer in time"),
    ] {
        peer.on("tools/list", move |_| reply.clone());
        let began = Instant::now();
        kept(&client, &format!("The MCP server {words}"));
        assert!(began.elapsed() < Duration::from_secs(35));
    }
    peer.behave();
    assert_eq!(refresh(&client, "m")["status"], "ok");
    client.execute("m:echo", json!({})).success();
}

#[test]
fn notifications_and_answers_to_other_ids_come_before_the_answer() {
    for revision in [MODERN, LEGACY] {
        let (client, peer) = (workspace(), McpPeer::start(revision, json!([tool("echo")])));
        register(&client, "m", &peer);
        peer.on("tools/call", |request| {
            PeerReply::messages(&[
                json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}}),
                json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}),
                json!({"jsonrpc": "2.0", "id": "another", "result": {"content": [{"type": "text", "text": "wrong"}]}}),
                json!({"jsonrpc": "2.0", "id": 987_654, "error": {"code": -32603, "message": "wrong"}}),
                answer_to(request, json!({"content": [{"type": "text", "text": "right"}]})),
                json!({"jsonrpc": "2.0", "id": request.body["id"], "result": {"content": [{"type": "text", "text": "late"}]}}),
            ])
        });
        assert_eq!(client.execute("m:echo", json!({})).success(), "right", "{revision}");
    }
}

#[test]
fn a_server_that_asks_is_refused_and_answers_all_the_same() {
    let (client, peer) = (workspace(), McpPeer::start(LEGACY, json!([tool("echo")])));
    register(&client, "m", &peer);
    let methods = ["sampling/createMessage", "elicitation/create", "roots/list", "ping", "no/such/method"];
    peer.on("tools/call", move |request| {
        let asks =
            methods.iter().map(|it| json!({"jsonrpc": "2.0", "id": format!("ask {it}"), "method": it, "params": {}}));
        PeerReply::messages(&asks.chain([answer_to(request, json!({"content": []}))]).collect::<Vec<_>>())
    });
    client.execute("m:echo", json!({})).success();
    let answers =
        peer.received().into_iter().map(|it| it.body).filter(|it| it.get("method").is_none()).collect::<Vec<_>>();
    for method in methods {
        let answer = answers.iter().find(|it| it["id"] == format!("ask {method}")).unwrap();
        assert_eq!(answer["result"] == json!({}), method == "ping", "{answer}");
        assert_eq!(answer["error"]["code"] == -32601, method != "ping", "{answer}");
    }
}

#[test]
fn a_call_that_surely_did_not_run_is_made_again_and_any_other_is_not() {
    for status in [404, 400] {
        let (client, peer) = (workspace(), McpPeer::start(LEGACY, json!([tool("echo")])));
        register(&client, "m", &peer);
        peer.forget_sessions(status);
        assert_eq!(client.execute("m:echo", json!({"a": 1})).success(), json!({"a": 1}), "{status}");
        assert_eq!(peer.asked("initialize").len(), 2);
        assert_eq!(peer.asked("tools/call").len(), 2, "one was refused, and one ran");
    }
    for reply in [PeerReply::HangUp, PeerReply::Half("{}".to_owned()), PeerReply::Bytes(500, Vec::new())] {
        let (client, peer) = (workspace(), McpPeer::start(LEGACY, json!([tool("echo")])));
        register(&client, "m", &peer);
        peer.on("tools/call", move |_| reply.clone());
        let failed = client.execute("m:echo", json!({})).result(200);
        assert_eq!(failed["success"], false, "{failed}");
        assert_eq!(peer.asked("tools/call").len(), 1, "{failed}");
    }
}

#[test]
fn input_that_nobody_can_give_is_an_error() {
    let (client, peer) = (workspace(), McpPeer::start(MODERN, json!([tool("echo")])));
    register(&client, "m", &peer);
    peer.on("tools/call", |_| {
        let ask = json!({"method": "elicitation/create", "params": {"message": "Sure?", "requestedSchema": {"type": "object"}}});
        PeerReply::Result(json!({"resultType": "input_required", "inputRequests": {"confirm": ask}, "requestState": "s"}))
    });
    client.execute("m:echo", json!({})).failed(200, "TOOL_ERROR");
    assert_eq!(peer.asked("tools/call").len(), 1);
}

/// Discovers the server anew. The discovery fails with these words, and the tools stay.
#[track_caller]
fn kept(client: &Client, words: &str) {
    let found = refresh(client, "m");
    assert_ne!(found["status"], "ok", "{found}");
    let error = found["error"].as_str().unwrap_or_default();
    assert!(error.starts_with(words), "{error:?} instead of {words:?}");
    let server = client.get("/api/mcp-servers/m").ok();
    assert_eq!((&server["last_error"], &server["status"]), (&found["error"], &found["status"]), "{server}");
    assert_eq!(server["tool_ids"], json!(["m:echo"]), "{server}");
}
