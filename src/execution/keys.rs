//! Calls with an idempotency key: the first call runs. A later call with the same key and arguments gets the recorded
//! outcome of the first call.

use super::outcome::{CallFailure, Code, Status};
use super::row::CallRow;

/// An earlier call with the same key.
pub struct EarlierCall {
    pub call: CallRow,
    /// Whether both calls have the same tool, agent, session and arguments.
    pub same: bool,
}

impl EarlierCall {
    /// The record for the response, or the reason why this call cannot use the key.
    pub fn settle(self) -> Result<CallRow, CallFailure> {
        let conflict = |message: &str| {
            let details = serde_json::json!({"call_id": self.call.id});
            Err(CallFailure::new(Code::Conflict, message).with(details))
        };
        match self.call.status {
            _ if !self.same => conflict("The idempotency key was used for a call with other arguments"),
            Status::Running => conflict("The call with this idempotency key is still running"),
            Status::PendingApproval | Status::Success | Status::Error | Status::Denied => Ok(self.call),
        }
    }
}
