//! Backup and restore of a workspace's registry as one document. A restore makes the registry identical to the backup:
//! records that are not in the backup are deleted. The change log is not part of a backup: the log continues.

mod check;
mod document;
mod reading;
mod restore;

pub use document::Backup;
pub use restore::{Restored, restore};

use crate::callers::Scope;
use crate::error::Result;

/// Reads the present registry: one statement for each kind of record, in one transaction. The registry may be large, so
/// the caller is checked before it is read.
pub async fn take(scope: &Scope) -> Result<Backup> {
    scope.unbound_caller().await?;
    let rows = scope.read(reading::everything(scope.workspace())).await?;
    reading::read_everything(&rows)
}
