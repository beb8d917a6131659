//! The contents of a backup: every stored field of a registry, including ids and times. The records are ordered by age,
//! so that a backup of a restored registry is identical to the backup that was restored.

use crate::agents::{AgentOut, AgentRecords, AttachmentRecord};
use crate::registry::credential::Credential;
use crate::registry::{RegistryRecords, ToolRecord, VersionRecord};
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
}

impl Backup {
    pub fn registry(&self) -> RegistryRecords<'_> {
        RegistryRecords { tools: &self.tools, versions: &self.versions, credentials: &self.credentials }
    }

    pub fn agents(&self) -> AgentRecords<'_> {
        AgentRecords { agents: &self.agents, attachments: &self.attachments }
    }
}
