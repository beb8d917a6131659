//! SQL for sessions, manifests, their files and the contents of those. The words that the statements share are here;
//! 0013_version_files.sql says what labels and lines are.

pub mod blob;
pub mod commit;
pub mod lookup;
pub mod session;
pub mod sweep;

use crate::error::{Error, Result};
use crate::ids::FileManifestId;

/// `seen`: the session `?2`, if there is one, with its manifest `?3` or, where that is null, with its present one.
/// The manifest's columns are null if there is no such manifest.
const SEEN: &str = "seen AS MATERIALIZED (
    SELECT s.tree_id, m.id, m.line, m.seq, m.label, m.created_at, m.files, m.bytes FROM sessions s
    LEFT JOIN manifests m
      ON m.workspace_id = s.workspace_id AND m.id = coalesce(?3, s.active_manifest_id) AND m.session_id = s.id
    WHERE s.workspace_id = ?1 AND s.id = ?2)";

/// True of the entry `entry` that the manifest `at` (a row with `tree_id` and `label`) holds at `path`: one seek. The
/// entry may say that there is no such file.
fn held_by(at: &str, path: &str, entry: &str) -> String {
    format!(
        "{entry}.workspace_id = ?1 AND {entry}.tree_id = {at}.tree_id AND {entry}.path = {path} AND {entry}.label = (
           SELECT max(label) FROM file_entries
           WHERE workspace_id = ?1 AND tree_id = {at}.tree_id AND path = {path} AND label <= {at}.label)"
    )
}

/// `walk`: every path of the tree of `seen` that was ever written, from `first` on and before `end`, one seek each
/// however many versions it has. `next` tells where to look on after `walk.path`. The last row's path is null.
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

/// For [`walk`]: on to the very next path. None has a character before the space.
const NEXT_PATH: &str = "walk.path || char(1)";

fn parse_stored_manifest_id(id: &str) -> Result<FileManifestId> {
    FileManifestId::parse(id).ok_or_else(|| Error::Internal(format!("the manifest {id} has a broken id")))
}
