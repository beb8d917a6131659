//! Answers as JSON and as streams of events, and answers that are none.

use super::*;

fn session() -> Option<PeerMemory> {
    remembered(PeerEra::Legacy, Some("s-1"))
}

#[test]
fn an_answer_is_found_among_other_messages() {
    let peer = ScriptedPeer::new(|seen: &Seen| {
        if seen.method() != "tools/call" {
            return Answer::Text(202, "");
        }
        let ask = |id: &str, method: &str| event(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {}}));
        Answer::OpenStream(Events::new(std::cell::RefCell::new(
            [
                b": hello\n\n".to_vec(),
                event(&json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {}})),
                ask("p", "ping"),
                ask("q", "sampling/createMessage"),
                event(&json!({"jsonrpc": "2.0", "id": "other", "result": text_result("wrong")})),
                b"event: other\ndata: {}\n\n".to_vec(),
                event(&seen.result(text_result("right"))),
            ]
            .into(),
        )))
    });
    let result = call(&peer, session()).outcome.unwrap();
    assert_eq!(result.content, r#"[{"type":"text","text":"right"}]"#);
    let seen = peer.seen.borrow();
    assert_eq!(seen[1].body, json!({"jsonrpc": "2.0", "id": "p", "result": {}}));
    assert_eq!(seen[1].header("Mcp-Session-Id"), Some("s-1"));
    assert_eq!((seen[2].body["id"].as_str(), seen[2].body["error"]["code"].as_i64()), (Some("q"), Some(-32601)));
    assert_eq!(seen.len(), 3);
}

#[test]
fn a_modern_stream_has_no_requests_to_answer() {
    let peer = ScriptedPeer::new(|seen: &Seen| {
        let ping = event(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}));
        Answer::Events(vec![ping, event(&seen.result(text_result("right")))])
    });
    assert!(call(&peer, remembered(PeerEra::Modern, None)).outcome.is_ok());
    assert_eq!(peer.titles(), ["modern tools/call"]);
}

#[test]
fn requests_without_end_are_a_failure() {
    let peer = ScriptedPeer::new(|seen: &Seen| match seen.method() {
        "tools/call" => {
            let ping = event(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}));
            Answer::Events(vec![ping; 200])
        }
        _ => Answer::Text(202, ""),
    });
    assert!(matches!(cause(call(&peer, session())), FailureCause::Protocol(_)));
}

#[test]
fn a_stream_that_ends_early_is_gone_on_with() {
    let mut call_id = Value::Null;
    let mut returns = 0;
    let peer = ScriptedPeer::new(|seen: &Seen| {
        if seen.verb == Verb::Get {
            returns += 1;
            if returns == 1 {
                return Answer::Events(vec![b"id: 8\ndata:\n\n".to_vec()]);
            }
            return Answer::Events(vec![event(&json!({"jsonrpc": "2.0", "id": call_id, "result": text_result("x")}))]);
        }
        call_id = seen.body["id"].clone();
        Answer::Events(vec![b"id: 7\nretry: 250\ndata: \n\n".to_vec()])
    });
    assert!(call(&peer, session()).outcome.is_ok());
    assert_eq!(peer.titles(), ["tools/call", "GET", "GET"]);
    let seen = peer.seen.borrow();
    assert_eq!((seen[1].header("Last-Event-ID"), seen[2].header("Last-Event-ID")), (Some("7"), Some("8")));
    assert_eq!((seen[1].header("Mcp-Session-Id"), seen[1].header("Accept")), (Some("s-1"), Some("text/event-stream")));
    assert_eq!(*peer.pauses.borrow(), [Duration::from_millis(250), Duration::from_secs(1)]);
}

#[test]
fn a_stream_that_ends_for_good_is_a_failure() {
    let ends = |piece: &'static [u8], get: fn() -> Answer| {
        ScriptedPeer::new(move |seen: &Seen| match seen.verb {
            Verb::Get => get(),
            _ => Answer::Events(vec![piece.to_vec()]),
        })
    };
    let peer = ends(b"data: \n\n", || Answer::Silence);
    assert!(matches!(cause(call(&peer, session())), FailureCause::BrokenOff(_)));
    assert_eq!(peer.titles(), ["tools/call"]);
    let peer = ends(b"id: 1\n\n", || Answer::Text(405, ""));
    let failure = call(&peer, session()).outcome.unwrap_err();
    assert!(matches!(failure.cause, FailureCause::BrokenOff(_)) && !failure.surely_did_not_run());
    let peer = ends(b"id: 1\n\n", || Answer::Events(vec![]));
    assert!(matches!(cause(call(&peer, session())), FailureCause::BrokenOff(_)));
    assert_eq!(peer.titles().len(), 11);
    let peer = ends(b"id: 1\n\n", || Answer::Silence);
    assert!(matches!(cause(call(&peer, remembered(PeerEra::Modern, None))), FailureCause::BrokenOff(_)));
}

#[test]
fn answers_that_break_the_protocol_are_told() {
    let answers: [fn(&Seen) -> Answer; 9] = [
        |_| Answer::Text(202, ""),
        |_| Answer::Text(204, ""),
        |_| Answer::Text(200, "  "),
        |_| Answer::Text(200, "<html>"),
        |seen| Answer::Json(200, json!([seen.result(text_result("x"))])),
        |_| Answer::Json(200, json!({"jsonrpc": "2.0", "id": 1, "result": {}})),
        |seen| Answer::Json(200, seen.result(json!({"content": "x"}))),
        |seen| Answer::Json(200, seen.result(json!({"no": "content"}))),
        |_| Answer::Events(vec![b"data: {]\n\n".to_vec()]),
    ];
    for answer in answers {
        let peer = ScriptedPeer::new(answer);
        let cause = cause(call(&peer, session()));
        assert!(matches!(cause, FailureCause::Protocol(_)), "{cause:?}");
        assert_eq!(peer.titles(), ["tools/call"]);
    }
}

#[test]
fn a_batch_comes_from_servers_of_one_revision_only() {
    let peer = ScriptedPeer::new(|seen: &Seen| {
        let notification = json!({"jsonrpc": "2.0", "method": "x"});
        Answer::Json(200, json!([notification, seen.result(text_result("x"))]))
    });
    let memory = session().map(|it| PeerMemory { revision: "2025-03-26".into(), ..it });
    assert!(call(&peer, memory).outcome.is_ok());
}

#[test]
fn what_is_too_large_or_no_text_is_a_failure() {
    let peer = ScriptedPeer::new(|_: &Seen| Answer::Events(vec![b"data: \xff\n\n".to_vec()]));
    assert_eq!(cause(call(&peer, session())), FailureCause::NotText);
    let peer =
        ScriptedPeer::new(|seen: &Seen| Answer::Json(200, seen.result(text_result(&"x".repeat(11 * 1024 * 1024)))));
    assert!(matches!(cause(call(&peer, session())), FailureCause::TooLarge(_)));
    let peer = ScriptedPeer::new(|_: &Seen| Answer::Events(vec![vec![b'x'; 1024 * 1024]; 50]));
    assert!(matches!(cause(call(&peer, session())), FailureCause::TooLarge(_)));
}

#[test]
fn the_servers_own_error_is_passed_on() {
    let peer = ScriptedPeer::new(|seen: &Seen| Answer::Json(200, seen.error(-32602, "Tool weather not found")));
    let failure = call(&peer, session()).outcome.unwrap_err();
    assert!(failure.is_unknown_tool());
    let FailureCause::Rpc(error) = failure.cause else { panic!("it is the server's error") };
    assert_eq!(error.code, RpcErrorCode::INVALID_PARAMS);
}
