//! Old calls in the bucket `ARCHIVE`: what the files hold, what is deleted, faults between the two, and who is told of them.

use crate::harness::{Client, Server, Tool, Upstream, call_id};
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn server(name: &str, more: &[(&str, &str)]) -> Server {
    let vars = [
        ("AUTH", "open"),
        ("PRIVATE_URLS", "allow"),
        ("SECRET_KEY", "a secret of the tests"),
        ("CALL_RETENTION_DAYS", "1"),
    ];
    Server::start_with_archive(name, &[vars.as_slice(), more].concat())
}

/// Records calls by SQL, one in each second from the beginning of a day on. Their ids end with `name` and a number.
fn old_calls(server: &Server, client: &Client, count: u32, days_ago: u32, name: &str) {
    let numbers = format!("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})");
    server.sql(
        &format!(
            "INSERT INTO tool_calls (workspace_id, id, tool_name, operator, status, started_at, finished_at, arguments, result)
             {numbers} SELECT ?1, {}, 'tool', 'tests', CASE i % 10 WHEN 0 THEN 'error' WHEN 1 THEN 'denied' ELSE 'success' END,
               time, time, json_object('number', i), iif(i % 100 = 0, json_quote(printf('%.*c', 9000, 'x')), '1')
             FROM (SELECT i, strftime('%Y-%m-%dT%H:%M:%fZ', date('now', '-{days_ago} days'), '+' || i || ' seconds') AS time
               FROM n)",
            call_id("time", &format!("'{name}' || i"))
        ),
        &[json!(client.workspace())],
    );
}

/// A call that is too young, and the last one, which stays anyway.
fn young_call(client: &Client) -> String {
    client.execute("list_files", json!({})).result(200)["call_id"].as_str().unwrap().to_owned()
}

fn upkeep(server: &Server) -> Value {
    server.ask(json!({"scheduled": "*/5 * * * *"}))["outcome"].clone()
}

/// The keys and sizes of all files in the bucket.
fn files(server: &Server) -> Vec<(String, u64)> {
    let answer = server.ask(json!({"bucket": "ARCHIVE"}));
    let objects = answer["objects"].as_array().unwrap_or_else(|| panic!("{answer}"));
    objects.iter().map(|it| (it["key"].as_str().unwrap().to_owned(), it["size"].as_u64().unwrap())).collect()
}

/// The lines of a file, unpacked by another program than the Worker.
fn lines(server: &Server, key: &str) -> Vec<Value> {
    let answer = server.ask(json!({"bucket": "ARCHIVE", "key": key}));
    let text = answer["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
    assert!(text.ends_with('\n'));
    text.lines().map(|it| serde_json::from_str(it).unwrap()).collect()
}

fn archived(client: &Client, query: &str) -> Vec<Value> {
    client.get(&format!("/api/tool-calls{query}")).ok()["archived"].as_array().unwrap().clone()
}

fn ids(server: &Server, workspace: &str) -> BTreeSet<String> {
    let rows = server.sql("SELECT id FROM tool_calls WHERE workspace_id = ?1", &[json!(workspace)]);
    rows.iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect()
}

fn executions(client: &Client) -> (Value, Value) {
    let stats = client.get("/api/registry/stats").ok();
    (stats["total_executions"].clone(), stats["usage"]["calls_bytes"].clone())
}

#[test]
fn old_calls_are_in_files_whole_and_every_one_of_them_once() {
    let (server, upstream) = (server("archive-files", &[]), Upstream::start());
    let [one, two] = ["one", "two"].map(|name| server.client(name));
    Tool::new("echo").http(&upstream.at("/echo")).put(&server, &one);
    let large = one.execute("echo", json!({ "text": "ä".repeat(300_000) })).result(200);
    server.sql(
        "UPDATE tool_calls SET started_at = strftime('%Y-%m-%dT00:00:00.000Z', 'now', '-4 days'),
           finished_at = strftime('%Y-%m-%dT00:00:01.000Z', 'now', '-4 days')",
        &[],
    );
    let mut expected = one.record(&large);
    for document in ["arguments", "result"] {
        assert_eq!(expected[document]["truncated"], true, "it is too large for its row");
        let path = format!("/api/tool-calls/{}/{document}", large["call_id"].as_str().unwrap());
        expected[document] = one.get(&path).ok();
    }
    old_calls(&server, &one, 1_500, 3, "a");
    old_calls(&server, &one, 20, 2, "b");
    old_calls(&server, &two, 30, 3, "c");
    let sample = ids(&server, "one").into_iter().find(|it| it.ends_with("a100")).unwrap();
    let sample = one.get(&format!("/api/tool-calls/{sample}")).ok();
    let before = [ids(&server, "one"), ids(&server, "two")];
    let young = [young_call(&one), young_call(&two)];
    let executed = [executions(&one).0, executions(&two).0];

    assert_eq!(upkeep(&server), "ok");
    let stored = files(&server);
    assert_eq!(stored.len(), 5, "{stored:?}");
    for ((client, before), young) in [&one, &two].into_iter().zip(&before).zip(&young) {
        let workspace = client.workspace();
        assert_eq!(ids(&server, workspace), BTreeSet::from([young.clone()]), "the others are deleted");
        let listed = archived(client, "?since=2020-01-01");
        let mut found = Vec::new();
        for file in &listed {
            let (key, day) = (file["key"].as_str().unwrap(), file["day"].as_str().unwrap());
            let lines = lines(&server, key);
            let times = lines.iter().map(|it| it["started_at"].as_str().unwrap()).collect::<Vec<_>>();
            assert!(
                times.iter().all(|it| it.starts_with(day)) && key.starts_with(&format!("{workspace}/{day}/")),
                "{key}"
            );
            assert_eq!(
                (file["first_at"].as_str(), file["last_at"].as_str()),
                (times.first().copied(), times.last().copied())
            );
            assert_eq!(file["calls"], lines.len());
            assert!(stored.contains(&(key.to_owned(), file["bytes"].as_u64().unwrap())), "{file} {stored:?}");
            found.extend(lines);
        }
        let names = found.iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
        assert_eq!(names.len(), before.len(), "every call is there once");
        assert_eq!(&names.into_iter().collect::<BTreeSet<_>>(), before);
        if workspace == "one" {
            assert_eq!(found.iter().find(|it| it["id"] == expected["id"]), Some(&expected));
            assert_eq!(found.iter().find(|it| it["id"] == sample["id"]), Some(&sample));
            assert_eq!(listed.len(), 4);
            let keys = listed.iter().map(|it| it["key"].as_str().unwrap()).collect::<Vec<_>>();
            assert!(keys.is_sorted_by(|one, other| one > other), "the newest come first: {keys:?}");
        }
    }
    assert_eq!(executed, [executions(&one).0, executions(&two).0], "the figures stay");
    assert_eq!(upkeep(&server), "ok");
    assert_eq!(files(&server), stored, "nothing is archived twice");
    let blobs = server.sql("SELECT count(*) AS n FROM blobs WHERE workspace_id = ?1", &[json!("one")]);
    assert_eq!(blobs, [json!({"n": 0})], "the contents are freed");
    let bytes = server.sql("SELECT sum(bytes) AS n FROM tool_calls WHERE workspace_id = ?1", &[json!("one")]);
    assert_eq!(executions(&one).1, bytes[0]["n"]);
}

#[test]
fn a_list_says_where_older_calls_lie_to_those_who_see_all_agents() {
    let server = server("archive-list", &[]);
    let client = server.client("ws");
    let agent = client.agent(json!({"name": "Clerk"}));
    let user = client.token(json!({"name": "User", "level": "user"}));
    let bound = client.token(json!({"name": "Bound", "level": "user", "agent_id": agent}));
    for (days_ago, name) in [(4, "a"), (3, "b")] {
        old_calls(&server, &client, 10, days_ago, name);
    }
    young_call(&client);
    assert_eq!(archived(&client, "?since=2020-01-01"), Vec::<Value>::new());
    assert_eq!(upkeep(&server), "ok");
    let all = archived(&user, "?since=2020-01-01");
    let [newer, older] = &all[..] else { panic!("{all:?}") };
    let at = |file: &Value, field: &str| file[field].as_str().unwrap().to_owned();
    for (query, expected) in [
        (String::new(), vec![]),
        (format!("?since={}", at(older, "first_at")), vec![newer, older]),
        (format!("?since={}&tool_name=other", at(older, "last_at")), vec![newer, older]),
        (format!("?since={}", at(newer, "day")), vec![newer]),
        (format!("?since=2020-01-01&until={}", at(newer, "day")), vec![older]),
        (format!("?since=2020-01-01&until={}", at(older, "first_at")), vec![]),
        ("?since=2999-01-01".into(), vec![]),
    ] {
        assert_eq!(archived(&user, &query).iter().collect::<Vec<_>>(), expected, "{query}");
    }
    assert_eq!(archived(&bound, "?since=2020-01-01"), Vec::<Value>::new(), "a file has the calls of all agents");
    assert_eq!(archived(&server.client("other"), "?since=2020-01-01"), Vec::<Value>::new());
}

#[test]
fn after_a_crash_the_same_files_are_made_again() {
    // The bucket has the file, and the batch that deletes the calls does not run; at the next attempt nobody hears that it ran.
    let faults = json!([
        {"has": ["INTO archives"], "times": 1, "ran": false, "message": "the runtime died"},
        {"has": ["INTO archives"], "times": 1, "ran": true, "message": "D1_ERROR: Network connection lost."},
    ]);
    let server = server("archive-crash", &[("D1_FAULTS", &faults.to_string())]);
    let client = server.client("ws");
    old_calls(&server, &client, 50, 3, "a");
    let before = ids(&server, "ws");
    young_call(&client);
    assert_ne!(upkeep(&server), "ok", "the failure is told");
    let stored = files(&server);
    assert_eq!(stored.len(), 1);
    assert!(ids(&server, "ws").is_superset(&before), "nothing is deleted");
    assert_eq!(archived(&client, "?since=2020-01-01"), Vec::<Value>::new());
    assert_eq!(upkeep(&server), "ok");
    assert_eq!(files(&server), stored, "the same file");
    assert_eq!(ids(&server, "ws").len(), 1);
    let listed = archived(&client, "?since=2020-01-01");
    assert_eq!((listed.len(), &listed[0]["calls"]), (1, &json!(50)));
    let found =
        lines(&server, &stored[0].0).iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(found, before);
    let bytes = server.sql("SELECT sum(bytes) AS n FROM tool_calls WHERE workspace_id = ?1", &[json!("ws")]);
    assert_eq!(executions(&client).1, bytes[0]["n"], "the bytes are taken off the count once");
}

#[test]
fn a_file_that_the_bucket_refuses_deletes_nothing_and_holds_up_nothing_else() {
    let server = server("archive-refused", &[]);
    let [refused, other] = ["a-refused", "other"].map(|name| server.client(name));
    // A key of a bucket has at most 1,024 bytes.
    old_calls(&server, &refused, 5, 3, &"x".repeat(600));
    old_calls(&server, &other, 5, 3, "a");
    server.sql(
        "INSERT INTO restore_chunks (workspace_id, id, created_at, data)
         VALUES (?1, '1/00/000000', '2026-01-01T00:00:00.000Z', '[]')",
        &[json!("a-refused")],
    );
    let before = ids(&server, "a-refused");
    for client in [&refused, &other] {
        young_call(client);
    }
    assert_ne!(upkeep(&server), "ok", "the failure is told");
    assert!(ids(&server, "a-refused").is_superset(&before));
    assert_eq!(archived(&refused, "?since=2020-01-01"), Vec::<Value>::new());
    assert_eq!(
        (ids(&server, "other").len(), archived(&other, "?since=2020-01-01").len(), files(&server).len()),
        (1, 1, 1)
    );
    let chunks = server.sql("SELECT count(*) AS n FROM restore_chunks WHERE workspace_id = ?1", &[json!("a-refused")]);
    assert_eq!(chunks, [json!({"n": 0})], "the other steps have run");
    server.sql("UPDATE tool_calls SET id = replace(id, 'xx', '') WHERE workspace_id = ?1", &[json!("a-refused")]);
    assert_eq!(upkeep(&server), "ok");
    assert_eq!((ids(&server, "a-refused").len(), files(&server).len()), (1, 2));
}

#[test]
fn without_the_bucket_old_calls_are_deleted() {
    let vars = [("AUTH", "open"), ("CALL_RETENTION_DAYS", "1")];
    let server = Server::start("archive-none", &vars);
    let client = server.client("ws");
    old_calls(&server, &client, 10, 3, "a");
    young_call(&client);
    assert_eq!(upkeep(&server), "ok");
    assert_eq!((ids(&server, "ws").len(), archived(&client, "?since=2020-01-01")), (1, vec![]));
}
