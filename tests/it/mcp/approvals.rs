//! Calls that wait: the responses to the clients of each revision, and the use of a state.

use super::{LEGACY, MODERN, Mcp};
use crate::harness::{
    Client, ROOT_TOKEN, Server, Tool, Upstream, closed, closed_workspace, open, race, unique, workspace,
};
use serde_json::{Value, json};
use std::thread;
use std::time::Duration;

fn writer(server: &Server, client: &Client) {
    Tool::new("writer").builtin("write_file").with(json!({"requires_approval": 1})).put(server, client);
}

fn arguments(path: &str) -> Value {
    json!({"path": path, "content": "x"})
}

/// The only approval that waits.
fn pending(client: &Client) -> String {
    let listed = client.get("/api/approvals?status=pending").ok();
    let [one] = listed["approvals"].as_array().unwrap().as_slice() else { panic!("{listed}") };
    one["id"].as_str().unwrap().to_owned()
}

fn decide(client: &Client, id: &str, word: &str) {
    client.post(&format!("/api/approvals/{id}/{word}"), json!({"reason": "because"})).ok();
}

fn retry(path: &str, state: &Value) -> Value {
    json!({"name": "writer", "arguments": arguments(path), "requestState": state,
        "inputResponses": {"approval": {"action": "accept", "content": {}}}})
}

#[test]
fn who_cannot_come_back_is_told_where_to_look() {
    let client = workspace();
    writer(open(), &client);
    let mcp = Mcp::new(&client, LEGACY).in_session("s");
    let result = mcp.call("writer", arguments("/a"));
    let id = pending(&client);
    assert_eq!((&result["isError"], &result["_meta"]["pegboard/approval_id"]), (&json!(true), &json!(id)));
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("APPROVAL_REQUIRED") && text.contains(&id), "{text}");
    let uri = format!("call://{}", result["_meta"]["pegboard/call_id"].as_str().unwrap());
    let standing = || -> Value {
        let read = mcp.result("resources/read", json!({"uri": uri}));
        serde_json::from_str(read["contents"][0]["text"].as_str().unwrap()).unwrap()
    };
    assert_eq!(standing()["status"], "pending_approval");
    decide(&client, &id, "approve");
    assert_eq!((&standing()["status"], &standing()["result"]), (&json!("success"), &json!("Wrote 1 bytes to /a")));
    assert_eq!(client.get("/api/sessions/s/files/a").text, "x");
}

#[test]
fn who_can_come_back_gets_the_result() {
    let client = workspace();
    writer(open(), &client);
    let mcp = Mcp::new(&client, MODERN).with_forms();
    let first = mcp.call("writer", arguments("/a"));
    assert_eq!(first["resultType"], "input_required");
    let form = &first["inputRequests"]["approval"];
    assert_eq!((&form["method"], &form["params"]["mode"]), (&json!("elicitation/create"), &json!("form")));
    let id = pending(&client);
    assert!(form["params"]["message"].as_str().unwrap().contains(&id));

    // Going on approves nothing, however often.
    let second = mcp.result("tools/call", retry("/a", &first["requestState"]));
    assert_eq!(second["resultType"], "input_required");
    assert_eq!(pending(&client), id, "no other was asked for");
    decide(&client, &id, "approve");
    for state in [&first["requestState"], &second["requestState"]] {
        let done = mcp.result("tools/call", retry("/a", state));
        assert_eq!(
            (&done["resultType"], &done["isError"], &done["content"][0]["text"]),
            (&json!("complete"), &json!(false), &json!("Wrote 1 bytes to /a"))
        );
    }
    let calls = client.get("/api/tool-calls").ok();
    assert_eq!(calls["tool_calls"].as_array().unwrap().len(), 1, "it ran once: {calls}");
}

#[test]
fn a_denial_is_a_result() {
    let client = workspace();
    writer(open(), &client);
    let mcp = Mcp::new(&client, MODERN).with_forms();
    let first = mcp.call("writer", arguments("/a"));
    decide(&client, &pending(&client), "deny");
    let done = mcp.result("tools/call", retry("/a", &first["requestState"]));
    let text = done["content"][0]["text"].as_str().unwrap();
    assert!(done["isError"] == true && text.starts_with("APPROVAL_DENIED") && text.contains("because"), "{done}");
}

#[test]
fn who_does_not_want_to_wait_gets_an_answer() {
    let client = workspace();
    writer(open(), &client);
    let mcp = Mcp::new(&client, MODERN).with_forms();
    let first = mcp.call("writer", arguments("/a"));
    for action in ["decline", "cancel"] {
        let mut params = retry("/a", &first["requestState"]);
        params["inputResponses"]["approval"] = json!({"action": action});
        let left = mcp.result("tools/call", params);
        assert_eq!((&left["resultType"], &left["isError"]), (&json!("complete"), &json!(true)));
        assert_eq!(left["_meta"]["pegboard/approval_id"], json!(pending(&client)));
    }
    let mut params = retry("/a", &first["requestState"]);
    params["inputResponses"] = json!({"approval": 12345});
    assert_eq!(mcp.fault(200, "tools/call", params.clone())["code"], -32602);
    params["inputResponses"] = json!(null);
    assert_eq!(mcp.fault(200, "tools/call", params)["code"], -32602);
}

#[test]
fn without_forms_a_client_waits_a_while() {
    let client = workspace();
    writer(open(), &client);
    let mcp = Mcp::new(&client, MODERN);
    let first = mcp.call("writer", arguments("/a"));
    assert!(first.get("inputRequests").is_none() && first["requestState"].is_string(), "{first}");
    let id = pending(&client);
    let done = race(2, |runner| {
        if runner == 0 {
            thread::sleep(Duration::from_millis(1_200));
            decide(&client, &id, "approve");
            return Value::Null;
        }
        mcp.result("tools/call", retry("/a", &first["requestState"]))
    });
    assert_eq!(done[1]["content"][0]["text"], "Wrote 1 bytes to /a");
}

#[test]
fn who_has_come_back_often_gets_an_answer() {
    let client = workspace();
    writer(open(), &client);
    let mcp = Mcp::new(&client, MODERN).with_forms();
    let mut answer = mcp.call("writer", arguments("/a"));
    let mut rounds = 1;
    while answer["resultType"] == "input_required" {
        // Without a response of the user, the client is not made to wait.
        let mut again = retry("/a", &answer["requestState"]);
        again["inputResponses"] = json!({});
        answer = mcp.result("tools/call", again);
        rounds += 1;
    }
    assert_eq!((rounds, &answer["isError"]), (8, &json!(true)), "{answer}");
    assert_eq!(answer["_meta"]["pegboard/approval_id"], json!(pending(&client)));
}

#[test]
fn a_call_that_runs_is_not_said_to_wait() {
    let (client, upstream) = (workspace(), Upstream::start());
    let handler = json!({"type": "http", "url": upstream.at("/slow")});
    client.register("slow", "1.0.0", json!({"handler": handler, "parameters_schema": {}, "requires_approval": true}));
    let mcp = Mcp::new(&client, MODERN).with_forms();
    let first = mcp.call("slow", json!({}));
    let id = pending(&client);
    let again = json!({"name": "slow", "arguments": {}, "requestState": first["requestState"],
        "inputResponses": {"approval": {"action": "accept", "content": {}}}});
    let answers = race(2, |runner| {
        if runner == 0 {
            decide(&client, &id, "approve");
            return Value::Null;
        }
        thread::sleep(Duration::from_millis(500));
        mcp.result("tools/call", again.clone())
    });
    // The response waits for the call, although the client shows forms. If the call takes longer, there is nothing to
    // ask.
    assert!(answers[1].get("inputRequests").is_none(), "{}", answers[1]);
    assert_eq!(mcp.result("tools/call", again)["resultType"], "complete");
}

#[test]
fn a_promised_object_is_one_after_a_wait_too() {
    let (client, upstream) = (workspace(), Upstream::start());
    let returns = json!({"type": "object", "required": ["content"]});
    let definition = json!({"handler": {"type": "http", "url": upstream.at("/blocks")}, "parameters_schema": {},
        "returns_schema": returns, "requires_approval": true});
    client.register("typed", "1.0.0", definition);
    let mcp = Mcp::new(&client, MODERN).with_forms();
    let first = mcp.call("typed", json!({}));
    decide(&client, &pending(&client), "approve");
    let done =
        mcp.result("tools/call", json!({"name": "typed", "arguments": {}, "requestState": first["requestState"]}));
    assert_eq!(done["structuredContent"], json!({"content": [{"type": "text", "text": "a block"}]}), "{done}");
}

#[test]
fn a_guest_is_not_sent_where_it_may_not_read() {
    let owner = closed_workspace();
    Tool::new("asker").builtin("list_files").with(json!({"requires_approval": 1})).put(closed(), &owner);
    for (level, told) in [("guest", false), ("user", true)] {
        let caller = owner.token(json!({"name": level, "level": level}));
        let (text, _) = Mcp::new(&caller, LEGACY).told("asker", json!({}));
        assert!(text.starts_with("APPROVAL_REQUIRED"), "{text}");
        assert_eq!(text.contains("call://"), told, "{text}");
    }
}

#[test]
fn a_state_is_for_one_call_of_one_caller() {
    let owner = closed_workspace();
    writer(closed(), &owner);
    let caller = || owner.token(json!({"name": "u", "level": "user"}));
    let (one, other) = (caller(), caller());
    let mcp = |client: &Client| Mcp::new(client, MODERN).with_forms();
    let first = mcp(&one).call("writer", arguments("/a"));
    let state = &first["requestState"];
    assert_eq!(mcp(&one).result("tools/call", retry("/a", state))["resultType"], "input_required");
    let refused = |mcp: Mcp, params: Value| {
        let fault = mcp.fault(200, "tools/call", params);
        assert_eq!(fault["code"], -32602, "{fault}");
        assert!(fault["message"].as_str().unwrap().contains("requestState"), "{fault}");
    };
    // Another caller, call, endpoint.
    refused(mcp(&other), retry("/a", state));
    refused(mcp(&one), retry("/b", state));
    refused(mcp(&one).in_session("other"), retry("/a", state));
    let mut renamed = retry("/a", state);
    renamed["name"] = json!("write_file");
    refused(mcp(&one), renamed);
    // Another text.
    let text = state.as_str().unwrap();
    for wrong in [format!("{text}-TAMPERED"), format!("{text}00"), text[2..].to_owned(), String::new()] {
        refused(mcp(&one), retry("/a", &json!(wrong)));
    }
    // Another workspace, although the caller is the same.
    let root = |workspace: &str| closed().client(workspace).with_token(ROOT_TOKEN);
    let (here, there) = (root(&unique("ws")), root(&unique("ws")));
    writer(closed(), &here);
    writer(closed(), &there);
    let first = mcp(&here).call("writer", arguments("/a"));
    refused(mcp(&there), retry("/a", &first["requestState"]));
    assert_eq!(there.get("/api/tool-calls").ok()["tool_calls"], json!([]), "and nothing came of it");
}

#[test]
fn a_state_and_an_approval_end() {
    let server = Server::start("mcp-approvals", &[("AUTH", "open"), ("SECRET_KEY", "s"), ("APPROVAL_SECONDS", "2")]);
    let client = server.client("ws");
    writer(&server, &client);
    let mcp = Mcp::new(&client, MODERN).with_forms();
    let first = mcp.call("writer", arguments("/a"));
    thread::sleep(Duration::from_millis(2_100));
    // Nobody has decided, and no sweep has run.
    let expired = mcp.result("tools/call", retry("/a", &first["requestState"]));
    assert!(expired["content"][0]["text"].as_str().unwrap().starts_with("APPROVAL_EXPIRED"), "{expired}");
    thread::sleep(Duration::from_millis(2_100));
    let fault = mcp.fault(200, "tools/call", retry("/a", &first["requestState"]));
    assert_eq!(fault["message"], "requestState has expired: call the tool again");
}

#[test]
fn without_a_secret_nothing_is_signed_and_the_call_waits_all_the_same() {
    let server = Server::start("mcp-secretless", &[("AUTH", "open")]);
    let client = server.client("ws");
    writer(&server, &client);
    let mcp = Mcp::new(&client, MODERN).with_forms();
    let result = mcp.call("writer", arguments("/a"));
    assert_eq!((&result["resultType"], &result["isError"]), (&json!("complete"), &json!(true)));
    decide(&client, &pending(&client), "approve");
    assert_eq!(mcp.fault(503, "tools/call", retry("/a", &json!("x")))["code"], -32603);
}
