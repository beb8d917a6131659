//! Calls that wait for an approval: one request, one decision, and one run with the original arguments.

use crate::harness::{Answer, Client, Server, Tool, Upstream, closed, closed_workspace, open, race, workspace};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Makes a call that waits, and returns the response and the id of its approval.
#[track_caller]
fn ask(client: &Client, body: Value) -> (Value, String) {
    let pending = client.call(body).failed(202, "APPROVAL_REQUIRED");
    assert_eq!(pending["status"], "pending_approval");
    let id = pending["error"]["details"]["approval_id"].as_str().unwrap().to_owned();
    (pending, id)
}

fn decide(client: &Client, id: &str, word: &str) -> Answer {
    client.post(&format!("/api/approvals/{id}/{word}"), json!({"reason": "because"}))
}

/// A tool that writes files, and needs an approval.
fn writer(server: &Server, client: &Client) {
    Tool::new("writer").builtin("write_file").with(json!({"requires_approval": 1})).put(server, client);
}

fn write(path: &str) -> Value {
    json!({"tool_name": "writer", "arguments": {"path": path, "content": "x"}, "session_id": "s", "max_result_bytes": 8})
}

#[test]
fn an_approved_call_runs_as_it_was_asked() {
    let client = workspace();
    writer(open(), &client);
    let (pending, id) = ask(&client, write("/a"));
    client.get("/api/sessions/s").refused(404, "NOT_FOUND");
    assert_eq!(client.record(&pending)["status"], "pending_approval");

    let listed = client.get("/api/approvals?status=pending").ok()["approvals"][0].clone();
    assert_eq!(
        (&listed["id"], &listed["call_id"], &listed["tool_name"], &listed["version"], &listed["arguments"]),
        (&json!(id), &pending["call_id"], &json!("writer"), &json!("1.0.0"), &json!({"path": "/a", "content": "x"}))
    );
    assert_eq!(client.get(&format!("/api/approvals/{id}")).ok(), listed);

    let done = decide(&client, &id, "approve").result(200);
    assert_eq!((&done["call_id"], &done["success"]), (&pending["call_id"], &json!(true)));
    assert!(done["result"].as_str().unwrap().starts_with("Wrote 1 \n[cut: 8 of"), "cut as it was asked: {done}");
    let record = client.record(&done);
    assert_eq!((&record["status"], &record["result"]), (&json!("success"), &json!("Wrote 1 bytes to /a")));
    assert_eq!(record["post_manifest_id"], done["post_manifest_id"]);
    assert_eq!(client.get("/api/sessions/s/files/a").text, "x");

    let approval = client.get(&format!("/api/approvals/{id}")).ok();
    assert_eq!(
        (&approval["status"], &approval["decided_by"], &approval["reason"]),
        (&json!("approved"), &json!("anonymous"), &json!("because"))
    );
    decide(&client, &id, "approve").refused(409, "CONFLICT");
    decide(&client, &id, "deny").refused(409, "CONFLICT");
}

#[test]
fn a_refusal_says_what_to_do_until_the_call_is_approved() {
    let root = closed_workspace();
    writer(closed(), &root);
    let (pending, id) = ask(&root, write("/a"));
    let (told, call) = (pending["error"]["message"].as_str().unwrap(), pending["call_id"].as_str().unwrap());
    for part in [
        "writer has not run: it waits for an approval.".to_owned(),
        format!("POST /api/approvals/{id}/approve or /deny"),
        "Do not call it again: once it is approved, it runs by itself".to_owned(),
        format!("GET /api/tool-calls/{call}/result"),
        format!("GET /api/tool-calls/{call}?wait=30 waits for its end"),
    ] {
        assert!(told.contains(&part), "{told}");
    }
    assert_eq!(root.record(&pending)["error"]["message"], told);
    // A guest may not read records.
    let guest = root.token(json!({"name": "g", "level": "guest"}));
    let told =
        guest.call(write("/b")).failed(202, "APPROVAL_REQUIRED")["error"]["message"].as_str().unwrap().to_owned();
    assert!(told.ends_with("it runs by itself.") && !told.contains("/api/tool-calls"), "{told}");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "this runs on the host")]
fn a_reader_can_wait_for_the_end_of_a_call() {
    let root = closed_workspace();
    writer(closed(), &root);
    let (own, other) = (root.agent(json!({})), root.agent(json!({})));
    for agent in [&own, &other] {
        root.post(&format!("/api/agents/{agent}/tools"), json!({"tool_id": "writer"})).created();
    }
    let ask_as = |agent: &str, path: &str| {
        let mut body = write(path);
        body["agent_id"] = agent.into();
        ask(&root, body)
    };
    let (pending, id) = ask_as(&own, "/a");
    let path = format!("/api/tool-calls/{}", pending["call_id"].as_str().unwrap());
    let bound = root.token(json!({"name": "b", "level": "user", "agent_id": own}));
    std::thread::scope(|threads| {
        let waiting = threads.spawn(|| {
            let begun = Instant::now();
            let record = bound.get(&format!("{path}?wait=30"));
            (record.ok(), begun.elapsed(), record.cost("round_trips"))
        });
        std::thread::sleep(Duration::from_millis(1_500));
        assert!(!waiting.is_finished(), "it waits");
        decide(&root, &id, "approve").result(200);
        let (record, took, round_trips) = waiting.join().unwrap();
        assert_eq!((&record["status"], &record["result"]), (&json!("success"), &json!("Wrote 1 bytes to /a")));
        assert!(took < Duration::from_secs(10), "{took:?}");
        assert!(round_trips < 10, "{round_trips} round trips");
    });
    // A call that has ended is answered at once, with one round trip.
    let ended = bound.get(&format!("{path}?wait=30"));
    assert_eq!((ended.ok()["status"].as_str(), ended.cost("round_trips")), (Some("success"), 1));
    // When the time is over, the record is as it is.
    let (others, _) = ask_as(&other, "/b");
    let others = format!("/api/tool-calls/{}", others["call_id"].as_str().unwrap());
    let begun = Instant::now();
    assert_eq!(root.get(&format!("{others}?wait=1")).ok()["status"], "pending_approval");
    assert!((1.0..5.0).contains(&begun.elapsed().as_secs_f64()));
    assert_eq!(root.get(&format!("{others}?wait=0")).ok()["status"], "pending_approval");
    let begun = Instant::now();
    bound.get(&format!("{others}?wait=30")).refused(404, "NOT_FOUND");
    assert!(begun.elapsed() < Duration::from_secs(5), "nobody waits for the calls of others");
    for wait in ["31", "-1", "1.5", "x", ""] {
        assert_eq!(root.get(&format!("{path}?wait={wait}")).refused(400, "VALIDATION_ERROR").paths(), ["wait"]);
    }
}

#[test]
fn a_denied_call_never_runs() {
    let client = workspace();
    writer(open(), &client);
    let (pending, id) = ask(&client, write("/a"));
    let result = format!("/api/tool-calls/{}/result", pending["call_id"].as_str().unwrap());
    let waits = client.get(&result).refused(404, "NOT_FOUND");
    assert!(waits.message.contains("(the call waits for its approval; GET /api/tool-calls/"), "{waits:?}");
    assert_eq!(decide(&client, &id, "deny").ok()["status"], "denied");
    let denied = client.get(&result).refused(404, "NOT_FOUND");
    assert!(denied.message.contains("(the call has none: ") && denied.message.contains("because"), "{denied:?}");
    let record = client.record(&pending);
    assert_eq!((&record["status"], &record["error"]["code"]), (&json!("denied"), &json!("APPROVAL_DENIED")));
    assert!(record["error"]["message"].as_str().unwrap().contains("because") && record["finished_at"].is_string());
    client.get("/api/sessions/s").refused(404, "NOT_FOUND");
    decide(&client, &id, "approve").refused(409, "CONFLICT");
}

#[test]
fn high_and_critical_risk_always_wait() {
    let client = workspace();
    for risk in ["high", "critical"] {
        Tool::new(risk).builtin("list_files").with(json!({"risk_level": risk})).put(open(), &client);
        ask(&client, json!({"tool_name": risk}));
    }
    Tool::new("medium").builtin("list_files").with(json!({"risk_level": "medium"})).put(open(), &client);
    client.execute("medium", json!({})).success();
}

#[test]
fn nobody_is_asked_to_approve_what_cannot_run() {
    let client = workspace();
    writer(open(), &client);
    client.execute("writer", json!({"path": "../x", "content": "x"})).failed(400, "INVALID_ARGUMENTS");
    assert_eq!(client.get("/api/approvals").ok()["approvals"], json!([]));
}

#[test]
fn of_racing_approvers_one_runs_the_call() {
    let client = workspace();
    writer(open(), &client);
    let (_, id) = ask(&client, write("/raced"));
    let answers = race(16, |index| decide(&client, &id, if index % 4 == 3 { "deny" } else { "approve" }).status);
    assert_eq!(answers.iter().filter(|it| **it == 200).count(), 1, "{answers:?}");
    assert_eq!(answers.iter().filter(|it| **it == 409).count(), 15, "{answers:?}");
    let manifests = client.get("/api/sessions/s/manifests");
    let ran = manifests.status == 200;
    assert!(!ran || manifests.ok()["manifests"].as_array().unwrap().len() == 1);
    let status = client.get(&format!("/api/approvals/{id}")).ok()["status"].clone();
    assert_eq!(status, if ran { "approved" } else { "denied" });
}

#[test]
fn a_used_up_rate_leaves_the_call_waiting_and_a_lost_race_uses_none() {
    let client = workspace();
    Tool::new("limited")
        .builtin("list_files")
        .with(json!({"requires_approval": 1, "rate_limit": 2}))
        .put(open(), &client);
    let ids = [(); 3].map(|()| ask(&client, json!({"tool_name": "limited"})).1);
    let raced = race(4, |_| decide(&client, &ids[0], "approve").status);
    assert_eq!(raced.iter().filter(|it| **it == 200).count(), 1, "{raced:?}");
    assert_eq!(client.get("/api/tools/limited/rate-limit").ok()["remaining"], 1, "only the call that ran counts");

    decide(&client, &ids[1], "approve").result(200);
    let refused = decide(&client, &ids[2], "approve");
    let body = refused.failed(429, "RATE_LIMITED");
    assert_eq!(body["status"], "pending_approval");
    assert!((1..=60).contains(&refused.header("retry-after").unwrap().parse::<u32>().unwrap()));
    assert_eq!(client.get(&format!("/api/approvals/{}", ids[2])).ok()["status"], "pending");
}

#[test]
fn the_version_and_the_agent_must_still_be_there() {
    let client = workspace();
    writer(open(), &client);
    let agent = client.agent(json!({}));
    client.post(&format!("/api/agents/{agent}/tools"), json!({"tool_id": "writer"})).created();
    let mut body = write("/a");
    body["agent_id"] = agent.as_str().into();
    let (_, of_agent) = ask(&client, body);
    client.delete(&format!("/api/agents/{agent}")).no_content();
    decide(&client, &of_agent, "approve").refused(409, "CONFLICT");

    let (_, replaced) = ask(&client, write("/b"));
    let (_, withdrawn) = ask(&client, write("/c"));
    let deactivate = |reason: &str| {
        open().sql(
            "UPDATE tool_versions SET active = 0, deactivated_at = '2026-11-16T02:00:00.000Z', deactivated_reason = ?1
             WHERE workspace_id = ?2",
            &[json!(reason), json!(client.workspace())],
        );
    };
    deactivate("version_update");
    Tool::new("writer").builtin("list_files").with(json!({"major": 2})).put(open(), &client);
    let done = decide(&client, &replaced, "approve").result(200);
    assert_eq!((&done["version"], &done["success"]), (&json!("1.0.0"), &json!(true)));
    deactivate("security");
    decide(&client, &withdrawn, "approve").refused(409, "CONFLICT");
    assert_eq!(decide(&client, &withdrawn, "deny").ok()["status"], "denied");
}

#[test]
fn only_admins_decide_and_no_agent_does() {
    let root = closed_workspace();
    writer(closed(), &root);
    let (_, id) = ask(&root, write("/a"));
    let agent = root.agent(json!({}));
    let user = root.token(json!({"name": "u", "level": "user"}));
    let bound = root.token(json!({"name": "b", "level": "owner", "agent_id": agent}));
    for other in [&user, &bound] {
        decide(other, &id, "approve").refused(403, "PERMISSION_DENIED");
        decide(other, &id, "deny").refused(403, "PERMISSION_DENIED");
    }
    let foreigner = closed_workspace();
    decide(&foreigner, &id, "approve").refused(404, "NOT_FOUND");
    foreigner.get(&format!("/api/approvals/{id}")).refused(404, "NOT_FOUND");
    let admin = root.token(json!({"name": "a", "level": "admin"}));
    let (_, own) = ask(&admin, write("/b"));
    for id in [&id, &own] {
        decide(&admin, id, "approve").result(200);
    }
    let approval = admin.get(&format!("/api/approvals/{own}")).ok();
    assert_eq!(approval["decided_by"], approval["requested_by"], "who asked may approve, if admin");
}

#[test]
fn secret_arguments_wait_sealed_and_are_erased() {
    let (client, upstream) = (workspace(), Upstream::start());
    let schema = json!({"properties": {"user": {"type": "string"}, "pin": {"type": "string", "writeOnly": true}}});
    Tool::new("login")
        .http(&upstream.at("/text"))
        .schema(schema)
        .with(json!({"risk_level": "high"}))
        .put(open(), &client);
    let arguments = json!({"user": "ada", "pin": "hunter2"});
    let (pending, id) = ask(&client, json!({"tool_name": "login", "arguments": arguments}));
    let shown = json!({"user": "ada", "pin": "[redacted]"});
    assert_eq!(client.get(&format!("/api/approvals/{id}")).ok()["arguments"], shown);
    assert_eq!(client.record(&pending)["arguments"], shown);
    let sealed = || {
        let rows = open().sql(
            "SELECT sealed_arguments FROM approvals WHERE workspace_id = ?1 AND id = ?2",
            &[json!(client.workspace()), json!(id)],
        );
        rows[0]["sealed_arguments"].clone()
    };
    let digits = sealed();
    let hex = |text: &str| text.bytes().map(|it| format!("{it:02x}")).collect::<String>();
    assert!(digits.as_str().is_some_and(|it| !it.contains("hunter2") && !it.contains(&hex("hunter2"))), "{digits}");
    let done = decide(&client, &id, "approve").result(200);
    assert_eq!(upstream.received()[0].body["arguments"], arguments);
    assert_eq!(sealed(), Value::Null);
    assert_eq!(client.record(&done)["arguments"], shown);
}

#[test]
fn large_arguments_wait_as_well() {
    let client = workspace();
    writer(open(), &client);
    let content = "x".repeat(200_000);
    let (_, id) = ask(&client, json!({"tool_name": "writer", "arguments": {"path": "/large", "content": content}}));
    let approval = client.get(&format!("/api/approvals/{id}")).ok();
    assert_eq!(approval["arguments"]["truncated"], true);
    assert_eq!(approval["shortened"], json!(["arguments"]));
    decide(&client, &id, "approve").result(200);
    assert_eq!(client.get("/api/sessions/default/files/large").text, content);
}

#[test]
fn arguments_that_look_shortened_are_told_from_shortened_ones() {
    let client = workspace();
    writer(open(), &client);
    let fake =
        json!({"path": "/a", "content": "x", "truncated": true, "sha256": "00", "size": 9, "prefix": "{}", "url": "/"});
    let (pending, forged) = ask(&client, json!({"tool_name": "writer", "arguments": fake}));
    let (_, long) =
        ask(&client, json!({"tool_name": "writer", "arguments": {"path": "/b", "content": "x".repeat(9_000)}}));
    let shown = |id: &str| client.get(&format!("/api/approvals/{id}")).ok();
    assert_eq!((&shown(&forged)["arguments"], &shown(&forged)["shortened"]), (&fake, &json!([])));
    assert_eq!(client.record(&pending)["shortened"], json!([]));
    // A list shows less than one approval.
    assert_eq!(shown(&long)["shortened"], json!([]));
    let listed = client.get("/api/approvals?status=pending").ok()["approvals"].clone();
    let of = |id: &str| listed.as_array().unwrap().iter().find(|it| it["id"] == id).unwrap();
    assert_eq!((&of(&forged)["arguments"], &of(&forged)["shortened"]), (&fake, &json!([])));
    assert_eq!(of(&long)["shortened"], json!(["arguments"]));
    assert_eq!(of(&long)["arguments"]["prefix"].as_str().map(str::len), Some(1_000));
}

#[test]
fn an_approval_expires() {
    let client = workspace();
    writer(open(), &client);
    let (pending, id) = ask(&client, write("/a"));
    let lasts = &open().sql(
        "SELECT unixepoch(expires_at) - unixepoch(created_at) AS seconds FROM approvals WHERE workspace_id = ?1",
        &[json!(client.workspace())],
    )[0];
    assert_eq!(lasts["seconds"], 24 * 60 * 60);
    open().sql(
        "UPDATE approvals SET expires_at = '2026-01-01T00:00:00.000Z' WHERE workspace_id = ?1",
        &[json!(client.workspace())],
    );
    decide(&client, &id, "approve").refused(409, "CONFLICT");
    assert_eq!(client.get("/api/approvals?status=pending").ok()["approvals"], json!([]));
    assert_eq!(client.get("/api/approvals?status=expired").ok()["approvals"][0]["status"], "expired");
    assert_eq!(open().ask(json!({"scheduled": "*/5 * * * *"}))["outcome"], "ok");
    assert_eq!(client.get(&format!("/api/approvals/{id}")).ok()["status"], "expired");
    let record = client.record(&pending);
    assert_eq!((&record["status"], &record["error"]["code"]), (&json!("error"), &json!("APPROVAL_EXPIRED")));
    decide(&client, &id, "approve").refused(409, "CONFLICT");
    let changes = open().sql(
        "SELECT seq, action, subject, operator FROM changes WHERE workspace_id = ?1 ORDER BY seq",
        &[json!(client.workspace())],
    );
    let subject = format!("approval:{id}");
    assert_eq!(
        changes,
        [
            json!({"seq": 1, "action": "create", "subject": subject, "operator": "anonymous"}),
            json!({"seq": 2, "action": "expire", "subject": subject, "operator": "pegboard"}),
        ]
    );
}

#[test]
fn every_decision_is_in_the_change_log_once() {
    let client = workspace();
    writer(open(), &client);
    let (_, approved) = ask(&client, write("/a"));
    let (_, denied) = ask(&client, write("/b"));
    race(6, |_| decide(&client, &approved, "approve").status);
    race(6, |_| decide(&client, &denied, "deny").status);
    let changes = open().sql(
        "SELECT action, subject, reason FROM changes WHERE workspace_id = ?1 ORDER BY seq",
        &[json!(client.workspace())],
    );
    let row = |action: &str, id: &str, reason: Value| json!({"action": action, "subject": format!("approval:{id}"), "reason": reason});
    assert_eq!(
        changes,
        [
            row("create", &approved, Value::Null),
            row("create", &denied, Value::Null),
            row("approve", &approved, json!("because")),
            row("deny", &denied, json!("because")),
        ]
    );
}

#[test]
fn a_list_of_large_secrets_stays_small() {
    let client = workspace();
    let schema = json!({"properties": {"pin": {"type": "string", "writeOnly": true}}});
    Tool::new("login").schema(schema).with(json!({"requires_approval": 1})).put(open(), &client);
    for _ in 0..5 {
        ask(&client, json!({"tool_name": "login", "arguments": {"pin": "x".repeat(800_000)}}));
    }
    assert!(client.get("/api/approvals").text.len() < 10_000);
    let large = json!({"tool_name": "login", "arguments": {"pin": "x".repeat(1_000_000)}});
    client.call(large).failed(413, "PAYLOAD_TOO_LARGE");
}

#[test]
fn the_list_has_pages_and_a_filter() {
    let client = workspace();
    writer(open(), &client);
    let ids = (0..5).map(|it| ask(&client, write(&format!("/{it}"))).1).collect::<Vec<_>>();
    decide(&client, &ids[0], "deny").ok();
    let listed = client.pages("/api/approvals", "approvals", 2);
    let mut found = listed.iter().map(|it| it["id"].as_str().unwrap()).collect::<Vec<_>>();
    let mut expected = ids.iter().map(String::as_str).collect::<Vec<_>>();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
    assert_eq!(client.pages("/api/approvals?status=pending", "approvals", 3).len(), 4);
    assert_eq!(client.pages("/api/approvals?status=denied", "approvals", 3).len(), 1);
    client.get("/api/approvals?status=maybe").refused(400, "VALIDATION_ERROR");
}

#[test]
fn an_approval_takes_three_round_trips_at_the_most_besides_the_tools_own() {
    let client = workspace();
    Tool::new("waits").builtin("list_files").with(json!({"requires_approval": 1})).put(open(), &client);
    let (_, id) = ask(&client, json!({"tool_name": "waits"}));
    let answer = decide(&client, &id, "approve");
    answer.result(200);
    assert_eq!(answer.cost("round_trips"), 4, "look, decide, the tool's own, record");
}
