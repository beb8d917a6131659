//! How a tool is read from the database, wherever it is read.

use super::tool::{DeactivationReason, ExecutionMode, ResourceClass, Risk, RollbackStrategy, Source, Tool};
use crate::callers::Level;
use crate::error::{Error, Result};
use crate::ids::{ToolId, Version};
use crate::time::Timestamp;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

/// The columns of a [`ToolRow`], from `tools t` joined to `tool_versions v`.
pub const TOOL_COLUMNS: &str = "t.key, t.id, t.source, t.created_at, v.major, v.minor, v.patch, v.name, v.description,
    v.parameters_schema, v.returns_schema, v.handler_key, v.handler, v.category, v.examples, v.risk_level,
    v.required_permission, v.required_capabilities, v.requires_approval, v.rate_limit, v.timeout_seconds,
    v.execution_mode, v.resource_class, v.rollback_strategy, v.credentials_required, v.side_effects,
    v.registered_at, v.registered_by, v.active, v.deactivated_at, v.deactivated_reason";

/// The credentials that a version asks for and its workspace does not define; none, where it asks for none. One column more
/// of a [`ToolRow`], for what decides about one tool: in lists it would cost more than it tells.
pub const MISSING_CREDENTIALS: &str = "iif(v.credentials_required = '[]', NULL, (
    SELECT json_group_array(c.value) FROM json_each(v.credentials_required) c WHERE NOT EXISTS (
      SELECT 1 FROM credentials d WHERE d.workspace_id = t.workspace_id AND d.id = c.value))) AS missing_credentials";

#[derive(Deserialize)]
pub struct ToolRow {
    key: u32,
    id: String,
    source: Source,
    created_at: Timestamp,
    major: u32,
    minor: u32,
    patch: u32,
    name: String,
    description: String,
    parameters_schema: String,
    returns_schema: Option<String>,
    handler_key: String,
    handler: String,
    category: String,
    examples: String,
    risk_level: Risk,
    required_permission: Level,
    required_capabilities: String,
    requires_approval: u8,
    rate_limit: Option<u32>,
    timeout_seconds: u32,
    execution_mode: ExecutionMode,
    resource_class: ResourceClass,
    rollback_strategy: RollbackStrategy,
    credentials_required: String,
    side_effects: String,
    registered_at: Timestamp,
    registered_by: String,
    active: u8,
    deactivated_at: Option<Timestamp>,
    deactivated_reason: Option<DeactivationReason>,
    #[serde(default)]
    missing_credentials: Option<String>,
}

impl TryFrom<ToolRow> for Tool {
    type Error = Error;

    fn try_from(row: ToolRow) -> Result<Self> {
        let tool = row.id.as_str();
        Ok(Self {
            key: row.key,
            id: ToolId::parse(tool).ok_or_else(|| Error::Internal(format!("the tool {tool} has a broken id")))?,
            source: row.source,
            created_at: row.created_at,
            version: Version { major: row.major, minor: row.minor, patch: row.patch },
            missing_credentials: match &row.missing_credentials {
                Some(missing) => json_column(tool, "missing_credentials", missing)?,
                None => Vec::new(),
            },
            handler: json_column::<Box<RawValue>>(tool, "handler", &row.handler)?,
            examples: json_column(tool, "examples", &row.examples)?,
            required_capabilities: json_column(tool, "required_capabilities", &row.required_capabilities)?,
            credentials_required: json_column(tool, "credentials_required", &row.credentials_required)?,
            side_effects: json_column(tool, "side_effects", &row.side_effects)?,
            name: row.name,
            description: row.description,
            parameters_schema: row.parameters_schema,
            returns_schema: row.returns_schema,
            handler_key: row.handler_key,
            category: row.category,
            risk_level: row.risk_level,
            required_permission: row.required_permission,
            requires_approval: row.requires_approval != 0,
            rate_limit: row.rate_limit,
            timeout_seconds: row.timeout_seconds,
            execution_mode: row.execution_mode,
            resource_class: row.resource_class,
            rollback_strategy: row.rollback_strategy,
            registered_at: row.registered_at,
            registered_by: row.registered_by,
            active: row.active != 0,
            deactivated_at: row.deactivated_at,
            deactivated_reason: row.deactivated_reason,
        })
    }
}

/// A column that holds JSON.
pub fn json_column<T: DeserializeOwned>(tool: &str, column: &str, text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|cause| Error::Internal(format!("the tool {tool} has broken {column}: {cause}")))
}
