//! Which era a server speaks, and how the client finds out.

use super::*;

#[test]
fn a_modern_server_needs_one_request() {
    let peer = ScriptedPeer::new(|seen: &Seen| Answer::Json(200, seen.result(modern_tools(&["a", "b"]))));
    let answer = list_by_http(&peer);
    let listing = answer.outcome.unwrap();
    assert_eq!((listing.tools.len(), listing.ttl_ms), (2, Some(5_000)));
    assert_eq!(listing.tools[0].get(), r#"{"name":"a"}"#);
    let memory = answer.memory.unwrap();
    assert_eq!((memory.era, memory.revision.as_str()), (PeerEra::Modern, "2026-07-28"));
    assert_eq!(memory.server_info, Some(json!({"name": "m", "version": "1"})));
    assert_eq!(peer.titles(), ["modern tools/list"]);
    let seen = peer.last("tools/list");
    assert_eq!(seen.header("MCP-Protocol-Version"), Some("2026-07-28"));
    assert_eq!((seen.header("Mcp-Method"), seen.header("Mcp-Name")), (Some("tools/list"), None));
    let meta = &seen.body["params"]["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    assert_eq!(meta["io.modelcontextprotocol/clientCapabilities"], json!({}));
    assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "pegboard");
}

#[test]
fn a_server_that_refuses_gets_a_handshake() {
    let peer = ScriptedPeer::new(legacy);
    let answer = list_by_http(&peer);
    let memory = answer.memory.clone().unwrap();
    assert_eq!(names(answer), ["a"]);
    assert_eq!((memory.era, memory.revision.as_str()), (PeerEra::Legacy, "2025-11-25"));
    assert_eq!((memory.session.as_deref(), memory.server_info.unwrap()["name"].as_str()), (Some("s-1"), Some("l")));
    assert_eq!(peer.titles(), ["modern tools/list", "initialize", "notifications/initialized", "tools/list"]);
    assert_eq!(peer.last("initialize").header("MCP-Protocol-Version"), None);
    for method in ["notifications/initialized", "tools/list"] {
        let seen = peer.last(method);
        assert_eq!(seen.header("MCP-Protocol-Version"), Some("2025-11-25"), "{method}");
        assert_eq!((seen.header("Mcp-Session-Id"), seen.header("Mcp-Method")), (Some("s-1"), None), "{method}");
    }
}

#[test]
fn what_was_remembered_needs_no_handshake() {
    let peer = ScriptedPeer::new(legacy);
    let answer = call(&peer, remembered(PeerEra::Legacy, Some("s-1")));
    assert_eq!(answer.outcome.unwrap().content, r#"[{"type":"text","text":"sunny"}]"#);
    assert_eq!(peer.titles(), ["tools/call"]);
    assert_eq!(peer.last("tools/call").header("Mcp-Param-City"), None);
}

#[test]
fn a_call_is_no_probe() {
    let modern = |seen: &Seen| match seen.method() {
        "server/discover" => {
            Answer::Json(200, seen.result(json!({"resultType": "complete", "supportedVersions": ["2026-07-28"]})))
        }
        _ => Answer::Json(200, seen.result(text_result("sunny"))),
    };
    let peer = ScriptedPeer::new(modern);
    assert!(call(&peer, None).outcome.is_ok());
    assert_eq!(peer.titles(), ["modern server/discover", "modern tools/call"]);
    let seen = peer.last("tools/call");
    assert_eq!(
        (seen.header("Mcp-Name"), seen.header("Mcp-Param-City")),
        (Some("weather"), Some("=?base64?S8O2bG4=?="))
    );
    let peer = ScriptedPeer::new(legacy);
    assert!(call(&peer, None).outcome.is_ok());
    assert_eq!(peer.titles(), ["modern server/discover", "initialize", "notifications/initialized", "tools/call"]);
}

#[test]
fn a_recognised_error_is_a_sign_of_the_modern_era() {
    for (status, code) in [(400, -32020), (400, -32021), (404, -32601)] {
        let peer = ScriptedPeer::new(|seen: &Seen| Answer::Json(status, seen.error(code, "no")));
        let answer = list_by_http(&peer);
        assert_eq!(answer.memory.as_ref().map(|it| it.era), Some(PeerEra::Modern), "{code}");
        assert!(matches!(cause(answer), FailureCause::Rpc(error) if error.code.0 == code));
        assert_eq!(peer.titles().len(), 1, "{code}");
    }
}

#[test]
fn a_refused_revision_is_asked_for_again_or_replaced() {
    let refuse = |seen: &Seen, supported: Value| {
        let mut error = seen.error(-32022, "Unsupported protocol version");
        error["error"]["data"] = json!({"supported": supported, "requested": "x"});
        Answer::Json(400, error)
    };
    let mut count = 0;
    let peer = ScriptedPeer::new(|seen: &Seen| {
        count += 1;
        if count == 1 {
            return refuse(seen, json!(["2026-07-28"]));
        }
        Answer::Json(200, seen.result(modern_tools(&["a"])))
    });
    assert_eq!(names(list_by_http(&peer)), ["a"]);
    let peer = ScriptedPeer::new(|seen: &Seen| refuse(seen, json!(["2026-07-28"])));
    assert!(matches!(cause(list_by_http(&peer)), FailureCause::Rpc(_)));
    assert_eq!(peer.titles().len(), 2);
    let peer = ScriptedPeer::new(|seen: &Seen| {
        if seen.has_meta() { refuse(seen, json!(["2025-03-26", "2025-06-18"])) } else { legacy(seen) }
    });
    assert_eq!(list_by_http(&peer).memory.unwrap().revision, "2025-06-18");
    let peer = ScriptedPeer::new(|seen: &Seen| refuse(seen, json!(["2031-01-01"])));
    assert!(matches!(cause(list_by_http(&peer)), FailureCause::Rpc(_)));
    assert_eq!(peer.titles().len(), 1);
}

#[test]
fn an_older_server_that_answers_anyway_gets_a_handshake_if_it_takes_one() {
    let peer = ScriptedPeer::new(|seen: &Seen| match seen.has_meta() {
        true => Answer::Json(200, seen.result(tools(&["a"]))),
        false => legacy(seen),
    });
    let answer = list_by_http(&peer);
    assert_eq!(answer.memory.as_ref().unwrap().era, PeerEra::Legacy);
    assert_eq!(names(answer), ["a"]);
    let peer = ScriptedPeer::new(|seen: &Seen| match seen.method() {
        "tools/list" => Answer::Json(200, seen.result(tools(&["a"]))),
        _ => Answer::Json(404, seen.error(-32601, "Method not found")),
    });
    let answer = list_by_http(&peer);
    assert_eq!(answer.memory.as_ref().unwrap().era, PeerEra::Modern);
    assert_eq!(names(answer), ["a"]);
}

#[test]
fn older_revisions_are_taken_and_unknown_ones_are_not() {
    let answering = |revision: &'static str| {
        ScriptedPeer::new(move |seen: &Seen| match seen.method() {
            "initialize" => Answer::Session(seen.result(json!({"protocolVersion": revision})), "s-1"),
            _ => legacy(seen),
        })
    };
    for (revision, header) in [("2025-06-18", Some("2025-06-18")), ("2025-03-26", None), ("2024-11-05", None)] {
        let peer = answering(revision);
        assert_eq!(list_by_http(&peer).memory.unwrap().revision, revision);
        assert_eq!(peer.last("tools/list").header("MCP-Protocol-Version"), header);
    }
    assert!(matches!(cause(list_by_http(&answering("2099-01-01"))), FailureCause::Protocol(_)));
}

#[test]
fn a_server_that_changed_its_era_is_asked_in_the_other() {
    // From the modern era to the older one.
    let peer = ScriptedPeer::new(legacy);
    let answer = call(&peer, remembered(PeerEra::Modern, None));
    assert!(answer.outcome.is_ok());
    assert_eq!(answer.memory.unwrap().era, PeerEra::Legacy);
    assert_eq!(peer.titles(), ["modern tools/call", "initialize", "notifications/initialized", "tools/call"]);
    // And back.
    let peer = ScriptedPeer::new(|seen: &Seen| match seen.has_meta() {
        true => Answer::Json(200, seen.result(modern_tools(&["a"]))),
        false => Answer::Json(400, seen.error(-32020, "Missing header")),
    });
    let answer = list(&peer, McpTransport::StreamableHttp, remembered(PeerEra::Legacy, Some("s-1")));
    assert_eq!(answer.memory.as_ref().unwrap().era, PeerEra::Modern);
    assert_eq!(names(answer), ["a"]);
}

#[test]
fn an_error_of_a_modern_call_is_final() {
    let peer = ScriptedPeer::new(|seen: &Seen| Answer::Json(400, seen.error(-32602, "Unknown tool: weather")));
    let answer = call(&peer, remembered(PeerEra::Modern, None));
    let failure = answer.outcome.unwrap_err();
    assert!(failure.is_unknown_tool() && failure.was_sent && !failure.surely_did_not_run());
    assert_eq!(peer.titles(), ["modern tools/call"]);
    assert!(answer.memory.is_some());
}

#[test]
fn who_may_not_ask_is_told_so() {
    for status in [401, 403, 429] {
        let peer = ScriptedPeer::new(|_: &Seen| Answer::Text(status, "no entry"));
        let refused = FailureCause::Refused { status, text: "no entry".into() };
        assert_eq!(cause(list_by_http(&peer)), refused);
        assert_eq!(peer.titles().len(), 1);
    }
}

#[test]
fn a_server_that_is_no_mcp_server_gets_four_requests_at_most() {
    let peer = ScriptedPeer::new(|_: &Seen| Answer::Text(404, "nothing here"));
    let answer = list_by_http(&peer);
    assert!(answer.memory.is_none());
    assert_eq!(cause(answer), FailureCause::Refused { status: 404, text: "nothing here".into() });
    assert_eq!(peer.titles(), ["modern tools/list", "initialize", "GET"]);
    let peer = ScriptedPeer::new(|_: &Seen| Answer::Text(200, "<html>"));
    assert!(matches!(cause(list_by_http(&peer)), FailureCause::Protocol(_)));
    let peer = ScriptedPeer::new(|_: &Seen| Answer::Unreachable);
    assert!(matches!(cause(list_by_http(&peer)), FailureCause::Unreachable(_)));
    assert_eq!(peer.titles().len(), 1);
    for status in [301, 307] {
        let peer = ScriptedPeer::new(|_: &Seen| Answer::Text(status, ""));
        assert!(matches!(cause(list_by_http(&peer)), FailureCause::Refused { .. }));
    }
}
