use crate::host::{Host, Response, SECRET, binary, packages};
use crate::mcp::{Mcp, hostile};
use serde_json::{Value, json};

#[track_caller]
fn refused(response: &Response, status: u16, words: &str) {
    assert_eq!(response.status, status, "{}", response.body);
    let error = &response.body["error"];
    let told = error.as_str().or_else(|| error["message"].as_str()).unwrap_or_else(|| panic!("{}", response.body));
    assert!(told.contains(words), "{told}");
}

#[test]
fn only_clients_with_the_secret_come_in() {
    let host = Host::start(&[]);
    let health = ureq::get(format!("{}/health", host.url)).call().unwrap().body_mut().read_json::<Value>().unwrap();
    assert_eq!(health, json!({"status": "ok", "running": 0, "servers": 16}));
    let routes = [
        ("PUT", "/servers/a"),
        ("GET", "/servers/a"),
        ("DELETE", "/servers/a"),
        ("PUT", "/servers/a/files"),
        ("POST", "/servers/a/files"),
        ("POST", "/servers/a/mcp"),
        ("GET", "/x"),
    ];
    for (method, path) in routes {
        for secret in ["", "Bearer wrong", "a-secret-of-the-tests"] {
            let request = ureq::http::Request::builder().method(method).uri(format!("{}{path}", host.url));
            refused(&host.send(request.header("Authorization", secret), "{}"), 401, "secret");
        }
    }
    let started = binary().args(["--port", "0", "--packages", &packages()]).output().unwrap();
    assert!(!started.status.success() && String::from_utf8_lossy(&started.stderr).contains("set MCP_HOST_SECRET"));
    host.assert_clean();
}

#[test]
fn configurations_are_checked_at_once() {
    let host = Host::start(&[]);
    let put = |key: &str, body: &str| host.send(host.request("PUT", &format!("/servers/{key}")), body);
    refused(&put("a", "{"), 400, "EOF");
    refused(&put("a", r#"{"command": "node", "shell": true}"#), 400, "unknown field `shell`");
    refused(&put("a", r#"{"command": "node", "cwd": "../x"}"#), 400, "cwd");
    refused(&put("a%20b", r#"{"command": "node"}"#), 400, "a key has");
    refused(&put("a%2Fb", r#"{"command": "node"}"#), 400, "a key has");
    refused(&put("a", &format!(r#"{{"command": "{}"}}"#, "x".repeat(300_000))), 413, "at most");
    refused(&put("a", r#"{"command": "bash", "args": ["-c", "true"]}"#), 422, "\"bash\" is not allowed");
    refused(&put("a", r#"{"command": "/usr/bin/python3"}"#), 422, "is not allowed");
    let absent = r#"{"command": "npx", "args": ["-y", "@acme/server"]}"#;
    refused(&put("a", absent), 422, "npm package @acme/server is not installed");
    refused(&put("a", r#"{"command": "uvx", "args": ["mcp-server-git"]}"#), 422, "mcp-server-git is not installed");
    refused(&host.send(host.request("GET", "/servers/a"), ""), 404, "nothing");
    host.delete("a");
    host.assert_clean();
}

#[test]
fn a_request_runs_with_the_configuration_that_it_names_or_not_at_all() {
    let host = Host::start(&[]);
    let mut mcp = Mcp::new(&host, "ws:a", hostile("echo"));
    let right = mcp.hash.clone();
    for wrong in ["", "0".repeat(64).as_str()] {
        mcp.hash = wrong.into();
        refused(&mcp.try_initialize(), 412, "configuration needed");
    }
    mcp.key = "ws:b".into();
    refused(&mcp.try_initialize(), 412, "configuration needed");
    host.assert_clean();

    (mcp.key, mcp.hash) = ("ws:a".into(), right);
    mcp.initialize();
    let pid = mcp.pid();
    assert_eq!(host.put("ws:a", hostile("echo")), mcp.hash);
    assert_eq!((mcp.call("echo", json!(1)).as_str(), mcp.pid()), ("1", pid), "nothing has changed");

    let mut other = hostile("echo");
    other["env"]["OTHER"] = "1".into();
    let mut replaced = Mcp::new(&host, "ws:a", other);
    host.assert_clean();
    refused(&mcp.try_call("echo", json!(1)), 412, "configuration needed");
    replaced.initialize();
    assert_eq!(replaced.call("echo", json!({"a": [1.50]})), r#"{"a": [1.5]}"#);
    host.delete("ws:a");
    refused(&replaced.try_call("echo", json!(1)), 412, "configuration needed");
    host.assert_clean();
}

#[test]
fn a_server_with_sessions_is_seen_as_one() {
    let host = Host::start(&[]);
    let mut mcp = Mcp::new(&host, "a", hostile("echo"));
    let raw = |body: &str| host.send(host.request("POST", "/servers/a/mcp").header("Mcp-Host-Config", &mcp.hash), body);
    refused(&raw("{"), 400, "EOF");
    refused(&raw("[]"), 400, "one JSON-RPC message");
    refused(&raw(r#"{"jsonrpc": "2.0"}"#), 400, "no JSON-RPC message");
    let plain = ureq::http::Request::builder().method("POST").uri(format!("{}/servers/a/mcp", host.url));
    let plain = plain.header("Authorization", format!("Bearer {SECRET}")).header("Content-Type", "text/plain");
    refused(&host.send(plain, "{}"), 415, "application/json");
    let long = format!(r#"{{"jsonrpc": "2.0", "method": "{}"}}"#, "x".repeat(17 << 20));
    refused(&raw(&long), 413, "at most");
    let get = host.send(host.request("GET", "/servers/a/mcp"), "");
    refused(&get, 405, "methods");
    mcp.session = Some("unknown".into());
    refused(&mcp.request("tools/list", json!({})), 404, "Session not found");
    assert_eq!(mcp.post(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).status, 404);
    host.assert_clean();

    mcp.session = None;
    let modern = mcp.modern("tools/list", json!({}));
    refused(&modern, 400, "handshake");
    assert_eq!(modern.body["error"]["code"], -32000, "no code of 2026-07-28");
    refused(&mcp.request("tools/list", json!({})), 400, "Mcp-Session-Id is missing");
    let initialized = mcp.initialize();
    assert_eq!(initialized["serverInfo"], json!({"name": "hostile", "version": "1"}));
    let session = mcp.session.clone();
    mcp.initialize();
    assert_eq!(mcp.session, session, "a session is a process");
    assert_eq!(mcp.post(&json!({"jsonrpc": "2.0", "id": 5, "result": {}})).status, 202);
    assert_eq!(host.send(host.request("DELETE", "/servers/a/mcp"), "").status, 204);
    assert_eq!(mcp.call("echo", json!("ä\u{2028}\n")), "\"\\u00e4\\u2028\\n\"");
    host.delete("a");
    host.assert_clean();
}
