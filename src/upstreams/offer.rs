//! A tool as an upstream offers it: read from the upstream's description, and not yet accepted.

use super::kind::UpstreamSettings;
use crate::callers::Level;
use crate::error::Result;
use crate::ids::{ToolId, Version};
use crate::registry::{
    Example, ExecutionMode, Handler, ResourceClass, Risk, RollbackStrategy, SideEffect, Tool, handler_json,
};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// The definition of one tool. The tool's id is kept beside it.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct OfferedTool {
    pub name: String,
    pub description: String,
    /// JSON Schema, to the letter.
    pub parameters_schema: String,
    pub returns_schema: Option<String>,
    pub handler: Handler,
    pub risk_level: Risk,
    pub required_permission: Level,
    pub requires_approval: bool,
    /// None, if the upstream's own timeout holds.
    pub timeout_seconds: Option<u32>,
    pub side_effects: Vec<SideEffect>,
    pub examples: Vec<Example>,
}

impl OfferedTool {
    /// The definition as a version of the tool, before its number is decided.
    pub fn to_tool<S: UpstreamSettings>(&self, id: &ToolId, timeout_seconds: u32, by: &Registrant<'_>) -> Result<Tool> {
        let category = id.as_str().split(S::SEPARATOR).next().unwrap_or_default();
        Ok(Tool {
            key: 0,
            id: id.clone(),
            source: S::SOURCE,
            created_at: by.now,
            version: FIRST,
            handler_key: self.handler.key().to_owned(),
            handler: handler_json(&self.handler)?,
            name: self.name.clone(),
            description: self.description.clone(),
            parameters_schema: self.parameters_schema.clone(),
            returns_schema: self.returns_schema.clone(),
            category: category.to_owned(),
            registered_at: by.now,
            registered_by: by.operator.to_owned(),
            active: true,
            deactivated_at: None,
            deactivated_reason: None,
            examples: self.examples.clone(),
            risk_level: self.risk_level,
            required_permission: self.required_permission,
            required_capabilities: Vec::new(),
            requires_approval: self.requires_approval,
            rate_limit: None,
            timeout_seconds: self.timeout_seconds.unwrap_or(timeout_seconds),
            execution_mode: ExecutionMode::Remote,
            resource_class: ResourceClass::Control,
            rollback_strategy: RollbackStrategy::None,
            credentials_required: Vec::new(),
            side_effects: self.side_effects.clone(),
            missing_credentials: Vec::new(),
            current_policy: None,
            context: None,
            upstream: None,
        })
    }
}

impl OfferedTool {
    /// About how many bytes the definition takes in the database.
    pub fn bytes(&self) -> usize {
        self.description.len()
            + self.parameters_schema.len()
            + self.returns_schema.as_ref().map_or(0, String::len)
            + 500
    }
}

const FIRST: Version = Version { major: 1, minor: 0, patch: 0 };

/// Who puts a definition in place, and when.
pub struct Registrant<'a> {
    pub operator: &'a str,
    pub now: Timestamp,
}

/// Whether two versions have the same definition: everything that an upstream says about a tool but its policy,
/// whatever the white space and the order of its JSON. The timeout does not count, because it may come from the upstream's
/// settings.
pub fn is_same_definition(one: &Tool, other: &Tool) -> bool {
    let json = |text: &str| serde_json::from_str::<Value>(text).ok();
    let same_json = |one: &str, other: &str| one == other || json(one) == json(other);
    let texts = |it: &Tool| (it.name.clone(), it.description.clone());
    let same_returns = match (&one.returns_schema, &other.returns_schema) {
        (Some(one), Some(other)) => same_json(one, other),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    };
    texts(one) == texts(other)
        && same_json(&one.parameters_schema, &other.parameters_schema)
        && same_returns
        && same_json(one.handler.get(), other.handler.get())
        && one.side_effects == other.side_effects
        && one.examples == other.examples
}

/// The policy of a tool, as far as upstreams and their settings know policies.
pub fn policy(tool: &Tool) -> (Risk, Level, bool) {
    (tool.risk_level, tool.required_permission, tool.requires_approval)
}

/// Everything that an upstream offers.
#[derive(Debug, Default)]
pub struct Offers {
    /// In the order of the document. No id comes twice.
    pub tools: Vec<(ToolId, OfferedTool)>,
    /// The tools that the document names and that were left out. They are not gone: a tool that was accepted before stays
    /// as it was accepted.
    pub left_out: Vec<ToolId>,
    pub warnings: Vec<UpstreamWarning>,
}

/// Something of an upstream's description that was left out, and why.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct UpstreamWarning {
    /// The tool or the operation, as the description names it. None, if the warning is about the whole description.
    pub tool: Option<String>,
    pub message: String,
}
