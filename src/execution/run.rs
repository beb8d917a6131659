//! Stages 6 and 7: the run itself, and its result.

use super::limit::Slot;
use super::outcome::{Code, Failure, Stop};
use super::record::Journal;
use super::validate;
use crate::callers::Scope;
use crate::error::Error;
use crate::runners::{self, Failed, Said, Task};
use serde_json::value::RawValue;

/// Runs the task of a call that was let through.
pub async fn run(
    scope: &Scope,
    task: Task<'_>,
    _slot: Slot,
    journal: &mut Journal,
) -> std::result::Result<Box<RawValue>, Stop> {
    let begun = scope.app().elapsed_millis();
    let ended = runners::run(scope, &task).await;
    journal.duration_ms = scope.app().elapsed_millis().saturating_sub(begun);
    let output = ended.map_err(|failed| stop(scope, &task, failed))?;
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
        Failed::Tool(said) => Stop::Failed(failure(Code::ToolError, said)),
        Failed::Timeout(said) => Stop::Failed(failure(Code::Timeout, said)),
        Failed::Unreachable(message) => Stop::Failed(Failure::new(Code::Unreachable, message)),
        Failed::Broken(error) => {
            super::record::log(scope, task.call_id, &error);
            Stop::Failed(Failure::of(&error, scope.app().request_id()))
        }
    }
}

fn failure(code: Code, Said { message, details }: Said) -> Failure {
    Failure { code, message, details }
}
