//! A turn as one JSON document, for clients that read no stream.

use super::messages::{Message, MessageOut};
use super::part::{CallData, FinishReason, Part, Usage, record_of};
use crate::ids::SessionId;
use serde::Serialize;
use utoipa::ToSchema;

/// A turn that has ended.
#[derive(Serialize, ToSchema)]
pub struct WholeTurn {
    /// The assistant's message.
    message: MessageOut,
    /// The records of the calls, in their order.
    tool_calls: Vec<CallOfTurn>,
    usage: Option<Usage>,
    #[schema(inline)]
    finish_reason: Option<FinishReason>,
}

#[derive(Serialize, ToSchema)]
struct CallOfTurn {
    /// The id of the call in the message.
    tool_call_id: String,
    tool_name: String,
    #[serde(flatten)]
    record: CallData,
}

impl WholeTurn {
    pub fn new(session: &SessionId, message: Message) -> Self {
        let calls = message.parts.iter().filter_map(Part::as_call).filter_map(|call| {
            Some(CallOfTurn {
                tool_call_id: call.tool_call_id.clone(),
                tool_name: call.tool_name.clone(),
                record: record_of(&message.parts, &call.tool_call_id)?.clone(),
            })
        });
        Self {
            tool_calls: calls.collect(),
            usage: message.usage,
            finish_reason: message.finish_reason,
            message: MessageOut::of_answer(session, message),
        }
    }

    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
