//! Turns that end early: stopped, out of time, or without their session. And clients that leave, which ends nothing.

use super::{Chat, agree, calls_of, error, event, eventually, finished, has, said, text_of};
use crate::harness::{Gate, ModelReply, Server, Upstream, unique};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A tool whose calls run one after the other.
fn in_order() -> Value {
    let effect = json!({"effect_type": "post", "description": "Posts", "reversible": false, "scope": "there"});
    json!({"resource_class": "state", "side_effects": [effect]})
}

#[test]
fn a_stop_in_the_middle_of_the_models_answer_keeps_what_was_said() {
    let chat = Chat::new();
    let gate = Gate::default();
    chat.model.reply(ModelReply::stream().text("Once upon").wait(&gate).text(" a time").finish("stop"));
    let mut stream = chat.begin("Tell me a story");
    stream.until("text-delta");
    chat.stop().no_content();
    assert!(chat.resume().is_none(), "the turn is over when the request to stop is answered");
    let events = stream.rest();
    assert_eq!(events.last().unwrap()["type"], "abort", "{events:#?}");
    assert!(!has(&events, "finish") && !has(&events, "error"));
    eventually("the model's server is left", || chat.model.clients_that_left() == 1);
    let message = chat.last_message();
    assert_eq!((text_of(&message).as_str(), &message["finish_reason"]), ("Once upon", &json!("other")));
    assert!(message["metadata"]["ended_by"].as_str().unwrap().contains("stopped"), "{message}");
    agree(&events, &message);

    chat.model.reply(ModelReply::says("a time"));
    assert_eq!(said(&chat.say("Go on")), "a time");
    assert_eq!(chat.model.last_messages()[1]["content"], "Once upon");
    chat.stop().no_content();
}

#[test]
fn a_stop_in_the_middle_of_a_call_waits_for_its_outcome_and_begins_no_other() {
    let (chat, upstream) = (Chat::new(), Upstream::start());
    chat.attach_http("later", &upstream.at("/later"), in_order());
    chat.model.reply(ModelReply::calls(&[("later", json!({"n": 1})), ("later", json!({"n": 2}))]));
    let stream = chat.begin("Go");
    eventually("the first call runs", || upstream.received().len() == 1);
    chat.stop().no_content();
    let events = stream.rest();
    assert_eq!(events.last().unwrap()["type"], "abort", "{events:#?}");
    chat.settle();
    let message = chat.last_message();
    let calls = calls_of(&message);
    assert_eq!((&calls[0]["state"], &calls[0]["output"]), (&json!("output-available"), &json!("done")));
    assert_eq!(calls[1]["state"], "output-error");
    assert_eq!((upstream.received().len(), chat.model.times_asked()), (1, 1));
    let records = chat.records();
    assert_eq!(records.iter().filter(|it| it["status"] == "success").count(), 1);
    assert!(records.iter().all(|it| it["status"] != "running"), "{records:?}");
    // The model learns what became of both.
    chat.model.reply(ModelReply::says("I see."));
    chat.say("And?");
    let told = chat.model.last_messages().into_iter().filter(|it| it["role"] == "tool").collect::<Vec<_>>();
    assert_eq!((told.len(), &told[0]["content"]), (2, &json!("done")));
}

#[test]
fn a_client_that_waits_for_a_document_gets_it_after_a_stop() {
    let (chat, upstream) = (Chat::new(), Upstream::start());
    chat.attach_http("later", &upstream.at("/later"), json!({}));
    chat.model.reply(ModelReply::calls(&[("later", json!({}))]));
    let whole = std::thread::scope(|threads| {
        let waiting = threads.spawn(|| chat.whole(json!({"message": "Go"})));
        eventually("the call runs", || upstream.received().len() == 1);
        chat.stop().no_content();
        // A client that comes back now is told of the end, too.
        if let Some(stream) = chat.resume() {
            stream.rest();
        }
        waiting.join().unwrap()
    });
    assert_eq!((&whole["finish_reason"], &whole["tool_calls"][0]["status"]), (&json!("other"), &json!("success")));
    assert_eq!(calls_of(&whole["message"])[0]["output"], "done");
    assert_eq!(whole["message"]["parts"], chat.last_message()["parts"]);
}

#[test]
fn a_client_that_comes_back_while_a_stopped_turn_waits_for_its_call_is_told_of_the_end() {
    let (chat, upstream) = (Chat::new(), Upstream::start());
    chat.attach_http("slow", &upstream.at("/slow"), json!({}));
    chat.model.reply(ModelReply::calls(&[("slow", json!({}))]));
    let stream = chat.begin("Go");
    eventually("the call runs", || upstream.received().len() == 1);
    std::thread::scope(|threads| {
        let stopping = threads.spawn(|| chat.stop().no_content());
        assert_eq!(stream.rest().last().unwrap()["type"], "abort");
        let events = chat.resume().expect("the turn waits for its call").rest();
        assert_eq!(events.last().unwrap()["type"], "abort", "{events:#?}");
        assert!(has(&events, "tool-input-available"), "{events:#?}");
        stopping.join().unwrap();
    });
    assert_eq!(calls_of(&chat.last_message())[0]["output"], "too late");
}

#[test]
fn a_client_that_leaves_loses_nothing() {
    let (chat, upstream) = (Chat::new(), Upstream::start());
    chat.attach_http("later", &upstream.at("/later"), json!({}));
    let gate = Gate::default();
    chat.model.reply(ModelReply::stream().text("Wait").wait(&gate).call("later", "{}").finish("tool_calls"));
    chat.model.reply(ModelReply::says(" a moment."));
    let mut stream = chat.begin("Go");
    stream.until("text-delta");
    drop(stream);
    std::thread::sleep(Duration::from_millis(300));
    gate.open();
    chat.settle();
    let message = chat.last_message();
    assert_eq!((text_of(&message).as_str(), &message["finish_reason"]), ("Wait a moment.", &json!("stop")));
    assert_eq!(calls_of(&message)[0]["output"], "done");
}

#[test]
fn a_client_that_leaves_while_it_waits_for_a_document_loses_nothing() {
    let chat = Chat::new();
    let gate = Gate::default();
    chat.model.reply(ModelReply::stream().text("Hello").wait(&gate).finish("stop"));
    let client = chat.client.with_header("Accept", "application/json");
    client.post_and_leave(&chat.path("chat"), &chat.body(json!({"message": "Hi"})), || chat.model.times_asked() == 1);
    std::thread::sleep(Duration::from_millis(300));
    gate.open();
    chat.settle();
    assert_eq!((text_of(&chat.last_message()).as_str(), chat.model.times_asked()), ("Hello", 1));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "this runs on the host")]
fn a_turn_ends_when_its_time_is_over() {
    let vars = [("AUTH", "open"), ("PRIVATE_URLS", "allow"), ("SECRET_KEY", "k"), ("TURN_SECONDS", "3")];
    let server = Server::start("playground-hasty", &vars);
    let chat = Chat::of(&server.client(&unique("ws")), json!({}));
    let upstream = Upstream::start();
    // The model is silent.
    chat.model.reply(ModelReply::stream().text("Er").wait(&Gate::default()));
    let begun = Instant::now();
    let events = chat.say("Quick");
    assert!((2.5..8.0).contains(&begun.elapsed().as_secs_f64()), "{:?}", begun.elapsed());
    assert!(error(&events).contains("TURN_SECONDS"), "{events:#?}");
    let message = chat.last_message();
    assert_eq!((text_of(&message).as_str(), &message["finish_reason"]), ("Er", &json!("error")));
    agree(&events, &message);
    eventually("the model's server is left", || chat.model.clients_that_left() == 1);

    // A call takes too long: the client is told at once, and the message has the outcome.
    chat.attach_http("slow", &upstream.at("/slow"), json!({}));
    chat.model.reply(ModelReply::calls(&[("slow", json!({}))]));
    let begun = Instant::now();
    let events = chat.say("Slowly");
    assert!(begun.elapsed().as_secs_f64() < 4.9, "{:?}", begun.elapsed());
    assert!(error(&events).contains("TURN_SECONDS"), "{events:#?}");
    chat.settle();
    assert_eq!(calls_of(&chat.last_message())[0]["output"], "too late");
    assert_eq!(chat.records()[0]["status"], "success");
    chat.model.reply(ModelReply::says("Better."));
    assert_eq!(said(&chat.say("Now?")), "Better.");
}

#[test]
fn a_session_that_is_deleted_meanwhile_stays_deleted() {
    let chat = Chat::new();
    let gate = Gate::default();
    chat.model.reply(ModelReply::stream().text("Hel").wait(&gate).text("lo").finish("stop"));
    let mut stream = chat.begin("Hi");
    stream.until("text-delta");
    chat.client.delete("/api/sessions/s").no_content();
    gate.open();
    let events = stream.rest();
    assert!(error(&events).contains("Session not found"), "{events:#?}");
    chat.client.get("/api/sessions/s").refused(404, "NOT_FOUND");
    chat.client.get(&chat.path("messages")).refused(404, "NOT_FOUND");
    // A session of the same name begins with nothing.
    chat.model.reply(ModelReply::says("Hello"));
    assert_eq!(said(&chat.say("Hi again")), "Hello");
    assert_eq!(chat.messages().len(), 2);
    assert_eq!(chat.model.last_messages().len(), 1);
}

#[test]
fn a_session_that_is_made_anew_meanwhile_does_not_get_the_old_answer() {
    let chat = Chat::new();
    let gate = Gate::default();
    chat.model.reply(ModelReply::stream().text("Old").wait(&gate).finish("stop"));
    let mut stream = chat.begin("Hi");
    stream.until("text-delta");
    chat.client.delete("/api/sessions/s").no_content();
    chat.client.put("/api/sessions/s/files/f", "new").created();
    gate.open();
    let events = stream.rest();
    assert_eq!(finished(&events), "error");
    assert_eq!(chat.messages(), Vec::<Value>::new());
    assert_eq!(chat.client.get("/api/sessions/s").ok()["active_message_id"], Value::Null);
}

#[test]
fn a_workspace_whose_quota_is_used_up_is_told() {
    let vars = [("AUTH", "open"), ("PRIVATE_URLS", "allow"), ("SECRET_KEY", "k"), ("WORKSPACE_QUOTA_BYTES", "60000")];
    let server = Server::start("playground-quota", &vars);
    let chat = Chat::of(&server.client(&unique("ws")), json!({}));
    // The question fits, and the answer does not.
    let long = "x".repeat(70_000);
    chat.model.reply(ModelReply::says(&long));
    let events = chat.say("Hi");
    assert_eq!(said(&events), long);
    assert!(error(&events).contains("WORKSPACE_QUOTA_BYTES"), "{:?}", error(&events));
    assert_eq!(chat.messages().len(), 1);
    // A document tells the same.
    chat.model.reply(ModelReply::says(&long));
    let whole = chat.whole(json!({"trigger": "regenerate-message"}));
    assert_eq!((&whole["finish_reason"], &whole["message"]["finish_reason"]), (&json!("error"), &json!("error")));
    let why = whole["message"]["metadata"]["ended_by"].as_str().unwrap();
    assert!(why.contains("WORKSPACE_QUOTA_BYTES"), "{why}");
    assert_eq!((chat.messages().len(), chat.model.times_asked()), (1, 2));
    // Files fill the rest: the next question is refused before the model is asked.
    chat.client.put("/api/sessions/other/files/f", "y".repeat(56_000)).created();
    let refused = chat.post(json!({"message": "z".repeat(10_000)})).refused(413, "PAYLOAD_TOO_LARGE");
    assert_eq!(refused.details["quota_bytes"], 60_000, "{refused:?}");
    assert_eq!((chat.model.times_asked(), chat.messages().len()), (2, 1));
    let usage = chat.client.get("/api/registry/stats").ok()["usage"].clone();
    assert!(usage["used_bytes"].as_u64().unwrap() <= 60_000, "{usage}");
}

#[test]
fn an_agent_that_is_deleted_meanwhile_calls_nothing_more() {
    let chat = Chat::new();
    let gate = Gate::default();
    chat.model.reply(ModelReply::stream().text("Well").wait(&gate).call("list_files", "{}").finish("tool_calls"));
    chat.model.reply(ModelReply::says("."));
    let mut stream = chat.begin("Hi");
    stream.until("text-delta");
    chat.client.delete(&format!("/api/agents/{}", chat.agent)).no_content();
    gate.open();
    let events = stream.rest();
    assert!(!has(&events, "tool-output-available"), "{events:#?}");
    let told = event(&events, "tool-output-error")["errorText"].as_str().unwrap();
    assert!(told.contains("UNKNOWN_AGENT"), "{told}");
    chat.post(json!({"message": "Hi"})).refused(404, "NOT_FOUND");
}

#[test]
fn a_session_that_is_deleted_in_the_middle_of_a_call_does_not_come_back() {
    let (chat, upstream) = (Chat::new(), Upstream::start());
    chat.attach_http("later", &upstream.at("/later"), in_order());
    chat.model.otherwise(|_| ModelReply::calls(&[("later", json!({})), ("later", json!({}))]));
    let stream = chat.begin("Go");
    eventually("the first call runs", || upstream.received().len() == 1);
    chat.client.delete("/api/sessions/s").no_content();
    stream.rest();
    eventually("the call is recorded", || chat.records().iter().all(|it| it["status"] != "running"));
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!((upstream.received().len(), chat.model.times_asked()), (1, 1), "no other call begins");
    chat.client.get("/api/sessions/s").refused(404, "NOT_FOUND");
    // A session of the same name is another one.
    chat.model.otherwise(|_| ModelReply::says("Hello"));
    assert_eq!(said(&chat.say("Hi")), "Hello");
    assert_eq!(chat.messages().len(), 2);
}

#[test]
fn a_turn_that_waits_ends_with_its_session() {
    let (chat, upstream) = (Chat::new(), Upstream::start());
    chat.attach_http("asks", &upstream.at("/text"), json!({"requires_approval": true}));
    chat.model.reply(ModelReply::calls(&[("asks", json!({}))]));
    let events = chat.say("Go");
    let approval = event(&events, "tool-approval-request")["approvalId"].as_str().unwrap();
    chat.client.delete("/api/sessions/s").no_content();
    chat.client.post(&format!("/api/approvals/{approval}/approve"), json!({})).success();
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!((chat.model.times_asked(), upstream.received().len()), (1, 1));
    chat.client.get("/api/sessions/s").refused(404, "NOT_FOUND");
}

#[test]
fn a_turn_that_hangs_is_ended_and_touches_nothing_when_it_wakes_up() {
    let times = r#"{"look_after_seconds": 1, "grace_seconds": 0}"#;
    let vars = [
        ("AUTH", "open"),
        ("PRIVATE_URLS", "allow"),
        ("SECRET_KEY", "k"),
        ("TURN_SECONDS", "1"),
        ("CHAT_TIMES", times),
    ];
    let server = Server::start("playground-hung", &vars);
    let (chat, upstream) = (Chat::of(&server.client(&unique("ws")), json!({})), Upstream::start());
    // The call takes five seconds, and the turn has one: the alarm is earlier than the call.
    chat.attach_http("slow", &upstream.at("/slow"), json!({}));
    chat.model.reply(ModelReply::calls(&[("slow", json!({}))]));
    let whole = chat.as_caller(&chat.client.with_header("Accept", "application/json"));
    let refused = whole.post(json!({"message": "Go"})).refused(500, "INTERNAL");
    assert!(refused.details["request_id"].is_string(), "{refused:?}");
    eventually("the message is stored", || chat.messages().len() == 2);
    let ended = chat.last_message();
    assert_eq!((&ended["finish_reason"], upstream.received().len()), (&json!("error"), 1));
    assert_eq!(calls_of(&ended)[0]["state"], "output-error");
    // The next turn, while the call of the old one still runs.
    chat.model.reply(ModelReply::says("Hello"));
    assert_eq!(said(&chat.say("Hi")), "Hello");
    eventually("the call ends", || chat.records()[0]["status"] == "success");
    std::thread::sleep(Duration::from_secs(1));
    let messages = chat.messages();
    assert_eq!((messages.len(), &messages[1]["parts"]), (4, &ended["parts"]));
    chat.model.reply(ModelReply::says("Still here"));
    assert_eq!(said(&chat.say("And?")), "Still here");
}

#[test]
fn a_passing_fault_before_the_first_byte_is_told_with_the_time_to_wait() {
    let busy = "D1_ERROR: D1 DB is overloaded. Requests queued for too long.";
    let faults = json!([{"has": ["\"busy\"", "INSERT INTO messages"], "times": 4, "ran": false, "message": busy}]);
    let faults = faults.to_string();
    let vars = [("AUTH", "open"), ("PRIVATE_URLS", "allow"), ("SECRET_KEY", "k"), ("D1_FAULTS", faults.as_str())];
    let server = Server::start("playground-busy", &vars);
    let chat = Chat::of(&server.client("busy"), json!({}));
    let answer = chat.post(json!({"message": "Hi"}));
    let refused = answer.refused(503, "UNAVAILABLE");
    assert_eq!((answer.header("retry-after"), &refused.details["retry_after"]), (Some("2"), &json!(2)));
    chat.model.reply(ModelReply::says("Hello"));
    assert_eq!(said(&chat.say("Hi")), "Hello");
}
