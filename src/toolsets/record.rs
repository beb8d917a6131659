//! Toolsets and their overrides in backups: every stored field. The contents of files are not a part of the records.

use super::overrides::OverrideOut;
use super::toolset::{Toolset, ToolsetFile};
use crate::error::BundleNote;
use crate::rendering::RendererKind;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// A toolset in a backup. Its MCP servers and the versions of its tools are records of their own.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolsetRecord {
    #[schema(example = "app-builder")]
    pub id: String,
    pub name: String,
    #[schema(example = "1.0.0")]
    pub version: String,
    pub description: String,
    pub enabled: bool,
    #[schema(value_type = String, format = DateTime)]
    pub installed_at: Timestamp,
    pub source_ref: Option<String>,
    #[schema(example = "1")]
    pub manifest_version: String,
    pub warnings: Vec<BundleNote>,
    /// Sorted by path.
    #[schema(max_items = 2000)]
    pub files: Vec<ToolsetFile>,
    /// The tools as the manifest declares them, in its order.
    #[schema(value_type = Vec<Object>, max_items = 200)]
    pub tools: Vec<Value>,
}

impl ToolsetRecord {
    /// The ids of the declared tools within the toolset.
    pub fn tool_names(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().filter_map(|it| it.get("id")?.as_str())
    }

    /// The row of the toolset.
    pub fn toolset(&self) -> Toolset {
        Toolset {
            id: self.id.clone(),
            name: self.name.clone(),
            version: self.version.clone(),
            description: self.description.clone(),
            enabled: self.enabled,
            installed_at: self.installed_at,
            source_ref: self.source_ref.clone(),
            manifest_version: self.manifest_version.clone(),
            warnings: self.warnings.clone(),
            revision: 0,
        }
    }
}

/// An override in a backup.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OverrideRecord {
    #[schema(example = "charts")]
    pub toolset_id: String,
    /// `toolset:tool` or `server:tool`.
    #[schema(example = "charts:plot")]
    pub tool_id: String,
    /// The place among the overrides of the toolset.
    pub position: u32,
    pub renderer: Option<RendererKind>,
    #[schema(value_type = Option<Object>)]
    pub renderer_config: Option<Map<String, Value>>,
    pub name_override: Option<String>,
    pub description_override: Option<String>,
    pub requires_approval: Option<bool>,
    pub enabled: Option<bool>,
    pub by_admin: bool,
}

impl OverrideRecord {
    pub fn new(it: OverrideOut, position: u32) -> Self {
        Self {
            toolset_id: it.toolset_id,
            tool_id: it.tool_id,
            position,
            renderer: it.renderer,
            renderer_config: it.renderer_config,
            name_override: it.name_override,
            description_override: it.description_override,
            requires_approval: it.requires_approval,
            enabled: it.enabled,
            by_admin: it.by_admin,
        }
    }

    /// The override as responses and the change log show it.
    pub fn shown(&self) -> OverrideOut {
        OverrideOut {
            toolset_id: self.toolset_id.clone(),
            tool_id: self.tool_id.clone(),
            renderer: self.renderer,
            renderer_config: self.renderer_config.clone(),
            name_override: self.name_override.clone(),
            description_override: self.description_override.clone(),
            requires_approval: self.requires_approval,
            enabled: self.enabled,
            by_admin: self.by_admin,
        }
    }

    /// The toolset and the tool, by which the overrides of a workspace are sorted.
    pub fn key(&self) -> (String, String) {
        (self.toolset_id.clone(), self.tool_id.clone())
    }
}
