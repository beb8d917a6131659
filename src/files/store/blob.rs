//! SQL for the tables `blobs` and `blob_chunks`.

use crate::db::{Rows, Statement, for_each, sql};
use crate::error::Result;
use crate::files::blob::BlobEncoding;
use crate::files::{Blob, FilePath};
use crate::ids::{FileManifestId, WorkspaceId};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;

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

/// Stores contents ahead of their commit, unless the workspace has them already. The empty path says that they are the
/// contents of a file, of which no entry is known yet.
pub fn insert_ahead(workspace: &WorkspaceId, blob: &Blob, now: Timestamp) -> Vec<Statement> {
    let row = insert_row("SELECT ?1, ?2, ?4, ?5, ?6, ?7, ?8, NULL, '', ?3 WHERE true", workspace, blob, None, now);
    std::iter::once(row).chain(insert_chunks("true", None, workspace, blob)).collect()
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

/// Small contents, as an array: SHA-256, size, encoding, the text, and the path of the first use.
#[derive(Serialize)]
pub struct SmallBlobRow<'a>(pub &'a str, pub u32, pub BlobEncoding, pub &'a str, pub &'a str);

/// Stores small contents of a commit, unless the workspace has them already or the file manifest was not made. The rows
/// name the entries of their paths as their first use.
pub fn insert_small_for(
    manifest: &FileManifestId,
    workspace: &WorkspaceId,
    rows: &[SmallBlobRow<'_>],
    now: Timestamp,
) -> Result<Vec<Statement>> {
    let text = "INSERT INTO blobs
           (workspace_id, sha256, size, encoding, chunks, created_at, data, use_tree_id, use_path, use_label)
         SELECT ?1, j.value ->> 0, j.value ->> 1, j.value ->> 2, 1, ?4, j.value ->> 3, m.tree_id, j.value ->> 4, m.label
         FROM manifests m CROSS JOIN json_each(?2) j WHERE m.workspace_id = ?1 AND m.id = ?3
         ON CONFLICT DO NOTHING";
    let statements = for_each(workspace, rows, text)?;
    Ok(statements.into_iter().map(|it| it.bind(manifest.as_str()).bind(now.to_string())).collect())
}

/// Stores small contents ahead of their commit. An empty path says that they are the contents of a file, of which no
/// entry is known yet.
pub fn insert_small_ahead(
    workspace: &WorkspaceId,
    rows: &[SmallBlobRow<'_>],
    now: Timestamp,
) -> Result<Vec<Statement>> {
    let text = "INSERT INTO blobs (workspace_id, sha256, size, encoding, chunks, created_at, data, use_path)
         SELECT ?1, j.value ->> 0, j.value ->> 1, j.value ->> 2, 1, ?3, j.value ->> 3, '' FROM json_each(?2) j WHERE true
         ON CONFLICT DO NOTHING";
    Ok(for_each(workspace, rows, text)?.into_iter().map(|it| it.bind(now.to_string())).collect())
}

/// Puts contents that were stored ahead into the sweep's queue, from which the sweep does not take them before
/// `keep_until`. Contents that the workspace had already may lose their last use before the commit, so they are kept too.
pub fn keep_until(workspace: &WorkspaceId, sha256: &[&str], keep_until: Timestamp) -> Statement {
    sql("INSERT INTO stale_blobs (workspace_id, sha256, keep_until)
         SELECT ?1, j.value, ?3 FROM json_each(?2) j WHERE true
         ON CONFLICT (workspace_id, sha256) DO UPDATE SET keep_until = excluded.keep_until")
    .bind(workspace.as_str())
    .bind(json!(sha256).to_string())
    .bind(keep_until.to_string())
}

/// The first chunk of the contents `b`. Old contents have it among their chunks, as `c`.
pub(super) const FIRST_CHUNK: &str = "coalesce(b.data, c.data) AS data";

/// Those of these contents that the workspace has, with their sizes.
pub fn find_sizes(workspace: &WorkspaceId, sha256: &[&str]) -> Result<Vec<Statement>> {
    let text = "SELECT b.sha256, b.size FROM json_each(?2) j
         CROSS JOIN blobs b ON b.workspace_id = ?1 AND b.sha256 = j.value";
    for_each(workspace, sha256, text)
}

#[derive(Deserialize)]
pub struct SizeRow {
    pub sha256: String,
    pub size: u32,
}

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

/// One chunk of contents as it is stored. Nobody reads its text on the way.
#[derive(Deserialize, Serialize)]
pub struct StoredPiece<'a> {
    pub sha256: &'a str,
    pub encoding: BlobEncoding,
    pub number: u32,
    /// The number of chunks that the contents have.
    pub count: u32,
    #[serde(borrow)]
    pub data: &'a RawValue,
}

/// The next chunks of some contents, in the order of `wanted`: pairs of a SHA-256 and the number of the first chunk. At
/// least one chunk, if there is one, and then as many as fit into `max_bytes`. The lengths are found without reading the
/// texts themselves.
pub fn find_pieces(workspace: &WorkspaceId, wanted: &[(&str, u32)], max_bytes: u32) -> Statement {
    let of_chunk = "c.workspace_id = ?1 AND c.sha256";
    sql(format!(
        "WITH wanted AS MATERIALIZED (
           SELECT j.key AS place, j.value ->> 0 AS sha256, j.value ->> 1 AS start FROM json_each(?2) j),
         pieces AS (
           SELECT w.place, w.sha256, 0 AS number, octet_length(b.data) AS bytes
           FROM wanted w CROSS JOIN blobs b ON b.workspace_id = ?1 AND b.sha256 = w.sha256
           WHERE w.start = 0 AND b.data IS NOT NULL
           UNION ALL
           SELECT w.place, w.sha256, c.chunk, octet_length(c.data)
           FROM wanted w CROSS JOIN blob_chunks c ON {of_chunk} = w.sha256 AND c.chunk >= w.start),
         summed AS MATERIALIZED (
           SELECT *, sum(bytes) OVER (ORDER BY place, number ROWS UNBOUNDED PRECEDING) AS until FROM pieces)
         SELECT s.sha256, b.encoding, s.number, b.chunks AS count, iif(s.number = 0, {}, c.data) AS data
         FROM summed s
         CROSS JOIN blobs b ON b.workspace_id = ?1 AND b.sha256 = s.sha256
         LEFT JOIN blob_chunks c ON {of_chunk} = s.sha256 AND c.chunk = s.number AND (s.number > 0 OR b.data IS NULL)
         WHERE s.until <= ?3 OR s.until = s.bytes ORDER BY s.place, s.number",
        FIRST_CHUNK.trim_end_matches(" AS data")
    ))
    .bind(workspace.as_str())
    .bind(json!(wanted).to_string())
    .bind(max_bytes)
}
