//! The number of all calls that have ever ended, and the bytes that calls store. Calls up to a mark are already counted, and
//! upkeep moves the mark forward. So the figures are always exact, and cost as much after a million calls as after ten.
//! Calls that end below the mark are noted, and `series::count` corrects the totals by them.

use super::store;
use crate::app::App;
use crate::error::Result;

pub use store::totals::{UNCOUNTED_BYTES, ended, ended_everywhere};

/// Counts a bounded number of calls after the mark, and moves the mark past them, in one transaction.
#[expect(clippy::disallowed_methods, reason = "upkeep is about no workspace, and nobody calls it")]
pub async fn count(app: &App) -> Result<()> {
    app.db()?.batch(&[store::totals::add(), store::totals::add_bytes(), store::totals::move_mark(app.now())]).await?;
    Ok(())
}
