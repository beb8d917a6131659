//! Servers that answer badly, and manifests that are wrong. Nothing of one tool spoils another, and nothing of one module
//! another.

use super::{refresh, register, research};
use crate::harness::{ModuleServer, Reply, workspace};
use serde_json::{Value, json};
use std::time::Duration;

#[test]
fn an_answer_that_is_no_manifest_is_told() {
    let (client, server) = (workspace(), ModuleServer::start(research()));
    register(&client, "research", &server);
    let no_manifest = "The manifest is not a JSON object with a list `tools`";
    let many =
        json!({"tools": (0..10_000).map(|it| json!({"name": format!("t{it}")})).collect::<Vec<_>>()}).to_string();
    let large = format!(r#"{{"tools": [], "x": "{}"}}"#, "x".repeat(10 * 1024 * 1024));
    for (reply, status, error) in [
        (Reply::With(200, "<html>".into()), "invalid", no_manifest),
        (Reply::With(200, "7".into()), "invalid", no_manifest),
        (Reply::With(200, String::new()), "invalid", no_manifest),
        (Reply::With(200, "[".repeat(1_000) + &"]".repeat(1_000)), "invalid", no_manifest),
        (Reply::With(500, "it broke".into()), "invalid", "The answer has the status 500"),
        (Reply::With(302, String::new()), "invalid", "The answer has the status 302, and redirects are not followed"),
        (Reply::With(200, many), "invalid", "The manifest has 10000 tools; 1000 are allowed"),
        (Reply::With(200, large), "invalid", "The answer has more than 1048576 bytes"),
        (Reply::HangUp, "unreachable", "The module could not be reached"),
        (Reply::Half(r#"{"tools": []}"#.into()), "unreachable", "The module broke off its answer"),
        (Reply::Silence(Duration::from_secs(12)), "unreachable", "The module did not answer within 10 seconds"),
    ] {
        server.reply(reply);
        let found = refresh(&client, "research");
        assert_eq!(found["status"], status, "{found}");
        let told = found["error"].as_str().unwrap();
        assert!(told.starts_with(error), "{told}");
        let module = client.get("/api/modules/research").ok();
        assert_eq!((&module["tools"], &module["last_error"]), (&json!(2), &found["error"]), "{error}");
    }
    server.offer(research());
    assert_eq!(refresh(&client, "research")["status"], "ok");
}

#[test]
fn one_bad_tool_is_left_out_with_a_warning() {
    let client = workspace();
    let cyclic = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}},
        "$defs": {"a": {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}}}});
    let deep = (0..200).fold(json!({}), |inner, _| json!({"properties": {"a": inner}}));
    let server = ModuleServer::start(json!([
        {"name": "good", "description": "It works"},
        {"name": "cyclic", "parameters": cyclic},
        {"name": "good", "description": "The same name"},
        {"name": "other.tool", "description": "Of another module"},
        {"name": "typed", "parameters": [{"name": "a", "type": "str"}]},
        {"name": "level", "required_permission": "root"},
        {"name": "deep", "parameters": deep},
        {"name": "remote", "parameters": {"$ref": "https://example.com/schema.json"}},
        {"name": "hidden", "description": "Reads\u{e0041}\u{e0042} mail"},
        {"name": "long", "description": "x".repeat(8_193)},
        {"name": "a b"},
        7,
    ]));
    let module = register(&client, "m", &server);
    assert_eq!(module["tool_ids"], json!(["m.cyclic", "m.good"]), "{module}");
    let warnings = module["warnings"].as_array().unwrap();
    let warned = warnings.iter().map(|it| it["tool"].as_str().unwrap()).collect::<Vec<_>>();
    for name in ["good", "other.tool", "typed", "level", "deep", "m.remote", "hidden", "m.long", "a b", "tools/11"] {
        assert!(warned.contains(&name), "{name} in {warnings:?}");
    }
    assert_eq!(warned.len(), 10);
    client.execute("m.cyclic", json!({"a": {"a": {}}})).success();
}

#[test]
fn a_tool_that_becomes_bad_upstream_stays_as_it_was_accepted() {
    let (client, server) = (workspace(), ModuleServer::start(research()));
    register(&client, "research", &server);
    let mut tools = research();
    tools[0]["risk_level"] = json!("huge");
    tools[1]["parameters"] = json!({"type": "objekt"});
    server.offer(tools);
    let found = refresh(&client, "research");
    assert_eq!((&found["removed"], &found["held_back"]), (&json!(0), &json!(0)));
    assert_eq!(client.get("/api/modules/research").ok()["warnings"].as_array().map(Vec::len), Some(2));
    client.execute("research.web_search", json!({"query": "x"})).success();
}

#[test]
fn a_module_that_never_answers_holds_up_no_other() {
    let client = workspace();
    let silent = ModuleServer::start(json!([]));
    silent.reply(Reply::Silence(Duration::from_secs(12)));
    let good = (0..6).map(|_| ModuleServer::start(research())).collect::<Vec<_>>();
    for (index, server) in good.iter().enumerate() {
        client
            .post("/api/modules", json!({"name": format!("good{index}"), "url": server.url(), "enabled": false}))
            .created();
        client.patch(&format!("/api/modules/good{index}"), json!({"enabled": true})).ok();
    }
    let module: Value = client.post("/api/modules", json!({"name": "a_silent", "url": silent.url()})).created();
    assert_eq!(module["status"], "unreachable");
    let found = client.post("/api/refresh-tools", json!({})).ok();
    let statuses = found["modules"].as_array().unwrap().iter().map(|it| it["status"].clone()).collect::<Vec<_>>();
    assert_eq!(statuses.iter().filter(|it| **it == "ok").count(), 6, "{found}");
}
