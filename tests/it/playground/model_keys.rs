//! Which model a turn asks, and who gets which key.

use super::{Chat, error, said};
use crate::harness::{Client, ModelReply, ModelServer, ROOT_TOKEN, Server, Upstream, unique, workspace};
use serde_json::json;

/// The model's server of a deployment, and the deployment. Its key is lent to the workspace `listed`.
fn deployment(name: &str, more: &[(&str, &str)]) -> (ModelServer, Server) {
    let model = ModelServer::start();
    model.otherwise(|_| ModelReply::says("Hello"));
    let host = model.url().trim_start_matches("http://").trim_end_matches("/v1").to_owned();
    let loans = format!("MODEL_KEY=listed@{host}");
    let mut vars = vec![
        ("SECRET_KEY", "a secret of the tests"),
        ("MODEL_URL", model.url()),
        ("MODEL_NAME", "house-model"),
        ("MODEL_KEY", "house-key-1234"),
        ("CREDENTIAL_WORKSPACES", loans.as_str()),
    ];
    vars.extend(more);
    let server = Server::start(name, &vars);
    (model, server)
}

fn keys(model: &ModelServer) -> Vec<Option<String>> {
    model.asked().iter().map(|it| it.header("authorization").map(str::to_owned)).collect()
}

/// A chat that has no model of its own.
fn chat_of(client: &Client, model: &ModelServer) -> Chat {
    Chat { client: client.clone(), model: model.clone(), agent: client.agent(json!({})), session: "s".into() }
}

#[test]
fn without_a_model_a_chat_says_what_to_set() {
    let chat = chat_of(&workspace(), &ModelServer::start());
    let refused = chat.post(json!({"message": "Hi"})).refused(503, "UNAVAILABLE");
    for word in ["MODEL_URL", "MODEL_NAME", "PATCH /api/workspace"] {
        assert!(refused.message.contains(word), "{refused:?}");
    }
    chat.client.get("/api/sessions/s").refused(404, "NOT_FOUND");
    // A server without the name of a model is not enough, and an agent's own name is.
    chat.client.patch("/api/workspace", json!({"model_url": chat.model.url()})).ok();
    let refused = chat.post(json!({"message": "Hi"})).refused(503, "UNAVAILABLE");
    assert!(refused.message.contains("model_name"), "{refused:?}");
    chat.client.patch(&format!("/api/agents/{}", chat.agent), json!({"model": "own"})).ok();
    chat.model.reply(ModelReply::says("Hello"));
    assert_eq!(said(&chat.say("Hi")), "Hello");
    assert_eq!(chat.model.last_asked()["model"], "own");
}

#[test]
fn the_key_of_the_deployment_goes_to_its_model_for_listed_workspaces_alone() {
    let (house, server) = deployment("playground-keys", &[("AUTH", "open"), ("PRIVATE_URLS", "allow")]);
    let listed = chat_of(&server.client("listed"), &house);
    assert_eq!(said(&listed.say("Hi")), "Hello");
    assert_eq!(keys(&house), [Some("Bearer house-key-1234".to_owned())]);
    assert_eq!(house.last_asked()["model"], "house-model");

    let other = chat_of(&server.client(&unique("ws")), &house);
    let refused = other.post(json!({"message": "Hi"})).refused(503, "UNAVAILABLE");
    assert!(refused.message.contains("CREDENTIAL_WORKSPACES") && !refused.message.contains("house-key"), "{refused:?}");
    assert_eq!(house.times_asked(), 1);

    // A workspace's own model gets the workspace's own key, and never the deployment's.
    let own = ModelServer::start();
    own.otherwise(|_| ModelReply::says("Mine"));
    for chat in [&listed, &other] {
        let client = &chat.client;
        client.patch("/api/workspace", json!({"model_url": own.url()})).ok();
        assert_eq!(said(&chat.say("Hi")), "Mine");
        assert_eq!(keys(&own).pop().unwrap(), None);
        let shown = client.patch("/api/workspace", json!({"model_key": "own-key-5678"}));
        assert!(!shown.text.contains("own-key") && shown.ok()["model_key_set"] == true, "{}", shown.text);
        assert_eq!(said(&chat.say("Hi")), "Mine");
        assert_eq!(keys(&own).pop().unwrap().as_deref(), Some("Bearer own-key-5678"));
        assert_eq!(own.last_asked()["model"], "house-model");
    }
    assert_eq!(house.times_asked(), 1);

    // Another server does not get the key of the first one.
    let third = ModelServer::start();
    third.otherwise(|_| ModelReply::says("Third"));
    let settings = other.client.patch("/api/workspace", json!({"model_url": third.url(), "model_name": "m3"})).ok();
    assert_eq!(settings["model_key_set"], false);
    assert_eq!(said(&other.say("Hi")), "Third");
    assert_eq!((keys(&third), &third.last_asked()["model"]), (vec![None], &json!("m3")));
    // Back at the deployment's model.
    listed.client.patch("/api/workspace", json!({"model_url": ""})).ok();
    assert_eq!(said(&listed.say("Hi")), "Hello");
    assert_eq!(keys(&house).pop().unwrap().as_deref(), Some("Bearer house-key-1234"));
    assert!(!json!(listed.client.changes()).to_string().contains("own-key"));
}

#[test]
fn no_key_is_shown_and_no_tool_gets_it() {
    let (house, server) = deployment("playground-key-echo", &[("ROOT_TOKEN", ROOT_TOKEN), ("PRIVATE_URLS", "allow")]);
    let chat = chat_of(&server.client("listed").with_token(ROOT_TOKEN), &house);
    // A server may repeat the key in its refusal.
    house.reply(ModelReply::with(401, r#"{"error": {"message": "Incorrect API key: house-key-1234"}}"#));
    let events = chat.say("Hi");
    assert!(error(&events).contains("401"), "{}", error(&events));
    house.reply(ModelReply::stream().chunk(json!({"error": {"message": "bad key house-key-1234"}})));
    let more = chat.say("Hi");
    for text in [json!(events).to_string(), json!(more).to_string(), json!(chat.messages()).to_string()] {
        assert!(!text.contains("house-key-1234"), "{text}");
    }
    // A deployment that asks for tokens lends the key to listed workspaces alone.
    let other = chat_of(&server.client(&unique("ws")).with_token(ROOT_TOKEN), &house);
    other.post(json!({"message": "Hi"})).refused(503, "UNAVAILABLE");
    // A workspace's key must not be readable on its way.
    let refused = chat.client.patch("/api/workspace", json!({"model_url": "http://models.example.com/v1"}));
    assert_eq!(refused.refused(400, "VALIDATION_ERROR").paths(), ["/model_url"]);
}

#[test]
fn no_tool_gets_the_key_of_the_deployment() {
    // In open mode every other secret is lent to everybody.
    let vars = [("AUTH", "open"), ("PRIVATE_URLS", "allow"), ("LENT", "lent-value")];
    let ((_house, server), upstream) = (deployment("playground-key-thief", &vars), Upstream::start());
    let client = server.client("listed");
    client.post("/api/credentials", json!({"id": "MODEL_KEY"})).refused(400, "VALIDATION_ERROR");
    client.post("/api/credentials", json!({"id": "LENT"})).created();
    // As if an earlier version had let an admin define it.
    server.sql("INSERT INTO credentials VALUES (?1, 'MODEL_KEY', '', '2026-11-16T01:00:00.000Z')", &[json!("listed")]);
    let tool = |credential: &str| {
        let headers = json!({"X-Key": format!("${{{credential}}}")});
        json!({"handler": {"type": "http", "url": upstream.at("/headers"), "headers": headers}, "parameters_schema": {"type": "object"}})
    };
    client.register("friend", "1.0.0", tool("LENT"));
    client.execute("friend", json!({})).success();
    client.register("thief", "1.0.0", tool("MODEL_KEY"));
    let failed = client.execute("thief", json!({})).failed(200, "UNREACHABLE");
    assert!(failed["error"]["message"].as_str().unwrap().contains("MODEL_KEY has no value here"), "{failed}");
    let seen = upstream.received().iter().map(|it| format!("{:?}", it.headers)).collect::<Vec<_>>();
    assert!(seen.len() == 1 && seen[0].contains("lent-value"), "{seen:?}");
}

#[test]
fn in_an_open_deployment_every_workspace_uses_the_deployments_model() {
    let model = ModelServer::start();
    model.otherwise(|request| {
        let is_streamed = request.body["stream"] == true;
        if is_streamed { ModelReply::says("Hello") } else { ModelReply::document(json!({"content": "Whole"}), "stop") }
    });
    let vars = [
        ("AUTH", "open"),
        ("MODEL_URL", model.url()),
        ("MODEL_NAME", "house-model"),
        ("MODEL_KEY", "house-key-1234"),
        ("MODEL_STREAMING", "never"),
        ("SECRET_KEY", "k"),
    ];
    let server = Server::start("playground-open-model", &vars);
    let chat = chat_of(&server.client(&unique("ws")), &model);
    assert_eq!(said(&chat.say("Hi")), "Whole");
    assert_eq!(keys(&model), [Some("Bearer house-key-1234".to_owned())]);
    chat.client.patch("/api/workspace", json!({"model_streaming": "always", "model_name": "named"})).ok();
    assert_eq!(said(&chat.say("Hi")), "Hello");
    assert_eq!(model.last_asked()["model"], "named");
    // The address of a machine inside the deployment's network is not for workspaces to choose.
    let refused = chat.client.patch("/api/workspace", json!({"model_url": "http://127.0.0.1:9/v1"}));
    assert_eq!(refused.refused(400, "VALIDATION_ERROR").paths(), ["/model_url"]);
}
