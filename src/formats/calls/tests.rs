use super::*;
use serde_json::json;

fn names(body: Value) -> Result<(CallFormat, Vec<String>), String> {
    read(body).map(|(provider, calls)| (provider, calls.into_iter().map(|it| it.name).collect()))
}

#[track_caller]
fn check(body: Value, provider: CallFormat, expected: &[&str]) {
    let expected = expected.iter().map(|it| (*it).to_owned()).collect();
    assert_eq!(names(body), Ok((provider, expected)));
}

#[test]
fn calls_are_found_in_all_that_holds_them() {
    let call = json!({"id": "c1", "type": "function", "function": {"name": "a", "arguments": "{}"}});
    let message = json!({"role": "assistant", "content": null, "tool_calls": [call]});
    for body in [json!([call]), call.clone(), message.clone(), json!({"choices": [{"index": 0, "message": message}]})] {
        check(body, CallFormat::Openai, &["a"]);
    }
    let langchain = json!({"name": "a", "args": {"x": 1}, "id": "c1", "type": "tool_call"});
    for body in [json!([langchain]), json!({"type": "ai", "content": "", "tool_calls": [langchain]})] {
        check(body, CallFormat::Openai, &["a"]);
    }
    let (_, calls) = read(json!([langchain])).unwrap();
    assert_eq!((calls[0].id.as_deref(), calls[0].arguments.clone().unwrap()["x"].as_u64()), (Some("c1"), Some(1)));
    let item = json!({"type": "function_call", "call_id": "c1", "name": "a", "arguments": "{}"});
    for body in [json!([item]), json!({"output": [{"type": "reasoning", "summary": []}, item, item]})] {
        let count = body.get("output").map_or(1, |_| 2);
        check(body, CallFormat::OpenaiResponses, &["a", "a"][..count]);
    }
    let block = json!({"type": "tool_use", "id": "t1", "name": "a", "input": {}});
    let text = json!({"type": "text", "text": "Let me see"});
    for body in [json!([block]), json!({"role": "assistant", "content": [text, block]})] {
        check(body, CallFormat::Anthropic, &["a"]);
    }
    let part = json!({"functionCall": {"name": "a", "args": {}}});
    for body in [
        json!([part]),
        json!([{"function_call": {"name": "a", "args": {}}}]),
        json!({"role": "model", "parts": [{"text": "x", "functionCall": null}, part]}),
        json!({"candidates": [{"content": {"role": "model", "parts": [part]}}]}),
    ] {
        check(body, CallFormat::Gemini, &["a"]);
    }
}

#[test]
fn what_holds_no_calls_is_refused() {
    let block = json!({"type": "tool_use", "id": "t1", "name": "a", "input": {}});
    let part = json!({"functionCall": {"name": "a"}});
    for (body, expected) in [
        (json!([]), "holds no call"),
        (json!({}), "holds no call"),
        (json!("x"), "holds no call"),
        (json!({"role": "assistant", "content": "Hello"}), "holds no call"),
        // A message of OpenAI's API before it had tools. Gemini's calls have no `arguments`.
        (json!({"function_call": {"name": "a", "arguments": "{}"}}), "holds no call"),
        (json!([block, part]), "two kinds"),
        (json!(vec![block; 33]), "holds more than 32 calls"),
    ] {
        let refusal = names(body.clone()).unwrap_err();
        assert!(refusal.contains(expected), "{body}: {refusal}");
    }
}

#[test]
fn a_call_without_a_name_is_a_call_of_no_tool() {
    let block = json!({"type": "tool_use", "id": "t1", "name": "a", "input": {}});
    check(json!([{"type": "tool_use", "id": "t0"}, block]), CallFormat::Anthropic, &["", "a"]);
    check(json!([{"function": {"arguments": "{}"}}]), CallFormat::Openai, &[""]);
    check(json!([{"functionCall": {"args": {}}}]), CallFormat::Gemini, &[""]);
}

#[test]
fn all_calls_together_hold_no_more_than_one_may() {
    let text = format!("{{\"x\": [{}]}}", vec!["1"; MAX_VALUES / 3].join(","));
    let call = json!({"id": "c", "type": "function", "function": {"name": "a", "arguments": text}});
    let read = read(json!(vec![call; 5])).unwrap().1;
    let fits = read.iter().map(|it| it.arguments.is_ok()).collect::<Vec<_>>();
    assert_eq!(fits, [true, true, false, false, false]);
    assert!(read[2].arguments.as_ref().unwrap_err().contains("of all calls hold more than 250000 values"));
}

#[test]
fn arguments_that_cannot_be_read_are_told() {
    let arguments = |text: Value| {
        let call = json!([{"id": "c", "type": "function", "function": {"name": "a", "arguments": text}}]);
        read(call).unwrap().1.remove(0).arguments
    };
    assert_eq!(arguments(json!("{\"x\": 1}")).unwrap()["x"], 1);
    for none in [json!(""), json!(" "), json!(null), json!({})] {
        assert_eq!(arguments(none), Ok(Map::new()));
    }
    assert!(arguments(json!("{\"x\": ")).unwrap_err().contains("not valid JSON (EOF while parsing"));
    for other in [json!("[1]"), json!("7"), json!(7)] {
        assert!(arguments(other).unwrap_err().contains("no JSON object"));
    }
}

#[test]
fn results_go_back_as_each_provider_wants_them() {
    let results = |id: Option<&str>| {
        let asked =
            |name: &str| ModelCall { id: id.map(str::to_owned), name: name.to_owned(), arguments: Ok(Map::new()) };
        let failure = json!({"code": "TOOL_ERROR", "message": "No"});
        vec![
            (asked("a"), CallOutcome { succeeded: true, value: json!("text") }),
            (asked("b"), CallOutcome { succeeded: true, value: json!({"n": 1}) }),
            (asked("c"), CallOutcome { succeeded: false, value: failure }),
        ]
    };
    let told = r#"{"code":"TOOL_ERROR","message":"No"}"#;
    assert_eq!(
        answer(CallFormat::Openai, &results(Some("i"))),
        [
            json!({"role": "tool", "tool_call_id": "i", "content": "text"}),
            json!({"role": "tool", "tool_call_id": "i", "content": "{\"n\":1}"}),
            json!({"role": "tool", "tool_call_id": "i", "content": format!("{{\"error\":{told}}}")}),
        ]
    );
    assert_eq!(
        answer(CallFormat::OpenaiResponses, &results(Some("i")))[1],
        json!({"type": "function_call_output", "call_id": "i", "output": "{\"n\":1}"}),
    );
    assert_eq!(
        answer(CallFormat::Anthropic, &results(Some("i"))),
        [json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "i", "content": "text", "is_error": false},
            {"type": "tool_result", "tool_use_id": "i", "content": "{\"n\":1}", "is_error": false},
            {"type": "tool_result", "tool_use_id": "i", "content": told, "is_error": true},
        ]})]
    );
    assert_eq!(
        answer(CallFormat::Gemini, &results(None)),
        [json!({"role": "user", "parts": [
            {"functionResponse": {"name": "a", "response": {"output": "text"}}},
            {"functionResponse": {"name": "b", "response": {"output": {"n": 1}}}},
            {"functionResponse": {"name": "c", "response": {"error": {"code": "TOOL_ERROR", "message": "No"}}}},
        ]})]
    );
    assert_eq!(answer(CallFormat::Gemini, &results(Some("i")))[0]["parts"][0]["functionResponse"]["id"], "i");
}
