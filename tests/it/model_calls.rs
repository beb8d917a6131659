//! `POST /api/agents/{agent_id}/tool-calls`: runs the calls of a model, and responds in its provider's form.

use crate::harness::{Answer, Client, Tool, Upstream, open, race, workspace};
use serde_json::{Value, json};
use std::time::Instant;

fn post(client: &Client, agent: &str, query: &str, body: Value) -> Answer {
    client.post(&format!("/api/agents/{agent}/tool-calls{query}"), body)
}

fn openai(id: &str, name: &str, arguments: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
}

fn statuses(answer: &Value) -> Vec<&str> {
    answer["calls"].as_array().unwrap().iter().map(|it| it["status"].as_str().unwrap()).collect()
}

#[test]
fn openai_chat_gets_messages_of_tools() {
    let client = workspace();
    let agent = client.agent(json!({}));
    let calls = json!([
        openai("c1", "write_file", r#"{"path": "/a", "content": "hello"}"#),
        openai("c2", "read_file", r#"{"path": "/a"}"#),
        openai("c3", "read_file", r#"{"path": "/nowhere"}"#),
    ]);
    let answer = post(
        &client,
        &agent,
        "?session_id=s&message_id=m",
        json!({"role": "assistant", "content": null, "tool_calls": calls}),
    )
    .ok();
    assert_eq!(answer["format"], "openai");
    assert_eq!(answer["messages"][0], json!({"role": "tool", "tool_call_id": "c1", "content": "Wrote 5 bytes to /a"}));
    assert_eq!(answer["messages"][1], json!({"role": "tool", "tool_call_id": "c2", "content": "hello"}), "in order");
    assert_eq!(
        answer["messages"][2]["content"],
        r#"{"error":{"code":"TOOL_ERROR","message":"File not found: /nowhere"}}"#
    );
    assert_eq!(statuses(&answer), ["success", "success", "error"]);
    let record = client.record(&answer["calls"][1]);
    assert_eq!(
        (&record["agent_id"], &record["session_id"], &record["message_id"]),
        (&json!(agent), &json!("s"), &json!("m"))
    );
}

#[test]
fn the_others_get_what_they_want() {
    let client = workspace();
    let agent = client.agent(json!({}));
    let responses = json!({"output": [
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "list_files", "arguments": "{}"},
    ]});
    let answer = post(&client, &agent, "", responses).ok();
    assert_eq!(
        answer["messages"],
        json!([{"type": "function_call_output", "call_id": "c1", "output": "Contents of /:"}])
    );
    let anthropic = json!({"role": "assistant", "content": [
        {"type": "text", "text": "Let me see."},
        {"type": "tool_use", "id": "t1", "name": "list_files", "input": {}},
        {"type": "tool_use", "id": "t2", "name": "read_file", "input": {}},
    ]});
    let answer = post(&client, &agent, "", anthropic).ok();
    assert_eq!(answer["messages"].as_array().unwrap().len(), 1);
    let message = &answer["messages"][0];
    assert_eq!(message["role"], "user");
    assert_eq!(
        message["content"][0],
        json!({"type": "tool_result", "tool_use_id": "t1", "content": "Contents of /:", "is_error": false})
    );
    assert_eq!(message["content"][1]["is_error"], true);
    assert!(
        message["content"][1]["content"].as_str().unwrap().contains("\\\"path\\\" is a required property"),
        "{message}"
    );
    let gemini = json!({"role": "model", "parts": [{"functionCall": {"name": "list_files", "args": {"path": "/"}}}]});
    let answer = post(&client, &agent, "", gemini).ok();
    assert_eq!(
        answer["messages"],
        json!([{"role": "user", "parts": [{"functionResponse": {"name": "list_files", "response": {"output": "Contents of /:"}}}]}])
    );
}

#[test]
fn a_models_mistakes_are_results_it_can_act_on() {
    let client = workspace();
    let agent = client.agent(json!({}));
    let calls = json!([
        openai("c1", "read_file", r#"{"path": "/a"#),
        openai("c2", "read_file", "[1]"),
        openai("c3", "no_such_tool", "{}"),
        openai("c4", "email_search", "{}"),
        openai("c5", "list_files", ""),
        json!({"id": "c6", "type": "function", "function": {"arguments": "{}"}}),
    ]);
    let answer = post(&client, &agent, "", calls).ok();
    let codes = answer["calls"].as_array().unwrap().iter().map(|it| it["error"]["code"].as_str()).collect::<Vec<_>>();
    assert_eq!(
        codes,
        [
            Some("INVALID_ARGUMENTS"),
            Some("INVALID_ARGUMENTS"),
            Some("UNKNOWN_TOOL"),
            Some("NOT_ATTACHED"),
            None,
            Some("UNKNOWN_TOOL")
        ]
    );
    let told = answer["messages"][0]["content"].as_str().unwrap();
    assert!(told.contains("not valid JSON (EOF while parsing a string at line 1 column 12)"), "{told}");
    // They are recorded like every refused call.
    let record = client.record(&answer["calls"][0]);
    assert_eq!((&record["status"], &record["error"]["code"]), (&json!("error"), &json!("INVALID_ARGUMENTS")));
    assert_eq!(record["arguments"], json!({}));
}

#[test]
fn what_holds_no_calls_is_refused() {
    let client = workspace();
    let agent = client.agent(json!({}));
    let old = json!({"role": "assistant", "function_call": {"name": "list_files", "arguments": "{\"path\": \"/a\"}"}});
    for body in [json!([]), json!({}), json!({"role": "assistant", "content": "Hello"}), json!("x"), json!(7), old] {
        let refused = post(&client, &agent, "", body).refused(400, "VALIDATION_ERROR");
        assert!(refused.message.contains("holds no call") || refused.details.to_string().contains("holds no call"));
    }
    let many = vec![openai("c", "list_files", "{}"); 33];
    post(&client, &agent, "", json!(many)).refused(400, "VALIDATION_ERROR");
    client
        .send("POST", &format!("/api/agents/{agent}/tool-calls"), Some(b"{".to_vec()))
        .refused(400, "VALIDATION_ERROR");
    let call = json!([openai("c", "list_files", "{}")]);
    post(&client, "nobody", "", call.clone()).refused(404, "NOT_FOUND");
    for query in ["?session_id=a%20b", "?bogus=1", "?idempotency_key=", "?max_result_bytes=9"] {
        post(&client, &agent, query, call.clone()).refused(400, "VALIDATION_ERROR");
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "this runs on the host")]
fn calls_run_side_by_side_and_what_touches_state_in_order() {
    let client = workspace();
    let upstream = Upstream::start();
    let handler = json!({"type": "http", "url": upstream.at("/slow")});
    client.register("slow", "1.0.0", json!({"handler": handler, "parameters_schema": {"type": "object"}}));
    let agent = client.agent(json!({}));
    for tool in ["slow", "read_file", "write_file"] {
        client.post(&format!("/api/agents/{agent}/tools"), json!({"tool_id": tool})).created();
    }
    let mut calls = vec![openai("s1", "slow", "{}"), openai("s2", "slow", "{}"), openai("s3", "slow", "{}")];
    for round in 0..5 {
        calls.push(openai("w", "write_file", &json!({"path": "/n", "content": round.to_string()}).to_string()));
        calls.push(openai("r", "read_file", r#"{"path": "/n"}"#));
    }
    let begun = Instant::now();
    let answer = post(&client, &agent, "", json!(calls)).ok();
    let seconds = begun.elapsed().as_secs_f64();
    assert!((5.0..9.0).contains(&seconds), "three calls of 5 seconds took {seconds}");
    for round in 0..5 {
        assert_eq!(answer["messages"][4 + 2 * round]["content"], round.to_string());
    }
    assert!(statuses(&answer).iter().all(|it| *it == "success"), "{answer}");
}

#[test]
fn many_calls_are_looked_up_at_once() {
    let client = workspace();
    let agent = client.agent(json!({}));
    let cost = |count: usize| {
        let calls = (0..count).map(|index| openai(&format!("{count}-{index}"), "list_files", "{}")).collect::<Vec<_>>();
        let answer = post(&client, &agent, "", json!(calls));
        answer.ok();
        answer.cost("round_trips")
    };
    let (two, ten) = (cost(2), cost(10));
    assert_eq!(ten - two, 8 * 2, "a look at the files and the record, each");
    assert_eq!(two - cost(1), 2, "the first call reads its files together with the look-up");
}

#[test]
fn a_batch_sent_twice_runs_once() {
    let client = workspace();
    let agent = client.agent(json!({}));
    let calls =
        json!([openai("c1", "write_file", r#"{"path": "/a", "content": "1"}"#), openai("c2", "list_files", "{}")]);
    let first = post(&client, &agent, "?idempotency_key=turn-1", calls.clone()).ok();
    let again = post(&client, &agent, "?idempotency_key=turn-1", calls).ok();
    assert_eq!(first["messages"], again["messages"]);
    assert_eq!(first["calls"], again["calls"]);
    assert_eq!(client.pages("/api/tool-calls", "tool_calls", 50).len(), 2);
}

/// How many calls are recorded.
fn recorded(client: &Client) -> usize {
    client.pages("/api/tool-calls", "tool_calls", 50).len()
}

#[test]
fn a_message_posted_twice_runs_once_by_the_ids_of_its_calls() {
    let client = workspace();
    let agent = client.agent(json!({}));
    let write = json!({"path": "/a", "content": "1"});
    let bodies = [
        json!([openai("c1", "write_file", &write.to_string()), openai("c2", "list_files", "{}")]),
        json!({"output": [
            {"type": "function_call", "call_id": "r1", "name": "write_file", "arguments": write.to_string()},
            {"type": "function_call", "call_id": "r2", "name": "read_file", "arguments": "{\"path\": \"/none\"}"},
        ]}),
        json!([{"type": "tool_use", "id": "t1", "name": "write_file", "input": write},
            {"type": "tool_use", "id": "t2", "name": "list_files", "input": {}}]),
        json!([{"functionCall": {"id": "g1", "name": "write_file", "args": write}},
            {"functionCall": {"id": "g2", "name": "list_files", "args": {}}}]),
    ];
    for (count, body) in bodies.iter().enumerate() {
        let first = post(&client, &agent, "?session_id=s", body.clone());
        let again = post(&client, &agent, "?session_id=s", body.clone());
        assert_eq!(first.ok(), again.ok(), "the same response");
        assert_eq!(recorded(&client), 2 * (count + 1));
    }
    let manifests = client.get("/api/sessions/s/manifests").ok();
    assert_eq!(manifests["manifests"].as_array().unwrap().len(), bodies.len(), "each was written once");
}

#[test]
fn a_call_without_an_id_and_a_call_that_was_refused_run_again() {
    let client = workspace();
    let agent = client.agent(json!({}));
    let nameless = json!([{"functionCall": {"name": "list_files", "args": {}}}]);
    let ids = [(); 2].map(|()| post(&client, &agent, "", nameless.clone()).ok()["calls"][0]["call_id"].clone());
    assert_ne!(ids[0], ids[1]);
    let refused = json!([openai("c1", "read_file", "{}")]);
    assert_eq!(post(&client, &agent, "", refused).ok()["calls"][0]["error"]["code"], "INVALID_ARGUMENTS");
    let mended = json!([openai("c1", "list_files", "{}")]);
    assert_eq!(statuses(&post(&client, &agent, "", mended).ok()), ["success"], "the refusal freed the id");
    // Some servers give all calls of a message one id.
    let alike = json!([
        openai("one", "write_file", r#"{"path": "/a", "content": "1"}"#),
        openai("one", "read_file", r#"{"path": "/a"}"#)
    ]);
    let first = post(&client, &agent, "", alike.clone()).ok();
    assert_eq!(statuses(&first), ["success", "success"]);
    assert_eq!(post(&client, &agent, "", alike).ok(), first);
}

#[test]
fn the_id_of_a_call_is_a_key_of_its_agent_and_session_alone() {
    let client = workspace();
    let (one, other) = (client.agent(json!({})), client.agent(json!({})));
    let body = json!([openai("c1", "list_files", "{}")]);
    let id = |agent: &str, query: &str| {
        let answer = post(&client, agent, query, body.clone()).ok();
        assert_eq!(statuses(&answer), ["success"], "{answer}");
        answer["calls"][0]["call_id"].as_str().unwrap().to_owned()
    };
    let first = id(&one, "");
    assert_eq!(id(&one, "?session_id=default"), first);
    let others =
        [id(&other, ""), id(&one, "?session_id=s"), id(&one, "?idempotency_key=own"), id(&one, "?idempotency_key=c1")];
    for (index, it) in others.iter().enumerate() {
        assert!(*it != first && !others[..index].contains(it), "{others:?}");
    }
    assert_eq!(id(&one, "?idempotency_key=own"), others[2], "the caller's own key is the key");
    let same = json!({"tool_name": "list_files", "agent_id": one, "idempotency_key": "c1"});
    assert!(!others.contains(&client.call(same).result(200)["call_id"].as_str().unwrap().to_owned()));
}

#[test]
fn an_id_with_other_arguments_is_a_conflict_of_this_call_alone() {
    let client = workspace();
    let agent = client.agent(json!({}));
    let write =
        |id: &str, content: &str| openai(id, "write_file", &json!({"path": "/a", "content": content}).to_string());
    post(&client, &agent, "", json!([write("c1", "first")])).ok();
    let answer =
        post(&client, &agent, "", json!([write("c1", "second"), openai("c2", "read_file", r#"{"path": "/a"}"#)])).ok();
    assert_eq!(statuses(&answer), ["error", "success"]);
    assert_eq!(answer["calls"][0]["error"]["code"], "CONFLICT");
    let told = answer["messages"][0]["content"].as_str().unwrap();
    assert!(told.contains("each call needs an id of its own"), "{told}");
    assert_eq!(answer["messages"][1]["content"], "first");
    let record = client.record(&answer["calls"][0]);
    assert_eq!((&record["status"], &record["error"]["code"]), (&json!("error"), &json!("CONFLICT")));
}

#[test]
fn of_racing_posts_of_one_message_one_runs() {
    let client = workspace();
    let upstream = Upstream::start();
    client.register(
        "echo",
        "1.0.0",
        json!({"handler": {"type": "http", "url": upstream.at("/echo")},
        "parameters_schema": {"type": "object"}}),
    );
    let agent = client.agent(json!({}));
    client.post(&format!("/api/agents/{agent}/tools"), json!({"tool_id": "echo"})).created();
    let answers = race(6, |_| post(&client, &agent, "", json!([openai("c1", "echo", "{}")])).ok());
    assert_eq!(upstream.received().len(), 1);
    for answer in answers {
        let call = &answer["calls"][0];
        assert!(call["status"] == "success" || call["error"]["code"] == "CONFLICT", "{answer}");
    }
}

/// The cost of a model's call, as docs/formats.md tells it.
#[test]
fn a_models_call_costs_its_key() {
    let client = workspace();
    let agent = client.agent(json!({}));
    post(&client, &agent, "?session_id=s", json!([openai("c0", "write_file", r#"{"path": "/a", "content": "1"}"#)]))
        .ok();
    let cost = |name: &str, id: Option<&str>| {
        let mut call = json!({"name": name, "args": {"path": "/a", "content": "2"}});
        if name == "list_files" {
            call["args"] = json!({});
        }
        if let Some(id) = id {
            call["id"] = id.into();
        }
        let answer = post(&client, &agent, "?session_id=s", json!([{"functionCall": call}]));
        assert_eq!(statuses(&answer.ok()), ["success"]);
        (answer.cost("round_trips"), answer.cost("rows_written"))
    };
    for (name, more) in [("list_files", 4), ("write_file", 2)] {
        let (without, first, again) = (cost(name, None), cost(name, Some(name)), cost(name, Some(name)));
        println!("{name}: {without:?} without an id, {first:?} with one, {again:?} again");
        assert_eq!(first, (without.0, without.1 + more), "an id costs no round trip");
        assert_eq!(again.1, 0, "a repetition writes nothing");
        assert!(again.0 < first.0, "nor does it run");
    }
}

#[test]
fn a_call_that_waits_says_so() {
    let client = workspace();
    Tool::new("kit:waits")
        .source("toolset")
        .builtin("list_files")
        .with(json!({"requires_approval": 1}))
        .put(open(), &client);
    let agent = client.agent(json!({}));
    client.post(&format!("/api/agents/{agent}/tools"), json!({"tool_id": "kit:waits"})).created();
    let tool = client.get(&format!("/api/agents/{agent}/toolbox?format=anthropic")).ok()["tools"][0].clone();
    let answer =
        post(&client, &agent, "", json!([{"type": "tool_use", "id": "t", "name": tool["name"], "input": {}}])).ok();
    assert_eq!(statuses(&answer), ["pending_approval"]);
    assert_eq!(answer["calls"][0]["tool_name"], "kit:waits");
    let approval = answer["calls"][0]["error"]["details"]["approval_id"].as_str().unwrap();
    let told = answer["messages"][0]["content"][0]["content"].as_str().unwrap();
    assert!(told.contains(approval), "{told}");
    for part in ["Do not call it again: once it is approved, it runs by itself", "GET /api/tool-calls/call_"] {
        assert!(told.contains(part), "{told}");
    }
}
