//! Random writes, deletions, checkouts and branches, compared with a model of what every file manifest must show.

use super::{branch, sweep};
use crate::files::{Files, count, id};
use crate::harness::{Client, Dice, Server, unique};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet, HashMap};

type State = BTreeMap<String, String>;

/// The model: the expected files of sessions and file manifests, beside the real ones.
struct Model {
    server: Server,
    client: Client,
    /// The present and all file manifests of each session; and the sessions in the order of creation, because their
    /// names differ from run to run.
    sessions: HashMap<String, (Option<String>, Vec<String>)>,
    order: Vec<String>,
    manifests: HashMap<String, State>,
    sha256: HashMap<String, String>,
    dice: Dice,
}

const PATHS: [&str; 10] = ["/a", "/b", "/d", "/d/x", "/d/y", "/d/e/z", "/d0", "/d-1", "/f", "/f/g"];

impl Model {
    fn files(&self, session: &str) -> Files {
        Files { client: self.client.clone(), session: session.to_owned() }
    }

    fn add(&mut self, session: &str) {
        self.sessions.insert(session.to_owned(), (None, Vec::new()));
        self.order.push(session.to_owned());
    }

    fn remove_session(&mut self, session: &str) {
        self.sessions.remove(session);
        self.order.retain(|it| it != session);
    }

    fn commit(&mut self, session: &str, manifest: String, state: State) {
        self.manifests.insert(manifest.clone(), state);
        let (present, own) = self.sessions.get_mut(session).unwrap();
        own.push(manifest.clone());
        *present = Some(manifest);
    }

    fn step(&mut self, number: usize) {
        if self.sessions.len() < 3 || (self.sessions.len() < 10 && self.dice.below(20) == 0) {
            self.add(&unique("session"));
        }
        let session = self.dice.pick(&self.order).clone();
        let (present, own) = self.sessions[&session].clone();
        let state = present.map(|it| self.manifests[&it].clone()).unwrap_or_default();
        let path = *self.dice.pick(&PATHS);
        match self.dice.below(10) {
            _ if own.is_empty() => self.write(&session, path, number, state),
            0..5 => self.write(&session, path, number, state),
            5 | 6 => self.remove(&session, path, state),
            7 | 8 => {
                let manifest = self.dice.pick(&own).clone();
                let files = self.files(&session);
                files.client.post(&files.url("/checkout"), json!({"manifest_id": manifest})).ok();
                self.sessions.get_mut(&session).unwrap().0 = Some(manifest);
            }
            _ => {
                let manifest = self.dice.pick(&own).clone();
                let (branched, made) = branch(&self.files(&session), &manifest);
                self.add(&branched.session);
                let state = self.manifests[&manifest].clone();
                self.commit(&branched.session, id(&made, "active_manifest_id"), state);
            }
        }
    }

    fn write(&mut self, session: &str, path: &str, number: usize, mut state: State) {
        // Some contents are repeated.
        let text = format!("{}", number % 50).repeat(1 + self.dice.below(3));
        let answer = self.files(session).put(&path[1..], text.clone());
        let below = |one: &str, other: &str| one.strip_prefix(other).is_some_and(|rest| rest.starts_with('/'));
        if state.keys().any(|it| below(it, path) || below(path, it)) {
            answer.refused(409, "CONFLICT");
            return;
        }
        assert_eq!(answer.status, if state.contains_key(path) { 200 } else { 201 }, "{}", answer.text);
        let written = answer.json();
        assert_eq!(written["parent_manifest_id"], json!(self.sessions[session].0));
        self.sha256.insert(text.clone(), id(&written, "sha256"));
        state.insert(path.to_owned(), text);
        self.commit(session, id(&written, "manifest_id"), state);
    }

    fn remove(&mut self, session: &str, path: &str, mut state: State) {
        let files = self.files(session);
        let answer = files.delete(&path[1..]);
        let before = state.len();
        state.retain(|it, _| it != path && !it.starts_with(&format!("{path}/")));
        if state.len() == before {
            answer.refused(404, "NOT_FOUND");
            return;
        }
        answer.no_content();
        let manifest = id(&files.client.get(&files.url("")).ok(), "active_manifest_id");
        self.commit(session, manifest, state);
    }

    /// Reads every file manifest, and compares it with the model.
    fn check(&mut self) {
        for (session, (present, own)) in &self.sessions {
            let files = self.files(session);
            if own.is_empty() {
                continue;
            }
            assert_eq!(files.client.get(&files.url("")).ok()["active_manifest_id"], json!(present));
            let listed = files.client.pages(&files.url("/manifests"), "manifests", 200);
            let listed = listed.iter().rev().map(|it| id(it, "id")).collect::<Vec<_>>();
            assert_eq!(&listed, own);
            for manifest in own {
                let state = &self.manifests[manifest];
                let shown = files.client.get(&files.url(&format!("/manifests/{manifest}?limit=200"))).ok();
                let expected = state
                    .iter()
                    .map(|(path, text)| json!({"path": path, "sha256": self.sha256[text], "size": text.len()}))
                    .collect::<Vec<_>>();
                assert_eq!(shown["entries"], json!(expected), "{session} {manifest}");
                let bytes = state.values().map(String::len).sum::<usize>();
                assert_eq!((&shown["files"], &shown["bytes"]), (&json!(state.len()), &json!(bytes)));
            }
        }
    }

    /// Reads some files of each session, and compares some of its file manifests.
    fn probe(&mut self) {
        for session in self.order.clone() {
            let own = self.sessions[&session].1.clone();
            let files = self.files(&session);
            for _ in 0..own.len().min(8) {
                let (from, to) = (self.dice.pick(&own).clone(), self.dice.pick(&own).clone());
                let (before, after) = (&self.manifests[&from], &self.manifests[&to]);
                let changes = files.client.pages(&files.url(&format!("/diff?from={from}&to={to}")), "changes", 3);
                let expected = before.keys().chain(after.keys()).collect::<BTreeSet<_>>();
                let expected = expected.into_iter().filter(|it| before.get(*it) != after.get(*it)).collect::<Vec<_>>();
                let seen = changes.iter().map(|it| id(it, "path")).collect::<Vec<_>>();
                assert_eq!(seen.iter().collect::<Vec<_>>(), expected, "{from} {to}");
                let path = *self.dice.pick(&PATHS);
                let read = files.get(&format!("{}?manifest_id={to}", &path[1..]));
                match after.get(path) {
                    Some(text) => assert_eq!(&read.text, text),
                    None => assert!(read.status == 404 || read.json()["entries"].is_array()),
                }
            }
        }
    }

    /// Deletes some sessions, and lets retention delete half of the file manifests that are no session's present.
    fn forget(&mut self) {
        for session in self.order.clone() {
            if self.sessions[&session].1.is_empty() {
                self.remove_session(&session);
            } else if self.dice.below(4) == 0 {
                let files = self.files(&session);
                files.client.delete(&files.url("")).no_content();
                self.remove_session(&session);
            } else {
                self.age(&session);
            }
        }
        for _ in 0..4 {
            sweep(&self.server);
        }
        // An old file manifest that was kept must not be deleted in a later round, when it is no longer the present.
        self.server.sql("UPDATE manifests SET created_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now')", &[]);
    }

    fn age(&mut self, session: &str) {
        let (present, own) = self.sessions.get_mut(session).unwrap();
        let mut kept = Vec::new();
        for manifest in own.drain(..) {
            if self.dice.below(2) == 0 {
                kept.push(manifest);
                continue;
            }
            let params = [json!(manifest)];
            self.server.sql("UPDATE manifests SET created_at = '2020-01-01T00:00:00.000Z' WHERE id = ?1", &params);
            if Some(&manifest) == present.as_ref() {
                kept.push(manifest);
            }
        }
        *own = kept;
    }

    /// The number of entries that no file manifest sees, except the entries at the end of a line that still has other
    /// entries.
    fn garbage(&self) -> usize {
        let rows = self.server.sql("SELECT tree_id, path, label FROM file_entries ORDER BY tree_id, path, label", &[]);
        let entries = rows.iter().map(|it| [id(it, "tree_id"), id(it, "path"), id(it, "label")]).collect::<Vec<_>>();
        let manifests = self.server.sql("SELECT tree_id, label FROM manifests", &[]);
        let manifests = manifests.iter().map(|it| (id(it, "tree_id"), id(it, "label"))).collect::<Vec<_>>();
        let same = |one: &[String; 3], other: &[String; 3]| one[..2] == other[..2];
        let is_needed = |index: usize, entry: &[String; 3]| {
            let next = entries.get(index + 1).filter(|it| same(it, entry));
            let seen = manifests
                .iter()
                .any(|(tree, label)| *tree == entry[0] && *label >= entry[2] && next.is_none_or(|it| *label < it[2]));
            let before = index.checked_sub(1).map(|it| &entries[it]).filter(|it| same(it, entry));
            let closes = entry[2].strip_suffix('~').is_some_and(|line| before.is_some_and(|it| it[2].as_str() > line));
            seen || closes
        };
        entries.iter().enumerate().filter(|(index, entry)| !is_needed(*index, entry)).count()
    }

    fn rows(&self, table: &str) -> u64 {
        count(&self.server, &self.client, table)
    }
}

/// After any pattern of writes, deletions, checkouts and branches every file manifest reads as it was made, even after
/// others have been deleted.
#[test]
fn every_manifest_ever_made_reads_as_it_was_made() {
    let server = Server::start("model", &[("AUTH", "open"), ("FILE_MANIFEST_RETENTION_DAYS", "1")]);
    let client = server.client(&unique("ws"));
    let mut model = Model {
        server,
        client,
        sessions: HashMap::new(),
        order: Vec::new(),
        manifests: HashMap::new(),
        sha256: HashMap::new(),
        dice: Dice(7),
    };
    for round in 0..3 {
        for step in 0..250 {
            model.step(round * 250 + step);
        }
        model.check();
        model.probe();
        model.forget();
        model.check();
        model.probe();
        if round == 0 {
            // In later rounds an entry may remain that became useless by a write, not by a deletion; it is deleted with
            // its tree.
            assert_eq!(model.garbage(), 0);
        }
        let used = model.server.sql("SELECT count(DISTINCT sha256) AS n FROM file_entries", &[]);
        assert_eq!(used[0]["n"], model.rows("blobs"));
    }
    for session in &model.order {
        let files = model.files(session);
        files.client.delete(&files.url("")).no_content();
    }
    for _ in 0..4 {
        sweep(&model.server);
    }
    for table in ["sessions", "manifests", "file_entries", "blobs", "blob_chunks", "stale_trees", "stale_blobs"] {
        assert_eq!(model.rows(table), 0, "{table}");
    }
}
