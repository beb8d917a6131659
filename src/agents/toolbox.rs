//! The toolbox: the tools that an agent may really use now.

use super::{Agent, Attached, found, judge, store};
use crate::callers::Scope;
use crate::db::Rows;
use crate::error::Result;
use crate::ids::{AgentId, ToolId};
use crate::page::PageRequest;
use crate::registry::{self, ToolFilter, ToolForm};
use crate::search_text::FullTextQuery;

/// The default tools, for an agent without attachments.
pub(super) const DEFAULT_TOOLS: [&str; 4] = ["execute_python", "read_file", "write_file", "list_files"];

/// The attached tools. If nothing is attached and the agent's profile has `default_tools`, the default tools instead.
/// Tools that the caller or the agent may not use are left out.
pub async fn toolbox(scope: &Scope, agent_id: &AgentId) -> Result<Vec<Attached>> {
    let [agent, attached, defaults] = scope
        .read([
            store::find_agent(scope.workspace(), agent_id),
            store::all_attached(scope.workspace(), agent_id),
            registry::find_tools(scope.workspace(), &DEFAULT_TOOLS),
        ])
        .await?;
    let has_attached = !attached.is_empty()?;
    usable(scope, agent_id, &agent, has_attached, &attached, &defaults).await
}

/// The tools of the toolbox that match the text, best match first.
pub async fn search_toolbox(scope: &Scope, agent_id: &AgentId, text: FullTextQuery) -> Result<Vec<Attached>> {
    let workspace = scope.workspace();
    let mut filter = ToolFilter { text: Some(text), ..ToolFilter::default() };
    let Some(expression) = filter.to_fts5(workspace) else {
        // There is nothing to search for, but the caller must still be checked.
        let _agent = super::get(scope, agent_id).await?;
        return Ok(Vec::new());
    };
    filter.ids = Some(DEFAULT_TOOLS.into_iter().filter_map(ToolId::parse).collect());
    let among_defaults = filter.to_fts5(workspace).unwrap_or_default();
    let [agent, any, attached, defaults] = scope
        .read([
            store::find_agent(workspace, agent_id),
            store::has_attached(workspace, agent_id),
            store::search_attached(workspace, agent_id, &expression),
            registry::search_tools(
                ToolForm::Read,
                workspace,
                &filter,
                &among_defaults,
                &PageRequest::new(None, None)?,
            )?,
        ])
        .await?;
    usable(scope, agent_id, &agent, !any.is_empty()?, &attached, &defaults).await
}

async fn usable(
    scope: &Scope,
    agent_id: &AgentId,
    agent: &Rows,
    has_attached: bool,
    attached: &Rows,
    defaults: &Rows,
) -> Result<Vec<Attached>> {
    let caller = scope.caller().await?;
    caller.may_act_as(agent_id)?;
    let agent = found(agent_id, store::read_agent(agent)?)?;
    let mut tools = tools_of_agent(&agent, has_attached, attached, defaults)?;
    tools.retain(|it| judge(&agent, caller.level, &it.tool, true, it.tool.active).is_ok());
    Ok(tools)
}

/// The attached or default tools of the agent, including tools that the agent may not use.
pub(super) fn tools_of_agent(
    agent: &Agent,
    has_attached: bool,
    attached: &Rows,
    defaults: &Rows,
) -> Result<Vec<Attached>> {
    match has_attached {
        true => store::read_all_attached(attached),
        false if agent.profile.default_tools => {
            Ok(registry::read_tools(defaults)?.into_iter().map(|tool| Attached { tool, config: None }).collect())
        }
        false => Ok(Vec::new()),
    }
}
