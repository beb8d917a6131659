//! What a turn begins with.

use super::part::Part;
use crate::ids::{ApprovalId, MessageId};
use serde::{Deserialize, Serialize};

/// How a turn begins.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub enum TurnStart {
    /// A new message of the user.
    Message {
        /// The client's id, if it is a valid id, and not the id of the message that the new one replaces.
        id: Option<MessageId>,
        parts: Vec<Part>,
        place: MessagePlace,
    },
    /// Another answer: instead of this message, or of the last one.
    Regenerate { message: Option<MessageId> },
    /// Another answer to the message of the user that the client shows last. If the message never came here, it is a new one:
    /// beside the message of this id if there is one, which was edited then, and else after the active message.
    Again { id: Option<MessageId>, parts: Vec<Part> },
    /// Answers to approvals of this message of the assistant.
    Approvals { message: MessageId, answers: Vec<ApprovalAnswer> },
}

/// Where a new message of the user belongs.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub enum MessagePlace {
    /// After the active message.
    AfterActive,
    Under(MessageId),
    /// Beside this message of the user, which was edited.
    Instead(MessageId),
}

/// The message that a conversation is to end with.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct CheckedOutMessage {
    pub id: MessageId,
    /// Whether the conversation goes on from there to the end of its line, as it was left.
    pub to_end: bool,
}

/// What the client claims that the user has decided.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct ApprovalAnswer {
    pub approval_id: ApprovalId,
    pub approved: bool,
    pub reason: Option<String>,
}
