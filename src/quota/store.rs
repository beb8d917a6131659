//! SQL for the table `workspace_usage`.

use crate::db::{DbFailure, Param, Rows, Statement, sql};
use crate::error::Result;
use crate::ids::WorkspaceId;
use serde::Deserialize;
use serde_json::json;

/// The bytes that a file manifest, an entry of a file, and the row of contents count with. The triggers of
/// 0020_count_stored_bytes.sql use the same numbers.
pub const FILE_MANIFEST_BYTES: u32 = 600;
pub const ENTRY_BYTES: u32 = 300;
pub const CONTENTS_BYTES: u32 = 200;

/// The bytes that a call counts with, besides those of its documents and its error.
pub const CALL_BYTES: usize = 1_000;

/// A call that counts with more bytes than this is counted at once. The triggers of 0020_count_stored_bytes.sql use the
/// same number.
pub const LARGE_CALL_BYTES: u32 = 5_096;

/// What a workspace stores, as far as it has been counted.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
pub struct Usage {
    /// The bytes of files and their history.
    pub files_bytes: u64,
    pub calls_bytes: u64,
}

impl Usage {
    pub const fn used_bytes(self) -> u64 {
        self.files_bytes + self.calls_bytes
    }
}

pub fn find(workspace: &WorkspaceId) -> Statement {
    sql("SELECT max(files_bytes, 0) AS files_bytes, max(calls_bytes, 0) AS calls_bytes FROM workspace_usage
         WHERE workspace_id = ?1")
    .bind(workspace.as_str())
}

/// What all workspaces store together.
pub fn find_everywhere() -> Statement {
    sql("SELECT max(coalesce(sum(files_bytes), 0), 0) AS files_bytes, max(coalesce(sum(calls_bytes), 0), 0) AS calls_bytes
         FROM workspace_usage")
}

pub fn read(rows: &Rows) -> Result<Usage> {
    Ok(rows.first()?.unwrap_or_default())
}

/// Counts bytes of files. `made` is a query for one row with the column `bytes`, or for none. Its `?1` is the workspace,
/// and the caller binds its further parameters.
pub fn count_files(workspace: &WorkspaceId, made: &str) -> Statement {
    sql(format!(
        "INSERT INTO workspace_usage (workspace_id, files_bytes, calls_bytes)
         SELECT ?1, made.bytes, 0 FROM ({made}) made WHERE made.bytes <> 0
         ON CONFLICT (workspace_id) DO UPDATE SET files_bytes = files_bytes + excluded.files_bytes"
    ))
    .bind(workspace.as_str())
}

/// The same, but stops its batch ([`is_used_up`]) if the workspace would then store more than the quota, which is `?2`.
pub fn count_files_within(workspace: &WorkspaceId, quota_bytes: u64, made: &str) -> Statement {
    sql(format!(
        "INSERT INTO workspace_usage (workspace_id, files_bytes, calls_bytes, over)
         SELECT ?1, made.bytes, 0, made.bytes > ?2 FROM ({made}) made WHERE true
         ON CONFLICT (workspace_id) DO UPDATE SET files_bytes = files_bytes + excluded.files_bytes,
           over = files_bytes + calls_bytes + excluded.files_bytes > ?2"
    ))
    .bind(workspace.as_str())
    .bind(Param::Number(quota_bytes as f64))
}

/// Stops its batch ([`is_used_up`]) if `bytes`, and those of the `contents` (SHA-256 and size) that the workspace does
/// not have yet, find no room within the quota. Changes nothing otherwise.
pub fn ask_for_room(workspace: &WorkspaceId, bytes: usize, contents: &[(&str, u32)], quota_bytes: u64) -> Statement {
    let new = if contents.is_empty() {
        ""
    } else {
        "+ (SELECT coalesce(sum(j.value ->> 1), 0) FROM json_each(?4) j WHERE NOT EXISTS (
             SELECT 1 FROM blobs b WHERE b.workspace_id = ?1 AND b.sha256 = j.value ->> 0))"
    };
    let statement = sql(format!(
        "INSERT INTO workspace_usage (workspace_id, files_bytes, calls_bytes, over) SELECT ?1, 0, 0, 1
         WHERE coalesce((SELECT files_bytes + calls_bytes FROM workspace_usage WHERE workspace_id = ?1), 0) + ?2 {new} > ?3"
    ))
    .bind(workspace.as_str())
    .bind(Param::Number(bytes as f64))
    .bind(Param::Number(quota_bytes as f64))
    .repeatable();
    if contents.is_empty() { statement } else { statement.bind(json!(contents).to_string()) }
}

/// Whether a batch failed because the quota is used up. The name is that of the constraint.
pub fn is_used_up(failure: &DbFailure) -> bool {
    matches!(failure, DbFailure::Refused(rule) if rule.contains("within_quota"))
}
