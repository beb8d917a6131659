//! What a response may hold is bounded by bytes, because an isolate has 128 MB.

use crate::harness::{Client, Server, Tool, open, workspace};
use serde_json::{Value, json};

const MAX_PAGE_BYTES: usize = 4_100_000;

/// Tools of 170 KB each, 10 MB together.
fn large_tools(client: &Client) -> Vec<String> {
    let ids = (0..60).map(|it| format!("large-{it:02}")).collect::<Vec<_>>();
    for some in ids.chunks(10) {
        let tools = some.iter().map(|id| large(id, "1.0.0"));
        Tool::put_all(tools, open(), client);
    }
    ids
}

fn large(id: &str, version: &str) -> Tool {
    let numbers = version.split('.').map(|it| it.parse::<u32>().unwrap()).collect::<Vec<_>>();
    let example = json!([{"description": "e".repeat(60_000), "params": {}, "expected_output": null}]);
    Tool::new(id).with(json!({
        "major": numbers[0], "minor": numbers[1], "patch": numbers[2],
        "parameters_schema": json!({"type": "object", "description": "d".repeat(60_000)}).to_string(),
        "returns_schema": json!({"type": "object", "description": "r".repeat(50_000)}).to_string(),
        "examples": example,
    }))
}

/// Reads all pages, and checks that none is too large and that there are several.
#[track_caller]
fn pages(client: &Client, path: &str, plural: &str) -> Vec<Value> {
    let (mut items, mut cursor, mut count) = (Vec::new(), String::new(), 0);
    loop {
        let joint = if path.contains('?') { '&' } else { '?' };
        let answer = client.get(&format!("{path}{joint}limit=200{cursor}"));
        assert!(answer.text.len() <= MAX_PAGE_BYTES, "{path} answered {} bytes", answer.text.len());
        let page = answer.ok();
        count += 1;
        items.extend(page[plural].as_array().unwrap().iter().cloned());
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert!(count > 1, "{path} has one page");
    items
}

fn ids(tools: &[Value]) -> Vec<&str> {
    tools.iter().filter_map(|it| it["id"].as_str()).filter(|it| it.starts_with("large")).collect()
}

#[test]
fn lists_of_large_tools_go_on() {
    let client = workspace();
    let large = large_tools(&client);
    assert_eq!(ids(&pages(&client, "/api/tools", "tools")), large, "every tool once, in order");
    assert_eq!(ids(&pages(&client, "/api/tools?source=registered", "tools")), large);
    let mut found = pages(&client, "/api/tools?q=large*", "tools");
    found.sort_by_key(|it| it["id"].as_str().unwrap().to_owned());
    assert_eq!(ids(&found), large);
    assert!(pages(&client, "/api/tools?format=anthropic", "tools").len() >= large.len());
    assert_eq!(client.get("/api/tools?limit=3").ok()["tools"].as_array().unwrap().len(), 3);
}

#[test]
fn toolboxes_of_large_tools_go_on() {
    let client = workspace();
    let large = large_tools(&client);
    let agent = client.agent(json!({}));
    for id in &large {
        client.post(&format!("/api/agents/{agent}/tools"), json!({ "tool_id": id })).created();
    }
    assert_eq!(ids(&pages(&client, &format!("/api/agents/{agent}/tools"), "tools")), large);
    let toolbox = format!("/api/agents/{agent}/toolbox");
    assert_eq!(ids(&pages(&client, &toolbox, "tools")), large);
    assert_eq!(pages(&client, &format!("{toolbox}?format=openai"), "tools").len(), large.len());
    let mut found = pages(&client, &format!("{toolbox}?q=large*+tool"), "tools");
    found.sort_by_key(|it| it["id"].as_str().unwrap().to_owned());
    assert_eq!(ids(&found), large);
    let whole = client.get(&toolbox);
    assert!(whole.text.len() <= MAX_PAGE_BYTES && whole.ok()["next_cursor"].is_string());
    let first = client.get(&format!("{toolbox}?limit=2")).ok();
    let next = first["next_cursor"].as_str().unwrap();
    let second = client.get(&format!("{toolbox}?limit=2&cursor={next}")).ok();
    assert_eq!(ids(second["tools"].as_array().unwrap()), large[2..4]);
    client.get(&format!("{toolbox}?cursor=7a7a")).refused(400, "VALIDATION_ERROR");
}

#[test]
fn pages_of_large_versions_go_on() {
    let client = workspace();
    for some in (0..50_u32).collect::<Vec<_>>().chunks(10) {
        let versions = some.iter().map(|it| {
            let version = large("large", &format!("1.{it}.0"));
            if *it < 49 { version.inactive("operator_request") } else { version }
        });
        Tool::put_all(versions, open(), &client);
    }
    let versions = pages(&client, "/api/tools/large/versions", "versions");
    let versions = versions.iter().map(|it| it["version"].as_str().unwrap()).collect::<Vec<_>>();
    assert_eq!(versions, (0..50).rev().map(|it| format!("1.{it}.0")).collect::<Vec<_>>());
}

#[test]
fn mcp_lists_of_large_tools_go_on() {
    let client = workspace();
    let large = large_tools(&client);
    let (mut found, mut cursor, mut count) = (0, Value::Null, 0);
    loop {
        let params = if cursor.is_null() { json!({}) } else { json!({ "cursor": cursor }) };
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params});
        let path = format!("/w/{}/mcp", client.workspace());
        let caller =
            client.without_header("X-Workspace-Id").with_header("Accept", "application/json, text/event-stream");
        let answer = caller.with_header("MCP-Protocol-Version", "2025-11-25").post(&path, body);
        assert!(answer.text.len() <= MAX_PAGE_BYTES, "{}", answer.text.len());
        let result = answer.ok()["result"].clone();
        let names = result["tools"].as_array().unwrap_or_else(|| panic!("{}", answer.text));
        found += names.iter().filter(|it| it["name"].as_str().unwrap().starts_with("large")).count();
        count += 1;
        cursor = result["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(found, large.len());
    assert!(count > 1);
}

/// The WebAssembly memory never shrinks, so its size after the message is the most that the message needed. Without a bound,
/// V8 lets the heap of JavaScript grow to hundreds of megabytes before it collects garbage. With the bound, V8 collects in
/// time, and would crash if the message held on to more. An isolate on Cloudflare has 128 MB for both.
#[test]
fn a_message_that_reads_32_large_files_takes_less_than_100_mb() {
    const HEAP_MEGABYTES: u32 = 40;
    let vars = [("AUTH", "open"), ("COST_HEADER", "on"), ("SECRET_KEY", "a secret of the tests")];
    let server = Server::start_with_heap("memory", &vars, HEAP_MEGABYTES);
    let client = server.client("ws_memory");
    const BYTES: usize = 10 * 1024 * 1024;
    for index in 0..32 {
        let line = format!("{index:02} the quick brown fox jumps over the lazy dog\n");
        let mut content = line.repeat(BYTES / line.len() + 1);
        content.truncate(BYTES);
        let answer = client.put(&format!("/api/sessions/s/files/f{index}.txt"), content);
        assert!(answer.status < 300, "{}", answer.text);
    }
    let agent = client.agent(json!({}));
    server.restart();
    let begun = server.peak_bytes();
    let wasm = |answer: &crate::harness::Answer| answer.header("x-wasm-bytes").unwrap().parse::<usize>().unwrap();
    let fresh = wasm(&client.get("/healthz"));
    let calls = (0..32)
        .map(|index| {
            let arguments = json!({"path": format!("/f{index}.txt")}).to_string();
            json!({"id": format!("c{index}"), "type": "function", "function": {"name": "read_file", "arguments": arguments}})
        })
        .collect::<Vec<_>>();
    let answer = client.post(&format!("/api/agents/{agent}/tool-calls?session_id=s"), json!(calls));
    let peak = wasm(&answer);
    println!("WebAssembly: {fresh} bytes when fresh, {peak} at the peak; workerd: {begun} to {}", server.peak_bytes());
    assert!(answer.text.len() < 5_000_000, "{}", answer.text.len());
    let body = answer.ok();
    let messages = body["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 32);
    for (index, call) in body["calls"].as_array().unwrap().iter().enumerate() {
        assert_eq!(call["status"], "success", "{call}");
        let content = messages[index]["content"].as_str().unwrap();
        assert!(content.starts_with(&format!("{index:02} the quick")), "{}", &content[..60]);
        let notice = format!(
            "of {BYTES} bytes; the whole is at GET /api/tool-calls/{}/result]",
            call["call_id"].as_str().unwrap()
        );
        assert!(content.ends_with(&notice), "{}", &content[content.len() - 120..]);
    }
    assert!(peak < 100_000_000, "{peak}");
    // The record has the whole result.
    let id = body["calls"][31]["call_id"].as_str().unwrap();
    let whole = client.get(&format!("/api/tool-calls/{id}/result"));
    assert!(whole.bytes.len() > BYTES, "{}", whole.bytes.len());
}

#[test]
fn results_that_fit_together_are_whole() {
    let client = workspace();
    client.put("/api/sessions/s/files/a.txt", "a".repeat(1_500_000)).created();
    client.put("/api/sessions/s/files/b.txt", "b".repeat(1_500_000)).created();
    let agent = client.agent(json!({}));
    let call = |id: &str, path: &str| json!({"id": id, "type": "function", "function": {"name": "read_file", "arguments": json!({ "path": path }).to_string()}});
    let calls = json!([call("1", "/a.txt"), call("2", "/b.txt"), call("3", "/nowhere")]);
    let body = client.post(&format!("/api/agents/{agent}/tool-calls?session_id=s"), calls).ok();
    for index in 0..2 {
        assert_eq!(body["messages"][index]["content"].as_str().unwrap().len(), 1_500_000);
    }
    assert_eq!(body["calls"][2]["status"], "error");
}
