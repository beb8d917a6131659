//! SQL that counts the bytes of files and their history (`quota`). A batch that inserts or deletes entries counts them
//! right afterwards, by SQLite's `changes()`: the number of rows that the statement before has inserted or deleted,
//! without those of its triggers. Triggers count file manifests and contents that are deleted
//! (0021_count_stored_bytes.sql).

use super::commit::FileCommit;
use crate::db::{Statement, sql};
use crate::files::Blob;
use crate::ids::WorkspaceId;
use crate::quota::{CONTENTS_BYTES, ENTRY_BYTES, FILE_MANIFEST_BYTES, count_files_within};
use serde_json::json;

/// A query for the bytes of the new file manifest `id` with its `entries`, and for `more` bytes.
fn of_manifest(id: &str, entries: &str, more: &str) -> String {
    format!(
        "SELECT {FILE_MANIFEST_BYTES} + {ENTRY_BYTES} * ({entries}) + {more} AS bytes FROM manifests m
         WHERE m.workspace_id = ?1 AND m.id = {id}"
    )
}

/// Counts the write of a file. Stops the batch if the quota does not allow it. Comes right after the entries of the file
/// manifest itself, and before its contents. A file manifest that begins a tree copies the entries of all other files.
pub fn count_write(new: &FileCommit<'_>, blob: &Blob, quota_bytes: u64) -> Statement {
    let contents = format!(
        "iif(EXISTS (SELECT 1 FROM blobs WHERE workspace_id = ?1 AND sha256 = ?4), 0, {CONTENTS_BYTES} + CAST(?5 AS INTEGER))"
    );
    let made = of_manifest("?3", "changes() + iif(m.tree_id = m.id, m.files - 1, 0)", &contents);
    count_files_within(new.workspace, quota_bytes, &made)
        .bind(new.manifest.as_str())
        .bind(blob.sha256())
        .bind(blob.size())
}

/// Counts a deletion of files. A deletion stores history, and frees nothing at once. A full workspace may still delete
/// files, but not without end: the batch is stopped above eleven tenths of the quota. Comes right after the entries that
/// say that the files are gone. A file manifest that begins a tree copies the entries of the files that stay.
pub fn count_deletion(new: &FileCommit<'_>, quota_bytes: u64) -> Statement {
    let made = of_manifest("?3", "changes() + iif(m.tree_id = m.id, m.files, 0)", "0");
    count_files_within(new.workspace, quota_bytes.saturating_add(quota_bytes / 10), &made).bind(new.manifest.as_str())
}

/// The bytes of those contents in `?param`, pairs of SHA-256 and size, that the workspace does not have yet.
fn new_contents(param: &str) -> String {
    format!(
        "(SELECT coalesce(sum({CONTENTS_BYTES} + (j.value ->> 1)), 0) FROM json_each({param}) j WHERE NOT EXISTS (
           SELECT 1 FROM blobs b WHERE b.workspace_id = ?1 AND b.sha256 = j.value ->> 0))"
    )
}

/// Counts a commit of `writes` files and any number of deletions. Stops the batch if the quota does not allow it. Comes
/// right after the entries, and before the `contents`: pairs of SHA-256 and size. A file manifest that begins a tree
/// copies the entries of all files that the commit does not write.
pub fn count_commit(new: &FileCommit<'_>, writes: u32, contents: &[(&str, u32)], quota_bytes: u64) -> Statement {
    // A full workspace may still delete files, as for a single deletion.
    let quota_bytes = if writes == 0 { quota_bytes.saturating_add(quota_bytes / 10) } else { quota_bytes };
    let made =
        of_manifest("?3", "changes() + iif(m.tree_id = m.id, m.files - CAST(?5 AS INTEGER), 0)", &new_contents("?4"));
    count_files_within(new.workspace, quota_bytes, &made)
        .bind(new.manifest.as_str())
        .bind(json!(contents).to_string())
        .bind(writes)
}

/// Counts contents that are stored ahead. Stops the batch if the quota does not allow it. Comes before the contents.
pub fn count_ahead(workspace: &WorkspaceId, contents: &[(&str, u32)], quota_bytes: u64) -> Statement {
    count_files_within(workspace, quota_bytes, &format!("SELECT {} AS bytes", new_contents("?3")))
        .bind(json!(contents).to_string())
}

/// Counts a branch. Stops the batch if the quota does not allow it. Comes right after the copies of entries.
pub fn count_branch(new: &FileCommit<'_>, quota_bytes: u64) -> Statement {
    let made = of_manifest("?3", "changes()", "0");
    count_files_within(new.workspace, quota_bytes, &made).bind(new.manifest.as_str())
}

/// Counts the entries that the statement before has inserted. The workspace has been counted before.
pub fn count_entries(workspace: &str) -> Statement {
    add_entries(workspace, "+")
}

/// Takes the entries that the statement before has deleted off the count.
pub fn uncount_entries(workspace: &str) -> Statement {
    add_entries(workspace, "-")
}

fn add_entries(workspace: &str, sign: &str) -> Statement {
    sql(format!(
        "UPDATE workspace_usage SET files_bytes = files_bytes {sign} {ENTRY_BYTES} * changes()
         WHERE workspace_id = ?1 AND changes() > 0"
    ))
    .bind(workspace)
}
