//! The calls of one step: run through `execution`, and told to the clients as they end.

use super::live::LiveTurn;
use super::planned::PlannedCall;
use super::results::{self, Shown, text_of};
use crate::callers::Scope;
use crate::error::Result;
use crate::execution::{self, Call, CallFailure, Code, SecondTry, ToolResult};
use crate::ids::{AgentId, MessageId, SessionId};
use crate::registry::scrub;
use std::rc::Rc;
use std::time::Duration;

/// The longest pause before a call that was refused for the moment is made again.
const LONGEST_PAUSE_SECONDS: u64 = 10;

/// What the calls of a turn have in common.
pub struct CallContext<'a> {
    pub scope: &'a Scope,
    pub live: &'a Rc<LiveTurn>,
    pub agent: &'a AgentId,
    pub session: &'a SessionId,
    pub message: &'a MessageId,
    pub user_id: Option<&'a str>,
}

/// Makes the calls. A call that failed for the moment, and surely did not act, is made once more in its own place, so that
/// calls that keep their order still do.
pub async fn run(context: &CallContext<'_>, planned: &[PlannedCall]) -> Result<()> {
    let calls = planned.iter().map(|it| it.call(context)).collect();
    let again = |index: usize, ended: &Result<ToolResult>| {
        let call = planned.get(index).filter(|_| !context.live.is_stopped())?;
        let pause = second_try(ended.as_ref().ok()?, call.may_run_twice)?;
        Some(SecondTry { call: call.call(context), pause })
    };
    let ended = |index: usize, ended: Result<ToolResult>| {
        if let Some(call) = planned.get(index) {
            call.tell_end(context, ended);
        }
    };
    execution::execute_each(context.scope, calls, again, ended).await
}

/// The pause before the second try of a call. None, if there is none: a call that may have acted is not made again, unless its
/// tool is safe.
fn second_try(ended: &ToolResult, may_run_twice: bool) -> Option<Duration> {
    let failure = ended.error.as_ref()?;
    if !failure.code.may_pass() || !(ended.never_ran || may_run_twice) {
        return None;
    }
    let seconds = ended.retry_after().unwrap_or(1).max(1);
    (seconds <= LONGEST_PAUSE_SECONDS).then(|| Duration::from_secs(seconds))
}

impl PlannedCall {
    fn call(&self, context: &CallContext<'_>) -> Call {
        let (live, is_offered) = (context.live.clone(), self.is_offered);
        Call {
            tool_name: self.name.clone(),
            arguments: self.arguments.as_ref().cloned().unwrap_or_default(),
            unreadable: self.arguments.as_ref().err().map(|it| it.message.clone()),
            agent_id: Some(context.agent.to_string()),
            session_id: Some(context.session.clone()),
            generation: Some(context.live.generation),
            user_id: context.user_id.map(str::to_owned),
            message_id: Some(context.message.to_string()),
            // A result that hides secrets is cut here later, so the pipeline must not cut the result. Without a limit the
            // pipeline would take the limit of the attachment.
            max_result_bytes: Some(if self.hides_result { u32::MAX } else { self.max_result_bytes }),
            door_check: Some(Box::new(move |called, _| {
                // A call that still waited for its turn when the chat was stopped is not made.
                let stopped = || CallFailure::new(Code::Conflict, "The turn was stopped before the call began");
                let unknown = || {
                    let sentence = format!("{} is not among the tools that you were given", called.tool.id);
                    CallFailure::new(Code::UnknownTool, sentence)
                };
                live.is_stopped().then(stopped).or_else(|| (!is_offered).then(unknown))
            })),
            ..Call::default()
        }
    }

    /// Tells the clients how the call ended.
    fn tell_end(&self, context: &CallContext<'_>, ended: Result<ToolResult>) {
        match ended {
            Ok(result) => {
                // Any other result is cut already, but the text of a failure is not.
                let (limit, may_be_cut) = (self.max_result_bytes, !self.hides_result);
                let shown = Shown { secrets: &self.secrets, limit, may_be_cut };
                results::tell(context.live, &self.id, result, &shown, self.arguments.is_err());
            }
            Err(error) => {
                let failure = CallFailure::of(&error, context.scope.app().request_id());
                let text = execution::cut_text(scrub(&self.secrets, text_of(&failure)), self.max_result_bytes, "");
                context.live.tell(|it| it.call_failed(&self.id, &text));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execution::Status;
    use serde_json::json;

    fn failed(code: Code, never_ran: bool, retry_after: Option<u64>) -> ToolResult {
        let failure = CallFailure::new(code, "it failed");
        let error = retry_after.map_or(failure.clone(), |it| failure.with(json!({"retry_after": it})));
        ToolResult {
            call_id: "call_1".into(),
            tool_name: "t".into(),
            version: None,
            success: false,
            status: Status::Error,
            result: None,
            error: Some(error),
            duration_ms: 0,
            render_plan: None,
            pre_manifest_id: None,
            post_manifest_id: None,
            never_ran,
            returns: None,
            content: None,
        }
    }

    #[test]
    fn a_call_that_may_have_acted_is_made_again_only_if_its_tool_is_safe() {
        for code in [Code::Unavailable, Code::Timeout, Code::Unreachable] {
            assert_eq!(second_try(&failed(code, false, None), false), None, "{code}");
            assert_eq!(second_try(&failed(code, false, None), true), Some(Duration::from_secs(1)), "{code}");
        }
        assert_eq!(second_try(&failed(Code::Unavailable, true, Some(2)), false), Some(Duration::from_secs(2)));
        assert_eq!(second_try(&failed(Code::RateLimited, true, Some(10)), false), Some(Duration::from_secs(10)));
        assert_eq!(second_try(&failed(Code::RateLimited, true, Some(11)), true), None, "too long a pause");
        for code in [Code::ToolError, Code::Internal, Code::InvalidArguments, Code::ApprovalRequired, Code::Conflict] {
            assert_eq!(second_try(&failed(code, true, None), true), None, "{code}");
        }
    }
}
