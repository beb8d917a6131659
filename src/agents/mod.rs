//! Agents, their attachments, and the tools that agents may use.

mod attachment;
mod config;
mod handout;
mod permission;
mod profile;
mod replacement;
mod shown;
mod standing;
mod store;
mod toolbox;

pub use attachment::{
    Attached, NewAttachment, WantedAttachment, attach, configure, detach, list_attached, preview_attachment,
};
pub use config::Config;
pub use handout::toolbox_page;
pub use permission::{PermissionRefusal, ToolStanding, judge, judge_caller};
pub use profile::{Profile, ProfileChange};
pub use replacement::{
    AgentRecords, AgentReplacement, AgentRows, AttachmentRecord, agent_put, agent_removed, attachment_put,
    attachment_removed,
};
pub use shown::{AgentShown, list, show};
pub use standing::{AgentStanding, find_standing, read_standing};
pub use store::{
    MAX_ATTACHED, agents_after, attachments_after, builtin_attachments_after, bytes_of_all, find_all,
    find_all_attachments, read_agents as read_all, read_all_attachments,
};
pub use toolbox::{MAX_PAGE, find_toolbox, read_toolbox, search_toolbox, toolbox};

use crate::callers::{Level, Scope, find_tokens_of_agent};
use crate::changes::{Action, Change, record_each};
use crate::db::{Rows, Statement};
use crate::error::{Error, Result};
use crate::ids::{AgentId, WorkspaceId};
use crate::nearest::nearest;
use crate::read_only::{ReadOnly, shown};
use crate::registry::Risk;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Clone, Debug)]
pub struct Agent {
    pub id: AgentId,
    pub profile: Profile,
    pub created_at: Timestamp,
    /// Counts the changes of the agent. A change that is based on an older revision is refused.
    revision: u32,
}

impl Agent {
    /// Whether the agent has the default tools, given whether any tool is attached to it.
    fn has_default_tools(&self, has_attachments: bool) -> bool {
        self.profile.default_tools && !has_attachments
    }
}

/// An agent in the change log and in backups. Responses show [more](AgentShown).
#[derive(Debug, Deserialize, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentOut {
    #[schema(example = "agent_6f1c0d2b9a8e4f7d8c5b3a2f1e0d9c8b")]
    pub id: String,
    pub name: String,
    pub capabilities: Vec<String>,
    pub max_risk: Risk,
    pub allowed_modules: Vec<String>,
    pub permission_level: Level,
    pub default_tools: bool,
    /// Backups that are older than this setting do not have the field.
    #[serde(default)]
    pub find_tools: bool,
    /// What the playground tells the agent's model before the conversation. Backups that are older than this and the
    /// next settings do not have them.
    #[serde(default)]
    pub system_prompt: Option<String>,
    /// The name of the agent's model in the playground. If null: the workspace's.
    #[serde(default)]
    pub model: Option<String>,
    /// How often a turn of the playground asks the model at most. If null: 16.
    #[serde(default)]
    pub max_steps: Option<u32>,
    /// The temperature of the model in the playground. If null: the model's own.
    #[serde(default)]
    pub temperature: Option<f64>,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

impl From<&Agent> for AgentOut {
    fn from(agent: &Agent) -> Self {
        let profile = agent.profile.clone();
        Self {
            id: agent.id.to_string(),
            name: profile.name,
            capabilities: profile.capabilities,
            max_risk: profile.max_risk,
            allowed_modules: profile.allowed_modules,
            permission_level: profile.permission_level,
            default_tools: profile.default_tools,
            find_tools: profile.find_tools,
            system_prompt: profile.system_prompt,
            model: profile.model,
            max_steps: profile.max_steps,
            temperature: profile.temperature,
            created_at: agent.created_at,
        }
    }
}

pub async fn get(scope: &Scope, id: &AgentId) -> Result<Agent> {
    let [rows] = scope.read([find(scope.workspace(), id)]).await?;
    read_found(scope, id, &rows).await
}

/// The statement that finds an agent, for the batch of another room.
pub fn find(workspace: &WorkspaceId, id: &AgentId) -> Statement {
    store::find_agent(workspace, id)
}

/// Reads the result of [`find`], for a caller who may act as the agent.
pub async fn read_found(scope: &Scope, id: &AgentId, rows: &Rows) -> Result<Agent> {
    scope.caller().await?.may_act_as(id)?;
    found(id, store::read_agent(rows)?)
}

/// Creates an agent. The read-only fields may be those of an agent that the new one is a copy of.
pub async fn create(scope: &Scope, profile: Profile, read_only: &ReadOnly) -> Result<AgentShown> {
    scope.caller().await?.must_be_unbound()?;
    if !read_only.is_empty() {
        let copied = match read_only.text("id").and_then(AgentId::parse) {
            Some(id) => store::read_shown_agents(&scope.read([store::show_agent(scope.workspace(), &id)]).await?[0])?,
            None => Vec::new(),
        };
        let copied = copied.iter().map(|(agent, has_attachments)| shown(&AgentShown::new(agent, *has_attachments)));
        read_only.check(&copied.collect::<Result<Vec<_>>>()?)?;
    }
    let agent = Agent { id: AgentId::random()?, profile, created_at: scope.app().now(), revision: 1 };
    let change = Change::new(Action::Create, subject(agent.id.as_str())).to(&AgentOut::from(&agent))?;
    scope.write([store::insert_agent(scope.workspace(), &agent), change.record(&scope.author().await?)]).await??;
    Ok(AgentShown::new(&agent, false))
}

pub async fn update(scope: &Scope, id: &AgentId, change: ProfileChange, read_only: &ReadOnly) -> Result<AgentShown> {
    let (before, has_attachments) = find_to_change(scope, id).await?;
    read_only.check(&[shown(&AgentShown::new(&before, has_attachments))?])?;
    let mut after = before.clone();
    change.apply(&mut after.profile)?;
    if after.profile == before.profile {
        return Ok(AgentShown::new(&after, has_attachments));
    }
    let change = Change::new(Action::Update, subject(id.as_str()))
        .from(&AgentOut::from(&before))?
        .to(&AgentOut::from(&after))?
        .only_if(store::agent_is_at(scope.workspace(), &before));
    let [_, updated] =
        scope.write([change.record(&scope.author().await?), store::update_agent(scope.workspace(), &after)]).await??;
    changed(&updated, id)?;
    Ok(AgentShown::new(&after, has_attachments))
}

/// Deletes the agent with its attachments and its tokens. The change log gets a row for each of them. The records of
/// the agent's calls stay.
pub async fn delete(scope: &Scope, id: &AgentId) -> Result<()> {
    let (before, _) = find_to_change(scope, id).await?;
    let author = scope.author().await?;
    let workspace = scope.workspace();
    let unchanged = || store::agent_is_at(workspace, &before);
    let change = Change::new(Action::Delete, subject(id.as_str())).from(&AgentOut::from(&before))?.only_if(unchanged());
    let [_, _, _, deleted] = scope
        .write([
            record_each(&author, Action::Detach, store::find_attachments_of_agent(workspace, id).and(unchanged())),
            record_each(&author, Action::Revoke, find_tokens_of_agent(workspace, id).and(unchanged())),
            change.record(&author),
            store::delete_agent(workspace, &before),
        ])
        .await??;
    changed(&deleted, id)
}

/// The id of the agent whose id or name is nearest to an id that no agent has. In a large workspace, only agents whose
/// ids are near are considered. A caller with a bound token sees only the agent of the token. A failure is no suggestion.
pub async fn nearest_agent(scope: &Scope, id: &str) -> Option<String> {
    let [rows] = scope.read([store::neighbours(scope.workspace(), id)]).await.ok()?;
    let own = scope.caller().await.ok()?.agent.clone();
    let known = store::read_neighbours(&rows).ok()?;
    let visible = known.iter().filter(|(id, _)| own.as_ref().is_none_or(|own| own.as_str() == id));
    // A text that looks like an id is meant as one.
    let is_id = id.starts_with("agent_");
    let names = visible.flat_map(|(id, name)| [id.as_str(), if is_id { id.as_str() } else { name.as_str() }]);
    let near = nearest(id, names)?;
    known.iter().find(|(id, name)| id == near || name == near).map(|(id, _)| id.clone())
}

/// Returns the agent, and whether any tool is attached to it. Fails if the caller may not change the agent.
async fn find_to_change(scope: &Scope, id: &AgentId) -> Result<(Agent, bool)> {
    let found = shown::find(scope, id).await?;
    scope.caller().await?.must_be_unbound()?;
    Ok(found)
}

fn found<T>(id: &AgentId, agent: Option<T>) -> Result<T> {
    agent.ok_or_else(|| Error::not_found("Agent", id))
}

fn subject(id: &str) -> String {
    format!("agent:{id}")
}

/// Fails if a conditional write changed no row: another request has changed the row first.
fn changed(rows: &Rows, what: impl std::fmt::Display) -> Result<()> {
    match rows.changes() {
        0 => Err(Error::Conflict(format!("{what} was changed by another request meanwhile; read it and try again"))),
        _ => Ok(()),
    }
}
