//! The transport of 2024-11-05.

use super::*;

/// A server of 2024-11-05.
fn server(events: Events, endpoint: &'static str) -> impl FnMut(&Seen) -> Answer {
    move |seen: &Seen| {
        let push = |message: Value| events.borrow_mut().push_back(event(&message));
        if seen.verb == Verb::Get {
            events.borrow_mut().push_back(format!("event: endpoint\ndata: {endpoint}\n\n").into_bytes());
            return Answer::OpenStream(events.clone());
        }
        if seen.url.is_none() {
            return Answer::Text(405, "Method Not Allowed");
        }
        match seen.method() {
            "initialize" => {
                push(json!({"jsonrpc": "2.0", "id": "r", "method": "roots/list"}));
                push(seen.result(json!({"protocolVersion": "2024-11-05", "serverInfo": {"name": "old"}})));
            }
            "tools/list" if seen.body["params"].get("cursor").is_none() => {
                push(seen.result(json!({"tools": [{"name": "a"}], "nextCursor": "2"})));
            }
            "tools/list" => push(seen.result(tools(&["b"]))),
            _ => {}
        }
        Answer::Text(202, "Accepted")
    }
}

#[test]
fn everything_happens_on_one_stream() {
    let peer = ScriptedPeer::new(server(Events::default(), "/messages?session=1"));
    let answer = list(&peer, McpTransport::Sse, None);
    let memory = answer.memory.clone().unwrap();
    assert_eq!((memory.era, memory.revision.as_str(), memory.session), (PeerEra::EventStream, "2024-11-05", None));
    assert_eq!(names(answer), ["a", "b"]);
    let expected = ["GET", "initialize", "response", "notifications/initialized", "tools/list", "tools/list"];
    assert_eq!(peer.titles(), expected);
    let seen = peer.last("tools/list");
    assert_eq!(seen.url.as_deref(), Some("https://peer.example/messages?session=1"));
    assert_eq!(peer.seen.borrow()[2].body["error"]["code"], -32601);
}

#[test]
fn it_is_found_when_the_other_eras_are_refused() {
    let peer = ScriptedPeer::new(server(Events::default(), "/m"));
    let answer = list_by_http(&peer);
    assert_eq!(answer.memory.clone().unwrap().era, PeerEra::EventStream);
    assert_eq!(names(answer), ["a", "b"]);
    assert_eq!(peer.titles()[..3], ["modern tools/list", "initialize", "GET"]);
}

#[test]
fn an_endpoint_elsewhere_is_refused() {
    let peer = ScriptedPeer::new(server(Events::default(), "https://evil.example/m"));
    assert!(matches!(cause(list(&peer, McpTransport::Sse, None)), FailureCause::Protocol(_)));
    assert_eq!(peer.titles(), ["GET"]);
}

#[test]
fn a_call_whose_time_is_over_is_cancelled_at_the_endpoint() {
    let peer = ScriptedPeer::new(server(Events::default(), "/m"));
    let failure = call(&peer, remembered(PeerEra::EventStream, None)).outcome.unwrap_err();
    assert_eq!(failure.cause, FailureCause::TimedOut);
    let cancelled = peer.last("notifications/cancelled");
    assert_eq!(cancelled.url.as_deref(), Some("https://peer.example/m"));
}

#[test]
fn a_stream_that_is_none_or_stays_silent_is_told() {
    let peer = ScriptedPeer::new(|_: &Seen| Answer::Text(200, "<html>"));
    assert!(matches!(cause(list(&peer, McpTransport::Sse, None)), FailureCause::Refused { status: 200, .. }));
    let peer = ScriptedPeer::new(|_: &Seen| Answer::OpenStream(Events::default()));
    assert!(matches!(cause(list(&peer, McpTransport::Sse, None)), FailureCause::Protocol(_)));
    let peer = ScriptedPeer::new(|_: &Seen| Answer::Events(vec![]));
    assert!(matches!(cause(list(&peer, McpTransport::Sse, None)), FailureCause::BrokenOff(_)));
}
