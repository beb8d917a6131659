//! SQL for the tables `blobs` and `blob_chunks`.

use crate::db::{Param, Rows, Statement, sql};
use crate::error::Result;
use crate::files::Blob;
use crate::files::blob::BlobEncoding;
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
    // A second run finds the rows of the first one.
    insert_if("true", &Param::Null, workspace, blob, now).into_iter().map(Statement::repeatable).collect()
}

/// Stores the contents, unless the workspace has them already or the file manifest that needs them was not made.
pub fn insert_for(manifest: &FileManifestId, workspace: &WorkspaceId, blob: &Blob, now: Timestamp) -> Vec<Statement> {
    let made = "EXISTS (SELECT 1 FROM manifests WHERE workspace_id = ?1 AND id = ?3)";
    insert_if(made, &manifest.as_str().into(), workspace, blob, now)
}

/// Stores the contents if `condition` holds. The condition may use `?1`, the workspace, and `?3`, the given parameter.
fn insert_if(condition: &str, param: &Param, workspace: &WorkspaceId, blob: &Blob, now: Timestamp) -> Vec<Statement> {
    let start = |text: String| sql(text).bind(workspace.as_str()).bind(blob.sha256()).bind(param.clone());
    let chunks = blob.content().chunks();
    let row = start(format!(
        "INSERT INTO blobs (workspace_id, sha256, size, encoding, chunks, created_at)
         SELECT ?1, ?2, ?4, ?5, ?6, ?7 WHERE {condition} ON CONFLICT DO NOTHING"
    ))
    .bind(blob.size())
    .bind(blob.content().encoding().as_str())
    .bind(u32::try_from(chunks.len()).unwrap_or(u32::MAX))
    .bind(now.to_string());
    let chunk = |(number, data): (u32, &str)| {
        start(format!(
            "INSERT INTO blob_chunks (workspace_id, sha256, chunk, data)
             SELECT ?1, ?2, ?4, ?5 WHERE {condition} ON CONFLICT DO NOTHING"
        ))
        .bind(number)
        .bind(data)
    };
    std::iter::once(row).chain((0..).zip(chunks).map(chunk)).collect()
}

pub fn find(workspace: &WorkspaceId, sha256: &str) -> Statement {
    sql("SELECT b.sha256, b.encoding, b.chunks, c.data FROM blobs b
         CROSS JOIN blob_chunks c ON c.workspace_id = b.workspace_id AND c.sha256 = b.sha256 AND c.chunk = 0
         WHERE b.workspace_id = ?1 AND b.sha256 = ?2")
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
