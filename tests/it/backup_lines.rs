//! Backups of any size: JSON Lines, sent and read in pieces.

use crate::backup::{Form, backup, furnish};
use crate::harness::{Answer, Client, Server, Upstream, closed, closed_workspace, open, workspace};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

fn lines(client: &Client) -> Vec<Value> {
    Form::Lines.take(client).lines().map(|it| serde_json::from_str(it).unwrap()).collect()
}

fn text_of(lines: &[Value]) -> String {
    lines.iter().map(|it| format!("{it}\n")).collect()
}

fn kind(line: &Value) -> &str {
    line.as_object().unwrap().keys().next().unwrap()
}

/// How many rows restores have left in the workspace.
fn left_behind(client: &Client) -> Value {
    let count = "SELECT count(*) AS n FROM restore_chunks WHERE workspace_id = ?1";
    open().sql(count, &[json!(client.workspace())])[0]["n"].clone()
}

#[test]
fn every_line_is_a_record_and_the_last_one_counts_them() {
    let client = workspace();
    let agent = furnish(&client);
    let (lines, whole) = (lines(&client), backup(&client));
    let kinds = lines.iter().map(kind).collect::<Vec<_>>();
    let expected = [
        "credential",
        "agent",
        "attachment",
        "tool",
        "version",
        "version",
        "attachment",
        "tool",
        "version",
        "workspace",
        "end",
    ];
    assert_eq!(kinds, expected);
    assert_eq!(lines[2]["attachment"]["tool_id"], "read_file");
    assert_eq!(
        lines[6]["attachment"],
        whole["attachments"].as_array().unwrap().iter().find(|it| it["tool_id"] == "x").unwrap().clone()
    );
    assert_eq!(lines[1]["agent"]["id"], agent.as_str());
    assert_eq!(
        [&lines[4]["version"], &lines[5]["version"], &lines[8]["version"]],
        [0, 1, 2].map(|it| &whole["versions"][it])
    );
    assert_eq!(lines[9]["workspace"], json!({"default_guest_modules": []}));
    let counts = json!({"credentials": 1, "agents": 1, "tools": 2, "versions": 3, "attachments": 2, "workspace": 1,
        "modules": 0, "mcp_servers": 0, "toolsets": 0, "contents": 0, "overrides": 0});
    assert_eq!(lines[10]["end"], counts);
    let answer = client.with_header("Accept", Form::LINES).get("/api/registry/backup");
    assert_eq!(answer.header("content-type"), Some(Form::LINES));

    let empty = Form::Lines.take(&workspace());
    let counts = json!({"credentials": 0, "agents": 0, "tools": 0, "versions": 0, "attachments": 0, "workspace": 1,
        "modules": 0, "mcp_servers": 0, "toolsets": 0, "contents": 0, "overrides": 0});
    let settings = json!({"workspace": {"default_guest_modules": []}});
    assert_eq!(self::lines(&workspace()), [settings, json!({"end": counts})]);
    Form::Lines.restore(&client, &empty).ok();
    assert_eq!(Form::Lines.take(&client), empty);
    assert_eq!(left_behind(&client), 0);
}

#[test]
fn a_backup_that_was_sent_in_the_other_form_says_so() {
    let client = workspace();
    furnish(&client);
    let (lines, document) = (Form::Lines.take(&client), Form::Document.take(&client));
    let told = |answer: Answer| answer.refused(400, "VALIDATION_ERROR").message;
    let message = told(Form::Document.restore(&client, &lines));
    assert!(message.starts_with("Content-Type: must be application/x-ndjson"), "{message}");
    let message = told(Form::Lines.restore(&client, &document));
    assert!(message.starts_with("/1: is the beginning of a backup as one document"), "{message}");
    // curl -d takes the line breaks away.
    let message = told(Form::Lines.restore(&client, &lines.replace('\n', "")));
    assert!(message.starts_with("/1: holds more than one record") && message.contains("--data-binary"), "{message}");
}

#[test]
fn lists_keep_the_order_of_creation() {
    let client = workspace();
    for id in ["zebra", "ape", "mole"] {
        client.register(id, "1.0.0", json!({}));
        std::thread::sleep(Duration::from_millis(5));
    }
    let other = workspace();
    Form::Lines.restore(&other, &Form::Lines.take(&client)).ok();
    let ids = |client: &Client| {
        let tools = client.pages("/api/tools?source=registered", "tools", 50);
        tools.iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&other), ["zebra", "ape", "mole"]);
    assert_eq!(ids(&other), ids(&client));
}

/// Restores good lines after `change`, and checks that the restore is refused and changes nothing.
#[track_caller]
fn refused(change: impl Fn(&mut Vec<Value>), expected: &str) {
    let client = workspace();
    furnish(&client);
    let mut wanted = lines(&client);
    client.agent(json!({"name": "Came later"}));
    let (before, log) = (backup(&client), client.changes());
    change(&mut wanted);
    let refused = Form::Lines.restore(&client, &text_of(&wanted)).refused(400, "VALIDATION_ERROR");
    assert!(refused.message.contains(expected), "{}", refused.message);
    assert_eq!((backup(&client), client.changes()), (before, log));
    assert_eq!(left_behind(&client), 0);
}

/// Counts the lines again.
fn recount(lines: &mut [Value]) {
    let count = |name: &str| lines.iter().filter(|it| kind(it) == name).count();
    let counts = json!({"credentials": count("credential"), "agents": count("agent"), "tools": count("tool"),
        "versions": count("version"), "attachments": count("attachment"), "workspace": 1, "modules": 0, "mcp_servers": 0});
    lines.last_mut().unwrap()["end"] = counts;
}

#[test]
fn lines_that_were_cut_off_change_nothing() {
    refused(|it| drop(it.pop()), "cut off");
    refused(|it| it.clear(), "cut off");
    refused(|it| it.truncate(3), "cut off");
    refused(|it| drop(it.remove(6)), "/10: does not count");
    refused(
        |it| it.push(json!({"tool": {"id": "z", "source": "registered", "created_at": "2026-11-16T01:00:00.000Z"}})),
        "/12: comes after the end",
    );
}

#[test]
fn lines_that_do_not_fit_together_change_nothing() {
    // The lines: 0 credential, 1 agent, 2 attachment of a built-in, 3 tool x, 4 and 5 its versions, 6 its attachment,
    // 7 tool y, 8 its version, 9 the settings, 10 end.
    for line in [0, 1, 2, 3, 4, 6] {
        let twice = |it: &mut Vec<Value>| {
            it.insert(line, it[line].clone());
            recount(it);
        };
        refused(twice, "twice");
    }
    for (one, two) in [(0, 1), (1, 2), (3, 4), (4, 5), (5, 6), (2, 3), (8, 9)] {
        let swapped = |it: &mut Vec<Value>| it.swap(one, two);
        let places = [format!("/{}", one + 1), format!("/{}", two + 1)];
        let client = workspace();
        furnish(&client);
        let mut wanted = lines(&client);
        swapped(&mut wanted);
        let refused = Form::Lines.restore(&client, &text_of(&wanted)).refused(400, "VALIDATION_ERROR");
        assert!(refused.paths().iter().any(|it| places.iter().any(|place| it.starts_with(place))), "{refused:?}");
    }
    let without = |line: usize| {
        move |it: &mut Vec<Value>| {
            it.remove(line);
            recount(it);
        }
    };
    refused(without(3), "none of the backup's tools");
    refused(without(8), "has no version");
    refused(without(1), "none of the backup's agents");
    refused(|it| it[3]["tool"]["id"] = json!("read_file"), "built-in");
    refused(|it| it[3]["tool"]["source"] = json!("builtin"), "built-in");
    refused(|it| it[2]["attachment"]["tool_id"] = json!("x"), "/3/tool_id: is no built-in");
    refused(|it| it[6]["attachment"]["agent_id"] = json!("agent_nobody"), "/7/agent_id: is none");
    refused(|it| it[4]["version"]["version"] = json!("1.0"), "three numbers");
    refused(|it| it[4]["version"]["description"] = json!("short"), "/5/description");
    refused(|it| it[4]["version"]["parameters_schema"] = json!("{"), "/5/parameters_schema");
    let nested = (0..30).fold(json!({"type": "object"}), |schema, _| json!({"allOf": [schema]})).to_string();
    // The second refusal shows that a schema which broke a rule is not remembered as a good one.
    for _ in 0..2 {
        refused(|it| it[4]["version"]["parameters_schema"] = json!(nested), "/5/parameters_schema");
    }
    refused(|it| it[4]["version"]["surprise"] = json!(1), "surprise");
    refused(|it| it[4]["version"]["active"] = json!("yes"), "/5/active");
    refused(|it| it[1]["agent"]["name"] = json!(""), "/2/name");
    refused(|it| it[6]["attachment"]["config"] = json!({"x": "y".repeat(70_000)}), "/7/config");
    refused(|it| it[0]["credential"]["id"] = json!("a b"), "/1/id");
    refused(|it| it[5] = json!({"thing": {}}), "/6");
    refused(|it| it[5] = json!([]), "/6");
    let mut count = 0;
    let client = workspace();
    for bad in ["{", "{\"tool\": 1} x", "\u{0}"] {
        Form::Lines.restore(&client, bad).refused(400, "VALIDATION_ERROR");
        count += 1;
    }
    assert_eq!((count, left_behind(&client)), (3, json!(0)));
}

#[test]
fn lines_that_break_an_invariant_change_nothing() {
    let switch_on = |it: &mut Value| {
        it["active"] = json!(true);
        it["deactivated_at"] = json!(null);
        it["deactivated_reason"] = json!(null);
    };
    refused(|it| switch_on(&mut it[4]["version"]), "/5: one_active_version");
    refused(|it| it[5]["version"]["handler"] = json!({"type": "builtin", "key": "gone"}), "handler");
    refused(
        |it| {
            it[5]["version"]["credentials_required"] = json!(["GITHUB_TOKEN"]);
            it.remove(0);
            recount(it);
        },
        "credentials_defined",
    );
    refused(
        |it| {
            it[5]["version"]["deactivated_at"] = json!("2026-11-16T01:00:00.000Z");
            it[5]["version"]["deactivated_reason"] = json!("security");
        },
        "no_active_security_deactivation",
    );
}

/// A request whose body the test sends in pieces.
struct SlowRequest(TcpStream);

impl SlowRequest {
    fn start(server: &Server, head: &str) -> Self {
        let host = server.url().trim_start_matches("http://").trim_end_matches('/').to_owned();
        let mut stream = TcpStream::connect(&host).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        write!(stream, "{head}\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
        Self(stream)
    }

    /// A restore of lines.
    fn restore(server: &Server, client: &Client, more: &str) -> Self {
        let (workspace, kind) = (client.workspace(), Form::LINES);
        let head = format!(
            "POST /api/registry/restore HTTP/1.1\r\nX-Workspace-Id: {workspace}\r\nContent-Type: {kind}\r\n\
             Transfer-Encoding: chunked{more}"
        );
        Self::start(server, &head)
    }

    fn send(&mut self, piece: &str) {
        write!(self.0, "{:x}\r\n{piece}\r\n", piece.len()).unwrap();
        self.0.flush().unwrap();
        // The Worker shall read the piece before the test goes on.
        std::thread::sleep(Duration::from_millis(300));
    }

    fn end(mut self) -> String {
        write!(self.0, "0\r\n\r\n").unwrap();
        self.answer()
    }

    fn answer(mut self) -> String {
        let mut answer = Vec::new();
        // A response that breaks off may end with an error.
        let _ = self.0.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }
}

#[test]
fn a_change_during_the_upload_wins_and_an_approval_does_not_matter() {
    let client = workspace();
    furnish(&client);
    client.register("waits", "1.0.0", json!({"requires_approval": true}));
    let taken = Form::Lines.take(&client);
    client.register("later", "1.0.0", json!({}));
    let (one, two) = taken.split_at(taken.len() / 2);

    let mut upload = SlowRequest::restore(open(), &client, "");
    upload.send(one);
    client.agent(json!({"name": "Came in between"}));
    let before = (backup(&client), client.changes());
    upload.send(two);
    let answer = upload.end();
    assert!(answer.starts_with("HTTP/1.1 409") && answer.contains("CONFLICT"), "{answer}");
    assert_eq!((backup(&client), client.changes()), before);
    assert_eq!(left_behind(&client), 0);

    let mut upload = SlowRequest::restore(open(), &client, "");
    upload.send(one);
    let asked = client.execute("waits", json!({"text": "a"})).result(202);
    assert!(asked["error"]["details"]["approval_id"].is_string());
    upload.send(two);
    let answer = upload.end();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(Form::Lines.take(&client), taken);
    let log = client.changes();
    assert!(log.iter().enumerate().all(|(index, it)| it["seq"] == index + 1), "the log has no gaps");
    assert!(answer.contains(&format!("\"seq\":{}", log.len())), "{answer}");
}

#[test]
fn the_caller_is_known_before_the_body_is_read() {
    let client = closed_workspace();
    let agent = client.agent(json!({}));
    for body in [json!({"name": "a", "level": "admin"}), json!({"name": "o", "level": "owner", "agent_id": agent})] {
        let caller = client.token(body);
        caller.with_header("Accept", Form::LINES).get("/api/registry/backup").refused(403, "PERMISSION_DENIED");
        Form::Lines.restore(&caller, "").refused(403, "PERMISSION_DENIED");
    }
    let token = client.post("/api/tokens", json!({"name": "a", "level": "admin"})).created();
    let admin = format!("\r\nAuthorization: Bearer {}", token["token"].as_str().unwrap());
    let stranger = "\r\nAuthorization: Bearer peg_tok_0000_0000".to_owned();
    for (more, status) in [(&stranger, "401"), (&admin, "403")] {
        // No byte of the body is ever sent.
        let answer = SlowRequest::restore(closed(), &client, more).answer();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{answer}");
    }
    // A document of a caller without a good token is not waited for either. With a good token of too low a level, the
    // document is thrown away as it comes (`who_may_not_back_up_makes_the_worker_read_nothing`).
    let head = format!(
        "POST /api/registry/restore HTTP/1.1\r\nX-Workspace-Id: {}\r\nContent-Length: 3000000{stranger}",
        client.workspace()
    );
    let answer = SlowRequest::start(closed(), &head).answer();
    assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
}

#[test]
fn lines_hold_header_values_sealed_and_restore_only_under_the_same_key() {
    let upstream = Upstream::start();
    let handler = json!({"type": "http", "url": upstream.at("/echo"), "headers": {"X-Key": "s3cret"}});
    let client = workspace();
    client.register("x", "1.0.0", json!({"handler": handler, "parameters_schema": {"type": "object"}}));
    let sealed = lines(&client);
    // The lines: 0 tool, 1 its version, 2 the settings, 3 end.
    assert!(sealed[1]["version"]["handler"]["headers"]["X-Key"]["sealed"].is_string(), "{sealed:?}");
    assert!(!text_of(&sealed).contains("s3cret"), "{sealed:?}");

    let other = workspace();
    Form::Lines.restore(&other, &text_of(&sealed)).ok();
    assert_eq!(lines(&other), sealed);
    other.execute("x", json!({})).success();
    let sent =
        |value: &str| upstream.received().last().unwrap().headers.contains(&("x-key".to_owned(), value.to_owned()));
    assert!(sent("s3cret"));

    let vars = [("AUTH", "open"), ("SECRET_KEY", "another"), ("PRIVATE_URLS", "allow")];
    let server = Server::start("another-key-lines", &vars);
    let elsewhere = server.client("ws");
    let refused = Form::Lines.restore(&elsewhere, &text_of(&sealed)).refused(400, "VALIDATION_ERROR");
    assert_eq!(refused.paths(), ["/2/handler/headers/X-Key"]);
    let mut given = sealed.clone();
    given[1]["version"]["handler"]["headers"]["X-Key"] = json!("again");
    Form::Lines.restore(&elsewhere, &text_of(&given)).ok();
    elsewhere.execute("x", json!({})).success();
    assert!(sent("again") && !text_of(&lines(&elsewhere)).contains("again"));

    // A value is sealed for one URL.
    let mut moved = sealed;
    moved[1]["version"]["handler"]["url"] = json!("https://thief.example");
    Form::Lines.restore(&client, &text_of(&moved)).refused(400, "VALIDATION_ERROR");
}

const MANY: usize = 50_000;

/// Writes [`MANY`] tools straight into the database, each with one version.
fn seed(server: &Server, client: &Client) {
    for from in (0..MANY).step_by(10_000) {
        let answer = server.ask(json!({"batch": [
            {
                "sql": "INSERT INTO tools (workspace_id, id, source, created_at)
                        WITH RECURSIVE n(i) AS (SELECT ?2 + 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?2 + 9999)
                        SELECT ?1, 'tool-' || cast(i AS INTEGER), 'registered',
                          strftime('%Y-%m-%dT%H:%M:%fZ', '2026-11-01', cast(i AS INTEGER) || ' seconds') FROM n",
                "params": [client.workspace(), from],
            },
            {
                "sql": "INSERT INTO tool_versions (workspace_id, tool_key, major, minor, patch, name, description,
                          parameters_schema, handler_key, handler, registered_at, registered_by, active)
                        SELECT ?1, key, 1, 0, 0, 'Tool ' || id, 'A tool that does the thing number ' || key,
                          '{\"type\":\"object\"}', 'read_file', '{\"type\":\"builtin\",\"key\":\"read_file\"}',
                          created_at, 'tests', 1
                        FROM tools WHERE workspace_id = ?1 AND current_version_key IS NULL",
                "params": [client.workspace()],
            },
        ]}));
        assert!(answer["error"].is_null(), "{answer}");
    }
}

/// The test has a server of its own, because it keeps the database busy.
#[test]
fn fifty_thousand_tools_make_the_round_trip() {
    let server = Server::start("backup-lines", &[("AUTH", "open"), ("COST_HEADER", "on")]);
    let (client, other) = (server.client("one"), server.client("other"));
    seed(&server, &client);
    let agent = client.agent(json!({"name": "Clerk"}));
    client.post(&format!("/api/agents/{agent}/tools"), json!({"tool_id": "tool-77"})).created();

    // One document is too small for them, in both directions.
    let refused = client.get("/api/registry/backup").refused(413, "PAYLOAD_TOO_LARGE");
    assert!(refused.message.contains("Accept: application/x-ndjson"), "{}", refused.message);
    assert_eq!(refused.details["limit_bytes"], 16 * 1024 * 1024);
    let nothing = json!({"tools": [], "versions": [], "agents": [], "attachments": [], "credentials": []});
    client.post("/api/registry/restore", nothing).refused(413, "PAYLOAD_TOO_LARGE");

    let taken = Form::Lines.take(&client);
    assert_eq!(taken.lines().count(), 2 * MANY + 4);
    assert!(taken.len() > 16 * 1024 * 1024);
    // A restore of the first ones changes nothing, because the end is missing.
    let first = taken.lines().take(15_000).map(|it| format!("{it}\n")).collect::<String>();
    Form::Lines.restore(&other, &first).refused(400, "VALIDATION_ERROR");
    assert_eq!(other.get("/api/registry/changes").ok()["changes"], json!([]));
    let left = || server.sql("SELECT count(*) AS n FROM restore_chunks", &[])[0]["n"].clone();
    assert_eq!(left(), 0);

    let restored = Form::Lines.restore(&other, &taken);
    assert_eq!(restored.ok(), json!({"changes": MANY + 2, "seq": MANY + 2}));
    assert_eq!(left(), 0);
    assert!(Form::Lines.take(&other) == taken, "the backups differ");
    let page = |client: &Client| client.get("/api/tools?source=registered&limit=200").text;
    assert!(page(&other) == page(&client), "the lists differ");

    // Equal things are left alone; the one that differs is found.
    other.post("/api/tools/tool-5/deactivate", json!({"reason": "deprecated"})).ok();
    assert_eq!(Form::Lines.restore(&other, &taken).ok()["changes"], 1);
    assert!(Form::Lines.take(&other) == taken, "the backups differ");

    // A backup during which the registry changes has no end.
    let head = format!("GET /api/registry/backup HTTP/1.1\r\nX-Workspace-Id: one\r\nAccept: {}", Form::LINES);
    let mut slow = SlowRequest::start(&server, &head);
    slow.0.read_exact(&mut [0; 1024]).unwrap();
    client.register("zz-later", "1.0.0", json!({}));
    let rest = slow.answer();
    assert!(!rest.contains(r#"{"end""#), "the backup ends with {}", &rest[rest.len() - 200..]);
}
