//! How a call ended: the parts of its outcome that its record and its response share.

use super::approvals::ApprovalRequest;
use super::outcome::{CallFailure, CallStop, Ended, Status, ToolResult};
use crate::callers::Scope;
use crate::error::{Error, Result};
use crate::ids::CallId;
use crate::quota;
use serde_json::value::RawValue;
use worker::console_error;

pub struct CallEnd {
    pub status: Status,
    pub result: Option<Box<RawValue>>,
    pub error: Option<CallFailure>,
    /// Whether the call was not run, and does not wait.
    pub refused: bool,
    /// The approval that the call waits for.
    pub request: Option<Box<ApprovalRequest>>,
}

impl CallEnd {
    /// Fails with the response, if the call has been recorded already.
    pub fn of(scope: &Scope, id: &CallId, ended: Ended) -> std::result::Result<Self, Box<ToolResult>> {
        let failed = |error: CallFailure, refused: bool| Self {
            status: Status::Error,
            result: None,
            error: Some(error),
            refused,
            request: None,
        };
        Ok(match ended {
            Ok(result) => {
                Self { status: Status::Success, result: Some(result), error: None, refused: false, request: None }
            }
            Err(CallStop::Refused(failure)) => failed(failure, true),
            Err(CallStop::Failed(failure)) => failed(failure, false),
            Err(CallStop::Broken(error)) => {
                log(scope, id, &error);
                failed(CallFailure::of(&error, scope.app().request_id()), true)
            }
            Err(CallStop::Pending(request)) => {
                let error = Some(request.failure.clone());
                Self { status: Status::PendingApproval, result: None, error, refused: false, request: Some(request) }
            }
            Err(CallStop::Recorded(result)) => return Err(result),
        })
    }

    pub fn waits(&self) -> bool {
        self.status == Status::PendingApproval
    }

    pub fn ran(&self) -> bool {
        !self.refused && !self.waits()
    }

    /// The end of a call that cannot wait for its approval, because its arguments cannot be kept.
    pub async fn cannot_wait(scope: &Scope) -> Result<Self> {
        let what = "The call needs an approval, and its arguments cannot be kept until then";
        let error = CallFailure::of(&quota::refusal(scope, what).await?, scope.app().request_id());
        Ok(Self { status: Status::Error, result: None, error: Some(error), refused: true, request: None })
    }
}

/// Logs the cause of an internal error. Only the log shows the cause.
pub fn log(scope: &Scope, id: &CallId, error: &Error) {
    if let Error::Internal(cause) = error {
        console_error!("request {} failed in the call {id}: {cause}", scope.app().request_id());
    }
}
