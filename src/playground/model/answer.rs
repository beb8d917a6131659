//! What a model answers: piece by piece, and as a whole.

use crate::playground::part::{FinishReason, Usage};
use serde_json::{Map, Value};

/// What became known of an answer. `index` is the ordinal of a call in its answer.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelDelta {
    Reasoning(String),
    Text(String),
    CallBegun { index: usize, name: String },
    CallArguments { index: usize, text: String },
}

/// What an answer holds besides its texts, which the deltas have told.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelAnswer {
    /// The calls to run, in the order in which they began. Empty if the answer was cut (`Length`, `ContentFilter`, `Error`),
    /// even if calls had begun: their arguments may be cut too.
    pub calls: Vec<AskedCall>,
    pub finish: FinishReason,
    pub usage: Option<Usage>,
}

/// A call that the model asks for. The server's id of the call is left out, because some servers repeat ids.
#[derive(Clone, Debug, PartialEq)]
pub struct AskedCall {
    /// Empty if the model gave none.
    pub name: String,
    pub arguments: Result<Map<String, Value>, UnreadableArguments>,
    /// What the server wants to get back with the call in later requests, as Gemini's `thought_signature`.
    pub extra_content: Option<Value>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct UnreadableArguments {
    /// The model's own text.
    pub text: String,
    /// Tells the model what is wrong, and what to do.
    pub message: String,
}

/// What a server's `finish_reason` means. None for an empty one, which old Ollama sends with every piece.
pub fn finish_reason(word: &str) -> Option<FinishReason> {
    match word.to_ascii_lowercase().as_str() {
        "" => None,
        "stop" | "eos" | "eos_token" | "end_turn" | "stop_sequence" => Some(FinishReason::Stop),
        "length" | "model_length" | "max_tokens" => Some(FinishReason::Length),
        "content_filter" | "safety" => Some(FinishReason::ContentFilter),
        "tool_calls" | "function_call" | "tool_use" => Some(FinishReason::ToolCalls),
        "error" => Some(FinishReason::Error),
        _ => Some(FinishReason::Other),
    }
}

/// The reason, corrected by what the answer holds. Many servers say `stop` beside calls.
pub fn corrected(finish: FinishReason, has_calls: bool) -> FinishReason {
    match finish {
        FinishReason::Length | FinishReason::ContentFilter | FinishReason::Error => finish,
        FinishReason::Stop | FinishReason::ToolCalls | FinishReason::Other if has_calls => FinishReason::ToolCalls,
        // A server that has lost the calls. "tool-calls" would make a client wait for results.
        FinishReason::ToolCalls => FinishReason::Other,
        FinishReason::Stop | FinishReason::Other => finish,
    }
}

/// Whether an answer that ends so may have calls with cut arguments.
pub fn is_cut(finish: FinishReason) -> bool {
    match finish {
        FinishReason::Length | FinishReason::ContentFilter | FinishReason::Error => true,
        FinishReason::Stop | FinishReason::ToolCalls | FinishReason::Other => false,
    }
}
