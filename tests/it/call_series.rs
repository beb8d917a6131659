//! `/api/tool-calls/series`: the calls over time, which are the same before and after upkeep counts them, and cheap.

use crate::harness::{Client, Server, Tool, call_id, closed_workspace};
use serde_json::{Value, json};

const SERIES: &str = "/api/tool-calls/series";

/// A server of its own, because upkeep would end the calls of other tests.
fn server(name: &str) -> Server {
    Server::start(name, &[("AUTH", "open"), ("COST_HEADER", "on"), ("SECRET_KEY", "a secret of the tests")])
}

fn upkeep(server: &Server) {
    let answer = server.ask(json!({"scheduled": "*/5 * * * *"}));
    assert_eq!(answer["outcome"], "ok", "{answer}");
}

fn series(client: &Client, query: &str) -> Vec<Value> {
    client.get(&format!("{SERIES}?{query}")).ok()["buckets"].as_array().unwrap().clone()
}

/// Success, error and denied of all buckets together.
fn counts(client: &Client, query: &str) -> [u64; 3] {
    let buckets = series(client, query);
    ["success", "error", "denied"].map(|it| buckets.iter().map(|bucket| bucket[it].as_u64().unwrap()).sum())
}

/// Writes the record of a call that started so long ago.
fn call(server: &Server, client: &Client, tool: &str, status: &str, duration: Option<u32>, ago: &str) {
    server.sql(
        &format!(
            "INSERT INTO tool_calls (workspace_id, id, tool_name, operator, status, duration_ms, started_at)
             SELECT ?1, {}, ?2, 'tests', ?3, ?4, time
             FROM (SELECT strftime('%Y-%m-%dT%H:%M:%fZ', 'now', ?5) AS time)",
            call_id("time", "hex(randomblob(8))")
        ),
        &[json!(client.workspace()), json!(tool), json!(status), json!(duration), json!(ago)],
    );
}

#[test]
fn a_series_is_what_the_calls_were_before_and_after_upkeep() {
    let server = server("series");
    let (client, other) = (server.client("ws"), server.client("other"));
    client.execute("list_files", json!({})).success();
    client.execute("read_file", json!({"path": "/none"})).failed(200, "TOOL_ERROR");
    client.execute("unknown", json!({})).failed(404, "UNKNOWN_TOOL");
    Tool::new("mine").put(&server, &client);
    for (status, duration, ago) in [
        ("success", Some(5), "-10 minutes"),
        ("success", Some(100), "-10 minutes"),
        ("success", Some(1_000), "-10 minutes"),
        ("denied", None, "-10 minutes"),
        ("error", Some(60_000), "-3 hours"),
        ("success", Some(7), "-12 days"),
    ] {
        call(&server, &client, "mine", status, duration, ago);
    }
    let check = |when: &str| {
        assert_eq!(counts(&client, "bucket=minute"), [4, 2, 1], "{when}");
        assert_eq!(counts(&client, "bucket=hour"), [4, 3, 1], "{when}");
        assert_eq!(counts(&client, "bucket=day"), [5, 3, 1], "{when}");
        assert_eq!(counts(&client, "tool_name=mine"), [3, 0, 1], "{when}");
        assert_eq!(counts(&client, "tool_name=mine&bucket=day"), [4, 1, 1], "{when}");
        assert_eq!(counts(&client, "tool_name=list_files"), [1, 0, 0], "{when}: calls of built-ins");
        assert_eq!(counts(&client, "tool_name=unknown"), [0, 0, 0], "{when}: no tool has the name");
        assert_eq!(counts(&other, "bucket=day"), [0, 0, 0], "{when}: another workspace");
        let buckets = series(&client, "tool_name=mine");
        let busy = buckets.iter().filter(|it| it["success"] != 0).collect::<Vec<_>>();
        // The three calls may lie on both sides of the beginning of a minute.
        assert!((1..=2).contains(&busy.len()), "{when}: {busy:?}");
        if let [one] = busy[..] {
            let [p50, p95] = ["p50", "p95"].map(|it| one[it].as_u64().unwrap());
            assert!(p50.abs_diff(100) <= 12 && p95.abs_diff(1_000) <= 125, "{when}: {one}");
        }
        let idle = buckets.iter().find(|it| it["success"] == 0 && it["denied"] == 0).unwrap();
        assert_eq!((&idle["error"], &idle["p50"], &idle["p95"]), (&json!(0), &Value::Null, &Value::Null), "{when}");
    };
    check("before upkeep");
    for when in ["after one run", "after two runs"] {
        upkeep(&server);
        check(when);
    }
    // The records are gone, and the figures stay.
    server.sql("DELETE FROM tool_calls WHERE key < (SELECT max(key) FROM tool_calls)", &[]);
    check("without records");
}

#[test]
fn calls_that_end_below_the_mark_are_corrected() {
    let server = server("series-late");
    let client = server.client("ws");
    Tool::new("waits").builtin("list_files").with(json!({"requires_approval": 1})).put(&server, &client);
    let ask = || {
        let waits = client.execute("waits", json!({})).result(202);
        format!("/api/approvals/{}", waits["error"]["details"]["approval_id"].as_str().unwrap())
    };
    let [approved, denied, late] = [(), (), ()].map(|()| ask());
    upkeep(&server);
    let of_tool = || (counts(&client, ""), counts(&client, "tool_name=waits"));
    assert_eq!(of_tool(), ([0, 0, 0], [0, 0, 0]));
    client.post(&format!("{approved}/approve"), json!({})).success();
    client.post(&format!("{denied}/deny"), json!({})).ok();
    for _ in 0..2 {
        assert_eq!(of_tool(), ([1, 0, 1], [1, 0, 1]));
        upkeep(&server);
    }
    assert_eq!(server.sql("SELECT count(*) AS n FROM late_calls", &[])[0]["n"], 0);
    let ran = series(&client, "tool_name=waits").into_iter().find(|it| it["success"] == 1).unwrap();
    assert!(ran["p50"].is_u64() && ran["p50"] == ran["p95"], "{ran}");
    client.post(&format!("{late}/approve"), json!({})).success();
    assert_eq!(of_tool(), ([2, 0, 1], [2, 0, 1]));
    // A call that was taken for dead too early, and is then ended by itself.
    call(&server, &client, "waits", "running", None, "-5 minutes");
    let becomes = |status: &str| {
        let update = "UPDATE tool_calls SET status = ?1 WHERE key = (SELECT max(key) FROM tool_calls)";
        server.sql(update, &[json!(status)]);
    };
    upkeep(&server);
    becomes("error");
    assert_eq!(of_tool(), ([2, 1, 1], [2, 1, 1]));
    upkeep(&server);
    becomes("success");
    for _ in 0..2 {
        assert_eq!(of_tool(), ([3, 0, 1], [3, 0, 1]));
        upkeep(&server);
    }
}

/// A call that ends below the mark wrote one row for the totals before there were series, and still does.
#[test]
fn a_call_writes_no_row_for_the_series() {
    let server = server("series-rows");
    let client = server.client("ws");
    let written = |status: &str| {
        let update = "UPDATE tool_calls SET status = ?1 WHERE key = (SELECT max(key) FROM tool_calls)";
        let answer = server.ask(json!({"sql": update, "params": [status]}));
        answer["meta"]["rows_written"].as_u64().unwrap_or_else(|| panic!("{answer}"))
    };
    call(&server, &client, "list_files", "running", None, "-1 minutes");
    let above = written("success");
    call(&server, &client, "list_files", "running", None, "-1 minutes");
    upkeep(&server);
    assert_eq!(written("success"), above + 1);
}

#[test]
fn buckets_have_no_gaps_and_end_now() {
    let client = closed_workspace();
    for (query, count) in [("", 60), ("bucket=minute", 60), ("bucket=hour", 24), ("bucket=day", 30)] {
        let answer = client.get(&format!("{SERIES}?{query}"));
        let body = answer.ok();
        let buckets = body["buckets"].as_array().unwrap();
        assert_eq!(buckets.len(), count, "{query}");
        assert_eq!(body["since"], buckets[0]["at"]);
        assert_eq!(body["bucket"], if query.is_empty() { "minute" } else { &query["bucket=".len()..] });
        let keys = ["at", "success", "error", "denied", "p50", "p95"];
        assert_eq!(buckets[0].as_object().unwrap().keys().collect::<Vec<_>>(), keys);
        assert!(buckets.is_sorted_by(|one, two| one["at"].as_str() < two["at"].as_str()));
        assert_eq!(answer.cost("round_trips"), 1);
    }
    let body = client.get(&format!("{SERIES}?bucket=day&since=2026-11-01T17:30:00%2B02:00")).ok();
    assert_eq!(body["since"], "2026-11-01T00:00:00.000Z");
}

#[test]
fn wrong_parameters_are_told() {
    let client = closed_workspace();
    for (query, parameter, told) in [
        ("since=yesterday", "since", "ISO-8601"),
        ("since=2020-01-01", "since", "at most 1440 buckets"),
        ("since=2020-01-01&bucket=hour", "since", "here of one hour each"),
        ("since=2020-01-01&bucket=day", "since", "must not be before"),
        ("since=2999-01-01", "since", "future"),
        ("bucket=second", "bucket", "minute"),
        ("tool_name=", "tool_name", "id of a tool"),
        ("tool_name=list_files@1.0.0", "tool_name", "id of a tool"),
        ("tool=list_files", "tool", "tool_name"),
        ("until=2026-11-18", "until", "is unknown"),
    ] {
        let refused = client.get(&format!("{SERIES}?{query}")).refused(400, "VALIDATION_ERROR");
        assert_eq!(refused.paths(), [parameter], "{query}");
        let message = refused.details["problems"][0]["message"].as_str().unwrap();
        assert!(message.contains(told), "{query}: {message}");
    }
}

#[test]
fn only_admins_whose_token_is_not_bound_see_it() {
    let root = closed_workspace();
    let agent = root.agent(json!({}));
    for (token, status) in [
        (json!({"name": "u", "level": "user"}), 403),
        (json!({"name": "a", "level": "admin"}), 200),
        (json!({"name": "b", "level": "owner", "agent_id": agent}), 403),
    ] {
        assert_eq!(root.token(token.clone()).get(SERIES).status, status, "{token}");
    }
}

#[test]
fn a_hundred_thousand_calls_cost_as_much_as_their_buckets() {
    let server = server("series-cost");
    let client = server.client("ws");
    server.sql(
        &format!(
            "INSERT INTO tool_calls (workspace_id, id, tool_name, operator, status, started_at, duration_ms)
             WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99999)
             SELECT 'ws', {}, 'list_files', 'tests', iif(i % 100 = 0, 'error', 'success'), time, i % 970
             FROM (SELECT i, strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-' || (i / 2) || ' seconds') AS time FROM n)",
            call_id("time", "i")
        ),
        &[],
    );
    let cost = |query: &str| client.get(&format!("{SERIES}?{query}")).cost("rows_read");
    // Nothing is counted yet: the latest 10,000 calls are read, in the index, in the table and in what is made of them.
    for query in ["", "bucket=day", "tool_name=list_files&bucket=day"] {
        let read = cost(query);
        assert!(read <= 30_200, "{query} read {read} rows");
    }
    assert_eq!(counts(&client, "bucket=day"), [9_900, 100, 0]);
    for _ in 0..2 {
        upkeep(&server);
    }
    assert_eq!(counts(&client, "bucket=day"), [99_000, 1_000, 0]);
    assert_eq!(counts(&client, "bucket=day&tool_name=list_files"), [99_000, 1_000, 0]);
    // After some time in use, the query planner has statistics.
    server.sql("ANALYZE", &[]);
    for (query, buckets) in [("", 60), ("bucket=hour", 24), ("bucket=day&tool_name=list_files", 30)] {
        let read = cost(query);
        assert!(read <= buckets + 40, "{query} read {read} rows");
    }
}

#[test]
fn buckets_that_are_too_old_are_deleted() {
    let server = server("series-old");
    let row = "INSERT INTO call_series (workspace_id, bucket, tool_name, at, succeeded, failed, denied, durations)
        VALUES ('ws', ?1, '', strftime(?2, 'now', ?3), 1, 0, 0, '{}')";
    for (bucket, format, ages) in [
        ("minute", "%Y-%m-%dT%H:%M", ["-1 days", "-3 days"]),
        ("hour", "%Y-%m-%dT%H", ["-60 days", "-62 days"]),
        ("day", "%Y-%m-%d", ["-1460 days", "-1463 days"]),
    ] {
        for age in ages {
            server.sql(row, &[json!(bucket), json!(format), json!(age)]);
        }
    }
    upkeep(&server);
    let left = server.sql("SELECT bucket, count(*) AS n FROM call_series GROUP BY bucket ORDER BY bucket", &[]);
    assert_eq!(left, ["day", "hour", "minute"].map(|it| json!({"bucket": it, "n": 1})));
}
