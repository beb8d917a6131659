//! The sweep and retention: what they free, what they leave alone, and how they keep large sessions small.

use super::{branch, sweep, written};
use crate::files::{Files, count, id};
use crate::harness::{Server, race, unique};
use serde_json::json;
use std::sync::Mutex;

#[test]
fn the_sweep_frees_what_nobody_refers_to_and_nothing_else() {
    let server = Server::start("sweep", &[("AUTH", "open"), ("COST_HEADER", "on")]);
    let files = Files { client: server.client(&unique("ws")), session: unique("session") };
    for text in ["only here", "in a call", "elsewhere too"] {
        written(&files, text.split(' ').next_back().unwrap(), text);
    }
    let other = Files { client: files.client.clone(), session: unique("session") };
    written(&other, "x", "elsewhere too");
    let ws = json!(files.client.workspace());
    server.sql(
        "INSERT INTO tool_calls (workspace_id, id, tool_name, operator, status, started_at)
         VALUES (?1, 'call_x', 'x', 'root', 'success', '2026-11-16T01:00:00.000Z')",
        std::slice::from_ref(&ws),
    );
    server.sql(
        "INSERT INTO call_blobs (workspace_id, call_id, kind, sha256, size)
         SELECT workspace_id, 'call_x', 'result', sha256, size FROM file_entries WHERE workspace_id = ?1 AND path = '/call'",
        std::slice::from_ref(&ws),
    );
    sweep(&server);
    assert_eq!(count(&server, &files.client, "blobs"), 3);
    files.delete("here").no_content();
    sweep(&server);
    assert_eq!(count(&server, &files.client, "blobs"), 3, "an older manifest has it");
    files.client.delete(&files.url("")).no_content();
    sweep(&server);
    assert_eq!(count(&server, &files.client, "blobs"), 2);
    assert_eq!(other.get("x").text, "elsewhere too");
    server.sql("DELETE FROM tool_calls WHERE workspace_id = ?1", &[ws]);
    sweep(&server);
    assert_eq!(count(&server, &files.client, "blobs"), 1);
    for queue in ["stale_trees", "stale_blobs"] {
        assert_eq!(count(&server, &files.client, queue), 0, "{queue}");
    }
}

#[test]
fn a_large_tree_is_swept_in_several_runs() {
    let server = Server::start("large", &[("AUTH", "open")]);
    let files = Files { client: server.client(&unique("ws")), session: unique("session") };
    let kept = Files { client: files.client.clone(), session: unique("session") };
    written(&files, "x", "x");
    written(&kept, "x", "kept");
    server.sql(
        "INSERT INTO file_entries (workspace_id, tree_id, path, label, sha256, size)
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12500)
         SELECT s.workspace_id, s.tree_id, '/many/' || (i / 3), 'a' || (1 + i % 3), printf('%064d', i), 1
         FROM n JOIN sessions s ON s.workspace_id = ?1 AND s.id = ?2",
        &[json!(files.client.workspace()), json!(files.session)],
    );
    files.client.delete(&files.url("")).no_content();
    let mut left = vec![count(&server, &files.client, "file_entries")];
    for _ in 0..2 {
        sweep(&server);
        left.push(count(&server, &files.client, "file_entries"));
    }
    assert_eq!(left, [12_502, 2_502, 1]);
    for table in ["stale_trees", "stale_blobs"] {
        assert_eq!(count(&server, &files.client, table), 0, "{table}");
    }
    assert_eq!((count(&server, &files.client, "manifests"), count(&server, &files.client, "blobs")), (1, 1));
    assert_eq!(kept.get("x").text, "kept");
}

#[test]
fn what_is_lost_during_a_sweep_is_looked_at_again() {
    let server = Server::start("again", &[("AUTH", "open")]);
    let files = Files { client: server.client(&unique("ws")), session: unique("session") };
    let made = ["1", "2", "3"].map(|text| written(&files, "0", text));
    server.sql(
        "INSERT INTO file_entries (workspace_id, tree_id, path, label, sha256, size)
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10500)
         SELECT s.workspace_id, s.tree_id, '/many/' || i, 'a1', printf('%064d', i), 1
         FROM n JOIN sessions s ON s.workspace_id = ?1 AND s.id = ?2",
        &[json!(files.client.workspace()), json!(files.session)],
    );
    let lose = |manifest: &str| server.sql("DELETE FROM manifests WHERE id = ?1", &[json!(manifest)]);
    let left = || (count(&server, &files.client, "file_entries"), count(&server, &files.client, "stale_trees"));
    lose(&made[0]);
    sweep(&server);
    assert_eq!(left(), (10_502, 1));
    lose(&made[1]);
    let again = server.sql("SELECT again FROM stale_trees", &[]);
    assert_eq!(again[0]["again"], 1, "the look has passed by what was lost last");
    sweep(&server);
    sweep(&server);
    assert_eq!(left(), (10_501, 0));
    assert_eq!(files.get("0").text, "3");
    assert_eq!(count(&server, &files.client, "blobs"), 1);
}

#[test]
fn a_large_tree_does_not_keep_others_waiting() {
    let server = Server::start("fair", &[("AUTH", "open")]);
    let (large, small) = (Files::on(&server), Files::on(&server));
    written(&large, "x", "x");
    written(&small, "x", "x");
    server.sql(
        "INSERT INTO file_entries (workspace_id, tree_id, path, label)
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
         SELECT s.workspace_id, s.tree_id, '/many/' || i, 'a1' FROM n JOIN sessions s ON s.workspace_id = ?1",
        &[json!(large.client.workspace())],
    );
    for files in [&large, &small] {
        files.client.delete(&files.url("")).no_content();
    }
    sweep(&server);
    assert!(count(&server, &large.client, "file_entries") > 0);
    for table in ["file_entries", "manifests", "sessions", "blobs", "stale_trees", "stale_blobs"] {
        assert_eq!(count(&server, &small.client, table), 0, "{table}");
    }
}

#[test]
fn retention_counts_from_when_a_manifest_ceased_to_be_present() {
    let server = Server::start("retention", &[("AUTH", "open"), ("FILE_MANIFEST_RETENTION_DAYS", "1")]);
    let files = Files::on(&server);
    let age = || server.sql("UPDATE manifests SET created_at = '2020-01-01T00:00:00.000Z'", &[]);
    let kept = || {
        sweep(&server);
        let listed = files.client.pages(&files.url("/manifests"), "manifests", 9);
        listed.iter().rev().map(|it| id(it, "id")).collect::<Vec<_>>()
    };
    let one = written(&files, "x", "1");
    age();
    let two = written(&files, "x", "2");
    assert_eq!(kept(), [one.clone(), two.clone()], "the first was present until now");
    age();
    files.client.post(&files.url("/checkout"), json!({"manifest_id": one})).ok();
    assert_eq!(kept(), [one.clone(), two.clone()], "so was the second");
    let three = written(&files, "x", "3");
    age();
    assert_eq!(kept(), [one, two, three.clone()]);
    server.sql("UPDATE past_presents SET ended_at = '2020-01-02T00:00:00.000Z'", &[]);
    assert_eq!(kept(), [three]);
    assert_eq!(server.sql("SELECT count(*) AS n FROM past_presents", &[])[0]["n"], 0);
    assert_eq!(files.get("x").text, "3");
}

/// Some writers, a client that checks out, a session that is deleted and made again, and the sweep, all at once.
#[test]
fn the_sweep_takes_nothing_from_those_who_race_with_it() {
    let server = Server::start("sweep-race", &[("AUTH", "open")]);
    let files = Files::on(&server);
    let passing = Files { client: files.client.clone(), session: unique("session") };
    let first = (written(&files, "first", "0"), "first".to_owned(), "0".to_owned());
    let acknowledged = Mutex::new(vec![first]);
    race(6, |runner| {
        for turn in 0..20 {
            match runner {
                0..3 => {
                    // The other session writes and deletes the same contents.
                    let (path, text) = (format!("{runner}/{}", turn % 4), format!("{}", turn % 7));
                    let manifest = written(&files, &path, &text);
                    acknowledged.lock().unwrap().push((manifest, path, text));
                }
                3 => {
                    let manifest = {
                        let known = acknowledged.lock().unwrap();
                        known[turn * 7 % known.len()].0.clone()
                    };
                    files.client.post(&files.url("/checkout"), json!({"manifest_id": manifest})).ok();
                }
                4 => {
                    for text in ["1", "3", "only-here"] {
                        written(&passing, &format!("{text}/{turn}"), text);
                    }
                    passing.client.delete(&passing.url("")).no_content();
                }
                _ => sweep(&server),
            }
        }
    });
    let last = written(&passing, "last", "1");
    sweep(&server);

    let acknowledged = acknowledged.into_inner().unwrap();
    for (manifest, path, text) in &acknowledged {
        let read = files.get(&format!("{path}?manifest_id={manifest}"));
        assert_eq!((read.status, &read.text), (200, text), "{path} in {manifest}");
    }
    assert_eq!(passing.get(&format!("last?manifest_id={last}")).text, "1");
    for files in [&files, &passing] {
        let listed = files.client.pages(&files.url("/manifests"), "manifests", 200);
        for manifest in &listed {
            let url = files.url(&format!("/manifests/{}", id(manifest, "id")));
            let entries = files.client.pages(&url, "entries", 200);
            let bytes = entries.iter().map(|it| it["size"].as_u64().unwrap()).sum::<u64>();
            assert_eq!((&manifest["files"], &manifest["bytes"]), (&json!(entries.len()), &json!(bytes)), "{manifest}");
        }
    }
    assert_eq!(files.client.pages(&files.url("/manifests"), "manifests", 200).len(), acknowledged.len());
    let missing = server.sql(
        "SELECT count(*) AS n FROM file_entries e WHERE e.sha256 IS NOT NULL AND NOT EXISTS (
           SELECT 1 FROM blobs b
           WHERE b.workspace_id = e.workspace_id AND b.sha256 = e.sha256 AND b.data IS NOT NULL)",
        &[],
    );
    assert_eq!(missing[0]["n"], 0, "every entry has its contents");
    let used = server.sql("SELECT count(DISTINCT sha256) AS n FROM file_entries", &[]);
    assert_eq!(used[0]["n"], count(&server, &files.client, "blobs"), "and no others are kept");
}

/// A session with this many file manifests, each with an entry of its own, as that many writes would make it.
fn fill(server: &Server, files: &Files, manifests: u32) {
    written(files, "x", "x");
    let params = [json!(files.client.workspace()), json!(files.session), json!(manifests)];
    let numbers = "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < CAST(?3 AS INTEGER))";
    let label = "char(96 + length(i)) || i";
    for statement in [
        format!(
            "INSERT INTO manifests (workspace_id, id, session_id, tree_id, line, seq, source, created_at, files, bytes)
             {numbers} SELECT s.workspace_id, s.id || '_' || i, s.id, s.tree_id, '', i, 'edit', s.created_at, i, i
             FROM n JOIN sessions s ON s.workspace_id = ?1 AND s.id = ?2"
        ),
        format!(
            "INSERT INTO file_entries (workspace_id, tree_id, path, label, sha256, size)
             {numbers} SELECT s.workspace_id, s.tree_id, '/many/' || i, {label}, e.sha256, 1
             FROM n JOIN sessions s ON s.workspace_id = ?1 AND s.id = ?2
             JOIN file_entries e ON e.workspace_id = ?1 AND e.tree_id = s.tree_id AND e.path = '/x'"
        ),
        "UPDATE sessions SET active_manifest_id = ?2 || '_' || CAST(?3 AS INTEGER),
           head_id = ?2 || '_' || CAST(?3 AS INTEGER) WHERE workspace_id = ?1 AND id = ?2"
            .to_owned(),
    ] {
        server.sql(&statement, &params);
    }
}

#[test]
fn a_large_session_is_deleted_at_once_and_freed_in_pieces() {
    let server = Server::start("large-session", &[("AUTH", "open"), ("COST_HEADER", "on")]);
    let files = Files::on(&server);
    fill(&server, &files, 100_000);
    let last = format!("{}_100000", files.session);
    let kept = branch(&files, &last).0;
    assert_eq!(files.get("many/99999").text, "x");
    let deleted = files.client.delete(&files.url(""));
    deleted.no_content();
    let (read, rows) = (deleted.cost("rows_read"), deleted.cost("rows_written"));
    assert!(read <= 20 && rows <= 10, "{read} rows were read, and {rows} written");

    // Nothing of the session is visible, whoever asks.
    let gone = || {
        for path in ["", "/manifests", &format!("/manifests/{last}"), &format!("/diff?from={last}&to={last}")] {
            files.client.get(&files.url(path)).refused(404, "NOT_FOUND");
        }
        files.get("many/99999").refused(404, "NOT_FOUND");
        files.get(&format!("x?manifest_id={last}")).refused(404, "NOT_FOUND");
        files.delete("x").refused(404, "NOT_FOUND");
        for action in ["/checkout", "/branch"] {
            files.client.post(&files.url(action), json!({"manifest_id": last})).refused(404, "NOT_FOUND");
        }
        files.client.delete(&files.url("")).refused(404, "NOT_FOUND");
        let listed = files.client.get("/api/sessions").ok();
        assert_eq!(listed["sessions"].as_array().unwrap().len(), 1, "{listed}");
    };
    gone();
    sweep(&server);
    gone();
    let left = count(&server, &files.client, "manifests");
    assert!((80_000..100_000).contains(&left), "one run deletes a piece: {left} are left");

    // A session of the same name begins with nothing, and the sweep does not touch it.
    let new = written(&files, "y", "new");
    let listed = files.client.get(&files.url("/manifests"));
    assert_eq!(listed.ok()["manifests"].as_array().unwrap().len(), 1);
    assert!(listed.cost("rows_read") <= 50, "{} rows were read", listed.cost("rows_read"));
    files.get("x").refused(404, "NOT_FOUND");
    files.get(&format!("x?manifest_id={last}")).refused(404, "NOT_FOUND");
    files.client.post(&files.url("/checkout"), json!({"manifest_id": last})).refused(404, "NOT_FOUND");
    files.client.delete(&files.url("")).no_content();
    let newest = written(&files, "z", "newest");
    for _ in 0..30 {
        sweep(&server);
    }
    assert_eq!(count(&server, &files.client, "manifests"), 2, "the branch, and the session that was made again");
    assert_eq!(count(&server, &files.client, "dead_sessions"), 0);
    assert_eq!(files.get(&format!("z?manifest_id={newest}")).text, "newest");
    files.get(&format!("y?manifest_id={new}")).refused(404, "NOT_FOUND");
    assert_eq!((kept.get("many/99999").text.as_str(), kept.get("x").text.as_str()), ("x", "x"));
}

#[test]
fn a_large_directory_is_deleted_at_once_and_freed_in_pieces() {
    let server = Server::start("large-directory", &[("AUTH", "open"), ("COST_HEADER", "on")]);
    let files = Files::on(&server);
    fill(&server, &files, 50_001);
    let before = id(&files.client.get(&files.url("")).ok(), "active_manifest_id");
    let deleted = files.delete("many");
    deleted.no_content();
    let rows = deleted.cost("rows_written");
    assert!(rows <= 15, "{rows} rows were written");
    println!("deleting 50,000 files: {}", deleted.header("x-d1-cost").unwrap_or_default());
    let after = id(&files.client.get(&files.url("")).ok(), "active_manifest_id");

    let names = |files: &Files, at: &str| {
        let listed = files.client.get(&files.url(&format!("/manifests/{at}?limit=5"))).ok();
        (listed["files"].as_u64().unwrap(), listed["entries"].as_array().unwrap().len())
    };
    let differs = |from: &str, to: &str| {
        let changes = files.client.get(&files.url(&format!("/diff?from={from}&to={to}&limit=3"))).ok();
        changes["changes"].as_array().unwrap().iter().map(|it| id(it, "path")).collect::<Vec<_>>()
    };
    let gone = || {
        assert_eq!(names(&files, &after), (1, 1));
        assert_eq!(names(&files, &before), (50_001, 5), "the file manifest before the deletion is as it was");
        for path in ["many", "many/2", "many/30000", "many/50001"] {
            files.get(&format!("{path}?manifest_id={after}")).refused(404, "NOT_FOUND");
        }
        assert_eq!(files.get(&format!("many/30000?manifest_id={before}")).text, "x");
        assert_eq!(differs(&before, &after), ["/many/10", "/many/100", "/many/1000"]);
        assert_eq!(differs(&after, &before), ["/many/10", "/many/100", "/many/1000"]);
    };
    gone();
    files.get("many").refused(404, "NOT_FOUND");
    files.delete("many").refused(404, "NOT_FOUND");

    // The directory is made again at once, also on a line that forks, and in a branch.
    let again = written(&files, "many/30000", "again");
    assert_eq!(names(&files, &again), (2, 2));
    assert_eq!(files.get("many/30000").text, "again");
    files.client.post(&files.url("/checkout"), json!({"manifest_id": after})).ok();
    let forked = written(&files, "many/40000", "forked");
    files.get("many/30000").refused(404, "NOT_FOUND");
    files.client.post(&files.url("/checkout"), json!({"manifest_id": again})).ok();
    let next = written(&files, "other", "next");
    let branched = branch(&files, &after).0;
    assert_eq!(branched.client.get(&branched.url("")).ok()["files"], 1);
    written(&branched, "many/2", "branched");
    let all = || {
        gone();
        assert_eq!((names(&files, &again).1, names(&files, &forked).1, names(&files, &next).1), (2, 2, 3));
        assert_eq!(files.get(&format!("many/30000?manifest_id={again}")).text, "again");
        files.get(&format!("many/40000?manifest_id={next}")).refused(404, "NOT_FOUND");
        files.get(&format!("many/2?manifest_id={next}")).refused(404, "NOT_FOUND");
        assert_eq!(files.get(&format!("many/40000?manifest_id={forked}")).text, "forked");
        assert_eq!(branched.get("many/2").text, "branched");
        branched.get("many/3").refused(404, "NOT_FOUND");
    };
    all();
    let cleared = || count(&server, &files.client, "cleared_directories");
    assert_eq!(cleared(), 1);
    sweep(&server);
    assert_eq!(cleared(), 1, "one run does a piece");
    all();
    for _ in 0..6 {
        sweep(&server);
    }
    assert_eq!(cleared(), 0);
    all();
    let last = written(&files, "many/2", "last");
    assert_eq!(names(&files, &last).1, 4);
    all();
}

/// A nested undo is a write, a checkout of the file manifest before it, and another write. Set PEGBOARD_UNDOS to try
/// more of them.
#[test]
fn nested_undos_keep_rows_small() {
    let undos = std::env::var("PEGBOARD_UNDOS").map_or(400, |it| it.parse::<usize>().unwrap());
    let server = Server::start("undos", &[("AUTH", "open")]);
    let files = Files::on(&server);
    for path in ["a", "b", "d/c"] {
        written(&files, path, path);
    }
    let size = || server.ask(json!({"sql": "SELECT 1", "params": []}))["meta"]["size_after"].as_u64().unwrap();
    let check_out = |manifest: &str| {
        files.client.post(&files.url("/checkout"), json!({"manifest_id": manifest})).ok();
    };
    let window = 100;
    let mut sizes = vec![size()];
    let mut made = Vec::new();
    for number in 0..undos {
        let base = id(&files.client.get(&files.url("")).ok(), "active_manifest_id");
        written(&files, "a", &format!("undone {number}"));
        check_out(&base);
        made.push(written(&files, "b", &format!("kept {number}")));
        if (number + 1) % window == 0 {
            sizes.push(size());
        }
    }
    let grown = sizes.windows(2).map(|it| it[1] - it[0]).collect::<Vec<_>>();
    let (first, last) = (grown[0] as f64, grown[grown.len() - 1] as f64);
    println!("bytes per write: {} at the start, {} at the end", first / 200.0, last / 200.0);
    assert!(last <= 1.2 * first, "{grown:?}");
    for (number, manifest) in made.iter().enumerate().step_by(undos / 20) {
        assert_eq!(files.get(&format!("b?manifest_id={manifest}")).text, format!("kept {number}"));
        assert_eq!(files.get(&format!("a?manifest_id={manifest}")).text, "a");
    }
    // Two file manifests in different trees are compared like any others.
    let changes = files.client.get(&files.url(&format!("/diff?from={}&to={}", made[0], made[undos - 1]))).ok();
    let changed = changes["changes"].as_array().unwrap().iter().map(|it| id(it, "path")).collect::<Vec<_>>();
    assert_eq!(changed, ["/b"]);
}

/// After a line, a file manifest may see contents that only the entry at the end of an inner line still holds.
#[test]
fn a_write_after_a_sweep_changes_nothing_of_what_was() {
    let server = Server::start("nested", &[("AUTH", "open")]);
    let files = Files { client: server.client(&unique("ws")), session: unique("session") };
    let check_out = |manifest: &str| {
        files.client.post(&files.url("/checkout"), json!({"manifest_id": manifest})).ok();
    };
    written(&files, "p", "first");
    let base = written(&files, "p", "second");
    let beyond = written(&files, "other", "x");
    check_out(&base);
    let outer = written(&files, "other", "outer");
    let outer_next = written(&files, "other", "outer again");
    // A line forks inside a line that goes on afterwards: only a branch does so.
    let (inner, made) = branch(&files, &outer);
    written(&inner, "p", "inner");
    for manifest in [&base, &outer, &id(&made, "active_manifest_id")] {
        server.sql("DELETE FROM manifests WHERE id = ?1", &[json!(manifest)]);
    }
    sweep(&server);
    let entries = server.sql("SELECT label FROM file_entries WHERE path = '/p' ORDER BY label", &[]);
    let labels = entries.iter().map(|it| id(it, "label")).collect::<Vec<_>>();
    assert_eq!(labels, ["a1", "a2.a1a1.a2a2", "a2.a1a1.a2~"], "the second contents stand nowhere but at an end");
    let before = |manifest: &str| files.get(&format!("p?manifest_id={manifest}")).text;
    assert_eq!((before(&beyond), before(&outer_next)), ("second".into(), "second".into()));
    written(&files, "p", "outer");
    assert_eq!((before(&beyond), before(&outer_next)), ("second".into(), "second".into()));
    assert_eq!(files.get("p").text, "outer");
}
