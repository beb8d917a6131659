//! SQL for reading the files of a file manifest.

use super::blob::{BlobStart, FIRST_CHUNK};
use super::{NEXT_PATH, SEEN, held_by, parse_stored_manifest_id, walk};
use crate::callers::token_may_see;
use crate::db::{Rows, Statement, first_bytes, sql};
use crate::error::{Error, Result};
use crate::files::FilePath;
use crate::files::blob::BlobEncoding;
use crate::files::listing::{DirectoryEntry, DirectoryEntryKind};
use crate::ids::{FileManifestId, SessionId, TokenId, WorkspaceId};
use serde::Deserialize;

/// Which files a statement reads: those of a session at a file manifest, or at present.
#[derive(Clone, Copy)]
pub struct FileView<'a> {
    pub workspace: &'a WorkspaceId,
    pub session: &'a SessionId,
    pub at: Option<&'a FileManifestId>,
}

impl FileView<'_> {
    /// Begins a statement that uses [`SEEN`], and binds its parameters `?1` to `?3`.
    pub(super) fn sql(self, text: String) -> Statement {
        sql(text).bind(self.workspace.as_str()).bind(self.session.as_str()).bind(self.at.map(FileManifestId::as_str))
    }
}

/// The result of a statement about an existing session, with the file manifest that was searched.
pub struct FoundInFileManifest<T> {
    /// None if nothing has been written yet, or if the session has no such file manifest.
    pub manifest_id: Option<FileManifestId>,
    pub found: T,
}

/// A file with only the first chunk of its contents.
pub struct FileStart {
    pub size: u32,
    pub start: BlobStart,
}

#[derive(Deserialize)]
struct FileRow {
    manifest_id: Option<String>,
    sha256: Option<String>,
    size: Option<u32>,
    encoding: Option<BlobEncoding>,
    chunks: Option<u32>,
    data: Option<String>,
}

/// The file with its first chunk. There is one row if the session exists and the token may see it, even if the file does
/// not exist.
pub fn find_file(view: FileView<'_>, token: Option<&TokenId>, path: &FilePath) -> Statement {
    view.sql(format!(
        "WITH {SEEN}
         SELECT seen.id AS manifest_id, e.sha256, e.size, b.encoding, b.chunks, {FIRST_CHUNK} FROM seen
         LEFT JOIN file_entries e ON {}
         LEFT JOIN blobs b ON b.workspace_id = ?1 AND b.sha256 = e.sha256
         LEFT JOIN blob_chunks c ON b.data IS NULL AND c.workspace_id = ?1 AND c.sha256 = e.sha256 AND c.chunk = 0
         WHERE true",
        held_by("seen", "?4", "e")
    ))
    .bind(path.as_str())
    .and(token_may_see(view.workspace, token, "seen.agent_id"))
}

/// None if there is no such session for the token.
pub fn read_file(rows: &Rows) -> Result<Option<FoundInFileManifest<Option<FileStart>>>> {
    let Some(row) = rows.first::<FileRow>()? else { return Ok(None) };
    let manifest_id = row.manifest_id.as_deref().map(parse_stored_manifest_id).transpose()?;
    let found = match (row.sha256, row.size, row.encoding, row.chunks, row.data) {
        (None, ..) => None,
        (Some(sha256), Some(size), Some(encoding), Some(chunks), Some(data)) => {
            Some(FileStart { size, start: BlobStart { sha256, encoding, chunks, data } })
        }
        (Some(sha256), ..) => return Err(Error::Internal(format!("the contents {sha256} of a file are not there"))),
    };
    Ok(Some(FoundInFileManifest { manifest_id, found }))
}

/// The file manifest that a view names. There is one row if the session exists and the token may see it.
pub fn find_manifest(view: FileView<'_>, token: Option<&TokenId>) -> Statement {
    view.sql(format!("WITH {SEEN} SELECT id FROM seen WHERE true")).and(token_may_see(
        view.workspace,
        token,
        "seen.agent_id",
    ))
}

/// None if there is no such session for the token.
pub fn read_manifest(rows: &Rows) -> Result<Option<FoundInFileManifest<()>>> {
    #[derive(Deserialize)]
    struct SeenRow {
        id: Option<String>,
    }
    let Some(row) = rows.first::<SeenRow>()? else { return Ok(None) };
    Ok(Some(FoundInFileManifest {
        manifest_id: row.id.as_deref().map(parse_stored_manifest_id).transpose()?,
        found: (),
    }))
}

/// A file manifest, with the number and the size of its files. There is one row if the session exists and the token may
/// see it.
pub fn find_totals(view: FileView<'_>, token: Option<&TokenId>) -> Statement {
    let text =
        format!("WITH {SEEN} SELECT id, coalesce(files, 0) AS files, coalesce(bytes, 0) AS bytes FROM seen WHERE true");
    view.sql(text).and(token_may_see(view.workspace, token, "seen.agent_id"))
}

/// The number and the size of the files of a file manifest.
#[derive(Clone, Copy)]
pub struct FileTotals {
    pub files: u32,
    pub bytes: u64,
}

/// None if there is no such session for the token.
pub fn read_totals(rows: &Rows) -> Result<Option<FoundInFileManifest<FileTotals>>> {
    #[derive(Deserialize)]
    struct TotalsRow {
        id: Option<String>,
        files: u32,
        bytes: u64,
    }
    let Some(row) = rows.first::<TotalsRow>()? else { return Ok(None) };
    Ok(Some(FoundInFileManifest {
        manifest_id: row.id.as_deref().map(parse_stored_manifest_id).transpose()?,
        found: FileTotals { files: row.files, bytes: row.bytes },
    }))
}

/// The entries of a directory: directories first, then by name.
pub fn list_children(view: FileView<'_>, dir: &FilePath, limit: u32) -> Statement {
    let (start, end) = dir.below();
    let children = children("?4");
    view.sql(format!("{children} SELECT * FROM children ORDER BY kind, name LIMIT +?6"))
        .bind(start)
        .bind(end)
        .bind(limit)
}

/// The entry after which a page of a directory begins.
#[derive(Clone, Copy)]
pub enum DirectoryPosition<'a> {
    Start,
    AfterDirectory(&'a str),
    AfterFile(&'a str),
}

/// A page of the entries of a directory: directories first, then by name. As long as directories remain to be shown,
/// the statement walks past all children, because names sort differently from the paths below them (`a-b/c` sorts
/// before `a/c`). After the directories, a page costs only the rows that it shows.
pub fn page_children(view: FileView<'_>, dir: &FilePath, position: DirectoryPosition<'_>, limit: u32) -> Statement {
    let (start, end) = dir.below();
    let (text, after) = match position {
        DirectoryPosition::Start => return list_children(view, dir, limit),
        DirectoryPosition::AfterDirectory(name) => (
            format!(
                "{} SELECT * FROM children WHERE (kind, name) > ('directory', ?7) ORDER BY kind, name LIMIT +?6",
                children("?4")
            ),
            name,
        ),
        DirectoryPosition::AfterFile(name) => {
            (format!("{} SELECT * FROM children WHERE kind = 'file' LIMIT +?6", children("?4 || ?7 || char(1)")), name)
        }
    };
    view.sql(text).bind(start).bind(end).bind(limit).bind(after)
}

/// `children`: the entries of the directory whose paths begin with `?4` and sort before `?5`, from `first` on. A file
/// further down stands for the directory that contains it, and the walk skips the other files of that directory. So the
/// cost grows with the number of children.
fn children(first: &str) -> String {
    let is_below = |rest: &str| format!("instr({rest}, '/') > 0");
    let held = held_by("walk", "walk.path", "e");
    let rest = "substr(walk.path, length(?4) + 1)";
    let next = format!(
        "CASE WHEN {} AND EXISTS (SELECT 1 FROM file_entries e WHERE {held} AND e.sha256 IS NOT NULL)
           THEN substr(walk.path, 1, length(?4) + instr({rest}, '/') - 1) || '0' ELSE {NEXT_PATH} END",
        is_below(rest)
    );
    let walk = walk(first, &next, "?5");
    let below = is_below("rest");
    format!(
        "WITH RECURSIVE {SEEN}, {walk},
         alive AS (
           SELECT {rest} AS rest, e.sha256, e.size FROM walk CROSS JOIN file_entries e ON {held}
           WHERE e.sha256 IS NOT NULL),
         children AS (
           SELECT iif({below}, 'directory', 'file') AS kind,
             iif({below}, substr(rest, 1, instr(rest, '/') - 1), rest) AS name,
             iif({below}, NULL, sha256) AS sha256, iif({below}, NULL, size) AS size
           FROM alive)"
    )
}

#[derive(Deserialize)]
struct ChildRow {
    name: String,
    sha256: Option<String>,
    size: Option<u32>,
}

pub fn read_children(rows: &Rows, dir: &FilePath) -> Result<Vec<DirectoryEntry>> {
    let entry = |row: ChildRow| DirectoryEntry {
        path: dir.join(&row.name),
        name: row.name,
        kind: match (row.sha256, row.size) {
            (Some(sha256), Some(size)) => DirectoryEntryKind::File { sha256, size },
            _ => DirectoryEntryKind::Directory,
        },
    };
    Ok(rows.all::<ChildRow>()?.into_iter().map(entry).collect())
}

/// A path, with the SHA-256 and size of its file.
#[derive(Deserialize)]
pub struct ListedFile {
    pub path: String,
    pub sha256: String,
    pub size: u32,
}

/// The files of a file manifest after the path `after`, by path.
pub fn list_files(view: FileView<'_>, after: Option<&str>, limit: u32) -> Statement {
    view.sql(format!(
        "WITH RECURSIVE {SEEN}, {}
         SELECT e.path, e.sha256, e.size FROM walk CROSS JOIN file_entries e ON {}
         WHERE e.sha256 IS NOT NULL LIMIT +?5",
        walk("?4 || char(1)", NEXT_PATH, "'0'"),
        held_by("walk", "walk.path", "e")
    ))
    .bind(after.unwrap_or("/"))
    .bind(limit)
}

/// How many files of [`list_all`] are one row. The longest paths of as many files fit into a value of D1.
const FILES_IN_ROW: u32 = 500;

/// The files of a file manifest, up to `limit`. Many files are one row of JSON, because each row costs more on its way than
/// what it holds.
pub fn list_all(view: FileView<'_>, limit: u32) -> Statement {
    view.sql(format!(
        "WITH RECURSIVE {SEEN}, {}
         SELECT CAST(part AS TEXT) AS part, json_group_array(json_array(path, sha256, size)) AS files FROM (
           SELECT e.path, e.sha256, e.size, (row_number() OVER () - 1) / {FILES_IN_ROW} AS part
           FROM walk CROSS JOIN file_entries e ON {} WHERE e.sha256 IS NOT NULL LIMIT +?4)
         GROUP BY part",
        walk("'/'", NEXT_PATH, "'0'"),
        held_by("walk", "walk.path", "e")
    ))
    .bind(limit)
    .selecting_texts()
}

pub fn read_all(rows: &Rows) -> Result<Vec<ListedFile>> {
    let mut files = Vec::new();
    for [_, listed] in rows.texts::<2>()? {
        let listed: Vec<(String, String, u32)> = serde_json::from_str(listed)
            .map_err(|cause| Error::Internal(format!("a list of files cannot be read: {cause}")))?;
        files.extend(listed.into_iter().map(|(path, sha256, size)| ListedFile { path, sha256, size }));
    }
    Ok(files)
}

pub fn read_files(rows: &Rows) -> Result<Vec<ListedFile>> {
    rows.all()
}

/// One path that differs between two file manifests. The columns of a side without a file are null.
#[derive(Deserialize)]
pub struct FileDifferenceRow {
    pub path: String,
    pub from_sha256: Option<String>,
    pub from_size: Option<u32>,
    pub to_sha256: Option<String>,
    pub to_size: Option<u32>,
    /// The contents, if they were asked for and are a text of up to [`MAX_COMPARED_BYTES`].
    #[serde(default)]
    pub from_text: Option<String>,
    #[serde(default)]
    pub to_text: Option<String>,
    /// Whether the contents have reached the size limit of a page, so that further rows may have been left out.
    #[serde(default)]
    pub full: u8,
}

/// The largest text whose difference is shown.
pub const MAX_COMPARED_BYTES: u32 = 100 * 1024;

/// How many bytes of texts a page of differences holds. A text counts twice, because line ends and quotes take two bytes
/// in JSON.
const MAX_COMPARED_BYTES_OF_PAGE: u32 = 4_000_000;

/// The paths after `after` at which two file manifests of a session differ, by path. With `contents`, small texts come
/// with their contents, and the size of the page is limited.
pub fn list_differences(
    workspace: &WorkspaceId,
    session: &SessionId,
    (from, to): (&FileManifestId, &FileManifestId),
    after: Option<&str>,
    contents: bool,
    limit: u32,
) -> Statement {
    let differences = differences();
    let text = if contents { with_contents(&differences) } else { differences };
    sql(text)
        .bind(workspace.as_str())
        .bind(session.as_str())
        .bind(from.as_str())
        .bind(to.as_str())
        .bind(after.unwrap_or_default())
        .bind(limit)
}

/// The differences with the contents of small texts, as many as a page may hold.
fn with_contents(differences: &str) -> String {
    let bytes_of = |size: &str| format!("iif({size} <= {MAX_COMPARED_BYTES}, 2 * {size}, 0)");
    let bytes = ["from_size", "to_size"].map(|it| bytes_of(&format!("coalesce({it}, 0)"))).join(" + ");
    let sized = format!("SELECT *, 500 + {bytes} AS bytes FROM ({differences})");
    let text_of = |side: &str, blob: &str, chunk: &str| {
        format!(
            "LEFT JOIN blobs {blob} ON {blob}.workspace_id = ?1 AND {blob}.sha256 = d.{side}_sha256
               AND d.{side}_size <= {MAX_COMPARED_BYTES} AND {blob}.encoding = 'utf8'
             LEFT JOIN blob_chunks {chunk} ON {blob}.data IS NULL AND {chunk}.workspace_id = ?1
               AND {chunk}.sha256 = {blob}.sha256 AND {chunk}.chunk = 0"
        )
    };
    format!(
        "SELECT d.path, d.from_sha256, d.from_size, d.to_sha256, d.to_size, d.full,
           coalesce(fb.data, fc.data) AS from_text, coalesce(tb.data, tc.data) AS to_text
         FROM ({}) d {} {} ORDER BY d.path",
        first_bytes(&sized, "path", MAX_COMPARED_BYTES_OF_PAGE),
        text_of("from", "fb", "fc"),
        text_of("to", "tb", "tc")
    )
}

/// The paths at which two file manifests differ. In one tree, only a path with an entry between their two labels can
/// differ. The entries are found in three ways: by the file manifest that made only this entry, by their label, and by a
/// cleared directory that the sweep has not finished. Between two trees, every path can differ.
fn differences() -> String {
    let side = |name: &str, id: &str| {
        format!(
            "{name} AS MATERIALIZED (
               SELECT tree_id, label FROM manifests WHERE workspace_id = ?1 AND session_id = ?2 AND id = {id})"
        )
    };
    let between = |label: &str| format!("{label} > t.low AND {label} <= t.high");
    format!(
        "WITH {}, {},
         same_tree AS MATERIALIZED (
           SELECT one.tree_id, min(one.label, other.label) AS low, max(one.label, other.label) AS high
           FROM one JOIN other ON other.tree_id = one.tree_id),
         touched AS MATERIALIZED (
           SELECT m.path FROM same_tree t CROSS JOIN manifests m
             ON m.workspace_id = ?1 AND m.tree_id = t.tree_id AND {} WHERE m.path > ?5
           UNION
           SELECT e.path FROM same_tree t CROSS JOIN file_entries e INDEXED BY file_entries_by_label
             ON e.workspace_id = ?1 AND e.tree_id = t.tree_id AND e.alone = 0 AND {} WHERE e.path > ?5
           UNION
           SELECT e.path FROM same_tree t
           CROSS JOIN cleared_directories c ON c.workspace_id = ?1 AND c.tree_id = t.tree_id AND (({}) OR ({}))
           CROSS JOIN file_entries e
             ON e.workspace_id = ?1 AND e.tree_id = t.tree_id AND e.path >= c.first AND e.path < c.last
           WHERE e.path > ?5
           UNION
           SELECT e.path FROM one JOIN other ON other.tree_id <> one.tree_id
           CROSS JOIN file_entries e ON e.workspace_id = ?1 AND e.tree_id IN (one.tree_id, other.tree_id)
           WHERE e.path > ?5
           ORDER BY 1)
         SELECT touched.path, a.sha256 AS from_sha256, a.size AS from_size, b.sha256 AS to_sha256, b.size AS to_size
         FROM touched CROSS JOIN one CROSS JOIN other
         LEFT JOIN file_entries a ON {}
         LEFT JOIN file_entries b ON {}
         WHERE a.sha256 IS NOT b.sha256 ORDER BY touched.path LIMIT +?6",
        side("one", "?3"),
        side("other", "?4"),
        between("m.label"),
        between("e.label || ''"),
        between("c.label"),
        between("c.line || '~'"),
        held_by("one", "touched.path", "a"),
        held_by("other", "touched.path", "b")
    )
}
