//! The policy of a server's tools is its admin's: their risk, and whether a call needs an approval.

use super::{register_with, server, tool, version};
use crate::harness::{Client, MODERN, McpPeer, PeerReply, workspace};
use serde_json::{Value, json};

fn policy(client: &Client) -> (Value, Value, String) {
    let tool = client.get("/api/tools/m:echo").ok();
    (tool["risk_level"].clone(), tool["requires_approval"].clone(), version(client, "m:echo"))
}

#[test]
fn a_tool_of_a_server_has_these_defaults() {
    let (client, peer) = (workspace(), McpPeer::start(MODERN, json!([])));
    let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
    let annotations = json!({"readOnlyHint": true, "destructiveHint": false, "title": "Of the annotations"});
    peer.offer(json!([{"name": "echo", "title": "Echo", "description": "Repeats", "inputSchema": schema,
        "outputSchema": {"type": "object"}, "annotations": annotations}]));
    let made = register_with(&client, "m", &peer, json!({}));
    assert_eq!(
        (&made["requires_approval"], &made["risk_level"], &made["enabled"], &made["auto_accept"], &made["toolset_id"]),
        (&json!(true), &json!("medium"), &json!(true), &json!(false), &Value::Null)
    );
    assert_eq!(made["server_info"], json!({"name": "peer", "version": "1.0.0"}), "{made}");
    let tool = client.get("/api/tools/m:echo?schemas=object").ok();
    for (field, value) in [
        ("name", json!("Echo")),
        ("version", json!("1.0.0")),
        ("source", json!("mcp")),
        ("category", json!("m")),
        // The annotations claim that the tool is harmless, and lower nothing.
        ("risk_level", json!("medium")),
        ("requires_approval", json!(true)),
        ("needs_approval", json!(true)),
        ("required_permission", json!("user")),
        ("execution_mode", json!("remote")),
        ("resource_class", json!("control")),
        ("timeout_seconds", json!(30)),
        ("parameters_schema", schema),
        ("returns_schema", json!({"type": "object"})),
        ("handler", json!({"type": "mcp", "server": "m", "tool": "echo", "annotations": annotations})),
    ] {
        assert_eq!(tool[field], value, "{field}");
    }
}

#[test]
fn another_policy_gives_new_versions_at_once_even_of_a_server_that_is_down() {
    let (client, peer) = (workspace(), McpPeer::start(MODERN, json!([tool("echo")])));
    register_with(&client, "m", &peer, json!({}));
    let change = |body: Value| client.patch("/api/mcp-servers/m", body).ok();
    assert_eq!(policy(&client), (json!("medium"), json!(true), "1.0.0".to_owned()));
    change(json!({"requires_approval": false}));
    let second = policy(&client);
    assert_eq!((&second.0, &second.1), (&json!("medium"), &json!(false)));
    assert_ne!(second.2, "1.0.0");
    client.execute("m:echo", json!({})).success();
    change(json!({"risk_level": "high"}));
    assert_eq!(policy(&client).0, "high");
    assert_eq!(server(&client)["held_back"], 0, "an admin has set it");
    // A tool of high risk always asks.
    client.execute("m:echo", json!({})).failed(202, "APPROVAL_REQUIRED");

    peer.on("tools/list", |_| PeerReply::HangUp);
    peer.on("tools/call", |_| PeerReply::HangUp);
    let asked = peer.asked("tools/list").len();
    let down = change(json!({"risk_level": "low", "requires_approval": true}));
    assert_eq!((&down["risk_level"], &down["tools"]), (&json!("low"), &json!(1)));
    let last = policy(&client);
    assert_eq!((&last.0, &last.1), (&json!("low"), &json!(true)));
    assert_eq!(peer.asked("tools/list").len(), asked, "the list is in the cache");
    let versions = client.get("/api/tools/m:echo/versions").ok();
    assert_eq!(versions["versions"].as_array().unwrap().len(), 4, "{versions}");
    let log = client.changes();
    let told = log.iter().filter(|it| it["subject"].as_str().unwrap().starts_with("tool:m:echo@"));
    let told = told.map(|it| it["action"].as_str().unwrap()).collect::<Vec<_>>();
    assert_eq!(told, ["register", "deactivate", "update", "deactivate", "update", "deactivate", "update"]);
    assert_eq!(client.get("/api/registry/invariants").ok()["ok"], true);
}

#[test]
fn nothing_leaves_before_the_approval_and_the_call_then_runs_once() {
    let (client, peer) = (workspace(), McpPeer::start(MODERN, json!([tool("echo")])));
    register_with(&client, "m", &peer, json!({}));
    let before = peer.received().len();
    let ask = || {
        let pending = client.execute("m:echo", json!({"a": 1})).failed(202, "APPROVAL_REQUIRED");
        pending["error"]["details"]["approval_id"].as_str().unwrap().to_owned()
    };
    let (first, second) = (ask(), ask());
    assert_eq!(peer.received().len(), before, "nothing was sent");
    let done = client.post(&format!("/api/approvals/{first}/approve"), json!({})).result(200);
    assert_eq!((&done["success"], &done["result"]), (&json!(true), &json!({"a": 1})));
    assert_eq!(peer.asked("tools/call").len(), 1);
    client.post(&format!("/api/approvals/{first}/approve"), json!({})).refused(409, "CONFLICT");
    client.post(&format!("/api/approvals/{second}/deny"), json!({})).ok();
    assert_eq!(peer.asked("tools/call").len(), 1, "a denied call does not leave");
}
