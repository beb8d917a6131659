//! Passing faults of D1, planned beneath the Worker's access to D1 (`D1_FAULTS`). Each fault is met by the batches of one
//! workspace.

use crate::harness::{Client, Server};
use serde_json::{Value, json};
use std::sync::OnceLock;

const LOST: &str = "D1_ERROR: Network connection lost.";
const RESET: &str = "D1_ERROR: D1 DB storage operation exceeded timeout which caused object to be reset.";
const BUSY: &str = "D1_ERROR: D1 DB is overloaded. Requests queued for too long.";

/// The batches of the workspace that hold a text meet a fault, this many times. `ran` says whether D1 runs the batch all
/// the same.
fn fault(workspace: &str, text: &str, times: u32, ran: bool, message: &str) -> Value {
    json!({"has": [format!("\"{workspace}\""), text], "times": times, "ran": ran, "message": message})
}

const OPENING: &str = "INSERT INTO tool_calls";
const CLOSING: &str = "UPDATE tool_calls SET version";
const AGENT: &str = "INSERT INTO agents";

fn client(workspace: &str) -> Client {
    static SERVER: OnceLock<Server> = OnceLock::new();
    let server = SERVER.get_or_init(|| {
        let faults = json!([
            fault("read-thrice", "SELECT", 3, false, LOST),
            fault("read-never", "SELECT", 4, false, RESET),
            fault("call", OPENING, 1, true, LOST),
            fault("call", OPENING, 1, true, RESET),
            fault("call", CLOSING, 2, true, LOST),
            fault("call-never", OPENING, 4, true, LOST),
            fault("file-lost", "INSERT INTO manifests", 1, true, LOST),
            fault("write-ran", AGENT, 1, true, LOST),
            fault("write-did-not-run", AGENT, 1, false, LOST),
            fault("write-busy", AGENT, 3, false, BUSY),
            fault("write-too-busy", AGENT, 4, false, BUSY),
            fault("approval", CLOSING, 1, true, LOST),
            fault("broken", "SELECT", 1, false, "D1_ERROR: no such column: x: SQLITE_ERROR"),
        ])
        .to_string();
        let vars = [("AUTH", "open"), ("COST_HEADER", "on"), ("SECRET_KEY", "s"), ("D1_FAULTS", faults.as_str())];
        Server::start("database-faults", &vars)
    });
    server.client(workspace)
}

#[test]
fn a_read_is_sent_again_three_times() {
    let answer = client("read-thrice").get("/api/tools");
    assert_eq!(answer.ok()["tools"].as_array().unwrap().len(), 6);
    assert_eq!(answer.cost("round_trips"), 4);
}

#[test]
fn what_remains_is_503_with_the_time_to_wait() {
    let client = client("read-never");
    let answer = client.get("/api/tools");
    let refused = answer.refused(503, "UNAVAILABLE");
    assert_eq!(answer.header("retry-after"), Some("2"));
    assert_eq!((&refused.details["retry_after"], answer.cost("round_trips")), (&json!(2), 4));
    assert!(!answer.text.contains("D1_ERROR"), "{}", answer.text);
    client.get("/api/tools").ok();
}

/// The look-up and the record are lost after they ran, twice each. The call runs once, and has one whole record.
#[test]
fn a_call_is_opened_and_recorded_once_however_often_it_is_sent() {
    let client = client("call");
    let call = json!({"tool_name": "list_files", "idempotency_key": "k"});
    let answer = client.call(call.clone());
    answer.success();
    assert_eq!(answer.cost("round_trips"), 2 + 2 + 2);
    let calls = client.get("/api/tool-calls").ok()["tool_calls"].as_array().unwrap().clone();
    assert_eq!((calls.len(), &calls[0]["status"]), (1, &json!("success")), "{calls:?}");
    assert_eq!(client.call(call).result(200)["call_id"], answer.json()["call_id"]);
    assert_eq!(client.get("/api/tool-calls/summary").ok()["calls"], 1);
}

#[test]
fn a_call_that_cannot_be_looked_up_is_503_and_does_not_run() {
    let client = client("call-never");
    let answer = client.execute("write_file", json!({"path": "/a", "content": "x"}));
    answer.refused(503, "UNAVAILABLE");
    assert_eq!(answer.header("retry-after"), Some("2"));
    client.get("/api/sessions/default/files/a").refused(404, "NOT_FOUND");
}

/// Nobody knows whether the write ran, and a second write would be another version of the file. So the call fails, and
/// its record says so.
#[test]
fn a_tool_that_lost_its_write_does_not_write_twice() {
    let client = client("file-lost");
    let answer = client.execute("write_file", json!({"path": "/a", "content": "x"}));
    let failed = answer.failed(503, "UNAVAILABLE");
    assert_eq!(answer.header("retry-after"), Some("2"));
    assert_eq!(client.record(&failed)["error"]["code"], "UNAVAILABLE");
    assert_eq!(client.pages("/api/sessions/default/manifests", "manifests", 50).len(), 1);
}

#[test]
fn a_write_that_may_have_run_is_not_sent_again() {
    for (workspace, agents) in [("write-ran", 1), ("write-did-not-run", 0)] {
        let client = client(workspace);
        let answer = client.post("/api/agents", json!({"name": "A"}));
        let refused = answer.refused(503, "UNAVAILABLE");
        assert!(refused.message.contains("may have been made"), "{}", refused.message);
        assert_eq!(answer.header("retry-after"), Some("2"));
        assert_eq!(client.pages("/api/agents", "agents", 50).len(), agents, "{workspace}");
        assert_eq!(client.changes().len(), agents, "{workspace}");
    }
}

#[test]
fn a_write_that_did_not_run_is_sent_again() {
    let busy = client("write-busy");
    busy.post("/api/agents", json!({"name": "A"})).created();
    assert_eq!((busy.pages("/api/agents", "agents", 50).len(), busy.changes().len()), (1, 1));
    let too_busy = client("write-too-busy");
    let answer = too_busy.post("/api/agents", json!({"name": "A"}));
    let refused = answer.refused(503, "UNAVAILABLE");
    assert!(refused.message.contains("nothing was changed"), "{}", refused.message);
    assert_eq!(too_busy.changes().len(), 0);
}

/// The batch that makes an approval takes the next number of the change log, so it cannot run twice.
#[test]
fn an_approval_is_not_asked_for_twice() {
    let client = client("approval");
    client.register("x", "1.0.0", json!({"requires_approval": true}));
    client.execute("x", json!({"text": "x"})).refused(503, "UNAVAILABLE");
    assert_eq!(client.get("/api/approvals").ok()["approvals"].as_array().unwrap().len(), 1);
}

#[test]
fn a_fault_that_does_not_pass_is_ours() {
    let client = client("broken");
    client.get("/api/tools").refused(500, "INTERNAL");
    client.get("/api/tools").ok();
}
