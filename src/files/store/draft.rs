//! SQL that makes one file manifest of many changed and deleted paths. As for a single file, one transaction finds out
//! which file manifest the changes are based on, decides whether they are possible, and makes them.
//!
//! The changed paths travel as JSON, and no statement reads the files that stay. So the cost follows the number of changed
//! paths.

use super::commit::{COLUMNS, ENTRY_COLUMNS, FileCommit, cleared_around, end_of_line, successor};
use super::lookup::FileView;
use super::{SEEN, held_by, parse_stored_manifest_id};
use crate::db::{Param, Rows, Statement, json_chunks};
use crate::error::Result;
use crate::ids::FileManifestId;
use serde::{Deserialize, Serialize};

/// A changed path, as an array: the path, the SHA-256 and the size of its new file, and whether it is the first of the
/// changed paths that has these contents. A deleted path has no SHA-256.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChangeRow(pub String, pub Option<String>, pub Option<u32>, pub u8);

/// The changed paths as parameters. A parameter is limited in size, so there may be several.
pub struct ChangeList(Vec<String>);

impl ChangeList {
    pub fn new(changes: &[ChangeRow]) -> Result<Self> {
        let chunks = json_chunks(changes)?.into_iter().map(|(_, chunk)| chunk).collect::<Vec<_>>();
        // A list in SQL is never empty.
        Ok(Self(if chunks.is_empty() { vec!["[]".to_owned()] } else { chunks }))
    }

    pub fn bytes(&self) -> usize {
        self.0.iter().map(String::len).sum()
    }

    /// `changes`: the changed paths. The parameters from `?first` on hold them.
    fn table(&self, first: usize) -> String {
        let params = (first..first + self.0.len()).map(|it| format!("(?{it})")).collect::<Vec<_>>().join(", ");
        format!(
            "changes AS MATERIALIZED (
               SELECT j.value ->> 0 AS path, j.value ->> 1 AS sha256, j.value ->> 2 AS size, j.value ->> 3 AS first
               FROM (VALUES {params}) list CROSS JOIN json_each(list.column1) j)"
        )
    }

    fn bind_to(&self, statement: Statement) -> Statement {
        self.0.iter().fold(statement, |statement, chunk| statement.bind(chunk.as_str()))
    }
}

/// `touched`: the changed paths, with the files that the session's present holds there. The table is complete only before
/// [`super::commit::activate`].
fn touched() -> String {
    format!(
        "touched AS MATERIALIZED (
           SELECT c.path, c.sha256, c.size, c.first, old.sha256 AS old_sha256, old.size AS old_size
           FROM seen CROSS JOIN changes c LEFT JOIN file_entries old ON {})",
        held_by("seen", "c.path", "old")
    )
}

/// Whether a file that stays is below the path of `w`. The walk ends at the first such file.
fn is_directory() -> String {
    let next = |from: &str| {
        format!(
            "(SELECT e.path FROM file_entries e WHERE e.workspace_id = ?1 AND e.tree_id = seen.tree_id
                AND e.path >= {from} AND e.path < w.path || '0' ORDER BY e.path LIMIT 1)"
        )
    };
    format!(
        "EXISTS (
           WITH RECURSIVE below(path) AS (
             SELECT {}
             UNION ALL
             SELECT {} FROM below WHERE below.path IS NOT NULL)
           SELECT 1 FROM below CROSS JOIN file_entries e ON {}
           WHERE e.sha256 IS NOT NULL AND e.path NOT IN (SELECT path FROM changes WHERE sha256 IS NULL))",
        next("w.path || '/'"),
        next("below.path || char(1)"),
        held_by("seen", "below.path", "e")
    )
}

/// `place`: the file manifest before the changes, what the changes add to it, and the obstacles to them. `?4` lists the
/// directories of the new files, without those that the changes themselves free, and `?5` the contents that were stored
/// ahead. A path that holds a file already can meet no obstacle below it.
fn place(list: &ChangeList, first: usize) -> String {
    format!(
        "WITH RECURSIVE {SEEN}, {}, {},
         place AS MATERIALIZED (
           SELECT seen.tree_id, seen.id, seen.line, seen.seq, seen.label, seen.created_at, seen.generation, seen.head_id,
             seen.forks, coalesce(seen.files, 0) AS files, coalesce(seen.bytes, 0) AS bytes,
             it.entries, it.files AS more_files, it.bytes AS more_bytes,
             (SELECT above.value FROM json_each(?4) above CROSS JOIN file_entries e ON {}
              WHERE e.sha256 IS NOT NULL LIMIT 1) AS file_above,
             (SELECT w.path FROM touched w WHERE w.sha256 IS NOT NULL AND w.old_sha256 IS NULL AND {} LIMIT 1) AS directory,
             EXISTS (SELECT 1 FROM json_each(?5) ahead WHERE NOT EXISTS (
               SELECT 1 FROM blobs b WHERE b.workspace_id = ?1 AND b.sha256 = ahead.value)) AS gone
           FROM seen CROSS JOIN (
             SELECT coalesce(sum(sha256 IS NOT NULL OR old_sha256 IS NOT NULL), 0) AS entries,
               coalesce(sum((sha256 IS NOT NULL) - (old_sha256 IS NOT NULL)), 0) AS files,
               coalesce(sum(coalesce(size, 0) - coalesce(old_size, 0)), 0) AS bytes
             FROM touched) it)",
        list.table(first),
        touched(),
        held_by("seen", "above.value", "e"),
        is_directory()
    )
}

/// What a commit looks at besides the changed paths.
pub struct CommitNeeds {
    /// JSON of the directories that must be no files.
    pub directories: String,
    /// JSON of the SHA-256 of the contents that were stored ahead.
    pub ahead: String,
}

impl FileCommit<'_> {
    /// Begins a statement that uses [`SEEN`] at the session's present.
    fn sql_at_present(&self, text: String) -> Statement {
        FileView { workspace: self.workspace, session: self.session, at: None }.sql(text)
    }
}

/// The state of the session just before a commit.
#[derive(Debug)]
pub struct CommitPlace {
    pub manifest_id: Option<FileManifestId>,
    /// A directory of a new file that is a file.
    pub file_above: Option<String>,
    /// A new file that is a directory.
    pub directory: Option<String>,
    /// Whether contents that were stored ahead are no longer there.
    pub is_gone: bool,
    /// The number of changes that change something.
    pub entries: u32,
    /// The size of all files of the session together, after the commit.
    pub bytes: u64,
}

pub fn find_place(commit: &FileCommit<'_>, list: &ChangeList, needs: &CommitNeeds) -> Statement {
    let text = format!(
        "{} SELECT id AS manifest_id, file_above, directory, gone, entries, bytes + more_bytes AS bytes FROM place",
        place(list, 6)
    );
    list.bind_to(commit.sql_at_present(text).bind(needs.directories.as_str()).bind(needs.ahead.as_str()))
}

pub fn read_place(rows: &Rows) -> Result<Option<CommitPlace>> {
    #[derive(Deserialize)]
    struct CommitPlaceRow {
        manifest_id: Option<String>,
        file_above: Option<String>,
        directory: Option<String>,
        gone: u8,
        entries: u32,
        bytes: u64,
    }
    let Some(row) = rows.first::<CommitPlaceRow>()? else { return Ok(None) };
    Ok(Some(CommitPlace {
        manifest_id: row.manifest_id.as_deref().map(parse_stored_manifest_id).transpose()?,
        file_above: row.file_above,
        directory: row.directory,
        is_gone: row.gone != 0,
        entries: row.entries,
        bytes: row.bytes,
    }))
}

/// Inserts the file manifest with all changes. Inserts nothing if no change changes anything, if there is an obstacle, or
/// if the files would grow beyond `max_bytes`. `alone` is the path of the only entry, if the file manifest makes one only.
pub fn insert_manifest(
    commit: &FileCommit<'_>,
    list: &ChangeList,
    needs: &CommitNeeds,
    alone: Option<&str>,
    max_bytes: u64,
) -> Statement {
    let text = format!(
        "{}
         INSERT INTO manifests ({COLUMNS}, path)
         SELECT ?1, ?2, place.generation, {}, place.id, ?6, ?7, ?8, max(?9, coalesce(place.created_at, '')),
           place.files + place.more_files, place.bytes + place.more_bytes, ?10
         FROM place
         WHERE place.entries > 0 AND place.file_above IS NULL AND place.directory IS NULL AND NOT place.gone
           AND (place.more_bytes <= 0 OR place.bytes + place.more_bytes <= ?11)",
        place(list, 12),
        successor("place", "?6")
    );
    let statement = commit.sql_at_present(text).bind(needs.directories.as_str()).bind(needs.ahead.as_str());
    let statement = commit.bind_new(statement).bind(alone).bind(Param::Number(max_bytes as f64));
    list.bind_to(statement)
}

/// Inserts the entries of all changes, if the file manifest was made. As for a single file, the first entry of a path in a
/// line also inserts an entry at the end of the line, and a path in a cleared directory first gets the entries that the
/// sweep has not written yet. A deletion inserts nothing where there is no file: others have deleted it.
pub fn insert_entries(commit: &FileCommit<'_>, list: &ChangeList, alone: bool) -> Statement {
    let made = "m.workspace_id = ?1 AND m.id = ?4";
    let changed = format!("{made} AND (c.sha256 IS NOT NULL OR c.old_sha256 IS NOT NULL)");
    let from = "touched c CROSS JOIN manifests m";
    let cleared = format!("touched c CROSS JOIN {}", cleared_around("c.path", "d"));
    let was_there = format!("{made} AND c.sha256 IS NOT NULL AND e.sha256 IS NOT NULL");
    let text = format!(
        "WITH RECURSIVE {SEEN}, {}, {}
         INSERT INTO file_entries ({ENTRY_COLUMNS})
         SELECT ?1, m.tree_id, c.path, m.label, c.sha256, c.size, ?5,
           c.sha256 IS NOT NULL AND c.first AND NOT EXISTS (
             SELECT 1 FROM blobs WHERE workspace_id = ?1 AND sha256 = c.sha256)
         FROM {from} WHERE {changed}
         UNION ALL {}
         UNION ALL SELECT ?1, d.tree_id, c.path, d.label, NULL, NULL, 0, 0 FROM {cleared} WHERE {was_there}
         UNION ALL {}
         ON CONFLICT DO NOTHING",
        list.table(6),
        touched(),
        end_of_line("m.line", "m.tree_id", "c.path", from, &changed),
        end_of_line("d.line", "d.tree_id", "c.path", &cleared, &was_there)
    );
    list.bind_to(commit.sql_at_present(text).bind(commit.manifest.as_str()).bind(alone))
}
