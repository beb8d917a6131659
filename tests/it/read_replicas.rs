//! Bookmarks, for deployments whose database has read replicas. The local D1 has none, so these tests show that bookmarks
//! travel: whether a replica answers is decided by the platform.

use crate::harness::{Client, Server, open};
use serde_json::json;
use std::sync::OnceLock;

const BOOKMARK: &str = "X-D1-Bookmark";

fn client(workspace: &str) -> Client {
    static SERVER: OnceLock<Server> = OnceLock::new();
    let vars = [("AUTH", "open"), ("COST_HEADER", "on"), ("D1_READ_REPLICAS", "on")];
    SERVER.get_or_init(|| Server::start_with_sample_mail("read-replicas", &vars)).client(workspace)
}

#[test]
fn a_caller_reads_what_it_has_written_by_its_bookmark() {
    let client = client("replicas-write");
    let written = client.execute("write_file", json!({"path": "/a.txt", "content": "one"}));
    written.success();
    let bookmark = written.header(BOOKMARK).expect("a bookmark").to_owned();
    let later = client.with_header(BOOKMARK, &bookmark);
    let read = later.execute("read_file", json!({"path": "/a.txt"}));
    assert_eq!(read.success(), "one");
    assert_eq!((read.cost("round_trips"), read.cost("rows_written")), (2, 4));
    // The record of this call is newer than the state that the bookmark names.
    assert!(read.header(BOOKMARK).expect("a bookmark") > bookmark.as_str());
    later.get("/api/sessions/default").ok();
}

#[test]
fn a_caller_may_do_without_a_bookmark_or_ask_for_any_replica() {
    let client = client("replicas-any");
    for client in [&client, &client.with_header(BOOKMARK, "first-unconstrained")] {
        let agent = client.agent(json!({"name": "A"}));
        let read = client.get(&format!("/api/agents/{agent}"));
        assert_eq!(read.ok()["name"], "A");
        assert!(read.header(BOOKMARK).is_some());
    }
}

#[test]
fn mail_has_a_session_of_its_own() {
    let client = client("replicas-mail");
    let query = json!({"query": "gas", "inbox_id": "matt.motley@enron.com"});
    let found = client.execute("email_search", query);
    assert!(found.success()["total"].as_u64().unwrap() > 0);
    assert!(found.header(BOOKMARK).is_some());
}

#[test]
fn a_text_that_is_no_bookmark_is_refused_and_nothing_runs() {
    let client = client("replicas-refused").with_header(BOOKMARK, "yesterday");
    let answer = client.execute("write_file", json!({"path": "/a.txt", "content": "one"}));
    let refused = answer.refused(400, "VALIDATION_ERROR");
    assert!(refused.message.contains("first-unconstrained"), "{}", refused.message);
    assert_eq!(answer.cost("round_trips"), 0);
    // A request that does not ask the database has no state to tell.
    assert_eq!(answer.header(BOOKMARK), None);
}

#[test]
fn without_read_replicas_the_header_means_nothing() {
    let client = open().client("replicas-off").with_header(BOOKMARK, "yesterday");
    let answer = client.get("/api/tools");
    answer.ok();
    assert_eq!(answer.header(BOOKMARK), None);
}
