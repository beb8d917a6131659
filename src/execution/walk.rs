//! The walk of one call: its stages after the lookup, in their order.
//!
//! Each stage takes a value that only the stage before it can make. So a call cannot run unless it was granted,
//! checked, cleared and admitted by its rate limit. The record is written wherever the call stops.

use super::call::OpenedCall;
use super::outcome::{CallStop, Ended, ToolResult};
use super::record::{self, CallIdentity, Journal, UnwrittenCall};
use super::resolve::{self, CallLookup, ResolvedCall};
use super::{approvals, authorize, limit, run, validate};
use crate::callers::Scope;
use crate::error::Result;

/// Takes a call through its stages, and records the outcome.
pub async fn walk(scope: &Scope, mut call: OpenedCall, mut lookup: CallLookup) -> Result<ToolResult> {
    let opened = lookup.opened;
    let resolved = match lookup.earlier.take().map(|it| it.settle()) {
        Some(Ok(record)) => return record.answer(scope).await,
        Some(Err(conflict)) => Err(CallStop::from(conflict)),
        None => resolve::resolve(scope, &mut call, lookup).await,
    };
    let standing = resolved.as_ref().ok().and_then(|it| it.target.standing.as_ref());
    let agent = standing.map(|it| it.agent.id.clone());
    let identity = CallIdentity {
        id: &call.id,
        tool_name: call.tool_name(),
        session: &call.session,
        generation: call.asked.generation,
        user_id: call.asked.user_id.as_deref(),
        agent: agent.as_ref(),
        key: call.key.as_ref(),
        max_result_bytes: call.asked.max_result_bytes,
        unwritten: (!opened).then(|| UnwrittenCall::of(&call)),
    };
    let mut journal = Journal::default();
    match resolved {
        Ok(mut resolved) => {
            let ended = stages(scope, &identity, &mut resolved, &mut journal).await;
            record::close(scope, &identity, Some(&resolved), journal, ended).await
        }
        Err(stop) => record::close(scope, &identity, None, journal, Err(stop)).await,
    }
}

/// The stages between the lookup in the database and the record. The arguments stay in `resolved`, so the record shows
/// them as the last stage left them.
async fn stages(
    scope: &Scope,
    identity: &CallIdentity<'_>,
    resolved: &mut ResolvedCall,
    journal: &mut Journal,
) -> Ended {
    let granted = authorize::grant(scope.caller().await?, resolved)?;
    let checked = validate::arguments(granted)?;
    let cleared = approvals::clear(scope, identity.id, checked).await?;
    let slot = limit::take(scope, cleared.tool()).await?;
    run::run(scope, identity, cleared, slot, journal).await
}
