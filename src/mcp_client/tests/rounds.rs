//! Results that need further rounds.

use super::*;

fn unfinished(state: &str) -> Value {
    json!({"resultType": "input_required", "requestState": state})
}

#[test]
fn a_state_is_sent_back_until_the_result_is_there() {
    let mut round = 0;
    let peer = ScriptedPeer::new(|seen: &Seen| {
        round += 1;
        let state = seen.body["params"]["requestState"].as_str();
        assert_eq!(state.map(str::to_owned), (round > 1).then(|| format!("state {}", round - 1)));
        let result = if round == 4 { text_result("x") } else { unfinished(&format!("state {round}")) };
        Answer::Json(200, seen.result(result))
    });
    assert!(call(&peer, remembered(PeerEra::Modern, None)).outcome.is_ok());
    let seen = peer.seen.borrow();
    assert_eq!(seen.len(), 4);
    assert_ne!(seen[0].body["id"], seen[1].body["id"]);
    assert_eq!(seen[3].header("Mcp-Param-City"), seen[0].header("Mcp-Param-City"));
    assert_eq!(*peer.pauses.borrow(), [50, 100, 200].map(Duration::from_millis));
}

#[test]
fn rounds_have_an_end() {
    let peer = ScriptedPeer::new(|seen: &Seen| Answer::Json(200, seen.result(unfinished("x"))));
    assert!(matches!(cause(call(&peer, remembered(PeerEra::Modern, None))), FailureCause::Protocol(_)));
    assert_eq!(peer.titles().len(), 11);
    let peer = ScriptedPeer::new(|seen: &Seen| Answer::Json(200, seen.result(json!({"resultType": "input_required"}))));
    assert!(matches!(cause(call(&peer, remembered(PeerEra::Modern, None))), FailureCause::Protocol(_)));
}

#[test]
fn input_that_was_not_offered_is_named() {
    let asked = json!({"resultType": "input_required", "requestState": "x",
        "inputRequests": {"confirm": {"method": "elicitation/create", "params": {}}}});
    let peer = ScriptedPeer::new(|seen: &Seen| Answer::Json(200, seen.result(asked.clone())));
    let cause = cause(call(&peer, remembered(PeerEra::Modern, None)));
    assert_eq!(cause, FailureCause::InputRequired("elicitation/create".into()));
    assert_eq!(peer.titles().len(), 1);
}
