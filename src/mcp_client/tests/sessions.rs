//! Sessions that get lost or end, and calls whose time is over.

use super::*;

#[test]
fn a_lost_session_is_begun_once_more() {
    let lost = [
        (404, "Session not found"),
        (404, ""),
        (400, "Bad Request: No valid session ID provided"),
        (400, "Server not initialized"),
    ];
    for (status, words) in lost {
        let peer = ScriptedPeer::new(|seen: &Seen| match seen.header("Mcp-Session-Id") {
            Some("old") => Answer::Text(status, words),
            _ => legacy(seen),
        });
        let answer = call(&peer, remembered(PeerEra::Legacy, Some("old")));
        assert!(answer.outcome.is_ok(), "{words}");
        assert_eq!(answer.memory.unwrap().session.as_deref(), Some("s-1"));
        assert_eq!(peer.titles(), ["tools/call", "initialize", "notifications/initialized", "tools/call"]);
    }
}

#[test]
fn no_session_is_begun_twice() {
    let peer = ScriptedPeer::new(|seen: &Seen| match seen.method() {
        "tools/call" => Answer::Text(404, "Session not found"),
        _ => legacy(seen),
    });
    let failure = call(&peer, remembered(PeerEra::Legacy, Some("old"))).outcome.unwrap_err();
    assert_eq!(failure.cause, FailureCause::Refused { status: 404, text: "Session not found".into() });
    assert!(failure.surely_did_not_run());
    assert_eq!(peer.titles(), ["tools/call", "initialize", "notifications/initialized", "tools/call"]);
}

#[test]
fn a_call_that_may_have_run_is_not_sent_again() {
    for answer in [|| Answer::Text(500, "session"), || Answer::Text(400, "bad city"), || Answer::Unreachable] {
        let peer = ScriptedPeer::new(|_: &Seen| answer());
        let answer = call(&peer, remembered(PeerEra::Legacy, Some("s-1")));
        assert!(answer.outcome.is_err() && answer.memory.is_some());
        assert_eq!(peer.titles(), ["tools/call"]);
    }
}

#[test]
fn a_handshake_that_fails_leaves_the_call_unsent() {
    let peer = ScriptedPeer::new(|seen: &Seen| match seen.method() {
        "tools/call" => Answer::Text(404, ""),
        _ => Answer::Unreachable,
    });
    let failure = call(&peer, remembered(PeerEra::Legacy, Some("old"))).outcome.unwrap_err();
    assert!(!failure.was_sent && failure.surely_did_not_run());
}

#[test]
fn a_list_whose_session_is_lost_begins_anew() {
    let mut is_lost = true;
    let peer = ScriptedPeer::new(|seen: &Seen| {
        let cursor = seen.body["params"]["cursor"].as_str();
        let page = |name: &str, next: Option<&str>| {
            let mut page = tools(&[name]);
            page["nextCursor"] = json!(next);
            Answer::Json(200, seen.result(page))
        };
        match (seen.method(), cursor) {
            ("tools/list", Some("2")) if std::mem::take(&mut is_lost) => Answer::Text(404, ""),
            ("tools/list", None) => page("a", Some("2")),
            ("tools/list", Some(_)) => page("b", None),
            _ => legacy(seen),
        }
    });
    let memory = remembered(PeerEra::Legacy, Some("s-1"));
    assert_eq!(names(list(&peer, McpTransport::StreamableHttp, memory)), ["a", "b"]);
}

#[test]
fn a_session_is_ended_by_its_id() {
    let peer = ScriptedPeer::new(|_: &Seen| Answer::Text(405, ""));
    let turn = MemoryTurn::default();
    let memory = remembered(PeerEra::Legacy, Some("s-1"));
    run(Conversation::new(&peer, McpTransport::StreamableHttp, &turn, memory).end_session());
    assert_eq!(peer.titles(), ["DELETE"]);
    assert_eq!(peer.seen.borrow()[0].header("Mcp-Session-Id"), Some("s-1"));
    let memory = remembered(PeerEra::Modern, None);
    run(Conversation::new(&peer, McpTransport::StreamableHttp, &turn, memory).end_session());
    assert_eq!(peer.titles().len(), 1);
}

#[test]
fn a_call_whose_time_is_over_is_cancelled() {
    let peer = ScriptedPeer::new(|seen: &Seen| match seen.method() {
        "tools/call" => Answer::Silence,
        _ => legacy(seen),
    });
    let failure = call(&peer, remembered(PeerEra::Legacy, Some("s-1"))).outcome.unwrap_err();
    assert_eq!((failure.cause.clone(), failure.surely_did_not_run()), (FailureCause::TimedOut, false));
    assert_eq!(peer.titles(), ["tools/call", "notifications/cancelled"]);
    let cancelled = peer.last("notifications/cancelled");
    assert_eq!(cancelled.body["params"]["requestId"], peer.last("tools/call").body["id"]);
    assert_eq!(cancelled.header("Mcp-Session-Id"), Some("s-1"));
    // Neither a handshake nor a modern request is cancelled by a message.
    let peer = ScriptedPeer::new(|seen: &Seen| match seen.method() {
        "initialize" => Answer::Silence,
        _ => Answer::Text(400, ""),
    });
    assert!(matches!(cause(call(&peer, None)), FailureCause::TimedOut));
    assert_eq!(peer.titles(), ["modern server/discover", "initialize"]);
    let peer = ScriptedPeer::new(|_: &Seen| Answer::Silence);
    assert!(matches!(cause(call(&peer, remembered(PeerEra::Modern, None))), FailureCause::TimedOut));
    assert_eq!(peer.titles(), ["modern tools/call"]);
}
