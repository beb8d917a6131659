//! Replaces the agents and attachments of a workspace, as a restore does. Only differences are written.

use super::attachment::subject as attachment_subject;
use super::{AgentOut, store, subject};
use crate::changes::{Action, Change};
use crate::db::Statement;
use crate::error::{Error, Result};
use crate::ids::{ToolId, WorkspaceId};
use crate::registry::RecordDifference;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AttachmentRecord {
    pub agent_id: String,
    #[schema(example = "read_file")]
    pub tool_id: String,
    #[schema(value_type = Option<Object>)]
    pub config: Option<Map<String, Value>>,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

impl AttachmentRecord {
    fn change(&self) -> Result<Change> {
        let tool = ToolId::parse(&self.tool_id);
        let tool = tool.ok_or_else(|| Error::Internal(format!("{} is not the id of a tool", self.tool_id)))?;
        Ok(Change::new(Action::Restore, attachment_subject(&self.agent_id, &tool)).of_tool(&tool))
    }

    /// The attachment as the change log shows it.
    fn state(&self) -> Value {
        json!({"agent_id": self.agent_id, "tool_id": self.tool_id, "config": self.config})
    }
}

/// All agents of a workspace, with their attachments.
#[derive(Clone, Copy)]
pub struct AgentRecords<'a> {
    pub agents: &'a [AgentOut],
    pub attachments: &'a [AttachmentRecord],
}

/// The differences between the present agents and attachments and the wanted ones. The removals and the additions are
/// separate, because an attachment must be removed before its tool is removed, and added after its tool is added.
pub struct AgentReplacement<'a> {
    agents: RecordDifference<'a, AgentOut>,
    attachments: RecordDifference<'a, AttachmentRecord>,
}

impl<'a> AgentReplacement<'a> {
    pub fn new(now: AgentRecords<'a>, wanted: AgentRecords<'a>) -> Self {
        Self {
            agents: RecordDifference::between(now.agents, wanted.agents, |it| it.id.as_str()),
            attachments: RecordDifference::between(now.attachments, wanted.attachments, |it| {
                (it.agent_id.as_str(), it.tool_id.as_str())
            }),
        }
    }

    /// The ids of the removed agents.
    pub fn removed(&self) -> impl Iterator<Item = &str> {
        self.agents.removed.iter().map(|it| it.id.as_str())
    }

    /// Rows of the change log for the removed agents and attachments.
    pub fn removals(&self) -> Result<Vec<Change>> {
        let mut changes = Vec::new();
        for it in &self.attachments.removed {
            changes.push(it.change()?.from(&it.state())?);
        }
        for it in &self.agents.removed {
            changes.push(Change::new(Action::Restore, subject(&it.id)).from(it)?);
        }
        Ok(changes)
    }

    /// Rows of the change log for the added and changed agents and attachments. An agent comes before its attachments.
    pub fn additions(&self) -> Result<Vec<Change>> {
        let mut changes = Vec::new();
        for (it, before) in &self.agents.put {
            changes.push(Change::new(Action::Restore, subject(&it.id)).before_if_any(*before)?.to(it)?);
        }
        for (it, before) in &self.attachments.put {
            let before = before.map(AttachmentRecord::state);
            // The change log does not show when a tool was attached. If only this time differs, the states before and
            // after look equal.
            changes.push(it.change()?.before_if_any(before.as_ref())?.to(&it.state())?);
        }
        Ok(changes)
    }

    /// The statements that remove agents and attachments.
    pub fn remove(&self, workspace: &WorkspaceId) -> Result<Vec<Statement>> {
        let agents = self.removed().collect::<Vec<_>>();
        let mut statements = store::delete_attachments(workspace, &self.attachments.removed)?;
        statements.extend(store::delete_agents(workspace, &agents)?);
        Ok(statements)
    }

    /// The statements that add and change agents and attachments. `revision` must be one that no agent or attachment of
    /// the workspace has had.
    pub fn put(&self, workspace: &WorkspaceId, revision: u32) -> Result<Vec<Statement>> {
        let agents = self.agents.put.iter().map(|(it, _)| *it).collect::<Vec<_>>();
        let attachments = self.attachments.put.iter().map(|(it, _)| *it).collect::<Vec<_>>();
        let mut statements = store::put_agents(workspace, &agents, revision)?;
        statements.extend(store::put_attachments(workspace, &attachments, revision)?);
        Ok(statements)
    }
}
