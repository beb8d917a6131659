//! Calls with an idempotency key: the first call runs. A later call with the same key and arguments gets the recorded
//! outcome of the first call.

use super::call::KeyOrigin;
use super::outcome::{CallFailure, Code, Status};
use super::row::CallRow;

/// An earlier call with the same key.
pub struct EarlierCall {
    pub call: CallRow,
    /// Whether both calls have the same tool, agent, session and arguments.
    pub same: bool,
    pub origin: KeyOrigin,
}

impl EarlierCall {
    /// The record for the response, or the reason why this call cannot use the key.
    pub fn settle(self) -> Result<CallRow, CallFailure> {
        let conflict = |message: &str| {
            let details = serde_json::json!({"call_id": self.call.id});
            Err(CallFailure::new(Code::Conflict, message).with(details))
        };
        let (other, running) = match self.origin {
            KeyOrigin::Caller => (
                "The idempotency key was used for a call with other arguments",
                "The call with this idempotency key is still running",
            ),
            KeyOrigin::ModelCall => (
                "The id of this call was used in this session for a call with other arguments: each call needs an id of its own, or each message an ?idempotency_key= of its own",
                "This call was sent before, and is still running: send it again later",
            ),
        };
        match self.call.status {
            _ if !self.same => conflict(other),
            Status::Running => conflict(running),
            Status::PendingApproval | Status::Success | Status::Error | Status::Denied => Ok(self.call),
        }
    }
}
