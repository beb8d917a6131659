//! What an agent may really use now.

use super::{Attached, found, judge, store};
use crate::callers::Scope;
use crate::error::Result;
use crate::ids::AgentId;
use crate::registry;

/// What an agent has to which nothing is attached.
pub(super) const DEFAULT_TOOLS: [&str; 4] = ["execute_python", "read_file", "write_file", "list_files"];

/// The attached tools, or the default ones where nothing is attached and the agent wants them,
/// without those that the caller or the agent may not use.
pub async fn toolbox(scope: &Scope, agent_id: &AgentId) -> Result<Vec<Attached>> {
    let [agent, attached, defaults] = scope
        .read([
            store::find_agent(scope.workspace(), agent_id),
            store::all_attached(scope.workspace(), agent_id),
            registry::find_tools(scope.workspace(), &DEFAULT_TOOLS),
        ])
        .await?;
    let caller = scope.caller().await?;
    caller.may_act_as(agent_id)?;
    let agent = found(agent_id, store::read_agent(&agent)?)?;

    let mut tools = store::read_all_attached(&attached)?;
    if tools.is_empty() && agent.profile.default_tools {
        tools = registry::read_tools(&defaults)?.into_iter().map(|tool| Attached { tool, config: None }).collect();
    }
    tools.retain(|it| judge(&agent, caller.level, &it.tool, true, it.tool.active).is_ok());
    Ok(tools)
}
