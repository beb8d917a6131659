//! Commits of many paths, on native SQLite: compared with a simple model, and measured.

use super::*;
use crate::db::native::{migrated, migrations};
use crate::files::FileManifestSource;
use crate::files::ahead::KEPT_AHEAD_SECONDS;
use crate::files::store::lookup::FileView;
use crate::files::store::{lookup, session as sessions, sweep};
use crate::ids::WorkspaceId;
use crate::time::Timestamp;
use rusqlite::Connection;
use serde_json::Value;

type State = BTreeMap<String, String>;

/// A database with one workspace.
struct House {
    database: Connection,
    workspace: WorkspaceId,
    now: Timestamp,
    made: u32,
    limits: CommitLimits,
}

/// What became of a commit.
#[derive(Debug, PartialEq)]
enum Became {
    Made { pre: Option<String>, post: String },
    Unchanged,
    Refused(CommitRefusal),
    OverQuota,
}

impl House {
    fn new() -> Self {
        Self {
            database: migrated(&migrations("db")),
            workspace: WorkspaceId::parse("ws").unwrap(),
            now: Timestamp::parse("2026-11-18T00:00:00.000Z").unwrap(),
            made: 0,
            limits: CommitLimits { session_max_bytes: 1 << 30, quota_bytes: 1 << 40 },
        }
    }

    fn next_id(&mut self) -> FileManifestId {
        self.made += 1;
        FileManifestId::parse(&format!("man_{:032x}", self.made)).unwrap()
    }

    /// Runs statements as one transaction, and returns the rows of each, or the message that stopped them.
    fn batch(&self, statements: &[Statement]) -> std::result::Result<Vec<Vec<Value>>, String> {
        let transaction = self.database.unchecked_transaction().unwrap();
        let rows = statements
            .iter()
            .map(|it| it.rows_of(&transaction).map_err(|cause| cause.to_string()))
            .collect::<std::result::Result<Vec<_>, _>>()?;
        transaction.commit().unwrap();
        Ok(rows)
    }

    /// Commits writes (path and text) and deletions to the session.
    fn commit(&mut self, session: &str, writes: &[(&str, &str)], deletions: &[&str]) -> Became {
        let mut changes = DraftChanges::default();
        for (path, text) in writes {
            changes.write(FilePath::parse(path).unwrap(), Blob::text((*text).to_owned())).unwrap();
        }
        changes.deletions = deletions.iter().map(|it| (*it).to_owned()).collect();
        self.commit_changes(session, &changes)
    }

    fn commit_changes(&mut self, session: &str, changes: &DraftChanges) -> Became {
        if let Some(refusal) = changes.never_writable() {
            return Became::Refused(refusal);
        }
        let (post, session) = (self.next_id(), SessionId::parse(session).unwrap());
        let origin =
            FileChangeOrigin { source: FileManifestSource::ToolRun, source_ref: None, agent: None, generation: None };
        let new = FileCommit {
            workspace: &self.workspace,
            session: &session,
            manifest: &post,
            origin: &origin,
            now: self.now,
        };
        let statements = changes.statements(&new, None, &changes.list().unwrap(), &self.limits).unwrap();
        let rows = match self.batch(&statements) {
            Ok(rows) => rows,
            Err(cause) => {
                assert!(quota::is_used_up(&DbFailure::Refused(cause.clone())), "{cause}");
                return Became::OverQuota;
            }
        };
        let place = &rows[2][0];
        let text = |name: &str| place[name].as_str().map(str::to_owned);
        if self.count("manifests WHERE id = ?1", post.as_str()) == 1 {
            return Became::Made { pre: text("manifest_id"), post: post.to_string() };
        }
        let place = CommitPlace {
            manifest_id: None,
            file_above: text("file_above"),
            directory: text("directory"),
            is_gone: place["gone"] == 1,
            entries: u32::try_from(place["entries"].as_u64().unwrap()).unwrap(),
            bytes: place["bytes"].as_u64().unwrap(),
        };
        changes.refusal(&place, &self.limits).unwrap().map_or(Became::Unchanged, Became::Refused)
    }

    fn count(&self, rest: &str, param: &str) -> u32 {
        self.database.query_row(&format!("SELECT count(*) FROM {rest}"), [param], |row| row.get(0)).unwrap()
    }

    fn number(&self, query: &str) -> i64 {
        self.database.query_row(query, [], |row| row.get(0)).unwrap()
    }

    /// The files of a file manifest, each with the SHA-256 of its contents.
    fn files(&self, session: &str, at: &str) -> BTreeMap<String, String> {
        let (session, at) = (SessionId::parse(session).unwrap(), FileManifestId::parse(at).unwrap());
        let view = FileView { workspace: &self.workspace, session: &session, at: Some(&at) };
        let rows = lookup::list_files(view, None, 1_000_000).rows_of(&self.database).unwrap();
        let text = |row: &Value, name: &str| row[name].as_str().unwrap().to_owned();
        rows.iter().map(|it| (text(it, "path"), text(it, "sha256"))).collect()
    }

    /// The session's present files, as a program gets them.
    fn present(&self, session: &str) -> BTreeMap<String, String> {
        let session = SessionId::parse(session).unwrap();
        let view = FileView { workspace: &self.workspace, session: &session, at: None };
        let rows = lookup::list_all(view, 2_000).rows_of(&self.database).unwrap();
        let listed = rows.iter().map(|it| it["files"].as_str().unwrap());
        let listed = listed.flat_map(|it| serde_json::from_str::<Vec<(String, String, u32)>>(it).unwrap());
        listed.map(|(path, sha256, _)| (path, sha256)).collect()
    }

    fn check_out(&self, session: &str, manifest: &str) {
        let (session, manifest) = (SessionId::parse(session).unwrap(), FileManifestId::parse(manifest).unwrap());
        self.batch(&[sessions::check_out(&self.workspace, &session, &manifest, self.now)]).unwrap();
    }

    fn branch(&mut self, from: &str, at: &str, to: &str) -> String {
        use crate::files::store::commit;
        let post = self.next_id();
        let (from, to) = (SessionId::parse(from).unwrap(), SessionId::parse(to).unwrap());
        let at = FileManifestId::parse(at).unwrap();
        let origin =
            FileChangeOrigin { source: FileManifestSource::Branch, source_ref: None, agent: None, generation: None };
        let new =
            FileCommit { workspace: &self.workspace, session: &to, manifest: &post, origin: &origin, now: self.now };
        self.batch(&[
            commit::insert_branch_session(&new, &from, &at),
            commit::insert_branch(&new, &from, &at),
            commit::insert_copies(&self.workspace, &post, None),
            usage::count_branch(&new, u64::MAX),
            commit::count_branch(&new, &from),
        ])
        .unwrap();
        post.to_string()
    }

    /// Deletes a directory as `files::delete_file` does.
    fn clear(&mut self, session: &str, path: &str) -> String {
        use crate::files::store::commit;
        let (post, session, path) =
            (self.next_id(), SessionId::parse(session).unwrap(), FilePath::parse(path).unwrap());
        let origin =
            FileChangeOrigin { source: FileManifestSource::Edit, source_ref: None, agent: None, generation: None };
        let new = FileCommit {
            workspace: &self.workspace,
            session: &session,
            manifest: &post,
            origin: &origin,
            now: self.now,
        };
        self.batch(&[
            commit::insert_manifest_without(&new, &path),
            commit::insert_absences(&new, &path),
            usage::count_deletion(&new, u64::MAX),
            commit::insert_cleared_directory(&self.workspace, &post, &path),
            commit::insert_copies(&self.workspace, &post, Some(&path)),
            activate(&new),
        ])
        .unwrap();
        post.to_string()
    }

    /// Checks what must hold whatever was committed.
    fn check(&self) {
        // The quota has counted everything.
        let counted = self.number("SELECT files_bytes FROM workspace_usage WHERE workspace_id = 'ws'");
        let stored = self.number(
            "SELECT (SELECT coalesce(sum(200 + size), 0) FROM blobs) + (SELECT 600 * count(*) FROM manifests)
               + (SELECT 300 * count(*) FROM file_entries)",
        );
        assert_eq!(counted, stored);
        // Every entry has its contents, and is found by them.
        let unfound = "SELECT count(*) FROM file_entries e LEFT JOIN blobs b ON b.workspace_id = e.workspace_id AND
            b.sha256 = e.sha256 WHERE e.sha256 IS NOT NULL AND (b.sha256 IS NULL OR e.first_use = 1 AND
              (b.use_tree_id, b.use_path, b.use_label) IS NOT (e.tree_id, e.path, e.label))";
        assert_eq!(self.number(unfound), 0);
        // An entry without a row in the index by label is the only one of its file manifest, which names its path.
        let unnamed = "SELECT count(*) FROM file_entries e WHERE e.alone = 1 AND NOT EXISTS (
            SELECT 1 FROM manifests m WHERE m.tree_id = e.tree_id AND m.label = e.label AND m.path = e.path)";
        assert_eq!(self.number(unnamed), 0);
    }
}

fn made(became: Became) -> String {
    match became {
        Became::Made { post, .. } => post,
        other => panic!("{other:?}"),
    }
}

fn sha256(text: &str) -> String {
    Blob::text(text.to_owned()).sha256().to_owned()
}

fn held(files: &[(&str, &str)]) -> BTreeMap<String, String> {
    files.iter().map(|(path, text)| ((*path).to_owned(), sha256(text))).collect()
}

#[test]
fn many_changes_are_one_file_manifest() {
    let mut house = House::new();
    let one = made(house.commit("s", &[("/a", "1"), ("/d/b", "1"), ("/d/c", "2")], &[]));
    assert_eq!(house.files("s", &one), held(&[("/a", "1"), ("/d/b", "1"), ("/d/c", "2")]));
    let two = house.commit("s", &[("/a", "3"), ("/e", "")], &["/d/b", "/nowhere"]);
    assert_eq!(two, Became::Made { pre: Some(one.clone()), post: format!("man_{:032x}", 2) });
    let two = made(two);
    assert_eq!(house.files("s", &two), held(&[("/a", "3"), ("/d/c", "2"), ("/e", "")]));
    assert_eq!(house.files("s", &one).len(), 3, "a file manifest never changes");
    let totals = "SELECT files || ' ' || bytes FROM manifests WHERE id = ?1";
    let totals = |id: &str| house.database.query_row(totals, [id], |row| row.get::<_, String>(0)).unwrap();
    assert_eq!((totals(&one), totals(&two)), ("3 3".to_owned(), "3 2".to_owned()));
    house.check();
    assert_eq!((house.present("s"), house.present("none")), (house.files("s", &two), BTreeMap::new()));
    assert_eq!(house.commit("s", &[], &["/nowhere"]), Became::Unchanged);
    assert_eq!(house.commit("s", &[], &[]), Became::Unchanged);
    assert_eq!(house.number("SELECT count(*) FROM manifests"), 2);
}

#[test]
fn an_obstacle_refuses_everything_and_is_named() {
    let mut house = House::new();
    made(house.commit("s", &[("/f", "1"), ("/d/x", "1"), ("/d/y", "1")], &[]));
    let not_a_directory =
        |path: &str, file: &str| Became::Refused(CommitRefusal::NotADirectory { path: path.into(), file: file.into() });
    let is_a_directory = |path: &str| Became::Refused(CommitRefusal::IsADirectory { path: path.into() });
    assert_eq!(house.commit("s", &[("/n", "2"), ("/f/g/h", "2")], &["/d/x"]), not_a_directory("/f/g/h", "/f"));
    assert_eq!(house.commit("s", &[("/n", "2"), ("/d", "2")], &["/d/x"]), is_a_directory("/d"));
    assert_eq!(house.commit("s", &[("/n", "2"), ("/n/m", "2")], &[]), not_a_directory("/n/m", "/n"));
    assert_eq!((house.number("SELECT count(*) FROM manifests"), house.number("SELECT count(*) FROM blobs")), (1, 1));
    // The deletions of the same commit make room.
    let file = made(house.commit("s", &[("/d", "2")], &["/d/x", "/d/y"]));
    assert_eq!(house.files("s", &file), held(&[("/d", "2"), ("/f", "1")]));
    let directory = made(house.commit("s", &[("/f/g/h", "2"), ("/d/z", "3")], &["/f", "/d"]));
    assert_eq!(house.files("s", &directory), held(&[("/d/z", "3"), ("/f/g/h", "2")]));
    house.check();
}

#[test]
fn the_limits_hold_for_all_changes_together() {
    let mut house = House::new();
    house.limits.session_max_bytes = 10;
    let full = house.commit("s", &[("/a", "123456"), ("/b", "12345")], &[]);
    assert_eq!(full, Became::Refused(CommitRefusal::Full { bytes: 11, max_bytes: 10 }));
    made(house.commit("s", &[("/a", "123456"), ("/b", "1234")], &[]));
    made(house.commit("s", &[("/c", "12345")], &["/a"]));
    house.limits.session_max_bytes = 3;
    made(house.commit("s", &[("/c", "1")], &[]));
    house.check();
    let used = u64::try_from(house.number("SELECT files_bytes FROM workspace_usage")).unwrap();
    house.limits = CommitLimits { session_max_bytes: 1 << 30, quota_bytes: used + 600 + 300 * 2 + 200 + 4 - 1 };
    // Both paths have the same contents, which count once.
    assert_eq!(house.commit("s", &[("/d", "four"), ("/e", "four")], &[]), Became::OverQuota);
    house.limits.quota_bytes += 1;
    made(house.commit("s", &[("/d", "four"), ("/e", "four")], &[]));
    assert_eq!(house.commit("s", &[("/f", "four")], &[]), Became::OverQuota);
    // A full workspace may still delete files.
    house.limits.quota_bytes = 10 * 1_000;
    made(house.commit("s", &[], &["/d", "/e"]));
    house.check();
}

#[test]
fn contents_that_were_stored_ahead_wait_for_their_commit() {
    let mut house = House::new();
    let large = "x".repeat(SMALL_BYTES + 1);
    made(house.commit("s", &[("/old", "old")], &[]));
    let draft = |texts: &[&str]| {
        let mut changes = DraftChanges::default();
        for text in texts {
            changes.write(FilePath::parse(&format!("/{}", &text[..1])).unwrap(), Blob::text((*text).into())).unwrap();
        }
        changes
    };
    let store = |house: &House, changes: &mut DraftChanges| {
        let pending = std::mem::take(&mut changes.pending);
        let blobs = pending.iter().map(|it| &it.blob).collect::<Vec<_>>();
        let statements = ahead::statements(&house.workspace, &blobs, 1 << 40, house.now).unwrap();
        house.batch(&statements).unwrap();
        changes.ahead = pending.iter().map(|it| it.blob.sha256().to_owned()).collect();
    };
    let sweep = |house: &House, seconds: u32| {
        house.batch(&[sweep::delete_blobs(house.now.plus_seconds(seconds))]).unwrap();
    };
    let mut changes = draft(&["small", &large, "old"]);
    store(&house, &mut changes);
    house.check();
    // The last use of contents that were there before may go in between.
    house.database.execute_batch("DELETE FROM file_entries; DELETE FROM manifests;").unwrap();
    house.database.execute_batch("UPDATE workspace_usage SET files_bytes = files_bytes - 300").unwrap();
    house.database.execute_batch("UPDATE sessions SET active_manifest_id = NULL, head_id = NULL").unwrap();
    sweep(&house, KEPT_AHEAD_SECONDS - 1);
    assert_eq!(house.number("SELECT count(*) FROM blobs"), 3);
    let done = made(house.commit_changes("s", &changes));
    assert_eq!(house.files("s", &done), held(&[("/s", "small"), ("/x", &large), ("/o", "old")]));
    sweep(&house, KEPT_AHEAD_SECONDS);
    assert_eq!((house.number("SELECT count(*) FROM blobs"), house.number("SELECT count(*) FROM stale_blobs")), (3, 0));
    house.check();
    // A commit that never comes leaves nothing, and a commit that comes too late refers to nothing.
    let mut late = draft(&["never"]);
    store(&house, &mut late);
    sweep(&house, KEPT_AHEAD_SECONDS);
    assert_eq!(house.number("SELECT count(*) FROM blobs"), 3);
    house.check();
    let before = house.number("SELECT count(*) FROM file_entries");
    let (post, session) = (house.next_id(), SessionId::parse("s").unwrap());
    let origin =
        FileChangeOrigin { source: FileManifestSource::ToolRun, source_ref: None, agent: None, generation: None };
    let new =
        FileCommit { workspace: &house.workspace, session: &session, manifest: &post, origin: &origin, now: house.now };
    house.batch(&late.statements(&new, None, &late.list().unwrap(), &house.limits).unwrap()).unwrap();
    assert_eq!(house.number("SELECT count(*) FROM file_entries"), before);
}

/// A commit of any number of paths, after any pattern of checkouts, branches and deletions, reads as it was made.
#[test]
fn every_commit_reads_as_it_was_made() {
    let paths = ["/a", "/b", "/d", "/d/x", "/d/y", "/d/e/z", "/d0", "/d-1", "/f", "/f/g"];
    for seed in 1..=6_u64 {
        let mut house = House::new();
        let mut dice = seed;
        let mut below = |end: usize| {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((dice >> 33) as usize) % end
        };
        // The present and the file manifests of each session, and the files of each file manifest.
        let mut sessions = vec![(None::<String>, Vec::<String>::new()); 2];
        let mut states = BTreeMap::<String, State>::new();
        for step in 0..220 {
            let number = below(sessions.len());
            let session = format!("s{number}");
            let (present, own) = sessions[number].clone();
            let state = present.as_ref().map(|it| states[it].clone()).unwrap_or_default();
            match below(10) {
                0 | 1 if !own.is_empty() => {
                    let at = own[below(own.len())].clone();
                    house.check_out(&session, &at);
                    sessions[number].0 = Some(at);
                }
                2 if !own.is_empty() && sessions.len() < 6 => {
                    let at = own[below(own.len())].clone();
                    let made = house.branch(&session, &at, &format!("s{}", sessions.len()));
                    states.insert(made.clone(), states[&at].clone());
                    sessions.push((Some(made.clone()), vec![made]));
                }
                3 if state.keys().any(|it| it.starts_with("/d/")) => {
                    let made = house.clear(&session, "/d");
                    let rest = state.into_iter().filter(|(it, _)| it != "/d" && !it.starts_with("/d/")).collect();
                    states.insert(made.clone(), rest);
                    sessions[number].0 = Some(made.clone());
                    sessions[number].1.push(made);
                }
                _ => {
                    let mut wanted = state.clone();
                    let mut writes = State::new();
                    let mut deletions = BTreeSet::new();
                    for _ in 0..=below(4) {
                        let path = paths[below(paths.len())].to_owned();
                        if below(3) == 0 {
                            writes.remove(&path);
                            deletions.insert(path);
                        } else {
                            deletions.remove(&path);
                            writes.insert(path, format!("{}", step % 40).repeat(1 + below(3)));
                        }
                    }
                    wanted.retain(|it, _| !deletions.contains(it));
                    wanted.extend(writes.clone());
                    let is_below =
                        |one: &str, other: &str| one.strip_prefix(other).is_some_and(|it| it.starts_with('/'));
                    let conflicts = wanted.keys().any(|one| wanted.keys().any(|other| is_below(one, other)));
                    let writes = writes.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect::<Vec<_>>();
                    let deletions = deletions.iter().map(String::as_str).collect::<Vec<_>>();
                    let became = house.commit(&session, &writes, &deletions);
                    if conflicts {
                        assert!(matches!(became, Became::Refused(_)), "{seed} {step} {became:?}");
                    } else if writes.is_empty() && wanted == state {
                        assert_eq!(became, Became::Unchanged);
                    } else {
                        let Became::Made { pre, post } = became else { panic!("{seed} {step} {became:?}") };
                        assert_eq!(pre, present);
                        states.insert(post.clone(), wanted);
                        sessions[number].0 = Some(post.clone());
                        sessions[number].1.push(post);
                    }
                }
            }
        }
        for (number, (_, own)) in sessions.iter().enumerate() {
            for id in own {
                let expected = states[id].iter().map(|(path, text)| (path.clone(), sha256(text))).collect();
                assert_eq!(house.files(&format!("s{number}"), id), expected, "{seed} s{number} {id}");
            }
        }
        house.check();
    }
}

#[test]
fn a_path_in_a_cleared_directory_is_completed_first() {
    let mut house = House::new();
    let names = (0..1_100).map(|it| format!("/d/{it}")).collect::<Vec<_>>();
    let writes = names.iter().map(|it| (it.as_str(), "1")).collect::<Vec<_>>();
    let one = made(house.commit("s", &writes, &[]));
    house.check_out("s", &one);
    house.clear("s", "/d");
    assert_eq!(house.number("SELECT count(*) FROM cleared_directories"), 1);
    let three = made(house.commit("s", &[("/d/7", "2"), ("/e", "2")], &["/d/8"]));
    assert_eq!(house.files("s", &three), held(&[("/d/7", "2"), ("/e", "2")]));
    // A fork from before the directory was cleared.
    house.check_out("s", &one);
    let four = made(house.commit("s", &[("/e", "4")], &["/d/9"]));
    assert_eq!(house.files("s", &four).len(), 1_100);
    assert_eq!(house.files("s", &one).len(), 1_100);
    house.check_out("s", &three);
    let five = made(house.commit("s", &[("/d", "5")], &["/d/7"]));
    assert_eq!(house.files("s", &five), held(&[("/d", "5"), ("/e", "2")]));
    house.check();
}

/// The steps of SQLite's machine for a whole commit of `writes` changed files.
fn steps(house: &mut House, session: &str, writes: usize, text: &str) -> i32 {
    let mut changes = DraftChanges::default();
    for number in 0..writes {
        changes
            .write(FilePath::parse(&format!("/d/{number}")).unwrap(), Blob::text(format!("{text}{number}")))
            .unwrap();
    }
    let (post, session) = (house.next_id(), SessionId::parse(session).unwrap());
    let origin =
        FileChangeOrigin { source: FileManifestSource::ToolRun, source_ref: None, agent: None, generation: None };
    let new =
        FileCommit { workspace: &house.workspace, session: &session, manifest: &post, origin: &origin, now: house.now };
    let statements = changes.statements(&new, None, &changes.list().unwrap(), &house.limits).unwrap();
    let steps = statements.iter().map(|it| it.steps_of(&house.database)).sum();
    house.check();
    steps
}

#[test]
fn a_commit_for_a_session_that_is_gone_brings_no_session_back() {
    let mut house = House::new();
    let session = SessionId::parse("s").unwrap();
    let commit = |house: &mut House, generation: u32| {
        let post = house.next_id();
        let origin = FileChangeOrigin {
            source: FileManifestSource::ToolRun,
            source_ref: None,
            agent: None,
            generation: Some(generation),
        };
        let (workspace, now) = (&house.workspace, house.now);
        let new = FileCommit { workspace, session: &session, manifest: &post, origin: &origin, now };
        let mut changes = DraftChanges::default();
        changes.write(FilePath::parse("/late").unwrap(), Blob::text("late".to_owned())).unwrap();
        let statements = changes.statements(&new, None, &changes.list().unwrap(), &house.limits).unwrap();
        let ended = house.batch(&statements);
        (ended.map(|rows| rows[2].len()), house.count("manifests WHERE id = ?1", post.as_str()))
    };
    assert_eq!(commit(&mut house, 0), (Ok(0), 0), "there is no session");
    assert_eq!(house.number("SELECT count(*) FROM sessions"), 0);
    made(house.commit("s", &[("/a", "1")], &[]));
    assert_eq!(commit(&mut house, 0), (Ok(1), 1), "the session of the commit");
    let found = SessionId::parse("s").unwrap();
    house.batch(&[sessions::delete(&house.workspace, &found)]).unwrap();
    assert_eq!(commit(&mut house, 0), (Ok(0), 0));
    assert_eq!(house.number("SELECT count(*) FROM sessions WHERE deleted = 0"), 0);
    made(house.commit("s", &[("/a", "2")], &[]));
    let (ended, manifests) = commit(&mut house, 0);
    let refused = DbFailure::Refused(ended.unwrap_err());
    assert!(sessions::is_of_another_agent(&refused) && manifests == 0, "{refused:?}");
    assert_eq!(house.present("s"), held(&[("/a", "2")]));
    assert_eq!(commit(&mut house, 1), (Ok(1), 1));
    house.check();
}

#[test]
fn the_cost_follows_the_changed_paths() {
    let mut house = House::new();
    for (session, files) in [("few", 10), ("many", 2_000)] {
        steps(&mut house, session, files, "first");
    }
    let (few, many) = (steps(&mut house, "few", 1, "a"), steps(&mut house, "many", 1, "b"));
    assert!(many < few + few / 10, "one file among 10 takes {few} steps, among 2,000 {many}");
    let (ten, thousand) = (steps(&mut house, "many", 10, "c"), steps(&mut house, "many", 1_000, "d"));
    assert!(thousand < 110 * ten, "10 files take {ten} steps, 1,000 files {thousand}");
    // Overwriting, creating and deleting alike.
    let all = (0..1_000).map(|it| format!("/d/{it}")).collect::<Vec<_>>();
    let writes = all.iter().map(|it| (it.as_str(), "new")).collect::<Vec<_>>();
    made(house.commit("other", &writes, &[]));
    let deletions = all.iter().map(String::as_str).collect::<Vec<_>>();
    let last = made(house.commit("other", &[("/d", "a file now")], &deletions));
    assert_eq!(house.files("other", &last), held(&[("/d", "a file now")]));
    house.check();
}

/// Each commit after a checkout of the one before makes the labels longer, until a new tree begins.
#[test]
fn a_commit_may_begin_a_new_tree() {
    let mut house = House::new();
    let first = made(house.commit("s", &[("/a", "0"), ("/d/b", "0"), ("/d/c", "0")], &[]));
    for turn in 0..30 {
        let text = turn.to_string();
        let next = made(house.commit("s", &[("/a", &text), ("/e", &text)], &["/d/b"]));
        made(house.commit("s", &[("/a", "undone"), ("/u", "undone")], &["/d/c"]));
        house.check_out("s", &next);
        assert_eq!(house.files("s", &next), held(&[("/a", &text), ("/d/c", "0"), ("/e", &text)]));
        house.check();
    }
    assert_eq!(house.files("s", &first), held(&[("/a", "0"), ("/d/b", "0"), ("/d/c", "0")]));
    assert!(house.number("SELECT count(DISTINCT tree_id) FROM manifests") > 1);
}

/// The paths of as many files as there may be, each as long as a path may be, take several parameters.
#[test]
fn the_longest_paths_fit() {
    let mut house = House::new();
    let name = |number: usize, letter: &str| format!("/{number:04}{}", letter.repeat(1_000));
    let names = |letter: &str| (0..2_000).map(|it| name(it, letter)).collect::<Vec<_>>();
    let (old, new) = (names("x"), names("y"));
    let write = |paths: &'_ [String]| paths.iter().map(|it| (it.clone(), "1".to_owned())).collect::<Vec<_>>();
    for (writes, deletions) in [(write(&old), Vec::new()), (write(&new), old.clone())] {
        let writes = writes.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect::<Vec<_>>();
        let deletions = deletions.iter().map(String::as_str).collect::<Vec<_>>();
        let made = made(house.commit("s", &writes, &deletions));
        assert_eq!(house.files("s", &made).len(), 2_000);
        assert_eq!(house.present("s"), house.files("s", &made));
    }
    house.check();
    let mut deep = DraftChanges::default();
    for number in 0..4 {
        let path = format!("/{number}{}", "/d".repeat(510));
        deep.write(FilePath::parse(&path).unwrap(), Blob::text(String::new())).unwrap();
    }
    let refusal = deep.never_writable().map(|it| it.to_string()).unwrap();
    assert!(refusal.starts_with("Cannot write the files: the paths of their directories have 10"), "{refusal}");
}

#[test]
fn contents_are_read_as_they_are_stored() {
    let mut house = House::new();
    let mut changes = DraftChanges::default();
    let mebi = 1024 * 1024;
    let text = |bytes: usize| Blob::text("x".repeat(bytes));
    let blobs = [text(3), text(3 * mebi + 5), Blob::new(vec![255; mebi]), text(0), text(mebi)];
    for (number, blob) in blobs.iter().enumerate() {
        changes.write(FilePath::parse(&format!("/{number}")).unwrap(), blob.clone()).unwrap();
    }
    made(house.commit_changes("s", &changes));
    // Contents that are older than the column `data` have all chunks in the other table.
    house
        .database
        .execute_batch(
            "INSERT INTO blob_chunks SELECT workspace_id, sha256, 0, data FROM blobs WHERE size = 1048576 AND encoding = 'utf8';
             UPDATE blobs SET data = NULL WHERE size = 1048576 AND encoding = 'utf8';",
        )
        .unwrap();
    let read = |wanted: &[(&str, u32)], bytes: usize| {
        let statement = blob::find_pieces(&house.workspace, wanted, u32::try_from(bytes).unwrap());
        let piece = |row: Value| {
            let at = blobs.iter().position(|it| it.sha256() == row["sha256"].as_str().unwrap()).unwrap();
            let number = |name: &str| row[name].as_u64().unwrap();
            (at, number("number"), number("count"), row["data"].as_str().unwrap().len())
        };
        statement.rows_of(&house.database).unwrap().into_iter().map(piece).collect::<Vec<_>>()
    };
    let all = blobs.iter().map(|it| (it.sha256(), 0)).collect::<Vec<_>>();
    let first = read(&all, 4 * mebi);
    assert_eq!(first, [(0, 0, 1, 3), (1, 0, 4, mebi), (1, 1, 4, mebi), (1, 2, 4, mebi), (1, 3, 4, 5)]);
    assert_eq!(read(&[(blobs[1].sha256(), 3)], 4 * mebi), [(1, 3, 4, 5)]);
    assert_eq!(read(&[(blobs[1].sha256(), 0)], 5), [(1, 0, 4, mebi)], "one chunk at least");
    let rest = read(&all[2..], 4 * mebi);
    assert_eq!(rest, [(2, 0, 2, mebi), (2, 1, 2, mebi / 3 + 3), (3, 0, 1, 0), (4, 0, 1, mebi)]);
    assert_eq!(read(&[("0", 0)], mebi), [], "contents that are not there");
    let other = WorkspaceId::parse("other").unwrap();
    assert!(blob::find_pieces(&other, &all, 9).rows_of(&house.database).unwrap().is_empty());
}

#[test]
fn a_session_that_went_back_to_no_files_begins_anew() {
    let mut house = House::new();
    let one = made(house.commit("s", &[("/a", "1")], &[]));
    let two = made(house.commit("s", &[("/b", "2")], &[]));
    for text in ["3", "4"] {
        house.database.execute_batch("UPDATE sessions SET active_manifest_id = NULL").unwrap();
        assert!(house.present("s").is_empty());
        let anew = made(house.commit("s", &[("/c", text), ("/d", "5")], &[]));
        assert_eq!(house.present("s"), held(&[("/c", text), ("/d", "5")]));
        let next = made(house.commit("s", &[("/a", "6")], &[]));
        assert_eq!(house.files("s", &next), held(&[("/a", "6"), ("/c", text), ("/d", "5")]));
        assert_eq!(house.files("s", &anew), held(&[("/c", text), ("/d", "5")]));
        house.check();
    }
    // The old files are still there, and can be gone on with.
    assert_eq!(house.files("s", &two), held(&[("/a", "1"), ("/b", "2")]));
    house.check_out("s", &two);
    let on = made(house.commit("s", &[("/b", "7")], &[]));
    assert_eq!(house.files("s", &on), held(&[("/a", "1"), ("/b", "7")]));
    assert_eq!(house.files("s", &one), held(&[("/a", "1")]));
    house.check();
}
