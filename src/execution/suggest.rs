//! Says more about a call whose tool or agent does not exist: which known name is nearest, and whether there is a module
//! that the tool could belong to.

use super::call::OpenedCall;
use super::outcome::{CallFailure, Code};
use crate::callers::Scope;
use crate::nearest::did_you_mean;
use crate::{agents, registry};
use serde_json::json;

/// Costs a round trip if the tool or the agent of the call is unknown, and nothing otherwise.
pub async fn explained(scope: &Scope, call: &OpenedCall, failure: CallFailure) -> CallFailure {
    let asked = &call.asked;
    match (failure.code == Code::UnknownTool, &asked.agent_id) {
        (true, _) => {
            let unknown = registry::explain_unknown(scope, &asked.tool_name).await;
            match unknown.module {
                // Earlier module registries have this message, to the letter. So the suggestion is not a part of it.
                Some(module) => CallFailure {
                    message: format!("Unknown module: {module}"),
                    details: unknown.nearest.map(|it| json!({"nearest": it})),
                    ..failure
                },
                None => with_nearest(failure, unknown.nearest),
            }
        }
        (false, Some(agent)) if failure.code == Code::UnknownAgent => {
            with_nearest(failure, agents::nearest_agent(scope, agent).await)
        }
        (false, _) => failure,
    }
}

fn with_nearest(failure: CallFailure, nearest: Option<String>) -> CallFailure {
    match nearest {
        Some(nearest) => {
            let message = format!("{}{}", failure.message, did_you_mean(Some(&nearest)));
            CallFailure { message, ..failure }.with(json!({"nearest": nearest}))
        }
        None => failure,
    }
}
