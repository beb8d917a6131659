//! Agents as responses show them: the profile, and whether the default tools are in use.

use super::{Agent, AgentOut, found, store};
use crate::callers::Scope;
use crate::error::Result;
use crate::ids::AgentId;
use crate::page::{Page, PageRequest};
use serde::Serialize;
use utoipa::ToSchema;

/// An agent in a response.
#[derive(Serialize, ToSchema)]
pub struct AgentShown {
    #[serde(flatten)]
    agent: AgentOut,
    /// Whether the agent has the default tools now: `default_tools` is true, and no tool is attached. The first
    /// attachment ends this, and detaching the last tool brings it back.
    default_tools_in_use: bool,
}

impl AgentShown {
    pub fn new(agent: &Agent, has_attachments: bool) -> Self {
        Self { agent: agent.into(), default_tools_in_use: agent.has_default_tools(has_attachments) }
    }
}

/// A page of the workspace's agents, oldest first. A caller with a bound token sees only the agent of the token.
pub async fn list(scope: &Scope, request: &PageRequest) -> Result<Page<AgentShown>> {
    let statement = match &scope.caller().await?.agent {
        Some(own) => store::show_agent(scope.workspace(), own),
        None => store::list_agents(scope.workspace(), request)?,
    };
    let [rows] = scope.read([statement]).await?;
    let agents = store::read_shown_agents(&rows)?;
    let shown = agents.iter().map(|(agent, has_attachments)| AgentShown::new(agent, *has_attachments)).collect();
    Ok(request.page(shown, |it: &AgentShown| PageRequest::age_cursor(it.agent.created_at, &it.agent.id)))
}

pub async fn show(scope: &Scope, id: &AgentId) -> Result<AgentShown> {
    let (agent, has_attachments) = find(scope, id).await?;
    Ok(AgentShown::new(&agent, has_attachments))
}

/// The agent, and whether any tool is attached to it.
pub(super) async fn find(scope: &Scope, id: &AgentId) -> Result<(Agent, bool)> {
    let [rows] = scope.read([store::show_agent(scope.workspace(), id)]).await?;
    scope.caller().await?.may_act_as(id)?;
    found(id, store::read_shown_agents(&rows)?.pop())
}
