//! The Durable Object that keeps rate limits, asked as the Worker asks it.

use crate::harness::{Client, Server, Tool, open, unique, workspace};
use serde_json::{Value, json};

/// Asks the limiter of the workspace's tool `limited` to take a call, so many times at once.
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
    let answer = server.ask(json!({"restart": true}));
    assert!(answer["error"].is_null(), "{answer}");
    assert_eq!(client.get("/api/tools/limited/rate-limit").ok()["remaining"], 1);
    let allowed = take(&server, &client, 3).iter().filter(|it| it["allowed"] == true).count();
    assert_eq!(allowed, 1);
}
