//! Approvals and turns. A turn whose calls wait for approvals is over until they are decided, in the chat or elsewhere.

use super::live::LiveTurn;
use super::part::{Part, record_of};
use super::results::{self, Shown};
use super::start::ApprovalAnswer;
use super::toolkit::Toolkit;
use crate::callers::{Level, Scope};
use crate::error::{Error, Result};
use crate::execution::{self, CallPlace, Status, ToolResult};
use crate::ids::{ApprovalId, CallId};
use crate::registry::Tool;
use std::time::Duration;
use worker::{Delay, console_error};

/// The time between two looks at a call that was approved elsewhere and still runs. It grows.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// How long a turn waits for such a call. The request that approved the call tells the turn of the end too.
const PATIENCE: Duration = Duration::from_secs(30);

/// Whether all calls of a message have ended.
pub enum Settled {
    All,
    SomeWait,
}

/// A call of the message that waited when the turn paused.
struct WaitingCall {
    tool_call_id: String,
    tool_name: String,
    approval: ApprovalId,
    call: CallId,
}

/// Decides what `decider` has answered, and tells the outcomes of all calls that waited. An answer counts only if its caller
/// may decide: the registry says what was decided. A turn that is stopped decides nothing more.
pub async fn settle(
    scope: &Scope,
    live: &LiveTurn,
    toolkit: &Toolkit,
    decider: &Scope,
    answers: &[ApprovalAnswer],
) -> Result<Settled> {
    let waiting = waiting_calls(live.writer.borrow().parts());
    for answer in answers.iter().filter(|it| waiting.iter().any(|call| call.approval == it.approval_id)) {
        if live.is_stopped() {
            break;
        }
        decide(decider, answer, live.generation).await?;
    }
    let mut settled = Settled::All;
    for call in waiting {
        let Some(result) = outcome(scope, live, &call).await? else {
            live.tell(|it| it.call_failed(&call.tool_call_id, "The record of the call is gone"));
            continue;
        };
        let shown = Shown::recorded(toolkit.max_result_bytes(&call.tool_name));
        match result.status {
            // The part still asks for the approval. Its call tells its end later.
            Status::Running => settled = Settled::SomeWait,
            Status::PendingApproval => {
                settled = Settled::SomeWait;
                results::tell(live, &call.tool_call_id, result, &shown, false);
            }
            Status::Success | Status::Error | Status::Denied => {
                results::tell(live, &call.tool_call_id, result, &shown, false);
            }
        }
    }
    Ok(settled)
}

fn waiting_calls(parts: &[Part]) -> Vec<WaitingCall> {
    let waiting = parts.iter().filter(|it| it.waits()).filter_map(Part::as_call).filter_map(|call| {
        let record = record_of(parts, &call.tool_call_id)?;
        Some(WaitingCall {
            tool_call_id: call.tool_call_id.clone(),
            tool_name: call.tool_name.clone(),
            approval: ApprovalId::parse(&call.approval.as_ref()?.id)?,
            call: CallId::parse(&record.call_id)?,
        })
    });
    waiting.collect()
}

/// Decides an approval for a caller who may. The answer of another caller changes nothing, and neither does an answer that
/// comes too late. The turn has the conversation's last message and its files, and its session has this generation.
async fn decide(scope: &Scope, answer: &ApprovalAnswer, generation: u32) -> Result<()> {
    let caller = scope.caller().await?;
    if caller.level < Level::Admin || caller.agent.is_some() {
        return Ok(());
    }
    let (scope, reason) = (scope.for_one_approval().await?, answer.reason.as_deref());
    let decided = match answer.approved {
        true => {
            let locate = async |_: &CallPlace, _: &Tool| Ok(Some(generation));
            execution::approve(&scope, &answer.approval_id, reason, locate).await.map(|it| it.outcome.err())
        }
        false => execution::deny(&scope, &answer.approval_id, reason).await.map(|it| it.outcome.err()),
    };
    match decided {
        Ok(None) | Err(Error::Conflict(_) | Error::NotFound { .. }) => Ok(()),
        // The decision stands, and the record of the call tells what became of it.
        Ok(Some(fault)) => {
            console_error!("the call of the approval {} was approved, and failed: {fault:?}", answer.approval_id);
            Ok(())
        }
        Err(error) => Err(error),
    }
}

/// The outcome of a call that waited, or its status if it waits on. A call that runs elsewhere is waited for, for a while. None,
/// if the record of the call was deleted.
async fn outcome(scope: &Scope, live: &LiveTurn, call: &WaitingCall) -> Result<Option<ToolResult>> {
    let (mut waited, mut pause) = (Duration::ZERO, FIRST_PAUSE);
    loop {
        let standing = execution::standing(scope, &call.call, &call.approval).await?;
        let runs = standing.as_ref().is_some_and(|it| it.status == Status::Running);
        if !runs || waited >= PATIENCE || live.is_stopped() {
            return Ok(standing);
        }
        Delay::from(pause).await;
        waited += pause;
        pause = (2 * pause).min(LONGEST_PAUSE);
    }
}
