//! Listing and calling tools.

use super::{BOTH, LEGACY, MODERN, Mcp};
use crate::harness::{Answer, Tool, Upstream, closed, closed_workspace, open, workspace};
use serde_json::{Value, json};

#[test]
fn a_list_has_all_that_can_be_called() {
    let client = workspace();
    client.register("mine", "1.0.0", json!({"risk_level": "safe", "returns_schema": {"type": "object"}}));
    client.register("gone", "1.0.0", json!({}));
    client.post("/api/tools/gone/deactivate", json!({"reason": "deprecated"})).ok();
    for revision in BOTH {
        let page = Mcp::new(&client, revision).result("tools/list", json!({}));
        let tools = page["tools"].as_array().unwrap();
        let names = tools.iter().map(|it| it["name"].as_str().unwrap()).collect::<Vec<_>>();
        assert_eq!(
            names,
            ["execute_python", "read_file", "write_file", "list_files", "email_search", "email_get", "mine"]
        );
        let mine = &tools[6];
        assert_eq!(mine["inputSchema"]["required"], json!(["text"]));
        assert_eq!(mine["outputSchema"], json!({"type": "object"}));
        assert_eq!(mine["annotations"]["readOnlyHint"], true);
        if revision == MODERN {
            assert_eq!((&page["ttlMs"], &page["cacheScope"]), (&json!(60_000), &json!("private")));
        } else {
            assert!(page.get("ttlMs").is_none() && page.get("resultType").is_none(), "{page}");
        }
    }
}

#[test]
fn a_long_list_comes_in_pages() {
    let client = workspace();
    Tool::put_all((0..250).map(|it| Tool::new(&format!("tool_{it:03}"))), open(), &client);
    for revision in BOTH {
        let mcp = Mcp::new(&client, revision);
        let first = mcp.result("tools/list", json!({}));
        assert_eq!(first["tools"].as_array().unwrap().len(), 200);
        let names = mcp.names();
        assert_eq!(names.len(), 256);
        assert_eq!(names.last().unwrap(), "tool_249");
        for cursor in [json!("x"), json!("7a7a"), json!(7)] {
            assert_eq!(mcp.fault(200, "tools/list", json!({"cursor": cursor}))["code"], -32602);
        }
    }
}

#[test]
fn an_agent_is_shown_its_toolbox_and_calls_as_itself() {
    let client = workspace();
    let bare = client.agent(json!({"max_risk": "safe"}));
    let clerk = client.agent(json!({}));
    client
        .post(&format!("/api/agents/{clerk}/tools"), json!({"tool_id": "read_file", "config": {"default_path": "/a"}}));
    client.put("/api/sessions/s/files/a", "inside");
    for revision in BOTH {
        assert_eq!(Mcp::of_agent(&client, &bare, revision).names(), ["read_file", "list_files"]);
        let mcp = Mcp::of_agent(&client, &clerk, revision).in_session("s");
        assert_eq!(mcp.names(), ["read_file"]);
        assert_eq!(mcp.told("read_file", json!({})), ("inside".into(), false));
        let refused = mcp.told("write_file", json!({"path": "/a", "content": "x"}));
        assert!(refused.1 && refused.0.starts_with("NOT_ATTACHED"), "{refused:?}");
    }
    let record = &client.get("/api/tool-calls?status=success").ok()["tool_calls"][0];
    assert_eq!((&record["agent_id"], &record["session_id"]), (&json!(clerk), &json!("s")));
}

#[test]
fn a_bound_token_is_its_agent_wherever_it_comes_in() {
    let owner = closed_workspace();
    let agent = owner.agent(json!({}));
    owner.post(&format!("/api/agents/{agent}/tools"), json!({"tool_id": "list_files"}));
    let bound = owner.token(json!({"name": "b", "level": "user", "agent_id": agent}));
    for revision in BOTH {
        assert_eq!(Mcp::new(&bound, revision).names(), ["list_files"]);
        assert_eq!(Mcp::of_agent(&bound, &agent, revision).names(), ["list_files"]);
        assert!(Mcp::new(&bound, revision).told("read_file", json!({"path": "/a"})).0.starts_with("NOT_ATTACHED"));
    }
}

#[test]
fn a_call_is_a_call_like_any_other() {
    let client = workspace();
    for revision in BOTH {
        let mcp = Mcp::new(&client, revision).in_session("notes");
        let written = mcp.call("write_file", json!({"path": "/a", "content": "bring milk"}));
        assert_eq!(written["content"], json!([{"type": "text", "text": "Wrote 10 bytes to /a"}]));
        assert_eq!(written["isError"], false);
        let record =
            client.get(&format!("/api/tool-calls/{}", written["_meta"]["pegboard/call_id"].as_str().unwrap())).ok();
        assert_eq!((&record["status"], &record["session_id"]), (&json!("success"), &json!("notes")));
        assert_eq!(mcp.told("read_file@1.0.0", json!({"path": "/a"})), ("bring milk".into(), false));
        assert_eq!(mcp.result("tools/call", json!({"name": "list_files"}))["isError"], false);
    }
}

#[test]
fn one_call_costs_what_execute_costs() {
    let client = workspace();
    let trips = |answer: &Answer| {
        let cost = answer.headers["x-d1-cost"].to_str().unwrap();
        cost.split_once(',').unwrap().0.to_owned()
    };
    let plain = client.execute("list_files", json!({"path": "/"}));
    let agent = client.agent(json!({}));
    for revision in BOTH {
        let mcp = Mcp::new(&client, revision);
        let call = mcp.send("tools/call", json!({"name": "list_files", "arguments": {"path": "/"}}));
        assert_eq!(trips(&call), trips(&plain));
        for mcp in [mcp, Mcp::of_agent(&client, &agent, revision)] {
            assert_eq!(trips(&mcp.send("tools/list", json!({}))), "round_trips=1");
        }
    }
}

#[test]
fn results_are_given_as_what_they_are() {
    let (client, upstream) = (workspace(), Upstream::start());
    let at = |path: &str| json!({"handler": {"type": "http", "url": upstream.at(path)}, "parameters_schema": {}});
    client.register("echo", "1.0.0", at("/echo"));
    client.register("words", "1.0.0", at("/text"));
    client.register("broken", "1.0.0", at("/broken"));
    let mut typed = at("/echo");
    typed["returns_schema"] = json!({"type": "object", "required": ["tool_name"]});
    client.register("typed", "1.0.0", typed);
    for revision in BOTH {
        let mcp = Mcp::new(&client, revision);
        let echoed = mcp.call("echo", json!({"a": [1, {"b": null}]}));
        assert_eq!(echoed["structuredContent"]["arguments"], json!({"a": [1, {"b": null}]}));
        let text: Value = serde_json::from_str(echoed["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, echoed["structuredContent"]);
        assert_eq!(mcp.told("words", json!({})), ("plain words".into(), false));
        assert!(mcp.call("words", json!({})).get("structuredContent").is_none());
        assert_eq!(mcp.call("typed", json!({}))["structuredContent"]["tool_name"], "typed");
        let broken = mcp.told("broken", json!({}));
        assert!(broken.1 && broken.0.starts_with("TOOL_ERROR"), "{broken:?}");
    }
}

#[test]
fn refusals_are_told_to_whom_they_concern() {
    let client = workspace();
    client.register("off", "1.0.0", json!({}));
    client.post("/api/tools/off/deactivate", json!({"reason": "deprecated"})).ok();
    client.register("rare", "1.0.0", json!({"rate_limit": 1, "parameters_schema": {}}));
    for revision in BOTH {
        let mcp = Mcp::new(&client, revision);
        let wrong = mcp.told("read_file", json!({"path": 7}));
        assert!(wrong.1 && wrong.0.starts_with("INVALID_ARGUMENTS") && wrong.0.contains("/path"), "{wrong:?}");
        assert!(mcp.told("off", json!({})).0.starts_with("TOOL_DISABLED"));
        let unknown = mcp.fault(200, "tools/call", json!({"name": "no_such", "arguments": {}}));
        assert_eq!((&unknown["code"], &unknown["message"]), (&json!(-32602), &json!("Tool not found: no_such")));
        assert_eq!(unknown["data"]["code"], "UNKNOWN_TOOL");
        assert!(unknown["data"]["call_id"].as_str().unwrap().starts_with("call_"), "it is recorded: {unknown}");
        for params in [json!({}), json!({"name": 7}), json!({"name": "list_files", "arguments": []})] {
            assert_eq!(mcp.fault(200, "tools/call", params)["code"], -32602);
        }
        let [_, again] = [(); 2].map(|()| mcp.told("rare", json!({})));
        assert!(again.1 && again.0.starts_with("RATE_LIMITED") && again.0.contains("retry_after"), "{again:?}");
    }
}

#[test]
fn a_tool_goes_by_its_exported_name() {
    let client = workspace();
    Tool::new("kit:list").builtin("list_files").put(open(), &client);
    let mcp = Mcp::new(&client, LEGACY);
    let name = mcp.names().into_iter().find(|it| it.starts_with("kit_list_H")).unwrap();
    for called in [name.as_str(), "kit:list"] {
        assert_eq!(mcp.told(called, json!({})), ("Contents of /:".into(), false), "{called}");
    }
}

#[test]
fn tools_of_modules_are_listed_for_those_who_may_call_them() {
    let root = closed_workspace();
    let put = |id: &str| Tool::new(id).source("module").builtin("list_files").put(closed(), &root);
    ["kit.one", "kit.two", "other.one"].into_iter().for_each(put);
    let guest = root.token(json!({"name": "guest", "level": "guest"}));
    let agent = root.agent(json!({"default_tools": false, "allowed_modules": ["kit"]}));
    let finder = root.agent(json!({"default_tools": false, "allowed_modules": ["kit"], "find_tools": true}));
    let of_modules = |mcp: &Mcp| {
        let names = mcp.names().into_iter().filter(|it| it.starts_with("kit") || it.starts_with("other"));
        names.map(|it| it.rsplit_once("_H").unwrap().0.to_owned()).collect::<Vec<_>>()
    };
    let enable = |enabled: u8| {
        let params = [json!(root.workspace()), json!(enabled)];
        closed().sql("UPDATE upstreams SET enabled = ?2 WHERE workspace_id = ?1 AND name = 'kit'", &params);
    };
    for revision in BOTH {
        let (by_guest, by_root) = (Mcp::new(&guest, revision), Mcp::new(&root, revision));
        let by_agent = Mcp::of_agent(&root, &agent, revision);
        root.patch("/api/workspace", json!({"default_guest_modules": []})).ok();
        assert_eq!(of_modules(&by_guest), [""; 0]);
        assert_eq!(of_modules(&by_root), ["kit_one", "kit_two", "other_one"]);
        assert_eq!(of_modules(&by_agent), ["kit_one", "kit_two"]);
        root.patch("/api/workspace", json!({"default_guest_modules": ["other"]})).ok();
        assert_eq!(of_modules(&by_guest), ["other_one"]);
        let found = Mcp::of_agent(&root, &finder, revision)
            .result("tools/call", json!({"name": "find_tools", "arguments": {"query": "one"}}));
        let tools = found["structuredContent"]["tools"].as_array().unwrap();
        assert_eq!(tools.len(), 1, "{found}");
        assert!(tools[0]["name"].as_str().unwrap().starts_with("kit_one_H"));
        // The same holds for a tool that is read by its name.
        let reads = |mcp: &Mcp, id: &str| {
            mcp.send("resources/read", json!({"uri": format!("tool://{id}")})).json().get("result").is_some()
        };
        assert!(reads(&by_agent, "kit.two") && !reads(&by_agent, "other.one") && !reads(&by_agent, "read_file"));
        assert!(reads(&by_guest, "other.one") && !reads(&by_guest, "kit.one"));
        enable(0);
        assert_eq!(of_modules(&by_root), ["other_one"]);
        assert_eq!(of_modules(&by_agent), [""; 0]);
        assert!(!reads(&by_agent, "kit.two"));
        enable(1);
    }
}
