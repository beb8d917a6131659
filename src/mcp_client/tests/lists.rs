//! Pages of a list of tools.

use super::*;

fn pages(page: impl Fn(usize) -> (Vec<Value>, Option<String>)) -> PeerAnswer<ToolListing> {
    let peer = ScriptedPeer::new(|seen: &Seen| {
        let cursor = seen.body["params"]["cursor"].as_str().unwrap_or("0");
        let (tools, next) = page(cursor.parse().unwrap());
        let ttl_ms = if next.is_some() { 9_000 } else { 4_000 };
        let result = json!({"resultType": "complete", "tools": tools, "nextCursor": next, "ttlMs": ttl_ms});
        Answer::Json(200, seen.result(result))
    });
    list_by_http(&peer)
}

#[test]
fn pages_are_followed_to_their_end() {
    let answer =
        pages(|number| (vec![json!({"name": format!("t{number}")})], (number < 3).then(|| (number + 1).to_string())));
    assert_eq!(answer.outcome.as_ref().unwrap().ttl_ms, Some(4_000));
    assert_eq!(names(answer), ["t0", "t1", "t2", "t3"]);
    assert_eq!(names(pages(|_| (vec![json!({"name": "a"})], Some(String::new())))), ["a"]);
}

#[test]
fn lists_without_end_are_refused() {
    let looping = pages(|number| (vec![], Some(((number + 1) % 3).to_string())));
    assert!(matches!(cause(looping), FailureCause::Protocol(_)));
    let endless = pages(|number| (vec![], Some((number + 1).to_string())));
    assert_eq!(cause(endless), FailureCause::TooLarge("pages".into()));
    let many = pages(|number| (vec![json!({"name": "a"}); 400], Some((number + 1).to_string())));
    assert_eq!(cause(many), FailureCause::TooLarge("tools".into()));
    let tool = json!({"name": "a", "description": "x".repeat(1024 * 1024)});
    let large = pages(|number| (vec![tool.clone(); 5], Some((number + 1).to_string())));
    assert_eq!(cause(large), FailureCause::TooLarge("bytes".into()));
}

#[test]
fn what_is_no_list_is_told() {
    for result in [json!({"resultType": "complete"}), json!({"resultType": "complete", "tools": {}})] {
        let peer = ScriptedPeer::new(|seen: &Seen| Answer::Json(200, seen.result(result.clone())));
        assert!(matches!(cause(list_by_http(&peer)), FailureCause::Protocol(_)), "{result}");
    }
}
