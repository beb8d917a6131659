//! Calls of module tools: what the module gets, and every text of an error.

use super::{register, research};
use crate::harness::{ModuleServer, workspace};
use serde_json::{Value, json};

fn tools(names: &[&str]) -> Value {
    names.iter().map(|name| json!({"name": name, "description": "A tool", "timeout_seconds": 2})).collect()
}

#[test]
fn the_module_gets_the_call_and_nothing_of_the_caller() {
    let (client, server) = (workspace(), ModuleServer::start(research()));
    register(&client, "research", &server);
    let client = client.with_header("X-Secret-Of-Caller", "s3cret");
    let result = client.execute("research.web_search", json!({"query": "gas"})).success();
    assert_eq!(result, json!({"got": {"query": "gas"}}));
    client.call(json!({"tool_name": "research.web_search", "arguments": {"query": "x"}, "user_id": "ada"})).result(200);
    let calls = server.asked().into_iter().filter(|it| it.method == "POST").collect::<Vec<_>>();
    assert_eq!(calls[0].body, json!({"tool_name": "research.web_search", "arguments": {"query": "gas"}}));
    assert_eq!(calls[1].body["user_id"], "ada");
    assert_eq!(calls[0].path(), "/execute");
    assert!(calls[0].header("x-secret-of-caller").is_none() && calls[0].header("x-workspace-id").is_none());
    client.execute("research.web_search", json!({})).failed(400, "INVALID_ARGUMENTS");
    assert_eq!(server.asked().iter().filter(|it| it.method == "POST").count(), 2, "a wrong call does not leave");
}

#[test]
fn every_failure_has_the_words_of_the_contract() {
    let client = workspace();
    let names = ["fail", "crash", "number", "hang_up", "half", "slow", "redirect"];
    let server = ModuleServer::start(tools(&names));
    register(&client, "m", &server);
    for (tool, status, code, message) in [
        ("fail", 200, "TOOL_ERROR", "No such page"),
        ("crash", 200, "TOOL_ERROR", "Module returned status 500: Internal Server Error"),
        ("redirect", 200, "TOOL_ERROR", "Module returned status 302: "),
        ("slow", 200, "TIMEOUT", "Tool execution timed out (2s)."),
        ("hang_up", 200, "UNREACHABLE", "Tool execution error: the module could not be reached"),
        ("half", 200, "UNREACHABLE", "Tool execution error: the module broke off its answer"),
    ] {
        let failed = client.execute(&format!("m.{tool}"), json!({})).failed(status, code);
        assert_eq!(failed["error"]["message"], message, "{tool}");
        let record = client.record(&failed);
        assert_eq!(record["error"]["message"], message, "the record of {tool}");
    }
    let failed = client.execute("m.number", json!({})).failed(200, "TOOL_ERROR");
    let message = failed["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("Tool execution error: the module's answer cannot be read"), "{message}");
}

#[test]
fn a_failure_of_megabytes_is_recorded_and_its_secrets_are_not() {
    let client = workspace();
    let token = json!({"type": "object", "properties": {"token": {"type": "string", "writeOnly": true}, "text": {}}});
    let mut tools = tools(&["verbose", "long_winded"]);
    tools[0]["returns_schema"] = token;
    let server = ModuleServer::start(tools);
    register(&client, "m", &server);
    let failed = client.execute("m.verbose", json!({})).failed(200, "TOOL_ERROR");
    assert_eq!(failed["error"]["details"]["token"], "s3cret-token", "the caller gets what the tool says");
    let record = client.record(&failed);
    assert_eq!(record["status"], "error", "{record:.300}");
    let error = &record["error"];
    assert_eq!(error["message"], "The token [redacted] is stale");
    let details = error["details"].as_str().unwrap();
    assert!(details.len() < 70_000 && details.contains("[cut: 65536 of 3000"), "{}", details.len());
    assert!(!record.to_string().contains("s3cret-token"));
    let failed = client.execute("m.long_winded", json!({})).failed(200, "TOOL_ERROR");
    let record = client.record(&failed);
    let message = record["error"]["message"].as_str().unwrap();
    assert!(message.len() < 70_000 && message.ends_with("[cut: 65536 of 3000000 bytes]"), "{}", message.len());
}

#[test]
fn calls_of_a_slow_module_have_two_minutes_and_are_recorded() {
    let (client, server) = (workspace(), ModuleServer::start(research()));
    client.post("/api/modules", json!({"name": "research", "url": server.url(), "slow": true})).created();
    assert_eq!(client.get("/api/tools/research.web_search").ok()["timeout_seconds"], 120);
    // Such a call is run by a Durable Object that owns it.
    let result = client.execute("research.web_search", json!({"query": "gas"})).result(200);
    assert_eq!(result["result"], json!({"got": {"query": "gas"}}));
    assert_eq!(client.record(&result)["status"], "success");
}

#[test]
fn a_module_that_is_down_is_unreachable() {
    let (client, server) = (workspace(), ModuleServer::start(research()));
    register(&client, "research", &server);
    client.patch("/api/modules/research", json!({"url": "http://127.0.0.1:9"})).ok();
    let failed = client.execute("research.web_search", json!({"query": "x"})).failed(200, "UNREACHABLE");
    assert_eq!(failed["error"]["message"], "Tool execution error: the module could not be reached");
}

#[test]
fn tools_of_a_disabled_module_stay_and_cannot_be_called() {
    let (client, server) = (workspace(), ModuleServer::start(research()));
    register(&client, "research", &server);
    client.patch("/api/modules/research", json!({"enabled": false})).ok();
    assert_eq!(client.get("/api/tools/research.web_search").ok()["active"], true);
    client.execute("research.web_search", json!({"query": "x"})).failed(409, "TOOL_DISABLED");
    let found = client.post("/api/refresh-tools", json!({})).ok();
    assert_eq!(found["modules"][0]["error"], "The module is disabled");
    client.patch("/api/modules/research", json!({"enabled": true})).ok();
    client.execute("research.web_search", json!({"query": "x"})).success();
}

#[test]
fn module_tools_are_exported_and_called_by_their_exported_names() {
    let (client, server) = (workspace(), ModuleServer::start(research()));
    register(&client, "research", &server);
    for format in ["openai", "openai_responses", "anthropic", "gemini", "mcp", "langchain", "text"] {
        let answer = client.get(&format!("/api/tools?source=module&format={format}"));
        assert_eq!(answer.status, 200, "{format}: {}", answer.text);
        assert!(answer.text.contains("web_search"), "{format}: {}", answer.text);
    }
    let exported = client.get("/api/tools?source=module&format=openai").ok();
    let name = exported["tools"][0]["function"]["name"].as_str().unwrap().to_owned();
    client.execute(&name, json!({"query": "x"})).success();
}

#[test]
fn a_schema_of_another_draft_is_read_as_2020_12() {
    let client = workspace();
    let schema = json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
        "properties": {"n": {"type": "integer", "maximum": 3}}});
    let tools = json!([{"name": "x", "description": "", "parameters": schema, "returns_schema": schema}]);
    let server = ModuleServer::start(tools);
    let module = register(&client, "m", &server);
    assert_eq!((&module["tools"], &module["warnings"]), (&json!(1), &json!([])));
    let tool = client.get("/api/tools/m.x?schemas=object").ok();
    assert_eq!(tool["parameters_schema"], schema, "it is kept as it came");
    client.execute("m.x", json!({"n": 4})).failed(400, "INVALID_ARGUMENTS");
    client.execute("m.x", json!({"n": 3})).success();
    let exported = client.get("/api/tools?source=module&format=mcp").text;
    assert!(!exported.contains("draft-07"), "{exported}");
}
