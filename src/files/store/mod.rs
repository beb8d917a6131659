//! SQL for sessions, file manifests, their files and contents. This file holds the SQL that several statements share.
//! docs/files.md explains trees, lines and labels.

pub mod blob;
pub mod bundle;
pub mod commit;
pub mod draft;
pub mod lookup;
pub mod session;
pub mod sweep;
pub mod usage;

use crate::error::{Error, Result};
use crate::ids::FileManifestId;

/// `seen`: the session `?2`, if it exists, with its file manifest `?3`, or with its present if `?3` is null. The
/// columns of the file manifest are null if there is no such file manifest.
const SEEN: &str = "seen AS MATERIALIZED (
    SELECT coalesce(m.tree_id, s.tree_id) AS tree_id, m.id, m.line, m.seq, m.label, m.created_at, m.files, m.bytes,
      s.generation, s.head_id, s.forks, s.agent_id FROM sessions s
    LEFT JOIN manifests m ON m.workspace_id = s.workspace_id AND m.id = coalesce(?3, s.active_manifest_id)
      AND m.session_id = s.id AND m.generation = s.generation
    WHERE s.workspace_id = ?1 AND s.id = ?2 AND s.deleted = 0)";

/// A condition that holds for the entry `entry` that the file manifest `at` (a row with `tree_id` and `label`) sees at
/// `path`. The condition costs one seek. The entry may say that there is no such file. No entry may hold.
fn held_by(at: &str, path: &str, entry: &str) -> String {
    held(&format!("{at}.tree_id"), "<=", &format!("{at}.label"), path, entry)
}

/// As [`held_by`], for the place in the tree just before `label`. No file manifest need be there.
fn held_before(tree: &str, label: &str, path: &str, entry: &str) -> String {
    held(tree, "<", label, path, entry)
}

/// A condition that holds for the last entry at `path` up to `label` (with `<=`) or before it (with `<`), unless the
/// entry is in a directory that was deleted later, and whose paths the sweep has not reached yet.
fn held(tree: &str, until: &str, label: &str, path: &str, entry: &str) -> String {
    format!(
        "{entry}.workspace_id = ?1 AND {entry}.tree_id = {tree} AND {entry}.path = {path} AND {entry}.label = (
           SELECT max(label) FROM file_entries
           WHERE workspace_id = ?1 AND tree_id = {tree} AND path = {path} AND label {until} {label})
         AND NOT EXISTS (
           SELECT 1 FROM cleared_directories cleared
           WHERE cleared.workspace_id = ?1 AND cleared.tree_id = {tree}
             AND cleared.label > {entry}.label AND cleared.label {until} {label} AND {label} < cleared.line || '~'
             AND {path} >= cleared.first AND {path} < cleared.last)"
    )
}

/// `walk`: every path that was ever written in the tree of `seen`, from `first` on and before `end`. Each path costs
/// one seek, however many versions it has. `next` is the SQL for the place where the walk goes on after `walk.path`.
/// The path of the last row is null.
fn walk(first: &str, next: &str, end: &str) -> String {
    let find = |at: &str, from: &str| {
        format!(
            "SELECT e.path FROM file_entries e
             WHERE e.workspace_id = ?1 AND e.tree_id = {at}.tree_id AND e.path >= {from} AND e.path < {end}
             ORDER BY e.path LIMIT 1"
        )
    };
    format!(
        "walk(tree_id, label, path) AS (
           SELECT seen.tree_id, seen.label, ({}) FROM seen WHERE seen.label IS NOT NULL
           UNION ALL
           SELECT walk.tree_id, walk.label, ({}) FROM walk WHERE walk.path IS NOT NULL)",
        find("seen", first),
        find("walk", next)
    )
}

/// For [`walk`]: goes on to the very next path. No path has a character that sorts before the space.
const NEXT_PATH: &str = "walk.path || char(1)";

fn parse_stored_manifest_id(id: &str) -> Result<FileManifestId> {
    FileManifestId::parse(id).ok_or_else(|| Error::Internal(format!("the manifest {id} has a broken id")))
}
