//! SQL that deletes the records of old calls, for all workspaces. Only calls up to the mark (`call_mark`) are deleted, so
//! that a counted call stays counted. The last call stays too: SQLite gives a new row the key after the greatest one, and
//! every new call must come after the mark.

use crate::db::{Statement, sql};
use crate::time::Timestamp;
use serde::Deserialize;

/// How many calls one batch looks at.
pub const CALLS: u32 = 1_000;

/// One batch deletes calls of about this many bytes at most, because D1 reads everything that it frees.
const BYTES: u32 = 16 * 1024 * 1024;

/// The calls to look at next.
#[derive(Deserialize)]
pub struct OldCalls {
    /// The key of the last of these calls. None if there are none.
    pub last: Option<u32>,
    /// Whether one of the calls is too young to be deleted.
    pub young: Option<u8>,
}

/// Finds the next calls, and reads one row if the first of them is young: calls are inserted nearly in the order in which
/// they started.
pub fn find(before: Timestamp) -> Statement {
    let next = |key: &str| {
        format!(
            "{key} > (SELECT calls_looked_at FROM retention) AND {key} <= (SELECT key FROM call_mark)
             AND {key} < (SELECT max(key) FROM tool_calls)"
        )
    };
    sql(format!(
        "WITH first AS MATERIALIZED (SELECT started_at FROM tool_calls NOT INDEXED WHERE {} ORDER BY key LIMIT 1),
         next AS MATERIALIZED (
           SELECT c.key, c.started_at, c.bytes FROM first CROSS JOIN tool_calls c NOT INDEXED
           WHERE first.started_at < ?1 AND {} ORDER BY c.key LIMIT ?2)
         SELECT max(key) AS last, max(started_at) >= ?1 AS young FROM (
           SELECT key, started_at, sum(bytes) OVER (ORDER BY key ROWS UNBOUNDED PRECEDING) - bytes AS until FROM next)
         WHERE until < ?3",
        next("key"),
        next("c.key")
    ))
    .bind(before.to_string())
    .bind(CALLS)
    .bind(BYTES)
}

/// Deletes the calls up to the key `last` that ended before `before`, and takes their bytes off the count. Their approvals
/// and the ties to their blobs go with them.
pub fn delete(before: Timestamp, last: u32) -> [Statement; 2] {
    let old = "key > (SELECT calls_looked_at FROM retention) AND key <= ?2
        AND status IN ('success', 'error', 'denied') AND coalesce(finished_at, started_at) < ?1";
    let bound = |text: String| sql(text).bind(before.to_string()).bind(last);
    [
        bound(format!(
            "UPDATE workspace_usage SET calls_bytes = calls_bytes - gone.bytes FROM (
               SELECT workspace_id, sum(bytes) AS bytes FROM tool_calls NOT INDEXED WHERE {old} GROUP BY workspace_id) gone
             WHERE workspace_usage.workspace_id = gone.workspace_id"
        )),
        bound(format!("DELETE FROM tool_calls NOT INDEXED WHERE {old}")),
    ]
}

/// Makes the next look begin after the key `last`.
pub fn move_on(last: u32) -> Statement {
    sql("UPDATE retention SET calls_looked_at = ?1 WHERE calls_looked_at <> ?1").bind(last)
}
