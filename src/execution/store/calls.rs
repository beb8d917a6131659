//! The row of one call: opened as running, and closed with the outcome.

use super::columns::CALL_COLUMNS;
use crate::callers::{Caller, Scope};
use crate::db::{Param, Rows, Statement, sql};
use crate::durable::long_call::LONGEST_CARRIED_SECONDS;
use crate::error::Result;
use crate::execution::call::{CalledName, OpenedCall};
use crate::execution::outcome::Status;
use crate::execution::payload::CallDocument;
use crate::execution::record::{CallIdentity, ClosedCall, UnwrittenCall};
use crate::execution::row::CallRow;
use crate::files::Blob;
use crate::ids::{AgentId, CallId, TokenId, WorkspaceId};
use crate::registry::OVERRIDE_JOIN;
use crate::time::Timestamp;
use serde::Deserialize;

/// The seconds after its timeout at which a call that still runs is taken for dead.
pub const GRACE_SECONDS: u32 = 60;

/// Opens the call's row if the caller's token is valid. No row is opened in two cases. The call has no idempotency key,
/// and its tool is unknown or changes nothing: such a call is written once, at its end ([`insert`]). Or an earlier call
/// with the same idempotency key and arguments exists and does not run any more. A long call always has a row, because
/// the object that runs the call closes the row. The sweep may end the call after the timeout of its tool plus
/// [`GRACE_SECONDS`], multiplied by the call's place. A row that exists already is left as it is.
pub fn open(scope: &Scope, call: &OpenedCall) -> Statement {
    let (key, place) = (call.key.as_ref(), call.place);
    let version = call.name.as_ref().and_then(|it| it.version);
    let sought = call.name.as_ref().map(CalledName::lookup);
    // If the name may mean several tools, the longest timeout among them counts, and one that changes something.
    let (table, condition) =
        sought.map_or_else(|| ("tools t".to_owned(), "false".to_owned()), |it| (it.table(13), it.condition(13)));
    let of_version = match version {
        None => "v.key = t.current_version_key",
        Some(_) => "v.tool_key = t.key AND v.major = ?16 AND v.minor = ?17 AND v.patch = ?18",
    };
    let statement = sql(format!(
        "INSERT INTO tool_calls (workspace_id, id, tool_name, agent_id, user_id, session_id, message_id, operator,
           status, started_at, max_result_bytes, deadline_at)
         SELECT ?1, ?2, ?3, coalesce((SELECT agent_id FROM tokens WHERE workspace_id = ?1 AND id = ?5), ?4), ?6, ?7, ?8, ?9,
           'running', ?10, ?11,
           strftime('%Y-%m-%dT%H:%M:%fZ', ?10, '+' || ({place} * (?12 + coalesce(named.timeout, 0))) || ' seconds')
         FROM (SELECT max(v.timeout_seconds) AS timeout,
             max(v.risk_level <> 'safe' OR v.requires_approval OR o.requires_approval OR v.side_effects <> '[]'
               OR t.source = 'toolset'
               OR v.timeout_seconds > {LONGEST_CARRIED_SECONDS}
               OR v.handler_key = 'python' AND v.handler ->> '$.files' IS NOT NULL) AS acts
           FROM {table} CROSS JOIN tool_versions v ON {of_version} {OVERRIDE_JOIN} WHERE {condition}) named
         WHERE (named.acts OR ?14 IS NOT NULL)
           AND NOT EXISTS (SELECT 1 FROM tool_calls WHERE workspace_id = ?1 AND id = ?2) AND NOT EXISTS (
           SELECT 1 FROM idempotency_keys k JOIN tool_calls c ON c.workspace_id = k.workspace_id AND c.id = k.call_id
           WHERE k.workspace_id = ?1 AND k.caller = ?9 AND k.key = ?14 AND k.call_id <> ?2
             AND k.arguments_hash = ?15 AND c.status <> 'running')"
    ))
    .bind(scope.workspace().as_str())
    .bind(call.id.as_str())
    .bind(call.tool_name())
    .bind(call.asked.agent_id.as_deref())
    .bind(scope.token_id().map(TokenId::as_str))
    .bind(call.asked.user_id.as_deref())
    .bind(call.session.as_str())
    .bind(call.asked.message_id.as_deref())
    .bind(scope.operator())
    .bind(call.opened_at.to_string())
    .bind(call.asked.max_result_bytes)
    .bind(GRACE_SECONDS)
    .bind(sought.map_or(Param::Null, |it| it.param()))
    .bind(key.map(|it| it.key.as_str()))
    .bind(key.map(|it| it.arguments_hash.as_str()));
    let numbers = version.into_iter().flat_map(|it| [it.major, it.minor, it.patch]);
    scope.guarded(numbers.fold(statement, Statement::bind)).repeatable()
}

/// Writes the whole row of a call that has none yet. If the batch of the look-up was sent twice, the second one does not
/// see that the first one has opened the row: then the row gets its outcome here. A second run finds an ended row and
/// changes nothing.
pub fn insert(
    workspace: &WorkspaceId,
    caller: &Caller,
    identity: &CallIdentity<'_>,
    unwritten: &UnwrittenCall<'_>,
    tool_name: &str,
    closing: &ClosedCall,
) -> Statement {
    let statement = sql("INSERT INTO tool_calls (workspace_id, id, tool_name, agent_id, user_id, session_id, message_id,
           operator, started_at, version, status, duration_ms, finished_at, pre_manifest_id, post_manifest_id, error, arguments,
           result, max_result_bytes, details, render_plan)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21)
         ON CONFLICT (workspace_id, id) DO UPDATE SET tool_name = excluded.tool_name, version = excluded.version,
           status = excluded.status, duration_ms = excluded.duration_ms, finished_at = excluded.finished_at,
           pre_manifest_id = excluded.pre_manifest_id, post_manifest_id = excluded.post_manifest_id,
           error = excluded.error, arguments = excluded.arguments, result = excluded.result,
           max_result_bytes = excluded.max_result_bytes, details = excluded.details,
           render_plan = excluded.render_plan
         WHERE status = 'running'")
    .bind(workspace.as_str())
    .bind(identity.id.as_str())
    .bind(tool_name)
    .bind(caller.agent.as_ref().map(AgentId::as_str).or(unwritten.agent_id))
    .bind(identity.user_id)
    .bind(identity.session.as_str())
    .bind(unwritten.message_id)
    .bind(caller.operator.as_str())
    .bind(unwritten.started_at.to_string());
    bind_outcome(statement, closing).repeatable()
}

/// Writes the outcome of a running call, or of a call that the sweep ended too early. Only the sweep records a timeout
/// without a duration.
pub fn close(workspace: &WorkspaceId, id: &CallId, closing: &ClosedCall) -> Statement {
    let statement = sql(
        "UPDATE tool_calls SET version = ?3, status = ?4, duration_ms = ?5, finished_at = ?6, pre_manifest_id = ?7,
           post_manifest_id = ?8, error = ?9, arguments = ?10, result = ?11, max_result_bytes = ?12, details = ?13,
           render_plan = ?14
         WHERE workspace_id = ?1 AND id = ?2
           AND (status = 'running' OR (status = 'error' AND duration_ms IS NULL AND error ->> '$.code' = 'TIMEOUT'))",
    )
    .bind(workspace.as_str())
    .bind(id.as_str());
    bind_outcome(statement, closing).repeatable()
}

/// Binds the columns from `version` to `render_plan`, in the order of [`insert`] and [`close`].
fn bind_outcome(statement: Statement, closing: &ClosedCall) -> Statement {
    statement
        .bind(closing.version.as_deref())
        .bind(closing.status.as_str())
        .bind(closing.duration_ms)
        .bind(closing.finished_at.map(|it| it.to_string()))
        .bind(closing.manifests.pre.as_ref().map(String::from))
        .bind(closing.manifests.post.as_ref().map(String::from))
        .bind(closing.error.as_deref())
        .bind(closing.arguments.as_ref().map(|it| it.column.as_str()))
        .bind(closing.result.as_ref().map(|it| it.column.as_str()))
        .bind(closing.max_result_bytes)
        .bind(closing.details.as_deref())
        .bind(closing.render_plan.as_ref().map(|it| it.get()))
}

/// Records the id of the tool, for a call that used the tool's exported name.
pub fn rename(workspace: &WorkspaceId, id: &CallId, tool_name: &str) -> Statement {
    sql("UPDATE tool_calls SET tool_name = ?3 WHERE workspace_id = ?1 AND id = ?2")
        .bind(workspace.as_str())
        .bind(id.as_str())
        .bind(tool_name)
        .repeatable()
}

/// Ties a blob to the call whose arguments or result the blob holds.
pub fn tie_blob(workspace: &WorkspaceId, id: &CallId, kind: CallDocument, blob: &Blob) -> Statement {
    sql("INSERT INTO call_blobs (workspace_id, call_id, kind, sha256, size) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT DO NOTHING")
    .bind(workspace.as_str())
    .bind(id.as_str())
    .bind(kind.as_str())
    .bind(blob.sha256())
    .bind(blob.size())
    .repeatable()
}

/// Unties the blobs that the call's row no longer names.
pub fn untie_blobs(workspace: &WorkspaceId, id: &CallId) -> Statement {
    sql("DELETE FROM call_blobs AS b WHERE b.workspace_id = ?1 AND b.call_id = ?2 AND NOT EXISTS (
           SELECT 1 FROM tool_calls c WHERE c.workspace_id = ?1 AND c.id = ?2
             AND iif(b.kind = 'arguments', c.arguments, c.result) LIKE '#%')")
    .bind(workspace.as_str())
    .bind(id.as_str())
    .repeatable()
}

/// Marks a waiting call as running, if its approval has just been approved.
pub fn resume(workspace: &WorkspaceId, id: &CallId, deadline: Timestamp) -> Statement {
    sql("UPDATE tool_calls SET status = 'running', error = NULL, deadline_at = ?3
         WHERE workspace_id = ?1 AND id = ?2 AND status = 'pending_approval'
           AND EXISTS (SELECT 1 FROM approvals WHERE workspace_id = ?1 AND call_id = ?2 AND status = 'approved')")
    .bind(workspace.as_str())
    .bind(id.as_str())
    .bind(deadline.to_string())
}

/// Ends a waiting call whose approval was denied.
pub fn deny(workspace: &WorkspaceId, id: &CallId, error: &str, now: Timestamp) -> Statement {
    sql("UPDATE tool_calls SET status = 'denied', error = ?3, finished_at = ?4
         WHERE workspace_id = ?1 AND id = ?2 AND status = 'pending_approval'
           AND EXISTS (SELECT 1 FROM approvals WHERE workspace_id = ?1 AND call_id = ?2 AND status = 'denied')")
    .bind(workspace.as_str())
    .bind(id.as_str())
    .bind(error)
    .bind(now.to_string())
}

pub fn find(workspace: &WorkspaceId, id: &CallId) -> Statement {
    sql(format!("SELECT {CALL_COLUMNS} FROM tool_calls c WHERE c.workspace_id = ?1 AND c.id = ?2"))
        .bind(workspace.as_str())
        .bind(id.as_str())
}

/// Finds the status of a call, and nothing else of it.
pub fn find_status(workspace: &WorkspaceId, id: &CallId) -> Statement {
    sql("SELECT status FROM tool_calls WHERE workspace_id = ?1 AND id = ?2").bind(workspace.as_str()).bind(id.as_str())
}

#[derive(Deserialize)]
struct StatusRow {
    status: Status,
}

pub fn read_status(rows: &Rows) -> Result<Option<Status>> {
    Ok(rows.first::<StatusRow>()?.map(|it| it.status))
}

pub fn read(rows: &Rows) -> Result<Option<CallRow>> {
    rows.first()
}
