//! SQL for reading the table `changes`.

use super::log::{ChangeFilter, LogOrder};
use crate::db::{Statement, first_bytes, sql};
use crate::ids::WorkspaceId;
use crate::time::Timestamp;

/// How many bytes of states one query returns. The row that exceeds this limit is still returned. The rows after it are
/// left for the next query.
const MAX_BYTES: u32 = 4_000_000;

/// The size of a row's states. SQLite knows the size without reading the states.
const BYTES: &str = "coalesce(octet_length(previous_state), 0) + coalesce(octet_length(new_state), 0)";

/// Rows after the number `after`, in the order of the filter.
pub fn list_changes(workspace: &WorkspaceId, filter: &ChangeFilter, after: Option<u32>, limit: u32) -> Statement {
    let (order, beyond) = match filter.order {
        LogOrder::Oldest => ("seq", ">"),
        LogOrder::Newest => ("seq DESC", "<"),
    };
    // The index is named, because SQLite's planner would choose by averages over all workspaces.
    let (index, condition) = match (&filter.subject, &filter.tool_id) {
        (Some(_), _) => ("INDEXED BY changes_by_subject", "AND subject = ?3 AND (?4 IS NULL OR tool_id = ?4)"),
        (None, Some(_)) => ("INDEXED BY changes_by_tool", "AND tool_id = ?4"),
        (None, None) => ("", ""),
    };
    // Times never decrease in the log, so a time can be translated into a number of the log.
    let found = first_bytes(
        &format!(
            "SELECT seq, {BYTES} AS bytes
             FROM changes {index} WHERE workspace_id = ?1 {condition} AND (?2 IS NULL OR seq {beyond} ?2)
               AND (?5 IS NULL OR seq >= (SELECT seq FROM changes INDEXED BY changes_by_time
                 WHERE workspace_id = ?1 AND timestamp >= ?5 ORDER BY timestamp, seq LIMIT 1))
               AND (?6 IS NULL OR seq <= (SELECT seq FROM changes INDEXED BY changes_by_time
                 WHERE workspace_id = ?1 AND timestamp <= ?6 ORDER BY timestamp DESC, seq DESC LIMIT 1))
             ORDER BY {order} LIMIT ?7"
        ),
        order,
        MAX_BYTES,
    );
    sql(format!(
        "SELECT c.seq, c.timestamp, c.action, c.subject, c.tool_id, c.version, c.operator, c.reason, c.previous_state,
           c.new_state, found.full
         FROM ({found}) found CROSS JOIN changes c ON c.workspace_id = ?1 AND c.seq = found.seq ORDER BY c.{order}"
    ))
    .bind(workspace.as_str())
    .bind(after)
    .bind(filter.subject.as_deref())
    .bind(filter.tool_id.as_deref())
    .bind(filter.since.map(|it| it.to_string()))
    .bind(filter.until.map(|it| it.to_string()))
    .bind(limit)
}

/// The last change of the workspace.
pub fn last_change(workspace: &WorkspaceId) -> Statement {
    sql("SELECT seq, timestamp FROM changes WHERE workspace_id = ?1 ORDER BY seq DESC LIMIT 1").bind(workspace.as_str())
}

/// The last change at or before a time.
pub fn change_at(workspace: &WorkspaceId, at: Timestamp) -> Statement {
    sql("SELECT seq, timestamp FROM changes INDEXED BY changes_by_time
         WHERE workspace_id = ?1 AND timestamp <= ?2 ORDER BY timestamp DESC, seq DESC LIMIT 1")
    .bind(workspace.as_str())
    .bind(at.to_string())
}

/// The change with the number `seq`.
pub fn change_numbered(workspace: &WorkspaceId, seq: u32) -> Statement {
    sql("SELECT seq, timestamp FROM changes WHERE workspace_id = ?1 AND seq = ?2").bind(workspace.as_str()).bind(seq)
}

/// The states of the subjects of one kind after the change `seq`. Only subjects whose names come after `after` are
/// returned, sorted by name. Each subject costs a few seeks, however long its history is: one to find the subject, one
/// to find its last change, and one to read this change.
pub fn states(workspace: &WorkspaceId, kind: &str, after: &str, seq: u32, limit: u32) -> Statement {
    let next = "SELECT min(subject) FROM changes INDEXED BY changes_by_subject
        WHERE workspace_id = ?1 AND subject < ?3 AND subject >";
    let found = first_bytes(
        &format!(
            "WITH RECURSIVE things (subject) AS (
               {next} ?2
               UNION ALL
               SELECT ({next} things.subject) FROM things WHERE things.subject IS NOT NULL
               LIMIT ?5)
             SELECT things.subject, c.seq, coalesce(octet_length(c.new_state), 0) AS bytes
             FROM things LEFT JOIN changes c ON c.workspace_id = ?1 AND c.seq = (
               SELECT max(seq) FROM changes INDEXED BY changes_by_subject
               WHERE workspace_id = ?1 AND subject = things.subject AND seq <= ?4)
             WHERE things.subject IS NOT NULL"
        ),
        "subject",
        MAX_BYTES,
    );
    sql(format!(
        "SELECT found.subject, c.new_state, found.full
         FROM ({found}) found LEFT JOIN changes c ON c.workspace_id = ?1 AND c.seq = found.seq ORDER BY found.subject"
    ))
    .bind(workspace.as_str())
    .bind(format!("{kind}:{after}"))
    // `;` is the character that follows `:`, so this text sorts after all subjects of the kind.
    .bind(format!("{kind};"))
    .bind(seq)
    .bind(limit)
}
