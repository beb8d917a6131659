//! The bytes that a workspace stores in files, their history, calls and messages, and the operator's bound on them
//! (`WORKSPACE_QUOTA_BYTES`). Batches that store something count it, or ask for room, in the same transaction. So racing
//! requests do not exceed the bound together. 0021_count_stored_bytes.sql says what counts with how many bytes, and
//! 0035_count_render_plans.sql adds the render plans of calls.

mod store;

pub use store::{
    CALL_BYTES, CONTENTS_BYTES, ENTRY_BYTES, FILE_MANIFEST_BYTES, LARGE_CALL_BYTES, MESSAGE_BYTES, Usage, ask_for_room,
    ask_for_room_instead, count_files_within, find, find_everywhere, is_used_up, read,
};

use crate::callers::Scope;
use crate::error::{Error, Result};

/// What a caller or an operator can do about a full workspace.
pub const HOW_TO_FREE: &str = "Delete sessions that are no longer needed; their bytes are free after the next runs of \
    the sweep. Or ask the operator for a shorter FILE_MANIFEST_RETENTION_DAYS or CALL_RETENTION_DAYS, or for a higher \
    WORKSPACE_QUOTA_BYTES";

/// The error for a batch that the quota has stopped. `what` says what cannot be done.
pub async fn refusal(scope: &Scope, what: &str) -> Result<Error> {
    let [rows] = scope.read([find(scope.workspace())]).await?;
    let (used_bytes, quota_bytes) = (read(&rows)?.used_bytes(), scope.app().settings().workspace_quota_bytes);
    Ok(Error::OverQuota { message: message(what, used_bytes, quota_bytes), used_bytes, quota_bytes })
}

fn message(what: &str, used_bytes: u64, quota_bytes: u64) -> String {
    format!("{what}: the workspace stores {used_bytes} of {quota_bytes} bytes. {HOW_TO_FREE}")
}
