//! Answers of many servers, read from tests/fixtures/model_streams, and answers that cannot be used.
//!
//! `<name>.sse` and `<name>.json` are bodies, each in the dialect of a server, and `<name>.answer.json` is what is to be
//! read from them.

use super::*;
use crate::playground::part::FinishReason;
use serde_json::{Map, Value, json};
use std::path::Path;

#[derive(Clone)]
struct Fixture {
    name: String,
    body: Vec<u8>,
    answer: Value,
}

fn fixtures() -> Vec<Fixture> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/model_streams");
    let files = std::fs::read_dir(&folder).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap());
    let mut bodies = files.filter(|it| it != "README.md" && !it.ends_with(".answer.json")).collect::<Vec<_>>();
    bodies.sort();
    let read = |file: &str| std::fs::read(folder.join(file)).unwrap();
    let fixture = |file: String| {
        let name = file.split('.').next().unwrap().to_owned();
        let answer = serde_json::from_slice(&read(&format!("{name}.answer.json"))).unwrap();
        Fixture { body: read(&file), name, answer }
    };
    bodies.into_iter().map(fixture).collect()
}

type Read = Result<(Vec<ModelDelta>, ModelAnswer), ModelFault>;

/// Reads a body in these pieces. Deltas that go on with each other are joined.
fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Read {
    let mut reader = ModelReader::new(ModelLimits::default());
    let mut deltas = Vec::new();
    for piece in pieces {
        deltas.extend(reader.read(piece)?);
    }
    let (last, answer) = reader.end()?;
    deltas.extend(last);
    Ok((joined(deltas), answer))
}

fn joined(deltas: Vec<ModelDelta>) -> Vec<ModelDelta> {
    let mut joined = Vec::<ModelDelta>::new();
    for delta in deltas {
        match (joined.last_mut(), &delta) {
            (Some(ModelDelta::Text(text)), ModelDelta::Text(more)) => text.push_str(more),
            (Some(ModelDelta::Reasoning(text)), ModelDelta::Reasoning(more)) => text.push_str(more),
            (
                Some(ModelDelta::CallArguments { index, text }),
                ModelDelta::CallArguments { index: same, text: more },
            ) if index == same => text.push_str(more),
            _ => joined.push(delta),
        }
    }
    joined
}

fn read_whole(body: impl AsRef<[u8]>) -> Read {
    read([body.as_ref()])
}

fn fault(body: impl AsRef<[u8]>) -> ModelFault {
    read_whole(body).unwrap_err()
}

/// The answer in the form of `<name>.answer.json`.
fn shown(deltas: &[ModelDelta], answer: &ModelAnswer) -> Value {
    let call = |it: &AskedCall| {
        let mut fields = Map::from_iter([("name".to_owned(), json!(it.name))]);
        match &it.arguments {
            Ok(arguments) => fields.insert("arguments".into(), arguments.clone().into()),
            Err(unreadable) => fields.insert("unreadable".into(), json!(unreadable.text)),
        };
        fields.extend(it.extra_content.clone().map(|it| ("extra_content".to_owned(), it)));
        Value::Object(fields)
    };
    json!({
        "text": said(deltas),
        "reasoning": thought(deltas),
        "calls": answer.calls.iter().map(call).collect::<Vec<_>>(),
        "finish": answer.finish,
        "usage": answer.usage,
    })
}

/// The text that the deltas tell.
fn said(deltas: &[ModelDelta]) -> String {
    let texts = deltas.iter().filter_map(|it| if let ModelDelta::Text(text) = it { Some(text.as_str()) } else { None });
    texts.collect()
}

/// The reasoning that the deltas tell.
fn thought(deltas: &[ModelDelta]) -> String {
    let texts =
        deltas.iter().filter_map(|it| if let ModelDelta::Reasoning(it) = it { Some(it.as_str()) } else { None });
    texts.collect()
}

/// The calls that the deltas tell are those that the answer holds.
fn check_deltas(name: &str, deltas: &[ModelDelta], answer: &ModelAnswer) {
    let mut calls = Vec::<(String, String)>::new();
    for delta in deltas {
        match delta {
            ModelDelta::Text(_) | ModelDelta::Reasoning(_) => {}
            ModelDelta::CallBegun { index, name: called } => {
                assert_eq!(*index, calls.len(), "{name}");
                calls.push((called.clone(), String::new()));
            }
            ModelDelta::CallArguments { index, text } => calls[*index].1.push_str(text),
        }
    }
    // The calls of a cut answer were told, and are not run.
    for (asked, (called, arguments)) in answer.calls.iter().zip(&calls) {
        assert_eq!(&asked.name, called, "{name}");
        let told = serde_json::from_str(if arguments.trim().is_empty() { "{}" } else { arguments });
        assert_eq!(asked.arguments.clone().ok(), told.ok(), "{name}");
    }
    assert!(answer.calls.is_empty() || answer.calls.len() == calls.len(), "{name}");
}

#[test]
fn every_dialect_is_understood() {
    let fixtures = fixtures();
    assert!(fixtures.len() >= 30, "{}", fixtures.len());
    for Fixture { name, body, answer } in fixtures {
        let (deltas, found) = read_whole(&body).unwrap_or_else(|fault| panic!("{name}: {fault}"));
        assert_eq!(shown(&deltas, &found), answer, "{name}");
        check_deltas(&name, &deltas, &found);
    }
}

#[test]
fn it_does_not_matter_where_a_body_is_cut() {
    let check = |Fixture { name, body, .. }: &Fixture| {
        let whole = read_whole(body);
        for cut in 0..=body.len() {
            let (before, after) = body.split_at(cut);
            assert_eq!(read([before, after]), whole, "{name} at {cut}");
        }
        assert_eq!(read(body.chunks(1)), whole, "{name} in single bytes");
        assert_eq!(read(body.chunks(7).flat_map(|it| [it, b""])), whole, "{name}");
    };
    // Every body is read thousands of times, so all cores help.
    std::thread::scope(|scope| {
        for some in fixtures().chunks(8) {
            let some = some.to_vec();
            scope.spawn(move || some.iter().for_each(check));
        }
    });
}

/// Reads pieces as the one who asks does: until the reader is done. Nothing ends the body.
fn read_open<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Read {
    let mut reader = ModelReader::new(ModelLimits::default());
    let mut deltas = Vec::new();
    for piece in pieces {
        if !reader.is_done() {
            deltas.extend(reader.read(piece)?);
        }
    }
    assert!(reader.is_done(), "the one who asks would wait for more");
    let (last, answer) = reader.end()?;
    deltas.extend(last);
    Ok((joined(deltas), answer))
}

#[test]
fn a_stream_that_stays_open_is_over_when_its_end_or_a_fault_is_known_wherever_it_is_cut() {
    let text = text("Hi");
    for (stream, is_fault) in [
        (format!("{text}{}data: [DONE]\n\n", stop()), false),
        (format!("{text}data: {{\"error\": \"Overloaded\"}}\n\n"), true),
        (format!("{text}event: error\ndata: Overloaded\n\n"), true),
        (format!("{text}data: {{oops\n\n"), true),
    ] {
        let (body, whole) = (stream.as_bytes(), read_open([stream.as_bytes()]));
        assert_eq!(whole.is_err(), is_fault, "{stream}");
        for cut in 0..=body.len() {
            let (before, after) = body.split_at(cut);
            assert_eq!(read_open([before, after]), whole, "{stream} at {cut}");
        }
        assert_eq!(read_open(body.chunks(1)), whole, "{stream} in single bytes");
    }
}

#[test]
fn half_a_body_is_never_taken_for_a_whole_one() {
    for Fixture { name, body, .. } in fixtures() {
        let (_, whole) = read_whole(&body).unwrap();
        for cut in 0..body.len() {
            match read_whole(&body[..cut]) {
                // Only the end of the stream is missing, or the count of tokens.
                Ok((_, answer)) => {
                    assert_eq!(ModelAnswer { usage: whole.usage, ..answer }, whole, "{name} at {cut}");
                }
                Err(ModelFault::BrokenOff | ModelFault::Empty) => {}
                // The beginning of a word such as "data" is no line of a stream yet.
                Err(ModelFault::NoAnswer(_) | ModelFault::NotJson(_) | ModelFault::NotText) => {
                    assert!(!body[..cut].windows(7).any(|it| it == b"choices"), "{name} at {cut}");
                }
                Err(other) => panic!("{name} at {cut}: {other:?}"),
            }
        }
    }
}

fn chunk(delta: Value, finish: Value) -> String {
    format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}))
}

fn text(text: &str) -> String {
    chunk(json!({"content": text}), Value::Null)
}

fn stop() -> String {
    chunk(json!({}), "stop".into())
}

#[test]
fn an_error_in_the_stream_is_told_after_the_text_before_it() {
    for (error, shown) in [
        (
            json!({"error": {"message": "Overloaded", "type": "server_error", "code": "busy"}}),
            " (code busy): Overloaded",
        ),
        (
            json!({"error": {"message": "Overloaded", "code": 502}, "choices": [{"delta": {}}]}),
            " (code 502): Overloaded",
        ),
        (json!({"error": "Overloaded"}), ": Overloaded"),
    ] {
        let stream = format!("{}data: {error}\n\n", text("Hi"));
        let mut reader = ModelReader::new(ModelLimits::default());
        assert_eq!(reader.read(stream.as_bytes()), Ok(vec![ModelDelta::Text("Hi".into())]));
        assert!(reader.is_done(), "the server may stay silent");
        let fault = reader.read(b"").unwrap_err();
        assert_eq!(fault.to_string(), format!("The model's server reported an error{shown}"));
        assert_eq!(reader.end(), Err(fault));
    }
}

#[test]
fn an_event_of_the_kind_error_is_an_error_whatever_its_data() {
    for data in [r#"{"message":"No"}"#, r#"{"error":{"message":"No"}}"#, "No"] {
        let stream = format!("{}event: error\ndata: {data}\n\n", text("Hi"));
        assert_eq!(fault(stream).to_string(), "The model's server reported an error: No", "{data}");
    }
}

#[test]
fn an_error_in_a_document_is_told() {
    let shown = fault(r#"{"error":{"message":"Bad","code":400}}"#).to_string();
    assert_eq!(shown, "The model's server reported an error (code 400): Bad");
    assert_eq!(fault(r#"[{"error":{"message":"Bad","code":400}}]"#).to_string(), shown);
}

#[test]
fn garbage_is_a_fault_and_unknown_lines_are_none() {
    assert_eq!(fault(format!("{}data: {{\"choices\": oops\n\n{}", text("Hi"), stop())), {
        ModelFault::NotJson("{\"choices\": oops".into())
    });
    let (deltas, _) = read_whole(format!("?!\nfoo: bar\nid: 7\n\n{}:\n\n{}", text("Hi"), stop())).unwrap();
    assert_eq!(said(&deltas), "Hi");
    let (deltas, _) = read_whole(format!("{}{}data: [DONE]\n\ndata: oops\n\ndata: {{", text("Hi"), stop())).unwrap();
    assert_eq!(said(&deltas), "Hi", "what comes after the end");
    let (_, answer) = read_whole(format!("data: {{\"type\":\"ping\"}}\n\ndata:\n\n{}", stop())).unwrap();
    assert_eq!(answer.finish, FinishReason::Stop);
}

#[test]
fn an_answer_without_a_finish_reason_is_broken_off() {
    for stream in [text("Hi"), format!("{}data: [DONE]\n\n", text("Hi")), format!("{}data: {{\"choi", text("Hi"))] {
        assert_eq!(fault(&stream), ModelFault::BrokenOff, "{stream}");
    }
    assert_eq!(fault("data: {\"response\":\"Hi\"}\n\n"), ModelFault::BrokenOff);
    assert_eq!(fault(r#"{"choices":[{"message":{"content":"Hi"#), ModelFault::BrokenOff);
    assert_eq!(fault(b"{\"choices\":[{\"message\":{\"content\":\"\xc3"), ModelFault::BrokenOff);
}

#[test]
fn an_empty_body_and_a_web_page_are_told() {
    for empty in ["", " \n\n", "\u{feff}", ": ping\n\n", "data: [DONE]\n\n", ": ping\n\ndata: [DONE]\n\n"] {
        assert_eq!(fault(empty), ModelFault::Empty, "{empty:?}");
    }
    let page = "<!DOCTYPE html>\n<html><head><title>Sign in</title></head></html>";
    assert_eq!(
        fault(page).to_string(),
        "The model's server answered with something that is no chat completion (check the model's URL): <!DOCTYPE html> \
         <html><head><title>Sign in</title></head></html>"
    );
    for other in ["ok", r#"{"status":"ok"}"#, "[1]", "[]", "{} {}", "data: {\"type\":\"response.created\"}\n\n"] {
        assert!(matches!(fault(other), ModelFault::NoAnswer(_)), "{other}: {:?}", fault(other));
    }
}

#[test]
fn what_is_not_utf8_is_a_fault() {
    assert_eq!(fault(b"data: {\"choices\": \"\xff\"}\n\n"), ModelFault::NotText);
    assert_eq!(fault(b"{\"choices\": \"\xff\"}"), ModelFault::NotText);
}

#[test]
fn a_large_answer_ends_at_the_limit() {
    let mut reader = ModelReader::new(ModelLimits::default());
    let piece = text(&"x".repeat(10_000));
    let pieces = (0..1_000).take_while(|_| reader.read(piece.as_bytes()).is_ok()).count();
    assert_eq!(pieces, 104);
    assert_eq!(reader.end().err(), Some(ModelFault::TooLarge("the text")));
    let large = "x".repeat(10 * 1024 * 1024);
    assert!(matches!(fault(text(&large)), ModelFault::TooLarge(_)));
    assert!(matches!(fault(format!(r#"{{"choices":"{large}"}}"#)), ModelFault::TooLarge(_)));
    assert!(matches!(fault(format!("data: [{}1]\n\n", "1,".repeat(300_000))), ModelFault::TooLarge(_)));
    assert!(matches!(fault(format!("data: {}\n\n", "[".repeat(100_000))), ModelFault::NotJson(_)));
}

#[test]
fn the_arguments_of_a_call_have_a_largest_size() {
    let call =
        |arguments: &str| json!({"tool_calls": [{"index": 0, "function": {"name": "t", "arguments": arguments}}]});
    let fits = format!("{{\"x\":\"{}\"}}", "x".repeat(256 * 1024 - 8));
    let read = |more: &str| {
        read_whole(format!("{}{}{}", chunk(call(&fits), Value::Null), chunk(call(more), Value::Null), stop()))
    };
    assert!(read("").unwrap().1.calls[0].arguments.is_ok());
    assert_eq!(read(" "), Err(ModelFault::TooLarge("the arguments of a call")));
}

#[test]
fn a_thousand_calls_end_at_the_limit() {
    let call = |index: usize| json!({"index": index, "id": format!("call_{index}"), "function": {"name": "t", "arguments": "{}"}});
    let stream = |count: usize| {
        (0..count).map(|it| chunk(json!({"tool_calls": [call(it)]}), Value::Null)).collect::<String>() + &stop()
    };
    assert_eq!(read_whole(stream(32)).unwrap().1.calls.len(), 32);
    assert_eq!(fault(stream(1_000)).to_string(), "The model asked for more than 32 calls in one answer");
    let calls = (0..1_000).map(call).collect::<Vec<_>>();
    let document = json!({"choices": [{"message": {"tool_calls": calls}, "finish_reason": "tool_calls"}]});
    assert_eq!(fault(document.to_string()), ModelFault::TooManyCalls(32));
}

#[test]
fn unreadable_arguments_come_with_advice_for_the_model() {
    let calls = json!({"tool_calls": [{"index": 0, "function": {"name": "t", "arguments": "{\"a\": 1,"}}]});
    let (_, answer) = read_whole(chunk(calls, "tool_calls".into())).unwrap();
    let unreadable = answer.calls[0].arguments.clone().unwrap_err();
    assert_eq!(unreadable.text, "{\"a\": 1,");
    assert!(unreadable.message.contains("call the tool again"), "{}", unreadable.message);
}

#[test]
fn a_finish_reason_is_corrected_by_what_the_answer_holds() {
    let call = json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "t", "arguments": "{}"}}]});
    for (word, alone, with_call) in [
        ("stop", FinishReason::Stop, FinishReason::ToolCalls),
        ("tool_calls", FinishReason::Other, FinishReason::ToolCalls),
        ("function_call", FinishReason::Other, FinishReason::ToolCalls),
        ("eos_token", FinishReason::Stop, FinishReason::ToolCalls),
        ("what?", FinishReason::Other, FinishReason::ToolCalls),
        ("length", FinishReason::Length, FinishReason::Length),
        ("content_filter", FinishReason::ContentFilter, FinishReason::ContentFilter),
        ("error", FinishReason::Error, FinishReason::Error),
    ] {
        let (_, answer) = read_whole(chunk(json!({"content": "Hi"}), word.into())).unwrap();
        assert_eq!(answer.finish, alone, "{word}");
        let (_, answer) = read_whole(chunk(call.clone(), word.into())).unwrap();
        assert_eq!(answer.finish, with_call, "{word}");
        assert_eq!(answer.calls.len(), usize::from(with_call == FinishReason::ToolCalls), "{word}");
    }
}

#[test]
fn the_reader_knows_when_the_stream_is_over() {
    let mut reader = ModelReader::new(ModelLimits::default());
    reader.read(stop().as_bytes()).unwrap();
    assert!(!reader.is_done());
    reader.read(b"data: [DONE]\n\n").unwrap();
    assert!(reader.is_done());
}
