//! Adds the nearest known name to the refusal of a call whose tool or agent does not exist.

use super::call::OpenedCall;
use super::outcome::{CallFailure, Code};
use crate::callers::Scope;
use crate::nearest::did_you_mean;
use crate::{agents, registry};
use serde_json::json;

/// Costs a round trip if the tool or the agent of the call is unknown, and nothing otherwise.
pub async fn with_nearest(scope: &Scope, call: &OpenedCall, failure: CallFailure) -> CallFailure {
    let asked = &call.asked;
    let nearest = match (failure.code == Code::UnknownTool, &asked.agent_id) {
        (true, _) => registry::nearest_tool(scope, &asked.tool_name).await,
        (false, Some(agent)) if failure.code == Code::UnknownAgent => agents::nearest_agent(scope, agent).await,
        (false, _) => None,
    };
    match nearest {
        Some(nearest) => {
            let message = format!("{}{}", failure.message, did_you_mean(Some(&nearest)));
            CallFailure { message, ..failure }.with(json!({"nearest": nearest}))
        }
        None => failure,
    }
}
