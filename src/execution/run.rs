//! Stages 6 and 7: the run itself, within its time, and its result.

use super::limit::Slot;
use super::outcome::{Code, Failure, Stop};
use super::record::Journal;
use super::validate;
use crate::callers::Scope;
use crate::error::Error;
use crate::runners::{self, Failed, Task};
use futures_util::future::{Either, select};
use serde_json::value::RawValue;
use std::pin::pin;
use std::time::Duration;
use worker::Delay;

/// Runs the task of a call that was let through. What comes too late is as if it had never come.
pub async fn run(
    scope: &Scope,
    task: Task<'_>,
    _slot: Slot,
    journal: &mut Journal,
) -> std::result::Result<Box<RawValue>, Stop> {
    let begun = scope.app().elapsed_millis();
    let seconds = task.tool.timeout_seconds;
    let deadline = Delay::from(Duration::from_secs(seconds.into()));
    let ended = match select(pin!(runners::run(scope, &task)), deadline).await {
        Either::Left((ended, _)) => Some(ended),
        Either::Right(_) => None,
    };
    journal.duration_ms = scope.app().elapsed_millis().saturating_sub(begun);
    let output = match ended {
        Some(Ok(output)) => output,
        Some(Err(failed)) => return Err(stop(scope, &task, failed)),
        None => {
            let message = format!("{} did not finish within {seconds} seconds", task.tool.id);
            return Err(Stop::Failed(Failure::new(Code::Timeout, message)));
        }
    };
    journal.manifests = output.manifests;
    journal.session_seen = output.session_seen;
    if let Some(failure) = validate::result(journal.returns(), &output.result) {
        return Err(Stop::Failed(failure));
    }
    serde_json::value::to_raw_value(&output.result).map_err(|cause| {
        let error = Error::Internal(format!("a result is not JSON: {cause}"));
        stop(scope, &task, Failed::Broken(error))
    })
}

/// What ran, or may have run, has failed.
fn stop(scope: &Scope, task: &Task<'_>, failed: Failed) -> Stop {
    match failed {
        Failed::Tool(message) => Stop::Failed(Failure::new(Code::ToolError, message)),
        Failed::Unreachable(message) => Stop::Failed(Failure::new(Code::Unreachable, message)),
        Failed::Broken(error) => {
            super::record::log(scope, task.call_id, &error);
            Stop::Failed(Failure::of(&error, scope.app().request_id()))
        }
    }
}
