//! Walks every path and method of /openapi.json as those who must be kept out: a foreigner with another
//! workspace's ids, every lower level, and a token bound to another agent. A route that is not in the
//! table fails the test.

use crate::harness::{Client, closed_workspace};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// One route: who may use it, with which body, and whether it is about one agent.
struct Route {
    method: &'static str,
    path: &'static str,
    /// The level that it needs; none, if it needs no token at all.
    level: Option<&'static str>,
    body: Option<Value>,
    /// What a token gets that is bound to another agent than the path's, or to any where there is none.
    bound: u16,
    /// What a foreign workspace gets for ids of this one.
    foreign: u16,
}

const LEVELS: [&str; 4] = ["guest", "user", "admin", "owner"];

fn routes() -> Vec<Route> {
    let route =
        |method, path, level, body, bound, foreign| Route { method, path, level: Some(level), body, bound, foreign };
    let site = |path| Route { method: "get", path, level: None, body: None, bound: 200, foreign: 200 };
    let attachment = Some(json!({"tool_id": "email_get"}));
    vec![
        route("get", "/api/tools", "guest", None, 200, 200),
        route("get", "/api/tools/{tool_id}", "guest", None, 200, 404),
        route("get", "/api/tools/{tool_id}/description", "guest", None, 200, 404),
        route("post", "/api/tools/{tool_id}/validate", "guest", Some(json!({"arguments": {}})), 200, 404),
        route("get", "/api/tools/{tool_id}/rate-limit", "guest", None, 200, 404),
        route("get", "/api/agents", "guest", None, 200, 200),
        route("post", "/api/agents", "user", Some(json!({"name": "x"})), 403, 201),
        route("get", "/api/agents/{agent_id}", "guest", None, 403, 404),
        route("patch", "/api/agents/{agent_id}", "user", Some(json!({"name": "x"})), 403, 404),
        route("delete", "/api/agents/{agent_id}", "user", None, 403, 404),
        route("get", "/api/agents/{agent_id}/toolbox", "guest", None, 403, 404),
        route("get", "/api/agents/{agent_id}/tools", "guest", None, 403, 404),
        route("post", "/api/agents/{agent_id}/tools", "user", attachment, 403, 404),
        route("patch", "/api/agents/{agent_id}/tools/{tool_id}", "user", Some(json!({"config": {}})), 403, 404),
        route("delete", "/api/agents/{agent_id}/tools/{tool_id}", "user", None, 403, 404),
        route("get", "/api/tokens", "owner", None, 403, 200),
        route("post", "/api/tokens", "owner", Some(json!({"name": "x", "level": "guest"})), 403, 201),
        route("delete", "/api/tokens/{token_id}", "owner", None, 403, 404),
        site("/healthz"),
        site("/openapi.json"),
        site("/docs"),
    ]
}

/// A workspace in which every path's ids are there.
struct House {
    root: Client,
    agent: String,
    token: String,
}

impl House {
    fn new() -> Self {
        let root = closed_workspace();
        let agent = root.agent(json!({}));
        crate::harness::Tool::new("house-tool").put(crate::harness::closed(), &root);
        root.post(&format!("/api/agents/{agent}/tools"), json!({"tool_id": "house-tool"})).created();
        let token = root.post("/api/tokens", json!({"name": "x", "level": "guest"})).created();
        Self { root, agent, token: token["id"].as_str().unwrap().to_owned() }
    }

    fn knock(&self, client: &Client, route: &Route) -> u16 {
        let path = route
            .path
            .replace("{tool_id}", "house-tool")
            .replace("{agent_id}", &self.agent)
            .replace("{token_id}", &self.token);
        let body = route.body.as_ref().map(|it| it.to_string().into_bytes());
        client.send(&route.method.to_uppercase(), &path, body).status
    }

    /// All that the house holds, to see that nobody changed it.
    fn contents(&self) -> String {
        let agent = &self.agent;
        ["/api/agents", "/api/tokens", &format!("/api/agents/{agent}/tools")]
            .map(|path| self.root.get(path).text)
            .join("\n")
    }
}

#[test]
fn the_table_names_every_route() {
    let description = closed_workspace().get("/openapi.json").ok();
    let described = description["paths"]
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(path, item)| item.as_object().unwrap().keys().map(move |method| format!("{method} {path}")))
        .collect::<BTreeSet<_>>();
    let walked = routes().iter().map(|it| format!("{} {}", it.method, it.path)).collect::<BTreeSet<_>>();
    assert_eq!(described, walked, "tests/it/walk.rs must know every route, and no other");
}

#[test]
fn a_foreign_workspace_finds_nothing_of_this_one() {
    let house = House::new();
    let before = house.contents();
    for route in routes() {
        let foreigner = closed_workspace();
        assert_eq!(house.knock(&foreigner, &route), route.foreign, "{} {}", route.method, route.path);
    }
    assert_eq!(house.contents(), before);
}

#[test]
fn lower_levels_are_refused_and_the_level_itself_is_not() {
    for route in routes() {
        let house = House::new();
        let as_level = |level: &str| house.root.token(json!({"name": level, "level": level}));
        let stranger = house.root.without_header("Authorization");
        let Some(needed) = route.level else {
            assert_eq!(house.knock(&stranger, &route), 200, "{}", route.path);
            continue;
        };
        let needed = LEVELS.iter().position(|it| *it == needed).unwrap();
        let callers = LEVELS.map(as_level);
        let before = house.contents();
        assert_eq!(house.knock(&stranger, &route), 401, "{} {}", route.method, route.path);
        for (level, caller) in LEVELS.iter().zip(&callers).take(needed) {
            assert_eq!(house.knock(caller, &route), 403, "{level}: {} {}", route.method, route.path);
        }
        assert_eq!(house.contents(), before);
        let status = house.knock(&callers[needed], &route);
        assert!((200..300).contains(&status), "{}: {} {} answered {status}", LEVELS[needed], route.method, route.path);
    }
}

#[test]
fn a_token_bound_to_another_agent_is_kept_to_it() {
    let house = House::new();
    let other = house.root.agent(json!({"name": "other"}));
    let bound = house.root.token(json!({"name": "bound", "level": "owner", "agent_id": other}));
    let before = house.contents();
    for route in routes() {
        assert_eq!(house.knock(&bound, &route), route.bound, "{} {}", route.method, route.path);
    }
    assert_eq!(house.contents(), before);
}
