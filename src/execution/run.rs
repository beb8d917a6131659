//! The sixth and the seventh stage: runs the call, and checks the result against the tool's schema. A call of a tool that may run for
//! long goes to the Durable Object that owns the call.

use super::approvals::ClearedCall;
use super::limit::RateSlot;
use super::outcome::{CallFailure, CallStop, Code, Ended};
use super::record::{CallIdentity, Journal};
use super::resolve::ResolvedCall;
use super::{owned, validate};
use crate::callers::Scope;
use crate::error::Error;
use crate::ids::CallId;
use crate::runners::{self, RunFailure, RunTask, Runner, ToolReport};

/// Runs a call that was cleared and admitted by its rate limit. The run uses up the slot.
pub async fn run(
    scope: &Scope,
    identity: &CallIdentity<'_>,
    cleared: ClearedCall<'_>,
    _slot: RateSlot,
    journal: &mut Journal,
) -> Ended {
    let call = cleared.call();
    if owned::is_owned(&call.target.tool) {
        return Err(match owned::hand_over(scope, identity, call).await {
            Ok(result) => CallStop::Recorded(Box::new(result)),
            Err(error) => stop(scope, identity.id, RunFailure::Broken(error)),
        });
    }
    carry_out(scope, identity, call, cleared.runner(), journal).await
}

/// Runs the call here, whatever its timeout is.
pub async fn carry_out(
    scope: &Scope,
    identity: &CallIdentity<'_>,
    call: &ResolvedCall,
    runner: &dyn Runner,
    journal: &mut Journal,
) -> Ended {
    let task = RunTask {
        call_id: identity.id,
        tool: &call.target.tool,
        arguments: &call.arguments,
        session: identity.session,
        generation: identity.generation,
        user_id: identity.user_id,
        early: call.early.as_ref(),
        agent: identity.agent,
    };
    let begun = scope.app().clock();
    let ended = runners::run(runner, scope, &task).await;
    journal.duration_ms = scope.app().clock().millis_since(begun);
    let output = ended.map_err(|mut failed| {
        if let Some(report) = failed.report_mut() {
            journal.content = report.content.take().map(String::from);
            if let Some(files) = report.files.take() {
                journal.manifests = files.manifests;
                journal.session_seen |= files.session_seen;
            }
        }
        stop(scope, identity.id, failed)
    })?;
    journal.manifests = output.manifests;
    journal.session_seen |= output.session_seen;
    journal.printed = output.printed;
    journal.content = output.content;
    if let Some(failure) = validate::result(call.returns.as_deref(), &output.result) {
        // The secrets of a result that does not fit its schema are unknown, and the tool may have printed them.
        journal.printed.take_if(|_| call.returns.as_ref().is_some_and(|it| it.has_secrets()));
        journal.content = None;
        return Err(CallStop::Failed(failure));
    }
    serde_json::value::to_raw_value(&output.result).map_err(|cause| {
        let error = Error::Internal(format!("a result is not JSON: {cause}"));
        stop(scope, identity.id, RunFailure::Broken(error))
    })
}

/// The stop of a call that failed after it ran, or may have run.
fn stop(scope: &Scope, id: &CallId, failed: RunFailure) -> CallStop {
    CallStop::Failed(match failed {
        RunFailure::Tool(report) => failure(Code::ToolError, report),
        RunFailure::Timeout(report) => failure(Code::Timeout, report),
        RunFailure::Unreachable(message) => CallFailure::new(Code::Unreachable, message),
        RunFailure::Broken(error) => {
            super::call_end::log(scope, id, &error);
            CallFailure::of(&error, scope.app().request_id())
        }
    })
}

fn failure(code: Code, ToolReport { message, details, .. }: ToolReport) -> CallFailure {
    CallFailure { code, message, details }
}
