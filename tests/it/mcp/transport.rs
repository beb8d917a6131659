//! The form of messages, the callers that may send them, and the responses that do not depend on the request's
//! contents.

use super::{BOTH, LEGACY, MODERN, Mcp};
use crate::harness::{Client, Upstream, closed_workspace, workspace};
use serde_json::{Value, json};

fn post(client: &Client, body: &str) -> (u16, Value) {
    let answer = client.send("POST", &format!("/w/{}/mcp", client.workspace()), Some(body.as_bytes().to_vec()));
    (answer.status, if answer.text.is_empty() { Value::Null } else { answer.json() })
}

#[test]
fn a_handshake_tells_what_there_is() {
    let client = workspace();
    let mcp = Mcp::new(&client, LEGACY);
    let hello = json!({"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let answer = mcp.send("initialize", hello);
    assert!(answer.headers.get("mcp-session-id").is_none());
    let result = answer.ok()["result"].clone();
    assert_eq!(result["protocolVersion"], LEGACY);
    assert_eq!(result["capabilities"], json!({"tools": {}, "resources": {}, "completions": {}}));
    assert_eq!(result["serverInfo"]["name"], "pegboard");
    assert!(result["instructions"].as_str().unwrap().contains(client.workspace()));
    assert_eq!(mcp.result("ping", json!({})), json!({}));
    let older = mcp.result("initialize", json!({"protocolVersion": "2025-06-18"}));
    assert_eq!(older["protocolVersion"], "2025-06-18");
    let oldest = mcp.result("initialize", json!({"protocolVersion": "2024-11-05"}));
    assert_eq!(oldest["protocolVersion"], LEGACY);
    // The header does not matter, because `initialize` negotiates the revision.
    let ancient = Mcp { revision: "2024-11-05", ..mcp };
    assert_eq!(ancient.result("initialize", json!({"protocolVersion": "2024-11-05"}))["protocolVersion"], LEGACY);
}

#[test]
fn without_one_it_can_be_asked() {
    let result = Mcp::new(&workspace(), MODERN).result("server/discover", json!({}));
    assert_eq!(result["supportedVersions"], json!([MODERN, LEGACY, "2025-06-18"]));
    assert_eq!((&result["resultType"], &result["cacheScope"]), (&json!("complete"), &json!("private")));
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "pegboard");
}

#[test]
fn the_workspace_is_in_the_path_or_in_a_header() {
    let client = workspace();
    client.register("mine", "1.0.0", json!({}));
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let listed = client.post("/mcp", list.clone()).ok();
    assert_eq!(listed, client.post(&format!("/w/{}/mcp", client.workspace()), list.clone()).ok());
    let bare = client.without_header("X-Workspace-Id");
    assert_eq!(listed, bare.post(&format!("/w/{}/mcp", client.workspace()), list.clone()).ok());
    assert_eq!(listed, client.post("/mcp/", list.clone()).ok(), "a slash at the end makes no difference");
    assert_eq!(listed, bare.post(&format!("/w/{}/mcp/", client.workspace()), list.clone()).ok());
    // A client shows only messages of JSON-RPC with the id of its request.
    let refused = |client: &Client, path: &str, told: &str| {
        let answer = client.post(path, list.clone());
        assert_eq!(answer.status, 400, "{path}: {}", answer.text);
        let answer = answer.json();
        assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!(1)), "{path}: {answer}");
        assert_eq!(answer["error"]["data"]["code"], "VALIDATION_ERROR", "{path}: {answer}");
        assert!(answer["error"]["message"].as_str().unwrap().starts_with(told), "{path}: {answer}");
    };
    refused(&bare, "/mcp", "X-Workspace-Id: is required");
    refused(&client, "/w/another/mcp", "X-Workspace-Id: names another workspace than the path");
    refused(&client, "/w/no%20body/mcp", "workspace: must be 1 to 64 letters, digits, _ or -");
    refused(&client, "/mcp?session=a%20b", "session: must be 1 to 64 letters, digits, _ or -");
    refused(&client, "/mcp?sesion=a", "sesion: is unknown: this route takes session. Did you mean session?");
    let form = client.with_header("Content-Type", "application/x-www-form-urlencoded");
    let answer = form.post("/mcp", list.clone());
    assert_eq!((answer.status, &answer.json()["id"]), (415, &json!(1)), "{}", answer.text);
}

#[test]
fn only_posts_are_messages() {
    let client = workspace();
    let path = format!("/w/{}/mcp", client.workspace());
    client.get(&path).refused(405, "METHOD_NOT_ALLOWED");
    client.delete(&path).refused(405, "METHOD_NOT_ALLOWED");
}

#[test]
fn what_is_no_message_is_refused() {
    let client = workspace();
    for (body, code) in [
        ("", -32700),
        ("{", -32700),
        ("[]", -32600),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]"#, -32600),
        ("\"ping\"", -32600),
        (r#"{"id":1,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}"#, -32600),
    ] {
        let (status, answer) = post(&client, body);
        assert_eq!((status, &answer["error"]["code"]), (400, &json!(code)), "{body}: {answer}");
    }
}

#[test]
fn notifications_and_responses_are_taken_and_not_answered() {
    let client = workspace();
    for body in [
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/unheard-of","params":{"a":1}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
    ] {
        assert_eq!(post(&client, body), (202, Value::Null), "{body}");
        let (status, answer) = post(&client.with_header("MCP-Protocol-Version", "1999-01-01"), body);
        assert_eq!((status, &answer["error"]["code"]), (400, &json!(-32022)), "{body}");
    }
}

#[test]
fn only_json_is_spoken() {
    let client = workspace();
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    for kind in ["application/json", "Application/JSON; charset=utf-8"] {
        assert_eq!(post(&client.with_header("Content-Type", kind), ping).0, 200, "{kind}");
    }
    for kind in ["text/plain", "application/x-www-form-urlencoded", "application/jsonp"] {
        assert_eq!(post(&client.with_header("Content-Type", kind), ping).0, 415, "{kind}");
    }
    for accept in ["*/*", "text/event-stream, application/json;q=0.5", "application/*"] {
        assert_eq!(post(&client.with_header("Accept", accept), ping).0, 200, "{accept}");
    }
    assert_eq!(post(&client.with_header("Accept", "text/event-stream"), ping).0, 406);
}

#[test]
fn a_method_that_is_not_there_is_told_as_each_revision_has_it() {
    let client = workspace();
    for method in ["prompts/list", "logging/setLevel", "resources/subscribe", "subscriptions/listen", "no/such"] {
        assert_eq!(Mcp::new(&client, LEGACY).fault(200, method, json!({}))["code"], -32601, "{method}");
        assert_eq!(Mcp::new(&client, MODERN).fault(404, method, json!({}))["code"], -32601, "{method}");
    }
    for method in ["initialize", "ping"] {
        assert_eq!(Mcp::new(&client, MODERN).fault(404, method, json!({}))["code"], -32601, "{method}");
    }
}

#[test]
fn the_body_decides_and_headers_that_contradict_it_are_refused() {
    let client = workspace();
    let path = format!("/w/{}/mcp", client.workspace());
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "list_files", "arguments": {}, "_meta": meta}});
    let sent = |headers: &[(&str, &str)]| {
        let client = headers.iter().fold(client.clone(), |client, (name, value)| client.with_header(name, value));
        let answer = client.post(&path, call.clone());
        (answer.status, answer.json()["error"]["code"].clone())
    };
    let version = ("MCP-Protocol-Version", MODERN);
    let method = ("Mcp-Method", "tools/call");
    assert_eq!(sent(&[version, method, ("Mcp-Name", "list_files")]), (200, Value::Null));
    assert_eq!(sent(&[version, method, ("Mcp-Name", "=?base64?bGlzdF9maWxlcw==?=")]), (200, Value::Null));
    for headers in [
        vec![method, ("Mcp-Name", "list_files")],
        vec![version, ("Mcp-Name", "list_files")],
        vec![version, method],
        vec![version, method, ("Mcp-Name", "read_file")],
        vec![version, ("Mcp-Method", "tools/list"), ("Mcp-Name", "list_files")],
        vec![("MCP-Protocol-Version", LEGACY), method, ("Mcp-Name", "list_files")],
    ] {
        assert_eq!(sent(&headers), (400, json!(-32020)), "{headers:?}");
    }
    // None of these calls ran.
    assert_eq!(client.get("/api/tool-calls").ok()["tool_calls"].as_array().unwrap().len(), 2);
    let legacy = Mcp { revision: "1999-01-01", ..Mcp::new(&client, LEGACY) };
    let fault = legacy.fault(400, "tools/list", json!({}));
    assert_eq!((&fault["code"], &fault["data"]["requested"]), (&json!(-32022), &json!("1999-01-01")));
}

#[test]
fn pages_and_names_that_are_not_ours_are_not_let_in() {
    let open = workspace();
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let from = |client: &Client, origin: &str| post(&client.with_header("Origin", origin), ping).0;
    assert_eq!(from(&open, "http://localhost:6274"), 200);
    assert_eq!(from(&open, "https://console.example"), 200);
    for origin in ["https://evil.example", "http://evil.example:8787", "null"] {
        assert_eq!(from(&open, origin), 403, "{origin}");
    }
    // A foreign name that was made to point to this machine.
    assert_eq!(post(&open.with_header("Host", "evil.example"), ping).0, 421);
    let rebound = open.with_header("Host", "evil.example").with_header("Origin", "http://evil.example");
    assert_eq!(post(&rebound, ping).0, 421);
    // If tokens are required, any host name is accepted; a foreign page is still refused.
    let closed = closed_workspace();
    assert_eq!(post(&closed.with_header("Host", "peg.example"), ping).0, 200);
    assert_eq!(from(&closed, "https://evil.example"), 403);
}

#[test]
fn a_page_that_is_let_in_can_read_the_answer() {
    let client = workspace();
    let path = format!("/w/{}/mcp", client.workspace());
    let preflight = |path: &str, origin: &str| {
        let client = client
            .with_header("Origin", origin)
            .with_header("Access-Control-Request-Method", "POST")
            .with_header("Access-Control-Request-Headers", "content-type,mcp-method,mcp-param-region");
        let answer = client.send("OPTIONS", path, None);
        (
            answer.header("access-control-allow-origin").map(str::to_owned),
            answer.header("access-control-allow-headers").map(str::to_owned),
        )
    };
    let (origin, headers) = preflight(&path, "http://localhost:6274");
    assert_eq!(origin.as_deref(), Some("http://localhost:6274"));
    assert!(headers.unwrap().contains("mcp-param-region"));
    assert_eq!(preflight(&path, "http://evil.example").0, None);
    for elsewhere in ["/api/tools", "/api/tools/mcp", "/api/sessions/s/files/mcp"] {
        assert_eq!(preflight(elsewhere, "http://localhost:6274").0, None, "{elsewhere}");
    }
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let answer = client.with_header("Origin", "http://localhost:6274").send("POST", &path, Some(ping.into()));
    assert_eq!(answer.header("access-control-allow-origin"), Some("http://localhost:6274"));
}

#[test]
fn arguments_that_headers_repeat_are_the_same_there() {
    let (client, upstream) = (workspace(), Upstream::start());
    let schema = json!({"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}});
    let handler = json!({"type": "http", "url": upstream.at("/echo")});
    client.register("routed", "1.0.0", json!({"parameters_schema": schema, "handler": handler}));
    let with = |header: &str| {
        let mut mcp = Mcp::new(&client, MODERN);
        if !header.is_empty() {
            mcp.client = mcp.client.with_header("Mcp-Param-Region", header);
        }
        mcp
    };
    let call = json!({"name": "routed", "arguments": {"region": "eu"}});
    for header in ["eu", " eu ", "=?base64?ZXU=?="] {
        assert_eq!(with(header).result("tools/call", call.clone())["isError"], false, "{header}");
    }
    for header in ["", "us", "=?base64?ZXU?="] {
        let fault = with(header).fault(400, "tools/call", call.clone());
        assert_eq!((&fault["code"], &fault["data"]["details"]["header"]), (&json!(-32020), &json!("Mcp-Param-Region")));
    }
    let absent = json!({"name": "routed", "arguments": {}});
    assert_eq!(with("").result("tools/call", absent.clone())["isError"], false);
    assert_eq!(with("eu").fault(400, "tools/call", absent)["code"], -32020);
    // Before 2026-07-28 there were no such headers.
    assert_eq!(Mcp::new(&client, LEGACY).result("tools/call", call)["isError"], false);
}

#[test]
fn callers_are_checked_as_everywhere() {
    let owner = closed_workspace();
    let agent = owner.agent(json!({}));
    for revision in BOTH {
        let guest = owner.token(json!({"name": "g", "level": "guest"}));
        let mcp = Mcp::new(&guest, revision);
        assert!(!mcp.names().is_empty());
        // Files are for users, and a guest is not told about them.
        let hello = if revision == LEGACY { "initialize" } else { "server/discover" };
        assert_eq!(mcp.result(hello, json!({}))["capabilities"], json!({"tools": {}, "completions": {}}));
        assert_eq!(mcp.fault(403, "resources/list", json!({}))["data"]["code"], "PERMISSION_DENIED");
        let written = mcp.told("write_file", json!({"path": "/a", "content": "x"}));
        assert!(written.1 && written.0.starts_with("PERMISSION_DENIED"), "{written:?}");
        assert!(!mcp.names().contains(&"write_file".to_owned()), "what may not be called is not listed");

        let foreign = Mcp { path: "/w/another/mcp".into(), ..mcp.clone() };
        for method in [hello, "tools/list", "tools/call", "completion/complete", "resources/templates/list"] {
            let params = json!({"name": "list_files", "ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "a", "value": ""}});
            let answer = foreign.send(method, params);
            assert_eq!(answer.status, 401, "{method}: {}", answer.text);
            assert_eq!(answer.headers["www-authenticate"], "Bearer");
        }
        let nobody = owner.without_header("Authorization");
        let refused = Mcp::new(&nobody, revision).fault(401, "tools/list", json!({}));
        assert_eq!(refused["data"]["code"], "UNAUTHORIZED");
        assert_eq!(refused["message"], "A token is needed: Authorization: Bearer …");

        let bound = owner.token(json!({"name": "b", "level": "user", "agent_id": owner.agent(json!({}))}));
        let other = Mcp::of_agent(&bound, &agent, revision);
        assert_eq!(other.fault(403, "tools/list", json!({}))["data"]["code"], "PERMISSION_DENIED");
        assert_eq!(other.fault(403, hello, json!({}))["data"]["code"], "PERMISSION_DENIED");
        assert!(other.told("list_files", json!({})).1);
        let unknown = Mcp::of_agent(&owner, "agent_of_nobody", revision);
        assert_eq!(unknown.fault(404, "tools/list", json!({}))["data"]["code"], "NOT_FOUND");
        assert_eq!(unknown.fault(404, hello, json!({}))["data"]["code"], "NOT_FOUND");
        let called = unknown.fault(404, "tools/call", json!({"name": "list_files"}));
        assert_eq!((&called["code"], &called["data"]["code"]), (&json!(-32000), &json!("UNKNOWN_AGENT")));
    }
}
