//! The present state of a call that waited for its approval.

use super::approvals::ApprovalStatus;
use super::outcome::{CallFailure, Status, ToolResult};
use super::store;
use crate::callers::Scope;
use crate::error::Result;
use crate::ids::{AgentId, ApprovalId, CallId};
use crate::registry::{self, schema};
use crate::time::Timestamp;

/// The outcome of the call, or its status if it still waits or runs. None, if this caller has no such call.
pub async fn standing(scope: &Scope, call: &CallId, approval: &ApprovalId) -> Result<Option<ToolResult>> {
    let workspace = scope.workspace();
    let [rows, tool] = scope
        .read([
            store::approvals::find(workspace, approval, scope.app().clock()),
            store::approvals::find_tool(workspace, approval),
        ])
        .await?;
    let own = scope.caller().await?.agent.as_ref().map(AgentId::as_str);
    let asked = store::approvals::read(&rows)?
        .filter(|it| it.call.id == call.as_str() && (own.is_none() || it.call.agent_id.as_deref() == own));
    let Some(asked) = asked else { return Ok(None) };
    let mut result = asked.call.answer(scope).await?;
    let tool = registry::read_tool(&tool)?;
    let returns = tool.as_ref().and_then(|it| it.returns_schema.as_deref());
    result.returns = returns.map(schema::compiled).transpose()?;
    // The sweep may not have ended the call yet.
    if asked.approval.status == ApprovalStatus::Expired && result.status == Status::PendingApproval {
        result.status = Status::Error;
        result.error = Some(CallFailure::expired());
    }
    Ok(Some(result))
}

/// What is to be expected of calls that waited for their approvals.
pub enum Outlook {
    /// One of them has ended, or its approval has expired: there is something new to tell.
    Changed,
    /// They wait, or run. `expires_at` is when the first of the approvals expires.
    Unchanged { expires_at: Option<Timestamp> },
}

/// What is to be expected of the calls of these approvals, in one round trip.
pub async fn outlook(scope: &Scope, approvals: &[ApprovalId]) -> Result<Outlook> {
    let now = scope.app().clock();
    let [rows] = scope.read([store::approvals::count_undecided(scope.workspace(), approvals, now)]).await?;
    let undecided = store::approvals::read_undecided(&rows)?;
    Ok(match undecided.calls < approvals.len() {
        true => Outlook::Changed,
        false => Outlook::Unchanged { expires_at: undecided.expires_at },
    })
}
