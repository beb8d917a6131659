//! The runtime is killed in the middle of a turn: the conversation goes on, every call is recorded once, and the message
//! that broke off is there.

use super::{Chat, calls_of, event, eventually, said, text_of};
use crate::harness::{Gate, ModelReply, Server, Upstream, unique};
use serde_json::{Value, json};

const VARS: [(&str, &str); 3] = [("AUTH", "open"), ("PRIVATE_URLS", "allow"), ("SECRET_KEY", "a secret of the tests")];

/// Kills the runtime, lets the open stream end, and starts the runtime again.
fn crash(server: &Server, mut stream: crate::harness::ChatStream) -> Vec<Value> {
    server.kill_runtime();
    while stream.next_if_any().is_some() {}
    server.restart();
    stream.events
}

fn approval_of(events: &[Value]) -> String {
    event(events, "tool-approval-request")["approvalId"].as_str().unwrap().to_owned()
}

/// A chat whose turn waits for the approval of a call at `path`, and the events so far.
fn paused(server: &Server, upstream: &Upstream, path: &str) -> (Chat, Vec<Value>) {
    let chat = Chat::of(&server.client(&unique("ws")), json!({}));
    chat.attach_http("asks", &upstream.at(path), json!({"requires_approval": true}));
    chat.model.reply(ModelReply::stream().text("Let me.").call("asks", "{}").finish("tool_calls"));
    let events = chat.say("Go");
    (chat, events)
}

#[test]
fn a_turn_that_broke_off_while_the_model_answered_can_be_continued() {
    let server = Server::start("playground-crash-model", &VARS);
    let chat = Chat::of(&server.client(&unique("ws")), json!({}));
    chat.model.reply(
        ModelReply::stream()
            .text("Writing.")
            .call("write_file", r#"{"path": "/a", "content": "x"}"#)
            .finish("tool_calls"),
    );
    chat.model.reply(ModelReply::stream().text("Half of ").wait(&Gate::default()));
    let mut stream = chat.begin("Go");
    stream.until("tool-output-available");
    stream.until("text-delta");
    let told = crash(&server, stream);

    assert!(chat.resume().is_none(), "no turn is under way any more");
    assert_eq!(chat.file("a").as_deref(), Some("x"));
    chat.model.reply(ModelReply::says("Here I am."));
    assert_eq!(said(&chat.say("Are you there?")), "Here I am.");
    let [question, broken, again, answer] = chat.messages().try_into().unwrap();
    assert_eq!((text_of(&question).as_str(), text_of(&again).as_str()), ("Go", "Are you there?"));
    assert_eq!((&broken["id"], &broken["finish_reason"]), (&told[0]["messageId"], &json!("error")));
    assert!(text_of(&broken).starts_with("Writing."), "{broken}");
    assert_eq!(calls_of(&broken)[0]["output"], "Wrote 1 bytes to /a");
    assert_eq!(text_of(&answer), "Here I am.");
    assert_eq!((&again["parent_id"], &answer["parent_id"]), (&broken["id"], &again["id"]));
    // The model learns of the call that was made.
    let messages = chat.model.last_messages();
    assert!(messages.iter().any(|it| it["role"] == "tool" && it["content"] == "Wrote 1 bytes to /a"), "{messages:?}");
    let records = chat.records();
    assert_eq!((records.len(), &records[0]["status"]), (1, &json!("success")));
    assert_eq!(records[0]["message_id"], broken["id"]);
}

#[test]
fn a_turn_that_broke_off_in_a_call_is_not_run_again() {
    let server = Server::start("playground-crash-call", &VARS);
    let (chat, upstream) = (Chat::of(&server.client(&unique("ws")), json!({})), Upstream::start());
    chat.attach_http("slow", &upstream.at("/slow"), json!({}));
    chat.attach("list_files");
    chat.model.reply(ModelReply::calls(&[("list_files", json!({}))]));
    chat.model.reply(ModelReply::calls(&[("slow", json!({}))]));
    let stream = chat.begin("Go");
    eventually("the call runs", || upstream.received().len() == 1);
    crash(&server, stream);

    // Another answer, before anything has looked after the message that broke off.
    chat.model.reply(ModelReply::says("It may have run."));
    assert_eq!(said(&chat.say("What happened?")), "It may have run.");
    let messages = chat.messages();
    assert_eq!(messages.len(), 4);
    let calls = calls_of(&messages[1]);
    assert_eq!((&calls[0]["state"], &calls[1]["state"]), (&json!("output-available"), &json!("output-error")));
    assert!(calls[1]["errorText"].as_str().unwrap().contains("broke off"), "{calls:?}");
    assert_eq!(upstream.received().len(), 1, "the call is not made again");
    let records = chat.records();
    assert_eq!(
        (records.len(), &records[1]["tool_name"], &records[1]["status"]),
        (2, &json!("slow"), &json!("running"))
    );
    server.sql("UPDATE tool_calls SET deadline_at = '2026-01-01T00:00:00.000Z' WHERE status = 'running'", &[]);
    assert_eq!(server.ask(json!({"scheduled": "*/5 * * * *"}))["outcome"], "ok");
    assert_eq!(chat.records()[1]["status"], "error");
}

#[test]
fn a_message_of_many_megabytes_that_broke_off_is_stored() {
    let server = Server::start("playground-crash-large", &VARS);
    let (chat, upstream) = (Chat::of(&server.client(&unique("ws")), json!({})), Upstream::start());
    chat.attach_http("slow", &upstream.at("/slow"), json!({}));
    chat.model.reply(ModelReply::calls(&vec![("slow", json!({"text": "x".repeat(250_000)})); 32]));
    let stream = chat.begin("Go");
    eventually("calls run", || !upstream.received().is_empty());
    crash(&server, stream);
    chat.model.reply(ModelReply::says("It may have run."));
    assert_eq!(said(&chat.say("What happened?")), "It may have run.");
    let calls = calls_of(&chat.messages()[1]);
    assert_eq!(calls.len(), 32);
    assert!(calls.iter().all(|it| it["state"] == "output-error"), "{:.300}", json!(calls).to_string());
    assert!(calls[0]["input"].as_str().unwrap().starts_with("[left out of the message: "));
}

#[test]
fn a_message_that_broke_off_is_stored_even_if_nobody_comes_back() {
    let server = Server::start("playground-crash-alarm", &VARS);
    let chat = Chat::of(&server.client(&unique("ws")), json!({}));
    chat.model.reply(ModelReply::calls(&[("list_files", json!({}))]));
    chat.model.reply(ModelReply::stream().text("Half").wait(&Gate::default()));
    let mut stream = chat.begin("Go");
    stream.until("text-delta");
    crash(&server, stream);
    // A look from outside starts nothing: the object's own alarm comes after a minute.
    for _ in 0..45 {
        if chat.messages().len() == 2 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_secs(2));
    }
    let message = chat.last_message();
    assert_eq!((&message["role"], &message["finish_reason"]), (&json!("assistant"), &json!("error")));
    assert_eq!(calls_of(&message)[0]["state"], "output-available");
    assert!(message["metadata"]["ended_by"].as_str().unwrap().contains("broke off"), "{message}");
}

#[test]
fn a_turn_that_waits_for_an_approval_outlives_the_runtime() {
    let server = Server::start("playground-crash-approval", &VARS);
    let (chat, upstream) = (Chat::of(&server.client(&unique("ws")), json!({})), Upstream::start());
    chat.attach_http("asks", &upstream.at("/text"), json!({"requires_approval": true}));
    chat.model.reply(ModelReply::calls(&[("asks", json!({}))]));
    let events = chat.say("Go");
    let approval = approval_of(&events);
    server.kill_runtime();
    server.restart();
    chat.model.reply(ModelReply::says("Done."));
    chat.client.post(&format!("/api/approvals/{approval}/approve"), json!({})).success();
    eventually("the turn goes on", || text_of(&chat.last_message()) == "Done.");
    assert_eq!((chat.messages().len(), upstream.received().len()), (2, 1));
    assert_eq!(calls_of(&chat.last_message())[0]["output"], "plain words");
}

/// The look at the approvals of a turn that waits comes after seconds.
fn quick_vars(times: &str) -> [(&str, &str); 4] {
    [VARS[0], VARS[1], VARS[2], ("CHAT_TIMES", times)]
}

#[test]
fn a_turn_that_broke_off_while_an_approved_call_ran_keeps_its_message_and_goes_on() {
    let times = r#"{"look_after_seconds": 1, "approval_look_seconds": 1}"#;
    let (server, upstream) = (Server::start("playground-crash-approved", &quick_vars(times)), Upstream::start());
    let (chat, _) = paused(&server, &upstream, "/slow");
    let before = chat.last_message();
    // The client itself answers, so that the call runs within the turn.
    let mut answer = json!({"id": before["id"], "role": "assistant", "parts": before["parts"]});
    for part in answer["parts"].as_array_mut().unwrap().iter_mut().filter(|it| it["state"] == "approval-requested") {
        part["state"] = "approval-responded".into();
        part["approval"]["approved"] = true.into();
    }
    let body = chat.body(json!({"messages": [answer]}));
    let stream = chat.client.open_chat("s", &body);
    eventually("the call runs", || upstream.received().len() == 1);
    crash(&server, stream);
    // The object's alarm, or whatever comes first.
    std::thread::sleep(std::time::Duration::from_secs(3));
    let after = chat.last_message();
    assert_eq!((&after["parts"], &after["finish_reason"]), (&before["parts"], &before["finish_reason"]));
    // The sweep ends the call, whose runtime is gone, and the turn that waits finds out by itself.
    chat.model.reply(ModelReply::says("It broke off."));
    server.sql("UPDATE tool_calls SET deadline_at = '2026-01-01T00:00:00.000Z' WHERE status = 'running'", &[]);
    assert_eq!(server.ask(json!({"scheduled": "*/5 * * * *"}))["outcome"], "ok");
    eventually("the turn goes on", || text_of(&chat.last_message()) == "Let me.It broke off.");
    assert_eq!(calls_of(&chat.last_message())[0]["state"], "output-error");
    assert_eq!((upstream.received().len(), chat.messages().len()), (1, 2), "nothing ran twice");
}

#[test]
fn a_turn_that_broke_off_after_an_approval_keeps_the_outcome_of_its_call() {
    let (server, upstream) = (Server::start("playground-crash-resumed", &VARS), Upstream::start());
    let (chat, events) = paused(&server, &upstream, "/text");
    chat.model.reply(ModelReply::stream().text("Half").wait(&Gate::default()));
    chat.client.post(&format!("/api/approvals/{}/approve", approval_of(&events)), json!({})).success();
    eventually("the turn goes on", || chat.model.times_asked() == 2);
    let mut stream = chat.resume().expect("the turn is under way");
    stream.until("text-delta");
    crash(&server, stream);
    chat.model.reply(ModelReply::says("Here I am."));
    assert_eq!(said(&chat.say("Are you there?")), "Here I am.");
    let [_, broken, _, _] = chat.messages().try_into().unwrap();
    assert!(text_of(&broken).starts_with("Let me."), "{broken}");
    assert_eq!(calls_of(&broken)[0]["output"], "plain words");
    assert_eq!((&broken["finish_reason"], upstream.received().len()), (&json!("error"), 1));
}

#[test]
fn a_message_that_could_not_be_stored_at_once_still_waits_for_its_approval() {
    let lost = "D1_ERROR: Network connection lost.";
    let fault = json!([{"has": ["\"late\"", "ON CONFLICT (workspace_id, session_id, generation, id)"], "times": 4,
        "ran": false, "message": lost}]);
    let (fault, times) = (fault.to_string(), r#"{"look_after_seconds": 1}"#);
    let vars = [VARS[0], VARS[1], VARS[2], ("CHAT_TIMES", times), ("D1_FAULTS", fault.as_str())];
    let (server, upstream) = (Server::start("playground-crash-late", &vars), Upstream::start());
    let chat = Chat::of(&server.client("late"), json!({}));
    chat.attach_http("asks", &upstream.at("/text"), json!({"requires_approval": true}));
    chat.model.reply(ModelReply::calls(&[("asks", json!({}))]));
    let events = chat.say("Go");
    assert!(super::error(&events).contains("tried again"), "{events:#?}");
    eventually("the alarm stores the message", || chat.messages().len() == 2);
    assert_eq!(calls_of(&chat.last_message())[0]["state"], "approval-requested");
    chat.model.reply(ModelReply::says("Done."));
    chat.client.post(&format!("/api/approvals/{}/approve", approval_of(&events)), json!({})).success();
    eventually("the turn goes on", || text_of(&chat.last_message()) == "Done.");
    assert_eq!(calls_of(&chat.last_message())[0]["output"], "plain words");
}

#[test]
fn a_check_out_first_ends_the_message_that_broke_off() {
    let server = Server::start("playground-crash-check-out", &VARS);
    let chat = Chat::of(&server.client(&unique("ws")), json!({}));
    chat.model.reply(ModelReply::calls(&[("list_files", json!({}))]));
    chat.model.reply(ModelReply::stream().text("Half").wait(&Gate::default()));
    let mut stream = chat.begin("Go");
    stream.until("text-delta");
    let told = crash(&server, stream);
    let question = chat.last_message()["id"].as_str().unwrap().to_owned();
    chat.check_out(&question).ok();
    // Otherwise the alarm would store the message later, and make it the present again.
    let leaf = format!("messages?leaf={}", told[0]["messageId"].as_str().unwrap());
    assert_eq!(chat.client.get(&chat.path(&leaf)).ok()["messages"].as_array().unwrap().len(), 2);
    assert_eq!(chat.client.get("/api/sessions/s").ok()["active_message_id"], json!(question));
}

#[test]
fn a_long_text_with_a_rare_character_is_kept() {
    let server = Server::start("playground-crash-long", &VARS);
    let chat = Chat::of(&server.client(&unique("ws")), json!({}));
    // Two bytes for each character, because of one of them.
    let long = format!("{}\u{1f388}", "x".repeat(1_000_000));
    chat.model.reply(ModelReply::stream().text(&long).call("list_files", "{}").finish("tool_calls"));
    chat.model.reply(ModelReply::stream().text("Half").wait(&Gate::default()));
    let mut stream = chat.begin("Go");
    stream.until("tool-output-available");
    stream.until("text-delta");
    crash(&server, stream);
    chat.model.reply(ModelReply::says("Here I am."));
    assert_eq!(said(&chat.say("Are you there?")), "Here I am.");
    let broken = chat.messages().remove(1);
    assert!(text_of(&broken).starts_with(&long), "{}", text_of(&broken).len());
    assert_eq!(calls_of(&broken)[0]["state"], "output-available");
}
