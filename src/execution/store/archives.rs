//! SQL that finds the old calls which are to be archived, deletes them, and notes in the table `archives` where they lie.

use super::columns::CALL_COLUMNS;
use super::retention::{ended, next};
use crate::db::{Statement, sql};
use crate::execution::archive::ArchivedCalls;
use crate::ids::WorkspaceId;
use crate::time::Timestamp;
use serde::Deserialize;
use serde_json::json;

/// The calls are looked at in blocks of so many keys. A block has the same borders at each look, so that a run after a crash makes
/// the same files.
const BLOCK_KEYS: u32 = 5_000;

/// The most files that a list names.
const LISTED_FILES: u32 = 100;

/// A call of a block.
#[derive(Deserialize)]
pub struct FoundCall {
    pub key: u32,
    pub workspace_id: WorkspaceId,
    /// The day on which the call started, in UTC.
    pub day: String,
    /// The bytes of its row and of its large documents.
    pub bytes: u32,
    /// Whether the call is old enough to be archived.
    pub old: u8,
    /// Whether the call started on a day that is not over for long enough.
    pub young: u8,
}

/// The next block of calls. A day is archived when the whole day is before `before`, so that a file is not begun anew every few
/// minutes. Reads one row if the first call is of a later day.
pub fn find(before: Timestamp) -> Statement {
    sql(format!(
        "WITH first AS MATERIALIZED (SELECT key, started_at FROM tool_calls NOT INDEXED WHERE {} ORDER BY key LIMIT 1)
         SELECT c.key, c.workspace_id, substr(c.started_at, 1, 10) AS day,
           c.bytes + coalesce((SELECT sum(b.size) FROM call_blobs b
             WHERE b.workspace_id = c.workspace_id AND b.call_id = c.id), 0) AS bytes,
           c.started_at < substr(?1, 1, 10) AND {} AS old, c.started_at >= substr(?1, 1, 10) AS young
         FROM first CROSS JOIN tool_calls c NOT INDEXED
         WHERE first.started_at < substr(?1, 1, 10) AND {} AND c.key < (first.key / {BLOCK_KEYS} + 1) * {BLOCK_KEYS}
         ORDER BY c.key",
        next("key"),
        ended("c."),
        next("c.key")
    ))
    .bind(before.to_string())
}

/// The calls with these keys, in this order.
const CALLS: &str = "json_each(?2) j CROSS JOIN tool_calls c NOT INDEXED ON c.key = j.value AND c.workspace_id = ?1";

/// The rows of calls, whole.
pub fn find_calls(workspace: &WorkspaceId, keys: &[u32]) -> Statement {
    sql(format!("SELECT {CALL_COLUMNS} FROM {CALLS} ORDER BY j.key"))
        .bind(workspace.as_str())
        .bind(json!(keys).to_string())
}

/// Notes a file, deletes exactly its calls, and takes their bytes off the count. A second run finds the calls gone.
pub fn put_away(workspace: &WorkspaceId, file: &ArchivedCalls, keys: &[u32]) -> Vec<Statement> {
    let of_keys = |text: String| sql(text).bind(workspace.as_str()).bind(json!(keys).to_string()).repeatable();
    vec![
        sql("INSERT INTO archives (workspace_id, day, key, calls, first_at, last_at, bytes)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING")
        .bind(workspace.as_str())
        .bind(file.day.as_str())
        .bind(file.key.as_str())
        .bind(file.calls)
        .bind(file.first_at.to_string())
        .bind(file.last_at.to_string())
        .bind(file.bytes)
        .repeatable(),
        of_keys(format!(
            "UPDATE workspace_usage SET calls_bytes = calls_bytes - (SELECT coalesce(sum(c.bytes), 0) FROM {CALLS})
             WHERE workspace_id = ?1"
        )),
        of_keys(
            "DELETE FROM tool_calls NOT INDEXED WHERE workspace_id = ?1 AND key IN (SELECT value FROM json_each(?2))"
                .into(),
        ),
    ]
}

/// The files with calls that started at or after `since` and before `until`, the newest first.
pub fn list(workspace: &WorkspaceId, since: Timestamp, until: Option<Timestamp>) -> Statement {
    sql("SELECT day, key, calls, first_at, last_at, bytes FROM archives
         WHERE workspace_id = ?1 AND day >= substr(?2, 1, 10) AND last_at >= ?2 AND (?3 IS NULL OR first_at < ?3)
         ORDER BY day DESC, key DESC LIMIT +?4")
    .bind(workspace.as_str())
    .bind(since.to_string())
    .bind(until.map(|it| it.to_string()))
    .bind(LISTED_FILES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::native::{migrated, migrations};
    use rusqlite::Connection;
    use serde_json::Value;

    /// A call in each hour from the beginning of 2026 on, in two workspaces.
    fn calls(count: u32) -> Connection {
        let database = migrated(&migrations("db"));
        database
            .execute_batch(&format!(
                "INSERT INTO tool_calls (workspace_id, id, tool_name, operator, status, started_at, finished_at)
                 WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})
                 SELECT 'w' || (i % 2), 'c' || i, 't', 'o', iif(i = 3, 'running', 'success'), time, time FROM (
                   SELECT i, strftime('%Y-%m-%dT%H:%M:%fZ', '2026-01-01', '+' || i || ' hours') AS time FROM n);
                 UPDATE call_mark SET key = {count}, series_key = {count};"
            ))
            .unwrap();
        database
    }

    fn found(database: &Connection, before: &str) -> Vec<Value> {
        find(Timestamp::parse(before).unwrap()).rows_of(database).unwrap()
    }

    #[test]
    fn only_whole_days_and_ended_calls_are_old() {
        let database = calls(60);
        assert_eq!(found(&database, "2026-01-01T23:00:00Z").len(), 0, "the first day is not over");
        let rows = found(&database, "2026-01-02T00:00:01Z");
        let keys = |field: &str| {
            rows.iter().filter(|it| it[field] == 1).map(|it| it["key"].as_u64().unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(keys("old"), (1..24).filter(|it| *it != 3).collect::<Vec<_>>(), "a call that runs stays");
        assert_eq!(keys("young"), (24..60).collect::<Vec<_>>(), "the last call stays");
        assert_eq!((&rows[0]["workspace_id"], &rows[0]["day"]), (&json!("w1"), &json!("2026-01-01")));
    }

    #[test]
    fn a_block_has_the_same_borders_when_a_part_of_its_calls_is_gone() {
        let database = calls(BLOCK_KEYS + 100);
        let last = |rows: Vec<Value>| rows.last().map(|it| it["key"].clone());
        let late = "2027-01-01T00:00:00Z";
        assert_eq!(last(found(&database, late)), Some(json!(BLOCK_KEYS - 1)));
        database.execute("DELETE FROM tool_calls WHERE key < 3000", []).unwrap();
        assert_eq!(last(found(&database, late)), Some(json!(BLOCK_KEYS - 1)));
        super::super::retention::move_on(BLOCK_KEYS - 1).rows_of(&database).unwrap();
        assert_eq!(last(found(&database, late)), Some(json!(BLOCK_KEYS + 99)), "the last call stays");
    }

    #[test]
    fn a_file_is_noted_while_exactly_its_calls_are_deleted_and_a_second_run_changes_nothing() {
        let database = calls(10);
        database.execute("INSERT INTO workspace_usage (workspace_id, files_bytes, calls_bytes) VALUES ('w0', 0, 9000), ('w1', 0, 9000)", []).unwrap();
        let workspace = WorkspaceId::parse("w0").unwrap();
        let time = Timestamp::parse("2026-01-01T02:00:00Z").unwrap();
        let (day, key) = ("2026-01-01".to_owned(), "w0/2026-01-01/c2-c4.jsonl.gz".to_owned());
        let file = ArchivedCalls { day, key, calls: 2, first_at: time, last_at: time, bytes: 5 };
        // A key of the other workspace is none of this one's calls.
        let keys = [2, 4, 5];
        assert_eq!(find_calls(&workspace, &keys).rows_of(&database).unwrap().len(), 2);
        for _ in 0..2 {
            for statement in put_away(&workspace, &file, &keys) {
                statement.rows_of(&database).unwrap();
            }
            let count = |sql: &str| database.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
            assert_eq!(count("SELECT count(*) FROM tool_calls"), 8);
            assert_eq!(count("SELECT calls_bytes FROM workspace_usage WHERE workspace_id = 'w0'"), 7_000);
            assert_eq!(count("SELECT calls_bytes FROM workspace_usage WHERE workspace_id = 'w1'"), 9_000);
            assert_eq!(count("SELECT count(*) FROM archives"), 1);
        }
        let listed = |since: &str, until: Option<&str>| {
            let [since, until] = [Some(since), until].map(|it| it.map(|it| Timestamp::parse(it).unwrap()));
            list(&workspace, since.unwrap(), until).rows_of(&database).unwrap().len()
        };
        assert_eq!(listed("2026-01-01T00:00:00Z", None), 1);
        assert_eq!(listed("2026-01-01T02:00:00Z", None), 1);
        assert_eq!(listed("2026-01-01T02:00:01Z", None), 0);
        assert_eq!(listed("2026-01-01T00:00:00Z", Some("2026-01-01T02:00:00Z")), 0);
        let other = WorkspaceId::parse("w1").unwrap();
        assert!(list(&other, time, None).rows_of(&database).unwrap().is_empty());
    }

    #[test]
    fn a_list_names_the_newest_files_and_has_a_bound() {
        let database = migrated(&migrations("db"));
        database
            .execute_batch(
                "INSERT INTO archives (workspace_id, day, key, calls, first_at, last_at, bytes)
                 WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 149)
                 SELECT 'ws', day, 'ws/' || day || '.gz', 1, day || 'T01:00:00.000Z', day || 'T01:00:00.000Z', 1
                 FROM (SELECT date('2026-01-01', '+' || i || ' days') AS day FROM n)",
            )
            .unwrap();
        let since = Timestamp::parse("2026-01-01T00:00:00Z").unwrap();
        let listed = list(&WorkspaceId::parse("ws").unwrap(), since, None).rows_of(&database).unwrap();
        assert_eq!(listed.len(), 100);
        assert_eq!((&listed[0]["day"], &listed[99]["day"]), (&json!("2026-05-30"), &json!("2026-02-20")));
    }
}
