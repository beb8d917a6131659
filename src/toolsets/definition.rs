//! The tool that a declaration and its function become.

use super::manifest::DeclaredTool;
use crate::callers::Level;
use crate::error::{Error, Result};
use crate::ids::{SERVER_SEPARATOR, ToolId, ToolsetId, Version};
use crate::registry::{
    ExecutionMode, Handler, ResourceClass, Risk, RollbackStrategy, Source, Tool, handler_json, version_json,
};
use crate::runners::InspectedFunction;
use crate::time::Timestamp;
use serde_json::{Map, Value};

/// The timeout of tools that declare none, in seconds.
const TIMEOUT_SECONDS: u32 = 30;

const FIRST: Version = Version { major: 1, minor: 0, patch: 0 };

/// Who imports a toolset, and when.
#[derive(Clone, Copy)]
pub struct Importer<'a> {
    pub operator: &'a str,
    pub now: Timestamp,
}

/// The id of a tool in the registry.
pub fn tool_id(toolset: &ToolsetId, tool: &str) -> Result<ToolId> {
    ToolId::parse(&format!("{toolset}{SERVER_SEPARATOR}{tool}"))
        .ok_or_else(|| Error::Internal(format!("{tool} is no id of a tool")))
}

/// The definition as a version of the tool, before its number is decided. What the manifest says wins over what the
/// function says, and the id stands for what neither says.
pub fn definition(
    toolset: &ToolsetId,
    declared: &DeclaredTool,
    function: &InspectedFunction,
    by: Importer<'_>,
) -> Result<Tool> {
    let handler = Handler::Toolset { entrypoint: declared.entrypoint.to_string() };
    let text = |declared: &Option<String>, found: &Option<String>| {
        declared.clone().or_else(|| found.clone()).filter(|it| !it.trim().is_empty())
    };
    let schema = |declared: &Option<Map<String, Value>>, found: &Option<Value>| {
        declared.clone().map(Value::Object).as_ref().or(found.as_ref()).map(Value::to_string)
    };
    Ok(Tool {
        key: 0,
        id: tool_id(toolset, &declared.id)?,
        source: Source::Toolset,
        created_at: by.now,
        version: FIRST,
        handler_key: handler.key().to_owned(),
        handler: handler_json(&handler)?,
        name: text(&declared.name, &function.name).unwrap_or_else(|| declared.id.clone()),
        description: text(&declared.description, &function.description).unwrap_or_else(|| declared.id.clone()),
        parameters_schema: schema(&declared.input_schema, &function.parameters_schema)
            .unwrap_or_else(|| r#"{"type":"object"}"#.to_owned()),
        returns_schema: schema(&declared.returns_schema, &function.returns_schema),
        category: text(&declared.category, &function.category).unwrap_or_else(|| toolset.to_string()),
        registered_at: by.now,
        registered_by: by.operator.to_owned(),
        active: true,
        deactivated_at: None,
        deactivated_reason: None,
        examples: declared.examples.clone(),
        risk_level: declared.risk_level.unwrap_or(Risk::Low),
        required_permission: declared.required_permission.unwrap_or(Level::User),
        required_capabilities: declared.required_capabilities.clone(),
        requires_approval: declared.requires_approval.or(function.requires_confirmation).unwrap_or(false),
        rate_limit: declared.rate_limit,
        timeout_seconds: declared.timeout_seconds.unwrap_or(TIMEOUT_SECONDS),
        execution_mode: ExecutionMode::Local,
        resource_class: ResourceClass::State,
        rollback_strategy: RollbackStrategy::Snapshot,
        credentials_required: Vec::new(),
        side_effects: declared.side_effects.clone(),
        missing_credentials: Vec::new(),
        current_policy: None,
        upstream: None,
        context: None,
    })
}

/// Whether two versions differ in nothing but their numbers and their history.
pub fn is_same(present: &Tool, offered: &Tool) -> Result<bool> {
    let bare = |tool: &Tool| {
        let same_history = Tool {
            version: FIRST,
            registered_at: offered.registered_at,
            registered_by: String::new(),
            active: true,
            deactivated_at: None,
            deactivated_reason: None,
            ..tool.clone()
        };
        version_json(&same_history)
    };
    Ok(bare(present)? == bare(offered)?)
}
