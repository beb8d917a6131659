//! The table `call_series`: the calls of each minute, hour and day (0041_count_calls_by_time.sql). Upkeep's statements cover
//! all workspaces.

use super::totals::{AT_ONCE, ID_OF_MARK, late};
use crate::db::{Rows, Statement, sql};
use crate::error::Result;
use crate::execution::durations::{DOUBLINGS, LAST_STEP};
use crate::execution::series::BucketLength;
use crate::ids::{CallId, ToolId, WorkspaceId};
use crate::text_enum::TextEnum;
use crate::time::Timestamp;
use serde::Deserialize;

/// The most calls after the mark that a reader adds, and the most late ones.
const UNCOUNTED: u32 = 10_000;

/// How many old rows of each length one run deletes.
const OLD_AT_ONCE: u32 = 20_000;

/// True for calls that have ended.
const HAS_ENDED: &str = "status IN ('success', 'error', 'denied')";

/// The figures of one bucket, or corrections of them.
#[derive(Deserialize)]
pub struct SeriesRow {
    /// The beginning of the bucket, as `call_series` names it.
    pub at: String,
    pub succeeded: i32,
    pub failed: i32,
    pub denied: i32,
    /// JSON: [`crate::execution::durations::StepCounts`].
    pub durations: String,
}

/// The beginning of a time that names its bucket.
pub fn name_of(length: BucketLength, time: Timestamp) -> String {
    let mut name = time.to_string();
    name.truncate(chars(length));
    name
}

/// How many characters of a time name its bucket.
const fn chars(length: BucketLength) -> usize {
    match length {
        BucketLength::Minute => "2026-11-18T13:05".len(),
        BucketLength::Hour => "2026-11-18T13".len(),
        BucketLength::Day => "2026-11-18".len(),
    }
}

/// The SQL of the step of `duration_ms` on the scale of durations, in whole numbers; null for a call that did not run.
fn step() -> String {
    let doublings = (1..=DOUBLINGS)
        .map(|it| format!(" WHEN duration_ms < {} THEN {} + (duration_ms >> {it})", 8_u32 << it, 4 * it));
    format!(
        "CASE WHEN duration_ms IS NULL THEN NULL WHEN duration_ms < 8 THEN duration_ms{} ELSE {LAST_STEP} END",
        doublings.collect::<String>()
    )
}

/// The columns of a call that counts: 1 for its status, and its step.
fn counting() -> String {
    format!(
        "{} AS step, status = 'success' AS succeeded, status = 'error' AS failed, status = 'denied' AS denied",
        step()
    )
}

/// The calls that late ones are now, and what they were counted as before, negative. A call that was counted before its end
/// had no duration, so no duration is taken back. `late` is a table with both.
fn corrections(late: &str) -> String {
    format!(
        "SELECT workspace_id, tool_name, started_at, {} FROM {late} WHERE {HAS_ENDED}
         UNION ALL
         SELECT workspace_id, was_tool_name, started_at, NULL, -(was = 'success'), -(was = 'error'), -(was = 'denied')
         FROM {late} WHERE was IN ('success', 'error', 'denied')",
        counting()
    )
}

/// The columns of late calls `l`, joined with their calls `c`.
const LATE_COLUMNS: &str = "l.workspace_id, c.tool_name, c.started_at, c.status, c.duration_ms,
    l.tool_name AS was_tool_name, l.status AS was FROM late_calls l CROSS JOIN tool_calls c ON c.key = l.key";

/// True if the workspace has a tool of this name. Callers can name what they like, and must not fill the table with it.
fn is_tool(workspace: &str, name: &str) -> String {
    format!("EXISTS (SELECT 1 FROM tools t WHERE t.workspace_id IN ('', {workspace}) AND t.id = {name})")
}

/// Adds up figures of each time and step (columns `at`, `step` and one for each status), as rows of `call_series` have them.
/// `key` are further columns of the group.
fn summed(key: &str, from: &str) -> String {
    format!(
        "SELECT {key}at, sum(succeeded) AS succeeded, sum(failed) AS failed, sum(denied) AS denied,
           json_group_object(step || '', succeeded + failed + denied) FILTER (WHERE step IS NOT NULL) AS durations
         FROM (SELECT {key}at, step, sum(succeeded) AS succeeded, sum(failed) AS failed, sum(denied) AS denied
           FROM {from} GROUP BY {key}at, step)
         GROUP BY {key}at"
    )
}

/// Adds calls (workspace, tool, start and [`counting`]) to the rows of their minutes, hours and days: to those of their tool,
/// and to those of all tools. What is too old to be kept is not added.
fn fold(with: &str, calls: &str, now: Timestamp) -> Statement {
    let lengths = BucketLength::ALL.iter().enumerate();
    let lengths =
        lengths.map(|(at, it)| format!("('{it}', {}, ?{})", chars(*it), at + 1)).collect::<Vec<_>>().join(", ");
    let each = |name: &str| {
        format!(
            "SELECT c.workspace_id, l.length AS bucket, {name} AS tool_name, substr(c.minute, 1, l.chars) AS at, c.step,
               c.succeeded, c.failed, c.denied
             FROM counted c CROSS JOIN lengths l WHERE c.minute >= l.oldest"
        )
    };
    let statement = sql(format!(
        "INSERT INTO call_series (workspace_id, bucket, tool_name, at, succeeded, failed, denied, durations)
         WITH lengths(length, chars, oldest) AS (VALUES {lengths}),
         {with}counted AS MATERIALIZED (
           SELECT workspace_id, tool_name, substr(started_at, 1, {}) AS minute, step,
             sum(succeeded) AS succeeded, sum(failed) AS failed, sum(denied) AS denied
           FROM ({calls}) GROUP BY workspace_id, tool_name, minute, step),
         parts AS ({} UNION ALL {} AND {})
         {}
         ON CONFLICT (workspace_id, bucket, tool_name, at) DO UPDATE SET succeeded = succeeded + excluded.succeeded,
           failed = failed + excluded.failed, denied = denied + excluded.denied,
           durations = iif(excluded.durations = '{{}}', durations, (
             SELECT json_group_object(key, count) FROM (SELECT key, sum(value) AS count FROM (
               SELECT key, value FROM json_each(call_series.durations)
               UNION ALL SELECT key, value FROM json_each(excluded.durations)) GROUP BY key)))",
        chars(BucketLength::Minute),
        each("''"),
        each("c.tool_name"),
        is_tool("c.workspace_id", "c.tool_name"),
        summed("workspace_id, bucket, tool_name, ", "parts"),
    ));
    let oldest = |it: &BucketLength| name_of(BucketLength::Minute, now.days_before(it.kept_days()));
    BucketLength::ALL.iter().map(oldest).fold(statement, Statement::bind)
}

/// Corrects the series by the late calls. A late call after the mark of the series is left out: it is added with its present
/// status when the mark passes it. So this statement comes before [`add`] in a batch, and before late calls are forgotten.
pub fn settle(now: Timestamp) -> Statement {
    let settled = format!(
        "late AS MATERIALIZED (SELECT {LATE_COLUMNS}
           WHERE (l.workspace_id, l.key) IN ({}) AND l.key <= (SELECT series_key FROM call_mark)), ",
        late()
    );
    fold(&settled, &corrections("late"), now)
}

/// Adds the next calls after the mark of the series, up to the mark of the totals.
pub fn add(now: Timestamp) -> Statement {
    let calls = format!(
        "SELECT workspace_id, tool_name, started_at, {} FROM tool_calls NOT INDEXED
         WHERE key > (SELECT series_key FROM call_mark) AND key <= (SELECT min(series_key + {AT_ONCE}, key) FROM call_mark)
           AND {HAS_ENDED}",
        counting()
    );
    fold("", &calls, now)
}

/// Moves the mark of the series past the calls that [`add`] has added, so this statement comes after [`add`] in a batch.
pub fn move_mark() -> Statement {
    sql(format!("UPDATE call_mark SET series_key = min(series_key + {AT_ONCE}, key) WHERE series_key <> key"))
}

/// Deletes the rows that are too old, the oldest first.
pub fn delete_old(length: BucketLength, now: Timestamp) -> Statement {
    sql("DELETE FROM call_series WHERE (workspace_id, bucket, tool_name, at) IN (
           SELECT workspace_id, bucket, tool_name, at FROM call_series INDEXED BY call_series_by_age
           WHERE bucket = ?1 AND at < ?2 ORDER BY at LIMIT +?3)")
    .bind(length.as_str())
    .bind(name_of(length, now.days_before(length.kept_days())))
    .bind(OLD_AT_ONCE)
}

/// The figures of the buckets from the one that begins at `first` on. A bucket may have two rows: what is counted, and what
/// is added to it. The statement reads at most a row of each bucket, and [`UNCOUNTED`] calls of each kind.
pub fn find(workspace: &WorkspaceId, length: BucketLength, tool: Option<&ToolId>, first: Timestamp) -> Statement {
    // While the series are behind the totals, nothing is known about the start of the calls after their mark.
    let mark = |column: &str| format!("(SELECT iif(series_key = key, {column}, '') FROM call_mark)");
    let is_known = is_tool("?1", "?3");
    let (latest, of_tool, start) = match tool {
        None => (
            format!(
                "INDEXED BY sqlite_autoindex_tool_calls_1 WHERE workspace_id = ?1 AND id >= max(?5, {})
                   ORDER BY id",
                mark(ID_OF_MARK)
            ),
            "true".to_owned(),
            CallId::bound(first),
        ),
        Some(_) => (
            format!(
                "INDEXED BY tool_calls_by_tool WHERE workspace_id = ?1 AND tool_name = ?3
                   AND started_at >= max(?5, {}) ORDER BY started_at",
                mark("since")
            ),
            format!("tool_name = ?3 AND {is_known}"),
            first.to_string(),
        ),
    };
    let chars = chars(length);
    sql(format!(
        "WITH latest AS MATERIALIZED (
           SELECT key, workspace_id, tool_name, status, started_at, duration_ms FROM tool_calls {latest} DESC LIMIT +?6),
         late AS MATERIALIZED (
           SELECT {LATE_COLUMNS} WHERE l.workspace_id = ?1 AND l.key <= (SELECT series_key FROM call_mark) LIMIT +?6),
         uncounted AS (
           SELECT workspace_id, tool_name, started_at, {} FROM latest
           WHERE key > (SELECT series_key FROM call_mark) AND {HAS_ENDED}
           UNION ALL {}),
         timed AS (
           SELECT substr(started_at, 1, {chars}) AS at, step, succeeded, failed, denied FROM uncounted
           WHERE started_at >= ?4 AND {of_tool})
         SELECT at, succeeded, failed, denied, durations FROM call_series
         WHERE workspace_id = ?1 AND bucket = ?2 AND tool_name = ?3 AND at >= ?4
         UNION ALL SELECT * FROM ({})",
        counting(),
        corrections("late"),
        summed("", "timed"),
    ))
    .bind(workspace.as_str())
    .bind(length.as_str())
    .bind(tool.map_or("", ToolId::as_str))
    .bind(name_of(length, first))
    .bind(start)
    .bind(UNCOUNTED)
}

pub fn read(rows: &Rows) -> Result<Vec<SeriesRow>> {
    rows.all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::native::{migrated, migrations};
    use crate::dice::Dice;
    use crate::execution::durations::{StepCounts, step_of};
    use crate::execution::store::totals;
    use rusqlite::Connection;
    use serde_json::{Value, json};
    use std::collections::BTreeMap;

    const TOOLS: [&str; 3] = ["own", "builtin", "unknown"];

    fn now() -> Timestamp {
        Timestamp::parse("2026-11-18T13:08:24.567Z").unwrap()
    }

    fn workspace() -> WorkspaceId {
        WorkspaceId::parse("ws").unwrap()
    }

    /// A database with two tools.
    fn database() -> Connection {
        let database = migrated(&migrations("db"));
        database
            .execute_batch(
                "INSERT INTO tools (workspace_id, id, source, created_at) VALUES
                   ('ws', 'own', 'registered', ''), ('', 'builtin', 'builtin', ''), ('other', 'unknown', 'registered', '')",
            )
            .unwrap();
        database
    }

    fn insert(database: &Connection, workspace: &str, tool: &str, status: &str, duration: Option<u32>, seconds: u32) {
        let time = now().seconds_before(seconds);
        let id = format!("{}{}", CallId::bound(time), crate::ids::random_hex::<16>().unwrap());
        database
            .execute(
                "INSERT INTO tool_calls (workspace_id, id, tool_name, operator, status, duration_ms, started_at)
                 VALUES (?1, ?2, ?3, 'o', ?4, ?5, ?6)",
                (workspace, id, tool, status, duration, time.to_string()),
            )
            .unwrap();
    }

    fn run(database: &Connection, statements: &[Statement]) {
        for it in statements {
            it.rows_of(database).unwrap();
        }
    }

    /// A run of upkeep.
    fn upkeep(database: &Connection) {
        run(database, &[totals::add(), totals::move_mark(now())]);
        run(database, &[totals::settle(), settle(now()), totals::forget_late(), add(now()), move_mark()]);
    }

    /// Counts for each status, and durations, by bucket. Buckets without anything are left out.
    type Figures = BTreeMap<String, ([i32; 3], StepCounts)>;

    fn found(database: &Connection, length: BucketLength, tool: Option<&str>, first: Timestamp) -> Figures {
        let tool = tool.map(|it| ToolId::parse(it).unwrap());
        let rows = find(&workspace(), length, tool.as_ref(), first).answer_of(database).unwrap();
        let mut figures = Figures::new();
        for row in read(&rows).unwrap() {
            let (counts, durations) = figures.entry(row.at).or_default();
            for (count, more) in counts.iter_mut().zip([row.succeeded, row.failed, row.denied]) {
                *count += more;
            }
            for (step, more) in serde_json::from_str::<StepCounts>(&row.durations).unwrap() {
                *durations.entry(step).or_default() += more;
            }
        }
        figures.retain(|_, (counts, durations)| *counts != [0; 3] || !durations.is_empty());
        figures
    }

    /// The same, from the records of all calls.
    fn expected(database: &Connection, length: BucketLength, tool: Option<&str>, first: Timestamp) -> Figures {
        let known = tool.is_none_or(|it| it != "unknown");
        let calls = sql("SELECT tool_name, status, duration_ms, started_at FROM tool_calls WHERE workspace_id = 'ws'")
            .rows_of(database)
            .unwrap();
        let mut figures = Figures::new();
        for call in calls.iter().filter(|it| known && tool.is_none_or(|tool| it["tool_name"] == tool)) {
            let time = Timestamp::parse(call["started_at"].as_str().unwrap()).unwrap();
            let place = ["success", "error", "denied"].iter().position(|it| call["status"] == *it);
            let Some(place) = place.filter(|_| time >= first) else { continue };
            let (counts, durations) = figures.entry(name_of(length, time)).or_default();
            counts[place] += 1;
            if let Some(duration) = call["duration_ms"].as_u64() {
                *durations.entry(step_of(u32::try_from(duration).unwrap())).or_default() += 1;
            }
        }
        figures
    }

    /// The beginning of the bucket of a time.
    fn beginning(length: BucketLength, time: &str) -> Timestamp {
        let name = &time[..chars(length)];
        Timestamp::parse(&format!("{name}{}", &"2026-11-18T00:00:00.000Z"[chars(length)..])).unwrap()
    }

    fn check(database: &Connection, when: &str) {
        for length in BucketLength::ALL {
            for tool in [None, Some("own"), Some("builtin"), Some("unknown")] {
                for since in ["2026-11-18T11:00:00.000Z", "2026-11-17T00:00:00.000Z"] {
                    let first = beginning(*length, since);
                    let found = found(database, *length, tool, first);
                    assert_eq!(found, expected(database, *length, tool, first), "{when}: {length} {tool:?} {since}");
                }
            }
        }
        let ended = totals::ended(&workspace()).rows_of(database).unwrap();
        let counts = sql("SELECT count(*) AS count FROM tool_calls WHERE workspace_id = 'ws'
            AND status IN ('success', 'error', 'denied')");
        let all = ended[..3].iter().map(|it| it["count"].as_i64().unwrap()).sum::<i64>();
        assert_eq!(json!([{"count": all}]), Value::from(counts.rows_of(database).unwrap()), "{when}: {ended:?}");
    }

    #[test]
    fn steps_are_those_of_the_scale() {
        let database = Connection::open_in_memory().unwrap();
        let step = sql(format!("SELECT {} AS step FROM (SELECT CAST(?1 AS INTEGER) AS duration_ms)", step()));
        for millis in (0..4_000).chain((4_000..9_000_000).step_by(7_919)).chain([3_670_015, 3_670_016, u32::MAX]) {
            assert_eq!(step.clone().bind(millis).rows_of(&database).unwrap(), [json!({"step": step_of(millis)})]);
        }
        assert_eq!(step.bind(None::<u32>).rows_of(&database).unwrap(), [json!({"step": null})]);
    }

    /// A small or a large number.
    fn any_size(dice: &mut Dice, bits: usize) -> u32 {
        let size = dice.below(bits);
        u32::try_from(dice.below(1 << size)).unwrap()
    }

    #[test]
    fn a_series_is_what_the_calls_are_wherever_upkeep_has_got_to() {
        for seed in 0..6 {
            let (database, mut dice) = (database(), Dice(seed));
            for round in 0..60 {
                for _ in 0..dice.below(5) {
                    let status = dice.pick(&["success", "success", "error", "denied", "running", "pending_approval"]);
                    let has_run = matches!(status, "success" | "error") && !dice.once_in(4);
                    let duration = has_run.then(|| any_size(&mut dice, 20));
                    let seconds = any_size(&mut dice, 18);
                    let workspace = dice.pick(&["ws", "ws", "ws", "other"]);
                    insert(&database, workspace, dice.pick(&TOOLS), status, duration, seconds);
                }
                // Calls end, also below the mark; calls that were taken for dead succeed; the name of a tool is corrected.
                let key = dice.below(120);
                match dice.below(6) {
                    0 | 1 => database
                        .execute_batch(&format!(
                            "UPDATE tool_calls SET status = 'success', duration_ms = {} WHERE key >= {key}
                               AND (status = 'running' OR status = 'error' AND duration_ms IS NULL);
                             UPDATE tool_calls SET tool_name = 'builtin' WHERE key = {key} AND status = 'success'
                               AND key IN (SELECT key FROM late_calls) AND finished_at IS NULL",
                            dice.below(100_000)
                        ))
                        .unwrap(),
                    2 => database
                        .execute_batch(&format!(
                            "UPDATE tool_calls SET status = 'running' WHERE key >= {key} AND status = 'pending_approval'"
                        ))
                        .unwrap(),
                    3 => database
                        .execute_batch(&format!(
                            "UPDATE tool_calls SET status = 'error' WHERE key >= {key} AND status = 'running'"
                        ))
                        .unwrap(),
                    4 => upkeep(&database),
                    _ => run(&database, &[totals::add(), totals::move_mark(now())]),
                }
                check(&database, &format!("seed {seed}, round {round}"));
            }
        }
    }

    #[test]
    fn calls_that_were_there_before_the_table_are_added_in_time() {
        let database = database();
        for it in 0..200 {
            let status = if it % 3 == 0 { "running" } else { "success" };
            insert(&database, "ws", TOOLS[it as usize % 3], status, (it % 3 != 0).then_some(it), it * 300);
        }
        upkeep(&database);
        // As after the migration: the totals have passed these calls, and the series have not.
        database.execute_batch("DELETE FROM call_series; UPDATE call_mark SET series_key = 0").unwrap();
        check(&database, "before");
        database
            .execute_batch("UPDATE tool_calls SET status = 'denied' WHERE status = 'running' AND key < 100")
            .unwrap();
        check(&database, "late");
        upkeep(&database);
        check(&database, "after");
        database.execute_batch("UPDATE tool_calls SET status = 'error' WHERE status = 'running'").unwrap();
        check(&database, "later");
    }

    #[test]
    fn what_is_too_old_is_neither_added_nor_kept() {
        let database = database();
        for days in [1, 3, 30, 90, 2_000] {
            insert(&database, "ws", "own", "success", Some(5), days * 86_400);
        }
        upkeep(&database);
        let rows = || {
            let rows = sql("SELECT bucket, count(*) AS count FROM call_series WHERE tool_name = 'own' GROUP BY bucket");
            Value::from(rows.rows_of(&database).unwrap())
        };
        let expected =
            json!([{"bucket": "day", "count": 4}, {"bucket": "hour", "count": 3}, {"bucket": "minute", "count": 1}]);
        assert_eq!(rows(), expected);
        let later = now().plus_seconds(45 * 86_400);
        for length in BucketLength::ALL {
            run(&database, &[delete_old(*length, now())]);
        }
        assert_eq!(rows(), expected, "the sweep deletes nothing that upkeep adds");
        for length in BucketLength::ALL {
            let delete = delete_old(*length, later);
            assert!(delete.plan_of(&database).contains("call_series_by_age"));
            run(&database, &[delete]);
        }
        assert_eq!(rows(), json!([{"bucket": "day", "count": 4}, {"bucket": "hour", "count": 2}]));
    }

    #[test]
    fn a_series_costs_the_same_however_many_calls_are_counted() {
        let steps = |calls: u32, tool: Option<&str>| {
            let database = database();
            database
                .execute_batch(&format!(
                    "INSERT INTO tool_calls (workspace_id, id, tool_name, operator, status, started_at, duration_ms)
                     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {calls})
                     SELECT 'ws', printf('call_%012x%04x', unixepoch(time) * 1000, i), 'own', 'o', 'success', time, 5 FROM (
                       SELECT i, strftime('%Y-%m-%dT%H:%M:%fZ', '2026-11-18T12:00:00', '+' || (i % 10) || ' minutes') AS time
                       FROM n)"
                ))
                .unwrap();
            upkeep(&database);
            let tool = tool.map(|it| ToolId::parse(it).unwrap());
            let first = Timestamp::parse("2026-11-18T12:00:00.000Z").unwrap();
            let found = find(&workspace(), BucketLength::Minute, tool.as_ref(), first);
            assert_eq!(found.rows_of(&database).unwrap().len(), 10);
            found.steps_of(&database)
        };
        for tool in [None, Some("own")] {
            assert_eq!(steps(20, tool), steps(2_000, tool));
        }
    }

    #[test]
    fn of_many_calls_that_are_not_counted_the_latest_are_added() {
        let database = database();
        database
            .execute_batch(&format!(
                "INSERT INTO tool_calls (workspace_id, id, tool_name, operator, status, started_at)
                 WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {})
                 SELECT 'ws', printf('call_%012x%04x', unixepoch(time) * 1000, i), 'own', 'o', 'success', time FROM (
                   SELECT i, strftime('%Y-%m-%dT%H:%M:%fZ', '2026-11-18T12:00:00', '+' || (i / 5000) || ' minutes') AS time
                   FROM n)",
                UNCOUNTED + 2_000
            ))
            .unwrap();
        let first = Timestamp::parse("2026-11-18T12:00:00.000Z").unwrap();
        for tool in [None, Some("own")] {
            let counts = found(&database, BucketLength::Minute, tool, first);
            let counts = counts.values().map(|(counts, _)| counts[0]).collect::<Vec<_>>();
            assert_eq!(counts, [2_999, 5_000, 2_001]);
        }
        upkeep(&database);
        check(&database, "after upkeep");
    }
}
