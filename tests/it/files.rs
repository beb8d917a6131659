//! `/api/sessions/{session_id}/files`.

use crate::harness::{Answer, Client, Server, closed_workspace, open, race, unique, workspace};
use serde_json::{Value, json};

const MIB: usize = 1024 * 1024;

/// The files of one session.
pub struct Files {
    pub client: Client,
    pub session: String,
}

impl Files {
    pub fn new() -> Self {
        Self { client: workspace(), session: unique("session") }
    }

    /// A session in a new workspace on that server.
    pub fn on(server: &Server) -> Self {
        Self { client: server.client(&unique("ws")), session: unique("session") }
    }

    /// The session's URL with `rest` after it.
    pub fn url(&self, rest: &str) -> String {
        format!("/api/sessions/{}{rest}", self.session)
    }

    pub fn put(&self, path: &str, bytes: impl Into<Vec<u8>>) -> Answer {
        self.client.put(&self.url(&format!("/files/{path}")), bytes)
    }

    pub fn get(&self, path: &str) -> Answer {
        self.client.get(&self.url(&format!("/files/{path}")))
    }

    pub fn delete(&self, path: &str) -> Answer {
        self.client.delete(&self.url(&format!("/files/{path}")))
    }

    /// The names in a directory, with a `/` after the names of directories.
    fn names(&self, path: &str, limit: usize) -> Vec<String> {
        let slash = if path.is_empty() { "" } else { "/" };
        let entries = self.client.pages(&self.url(&format!("/files{slash}{path}")), "entries", limit);
        entries
            .iter()
            .map(|it| {
                let slash = if it["type"] == "directory" { "/" } else { "" };
                format!("{}{slash}", it["name"].as_str().unwrap())
            })
            .collect()
    }
}

/// The number of rows of a table in the workspace.
pub fn count(server: &Server, client: &Client, table: &str) -> u64 {
    let rows =
        server.sql(&format!("SELECT count(*) AS n FROM {table} WHERE workspace_id = ?1"), &[json!(client.workspace())]);
    rows[0]["n"].as_u64().unwrap()
}

pub fn id(answer: &Value, name: &str) -> String {
    answer[name].as_str().unwrap_or_else(|| panic!("{answer} has no {name}")).to_owned()
}

#[test]
fn a_file_is_written_read_and_replaced() {
    let files = Files::new();
    let made = files.put("data/config.json", "{}").created();
    insta::assert_json_snapshot!(made, {
        ".manifest_id" => insta::dynamic_redaction(|value, _| {
            let id = value.as_str().unwrap();
            assert!(id.len() == 36 && id.starts_with("man_"), "{id}");
            "[id]"
        }),
    }, @r#"
    {
      "path": "/data/config.json",
      "sha256": "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
      "size": 2,
      "manifest_id": "[id]",
      "parent_manifest_id": null
    }
    "#);

    let read = files.get("data/config.json");
    assert_eq!((read.status, read.text.as_str()), (200, "{}"));
    for (name, value) in [
        ("content-type", "text/plain; charset=utf-8"),
        ("etag", &format!("\"{}\"", made["sha256"].as_str().unwrap())),
        ("x-manifest-id", made["manifest_id"].as_str().unwrap()),
        ("content-disposition", "attachment"),
        ("content-security-policy", "sandbox"),
        ("x-content-type-options", "nosniff"),
        ("cache-control", "no-store"),
    ] {
        assert_eq!(read.header(name), Some(value), "{name}");
    }

    let replaced = files.put("data/config.json", "[1]").ok();
    assert_eq!(replaced["parent_manifest_id"], made["manifest_id"]);
    assert_eq!(files.get("data/config.json").text, "[1]");
    let old = files.get(&format!("data/config.json?manifest_id={}", id(&made, "manifest_id")));
    assert_eq!((old.text.as_str(), old.header("x-manifest-id")), ("{}", made["manifest_id"].as_str()));

    let same = files.put("data/config.json", "[1]").ok();
    assert_ne!(same["manifest_id"], replaced["manifest_id"]);
    let session = files.client.get(&files.url("")).ok();
    assert_eq!((&session["files"], &session["bytes"]), (&json!(1), &json!(3)));
    assert_eq!(session["active_manifest_id"], same["manifest_id"]);
}

#[test]
fn whatever_is_written_comes_back() {
    let files = Files::new();
    let every_byte = (0..=255).collect::<Vec<u8>>();
    let cases: [(&[u8], &str); 10] = [
        (b"", "text/plain; charset=utf-8"),
        (b"plain", "text/plain; charset=utf-8"),
        ("\u{feff}bom \u{10ffff}\u{2028}\u{1}\r\n🤖".as_bytes(), "text/plain; charset=utf-8"),
        (b"\"\\\"\n\r\t\"", "text/plain; charset=utf-8"),
        (b"\x01\x02\x03", "application/octet-stream"),
        (b"a\0b", "application/octet-stream"),
        (b"\0", "application/octet-stream"),
        (b"\xff", "application/octet-stream"),
        (b"\xed\xa0\x80", "application/octet-stream"),
        (&every_byte, "application/octet-stream"),
    ];
    for (bytes, content_type) in cases {
        files.put("x", bytes);
        let read = files.get("x");
        assert_eq!((read.status, read.bytes.as_slice()), (200, bytes));
        assert_eq!(read.header("content-type"), Some(content_type));
        assert_eq!(files.client.get(&files.url("")).ok()["bytes"], bytes.len());
    }
}

#[test]
fn files_go_to_10_mib() {
    let files = Files::new();
    let text = "é".repeat(5 * MIB).into_bytes();
    let controls = vec![1; 10 * MIB];
    let binary = (0..10 * MIB).map(|it| (it * 7 + it / 256) as u8).collect::<Vec<_>>();
    for (name, bytes) in [("text", text), ("controls", controls), ("binary", binary)] {
        assert_eq!(bytes.len(), 10 * MIB);
        files.put(name, bytes.clone()).created();
        let read = files.get(name);
        assert!(read.status == 200 && read.bytes == bytes, "{name}");
    }
    let longest = open().sql(
        "SELECT max(length(CAST(data AS BLOB))) AS n FROM (
           SELECT workspace_id, data FROM blob_chunks UNION ALL SELECT workspace_id, data FROM blobs)
         WHERE workspace_id = ?1",
        &[json!(files.client.workspace())],
    );
    assert_eq!(longest[0]["n"], MIB);
    let refused = files.put("more", vec![b'x'; 10 * MIB + 1]).refused(413, "PAYLOAD_TOO_LARGE");
    assert_eq!(refused.details["limit_bytes"], 10 * MIB);
    files.get("more").refused(404, "NOT_FOUND");
}

#[test]
fn equal_contents_are_kept_once_in_a_workspace_and_never_shared_between_two() {
    let (here, there) = (Files::new(), Files::new());
    let other = Files { client: here.client.clone(), session: unique("session") };
    for files in [&here, &other, &there] {
        files.put("a", "equal").created();
        files.put("b", "equal").created();
    }
    assert_eq!(count(open(), &here.client, "blobs"), 1);
    assert_eq!(count(open(), &here.client, "blob_chunks"), 0, "the first chunk is part of the blob");
    assert_eq!(count(open(), &there.client, "blobs"), 1);
}

#[test]
fn every_way_to_write_a_path_is_one_file() {
    let files = Files::new();
    files.put("a//b/./c", "x").created();
    for path in ["a/b/c", "/a/b/c", "a/b/c/", "a%2Fb%2Fc", "%61/b/c", "a/x%2F..%2Fb/c", ".%2F/a/b/c"] {
        assert_eq!(files.get(path).text, "x", "{path}");
    }
    files.put("%C3%A4%20%F0%9F%A4%96/%2525+%3F%23", "y").created();
    assert_eq!(files.names("", 9), ["a/", "ä 🤖/"]);
    assert_eq!(files.names("%C3%A4%20%F0%9F%A4%96", 9), ["%25+?#"]);
}

#[test]
fn hostile_paths_are_refused() {
    let files = Files::new();
    files.put("kept", "x").created();
    let long = "x".repeat(1_024);
    for path in ["..%2Fx", "a%2F..%2F..%2Fx", "a%00b", "a%0Ab", "%7F", "%C2%85", &long, "%ff", "a/%ED%A0%80"] {
        for method in ["GET", "PUT", "DELETE"] {
            let body = (method == "PUT").then(|| b"x".to_vec());
            let refused = files.client.send(method, &files.url(&format!("/files/{path}")), body);
            let refused = refused.refused(400, "VALIDATION_ERROR");
            assert_eq!(refused.paths(), ["path"], "{method} {path}");
            assert_eq!(refused.details["problems"][0]["in"], "path");
        }
    }
    assert_eq!(files.delete("%2F").refused(400, "VALIDATION_ERROR").paths(), ["path"]);
    assert_eq!(files.put("%2F", "x").refused(400, "VALIDATION_ERROR").paths(), ["path"]);
    assert_eq!(files.names("", 9), ["kept"]);
}

#[test]
fn a_session_of_a_name_that_cannot_be_is_not_found_and_not_written_to() {
    let client = workspace();
    let long = "x".repeat(65);
    for session in ["a%20b", "%C3%A4", "a.b", &long] {
        let url = format!("/api/sessions/{session}/files/x");
        let refused = client.put(&url, "x").refused(400, "VALIDATION_ERROR");
        assert_eq!(refused.paths(), ["session_id"], "{session}");
        assert_eq!(refused.details["problems"][0]["in"], "path");
        client.get(&url).refused(404, "NOT_FOUND");
        client.delete(&url).refused(404, "NOT_FOUND");
    }
}

#[test]
fn a_file_is_not_written_where_a_directory_is_nor_below_a_file() {
    let files = Files::new();
    files.put("a/b", "x").created();
    let before = files.client.get(&files.url("")).ok();
    let refused = files.put("a", "y").refused(409, "CONFLICT");
    assert_eq!(refused.message, "Cannot write /a: it is a directory");
    let refused = files.put("a/b/c/d", "y").refused(409, "CONFLICT");
    assert_eq!(refused.message, "Cannot write /a/b/c/d: /a/b is a file, not a directory");
    assert_eq!(files.client.get(&files.url("")).ok(), before);
    assert_eq!(count(open(), &files.client, "blobs"), 1, "a refused write keeps nothing");

    files.delete("a/b").no_content();
    files.put("a", "y").created();
    files.delete("a").no_content();
    files.put("a/b/c", "z").created();
    assert_eq!(files.names("a", 9), ["b/"]);
}

#[test]
fn a_directory_lists_directories_first_then_by_name() {
    let files = Files::new();
    for path in
        ["v1/x", "v1.0/x", "v1-a/y/z", "v1-a/y/w", "v10", "v1%2B", "a", "z", "Z", "m/n", "m0", "m%20m/x", "ä", "m/o/p"]
    {
        files.put(path, path).created();
    }
    files.put("gone/x", "").created();
    files.delete("gone").no_content();
    let expected = ["m/", "m m/", "v1/", "v1-a/", "v1.0/", "Z", "a", "m0", "v1+", "v10", "z", "ä"];
    for limit in [1, 2, 3, 5, 6, 11, 12, 200] {
        assert_eq!(files.names("", limit), expected, "{limit}");
    }
    assert_eq!(files.names("v1-a", 1), ["y/"]);
    assert_eq!(files.names("v1-a/y", 1), ["w", "z"]);
    assert_eq!(files.names("m/", 1), ["o/", "n"]);

    let listed = files.get("m").ok();
    assert_eq!(listed["path"], "/m");
    assert_eq!(listed["manifest_id"], files.client.get(&files.url("")).ok()["active_manifest_id"]);
    assert_eq!(
        listed["entries"][0],
        json!({"name": "o", "path": "/m/o", "type": "directory", "size": null, "sha256": null})
    );
    assert_eq!(listed["entries"][1]["path"], "/m/n");
    assert_eq!(listed["entries"][1]["size"], 3);
    for cursor in ["78", "6e6f7768657265", "2f78"] {
        let refused = files.get(&format!("m?cursor={cursor}")).refused(400, "VALIDATION_ERROR");
        assert_eq!(refused.paths(), ["cursor"]);
    }
    assert_eq!(files.get("gone").refused(404, "NOT_FOUND").message, "File not found: /gone");
    assert_eq!(files.get("m/none").refused(404, "NOT_FOUND").message, "File not found: /m/none");
    files.get("a/below").refused(404, "NOT_FOUND");
}

#[test]
fn a_directory_is_deleted_in_one_manifest() {
    let files = Files::new();
    for path in ["d/a", "d/b/c", "d/b/d", "d0", "d-"] {
        files.put(path, path).created();
    }
    let before = id(&files.client.get(&files.url("")).ok(), "active_manifest_id");
    files.delete("d").no_content();
    assert_eq!(files.names("", 9), ["d-", "d0"]);
    let after = files.client.get(&files.url("")).ok();
    assert_eq!((&after["files"], &after["bytes"]), (&json!(2), &json!(4)));
    let newest = &files.client.get(&files.url("/manifests?limit=1")).ok()["manifests"][0];
    assert_eq!((&newest["source"], &newest["parent_id"]), (&json!("edit"), &json!(before)));
    assert_eq!(files.get(&format!("d/b/c?manifest_id={before}")).text, "d/b/c");

    files.delete("d").refused(404, "NOT_FOUND");
    files.delete("d/a").refused(404, "NOT_FOUND");
    assert_eq!(files.delete("never").refused(404, "NOT_FOUND").message, "File not found: /never");
    assert_eq!(files.client.get(&files.url("")).ok(), after);
}

#[test]
fn what_is_not_there_is_not_found() {
    let files = Files::new();
    let session = format!("Session not found: {}", files.session);
    for rest in ["", "/files", "/files/x", "/manifests", "/manifests/man_x", "/diff?from=man_x&to=man_y"] {
        assert_eq!(files.client.get(&files.url(rest)).refused(404, "NOT_FOUND").message, session, "{rest}");
    }
    assert_eq!(files.delete("x").refused(404, "NOT_FOUND").message, session);
    assert_eq!(count(open(), &files.client, "sessions"), 0, "no look makes a session");

    files.put("x", "x").created();
    for at in ["man_x", "a%20b"] {
        let refused = files.get(&format!("x?manifest_id={at}")).refused(404, "NOT_FOUND");
        assert!(refused.message.starts_with("Manifest not found: "), "{}", refused.message);
    }
    let other = Files { client: files.client.clone(), session: unique("session") };
    let foreign = other.put("x", "y").created();
    files.get(&format!("x?manifest_id={}", id(&foreign, "manifest_id"))).refused(404, "NOT_FOUND");
    let elsewhere = Files { client: workspace(), session: files.session.clone() };
    elsewhere.get("x").refused(404, "NOT_FOUND");
}

#[test]
fn a_session_holds_no_more_than_it_may() {
    let server = Server::start("small", &[("AUTH", "open"), ("SESSION_MAX_BYTES", "10")]);
    let files = Files { client: server.client(&unique("ws")), session: unique("session") };
    let refused = files.put("big", vec![b'x'; 11]).refused(413, "PAYLOAD_TOO_LARGE");
    assert_eq!(refused.message, "Cannot write /big: the session's files would have 11 bytes; 10 are allowed");
    assert_eq!(refused.details["limit_bytes"], 10);
    assert_eq!(count(&server, &files.client, "sessions"), 0);

    files.put("a", "123456").created();
    files.put("b", "1234").created();
    let refused = files.put("c", "1").refused(413, "PAYLOAD_TOO_LARGE");
    assert_eq!(refused.message, "Cannot write /c: the session's files would have 11 bytes; 10 are allowed");
    files.put("a", "1234567").refused(413, "PAYLOAD_TOO_LARGE");
    files.put("c", "").created();
    files.put("a", "654321").ok();
    files.put("a", "1").ok();
    files.put("c", "12345").ok();
    server.sql("UPDATE manifests SET bytes = bytes + 100", &[]);
    files.put("c", "1234").ok();
    assert_eq!(count(&server, &files.client, "blobs"), 6);
}

#[test]
fn racing_writers_lose_nothing() {
    let files = Files::new();
    let answers = race(20, |index| {
        let own = files.put(&format!("own/{index}"), format!("{index}")).created();
        let shared = files.put("shared", format!("shared {index}"));
        assert!(matches!(shared.status, 200 | 201), "{}", shared.text);
        [own, shared.json()]
    });
    for index in 0..20 {
        assert_eq!(files.get(&format!("own/{index}")).text, format!("{index}"));
    }
    let history = files.client.pages(&files.url("/manifests"), "manifests", 7);
    assert_eq!(history.len(), 40);
    for pair in history.windows(2) {
        assert_eq!(pair[0]["parent_id"], pair[1]["id"], "history is one line");
        assert!(pair[0]["created_at"].as_str() >= pair[1]["created_at"].as_str());
    }
    assert_eq!(history[39]["parent_id"], Value::Null);
    for written in answers.iter().flatten() {
        let made = history.iter().find(|it| it["id"] == written["manifest_id"]).expect("every write is in the history");
        assert_eq!(made["parent_id"], written["parent_manifest_id"]);
    }
    let last = history.iter().find_map(|it| answers.iter().find(|pair| pair[1]["manifest_id"] == it["id"])).unwrap();
    assert_eq!(files.get("shared").header("etag").unwrap().trim_matches('"'), last[1]["sha256"]);
    assert_eq!(files.client.get(&files.url("")).ok()["files"], 21);
}

#[test]
fn racing_first_writes_make_one_session() {
    let files = Files::new();
    race(8, |index| files.put(&format!("{index}"), "x").created());
    assert_eq!(files.names("", 200).len(), 8);
    assert_eq!(count(open(), &files.client, "sessions"), 1);
}

#[test]
fn a_large_body_waits_until_the_caller_is_known() {
    let root = closed_workspace();
    let guest = root.token(json!({"name": "g", "level": "guest"}));
    let put = |client: &Client| client.put("/api/sessions/s/files/large", vec![b'x'; 11 * 1024 * 1024]);
    let refused = put(&guest);
    refused.refused(403, "PERMISSION_DENIED");
    assert_eq!(refused.cost("round_trips"), 1);
    put(&root).refused(413, "PAYLOAD_TOO_LARGE");
    root.get("/api/sessions/s").refused(404, "NOT_FOUND");
}

/// The cost of reading and writing in a session, as rows read and written.
fn costs(files: &Files) -> Vec<(&'static str, u32, u32)> {
    let asked = [
        ("new", files.put("probe/new", "a new file")),
        ("new in a large directory", files.put("many/new", "another new file")),
        ("replaced", files.put("probe/new", "replaced")),
        ("read", files.get("probe/new")),
        ("not there", files.get("probe/none")),
        ("small directory", files.get("probe")),
        ("refused", files.put("many", "a directory")),
        ("deleted", files.delete("probe/new")),
        ("deleted in a large directory", files.delete("many/new")),
    ];
    asked
        .into_iter()
        .map(|(name, answer)| {
            assert_eq!(answer.cost("round_trips"), 1, "{name}");
            (name, answer.cost("rows_read"), answer.cost("rows_written"))
        })
        .collect()
}

/// Adds many files and many file manifests to a session, as that many writes would.
fn seed(files: &Files, paths: u32, manifests: u32) {
    let params = json!([files.client.workspace(), files.session, paths, manifests]);
    let numbers = |last: &str| {
        format!("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < CAST({last} AS INTEGER))")
    };
    let (to_paths, to_manifests) = (numbers("?3"), numbers("?4"));
    let tree = "(SELECT tree_id FROM sessions WHERE workspace_id = ?1 AND id = ?2)";
    let answer = open().ask(json!({"batch": [
        {
            "sql": format!("{to_paths} INSERT INTO file_entries (workspace_id, tree_id, path, label, sha256, size)
                SELECT ?1, {tree}, '/many/' || i, 'a1', printf('%064d', i), 1 FROM n"),
            "params": params.as_array().unwrap()[..3],
        },
        {
            "sql": format!("{to_manifests} INSERT INTO manifests
                  (workspace_id, id, session_id, tree_id, line, seq, source, created_at, files, bytes)
                SELECT ?1, 'man_' || i, ?2, {tree}, '', 1 + i, 'edit', '2026-11-16T01:00:00.000Z', 1 + ?3, 1 + ?3 FROM n"),
            "params": params,
        },
        {
            "sql": format!("{to_manifests} INSERT INTO file_entries (workspace_id, tree_id, path, label, sha256, size)
                SELECT ?1, {tree}, '/many/1', char(96 + length(1 + i)) || (1 + i), printf('%064d', i), 1 FROM n WHERE ?3 > 0"),
            "params": params,
        },
        {
            "sql": "UPDATE sessions SET (active_manifest_id, head_id) = (SELECT id, id FROM manifests
                WHERE workspace_id = ?1 AND session_id = ?2 ORDER BY key DESC LIMIT 1) WHERE workspace_id = ?1 AND id = ?2",
            "params": params.as_array().unwrap()[..2],
        },
    ]}));
    assert!(answer["error"].is_null(), "{answer}");
    // After some time in use, the query planner has statistics, and may choose another plan.
    open().sql("ANALYZE", &[]);
}

#[test]
fn a_write_costs_the_same_however_many_files_and_manifests_there_are() {
    let seeded = |paths: u32, manifests: u32| {
        let files = Files::new();
        files.put("first", "x").created();
        seed(&files, paths, manifests);
        assert_eq!(files.names("many", 200).len(), paths as usize);
        costs(&files)
    };
    let small = seeded(10, 10);
    assert_eq!(seeded(10_000, 10), small);
    assert_eq!(seeded(10_000, 10_000), small);
    for (name, read, written) in small {
        assert!(read <= 60 && written <= 20, "{name} reads {read} rows and writes {written}");
    }
}

#[test]
fn overwriting_does_not_walk_past_what_was_deleted_below() {
    let files = Files::new();
    files.put("first", "x").created();
    seed(&files, 10_000, 10);
    files.delete("many").no_content();
    files.put("many", "now a file").created();
    let again = files.put("many", "a file as before");
    again.ok();
    let read = again.cost("rows_read");
    assert!(read <= 60, "{read} rows were read");
}

#[test]
fn a_page_of_many_files_or_manifests_reads_its_own_rows() {
    let files = Files::new();
    files.put("first", "x").created();
    seed(&files, 10_000, 2_000);
    let present = id(&files.client.get(&files.url("")).ok(), "active_manifest_id");
    let directory = files.get("many?limit=50");
    assert!(directory.cost("rows_read") <= 70_000, "the first page walks past all children");
    for (path, first) in [
        (files.url("/files/many"), directory),
        (files.url("/manifests"), files.client.get(&files.url("/manifests"))),
        (files.url(&format!("/manifests/{present}")), files.client.get(&files.url(&format!("/manifests/{present}")))),
    ] {
        let mut cursor = id(&first.ok(), "next_cursor");
        for _ in 0..5 {
            let answer = files.client.get(&format!("{path}?limit=50&cursor={cursor}"));
            cursor = id(&answer.ok(), "next_cursor");
            let read = answer.cost("rows_read");
            assert!(read <= 500, "{path} read {read} rows");
        }
    }
    let diff = files.client.get(&files.url(&format!("/diff?from=man_1990&to={present}")));
    assert_eq!(diff.ok()["changes"].as_array().unwrap().len(), 1);
    assert!(diff.cost("rows_read") <= 100, "{}", diff.cost("rows_read"));
}
