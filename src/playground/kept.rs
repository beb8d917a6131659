//! What is kept of a turn: enough to end its message after a crash, and to go on with it after an approval.

use super::messages::Message;
use super::order::TurnOrder;
use super::part::{FinishReason, Part, Role, Usage};
use super::start::TurnStart;
use super::ui::ApprovalStyle;
use crate::callers::CarriedCaller;
use crate::error::Error;
use crate::ids::{AgentId, ApprovalId, MessageId, SessionId};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A turn. The user's message is in D1, and may be too large for a value of the storage.
#[derive(Clone, Deserialize, Serialize)]
pub struct KeptTurn {
    pub caller: CarriedCaller,
    pub session: SessionId,
    pub agent: AgentId,
    pub user_id: Option<String>,
    pub style: ApprovalStyle,
    /// The assistant's message that the turn writes.
    pub message_id: MessageId,
    /// The user's message that the turn answers.
    pub parent_id: MessageId,
    /// The generation of the session. A session that was deleted and made anew is another one.
    pub generation: u32,
    /// The approvals that the message waited for when the turn began. A turn with approvals goes on with a message that is
    /// stored already.
    pub approvals: Vec<ApprovalId>,
    /// Since when the turn has waited for these approvals, in milliseconds since 1970, if it has waited before.
    pub waits_since: Option<u64>,
    /// Whether the turn was stopped. It does not go on when its approvals are decided, but its message tells the outcomes.
    #[serde(default)]
    pub was_stopped: bool,
}

impl KeptTurn {
    /// The order to go on with the turn after its approvals were decided, for the caller who began it.
    pub fn to_go_on(&self) -> TurnOrder {
        TurnOrder {
            caller: self.caller.clone(),
            session: self.session.clone(),
            agent: self.agent.clone(),
            user_id: self.user_id.clone(),
            style: self.style,
            start: TurnStart::Approvals { message: self.message_id.clone(), answers: Vec::new() },
            is_whole: false,
        }
    }

    /// The turn as it waits for the approvals of these parts after this end, from `now` on. None, if no part waits.
    pub fn waiting_after(&self, end: &KeptEnd, parts: &[Part], now: u64) -> Option<Self> {
        self.waiting_for(parts, now).map(|it| Self { was_stopped: !end.may_go_on, ..it })
    }

    /// The turn as it waits for the approvals of these parts from `now` on. None, if no part waits. A turn that waits for the
    /// same approvals as before keeps the time since when it waits, so that the object looks at it ever more rarely.
    pub fn waiting_for(&self, parts: &[Part], now: u64) -> Option<Self> {
        let approvals = approvals_of(parts);
        let since = self.waits_since.filter(|_| approvals == self.approvals).unwrap_or(now);
        (!approvals.is_empty()).then(|| Self { approvals, waits_since: Some(since), ..self.clone() })
    }

    /// The same turn, after its message could not be stored. A message that was stored when it paused waits on in a session that
    /// is there: it tells how its calls stand as soon as there is room, and the turn goes on no more.
    pub fn waiting_unstored(&self, why: &Error, now: u64) -> Option<Self> {
        let is_gone = matches!(why, Error::NotFound { .. });
        let since = self.waits_since.unwrap_or(now);
        (!self.approvals.is_empty() && !is_gone).then(|| Self {
            waits_since: Some(since),
            was_stopped: true,
            ..self.clone()
        })
    }

    /// The message of the turn, with these parts.
    pub fn message(&self, parts: Vec<Part>, end: &KeptEnd, created_at: Timestamp) -> Message {
        Message {
            id: self.message_id.clone(),
            parent_id: Some(self.parent_id.clone()),
            role: Role::Assistant,
            parts,
            agent_id: Some(self.agent.clone()),
            manifest_id: None,
            finish_reason: end.finish_reason,
            usage: end.usage,
            metadata: end.metadata.clone(),
            created_at,
        }
    }
}

/// The approvals that these parts wait for.
pub fn approvals_of(parts: &[Part]) -> Vec<ApprovalId> {
    let waiting = parts.iter().filter(|it| it.waits()).filter_map(Part::as_call);
    waiting.filter_map(|it| ApprovalId::parse(&it.approval.as_ref()?.id)).collect()
}

/// The end of a turn whose message is about to be stored.
#[derive(Deserialize, Serialize)]
pub struct KeptEnd {
    pub finish_reason: Option<FinishReason>,
    pub usage: Option<Usage>,
    pub metadata: Option<Value>,
    /// Whether the turn goes on when the approvals of its calls are decided.
    pub may_go_on: bool,
}

impl KeptEnd {
    /// The end of a turn that broke off. Its message keeps the usage that was stored when it paused.
    pub fn broken_off() -> Self {
        let metadata = json!({"ended_by": "The turn broke off"});
        Self { finish_reason: Some(FinishReason::Error), usage: None, metadata: Some(metadata), may_go_on: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::playground::part::{ApprovalPart, CallPart, CallState};

    fn turn() -> KeptTurn {
        let caller = json!({"workspace": "ws", "level": "user", "agent": null, "operator": "root",
            "session_token": null, "own_host": null});
        let turn = json!({"caller": caller, "session": "s", "agent": "agent_1", "user_id": null, "style": "events",
            "message_id": "msg_2", "parent_id": "msg_1", "generation": 3, "approvals": [], "waits_since": null});
        serde_json::from_value(turn).unwrap()
    }

    fn call(approval: &str, state: CallState) -> Part {
        Part::Call(Box::new(CallPart {
            tool_call_id: approval.into(),
            tool_name: "t".into(),
            state,
            input: json!({}),
            output: None,
            error_text: None,
            approval: Some(ApprovalPart { id: approval.into(), approved: None, reason: None }),
            call_provider_metadata: None,
        }))
    }

    #[test]
    fn a_turn_waits_while_one_of_its_calls_does() {
        let [asked, done] = [CallState::ApprovalRequested, CallState::OutputAvailable];
        let turn = turn();
        assert!(turn.waiting_for(&[call("a", done), Part::StepStart], 1).is_none());
        let waiting = turn.waiting_for(&[call("a", asked), call("b", asked)], 1).unwrap();
        assert_eq!((waiting.approvals.len(), waiting.waits_since), (2, Some(1)));
        // Nothing has changed: it has waited since then. After some progress, it waits anew.
        let same = waiting.waiting_for(&[call("a", asked), call("b", asked)], 9).unwrap();
        assert_eq!(same.waits_since, Some(1));
        let fewer = waiting.waiting_for(&[call("a", done), call("b", asked)], 9).unwrap();
        assert_eq!((fewer.approvals.len(), fewer.waits_since), (1, Some(9)));
        let end = KeptEnd { may_go_on: false, ..KeptEnd::broken_off() };
        assert!(turn.waiting_after(&end, &[call("a", asked)], 1).unwrap().was_stopped);
        let order = fewer.to_go_on();
        assert!(matches!(order.start, TurnStart::Approvals { message, answers }
            if message.as_str() == "msg_2" && answers.is_empty()));
    }
}
