//! When a server is asked for its tools, and what becomes of a server that is down, disabled or deleted.

use super::{refresh, register, register_with, server, tool};
use crate::harness::{Client, LEGACY, MODERN, McpPeer, PeerReply, Server, open, race, workspace};
use serde_json::{Value, json};
use std::thread::sleep;
use std::time::Duration;

fn offering(tools: Value, ttl_ms: u64) -> PeerReply {
    PeerReply::Result(json!({"tools": tools, "resultType": "complete", "ttlMs": ttl_ms, "cacheScope": "private"}))
}

/// Waits until a definition of the server `m` is held back by a discovery in the background.
#[track_caller]
fn await_held_back(client: &Client) {
    for _ in 0..100 {
        if server(client)["held_back"] == 1 {
            return;
        }
        sleep(Duration::from_millis(50));
    }
    panic!("{}", server(client));
}

#[test]
fn a_server_that_is_down_is_registered_and_keeps_its_tools() {
    let client = workspace();
    let made = client.post("/api/mcp-servers", json!({"id": "gone", "url": "http://127.0.0.1:9"})).created();
    assert_eq!((&made["status"], &made["tools"]), (&json!("unreachable"), &json!(0)));
    assert_eq!(made["last_error"], "The MCP server could not be reached");
    assert_eq!(made["protocol_version"], Value::Null);

    let peer = McpPeer::start(MODERN, json!([tool("echo")]));
    register(&client, "m", &peer);
    client.patch("/api/mcp-servers/m", json!({"url": "http://127.0.0.1:9"})).ok();
    let down = server(&client);
    assert_eq!((&down["status"], &down["tool_ids"]), (&json!("unreachable"), &json!(["m:echo"])));
    let failed = client.execute("m:echo", json!({})).failed(200, "UNREACHABLE");
    let told = failed["error"]["message"].as_str().unwrap();
    assert!(told.contains("could not be reached"), "{told}");
    let listed = client.get("/api/mcp-servers").ok();
    let ids = listed["mcp_servers"].as_array().unwrap().iter().map(|it| &it["id"]).collect::<Vec<_>>();
    assert_eq!(ids, ["gone", "m"]);
}

#[test]
fn racing_refreshes_ask_once() {
    let (client, peer) = (workspace(), McpPeer::start(MODERN, json!([tool("echo")])));
    register_with(&client, "m", &peer, json!({"auto_accept": true}));
    let asked = peer.asked("tools/list").len();
    peer.on("tools/list", |_| {
        PeerReply::Late(Duration::from_millis(1_500), Box::new(offering(json!([tool("echo"), tool("later")]), 0)))
    });
    let found = race(4, |_| refresh(&client, "m"));
    assert_eq!(peer.asked("tools/list").len(), asked + 1, "one of them did the work");
    assert_eq!(found.iter().map(|it| it["added"].as_u64().unwrap()).sum::<u64>(), 1, "{found:?}");
    assert!(found.iter().all(|it| it["status"] == "ok"), "{found:?}");
}

#[test]
fn an_unknown_tool_has_the_list_asked_in_the_background() {
    let errors = [
        PeerReply::Error(-32602, "Unknown tool: echo"),
        PeerReply::Result(json!({"content": [{"type": "text", "text": "Tool echo not found"}], "isError": true})),
    ];
    for error in errors {
        let (client, peer) = (workspace(), McpPeer::start(LEGACY, json!([tool("echo")])));
        register(&client, "m", &peer);
        peer.offer(json!([tool("renamed")]));
        peer.on("tools/call", move |_| error.clone());
        client.execute("m:echo", json!({})).failed(200, "TOOL_ERROR");
        await_held_back(&client);
        client.execute("m:echo", json!({})).failed(409, "TOOL_DISABLED");
    }
    // Any other error asks nothing.
    let (client, peer) = (workspace(), McpPeer::start(MODERN, json!([tool("echo")])));
    register(&client, "m", &peer);
    peer.on("tools/call", |_| PeerReply::Error(-32602, "File not found"));
    client.execute("m:echo", json!({})).failed(200, "TOOL_ERROR");
    sleep(Duration::from_millis(500));
    assert_eq!(peer.asked("tools/list").len(), 1);
}

#[test]
fn a_list_is_good_for_as_long_as_its_server_says() {
    for (ttl_ms, least, most) in
        [(600_000, 540.0, 600.0), (1, 54.0, 60.0), (0, 3_240.0, 3_600.0), (86_400_000, 3_240.0, 3_600.0)]
    {
        let (client, peer) = (workspace(), McpPeer::start(MODERN, json!([])));
        peer.on("tools/list", move |_| offering(json!([tool("echo")]), ttl_ms));
        register(&client, "m", &peer);
        let sql = "SELECT (julianday(expires_at) - julianday(discovered_at)) * 86400 AS seconds FROM upstreams
            WHERE workspace_id = ?1";
        let seconds = open().sql(sql, &[json!(client.workspace())])[0]["seconds"].as_f64().unwrap();
        assert!((least - 0.1..=most + 0.1).contains(&seconds), "{ttl_ms}: {seconds}");
    }
}

const EXPIRE: &str = "UPDATE upstreams SET expires_at = '2026-01-01T00:00:00.000Z'";

#[test]
fn the_cron_trigger_and_the_first_use_ask_servers_that_are_due() {
    let worker = Server::start("federation-due", &[("AUTH", "open"), ("PRIVATE_URLS", "allow"), ("SECRET_KEY", "k")]);
    let (client, peer) = (worker.client("acme"), McpPeer::start(LEGACY, json!([tool("echo")])));
    register(&client, "m", &peer);
    let before = peer.asked("tools/list").len();
    let asked = || peer.asked("tools/list").len() - before;
    worker.ask(json!({"scheduled": "*/5 * * * *"}));
    assert_eq!(asked(), 0, "it is not due yet");
    worker.ask(json!({"batch": [{"sql": EXPIRE, "params": []}]}));
    worker.ask(json!({"scheduled": "*/5 * * * *"}));
    assert_eq!(asked(), 1);
    assert!(server(&client)["expires_at"].as_str() > Some("2026-11"));
    assert_eq!(peer.asked("initialize").len(), 1, "the session is kept");

    worker.ask(json!({"batch": [{"sql": EXPIRE, "params": []}]}));
    peer.offer(json!([tool("echo"), tool("later")]));
    client.execute("m:echo", json!({})).success();
    await_held_back(&client);
    client.execute("m:echo", json!({})).success();
    assert_eq!(asked(), 2, "it is fresh now");
}

#[test]
fn tools_of_a_disabled_server_stay_and_cannot_be_called() {
    let (client, peer) = (workspace(), McpPeer::start(MODERN, json!([tool("echo")])));
    register(&client, "m", &peer);
    client.patch("/api/mcp-servers/m", json!({"enabled": false})).ok();
    assert_eq!(client.get("/api/tools/m:echo").ok()["active"], true);
    client.execute("m:echo", json!({})).failed(409, "TOOL_DISABLED");
    assert_eq!(refresh(&client, "m")["error"], "The MCP server is disabled");
    assert!(peer.asked("tools/call").is_empty());
    client.patch("/api/mcp-servers/m", json!({"enabled": true})).ok();
    client.execute("m:echo", json!({})).success();
}

#[test]
fn a_deleted_server_leaves_its_versions_and_finds_them_again() {
    let (client, peer) = (workspace(), McpPeer::start(LEGACY, json!([tool("echo")])));
    register_with(&client, "m", &peer, json!({"requires_approval": false, "headers": {"X-Key": "s3cret-value"}}));
    client.patch("/api/mcp-servers/m", json!({"auto_accept": true})).ok();
    client.delete("/api/mcp-servers/m").no_content();
    client.get("/api/mcp-servers/m").refused(404, "NOT_FOUND");
    let gone = client.get("/api/tools/m:echo").ok();
    assert_eq!((&gone["active"], &gone["deactivated_reason"]), (&json!(false), &json!("operator_request")));
    client.execute("m:echo", json!({})).failed(409, "TOOL_DISABLED");
    let ended = peer.received().into_iter().filter(|it| it.method == "DELETE").collect::<Vec<_>>();
    assert_eq!(ended.len(), 1, "the session is ended");
    assert_eq!(
        (ended[0].header("mcp-session-id"), ended[0].header("x-key")),
        (Some("session-1"), Some("s3cret-value"))
    );
    let refused = client.post("/api/tools/m:echo/activate", json!({"version": "1.0.0"})).refused(409, "CONFLICT");
    assert!(refused.message.contains("its MCP server m is not registered"), "{}", refused.message);

    let log = client.changes();
    let told = log.iter().map(|it| format!("{} {}", it["action"].as_str().unwrap(), it["subject"].as_str().unwrap()));
    assert_eq!(
        told.collect::<Vec<_>>(),
        [
            "create mcp_server:m",
            "register tool:m:echo@1.0.0",
            "update mcp_server:m",
            "delete mcp_server:m",
            "deactivate tool:m:echo@1.0.0",
        ]
    );
    let update = &log[2];
    assert_eq!(
        (&update["previous_state"]["auto_accept"], &update["new_state"]["auto_accept"]),
        (&json!(false), &json!(true))
    );
    assert_eq!(update["new_state"]["headers"], json!({"X-Key": "***"}));
    assert!(!json!(log).to_string().contains("s3cret"), "{log:?}");

    let again = register(&client, "m", &peer);
    assert_eq!(again["tool_ids"], json!(["m:echo"]), "{again}");
}
