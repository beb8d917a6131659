//! MCP servers that a toolset brings: imported, upgraded, disabled, exported and uninstalled with it. The servers here are
//! real servers, and processes of the real host.

use crate::backup::{Form, backup};
use crate::harness::{Answer, Client, MODERN, McpPeer, bundle, workspace};
use serde_json::{Value, json};

fn tool(name: &str) -> Value {
    json!({"name": name, "description": "A tool", "inputSchema": {"type": "object"}})
}

fn peer() -> McpPeer {
    McpPeer::start(MODERN, json!([tool("echo")]))
}

fn manifest(version: &str, servers: Value) -> Value {
    json!({"manifest_version": "1", "id": "kit", "name": "Kit", "version": version, "description": "A kit",
        "mcp_servers": servers})
}

fn import(client: &Client, query: &str, manifest: &Value, files: &[(&str, &[u8])]) -> Answer {
    client.send("POST", &format!("/api/toolsets{query}"), Some(bundle(manifest, files)))
}

/// A remote server whose tools run without an approval.
fn remote(id: &str, peer: &McpPeer) -> Value {
    json!({"id": id, "url": peer.url(), "requires_confirmation": false, "risk_level": "low"})
}

fn server(client: &Client, id: &str) -> Value {
    client.get(&format!("/api/mcp-servers/{id}")).ok()
}

/// The states of the log about one subject.
fn log(client: &Client, subject: &str) -> Vec<Value> {
    let log = client.changes();
    let own = log.iter().filter(|it| it["subject"] == subject);
    own.map(|it| it["action"].clone()).collect()
}

#[test]
fn servers_come_and_go_with_their_toolset() {
    let (client, peer) = (workspace(), peer());
    let made = import(&client, "", &manifest("1.0.0", json!([remote("m", &peer)])), &[]).created();
    assert_eq!(made["changes"]["mcp_servers"], json!({"added": ["m"], "changed": [], "removed": []}), "{made}");
    let shown = server(&client, "m");
    assert_eq!((&shown["toolset_id"], &shown["status"], &shown["tools"]), (&json!("kit"), &json!("ok"), &json!(1)));
    assert_eq!(client.execute("m:echo", json!({"a": 1})).success(), json!({"a": 1}));
    assert_eq!(log(&client, "mcp_server:m"), ["create"]);
    assert_eq!(client.get("/api/registry/invariants").ok()["ok"], true);

    let refused = client.delete("/api/mcp-servers/m").refused(409, "CONFLICT");
    assert!(refused.message.contains("belongs to the toolset kit"), "{}", refused.message);
    let refused =
        client.post("/api/mcp-servers", json!({"id": "kit", "url": peer.url()})).refused(409, "ALREADY_EXISTS");
    assert!(refused.message.contains("the id of a toolset"), "{}", refused.message);

    client.delete("/api/toolsets/kit").no_content();
    client.get("/api/mcp-servers/m").refused(404, "NOT_FOUND");
    assert_eq!(client.get("/api/tools/m:echo").ok()["deactivated_reason"], "operator_request");
    assert_eq!(log(&client, "mcp_server:m"), ["create", "delete"]);
    assert_eq!(client.get("/api/registry/invariants").ok()["ok"], true);
    // The ids are free, and the tools come back with their server.
    import(&client, "", &manifest("1.0.0", json!([remote("m", &peer)])), &[]).created();
    assert_eq!(client.execute("m:echo", json!({})).success(), json!({}));
}

/// A server that tells a word of a module beside it, and the size of a file.
const SERVER: &str = r#"
import json, sys
import words

TOOL = {"name": "tell", "description": "Tells a word", "inputSchema": {"type": "object"}}
for line in sys.stdin:
    message = json.loads(line)
    match message.get("method"):
        case "initialize":
            info = {"name": "bundled", "version": "1"}
            result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
        case "tools/list":
            result = {"tools": [TOOL]}
        case "tools/call":
            told = f"{words.WORD} {len(open(sys.argv[1]).read())}"
            result = {"content": [{"type": "text", "text": told}]}
        case _:
            if "id" in message:
                error = {"code": -32601, "message": "unknown"}
                print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}), flush=True)
            continue
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"#;

#[test]
fn a_process_is_a_file_of_its_toolset() {
    let client = workspace();
    let process = json!([{"id": "words", "command": "python3", "args": ["main.py", "~/data/large.txt"], "cwd": "servers",
        "requires_confirmation": false, "risk_level": "low"}]);
    let large = "x".repeat(3_000_000);
    let files = |word: &'static [u8]| -> Vec<(&'static str, Vec<u8>)> {
        vec![
            ("servers/main.py", SERVER.into()),
            ("servers/words.py", word.into()),
            ("data/large.txt", large.clone().into_bytes()),
            ("data/empty", Vec::new()),
            ("data/binary", vec![0, 255, 10]),
        ]
    };
    let send = |query: &str, version: &str, files: Vec<(&str, Vec<u8>)>| {
        let files = files.iter().map(|(path, bytes)| (*path, bytes.as_slice())).collect::<Vec<_>>();
        import(&client, query, &manifest(version, process.clone()), &files)
    };
    let made = send("", "1.0.0", files(b"WORD = 'one'")).created();
    assert_eq!(server(&client, "words")["status"], "ok", "{made}");
    assert_eq!(client.execute("words:tell", json!({})).success(), "one 3000000");

    // Other files restart the process.
    let again = send("?replace=true", "1.1.0", files(b"WORD = 'two'")).ok();
    assert_eq!(again["changes"]["mcp_servers"]["changed"], json!(["words"]), "{again}");
    assert_eq!(client.execute("words:tell", json!({})).success(), "two 3000000");

    let elsewhere =
        json!([{"id": "words", "command": "python3", "cwd": "nowhere"}, {"id": "b", "command": "npx", "cwd": ".."}]);
    let refused = import(&client, "?replace=true", &manifest("1.2.0", elsewhere), &[("servers/main.py", b"")])
        .refused(400, "VALIDATION_ERROR");
    assert!(refused.paths().contains(&"/mcp_servers/0/cwd") && refused.paths().contains(&"/mcp_servers/1/cwd"));
    assert!(refused.message.contains("is no folder of the bundle"), "{}", refused.message);
    client.delete("/api/toolsets/kit").no_content();
}

#[test]
fn every_fault_of_a_server_has_its_place() {
    let (client, peer) = (workspace(), peer());
    client.post("/api/mcp-servers", json!({"id": "mine", "url": peer.url()})).created();
    let servers = json!([
        {"id": "a", "url": "ftp://a.example"},
        {"id": "b", "command": "npx", "env": {"PATH": "x"}},
        {"id": "mine", "url": peer.url()},
    ]);
    let refused = import(&client, "", &manifest("1.0.0", servers), &[]).refused(400, "VALIDATION_ERROR");
    assert_eq!(refused.paths(), ["/mcp_servers/0/url", "/mcp_servers/1/env/PATH", "/mcp_servers/2/id"]);
    client.get("/api/toolsets/kit").refused(404, "NOT_FOUND");
    assert_eq!(log(&client, "mcp_server:a"), Vec::<Value>::new(), "nothing is written");
    // A toolset of this id would have tools whose ids are the server's.
    let mut mine = manifest("1.0.0", json!([]));
    mine["id"] = json!("mine");
    import(&client, "", &mine, &[]).refused(409, "ALREADY_EXISTS");
}

#[test]
fn a_missing_credential_is_told_and_spoils_nothing() {
    let (client, peer) = (workspace(), peer());
    let mut servers = json!([remote("m", &peer), {"id": "p", "command": "npx", "args": ["-y", "x"],
        "env": {"API_KEY": "${NEVER_SET}"}}]);
    servers[0]["headers"] = json!({"Authorization": "Bearer ${NEITHER_SET}"});
    let made = import(&client, "", &manifest("1.0.0", servers), &[]).created();
    let told = made["warnings"].to_string();
    for (place, name) in
        [("/mcp_servers/0/headers/Authorization", "NEITHER_SET"), ("/mcp_servers/1/env/API_KEY", "NEVER_SET")]
    {
        assert!(told.contains(place) && told.contains(name), "{told}");
    }
    for id in ["m", "p"] {
        let shown = server(&client, id);
        assert_eq!(shown["status"], "unreachable", "{shown}");
        assert!(shown["last_error"].as_str().unwrap().contains("has no value here"), "{shown}");
    }
    assert!(peer.received().is_empty(), "a server without its secret is not asked");
    // The credentials are defined, so that an admin sees what is needed.
    let credentials = client.get("/api/credentials").ok()["credentials"].clone();
    let shown = credentials.as_array().unwrap().iter().map(|it| (it["id"].as_str().unwrap(), it["present"].clone()));
    assert_eq!(shown.collect::<Vec<_>>(), [("NEITHER_SET", json!(false)), ("NEVER_SET", json!(false))]);
    assert_eq!(credentials[0]["description"], "Named by the toolset kit");
    assert_eq!(client.get("/api/registry/invariants").ok()["ok"], true);
    for form in [Form::Document, Form::Lines] {
        assert_eq!(form.restore(&client, &form.take(&client)).ok()["changes"], 0);
    }
    let stored = &backup(&client)["mcp_servers"][0];
    assert_eq!((&stored["toolset_id"], &stored["paused"]), (&json!("kit"), &json!(false)));
}

#[test]
fn an_upgrade_keeps_what_an_admin_has_decided() {
    let (client, peer) = (workspace(), peer());
    let mut first = remote("m", &peer);
    first["headers"] = json!({"X-Key": "a literal secret"});
    let gone = remote("gone", &peer);
    import(&client, "", &manifest("1.0.0", json!([first, gone])), &[]).created();
    let same = import(&client, "?replace=true", &manifest("1.0.0", json!([first, gone])), &[]).ok();
    assert_eq!(same["changes"]["mcp_servers"], json!({"added": [], "changed": [], "removed": []}), "{same}");

    client.patch("/api/mcp-servers/m", json!({"requires_approval": true})).ok();
    let mut second = first.clone();
    (second["risk_level"], second["headers"]) = (json!("medium"), json!({"X-Key": "another secret"}));
    let upgraded =
        import(&client, "?replace=true", &manifest("2.0.0", json!([second, remote("new", &peer)])), &[]).ok();
    assert_eq!(
        upgraded["changes"]["mcp_servers"],
        json!({"added": ["new"], "changed": ["m"], "removed": ["gone"]}),
        "{upgraded}"
    );
    let shown = server(&client, "m");
    assert_eq!((&shown["requires_approval"], &shown["risk_level"]), (&json!(true), &json!("medium")), "{shown}");
    let tool = client.get("/api/tools/m:echo").ok();
    assert_eq!((&tool["requires_approval"], &tool["risk_level"]), (&json!(true), &json!("medium")));
    assert!(peer.received().iter().any(|it| it.header("x-key") == Some("another secret")));
    assert_eq!(client.get("/api/tools/gone:echo").ok()["active"], false);
    assert!(!json!(client.changes()).to_string().contains("secret"), "the log shows no value");
}

#[test]
fn a_disabled_toolset_stops_its_servers() {
    let (client, peer) = (workspace(), peer());
    let mut off = remote("off", &peer);
    off["enabled"] = json!(false);
    import(&client, "", &manifest("1.0.0", json!([remote("m", &peer), off])), &[]).created();
    client.post("/api/toolsets/kit/disable", json!({})).ok();
    let states = || ["m", "off"].map(|it| server(&client, it)["enabled"].clone());
    assert_eq!(states(), [json!(false), json!(false)]);
    client.execute("m:echo", json!({})).failed(409, "TOOL_DISABLED");
    let refused = client.patch("/api/mcp-servers/m", json!({"enabled": true})).refused(409, "CONFLICT");
    assert!(refused.message.contains("/api/toolsets/kit/enable"), "{}", refused.message);
    // An upgrade leaves the toolset disabled, and so its servers.
    let upgrade = manifest("1.1.0", json!([remote("m", &peer), remote("new", &peer)]));
    import(&client, "?replace=true", &upgrade, &[]).ok();
    assert_eq!(server(&client, "new")["enabled"], false);
    for form in [Form::Document, Form::Lines] {
        assert_eq!(form.restore(&client, &form.take(&client)).ok()["changes"], 0);
    }
    client.post("/api/toolsets/kit/enable", json!({})).ok();
    assert_eq!(["m", "new"].map(|it| server(&client, it)["enabled"].clone()), [json!(true), json!(true)]);
    assert_eq!(client.execute("m:echo", json!({"a": 1})).success(), json!({"a": 1}));
    assert_eq!(client.execute("new:echo", json!({"a": 1})).success(), json!({"a": 1}));
}

#[test]
fn the_id_of_a_former_toolset_stays_its_own() {
    let (client, peer) = (workspace(), peer());
    let mut with_tool = manifest("1.0.0", json!([]));
    with_tool["tools"] = json!([{"id": "hello", "entrypoint": "tools.hello:hello"}]);
    let code: &[u8] = b"from covalt_toolset import tool\n\n@tool\ndef hello() -> str:\n    return 'hello'\n";
    import(&client, "", &with_tool, &[("tools/hello.py", code)]).created();
    client.delete("/api/toolsets/kit").no_content();
    let refused = client.post("/api/mcp-servers", json!({"id": "kit", "url": peer.url()})).refused(409, "CONFLICT");
    assert!(refused.message.contains("was the id of a toolset"), "{}", refused.message);
    let mut other = manifest("1.0.0", json!([remote("kit", &peer)]));
    other["id"] = json!("other");
    let refused = import(&client, "", &other, &[]).refused(400, "VALIDATION_ERROR");
    assert_eq!(refused.paths(), ["/mcp_servers/0/id"]);
}

#[test]
fn a_server_without_its_toolset_can_be_deleted() {
    let (client, peer, other) = (workspace(), peer(), workspace());
    import(&client, "", &manifest("1.0.0", json!([remote("m", &peer)])), &[]).created();
    other.post("/api/registry/restore", backup(&client)).ok();
    assert_eq!(server(&other, "m")["toolset_id"], "kit");
    other.delete("/api/mcp-servers/m").no_content();
}
