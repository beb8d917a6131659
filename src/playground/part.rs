//! The parts of a message, as AI SDK's `UIMessage` spells them. Messages are stored, streamed and shown in this form, and
//! the model's messages are made of it.

use crate::text_enum::text_enum;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "type")]
pub enum Part {
    /// The beginning of a step: one request to the model, and the calls that it asked for.
    #[serde(rename = "step-start")]
    StepStart,
    #[serde(rename = "reasoning")]
    Reasoning { text: String },
    #[serde(rename = "text")]
    Text { text: String },
    /// A call that the model asked for.
    #[serde(rename = "dynamic-tool")]
    Call(Box<CallPart>),
    /// The record of a call. `id` is the `toolCallId` of the call's part.
    #[serde(rename = "data-call")]
    CallRecord { id: String, data: CallData },
}

impl Part {
    /// Whether the part is a call that waits for an approval.
    pub fn waits(&self) -> bool {
        self.as_call().is_some_and(|it| it.state == CallState::ApprovalRequested)
    }

    pub fn as_call(&self) -> Option<&CallPart> {
        match self {
            Self::Call(call) => Some(call),
            Self::StepStart | Self::Reasoning { .. } | Self::Text { .. } | Self::CallRecord { .. } => None,
        }
    }

    pub fn as_call_mut(&mut self) -> Option<&mut CallPart> {
        match self {
            Self::Call(call) => Some(call),
            Self::StepStart | Self::Reasoning { .. } | Self::Text { .. } | Self::CallRecord { .. } => None,
        }
    }

    /// The record of the call with this id, if the part is one.
    pub fn as_record_of(&self, tool_call_id: &str) -> Option<&CallData> {
        match self {
            Self::CallRecord { id, data } if id == tool_call_id => Some(data),
            Self::CallRecord { .. } | Self::StepStart | Self::Reasoning { .. } | Self::Text { .. } | Self::Call(_) => {
                None
            }
        }
    }

    /// How many bytes the part has as JSON.
    pub fn bytes(&self) -> usize {
        serde_json::to_string(self).map_or(0, |it| it.len())
    }
}

/// The record of a call, by the id of the call's part.
pub fn record_of<'a>(parts: &'a [Part], tool_call_id: &str) -> Option<&'a CallData> {
    parts.iter().find_map(|it| it.as_record_of(tool_call_id))
}

text_enum! {
    /// Who wrote a message.
    Role {
        User = "user",
        Assistant = "assistant",
    }
}

text_enum! {
    /// How far a call has come.
    CallState {
        /// The arguments are complete, and the call has not ended.
        InputAvailable = "input-available",
        ApprovalRequested = "approval-requested",
        OutputAvailable = "output-available",
        OutputError = "output-error",
        OutputDenied = "output-denied",
    }
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallPart {
    /// The id of the call within the conversation: nine letters and digits, because Mistral takes no other ids.
    pub tool_call_id: String,
    /// The tool's id, or the name that the model gave if there is no such tool.
    pub tool_name: String,
    pub state: CallState,
    /// The arguments without their secrets. If the model's text was no JSON object, the text.
    pub input: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalPart>,
    /// What the model's server wants to get back with the call in later requests, under `pegboard`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_provider_metadata: Option<Map<String, Value>>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct ApprovalPart {
    /// `appr_…`
    pub id: String,
    /// The decision, once there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The record of a call, as far as a chat shows it.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, utoipa::ToSchema)]
pub struct CallData {
    pub call_id: String,
    pub version: Option<String>,
    pub status: String,
    pub duration_ms: u32,
    #[schema(value_type = Option<Object>)]
    pub render_plan: Option<Value>,
    pub approval_id: Option<String>,
}

text_enum! {
    /// Why a turn ended, in the words that all clients of the stream know.
    FinishReason {
        Stop = "stop",
        Length = "length",
        ContentFilter = "content-filter",
        ToolCalls = "tool-calls",
        Error = "error",
        Other = "other",
    }
}

/// The tokens that a model's server counted.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub total_tokens: u64,
}
