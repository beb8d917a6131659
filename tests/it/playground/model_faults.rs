//! Models' servers that fail. The client is told in one sentence, the message is stored, and the conversation goes on.

use super::{Chat, agree, calls_of, error, finished, kinds, said, text_of};
use crate::harness::{Gate, ModelReply};
use serde_json::json;
use std::time::{Duration, Instant};

/// A turn against these answers ends with a sentence that has these words, and the conversation goes on.
#[track_caller]
fn fails(replies: Vec<ModelReply>, words: &[&str]) {
    let chat = Chat::new();
    for reply in replies {
        chat.model.reply(reply);
    }
    let events = chat.say("Hi");
    let told = error(&events);
    for word in words {
        assert!(told.contains(word), "{told:?} has no {word:?}");
    }
    assert_eq!(kinds(&events)[..2], ["start", "start-step"]);
    let message = chat.last_message();
    assert_eq!((&message["role"], &message["finish_reason"]), (&json!("assistant"), &json!("error")));
    assert_eq!(message["metadata"]["ended_by"], told);
    agree(&events, &message);
    chat.model.reply(ModelReply::says("Hello"));
    assert_eq!(said(&chat.say("Again")), "Hello");
    assert_eq!(chat.messages().len(), 4);
}

#[test]
fn a_refusal_of_the_server_is_told_with_its_words() {
    let refusal = |status, message: &str| ModelReply::with(status, json!({"error": {"message": message}}).to_string());
    fails(vec![refusal(401, "Incorrect API key")], &["key", "401", "Incorrect API key"]);
    fails(vec![refusal(404, "no such model")], &["404", "no such model"]);
    fails(vec![refusal(400, "too long")], &["400", "too long"]);
    fails(vec![ModelReply::with(500, "it broke")], &["500", "it broke"]);
    fails(vec![ModelReply::with(502, "<html>Bad gateway</html>")], &["502"]);
    fails(vec![ModelReply::with(302, "").header("Location", "/v1/elsewhere")], &["302"]);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "this runs on the host")]
fn a_busy_server_is_waited_for_once() {
    let busy = || ModelReply::with(429, r#"{"error": {"message": "Slow down"}}"#).header("Retry-After", "1");
    let chat = Chat::new();
    chat.model.reply(busy());
    chat.model.reply(ModelReply::says("Hello"));
    let begun = Instant::now();
    assert_eq!(said(&chat.say("Hi")), "Hello");
    assert!((1.0..6.0).contains(&begun.elapsed().as_secs_f64()), "{:?}", begun.elapsed());
    assert_eq!(chat.model.times_asked(), 2);
    fails(vec![busy(), busy()], &["429", "Slow down"]);
}

#[test]
fn a_server_that_does_not_know_stream_options_is_asked_without_them() {
    let chat = Chat::new();
    let refusal = json!({"error": {"message": "Unrecognized request argument supplied: stream_options"}});
    chat.model.reply(ModelReply::with(400, refusal.to_string()));
    chat.model.reply(ModelReply::says("Hello"));
    assert_eq!(said(&chat.say("Hi")), "Hello");
    let asked = chat.model.asked();
    assert_eq!(asked.len(), 2);
    assert!(asked[0].body.get("stream_options").is_some() && asked[1].body.get("stream_options").is_none());
    assert_eq!((&asked[0].body["messages"], &asked[1].body["stream"]), (&asked[1].body["messages"], &json!(true)));
    let refusal = || ModelReply::with(400, refusal.to_string());
    fails(vec![refusal(), refusal()], &["400", "stream_options"]);
}

#[test]
fn an_answer_that_breaks_off_is_told_and_kept_as_far_as_it_came() {
    for reply in [
        ModelReply::stream().text("Half of").break_off(),
        ModelReply::stream().text("Half of"),
        ModelReply::stream().text("Half of").raw("data: {\"choices\": [{\"del\n\n"),
        ModelReply::stream().text("Half of").chunk(json!({"error": {"message": "overloaded", "code": 529}})),
    ] {
        let chat = Chat::new();
        chat.model.reply(reply);
        let events = chat.say("Hi");
        assert!(error(&events).starts_with("The "), "{}", error(&events));
        let message = chat.last_message();
        assert_eq!((text_of(&message).as_str(), &message["finish_reason"]), ("Half of", &json!("error")));
        agree(&events, &message);
    }
    fails(vec![ModelReply::stream().chunk(json!({"error": {"message": "overloaded"}}))], &["overloaded"]);
}

#[test]
fn calls_of_an_answer_that_breaks_off_are_not_made() {
    let chat = Chat::new();
    let call = ModelReply::stream().call("write_file", r#"{"path": "/a", "content": "x"}"#);
    chat.model.reply(call.break_off());
    let events = chat.say("Go");
    assert!(error(&events).starts_with("The "), "{events:#?}");
    assert_eq!((chat.records().len(), chat.file("a")), (0, None));
    chat.model.reply(ModelReply::says("Hello"));
    assert_eq!(said(&chat.say("Again")), "Hello");
    assert!(calls_of(&chat.messages()[1]).iter().all(|it| it["state"] == "output-error"));
}

#[test]
fn what_is_no_answer_of_a_model_is_told() {
    fails(vec![ModelReply::with(200, "")], &["empty"]);
    fails(vec![ModelReply::stream()], &["The model's server"]);
    fails(vec![ModelReply::with(200, "<html>Welcome</html>")], &["no chat completion"]);
    fails(vec![ModelReply::with(200, vec![0xff, 0xfe, 0x00])], &["The model's server"]);
    fails(vec![ModelReply::stream().raw("data: nonsense\n\n")], &["not valid JSON"]);
}

#[test]
fn an_endless_answer_is_cut_off() {
    let chat = Chat::new();
    let piece = "x".repeat(64 * 1024);
    let reply = (0..160).fold(ModelReply::stream(), |it, _| it.text(&piece));
    chat.model.reply(reply.finish("stop"));
    let events = chat.say("Ten megabytes");
    assert!(error(&events).contains("too large"), "{}", error(&events));
    let stored = text_of(&chat.last_message()).len();
    assert!((900_000..1_100_000).contains(&stored), "{stored}");
    chat.model.reply(ModelReply::stream().raw(&format!("data: \"{}\"\n\n", "x".repeat(10 * 1024 * 1024))));
    let events = chat.say("One line of ten megabytes");
    assert!(error(&events).contains("too large"), "{}", error(&events));
    chat.model.reply(ModelReply::says("Hello"));
    let events = chat.say("Again");
    assert_eq!((said(&events).as_str(), finished(&events)), ("Hello", "stop"));
}

#[test]
fn a_server_that_cannot_be_reached_is_told() {
    let chat = Chat::new();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    chat.client.patch("/api/workspace", json!({"model_url": format!("http://{closed}/v1")})).ok();
    let events = chat.say("Hi");
    assert!(error(&events).contains("cannot be reached"), "{}", error(&events));
    assert_eq!(chat.last_message()["finish_reason"], "error");
}

#[test]
fn a_document_of_ten_megabytes_is_refused() {
    let chat = Chat::new();
    chat.client.patch("/api/workspace", json!({"model_streaming": "never"})).ok();
    let long = "x".repeat(10 * 1024 * 1024);
    chat.model.reply(ModelReply::document(json!({"role": "assistant", "content": long}), "stop"));
    let events = chat.say("Ten megabytes");
    assert!(error(&events).contains("too large"), "{}", error(&events));
    assert_eq!(chat.last_message()["finish_reason"], "error");
    chat.model.reply(ModelReply::document(json!({"role": "assistant", "content": "Hello"}), "stop"));
    let events = chat.say("Again");
    assert_eq!((said(&events).as_str(), finished(&events)), ("Hello", "stop"));
}

#[test]
fn an_error_after_a_text_is_told_at_once_although_the_connection_stays_open() {
    let chat = Chat::quick();
    let text = json!({"choices": [{"index": 0, "delta": {"content": "Er"}, "finish_reason": null}]});
    let piece = format!("data: {text}\n\ndata: {}\n\n", json!({"error": {"message": "Overloaded"}}));
    chat.model.reply(ModelReply::stream().raw(&piece).wait(&Gate::default()));
    let events = chat.say("Hi");
    assert!(error(&events).contains("Overloaded"), "{}", error(&events));
    assert_eq!((said(&events).as_str(), text_of(&chat.last_message()).as_str()), ("Er", "Er"));
}

#[test]
fn a_server_that_is_silent_is_told() {
    let chat = Chat::quick();
    chat.model.reply(ModelReply::stream().text("Er").pause(Duration::from_secs(4)).text("m").finish("stop"));
    let events = chat.say("Hi");
    assert!(error(&events).contains("silent for 2 seconds"), "{}", error(&events));
    assert_eq!(text_of(&chat.last_message()), "Er");
    // A server that does not stream is silent until its answer is complete.
    chat.client.patch("/api/workspace", json!({"model_streaming": "never"})).ok();
    let answer = ModelReply::document(json!({"role": "assistant", "content": "At last"}), "stop");
    chat.model.reply(ModelReply::with(200, "").pause(Duration::from_secs(4)).then(answer));
    assert_eq!(said(&chat.say("Think")), "At last");
    chat.client.patch("/api/workspace", json!({"model_streaming": "always"})).ok();
    // The connection is taken, and nothing ever comes back.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    chat.client.patch("/api/workspace", json!({"model_url": url})).ok();
    let events = chat.say("Anybody there?");
    assert!(error(&events).contains("silent for 2 seconds"), "{}", error(&events));
    assert_eq!(chat.last_message()["finish_reason"], "error");
}
