//! A tool attached to an agent.

use super::permission::{ToolStanding, refusals};
use super::toolbox::DEFAULT_TOOLS;
use super::{Agent, Config, changed, found, store};
use crate::callers::{Level, Scope};
use crate::changes::{Action, Change};
use crate::db::{DbFailure, Rows};
use crate::error::{Error, Result};
use crate::ids::{AgentId, ToolId};
use crate::page::{Page, PageRequest, bad_cursor};
use crate::read_only::{ReadOnly, shown};
use crate::registry::{self, Tool, ToolOut, Warning};
use serde_json::{Value, json};

#[derive(Debug)]
pub struct Attached {
    pub tool: Tool,
    pub config: Option<Config>,
}

/// An attachment that was just made, or that a dry run would make.
#[derive(Debug)]
pub struct NewAttachment {
    pub attached: Attached,
    /// What the attachment does not bring, or takes away.
    pub warnings: Vec<Warning>,
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

/// An attachment as a request asks for it.
pub struct WantedAttachment {
    pub tool_id: ToolId,
    pub config: Option<Config>,
    /// The fields of the tool, as the list of attached tools shows them.
    pub read_only: ReadOnly,
}

impl WantedAttachment {
    /// Checks the configuration and the read-only fields against the tool.
    async fn check(&self, scope: &Scope, tool: &Tool) -> Result<()> {
        if !self.read_only.is_empty() {
            let level = scope.caller().await?.level;
            self.read_only.check(&[shown(&ToolOut::seen_by(level, tool.clone()))?])?;
        }
        self.config.as_ref().map_or(Ok(()), |it| it.check(tool))
    }
}

/// An attachment that keeps all rules which one reading can check.
struct DecidedAttachment {
    agent: Agent,
    tool: Tool,
    config: Option<Config>,
    warnings: Vec<Warning>,
}

/// Decides on the rows of the agent and the tool.
async fn decide(
    scope: &Scope,
    agent_id: &AgentId,
    wanted: WantedAttachment,
    [agent, tool]: [&Rows; 2],
) -> Result<DecidedAttachment> {
    scope.caller().await?.must_be_unbound()?;
    let (agent, has_attachments) = found(agent_id, store::read_shown_agents(agent)?.pop())?;
    let tool = registry::read_tool(tool)?.ok_or_else(|| Error::not_found("Tool", &wanted.tool_id))?;
    wanted.check(scope, &tool).await?;
    let mut warnings = warnings(&agent, &tool, has_attachments);
    if let Some(config) = &wanted.config {
        warnings.extend(config.warnings(&tool)?);
    }
    Ok(DecidedAttachment { agent, tool, config: wanted.config, warnings })
}

pub async fn attach(scope: &Scope, agent_id: &AgentId, wanted: WantedAttachment) -> Result<NewAttachment> {
    let tool_id = &wanted.tool_id.clone();
    let [agent, tool] = scope
        .read([store::show_agent(scope.workspace(), agent_id), registry::find_tool(scope.workspace(), tool_id)])
        .await?;
    let DecidedAttachment { agent, tool, config, warnings } = decide(scope, agent_id, wanted, [&agent, &tool]).await?;
    let change = Change::new(Action::Attach, subject(agent.id.as_str(), tool_id))
        .of_tool(tool_id)
        .to(&state(&agent, tool_id, config.as_ref()))?
        .only_if(store::can_attach(scope.workspace(), agent_id, &tool));
    let attachment = store::insert_attachment(scope.workspace(), agent_id, &tool, config.as_ref(), scope.app().now());
    match scope.write([change.record(&scope.author().await?), attachment]).await? {
        Ok([_, inserted]) if inserted.changes() == 0 => Err(no_room(agent_id, tool_id)),
        Ok(_) => Ok(NewAttachment { attached: Attached { tool, config }, warnings }),
        Err(DbFailure::Duplicate) => Err(already_attached(agent_id, tool_id)),
        Err(DbFailure::MissingReference) => Err(Error::not_found("Agent", agent_id)),
        Err(failure) => Err(failure.into()),
    }
}

/// Why the agent cannot use the tool that was attached, whoever calls, and which tools the agent has lost by it.
fn warnings(agent: &Agent, tool: &Tool, had_attachments: bool) -> Vec<Warning> {
    let id = &tool.id;
    let standing = ToolStanding {
        attached: true,
        enabled: tool.active && tool.is_switched_on(),
        default_modules: tool.default_guest_modules(),
    };
    let refused = refusals(agent, Level::Owner, tool, standing);
    let warning = |message: String| Warning::new("/tool_id", &message);
    let mut warnings =
        refused.map(|it| warning(format!("The agent cannot use {id} now: {id} {it}"))).collect::<Vec<_>>();
    if agent.has_default_tools(had_attachments) {
        let lost = DEFAULT_TOOLS.into_iter().filter(|it| *it != id.as_str()).collect::<Vec<_>>().join(", ");
        warnings.push(warning(format!(
            "The first attachment ends the agent's default tools, which are not attached: {lost}. Attach those that the \
             agent needs"
        )));
    }
    warnings
}

/// Tells what [`attach`] would do. Writes nothing. The database checks two rules when an attachment is written, so this
/// reads what these rules are about.
pub async fn preview_attachment(scope: &Scope, agent_id: &AgentId, wanted: WantedAttachment) -> Result<NewAttachment> {
    let (workspace, tool_id) = (scope.workspace(), &wanted.tool_id.clone());
    let [agent, tool, present] = scope
        .read([
            store::show_agent(workspace, agent_id),
            registry::find_tool(workspace, tool_id),
            store::count_attached(workspace, agent_id, tool_id),
        ])
        .await?;
    let DecidedAttachment { tool, config, warnings, .. } = decide(scope, agent_id, wanted, [&agent, &tool]).await?;
    let present = store::read_count_attached(&present)?;
    if present.tools >= store::MAX_ATTACHED {
        return Err(no_room(agent_id, tool_id));
    }
    if present.has_tool {
        return Err(already_attached(agent_id, tool_id));
    }
    Ok(NewAttachment { attached: Attached { tool, config }, warnings })
}

fn no_room(agent_id: &AgentId, tool_id: &ToolId) -> Error {
    Error::Conflict(format!(
        "{agent_id} has {} tools attached and cannot have more, or {tool_id} was changed meanwhile",
        store::MAX_ATTACHED
    ))
}

fn already_attached(agent_id: &AgentId, tool_id: &ToolId) -> Error {
    Error::AlreadyExists(format!("{tool_id} is already attached to {agent_id}"))
}

/// Replaces the configuration of an attachment.
pub async fn configure(scope: &Scope, agent_id: &AgentId, wanted: WantedAttachment) -> Result<Attached> {
    let tool_id = &wanted.tool_id;
    let (agent, before) = find_attachment_to_change(scope, agent_id, tool_id).await?;
    wanted.check(scope, &before.attached.tool).await?;
    let config = wanted.config.unwrap_or_default();
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
