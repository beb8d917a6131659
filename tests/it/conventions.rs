//! The rules that hold for every route.

use crate::harness::{self, ROOT_TOKEN, Server, closed, open, unique, workspace};
use serde_json::json;
use std::io::{Read, Write};
use std::net::TcpStream;

#[test]
fn a_workspace_must_be_named_and_well_formed() {
    let client = workspace();
    for path in ["/api/tools", "/api/agents", "/api/tokens"] {
        let refused = client.without_header("X-Workspace-Id").get(path).refused(400, "VALIDATION_ERROR");
        assert_eq!(refused.paths(), ["X-Workspace-Id"]);
        assert_eq!(refused.details["problems"][0]["in"], "header");
    }
    for bad in ["", "a b", "a/b", "ws.1", &"x".repeat(65)] {
        client.with_header("X-Workspace-Id", bad).get("/api/tools").refused(400, "VALIDATION_ERROR");
    }
    client.with_header("X-Workspace-Id", &"x".repeat(64)).get("/api/tools").ok();
}

#[test]
fn every_answer_carries_a_request_id_of_its_own() {
    let client = workspace();
    let answers = [
        client.get("/api/tools"),
        client.get("/healthz"),
        client.get("/nowhere"),
        client.send("PUT", "/api/tools", Some(vec![])),
        client.post("/api/agents", json!({})),
        client.send("OPTIONS", "/api/tools", None),
    ];
    let mut ids = answers.iter().map(|it| it.header("x-request-id").expect("an id").to_owned()).collect::<Vec<_>>();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), answers.len());
}

#[test]
fn unknown_routes_and_methods_are_refused_in_the_envelope() {
    let client = workspace();
    for path in ["/nowhere", "/api", "/api/", "/api/nowhere", "/api/tools/x/y/z", "/API/tools"] {
        client.get(path).refused(404, "NOT_FOUND");
    }
    for (method, path, allowed) in [
        ("DELETE", "/api/tools", "GET,HEAD,POST"),
        ("PUT", "/api/agents", "GET,HEAD,POST"),
        ("POST", "/api/tools/read_file", "GET,HEAD"),
        ("GET", "/api/tools/read_file/validate", "POST"),
        ("POST", "/healthz", "GET,HEAD"),
    ] {
        let answer = client.send(method, path, None);
        let refused = answer.refused(405, "METHOD_NOT_ALLOWED");
        assert_eq!(answer.header("allow"), Some(allowed), "{method} {path}");
        assert!(refused.message.contains(&format!("it takes {}", allowed.replace(',', ", "))), "{refused:?}");
    }
    let refused = client.delete("/api/tools/read_file").refused(405, "METHOD_NOT_ALLOWED");
    assert!(refused.message.ends_with("POST /api/tools/:id/deactivate takes it out of use"), "{refused:?}");
}

#[test]
fn a_slash_at_the_end_of_a_path_makes_no_difference() {
    let client = workspace();
    assert_eq!(client.get("/api/tools/").ok(), client.get("/api/tools").ok());
    assert_eq!(client.get("/api/tools/read_file/?schemas=object").ok()["id"], "read_file");
    client.post("/api/agents/", json!({"name": "a"})).created();
    client.put("/api/sessions/s/files/notes.txt/", b"one").created();
    assert_eq!(client.get("/api/sessions/s/files/").ok()["entries"][0]["path"], "/notes.txt");
}

/// The status of a request whose target is sent without any escaping.
fn status_of_raw(target: &str) -> u16 {
    let address = open().url().strip_prefix("http://").unwrap().to_owned();
    let mut connection = TcpStream::connect(&address).unwrap();
    write!(connection, "GET {target} HTTP/1.1\r\nHost: {address}\r\nX-Workspace-Id: x\r\nConnection: close\r\n\r\n")
        .unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    answer.split(' ').nth(1).unwrap().parse().unwrap()
}

#[test]
fn no_target_is_a_failure_of_ours() {
    assert_eq!(status_of_raw("/api/tools"), 200);
    for target in [
        "/api/tools?q=\"|^`{}<>[]\\",
        "/api/tools?q=ä",
        "/api/tools/%",
        "/api/tools/%zz",
        "/api/tools?q=%ff",
        "/api/tools/%ff%fe",
        "/api/agents/..//x",
        "//api/tools",
        "/api/tools?",
        "/api/tools?&&=&",
        "/api/tools?q=a;b",
        "/\u{7f}",
        "*",
        "/api/tools#x",
    ] {
        let status = status_of_raw(target);
        assert!(status < 500, "{target} answered {status}");
    }
}

#[test]
fn malformed_bodies_are_refused_and_change_nothing() {
    let client = workspace();
    let deep = format!(r#"{{"name":"a","capabilities":{}{}}}"#, "[".repeat(5000), "]".repeat(5000));
    let bodies: Vec<(&[u8], &str)> = vec![
        (b"", ""),
        (b"{", ""),
        (b"null", ""),
        (b"[]", ""),
        (br#"["a"]"#, ""),
        (b"\"name\"", ""),
        (br#"{"name":"a"} trailing"#, ""),
        (b"\xff\xfe", ""),
        (br#"{"name":"\ud800"}"#, "/name"),
        (br#"{}"#, "/name"),
        (br#"{"name":null}"#, "/name"),
        (br#"{"name":7}"#, "/name"),
        (br#"{"name":""}"#, "/name"),
        (br#"{"name":"a\u0000b"}"#, "/name"),
        (br#"{"name":"a","surname":"b"}"#, "/surname"),
        (br#"{"name":"a","name":"b"}"#, "/name"),
        (br#"{"name":"a","max_risk":"extreme"}"#, "/max_risk"),
        (br#"{"name":"a","max_risk":"Safe"}"#, "/max_risk"),
        (br#"{"name":"a","permission_level":"root"}"#, "/permission_level"),
        (br#"{"name":"a","default_tools":"yes"}"#, "/default_tools"),
        (br#"{"name":"a","capabilities":"net"}"#, "/capabilities"),
        (br#"{"name":"a","capabilities":["net",1]}"#, "/capabilities/1"),
        (br#"{"name":"a","capabilities":["'; DROP TABLE agents; --"]}"#, "/capabilities/0"),
        (deep.as_bytes(), "/capabilities/0"),
    ];
    for (body, path) in bodies {
        let shown = String::from_utf8_lossy(body).chars().take(60).collect::<String>();
        let refused = client.send("POST", "/api/agents", Some(body.to_vec())).refused(400, "VALIDATION_ERROR");
        assert_eq!(refused.paths(), [path], "{shown}");
    }
    assert_eq!(client.get("/api/agents").ok()["agents"], json!([]));
}

#[test]
fn content_type_does_not_matter() {
    let client = workspace().with_header("Content-Type", "text/plain");
    client.post("/api/agents", json!({"name": "Plain"})).created();
}

#[test]
fn bodies_end_at_16_mib() {
    let client = workspace();
    let body = |bytes: usize| {
        let frame = r#"{"name":""}"#.len();
        format!(r#"{{"name":"{}"}}"#, "x".repeat(bytes - frame)).into_bytes()
    };
    let limit = 16 * 1024 * 1024;
    client.send("POST", "/api/agents", Some(body(limit))).refused(400, "VALIDATION_ERROR");
    for bytes in [limit + 1, 20_000_000] {
        let refused = client.send("POST", "/api/agents", Some(body(bytes))).refused(413, "PAYLOAD_TOO_LARGE");
        assert_eq!(refused.details["limit_bytes"], limit);
    }
}

#[test]
fn a_body_of_millions_of_values_is_refused() {
    let client = workspace();
    let body = format!(r#"{{"arguments":{{"a":[{}0]}}}}"#, "0,".repeat(7_000_000)).into_bytes();
    client.send("POST", "/api/tools/read_file/validate", Some(body)).refused(400, "VALIDATION_ERROR");
    client.get("/api/tools").ok();
}

#[test]
fn limits_and_cursors_are_checked() {
    let client = workspace();
    for list in ["/api/tools", "/api/agents", "/api/tokens", "/api/sessions"] {
        for (query, parameter) in [
            ("limit=0", "limit"),
            ("limit=201", "limit"),
            ("limit=-1", "limit"),
            ("limit=ten", "limit"),
            ("limit=", "limit"),
            ("limit=5&limit=6", "limit"),
            ("cursor=", "cursor"),
            ("cursor=%00", "cursor"),
            ("cursor=zz", "cursor"),
            ("cursor=6e6f7768657265", "cursor"),
            ("page=2", "page"),
        ] {
            let refused = client.get(&format!("{list}?{query}")).refused(400, "VALIDATION_ERROR");
            assert_eq!(refused.paths(), [parameter], "{list}?{query}");
        }
        client.get(&format!("{list}?limit=200")).ok();
    }
}

#[test]
fn cors_is_for_the_origins_that_are_configured() {
    let client = workspace().with_header("Origin", "https://console.example");
    let preflight = client
        .with_header("Access-Control-Request-Method", "PATCH")
        .with_header("Access-Control-Request-Headers", "authorization,x-workspace-id,content-type")
        .send("OPTIONS", "/api/agents/agent_x", None);
    assert_eq!(preflight.status, 200);
    assert_eq!(preflight.header("access-control-allow-origin"), Some("https://console.example"));
    assert!(preflight.header("access-control-allow-methods").unwrap().contains("PATCH"));
    assert!(preflight.header("access-control-allow-headers").unwrap().contains("x-workspace-id"));

    let answer = client.get("/api/tools");
    assert_eq!(answer.header("access-control-allow-origin"), Some("https://console.example"));
    assert!(answer.header("access-control-expose-headers").unwrap().contains("x-request-id"));

    let foreign = client.with_header("Origin", "https://evil.example").get("/api/tools");
    assert_eq!(foreign.header("access-control-allow-origin"), None);
    let unconfigured = closed().client("x").with_header("Origin", "https://console.example").get("/healthz");
    assert_eq!(unconfigured.header("access-control-allow-origin"), None);
}

#[test]
fn health_description_and_docs_need_nothing() {
    let anyone = closed().client("x").without_header("X-Workspace-Id");
    assert_eq!(anyone.get("/healthz").ok()["status"], "ok");
    let description = anyone.get("/openapi.json").ok();
    assert_eq!(description["openapi"], "3.1.0");
    let docs = anyone.get("/docs");
    assert_eq!((docs.status, docs.header("content-type")), (200, Some("text/html; charset=utf-8")));
    for elsewhere in ["src=\"http", "href=\"http", "@import", "url(http"] {
        assert!(!docs.text.contains(elsewhere), "the page must work offline: {elsewhere}");
    }
}

#[test]
fn what_a_request_costs_is_told_only_where_it_is_configured() {
    assert!(open().client("x").get("/api/tools").header("x-d1-cost").is_some());
    let quiet = Server::start("quiet", &[("AUTH", "open")]);
    assert_eq!(quiet.client("x").get("/api/tools").header("x-d1-cost"), None);
}

#[test]
fn in_open_mode_every_route_refuses_a_host_that_is_not_this_machine() {
    let open = workspace();
    let rebound = open.with_header("Host", "evil.example");
    let requests: [(&str, &str, Option<Vec<u8>>); 10] = [
        ("GET", "/api/tools", None),
        ("POST", "/api/agents", Some(br#"{"name": "x"}"#.to_vec())),
        ("POST", "/api/execute", Some(br#"{"tool_name": "list_files"}"#.to_vec())),
        ("PUT", "/api/sessions/s/files/f", Some(b"x".to_vec())),
        ("OPTIONS", "/api/tools", None),
        ("GET", "/metrics", None),
        ("GET", "/healthz", None),
        ("GET", "/docs", None),
        ("POST", "/mcp", Some(br#"{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}"#.to_vec())),
        ("GET", "/nowhere", None),
    ];
    for (method, path, body) in requests {
        // A port, a listed origin and a token change nothing.
        let clients = [
            rebound.clone(),
            rebound.with_header("Host", "evil.example:8787"),
            rebound.with_header("Origin", "https://console.example"),
            rebound.with_token("peg_tok_0_0"),
        ];
        for client in clients {
            let answer = client.send(method, path, body.clone());
            let refused = answer.refused(421, "MISDIRECTED_REQUEST");
            assert!(refused.message.contains("OPEN_HOSTS"), "{}", refused.message);
            assert_eq!(answer.cost("round_trips"), 0);
            assert!(answer.header("x-request-id").is_some());
        }
    }
    assert_eq!(open.get("/api/agents").ok()["agents"], json!([]));
    for host in ["localhost", "localhost:8787", "127.0.0.1:1", "[::1]"] {
        open.with_header("Host", host).get("/api/tools").ok();
    }
    // If tokens are required, any name will do.
    harness::closed_workspace().with_header("Host", "peg.example").get("/api/tools").ok();
}

#[test]
fn a_host_can_be_opened() {
    let server = Server::start("open-hosts", &[("AUTH", "open"), ("OPEN_HOSTS", "peg.lan, 10.0.0.7:8787")]);
    let at = |host: &str| server.client("ws").with_header("Host", host).get("/api/tools").status;
    for (host, status) in
        [("peg.lan", 200), ("PEG.lan:8080", 200), ("10.0.0.7:8787", 200), ("10.0.0.7", 421), ("x.peg.lan", 421)]
    {
        assert_eq!(at(host), status, "{host}");
    }
}

#[test]
fn a_failure_of_ours_shows_nothing_but_an_id() {
    let server = Server::start("broken", &[("AUTH", "open")]);
    server.sql("ALTER TABLE agents RENAME COLUMN name TO title", &[]);
    let answer = server.client("x").get("/api/agents");
    let refused = answer.refused(500, "INTERNAL");
    assert_eq!(refused.details["request_id"].as_str(), answer.header("x-request-id"));
    for secret in ["SELECT", "column", "name", "SQLITE", "src/"] {
        assert!(!answer.text.replace("error", "").contains(secret), "{}", answer.text);
    }
}

#[test]
fn a_database_without_tables_is_unavailable() {
    let server = Server::start_unmigrated("unmigrated", &[("ROOT_TOKEN", ROOT_TOKEN)]);
    let client = server.client("x").with_token(ROOT_TOKEN);
    let refused = client.get("/api/tools").refused(503, "UNAVAILABLE");
    assert!(refused.message.contains("migrations apply"), "{}", refused.message);
    client.get("/healthz").ok();
}

#[test]
fn what_was_acknowledged_survives_a_restart() {
    let server = Server::start("restarted", &[("AUTH", "open")]);
    let client = server.client(&unique("ws"));
    let ids = harness::race(10, |index| client.agent(json!({"name": format!("Agent {index}")})));
    let answer = server.ask(json!({"restart": true}));
    assert!(answer["error"].is_null(), "{answer}");
    for id in ids {
        client.get(&format!("/api/agents/{id}")).ok();
    }
}

#[test]
fn the_root_says_what_this_is_and_where_to_go() {
    let anyone = closed().client("none").without_header("X-Workspace-Id");
    let told = anyone.get("/");
    let welcome = told.ok();
    assert_eq!((&welcome["name"], &welcome["mcp"]), (&json!("Pegboard"), &json!("/w/{workspace}/mcp")));
    assert_eq!(welcome["version"], anyone.get("/healthz").ok()["version"]);
    assert_eq!(told.header("content-type"), Some("application/json"));
    assert!(told.header("vary").unwrap().starts_with("Accept"));
    let browser = anyone.with_header("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8");
    let page = browser.get("/");
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    for name in ["docs", "openapi", "health"] {
        let path = welcome[name].as_str().unwrap();
        assert!(page.text.contains(&format!("<a href=\"{path}\">")), "{}", page.text);
        assert_eq!(anyone.get(path).status, 200, "{path}");
    }
    assert!(page.text.contains(welcome["description"].as_str().unwrap()));
    for step in welcome["first_steps"].as_array().unwrap() {
        assert!(page.text.contains(step.as_str().unwrap()), "{step}");
    }
}

#[test]
fn every_route_refuses_query_parameters_that_it_does_not_have() {
    let client = workspace();
    let description = client.get("/openapi.json").ok();
    let mut walked = 0;
    for (path, item) in description["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let filled = path.replace("{workspace}", client.workspace()).replace(['{', '}'], "");
            let method = method.to_uppercase();
            let body = (method != "GET").then(|| b"{}".to_vec());
            let answer = client.send(&method, &format!("{filled}?no_such_parameter=1&no_such_parameter=2"), body);
            let (message, details) = if path.ends_with("/mcp") {
                let error = answer.json()["error"].clone();
                assert_eq!((answer.status, &error["data"]["code"]), (400, &json!("VALIDATION_ERROR")), "{path}");
                (error["message"].as_str().unwrap().to_owned(), error["data"]["details"].clone())
            } else {
                let refused = answer.refused(400, "VALIDATION_ERROR");
                (refused.message, refused.details)
            };
            let problems = details["problems"].as_array().unwrap();
            assert_eq!((problems.len(), &problems[0]["path"]), (1, &json!("no_such_parameter")), "{method} {path}");
            assert_eq!(problems[0]["in"], "query");
            assert_eq!(answer.cost("round_trips"), 0, "{method} {path}");
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            let names = parameters.filter(|it| it["in"] == "query").map(|it| it["name"].as_str().unwrap());
            let names = names.collect::<Vec<_>>().join(", ");
            let takes = if names.is_empty() { "takes no query parameters" } else { &*names };
            assert!(message.contains(takes), "{method} {path}: {message}");
            walked += 1;
        }
    }
    assert!(walked > 60, "{walked}");
    let body = harness::definition("x", "1.0.0", json!({}));
    let refused = client.post("/api/tools?dry_rnu=true", body).refused(400, "VALIDATION_ERROR");
    assert!(refused.message.ends_with("takes dry_run, schemas. Did you mean dry_run?"), "{}", refused.message);
    client.get("/api/tools/x").refused(404, "NOT_FOUND");
    assert_eq!(client.post("/api/execute?foo=1", json!({"tool_name": "list_files"})).status, 400);
    assert_eq!(client.get("/api/tool-calls").ok()["tool_calls"], json!([]));
}

#[test]
fn all_faults_of_a_body_are_told_at_once() {
    let client = workspace();
    let body = json!({
        "nmae": "x", "capabilities": ["net", 1], "max_risk": "hunter2", "default_tools": "yes", "find_tools": null,
    });
    let refused = client.post("/api/agents", body).refused(400, "VALIDATION_ERROR");
    let mut paths = refused.paths();
    paths.sort_unstable();
    assert_eq!(paths, ["/capabilities/1", "/default_tools", "/max_risk", "/name", "/nmae"]);
    let fields = "the fields are name, capabilities, max_risk, allowed_modules, permission_level, default_tools, find_tools, \
        system_prompt, model, max_steps, temperature";
    for told in ["/name: is required", "must be one of safe, low, medium, high, critical", fields, "Did you mean name?"]
    {
        assert!(refused.message.contains(told), "{told}: {}", refused.message);
    }
    assert!(!refused.message.contains("hunter2"));
    // The same for a call, which is recorded with all of its faults.
    let call = json!({"tool_name": "list_files", "arguments": 5, "sesion_id": "s", "max_result_bytes": "x"});
    let failed = client.call(call).failed(400, "VALIDATION_ERROR");
    let problems = failed["error"]["details"]["problems"].as_array().unwrap();
    let mut paths = problems.iter().map(|it| it["path"].as_str().unwrap()).collect::<Vec<_>>();
    paths.sort_unstable();
    assert_eq!(paths, ["/arguments", "/max_result_bytes", "/sesion_id"]);
    assert_eq!(client.record(&failed)["error"], failed["error"]);
}
