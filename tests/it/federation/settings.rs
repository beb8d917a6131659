//! The settings of an MCP server: what may be set, by whom, and what happens to the values of headers and environment.

use super::{register, register_with, server, tool};
use crate::harness::{LEGACY, MODERN, McpPeer, Server, closed_workspace, open, workspace};
use serde_json::{Value, json};

#[test]
fn all_faults_of_a_server_are_told() {
    let client = workspace();
    let url = "https://a.example/mcp";
    for (given, paths) in [
        (json!({"id": "My Server", "url": "ftp://a.example"}), vec!["/id", "/url"]),
        (json!({"id": "a:b", "url": url}), vec!["/id"]),
        (json!({"id": "x".repeat(65), "url": url}), vec!["/id"]),
        (json!({"url": url}), vec!["/id"]),
        (json!({"id": "m"}), vec!["/url"]),
        (json!({"id": "m", "url": "not a url"}), vec!["/url"]),
        (json!({"id": "m", "url": "https://user:word@a.example"}), vec!["/url"]),
        (json!({"id": "m", "url": format!("{url}{}", "x".repeat(2_048))}), vec!["/url"]),
        // The transport decides what there must be.
        (json!({"id": "m", "transport": "pigeon", "url": url}), vec!["/transport"]),
        (json!({"id": "m", "transport": "sse"}), vec!["/url"]),
        (json!({"id": "m", "transport": "stdio"}), vec!["/command"]),
        (json!({"id": "m", "transport": "stdio", "url": url}), vec!["/command"]),
        (json!({"id": "m", "command": "npx", "url": url}), vec!["/url"]),
        (json!({"id": "m", "transport": "sse", "command": "npx", "url": url}), vec!["/command"]),
        (json!({"id": "m", "url": url, "args": ["x"]}), vec!["/command"]),
        (json!({"id": "m", "url": url, "env": {"A": "b"}}), vec!["/command"]),
        (json!({"id": "m", "url": url, "cwd": "x"}), vec!["/command"]),
        (json!({"id": "m", "url": url, "allowed_hosts": ["a.example"]}), vec!["/command"]),
        (json!({"id": "m", "command": "npx", "headers": {"A": "b"}}), vec!["/headers"]),
        (json!({"id": "m", "url": url, "headers": {"Host": "x", "A B": "y"}}), vec!["/headers/A B", "/headers/Host"]),
        (json!({"id": "m", "url": url, "headers": {"X": "***"}}), vec!["/headers/X"]),
        (json!({"id": "m", "url": url, "headers": {"X": "${NOT_DEFINED}"}}), vec!["/headers"]),
        (json!({"id": "m", "url": url, "headers": {"X": "${no name}"}}), vec!["/headers/X"]),
        // A command.
        (json!({"id": "m", "command": ""}), vec!["/command"]),
        (json!({"id": "m", "command": "/bin/sh"}), vec!["/command"]),
        (json!({"id": "m", "command": "sh -c id"}), vec!["/command"]),
        (json!({"id": "m", "command": "npx", "args": "x"}), vec!["/args"]),
        (json!({"id": "m", "command": "npx", "args": vec!["x"; 65]}), vec!["/args"]),
        (json!({"id": "m", "command": "npx", "args": ["x", "a\u{0}b", "x".repeat(4_097)]}), vec!["/args/1", "/args/2"]),
        (json!({"id": "m", "command": "npx", "env": {"1A": "x", "A-B": "x"}}), vec!["/env/1A", "/env/A-B"]),
        (
            json!({"id": "m", "command": "npx", "env": {"LD_PRELOAD": "x", "PATH": "x"}}),
            vec!["/env/LD_PRELOAD", "/env/PATH"],
        ),
        (json!({"id": "m", "command": "npx", "env": {"A": "***", "B": "a\u{0}"}}), vec!["/env/A", "/env/B"]),
        (json!({"id": "m", "command": "npx", "env": {"A": "${NOT_DEFINED}"}}), vec!["/env"]),
        (json!({"id": "m", "command": "npx", "cwd": "/etc"}), vec!["/cwd"]),
        (json!({"id": "m", "command": "npx", "cwd": "a/../../b"}), vec!["/cwd"]),
        (
            json!({"id": "m", "command": "npx", "allowed_hosts": ["a.example", "https://a.example", ""]}),
            vec!["/allowed_hosts/1", "/allowed_hosts/2"],
        ),
        (json!({"id": "m", "command": "npx", "allowed_hosts": vec!["a.example"; 65]}), vec!["/allowed_hosts"]),
        // The other fields.
        (json!({"id": "m", "url": url, "risk_level": "huge"}), vec!["/risk_level"]),
        (json!({"id": "m", "url": url, "requires_approval": "yes"}), vec!["/requires_approval"]),
        (json!({"id": "m", "url": url, "enabled": 1}), vec!["/enabled"]),
        (json!({"id": "m", "url": url, "auto_accept": []}), vec!["/auto_accept"]),
        (json!({"id": "m", "url": url, "comand": "npx"}), vec!["/comand"]),
        (json!({"id": "m", "url": url, "toolset_id": "kit"}), vec!["/toolset_id"]),
    ] {
        let refused = client.post("/api/mcp-servers", given.clone()).refused(400, "VALIDATION_ERROR");
        assert_eq!(refused.paths(), paths, "{given}: {}", refused.message);
    }
    assert_eq!(client.get("/api/mcp-servers").ok(), json!({"mcp_servers": [], "next_cursor": null}));
    assert!(client.changes().is_empty());
}

#[test]
fn pegboard_is_no_server_of_itself() {
    let client = workspace();
    let own = format!("{}/w/{}/mcp", open().url(), client.workspace());
    let refused = client.post("/api/mcp-servers", json!({"id": "me", "url": own})).refused(400, "VALIDATION_ERROR");
    assert_eq!(refused.paths(), ["/url"]);
    assert!(refused.message.contains("own address"), "{}", refused.message);
}

#[test]
fn a_server_is_not_in_a_private_network() {
    let client = closed_workspace();
    for url in
        ["http://127.0.0.1:8000/mcp", "http://10.0.0.1", "http://localhost", "http://[::1]/", "http://169.254.169.254"]
    {
        let refused = client.post("/api/mcp-servers", json!({"id": "m", "url": url})).refused(400, "VALIDATION_ERROR");
        assert_eq!(refused.paths(), ["/url"], "{url}");
    }
}

#[test]
fn an_id_is_used_once() {
    let (client, peer) = (workspace(), McpPeer::start(MODERN, json!([tool("echo")])));
    register(&client, "m", &peer);
    let again = client.post("/api/mcp-servers", json!({"id": "m", "url": peer.url()}));
    assert_eq!(again.refused(409, "ALREADY_EXISTS").message, "The MCP server m exists");
    // A module and an MCP server are different things, and so are the servers of two workspaces.
    client.post("/api/modules", json!({"name": "m", "url": "http://127.0.0.1:9"})).created();
    register(&workspace(), "m", &peer);
    for path in ["/api/mcp-servers/none", "/api/mcp-servers/none/held-back"] {
        client.get(path).refused(404, "NOT_FOUND");
    }
    client.patch("/api/mcp-servers/none", json!({"enabled": false})).refused(404, "NOT_FOUND");
    client.delete("/api/mcp-servers/none").refused(404, "NOT_FOUND");
    client.post("/api/mcp-servers/none/refresh", json!({})).refused(404, "NOT_FOUND");
    client.post("/api/mcp-servers/none/accept", json!({})).refused(404, "NOT_FOUND");
}

#[test]
fn only_admins_see_servers() {
    let root = closed_workspace();
    let user = root.token(json!({"name": "u", "level": "user"}));
    user.get("/api/mcp-servers").refused(403, "PERMISSION_DENIED");
    user.post("/api/mcp-servers", json!({"id": "m", "url": "https://a.example"})).refused(403, "PERMISSION_DENIED");
    let admin = root.token(json!({"name": "a", "level": "admin"}));
    assert_eq!(admin.get("/api/mcp-servers").ok(), json!({"mcp_servers": [], "next_cursor": null}));
}

/// What the database holds of the workspace's servers.
fn stored(client: &crate::harness::Client) -> String {
    let sql = "SELECT headers, server, connection FROM upstreams WHERE workspace_id = ?1";
    json!(open().sql(sql, &[json!(client.workspace())])).to_string()
}

#[test]
fn header_values_are_sent_and_never_shown() {
    let (client, peer) = (workspace(), McpPeer::start(LEGACY, json!([tool("echo")])));
    client.post("/api/credentials", json!({"id": "GITHUB_TOKEN"})).created();
    let headers = json!({"Authorization": "Bearer ${GITHUB_TOKEN}", "X-Literal": "s3cret-value"});
    let more = json!({"headers": headers, "requires_approval": false});
    let made = register_with(&client, "m", &peer, more);
    let masked = json!({"Authorization": "***", "X-Literal": "***"});
    assert_eq!((&made["headers"], &made["status"]), (&masked, &json!("ok")));
    client.execute("m:echo", json!({})).success();
    for asked in peer.received() {
        assert_eq!(asked.header("authorization"), Some("Bearer gh-value-1234"), "{asked:?}");
        assert_eq!(asked.header("x-literal"), Some("s3cret-value"), "{asked:?}");
    }
    assert!(!json!(client.changes()).to_string().contains("s3cret"));
    assert!(!stored(&client).contains("s3cret") && stored(&client).contains("${GITHUB_TOKEN}"), "{}", stored(&client));
    let refused = client.delete("/api/credentials/GITHUB_TOKEN").refused(409, "CONFLICT");
    assert!(refused.message.contains("the MCP server m"), "{}", refused.message);
    // What was shown can be sent back: masked values stay.
    let mut sent = server(&client);
    sent["auto_accept"] = json!(true);
    sent.as_object_mut().unwrap().retain(|name, _| name != "id");
    let after = client.patch("/api/mcp-servers/m", sent).ok();
    assert_eq!((&after["auto_accept"], &after["headers"]), (&json!(true), &masked));
    client.execute("m:echo", json!({})).success();
    assert_eq!(peer.received().last().unwrap().header("x-literal"), Some("s3cret-value"));
}

#[test]
fn another_origin_gets_no_header_values() {
    let (client, peer, other) =
        (workspace(), McpPeer::start(MODERN, json!([tool("echo")])), McpPeer::start(MODERN, json!([tool("echo")])));
    register_with(&client, "m", &peer, json!({"headers": {"X-Literal": "s3cret-value"}}));
    let same = client.patch("/api/mcp-servers/m", json!({"url": format!("{}/", peer.url())})).ok();
    assert_eq!(same["headers"], json!({"X-Literal": "***"}));
    let kept = json!({"url": other.url(), "headers": {"X-Literal": "***"}});
    let refused = client.patch("/api/mcp-servers/m", kept).refused(400, "VALIDATION_ERROR");
    assert_eq!(refused.paths(), ["/headers/X-Literal"]);
    let moved = client.patch("/api/mcp-servers/m", json!({"url": other.url()})).ok();
    assert_eq!((&moved["headers"], &moved["status"]), (&json!({}), &json!("ok")));
    assert!(other.received().iter().all(|it| it.header("x-literal").is_none()));
    let back = client.patch("/api/mcp-servers/m", json!({"url": peer.url()})).ok();
    assert_eq!(back["headers"], json!({}), "they do not come back");
}

#[test]
fn another_program_gets_no_environment() {
    let client = workspace();
    let given = json!({"id": "m", "command": "npx", "args": ["-y", "a"], "env": {"API_KEY": "s3cret-value"}});
    let made = client.post("/api/mcp-servers", given).created();
    assert_eq!(
        (&made["transport"], &made["command"], &made["env"], &made["url"]),
        (&json!("stdio"), &json!("npx"), &json!({"API_KEY": "***"}), &Value::Null)
    );
    assert_eq!(made["status"], "unreachable", "{made}");
    assert!(made["last_error"].as_str().unwrap().contains("The npm package a is not installed"), "{made}");
    assert!(!stored(&client).contains("s3cret") && stored(&client).contains("sealed"), "{}", stored(&client));
    assert!(!json!(client.changes()).to_string().contains("s3cret"));
    let change = |body: Value| client.patch("/api/mcp-servers/m", body);
    assert_eq!(change(json!({"allowed_hosts": ["a.example"]})).ok()["env"], json!({"API_KEY": "***"}));
    let both = change(json!({"env": {"API_KEY": "***", "MORE": "x"}})).ok();
    assert_eq!(both["env"], json!({"API_KEY": "***", "MORE": "***"}));
    for other in [json!({"command": "uvx"}), json!({"args": ["b"]}), json!({"cwd": "sub"})] {
        let mut kept = other.clone();
        kept["env"] = json!({"API_KEY": "***"});
        assert_eq!(change(kept).refused(400, "VALIDATION_ERROR").paths(), ["/env/API_KEY"]);
        assert_eq!(change(other).ok()["env"], json!({}));
        let given = change(json!({"env": {"API_KEY": "s3cret-value"}})).ok();
        assert_eq!(given["env"], json!({"API_KEY": "***"}));
    }
    // A process becomes a remote server, and a remote server a process.
    assert_eq!(
        change(json!({"url": "http://127.0.0.1:9", "args": ["x"]})).refused(400, "VALIDATION_ERROR").paths(),
        ["/command"]
    );
    let remote = change(json!({"url": "http://127.0.0.1:9"})).ok();
    assert_eq!(
        (&remote["transport"], &remote["command"], &remote["args"], &remote["env"], &remote["cwd"]),
        (&json!("streamable-http"), &Value::Null, &json!([]), &json!({}), &Value::Null)
    );
    for (body, path) in [
        (json!({"args": ["x"]}), "/command"),
        (json!({"transport": "sse", "command": "npx"}), "/command"),
        (json!({"transport": "stdio", "command": "npx", "url": "http://127.0.0.1:9"}), "/url"),
        (json!({"transport": "stdio"}), "/command"),
    ] {
        assert_eq!(change(body.clone()).refused(400, "VALIDATION_ERROR").paths(), [path], "{body}");
    }
    let back = change(json!({"command": "npx"})).ok();
    assert_eq!((&back["transport"], &back["url"], &back["env"]), (&json!("stdio"), &Value::Null, &json!({})));
}

#[test]
fn a_process_whose_secret_is_missing_is_registered_and_not_started() {
    let lent = ("CREDENTIAL_WORKSPACES", "LENT_KEY=acme@https://a.example");
    let worker = Server::start("federation-lent", &[("AUTH", "open"), ("SECRET_KEY", "k"), ("LENT_KEY", "x"), lent]);
    let client = worker.client("acme");
    client.post("/api/credentials", json!({"id": "LENT_KEY"})).created();
    let given = json!({"id": "m", "command": "npx", "args": ["-y", "a"], "env": {"API_KEY": "${LENT_KEY}"}});
    let made = client.post("/api/mcp-servers", given).created();
    assert_eq!(made["status"], "unreachable", "{made}");
    let told = made["last_error"].as_str().unwrap();
    assert!(told.contains("LENT_KEY has no value here") && told.contains("stdio:m"), "{told}");
}

#[test]
fn what_was_shown_registers_another_server() {
    let (client, peer) = (workspace(), McpPeer::start(MODERN, json!([tool("echo")])));
    let mut shown = register(&client, "m", &peer);
    shown["id"] = json!("n");
    for read_only in [
        "status",
        "protocol_version",
        "server_info",
        "tools",
        "held_back",
        "discovered_at",
        "expires_at",
        "last_error",
        "created_at",
        "tool_ids",
        "warnings",
        "toolset_id",
    ] {
        shown.as_object_mut().unwrap().remove(read_only);
    }
    assert_eq!(client.post("/api/mcp-servers", shown).created()["tool_ids"], json!(["n:echo"]));
}
