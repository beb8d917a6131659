//! How an agent stands to one tool, for a call: read in the same batch as the tool.

use super::toolbox::DEFAULT_TOOLS;
use super::{Agent, Config, store};
use crate::db::Rows;
use crate::error::Result;
use crate::ids::ToolId;

pub use store::find_standing;

/// An agent, and what there is between it and one tool.
pub struct AgentStanding {
    pub agent: Agent,
    /// The configuration of the tool's attachment.
    pub config: Option<Config>,
    pub(super) attached: bool,
    /// Whether any tool is attached.
    pub(super) has_attachments: bool,
}

impl AgentStanding {
    /// Whether the agent has the tool: attached, or by default where nothing is.
    pub fn has(&self, tool: &ToolId) -> bool {
        self.attached
            || (!self.has_attachments && self.agent.profile.default_tools && DEFAULT_TOOLS.contains(&tool.as_str()))
    }
}

/// What [`find_standing`] found of the agent and the tool of that key.
pub fn read_standing(rows: &Rows, tool_key: Option<u32>) -> Result<Option<AgentStanding>> {
    store::read_standing(rows, tool_key)
}
