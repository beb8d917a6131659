//! Calls of a server's tools: what the server gets, what a call costs, and what happens when its time is over.

use super::{register, tool};
use crate::harness::{LEGACY, MODERN, McpPeer, PeerReply, SSE, race, workspace};
use serde_json::{Value, json};
use std::thread::sleep;
use std::time::{Duration, Instant};

#[test]
fn the_server_gets_the_call_and_nothing_of_the_caller() {
    for revision in [MODERN, LEGACY, SSE] {
        let (client, peer) = (workspace(), McpPeer::start(revision, json!([])));
        let schema = json!({"type": "object", "properties": {"a": {"type": "integer", "default": 7}}});
        peer.offer(json!([{"name": "echo", "inputSchema": schema}]));
        register(&client, "m", &peer);
        let caller = client.with_header("X-Secret-Of-Caller", "s3cret");
        assert_eq!(caller.execute("m:echo", json!({})).success(), json!({"a": 7}), "defaults are filled in");
        let call = &peer.asked("tools/call")[0];
        assert_eq!(
            (&call.body["params"]["name"], &call.body["params"]["arguments"]),
            (&json!("echo"), &json!({"a": 7}))
        );
        assert!(call.header("x-secret-of-caller").is_none() && call.header("x-workspace-id").is_none());
        let meta = &call.body["params"]["_meta"];
        match revision {
            MODERN => {
                assert_eq!(meta["io.modelcontextprotocol/clientCapabilities"], json!({}), "nothing is declared");
                assert_eq!(call.header("mcp-method"), Some("tools/call"));
            }
            _ => assert_eq!(peer.asked("initialize")[0].body["params"]["capabilities"], json!({})),
        }
        if revision != SSE {
            assert_eq!(call.header("mcp-protocol-version"), Some(revision));
        }
        client.execute("m:echo", json!({"a": "x"})).failed(400, "INVALID_ARGUMENTS");
        assert_eq!(peer.asked("tools/call").len(), 1, "a wrong call does not leave");
    }
}

#[test]
fn a_call_takes_two_round_trips() {
    for revision in [MODERN, LEGACY, SSE] {
        let (client, peer) = (workspace(), McpPeer::start(revision, json!([tool("echo")])));
        register(&client, "m", &peer);
        for _ in 0..2 {
            let answer = client.execute("m:echo", json!({"a": 1}));
            answer.success();
            assert_eq!(answer.cost("round_trips"), 2, "{revision}: {:?}", answer.header("x-d1-cost"));
        }
    }
}

#[test]
fn arguments_are_repeated_in_headers_where_the_schema_says_so() {
    let (client, peer) = (workspace(), McpPeer::start(MODERN, json!([])));
    let schema = json!({"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}});
    peer.offer(json!([{"name": "echo", "inputSchema": schema}]));
    register(&client, "m", &peer);
    client.execute("m:echo", json!({"region": "north"})).success();
    assert_eq!(peer.asked("tools/call")[0].header("mcp-param-region"), Some("north"));
}

#[test]
fn tools_are_exported_and_called_by_their_exported_names() {
    let (client, peer) = (workspace(), McpPeer::start(MODERN, json!([tool("Get.Time")])));
    register(&client, "m", &peer);
    for format in ["openai", "openai_responses", "anthropic", "gemini", "mcp", "langchain", "text"] {
        let answer = client.get(&format!("/api/tools?source=mcp&format={format}"));
        assert_eq!(answer.status, 200, "{format}: {}", answer.text);
        assert!(answer.text.contains("Get"), "{format}: {}", answer.text);
    }
    let exported = client.get("/api/tools?source=mcp&format=openai").ok();
    client.execute(exported["tools"][0]["function"]["name"].as_str().unwrap(), json!({})).success();
}

/// Each era ends a call in its own way, so all of them wait at once.
#[test]
#[expect(clippy::disallowed_methods, reason = "this runs on the host")]
fn a_call_whose_time_is_over_is_cancelled() {
    race(3, |index| {
        let revision = [MODERN, LEGACY, SSE][index];
        let (client, peer) = (workspace(), McpPeer::start(revision, json!([tool("echo")])));
        register(&client, "m", &peer);
        peer.on("tools/call", |_| PeerReply::UntilLeft);
        let began = Instant::now();
        let failed = client.execute("m:echo", json!({})).failed(200, "TIMEOUT");
        assert!(began.elapsed() < Duration::from_secs(36), "{revision}: {failed}");
        let call = peer.asked("tools/call")[0].body["id"].clone();
        let left = || peer.received().iter().any(|it| it.method == "LEFT");
        let cancelled = || {
            peer.asked("notifications/cancelled")
                .iter()
                .map(|it| it.body["params"]["requestId"].clone())
                .collect::<Vec<Value>>()
        };
        for _ in 0..100 {
            if if revision == MODERN { left() } else { !cancelled().is_empty() } {
                break;
            }
            sleep(Duration::from_millis(50));
        }
        match revision {
            MODERN => assert!(left() && cancelled().is_empty(), "the connection is closed, and no more"),
            _ => assert_eq!(cancelled(), [call], "{revision}"),
        }
        assert_eq!(peer.asked("tools/call").len(), 1, "{revision}");
    });
}
