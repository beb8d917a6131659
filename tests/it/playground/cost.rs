//! The round trips to D1 of a turn, as the Worker and the object that owns the turn count them.

use super::{Chat, event};
use crate::harness::{ModelReply, Upstream};
use serde_json::{Value, json};

/// The round trips that a text of the form `round_trips=2, …` tells.
#[track_caller]
fn round_trips(cost: &str) -> usize {
    let figure = cost.split(", ").find_map(|it| it.strip_prefix("round_trips="));
    figure.unwrap_or_else(|| panic!("{cost} has no round_trips")).parse().unwrap()
}

/// The round trips of a turn that makes these calls, one step after the other.
#[track_caller]
fn cost(chat: &Chat, steps: &[Vec<(&str, Value)>]) -> usize {
    for calls in steps {
        chat.model.reply(ModelReply::calls(calls));
    }
    chat.model.reply(ModelReply::says("Done."));
    let stream = chat.begin("Go");
    let header = stream.headers.get("x-d1-cost").expect("the server tells what requests cost");
    let worker = round_trips(header.to_str().unwrap());
    let events = stream.rest();
    let metadata = &event(&events, "finish")["messageMetadata"];
    assert_eq!(metadata["steps"], steps.len() + 1, "{events:#?}");
    worker + round_trips(metadata["d1_cost"].as_str().unwrap())
}

#[test]
fn a_turn_with_n_calls_takes_at_most_3_and_2n_round_trips() {
    let (chat, upstream) = (Chat::new(), Upstream::start());
    chat.attach_http("text", &upstream.at("/text"), json!({}));
    chat.attach("list_files");
    chat.attach("write_file");
    let call = || ("text", json!({}));
    let write = |name: &str| ("write_file", json!({"path": format!("/{name}"), "content": "x"}));
    // Writing a file is a round trip of the tool's own.
    let turns = [
        (0, vec![]),
        (0, vec![vec![call()]]),
        (0, vec![vec![("list_files", json!({}))]]),
        (0, vec![vec![call(), call(), call()]]),
        (0, vec![vec![call()], vec![call()], vec![call(), call()]]),
        (0, vec![vec![call(); 20]]),
        (1, vec![vec![write("a")]]),
        (2, vec![vec![call(), write("b")], vec![write("c")]]),
    ];
    for (index, (own, steps)) in turns.iter().enumerate() {
        let calls = steps.iter().map(Vec::len).sum::<usize>();
        let taken = cost(&chat, steps);
        assert!(taken <= 3 + 2 * calls + own, "turn {index} with {calls} calls took {taken} round trips");
        assert!(taken >= 3 + calls, "turn {index} with {calls} calls cannot have taken {taken} round trips");
    }
}

#[test]
fn a_long_conversation_costs_no_more_round_trips() {
    let chat = Chat::new();
    let first = cost(&chat, &[vec![("list_files", json!({}))]]);
    for _ in 0..8 {
        cost(&chat, &[]);
    }
    assert_eq!(cost(&chat, &[vec![("list_files", json!({}))]]), first);
}

#[test]
fn reading_a_conversation_takes_one_round_trip() {
    let chat = Chat::new();
    for _ in 0..3 {
        cost(&chat, &[]);
    }
    let page = chat.client.get(&chat.path("messages?limit=2"));
    assert_eq!(page.cost("round_trips"), 1);
    assert!(page.cost("rows_read") < 60, "{}", page.cost("rows_read"));
    assert_eq!(page.ok()["messages"].as_array().unwrap().len(), 2);
}
