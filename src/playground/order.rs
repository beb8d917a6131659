//! What the Worker asks the object that owns a session's turns.

use super::start::{CheckedOutMessage, TurnStart};
use super::ui::ApprovalStyle;
use crate::callers::CarriedCaller;
use crate::ids::{AgentId, MessageId, SessionId};
use serde::{Deserialize, Serialize};

/// A request to the object.
#[derive(Deserialize, Serialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub enum OwnerRequest {
    /// Begins a turn, or goes on with one that waits for an approval.
    Turn(Box<TurnOrder>),
    /// The stream of the turn that is under way.
    Stream,
    /// Ends the turn that is under way, or being begun.
    Stop,
    /// An approval was decided elsewhere: the turn of the message goes on, if nothing else holds it.
    GoOn { message_id: MessageId },
    /// Makes a message the conversation's present, unless a turn is under way.
    CheckOut { caller: CarriedCaller, session: SessionId, message: CheckedOutMessage },
    /// The session of this generation was deleted: its turn ends, and a turn that waits waits no more.
    SessionDeleted { generation: u32 },
}

/// A turn to begin.
#[derive(Clone, Deserialize, Serialize)]
pub struct TurnOrder {
    pub caller: CarriedCaller,
    pub session: SessionId,
    pub agent: AgentId,
    /// The person behind the caller, for the records of calls.
    pub user_id: Option<String>,
    pub style: ApprovalStyle,
    pub start: TurnStart,
    /// Whether the response is one JSON document at the end of the turn, instead of a stream.
    pub is_whole: bool,
}

impl TurnOrder {
    /// Whether the caller answers approvals.
    pub fn has_answers(&self) -> bool {
        match &self.start {
            TurnStart::Approvals { answers, .. } => !answers.is_empty(),
            TurnStart::Message { .. } | TurnStart::Regenerate { .. } | TurnStart::Again { .. } => false,
        }
    }
}
