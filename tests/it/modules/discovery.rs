//! What a discovery finds, and when one happens.

use super::{ids, refresh, register, research};
use crate::harness::{ModuleServer, Reply, Server, race, workspace};
use serde_json::{Value, json};
use std::thread::sleep;
use std::time::Duration;

#[test]
fn a_module_is_discovered_when_it_is_registered() {
    let (client, server) = (workspace(), ModuleServer::start(research()));
    let module = register(&client, "research", &server);
    assert_eq!((&module["status"], &module["tools"], &module["held_back"]), (&json!("ok"), &json!(2), &json!(0)));
    assert_eq!(ids_of(&module), ["research.fetch_webpage", "research.web_search"]);
    assert_eq!((&module["last_error"], &module["warnings"]), (&Value::Null, &json!([])));
    assert!(module["expires_at"].as_str() > module["discovered_at"].as_str());
    let tool = client.get("/api/tools/research.web_search?schemas=object").ok();
    for (field, value) in [
        ("name", json!("web_search")),
        ("version", json!("1.0.0")),
        ("source", json!("module")),
        ("category", json!("research")),
        ("risk_level", json!("low")),
        ("required_permission", json!("guest")),
        ("execution_mode", json!("remote")),
        ("resource_class", json!("control")),
        ("timeout_seconds", json!(30)),
        ("handler", json!({"type": "module", "module": "research"})),
    ] {
        assert_eq!(tool[field], value, "{field}");
    }
    // The schema of the document's own example of the conversion.
    assert_eq!(
        tool["parameters_schema"],
        json!({
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "Search query"},
                "max_results": {"type": "integer", "description": "Max results"},
            },
            "required": ["query"],
        })
    );
    let listed = client.get("/api/tools?source=module").ok();
    assert_eq!(ids(&listed["tools"], "id"), ["research.web_search", "research.fetch_webpage"]);
    assert_eq!(server.times_asked(), 1, "nothing is listed by asking modules");
    let log = client.changes();
    let told = log.iter().map(|it| format!("{} {}", it["action"].as_str().unwrap(), it["subject"].as_str().unwrap()));
    assert_eq!(
        told.collect::<Vec<_>>(),
        [
            "create module:research",
            "register tool:research.web_search@1.0.0",
            "register tool:research.fetch_webpage@1.0.0"
        ]
    );
}

#[test]
fn the_log_has_a_line_for_each_discovery() {
    let (house, server) = (
        Server::start_with_log("modules-log", &[("AUTH", "open"), ("PRIVATE_URLS", "allow")]),
        ModuleServer::start(research()),
    );
    let client = house.client("logged");
    register(&client, "research", &server);
    for (reply, event) in
        [(Reply::With(200, "7".into()), "module_manifest_error"), (Reply::HangUp, "module_unreachable")]
    {
        server.reply(reply);
        refresh(&client, "research");
        // The log comes through two processes.
        for _ in 0..100 {
            if lines_of(&house).iter().any(|it| it["event"] == event) {
                break;
            }
            sleep(Duration::from_millis(100));
        }
    }
    let lines = lines_of(&house);
    assert_eq!(ids(&json!(lines), "event"), ["module_discovered", "module_manifest_error", "module_unreachable"]);
    assert_eq!((&lines[0]["tools"], &lines[0]["added"]), (&json!(2), &json!(2)));
    for line in &lines {
        assert_eq!((&line["workspace"], &line["module"]), (&json!("logged"), &json!("research")), "{line}");
    }
    assert_eq!(lines[1]["error"], "The manifest is not a JSON object with a list `tools`");
    assert!(lines[2]["error"].as_str().unwrap().starts_with("The module could not be reached"), "{}", lines[2]);
}

/// The lines of the log that are JSON.
fn lines_of(server: &Server) -> Vec<Value> {
    let log = server.log();
    log.lines()
        .filter_map(|it| serde_json::from_str(it.get(it.find('{')?..)?.trim_end_matches("\u{1b}[0m")).ok())
        .collect()
}

fn ids_of(module: &Value) -> Vec<&str> {
    module["tool_ids"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect()
}

#[test]
fn a_module_that_is_down_is_registered_all_the_same() {
    let client = workspace();
    let module = client.post("/api/modules", json!({"name": "gone", "url": "http://127.0.0.1:9"})).created();
    assert_eq!((&module["status"], &module["tools"]), (&json!("unreachable"), &json!(0)));
    assert_eq!(module["last_error"], "The module could not be reached");
    let listed = client.get("/api/modules").ok();
    assert_eq!(ids(&listed["modules"], "name"), ["gone"]);
}

#[test]
fn a_module_that_dies_and_comes_back_loses_nothing_and_blocks_nobody() {
    let (client, server, other) =
        (workspace(), ModuleServer::start(research()), ModuleServer::start(json!([{"name": "x"}])));
    register(&client, "research", &server);
    register(&client, "other", &other);
    server.reply(Reply::HangUp);
    other.offer(json!([{"name": "x"}, {"name": "y"}]));
    let found = client.post("/api/refresh-tools", json!({})).ok();
    let status = |index: usize| (found["modules"][index]["name"].clone(), found["modules"][index]["status"].clone());
    assert_eq!(status(0), (json!("other"), json!("ok")));
    assert_eq!(status(1), (json!("research"), json!("unreachable")));
    assert_eq!(found["modules"][0]["held_back"], 1);
    let module = client.get("/api/modules/research").ok();
    assert_eq!((&module["status"], ids_of(&module).len()), (&json!("unreachable"), 2), "its last good tools stay");
    server.offer(research());
    let back = refresh(&client, "research");
    assert_eq!(
        back,
        json!({"name": "research", "status": "ok", "added": 0, "changed": 0, "removed": 0, "held_back": 0, "error": null})
    );
    assert_eq!(super::version(&client, "research.web_search"), "1.0.0");
}

#[test]
fn a_refresh_tells_what_it_did() {
    let (client, server) = (workspace(), ModuleServer::start(research()));
    register(&client, "research", &server);
    server.offer(json!([research()[0]]));
    let found = refresh(&client, "research");
    assert_eq!((&found["removed"], &found["added"]), (&json!(1), &json!(0)));
    let gone = client.get("/api/tools/research.fetch_webpage").ok();
    assert_eq!((&gone["active"], &gone["deactivated_reason"]), (&json!(false), &json!("deprecated")));
    server.offer(research());
    assert_eq!(refresh(&client, "research")["added"], 1);
    let back = client.get("/api/tools/research.fetch_webpage").ok();
    assert_eq!((&back["active"], &back["version"]), (&json!(true), &json!("1.0.0")));
    let unknown = client.post("/api/refresh-tools", json!({"modules": ["research", "reserch"]}));
    let unknown = unknown.refused(400, "VALIDATION_ERROR");
    assert_eq!(unknown.paths(), ["/modules/1"]);
}

#[test]
fn an_unchanged_module_costs_two_rows() {
    let (client, server) = (workspace(), ModuleServer::start(research()));
    register(&client, "research", &server);
    let answer = client.post("/api/refresh-tools", json!({"modules": ["research"]}));
    answer.ok();
    assert!(answer.cost("round_trips") <= 2, "{:?}", answer.header("x-d1-cost"));
    // One row and its entries in the indexes, when the lease is taken and when it ends.
    assert!(answer.cost("rows_written") <= 12, "{:?}", answer.header("x-d1-cost"));
}

#[test]
fn racing_refreshes_ask_the_module_once() {
    let (client, server) = (workspace(), ModuleServer::start(json!([])));
    register(&client, "research", &server);
    let manifest = json!({"tools": research()}).to_string();
    server.reply(Reply::Late(Duration::from_millis(1_500), manifest));
    client.patch("/api/modules/research", json!({"auto_accept": true, "slow": false})).ok();
    let before = server.times_asked();
    server.offer(json!([]));
    refresh(&client, "research");
    server.reply(Reply::Late(Duration::from_millis(1_500), json!({"tools": research()}).to_string()));
    let asked = server.times_asked();
    assert!(asked > before);
    let found = race(4, |_| refresh(&client, "research"));
    assert_eq!(server.times_asked(), asked + 1, "one of them did the work");
    let added = found.iter().map(|it| it["added"].as_u64().unwrap()).sum::<u64>();
    assert_eq!(added, 2, "{found:?}");
    assert!(found.iter().all(|it| it["status"] == "ok"), "{found:?}");
    let log = client.changes();
    let registered = log.iter().filter(|it| it["subject"] == "tool:research.web_search@1.0.0");
    assert_eq!(registered.filter(|it| it["action"] == "register").count(), 1);
}

#[test]
fn many_modules_are_discovered_in_few_round_trips() {
    let client = workspace();
    let servers = (0..12).map(|_| ModuleServer::start(json!([]))).collect::<Vec<_>>();
    for (index, server) in servers.iter().enumerate() {
        client
            .post("/api/modules", json!({"name": format!("m{index}"), "url": server.url(), "auto_accept": true}))
            .created();
        server.offer((0..20).map(|it| json!({"name": format!("tool_{it}"), "description": "A tool"})).collect());
    }
    let answer = client.post("/api/refresh-tools", json!({}));
    let found = answer.ok();
    assert_eq!(found["modules"].as_array().unwrap().iter().map(|it| it["added"].as_u64().unwrap()).sum::<u64>(), 240);
    assert!(answer.cost("round_trips") <= 10, "{:?}", answer.header("x-d1-cost"));
}

#[test]
fn the_cron_trigger_asks_modules_that_are_due() {
    let server = Server::start("modules-cron", &[("AUTH", "open"), ("PRIVATE_URLS", "allow"), ("SECRET_KEY", "k")]);
    let (client, module) = (server.client("acme"), ModuleServer::start(research()));
    let (other, other_module) = (server.client("other"), ModuleServer::start(research()));
    register(&client, "research", &module);
    register(&other, "research", &other_module);
    module.reply(Reply::HangUp);
    refresh(&client, "research");
    module.offer(research());
    server.ask(json!({"scheduled": "*/5 * * * *"}));
    assert_eq!(client.get("/api/modules/research").ok()["status"], "unreachable", "it is not due yet");
    server
        .ask(json!({"batch": [{"sql": "UPDATE upstreams SET expires_at = '2026-01-01T00:00:00.000Z'", "params": []}]}));
    let asked = (module.times_asked(), other_module.times_asked());
    server.ask(json!({"scheduled": "*/5 * * * *"}));
    assert_eq!(client.get("/api/modules/research").ok()["status"], "ok");
    assert_eq!((module.times_asked(), other_module.times_asked()), (asked.0 + 1, asked.1 + 1));
    let expires = other.get("/api/modules/research").ok()["expires_at"].clone();
    assert!(expires.as_str() > Some("2026-11"), "{expires}");
}

#[test]
fn the_first_use_after_an_hour_refreshes_in_the_background() {
    let server = Server::start("modules-stale", &[("AUTH", "open"), ("PRIVATE_URLS", "allow"), ("SECRET_KEY", "k")]);
    let (client, module) = (server.client("acme"), ModuleServer::start(research()));
    register(&client, "research", &module);
    let expire = || {
        server.ask(
            json!({"batch": [{"sql": "UPDATE upstreams SET expires_at = '2026-01-01T00:00:00.000Z'", "params": []}]}),
        )
    };
    expire();
    module.offer(json!([{"name": "web_search", "description": "Another text"}]));
    let asked = module.times_asked();
    client.execute("research.fetch_webpage", json!({})).success();
    for _ in 0..100 {
        if client.get("/api/modules/research").ok()["held_back"] == 1 {
            break;
        }
        sleep(Duration::from_millis(50));
    }
    assert_eq!(client.get("/api/modules/research").ok()["held_back"], 1);
    assert_eq!(module.times_asked(), asked + 1);
    client.execute("research.fetch_webpage", json!({})).failed(409, "TOOL_DISABLED");
    client.execute("research.web_search", json!({"query": "x"})).success();
    assert_eq!(module.times_asked(), asked + 1, "it is fresh now");
}

#[test]
fn a_toolbox_has_modules_discovered_that_are_due() {
    let server = Server::start("modules-toolbox", &[("AUTH", "open"), ("PRIVATE_URLS", "allow"), ("SECRET_KEY", "k")]);
    let (client, module) = (server.client("acme"), ModuleServer::start(research()));
    module.reply(Reply::HangUp);
    register(&client, "research", &module);
    module.offer(research());
    let agent = client.agent(json!({"default_tools": false, "allowed_modules": ["research"]}));
    let toolbox = || ids(&client.get(&format!("/api/agents/{agent}/toolbox")).ok()["tools"], "id");
    assert!(toolbox().is_empty());
    assert_eq!(module.times_asked(), 1, "it is not due yet");
    let expired = "UPDATE upstreams SET expires_at = '2026-01-01T00:00:00.000Z'";
    server.ask(json!({"batch": [{"sql": expired, "params": []}]}));
    for _ in 0..100 {
        if !toolbox().is_empty() {
            break;
        }
        sleep(Duration::from_millis(50));
    }
    assert_eq!(toolbox(), ["research.web_search", "research.fetch_webpage"]);
    assert_eq!(module.times_asked(), 2);
}

#[test]
fn a_manifest_lies_in_the_cache() {
    let (client, server) = (workspace(), ModuleServer::start(research()));
    register(&client, "research", &server);
    let asked = server.times_asked();
    let module = client.patch("/api/modules/research", json!({"slow": true})).ok();
    assert_eq!((&module["slow"], &module["status"]), (&json!(true), &json!("ok")));
    assert_eq!(server.times_asked(), asked, "the cache has the manifest, and the address is the same");
    let tool = client.get("/api/tools/research.web_search").ok();
    assert_eq!((&tool["timeout_seconds"], &tool["version"]), (&json!(120), &json!("1.0.1")));
}
