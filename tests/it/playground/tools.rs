//! The calls of a turn: they go through the pipeline, and their results go back to the model.

use super::{Chat, agree, calls_of, event, finished, has, kinds, said};
use crate::harness::{ModelReply, ModuleServer, Upstream};
use serde_json::{Value, json};
use std::time::Instant;

/// The results that the model got with its last request, in order.
fn results(chat: &Chat) -> Vec<Value> {
    let messages = chat.model.last_messages().into_iter();
    messages.filter(|it| it["role"] == "tool").map(|it| it["content"].clone()).collect()
}

#[test]
fn a_call_goes_through_the_pipeline_and_its_result_back_to_the_model() {
    let chat = Chat::new();
    chat.model.reply(ModelReply::calls(&[("write_file", json!({"path": "/a", "content": "hello"}))]));
    chat.model.reply(ModelReply::says("Done."));
    let events = chat.send(json!({"message": "Write it", "userId": "ada"}));
    assert_eq!(
        kinds(&events),
        [
            "start",
            "start-step",
            "tool-input-start",
            "tool-input-delta",
            "tool-input-available",
            "tool-output-available",
            "data-call",
            "finish-step",
            "start-step",
            "text-start",
            "text-delta",
            "text-end",
            "finish-step",
            "finish"
        ]
    );
    let id = event(&events, "tool-input-start")["toolCallId"].clone();
    for kind in ["tool-input-start", "tool-input-available", "tool-output-available"] {
        let told = event(&events, kind);
        assert_eq!((&told["toolCallId"], &told["dynamic"]), (&id, &json!(true)));
    }
    let arguments = json!({"path": "/a", "content": "hello"});
    assert_eq!(event(&events, "tool-input-available")["input"], arguments);
    assert_eq!(event(&events, "tool-output-available")["output"], "Wrote 5 bytes to /a");
    let data = event(&events, "data-call");
    assert_eq!(data["id"], id);
    assert_eq!(
        data["data"].as_object().unwrap().keys().collect::<Vec<_>>(),
        ["call_id", "version", "status", "duration_ms", "render_plan", "approval_id"]
    );
    assert_eq!((&data["data"]["status"], &data["data"]["approval_id"]), (&json!("success"), &Value::Null));

    let message = chat.last_message();
    agree(&events, &message);
    let record = chat.client.record(&data["data"]);
    assert_eq!(
        (&record["agent_id"], &record["session_id"], &record["message_id"], &record["user_id"]),
        (&json!(chat.agent), &json!("s"), &message["id"], &json!("ada"))
    );
    assert_eq!((&record["arguments"], &record["result"]), (&arguments, &json!("Wrote 5 bytes to /a")));
    assert_eq!(message["manifest_id"], record["post_manifest_id"], "the files after the message");
    assert_eq!(chat.file("a").as_deref(), Some("hello"));

    let messages = chat.model.last_messages();
    let asked = &messages[1];
    assert_eq!((&asked["role"], &asked["content"]), (&json!("assistant"), &Value::Null));
    let call = &asked["tool_calls"][0];
    assert_eq!(
        (&call["id"], &call["type"], &call["function"]["name"]),
        (&id, &json!("function"), &json!("write_file"))
    );
    let sent = serde_json::from_str::<Value>(call["function"]["arguments"].as_str().unwrap()).unwrap();
    assert_eq!(sent, arguments);
    assert_eq!(messages[2], json!({"role": "tool", "tool_call_id": id, "content": "Wrote 5 bytes to /a"}));
    assert_eq!(messages.len(), 3);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "this runs on the host")]
fn calls_run_side_by_side_and_what_touches_state_in_order() {
    let (chat, upstream) = (Chat::new(), Upstream::start());
    chat.attach_http("later", &upstream.at("/later"), json!({}));
    chat.attach("read_file");
    chat.attach("write_file");
    let mut calls = vec![("later", json!({})); 4];
    for round in 0..4 {
        calls.push(("write_file", json!({"path": "/n", "content": round.to_string()})));
        calls.push(("read_file", json!({"path": "/n"})));
    }
    chat.model.reply(ModelReply::calls(&calls));
    chat.model.reply(ModelReply::says("Done."));
    let begun = Instant::now();
    let events = chat.say("All of it");
    let seconds = begun.elapsed().as_secs_f64();
    assert!((2.0..7.0).contains(&seconds), "four calls of 2 seconds took {seconds}");
    let mut expected = vec![json!("done"); 4];
    for round in 0..4 {
        expected.extend([json!("Wrote 1 bytes to /n"), json!(round.to_string())]);
    }
    assert_eq!(results(&chat), expected, "in the order in which the model asked");
    let message = chat.last_message();
    assert_eq!(calls_of(&message).len(), 12);
    assert_eq!(calls_of(&json!({"parts": super::parts_of(&events)})), calls_of(&message));
    let ids =
        calls_of(&message).iter().map(|it| it["toolCallId"].to_string()).collect::<std::collections::BTreeSet<_>>();
    assert_eq!((ids.len(), chat.records().len()), (12, 12));
}

#[test]
fn secrets_are_in_no_event_no_message_and_no_later_request() {
    let (chat, upstream) = (Chat::new(), Upstream::start());
    let secret = json!({"type": "string", "writeOnly": true});
    chat.attach_http(
        "login",
        &upstream.at("/echo"),
        json!({
            "parameters_schema": {"type": "object", "properties": {
                "user": {"type": "string"}, "pin": secret, "word": {"type": "string", "format": "password"}}},
            "returns_schema": {"type": "object", "properties": {"arguments": {"type": "object", "properties": {
                "user": {"type": "string", "format": "password"}}}}},
        }),
    );
    let arguments = json!({"user": "ada-lovelace", "pin": "hunter2-pin", "word": "open-sesame"});
    chat.model.reply(ModelReply::calls(&[("login", arguments.clone())]));
    // Text that is no JSON may hold the secret anywhere.
    chat.model.reply(ModelReply::stream().call("login", r#"{"pin": "hunter2-pin"#).finish("tool_calls"));
    chat.model.reply(ModelReply::says("Done."));
    let events = chat.say("Log in");
    assert_eq!(finished(&events), "stop");
    assert_eq!(upstream.received()[0].body["arguments"], arguments, "the tool gets them");
    let message = chat.last_message();
    agree(&events, &message);
    let calls = calls_of(&message);
    assert_eq!(calls[0]["input"], json!({"user": "ada-lovelace", "pin": "[redacted]", "word": "[redacted]"}));
    assert_eq!(calls[0]["output"]["arguments"]["user"], "[redacted]");
    assert_eq!(calls[0]["state"], "output-available");
    assert_eq!(calls[1]["state"], "output-error");
    for (place, text) in [
        ("events", json!(events).to_string()),
        ("message", message.to_string()),
        ("request", chat.model.last_asked().to_string()),
        ("resumed", chat.client.get(&chat.path("messages")).text),
        ("records", json!(chat.records()).to_string()),
    ] {
        assert!(!text.contains("hunter2-pin") && !text.contains("open-sesame"), "{place}: {text}");
    }
    let result = results(&chat)[0].as_str().unwrap().to_owned();
    assert!(!result.contains("ada-lovelace") && result.contains("[redacted]"), "{result}");
}

#[test]
fn secrets_stay_hidden_however_the_model_spells_the_tool() {
    let (chat, upstream) = (Chat::new(), Upstream::start());
    let schema = json!({"type": "object", "properties": {"pin": {"type": "string", "writeOnly": true}}});
    let fields = || json!({"parameters_schema": schema});
    chat.attach_http("vault", &upstream.at("/echo"), fields());
    // The model gets this one under a name with a hash.
    chat.attach_http("2vault", &upstream.at("/echo"), fields());
    // This one is there, and the agent does not have it.
    let handler = json!({"type": "http", "url": upstream.at("/echo")});
    chat.client.register("other", "1.0.0", json!({"handler": handler, "parameters_schema": schema}));
    let offered = ["vault@1.0.0", "2vault", "2vault@1.0.0"];
    let others = ["vault@0.9.0", "other", "vault@x", "va ult", "vault@1.0.0@1.0.0"];
    let names = offered.into_iter().chain(others).collect::<Vec<_>>();
    let calls = names.iter().map(|it| (*it, json!({"pin": "hunter2-pin"}))).collect::<Vec<_>>();
    chat.model.reply(ModelReply::calls(&calls));
    chat.model.reply(ModelReply::says("Done."));
    let events = chat.say("Open it");
    assert_eq!(finished(&events), "stop");
    let message = chat.last_message();
    agree(&events, &message);
    let calls = calls_of(&message);
    for call in &calls[..3] {
        let (state, input) = (&call["state"], &call["input"]);
        assert_eq!((state, input), (&json!("output-available"), &json!({"pin": "[redacted]"})), "{call}");
    }
    assert_eq!((&calls[0]["toolName"], &calls[1]["toolName"]), (&json!("vault"), &json!("2vault")));
    for call in &calls[3..] {
        assert_eq!((&call["state"], &call["input"]), (&json!("output-error"), &json!({})), "{call}");
    }
    assert_eq!(upstream.received().len(), 3, "what the model was not offered is not called");
    assert_eq!(chat.records().len(), names.len(), "and recorded all the same");
    for (place, text) in [
        ("events", json!(events).to_string()),
        ("message", message.to_string()),
        ("request", chat.model.last_asked().to_string()),
        ("records", json!(chat.records()).to_string()),
    ] {
        assert!(!text.contains("hunter2-pin"), "{place}: {text}");
    }
}

#[test]
fn a_large_result_is_cut_for_the_model_and_the_client() {
    let (chat, upstream) = (Chat::new(), Upstream::start());
    chat.attach_http("large", &upstream.at("/large"), json!({}));
    chat.model.reply(ModelReply::calls(&[("large", json!({}))]));
    chat.model.reply(ModelReply::says("Done."));
    let events = chat.say("All");
    let output = event(&events, "tool-output-available")["output"].as_str().unwrap().to_owned();
    assert!(output.len() < 67_000 && output.contains("[cut: 65536 of 600"), "{}", &output[output.len() - 300..]);
    assert_eq!(results(&chat), [json!(output)]);
    agree(&events, &chat.last_message());
    let call = event(&events, "data-call")["data"]["call_id"].as_str().unwrap();
    assert!(output.contains(call), "the notice tells where the rest is");
    let whole = chat.client.get(&format!("/api/tool-calls/{call}/result")).ok();
    assert_eq!(whole.as_str().map(str::len), Some(600_000));
}

#[test]
fn a_result_is_cut_as_the_attachment_says_and_after_its_secrets_are_removed() {
    let (chat, upstream) = (Chat::new(), Upstream::start());
    let secret = json!({"type": "string", "writeOnly": true});
    let text = json!({"type": "string"});
    let properties = json!({"pin": secret, "text": text});
    // One of the tools hides the result, and one only what the result repeats of the arguments.
    let returns = json!({"type": "object", "properties": {"arguments": {"type": "object", "properties": properties}}});
    for (tool, parameters, returns) in [
        ("plain", json!({}), json!(null)),
        ("repeats", properties.clone(), json!(null)),
        ("returns", json!({"pin": text, "text": text}), returns),
    ] {
        let schema = json!({"type": "object", "properties": parameters});
        let handler = json!({"type": "http", "url": upstream.at("/echo")});
        let fields = json!({"handler": handler, "parameters_schema": schema, "returns_schema": returns});
        chat.client.register(tool, "1.0.0", fields);
        let attachment = json!({"tool_id": tool, "config": {"max_result_bytes": 150}});
        chat.client.post(&format!("/api/agents/{}/tools", chat.agent), attachment).created();
        let arguments = json!({"pin": "hunter2-pin", "text": "y".repeat(3_000)});
        chat.model.reply(ModelReply::calls(&[(tool, arguments)]));
        chat.model.reply(ModelReply::says("Done."));
        let events = chat.say("Go");
        let output = event(&events, "tool-output-available")["output"].as_str().unwrap().to_owned();
        assert!(output.len() < 400 && output.contains("[cut: 150 of 3"), "{tool}: {output}");
        assert_eq!(output.contains("hunter2-pin"), tool == "plain", "{tool}: {output}");
    }
}

#[test]
fn a_models_mistakes_are_results_it_can_act_on() {
    let chat = Chat::new();
    let calls = ModelReply::stream()
        .call("no_such_tool", "{}")
        .call("read_file", r#"{"path": "/a"#)
        .call("read_file", "[1]")
        .call("read_file", "{}")
        .call("email_search", "{}")
        .call("list_files", "");
    chat.model.reply(calls.finish("tool_calls"));
    chat.model.reply(ModelReply::says("Sorry."));
    let events = chat.say("Go");
    assert_eq!((said(&events).as_str(), finished(&events)), ("Sorry.", "stop"));
    let codes = chat.records().iter().map(|it| it["error"]["code"].as_str().map(str::to_owned)).collect::<Vec<_>>();
    let count = |code: Option<&str>| codes.iter().filter(|it| it.as_deref() == code).count();
    assert_eq!(count(Some("UNKNOWN_TOOL")), 1, "{codes:?}");
    assert_eq!(count(Some("INVALID_ARGUMENTS")), 3);
    assert_eq!(count(Some("NOT_ATTACHED")), 1);
    assert_eq!((count(None), codes.len()), (1, 6));
    let message = chat.last_message();
    agree(&events, &message);
    let calls = calls_of(&message);
    let states = calls.iter().map(|it| it["state"].as_str().unwrap()).collect::<Vec<_>>();
    assert_eq!(states[..5], ["output-error"; 5]);
    assert_eq!(states[5], "output-available");
    assert_eq!((&calls[0]["toolName"], &calls[1]["input"]), (&json!("no_such_tool"), &json!(r#"{"path": "/a"#)));
    let told = results(&chat);
    assert!(told[0].as_str().unwrap().contains("UNKNOWN_TOOL"), "{told:?}");
    assert!(told[1].as_str().unwrap().contains("JSON"), "{told:?}");
    assert!(told[3].as_str().unwrap().contains("path"), "{told:?}");
    // The model's server gets its call back with arguments that are an object.
    let back = &chat.model.last_messages()[1]["tool_calls"];
    assert_eq!(back[1]["function"]["arguments"], "{}");
}

#[test]
fn a_failed_call_is_told_to_the_model_with_its_reason() {
    let (chat, upstream) = (Chat::new(), Upstream::start());
    chat.attach_http("broken", &upstream.at("/broken"), json!({}));
    chat.model.reply(ModelReply::calls(&[("broken", json!({}))]));
    chat.model.reply(ModelReply::says("It failed."));
    let events = chat.say("Go");
    let told = event(&events, "tool-output-error")["errorText"].as_str().unwrap();
    assert!(told.contains("TOOL_ERROR") && told.contains("it broke"), "{told}");
    assert_eq!(results(&chat), [json!(told)]);
    assert_eq!(event(&events, "data-call")["data"]["status"], "error");
    agree(&events, &chat.last_message());
}

#[test]
fn a_failure_is_cut_and_without_secrets_as_a_result_is() {
    let chat = Chat::with(json!({"allowed_modules": ["m"]}));
    let tool = |name: &str| json!({"name": name, "description": "A tool"});
    let mut tools = json!([tool("verbose"), tool("long_winded")]);
    tools[0]["returns_schema"] =
        json!({"type": "object", "properties": {"token": {"type": "string", "writeOnly": true}, "text": {}}});
    let server = ModuleServer::start(tools);
    chat.client.post("/api/modules", json!({"name": "m", "url": server.url()})).created();
    let attachment = json!({"tool_id": "m.verbose", "config": {"max_result_bytes": 200}});
    chat.client.post(&format!("/api/agents/{}/tools", chat.agent), attachment).created();
    chat.model.reply(ModelReply::calls(&[("m.verbose", json!({})), ("m.long_winded", json!({}))]));
    chat.model.reply(ModelReply::says("They failed."));
    let events = chat.say("Go");
    assert_eq!(said(&events), "They failed.");
    let message = chat.last_message();
    agree(&events, &message);
    let errors = calls_of(&message).iter().map(|it| it["errorText"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    assert_eq!(results(&chat), [json!(errors[0]), json!(errors[1])]);
    assert!(
        errors[0].starts_with("TOOL_ERROR: The token [redacted] is stale {\"token\":\"[redacted]\""),
        "{:.300}",
        errors[0]
    );
    assert!(errors[0].len() < 400 && errors[0].contains("[cut: 200 of 3000"), "{:.500}", errors[0]);
    assert!(errors[1].len() < 67_000 && errors[1].contains("[cut: 65536 of 3000012 bytes; "), "{}", errors[1].len());
    assert!(!json!([events, message, chat.model.last_asked(), chat.records()]).to_string().contains("s3cret-token"));
}

#[test]
fn a_turn_ends_after_the_steps_of_its_agent_and_says_so() {
    for (steps, fields) in [(2, json!({"max_steps": 2})), (16, json!({}))] {
        let chat = Chat::with(fields);
        chat.model.otherwise(|_| ModelReply::calls(&[("list_files", json!({}))]));
        let events = chat.say("For ever");
        assert_eq!((chat.model.times_asked(), chat.records().len()), (steps, steps));
        assert_eq!(finished(&events), "other");
        let metadata = &event(&events, "finish")["messageMetadata"];
        assert_eq!(metadata["steps"], steps);
        assert!(metadata["ended_by"].as_str().unwrap().contains(&format!("{steps} steps")), "{metadata}");
        let message = chat.last_message();
        assert_eq!(
            (&message["finish_reason"], &message["metadata"]["ended_by"]),
            (&json!("other"), &metadata["ended_by"])
        );
        agree(&events, &message);
        chat.model.otherwise(|_| ModelReply::says("Enough."));
        assert_eq!(said(&chat.say("Stop now")), "Enough.");
    }
}

#[test]
fn an_answer_with_too_many_calls_runs_none_of_them() {
    let chat = Chat::new();
    chat.model.reply(ModelReply::calls(&vec![("list_files", json!({})); 1_000]));
    let events = chat.say("Go");
    assert!(super::error(&events).contains("more than 32 calls"), "{:?}", super::error(&events));
    assert_eq!(chat.records(), Vec::<Value>::new());
    assert!(!has(&events, "tool-output-available"));
    chat.model.reply(ModelReply::calls(&vec![("list_files", json!({})); 32]));
    chat.model.reply(ModelReply::says("Done."));
    assert_eq!(said(&chat.say("Then fewer")), "Done.");
    assert_eq!(chat.records().len(), 32);
}

#[test]
fn a_step_with_megabytes_of_arguments_is_stored_without_the_oldest() {
    let (chat, upstream) = (Chat::new(), Upstream::start());
    chat.attach_http("takes", &upstream.at("/text"), json!({}));
    chat.model.reply(ModelReply::calls(&vec![("takes", json!({"text": "x".repeat(250_000)})); 32]));
    // A stream would be more than waits for a client that reads slowly.
    let whole = chat.whole(json!({"message": "Take it all"}));
    assert_eq!((&whole["finish_reason"], upstream.received().len()), (&json!("length"), 32));
    let message = chat.last_message();
    assert_eq!((&message["finish_reason"], &message["parts"]), (&json!("length"), &whole["message"]["parts"]));
    let calls = calls_of(&message);
    let told = calls.iter().filter(|it| it["state"] == "output-available" && it["output"] == "plain words").count();
    let left_out = calls.iter().filter(|it| it["input"].is_string()).count();
    assert_eq!((calls.len(), told), (32, 32));
    assert!((1..8).contains(&left_out), "{left_out} calls are without their arguments");
    assert!(calls[0]["input"].as_str().unwrap().starts_with("[left out of the message: "), "{}", calls[0]["input"]);
    assert_eq!(calls[31]["input"], json!({"text": "x".repeat(250_000)}));
    chat.model.reply(ModelReply::says("Thank you."));
    assert_eq!(said(&chat.say("Was it much?")), "Thank you.");
}

#[test]
fn finish_reasons_that_lie_are_corrected() {
    let chat = Chat::new();
    chat.model.reply(ModelReply::stream().call("list_files", "{}").finish("stop"));
    chat.model.reply(ModelReply::says("Done."));
    let events = chat.say("Go");
    assert_eq!((said(&events).as_str(), chat.records().len()), ("Done.", 1));
    // Arguments that were cut off are not run.
    chat.model.reply(ModelReply::stream().call("write_file", r#"{"path": "/a", "content": "ha"#).finish("length"));
    let events = chat.say("Go on");
    assert_eq!(finished(&events), "length");
    assert_eq!((chat.records().len(), chat.file("a")), (1, None));
    let message = chat.last_message();
    assert!(calls_of(&message).iter().all(|it| it["state"] == "output-error"), "{message}");
    chat.model.reply(ModelReply::says("Now."));
    assert_eq!(said(&chat.say("Again")), "Now.");
}
