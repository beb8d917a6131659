//! The toolbox of an agent, page by page.

use super::toolbox::{DEFAULT_TOOLS, tools_of_agent};
use super::{Agent, found, judge, store};
use crate::callers::Scope;
use crate::error::Result;
use crate::ids::AgentId;
use crate::page::{Page, PageRequest, bad_cursor};
use crate::registry::{self, Tool};

/// The agent, and a page of the toolbox, in the order of the tools' creation. ([`super::toolbox`] returns the whole
/// toolbox.) A page may be shorter than requested, because tools that the agent may not use are removed from the page.
pub async fn toolbox_page(scope: &Scope, agent_id: &AgentId, request: &PageRequest) -> Result<(Agent, Page<Tool>)> {
    let workspace = scope.workspace();
    let [agent, attached, defaults, position] = scope
        .read([
            store::find_agent(workspace, agent_id),
            store::list_attached(workspace, agent_id, request),
            registry::find_tools(workspace, &DEFAULT_TOOLS),
            registry::tool_exists(workspace, request.after()),
        ])
        .await?;
    let caller = scope.caller().await?;
    caller.may_act_as(agent_id)?;
    let agent = found(agent_id, store::read_agent(&agent)?)?;
    if request.after().is_some() && position.is_empty()? {
        return Err(bad_cursor());
    }
    let has_attached = request.after().is_some() || !attached.is_empty()?;
    let is_cut = registry::is_cut(&attached)?;
    let tools = tools_of_agent(&agent, has_attached, &attached, &defaults)?.into_iter().map(|it| it.tool);
    let mut page = request.cut_page(tools.collect(), is_cut, |it: &Tool| it.id.to_string());
    page.items.retain(|tool| judge(&agent, caller.level, tool, true, tool.active).is_ok());
    Ok((agent, page))
}
