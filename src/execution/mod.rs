//! Runs tools. Every call passes the same stages in the same order (`walk`), whichever protocol it comes through.

mod approvals;
mod archive;
mod authorize;
mod awaited;
mod call;
mod call_end;
mod details;
mod durations;
mod keys;
mod limit;
mod log;
mod many;
mod notice;
mod outcome;
mod owned;
mod page;
mod payload;
mod record;
mod render;
mod resolve;
mod retention;
mod row;
mod run;
pub mod series;
mod store;
mod suggest;
mod summary;
mod sweep;
mod tool_of_name;
pub mod totals;
mod validate;
mod waiting;
mod walk;

pub use approvals::{
    ApprovalOut, ApprovalStatus, CallPlace, Decided, approve, deny, get as get_approval, list as list_approvals,
};
pub use archive::ArchivedCalls;
pub use awaited::{MAX_WAIT_SECONDS, get as get_awaited_call};
pub use call::{Call, CalledTool, DEFAULT_SESSION, DoorCheck, ModelCallName, identity};
pub use log::{CallFilter, CallOut, ListedCalls, arguments_of, get as get_call, list as list_calls, result_of};
pub use many::{SecondTry, execute_all, execute_each};
pub use notice::WaitingNotice;
pub use outcome::{CallFailure, Code, Status, ToolResult, cut, cut_text};
pub use owned::run_owned;
pub use page::page_of;
pub use retention::delete_old_calls;
pub use summary::{Summary, summary};
pub use sweep::sweep;
pub use tool_of_name::tool_of_name;
pub use validate::check_arguments;
pub use waiting::{Outlook, outlook, standing};

use crate::callers::Scope;
use crate::error::{Error, Result};
use call::OpenedCall;

/// Makes a call. The outcome, also a refusal, is recorded before the response is sent. The function returns an `Err` in
/// two cases only: the caller is not admitted, or the outcome cannot be recorded.
pub async fn execute(scope: &Scope, call: Call) -> Result<ToolResult> {
    let call = OpenedCall::new(scope, call, 1)?;
    let lookup = resolve::look_up(scope, std::slice::from_ref(&call)).await?.pop();
    walk::walk(scope, call, lookup.ok_or_else(|| Error::Internal("a call was not looked up".into()))?).await
}
