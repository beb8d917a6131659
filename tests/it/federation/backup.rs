//! MCP servers in backups and restores, and the registry as it was.

use super::{register_with, tool};
use crate::backup::{Form, backup};
use crate::harness::{Client, LEGACY, McpPeer, Server, workspace};
use serde_json::{Value, json};

/// A remote server with a tool, and a process.
fn furnish(client: &Client, peer: &McpPeer) {
    client.post("/api/credentials", json!({"id": "GITHUB_TOKEN", "description": "Reads issues"})).created();
    let headers = json!({"Authorization": "Bearer ${GITHUB_TOKEN}", "X-Key": "a literal"});
    register_with(client, "time", peer, json!({"headers": headers, "risk_level": "high", "auto_accept": true}));
    let process = json!({"id": "files", "command": "npx", "args": ["-y", "x"], "env": {"API_KEY": "another literal"},
        "cwd": "sub", "allowed_hosts": ["a.example"], "requires_approval": false, "enabled": false});
    client.post("/api/mcp-servers", process).created();
}

fn peer() -> McpPeer {
    McpPeer::start(LEGACY, json!([tool("now")]))
}

/// The servers as they are shown, without what a discovery finds.
fn settings(client: &Client) -> Value {
    let found = ["status", "protocol_version", "server_info", "discovered_at", "expires_at", "last_error"];
    let mut servers = client.get("/api/mcp-servers").ok()["mcp_servers"].clone();
    for server in servers.as_array_mut().unwrap() {
        server.as_object_mut().unwrap().retain(|name, _| !found.contains(&name.as_str()));
    }
    servers
}

#[test]
fn servers_restore_exactly() {
    [Form::Document, Form::Lines].into_iter().for_each(restores_exactly);
}

fn restores_exactly(form: Form) {
    let (client, peer) = (workspace(), peer());
    furnish(&client, &peer);
    let (whole, taken) = (backup(&client), form.take(&client));
    let servers = whole["mcp_servers"].as_array().unwrap();
    assert_eq!(servers.iter().map(|it| &it["id"]).collect::<Vec<_>>(), ["time", "files"], "the oldest comes first");
    assert_eq!(servers[0]["headers"]["Authorization"], "Bearer ${GITHUB_TOKEN}");
    assert!(servers[0]["headers"]["X-Key"]["sealed"].is_string() && servers[1]["env"]["API_KEY"]["sealed"].is_string());
    assert!(!taken.contains("literal") && !taken.contains("session-1"), "{taken}");
    assert_eq!(form.restore(&client, &taken).ok()["changes"], 0);

    let other = workspace();
    let restored = form.restore(&other, &taken).ok();
    assert_eq!((backup(&other), form.take(&other)), (whole, taken));
    assert_eq!(settings(&other), settings(&client));
    let log = other.changes();
    assert_eq!(restored["changes"], log.len());
    let time = log.iter().find(|it| it["subject"] == "mcp_server:time").unwrap();
    assert_eq!(time["action"], "restore");
    assert_eq!(time["new_state"]["headers"], json!({"Authorization": "***", "X-Key": "***"}));
    let files = log.iter().find(|it| it["subject"] == "mcp_server:files").unwrap();
    assert_eq!(files["new_state"]["env"], json!({"API_KEY": "***"}));
    assert!(!json!(log).to_string().contains("sealed"), "the log shows no value");
    assert_eq!(other.get("/api/registry/invariants").ok()["ok"], true);
    // The restored server is due, and its tools were accepted before.
    let found = super::refresh(&other, "time");
    assert_eq!((&found["status"], &found["added"], &found["held_back"]), (&json!("ok"), &json!(0), &json!(0)));
    assert_eq!(peer.received().last().unwrap().header("x-key"), Some("a literal"));
}

#[test]
fn what_differs_is_changed_and_what_is_missing_goes() {
    for form in [Form::Document, Form::Lines] {
        let (client, peer) = (workspace(), peer());
        furnish(&client, &peer);
        let taken = form.take(&client);
        let before = settings(&client);
        client.delete("/api/mcp-servers/files").no_content();
        client.patch("/api/mcp-servers/time", json!({"risk_level": "low"})).ok();
        register_with(&client, "later", &peer, json!({}));
        form.restore(&client, &taken).ok();
        assert_eq!(settings(&client), before);
        assert_eq!(client.get("/api/tools/time:now").ok()["risk_level"], "high");
        assert_eq!(client.get("/api/tools?source=mcp").ok()["tools"].as_array().unwrap().len(), 1);
        assert_eq!(client.get("/api/registry/invariants").ok()["ok"], true);
    }
}

/// A backup of a Pegboard that knew no MCP servers.
fn older(form: Form, client: &Client) -> String {
    match form {
        Form::Document => {
            let mut document = backup(client);
            for newer in ["mcp_servers", "toolsets", "overrides"] {
                document.as_object_mut().unwrap().remove(newer);
            }
            document.to_string()
        }
        Form::Lines => {
            let taken = form.take(client);
            let lines = taken.lines().map(|it| serde_json::from_str::<Value>(it).unwrap());
            let lines = lines.filter(|it| it.get("mcp_server").is_none()).map(|mut it| {
                if let Some(end) = it.get_mut("end").and_then(Value::as_object_mut) {
                    for newer in ["mcp_servers", "toolsets", "contents", "overrides"] {
                        end.remove(newer);
                    }
                }
                format!("{it}\n")
            });
            lines.collect()
        }
    }
}

#[test]
fn a_backup_from_before_servers_leaves_them_alone() {
    for form in [Form::Document, Form::Lines] {
        let (client, peer) = (workspace(), peer());
        furnish(&client, &peer);
        let taken = older(form, &client);
        client.register("y", "1.0.0", json!({}));
        let before = backup(&client);
        assert_eq!(form.restore(&client, &taken).ok()["changes"], 1, "only y goes");
        assert_eq!(backup(&client)["mcp_servers"], before["mcp_servers"]);
        let none = workspace();
        let refused = form.restore(&none, &taken).refused(400, "VALIDATION_ERROR");
        assert!(refused.message.contains("its MCP server time is not"), "{}", refused.message);
    }
}

#[test]
fn a_server_that_breaks_a_rule_changes_nothing() {
    for (change, message) in [
        (json!({"url": "ftp://a.example"}), "must begin with http"),
        (json!({"id": "My Server"}), "must be 1 to 64"),
        (json!({"transport": "stdio"}), "is missing: a stdio server is a command"),
        (json!({"command": "npx"}), "no command"),
        (json!({"headers": {"X-Key": "***"}}), "masked"),
    ] {
        let (client, peer) = (workspace(), peer());
        furnish(&client, &peer);
        let mut document = backup(&client);
        // Values are sealed for their URL.
        document["mcp_servers"][0]["headers"] = json!({});
        document["mcp_servers"][0].as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let before = (settings(&client), client.changes().len());
        let refused = client.post("/api/registry/restore", document).refused(400, "VALIDATION_ERROR");
        assert!(refused.message.contains("/mcp_servers/0"), "{change}: {}", refused.message);
        assert!(refused.message.contains(message), "{change}: {}", refused.message);
        assert_eq!((settings(&client), client.changes().len()), before);
    }
}

#[test]
fn sealed_values_open_under_the_same_key_alone() {
    let vars = [("AUTH", "open"), ("SECRET_KEY", "another key"), ("PRIVATE_URLS", "allow"), ("GITHUB_TOKEN", "x")];
    let other = Server::start("federation-other-key", &vars);
    let (client, peer, there) = (workspace(), peer(), other.client("acme"));
    furnish(&client, &peer);
    let mut document = backup(&client);
    let refused = there.post("/api/registry/restore", document.clone()).refused(400, "VALIDATION_ERROR");
    assert_eq!(refused.paths(), ["/mcp_servers/0/headers/X-Key", "/mcp_servers/1/env/API_KEY"]);
    document["mcp_servers"][0]["headers"] = json!({"X-Key": "given again"});
    document["mcp_servers"][1]["env"]["API_KEY"] = json!("given again");
    there.post("/api/registry/restore", document).ok();
    assert!(!backup(&there).to_string().contains("given again"), "they are sealed");
}

#[test]
fn the_registry_is_as_it_was() {
    let (client, peer) = (workspace(), peer());
    register_with(&client, "time", &peer, json!({"headers": {"X-Key": "a literal"}}));
    let first = client.changes().len();
    client.patch("/api/mcp-servers/time", json!({"risk_level": "high"})).ok();
    client.delete("/api/mcp-servers/time").no_content();
    let state = |seq: usize| client.get(&format!("/api/registry/state?seq={seq}")).ok();
    let active = |state: Value| (state["tools"][0]["version"].clone(), state["tools"][0]["active"].clone());
    assert_eq!(active(state(first)), (json!("1.0.0"), json!(true)));
    assert_eq!(active(state(client.changes().len())), (json!("1.0.1"), json!(false)));
    assert_eq!(state(first)["mcp_servers"][0]["risk_level"], "medium");
    assert_eq!(state(first)["mcp_servers"][0]["headers"], json!({"X-Key": "***"}));
    assert_eq!(state(client.changes().len())["mcp_servers"], json!([]));
}
