//! Running a tool: every call, from whichever door, walks through here once, downwards.

mod approvals;
mod authorize;
mod call;
mod keys;
mod limit;
mod log;
mod many;
mod mirrored;
mod named;
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
mod waiting;

pub use approvals::{ApprovalOut, ApprovalStatus, approve, deny, get as get_approval, list as list_approvals};
pub use call::{Call, DEFAULT_SESSION, identity};
pub use log::{CallFilter, CallOut, arguments_of, get as get_call, list as list_calls, result_of};
pub use many::execute_all;
pub use named::named;
pub use outcome::{Code, Failure, Status, ToolResult};
pub use summary::{Summary, summary};
pub use sweep::sweep;
pub use validate::check_arguments;
pub use waiting::standing;

use crate::callers::Scope;
use crate::error::{Error, Result};
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
    let call = Opened::new(scope, call)?;
    let look = resolve::look(scope, std::slice::from_ref(&call)).await?.pop();
    conclude(scope, call, look.ok_or_else(|| Error::Internal("a call was not looked up".into()))?).await
}

/// The call after the look at the database.
async fn conclude(scope: &Scope, mut call: Opened, mut look: Look) -> Result<ToolResult> {
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
    let contradiction = mirrored::contradiction(&call.asked, &target, journal.arguments())?;
    journal.resolved(&target)?;
    let granted = authorize::grant(caller, &target)?;
    if let Some(unreadable) = &call.asked.unreadable {
        return Err(outcome::Failure::new(Code::InvalidArguments, unreadable).into());
    }
    if let Some(contradiction) = contradiction {
        return Err(contradiction.into());
    }
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
