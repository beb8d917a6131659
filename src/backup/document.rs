//! The contents of a backup: every stored field of a registry, including ids and times. The records are ordered by age,
//! so that a backup of a restored registry is identical to the backup that was restored.

use super::workspace::WorkspaceRecord;
use crate::agents::{AgentOut, AgentRecords, AttachmentRecord};
use crate::federation::ServerRecord;
use crate::modules::ModuleRecord;
use crate::registry::credential::Credential;
use crate::registry::{RegistryRecords, ToolRecord, VersionRecord};
use crate::toolsets::{OverrideRecord, ToolsetRecord, ToolsetRecords};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Debug, Deserialize, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Backup {
    #[schema(max_items = 20000)]
    pub tools: Vec<ToolRecord>,
    #[schema(max_items = 20000)]
    pub versions: Vec<VersionRecord>,
    #[schema(max_items = 20000)]
    pub agents: Vec<AgentOut>,
    #[schema(max_items = 20000)]
    pub attachments: Vec<AttachmentRecord>,
    #[schema(max_items = 20000)]
    pub credentials: Vec<Credential>,
    /// A backup without this field is older than modules: its restore leaves the modules as they are.
    #[schema(max_items = 200, nullable = false)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modules: Option<Vec<ModuleRecord>>,
    /// A backup without this field is older than MCP servers: its restore leaves the MCP servers as they are.
    #[schema(max_items = 200, nullable = false)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp_servers: Option<Vec<ServerRecord>>,
    /// The contents of the files are not here: a restore of a document needs a workspace that has them. A backup without this
    /// field is older than toolsets: its restore leaves the toolsets and their overrides as they are.
    #[schema(max_items = 200, nullable = false)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub toolsets: Option<Vec<ToolsetRecord>>,
    /// What toolsets and admins say about the tools of toolsets. It goes with `toolsets`.
    #[schema(max_items = 20000, nullable = false)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overrides: Option<Vec<OverrideRecord>>,
    /// The settings of the workspace. A restore of a backup without this field leaves them as they are.
    #[schema(nullable = false)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<WorkspaceRecord>,
}

impl Backup {
    pub fn registry(&self) -> RegistryRecords<'_> {
        RegistryRecords { tools: &self.tools, versions: &self.versions, credentials: &self.credentials }
    }

    pub fn toolsets(&self) -> ToolsetRecords<'_> {
        ToolsetRecords {
            toolsets: self.toolsets.as_deref().unwrap_or_default(),
            overrides: self.overrides.as_deref().unwrap_or_default(),
        }
    }

    pub fn agents(&self) -> AgentRecords<'_> {
        AgentRecords { agents: &self.agents, attachments: &self.attachments }
    }
}
