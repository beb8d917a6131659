//! Turns that pause because a call waits for an approval, and that go on when it is decided.

use super::{Chat, agree, calls_of, event, eventually, finished, guarded, has, id_of, kinds, quick, said, text_of};
use crate::harness::{Answer, Client, Gate, ModelReply, Server, Tool, Upstream, open};
use serde_json::{Value, json};

/// Gives the chat's agent the tool `writer`, which writes files and needs an approval.
fn with_writer(server: &Server, chat: Chat) -> Chat {
    Tool::new("writer").builtin("write_file").with(json!({"requires_approval": 1})).put(server, &chat.client);
    chat.attach("writer");
    chat.attach("list_files");
    chat
}

fn open_chat() -> Chat {
    with_writer(open(), Chat::new())
}

fn closed_chat() -> Chat {
    with_writer(&guarded().server, Chat::guarded())
}

fn write(path: &str) -> (&'static str, Value) {
    ("writer", json!({"path": path, "content": "x"}))
}

/// Begins a turn that pauses, and returns its events and the ids of the approvals.
#[track_caller]
fn pause(chat: &Chat, calls: &[(&str, Value)]) -> (Vec<Value>, Vec<String>) {
    chat.model.reply(ModelReply::calls(calls));
    let events = chat.say("Write it");
    assert_eq!(finished(&events), "tool-calls");
    let requests = events.iter().filter(|it| it["type"] == "tool-approval-request");
    let ids = requests.map(|it| it["approvalId"].as_str().unwrap().to_owned()).collect();
    (events, ids)
}

fn decide(client: &Client, approval: &str, word: &str) -> Answer {
    client.post(&format!("/api/approvals/{approval}/{word}"), json!({"reason": "because"}))
}

/// The fields that a chat's client posts when its user has answered the approvals of the last message.
fn answered(chat: &Chat, approved: bool) -> Value {
    let mut message = chat.last_message();
    for part in message["parts"].as_array_mut().unwrap().iter_mut().filter(|it| it["state"] == "approval-requested") {
        part["state"] = "approval-responded".into();
        part["approval"]["approved"] = approved.into();
        part["approval"]["reason"] = "I say so".into();
    }
    let message = json!({"id": message["id"], "role": "assistant", "parts": message["parts"]});
    json!({"id": "c", "messages": [message], "trigger": "submit-message"})
}

#[test]
fn a_call_that_needs_an_approval_pauses_the_turn() {
    let chat = open_chat();
    let (events, approvals) = pause(&chat, &[write("/a")]);
    assert_eq!(
        kinds(&events),
        [
            "start",
            "start-step",
            "tool-input-start",
            "tool-input-delta",
            "tool-input-available",
            "tool-approval-request",
            "data-call",
            "finish-step",
            "finish"
        ]
    );
    let message = chat.last_message();
    agree(&events, &message);
    let call = &calls_of(&message)[0];
    assert_eq!((&call["state"], &call["approval"]["id"]), (&json!("approval-requested"), &json!(approvals[0])));
    assert_eq!(message["finish_reason"], "tool-calls");
    let data = &event(&events, "data-call")["data"];
    assert_eq!((&data["status"], &data["approval_id"]), (&json!("pending_approval"), &json!(approvals[0])));
    assert_eq!(chat.client.record(data)["message_id"], message["id"]);
    assert!(chat.resume().is_none(), "nothing is under way");
    assert_eq!((chat.model.times_asked(), chat.file("a")), (1, None));
}

#[test]
fn an_approval_given_elsewhere_goes_on_with_the_turn() {
    let chat = open_chat();
    let (events, approvals) = pause(&chat, &[write("/a")]);
    let gate = Gate::default();
    chat.model.reply(ModelReply::stream().text("Written").wait(&gate).text(".").finish("stop"));
    let done = decide(&chat.client, &approvals[0], "approve").result(200);
    assert_eq!(done["success"], true);
    eventually("the turn goes on", || chat.model.times_asked() == 2);
    let stream = chat.resume().expect("the turn is under way");
    gate.open();
    let resumed = stream.rest();
    let message = chat.last_message();
    assert_eq!((event(&resumed, "start")["messageId"].as_str(), finished(&resumed)), (Some(id_of(&message)), "stop"));
    assert_eq!(event(&events, "start")["messageId"], message["id"], "the same message goes on");
    assert_eq!(said(&resumed), "Written.");
    let call = &calls_of(&message)[0];
    assert_eq!((&call["state"], &call["output"]), (&json!("output-available"), &json!("Wrote 1 bytes to /a")));
    assert_eq!(call["approval"], json!({"id": approvals[0], "approved": true}));
    assert_eq!((text_of(&message).as_str(), &message["finish_reason"]), ("Written.", &json!("stop")));
    assert_eq!(calls_of(&json!({"parts": super::parts_of(&resumed)}))[0]["output"], call["output"]);
    let told = chat.model.last_messages().pop().unwrap();
    assert_eq!((&told["role"], &told["content"]), (&json!("tool"), &json!("Wrote 1 bytes to /a")));
    assert_eq!((chat.messages().len(), chat.records().len(), chat.file("a").as_deref()), (2, 1, Some("x")));
    assert_eq!(message["manifest_id"], done["post_manifest_id"]);
}

#[test]
fn a_denial_goes_on_with_the_turn_and_the_model_learns_of_it() {
    let chat = open_chat();
    let (_, approvals) = pause(&chat, &[write("/a")]);
    let gate = Gate::default();
    chat.model.reply(ModelReply::stream().wait(&gate).text("A pity.").finish("stop"));
    decide(&chat.client, &approvals[0], "deny").ok();
    eventually("the turn goes on", || chat.model.times_asked() == 2);
    let resumed = chat.resume().expect("the turn is under way");
    gate.open();
    let resumed = resumed.rest();
    assert!(has(&resumed, "tool-output-denied"), "{resumed:#?}");
    let message = chat.last_message();
    let call = &calls_of(&message)[0];
    assert_eq!((&call["state"], &call["approval"]["approved"]), (&json!("output-denied"), &json!(false)));
    assert_eq!(text_of(&message), "A pity.");
    let told = chat.model.last_messages().pop().unwrap()["content"].as_str().unwrap().to_owned();
    assert!(told.contains("denied") && told.contains("because"), "{told}");
    assert_eq!(chat.file("a"), None);
}

#[test]
fn a_turn_goes_on_when_the_last_of_its_approvals_is_decided() {
    let chat = open_chat();
    let (_, approvals) = pause(&chat, &[write("/a"), ("list_files", json!({})), write("/b")]);
    assert_eq!(approvals.len(), 2);
    let states = |chat: &Chat| calls_of(&chat.last_message()).iter().map(|it| it["state"].clone()).collect::<Vec<_>>();
    assert_eq!(states(&chat), ["approval-requested", "output-available", "approval-requested"]);
    decide(&chat.client, &approvals[0], "approve").result(200);
    chat.settle();
    eventually("the message tells of the first", || states(&chat)[0] == "output-available");
    assert_eq!((states(&chat)[2].as_str(), chat.model.times_asked()), (Some("approval-requested"), 1));
    chat.model.reply(ModelReply::says("Half."));
    decide(&chat.client, &approvals[1], "deny").ok();
    eventually("the turn goes on", || text_of(&chat.last_message()) == "Half.");
    assert_eq!(states(&chat), ["output-available", "output-available", "output-denied"]);
    let told = chat.model.last_messages().into_iter().filter(|it| it["role"] == "tool").collect::<Vec<_>>();
    assert_eq!(told.len(), 3);
    assert_eq!((chat.messages().len(), chat.records().len()), (2, 3));
}

#[test]
fn decisions_at_the_same_moment_go_on_with_the_turn_once() {
    let chat = open_chat();
    let (_, approvals) = pause(&chat, &[write("/a"), write("/b"), write("/c")]);
    chat.model.reply(ModelReply::says("All."));
    crate::harness::race(3, |index| decide(&chat.client, &approvals[index], "approve").result(200));
    eventually("the turn goes on", || text_of(&chat.last_message()) == "All.");
    chat.settle();
    assert_eq!((chat.model.times_asked(), chat.messages().len(), chat.records().len()), (2, 2, 3));
    assert!(calls_of(&chat.last_message()).iter().all(|it| it["state"] == "output-available"));
}

#[test]
fn an_approval_that_expired_is_told_to_the_model() {
    let chat = open_chat();
    let (_, approvals) = pause(&chat, &[write("/a")]);
    let expire = "UPDATE approvals SET expires_at = '2026-01-01T00:00:00.000Z' WHERE workspace_id = ?1";
    open().sql(expire, &[json!(chat.client.workspace())]);
    decide(&chat.client, &approvals[0], "approve").refused(409, "CONFLICT");
    chat.model.reply(ModelReply::says("Too late."));
    let events = chat.send(answered(&chat, true));
    assert_eq!((said(&events).as_str(), finished(&events)), ("Too late.", "stop"));
    let call = calls_of(&chat.last_message()).remove(0);
    assert_eq!(call["state"], "output-error", "{call}");
    assert!(call["errorText"].as_str().unwrap().contains("APPROVAL_EXPIRED"), "{call}");
    assert!(chat.model.last_messages().pop().unwrap()["content"].as_str().unwrap().contains("APPROVAL_EXPIRED"));
    assert_eq!(chat.file("a"), None);
}

#[test]
fn an_admin_decides_in_the_chat() {
    for (approved, state) in [(true, "output-available"), (false, "output-denied")] {
        let chat = closed_chat();
        let made = chat.client.post("/api/tokens", json!({"name": "boss", "level": "admin"})).created();
        let admin = chat.client.with_token(made["token"].as_str().unwrap());
        let (events, approvals) = pause(&chat, &[write("/a")]);
        chat.model.reply(ModelReply::says("I see."));
        let more = chat.as_caller(&admin).send(answered(&chat, approved));
        assert_eq!(event(&more, "start")["messageId"], event(&events, "start")["messageId"]);
        let outcome = if approved { "tool-output-available" } else { "tool-output-denied" };
        assert_eq!(kinds(&more)[..4], ["start", outcome, "data-call", "start-step"], "the outcome comes first");
        assert_eq!((said(&more).as_str(), finished(&more)), ("I see.", "stop"));
        let approval = admin.get(&format!("/api/approvals/{}", approvals[0])).ok();
        assert_eq!(approval["status"], if approved { "approved" } else { "denied" });
        assert_eq!((&approval["decided_by"], &approval["reason"]), (&made["id"], &json!("I say so")));
        let call = calls_of(&chat.last_message()).remove(0);
        assert_eq!(call["state"], state);
        assert_eq!((chat.file("a").is_some(), chat.records().len(), chat.messages().len()), (approved, 1, 2));
    }
}

#[test]
fn the_answer_of_a_caller_who_may_not_decide_is_ignored_and_asked_for_again() {
    let chat = closed_chat();
    let bound = json!({"name": "b", "level": "owner", "agent_id": chat.agent});
    let user = chat.client.token(json!({"name": "u", "level": "user"}));
    let bound = chat.client.token(bound);
    let own = chat.as_caller(&bound);
    let (_, approvals) = pause(&own, &[write("/a")]);
    for caller in [&user, &bound] {
        let again = chat.as_caller(caller).send(answered(&chat, true));
        assert_eq!(finished(&again), "tool-calls");
        assert_eq!(event(&again, "tool-approval-request")["approvalId"], json!(approvals[0]));
        assert!(!has(&again, "start-step"), "the model is not asked: {again:#?}");
    }
    assert_eq!((chat.model.times_asked(), chat.file("a")), (1, None));
    assert_eq!(chat.client.get(&format!("/api/approvals/{}", approvals[0])).ok()["status"], "pending");
    // The turn still goes on when an admin decides, for the caller who began it.
    chat.model.reply(ModelReply::calls(&[("list_files", json!({}))]));
    chat.model.reply(ModelReply::says("Done."));
    decide(&chat.client, &approvals[0], "approve").result(200);
    eventually("the turn goes on", || text_of(&chat.last_message()) == "Done.");
    assert_eq!(chat.file("a").as_deref(), Some("x"));
    let operators = operators(&chat);
    assert_eq!((operators.len(), &operators[0]), (2, &operators[1]), "the ignored answers took nothing over");
}

/// Who made each of the workspace's calls.
fn operators(chat: &Chat) -> Vec<Value> {
    chat.records().iter().map(|it| it["operator"].clone()).collect()
}

#[test]
fn a_turn_stays_the_one_of_its_caller_whoever_answers() {
    let chat = closed_chat();
    let made = |level: &str| chat.client.post("/api/tokens", json!({"name": level, "level": level})).created();
    let (user, admin) = (made("user"), made("admin"));
    let own = |token: &Value| chat.as_caller(&chat.client.with_token(token["token"].as_str().unwrap()));
    chat.model.reply(ModelReply::calls(&[write("/a")]));
    own(&user).send(json!({"message": "Write it", "userId": "ada"}));
    // After the first approval, the turn waits for another one.
    chat.model.reply(ModelReply::calls(&[("list_files", json!({})), write("/b")]));
    let mut answer = answered(&chat, true);
    answer["userId"] = "boss".into();
    assert_eq!(finished(&own(&admin).send(answer)), "tool-calls");
    chat.model.reply(ModelReply::calls(&[("list_files", json!({}))]));
    chat.model.reply(ModelReply::says("Done."));
    assert_eq!(said(&own(&admin).send(answered(&chat, true))), "Done.");
    let records = chat.records();
    assert_eq!(operators(&chat), vec![user["id"].clone(); 4]);
    assert!(records.iter().all(|it| it["user_id"] == "ada"), "{records:#?}");
    let approvals = chat.client.pages("/api/approvals", "approvals", 100);
    assert!(approvals.iter().all(|it| it["decided_by"] == admin["id"]), "{approvals:#?}");
    // The caller's token is what the turn lives on, and not the token of the one who answers.
    chat.model.reply(ModelReply::calls(&[write("/c")]));
    own(&user).say("Once more");
    chat.client.delete(&format!("/api/tokens/{}", user["id"].as_str().unwrap())).no_content();
    let refused = own(&admin).post(answered(&chat, true)).refused(409, "CONFLICT");
    assert!(refused.message.contains("who began the turn"), "{refused:?}");
}

#[test]
fn a_claim_about_an_approval_of_another_conversation_decides_nothing() {
    let chat = open_chat();
    let (_, mine) = pause(&chat, &[write("/a")]);
    let other = Chat { session: "other".into(), ..chat.as_caller(&chat.client) };
    let (_, theirs) = pause(&other, &[write("/b")]);
    let mut claim = answered(&chat, true);
    let parts = claim["messages"][0]["parts"].as_array_mut().unwrap();
    parts.iter_mut().find(|it| it["type"] == "dynamic-tool").unwrap()["approval"]["id"] = json!(theirs[0]);
    let events = chat.send(claim);
    assert_eq!(finished(&events), "tool-calls");
    for approval in [&mine[0], &theirs[0]] {
        assert_eq!(chat.client.get(&format!("/api/approvals/{approval}")).ok()["status"], "pending");
    }
}

#[test]
fn an_approval_of_an_old_message_is_told_in_it_and_moves_nothing() {
    let chat = open_chat();
    let (_, approvals) = pause(&chat, &[write("/a")]);
    chat.model.reply(ModelReply::says("All right."));
    assert_eq!(said(&chat.say("Never mind")), "All right.");
    let told = json!(chat.model.last_messages()).to_string();
    assert!(told.contains("waits for the approval"), "{told}");
    let before = chat.messages();
    let active = chat.client.get("/api/sessions/s").ok()["active_message_id"].clone();
    let done = decide(&chat.client, &approvals[0], "approve").result(200);
    assert_eq!(done["success"], true, "the call itself runs");
    eventually("the old message tells of the outcome", || state(&chat, 1) == "output-available");
    std::thread::sleep(std::time::Duration::from_millis(500));
    let after = chat.messages();
    assert_eq!((chat.model.times_asked(), after.len()), (2, before.len()));
    assert_eq!(chat.client.get("/api/sessions/s").ok()["active_message_id"], active);
    for field in ["id", "parent_id", "manifest_id", "finish_reason", "usage", "metadata", "created_at"] {
        assert_eq!(after[1][field], before[1][field], "{field}");
    }
    assert_eq!(calls_of(&after[1])[0]["output"], "Wrote 1 bytes to /a");
    assert_eq!(chat.file("a").as_deref(), Some("x"));
    chat.model.reply(ModelReply::says("Yes?"));
    assert_eq!(said(&chat.say("Hello?")), "Yes?");
    let told = json!(chat.model.last_messages()).to_string();
    assert!(told.contains("Wrote 1 bytes to /a") && !told.contains("waits for the approval"), "{told}");
}

/// The state of the first call of a message.
fn state(chat: &Chat, message: usize) -> String {
    calls_of(&chat.messages()[message])[0]["state"].as_str().unwrap().to_owned()
}

#[test]
fn a_message_that_waits_goes_on_after_the_conversation_has_come_back_to_it() {
    let (chat, upstream) = (open_chat(), Upstream::start());
    chat.attach_http("asks", &upstream.at("/text"), json!({"requires_approval": true}));
    let (_, approvals) = pause(&chat, &[("asks", json!({})), write("/b")]);
    let [question, waiting] = chat.messages().try_into().unwrap();
    // A turn on another branch.
    let edited = json!([{"id": question["id"], "role": "user", "parts": [{"type": "text", "text": "Or rather"}]}]);
    chat.model.reply(ModelReply::says("As you like."));
    chat.send(json!({"id": "c", "messages": edited, "messageId": question["id"]}));
    // One approval is decided while the conversation is elsewhere, and one after it has come back.
    decide(&chat.client, &approvals[0], "approve").result(200);
    let leaf = chat.path(&format!("messages?leaf={}", id_of(&waiting)));
    let first_state = || calls_of(&chat.client.get(&leaf).ok()["messages"][1])[0]["state"].clone();
    eventually("the message tells of the first", || first_state() == "output-available");
    chat.check_out(id_of(&waiting)).ok();
    assert_eq!(chat.model.times_asked(), 2);
    chat.model.reply(ModelReply::says("Written."));
    decide(&chat.client, &approvals[1], "approve").result(200);
    eventually("the turn goes on", || text_of(&chat.last_message()) == "Written.");
    let message = chat.last_message();
    assert_eq!((&message["id"], message["siblings"].as_array().unwrap().len()), (&waiting["id"], 1));
    assert!(calls_of(&message).iter().all(|it| it["state"] == "output-available"), "{message}");
    assert_eq!((chat.model.times_asked(), chat.records().len()), (3, 2));
}

#[test]
fn a_call_that_works_on_files_is_not_approved_on_another_branch() {
    let chat = open_chat();
    let (_, approvals) = pause(&chat, &[write("/a"), write("/b")]);
    let [question, waiting] = chat.messages().try_into().unwrap();
    let edited = json!([{"id": question["id"], "role": "user", "parts": [{"type": "text", "text": "Or rather"}]}]);
    chat.model.reply(ModelReply::says("As you like."));
    chat.send(json!({"id": "c", "messages": edited, "messageId": question["id"]}));
    let other = chat.last_message();
    let refused = decide(&chat.client, &approvals[0], "approve").refused(409, "CONFLICT");
    assert!(refused.message.contains("another branch") && refused.message.contains(id_of(&waiting)), "{refused:?}");
    assert_eq!(chat.client.get(&format!("/api/approvals/{}", approvals[0])).ok()["status"], "pending");
    assert_eq!((chat.file("a"), chat.records()[0]["status"].as_str()), (None, Some("pending_approval")));
    // A denial touches no file.
    decide(&chat.client, &approvals[1], "deny").ok();
    chat.check_out(id_of(&waiting)).ok();
    chat.model.reply(ModelReply::says("Written."));
    decide(&chat.client, &approvals[0], "approve").success();
    eventually("the turn goes on", || text_of(&chat.last_message()) == "Written.");
    assert_eq!(chat.file("a").as_deref(), Some("x"));
    chat.check_out(id_of(&other)).ok();
    assert_eq!(chat.file("a"), None, "the other branch has its own files");
    chat.check_out(id_of(&waiting)).ok();
    assert_eq!(chat.file("a").as_deref(), Some("x"));
}

#[test]
fn an_approved_call_does_not_bring_a_deleted_session_back() {
    for makes_anew in [false, true] {
        let chat = open_chat();
        let (_, approvals) = pause(&chat, &[write("/a")]);
        chat.client.delete("/api/sessions/s").no_content();
        if makes_anew {
            chat.client.put("/api/sessions/s/files/f", "new").created();
        }
        let failed = decide(&chat.client, &approvals[0], "approve").failed(200, "TOOL_ERROR");
        assert!(failed["error"]["message"].as_str().unwrap().contains("was deleted"), "{failed}");
        assert_eq!(chat.records()[0]["status"], "error");
        if makes_anew {
            assert_eq!((chat.file("f").as_deref(), chat.file("a")), (Some("new"), None));
        } else {
            chat.client.get("/api/sessions/s").refused(404, "NOT_FOUND");
        }
    }
    // The approved call of an ordinary request may make its session.
    let chat = open_chat();
    let call = json!({"tool_name": "writer", "arguments": {"path": "/a", "content": "x"}, "session_id": "t"});
    let asked = chat.client.call(call).json();
    let approval = asked["error"]["details"]["approval_id"].as_str().unwrap();
    decide(&chat.client, approval, "approve").success();
    chat.client.get("/api/sessions/t").ok();
}

#[test]
fn decisions_about_several_messages_during_a_turn_are_all_told() {
    let chat = open_chat();
    let approvals = ["/a", "/b"].map(|path| pause(&chat, &[write(path)]).1.remove(0));
    let gate = Gate::default();
    chat.model.reply(ModelReply::stream().text("Well").wait(&gate).finish("stop"));
    let mut stream = chat.begin("Go on");
    stream.until("text-delta");
    decide(&chat.client, &approvals[0], "approve").result(200);
    decide(&chat.client, &approvals[1], "deny").ok();
    gate.open();
    assert_eq!(finished(&stream.rest()), "stop");
    // The next message comes at once, and is not refused because the old ones are being told.
    chat.model.reply(ModelReply::says("Good."));
    assert_eq!(said(&chat.say("Good?")), "Good.");
    eventually("both messages tell of it", || {
        [state(&chat, 1), state(&chat, 3)] == ["output-available", "output-denied"]
    });
    chat.model.reply(ModelReply::says("Yes."));
    chat.say("Really?");
    let told = json!(chat.model.last_messages()).to_string();
    assert!(told.contains("Wrote 1 bytes to /a") && told.contains("denied it"), "{told}");
    assert!(!told.contains("waits for the approval"), "{told}");
}

#[test]
fn an_old_message_tells_that_its_approval_has_expired() {
    let chat = with_writer(quick(), Chat::quick());
    pause(&chat, &[write("/a")]);
    chat.model.reply(ModelReply::says("All right."));
    chat.say("Never mind");
    let expire = "UPDATE approvals SET expires_at = '2026-01-01T00:00:00.000Z' WHERE workspace_id = ?1";
    quick().sql(expire, &[json!(chat.client.workspace())]);
    eventually("the old message tells of it", || state(&chat, 1) == "output-error");
    let call = calls_of(&chat.messages()[1]).remove(0);
    assert!(call["errorText"].as_str().unwrap().contains("APPROVAL_EXPIRED"), "{call}");
    assert_eq!((chat.model.times_asked(), chat.messages().len()), (2, 4));
}

#[test]
fn a_look_that_fails_is_repeated_until_it_succeeds() {
    let busy = "D1_ERROR: D1 DB is overloaded. Requests queued for too long.";
    // Each look sends its batch four times. The platform itself would repeat an alarm after 2, 4, 8, 16 seconds.
    let faults =
        json!([{"has": ["\"unseen\"", "AS calls, min(iif(c.status"], "times": 24, "ran": false, "message": busy}]);
    let (faults, times) = (faults.to_string(), r#"{"look_after_seconds": 1, "approval_look_seconds": 1}"#);
    let vars = [
        ("AUTH", "open"),
        ("PRIVATE_URLS", "allow"),
        ("SECRET_KEY", "k"),
        ("CHAT_TIMES", times),
        ("D1_FAULTS", faults.as_str()),
    ];
    let server = Server::start("playground-unseen", &vars);
    let chat = with_writer(&server, Chat::of(&server.client("unseen"), json!({})));
    pause(&chat, &[write("/a")]);
    chat.model.reply(ModelReply::says("A pity."));
    deny_unheard(&server, &chat);
    eventually("the turn goes on", || text_of(&chat.last_message()) == "A pity.");
    assert_eq!(state(&chat, 1), "output-denied");
}

#[test]
fn the_secrets_of_a_call_that_waits_are_shown_nowhere() {
    let (chat, upstream) = (Chat::new(), Upstream::start());
    let secret = json!({"type": "string", "writeOnly": true});
    let fields = json!({
        "requires_approval": true,
        "parameters_schema": {"type": "object", "properties": {"pin": secret, "long": {"type": "string"}}},
    });
    chat.attach_http("login", &upstream.at("/echo"), fields);
    let arguments = json!({"pin": "hunter2-pin", "long": "x".repeat(100_000)});
    let (events, approvals) = pause(&chat, &[("login", arguments.clone())]);
    chat.model.reply(ModelReply::says("Done."));
    decide(&chat.client, &approvals[0], "approve").result(200);
    eventually("the turn goes on", || text_of(&chat.last_message()) == "Done.");
    assert_eq!(upstream.received()[0].body["arguments"], arguments, "the tool gets them");
    let message = chat.last_message();
    for text in [json!(events).to_string(), message.to_string(), chat.model.last_asked().to_string()] {
        assert!(!text.contains("hunter2-pin"), "{text}");
    }
    let output = calls_of(&message)[0]["output"].as_str().unwrap().to_owned();
    assert_eq!(output.matches("[cut: ").count(), 1);
    assert!(output.len() < 67_000 && output.contains(" of 10"), "{}", &output[output.len() - 200..]);
}

#[test]
fn a_client_of_version_5_is_told_by_data() {
    let chat = open_chat();
    chat.model.reply(ModelReply::calls(&[write("/a")]));
    let events = chat.send(json!({"message": "Write it", "approvals": "data"}));
    assert!(!has(&events, "tool-approval-request"));
    let asked = event(&events, "data-approval");
    let approval = asked["data"]["approvalId"].as_str().unwrap();
    assert_eq!(asked["id"], asked["data"]["toolCallId"]);
    assert_eq!(finished(&events), "tool-calls");
    let gate = Gate::default();
    chat.model.reply(ModelReply::stream().wait(&gate).text("Well.").finish("stop"));
    decide(&chat.client, approval, "deny").ok();
    eventually("the turn goes on", || chat.model.times_asked() == 2);
    let resumed = chat.resume().expect("the turn is under way");
    gate.open();
    let resumed = resumed.rest();
    assert!(!has(&resumed, "tool-output-denied") && has(&resumed, "tool-output-error"), "{resumed:#?}");
    assert_eq!(calls_of(&chat.last_message())[0]["state"], "output-denied");
}

#[test]
fn an_answer_to_a_message_that_does_not_wait_is_refused() {
    let chat = open_chat();
    chat.model.reply(ModelReply::says("Hello"));
    chat.say("Hi");
    let claim = json!({"messages": [{"id": chat.last_message()["id"], "role": "assistant", "parts": []}]});
    let refused = chat.post(claim);
    assert!((400..500).contains(&refused.status), "{}", refused.text);
    let unknown = json!({"messages": [{"id": "nobody", "role": "assistant", "parts": [{"type": "dynamic-tool",
        "toolCallId": "x", "toolName": "writer", "state": "approval-responded", "input": {},
        "approval": {"id": "appr_0123456789abcdef0123456789abcdef", "approved": true}}]}]});
    let refused = chat.post(unknown);
    assert!((400..500).contains(&refused.status), "{}", refused.text);
    assert_eq!((chat.model.times_asked(), chat.messages().len()), (1, 2));
}

#[test]
fn an_approval_that_expires_goes_on_with_the_turn_by_itself() {
    let vars = [("AUTH", "open"), ("PRIVATE_URLS", "allow"), ("SECRET_KEY", "k"), ("APPROVAL_SECONDS", "3")];
    let server = Server::start("playground-expiry", &vars);
    let chat = with_writer(&server, Chat::of(&server.client("expiry"), json!({})));
    pause(&chat, &[write("/a")]);
    chat.model.reply(ModelReply::says("Too late."));
    eventually("the turn goes on", || text_of(&chat.last_message()) == "Too late.");
    let call = calls_of(&chat.last_message()).remove(0);
    assert!(call["errorText"].as_str().unwrap().contains("APPROVAL_EXPIRED"), "{call}");
    assert_eq!((chat.file("a"), chat.model.times_asked()), (None, 2));
}

#[test]
fn a_message_that_finds_no_room_when_it_goes_on_still_tells_of_its_call() {
    let times = r#"{"look_after_seconds": 1, "approval_look_seconds": 1}"#;
    let vars = [
        ("AUTH", "open"),
        ("PRIVATE_URLS", "allow"),
        ("SECRET_KEY", "k"),
        ("WORKSPACE_QUOTA_BYTES", "60000"),
        ("CHAT_TIMES", times),
    ];
    let server = Server::start("playground-no-room", &vars);
    let (chat, upstream) = (Chat::of(&server.client("no-room"), json!({})), Upstream::start());
    chat.attach_http("asks", &upstream.at("/text"), json!({"requires_approval": true}));
    let (_, approvals) = pause(&chat, &[("asks", json!({}))]);
    chat.model.reply(ModelReply::says(&"x".repeat(70_000)));
    decide(&chat.client, &approvals[0], "approve").success();
    eventually("the message tells of its call", || state(&chat, 1) == "output-available");
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert_eq!((chat.model.times_asked(), chat.messages().len(), upstream.received().len()), (2, 2, 1));
}

/// Denies all approvals of the workspace, as a Worker does that dies before it can tell the object.
fn deny_unheard(server: &Server, chat: &Chat) {
    let workspace = json!(chat.client.workspace());
    server.sql(
        "UPDATE approvals SET status = 'denied', decided_at = created_at, decided_by = 'root' WHERE workspace_id = ?1",
        std::slice::from_ref(&workspace),
    );
    let failure = json!({"code": "APPROVAL_DENIED", "message": "it was denied", "details": null}).to_string();
    let deny = "UPDATE tool_calls SET status = 'denied', finished_at = started_at, error = ?2 WHERE workspace_id = ?1";
    server.sql(deny, &[workspace, json!(failure)]);
}

#[test]
fn a_decision_whose_word_was_lost_is_found() {
    let chat = with_writer(quick(), Chat::quick());
    let (_, approvals) = pause(&chat, &[write("/a")]);
    chat.model.reply(ModelReply::says("A pity."));
    deny_unheard(quick(), &chat);
    eventually("the turn goes on", || text_of(&chat.last_message()) == "A pity.");
    assert_eq!(calls_of(&chat.last_message())[0]["state"], "output-denied", "{approvals:?}");
}

#[test]
fn a_turn_goes_on_although_the_outcome_of_its_call_was_not_recorded() {
    let lost = "D1_ERROR: Network connection lost.";
    let has = ["\"unrecorded\"", "UPDATE tool_calls SET version", "\"success\""];
    let faults = json!([{"has": has, "times": 4, "ran": false, "message": lost}]).to_string();
    let vars = [("AUTH", "open"), ("PRIVATE_URLS", "allow"), ("SECRET_KEY", "k"), ("D1_FAULTS", faults.as_str())];
    let server = Server::start("playground-unrecorded", &vars);
    let chat = with_writer(&server, Chat::of(&server.client("unrecorded"), json!({})));
    let (_, approvals) = pause(&chat, &[write("/a")]);
    chat.model.reply(ModelReply::says("Who knows."));
    decide(&chat.client, &approvals[0], "approve").refused(503, "UNAVAILABLE");
    assert_eq!(chat.file("a").as_deref(), Some("x"), "the call has run");
    // The turn is told, and waits for the record of the call. The sweep would write it.
    eventually("the turn goes on", || chat.resume().is_some());
    let failure = json!({"code": "TIMEOUT", "message": "it died", "details": null}).to_string();
    let sweep = "UPDATE tool_calls SET status = 'error', finished_at = started_at, error = ?1 WHERE status = 'running'";
    server.sql(sweep, &[json!(failure)]);
    eventually("the model is told", || text_of(&chat.last_message()) == "Who knows.");
    assert_eq!(calls_of(&chat.last_message())[0]["state"], "output-error");
}

#[test]
fn a_stop_decides_no_further_approval() {
    let (chat, upstream) = (Chat::new(), Upstream::start());
    chat.attach_http("asks", &upstream.at("/later"), json!({"requires_approval": true}));
    let (_, approvals) = pause(&chat, &[("asks", json!({"n": 1})), ("asks", json!({"n": 2}))]);
    let stream = chat.client.open_chat("s", &chat.body(answered(&chat, true)));
    eventually("the first call runs", || upstream.received().len() == 1);
    chat.stop().no_content();
    assert_eq!(stream.rest().last().unwrap()["type"], "abort");
    chat.settle();
    assert_eq!((upstream.received().len(), chat.model.times_asked()), (1, 1));
    let status = |at: usize| chat.client.get(&format!("/api/approvals/{}", approvals[at])).ok()["status"].clone();
    assert_eq!((status(0), status(1)), (json!("approved"), json!("pending")));
    let states = calls_of(&chat.last_message()).iter().map(|it| it["state"].clone()).collect::<Vec<_>>();
    assert_eq!(states, ["output-available", "approval-requested"]);
    // The turn was stopped: it does not go on by itself, and its message tells of the decision all the same.
    decide(&chat.client, &approvals[1], "deny").ok();
    let state = || calls_of(&chat.last_message())[1]["state"].clone();
    eventually("the message tells of the decision", || state() == "output-denied");
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert_eq!((chat.model.times_asked(), chat.messages().len()), (1, 2));
}

#[test]
fn a_turn_that_waits_does_not_go_on_after_a_stop() {
    let chat = open_chat();
    let (_, approvals) = pause(&chat, &[write("/a"), write("/b")]);
    chat.stop().no_content();
    decide(&chat.client, &approvals[0], "approve").success();
    let states = || calls_of(&chat.last_message()).iter().map(|it| it["state"].clone()).collect::<Vec<_>>();
    eventually("the message tells of the approval", || states() == ["output-available", "approval-requested"]);
    decide(&chat.client, &approvals[1], "deny").ok();
    eventually("the message tells of the denial", || states() == ["output-available", "output-denied"]);
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert_eq!((chat.model.times_asked(), chat.messages().len()), (1, 2));
    // Whoever has stopped the turn can go on with the conversation.
    chat.model.reply(ModelReply::says("Well then."));
    assert_eq!(said(&chat.say("Go on")), "Well then.");
}

#[test]
fn the_result_of_an_approved_call_is_cut_as_the_attachment_says() {
    let (chat, upstream) = (Chat::new(), Upstream::start());
    let (secret, text) = (json!({"type": "string", "writeOnly": true}), json!({"type": "string"}));
    let returned = json!({"type": "object", "properties": {"pin": secret, "text": text}});
    let returns = json!({"type": "object", "properties": {"arguments": returned}});
    for (tool, pin, returns) in
        [("plain", &text, json!(null)), ("repeats", &secret, json!(null)), ("returns", &text, returns)]
    {
        let schema = json!({"type": "object", "properties": {"pin": pin, "text": text}});
        let handler = json!({"type": "http", "url": upstream.at("/echo")});
        let fields = json!({"handler": handler, "parameters_schema": schema, "returns_schema": returns,
            "requires_approval": true});
        chat.client.register(tool, "1.0.0", fields);
        let attachment = json!({"tool_id": tool, "config": {"max_result_bytes": 150}});
        chat.client.post(&format!("/api/agents/{}/tools", chat.agent), attachment).created();
        let (_, approvals) = pause(&chat, &[(tool, json!({"pin": "hunter2-pin", "text": "y".repeat(3_000)}))]);
        chat.model.reply(ModelReply::says("Done."));
        decide(&chat.client, &approvals[0], "approve").result(200);
        eventually("the turn goes on", || text_of(&chat.last_message()) == "Done.");
        let output = calls_of(&chat.last_message())[0]["output"].as_str().unwrap().to_owned();
        assert!(output.len() < 400 && output.contains("[cut: 150 of 3"), "{tool}: {output}");
        assert_eq!(output.matches("[cut: ").count(), 1, "{tool}: {output}");
        assert_eq!(output.contains("hunter2-pin"), tool == "plain", "{tool}: {output}");
    }
}

#[test]
fn an_answer_in_the_name_of_another_agent_is_refused() {
    let chat = open_chat();
    let (_, approvals) = pause(&chat, &[write("/a")]);
    let other = Chat { agent: chat.client.agent(json!({})), ..chat.as_caller(&chat.client) };
    let refused = other.post(answered(&chat, true)).refused(409, "CONFLICT");
    assert!(refused.message.contains("another agent"), "{refused:?}");
    assert_eq!(chat.client.get(&format!("/api/approvals/{}", approvals[0])).ok()["status"], "pending");
    chat.model.reply(ModelReply::says("Done."));
    assert_eq!(said(&chat.send(answered(&chat, true))), "Done.");
}

#[test]
fn a_message_of_many_megabytes_goes_on_after_an_approval() {
    let chat = open_chat();
    let (_, approvals) = pause(&chat, &[write("/a")]);
    // The message has grown before it paused: a text of five megabytes, in pieces.
    let workspace = [json!(chat.client.workspace())];
    let found = "SELECT key, parts FROM messages WHERE workspace_id = ?1 AND role = 'assistant'";
    let found = open().sql(found, &workspace).remove(0);
    let begins = r#"[{"type":"step-start"},{"type":"text","text":""#;
    let parts = found["parts"].as_str().unwrap().strip_prefix(r#"[{"type":"step-start"},"#).unwrap();
    let rest = format!(r#""}},{parts}"#);
    let grow = "UPDATE messages SET chunks = 7, bytes = bytes + 4500000, parts = ?2 WHERE key = ?1";
    open().sql(grow, &[found["key"].clone(), json!(begins)]);
    for (chunk, text) in std::iter::repeat_n("x".repeat(900_000), 5).chain([rest]).enumerate() {
        let insert = "INSERT INTO message_chunks VALUES (?1, CAST(?2 AS INTEGER), ?3)";
        open().sql(insert, &[found["key"].clone(), json!(chunk + 1), json!(text)]);
    }
    assert!(text_of(&chat.last_message()).len() > 4_000_000);
    chat.model.reply(ModelReply::says("Done."));
    decide(&chat.client, &approvals[0], "approve").result(200);
    eventually("the turn goes on", || text_of(&chat.last_message()).ends_with("Done."));
    let messages = chat.model.last_messages();
    assert_eq!(messages[0]["role"], "user", "the model gets the question");
    assert_eq!((chat.messages().len(), chat.file("a").as_deref()), (2, Some("x")));
    chat.model.reply(ModelReply::says("Yes?"));
    assert_eq!(said(&chat.say("Hello?")), "Yes?");
}
