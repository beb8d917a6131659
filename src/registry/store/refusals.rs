//! The table `registration_refusals`.

use crate::db::{Statement, sql};
use crate::ids::WorkspaceId;
use crate::time::Timestamp;

/// Counts one refusal.
pub fn count(workspace: &WorkspaceId, reason: &str, now: Timestamp) -> Statement {
    sql("INSERT INTO registration_refusals (workspace_id, hour, reason, count) VALUES (?1, ?2, ?3, 1)
         ON CONFLICT (workspace_id, hour, reason) DO UPDATE SET count = count + 1")
    .bind(workspace.as_str())
    .bind(hour(now))
    .bind(reason)
}

/// Deletes the counts that no query reads any more.
pub fn forget(now: Timestamp) -> Statement {
    sql("DELETE FROM registration_refusals WHERE hour < ?1").bind(hour(now.days_before(2)))
}

/// Selects the refusals of the last 24 hours by reason. The hour in which this day began counts in full.
pub fn last_day(workspace: &WorkspaceId, now: Timestamp) -> Statement {
    sql("SELECT reason AS name, sum(count) AS count FROM registration_refusals
         WHERE workspace_id = ?1 AND hour >= ?2 GROUP BY reason ORDER BY reason")
    .bind(workspace.as_str())
    .bind(hour(now.days_before(1)))
}

/// The same for all workspaces.
pub fn last_day_everywhere(now: Timestamp) -> Statement {
    sql("SELECT reason AS name, sum(count) AS count FROM registration_refusals WHERE hour >= ?1 GROUP BY reason ORDER BY reason")
        .bind(hour(now.days_before(1)))
}

/// `2026-11-16T09`
fn hour(time: Timestamp) -> String {
    let mut text = time.to_string();
    text.truncate("2026-11-16T09".len());
    text
}
