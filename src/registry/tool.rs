//! A tool at one of its versions, and the words that describe it.

use crate::callers::Level;
use crate::ids::{ToolId, Version};
use crate::text_enum::text_enum;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use utoipa::ToSchema;

text_enum! {
    /// Where a tool comes from.
    Source {
        Builtin = "builtin",
        Registered = "registered",
        Module = "module",
        Toolset = "toolset",
        Mcp = "mcp",
    }
}

text_enum! {
    /// How much harm a call can do. High and critical ones need an approval.
    Risk {
        Safe = "safe",
        Low = "low",
        Medium = "medium",
        High = "high",
        Critical = "critical",
    }
}

impl Risk {
    /// This risk and all lesser ones.
    pub fn and_below(self) -> impl Iterator<Item = Self> {
        [Self::Safe, Self::Low, Self::Medium, Self::High, Self::Critical].into_iter().filter(move |it| *it <= self)
    }
}

text_enum! {
    /// Where a tool runs.
    ExecutionMode {
        Local = "local",
        Remote = "remote",
        Browser = "browser",
    }
}

text_enum! {
    /// What a tool mostly uses.
    ResourceClass {
        Control = "control",
        Compute = "compute",
        State = "state",
    }
}

text_enum! {
    /// How what a tool did can be undone.
    RollbackStrategy {
        None = "none",
        Compensating = "compensating",
        Snapshot = "snapshot",
    }
}

text_enum! {
    /// Why a version was switched off.
    DeactivationReason {
        VersionUpdate = "version_update",
        Security = "security",
        Deprecated = "deprecated",
        OperatorRequest = "operator_request",
    }
}

/// A call that shows how the tool is used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Example {
    pub description: String,
    /// Arguments that satisfy the parameters' schema.
    pub params: Value,
    pub expected_output: Option<Value>,
}

/// Something that a call changes outside of its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SideEffect {
    #[schema(example = "file_write")]
    pub effect_type: String,
    pub description: String,
    pub reversible: bool,
    #[schema(example = "exports/")]
    pub scope: String,
}

#[derive(Clone, Debug)]
pub struct Tool {
    /// The tool's number in the database; attachments point at it. It never leaves the house.
    pub key: u32,
    pub id: ToolId,
    pub source: Source,
    pub created_at: Timestamp,
    pub version: Version,
    pub name: String,
    pub description: String,
    /// JSON Schema, to the letter.
    pub parameters_schema: String,
    pub returns_schema: Option<String>,
    pub handler_key: String,
    pub handler: Box<RawValue>,
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
    pub registered_at: Timestamp,
    pub registered_by: String,
    pub active: bool,
    pub deactivated_at: Option<Timestamp>,
    pub deactivated_reason: Option<DeactivationReason>,
    /// What of `credentials_required` the workspace does not define. Known where one tool is read, and not of those in lists.
    pub missing_credentials: Vec<String>,
}

impl Tool {
    /// The version as it is once it has been switched off.
    pub fn switched_off(&self, reason: DeactivationReason, now: Timestamp) -> Self {
        Self { active: false, deactivated_at: Some(now), deactivated_reason: Some(reason), ..self.clone() }
    }

    pub fn is_builtin(&self) -> bool {
        self.source == Source::Builtin
    }

    /// The module that a tool of source `module` belongs to: its id up to the first dot.
    pub fn module(&self) -> Option<&str> {
        match self.source {
            Source::Module => self.id.as_str().split_once('.').map(|(module, _)| module),
            Source::Builtin | Source::Registered | Source::Toolset | Source::Mcp => None,
        }
    }
}

/// A plain registered tool, for tests to change as they need.
#[cfg(test)]
pub fn fixture(id: &str) -> Tool {
    let some_time = Timestamp::from_millis(0).unwrap();
    Tool {
        key: 1,
        id: ToolId::parse(id).unwrap(),
        source: Source::Registered,
        created_at: some_time,
        version: Version::parse("1.0.0").unwrap(),
        name: id.to_owned(),
        description: format!("The tool {id}"),
        parameters_schema: r#"{"type":"object"}"#.to_owned(),
        returns_schema: None,
        handler_key: "http".to_owned(),
        handler: RawValue::from_string(r#"{"type":"http","url":"https://example.com"}"#.to_owned()).unwrap(),
        category: "general".to_owned(),
        examples: Vec::new(),
        risk_level: Risk::Low,
        required_permission: Level::Guest,
        required_capabilities: Vec::new(),
        requires_approval: false,
        rate_limit: None,
        timeout_seconds: 30,
        execution_mode: ExecutionMode::Local,
        resource_class: ResourceClass::Control,
        rollback_strategy: RollbackStrategy::None,
        credentials_required: Vec::new(),
        side_effects: Vec::new(),
        registered_at: some_time,
        registered_by: "root".to_owned(),
        active: true,
        deactivated_at: None,
        deactivated_reason: None,
        missing_credentials: Vec::new(),
    }
}
