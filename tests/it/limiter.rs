//! Rate limits: requests to the Durable Object that keeps them, as the Worker sends them, and calls that exceed the
//! limit.

use crate::harness::{Client, Server, Tool, open, race, unique, workspace};
use serde_json::{Value, json};

/// Asks the limiter of the workspace's tool `limited` for a call, this many times at once.
fn take(server: &Server, client: &Client, times: usize) -> Vec<Value> {
    let name = format!("{}/limited", client.workspace());
    let bodies = vec![json!({"Take": {"limit": 5}}); times];
    let answer = server.ask(json!({"object": "LIMITER", "name": name, "bodies": bodies}));
    answer["answers"].as_array().unwrap_or_else(|| panic!("{answer}")).clone()
}

#[test]
fn of_thirty_racing_calls_a_limit_of_five_lets_five_through() {
    let client = workspace();
    Tool::new("limited").with(json!({"rate_limit": 5})).put(open(), &client);
    let answers = take(open(), &client, 30);
    let (allowed, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|it| it["allowed"] == true);
    assert_eq!((allowed.len(), refused.len()), (5, 25));
    for it in refused {
        assert!((1..=60).contains(&it["retry_after"].as_u64().unwrap()), "{it}");
    }
    let standing = client.get("/api/tools/limited/rate-limit").ok();
    assert_eq!((&standing["limit"], &standing["remaining"]), (&json!(5), &json!(0)));
    assert!((1..=60).contains(&standing["retry_after"].as_u64().unwrap()), "{standing}");
}

#[test]
fn another_workspace_has_a_window_of_its_own() {
    let (here, there) = (workspace(), workspace());
    for client in [&here, &there] {
        Tool::new("limited").with(json!({"rate_limit": 5})).put(open(), client);
    }
    take(open(), &here, 5);
    assert_eq!(here.get("/api/tools/limited/rate-limit").ok()["remaining"], 0);
    assert_eq!(there.get("/api/tools/limited/rate-limit").ok()["remaining"], 5);
}

#[test]
fn the_window_survives_a_restart() {
    let server = Server::start("limiter", &[("AUTH", "open")]);
    let client = server.client(&unique("ws"));
    Tool::new("limited").with(json!({"rate_limit": 5})).put(&server, &client);
    assert!(take(&server, &client, 4).iter().all(|it| it["allowed"] == true));
    server.restart();
    assert_eq!(client.get("/api/tools/limited/rate-limit").ok()["remaining"], 1);
    let allowed = take(&server, &client, 3).iter().filter(|it| it["allowed"] == true).count();
    assert_eq!(allowed, 1);
}

/// A tool with a limit of five calls a minute.
fn limited(server: &Server, client: &Client) {
    Tool::new("limited").builtin("list_files").with(json!({"rate_limit": 5})).put(server, client);
}

#[test]
fn of_thirty_racing_calls_five_run_and_the_others_are_told_when_to_come_back() {
    let client = workspace();
    limited(open(), &client);
    let answers = race(30, |_| client.execute("limited", json!({})));
    let (ran, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|it| it.status == 200);
    assert_eq!((ran.len(), refused.len()), (5, 25));
    for it in refused {
        let body = it.failed(429, "RATE_LIMITED");
        assert!(body["error"]["message"].as_str().unwrap().starts_with("Rate limit exceeded: "), "{body}");
        let wait = it.header("retry-after").unwrap().parse::<u64>().unwrap();
        assert!((1..=60).contains(&wait) && body["error"]["details"]["retry_after"] == wait, "{body}");
        assert_eq!(client.record(&body)["status"], "error");
    }
}

#[test]
fn a_call_that_is_refused_uses_up_nothing() {
    let client = workspace();
    limited(open(), &client);
    for _ in 0..10 {
        client.execute("limited", json!({"path": ".."})).failed(400, "INVALID_ARGUMENTS");
        client.call(json!({"tool_name": "limited", "agent_id": "agent_0"})).failed(404, "UNKNOWN_AGENT");
    }
    for _ in 0..5 {
        client.execute("limited", json!({})).success();
    }
    for _ in 0..5 {
        client.execute("limited", json!({})).failed(429, "RATE_LIMITED");
    }
}

#[test]
fn the_time_to_wait_is_the_truth() {
    let client = workspace();
    Tool::new("limited").builtin("list_files").with(json!({"rate_limit": 1})).put(open(), &client);
    client.execute("limited", json!({})).success();
    let refused = client.execute("limited", json!({}));
    let wait = refused.header("retry-after").unwrap().parse::<f64>().unwrap();
    let between = &open().sql(
        "SELECT unixepoch(max(started_at), 'subsec') - unixepoch(min(started_at), 'subsec') AS seconds
         FROM tool_calls WHERE workspace_id = ?1",
        &[json!(client.workspace())],
    )[0];
    // The Worker asks the limiter a moment after a call starts.
    let left = 60.0 - between["seconds"].as_f64().unwrap();
    assert!((wait - left).abs() < 2.0, "told {wait} seconds where {left} are left");
    let standing = client.get("/api/tools/limited/rate-limit").ok();
    assert!((standing["retry_after"].as_f64().unwrap() - wait).abs() <= 2.0, "{standing}");
}
