//! The tables `call_totals` and `call_mark`. Triggers count the calls that end below the mark (0006_execution.sql).

use crate::db::{Statement, sql};
use crate::ids::WorkspaceId;
use crate::time::Timestamp;

/// How many calls one run counts.
const AT_ONCE: u32 = 50_000;

/// The number of calls in `tool_calls` for each final status.
const BY_STATUS: &str =
    "sum(status = 'success') AS succeeded, sum(status = 'error') AS failed, sum(status = 'denied') AS denied";

/// The bound of the ids of calls from `since` on, as [`crate::ids::CallId::bound`] writes it.
const ID_OF_MARK: &str = "printf('call_%012x', CAST(round(1000 * unixepoch(since, 'subsec')) AS INTEGER))";

/// Adds up the counts that `parts` selects. Returns a [`crate::db::Figure`] for each final status of a call.
fn sum(parts: &str) -> Statement {
    sql(format!(
        "WITH ended AS MATERIALIZED (
           SELECT sum(succeeded) AS succeeded, sum(failed) AS failed, sum(denied) AS denied FROM ({parts}))
         SELECT 'success' AS name, coalesce(succeeded, 0) AS count FROM ended
         UNION ALL SELECT 'error', coalesce(failed, 0) FROM ended
         UNION ALL SELECT 'denied', coalesce(denied, 0) FROM ended"
    ))
}

/// Counts the ended calls of a workspace.
pub fn ended(workspace: &WorkspaceId) -> Statement {
    sum(&format!(
        "SELECT succeeded, failed, denied FROM call_totals WHERE workspace_id = ?1
         UNION ALL
         SELECT {BY_STATUS} FROM tool_calls INDEXED BY sqlite_autoindex_tool_calls_1 WHERE workspace_id = ?1
           AND id >= (SELECT {ID_OF_MARK} FROM call_mark) AND key > (SELECT key FROM call_mark)"
    ))
    .bind(workspace.as_str())
}

/// Counts the ended calls of all workspaces.
pub fn ended_everywhere() -> Statement {
    sum(&format!(
        "SELECT succeeded, failed, denied FROM call_totals
         UNION ALL
         SELECT {BY_STATUS} FROM tool_calls NOT INDEXED WHERE key > (SELECT key FROM call_mark)"
    ))
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
