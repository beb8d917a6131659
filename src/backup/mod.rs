//! A workspace's registry as one document, and back. What a backup holds is what a restore makes of the workspace, to the
//! letter: what is not in it goes. The change log is no part of it: it goes on.

mod check;
mod document;
mod reading;
mod restore;

pub use document::Backup;
pub use restore::{Restored, restore};

use crate::callers::Scope;
use crate::error::Result;

/// The registry as it is: one statement for each kind of thing, in one transaction.
pub async fn take(scope: &Scope) -> Result<Backup> {
    let rows = scope.read(reading::everything(scope.workspace())).await?;
    scope.caller().await?.must_be_unbound()?;
    reading::read_everything(&rows)
}
