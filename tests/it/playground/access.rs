//! Who may chat with whom, and in which session.

use super::{Chat, id_of, said};
use crate::harness::{Client, Gate, ModelReply};
use serde_json::json;

/// A chat whose model always greets.
fn closed_chat() -> Chat {
    let chat = Chat::guarded();
    chat.model.otherwise(|_| ModelReply::says("Hello"));
    chat
}

/// Every route of a chat but the first.
fn rest_of_the_routes(chat: &Chat, client: &Client, message: &str) -> [(&'static str, u16); 4] {
    let other = chat.as_caller(client);
    [
        ("messages", client.get(&other.path("messages")).status),
        ("stream", client.get(&other.path("chat/x/stream")).status),
        ("stop", other.stop().status),
        ("checkout", other.check_out(message).status),
    ]
}

#[test]
fn a_chat_needs_a_user() {
    let chat = closed_chat();
    chat.say("Hi");
    let message = chat.last_message();
    let guest = chat.client.token(json!({"name": "g", "level": "guest"}));
    let nobody = chat.client.without_header("Authorization");
    for (client, status, code) in [(&guest, 403, "PERMISSION_DENIED"), (&nobody, 401, "UNAUTHORIZED")] {
        chat.as_caller(client).post(json!({"message": "Hi"})).refused(status, code);
        for (route, answered) in rest_of_the_routes(&chat, client, id_of(&message)) {
            assert_eq!(answered, status, "{route}");
        }
    }
    assert_eq!((chat.model.times_asked(), chat.messages().len()), (1, 2));
    let user = chat.client.token(json!({"name": "u", "level": "user"}));
    assert_eq!(said(&chat.as_caller(&user).say("Hi")), "Hello");
}

#[test]
fn agents_and_sessions_of_other_workspaces_are_not_there() {
    let (mine, theirs) = (closed_chat(), closed_chat());
    theirs.say("Secret words");
    let message = theirs.last_message();
    // A token of one workspace is none of another.
    let owner = mine.client.token(json!({"name": "o", "level": "owner"}));
    theirs
        .as_caller(&owner.in_workspace(theirs.client.workspace()))
        .post(json!({"message": "Hi"}))
        .refused(401, "UNAUTHORIZED");
    // An agent of another workspace is unknown, and so is a session.
    let refused = theirs.as_caller(&owner).post(json!({"message": "Hi"})).refused(404, "NOT_FOUND");
    assert!(refused.message.contains("Agent not found"), "{refused:?}");
    for (route, status) in rest_of_the_routes(&theirs, &owner, id_of(&message)) {
        assert_eq!(status, if route == "stream" { 204 } else { 404 }, "{route}");
    }
    // A session of the same name is another session, with a turn of its own.
    let gate = Gate::default();
    theirs.model.reply(ModelReply::stream().text("Secret").wait(&gate).finish("stop"));
    let mut stream = theirs.begin("More");
    stream.until("text-delta");
    assert_eq!(said(&mine.say("Hi")), "Hello");
    assert!(mine.resume().is_none());
    mine.stop().no_content();
    assert!(!json!(mine.messages()).to_string().contains("Secret"));
    mine.check_out(id_of(&message)).refused(404, "NOT_FOUND");
    mine.post(json!({"message": "Hi", "parentId": message["id"]})).refused(404, "NOT_FOUND");
    gate.open();
    assert_eq!(said(&stream.rest()), "Secret", "nobody else has stopped it");
}

#[test]
fn a_bound_token_chats_with_its_agent_in_its_sessions() {
    let chat = closed_chat();
    let other_agent = chat.client.agent(json!({}));
    let bind = |agent: &str| chat.client.token(json!({"name": "b", "level": "user", "agent_id": agent}));
    let (own, other) = (bind(&chat.agent), bind(&other_agent));
    let bound = chat.as_caller(&own);
    assert_eq!(said(&bound.say("Hi")), "Hello");
    // The token says which agent is meant.
    let short = bound.client.post(&bound.path("chat"), json!({"message": "Hi"}));
    assert_eq!((short.status, chat.messages().len()), (200, 4));
    let wrong = json!({"message": "Hi", "agentId": other_agent});
    bound.client.post(&bound.path("chat"), wrong).refused(403, "PERMISSION_DENIED");
    let unnamed = chat.client.post(&chat.path("chat"), json!({"message": "Hi"}));
    assert_eq!(unnamed.refused(400, "VALIDATION_ERROR").paths(), ["/agentId"]);

    // Sessions of others are not there: another agent's, and those that no agent made.
    let message = chat.last_message();
    for (route, status) in rest_of_the_routes(&chat, &other, id_of(&message)) {
        assert_eq!(status, if route == "stream" { 204 } else { 404 }, "{route}");
    }
    let intruder = Chat { agent: other_agent.clone(), ..chat.as_caller(&other) };
    intruder.post(json!({"message": "Hi"})).refused(404, "NOT_FOUND");
    chat.client.put("/api/sessions/shared/files/f", "x").created();
    let shared = Chat { session: "shared".into(), ..chat.as_caller(&own) };
    shared.post(json!({"message": "Hi"})).refused(404, "NOT_FOUND");
    assert_eq!((chat.messages().len(), chat.model.times_asked()), (4, 2));
    // An unbound user sees them all, and can go on with another agent.
    let user = chat.client.token(json!({"name": "u", "level": "user"}));
    let changed = Chat { agent: other_agent, ..chat.as_caller(&user) };
    assert_eq!(said(&changed.say("And you?")), "Hello");
    assert_eq!((chat.messages().len(), chat.messages()[5]["agent_id"].as_str()), (6, Some(changed.agent.as_str())));
}

#[test]
fn a_session_of_another_agent_is_not_there_during_a_turn_either() {
    let chat = closed_chat();
    chat.say("Hi");
    let message = chat.last_message();
    let other_agent = chat.client.agent(json!({}));
    let other = chat.client.token(json!({"name": "b", "level": "user", "agent_id": other_agent}));
    let gate = Gate::default();
    chat.model.reply(ModelReply::stream().text("Hel").wait(&gate).text("lo").finish("stop"));
    let mut stream = chat.begin("More");
    stream.until("text-delta");
    let intruder = Chat { agent: other_agent, ..chat.as_caller(&other) };
    for fields in [json!({"message": "Hi"}), json!({"trigger": "regenerate-message"})] {
        let refused = intruder.post(fields).refused(404, "NOT_FOUND");
        assert!(refused.message.contains("Session not found"), "{refused:?}");
    }
    for (route, status) in rest_of_the_routes(&chat, &other, id_of(&message)) {
        assert_eq!(status, if route == "stream" { 204 } else { 404 }, "{route}");
    }
    // Whoever sees the session learns of its turn.
    chat.post(json!({"message": "Hi"})).refused(409, "CONFLICT");
    chat.check_out(id_of(&message)).refused(409, "CONFLICT");
    let mine = Chat { session: "mine".into(), ..intruder.as_caller(&other) };
    assert_eq!(said(&mine.say("Hi")), "Hello", "a session that does not exist yet can be made");
    gate.open();
    assert_eq!(said(&stream.rest()), "Hello");
}

#[test]
fn calls_are_made_with_the_rights_of_the_caller() {
    let chat = closed_chat();
    let client = &chat.client;
    let upstream = crate::harness::Upstream::start();
    chat.attach_http("for_admins", &upstream.at("/text"), json!({"required_permission": "admin"}));
    client.patch(&format!("/api/agents/{}", chat.agent), json!({"permission_level": "admin"})).ok();
    let ask = |chat: &Chat| {
        chat.model.reply(ModelReply::calls(&[("for_admins", json!({}))]));
        chat.say("Go");
        super::calls_of(&chat.last_message())[0]["state"].clone()
    };
    let user = client.token(json!({"name": "u", "level": "user"}));
    assert_eq!(ask(&chat.as_caller(&user)), "output-error");
    let record = chat.client.get(&format!("/api/tool-calls/{}", id_of(&chat.records()[0]))).ok();
    assert_eq!((upstream.received().len(), &record["error"]["code"]), (0, &json!("PERMISSION_DENIED")));
    assert_eq!(ask(&chat), "output-available");
    assert_eq!(upstream.received().len(), 1);
}

#[test]
fn a_token_that_is_revoked_meanwhile_goes_on_with_no_turn() {
    let chat = closed_chat();
    let made = chat.client.post("/api/tokens", json!({"name": "t", "level": "user"})).created();
    let user = chat.as_caller(&chat.client.with_token(made["token"].as_str().unwrap()));
    let upstream = crate::harness::Upstream::start();
    chat.attach_http("asks", &upstream.at("/text"), json!({"requires_approval": true}));
    chat.model.reply(ModelReply::calls(&[("asks", json!({}))]));
    let events = user.say("Go");
    let approval = super::event(&events, "tool-approval-request")["approvalId"].as_str().unwrap();
    chat.client.delete(&format!("/api/tokens/{}", made["id"].as_str().unwrap())).no_content();
    let asked = chat.model.times_asked();
    chat.client.post(&format!("/api/approvals/{approval}/approve"), json!({})).success();
    std::thread::sleep(std::time::Duration::from_secs(1));
    assert_eq!(chat.model.times_asked(), asked, "nobody is there for whom the turn could go on");
    assert_eq!(said(&chat.say("Hi")), "Hello", "others can go on");
}

#[test]
fn a_token_that_is_revoked_during_a_turn_makes_no_further_call() {
    let chat = closed_chat();
    let made = chat.client.post("/api/tokens", json!({"name": "t", "level": "user"})).created();
    let user = chat.as_caller(&chat.client.with_token(made["token"].as_str().unwrap()));
    let (upstream, gate) = (crate::harness::Upstream::start(), crate::harness::Gate::default());
    chat.attach_http("asks", &upstream.at("/text"), json!({}));
    let first = ModelReply::stream().text("Let me.").wait(&gate);
    chat.model.reply(first.call("asks", "{}").finish("tool_calls"));
    let mut stream = user.begin("Go");
    stream.until("text-delta");
    chat.client.delete(&format!("/api/tokens/{}", made["id"].as_str().unwrap())).no_content();
    let asked = chat.model.times_asked();
    gate.open();
    let events = stream.rest();
    assert!(super::error(&events).contains("not valid any more"), "{events:?}");
    assert_eq!((upstream.received().len(), chat.model.times_asked()), (0, asked));
    assert!(chat.records().iter().all(|it| it["tool_name"] != "asks"), "no row was opened");
    let message = chat.last_message();
    assert_eq!(
        (&message["finish_reason"], &super::calls_of(&message)[0]["state"]),
        (&json!("error"), &json!("output-error"))
    );
    assert_eq!(said(&chat.say("Hi")), "Hello", "others can go on");
}
