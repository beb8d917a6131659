//! Tests of the conversation.

use super::*;
use crate::dice::Dice;
use crate::playground::part::{ApprovalPart, CallData};
use serde_json::json;

const ALL: usize = 1_000_000;

fn text(text: &str) -> Part {
    Part::Text { text: text.into() }
}

fn call(id: &str, tool: &str, state: CallState) -> CallPart {
    CallPart {
        tool_call_id: id.into(),
        tool_name: tool.into(),
        state,
        input: json!({"n": 1}),
        output: None,
        error_text: None,
        approval: None,
        call_provider_metadata: None,
    }
}

fn part(call: CallPart) -> Part {
    Part::Call(Box::new(call))
}

fn user(parts: &[Part]) -> HistoryMessage<'_> {
    HistoryMessage { role: Role::User, parts, ended_by: None }
}

fn assistant(parts: &[Part]) -> HistoryMessage<'_> {
    HistoryMessage { role: Role::Assistant, parts, ended_by: None }
}

fn messages(history: &[HistoryMessage<'_>]) -> Value {
    conversation(None, history, ALL).messages.into()
}

/// The text of the result of one call.
fn told(call: CallPart) -> Value {
    messages(&[assistant(&[part(call)])])[1]["content"].clone()
}

#[test]
fn every_step_is_a_message_and_its_results_follow() {
    let done = |id: &str, tool: &str, output: Value| {
        part(CallPart { output: Some(output), ..call(id, tool, CallState::OutputAvailable) })
    };
    let record = Part::CallRecord {
        id: "aaaaaaaa1".into(),
        data: CallData {
            call_id: "call_1".into(),
            version: None,
            status: "success".into(),
            duration_ms: 1,
            render_plan: None,
            approval_id: None,
        },
    };
    let parts = [
        Part::StepStart,
        Part::Reasoning { text: "Hm".into() },
        text("Let me "),
        done("aaaaaaaa1", "read_file", json!("Hello")),
        record,
        text("look"),
        done("aaaaaaaa2", "research.web_search", json!({"found": [1]})),
        Part::StepStart,
        done("aaaaaaaa3", "read_file", Value::Null),
        Part::StepStart,
        text("Done"),
    ];
    let (first, last) = ([text("Go"), text("on")], [text("Thanks")]);
    let history = [user(&first), assistant(&parts), user(&last)];
    let found = conversation(Some("Be brief"), &history, ALL);
    assert_eq!(found.dropped_messages, 0);
    let asked = |id: &str, name: &str| json!({"id": id, "type": "function", "function": {"name": name, "arguments": "{\"n\":1}"}});
    assert_eq!(
        Value::from(found.messages),
        json!([
            {"role": "system", "content": "Be brief"},
            {"role": "user", "content": "Go\non"},
            {"role": "assistant", "content": "Let me look", "tool_calls": [
                asked("aaaaaaaa1", "read_file"),
                asked("aaaaaaaa2", "research_web_search_HTN6NKACGI2DD"),
            ]},
            {"role": "tool", "tool_call_id": "aaaaaaaa1", "content": "Hello"},
            {"role": "tool", "tool_call_id": "aaaaaaaa2", "content": "{\"found\":[1]}"},
            {"role": "assistant", "content": null, "tool_calls": [asked("aaaaaaaa3", "read_file")]},
            {"role": "tool", "tool_call_id": "aaaaaaaa3", "content": "null"},
            {"role": "assistant", "content": "Done"},
            {"role": "user", "content": "Thanks"},
        ])
    );
}

#[test]
fn a_turn_without_an_answer_ends_with_a_text_of_the_assistant() {
    let question = [text("Go")];
    let silent = [Part::StepStart, Part::Reasoning { text: "Hm".into() }];
    let called = [part(call("aaaaaaaa1", "t", CallState::InputAvailable))];
    let answered = [text("Done")];
    let roles = |history: &[HistoryMessage<'_>]| {
        let messages = conversation(None, history, ALL).messages;
        messages.iter().map(|it| it["role"].as_str().unwrap().to_owned()).collect::<Vec<_>>().join(" ")
    };
    let [user, silent, called, answered] =
        [user(&question), assistant(&silent), assistant(&called), assistant(&answered)];
    assert_eq!(roles(&[user, user]), "user assistant user");
    assert_eq!(roles(&[user, silent, user]), "user assistant user");
    assert_eq!(roles(&[user, called, user]), "user assistant tool assistant user");
    assert_eq!(roles(&[user, answered, user]), "user assistant user");
    // The turn that is under way has not ended.
    assert_eq!(roles(&[user, answered, user, called]), "user assistant user assistant tool");
    let stopped = HistoryMessage { ended_by: Some("The turn was stopped"), ..silent };
    let messages = conversation(None, &[user, stopped, user], ALL).messages;
    assert_eq!(messages[1]["content"], "The answer broke off: The turn was stopped");
    assert_eq!(conversation(None, &[user, silent, user], ALL).messages[1]["content"], "The answer broke off");
}

#[test]
fn a_call_without_a_result_says_why() {
    let failed = CallPart { error_text: Some("No such file".into()), ..call("a", "t", CallState::OutputError) };
    assert_eq!(told(failed), "No such file");
    assert_eq!(told(call("a", "t", CallState::OutputError)), "The call failed");
    let approval = ApprovalPart { id: "appr_1".into(), approved: Some(false), reason: Some("Too risky".into()) };
    let denied = CallPart { approval: Some(approval), ..call("a", "t", CallState::OutputDenied) };
    assert_eq!(
        told(denied),
        "A person was asked to approve this call, and denied it. The call did not run. The reason: Too risky"
    );
    assert_eq!(
        told(call("a", "t", CallState::OutputDenied)),
        "A person was asked to approve this call, and denied it. The call did not run"
    );
    assert_eq!(
        told(call("a", "t", CallState::ApprovalRequested)),
        "The call did not end: it waits for the approval of a person. There is no result yet"
    );
    assert_eq!(
        told(call("a", "t", CallState::InputAvailable)),
        "The call did not end: it was interrupted. There is no result"
    );
}

#[test]
fn unreadable_arguments_are_sent_as_none_and_their_error_as_the_result() {
    let broken = CallPart {
        input: json!("{\"n\":"),
        error_text: Some("The arguments are not valid JSON".into()),
        ..call("a", "t", CallState::OutputError)
    };
    let messages = messages(&[assistant(&[part(broken)])]);
    assert_eq!(messages[0]["tool_calls"][0]["function"]["arguments"], "{}");
    assert_eq!(messages[1]["content"], "The arguments are not valid JSON");
}

#[test]
fn the_servers_extra_content_goes_back_with_the_call() {
    let extra = json!({"google": {"thought_signature": "c2ln"}});
    let metadata = json!({"pegboard": {"extra_content": extra}});
    let signed = CallPart {
        call_provider_metadata: metadata.as_object().cloned(),
        ..call("a", "t", CallState::OutputAvailable)
    };
    let messages = messages(&[assistant(&[part(signed), part(call("b", "t", CallState::OutputAvailable))])]);
    assert_eq!(messages[0]["tool_calls"][0]["extra_content"], extra);
    assert_eq!(messages[0]["tool_calls"][1].get("extra_content"), None);
}

#[test]
fn every_name_is_one_that_providers_take() {
    for (name, expected) in [
        ("read_file", "read_file"),
        ("kit:analyze", "kit_analyze_HHJ6OWQ2K6BQO"),
        ("kit_analyze_HHJ6OWQ2K6BQO", "kit_analyze_HHJ6OWQ2K6BQO"),
        ("", "unknown"),
        ("delete all! ä", "delete_all___"),
    ] {
        assert_eq!(function_name(name), expected);
    }
    assert!(is_slug(&function_name(&"ö".repeat(1_000))));
}

#[test]
fn steps_and_messages_without_content_are_left_out() {
    let parts = [Part::StepStart, Part::Reasoning { text: "Hm".into() }, Part::StepStart, text("")];
    assert_eq!(messages(&[user(&[]), assistant(&parts), assistant(&[])]), json!([]));
    assert!(conversation(Some(""), &[], ALL).messages.is_empty());
}

#[test]
fn the_oldest_turns_are_dropped_as_a_whole() {
    let long = [text(&"x".repeat(4_000))];
    let answer = [part(call("a", "t", CallState::OutputAvailable)), Part::StepStart, text("b")];
    let history = [user(&long), assistant(&answer), assistant(&long), user(&long), assistant(&answer), user(&long)];
    let kept = |budget| {
        let found = conversation(Some("system"), &history, budget);
        assert_eq!(found.messages[0]["role"], "system");
        assert_eq!(found.messages[1]["role"], "user");
        assert!(found.dropped_messages == history.len() - 1 || tokens(&found.messages) <= budget);
        (found.dropped_messages, found.messages.len())
    };
    let whole = tokens(&conversation(Some("system"), &history, ALL).messages);
    assert_eq!(kept(whole), (0, 11));
    assert_eq!(kept(whole - 1), (3, 6));
    assert_eq!(kept(1_500), (5, 2));
    assert_eq!(kept(0), (5, 2), "the last turn stays");
}

#[test]
fn the_last_turn_stays_with_all_its_steps() {
    let steps = (0..50).flat_map(|it| {
        let call = CallPart {
            output: Some("x".repeat(10_000).into()),
            ..call(&format!("call{it}"), "t", CallState::OutputAvailable)
        };
        [Part::StepStart, part(call)]
    });
    let steps = steps.collect::<Vec<_>>();
    let asked = [text("Go")];
    let found = conversation(None, &[user(&asked), assistant(&asked), user(&asked), assistant(&steps)], 100);
    assert_eq!((found.dropped_messages, found.messages.len()), (2, 101));
}

#[test]
fn whatever_is_stored_every_result_follows_its_call() {
    let mut dice = Dice(22);
    for _ in 0..2_000 {
        let stored = (0..dice.below(8))
            .map(|_| {
                let role = dice.pick(&[Role::User, Role::Assistant, Role::Assistant]);
                (role, (0..dice.below(10)).map(|_| random_part(&mut dice)).collect::<Vec<_>>())
            })
            .collect::<Vec<_>>();
        let history = stored
            .iter()
            .map(|(role, parts)| HistoryMessage { role: *role, parts, ended_by: None })
            .collect::<Vec<_>>();
        let found = conversation(Some("system"), &history, dice.pick(&[0, 50, 200, ALL]));
        check_order(&found.messages);
    }
}

fn random_part(dice: &mut Dice) -> Part {
    let word = dice.pick(&["", "aaaaaaaa1", "aaaaaaaa2", "call00000", "call00001", "x y", "kit:t"]);
    match dice.below(8) {
        0 | 1 => Part::StepStart,
        2 => Part::Reasoning { text: word.into() },
        3 => text(word),
        _ => {
            let state = dice.pick(&[
                CallState::InputAvailable,
                CallState::ApprovalRequested,
                CallState::OutputAvailable,
                CallState::OutputError,
                CallState::OutputDenied,
            ]);
            let input = if dice.once_in(3) { json!("{broken") } else { json!({"a": word}) };
            let output = dice.once_in(2).then(|| json!([word]));
            let tool = dice.pick(&["", "t", "kit:t", "no such tool"]);
            part(CallPart { input, output, ..call(word, tool, state) })
        }
    }
}

/// Every result follows the message that asked for it, every call has one result, and every id occurs once.
fn check_order(messages: &[Value]) {
    let mut open = Vec::new();
    let mut known = HashSet::new();
    assert_eq!(messages[0]["role"], "system");
    for message in &messages[1..] {
        if message["role"] == "tool" {
            let id = message["tool_call_id"].as_str().unwrap();
            let at =
                open.iter().position(|it| it == id).unwrap_or_else(|| panic!("{id} was not asked for: {messages:?}"));
            open.remove(at);
            assert!(message["content"].is_string());
            continue;
        }
        assert!(open.is_empty(), "calls without results: {messages:?}");
        assert!(message["role"] == "user" || message["role"] == "assistant");
        let calls = message.get("tool_calls").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        assert!(!calls.is_empty() || message["content"].as_str().is_some_and(|it| !it.is_empty()), "{message}");
        for call in calls {
            let id = call["id"].as_str().unwrap().to_owned();
            assert!(!id.is_empty() && known.insert(id.clone()), "{id} twice: {messages:?}");
            assert!(is_slug(call["function"]["name"].as_str().unwrap()));
            let arguments = call["function"]["arguments"].as_str().unwrap();
            assert!(serde_json::from_str::<Value>(arguments).unwrap().is_object());
            open.push(id);
        }
    }
    assert!(open.is_empty());
}

#[test]
fn a_conversation_begins_with_the_user() {
    let (answer, question) = ([text("Hello")], [text("And?")]);
    let found = conversation(None, &[assistant(&answer), user(&question), assistant(&answer)], ALL);
    assert_eq!(found.messages.len(), 2);
    assert_eq!((&found.messages[0]["role"], found.dropped_messages), (&json!("user"), 1));
    // What the budget leaves out comes on top.
    let found = conversation(None, &[assistant(&answer), user(&question), user(&question)], 1);
    assert_eq!((found.messages.len(), found.dropped_messages), (1, 2));
}
