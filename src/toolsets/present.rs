//! What a workspace has of a toolset, read in one round trip for one decision.

use super::manifest::Manifest;
use super::options::ImportOptions;
use super::overrides::{OverrideOut, find_overrides, read_overrides};
use super::store;
use super::toolset::{StoredDeclaration, Toolset, ToolsetFile, ToolsetState};
use crate::callers::Scope;
use crate::error::{Error, Result};
use crate::federation::bundled::{self, PresentServers};
use crate::ids::{SERVER_SEPARATOR, ToolsetId};
use crate::registry::{self, Source, ToolReading};

/// The most toolsets of one workspace.
const MAX_TOOLSETS: u32 = 200;

/// A toolset with everything in it. The toolset itself may not be there; its tools may be there from an earlier
/// installation.
pub struct PresentToolset {
    pub toolset: Option<Toolset>,
    pub files: Vec<ToolsetFile>,
    pub declarations: Vec<StoredDeclaration>,
    pub overrides: Vec<OverrideOut>,
    pub tools: Vec<ToolReading>,
    pub servers: PresentServers,
    /// Whether tools of an MCP server are recorded under the id of the toolset.
    has_foreign_tools: bool,
    /// How many toolsets the workspace has.
    toolsets: u32,
}

/// Reads a toolset for a change. Refuses callers that may not change toolsets.
pub async fn read(scope: &Scope, id: &ToolsetId) -> Result<PresentToolset> {
    let workspace = scope.workspace();
    let prefix = format!("{id}{SERVER_SEPARATOR}");
    let [toolset, files, declarations, overrides, tools, servers, foreign, count] = scope
        .read([
            store::find(workspace, id),
            store::find_files(workspace, id),
            store::find_declarations(workspace, id),
            find_overrides(workspace, id),
            registry::find_tools_of_upstreams(workspace, Source::Toolset, &[&prefix]),
            bundled::find_servers(workspace),
            store::find_foreign_tools(workspace, id),
            store::count(workspace),
        ])
        .await?;
    scope.caller().await?.must_be_unbound()?;
    Ok(PresentToolset {
        toolset: store::read(&toolset)?,
        files: store::read_files(&files)?,
        declarations: store::read_declarations(&declarations)?,
        overrides: read_overrides(&overrides)?,
        tools: registry::read_readings(&tools)?,
        servers: bundled::read_servers(&servers)?,
        has_foreign_tools: !foreign.is_empty()?,
        toolsets: store::read_count(&count)?,
    })
}

impl PresentToolset {
    /// The toolset, which must be there.
    pub fn require(&self, id: &ToolsetId) -> Result<&Toolset> {
        self.toolset.as_ref().ok_or_else(|| Error::not_found("Toolset", id))
    }

    /// The state before a change, for the change log.
    pub fn state(&self) -> Option<ToolsetState<'_>> {
        self.toolset.as_ref().map(|it| ToolsetState::new(it, &self.files, &self.declarations))
    }

    /// Whether the toolset of this manifest may be installed here.
    pub fn must_be_replaceable(&self, manifest: &Manifest, options: &ImportOptions) -> Result<()> {
        let id = &manifest.id;
        if let Some(present) = &self.toolset {
            return options.may_replace(present, &manifest.version);
        }
        if self.servers.has(id.as_str()) {
            return Err(Error::AlreadyExists(format!(
                "An MCP server has the id {id}, and toolsets share their ids with MCP servers: give the toolset another id"
            )));
        }
        if self.has_foreign_tools {
            return Err(Error::AlreadyExists(format!(
                "Tools of a former MCP server {id} are recorded under this id: give the toolset another id"
            )));
        }
        if self.toolsets >= MAX_TOOLSETS {
            return Err(Error::Conflict(format!(
                "This workspace has {MAX_TOOLSETS} toolsets, and no more are allowed"
            )));
        }
        Ok(())
    }
}
