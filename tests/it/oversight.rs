//! Figures, health and metrics: they are right at any time, and cost little however much there is.

use crate::harness::{Client, ROOT_TOKEN, Server, Tool, call_id, closed, closed_workspace, open, workspace};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

fn stats(client: &Client) -> Value {
    client.get("/api/registry/stats").ok()
}

fn health(client: &Client) -> Value {
    client.get("/api/registry/health").ok()
}

fn upkeep(server: &Server) {
    let answer = server.ask(json!({"scheduled": "*/5 * * * *"}));
    assert_eq!(answer["outcome"], "ok", "{answer}");
}

/// Total, successful and failed executions.
fn executions(client: &Client) -> [u64; 3] {
    let stats = stats(client);
    ["total_executions", "successful_executions", "failed_executions"].map(|it| stats[it].as_u64().unwrap())
}

/// The body of a registration.
fn tool(id: &str, version: &str, more: Value) -> Value {
    let mut body = json!({
        "id": id, "version": version, "name": id, "description": "A tool that the tests register",
        "parameters_schema": {"type": "object"}, "handler": {"type": "builtin", "key": "list_files"},
    });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

/// The alert for a condition, if there is one.
fn alert(health: &Value, condition: &str) -> Option<Value> {
    let alerts = health["alerts"].as_array().unwrap();
    alerts.iter().find(|it| it["condition"] == condition).cloned()
}

#[test]
fn a_workspace_of_which_nobody_has_heard_has_the_builtins() {
    let expected = json!({
        "total_tools": 6,
        "active_tools": 6,
        "tools_by_category": {"code": 1, "email": 2, "filesystem": 3},
        "tools_by_risk_level": {"low": 2, "safe": 4},
        "tools_by_execution_mode": {"local": 6},
        "tools_by_resource_class": {"compute": 1, "state": 5},
        "tools_by_source": {"builtin": 6},
        "total_executions": 0,
        "successful_executions": 0,
        "failed_executions": 0,
        "registrations_24h": 0,
        "failed_registrations_24h": 0,
        "usage": {"files_bytes": 0, "calls_bytes": 0, "used_bytes": 0, "quota_bytes": 1_000_000_000},
        "last_updated": null,
    });
    let stats = stats(&workspace());
    assert_eq!(stats, expected);
    assert!(stats.as_object().unwrap().keys().eq(expected.as_object().unwrap().keys()), "{stats}");
}

#[test]
fn tools_are_counted_as_lists_show_them() {
    let client = workspace();
    Tool::new("off")
        .with(json!({"category": "quiet", "risk_level": "high"}))
        .inactive("deprecated")
        .put(open(), &client);
    Tool::new("two").with(json!({"category": "old"})).inactive("version_update").put(open(), &client);
    Tool::new("two").with(json!({"major": 2, "category": "new", "execution_mode": "remote"})).put(open(), &client);
    Tool::new("mod.ule").source("module").with(json!({"resource_class": "compute"})).put(open(), &client);
    Tool::new("elsewhere").put(open(), &workspace());
    let stats = stats(&client);
    assert_eq!((&stats["total_tools"], &stats["active_tools"]), (&json!(9), &json!(8)));
    assert_eq!(stats["tools_by_source"], json!({"builtin": 6, "module": 1, "registered": 2}));

    let listed = client.pages("/api/tools?include_inactive=true", "tools", 200);
    assert_eq!(listed.len(), 9);
    for field in ["category", "risk_level", "execution_mode", "resource_class", "source"] {
        let mut counts = BTreeMap::<&str, u64>::new();
        for it in &listed {
            *counts.entry(it[field].as_str().unwrap()).or_default() += 1;
        }
        assert_eq!(stats[format!("tools_by_{field}")], json!(counts), "{field}");
    }
}

#[test]
fn registrations_of_the_last_day_are_counted_and_refused_ones_by_reason() {
    let client = workspace();
    open().sql(
        "INSERT INTO changes (workspace_id, seq, timestamp, action, subject, operator)
         VALUES (?1, 1, strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-25 hours'), 'register', 'tool:old@1.0.0', 'tests')",
        &[json!(client.workspace())],
    );
    assert_eq!(stats(&client)["registrations_24h"], 0);
    client.post("/api/tools", tool("mine", "1.0.0", json!({}))).created();
    client.post("/api/tools", tool("mine", "1.0.1", json!({}))).created();
    let agent = client.agent(json!({}));
    client.patch(&format!("/api/agents/{agent}"), json!({"name": "changed"})).ok();

    let refused = |body: Value, status: u16, code: &str| {
        client.post("/api/tools", body).refused(status, code);
    };
    refused(json!({"id": "Not An Id"}), 400, "VALIDATION_ERROR");
    refused(tool("other", "1.0.0", json!({"risk_level": "harmless"})), 400, "VALIDATION_ERROR");
    refused(tool("mine", "1.0.1", json!({})), 409, "ALREADY_EXISTS");
    refused(tool("mine", "1.0.0", json!({})), 409, "ALREADY_EXISTS");
    refused(tool("mine", "0.9.0", json!({})), 400, "VALIDATION_ERROR");
    refused(tool("other", "1.0.0", json!({"credentials_required": ["NOT_DEFINED"]})), 400, "VALIDATION_ERROR");
    refused(tool("read_file", "2.0.0", json!({})), 409, "CONFLICT");

    let figures = stats(&client);
    assert_eq!(figures["registrations_24h"], 2, "the change of an agent and what is older are none");
    assert_eq!(figures["failed_registrations_24h"], 7);
    let last = &open().sql(
        "SELECT timestamp FROM changes WHERE workspace_id = ?1 ORDER BY seq DESC LIMIT 1",
        &[json!(client.workspace())],
    )[0];
    assert_eq!(figures["last_updated"], last["timestamp"]);
    assert_eq!(
        health(&client)["failed_registrations_24h"],
        json!({"builtin": 1, "credential": 1, "exists": 2, "invalid": 2, "version": 1})
    );

    open().sql(
        "UPDATE registration_refusals SET hour = '2020-01-01T00' WHERE workspace_id = ?1",
        &[json!(client.workspace())],
    );
    assert_eq!(stats(&client)["failed_registrations_24h"], 0);
}

#[test]
fn calls_are_counted_exactly_wherever_upkeep_has_got_to() {
    let client = workspace();
    Tool::new("waits").builtin("list_files").with(json!({"requires_approval": 1})).put(open(), &client);
    let ask = || {
        let waits = client.execute("waits", json!({})).result(202);
        format!("/api/approvals/{}", waits["error"]["details"]["approval_id"].as_str().unwrap())
    };
    let running = |id: &str, started_at: &str, deadline: &str| {
        open().sql(
            "INSERT INTO tool_calls (workspace_id, id, tool_name, operator, status, started_at, deadline_at)
             VALUES (?1, ?2, 't', 'tests', 'running', ?3, ?4)",
            &[json!(client.workspace()), json!(id), json!(started_at), json!(deadline)],
        );
    };
    let becomes = |id: &str, status: &str| {
        open().sql(
            "UPDATE tool_calls SET status = ?3 WHERE workspace_id = ?1 AND id = ?2",
            &[json!(client.workspace()), json!(id), json!(status)],
        );
    };

    client.execute("list_files", json!({})).success();
    client.execute("read_file", json!({"path": "/none"})).failed(200, "TOOL_ERROR");
    client.execute("unknown", json!({})).failed(404, "UNKNOWN_TOOL");
    let [approved, denied, waiting] = [(), (), ()].map(|()| ask());
    running("call_long", "2026-01-01T00:00:00.000Z", "2990-01-01T00:00:00.000Z");
    running("call_dead", "2026-01-01T00:00:00.000Z", "2026-01-01T00:01:00.000Z");
    assert_eq!(executions(&client), [3, 1, 2], "what runs or waits has not ended");

    upkeep(open());
    assert_eq!(executions(&client), [4, 1, 3], "the dead one has ended");
    upkeep(open());
    assert_eq!(executions(&client), [4, 1, 3]);

    client.post(&format!("{denied}/deny"), json!({})).ok();
    assert_eq!(executions(&client), [5, 1, 4]);
    client.post(&format!("{approved}/approve"), json!({})).success();
    assert_eq!(executions(&client), [6, 2, 4]);
    becomes("call_long", "success");
    assert_eq!(executions(&client), [7, 3, 4]);
    // This call had been declared dead too early.
    becomes("call_dead", "success");
    assert_eq!(executions(&client), [7, 4, 3]);
    client.execute("list_files", json!({})).success();
    // This call started before the mark, and was recorded after it.
    running("call_slow", "2025-01-01T00:00:00.000Z", "2990-01-01T00:00:00.000Z");
    becomes("call_slow", "error");
    assert_eq!(executions(&client), [9, 5, 4]);

    upkeep(open());
    assert_eq!(executions(&client), [9, 5, 4]);
    client.post(&format!("{waiting}/approve"), json!({})).success();
    assert_eq!(executions(&client), [10, 6, 4]);
    assert_eq!(executions(&workspace()), [0, 0, 0]);
}

/// Twice as many calls as one run of upkeep counts, in one workspace among others.
fn many_calls(server: &Server, client: &Client) {
    server.sql(
        &format!(
            "INSERT INTO tool_calls (workspace_id, id, tool_name, operator, status, started_at, duration_ms)
             WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99999)
             SELECT ?1, {}, 'tool-' || (i % 50), 'tests',
               CASE i % 100 WHEN 0 THEN 'error' WHEN 1 THEN 'denied' ELSE 'success' END, time, i % 97
             FROM (SELECT i, strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-' || (i / 2) || ' seconds') AS time FROM n)",
            call_id("time", "i")
        ),
        &[json!(client.workspace())],
    );
}

#[test]
fn a_hundred_thousand_calls_cost_no_more_than_ten() {
    let server = Server::start("oversight-calls", &[("AUTH", "open"), ("COST_HEADER", "on")]);
    let client = server.client("ws");
    many_calls(&server, &client);
    let expected = [100_000, 98_000, 2_000];
    assert_eq!(executions(&client), expected);
    for _ in 0..2 {
        upkeep(&server);
        assert_eq!(executions(&client), expected);
    }
    // After some time in use, the query planner has statistics.
    server.sql("ANALYZE", &[]);
    client.execute("list_files", json!({})).success();
    assert_eq!(executions(&client), [100_001, 98_001, 2_000]);
    for (path, most) in [("/api/registry/stats", 60), ("/api/registry/health", 60), ("/metrics", 60)] {
        let answer = client.get(path);
        assert_eq!(answer.status, 200, "{}", answer.text);
        let read = answer.cost("rows_read");
        assert!(read <= most, "{path} read {read} rows");
    }
    assert!(client.get("/metrics").text.contains("pegboard_calls_total{status=\"success\"} 98001\n"));
    // An upkeep run with little to count reads few rows.
    let marked = server.sql("SELECT key FROM call_mark", &[])[0]["key"].clone();
    assert_eq!(marked, 100_000);
    upkeep(&server);
    assert_eq!(server.sql("SELECT key FROM call_mark", &[])[0]["key"], 100_001);
}

#[test]
fn ten_thousand_tools_are_looked_at_once() {
    let server = Server::start("oversight-tools", &[("AUTH", "open"), ("COST_HEADER", "on")]);
    server.sql("ANALYZE", &[]);
    for name in ["large", "larger"] {
        let workspace = json!(name);
        server.ask(json!({"batch": [
            {
                "sql": "INSERT INTO tools (workspace_id, id, source, created_at)
                        WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9999)
                        SELECT ?1, 'tool-' || i, 'registered', '2026-11-16T01:00:00.000Z' FROM n",
                "params": [workspace],
            },
            {
                "sql": "INSERT INTO tool_versions (workspace_id, tool_key, major, minor, patch, name, description, parameters_schema,
                          handler_key, handler, category, registered_at, registered_by, active)
                        SELECT ?1, key, 1, 0, 0, id, 'A tool of many', '{\"type\":\"object\"}', 'http',
                          '{\"type\":\"http\",\"url\":\"https://example.com\"}', 'category-' || (key % 100),
                          '2026-11-16T01:00:00.000Z', 'tests', 1
                        FROM tools WHERE workspace_id = ?1",
                "params": [workspace],
            },
        ]}));
    }
    let (large, small) = (server.client("large"), server.client("small"));
    assert_eq!(stats(&large)["total_tools"], 10_006);
    assert_eq!(stats(&large)["tools_by_category"].as_object().unwrap().len(), 103);
    // With the planner's statistics of six tools, and then with current statistics.
    for _ in 0..2 {
        for (path, most) in [("/api/registry/stats", 30_100), ("/api/registry/health", 50_100)] {
            for (client, most) in [(&large, most), (&small, 60)] {
                let answer = client.get(path);
                answer.ok();
                let read = answer.cost("rows_read");
                assert!(read <= most, "{path} read {read} rows in {}", client.workspace());
            }
        }
        let answer = large.get("/metrics");
        assert_eq!(answer.status, 200, "{}", answer.text);
        let read = answer.cost("rows_read");
        assert!(read <= 60_100, "/metrics read {read} rows for 20,000 tools");
        server.sql("ANALYZE", &[]);
    }
}

#[test]
fn a_read_with_a_token_takes_one_round_trip_and_health_two() {
    let admin = closed_workspace().token(json!({"name": "admin", "level": "admin"}));
    for (path, trips) in [("/api/registry/stats", 1), ("/api/registry/health", 2)] {
        let answer = admin.get(path);
        answer.ok();
        assert_eq!((answer.cost("round_trips"), answer.cost("rows_written")), (trips, 0), "{path}");
    }
}

#[test]
fn where_all_is_well_health_says_so() {
    let client = workspace();
    client.post("/api/tools", tool("fine", "1.0.0", json!({}))).created();
    let health = health(&client);
    assert_eq!(
        health.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["status", "checked_at", "database_bytes", "alerts", "failed_registrations_24h"]
    );
    assert_eq!((&health["status"], &health["alerts"]), (&json!("ok"), &json!([])));
    assert_eq!(health["failed_registrations_24h"], json!({}));
    assert!(health["database_bytes"].as_u64().unwrap() > 100_000);
    assert!(health["checked_at"].as_str().unwrap().ends_with('Z'));
}

#[test]
fn too_many_versions_are_a_warning() {
    let client = workspace();
    let version = |id: &str, count: u32| {
        Tool::new(id).put(open(), &client);
        open().sql(
            "INSERT INTO tool_versions (workspace_id, tool_key, major, minor, patch, name, description, parameters_schema,
               handler_key, handler, registered_at, registered_by, active, deactivated_at, deactivated_reason)
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?3)
             SELECT ?1, t.key, 0, 0, i, 'x', 'x', '{}', 'http', '{}', '2026-11-16T01:00:00.000Z', 'tests', 0,
               '2026-11-16T01:00:00.000Z', 'version_update' FROM tools t, n WHERE t.workspace_id = ?1 AND t.id = ?2",
            &[json!(client.workspace()), json!(id), json!(count - 1)],
        );
    };
    version("many", 100);
    assert_eq!(health(&client)["status"], "ok", "a hundred are not more than a hundred");
    version("too-many", 101);
    version("far-too-many", 150);
    let health = health(&client);
    assert_eq!(health["status"], "warning");
    assert_eq!(
        health["alerts"],
        json!([{
            "condition": "version_churn",
            "severity": "warning",
            "message": "Tools with more than 100 versions: 2",
            "details": {"count": 2, "tools": [{"id": "far-too-many", "versions": 150}, {"id": "too-many", "versions": 101}]},
        }])
    );
}

#[test]
fn an_active_version_that_leads_nowhere_is_critical() {
    let client = workspace();
    Tool::new("gone").builtin("no_such_builtin").put(open(), &client);
    Tool::new("there").builtin("list_files").put(open(), &client);
    Tool::new("asleep").builtin("no_such_builtin").inactive("deprecated").put(open(), &client);
    let health = health(&client);
    assert_eq!(health["status"], "critical");
    assert_eq!(
        health["alerts"],
        json!([{
            "condition": "missing_target",
            "severity": "critical",
            "message": "Active versions with a handler that is not part of this deployment, or without their server: 1",
            "details": {"count": 1, "versions": ["gone@1.0.0"]},
        }])
    );
}

/// A tool of a module.
fn tool_of(module: &str, name: &str) -> Tool {
    let handler = json!({"type": "module", "module": module}).to_string();
    Tool::new(&format!("{module}.{name}")).source("module").with(json!({"handler_key": "module", "handler": handler}))
}

/// Writes modules with these states, from `from` on: `m00`, `m01`, ….
fn modules(server: &Server, client: &Client, from: u32, count: u32, status: &str, enabled: bool) {
    server.sql(
        "INSERT INTO upstreams (workspace_id, name, kind, url, slow, headers, enabled, auto_accept, created_at, revision,
           status, expires_at)
         WITH RECURSIVE n(i) AS (SELECT ?2 + 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?2 + ?3 - 1)
         SELECT ?1, printf('m%02d', i), 'manifest', 'http://127.0.0.1:9', 0, '{}', ?5, 0, '2026-11-16T01:00:00.000Z', 1, ?4,
           '2999-01-01T00:00:00.000Z' FROM n",
        &[json!(client.workspace()), json!(from), json!(count), json!(status), json!(enabled)],
    );
}

#[test]
fn an_active_version_without_its_module_is_critical() {
    let client = workspace();
    modules(open(), &client, 0, 1, "ok", true);
    tool_of("m00", "a").put(open(), &client);
    // A module of the same name in another workspace does not count.
    modules(open(), &workspace(), 0, 2, "ok", true);
    tool_of("m01", "asleep").inactive("operator_request").put(open(), &client);
    assert_eq!(health(&client)["status"], "ok");
    tool_of("m01", "a").put(open(), &client);
    open().sql("DELETE FROM upstreams WHERE workspace_id = ?1 AND name = 'm01'", &[json!(client.workspace())]);
    let health = health(&client);
    assert_eq!(health["status"], "critical");
    assert_eq!(alert(&health, "missing_target").unwrap()["details"], json!({"count": 1, "versions": ["m01.a@1.0.0"]}));
}

#[test]
fn modules_that_fail_are_a_warning() {
    let client = workspace();
    modules(open(), &client, 0, 2, "ok", true);
    modules(open(), &client, 2, 2, "unseen", true);
    modules(open(), &client, 4, 2, "unreachable", false);
    assert_eq!(health(&client)["status"], "ok", "nobody asks a disabled module");
    client.post("/api/modules", json!({"name": "mail", "url": "http://127.0.0.1:9"})).created();
    modules(open(), &client, 6, 1, "invalid", true);
    let found = health(&client);
    assert_eq!(found["status"], "warning");
    assert_eq!(
        found["alerts"],
        json!([{
            "condition": "module_failing",
            "severity": "warning",
            "message": "Modules that do not answer, or not as modules do: 2",
            "details": {"count": 2, "modules": [
                {"name": "m06", "status": "invalid"},
                {"name": "mail", "status": "unreachable"},
            ]},
        }])
    );
    modules(open(), &client, 10, 25, "invalid", true);
    let answer = client.get("/api/registry/health");
    let details = &alert(&answer.ok(), "module_failing").unwrap()["details"];
    assert_eq!((&details["count"], details["modules"].as_array().unwrap().len()), (&json!(27), 20));
    // Each module costs one row, and each of those that fail another one, to be counted.
    assert!(answer.cost("rows_read") <= 180, "{} rows read", answer.cost("rows_read"));
}

#[test]
fn definitions_that_are_held_back_are_a_warning() {
    let client = workspace();
    for owner in [&client, &workspace()] {
        modules(open(), owner, 0, 1, "ok", true);
        open().sql(
            "INSERT INTO held_back_definitions (workspace_id, name, tool_id, change, offered)
             WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 24)
             SELECT ?1, 'm00', printf('m00.t%02d', i), 'new', '{}' FROM n",
            &[json!(owner.workspace())],
        );
    }
    let health = health(&client);
    assert_eq!(health["status"], "warning");
    let alert = alert(&health, "definitions_held_back").unwrap();
    assert_eq!(alert["message"], "Definitions of others' tools that wait for an admin: 25");
    assert_eq!((&alert["details"]["count"], &alert["details"]["tools"][24]), (&json!(25), &Value::Null));
    assert_eq!(alert["details"]["tools"].as_array().unwrap().len(), 20);
    assert_eq!(alert["details"]["tools"][0], "m00.t00");
}

#[test]
fn an_active_version_without_its_credentials_is_critical() {
    let vars = [("AUTH", "open"), ("HERE", "x"), ("THEIRS", "x"), ("CREDENTIAL_WORKSPACES", "THEIRS=other@*")];
    let server = Server::start("oversight-credentials", &vars);
    let client = server.client("ws");
    for id in ["HERE", "ABSENT", "THEIRS"] {
        server.sql("INSERT INTO credentials VALUES ('ws', ?1, '', '2026-11-16T01:00:00.000Z')", &[json!(id)]);
    }
    let wants = |id: &str, credentials: Value| Tool::new(id).with(json!({"credentials_required": credentials}));
    wants("fine", json!(["HERE"])).put(&server, &client);
    assert_eq!(health(&client)["status"], "ok");
    wants("asleep", json!(["ABSENT"])).inactive("deprecated").put(&server, &client);
    assert_eq!(health(&client)["status"], "ok");
    wants("undefined", json!(["HERE", "UNDEFINED"])).put(&server, &client);
    wants("absent", json!(["ABSENT", "THEIRS"])).put(&server, &client);
    let found = health(&client);
    assert_eq!(found["status"], "critical");
    let alert = alert(&found, "missing_credential").unwrap();
    assert_eq!(
        alert["message"],
        "Active versions with a credential that is not defined, or is no secret of the Worker: 2"
    );
    assert_eq!(
        alert["details"],
        json!({"count": 2, "versions": [
            {"version": "undefined@1.0.0", "missing": ["UNDEFINED"]},
            {"version": "absent@1.0.0", "missing": ["ABSENT", "THEIRS"]},
        ]})
    );
}

#[test]
fn versions_deactivated_for_security_are_to_be_looked_into() {
    let client = workspace();
    client.post("/api/tools", tool("risky", "1.0.0", json!({}))).created();
    client.post("/api/tools/risky/deactivate", json!({"reason": "security"})).ok();
    Tool::new("older").inactive("deprecated").put(open(), &client);
    let health = health(&client);
    assert_eq!(health["status"], "warning");
    assert_eq!(
        health["alerts"],
        json!([{
            "condition": "security_deactivation",
            "severity": "warning",
            "message": "Versions deactivated for security, to be investigated: 1",
            "details": {"count": 1, "versions": ["risky@1.0.0"]},
        }])
    );
}

#[test]
fn alerts_count_all_and_name_twenty() {
    let client = workspace();
    for number in 0..25 {
        let bad = Tool::new(&format!("bad-{number:02}")).builtin("no_such_builtin");
        bad.with(json!({"credentials_required": ["UNDEFINED"]})).put(open(), &client);
    }
    let health = health(&client);
    for condition in ["missing_target", "missing_credential"] {
        let alert = alert(&health, condition).unwrap();
        assert_eq!(alert["details"]["count"], 25);
        assert_eq!(alert["details"]["versions"].as_array().unwrap().len(), 20);
    }
}

#[test]
fn a_database_over_its_limit_is_a_warning() {
    let server = Server::start("oversight-size", &[("AUTH", "open"), ("DATABASE_ALERT_BYTES", "4096")]);
    let health = health(&server.client("ws"));
    assert_eq!(health["status"], "warning");
    let alert = alert(&health, "database_size").unwrap();
    assert_eq!((&alert["severity"], &alert["details"]["limit_bytes"]), (&json!("warning"), &json!(4096)));
    assert_eq!(alert["details"]["bytes"], health["database_bytes"]);
}

#[test]
fn figures_are_for_admins_who_are_no_agents() {
    let root = closed_workspace();
    let agent = root.agent(json!({}));
    let bound = root.token(json!({"name": "bound", "level": "owner", "agent_id": agent}));
    let user = root.token(json!({"name": "user", "level": "user"}));
    for path in ["/api/registry/stats", "/api/registry/health"] {
        bound.get(path).refused(403, "PERMISSION_DENIED");
        user.get(path).refused(403, "PERMISSION_DENIED");
        root.without_header("X-Workspace-Id").get(path).refused(400, "VALIDATION_ERROR");
    }
}

#[test]
fn metrics_are_for_whoever_runs_the_worker() {
    let root = closed_workspace();
    let owner = root.token(json!({"name": "owner", "level": "owner"}));
    let nowhere = root.without_header("X-Workspace-Id");
    assert_eq!(nowhere.get("/metrics").status, 200);
    assert_eq!(root.get("/metrics").status, 200);
    let refused = nowhere.without_header("Authorization").get("/metrics");
    refused.refused(401, "UNAUTHORIZED");
    assert_eq!(refused.header("www-authenticate"), Some("Bearer"));
    owner.get("/metrics").refused(401, "UNAUTHORIZED");
    for header in
        ["Bearer wrong", "Bearer ", &format!("Basic {ROOT_TOKEN}"), &format!("Bearer {ROOT_TOKEN}x"), ROOT_TOKEN]
    {
        nowhere.with_header("Authorization", header).get("/metrics").refused(401, "UNAUTHORIZED");
    }

    let anyone = open().client("x").without_header("X-Workspace-Id");
    assert_eq!(anyone.get("/metrics").status, 200);
    anyone.with_token("wrong").get("/metrics").refused(401, "UNAUTHORIZED");
    assert_eq!(closed().client("x").with_token("").get("/metrics").status, 401);
}

/// One sample: its name, its label if it has one, and its value.
type Sample = (String, Option<(String, String)>, f64);

/// Reads Prometheus' text format as strictly as possible: each family once, with its help and its type before its
/// samples, and no sample twice.
fn parse(text: &str) -> Vec<Sample> {
    let is_name = |it: &str| {
        !it.is_empty()
            && !it.starts_with(|c: char| c.is_ascii_digit())
            && it.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    assert!(text.ends_with('\n') && !text.contains("\n\n") && !text.contains('\r'));
    let mut families = BTreeSet::new();
    let mut samples: Vec<Sample> = Vec::new();
    let (mut family, mut typed) = (String::new(), false);
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').unwrap();
            assert!(is_name(name) && !help.is_empty(), "{line}");
            assert!(families.insert(name.to_owned()), "{name} comes twice");
            (family, typed) = (name.to_owned(), false);
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert_eq!(name, family, "{line}");
            assert!(["counter", "gauge"].contains(&kind), "{line}");
            assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
            typed = true;
        } else {
            let (series, value) = line.rsplit_once(' ').unwrap();
            let (name, label) = match series.split_once('{') {
                None => (series, None),
                Some((name, label)) => {
                    let (label, value) = label.strip_suffix("\"}").unwrap().split_once("=\"").unwrap();
                    assert!(is_name(label) && !value.contains(['"', '\\', '\n']), "{line}");
                    (name, Some((label.to_owned(), value.to_owned())))
                }
            };
            assert!(typed && name == family, "{line} is not of the family {family}");
            assert!(!samples.iter().any(|it| it.0 == name && it.1 == label), "{line} comes twice");
            samples.push((name.to_owned(), label, value.parse().unwrap()));
        }
    }
    samples
}

#[test]
fn metrics_are_of_all_workspaces_and_name_none() {
    let server = Server::start("oversight-metrics", &[("AUTH", "open"), ("COST_HEADER", "on")]);
    let value = |name: &str, label: Option<(&str, &str)>| {
        let answer = server.client("x").without_header("X-Workspace-Id").get("/metrics");
        assert_eq!(answer.status, 200, "{}", answer.text);
        assert_eq!(answer.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
        assert_eq!((answer.cost("round_trips"), answer.cost("rows_written")), (1, 0));
        assert!(!answer.text.contains("tenant"), "{}", answer.text);
        let label = label.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let samples = parse(&answer.text);
        samples.iter().find(|it| it.0 == name && it.1 == label).map(|it| it.2)
    };
    assert_eq!(value("pegboard_info", Some(("version", "0.1.0"))), Some(1.0));
    for (name, expected) in [
        ("pegboard_workspaces", 0.0),
        // email_search has two versions.
        ("pegboard_tool_versions", 7.0),
        ("pegboard_agents", 0.0),
        ("pegboard_changes_total", 0.0),
        ("pegboard_approvals_pending", 0.0),
    ] {
        assert_eq!(value(name, None), Some(expected), "{name}");
    }
    for workspace in ["tenant-a", "tenant-b"] {
        let client = server.client(workspace);
        client.post("/api/tools", tool("mine", "1.0.0", json!({}))).created();
        client.post("/api/tools", tool("mine", "1.0.1", json!({"requires_approval": true}))).created();
        client.post("/api/tools", tool("off", "1.0.0", json!({}))).created();
        client.post("/api/tools/off/deactivate", json!({"reason": "deprecated"})).ok();
        client.post("/api/tools", json!({})).refused(400, "VALIDATION_ERROR");
        client.agent(json!({}));
        client.execute("list_files", json!({})).success();
        client.execute("none", json!({})).failed(404, "UNKNOWN_TOOL");
        client.execute("mine", json!({})).result(202);
        modules(&server, &client, 0, 3, "ok", true);
        modules(&server, &client, 3, 1, "unreachable", true);
    }
    let changes = server.sql("SELECT count(*) AS n FROM changes", &[])[0]["n"].as_f64().unwrap();
    for moved in [false, true] {
        if moved {
            upkeep(&server);
        }
        for (name, label, expected) in [
            ("pegboard_workspaces", None, 2.0),
            ("pegboard_tools", Some(("active", "true")), 8.0),
            ("pegboard_tools", Some(("active", "false")), 2.0),
            ("pegboard_tool_versions", None, 13.0),
            ("pegboard_agents", None, 2.0),
            ("pegboard_modules", Some(("status", "ok")), 6.0),
            ("pegboard_modules", Some(("status", "unreachable")), 2.0),
            ("pegboard_modules", Some(("status", "invalid")), 0.0),
            ("pegboard_modules", Some(("status", "unseen")), 0.0),
            ("pegboard_calls_total", Some(("status", "success")), 2.0),
            ("pegboard_calls_total", Some(("status", "error")), 2.0),
            ("pegboard_calls_total", Some(("status", "denied")), 0.0),
            ("pegboard_approvals_pending", None, 2.0),
            ("pegboard_changes_total", None, changes),
            ("pegboard_registration_refusals_24h", Some(("reason", "invalid")), 2.0),
        ] {
            assert_eq!(value(name, label), Some(expected), "{name} {label:?}, upkeep: {moved}");
        }
    }
    let bytes = value("pegboard_database_bytes", None).unwrap();
    assert_eq!(health(&server.client("tenant-a"))["database_bytes"].as_f64(), Some(bytes));
}
