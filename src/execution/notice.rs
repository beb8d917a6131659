//! The text that every protocol gives for a call that has not ended: it waits for its approval, or runs after it.

use super::outcome::{CallFailure, Code};
use crate::callers::{Caller, Level};
use crate::ids::{ApprovalId, CallId};
use serde_json::json;

/// A call that has not ended, for the people and models who asked for it.
pub struct WaitingNotice<'a> {
    pub tool_name: &'a str,
    pub call: &'a CallId,
    pub approval: &'a ApprovalId,
    /// Whether the call has been approved, and runs.
    pub running: bool,
    /// Whether the caller may read the record of the call.
    pub reads_calls: bool,
}

impl WaitingNotice<'_> {
    /// Whether a caller may read the records of calls.
    pub fn is_for_reader(caller: &Caller) -> bool {
        caller.level >= Level::User
    }

    /// The state of the call, for a person who can decide about it.
    pub fn state(&self) -> String {
        let Self { tool_name, approval, .. } = self;
        if self.running {
            return format!("{tool_name} has been approved, and is running.");
        }
        format!(
            "{tool_name} has not run: it waits for an approval. An admin decides it in the registry, by \
             POST /api/approvals/{approval}/approve or /deny."
        )
    }

    /// The state of the call, and what its asker should do: wait, and look for the result.
    pub fn advice(&self) -> String {
        let when = if self.running { "it ends by itself" } else { "once it is approved, it runs by itself" };
        let mut text = format!("{} Do not call it again: {when}", self.state());
        if self.reads_calls {
            let call = self.call;
            text.push_str(&format!(
                ", and its result is the resource call://{call} (GET /api/tool-calls/{call}/result). \
                 GET /api/tool-calls/{call}?wait=30 waits for its end"
            ));
        }
        text.push('.');
        text
    }

    /// The failure in the response to a call that waits for its approval.
    pub fn failure(&self) -> CallFailure {
        let details = json!({"approval_id": self.approval.as_str()});
        CallFailure::new(Code::ApprovalRequired, self.advice()).with(details)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_asked_is_told_what_they_can_do() {
        let (call, approval) = (CallId::parse("call_1").unwrap(), ApprovalId::parse("appr_1").unwrap());
        let notice = |running, reads_calls| WaitingNotice {
            tool_name: "wipe",
            call: &call,
            approval: &approval,
            running,
            reads_calls,
        };
        let told = |running, reads_calls| notice(running, reads_calls).advice();
        assert!(told(false, true).starts_with("wipe has not run") && told(false, true).contains("call://call_1"));
        assert!(
            told(false, true).contains("POST /api/approvals/appr_1/approve") && told(false, true).contains("?wait=30")
        );
        // A guest may not read the record of the call.
        assert!(!told(false, false).contains("call_1") && told(false, false).ends_with("it runs by itself."));
        assert!(told(true, true).starts_with("wipe has been approved, and is running."));
        assert!(!told(true, false).contains("approval"), "nothing is left to decide");
        assert_eq!(notice(false, true).failure().message, told(false, true));
    }
}
