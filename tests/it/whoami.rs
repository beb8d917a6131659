//! `/api/whoami`: the caller, and what the deployment can do.

use crate::harness::{Client, Server, closed, closed_workspace, open, unique, workspace};
use serde_json::{Value, json};

const PATH: &str = "/api/whoami";

/// Level, agent and mode.
fn who(client: &Client) -> [Value; 3] {
    let answer = client.get(PATH);
    assert_eq!(answer.ok()["workspace"], client.workspace());
    assert!(answer.cost("round_trips") <= 1 && answer.cost("rows_written") == 0);
    ["level", "agent_id", "open"].map(|it| answer.ok()[it].clone())
}

#[test]
fn in_open_mode_everybody_is_the_owner() {
    let client = workspace();
    assert_eq!(who(&client), [json!("owner"), Value::Null, json!(true)]);
    let body = client.get(PATH).ok();
    let keys = ["workspace", "level", "agent_id", "open", "version", "features"];
    assert_eq!(body.as_object().unwrap().keys().collect::<Vec<_>>(), keys);
    assert_eq!(body["version"], client.get("/healthz").ok()["version"]);
    assert_eq!(
        body["features"],
        json!({"mail": true, "python": true, "mcp_host": true, "model": false, "replicas": false})
    );
    // A token counts in open mode too.
    let guest = client.token(json!({"name": "guest", "level": "guest"}));
    assert_eq!(who(&guest), [json!("guest"), Value::Null, json!(true)]);
    client.with_token("nonsense").get(PATH).refused(401, "UNAUTHORIZED");
}

#[test]
fn a_token_tells_its_level_and_its_agent() {
    let root = closed_workspace();
    assert_eq!(who(&root), [json!("owner"), Value::Null, json!(false)]);
    for level in ["guest", "user", "admin", "owner"] {
        let caller = root.token(json!({"name": level, "level": level}));
        assert_eq!(who(&caller), [json!(level), Value::Null, json!(false)]);
    }
    let agent = root.agent(json!({}));
    let bound = root.token(json!({"name": "bound", "level": "admin", "agent_id": agent}));
    assert_eq!(who(&bound), [json!("admin"), json!(agent), json!(false)]);
}

#[test]
fn whoever_is_not_let_in_learns_nothing() {
    let root = closed_workspace();
    let made = root.post("/api/tokens", json!({"name": "x", "level": "owner"})).created();
    let owner = root.with_token(made["token"].as_str().unwrap());
    for stranger in [
        root.without_header("Authorization"),
        owner.in_workspace(&unique("ws")),
        closed().client(root.workspace()).with_token("peg_tok_0_0"),
    ] {
        let refused = stranger.get(PATH);
        refused.refused(401, "UNAUTHORIZED");
        assert!(!refused.text.contains("features"), "{}", refused.text);
    }
    root.delete(&format!("/api/tokens/{}", made["id"].as_str().unwrap())).no_content();
    owner.get(PATH).refused(401, "UNAUTHORIZED");
    root.without_header("X-Workspace-Id").get(PATH).refused(400, "VALIDATION_ERROR");
    root.get(&format!("{PATH}?level=owner")).refused(400, "VALIDATION_ERROR");
}

#[test]
fn features_are_those_of_the_deployment_and_the_workspace() {
    let vars = [("AUTH", "open"), ("D1_READ_REPLICAS", "on"), ("MODEL_URL", "https://models.example.com/v1")];
    let server = Server::start_without("whoami", &vars, "BENCHMARKS_DB");
    let client = server.client("ws");
    let features = || client.get(PATH).ok()["features"].clone();
    let expected = json!({"mail": false, "python": true, "mcp_host": true, "model": true, "replicas": true});
    assert_eq!(features(), expected);
    // The bindings are there, but the first run of Python finds no container.
    client.execute("execute_python", json!({"code": "print(1)"})).failed(200, "UNREACHABLE");
    assert_eq!(features()["python"], false);

    let (with, without) = (workspace(), workspace());
    with.patch("/api/workspace", json!({"model_url": "https://models.example.com/v1", "model_name": "m"})).ok();
    let has_model = |client: &Client| client.get(PATH).ok()["features"]["model"].clone();
    assert_eq!((has_model(&with), has_model(&without)), (json!(true), json!(false)));
    open().sql(
        "UPDATE workspace_settings SET model_key = 'sealed with another key' WHERE workspace_id = ?1",
        &[json!(with.workspace())],
    );
    assert_eq!(has_model(&with), false, "a key that cannot be opened is no access");
}
