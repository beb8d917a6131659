//! Agents that search for their tools instead of being shown all of them.

use super::{BOTH, LEGACY, MODERN, Mcp};
use crate::harness::{Tool, closed_workspace, open, workspace};
use serde_json::{Value, json};

fn found(mcp: &Mcp, arguments: Value) -> Vec<String> {
    let result = mcp.call("find_tools", arguments);
    let tools = result["structuredContent"]["tools"].as_array().unwrap_or_else(|| panic!("{result}")).clone();
    tools.iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn an_agent_that_asks_for_it_finds_its_tools() {
    let client = workspace();
    client.register("thermometer", "1.0.0", json!({"description": "Measures how warm it is outside"}));
    client.register("barometer", "1.0.0", json!({"description": "Measures the pressure of the air outside"}));
    client.register("elsewhere", "1.0.0", json!({"description": "Measures what is not the agent's to measure"}));
    let agent = client.agent(json!({"find_tools": true}));
    for tool in ["thermometer", "barometer", "list_files", "write_file"] {
        client.post(&format!("/api/agents/{agent}/tools"), json!({"tool_id": tool})).created();
    }
    for revision in BOTH {
        let mcp = Mcp::of_agent(&client, &agent, revision);
        assert_eq!(mcp.names(), ["find_tools", "call_tool"]);
        assert_eq!(found(&mcp, json!({"query": "warm"})), ["thermometer"]);
        // Not all words need to match, and the best match is first.
        assert_eq!(found(&mcp, json!({"query": "warm outside"}))[0], "thermometer");
        assert_eq!(found(&mcp, json!({"query": "how warm is Oslo in November?"}))[0], "thermometer");
        assert_eq!(found(&mcp, json!({"query": "measures", "limit": 1})).len(), 1);
        assert_eq!(found(&mcp, json!({"query": "measures", "limit": null})).len(), 2, "null is as good as nothing");
        assert_eq!(found(&mcp, json!({"query": "measures"})).len(), 2, "what is not attached is not found");
        assert_eq!(found(&mcp, json!({"query": "zebra"})), Vec::<String>::new());
        for wrong in
            [json!({}), json!({"query": " "}), json!({"query": "x", "limit": 0}), json!({"query": "x", "limit": 51})]
        {
            assert!(mcp.told("find_tools", wrong).1);
        }
        let called = json!({"name": "list_files", "arguments": {"path": "/"}});
        assert_eq!(mcp.told("call_tool", called), ("Contents of /:".into(), false));
        assert_eq!(mcp.told("list_files", json!({})), ("Contents of /:".into(), false), "by its own name too");
        assert!(
            mcp.told("call_tool", json!({"name": "elsewhere", "arguments": {"text": "x"}}))
                .0
                .starts_with("NOT_ATTACHED")
        );
        assert_eq!(
            mcp.fault(200, "tools/call", json!({"name": "call_tool", "arguments": {"name": "none"}}))["code"],
            -32602
        );
        assert!(mcp.told("call_tool", json!({"name": "list_files", "arguments": "{}"})).1);
    }
}

#[test]
fn a_bound_token_finds_its_tools_at_every_endpoint() {
    let owner = closed_workspace();
    let agent = owner.agent(json!({"find_tools": true}));
    let bound = owner.token(json!({"name": "b", "level": "user", "agent_id": agent}));
    for revision in BOTH {
        let shared = Mcp { path: "/mcp".into(), client: bound.clone(), ..Mcp::new(&bound, revision) };
        for mcp in [Mcp::of_agent(&bound, &agent, revision), Mcp::new(&bound, revision), shared] {
            assert_eq!(mcp.names(), ["find_tools", "call_tool"], "{}", mcp.path);
            assert_eq!(found(&mcp, json!({"query": "list files"}))[0], "list_files");
            let called = json!({"name": "list_files", "arguments": {"path": "/"}});
            assert_eq!(mcp.told("call_tool", called), ("Contents of /:".into(), false));
        }
        // Other agents have no such tools there.
        let fault = Mcp::new(&owner, revision).fault(200, "tools/call", json!({"name": "find_tools"}));
        assert_eq!(fault["data"]["code"], "UNKNOWN_TOOL");
    }
}

#[test]
fn others_are_shown_what_they_have() {
    let client = workspace();
    let agent = client.agent(json!({}));
    for revision in BOTH {
        let mcp = Mcp::of_agent(&client, &agent, revision);
        assert_eq!(mcp.names(), ["execute_python", "read_file", "write_file", "list_files"]);
        for name in ["find_tools", "call_tool"] {
            let fault = mcp.fault(200, "tools/call", json!({"name": name, "arguments": {"query": "x"}}));
            assert_eq!(fault["data"]["code"], "UNKNOWN_TOOL");
        }
    }
    client.patch(&format!("/api/agents/{agent}"), json!({"find_tools": true})).ok();
    assert_eq!(Mcp::of_agent(&client, &agent, LEGACY).names(), ["find_tools", "call_tool"]);
}

#[test]
fn a_call_that_was_wrapped_can_wait_too() {
    let client = workspace();
    Tool::new("writer").builtin("write_file").with(json!({"requires_approval": 1})).put(open(), &client);
    let agent = client.agent(json!({"find_tools": true}));
    client.post(&format!("/api/agents/{agent}/tools"), json!({"tool_id": "writer"})).created();
    let mcp = Mcp::of_agent(&client, &agent, MODERN).with_forms();
    let mut params =
        json!({"name": "call_tool", "arguments": {"name": "writer", "arguments": {"path": "/a", "content": "x"}}});
    let first = mcp.result("tools/call", params.clone());
    assert_eq!(first["resultType"], "input_required");
    let id = client.get("/api/approvals").ok()["approvals"][0]["id"].as_str().unwrap().to_owned();
    client.post(&format!("/api/approvals/{id}/approve"), json!({})).ok();
    params["requestState"] = first["requestState"].clone();
    assert_eq!(mcp.result("tools/call", params)["content"][0]["text"], "Wrote 1 bytes to /a");
}
