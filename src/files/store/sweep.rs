//! SQL for the sweep, which covers all workspaces: file manifests whose retention has ended, and rows that nothing can
//! reach any more.

use super::{held_before, usage};
use crate::db::{Statement, first_bytes, sql};
use crate::time::Timestamp;
use serde::Deserialize;

/// How many file manifests retention checks in one run.
pub const MANIFESTS: u32 = 2_000;

/// How many deleted sessions one batch looks at, and how many file manifests of these sessions the batch deletes.
const DEAD_SESSIONS: u32 = 20;
const DEAD_MANIFESTS: u32 = 1_000;

/// How many messages of deleted sessions one batch looks at, and about how many bytes of them it deletes at most.
const DEAD_MESSAGES: u32 = 500;
const DEAD_MESSAGE_BYTES: u32 = 16 * 1024 * 1024;

/// How many paths of a cleared directory one batch looks at.
const CLEARED_PATHS: u32 = 1_000;

/// How many stale trees one batch reads. Each tree takes up to three statements.
pub const TREES: u32 = 20;

/// How many entries of stale trees one batch reads.
pub const ENTRIES: u32 = 1_000;

/// How many stale blobs one batch reads.
const BLOBS: u32 = 500;

/// One batch frees blobs of about this many bytes at most, because D1 reads everything that it frees.
const BLOB_BYTES: u32 = 16 * 1024 * 1024;

/// The file manifests that retention checks next.
#[derive(Deserialize)]
pub struct OldFileManifests {
    /// The number of these file manifests.
    pub count: u32,
    /// The key of the last file manifest.
    pub last: Option<u32>,
    /// Whether one of the file manifests is too young to be deleted.
    pub young: u8,
}

pub fn find_old_manifests(before: Timestamp) -> Statement {
    sql("SELECT count(*) AS count, max(key) AS last, coalesce(max(created_at) >= ?1, 0) AS young FROM (
           SELECT key, created_at FROM manifests WHERE key > (SELECT looked_at FROM retention) ORDER BY key LIMIT +?2)")
    .bind(before.to_string())
    .bind(MANIFESTS)
}

/// Deletes the file manifests up to the key `last` that are older than `before`, are no session's present, have not been a
/// present since `before`, and are named by no message.
pub fn delete_old_manifests(before: Timestamp, last: u32) -> Statement {
    sql("DELETE FROM manifests AS m WHERE m.key > (SELECT looked_at FROM retention) AND m.key <= ?2 AND m.created_at < ?1
           AND NOT EXISTS (SELECT 1 FROM sessions s
             WHERE s.workspace_id = m.workspace_id AND s.id = m.session_id AND s.active_manifest_id = m.id)
           AND NOT EXISTS (SELECT 1 FROM past_presents p WHERE p.manifest_key = m.key AND p.ended_at >= ?1)
           AND NOT EXISTS (SELECT 1 FROM messages g INDEXED BY messages_by_manifest
             WHERE g.workspace_id = m.workspace_id AND g.manifest_id = m.id)")
    .bind(before.to_string())
    .bind(last)
}

/// Makes the next run of retention begin after the key `last`.
pub fn move_retention(last: u32) -> Statement {
    sql("UPDATE retention SET looked_at = ?1 WHERE looked_at <> ?1").bind(last)
}

/// Deletes some messages and some file manifests of the first deleted sessions, and then the sessions that have none
/// left. A session that has some left waits until all others have had their turn. The first two statements delete nothing
/// if no session waits.
pub fn delete_dead_sessions() -> [Statement; 4] {
    let first = "(SELECT * FROM dead_sessions ORDER BY turn LIMIT +?1) d";
    let of_session = "m.workspace_id = d.workspace_id AND m.session_id = d.session_id AND m.generation = d.generation";
    let message_of_session =
        "g.workspace_id = d.workspace_id AND g.session_id = d.session_id AND g.generation = d.generation";
    let messages = first_bytes(
        &format!("SELECT g.key, g.bytes FROM {first} CROSS JOIN messages g ON {message_of_session} LIMIT +?2"),
        "key",
        DEAD_MESSAGE_BYTES,
    );
    [
        sql(format!("DELETE FROM messages WHERE key IN (SELECT key FROM ({messages}))"))
            .bind(DEAD_SESSIONS)
            .bind(DEAD_MESSAGES),
        sql(format!(
            "DELETE FROM manifests WHERE key IN (
               SELECT m.key FROM {first} CROSS JOIN manifests m INDEXED BY manifests_by_session ON {of_session} LIMIT +?2)"
        ))
        .bind(DEAD_SESSIONS)
        .bind(DEAD_MANIFESTS),
        sql(format!(
            "DELETE FROM dead_sessions WHERE turn IN (
               SELECT d.turn FROM {first} WHERE NOT EXISTS (
                 SELECT 1 FROM manifests m INDEXED BY manifests_by_session WHERE {of_session})
                 AND NOT EXISTS (SELECT 1 FROM messages g WHERE {message_of_session}))"
        ))
        .bind(DEAD_SESSIONS),
        sql("UPDATE dead_sessions SET turn = (SELECT max(turn) + 1 FROM dead_sessions)
             WHERE turn = (SELECT min(turn) FROM dead_sessions)"),
    ]
}

/// Forgets the first cleared directory if no file manifest is left for which it was cleared. No file manifest can follow
/// from one that does not exist.
pub fn forget_cleared_directory() -> Statement {
    sql("DELETE FROM cleared_directories AS c WHERE c.turn = (SELECT min(turn) FROM cleared_directories)
           AND NOT EXISTS (SELECT 1 FROM manifests m WHERE m.workspace_id = c.workspace_id AND m.tree_id = c.tree_id
             AND m.label >= c.label AND m.label < c.line || '~')")
}

/// The first cleared directory, and the next paths in it.
#[derive(Deserialize)]
pub struct ClearedDirectory {
    pub turn: u32,
    pub workspace_id: String,
    pub tree_id: String,
    pub label: String,
    pub line: String,
    /// The path after which the next paths begin.
    pub reached: String,
    /// The last of the next paths. None if there are none.
    pub upto: Option<String>,
    /// Whether no path follows.
    pub done: u8,
}

pub fn find_cleared_directory() -> Statement {
    let next = |after: &str| {
        format!(
            "(SELECT e.path FROM file_entries e WHERE e.workspace_id = c.workspace_id AND e.tree_id = c.tree_id
                AND e.path > {after} AND e.path < c.last ORDER BY e.path LIMIT 1)"
        )
    };
    sql(format!(
        "WITH RECURSIVE c AS MATERIALIZED (SELECT * FROM cleared_directories ORDER BY turn LIMIT 1),
         walk(number, path) AS (
           SELECT 1, {} FROM c
           UNION ALL
           SELECT walk.number + 1, {} FROM walk CROSS JOIN c WHERE walk.path IS NOT NULL AND walk.number < ?1)
         SELECT c.turn, c.workspace_id, c.tree_id, c.label, c.line, c.reached, w.upto, w.done FROM c
         CROSS JOIN (SELECT max(path) AS upto, max(path IS NULL) AS done FROM walk) w",
        next("c.reached"),
        next("walk.path")
    ))
    .bind(CLEARED_PATHS)
}

/// Inserts the entries that say that the next files of a cleared directory no longer exist, and then moves on. The
/// entries are those that a deletion of few files inserts in its own batch.
pub fn clear_paths(cleared: &ClearedDirectory) -> [Statement; 3] {
    let next = |after: &str| {
        format!(
            "(SELECT e.path FROM file_entries e WHERE e.workspace_id = ?1 AND e.tree_id = ?2
                AND e.path > {after} AND e.path <= ?6 ORDER BY e.path LIMIT 1)"
        )
    };
    let upto = cleared.upto.as_deref().unwrap_or(&cleared.reached);
    let entries = sql(format!(
        "WITH RECURSIVE walk(path) AS (
           SELECT {} WHERE EXISTS (
             SELECT 1 FROM manifests WHERE workspace_id = ?1 AND tree_id = ?2 AND label >= ?3 AND label < ?4 || '~')
           UNION ALL
           SELECT {} FROM walk WHERE walk.path IS NOT NULL),
         doomed AS MATERIALIZED (
           SELECT walk.path FROM walk CROSS JOIN file_entries e ON {} WHERE e.sha256 IS NOT NULL)
         INSERT INTO file_entries (workspace_id, tree_id, path, label, sha256, size)
         SELECT ?1, ?2, doomed.path, ?3, NULL, NULL FROM doomed WHERE true
         UNION ALL
         SELECT ?1, ?2, doomed.path, ?4 || '~', before.sha256, before.size FROM doomed
         LEFT JOIN file_entries before ON {}
         WHERE ?4 <> ''
         ON CONFLICT DO NOTHING",
        next("?5"),
        next("walk.path"),
        held_before("?2", "?3", "walk.path", "e"),
        held_before("?2", "?4 || '~'", "doomed.path", "before")
    ));
    let bound = [&cleared.workspace_id, &cleared.tree_id, &cleared.label, &cleared.line, &cleared.reached];
    let entries = bound.into_iter().fold(entries, |statement, value| statement.bind(value.as_str())).bind(upto);
    let moved = if cleared.done != 0 {
        sql("DELETE FROM cleared_directories WHERE turn = ?1 AND reached = ?2")
    } else {
        sql("UPDATE cleared_directories SET reached = ?3, turn = (SELECT max(turn) + 1 FROM cleared_directories)
             WHERE turn = ?1 AND reached = ?2")
    };
    let moved = moved.bind(cleared.turn).bind(cleared.reached.as_str());
    let counted = usage::count_entries(&cleared.workspace_id);
    [entries, counted, if cleared.done != 0 { moved } else { moved.bind(upto) }]
}

/// An entry of a stale tree, and the place after which the search in this tree began. The entry is null if no entry
/// follows that place.
#[derive(Clone, Deserialize)]
pub struct StaleEntry {
    pub workspace_id: String,
    pub tree_id: String,
    pub after_path: String,
    pub after_label: String,
    pub path: Option<String>,
    pub label: Option<String>,
}

/// The next entries to check, tree after tree. The statement selects the first trees by their turn, not by a join with
/// a limited subquery: SQLite would not know that the rows of such a subquery are in order, and would sort all their
/// entries. The `+` takes away the column affinity of the place. With affinity, SQLite would seek by the path only, and
/// would walk past all versions of the path.
pub fn find_stale_entries() -> Statement {
    sql("SELECT t.workspace_id, t.tree_id, t.path AS after_path, t.label AS after_label, e.path, e.label
         FROM stale_trees t
         LEFT JOIN file_entries e ON e.workspace_id = t.workspace_id AND e.tree_id = t.tree_id
           AND (e.path, e.label) > (+t.path, +t.label)
         WHERE t.turn <= (SELECT max(turn) FROM (SELECT turn FROM stale_trees ORDER BY turn LIMIT +?1))
         ORDER BY t.turn, e.path, e.label LIMIT +?2")
    .bind(TREES)
    .bind(ENTRIES)
}

/// A part of a stale tree: the entries after one place and up to another.
#[derive(Debug, PartialEq)]
pub struct StaleTreeSpan {
    pub workspace_id: String,
    pub tree_id: String,
    pub after_path: String,
    pub after_label: String,
    pub path: String,
    pub label: String,
    /// Whether no entry follows.
    pub last: bool,
}

impl StaleTreeSpan {
    /// Begins a statement about the tree `?1`, `?2`, from the place `?3`, `?4` to the place `?5`, `?6`.
    fn sql(&self, text: String) -> Statement {
        [&self.workspace_id, &self.tree_id, &self.after_path, &self.after_label, &self.path, &self.label]
            .into_iter()
            .fold(sql(text), |statement, value| statement.bind(value.as_str()))
    }
}

/// Deletes the entries of the span that no file manifest sees, now or in the future.
///
/// An entry is seen by the file manifests from its own label on and before the label of the next entry at the same
/// path. An entry at the end of a line is needed longer: as long as the line has an entry that a file manifest sees, or
/// that would be seen after the line if the end were missing. So an entry at the end of a line counts from its `start`:
/// the first entry of the path in the line, or in a line that forks from this line. The `start` of any other entry is
/// its own label. An entry is garbage if no file manifest has a label from `start` on and before the next entry's
/// label.
///
/// Existing file manifests see no garbage, by this definition. A future file manifest sees no garbage either. The label
/// of a future file manifest comes after all lines that fork from its parent, and the file manifest must see the entry
/// that the parent sees. This entry is not garbage, because the parent exists. Between the label of the parent and the
/// new label there are only whole lines. For each of these lines, either the entry at its end stays, which holds the
/// same contents, or the whole line is deleted. So the spans before this span must not have left a part of the line
/// behind. The last condition ensures this, and the sweep will read the tree again.
pub fn delete_garbage(span: &StaleTreeSpan) -> Statement {
    let of_path = "o.workspace_id = ?1 AND o.tree_id = ?2 AND o.path = e.path";
    let first_after =
        |label: &str| format!("(SELECT min(o.label) FROM file_entries o WHERE {of_path} AND o.label > {label})");
    let next = first_after("e.label");
    let start = format!("iif(e.label LIKE '%~', {}, e.label)", first_after("rtrim(e.label, '~')"));
    // SQLite finds all rows before it deletes the first one, because the table has a trigger.
    span.sql(format!(
        "DELETE FROM file_entries AS e WHERE e.workspace_id = ?1 AND e.tree_id = ?2
           AND (e.path, e.label) > (?3, ?4) AND (e.path, e.label) <= (?5, ?6)
           AND NOT EXISTS (
             SELECT 1 FROM manifests m WHERE m.workspace_id = ?1 AND m.tree_id = ?2
               AND m.label >= {start} AND m.label < coalesce({next}, '~'))
           AND (e.path, {start}) > (?3, ?4)"
    ))
}

/// A condition that holds for the stale tree of a span, unless another run has moved on in it.
const STALE: &str = "workspace_id = ?1 AND tree_id = ?2 AND (path, label) = (?3, ?4)";

/// Makes the next search of this tree begin where the span ended, after all other trees have had their turn.
pub fn move_on(span: &StaleTreeSpan) -> Vec<Statement> {
    let to_the_end = "turn = (SELECT max(turn) + 1 FROM stale_trees)";
    if !span.last {
        return vec![span.sql(format!("UPDATE stale_trees SET {to_the_end}, path = ?5, label = ?6 WHERE {STALE}"))];
    }
    // New entries may have been written since the span was read.
    let ended = format!(
        "{STALE} AND NOT EXISTS (
           SELECT 1 FROM file_entries e WHERE e.workspace_id = ?1 AND e.tree_id = ?2 AND (e.path, e.label) > (?5, ?6))"
    );
    vec![
        span.sql(format!("DELETE FROM stale_trees WHERE {ended} AND again = 0")),
        span.sql(format!("UPDATE stale_trees SET {to_the_end}, path = '', label = '', again = 0 WHERE {ended}")),
    ]
}

/// Removes the next blobs from the list of those that lost a reference. A trigger deletes the blobs that have no
/// reference left. Contents that were stored ahead of their commit wait until `keep_until`.
pub fn delete_blobs(now: Timestamp) -> Statement {
    let due = "(keep_until IS NULL OR keep_until <= ?3)";
    sql(format!(
        "DELETE FROM stale_blobs WHERE {due} AND turn <= (
           SELECT max(turn) FROM (
             SELECT s.turn, sum(b.size) OVER (ORDER BY s.turn) - b.size AS before
             FROM (SELECT * FROM stale_blobs WHERE {due} ORDER BY turn LIMIT +?1) s
             CROSS JOIN blobs b ON b.workspace_id = s.workspace_id AND b.sha256 = s.sha256)
           WHERE before < ?2)"
    ))
    .bind(BLOBS)
    .bind(BLOB_BYTES)
    .bind(now.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::native::{migrated, migrations};
    use rusqlite::Connection;

    /// Two sessions, each with an old file manifest, and messages of which one names such a file manifest.
    const ROWS: &str = "
        INSERT INTO sessions (workspace_id, id, tree_id, created_at, updated_at) VALUES ('w', 'a', 'ta', '', ''),
          ('w', 'b', 'tb', '', '');
        INSERT INTO manifests (workspace_id, id, session_id, tree_id, line, seq, source, created_at, files, bytes)
          VALUES ('w', 'm1', 'a', 'ta', '', 1, 'edit', '', 1, 1), ('w', 'm2', 'a', 'ta', '', 2, 'edit', '', 1, 1),
            ('w', 'm3', 'b', 'tb', '', 1, 'edit', '', 1, 1);
        WITH RECURSIVE n(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < 1199)
        INSERT INTO messages (workspace_id, session_id, generation, id, depth, line, line_start, role, manifest_id,
          created_at, bytes, chunks, parts)
        SELECT 'w', iif(n < 1190, 'a', 'b'), 0, 'g' || n, n, 1, 0, 'user', iif(n = 7, 'm2', NULL), '', 602, 1, '[]' FROM n;";

    fn count(database: &Connection, rest: &str) -> u32 {
        database.query_row(&format!("SELECT count(*) FROM {rest}"), [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn retention_keeps_what_a_message_names() {
        let database = migrated(&migrations("db"));
        database.execute_batch(ROWS).unwrap();
        let now = Timestamp::parse("2026-11-18T00:00:00.000Z").unwrap();
        let delete = delete_old_manifests(now, 1_000);
        let plan = delete.plan_of(&database);
        assert!(plan.contains("messages_by_manifest (workspace_id=? AND manifest_id=?)"), "{plan}");
        delete.rows_of(&database).unwrap();
        assert_eq!((count(&database, "manifests"), count(&database, "manifests WHERE id = 'm2'")), (1, 1));
    }

    #[test]
    fn the_messages_of_a_deleted_session_go_in_pieces() {
        let database = migrated(&migrations("db"));
        database.execute_batch(ROWS).unwrap();
        let usage =
            || database.query_row("SELECT sum(calls_bytes) FROM workspace_usage", [], |row| row.get::<_, u32>(0));
        assert_eq!(usage().unwrap(), 1_200 * 602);
        database.execute("UPDATE sessions SET deleted = 1 WHERE id = 'a'", []).unwrap();
        let mut left = Vec::new();
        for _ in 0..3 {
            for statement in delete_dead_sessions() {
                statement.rows_of(&database).unwrap();
            }
            left.push((count(&database, "messages WHERE session_id = 'a'"), count(&database, "sessions")));
        }
        assert_eq!(left, [(690, 2), (190, 2), (0, 1)]);
        assert_eq!((count(&database, "messages"), usage().unwrap()), (10, 10 * 602));
    }
}
