//! The settings of a module: what may be set, by whom, and what happens to the values of headers.

use super::{register, research};
use crate::harness::{ModuleServer, closed_workspace, workspace};
use serde_json::{Value, json};

#[test]
fn all_faults_of_a_module_are_told() {
    let client = workspace();
    let given = json!({
        "name": "My Module", "url": "ftp://example.com", "timeout_seconds": 0, "headers": {"Host": "x", "A B": "y"},
        "include": {"tags": ["a"]},
    });
    let refused = client.post("/api/modules", given).refused(400, "VALIDATION_ERROR");
    assert_eq!(refused.paths(), ["/name", "/timeout_seconds", "/include", "/url", "/headers/A B", "/headers/Host"]);
    let unknown = client.post("/api/modules", json!({"name": "m", "ulr": "https://a.example"}));
    assert_eq!(unknown.refused(400, "VALIDATION_ERROR").paths(), ["/url", "/ulr"]);
    let query = json!({"name": "m", "url": "https://a.example/?x=1"});
    assert_eq!(client.post("/api/modules", query).refused(400, "VALIDATION_ERROR").paths(), ["/url"]);
    let credential = json!({"name": "m", "url": "https://a.example", "headers": {"X": "${NOT_DEFINED}"}});
    assert_eq!(client.post("/api/modules", credential).refused(400, "VALIDATION_ERROR").paths(), ["/headers"]);
    assert_eq!(client.get("/api/modules").ok(), json!({"modules": [], "next_cursor": null}));
}

#[test]
fn a_module_is_not_in_a_private_network() {
    let client = closed_workspace();
    for url in
        ["http://127.0.0.1:8000", "http://10.0.0.1", "http://localhost", "http://[::1]/", "http://169.254.169.254"]
    {
        let refused = client.post("/api/modules", json!({"name": "m", "url": url})).refused(400, "VALIDATION_ERROR");
        assert_eq!(refused.paths(), ["/url"], "{url}");
    }
}

#[test]
fn a_name_is_used_once() {
    let (client, server) = (workspace(), ModuleServer::start(research()));
    register(&client, "research", &server);
    let again = client.post("/api/modules", json!({"name": "research", "url": server.url()}));
    again.refused(409, "ALREADY_EXISTS");
    // Another workspace may have a module of the same name.
    register(&workspace(), "research", &server);
}

#[test]
fn header_values_are_sent_and_never_shown() {
    let (client, server) = (workspace(), ModuleServer::start(research()));
    client.post("/api/credentials", json!({"id": "GITHUB_TOKEN"})).created();
    let headers = json!({"Authorization": "Bearer ${GITHUB_TOKEN}", "X-Literal": "s3cret-value"});
    let given = json!({"name": "research", "url": server.url(), "headers": headers});
    let module = client.post("/api/modules", given).created();
    let masked = json!({"Authorization": "***", "X-Literal": "***"});
    assert_eq!(module["headers"], masked);
    client.execute("research.web_search", json!({"query": "x"})).success();
    for asked in server.asked() {
        assert_eq!(asked.header("authorization"), Some("Bearer gh-value-1234"));
        assert_eq!(asked.header("x-literal"), Some("s3cret-value"));
    }
    let log = client.changes();
    assert!(!json!(log).to_string().contains("s3cret"), "{log:?}");
    let refused = client.delete("/api/credentials/GITHUB_TOKEN").refused(409, "CONFLICT");
    assert!(refused.message.contains("the module research"), "{}", refused.message);
    // What was shown can be sent back: masked values stay.
    let shown = client.get("/api/modules/research").ok();
    let mut sent = shown.clone();
    sent["slow"] = json!(true);
    let sent =
        sent.as_object().unwrap().iter().filter(|(name, _)| *name != "name").map(|(k, v)| (k.clone(), v.clone()));
    let after = client.patch("/api/modules/research", Value::Object(sent.collect())).ok();
    assert_eq!((&after["slow"], &after["headers"]), (&json!(true), &masked));
    client.execute("research.web_search", json!({"query": "x"})).success();
    assert_eq!(server.asked().last().unwrap().header("x-literal"), Some("s3cret-value"));
}

#[test]
fn another_origin_gets_no_header_values() {
    let (client, server, other) = (workspace(), ModuleServer::start(research()), ModuleServer::start(research()));
    let headers = json!({"X-Literal": "s3cret-value"});
    client.post("/api/modules", json!({"name": "research", "url": server.url(), "headers": headers})).created();
    let same = client.patch("/api/modules/research", json!({"url": format!("{}/", server.url())})).ok();
    assert_eq!(same["headers"], json!({"X-Literal": "***"}));
    let kept = json!({"url": other.url(), "headers": {"X-Literal": "***"}});
    assert_eq!(
        client.patch("/api/modules/research", kept).refused(400, "VALIDATION_ERROR").paths(),
        ["/headers/X-Literal"]
    );
    let moved = client.patch("/api/modules/research", json!({"url": other.url()})).ok();
    assert_eq!((&moved["headers"], &moved["status"]), (&json!({}), &json!("ok")));
    client.execute("research.web_search", json!({"query": "x"})).success();
    assert!(other.asked().iter().all(|it| it.header("x-literal").is_none()));
    assert!(other.asked().iter().any(|it| it.path() == "/execute"), "the same tools run at the new address");
    let log = client.changes();
    let updates = log.iter().filter(|it| it["subject"] == "module:research" && it["action"] == "update");
    assert_eq!(updates.count(), 1);
}

#[test]
fn modules_are_for_admins() {
    let client = closed_workspace();
    let user = client.token(json!({"name": "u", "level": "user"}));
    user.get("/api/modules").refused(403, "PERMISSION_DENIED");
    user.post("/api/modules", json!({"name": "m", "url": "https://a.example"})).refused(403, "PERMISSION_DENIED");
    user.post("/api/refresh-tools", json!({})).refused(403, "PERMISSION_DENIED");
    let admin = client.token(json!({"name": "a", "level": "admin"}));
    assert_eq!(admin.get("/api/modules").ok(), json!({"modules": [], "next_cursor": null}));
    assert_eq!(admin.post("/api/refresh-tools", json!({})).ok(), json!({"modules": []}));
}
