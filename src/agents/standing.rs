//! The relation of an agent to one tool, for a call. The relation is read in the same batch as the tool.

use super::toolbox::DEFAULT_TOOLS;
use super::{Agent, Config, store};
use crate::db::Rows;
use crate::error::Result;
use crate::ids::ToolId;

pub use store::find_standing;

/// An agent, and its relation to one tool.
pub struct AgentStanding {
    pub agent: Agent,
    /// The configuration of the tool's attachment.
    pub config: Option<Config>,
    pub(super) attached: bool,
    /// Whether any tool is attached to the agent.
    pub(super) has_attachments: bool,
}

impl AgentStanding {
    /// Whether the agent has the tool: as an attachment, or as a default tool if nothing is attached.
    pub fn has(&self, tool: &ToolId) -> bool {
        self.attached || (self.agent.has_default_tools(self.has_attachments) && DEFAULT_TOOLS.contains(&tool.as_str()))
    }
}

/// Reads the result of [`find_standing`] for the tool with this key.
pub fn read_standing(rows: &Rows, tool_key: Option<u32>) -> Result<Option<AgentStanding>> {
    store::read_standing(rows, tool_key)
}
