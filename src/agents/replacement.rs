//! Replaces the agents and attachments of a workspace, as a restore does. Only differences are written.

use super::attachment::subject as attachment_subject;
use super::{AgentOut, store, subject};
use crate::changes::{Action, Change};
use crate::db::{ManyRows, Statement};
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

    /// The agent and the tool, which together are unique.
    pub fn name(&self) -> Value {
        json!({"agent_id": self.agent_id, "tool_id": self.tool_id})
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
        let attachments = self.attachments.removed.iter().map(|it| attachment_removed(it));
        attachments.chain(self.agents.removed.iter().map(|it| agent_removed(it))).collect()
    }

    /// Rows of the change log for the added and changed agents and attachments. An agent comes before its attachments.
    pub fn additions(&self) -> Result<Vec<Change>> {
        let agents = self.agents.put.iter().map(|(it, before)| agent_put(it, *before));
        agents.chain(self.attachments.put.iter().map(|(it, before)| attachment_put(it, *before))).collect()
    }

    /// The rows that write the differences.
    pub fn rows(&self) -> AgentRows<Vec<Value>> {
        AgentRows {
            removed_attachments: self.attachments.removed.iter().map(|it| it.name()).collect(),
            removed_agents: self.removed().map(Value::from).collect(),
            agents: self.agents.put.iter().map(|(it, _)| json!(it)).collect(),
            attachments: self.attachments.put.iter().map(|(it, _)| json!(it)).collect(),
        }
    }
}

/// The rows that a replacement writes, one list for each purpose.
pub struct AgentRows<R> {
    /// [Names](AttachmentRecord::name).
    pub removed_attachments: R,
    /// Ids.
    pub removed_agents: R,
    pub agents: R,
    pub attachments: R,
}

impl<R: ManyRows> AgentRows<R> {
    /// The statements that remove agents and attachments.
    pub fn remove(&self, workspace: &WorkspaceId) -> Result<Vec<Statement>> {
        let mut statements = store::delete_attachments(workspace, &self.removed_attachments)?;
        statements.extend(store::delete_agents(workspace, &self.removed_agents)?);
        Ok(statements)
    }

    /// The statements that add and change agents and attachments. `revision` must be one that no agent or attachment of
    /// the workspace has had.
    pub fn put(&self, workspace: &WorkspaceId, revision: u32) -> Result<Vec<Statement>> {
        let mut statements = store::put_agents(workspace, &self.agents, revision)?;
        statements.extend(store::put_attachments(workspace, &self.attachments, revision)?);
        Ok(statements)
    }
}

/// The change that removes an agent.
pub fn agent_removed(it: &AgentOut) -> Result<Change> {
    Change::new(Action::Restore, subject(&it.id)).from(it)
}

/// The change that adds an agent, or replaces the agent `before`.
pub fn agent_put(it: &AgentOut, before: Option<&AgentOut>) -> Result<Change> {
    Change::new(Action::Restore, subject(&it.id)).before_if_any(before)?.to(it)
}

/// The change that removes an attachment.
pub fn attachment_removed(it: &AttachmentRecord) -> Result<Change> {
    it.change()?.from(&it.state())
}

/// The change that adds an attachment, or replaces the attachment `before`. The change log does not show when a tool was
/// attached. If only this time differs, the states before and after look equal.
pub fn attachment_put(it: &AttachmentRecord, before: Option<&AttachmentRecord>) -> Result<Change> {
    it.change()?.before_if_any(before.map(AttachmentRecord::state).as_ref())?.to(&it.state())
}
