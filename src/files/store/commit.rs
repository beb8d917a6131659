//! SQL that makes file manifests. One transaction finds out which file manifest a change is based on, decides whether
//! the change is possible, and makes it. So the database puts racing writers one after the other, and no writer builds
//! on an outdated file manifest.

use super::lookup::FileView;
use super::{NEXT_PATH, SEEN, held_before, held_by, parse_stored_manifest_id, walk};
use crate::db::{Param, Rows, Statement, sql};
use crate::error::Result;
use crate::files::{Blob, FileChangeOrigin, FilePath};
use crate::ids::{AgentId, FileManifestId, SessionId, WorkspaceId};
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
    pub(super) fn bind_new(&self, statement: Statement) -> Statement {
        statement
            .bind(self.manifest.as_str())
            .bind(self.origin.source.as_str())
            .bind(self.origin.source_ref.as_deref())
            .bind(self.now.to_string())
    }
}

/// How many files a deletion removes at most in its own batch. If there are more, the batch only marks the directory as
/// cleared, and the sweep removes its files in pieces.
const FILES_DELETED_AT_ONCE: u32 = 1_000;

/// Creates the session with a tree of its own, if no session has that name. A deleted session whose file manifests the
/// sweep has not deleted yet leaves its row to the new session.
pub fn create_session_if_missing(
    workspace: &WorkspaceId,
    session: &SessionId,
    agent: Option<&AgentId>,
    tree: &str,
    now: Timestamp,
) -> Statement {
    create_session("true", workspace, session, agent, tree, now)
}

/// The same, if the agent exists.
pub fn create_session_of_agent_if_missing(
    workspace: &WorkspaceId,
    session: &SessionId,
    agent: &AgentId,
    tree: &str,
    now: Timestamp,
) -> Statement {
    let exists = "EXISTS (SELECT 1 FROM agents WHERE workspace_id = ?1 AND id = ?5)";
    create_session(exists, workspace, session, Some(agent), tree, now)
}

fn create_session(
    only_if: &str,
    workspace: &WorkspaceId,
    session: &SessionId,
    agent: Option<&AgentId>,
    tree: &str,
    now: Timestamp,
) -> Statement {
    sql(format!(
        "INSERT INTO sessions (workspace_id, id, tree_id, created_at, updated_at, agent_id)
         SELECT ?1, ?2, ?3, ?4, ?4, ?5 WHERE {only_if}
         ON CONFLICT (workspace_id, id) DO UPDATE SET
           generation = generation + 1, deleted = 0, tree_id = excluded.tree_id, active_manifest_id = NULL,
           head_id = NULL, forks = 0, created_at = excluded.created_at, updated_at = excluded.updated_at,
           agent_id = excluded.agent_id, active_message_id = NULL
         WHERE deleted = 1"
    ))
    .bind(workspace.as_str())
    .bind(session.as_str())
    .bind(tree)
    .bind(now.to_string())
    .bind(agent.map(AgentId::as_str))
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
           SELECT seen.tree_id, seen.id, seen.line, seen.seq, seen.label, seen.created_at, seen.generation,
             seen.head_id, seen.forks, coalesce(seen.files, 0) AS files, coalesce(seen.bytes, 0) AS bytes, old.sha256, old.size,
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
pub(super) const COLUMNS: &str = "workspace_id, session_id, generation, tree_id, line, seq, parent_id, id, source, source_ref, \
    created_at, files, bytes";

/// The tree, line and number of the file manifest `id` that follows `base` (a row like `seen`). If `base` is the file
/// manifest that its session made last, the new file manifest continues the line of `base`. Otherwise the new file
/// manifest begins a line that forks from `base`.
///
/// A session that went back to having no files begins another tree, because the first labels of the old one are used.
///
/// If the name of the line is too long, the new file manifest begins a tree of its own, which has the name `id`.
/// [`insert_copies`] then copies the entries of all files. The bound balances the two costs. Every fork makes all later
/// labels longer, and so the cost of `n` forks grows with the square of `n`. A new tree costs an entry for each file. So
/// the square of a line's length is bounded by the number of files.
pub(super) fn successor(base: &str, id: &str) -> String {
    let continues = format!("{base}.id = {base}.head_id");
    let line = format!("CASE WHEN {base}.id IS NULL THEN '' WHEN {continues} THEN {base}.line ELSE {} END", fork(base));
    let new_tree = format!("({base}.id IS NULL AND {base}.head_id IS NOT NULL OR {})", too_long(&line, base));
    format!(
        "CASE WHEN {new_tree} THEN {id} ELSE {base}.tree_id END,
         CASE WHEN {new_tree} THEN '' ELSE {line} END,
         CASE WHEN {continues} AND NOT {new_tree} THEN {base}.seq + 1 ELSE 1 END"
    )
}

fn too_long(line: &str, base: &str) -> String {
    format!("length({line}) * length({line}) > 1000 + 400 * coalesce({base}.files, 0)")
}

/// The name of the next line that forks from the file manifest `base`, a row with the number of `forks` of its session.
fn fork(base: &str) -> String {
    format!("{base}.label || '.' || char(96 + length({base}.forks + 1)) || ({base}.forks + 1)")
}

/// Inserts the file manifest that holds one more file, or another file at the same path. Inserts nothing if there is an
/// obstacle to the file, or if the files would grow beyond `max_bytes`.
pub fn insert_manifest_with_file(commit: &FileCommit<'_>, path: &FilePath, blob: &Blob, max_bytes: u64) -> Statement {
    let text = format!(
        "{}
         INSERT INTO manifests ({COLUMNS}, path)
         SELECT ?1, ?2, place.generation, {}, place.id, ?8, ?9, ?10, max(?11, coalesce(place.created_at, '')),
           place.files + (place.sha256 IS NULL), place.bytes - coalesce(place.size, 0) + CAST(?12 AS INTEGER), ?4
         FROM place
         WHERE place.file_above IS NULL AND NOT place.is_directory
           AND (?12 <= coalesce(place.size, 0) OR place.bytes - coalesce(place.size, 0) + ?12 <= ?13)",
        place(),
        successor("place", "?8")
    );
    commit.bind_new(commit.sql_at(path, text).bind(above(path))).bind(blob.size()).bind(Param::Number(max_bytes as f64))
}

/// The end of the line `line` at `path`: the contents that the path had before the line wrote it. File manifests after
/// the line then do not see the line's files.
pub(super) fn end_of_line(line: &str, tree: &str, path: &str, from: &str, condition: &str) -> String {
    let end = format!("{line} || '~'");
    format!(
        "SELECT ?1, {tree}, {path}, {end}, before.sha256, before.size, 0, 0 FROM {from}
         LEFT JOIN file_entries before ON {}
         WHERE {condition} AND {line} <> ''",
        held_before(tree, &end, path, "before")
    )
}

pub(super) const ENTRY_COLUMNS: &str = "workspace_id, tree_id, path, label, sha256, size, alone, first_use";

/// `m`, a new file manifest, with each cleared directory `cleared` around `path` that the sweep has not finished, and the
/// entry `e` that the path had before the directory was cleared.
pub(super) fn cleared_around(path: &str, cleared: &str) -> String {
    format!(
        "manifests m CROSS JOIN cleared_directories {cleared} ON {cleared}.workspace_id = ?1
           AND {cleared}.tree_id = m.tree_id AND {cleared}.label < m.label AND m.label < {cleared}.line || '~'
           AND {path} >= {cleared}.first AND {path} < {cleared}.last
         CROSS JOIN file_entries e ON {}",
        held_before(&format!("{cleared}.tree_id"), &format!("{cleared}.label"), path, "e")
    )
}

/// Inserts the entry of the file manifest at `path`. The first entry of a path in a line also inserts an entry at the
/// end of the line.
///
/// If the path is in a cleared directory that the sweep has not finished, the statement first does the work of the sweep
/// for this path. So all entries of a path are complete as soon as something is written there.
pub fn insert_entry(workspace: &WorkspaceId, manifest: &FileManifestId, path: &FilePath, blob: &Blob) -> Statement {
    let made = "m.workspace_id = ?1 AND m.id = ?2";
    let cleared = cleared_around("?3", "c");
    let was_there = format!("{made} AND e.sha256 IS NOT NULL");
    sql(format!(
        "INSERT INTO file_entries ({ENTRY_COLUMNS})
         SELECT ?1, m.tree_id, ?3, m.label, ?4, CAST(?5 AS INTEGER), 1,
           NOT EXISTS (SELECT 1 FROM blobs WHERE workspace_id = ?1 AND sha256 = ?4)
         FROM manifests m WHERE {made}
         UNION ALL {}
         UNION ALL SELECT ?1, c.tree_id, ?3, c.label, NULL, NULL, 0, 0 FROM {cleared} WHERE {was_there}
         UNION ALL {}
         ON CONFLICT DO NOTHING",
        end_of_line("m.line", "m.tree_id", "?3", "manifests m", made),
        end_of_line("c.line", "c.tree_id", "?3", &cleared, &was_there)
    ))
    .bind(workspace.as_str())
    .bind(manifest.as_str())
    .bind(path.as_str())
    .bind(blob.sha256())
    .bind(blob.size())
}

/// Copies all files of the parent into the tree of the file manifest, if the file manifest begins a tree. The statement
/// comes after the entries of the file manifest itself, which stay as they are. Files at the path `without` or below it
/// are not copied.
pub fn insert_copies(workspace: &WorkspaceId, manifest: &FileManifestId, without: Option<&FilePath>) -> Statement {
    let (start, end) = without.map(FilePath::below).unwrap_or_default();
    sql(format!(
        "WITH RECURSIVE seen AS MATERIALIZED (
           SELECT base.tree_id, base.label FROM manifests m
           CROSS JOIN manifests base ON base.workspace_id = ?1 AND base.id = m.parent_id
           WHERE m.workspace_id = ?1 AND m.id = ?2 AND m.tree_id = m.id),
         {}
         INSERT INTO file_entries (workspace_id, tree_id, path, label, sha256, size)
         SELECT ?1, ?2, e.path, 'a1', e.sha256, e.size FROM walk CROSS JOIN file_entries e ON {}
         WHERE e.sha256 IS NOT NULL AND e.path <> ?3 AND NOT (e.path >= ?4 AND e.path < ?5)
         ON CONFLICT DO NOTHING",
        walk("'/'", NEXT_PATH, "'0'"),
        held_by("walk", "walk.path", "e")
    ))
    .bind(workspace.as_str())
    .bind(manifest.as_str())
    .bind(without.map_or("", FilePath::as_str))
    .bind(start)
    .bind(end)
}

/// `doomed`: the files to delete, at a path or below it. `limit` is the SQL that limits their number.
fn doomed(limit: &str) -> String {
    format!(
        "WITH RECURSIVE {SEEN}, {},
         doomed AS MATERIALIZED (
           SELECT e.path, e.size FROM seen CROSS JOIN file_entries e ON {} WHERE e.sha256 IS NOT NULL
           UNION ALL
           SELECT path, size FROM below {limit})",
        below(),
        held_by("seen", "?4", "e")
    )
}

/// Inserts the file manifest that holds nothing at or below a path. Inserts nothing if the path is empty already.
pub fn insert_manifest_without(commit: &FileCommit<'_>, path: &FilePath) -> Statement {
    let text = format!(
        "{}, gone AS MATERIALIZED (SELECT count(*) AS files, sum(size) AS bytes FROM doomed)
         INSERT INTO manifests ({COLUMNS})
         SELECT ?1, ?2, seen.generation, {}, seen.id, ?7, ?8, ?9, max(?10, seen.created_at),
           seen.files - gone.files, seen.bytes - gone.bytes
         FROM seen CROSS JOIN gone WHERE gone.files > 0",
        doomed(""),
        successor("seen", "?7")
    );
    commit.bind_new(commit.sql_at(path, text))
}

/// `m`, the new file manifest `id`, and `base`, its parent. The difference of their numbers of files tells how many
/// files the new file manifest deletes.
fn made_from(id: &str) -> String {
    format!(
        "manifests m CROSS JOIN manifests base ON base.workspace_id = ?1 AND base.id = m.parent_id
         AND m.workspace_id = ?1 AND m.id = {id}"
    )
}

/// Inserts the entries that say that files no longer exist, if they are few. The statement reads the session's present,
/// and so it must run before [`activate`].
pub fn insert_absences(commit: &FileCommit<'_>, path: &FilePath) -> Statement {
    let from = format!("{} CROSS JOIN doomed", made_from("?7"));
    let few = format!("base.files - m.files <= {FILES_DELETED_AT_ONCE}");
    let text = format!(
        "{} INSERT INTO file_entries ({ENTRY_COLUMNS})
         SELECT ?1, m.tree_id, doomed.path, m.label, NULL, NULL, 0, 0 FROM {from} WHERE {few}
         UNION ALL {}
         ON CONFLICT DO NOTHING",
        doomed(&format!("LIMIT {FILES_DELETED_AT_ONCE}")),
        end_of_line("m.line", "m.tree_id", "doomed.path", &from, &few)
    );
    commit.sql_at(path, text).bind(commit.manifest.as_str())
}

/// Marks a directory as cleared, if the file manifest deletes too many files for [`insert_absences`]. A file manifest
/// that begins a tree needs no mark, because the files are not copied into its tree.
pub fn insert_cleared_directory(workspace: &WorkspaceId, manifest: &FileManifestId, path: &FilePath) -> Statement {
    let (start, end) = path.below();
    sql(format!(
        "INSERT INTO cleared_directories (workspace_id, tree_id, label, line, first, last, reached)
         SELECT ?1, m.tree_id, m.label, m.line, ?3, ?4, ?3 FROM {}
         WHERE base.files - m.files > {FILES_DELETED_AT_ONCE} AND m.tree_id <> m.id",
        made_from("?2")
    ))
    .bind(workspace.as_str())
    .bind(manifest.as_str())
    .bind(start)
    .bind(end)
}

/// `base`: the file manifest `at` of the existing session `from`, with the number of forks of this session.
fn base(from: &str, at: &str) -> String {
    format!(
        "(SELECT m.*, s.forks FROM sessions s CROSS JOIN manifests m
           ON m.workspace_id = ?1 AND m.id = {at} AND m.session_id = s.id AND m.generation = s.generation
         WHERE s.workspace_id = ?1 AND s.id = {from} AND s.deleted = 0) base"
    )
}

/// Inserts the session that begins with the branch `commit` of the session `from` at the file manifest `at`, unless a
/// session has that name. A deleted session whose file manifests the sweep has not deleted yet leaves its row to the new
/// session.
pub fn insert_branch_session(commit: &FileCommit<'_>, from: &SessionId, at: &FileManifestId) -> Statement {
    sql(format!(
        "INSERT INTO sessions (workspace_id, id, tree_id, active_manifest_id, head_id, created_at, updated_at, agent_id)
         SELECT ?1, ?2, base.tree_id, ?3, ?3, ?6, ?6, ?7 FROM {} WHERE true
         ON CONFLICT (workspace_id, id) DO UPDATE SET
           generation = generation + 1, deleted = 0, tree_id = excluded.tree_id,
           active_manifest_id = excluded.active_manifest_id, head_id = excluded.head_id, forks = 0,
           created_at = excluded.created_at, updated_at = excluded.updated_at, agent_id = excluded.agent_id,
           active_message_id = NULL
         WHERE deleted = 1",
        base("?4", "?5")
    ))
    .bind(commit.workspace.as_str())
    .bind(commit.session.as_str())
    .bind(commit.manifest.as_str())
    .bind(from.as_str())
    .bind(at.as_str())
    .bind(commit.now.to_string())
    .bind(commit.origin.agent.as_ref().map(AgentId::as_str))
}

/// Inserts the first file manifest of the new session, if [the session was made](insert_branch_session). This file
/// manifest is on a line of its own, so that neither session affects the other.
pub fn insert_branch(commit: &FileCommit<'_>, from: &SessionId, at: &FileManifestId) -> Statement {
    let line = fork("base");
    let too_long = too_long(&line, "base");
    let statement = sql(format!(
        "INSERT INTO manifests ({COLUMNS})
         SELECT ?1, ?2, made.generation, CASE WHEN {too_long} THEN ?5 ELSE base.tree_id END,
           CASE WHEN {too_long} THEN '' ELSE {line} END, 1, base.id, ?5, ?6, ?7, max(?8, base.created_at),
           base.files, base.bytes
         FROM {} CROSS JOIN sessions made
           ON made.workspace_id = ?1 AND made.id = ?2 AND made.active_manifest_id = ?5",
        base("?3", "?4")
    ))
    .bind(commit.workspace.as_str())
    .bind(commit.session.as_str())
    .bind(from.as_str())
    .bind(at.as_str());
    commit.bind_new(statement)
}

/// Counts the line of a branch among the forks of the session from which the branch was made.
pub fn count_branch(commit: &FileCommit<'_>, from: &SessionId) -> Statement {
    sql("UPDATE sessions SET forks = forks + 1 WHERE workspace_id = ?1 AND id = ?2
           AND EXISTS (SELECT 1 FROM manifests WHERE workspace_id = ?1 AND id = ?3)")
    .bind(commit.workspace.as_str())
    .bind(from.as_str())
    .bind(commit.manifest.as_str())
}

/// Makes the new file manifest the session's present. If the present before was not the file manifest that the session
/// made last, a line has forked.
pub fn activate(commit: &FileCommit<'_>) -> Statement {
    sql("UPDATE sessions SET active_manifest_id = ?3, head_id = ?3,
           forks = forks + (active_manifest_id IS NOT head_id), updated_at = ?4
         WHERE workspace_id = ?1 AND id = ?2
           AND EXISTS (SELECT 1 FROM manifests WHERE workspace_id = ?1 AND id = ?3)")
    .bind(commit.workspace.as_str())
    .bind(commit.session.as_str())
    .bind(commit.manifest.as_str())
    .bind(commit.now.to_string())
}
