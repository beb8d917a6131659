//! SQL for the tables `blobs` and `blob_chunks`.

use crate::db::{Rows, Statement, sql};
use crate::error::Result;
use crate::files::blob::BlobEncoding;
use crate::files::{Blob, FilePath};
use crate::ids::{FileManifestId, WorkspaceId};
use crate::time::Timestamp;
use serde::Deserialize;

/// How many chunks one statement reads. Each chunk takes room twice in an isolate's 128 MB: as JSON, and as text.
pub const CHUNKS_AT_ONCE: u32 = 4;

/// The beginning of a blob: its description and its first chunk.
#[derive(Deserialize)]
pub struct BlobStart {
    pub sha256: String,
    pub encoding: BlobEncoding,
    pub chunks: u32,
    /// The first chunk.
    pub data: String,
}

/// Stores the contents, unless the workspace has them already.
pub fn insert(workspace: &WorkspaceId, blob: &Blob, now: Timestamp) -> Vec<Statement> {
    let row = insert_row("SELECT ?1, ?2, ?4, ?5, ?6, ?7, ?8, NULL, ?3, NULL WHERE true", workspace, blob, None, now);
    // A second run finds the rows of the first one.
    std::iter::once(row).chain(insert_chunks("true", None, workspace, blob)).map(Statement::repeatable).collect()
}

/// Stores the contents of the file at `path`, unless the workspace has them already or the file manifest that needs them
/// was not made. The row of the contents names the entry of the file as their first use.
pub fn insert_for(
    manifest: &FileManifestId,
    path: &FilePath,
    workspace: &WorkspaceId,
    blob: &Blob,
    now: Timestamp,
) -> Vec<Statement> {
    let row = insert_row(
        "SELECT ?1, ?2, ?4, ?5, ?6, ?7, ?8, m.tree_id, ?9, m.label FROM manifests m
         WHERE m.workspace_id = ?1 AND m.id = ?3",
        workspace,
        blob,
        Some(manifest),
        now,
    )
    .bind(path.as_str());
    let made = "EXISTS (SELECT 1 FROM manifests WHERE workspace_id = ?1 AND id = ?3)";
    std::iter::once(row).chain(insert_chunks(made, Some(manifest), workspace, blob)).collect()
}

/// Inserts the row of the contents, which holds the first chunk too. `values` is a query for its columns. The query may
/// use `?3`, the file manifest.
fn insert_row(
    values: &str,
    workspace: &WorkspaceId,
    blob: &Blob,
    manifest: Option<&FileManifestId>,
    now: Timestamp,
) -> Statement {
    let chunks = blob.content().chunks();
    sql(format!(
        "INSERT INTO blobs (workspace_id, sha256, size, encoding, chunks, created_at, data, use_tree_id, use_path, use_label)
         {values} ON CONFLICT DO NOTHING"
    ))
    .bind(workspace.as_str())
    .bind(blob.sha256())
    .bind(manifest.map(FileManifestId::as_str))
    .bind(blob.size())
    .bind(blob.content().encoding().as_str())
    .bind(u32::try_from(chunks.len()).unwrap_or(u32::MAX))
    .bind(now.to_string())
    .bind(chunks.first().copied().unwrap_or_default())
}

/// Inserts the chunks after the first one, if `condition` holds. The condition may use `?1`, the workspace, and `?3`,
/// the file manifest.
fn insert_chunks(
    condition: &str,
    manifest: Option<&FileManifestId>,
    workspace: &WorkspaceId,
    blob: &Blob,
) -> Vec<Statement> {
    let chunk = |(number, data): (u32, &str)| {
        sql(format!(
            "INSERT INTO blob_chunks (workspace_id, sha256, chunk, data)
             SELECT ?1, ?2, ?4, ?5 WHERE {condition} ON CONFLICT DO NOTHING"
        ))
        .bind(workspace.as_str())
        .bind(blob.sha256())
        .bind(manifest.map(FileManifestId::as_str))
        .bind(number)
        .bind(data)
    };
    (0..).zip(blob.content().chunks()).skip(1).map(chunk).collect()
}

/// The first chunk of the contents `b`. Old contents have it among their chunks, as `c`.
pub(super) const FIRST_CHUNK: &str = "coalesce(b.data, c.data) AS data";

pub fn find(workspace: &WorkspaceId, sha256: &str) -> Statement {
    sql(format!(
        "SELECT b.sha256, b.encoding, b.chunks, {FIRST_CHUNK} FROM blobs b
         LEFT JOIN blob_chunks c ON b.data IS NULL AND c.workspace_id = b.workspace_id AND c.sha256 = b.sha256
           AND c.chunk = 0
         WHERE b.workspace_id = ?1 AND b.sha256 = ?2"
    ))
    .bind(workspace.as_str())
    .bind(sha256)
}

/// A few chunks from number `from` on.
pub fn find_chunks(workspace: &WorkspaceId, sha256: &str, from: u32) -> Statement {
    sql("SELECT data FROM blob_chunks WHERE workspace_id = ?1 AND sha256 = ?2 AND chunk >= ?3 AND chunk < ?4 ORDER BY chunk")
        .bind(workspace.as_str())
        .bind(sha256)
        .bind(from)
        .bind(from + CHUNKS_AT_ONCE)
}

pub fn read_chunks(rows: &Rows) -> Result<Vec<String>> {
    #[derive(Deserialize)]
    struct ChunkRow {
        data: String,
    }
    Ok(rows.all::<ChunkRow>()?.into_iter().map(|it| it.data).collect())
}
