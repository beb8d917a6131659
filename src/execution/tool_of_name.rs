//! Finds a tool by any name that a call could use for it.

use super::call::CalledName;
use super::resolve::CallTarget;
use crate::agents;
use crate::callers::Scope;
use crate::error::{Error, Result};
use crate::ids::AgentId;
use crate::registry::{self, Tool};

/// The tool that a call with this name would run, if the caller may make the call for this agent, or for the agent that
/// the token is bound to. This costs one round trip, however many tools the agent has.
pub async fn tool_of_name(scope: &Scope, agent: Option<&AgentId>, name: &str) -> Result<Option<Tool>> {
    let Some(called) = CalledName::parse(name) else {
        let caller = scope.caller().await?;
        return agent.map_or(Ok(()), |it| caller.may_act_as(it)).map(|()| None);
    };
    let (workspace, sought) = (scope.workspace(), called.lookup());
    let standing = agents::find_standing(workspace, agent.map(AgentId::as_str), scope.token_id(), Some(sought));
    let [tools, standing] = scope.read([registry::look_up_tools(workspace, sought, called.version), standing]).await?;
    let caller = scope.caller().await?;
    agent.map_or(Ok(()), |it| caller.may_act_as(it))?;
    let tool = called.choose(registry::read_tools(&tools)?);
    let standing = agents::read_standing(&standing, tool.as_ref().map(|it| it.key))?;
    if let (Some(agent), None) = (agent, &standing) {
        return Err(Error::not_found("Agent", agent));
    }
    let target = tool.map(|it| CallTarget::new(it, standing, called.version.is_some()));
    Ok(target.filter(|it| it.judge(caller.level).is_ok()).map(|it| it.tool))
}
