//! The statements of the sweep. They cover all workspaces.

use crate::changes::{Action, record_everywhere};
use crate::db::{Statement, sql};
use crate::time::Timestamp;

/// The most rows of each kind that one run ends.
const AT_ONCE: u32 = 500;

/// Selects the expired approvals, the same ones in every statement of a batch. `now` and `limit` are the names of
/// parameters: the time, and the most approvals.
fn expired(now: &str, limit: &str) -> String {
    format!(
        "SELECT workspace_id, id FROM approvals WHERE status = 'pending' AND expires_at <= {now}
         ORDER BY expires_at, workspace_id, id LIMIT {limit}"
    )
}

pub fn end_dead_calls(now: Timestamp, error: &str) -> Statement {
    sql("UPDATE tool_calls SET status = 'error', error = ?2, finished_at = ?1
         WHERE key IN (SELECT key FROM tool_calls INDEXED BY tool_calls_running
           WHERE status = 'running' AND deadline_at <= ?1 LIMIT +?3)")
    .bind(now.to_string())
    .bind(error)
    .bind(AT_ONCE)
}

pub fn record_expiries(now: Timestamp) -> Statement {
    let state = |status: &str| {
        format!(
            "json_object('id', p.id, 'call_id', p.call_id, 'tool_name', c.tool_name, 'status', '{status}', 'reason', NULL)"
        )
    };
    let happened = sql(format!(
        "SELECT p.workspace_id, 'approval:' || p.id AS subject, {} AS previous_state, {} AS new_state
         FROM approvals p JOIN tool_calls c ON c.workspace_id = p.workspace_id AND c.id = p.call_id
         WHERE (p.workspace_id, p.id) IN ({})",
        state("pending"),
        state("expired"),
        expired("?1", "?2")
    ));
    record_everywhere(now, Action::Expire, happened.bind(now.to_string()).bind(AT_ONCE))
}

pub fn end_expired_calls(now: Timestamp, error: &str) -> Statement {
    sql(format!(
        "UPDATE tool_calls SET status = 'error', error = ?1, finished_at = ?2
         WHERE status = 'pending_approval' AND (workspace_id, id) IN (
           SELECT p.workspace_id, p.call_id FROM approvals p WHERE (p.workspace_id, p.id) IN ({}))",
        expired("?2", "?3")
    ))
    .bind(error)
    .bind(now.to_string())
    .bind(AT_ONCE)
}

/// Must be the last statement of its batch: the other statements look for the rows that this statement changes.
pub fn expire_approvals(now: Timestamp) -> Statement {
    sql(format!(
        "UPDATE approvals SET status = 'expired', decided_by = ?1, decided_at = ?2, sealed_arguments = NULL
         WHERE (workspace_id, id) IN ({})",
        expired("?2", "?3")
    ))
    .bind("pegboard")
    .bind(now.to_string())
    .bind(AT_ONCE)
}

/// Keys are small rows, and there may be as many keys as calls.
const KEYS_AT_ONCE: u32 = 20_000;

pub fn forget_keys(now: Timestamp) -> Statement {
    sql("DELETE FROM idempotency_keys WHERE (workspace_id, caller, key) IN (
           SELECT workspace_id, caller, key FROM idempotency_keys WHERE expires_at <= ?1 LIMIT +?2)")
    .bind(now.to_string())
    .bind(KEYS_AT_ONCE)
}
