//! One turn at a time in a session, many clients of one turn, and many sessions at once.

use super::{Chat, agree, eventually, finished, said, text_of};
use crate::harness::{Gate, ModelReply, Upstream, race};
use serde_json::json;
use std::time::Duration;

#[test]
fn a_second_client_joins_and_both_end_up_with_the_same_message() {
    let (chat, upstream) = (Chat::new(), Upstream::start());
    chat.attach_http("later", &upstream.at("/later"), json!({}));
    let gates = [(); 3].map(|()| Gate::default());
    let first = ModelReply::stream().reasoning("Hm").text("One").wait(&gates[0]).text(" two").wait(&gates[1]);
    chat.model.reply(first.call("later", r#"{"a": 1}"#).finish("tool_calls"));
    chat.model.reply(ModelReply::stream().text("three").wait(&gates[2]).text("!").finish("stop"));
    let mut early = chat.begin("Count");
    early.until("text-delta");
    let joined = chat.resume().expect("a turn is under way");
    gates[0].open();
    early.until("text-delta");
    let in_text = chat.resume().expect("a turn is under way");
    gates[1].open();
    early.until("tool-input-available");
    let in_call = chat.resume().expect("a turn is under way");
    early.until("tool-output-available");
    early.until("text-delta");
    let late = chat.resume().expect("a turn is under way");
    gates[2].open();
    let all = [early, joined, in_text, in_call, late].map(|it| it.rest());
    let message = chat.last_message();
    assert_eq!(text_of(&message), "One twothree!");
    for events in &all {
        assert_eq!(finished(events), "stop");
        agree(events, &message);
    }
    assert!(chat.resume().is_none());
}

#[test]
fn eight_clients_listen_to_a_turn_and_no_more() {
    let chat = Chat::new();
    let gates = [(); 2].map(|()| Gate::default());
    let mut reply = ModelReply::stream().text("Hel").wait(&gates[0]);
    // The runtime notices that a client has left when it writes to the client.
    for _ in 0..100 {
        reply = reply.pause(Duration::from_millis(50)).text("l");
    }
    chat.model.reply(reply.wait(&gates[1]).text("o").finish("stop"));
    let mut clients = vec![chat.begin("Hi")];
    clients[0].until("text-delta");
    clients.extend((1..8).map(|_| chat.resume().expect("a turn is under way")));
    let path = chat.path("chat/any/stream");
    let refused = chat.client.get(&path).refused(409, "CONFLICT");
    assert!(refused.message.contains("8 clients listen"), "{refused:?}");
    drop(clients.pop());
    gates[0].open();
    eventually("a client that has left makes room for another one", || {
        chat.client.begin("GET", &path, None).is_some_and(|it| it.status() == 200)
    });
    gates[1].open();
    for client in clients {
        assert_eq!(said(&client.rest()), format!("Hel{}o", "l".repeat(100)), "the others have missed nothing");
    }
}

#[test]
fn nothing_is_under_way_in_a_session_without_a_turn() {
    let chat = Chat::new();
    // `useChat` with `resume: true` asks for the stream of a chat before its first message.
    assert!(chat.resume().is_none());
    chat.stop().refused(404, "NOT_FOUND");
    chat.client.put("/api/sessions/s/files/f", "x").created();
    assert!(chat.resume().is_none());
    chat.stop().no_content();
    assert_eq!(chat.messages(), Vec::<serde_json::Value>::new());
}

#[test]
fn a_silent_stream_is_kept_alive() {
    let chat = Chat::quick();
    // The server of the model says something in time, and nothing that the client is told.
    let mut reply = ModelReply::stream().text("Hel");
    for _ in 0..6 {
        reply = reply.pause(Duration::from_millis(500)).raw(": wait\n\n");
    }
    chat.model.reply(reply.text("lo").finish("stop"));
    let mut stream = chat.begin("Hi");
    while stream.next().is_some() {}
    assert_eq!(said(&stream.events), "Hello");
    assert!((1..=3).contains(&stream.comments), "{}", stream.comments);
}

#[test]
fn a_session_has_one_turn_at_a_time() {
    let chat = Chat::new();
    chat.model.reply(ModelReply::says("First."));
    chat.say("Zero");
    let before = chat.last_message();
    let gate = Gate::default();
    chat.model.reply(ModelReply::stream().text("Hel").wait(&gate).text("lo").finish("stop"));
    let mut stream = chat.begin("One");
    stream.until("text-delta");
    let refused = chat.post(json!({"message": "Two"})).refused(409, "CONFLICT");
    assert!(refused.message.contains("under way"), "{refused:?}");
    chat.post(json!({"trigger": "regenerate-message"})).refused(409, "CONFLICT");
    chat.check_out(before["id"].as_str().unwrap()).refused(409, "CONFLICT");
    // Another session of the same agent is free.
    let other = Chat { session: "other".into(), ..chat.as_caller(&chat.client) };
    chat.model.reply(ModelReply::says("Elsewhere."));
    assert_eq!(said(&other.say("Hi")), "Elsewhere.");
    gate.open();
    let events = stream.rest();
    assert_eq!(said(&events), "Hello");
    assert_eq!(chat.messages().len(), 4, "a refused message is not stored");
    chat.model.reply(ModelReply::says("Now."));
    assert_eq!(said(&chat.say("Two")), "Now.", "the next turn begins at once");
}

#[test]
fn of_racing_messages_one_begins_a_turn() {
    let chat = Chat::new();
    let gate = Gate::default();
    let waiting = gate.clone();
    chat.model.otherwise(move |_| ModelReply::stream().wait(&waiting).text("Yes").finish("stop"));
    let answers = std::thread::scope(|threads| {
        threads.spawn(|| {
            std::thread::sleep(Duration::from_secs(2));
            gate.open();
        });
        race(6, |index| chat.post(json!({"message": format!("Message {index}")})).status)
    });
    assert_eq!(answers.iter().filter(|it| **it == 200).count(), 1, "{answers:?}");
    assert_eq!(answers.iter().filter(|it| **it == 409).count(), 5, "{answers:?}");
    assert_eq!((chat.messages().len(), chat.model.times_asked()), (2, 1));
}

#[test]
fn twenty_turns_in_twenty_sessions_do_not_mix() {
    let chat = Chat::new();
    chat.model.otherwise(|request| {
        let messages = request.body["messages"].as_array().unwrap();
        let asked = messages.iter().rfind(|it| it["role"] == "user").unwrap()["content"].as_str().unwrap().to_owned();
        if messages.last().unwrap()["role"] == "tool" {
            ModelReply::stream().text("I wrote ").pause(Duration::from_millis(50)).text(&asked).finish("stop")
        } else {
            ModelReply::calls(&[("write_file", json!({"path": "/f", "content": asked}))])
        }
    });
    let ends = race(20, |index| {
        let own = Chat { session: format!("s{index}"), ..chat.as_caller(&chat.client) };
        let mut texts = Vec::new();
        for turn in 0..2 {
            let events = own.say(&format!("text {turn} of {index}"));
            agree(&events, &own.last_message());
            texts.push(said(&events));
        }
        (texts, own.file("f"), own.messages().len())
    });
    for (index, (texts, file, messages)) in ends.into_iter().enumerate() {
        assert_eq!(texts, [format!("I wrote text 0 of {index}"), format!("I wrote text 1 of {index}")]);
        assert_eq!((file, messages), (Some(format!("text 1 of {index}")), 4));
    }
    assert_eq!(chat.records().len(), 40);
}
