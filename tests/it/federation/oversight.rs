//! MCP servers in health, metrics and invariants.

use super::{refresh, register, tool};
use crate::harness::{MODERN, McpPeer, PeerReply, Server, open, workspace};
use serde_json::json;

#[test]
fn servers_that_fail_are_a_warning() {
    let (client, peer) = (workspace(), McpPeer::start(MODERN, json!([tool("echo")])));
    register(&client, "m", &peer);
    assert_eq!(client.get("/api/registry/health").ok()["status"], "ok");
    client.post("/api/mcp-servers", json!({"id": "down", "url": "http://127.0.0.1:9"})).created();
    client.post("/api/mcp-servers", json!({"id": "off", "url": "http://127.0.0.1:9", "enabled": false})).created();
    peer.on("tools/list", |_| PeerReply::Bytes(200, b"<html>".to_vec()));
    refresh(&client, "m");
    let health = client.get("/api/registry/health").ok();
    assert_eq!(
        (&health["status"], &health["alerts"]),
        (
            &json!("warning"),
            &json!([{
                "condition": "mcp_server_failing",
                "severity": "warning",
                "message": "MCP servers that do not answer, or not as MCP servers do: 2",
                "details": {"count": 2, "mcp_servers": [
                    {"name": "down", "status": "unreachable"},
                    {"name": "m", "status": "invalid"},
                ]},
            }])
        )
    );
    peer.behave();
    peer.offer(json!([tool("echo"), tool("later")]));
    refresh(&client, "m");
    client.delete("/api/mcp-servers/down").no_content();
    let alerts = client.get("/api/registry/health").ok()["alerts"].clone();
    assert_eq!(
        (&alerts[0]["condition"], &alerts[0]["details"]),
        (&json!("definitions_held_back"), &json!({"count": 1, "tools": ["m:later"]})),
        "{alerts}"
    );
}

#[test]
fn metrics_count_servers_by_their_status() {
    let worker = Server::start("federation-metrics", &[("AUTH", "open"), ("PRIVATE_URLS", "allow")]);
    let peer = McpPeer::start(MODERN, json!([tool("echo")]));
    for workspace in ["tenant-a", "tenant-b"] {
        register(&worker.client(workspace), "m", &peer);
        worker.client(workspace).post("/api/mcp-servers", json!({"id": "down", "url": "http://127.0.0.1:9"})).created();
    }
    let metrics = worker.client("x").without_header("X-Workspace-Id").get("/metrics").text;
    for line in [
        r#"pegboard_mcp_servers{status="ok"} 2"#,
        r#"pegboard_mcp_servers{status="unreachable"} 2"#,
        r#"pegboard_mcp_servers{status="invalid"} 0"#,
        r#"pegboard_mcp_servers{status="unseen"} 0"#,
        r#"pegboard_modules{status="ok"} 0"#,
    ] {
        assert!(metrics.lines().any(|it| it == line), "{line} is not in\n{metrics}");
    }
    assert!(!metrics.contains("tenant"));
}

#[test]
fn invariants_name_the_server_that_is_missing() {
    let (client, peer) = (workspace(), McpPeer::start(MODERN, json!([tool("echo")])));
    register(&client, "m", &peer);
    assert_eq!(client.get("/api/registry/invariants").ok()["ok"], true);
    open().sql("DELETE FROM upstreams WHERE workspace_id = ?1", &[json!(client.workspace())]);
    let targets = client.get("/api/registry/invariants").ok()["invariants"][1].clone();
    assert_eq!((&targets["name"], &targets["ok"]), (&json!("handler_targets_exist"), &json!(false)));
    let breach = json!({"tool_id": "m:echo", "version": "1.0.0", "message": "its MCP server m is not registered"});
    assert_eq!(targets["violations"], json!([breach]));
}
