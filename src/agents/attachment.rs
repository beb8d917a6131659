//! A tool attached to an agent.

use super::permission::refusals;
use super::toolbox::DEFAULT_TOOLS;
use super::{Agent, Config, changed, found, store};
use crate::callers::{Level, Scope};
use crate::changes::{Action, Change};
use crate::db::DbFailure;
use crate::error::{Error, Result};
use crate::ids::{AgentId, ToolId};
use crate::page::{Page, PageRequest, bad_cursor};
use crate::registry::{self, Tool};
use serde_json::{Value, json};

#[derive(Debug)]
pub struct Attached {
    pub tool: Tool,
    pub config: Option<Config>,
}

/// An attachment that was just made.
#[derive(Debug)]
pub struct NewAttachment {
    pub attached: Attached,
    /// Sentences on what the attachment does not bring, or takes away.
    pub warnings: Vec<String>,
}

/// An attachment, with the revision at which it was read. A change that is based on an older revision is refused.
pub(super) struct AttachmentReading {
    pub attached: Attached,
    pub revision: u32,
}

/// A page of the agent's attachments, in the order of the tools' creation.
pub async fn list_attached(scope: &Scope, agent_id: &AgentId, request: &PageRequest) -> Result<Page<Attached>> {
    let [agent, page, position] = scope
        .read([
            store::find_agent(scope.workspace(), agent_id),
            store::list_attached(scope.workspace(), agent_id, request),
            registry::tool_exists(scope.workspace(), request.after()),
        ])
        .await?;
    scope.caller().await?.may_act_as(agent_id)?;
    found(agent_id, store::read_agent(&agent)?)?;
    if request.after().is_some() && position.is_empty()? {
        return Err(bad_cursor());
    }
    let is_cut = registry::is_cut(&page)?;
    Ok(request.cut_page(store::read_all_attached(&page)?, is_cut, |it| it.tool.id.to_string()))
}

pub async fn attach(
    scope: &Scope,
    agent_id: &AgentId,
    tool_id: &ToolId,
    config: Option<Config>,
) -> Result<NewAttachment> {
    let [agent, tool] = scope
        .read([store::show_agent(scope.workspace(), agent_id), registry::find_tool(scope.workspace(), tool_id)])
        .await?;
    scope.caller().await?.must_be_unbound()?;
    let (agent, has_attachments) = found(agent_id, store::read_shown_agents(&agent)?.pop())?;
    let tool = registry::read_tool(&tool)?.ok_or_else(|| Error::not_found("Tool", tool_id))?;
    if let Some(config) = &config {
        config.check(&tool)?;
    }
    let change = Change::new(Action::Attach, subject(agent.id.as_str(), tool_id))
        .of_tool(tool_id)
        .to(&state(&agent, tool_id, config.as_ref()))?
        .only_if(store::can_attach(scope.workspace(), agent_id, &tool));
    let attachment = store::insert_attachment(scope.workspace(), agent_id, &tool, config.as_ref(), scope.app().now());
    match scope.write([change.record(&scope.author().await?), attachment]).await? {
        Ok([_, inserted]) if inserted.changes() == 0 => Err(Error::Conflict(format!(
            "{agent_id} has {} tools attached and cannot have more, or {tool_id} was changed meanwhile",
            store::MAX_ATTACHED
        ))),
        Ok(_) => {
            let warnings = warnings(&agent, &tool, has_attachments);
            Ok(NewAttachment { attached: Attached { tool, config }, warnings })
        }
        Err(DbFailure::Duplicate) => Err(Error::AlreadyExists(format!("{tool_id} is already attached to {agent_id}"))),
        Err(DbFailure::MissingReference) => Err(Error::not_found("Agent", agent_id)),
        Err(failure) => Err(failure.into()),
    }
}

/// Why the agent cannot use the tool that was attached, whoever calls, and which tools the agent has lost by it.
fn warnings(agent: &Agent, tool: &Tool, had_attachments: bool) -> Vec<String> {
    let id = &tool.id;
    let refused = refusals(agent, Level::Owner, tool, true, tool.active);
    let mut warnings = refused.map(|it| format!("The agent cannot use {id} now: {id} {it}")).collect::<Vec<_>>();
    if agent.has_default_tools(had_attachments) {
        let lost = DEFAULT_TOOLS.into_iter().filter(|it| *it != id.as_str()).collect::<Vec<_>>().join(", ");
        warnings.push(format!(
            "The agent no longer has the default tools {lost}, because it has an attachment now: attach them too if it \
             needs them"
        ));
    }
    warnings
}

/// Replaces the configuration of an attachment.
pub async fn configure(scope: &Scope, agent_id: &AgentId, tool_id: &ToolId, config: Config) -> Result<Attached> {
    let (agent, before) = find_attachment_to_change(scope, agent_id, tool_id).await?;
    config.check(&before.attached.tool)?;
    if before.attached.config.as_ref() == Some(&config) {
        return Ok(before.attached);
    }
    let change = Change::new(Action::Configure, subject(agent.id.as_str(), tool_id))
        .of_tool(tool_id)
        .from(&state(&agent, tool_id, before.attached.config.as_ref()))?
        .to(&state(&agent, tool_id, Some(&config)))?
        .only_if(store::attachment_is_at(scope.workspace(), agent_id, &before));
    let update = store::update_attachment(scope.workspace(), agent_id, &before, &config);
    let [_, updated] = scope.write([change.record(&scope.author().await?), update]).await??;
    changed(&updated, format_args!("The attachment of {tool_id}"))?;
    Ok(Attached { tool: before.attached.tool, config: Some(config) })
}

pub async fn detach(scope: &Scope, agent_id: &AgentId, tool_id: &ToolId) -> Result<()> {
    let (agent, before) = find_attachment_to_change(scope, agent_id, tool_id).await?;
    let change = Change::new(Action::Detach, subject(agent.id.as_str(), tool_id))
        .of_tool(tool_id)
        .from(&state(&agent, tool_id, before.attached.config.as_ref()))?
        .only_if(store::attachment_is_at(scope.workspace(), agent_id, &before));
    let delete = store::delete_attachment(scope.workspace(), agent_id, &before);
    let [_, deleted] = scope.write([change.record(&scope.author().await?), delete]).await??;
    changed(&deleted, format_args!("The attachment of {tool_id}"))
}

/// Returns the attachment with its agent. Fails if the caller's token is bound: an agent must not choose its own tools.
async fn find_attachment_to_change(
    scope: &Scope,
    agent_id: &AgentId,
    tool_id: &ToolId,
) -> Result<(Agent, AttachmentReading)> {
    let [agent, attached] = scope
        .read([
            store::find_agent(scope.workspace(), agent_id),
            store::find_attached(scope.workspace(), agent_id, tool_id),
        ])
        .await?;
    scope.caller().await?.must_be_unbound()?;
    let agent = found(agent_id, store::read_agent(&agent)?)?;
    let attached = store::read_attached(&attached)?
        .ok_or_else(|| Error::not_found("Attachment", format!("{agent_id}/{tool_id}")))?;
    Ok((agent, attached))
}

pub(super) fn subject(agent_id: &str, tool_id: &ToolId) -> String {
    format!("attachment:{agent_id}/{tool_id}")
}

fn state(agent: &Agent, tool_id: &ToolId, config: Option<&Config>) -> Value {
    json!({"agent_id": agent.id.as_str(), "tool_id": tool_id.as_str(), "config": config.map(|it| &it.0)})
}
