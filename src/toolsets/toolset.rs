//! A toolset as it is stored, and as responses and the change log show it.

use super::file_kind::FileKind;
use crate::error::BundleNote;
use crate::time::Timestamp;
use crate::upstreams::UpstreamStatus;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// The row of a toolset.
#[derive(Clone, Debug, PartialEq)]
pub struct Toolset {
    pub id: String,
    pub name: String,
    pub version: String,
    pub description: String,
    pub enabled: bool,
    pub installed_at: Timestamp,
    pub source_ref: Option<String>,
    pub manifest_version: String,
    pub warnings: Vec<BundleNote>,
    pub revision: u32,
}

/// Where a toolset came from. Only bundles can be imported.
const SOURCE_TYPE: &str = "zip";

#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Toolset)]
pub struct ToolsetOut {
    #[schema(example = "app-builder")]
    pub id: String,
    pub name: String,
    /// A semantic version.
    #[schema(example = "1.0.0")]
    pub version: String,
    pub description: String,
    /// The tools of a toolset that is not enabled cannot be called, and its MCP servers are stopped.
    pub enabled: bool,
    #[schema(value_type = String, format = DateTime)]
    pub installed_at: Timestamp,
    /// Always `zip`.
    #[schema(example = "zip")]
    pub source_type: &'static str,
    /// Where the bundle came from, as the import said. Pegboard never fetches it.
    #[schema(required)]
    pub source_ref: Option<String>,
    #[schema(example = "1")]
    pub manifest_version: String,
}

impl From<&Toolset> for ToolsetOut {
    fn from(it: &Toolset) -> Self {
        Self {
            id: it.id.clone(),
            name: it.name.clone(),
            version: it.version.clone(),
            description: it.description.clone(),
            enabled: it.enabled,
            installed_at: it.installed_at,
            source_type: SOURCE_TYPE,
            source_ref: it.source_ref.clone(),
            manifest_version: it.manifest_version.clone(),
        }
    }
}

/// A file of a toolset, without its contents.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolsetFile {
    /// Relative to the root of the bundle.
    #[schema(example = "tools/files.py")]
    pub path: String,
    #[schema(inline)]
    pub kind: FileKind,
    #[schema(pattern = "^[0-9a-f]{64}$")]
    pub sha256: String,
    pub size: u32,
}

/// A tool of a toolset.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct ToolsetTool {
    #[schema(example = "app-builder:write_file")]
    pub id: String,
    /// The function that calls run.
    #[schema(example = "tools.files:write_file")]
    pub entrypoint: String,
    /// The current version of the tool.
    #[schema(example = "1.0.0")]
    pub version: String,
    /// Whether this version is active.
    pub active: bool,
}

/// An MCP server that a toolset has brought.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct ToolsetServer {
    pub id: String,
    pub enabled: bool,
    #[schema(inline)]
    pub status: UpstreamStatus,
    #[schema(required)]
    pub last_error: Option<String>,
}

impl ToolsetServer {
    /// A server that is to be installed.
    pub fn unseen(id: &str) -> Self {
        Self { id: id.to_owned(), enabled: true, status: UpstreamStatus::Unseen, last_error: None }
    }
}

/// A toolset with everything in it.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ToolsetDetails {
    #[serde(flatten)]
    pub toolset: ToolsetOut,
    /// Sorted by path.
    pub files: Vec<ToolsetFile>,
    /// In the order of the manifest.
    pub tools: Vec<ToolsetTool>,
    pub overrides: Vec<super::OverrideOut>,
    pub mcp_servers: Vec<ToolsetServer>,
    /// What the last import found questionable.
    pub warnings: Vec<BundleNote>,
}

/// A toolset as the change log keeps it.
#[derive(Serialize)]
pub struct ToolsetState<'a> {
    #[serde(flatten)]
    toolset: ToolsetOut,
    files: &'a [ToolsetFile],
    /// The ids of the declared tools.
    tools: Vec<&'a str>,
}

impl<'a> ToolsetState<'a> {
    pub fn new(toolset: &Toolset, files: &'a [ToolsetFile], tools: &'a [StoredDeclaration]) -> Self {
        Self { toolset: toolset.into(), files, tools: tools.iter().map(|it| it.tool.as_str()).collect() }
    }
}

/// A tool as its manifest has declared it.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredDeclaration {
    /// The id within the toolset.
    pub tool: String,
    pub declaration: Value,
}
