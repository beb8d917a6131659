//! What a workspace has of a toolset, read in one round trip for one decision.

use super::manifest::Manifest;
use super::options::ImportOptions;
use super::overrides::{OverrideOut, find_overrides, read_overrides};
use super::store;
use super::toolset::{StoredDeclaration, Toolset, ToolsetFile, ToolsetState};
use crate::callers::Scope;
use crate::db::{Rows, Statement};
use crate::error::{Error, Result};
use crate::federation::{DeclaredServers, ServersAround};
use crate::ids::{SERVER_SEPARATOR, ToolsetId, WorkspaceId};
use crate::registry::{self, Source, ToolReading};

/// The most toolsets of one workspace.
const MAX_TOOLSETS: u32 = 200;

/// A toolset with everything in it but its MCP servers. The toolset itself may not be there; its tools may be there from an
/// earlier installation.
pub struct PresentToolset {
    pub toolset: Option<Toolset>,
    pub files: Vec<ToolsetFile>,
    pub declarations: Vec<StoredDeclaration>,
    pub overrides: Vec<OverrideOut>,
    pub tools: Vec<ToolReading>,
}

/// What an import has to know besides: what else there is under the ids of the bundle.
pub struct Surroundings {
    pub servers: ServersAround,
    /// Whether tools of an MCP server are recorded under the id of the toolset.
    has_foreign_tools: bool,
    /// How many toolsets the workspace has.
    toolsets: u32,
}

/// Selects a toolset, for [`PresentToolset::read`].
fn find(workspace: &WorkspaceId, id: &ToolsetId) -> [Statement; 5] {
    let prefix = format!("{id}{SERVER_SEPARATOR}");
    [
        store::find(workspace, id),
        store::find_files(workspace, id),
        store::find_declarations(workspace, id),
        find_overrides(workspace, id),
        registry::find_tools_of_upstreams(workspace, Source::Toolset, &[&prefix]),
    ]
}

/// Reads a toolset for a change, and two more statements in the same round trip. Refuses callers that may not change
/// toolsets.
pub async fn read_with(
    scope: &Scope,
    id: &ToolsetId,
    [one, other]: [Statement; 2],
) -> Result<(PresentToolset, [Rows; 2])> {
    let [toolset, files, declarations, overrides, tools] = find(scope.workspace(), id);
    let [toolset, files, declarations, overrides, tools, one, other] =
        scope.read([toolset, files, declarations, overrides, tools, one, other]).await?;
    scope.caller().await?.must_be_unbound()?;
    Ok((PresentToolset::read([toolset, files, declarations, overrides, tools])?, [one, other]))
}

/// Reads everything that an import depends on.
pub async fn read_for_import(
    scope: &Scope,
    id: &ToolsetId,
    declared: &DeclaredServers,
) -> Result<(PresentToolset, Surroundings)> {
    let workspace = scope.workspace();
    let [toolset, files, declarations, overrides, tools] = find(workspace, id);
    let [servers, server_tools, around] = declared.find(workspace);
    let (foreign, count) = (store::find_foreign_tools(workspace, id), store::count(workspace));
    let [toolset, files, declarations, overrides, tools, servers, server_tools, around, foreign, count] = scope
        .read([toolset, files, declarations, overrides, tools, servers, server_tools, around, foreign, count])
        .await?;
    let surroundings = Surroundings {
        servers: declared.read(&[servers, server_tools, around])?,
        has_foreign_tools: !foreign.is_empty()?,
        toolsets: store::read_count(&count)?,
    };
    Ok((PresentToolset::read([toolset, files, declarations, overrides, tools])?, surroundings))
}

impl PresentToolset {
    fn read([toolset, files, declarations, overrides, tools]: [Rows; 5]) -> Result<Self> {
        Ok(Self {
            toolset: store::read(&toolset)?,
            files: store::read_files(&files)?,
            declarations: store::read_declarations(&declarations)?,
            overrides: read_overrides(&overrides)?,
            tools: registry::read_readings(&tools)?,
        })
    }

    /// The toolset, which must be there.
    pub fn require(&self, id: &ToolsetId) -> Result<&Toolset> {
        self.toolset.as_ref().ok_or_else(|| Error::not_found("Toolset", id))
    }

    /// The state before a change, for the change log.
    pub fn state(&self) -> Option<ToolsetState<'_>> {
        self.toolset.as_ref().map(|it| ToolsetState::new(it, &self.files, &self.declarations))
    }

    /// Whether the toolset is, or will be, enabled.
    pub fn is_enabled(&self) -> bool {
        self.toolset.as_ref().is_none_or(|it| it.enabled)
    }

    /// Whether the toolset of this manifest may be installed here.
    pub fn must_be_replaceable(
        &self,
        around: &Surroundings,
        manifest: &Manifest,
        options: &ImportOptions,
    ) -> Result<()> {
        let id = &manifest.id;
        if let Some(present) = &self.toolset {
            return options.may_replace(present, &manifest.version);
        }
        if around.servers.has_server(id) {
            return Err(Error::AlreadyExists(format!(
                "An MCP server has the id {id}, and toolsets share their ids with MCP servers: give the toolset another id"
            )));
        }
        if around.has_foreign_tools {
            return Err(Error::AlreadyExists(format!(
                "Tools of a former MCP server {id} are recorded under this id: give the toolset another id"
            )));
        }
        if around.toolsets >= MAX_TOOLSETS {
            return Err(Error::Conflict(format!(
                "This workspace has {MAX_TOOLSETS} toolsets, and no more are allowed"
            )));
        }
        Ok(())
    }
}
