//! Running a tool: every call, from whichever door, walks through here once, downwards.

mod approvals;
mod authorize;
mod call;
mod keys;
mod limit;
mod log;
mod outcome;
mod payload;
mod record;
mod resolve;
mod row;
mod run;
mod store;
mod summary;
mod sweep;
pub mod totals;
mod validate;

pub use approvals::{ApprovalOut, ApprovalStatus, approve, deny, get as get_approval, list as list_approvals};
pub use call::Call;
pub use log::{CallFilter, CallOut, arguments_of, get as get_call, list as list_calls, result_of};
pub use outcome::{Code, Failure, Status, ToolResult};
pub use summary::{Summary, summary};
pub use sweep::sweep;

use crate::callers::Scope;
use crate::error::Result;
use crate::runners::Task;
use call::Opened;
use outcome::Stop;
use record::{Journal, Which};
use resolve::Look;
use serde_json::value::RawValue;
use validate::Input;

/// Makes a call. What comes of it is recorded before it is answered, a refusal too; an error is given only to callers who
/// are not let in, and where nothing can be recorded.
pub async fn execute(scope: &Scope, call: Call) -> Result<ToolResult> {
    let mut call = Opened::new(scope, call)?;
    let mut look = resolve::look(scope, &call).await?;
    let mut conflict = None;
    match look.earlier.take().map(|it| it.settle()) {
        Some(Ok(record)) => return record.answer(scope).await,
        Some(Err(failure)) => conflict = Some(failure.into()),
        None => {}
    }
    let mut journal = Journal::of(&mut call);
    let ended = match conflict {
        Some(stop) => Err(stop),
        None => walk(scope, &call, look, &mut journal).await,
    };
    let which = Which { id: &call.id, tool_name: call.tool_name(), session: &call.session, key: call.key.as_ref() };
    record::close(scope, &which, journal, ended).await
}

/// The stages of a call after the first, in their order. Each takes what the one before it has proved.
async fn walk(
    scope: &Scope,
    call: &Opened,
    look: Look,
    journal: &mut Journal,
) -> std::result::Result<Box<RawValue>, Stop> {
    let caller = scope.caller().await?;
    if let Some(fault) = &call.asked.fault {
        return Err(outcome::Failure::of(fault, scope.app().request_id()).into());
    }
    let target = resolve::target(call, caller, look)?;
    journal.resolved(&target)?;
    let granted = authorize::grant(caller, &target)?;
    let input = validate::arguments(&granted, journal)?;
    let cleared = approvals::clear(scope, call, input, journal).await?;
    let slot = limit::take(scope, cleared.tool).await?;
    run::run(scope, task(call, &cleared), slot, journal).await
}

fn task<'a>(call: &'a Opened, input: &'a Input<'a>) -> Task<'a> {
    Task {
        call_id: &call.id,
        tool: input.tool,
        arguments: &input.arguments,
        session: &call.session,
        user_id: call.asked.user_id.as_deref(),
    }
}
