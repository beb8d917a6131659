//! What a backup is made of. Every field that a registry keeps is in it, ids and times too. Things stand in the order of
//! their ages, so that a backup of what was restored is the same to the letter.

use crate::agents::AgentOut;
use crate::callers::Level;
use crate::error::{Error, Result};
use crate::ids::{ToolId, Version};
use crate::registry::credential::Credential;
use crate::registry::{
    self, DeactivationReason, Example, ExecutionMode, Handler, ResourceClass, Risk, RollbackStrategy, SideEffect,
    Source, Switch, Tool,
};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
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

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolRecord {
    #[schema(example = "word_count")]
    pub id: String,
    pub source: Source,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

/// A version, with its handler as it was given: header values are not masked.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct VersionRecord {
    #[schema(example = "word_count")]
    pub tool_id: String,
    #[schema(example = "1.0.0")]
    pub version: String,
    pub name: String,
    pub description: String,
    /// JSON Schema, as a JSON string.
    pub parameters_schema: String,
    pub returns_schema: Option<String>,
    #[schema(value_type = Object)]
    pub handler: Value,
    pub category: String,
    pub examples: Vec<Example>,
    pub risk_level: Risk,
    pub required_permission: Level,
    pub required_capabilities: Vec<String>,
    pub requires_approval: bool,
    pub rate_limit: Option<u32>,
    pub timeout_seconds: u32,
    pub execution_mode: ExecutionMode,
    pub resource_class: ResourceClass,
    pub rollback_strategy: RollbackStrategy,
    pub credentials_required: Vec<String>,
    pub side_effects: Vec<SideEffect>,
    #[schema(value_type = String, format = DateTime)]
    pub registered_at: Timestamp,
    pub registered_by: String,
    pub active: bool,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub deactivated_at: Option<Timestamp>,
    pub deactivated_reason: Option<DeactivationReason>,
}

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

impl TryFrom<Tool> for VersionRecord {
    type Error = Error;

    fn try_from(tool: Tool) -> Result<Self> {
        let handler = Handler::of(&tool)?;
        Ok(Self {
            tool_id: tool.id.to_string(),
            version: tool.version.to_string(),
            name: tool.name,
            description: tool.description,
            parameters_schema: tool.parameters_schema,
            returns_schema: tool.returns_schema,
            handler: json!(handler),
            category: tool.category,
            examples: tool.examples,
            risk_level: tool.risk_level,
            required_permission: tool.required_permission,
            required_capabilities: tool.required_capabilities,
            requires_approval: tool.requires_approval,
            rate_limit: tool.rate_limit,
            timeout_seconds: tool.timeout_seconds,
            execution_mode: tool.execution_mode,
            resource_class: tool.resource_class,
            rollback_strategy: tool.rollback_strategy,
            credentials_required: tool.credentials_required,
            side_effects: tool.side_effects,
            registered_at: tool.registered_at,
            registered_by: tool.registered_by,
            active: tool.active,
            deactivated_at: tool.deactivated_at,
            deactivated_reason: tool.deactivated_reason,
        })
    }
}

impl VersionRecord {
    /// How the version stands, as the log tells it.
    pub fn switch(&self) -> Switch {
        Switch {
            version: self.version.clone(),
            active: self.active,
            deactivated_at: self.deactivated_at,
            deactivated_reason: self.deactivated_reason,
        }
    }

    /// The version of a tool that the record is of; its ids and its handler have been read before.
    pub fn to_tool(&self, id: ToolId, version: Version, of: &ToolRecord, handler: &Handler) -> Result<Tool> {
        Ok(Tool {
            key: 0,
            id,
            source: of.source,
            created_at: of.created_at,
            version,
            name: self.name.clone(),
            description: self.description.clone(),
            parameters_schema: self.parameters_schema.clone(),
            returns_schema: self.returns_schema.clone(),
            handler_key: handler.key().to_owned(),
            handler: registry::kept(handler)?,
            category: self.category.clone(),
            examples: self.examples.clone(),
            risk_level: self.risk_level,
            required_permission: self.required_permission,
            required_capabilities: self.required_capabilities.clone(),
            requires_approval: self.requires_approval,
            rate_limit: self.rate_limit,
            timeout_seconds: self.timeout_seconds,
            execution_mode: self.execution_mode,
            resource_class: self.resource_class,
            rollback_strategy: self.rollback_strategy,
            credentials_required: self.credentials_required.clone(),
            side_effects: self.side_effects.clone(),
            registered_at: self.registered_at,
            registered_by: self.registered_by.clone(),
            active: self.active,
            deactivated_at: self.deactivated_at,
            deactivated_reason: self.deactivated_reason,
            missing_credentials: Vec::new(),
        })
    }
}
