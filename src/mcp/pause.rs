//! Calls that wait for an approval. An admin approves a call in the registry; an MCP client only learns the state of
//! the call.
//!
//! Since 2026-07-28 the client gets a result that asks for input, and a *request state* to come back with. The state is
//! sealed. It is valid for one call of one caller in one workspace, until some time after the approval expires. A
//! request with a state runs nothing: it only asks what has become of the call, and may be repeated.

use crate::callers::Scope;
use crate::execution::{Status, ToolResult, WaitingNotice};
use crate::ids::{ApprovalId, CallId};
use crate::json_object::JsonObject;
use crate::json_rpc::{RpcError, RpcParams, RpcResult};
use crate::mcp_protocol::CallToolResult;
use crate::mcp_protocol::fields::{INPUT_REQUESTS, INPUT_RESPONSES, REQUEST_STATE};
use crate::seal::Sealer;
use crate::time::Timestamp;
use serde_json::Value;

/// The key of the one question that a client is asked.
const QUESTION: &str = "approval";

/// How often a client is asked for input before it gets a final result. The SDKs come back ten times, and then throw.
const ROUNDS: u32 = 8;

/// A call that has not ended.
#[derive(Debug, PartialEq)]
pub struct PausedCall {
    pub call: CallId,
    pub approval: ApprovalId,
    /// How often the client has been asked for input.
    pub round: u32,
}

impl PausedCall {
    /// The call, if it waits for an approval.
    pub fn of(result: &ToolResult) -> Option<Self> {
        let failure = result.error.as_ref().filter(|_| result.status == Status::PendingApproval)?;
        let approval = failure.details.as_ref()?.get("approval_id")?.as_str()?;
        Some(Self { call: CallId::parse(&result.call_id)?, approval: ApprovalId::parse(approval)?, round: 0 })
    }

    /// Whether the client may be asked for input once more.
    pub fn may_go_on(&self) -> bool {
        self.round + 1 < ROUNDS
    }

    /// The text about the call. `running` says whether the call has been approved, and runs.
    pub fn notice<'a>(&'a self, tool_name: &'a str, running: bool, reads_calls: bool) -> WaitingNotice<'a> {
        WaitingNotice { tool_name, call: &self.call, approval: &self.approval, running, reads_calls }
    }

    /// The result for a client that cannot come back, or has come back too often.
    pub fn content(&self, notice: &WaitingNotice<'_>) -> CallToolResult {
        let code = if notice.running { "RUNNING" } else { "APPROVAL_REQUIRED" };
        let mut content = CallToolResult::error(&format!("{code}: {}", notice.advice()));
        content.meta.insert("pegboard/call_id".to_owned(), self.call.as_str().into());
        content.meta.insert("pegboard/approval_id".to_owned(), self.approval.as_str().into());
        content
    }

    /// Writes the fields of an `InputRequiredResult`. Until the call is approved, a client that shows forms asks its
    /// user when to come back.
    pub fn write(into: &mut JsonObject, state: &str, notice: &WaitingNotice<'_>, shows_forms: bool) {
        into.text(REQUEST_STATE, state);
        if shows_forms && !notice.running {
            let message = format!("{} Go on when it is decided; going on approves nothing.", notice.state());
            let message = Value::from(message);
            into.put(
                INPUT_REQUESTS,
                &format!(
                    r#"{{"{QUESTION}":{{"method":"elicitation/create","params":{{"mode":"form","message":{message},"requestedSchema":{{"type":"object","properties":{{}}}}}}}}}}"#
                ),
            );
        }
    }
}

/// The seal of a request state. The seal binds the state to a call and its caller.
pub struct StateSeal<'a> {
    pub sealer: &'a Sealer,
    pub workspace: &'a str,
    pub caller: &'a str,
    /// A hash of tool, arguments, agent and session.
    pub fingerprint: String,
}

impl<'a> StateSeal<'a> {
    /// `identity` is the identity of the call ([`crate::execution::identity`]).
    pub fn new(scope: &'a Scope, sealer: &'a Sealer, identity: &str) -> crate::error::Result<Self> {
        let fingerprint = sealer.hash(identity)?;
        Ok(Self { sealer, workspace: scope.workspace().as_str(), caller: scope.operator(), fingerprint })
    }

    /// The context of the seal. The state does not open in another workspace, for another caller or for another call.
    fn about(&self) -> String {
        format!("mcp {} {} {}", self.workspace, self.caller, self.fingerprint)
    }

    /// The state for the next round.
    pub fn state(&self, paused: &PausedCall, until: Timestamp) -> crate::error::Result<String> {
        let PausedCall { call, approval, round } = paused;
        self.sealer.seal(&format!("{call} {approval} {} {until}", round + 1), &self.about())
    }

    pub fn open(&self, state: &str, now: Timestamp) -> RpcResult<PausedCall> {
        let read = || {
            let text = self.sealer.open(state, &self.about())?;
            let mut words = text.splitn(4, ' ');
            let call = CallId::parse(words.next()?)?;
            let approval = ApprovalId::parse(words.next()?)?;
            let round = words.next()?.parse().ok()?;
            Some((PausedCall { call, approval, round }, Timestamp::parse(words.next()?)?))
        };
        match read() {
            None => {
                Err(RpcError::invalid_params("requestState is not one that was given out for this call to this caller"))
            }
            Some((_, until)) if until <= now => {
                Err(RpcError::invalid_params("requestState has expired: call the tool again"))
            }
            Some((paused, _)) => Ok(paused),
        }
    }
}

/// What the user did with the form, if the client showed one.
#[derive(Debug, PartialEq)]
pub enum FormReply {
    None,
    GoOn,
    /// The user does not want to wait any longer.
    Leave,
}

/// The user's reply, in the parameters of a request. Responses to other questions are ignored.
pub fn reply(params: &RpcParams) -> RpcResult<FormReply> {
    let answer = match params.0.get(INPUT_RESPONSES) {
        None => return Ok(FormReply::None),
        Some(Value::Object(responses)) => responses.get(QUESTION),
        Some(_) => return Err(RpcError::invalid_params(&format!("params.{INPUT_RESPONSES} must be an object"))),
    };
    let Some(answer) = answer else { return Ok(FormReply::None) };
    match answer.get("action").and_then(Value::as_str) {
        Some("accept") => Ok(FormReply::GoOn),
        Some("decline" | "cancel") => Ok(FormReply::Leave),
        _ => Err(RpcError::invalid_params(&format!(
            "params.{INPUT_RESPONSES}.{QUESTION} must be the result of an elicitation"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn paused(round: u32) -> PausedCall {
        PausedCall { call: CallId::parse("call_1").unwrap(), approval: ApprovalId::parse("appr_1").unwrap(), round }
    }

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_millis(seconds * 1_000).unwrap()
    }

    #[test]
    fn a_state_opens_for_whom_it_was_made() {
        let sealer = Sealer::new("secret");
        let seal = |workspace, caller, fingerprint: &str| StateSeal {
            sealer: &sealer,
            workspace,
            caller,
            fingerprint: fingerprint.to_owned(),
        };
        let state = seal("acme", "tok_1", "f1").state(&paused(4), at(100)).unwrap();
        let open = |it: StateSeal<'_>, state: &str, now| it.open(state, at(now));
        assert_eq!(open(seal("acme", "tok_1", "f1"), &state, 99), Ok(paused(5)));
        assert!(open(seal("acme", "tok_1", "f1"), &state, 100).is_err());
        assert!(open(seal("beta", "tok_1", "f1"), &state, 99).is_err());
        assert!(open(seal("acme", "tok_2", "f1"), &state, 99).is_err());
        assert!(open(seal("acme", "tok_1", "f2"), &state, 99).is_err());
        for other in [format!("{state}-TAMPERED"), format!("{state}00"), state[2..].to_owned(), String::new()] {
            assert!(open(seal("acme", "tok_1", "f1"), &other, 99).is_err(), "{other}");
        }
        let other = Sealer::new("other");
        let foreign = StateSeal { sealer: &other, workspace: "acme", caller: "tok_1", fingerprint: "f1".into() };
        assert!(foreign.open(&state, at(99)).is_err());
    }

    #[test]
    fn a_form_is_shown_to_those_who_show_forms_while_there_is_something_to_decide() {
        let shown = |forms, running| {
            let mut object = JsonObject::new();
            PausedCall::write(&mut object, "s", &paused(0).notice("wipe", running, true), forms);
            serde_json::from_str::<Value>(&object.finish()).unwrap()
        };
        assert_eq!(shown(false, false), json!({"requestState": "s"}));
        assert_eq!(shown(true, true), json!({"requestState": "s"}));
        let params = shown(true, false)["inputRequests"][QUESTION]["params"].clone();
        assert!(params["message"].as_str().unwrap().contains("POST /api/approvals/appr_1/approve"), "{params}");
    }

    #[test]
    fn who_cannot_come_back_is_told_what_they_can_do() {
        let told = |running| {
            let (mut object, paused) = (JsonObject::new(), paused(0));
            paused.content(&paused.notice("wipe", running, true)).write(&mut object);
            let result = serde_json::from_str::<Value>(&object.finish()).unwrap();
            result["content"][0]["text"].as_str().unwrap().to_owned()
        };
        assert!(told(false).starts_with("APPROVAL_REQUIRED: wipe has not run") && told(false).contains("call://"));
        assert!(told(true).starts_with("RUNNING: wipe has been approved, and is running."));
    }

    #[test]
    fn rounds_end() {
        let mut rounds = 0;
        while paused(rounds).may_go_on() {
            rounds += 1;
        }
        assert_eq!(rounds, 7, "the eighth answer is the last");
    }

    #[test]
    fn what_the_user_did_is_understood() {
        let of =
            |responses: Value| reply(&RpcParams(json!({"inputResponses": responses}).as_object().unwrap().clone()));
        assert_eq!(reply(&RpcParams::default()), Ok(FormReply::None));
        assert!(of(json!(null)).is_err());
        assert_eq!(of(json!({"other": {"action": "accept"}})), Ok(FormReply::None));
        assert_eq!(of(json!({QUESTION: {"action": "accept", "content": {}}})), Ok(FormReply::GoOn));
        assert_eq!(of(json!({QUESTION: {"action": "decline"}})), Ok(FormReply::Leave));
        for wrong in [json!(12345), json!({}), json!({"action": "maybe"})] {
            assert!(of(json!({QUESTION: wrong})).is_err());
        }
    }
}
