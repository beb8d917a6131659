//! Workspaces with databases of their own: `STORAGE = "objects"`. `scripts/test it` also runs the tests of other rooms on
//! objects (`PEGBOARD_STORAGE`); here is what only objects have.

use crate::harness::{Client, ModuleServer, ROOT_TOKEN, Server, definition, unique};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// How many workspaces are written to at once, by how many writers each.
const WORKSPACES: usize = 1_000;
const WRITERS: usize = 10;
/// How many threads make the requests.
const THREADS: usize = 16;

fn server(name: &str, more: &[(&str, &str)]) -> Server {
    let vars = [("AUTH", "open"), ("SECRET_KEY", "a secret of the tests"), ("STORAGE", "objects")];
    Server::start(name, &[vars.as_slice(), more].concat())
}

/// Rows of D1 itself, where only the directory is.
fn in_d1(server: &Server, sql: &str) -> Vec<Value> {
    let answer = server.ask(json!({"directory": true, "sql": sql, "params": []}));
    answer["rows"].as_array().unwrap_or_else(|| panic!("{answer}")).clone()
}

/// Has the upkeep of all objects done, and returns how each of them ended.
fn upkeep(server: &Server) -> Vec<Value> {
    let answer = server.ask(json!({"scheduled": "*/5 * * * *"}));
    assert_eq!(answer["outcome"], "ok", "{answer}");
    answer["ends"].as_array().unwrap_or_else(|| panic!("{answer}")).clone()
}

fn write(client: &Client, path: &str, content: &str) -> Value {
    client.execute("write_file", json!({"path": path, "content": content})).success()
}

#[test]
fn a_workspace_is_in_its_object_and_nowhere_else() {
    let server = server("objects-apart", &[]);
    let [one, other] = ["one", "other"].map(|name| server.client(name));
    let agent = one.agent(json!({"name": "Clerk"}));
    write(&one, "/a", "of one");
    write(&other, "/a", "of the other");
    assert_eq!(one.get("/api/sessions/default/files/a").text, "of one");
    assert_eq!(other.get("/api/sessions/default/files/a").text, "of the other");
    other.get(&format!("/api/agents/{agent}")).refused(404, "NOT_FOUND");
    for name in ["one", "other"] {
        let workspaces = server.sql("SELECT DISTINCT workspace_id FROM tool_calls WHERE ?1 <> ''", &[json!(name)]);
        assert_eq!(workspaces, [json!({"workspace_id": name})]);
    }
    for table in ["agents", "tool_calls", "sessions", "blobs", "changes"] {
        assert_eq!(in_d1(&server, &format!("SELECT count(*) AS n FROM {table}")), [json!({"n": 0})], "{table}");
    }
}

#[test]
fn a_token_of_one_workspace_opens_no_other() {
    let server = Server::start(
        "objects-tokens",
        &[("ROOT_TOKEN", ROOT_TOKEN), ("SECRET_KEY", "a secret of the tests"), ("STORAGE", "objects")],
    );
    let root = server.client("mine").with_token(ROOT_TOKEN);
    let user = root.token(json!({"name": "User", "level": "user"}));
    user.get("/api/tools").ok();
    user.in_workspace("theirs").get("/api/tools").refused(401, "UNAUTHORIZED");
    root.in_workspace("theirs").get("/api/tools").ok();
}

#[test]
fn an_acknowledged_write_survives_the_runtime() {
    let server = server("objects-killed", &[]);
    let client = server.client("ws");
    for number in 0..20 {
        write(&client, &format!("/{number}"), "kept");
        if number % 5 == 4 {
            server.kill_runtime();
            server.restart();
        }
    }
    let (entries, session) = (client.get("/api/sessions/default/files").ok(), client.get("/api/sessions/default").ok());
    assert_eq!((entries["entries"].as_array().unwrap().len(), &session["id"]), (20, &json!("default")));
}

#[test]
fn a_race_has_one_winner() {
    let server = server("objects-race", &[]);
    let client = server.client("ws");
    let statuses = std::thread::scope(|threads| {
        let register = || client.post("/api/tools", definition("contested", "1.0.0", json!({}))).status;
        let racers = (0..8).map(|_| threads.spawn(register)).collect::<Vec<_>>();
        racers.into_iter().map(|it| it.join().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!(statuses.iter().filter(|it| **it == 201).count(), 1, "{statuses:?}");
    assert!(statuses.iter().all(|it| [201, 409].contains(it)), "{statuses:?}");
    assert_eq!(client.get("/api/tools/contested/versions").ok()["versions"].as_array().unwrap().len(), 1);
}

#[test]
fn objects_report_to_the_directory_and_the_metrics_are_their_sums() {
    let vars = [("ROOT_TOKEN", ROOT_TOKEN)];
    let server = server("objects-metrics", &vars);
    for (name, calls) in [("one", 2), ("other", 3)] {
        for number in 0..calls {
            write(&server.client(name), &format!("/{number}"), "text");
        }
        server.client(name).agent(json!({"name": "Clerk"}));
    }
    let metrics = || server.client("any").with_token(ROOT_TOKEN).get("/metrics").text;
    assert!(!metrics().contains("pegboard_agents 2"), "nobody has reported yet");
    // A workspace is in the directory from its first request on.
    let directory = || in_d1(&server, "SELECT workspace_id FROM directory ORDER BY 1");
    assert_eq!(directory(), [json!({"workspace_id": "one"}), json!({"workspace_id": "other"})]);
    upkeep(&server);
    let told = metrics();
    for line in [
        "pegboard_workspaces 2",
        "pegboard_agents 2",
        "pegboard_calls_total{status=\"success\"} 5",
        // The built-in tools count once, although every object has them.
        "pegboard_tools{active=\"true\"} 6",
    ] {
        assert!(told.lines().any(|it| it == line), "{line} is missing:\n{told}");
    }
    let bytes = |name: &str| {
        let line = told.lines().find(|it| it.starts_with(name)).unwrap_or_else(|| panic!("{told}"));
        line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()
    };
    let (all, largest) = (bytes("pegboard_database_bytes "), bytes("pegboard_largest_database_bytes "));
    assert!(largest > 100_000 && all > 2 * largest, "{all} {largest}");
    assert_eq!(directory().len(), 2);
}

#[test]
fn the_alarm_of_an_object_ends_what_no_request_will_end() {
    let server = server("objects-upkeep", &[("APPROVAL_SECONDS", "1")]);
    let client = server.client("ws");
    client.post("/api/tools", definition("risky", "1.0.0", json!({"requires_approval": true}))).created();
    let waiting = client.execute("risky", json!({"text": "x"})).json();
    std::thread::sleep(std::time::Duration::from_millis(1_500));
    upkeep(&server);
    let record = client.record(&waiting);
    assert_eq!((&record["status"], &record["error"]["code"]), (&json!("error"), &json!("APPROVAL_EXPIRED")));
}

/// The object's own alarm, which no test calls.
#[test]
fn an_object_wakes_up_by_itself() {
    let server = server("objects-alarm", &[("APPROVAL_SECONDS", "1"), ("OBJECT_UPKEEP_SECONDS", "2")]);
    let client = server.client("ws");
    client.post("/api/tools", definition("risky", "1.0.0", json!({"requires_approval": true}))).created();
    let waiting = client.execute("risky", json!({"text": "x"})).json();
    let mut status = Value::Null;
    // Nothing but reads comes in, so only the alarm can end the call. It comes two seconds after a write, and again while it
    // finds work.
    for _ in 0..60 {
        std::thread::sleep(std::time::Duration::from_millis(500));
        status = client.record(&waiting)["status"].clone();
        if status == "error" {
            break;
        }
    }
    assert_eq!(status, "error");
    let reported = in_d1(&server, "SELECT json_array_length(report) > 5 AS is_full FROM directory");
    assert_eq!(reported, [json!({"is_full": 1})]);
}

#[test]
fn upkeep_tells_whether_it_has_worked() {
    let server = server("objects-pauses", &[]);
    write(&server.client("ws"), "/a", "text");
    let worked = || upkeep(&server).iter().map(|it| it["hasWorked"].clone()).collect::<Vec<_>>();
    assert_eq!(worked(), [true], "the call is counted");
    // Statistics of the query planner may follow.
    worked();
    assert_eq!(worked(), [false], "nothing is left");
}

#[test]
fn an_upkeep_that_fails_is_told_and_ends() {
    let server = server("objects-failing", &[]);
    write(&server.client("ws"), "/a", "text");
    server.sql("ALTER TABLE idempotency_keys RENAME TO away", &[]);
    let answer = server.ask(json!({"scheduled": "*/5 * * * *"}));
    assert_eq!((&answer["outcome"], &answer["ends"][0]["hasFailed"]), (&json!("exception"), &json!(true)), "{answer}");
    // The other steps have run, and the object has reported.
    let reported = in_d1(&server, "SELECT json_array_length(report) > 5 AS is_full FROM directory");
    assert_eq!(reported, [json!({"is_full": 1})]);
    server.sql("ALTER TABLE away RENAME TO idempotency_keys", &[]);
    upkeep(&server);
    assert_eq!(server.client("ws").get("/api/sessions/default/files/a").text, "text");
}

/// A string with one character above U+00FF takes two bytes for each of its characters on the way to an object.
#[test]
fn a_file_of_ten_megabytes_with_any_characters_is_written_and_read() {
    let server = server("objects-large", &[]);
    let client = server.client("ws");
    // JSON in JSON: nearly every second character is escaped, in the record of the call once more.
    let line = r#"{"a":"€","b":"c"},"#;
    let content = line.repeat(10 * 1024 * 1024 / line.len());
    client.execute("write_file", json!({"path": "/large.json", "content": content})).success();
    let read = client.execute("read_file", json!({"path": "/large.json"})).json();
    assert_eq!(read["result"].as_str().map(str::len), Some(content.len()));
    let record = client.record(&read);
    assert_eq!(record["status"], "success");
}

#[test]
fn an_object_of_an_older_bundle_gets_the_later_migrations() {
    let server = server("objects-older", &[]);
    let client = server.client("ws");
    write(&client, "/a", "kept");
    let ws = [json!("ws")];
    server.sql("DELETE FROM applied_migrations WHERE ?1 <> '' AND name LIKE '0042%'", &ws);
    server.sql("DROP TABLE directory", &[]);
    server.restart();
    assert_eq!(client.get("/api/sessions/default/files/a").text, "kept");
    assert_eq!(server.sql("SELECT count(*) AS n FROM directory WHERE ?1 <> ''", &ws), [json!({"n": 0})]);
}

#[test]
fn a_word_that_nobody_knows_stores_nothing_anywhere() {
    let server = Server::start("objects-unknown", &[("AUTH", "open"), ("STORAGE", "object")]);
    let client = server.client("ws");
    let refused = client.post("/api/agents", json!({"name": "Clerk"})).refused(503, "UNAVAILABLE");
    assert!(refused.message.contains("STORAGE"), "{}", refused.message);
    assert_eq!(in_d1(&server, "SELECT count(*) AS n FROM agents"), [json!({"n": 0})]);
}

#[test]
fn a_workspace_whose_rows_are_in_d1_does_not_begin_anew_in_an_object() {
    let server = server("objects-before", &[]);
    in_d1(
        &server,
        "INSERT INTO sessions (workspace_id, id, tree_id, created_at, updated_at)
         VALUES ('old', 's', 't', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z')",
    );
    let old = server.client("old");
    for refused in [old.get("/api/agents"), old.post("/api/agents", json!({"name": "Clerk"}))] {
        let refused = refused.refused(503, "UNAVAILABLE");
        assert!(refused.message.contains("STORAGE"), "{}", refused.message);
    }
    write(&server.client("new"), "/a", "kept");
    // The object has remembered nothing that would let it begin.
    server.restart();
    old.get("/api/agents").refused(503, "UNAVAILABLE");
    in_d1(&server, "DELETE FROM sessions");
    assert_eq!(old.get("/api/agents").ok()["agents"], json!([]));
}

#[test]
fn a_workspace_that_has_an_object_does_not_begin_anew_in_d1() {
    let server = Server::start("objects-after", &[("AUTH", "open")]);
    for name in ["moved", "kept"] {
        server.sql("INSERT INTO directory VALUES (?1, '[]', '2026-11-01T00:00:00.000Z')", &[json!(name)]);
    }
    server.sql("DELETE FROM directory WHERE workspace_id = ?1", &[json!("kept")]);
    let moved = server.client("moved");
    for refused in [moved.post("/api/agents", json!({"name": "Clerk"})), moved.get("/api/agents")] {
        let refused = refused.refused(503, "UNAVAILABLE");
        assert!(refused.message.contains("STORAGE"), "{}", refused.message);
    }
    let refused = moved.execute("write_file", json!({"path": "/a", "content": "lost"}));
    assert_eq!(refused.status, 503, "{}", refused.text);
    assert_eq!(
        server.sql("SELECT count(*) AS n FROM tool_calls WHERE workspace_id = ?1", &[json!("moved")])[0]["n"],
        0
    );
    write(&server.client("kept"), "/a", "kept");
}

#[test]
fn a_report_is_written_when_its_figures_have_changed() {
    let server = server("objects-reports", &[]);
    let client = server.client("ws");
    write(&client, "/a", "text");
    let reported = || in_d1(&server, "SELECT report, reported_at FROM directory")[0].clone();
    // The runs count the call, and the planner's statistics may follow.
    for _ in 0..3 {
        upkeep(&server);
    }
    let first = reported();
    upkeep(&server);
    assert_eq!(reported(), first, "nothing has changed");
    client.agent(json!({"name": "Clerk"}));
    upkeep(&server);
    let second = reported();
    assert_ne!(second["report"], first["report"]);
    assert!(second["reported_at"].as_str() > first["reported_at"].as_str());
}

#[test]
fn an_object_that_is_refused_gets_no_tables() {
    let server = server("objects-refused", &[]);
    in_d1(
        &server,
        "INSERT INTO sessions (workspace_id, id, tree_id, created_at, updated_at)
         VALUES ('old', 's', 't', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z')",
    );
    server.client("old").get("/api/agents").refused(503, "UNAVAILABLE");
    // The upkeep of such an object has nothing to do, and enters nothing into the directory.
    let ends = upkeep(&server);
    assert!(ends.iter().all(|it| it["hasWorked"] == false), "{ends:?}");
    assert_eq!(in_d1(&server, "SELECT workspace_id FROM directory"), Vec::<Value>::new());
}

/// The alarms of objects go on after `STORAGE` was changed back.
#[test]
fn the_upkeep_of_an_object_leads_no_request_to_d1() {
    let module = ModuleServer::start(json!([]));
    let vars = [("PRIVATE_URLS", "allow")];
    let server = server("objects-back", &vars);
    let client = server.client("moved");
    client.post("/api/modules", json!({"name": "research", "url": module.url()})).created();
    server
        .sql("UPDATE upstreams SET expires_at = '2026-01-01T00:00:00.000Z' WHERE workspace_id = ?1", &[json!("moved")]);
    let server =
        server.start_again("objects-back", &[vars.as_slice(), &[("AUTH", "open"), ("STORAGE", "d1")]].concat());
    let asked = module.times_asked();
    let answer = server.ask(json!({"scheduled": "*/5 * * * *", "objects": true}));
    assert_eq!(answer["ends"][0]["hasFailed"], json!(false), "{answer}");
    assert_eq!(module.times_asked(), asked + 1, "the upkeep of the object asks the module");
    let client = server.client("moved");
    for refused in [client.get("/api/modules"), client.post("/api/agents", json!({"name": "Clerk"}))] {
        let refused = refused.refused(503, "UNAVAILABLE");
        assert!(refused.message.contains("STORAGE"), "{}", refused.message);
    }
}

#[test]
fn an_answer_that_is_too_long_is_told_and_undoes_its_batch() {
    let server = server("objects-long-answer", &[]);
    let client = server.client("ws");
    write(&client, "/a", "kept");
    let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)";
    // 40 MB: the columns of a list that no SQL shortens.
    let long = "printf('%.*c', 100000, 'x') || printf('%.*c', 100000, 'x')";
    let sql = format!(
        "INSERT INTO tool_calls (workspace_id, id, tool_name, operator, status, started_at, user_id)
         {numbers} SELECT ?1, printf('call_%04d', i), 'tool', 'tests', 'success', '2026-11-01T00:00:00.000Z', {long} FROM n"
    );
    server.sql(&sql, &[json!("ws")]);
    assert_eq!(client.get("/api/tool-calls?limit=100").ok()["tool_calls"].as_array().unwrap().len(), 100);
    let refused = client.get("/api/tool-calls?limit=200").refused(413, "PAYLOAD_TOO_LARGE");
    assert!(refused.message.contains("ask for less"), "{}", refused.message);
    // The tests' own way to the objects does not pass on the words of an error.
    let sql = format!(
        "INSERT INTO stale_trees (workspace_id, tree_id) {numbers} SELECT ?1, 'tree' || i FROM n RETURNING {long} AS text"
    );
    assert!(server.ask(json!({"sql": sql, "params": ["ws"]}))["error"].is_string());
    let left = server.sql("SELECT count(*) AS n FROM stale_trees WHERE ?1 <> ''", &[json!("ws")]);
    assert_eq!(left, [json!({"n": 0})], "the batch was undone");
    assert_eq!(client.get("/api/sessions/default/files/a").text, "kept");
}

#[test]
fn a_thousand_workspaces_with_ten_writers_each_do_not_mix() {
    let server = server("objects-many", &[]);
    let run = unique("many");
    std::thread::scope(|threads| {
        for thread in 0..THREADS {
            let (server, run) = (&server, &run);
            threads.spawn(move || {
                for job in (thread..WORKSPACES * WRITERS).step_by(THREADS) {
                    // Neighbouring jobs are of the same workspace, so that its writers meet.
                    let (workspace, writer) = (job / WRITERS, job % WRITERS);
                    let client = server.client(&format!("{run}_{workspace}"));
                    write(&client, &format!("/{writer}"), &content(client.workspace(), writer));
                }
            });
        }
    });
    for workspace in 0..WORKSPACES {
        let client = server.client(&format!("{run}_{workspace}"));
        let files = client.get("/api/sessions/default/files").ok();
        // A listing has the hash of each content, so that one request compares all of them.
        let found = files["entries"].as_array().unwrap().iter().map(|it| (it["name"].clone(), it["sha256"].clone()));
        let expected = (0..WRITERS).map(|writer| {
            let sha256 = Sha256::digest(content(client.workspace(), writer));
            (json!(writer.to_string()), json!(sha256.iter().map(|it| format!("{it:02x}")).collect::<String>()))
        });
        assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>(), "{workspace}");
        if workspace % 100 == 0 {
            assert_eq!(client.get("/api/sessions/default/files/7").text, content(client.workspace(), 7));
        }
    }
}

/// What a writer of a workspace writes. No other one writes the same.
fn content(workspace: &str, writer: usize) -> String {
    format!("{workspace} {writer}")
}
