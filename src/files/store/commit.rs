//! SQL that makes file manifests. One transaction finds out which file manifest a change is based on, decides whether
//! the change is possible, and makes it. So the database puts racing writers one after the other, and no writer builds
//! on an outdated file manifest.

use super::lookup::FileView;
use super::{NEXT_PATH, SEEN, held_by, parse_stored_manifest_id, walk};
use crate::db::{Param, Rows, Statement, sql};
use crate::error::Result;
use crate::files::{Blob, FileChangeOrigin, FilePath};
use crate::ids::{FileManifestId, SessionId, WorkspaceId};
use crate::time::Timestamp;
use serde::Deserialize;

/// A file manifest that a batch is to make.
pub struct FileCommit<'a> {
    pub workspace: &'a WorkspaceId,
    pub session: &'a SessionId,
    pub manifest: &'a FileManifestId,
    pub origin: &'a FileChangeOrigin,
    pub now: Timestamp,
}

impl FileCommit<'_> {
    /// Begins a statement that uses [`SEEN`] at the session's present, about a path `?4` and everything below it, from
    /// `?5` to `?6`.
    fn sql_at(&self, path: &FilePath, text: String) -> Statement {
        let (start, end) = path.below();
        let present = FileView { workspace: self.workspace, session: self.session, at: None };
        present.sql(text).bind(path.as_str()).bind(start).bind(end)
    }

    /// Binds the columns of the new file manifest that do not come from the file manifest before it.
    fn bind_new(&self, statement: Statement) -> Statement {
        statement
            .bind(self.manifest.as_str())
            .bind(self.origin.source.as_str())
            .bind(self.origin.source_ref.as_deref())
            .bind(self.now.to_string())
    }
}

/// Creates the session with a tree of its own, if no session has that name.
pub fn create_session_if_missing(
    workspace: &WorkspaceId,
    session: &SessionId,
    tree: &str,
    now: Timestamp,
) -> Statement {
    sql("INSERT INTO sessions (workspace_id, id, tree_id, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?4)
         ON CONFLICT DO NOTHING")
    .bind(workspace.as_str())
    .bind(session.as_str())
    .bind(tree)
    .bind(now.to_string())
    .repeatable()
}

/// `below`: the files below the path.
fn below() -> String {
    format!(
        "{}, below AS (
           SELECT e.path, e.size FROM walk CROSS JOIN file_entries e ON {} WHERE e.sha256 IS NOT NULL)",
        walk("?5", NEXT_PATH, "?6"),
        held_by("walk", "walk.path", "e")
    )
}

/// `place`: the file at a path, the obstacle to a file there, and the file manifest around it. `?7` lists the
/// directories above the path. If the path already holds a file, nothing can be an obstacle, and the walk past deleted
/// paths below it is skipped.
fn place() -> String {
    format!(
        "WITH RECURSIVE {SEEN}, {},
         place AS MATERIALIZED (
           SELECT seen.tree_id, seen.id, seen.line, seen.seq, seen.label, seen.created_at,
             coalesce(seen.files, 0) AS files, coalesce(seen.bytes, 0) AS bytes, old.sha256, old.size,
             CASE WHEN old.sha256 IS NULL THEN (
               SELECT above.value FROM json_each(?7) above CROSS JOIN file_entries e ON {}
               WHERE e.sha256 IS NOT NULL LIMIT 1) END AS file_above,
             CASE WHEN old.sha256 IS NULL THEN EXISTS (SELECT 1 FROM below) ELSE 0 END AS is_directory
           FROM seen LEFT JOIN file_entries old ON {})",
        below(),
        held_by("seen", "above.value", "e"),
        held_by("seen", "?4", "old")
    )
}

/// The state of a path just before a write.
#[derive(Debug)]
pub struct WritePlace {
    pub manifest_id: Option<FileManifestId>,
    /// The size of the file at the path, if there is a file.
    pub size: Option<u32>,
    pub file_above: Option<String>,
    pub is_directory: bool,
    /// The size of all files of the session together.
    pub bytes: u64,
}

pub fn find_place(commit: &FileCommit<'_>, path: &FilePath) -> Statement {
    let text = format!("{} SELECT id AS manifest_id, size, file_above, is_directory, bytes FROM place", place());
    commit.sql_at(path, text).bind(above(path))
}

pub fn read_place(rows: &Rows) -> Result<Option<WritePlace>> {
    #[derive(Deserialize)]
    struct WritePlaceRow {
        manifest_id: Option<String>,
        size: Option<u32>,
        file_above: Option<String>,
        is_directory: u8,
        bytes: u64,
    }
    let Some(row) = rows.first::<WritePlaceRow>()? else { return Ok(None) };
    Ok(Some(WritePlace {
        manifest_id: row.manifest_id.as_deref().map(parse_stored_manifest_id).transpose()?,
        size: row.size,
        file_above: row.file_above,
        is_directory: row.is_directory != 0,
        bytes: row.bytes,
    }))
}

fn above(path: &FilePath) -> String {
    serde_json::json!(path.directories().collect::<Vec<_>>()).to_string()
}

/// The columns of a file manifest, except its label, which the database derives from them.
const COLUMNS: &str =
    "workspace_id, session_id, tree_id, line, seq, parent_id, id, source, source_ref, created_at, files, bytes";

/// The line and number of the file manifest that follows `base`, whose line is `l`. If `base` is the last file manifest
/// of its line, the new file manifest continues this line. Otherwise the new file manifest begins a line that forks
/// from `base`.
fn successor(base: &str) -> String {
    format!(
        "CASE WHEN {base}.id IS NULL THEN '' WHEN l.head = {base}.seq THEN {base}.line ELSE {} END,
         CASE WHEN l.head = {base}.seq THEN {base}.seq + 1 ELSE 1 END",
        fork(base)
    )
}

/// The name of the next line that forks from the file manifest `base`, whose line is `l`.
fn fork(base: &str) -> String {
    format!("{base}.label || '.' || char(96 + length(l.forks + 1)) || (l.forks + 1)")
}

/// `l`: the line of the file manifest `base`.
fn line_of(base: &str) -> String {
    format!("lines l ON l.workspace_id = ?1 AND l.tree_id = {base}.tree_id AND l.line = {base}.line")
}

/// Inserts the file manifest that holds one more file, or another file at the same path. Inserts nothing if there is an
/// obstacle to the file, or if the files would grow beyond `max_bytes`.
pub fn insert_manifest_with_file(commit: &FileCommit<'_>, path: &FilePath, blob: &Blob, max_bytes: u64) -> Statement {
    let text = format!(
        "{}
         INSERT INTO manifests ({COLUMNS})
         SELECT ?1, ?2, place.tree_id, {}, place.id, ?8, ?9, ?10, max(?11, coalesce(place.created_at, '')),
           place.files + (place.sha256 IS NULL), place.bytes - coalesce(place.size, 0) + CAST(?12 AS INTEGER)
         FROM place LEFT JOIN {}
         WHERE place.file_above IS NULL AND NOT place.is_directory
           AND (?12 <= coalesce(place.size, 0) OR place.bytes - coalesce(place.size, 0) + ?12 <= ?13)",
        place(),
        successor("place"),
        line_of("place")
    );
    commit.bind_new(commit.sql_at(path, text).bind(above(path))).bind(blob.size()).bind(Param::Number(max_bytes as f64))
}

/// Counts the file manifest in its line. If the file manifest begins a line, also counts this line among the forks of
/// its parent's line.
pub fn count_in_lines(workspace: &WorkspaceId, manifest: &FileManifestId) -> Statement {
    sql("INSERT INTO lines (workspace_id, tree_id, line, head, forks)
         SELECT workspace_id, tree_id, line, seq, 0 FROM manifests WHERE workspace_id = ?1 AND id = ?2
         UNION ALL
         SELECT m.workspace_id, m.tree_id, base.line, base.seq, 1 FROM manifests m
         CROSS JOIN manifests base ON base.workspace_id = m.workspace_id AND base.id = m.parent_id
         WHERE m.workspace_id = ?1 AND m.id = ?2 AND m.line <> base.line
         ON CONFLICT (workspace_id, tree_id, line)
         DO UPDATE SET head = max(head, excluded.head), forks = forks + excluded.forks")
    .bind(workspace.as_str())
    .bind(manifest.as_str())
}

/// Inserts the entry that the file manifest `m` makes at `path`. The first entry of a path in a line also inserts an
/// entry at the end of the line. The entry at the end restores the contents that the path had before the line wrote it,
/// so that file manifests after the line do not see the line's files.
fn entries(path: &str, sha256: &str, size: &str, from: &str, condition: &str) -> String {
    format!(
        "INSERT INTO file_entries (workspace_id, tree_id, path, label, sha256, size)
         SELECT m.workspace_id, m.tree_id, {path}, m.label, {sha256}, {size} FROM {from} WHERE {condition}
         UNION ALL
         SELECT m.workspace_id, m.tree_id, {path}, m.line || '~', before.sha256, before.size FROM {from}
         LEFT JOIN file_entries before
           ON before.workspace_id = ?1 AND before.tree_id = m.tree_id AND before.path = {path} AND before.label = (
             SELECT max(label) FROM file_entries
             WHERE workspace_id = ?1 AND tree_id = m.tree_id AND path = {path} AND label < m.line || '~')
         WHERE {condition} AND m.line <> ''
         ON CONFLICT DO NOTHING"
    )
}

pub fn insert_entry(workspace: &WorkspaceId, manifest: &FileManifestId, path: &FilePath, blob: &Blob) -> Statement {
    sql(entries("?3", "?4", "CAST(?5 AS INTEGER)", "manifests m", "m.workspace_id = ?1 AND m.id = ?2"))
        .bind(workspace.as_str())
        .bind(manifest.as_str())
        .bind(path.as_str())
        .bind(blob.sha256())
        .bind(blob.size())
}

/// `doomed`: the files to delete, at a path or below it.
fn doomed() -> String {
    format!(
        "WITH RECURSIVE {SEEN}, {},
         doomed AS MATERIALIZED (
           SELECT e.path, e.size FROM seen CROSS JOIN file_entries e ON {} WHERE e.sha256 IS NOT NULL
           UNION ALL
           SELECT path, size FROM below)",
        below(),
        held_by("seen", "?4", "e")
    )
}

/// Inserts the file manifest that holds nothing at or below a path. Inserts nothing if the path is empty already.
pub fn insert_manifest_without(commit: &FileCommit<'_>, path: &FilePath) -> Statement {
    let text = format!(
        "{}
         INSERT INTO manifests ({COLUMNS})
         SELECT ?1, ?2, seen.tree_id, {}, seen.id, ?7, ?8, ?9, max(?10, seen.created_at),
           seen.files - (SELECT count(*) FROM doomed), seen.bytes - (SELECT sum(size) FROM doomed)
         FROM seen CROSS JOIN {}
         WHERE EXISTS (SELECT 1 FROM doomed)",
        doomed(),
        successor("seen"),
        line_of("seen")
    );
    commit.bind_new(commit.sql_at(path, text))
}

/// Inserts the entries that say that files no longer exist. The statement reads the session's present, and so it must
/// run before [`activate`].
pub fn insert_absences(commit: &FileCommit<'_>, path: &FilePath) -> Statement {
    let made = "m.workspace_id = ?1 AND m.id = ?7";
    let entries = entries("doomed.path", "NULL", "NULL", "manifests m CROSS JOIN doomed", made);
    commit.sql_at(path, format!("{} {entries}", doomed())).bind(commit.manifest.as_str())
}

/// Inserts the session that begins with the branch `commit` of the session `from` at the file manifest `at`.
pub fn insert_branch_session(commit: &FileCommit<'_>, from: &SessionId, at: &FileManifestId) -> Statement {
    sql("INSERT INTO sessions (workspace_id, id, tree_id, active_manifest_id, created_at, updated_at)
         SELECT ?1, ?2, base.tree_id, ?3, ?6, ?6 FROM manifests base
         WHERE base.workspace_id = ?1 AND base.session_id = ?4 AND base.id = ?5")
    .bind(commit.workspace.as_str())
    .bind(commit.session.as_str())
    .bind(commit.manifest.as_str())
    .bind(from.as_str())
    .bind(at.as_str())
    .bind(commit.now.to_string())
}

/// Inserts the first file manifest of the new session. This file manifest is on a line of its own, so that neither
/// session affects the other.
pub fn insert_branch(commit: &FileCommit<'_>, from: &SessionId, at: &FileManifestId) -> Statement {
    let statement = sql(format!(
        "INSERT INTO manifests ({COLUMNS})
         SELECT ?1, ?2, base.tree_id, {}, 1, base.id, ?5, ?6, ?7, max(?8, base.created_at), base.files, base.bytes
         FROM manifests base CROSS JOIN {}
         WHERE base.workspace_id = ?1 AND base.session_id = ?3 AND base.id = ?4",
        fork("base"),
        line_of("base")
    ))
    .bind(commit.workspace.as_str())
    .bind(commit.session.as_str())
    .bind(from.as_str())
    .bind(at.as_str());
    commit.bind_new(statement)
}

/// Makes the new file manifest the session's present.
pub fn activate(commit: &FileCommit<'_>) -> Statement {
    sql("UPDATE sessions SET active_manifest_id = ?3, updated_at = ?4 WHERE workspace_id = ?1 AND id = ?2
           AND EXISTS (SELECT 1 FROM manifests WHERE workspace_id = ?1 AND id = ?3)")
    .bind(commit.workspace.as_str())
    .bind(commit.session.as_str())
    .bind(commit.manifest.as_str())
    .bind(commit.now.to_string())
}
