//! The table `changes`: the rows that every mutation leaves there.

use crate::harness::{Client, closed, closed_workspace, open, race, workspace};
use serde_json::{Value, json};

fn log(client: &Client) -> Vec<Value> {
    open().sql("SELECT * FROM changes WHERE workspace_id = ?1 ORDER BY seq", &[json!(client.workspace())])
}

fn state(text: &Value) -> Value {
    text.as_str().map_or(Value::Null, |it| serde_json::from_str(it).unwrap())
}

#[test]
fn every_mutation_is_recorded_with_what_was_and_what_is() {
    let client = workspace();
    let before = client.post("/api/agents", json!({"name": "A"})).created();
    let id = before["id"].as_str().unwrap();
    let path = format!("/api/agents/{id}");
    let after = client.patch(&path, json!({"name": "B"})).ok();
    client.post(&format!("{path}/tools"), json!({"tool_id": "email_search"})).created();
    client.patch(&format!("{path}/tools/email_search"), json!({"config": {"default_limit": 2}})).ok();
    client.delete(&format!("{path}/tools/email_search")).no_content();
    client.delete(&path).no_content();
    let token = client.post("/api/tokens", json!({"name": "t", "level": "guest"})).created();
    let token_id = token["id"].as_str().unwrap();
    client.delete(&format!("/api/tokens/{token_id}")).no_content();

    let log = log(&client);
    let (agent, attachment) = (format!("agent:{id}"), format!("attachment:{id}/email_search"));
    let token_subject = format!("token:{token_id}");
    let told =
        log.iter().map(|it| (it["action"].as_str().unwrap(), it["subject"].as_str().unwrap())).collect::<Vec<_>>();
    assert_eq!(
        told,
        [
            ("create", agent.as_str()),
            ("update", &agent),
            ("attach", &attachment),
            ("configure", &attachment),
            ("detach", &attachment),
            ("delete", &agent),
            ("create", &token_subject),
            ("revoke", &token_subject),
        ]
    );
    let states = log.iter().map(|it| (state(&it["previous_state"]), state(&it["new_state"]))).collect::<Vec<_>>();
    let attached = |config: Value| json!({"agent_id": id, "tool_id": "email_search", "config": config});
    let mut record = token.clone();
    record.as_object_mut().unwrap().remove("token");
    // Responses also tell what follows from the attachments, which have changes of their own.
    let [before, after] = [before.clone(), after].map(|mut it| {
        it.as_object_mut().unwrap().remove("default_tools_in_use").unwrap();
        it
    });
    assert_eq!(
        states,
        [
            (Value::Null, before.clone()),
            (before.clone(), after.clone()),
            (Value::Null, attached(Value::Null)),
            (attached(Value::Null), attached(json!({"default_limit": 2}))),
            (attached(json!({"default_limit": 2})), Value::Null),
            (after, Value::Null),
            (Value::Null, record.clone()),
            (record, Value::Null),
        ]
    );
    assert_eq!(log[2]["tool_id"], "email_search");
    assert!(log.iter().all(|it| it["operator"] == "anonymous"));
    assert!(log.iter().map(|it| it["timestamp"].as_str().unwrap()).is_sorted());
}

#[test]
fn what_ends_with_an_agent_is_recorded_too() {
    let client = workspace();
    let id = client.agent(json!({"name": "A"}));
    let path = format!("/api/agents/{id}");
    let config = json!({"default_limit": 4});
    client.post(&format!("{path}/tools"), json!({"tool_id": "email_search", "config": config})).created();
    client.post(&format!("{path}/tools"), json!({"tool_id": "read_file"})).created();
    let mut token = client.post("/api/tokens", json!({"name": "t", "level": "guest", "agent_id": id})).created();
    token.as_object_mut().unwrap().remove("token");
    client.delete(&path).no_content();

    let log = log(&client);
    let ended = &log[log.len() - 4..];
    let told = ended.iter().map(|it| format!("{} {}", it["action"].as_str().unwrap(), it["subject"].as_str().unwrap()));
    assert_eq!(
        told.collect::<Vec<_>>(),
        [
            format!("detach attachment:{id}/email_search"),
            format!("detach attachment:{id}/read_file"),
            format!("revoke token:{}", token["id"].as_str().unwrap()),
            format!("delete agent:{id}"),
        ]
    );
    let attached = |tool: &str, config: Value| json!({"agent_id": id, "tool_id": tool, "config": config});
    assert_eq!(state(&ended[0]["previous_state"]), attached("email_search", config));
    assert_eq!(state(&ended[1]["previous_state"]), attached("read_file", Value::Null));
    assert_eq!(state(&ended[2]["previous_state"]), token);
    let numbers = log.iter().map(|it| it["seq"].as_u64().unwrap()).collect::<Vec<_>>();
    assert_eq!(numbers, (1..=8).collect::<Vec<_>>());
}

#[test]
fn numbers_have_no_gaps_under_racing_writers() {
    let client = workspace();
    race(16, |index| client.agent(json!({"name": format!("Agent {index}")})));
    let numbers = log(&client).iter().map(|it| it["seq"].as_u64().unwrap()).collect::<Vec<_>>();
    assert_eq!(numbers, (1..=16).collect::<Vec<_>>());
}

#[test]
fn what_is_refused_or_changes_nothing_leaves_nothing() {
    let client = workspace();
    let path = format!("/api/agents/{}", client.agent(json!({"name": "A"})));
    client.post(&format!("{path}/tools"), json!({"tool_id": "email_search", "config": {"default_limit": 3}})).created();
    let recorded = log(&client).len();
    client.patch(&path, json!({"name": "A"})).ok();
    client.patch(&format!("{path}/tools/email_search"), json!({"config": {"default_limit": 3}})).ok();
    client.patch(&path, json!({"name": ""})).refused(400, "VALIDATION_ERROR");
    client.post(&format!("{path}/tools"), json!({"tool_id": "email_search"})).refused(409, "ALREADY_EXISTS");
    client.post(&format!("{path}/tools"), json!({"tool_id": "nope"})).refused(404, "NOT_FOUND");
    client.delete("/api/agents/agent_x").refused(404, "NOT_FOUND");
    client.delete("/api/tokens/tok_x").refused(404, "NOT_FOUND");
    assert_eq!(log(&client).len(), recorded);
}

#[test]
fn the_log_names_the_token_that_did_it() {
    let root = closed_workspace();
    let made = root.post("/api/tokens", json!({"name": "a", "level": "user"})).created();
    root.with_token(made["token"].as_str().unwrap()).agent(json!({}));
    let rows =
        closed().sql("SELECT operator FROM changes WHERE workspace_id = ?1 ORDER BY seq", &[json!(root.workspace())]);
    assert_eq!(rows, [json!({"operator": "root"}), json!({"operator": made["id"]})]);
}

#[test]
fn the_log_is_append_only() {
    let client = workspace();
    client.agent(json!({}));
    for sql in ["UPDATE changes SET operator = 'nobody'", "DELETE FROM changes"] {
        let message = open().sql_error(sql);
        assert!(message.contains("append-only"), "{message}");
    }
}
