//! SQL that deletes the records of old calls, for all workspaces. Only calls up to the mark of the series
//! (`call_mark.series_key`), which the totals have passed too, are deleted, so that a counted call stays counted. The last call stays too: SQLite gives a new row the key after the greatest one, and
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

/// The calls that may be looked at, after those that were looked at before.
pub(super) fn next(key: &str) -> String {
    format!(
        "{key} > (SELECT calls_looked_at FROM retention) AND {key} <= (SELECT series_key FROM call_mark)
         AND {key} < (SELECT max(key) FROM tool_calls)"
    )
}

/// Whether a call ended before `?1`. `of` is the name of the table, with a point.
pub(super) fn ended(of: &str) -> String {
    format!("{of}status IN ('success', 'error', 'denied') AND coalesce({of}finished_at, {of}started_at) < ?1")
}

/// Finds the next calls, and reads one row if the first of them is young: calls are inserted nearly in the order in which
/// they started.
pub fn find(before: Timestamp) -> Statement {
    sql(format!(
        "WITH first AS MATERIALIZED (SELECT started_at FROM tool_calls NOT INDEXED WHERE {} ORDER BY key LIMIT 1),
         next AS MATERIALIZED (
           SELECT c.key, c.started_at, c.bytes FROM first CROSS JOIN tool_calls c NOT INDEXED
           WHERE first.started_at < ?1 AND {} ORDER BY c.key LIMIT +?2)
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
    let old = format!("key > (SELECT calls_looked_at FROM retention) AND key <= ?2 AND {}", ended(""));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::native::{migrated, migrations};
    use rusqlite::Connection;
    use serde_json::json;

    /// Calls, one in each second from the beginning of 2026 on, all before the mark.
    fn calls(count: u32) -> Connection {
        let database = migrated(&migrations("db"));
        database
            .execute_batch(&format!(
                "INSERT INTO tool_calls (workspace_id, id, tool_name, operator, status, started_at, result)
                 WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})
                 SELECT 'ws', 'c' || i, 't', 'o', 'success',
                   strftime('%Y-%m-%dT%H:%M:%fZ', '2026-01-01', '+' || i || ' seconds'), printf('%.*c', 40000, 'x') FROM n;
                 UPDATE call_mark SET key = {count}, series_key = {count};"
            ))
            .unwrap();
        database
    }

    fn found(database: &Connection, before: &str) -> serde_json::Value {
        find(Timestamp::parse(before).unwrap()).rows_of(database).unwrap()[0].clone()
    }

    #[test]
    fn a_piece_is_bounded_by_bytes_and_ends_with_the_young_calls() {
        let database = calls(600);
        assert_eq!(found(&database, "2026-01-01T00:00:00Z"), json!({"last": null, "young": null}));
        let pieces = BYTES / 41_000 + 1;
        assert_eq!(found(&database, "2026-02-01T00:00:00Z"), json!({"last": pieces, "young": 0}));
        assert_eq!(found(&database, "2026-01-01T00:00:10Z"), json!({"last": pieces, "young": 1}));
        move_on(590).rows_of(&database).unwrap();
        assert_eq!(found(&database, "2026-02-01T00:00:00Z"), json!({"last": 599, "young": 0}), "the last call stays");
        move_on(599).rows_of(&database).unwrap();
        assert_eq!(found(&database, "2026-02-01T00:00:00Z"), json!({"last": null, "young": null}));
        database
            .execute_batch("UPDATE call_mark SET series_key = 0; UPDATE retention SET calls_looked_at = 0")
            .unwrap();
        assert_eq!(found(&database, "2026-02-01T00:00:00Z"), json!({"last": null, "young": null}), "not counted yet");
    }

    #[test]
    fn a_look_without_work_costs_the_same_however_many_calls_there_are() {
        let steps = |count: u32| find(Timestamp::parse("2026-01-01T00:00:00Z").unwrap()).steps_of(&calls(count));
        assert_eq!(steps(20), steps(2_000));
    }
}
