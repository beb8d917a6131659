//! What of a tool leaves the house, field by field.

use super::handler::Handler;
use super::tool::{
    DeactivationReason, Example, ExecutionMode, ResourceClass, Risk, RollbackStrategy, SideEffect, Source, Tool,
};
use crate::callers::Level;
use crate::time::Timestamp;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

#[derive(Serialize, ToSchema)]
pub struct ToolOut {
    #[schema(example = "email_search")]
    id: String,
    #[schema(example = "Search Emails")]
    name: String,
    description: String,
    /// JSON Schema of the arguments, as a JSON string.
    #[schema(example = r#"{"type":"object"}"#)]
    parameters_schema: String,
    #[schema(example = "email_search")]
    handler_key: String,
    #[schema(example = "email")]
    category: String,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(example = "1.0.0")]
    version: String,
    active: bool,
    source: Source,
    /// JSON Schema of the result, as a JSON string.
    returns_schema: Option<String>,
    examples: Vec<Example>,
    risk_level: Risk,
    /// The level that a caller needs to run the tool.
    required_permission: Level,
    required_capabilities: Vec<String>,
    requires_approval: bool,
    /// Calls a minute.
    rate_limit: Option<u32>,
    timeout_seconds: u32,
    execution_mode: ExecutionMode,
    resource_class: ResourceClass,
    rollback_strategy: RollbackStrategy,
    credentials_required: Vec<String>,
    side_effects: Vec<SideEffect>,
    #[schema(value_type = String, format = DateTime)]
    registered_at: Timestamp,
    registered_by: String,
    #[schema(value_type = Option<String>, format = DateTime)]
    deactivated_at: Option<Timestamp>,
    deactivated_reason: Option<DeactivationReason>,
    /// Where and how the tool runs; shown to admins, with header values masked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    handler: Option<Value>,
}

impl ToolOut {
    /// `tool` as a caller of that level may see it.
    pub fn seen_by(level: Level, tool: Tool) -> Self {
        Self {
            handler: (level >= Level::Admin).then(|| masked(&tool)),
            id: tool.id.to_string(),
            name: tool.name,
            description: tool.description,
            parameters_schema: tool.parameters_schema,
            handler_key: tool.handler_key,
            category: tool.category,
            created_at: tool.created_at,
            version: tool.version.to_string(),
            active: tool.active,
            source: tool.source,
            returns_schema: tool.returns_schema,
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
            deactivated_at: tool.deactivated_at,
            deactivated_reason: tool.deactivated_reason,
        }
    }
}

/// A stored handler can be read; were one not, it is not shown.
fn masked(tool: &Tool) -> Value {
    Handler::of(tool).map_or(Value::Null, |it| it.masked())
}
