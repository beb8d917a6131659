//! A tool as a module offers it: read from a manifest or an OpenAPI document, and not yet accepted.

use crate::callers::Level;
use crate::ids::ToolId;
use crate::registry::{Example, Handler, Risk, SideEffect};
use serde::{Deserialize, Serialize};
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
    /// None, if the module's own timeout holds.
    pub timeout_seconds: Option<u32>,
    pub side_effects: Vec<SideEffect>,
    pub examples: Vec<Example>,
}

/// Everything that a module offers.
#[derive(Debug, Default)]
pub struct Offers {
    /// In the order of the document. No id comes twice.
    pub tools: Vec<(ToolId, OfferedTool)>,
    /// The tools that the document names and that were left out. They are not gone: a tool that was accepted before stays
    /// as it was accepted.
    pub left_out: Vec<ToolId>,
    pub warnings: Vec<ModuleWarning>,
}

/// Something of a module's document that was left out, and why.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct ModuleWarning {
    /// The tool or the operation, as the document names it. None, if the warning is about the whole document.
    pub tool: Option<String>,
    pub message: String,
}
