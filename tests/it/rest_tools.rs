//! Tools that call REST APIs (`{"type": "rest"}`): registration, the place of each argument, responses, and the headers
//! of modules.

use crate::harness::{Answer, Client, Tool, Upstream, definition, open, workspace};
use serde_json::{Value, json};

/// A schema with these parameters, of any type.
fn parameters(names: &[&str]) -> Value {
    let properties = names.iter().map(|it| ((*it).to_owned(), json!({}))).collect::<serde_json::Map<_, _>>();
    json!({"type": "object", "properties": properties, "required": []})
}

fn rest(handler: Value, names: &[&str]) -> Value {
    let mut whole = json!({"type": "rest"});
    whole.as_object_mut().unwrap().extend(handler.as_object().unwrap().clone());
    json!({"handler": whole, "parameters_schema": parameters(names)})
}

fn register(client: &Client, id: &str, handler: Value, names: &[&str]) -> Value {
    client.register(id, "1.0.0", rest(handler, names))
}

fn message(failed: &Value) -> &str {
    failed["error"]["message"].as_str().unwrap()
}

#[test]
fn each_argument_becomes_its_part_of_the_request() {
    let (client, upstream) = (workspace(), Upstream::start());
    let handler = json!({
        "method": "PUT", "url": upstream.at("/rest/{owner}/items/{id}?v=1"), "query": ["q", "tags", "ids", "near"],
        "header_params": ["X-Trace"], "headers": {"X-Key": "s3cret"}, "body": "json",
        "styles": {"ids": "comma", "near": "deep"},
    });
    let names = ["owner", "id", "q", "tags", "ids", "near", "X-Trace", "body"];
    let made = register(&client, "put_item", handler, &names);
    assert_eq!(made["handler_key"], "rest");
    assert_eq!(made["handler"]["headers"]["X-Key"], "***");
    let arguments = json!({
        "owner": "a/b", "id": 7, "q": "x & y", "tags": ["one", "two"], "ids": [1, 2], "near": {"lat": 1.5},
        "X-Trace": "t1", "body": {"n": [1, "ä"]},
    });
    let result = client.with_header("Cookie", "c=1").execute("put_item", arguments).success();
    let target = "/rest/a%2Fb/items/7?v=1&q=x%20%26%20y&tags=one&tags=two&ids=1,2&near%5Blat%5D=1.5";
    assert_eq!(result, json!({"method": "PUT", "target": target, "body": {"n": [1, "ä"]}}));
    let received = &upstream.received()[0];
    assert_eq!(received.header("x-trace"), Some("t1"));
    assert_eq!(received.header("x-key"), Some("s3cret"));
    assert_eq!(received.header("content-type"), Some("application/json"));
    assert_eq!(received.header("user-agent"), Some("pegboard"));
    assert_eq!((received.header("cookie"), received.header("x-workspace-id")), (None, None));
}

#[test]
fn what_is_not_given_is_not_sent() {
    let (client, upstream) = (workspace(), Upstream::start());
    let handler = json!({
        "method": "POST", "url": upstream.at("/rest/x"), "query": ["q"], "header_params": ["X-Trace"], "body": "json",
    });
    register(&client, "bare", handler, &["q", "X-Trace", "body"]);
    let sent = json!({"method": "POST", "target": "/rest/x", "body": ""});
    assert_eq!(client.execute("bare", json!({})).success(), sent);
    assert_eq!(client.execute("bare", json!({"q": null, "X-Trace": null, "body": null})).success(), sent);
    let received = upstream.received();
    assert_eq!((received[0].header("x-trace"), received[0].header("content-type")), (None, None));
}

#[test]
fn a_form_is_sent_with_brackets() {
    let (client, upstream) = (workspace(), Upstream::start());
    register(&client, "form", json!({"method": "POST", "url": upstream.at("/rest/x"), "body": "form"}), &["body"]);
    let body = json!({"amount": 5, "card": {"number": "4 2"}, "items": ["a", "b"]});
    let result = client.execute("form", json!({ "body": body })).success();
    assert_eq!(result["body"], "amount=5&card%5Bnumber%5D=4%202&items%5B%5D=a&items%5B%5D=b");
    assert_eq!(upstream.received()[0].header("content-type"), Some("application/x-www-form-urlencoded"));
    let refused = client.execute("form", json!({"body": [1]})).failed(400, "INVALID_ARGUMENTS");
    assert_eq!(refused["error"]["details"]["violations"][0]["path"], "/body");
}

#[test]
fn json_may_have_a_media_type_of_its_own() {
    let (client, upstream) = (workspace(), Upstream::start());
    let handler = json!({
        "method": "PATCH", "url": upstream.at("/rest/x"), "body": "json", "content_type": "application/merge-patch+json",
    });
    let made = register(&client, "patch", handler, &["body"]);
    assert_eq!(made["handler"]["content_type"], "application/merge-patch+json");
    assert_eq!(client.execute("patch", json!({"body": {"a": 1}})).success()["body"], json!({"a": 1}));
    assert_eq!(upstream.received()[0].header("content-type"), Some("application/merge-patch+json"));
}

#[test]
fn every_method_is_sent_and_an_empty_response_is_null() {
    let (client, upstream) = (workspace(), Upstream::start());
    for method in ["GET", "POST", "PUT", "PATCH", "DELETE"] {
        let id = method.to_lowercase();
        register(&client, &id, json!({"method": method, "url": upstream.at("/rest/x")}), &[]);
        assert_eq!(client.execute(&id, json!({})).success()["method"], method);
    }
    register(&client, "head", json!({"method": "HEAD", "url": upstream.at("/rest/x")}), &[]);
    assert_eq!(client.execute("head", json!({})).success(), Value::Null);
    assert_eq!(upstream.received().last().unwrap().method, "HEAD");
    register(&client, "empty", json!({"method": "DELETE", "url": upstream.at("/empty")}), &[]);
    assert_eq!(client.execute("empty", json!({})).success(), Value::Null);
    register(&client, "text", json!({"method": "GET", "url": upstream.at("/text")}), &[]);
    assert_eq!(client.execute("text", json!({})).success(), "plain words");
}

#[test]
fn other_answers_are_failures_of_the_tool() {
    let (client, upstream) = (workspace(), Upstream::start());
    let check = |path: &str, said: &str| {
        let id = format!("at{}", path.replace('/', "-"));
        register(&client, &id, json!({"method": "GET", "url": upstream.at(path)}), &[]);
        let failed = client.execute(&id, json!({})).failed(200, "TOOL_ERROR");
        assert!(message(&failed).contains(said), "{failed}");
    };
    check("/broken", "status 500: it broke");
    check("/missing", "status 404: nothing at /missing");
    check("/huge", "more than");
    check("/many", "250000 values");
    let before = upstream.received().len();
    check("/elsewhere", "status 302: redirects are not followed");
    assert_eq!(upstream.received().len(), before + 1, "the redirect leads to /echo");
    register(&client, "nobody", json!({"method": "GET", "url": "http://127.0.0.1:9/"}), &[]);
    client.execute("nobody", json!({})).failed(200, "UNREACHABLE");
    Tool::new("slow")
        .schema(json!({"type": "object"}))
        .with(json!({"handler_key": "rest", "timeout_seconds": 1,
            "handler": json!({"type": "rest", "method": "GET", "url": upstream.at("/slow")}).to_string()}))
        .put(open(), &client);
    client.execute("slow", json!({})).failed(200, "TIMEOUT");
}

#[test]
fn no_value_reaches_another_path_or_header() {
    let (client, upstream) = (workspace(), Upstream::start());
    let handler = json!({
        "method": "GET", "url": upstream.at("/rest/{a}{b}/end"), "header_params": ["X-Trace"],
    });
    register(&client, "walk", handler, &["a", "b", "X-Trace"]);
    for (a, b, path) in [("..", "x", "/a"), (".", ".", "/a"), ("", "x", "/a"), ("x", "", "/b")] {
        let refused = client.execute("walk", json!({"a": a, "b": b})).failed(400, "INVALID_ARGUMENTS");
        assert_eq!(refused["error"]["details"]["violations"][0]["path"], path, "{refused}");
    }
    let refused = client.execute("walk", json!({"a": ["."], "b": ["."]})).failed(400, "INVALID_ARGUMENTS");
    assert!(message(&refused).contains(". or .."), "{refused}");
    for value in ["a\r\nX-Evil: 1", "a\nb", "ä", "\u{0}"] {
        let refused = client.execute("walk", json!({"a": "x", "b": "y", "X-Trace": value}));
        let refused = refused.failed(400, "INVALID_ARGUMENTS");
        assert_eq!(refused["error"]["details"]["violations"][0]["path"], "/X-Trace", "{refused}");
    }
    assert!(upstream.received().is_empty(), "nothing of this was sent");
    for (a, b, target) in [
        ("../", "..", "/rest/..%2F../end"),
        ("%2e", "%2e", "/rest/%252e%252e/end"),
        ("a?b", "#c", "/rest/a%3Fb%23c/end"),
        ("\\..", "\\", "/rest/%5C..%5C/end"),
        ("//evil.example", "@x", "/rest/%2F%2Fevil.example%40x/end"),
    ] {
        let arguments = json!({"a": a, "b": b});
        if b == ".." {
            client.execute("walk", arguments).failed(400, "INVALID_ARGUMENTS");
        } else {
            assert_eq!(client.execute("walk", arguments).success()["target"], target);
        }
    }
}

#[test]
fn arguments_without_a_place_are_refused() {
    let (client, upstream) = (workspace(), Upstream::start());
    let mut tool = rest(json!({"method": "GET", "url": upstream.at("/rest/x"), "query": ["q"]}), &["q"]);
    tool["parameters_schema"]["additionalProperties"] = true.into();
    client.register("open", "1.0.0", tool);
    let refused = client.execute("open", json!({"q": 1, "limit": 5})).failed(400, "INVALID_ARGUMENTS");
    assert_eq!(refused["error"]["details"]["violations"][0]["path"], "/limit");
    assert!(upstream.received().is_empty());
}

#[test]
fn a_handler_that_could_not_be_sent_is_refused() {
    let client = workspace();
    let check = |handler: Value, names: &[&str], expected: &[&str]| {
        let answer = client.post("/api/tools", definition("bad", "1.0.0", rest(handler, names)));
        let mut paths =
            answer.refused(400, "VALIDATION_ERROR").paths().iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        paths.sort();
        assert_eq!(paths, expected, "{}", answer.text);
    };
    let url = "https://api.example.com/x";
    check(json!({}), &[], &["/handler/method", "/handler/url"]);
    check(json!({"method": "TRACE", "url": url}), &[], &["/handler/method"]);
    check(json!({"method": "GET", "url": url, "parms": []}), &[], &["/handler/parms"]);
    check(json!({"method": "GET", "url": "https://{host}.example.com/x"}), &["host"], &["/handler/url"]);
    check(json!({"method": "GET", "url": "https://api.example.com/{id}?k={id}"}), &["id"], &["/handler/url"]);
    check(json!({"method": "GET", "url": "ftp://a.example/{id}"}), &["id"], &["/handler/url"]);
    check(json!({"method": "GET", "url": "https://u:p@a.example/{id}"}), &["id"], &["/handler/url"]);
    check(json!({"method": "GET", "url": url, "query": ["q"]}), &[], &["/handler/query/0"]);
    check(json!({"method": "GET", "url": "https://a.example/{q}", "query": ["q"]}), &["q"], &["/handler/query/0"]);
    check(json!({"method": "GET", "url": url}), &["lost"], &["/parameters_schema/properties/lost"]);
    check(json!({"method": "GET", "url": url, "body": "json"}), &["body"], &["/handler/body"]);
    check(json!({"method": "POST", "url": url, "body": "json"}), &[], &["/handler/body"]);
    let header = json!({"method": "GET", "url": url, "header_params": ["Host"]});
    check(header, &["Host"], &["/handler/header_params/0"]);
    let twice = json!({"method": "GET", "url": url, "headers": {"X-Key": "1"}, "header_params": ["x-key"]});
    check(twice, &["x-key"], &["/handler/header_params/0"]);
    let typed = json!({"method": "POST", "url": url, "body": "json", "content_type": "text/html"});
    check(typed, &["body"], &["/handler/content_type"]);
    let http = json!({"handler": {"type": "http", "url": "https://api.example.com/{id}"}});
    let refused = client.post("/api/tools", definition("bad", "1.0.0", http)).refused(400, "VALIDATION_ERROR");
    assert!(refused.details.to_string().contains("type rest"), "{}", refused.details);
}

#[test]
fn credentials_are_filled_in_sealed_and_never_shown() {
    let (client, upstream) = (workspace(), Upstream::start());
    client.post("/api/credentials", json!({"id": "GITHUB_TOKEN"})).created();
    let headers = json!({"Authorization": "Bearer ${GITHUB_TOKEN}", "X-Plain": "s3cret-literal"});
    let handler = json!({
        "method": "GET", "url": upstream.at("/headers?key=s3cret-query"), "headers": headers,
        "header_params": ["X-Trace"],
    });
    let made = register(&client, "asks", handler, &["X-Trace"]);
    assert_eq!(made["credentials_required"], json!(["GITHUB_TOKEN"]));
    assert_eq!(made["handler"]["url"], upstream.at("/headers?key=***"));
    let result = client.execute("asks", json!({"X-Trace": "t"})).success();
    let received = &upstream.received()[0];
    assert_eq!(received.header("x-plain"), Some("s3cret-literal"));
    let token = received.header("authorization").unwrap().strip_prefix("Bearer ").unwrap();
    assert!(!token.is_empty() && !result.to_string().contains(token), "the server repeated the headers: {result}");
    let stored = open().sql("SELECT handler FROM tool_versions WHERE workspace_id = ?1", &[json!(client.workspace())]);
    assert!(!json!(stored).to_string().contains("s3cret-literal") && json!(stored).to_string().contains("sealed"));
    // What is shown can be sent back, and keeps the values.
    let again = json!({
        "handler": made["handler"], "parameters_schema": parameters(&["X-Trace"]),
        "credentials_required": ["GITHUB_TOKEN"],
    });
    client.register("asks", "1.0.1", again);
    client.execute("asks", json!({})).success();
    assert_eq!(upstream.received()[1].header("x-plain"), Some("s3cret-literal"));
    assert!(upstream.received()[1].target.ends_with("key=s3cret-query"));
}

#[test]
fn a_rest_tool_survives_a_backup() {
    let (client, upstream) = (workspace(), Upstream::start());
    let handler = json!({
        "method": "GET", "url": upstream.at("/rest/{id}"), "query": ["q"], "headers": {"X-Key": "s3cret"},
        "styles": {"q": "pipe"},
    });
    register(&client, "kept", handler, &["id", "q"]);
    let backup = client.get("/api/registry/backup").ok();
    let other = workspace();
    other.post("/api/registry/restore", backup).ok();
    let result = other.execute("kept", json!({"id": 1, "q": ["a", "b"]})).success();
    assert_eq!(result["target"], "/rest/1?q=a%7Cb");
    assert_eq!(upstream.received()[0].header("x-key"), Some("s3cret"));
}

/// Puts a module and one of its tools into the database.
fn module_tool(client: &Client, module_url: &str, include: Value, url: &str) {
    open().sql(
        "INSERT INTO upstreams (workspace_id, name, kind, url, slow, headers, enabled, auto_accept, include, created_at, revision, expires_at)
         VALUES (?1, 'api', 'openapi', ?2, 0, ?3, 1, 0, ?4, '2026-11-16T01:00:00.000Z', 1, '2126-11-16T01:00:00.000Z')",
        &[
            json!(client.workspace()),
            json!(module_url),
            json!(json!({"X-Module": "${GITHUB_TOKEN}"}).to_string()),
            json!(include.to_string()),
        ],
    );
    let handler = json!({"type": "rest", "method": "GET", "url": url, "headers": {"X-Own": "1"}});
    Tool::new("api.get")
        .source("module")
        .with(json!({"handler_key": "rest", "handler": handler.to_string()}))
        .put(open(), client);
}

#[test]
fn the_headers_of_a_module_go_to_its_own_origin_and_to_listed_hosts() {
    let upstream = Upstream::start();
    let sent = |module_url: &str, include: Value| {
        let client = workspace();
        client.post("/api/credentials", json!({"id": "GITHUB_TOKEN"})).created();
        module_tool(&client, module_url, include, &upstream.at("/rest/x"));
        let answer: Answer = client.execute("api.get", json!({}));
        answer.success();
        let received = upstream.received().last().unwrap().clone();
        assert_eq!(received.header("x-own"), Some("1"), "the handler's own headers always go along");
        received.header("x-module").is_some()
    };
    let host = upstream.at("").replace("http://", "");
    assert!(sent(&upstream.at("/openapi.json"), json!({})), "the same origin");
    assert!(!sent("http://127.0.0.1:9", json!({})), "another port");
    assert!(!sent(&upstream.at("").replace("127.0.0.1", "localhost"), json!({})), "another name");
    assert!(!sent("http://127.0.0.1:9", json!({"hosts": ["127.0.0.1"]})), "the port is not listed");
    assert!(sent("http://127.0.0.1:9", json!({"hosts": [host]})), "the host is listed");
    assert!(!sent("https://127.0.0.1:9", json!({"hosts": [host]})), "headers for https stay on https");
}
