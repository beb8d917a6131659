//! SQL for the sweep, which is about all workspaces: what retention lets go, and what nobody can reach any more.

use crate::db::{Statement, sql};
use crate::time::Timestamp;
use serde::Deserialize;

/// How many manifests retention looks at in one run.
pub const MANIFESTS: u32 = 2_000;

/// How many stale trees are looked at in one batch: each takes up to three statements.
pub const TREES: u32 = 20;

/// How many entries of stale trees are looked at in one batch.
pub const ENTRIES: u32 = 1_000;

/// How many stale contents are looked at in one batch.
const BLOBS: u32 = 500;

/// The contents that are freed in one batch have about this many bytes at the most: D1 walks through all that it frees.
const BLOB_BYTES: u32 = 16 * 1024 * 1024;

/// The manifests that retention looks at next.
#[derive(Deserialize)]
pub struct OldFileManifests {
    /// How many there are.
    pub count: u32,
    /// The key of the last.
    pub last: Option<u32>,
    /// Whether one of them is to be kept for its youth.
    pub young: u8,
}

pub fn find_old_manifests(before: Timestamp) -> Statement {
    sql("SELECT count(*) AS count, max(key) AS last, coalesce(max(created_at) >= ?1, 0) AS young FROM (
           SELECT key, created_at FROM manifests WHERE key > (SELECT looked_at FROM retention) ORDER BY key LIMIT ?2)")
    .bind(before.to_string())
    .bind(MANIFESTS)
}

/// Deletes what is older than `before`, has not been a session's present since, and is none now, up to the key `last`.
pub fn delete_old_manifests(before: Timestamp, last: u32) -> Statement {
    sql("DELETE FROM manifests AS m WHERE m.key > (SELECT looked_at FROM retention) AND m.key <= ?2 AND m.created_at < ?1
           AND NOT EXISTS (SELECT 1 FROM sessions s
             WHERE s.workspace_id = m.workspace_id AND s.id = m.session_id AND s.active_manifest_id = m.id)
           AND NOT EXISTS (SELECT 1 FROM past_presents p WHERE p.manifest_key = m.key AND p.ended_at >= ?1)")
    .bind(before.to_string())
    .bind(last)
}

/// Lets retention look on after the key `last`.
pub fn move_retention(last: u32) -> Statement {
    sql("UPDATE retention SET looked_at = ?1").bind(last)
}

/// An entry of a stale tree, and after which of them the look began; no entry, where none follows.
#[derive(Clone, Deserialize)]
pub struct StaleEntry {
    pub workspace_id: String,
    pub tree_id: String,
    pub after_path: String,
    pub after_label: String,
    pub path: Option<String>,
    pub label: Option<String>,
}

/// The entries to look at, tree after tree. The first trees are told by their turn, and not by a subquery with a limit
/// that is joined: SQLite would not know that such rows come in order, and would sort all their entries. The place has lost its affinity (`+`), for
/// otherwise only its path would be sought by, and all versions of the path be walked past.
pub fn find_stale_entries() -> Statement {
    sql("SELECT t.workspace_id, t.tree_id, t.path AS after_path, t.label AS after_label, e.path, e.label
         FROM stale_trees t
         LEFT JOIN file_entries e ON e.workspace_id = t.workspace_id AND e.tree_id = t.tree_id
           AND (e.path, e.label) > (+t.path, +t.label)
         WHERE t.turn <= (SELECT max(turn) FROM (SELECT turn FROM stale_trees ORDER BY turn LIMIT ?1))
         ORDER BY t.turn, e.path, e.label LIMIT ?2")
    .bind(TREES)
    .bind(ENTRIES)
}

/// A part of a stale tree: its entries after one place and up to another.
#[derive(Debug, PartialEq)]
pub struct StaleTreeSpan {
    pub workspace_id: String,
    pub tree_id: String,
    pub after_path: String,
    pub after_label: String,
    pub path: String,
    pub label: String,
    /// Whether nothing follows.
    pub last: bool,
}

impl StaleTreeSpan {
    /// Begins a statement about the tree, `?1` and `?2`, from the place `?3` and `?4` to the place `?5` and `?6`.
    fn sql(&self, text: String) -> Statement {
        [&self.workspace_id, &self.tree_id, &self.after_path, &self.after_label, &self.path, &self.label]
            .into_iter()
            .fold(sql(text), |statement, value| statement.bind(value.as_str()))
    }
}

/// Deletes the entries of the span that no manifest sees, now or ever.
///
/// An entry is seen by the manifests from its own label on and before the label of the path's next entry. An entry at the
/// end of a line is needed, besides, as long as there is an entry in the line that a manifest sees, or that would be
/// seen after the line instead. So it counts from the path's first entry in the line (or in one that forks from it) on,
/// its `start`. An entry is garbage if no manifest has a label from its start on and before the next entry's.
///
/// Manifests that are there see none of it. Nor would one that is yet to come: it is put after all lines that fork from
/// its parent, and must see what the parent sees. That entry is no garbage, for the parent is there. Between the two lie
/// whole lines, and of each line either the end stays, which holds the same, or all of the line goes: hence nothing of
/// it may have been left behind by the spans before this one (the last condition; the tree will then be looked at again).
pub fn delete_garbage(span: &StaleTreeSpan) -> Statement {
    let of_path = "o.workspace_id = ?1 AND o.tree_id = ?2 AND o.path = e.path";
    let first_after =
        |label: &str| format!("(SELECT min(o.label) FROM file_entries o WHERE {of_path} AND o.label > {label})");
    let next = first_after("e.label");
    let start = format!("iif(e.label LIKE '%~', {}, e.label)", first_after("rtrim(e.label, '~')"));
    // SQLite finds all rows before it deletes the first, for there is a trigger.
    span.sql(format!(
        "DELETE FROM file_entries AS e WHERE e.workspace_id = ?1 AND e.tree_id = ?2
           AND (e.path, e.label) > (?3, ?4) AND (e.path, e.label) <= (?5, ?6)
           AND NOT EXISTS (
             SELECT 1 FROM manifests m WHERE m.workspace_id = ?1 AND m.tree_id = ?2
               AND m.label >= {start} AND m.label < coalesce({next}, '~'))
           AND (e.path, {start}) > (?3, ?4)"
    ))
}

/// True of the stale tree of a span as long as nobody else has moved on in it.
const STALE: &str = "workspace_id = ?1 AND tree_id = ?2 AND (path, label) = (?3, ?4)";

/// Lets the next look begin where the span ended; by then all other trees have had their turn.
pub fn move_on(span: &StaleTreeSpan) -> Vec<Statement> {
    let to_the_end = "turn = (SELECT max(turn) + 1 FROM stale_trees)";
    if !span.last {
        return vec![span.sql(format!("UPDATE stale_trees SET {to_the_end}, path = ?5, label = ?6 WHERE {STALE}"))];
    }
    // Entries may have come since the span was read.
    let ended = format!(
        "{STALE} AND NOT EXISTS (
           SELECT 1 FROM file_entries e WHERE e.workspace_id = ?1 AND e.tree_id = ?2 AND (e.path, e.label) > (?5, ?6))"
    );
    vec![
        span.sql(format!("DELETE FROM stale_trees WHERE {ended} AND again = 0")),
        span.sql(format!("UPDATE stale_trees SET {to_the_end}, path = '', label = '', again = 0 WHERE {ended}")),
    ]
}

/// Takes the next contents off the list of those that lost a reference. A trigger frees those that have none left.
pub fn delete_blobs() -> Statement {
    sql("DELETE FROM stale_blobs WHERE turn <= (
           SELECT max(turn) FROM (
             SELECT s.turn, sum(b.size) OVER (ORDER BY s.turn) - b.size AS before
             FROM (SELECT * FROM stale_blobs ORDER BY turn LIMIT ?1) s
             CROSS JOIN blobs b ON b.workspace_id = s.workspace_id AND b.sha256 = s.sha256)
           WHERE before < ?2)")
    .bind(BLOBS)
    .bind(BLOB_BYTES)
}
