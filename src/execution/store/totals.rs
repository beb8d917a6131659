//! The tables `call_totals`, `call_mark` and `late_calls`, and the bytes of calls in `workspace_usage`. Triggers note the
//! calls that end below the mark (0041_count_calls_by_time.sql), and count the bytes of large calls
//! (0035_count_render_plans.sql).

use crate::db::{Statement, sql};
use crate::ids::WorkspaceId;
use crate::quota::LARGE_CALL_BYTES;
use crate::time::Timestamp;

/// How many calls one run counts, and how many late ones it settles.
pub const AT_ONCE: u32 = 50_000;

/// The number of calls in `tool_calls` for each final status.
const BY_STATUS: &str =
    "sum(status = 'success') AS succeeded, sum(status = 'error') AS failed, sum(status = 'denied') AS denied";

/// The corrections of these counts by late calls `l`, which are now as their calls `c` say.
const BY_LATE_STATUS: &str = "sum((c.status = 'success') - (l.status = 'success')) AS succeeded,
    sum((c.status = 'error') - (l.status = 'error')) AS failed,
    sum((c.status = 'denied') - (l.status = 'denied')) AS denied
    FROM late_calls l CROSS JOIN tool_calls c ON c.key = l.key";

/// Selects the late calls that one run settles, the same ones in every statement of a batch.
pub fn late() -> String {
    format!("SELECT workspace_id, key FROM late_calls ORDER BY workspace_id, key LIMIT {AT_ONCE}")
}

/// The name of the figure with the bytes of the calls after the mark that are not counted yet.
pub const UNCOUNTED_BYTES: &str = "uncounted_bytes";

/// The bytes of calls that are counted when the mark passes them.
fn small_bytes() -> String {
    format!("coalesce(sum(iif(bytes > {LARGE_CALL_BYTES}, 0, bytes)), 0)")
}

/// The bound of the ids of calls from `since` on, as [`crate::ids::CallId::bound`] writes it.
pub const ID_OF_MARK: &str = "printf('call_%012x', CAST(round(1000 * unixepoch(since, 'subsec')) AS INTEGER))";

/// Adds up the counts that `totals`, `late` and `tail` select: the calls up to the mark, those of them that have ended since
/// then, and the calls after the mark. Returns a [`crate::db::Figure`] for each final status of a call, and one for the bytes
/// that are not counted yet.
fn sum(totals: &str, late: &str, tail: &str) -> Statement {
    sql(format!(
        "WITH ended AS MATERIALIZED (
           SELECT sum(succeeded) AS succeeded, sum(failed) AS failed, sum(denied) AS denied, sum(bytes) AS bytes FROM (
             SELECT succeeded, failed, denied, 0 AS bytes FROM call_totals {totals}
             UNION ALL
             SELECT *, 0 FROM (SELECT {BY_LATE_STATUS} {late})
             UNION ALL
             SELECT {BY_STATUS}, {} AS bytes FROM tool_calls {tail}))
         SELECT 'success' AS name, coalesce(succeeded, 0) AS count FROM ended
         UNION ALL SELECT 'error', coalesce(failed, 0) FROM ended
         UNION ALL SELECT 'denied', coalesce(denied, 0) FROM ended
         UNION ALL SELECT '{UNCOUNTED_BYTES}', min(coalesce(bytes, 0), {}) FROM ended",
        small_bytes(),
        u32::MAX
    ))
}

/// Counts the ended calls of a workspace.
pub fn ended(workspace: &WorkspaceId) -> Statement {
    let tail = format!(
        "INDEXED BY sqlite_autoindex_tool_calls_1 WHERE workspace_id = ?1
           AND id >= (SELECT {ID_OF_MARK} FROM call_mark) AND key > (SELECT key FROM call_mark)"
    );
    sum("WHERE workspace_id = ?1", "WHERE l.workspace_id = ?1", &tail).bind(workspace.as_str())
}

/// Counts the ended calls of all workspaces.
pub fn ended_everywhere() -> Statement {
    sum("", "", "NOT INDEXED WHERE key > (SELECT key FROM call_mark)")
}

/// Adds the next calls after the mark to the totals.
pub fn add() -> Statement {
    sql(format!(
        "INSERT INTO call_totals (workspace_id, succeeded, failed, denied)
         SELECT workspace_id, {BY_STATUS} FROM tool_calls NOT INDEXED
         WHERE key > (SELECT key FROM call_mark) AND key <= (SELECT key + {AT_ONCE} FROM call_mark)
         GROUP BY workspace_id
         ON CONFLICT (workspace_id) DO UPDATE SET succeeded = succeeded + excluded.succeeded,
           failed = failed + excluded.failed, denied = denied + excluded.denied"
    ))
}

/// Corrects the totals by the late calls.
pub fn settle() -> Statement {
    sql(format!(
        "INSERT INTO call_totals (workspace_id, succeeded, failed, denied)
         SELECT l.workspace_id, {BY_LATE_STATUS} WHERE (l.workspace_id, l.key) IN ({}) GROUP BY l.workspace_id
         ON CONFLICT (workspace_id) DO UPDATE SET succeeded = succeeded + excluded.succeeded,
           failed = failed + excluded.failed, denied = denied + excluded.denied",
        late()
    ))
}

/// Forgets the late calls that totals and series are corrected by, so this statement comes after both corrections in a
/// batch.
pub fn forget_late() -> Statement {
    sql(format!("DELETE FROM late_calls WHERE (workspace_id, key) IN ({})", late()))
}

/// Adds the bytes of the same calls to those of their workspaces, except for large calls, which have been added before.
pub fn add_bytes() -> Statement {
    sql(format!(
        "INSERT INTO workspace_usage (workspace_id, files_bytes, calls_bytes)
         SELECT workspace_id, 0, {} FROM tool_calls NOT INDEXED
         WHERE key > (SELECT key FROM call_mark) AND key <= (SELECT key + {AT_ONCE} FROM call_mark)
         GROUP BY workspace_id
         ON CONFLICT (workspace_id) DO UPDATE SET calls_bytes = calls_bytes + excluded.calls_bytes",
        small_bytes()
    ))
}

/// Moves the mark past the calls that [`add`] has added, so this statement comes after [`add`] in a batch. If no call
/// is left after the mark, later calls start at or after `now`; a trigger corrects `since` for a call that started
/// earlier.
pub fn move_mark(now: Timestamp) -> Statement {
    sql(format!(
        "UPDATE call_mark SET key = min(key + {AT_ONCE}, last), since = iif(last <= key + {AT_ONCE}, ?1, since)
         FROM (SELECT coalesce(max(key), 0) AS last FROM tool_calls) WHERE key <> last"
    ))
    .bind(now.to_string())
}
