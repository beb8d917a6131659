//! The approvals that calls wait for.

use super::columns::{CALL_COLUMNS, LISTED_COLUMNS};
use crate::changes::Author;
use crate::db::{self, Condition, Rows, Statement, sql};
use crate::error::{Error, Result};
use crate::execution::approvals::{ApprovalOut, ApprovalStatus};
use crate::execution::payload::CallDocument;
use crate::execution::row::CallRow;
use crate::ids::{ApprovalId, CallId, WorkspaceId};
use crate::page::PageRequest;
use crate::registry::{
    CURRENT_POLICY, MISSING_CREDENTIALS, OVERRIDE_JOIN, TOOL_COLUMNS, Tool, UPSTREAM_CONNECTION, tool_context,
};
use crate::time::Timestamp;
use serde::Deserialize;

/// The columns of an [`ApprovalRow`] at the time `?2`. An approval that nobody decided in time is shown as expired,
/// even if the sweep has not changed its row yet.
const APPROVAL_COLUMNS: &str =
    "p.id AS approval_id, p.requested_by, p.created_at, p.expires_at, p.decided_by, p.decided_at,
    p.reason, iif(p.status = 'pending' AND p.expires_at <= ?2, 'expired', p.status) AS approval_status";

/// The condition of a decision: the approval is pending. If its call is to run, the agent must also still exist, the
/// version must still be callable, and no restore may have put another version in the place of this version.
pub fn can_be_decided(workspace: &WorkspaceId, decision: &ApprovalDecision<'_>) -> Condition {
    let to_run = match decision.to_run {
        None => "",
        Some(_) => {
            " AND (c.agent_id IS NULL OR EXISTS (SELECT 1 FROM agents a WHERE a.workspace_id = ?1 AND a.id = c.agent_id))
              AND EXISTS (SELECT 1 FROM tools t JOIN tool_versions v ON v.tool_key = t.key
                WHERE t.workspace_id IN ('', ?1) AND t.id = c.tool_name AND t.key = ?4 AND v.major = ?5 AND v.minor = ?6 AND v.patch = ?7
                  AND (v.active = 1 OR (v.deactivated_reason = 'version_update'
                    AND EXISTS (SELECT 1 FROM tool_versions cv WHERE cv.key = t.current_version_key AND cv.active = 1))))
              AND NOT EXISTS (SELECT 1 FROM changes h INDEXED BY changes_by_subject
                WHERE h.workspace_id = ?1 AND h.subject = 'tool:' || c.tool_name || '@' || c.version
                  AND h.action = 'restore' AND h.timestamp >= c.started_at)"
        }
    };
    let pending = db::condition(format!(
        "EXISTS (SELECT 1 FROM approvals p JOIN tool_calls c ON c.workspace_id = p.workspace_id AND c.id = p.call_id
           WHERE p.workspace_id = ?1 AND p.id = ?2 AND p.status = 'pending' AND p.expires_at > ?3{to_run})"
    ))
    .bind(workspace.as_str())
    .bind(decision.id.as_str())
    .bind(decision.now.to_string());
    let numbers = decision.to_run.into_iter();
    let numbers = numbers.flat_map(|it| [it.key, it.version.major, it.version.minor, it.version.patch]);
    numbers.fold(pending, Condition::bind)
}

/// A decision about an approval, and its time.
pub struct ApprovalDecision<'a> {
    pub id: &'a ApprovalId,
    pub now: Timestamp,
    /// The tool to run, if the decision is to approve.
    pub to_run: Option<&'a Tool>,
}

/// An approval and its call. Both are read from the same row.
pub struct ApprovalWithCall {
    pub approval: ApprovalRow,
    pub call: CallRow,
}

#[derive(Deserialize)]
pub struct ApprovalRow {
    #[serde(rename = "approval_id")]
    pub id: String,
    #[serde(rename = "approval_status")]
    pub status: ApprovalStatus,
    /// Not read for lists.
    pub sealed_arguments: Option<String>,
    pub requested_by: String,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    pub decided_by: Option<String>,
    pub decided_at: Option<Timestamp>,
    pub reason: Option<String>,
}

pub fn read(rows: &Rows) -> Result<Option<ApprovalWithCall>> {
    Ok(rows.first()?.zip(rows.first()?).map(|(approval, call)| ApprovalWithCall { approval, call }))
}

pub fn read_all(rows: &Rows) -> Result<Vec<ApprovalWithCall>> {
    let both = rows.all()?.into_iter().zip(rows.all()?);
    Ok(both.map(|(approval, call)| ApprovalWithCall { approval, call }).collect())
}

impl TryFrom<ApprovalWithCall> for ApprovalOut {
    type Error = Error;

    fn try_from(ApprovalWithCall { approval: row, call }: ApprovalWithCall) -> Result<Self> {
        Ok(Self {
            arguments: call.shown(CallDocument::Arguments)?,
            shortened: call.shortened(&[CallDocument::Arguments])?,
            id: row.id,
            call_id: call.id,
            status: row.status,
            tool_name: call.tool_name,
            version: call.version,
            agent_id: call.agent_id,
            user_id: call.user_id,
            session_id: call.session_id,
            requested_by: row.requested_by,
            created_at: row.created_at,
            expires_at: row.expires_at,
            decided_by: row.decided_by,
            decided_at: row.decided_at,
            reason: row.reason,
        })
    }
}

/// Selects approvals `p` with their calls `c`, at the time `?2`.
fn select(columns: &str, rest: &str) -> Statement {
    sql(format!(
        "SELECT {APPROVAL_COLUMNS}, {columns} FROM approvals p
         JOIN tool_calls c ON c.workspace_id = p.workspace_id AND c.id = p.call_id
         WHERE p.workspace_id = ?1 {rest}"
    ))
}

pub fn find(workspace: &WorkspaceId, id: &ApprovalId, now: Timestamp) -> Statement {
    select(&format!("p.sealed_arguments, {CALL_COLUMNS}"), "AND p.id = ?3")
        .bind(workspace.as_str())
        .bind(now.to_string())
        .bind(id.as_str())
}

/// Those of some approvals whose calls have not ended: they wait at the time `?2`, or run.
#[derive(Deserialize)]
pub struct UndecidedCalls {
    pub calls: usize,
    /// When the first approval of those that wait expires.
    pub expires_at: Option<Timestamp>,
}

pub fn count_undecided(workspace: &WorkspaceId, ids: &[ApprovalId], now: Timestamp) -> Statement {
    let ids = ids.iter().map(ApprovalId::as_str).collect::<Vec<_>>();
    sql("SELECT count(*) AS calls, min(iif(c.status = 'pending_approval', p.expires_at, NULL)) AS expires_at
         FROM json_each(?3) j CROSS JOIN approvals p ON p.workspace_id = ?1 AND p.id = j.value
         CROSS JOIN tool_calls c ON c.workspace_id = ?1 AND c.id = p.call_id
         WHERE c.status = 'running' OR (c.status = 'pending_approval' AND p.expires_at > ?2)")
    .bind(workspace.as_str())
    .bind(now.to_string())
    .bind(serde_json::json!(ids).to_string())
}

pub fn read_undecided(rows: &Rows) -> Result<UndecidedCalls> {
    rows.first()?.ok_or_else(|| Error::Internal("approvals were not counted".into()))
}

/// Lists approvals, the oldest first.
pub fn list(
    workspace: &WorkspaceId,
    status: Option<ApprovalStatus>,
    now: Timestamp,
    request: &PageRequest,
) -> Result<Statement> {
    let (created_at, id) = request.after_age()?;
    let filter = match status {
        None => "",
        Some(ApprovalStatus::Pending) => "AND p.status = 'pending' AND p.expires_at > ?2",
        Some(ApprovalStatus::Approved) => "AND p.status = 'approved'",
        Some(ApprovalStatus::Denied) => "AND p.status = 'denied'",
        Some(ApprovalStatus::Expired) => "AND p.status IN ('expired', 'pending') AND p.expires_at <= ?2",
    };
    let rest = format!("AND (p.created_at, p.id) > (?3, ?4) {filter} ORDER BY p.created_at, p.id LIMIT +?5");
    Ok(select(LISTED_COLUMNS, &rest)
        .bind(workspace.as_str())
        .bind(now.to_string())
        .bind(created_at)
        .bind(id)
        .bind(request.rows_to_ask()))
}

/// The tool of the approval's call, at the version that the arguments were checked against.
pub fn find_tool(workspace: &WorkspaceId, id: &ApprovalId) -> Statement {
    sql(format!(
        "SELECT {TOOL_COLUMNS}, {}, {MISSING_CREDENTIALS}, {UPSTREAM_CONNECTION}, {CURRENT_POLICY} FROM approvals p
         JOIN tool_calls c ON c.workspace_id = p.workspace_id AND c.id = p.call_id
         JOIN tools t ON t.workspace_id IN ('', ?1) AND t.id = c.tool_name
         JOIN tool_versions v ON v.tool_key = t.key AND v.major || '.' || v.minor || '.' || v.patch = c.version
         {OVERRIDE_JOIN}
         WHERE p.workspace_id = ?1 AND p.id = ?2",
        tool_context()
    ))
    .bind(workspace.as_str())
    .bind(id.as_str())
}

/// Whether the agent of the approval's call still exists.
pub fn find_agent(workspace: &WorkspaceId, id: &ApprovalId) -> Statement {
    sql("SELECT 1 AS found FROM approvals p
         JOIN tool_calls c ON c.workspace_id = p.workspace_id AND c.id = p.call_id
         JOIN agents a ON a.workspace_id = c.workspace_id AND a.id = c.agent_id
         WHERE p.workspace_id = ?1 AND p.id = ?2")
    .bind(workspace.as_str())
    .bind(id.as_str())
}

pub fn insert(
    author: &Author<'_>,
    id: &ApprovalId,
    call: &CallId,
    sealed: Option<&str>,
    expires_at: Timestamp,
) -> Statement {
    sql("INSERT INTO approvals (workspace_id, id, call_id, status, sealed_arguments, requested_by, created_at, expires_at)
         VALUES (?1, ?2, ?3, 'pending', ?4, ?5, ?6, ?7)")
    .bind(author.workspace.as_str())
    .bind(id.as_str())
    .bind(call.as_str())
    .bind(sealed)
    .bind(author.operator)
    .bind(author.now.to_string())
    .bind(expires_at.to_string())
}

/// Decides an approval, if it [can be decided](can_be_decided), and erases the sealed arguments.
pub fn decide(
    author: &Author<'_>,
    decision: &ApprovalDecision<'_>,
    to: ApprovalStatus,
    reason: Option<&str>,
) -> Statement {
    sql("UPDATE approvals SET status = ?2, decided_by = ?3, decided_at = ?4, reason = ?5, sealed_arguments = NULL
         WHERE workspace_id = ?1 AND id = ?6")
    .bind(author.workspace.as_str())
    .bind(to.as_str())
    .bind(author.operator)
    .bind(author.now.to_string())
    .bind(reason)
    .bind(decision.id.as_str())
    .and(can_be_decided(author.workspace, decision))
}
