//! Calls that fail for the moment: which of them are made once more.

use super::{Chat, calls_of, event, finished, said};
use crate::harness::{ModelReply, Server, Upstream};
use serde_json::json;

/// Lets the model call `tool` once, and returns how often the tool's server was asked and how many records there are.
fn attempts(chat: &Chat, upstream: &Upstream, tool: &str) -> (usize, usize) {
    let before = (upstream.received().len(), chat.records().len());
    chat.model.reply(ModelReply::calls(&[(tool, json!({}))]));
    chat.model.reply(ModelReply::says("I see."));
    assert_eq!(said(&chat.say("Go")), "I see.");
    (upstream.received().len() - before.0, chat.records().len() - before.1)
}

#[test]
fn a_call_that_may_have_acted_is_made_once_more_only_if_its_tool_is_safe() {
    let (chat, upstream) = (Chat::new(), Upstream::start());
    let slow = |risk: &str| json!({"risk_level": risk, "timeout_seconds": 1});
    chat.attach_http("safe", &upstream.at("/later"), slow("safe"));
    chat.attach_http("low", &upstream.at("/later"), slow("low"));
    chat.attach_http("failing", &upstream.at("/broken"), json!({"risk_level": "safe"}));
    assert_eq!(attempts(&chat, &upstream, "safe"), (2, 2));
    assert_eq!(attempts(&chat, &upstream, "low"), (1, 1));
    assert_eq!(attempts(&chat, &upstream, "failing"), (1, 1), "the tool has answered");
    let calls = chat.messages().iter().flat_map(calls_of).collect::<Vec<_>>();
    assert_eq!(calls.len(), 3, "a call is one part, however often it was made");
    for call in &calls[..2] {
        assert!(call["errorText"].as_str().unwrap().contains("TIMEOUT"), "{call}");
    }
}

#[test]
fn a_call_that_succeeds_the_second_time_is_a_success() {
    let (chat, upstream) = (Chat::new(), Upstream::start());
    chat.attach_http("flaky", &upstream.at("/first-slow"), json!({"risk_level": "safe", "timeout_seconds": 1}));
    chat.model.reply(ModelReply::calls(&[("flaky", json!({}))]));
    chat.model.reply(ModelReply::says("Done."));
    let events = chat.say("Go");
    assert_eq!(event(&events, "tool-output-available")["output"], "quick");
    let statuses = chat.records().iter().map(|it| it["status"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    assert_eq!(statuses, ["error", "success"], "both are recorded");
    let last = chat.records().pop().unwrap();
    assert_eq!(event(&events, "data-call")["data"]["call_id"], last["id"]);
    assert_eq!(chat.records()[0]["message_id"], chat.records()[1]["message_id"]);
}

#[test]
fn an_approved_call_is_never_made_again() {
    let (chat, upstream) = (Chat::new(), Upstream::start());
    let fields = json!({"risk_level": "safe", "timeout_seconds": 1, "requires_approval": true});
    chat.attach_http("asks", &upstream.at("/later"), fields);
    chat.model.reply(ModelReply::calls(&[("asks", json!({}))]));
    let events = chat.say("Go");
    assert_eq!(finished(&events), "tool-calls");
    let approval = event(&events, "tool-approval-request")["approvalId"].as_str().unwrap();
    chat.model.reply(ModelReply::says("It failed."));
    chat.client.post(&format!("/api/approvals/{approval}/approve"), json!({})).failed(200, "TIMEOUT");
    super::eventually("the turn goes on", || chat.model.times_asked() == 2);
    chat.settle();
    assert_eq!((upstream.received().len(), chat.records().len()), (1, 1));
    assert_eq!(calls_of(&chat.last_message())[0]["state"], "output-error");
}

#[test]
fn a_call_over_a_rate_limit_is_not_waited_for_long() {
    let (chat, upstream) = (Chat::new(), Upstream::start());
    chat.attach_http("limited", &upstream.at("/text"), json!({"rate_limit": 1, "risk_level": "safe"}));
    chat.model.reply(ModelReply::calls(&[("limited", json!({})), ("limited", json!({}))]));
    chat.model.reply(ModelReply::says("Done."));
    let events = chat.say("Go");
    let told = event(&events, "tool-output-error")["errorText"].as_str().unwrap();
    assert!(told.contains("RATE_LIMITED"), "{told}");
    assert_eq!(upstream.received().len(), 1);
}

/// Nobody knows whether the write ran. A second one would be another state of the files.
#[test]
fn a_call_that_lost_its_write_is_not_made_again() {
    let lost = "D1_ERROR: Network connection lost.";
    let fault = json!([{"has": ["\"lost\"", "INSERT INTO manifests"], "times": 1, "ran": true, "message": lost}]);
    let fault = fault.to_string();
    let vars = [("AUTH", "open"), ("PRIVATE_URLS", "allow"), ("SECRET_KEY", "k"), ("D1_FAULTS", fault.as_str())];
    let server = Server::start("playground-lost", &vars);
    let chat = Chat::of(&server.client("lost"), json!({}));
    chat.model.reply(ModelReply::calls(&[("write_file", json!({"path": "/a", "content": "x"}))]));
    chat.model.reply(ModelReply::says("I see."));
    let events = chat.say("Go");
    let told = event(&events, "tool-output-error")["errorText"].as_str().unwrap();
    assert!(told.contains("UNAVAILABLE"), "{told}");
    assert_eq!(chat.records().len(), 1);
    assert_eq!(chat.client.pages("/api/sessions/s/manifests", "manifests", 50).len(), 1);
}

#[test]
fn a_call_that_is_made_again_keeps_its_place() {
    let (chat, upstream) = (Chat::new(), Upstream::start());
    let reads = json!({"risk_level": "safe", "timeout_seconds": 1, "resource_class": "state"});
    chat.attach_http("reads", &upstream.at("/first-slow"), reads);
    let effect = json!({"effect_type": "post", "description": "Posts", "reversible": false, "scope": "there"});
    chat.attach_http("writes", &upstream.at("/text"), json!({"resource_class": "state", "side_effects": [effect]}));
    chat.model.reply(ModelReply::calls(&[("reads", json!({})), ("writes", json!({}))]));
    chat.model.reply(ModelReply::says("Done."));
    assert_eq!(said(&chat.say("Go")), "Done.");
    let paths = upstream.received().iter().map(|it| it.path().to_owned()).collect::<Vec<_>>();
    assert_eq!(paths, ["/first-slow", "/first-slow", "/text"]);
}
