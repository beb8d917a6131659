//! A message as responses show it.

use super::{ListedMessage, Message};
use crate::ids::SessionId;
use crate::playground::part::{FinishReason, Part, Role, Usage};
use crate::time::Timestamp;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// A message of a conversation. `id`, `role`, `parts` and `metadata` are those of AI SDK's `UIMessage`.
#[derive(Serialize, ToSchema)]
pub struct MessageOut {
    #[schema(example = "msg_6f1c0d2b9a8e4f7d8c5b3a2f1e0d9c8b")]
    id: String,
    session_id: String,
    /// The message before this one; null for the first message of a conversation.
    parent_id: Option<String>,
    #[schema(inline)]
    role: Role,
    /// The parts of the message, in the form of AI SDK's `UIMessage`.
    #[schema(value_type = Vec<Object>)]
    parts: Vec<Part>,
    /// The agent that the message was written to, or that wrote it.
    agent_id: Option<String>,
    /// The file manifest of the session after the message; null if the session had no files.
    manifest_id: Option<String>,
    /// Why the turn ended; null for messages of the user.
    #[schema(inline)]
    finish_reason: Option<FinishReason>,
    /// The tokens that the model's server counted.
    usage: Option<Usage>,
    #[schema(value_type = Option<Object>)]
    metadata: Option<Value>,
    /// The ids of the messages with the same parent, this one included, in the order of their creation: the branches
    /// of the conversation. The newest 200 are shown.
    siblings: Vec<String>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
}

impl MessageOut {
    pub fn new(session: &SessionId, listed: ListedMessage) -> Self {
        let ListedMessage { message, siblings, .. } = listed;
        Self {
            id: message.id.to_string(),
            session_id: session.to_string(),
            parent_id: message.parent_id.as_ref().map(String::from),
            role: message.role,
            parts: message.parts,
            agent_id: message.agent_id.as_ref().map(String::from),
            manifest_id: message.manifest_id.as_ref().map(String::from),
            finish_reason: message.finish_reason,
            usage: message.usage,
            metadata: message.metadata,
            siblings,
            created_at: message.created_at,
        }
    }

    /// A message that was just written. Its siblings are not known.
    pub fn of_answer(session: &SessionId, message: Message) -> Self {
        let siblings = vec![message.id.to_string()];
        Self::new(session, ListedMessage { message, siblings, depth: 0 })
    }
}
