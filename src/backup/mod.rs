//! Backup and restore of a workspace's registry: as one document, or as JSON Lines of any size. A restore makes the
//! registry identical to the backup: records that are not in the backup are deleted. The change log is not part of a
//! backup: the log continues.

mod check;
mod document;
pub mod lines;
mod preview;
mod problems;
mod reading;
mod restore;
mod store;
mod toolset_check;
mod toolset_problems;
mod upstream_problems;
mod workspace;

pub use document::Backup;
pub use preview::RestoreMode;
pub use restore::{Restored, restore};

use crate::app::App;
use crate::callers::Scope;
use crate::error::{Error, Result};

/// The largest backup that is one document.
pub const MAX_DOCUMENT_BYTES: usize = 16 * 1024 * 1024;

/// How many seconds a restore in pieces may take before the sweep takes it for abandoned.
const MAX_RESTORE_SECONDS: u32 = 3_600;

/// Reads the present registry as one document, in JSON.
pub async fn take(scope: &Scope) -> Result<String> {
    let backup = reading::read_registry(scope).await?.backup;
    let document =
        serde_json::to_string(&backup).map_err(|cause| Error::Internal(format!("a backup is not JSON: {cause}")))?;
    if document.len() > MAX_DOCUMENT_BYTES { Err(too_large()) } else { Ok(document) }
}

fn too_large() -> Error {
    Error::NoRoom {
        message: format!(
            "The registry has more than the {MAX_DOCUMENT_BYTES} bytes of one document: use JSON Lines, \
             with Accept: application/x-ndjson for a backup and Content-Type: application/x-ndjson for a restore"
        ),
        limit_bytes: MAX_DOCUMENT_BYTES as u64,
    }
}

/// Deletes what restores have left behind, of all workspaces.
#[expect(clippy::disallowed_methods, reason = "the sweep is about no workspace, and nobody calls it")]
pub async fn sweep(app: &App) -> Result<()> {
    app.db()?.batch(&[store::delete_old_chunks(app.now().seconds_before(MAX_RESTORE_SECONDS))]).await?;
    Ok(())
}
