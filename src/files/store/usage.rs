//! SQL that counts the bytes of files and their history (`quota`). A batch that inserts or deletes entries counts them
//! right afterwards, by SQLite's `changes()`: the number of rows that the statement before has inserted or deleted,
//! without those of its triggers. Triggers count file manifests and contents that are deleted
//! (0021_count_stored_bytes.sql).

use super::commit::FileCommit;
use crate::db::{Statement, sql};
use crate::files::Blob;
use crate::quota::{CONTENTS_BYTES, ENTRY_BYTES, FILE_MANIFEST_BYTES, count_files_within};

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
