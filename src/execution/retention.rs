//! Deletes the records of calls that ended more than `CALL_RETENTION_DAYS` ago, the oldest first. One run deletes some
//! pieces, and the next run continues where it ended. Calls that run or wait stay. With a bucket, the calls are archived first.

use super::archive::archive_old_calls;
use super::store::retention::{self, OldCalls};
use crate::app::App;
use crate::db::Db;
use crate::error::Result;
use crate::time::Timestamp;
use std::sync::Arc;

/// How many pieces one run deletes.
const PIECES: u32 = 10;

/// One run. A run that finds nothing to delete reads a few rows.
#[expect(clippy::disallowed_methods, reason = "upkeep is about no workspace, and nobody calls it")]
pub async fn delete_old_calls(app: &Arc<App>) -> Result<()> {
    let Some(days) = app.settings().call_retention_days else { return Ok(()) };
    let (db, before) = (app.db()?, app.now().days_before(days));
    if let Some(bucket) = app.archive() {
        return archive_old_calls(app, &bucket, before).await;
    }
    for _ in 0..PIECES {
        if !delete_a_piece(db, before).await? {
            break;
        }
    }
    Ok(())
}

/// Deletes one piece, and tells whether older calls may follow it.
async fn delete_a_piece(db: &Db, before: Timestamp) -> Result<bool> {
    let answers = db.batch(&[retention::find(before)]).await?;
    let next = answers.first().map(|it| it.first::<OldCalls>()).transpose()?.flatten();
    let piece = next.and_then(|it| it.last.map(|last| (last, it.young == Some(1))));
    let Some((last, young)) = piece else {
        // The end, or only young calls: the next run begins with the oldest call again.
        db.batch(&[retention::move_on(0)]).await?;
        return Ok(false);
    };
    let mut statements = retention::delete(before, last).to_vec();
    statements.push(retention::move_on(if young { 0 } else { last }));
    db.batch(&statements).await?;
    Ok(!young)
}
