//! Decides what an import writes: the toolset's own rows, its tools, overrides and MCP servers, as one placement.

use super::changes::{ImportChanges, NamedChanges};
use super::check::UnstoredBundle;
use super::import::server_note;
use super::manifest::{DeclaredServer, DeclaredTool, Manifest};
use super::options::ImportOptions;
use super::override_plan::{self, OverrideGrounds};
use super::overrides::{OverrideOut, put_overrides};
use super::present::PresentToolset;
use super::tool_plan;
use super::toolset::{
    StoredDeclaration, Toolset, ToolsetDetails, ToolsetFile, ToolsetServer, ToolsetState, ToolsetTool,
};
use super::{store, subject};
use crate::callers::Scope;
use crate::changes::{Action, Change};
use crate::error::{BundleNote, Error, Result};
use crate::federation::ServerPlan;
use crate::ids::{SERVER_SEPARATOR, random_hex};
use crate::registry::{Handler, Placement, Tool};
use std::collections::BTreeMap;

/// A toolset as its bundle says, checked.
pub struct WantedToolset<'a> {
    manifest: &'a Manifest,
    files: Vec<ToolsetFile>,
    declarations: Vec<StoredDeclaration>,
    tools: Vec<Tool>,
    warnings: Vec<BundleNote>,
    source_ref: Option<String>,
}

impl<'a> WantedToolset<'a> {
    pub fn new(
        bundle: &UnstoredBundle<'_, '_>,
        manifest: &'a Manifest,
        tools: Vec<Tool>,
        warnings: Vec<BundleNote>,
        options: &ImportOptions,
    ) -> Result<Self> {
        let stored = |tool: &DeclaredTool| {
            let declaration = serde_json::to_value(tool)
                .map_err(|cause| Error::Internal(format!("a declaration is not JSON: {cause}")))?;
            Ok(StoredDeclaration { tool: tool.id.clone(), declaration })
        };
        let declarations = manifest.tools.iter().map(stored).collect::<Result<Vec<_>>>()?;
        let (files, source_ref) = (bundle.package.files().to_vec(), options.source_ref.clone());
        Ok(Self { manifest, files, declarations, tools, warnings, source_ref })
    }
}

impl OverrideGrounds for WantedToolset<'_> {
    /// Whether the bundle has this tool, or the MCP server that may have it.
    fn has_tool(&self, id: &str) -> bool {
        let is_of = |server: &DeclaredServer| id.split_once(SERVER_SEPARATOR).is_some_and(|(it, _)| it == server.id);
        self.tools.iter().any(|it| it.id.as_str() == id) || self.manifest.mcp_servers.iter().any(is_of)
    }

    fn has_file(&self, path: &str) -> bool {
        self.files.iter().any(|it| it.path == path)
    }
}

/// Everything that an import writes, and what it tells.
pub struct ImportPlan {
    pub placement: Placement,
    pub changes: ImportChanges,
    toolset: Toolset,
    files: Vec<ToolsetFile>,
    tools: Vec<ToolsetTool>,
    overrides: Vec<OverrideOut>,
    servers: Vec<String>,
}

impl ImportPlan {
    pub fn new(
        scope: &Scope,
        present: &PresentToolset,
        wanted: &WantedToolset<'_>,
        servers: &ServerPlan,
    ) -> Result<Self> {
        let (workspace, now) = (scope.workspace(), scope.app().now());
        let (manifest, id) = (wanted.manifest, &wanted.manifest.id);
        let token = random_hex::<16>()?;
        let mut placement = Placement::default();
        let tool_plan =
            tool_plan::decide(&mut placement, &present.tools, &wanted.tools, present.toolset.is_some(), now)?;
        let override_plan =
            override_plan::decide(&mut placement, id, &present.overrides, &manifest.tool_overrides, wanted)?;
        let mut warnings = wanted.warnings.clone();
        warnings.extend(
            tool_plan
                .kept_off
                .iter()
                .map(|it| BundleNote::about_bundle(format!("{it} was switched off by an admin, and stays off"))),
        );
        warnings.extend(override_plan.warnings.into_iter().map(BundleNote::about_bundle));
        warnings.extend(servers.warnings.iter().map(|it| server_note(manifest, it.clone())));
        let toolset = Toolset {
            id: id.to_string(),
            name: manifest.name.clone(),
            version: manifest.version.to_string(),
            description: manifest.description.clone(),
            enabled: present.is_enabled(),
            installed_at: present.toolset.as_ref().map_or(now, |it| it.installed_at),
            source_ref: wanted.source_ref.clone(),
            manifest_version: manifest.manifest_version.to_string(),
            warnings,
            revision: 0,
        };
        let files = NamedChanges::between(&by_path(&present.files), &by_path(&wanted.files));
        let after = ToolsetState::new(&toolset, &wanted.files, &wanted.declarations);
        let action = if present.toolset.is_some() { Action::Update } else { Action::Create };
        placement.record(Change::new(action, subject(id)).before_if_any(present.state().as_ref())?.to(&after)?);
        match &present.toolset {
            Some(before) => {
                placement.only_if(store::is_at(workspace, before));
                placement.also(store::update(workspace, &toolset, &token, Some(now).filter(|_| !files.is_empty())));
            }
            None => {
                placement.only_if(store::is_free(workspace, id.as_str(), &token));
                placement.also(store::insert(workspace, &toolset, &token));
            }
        }
        let statements = store::put_files(workspace, id.as_str(), &wanted.files)
            .into_iter()
            .chain(store::put_declarations(workspace, id.as_str(), &wanted.declarations)?)
            .chain(put_overrides(workspace, id, &override_plan.overrides)?);
        statements.for_each(|it| placement.also(it));
        servers.place(scope, &mut placement)?;
        placement.last(store::end(workspace, id.as_str(), &token));
        let changes = ImportChanges {
            tools: tool_plan.changes,
            files,
            overrides: override_plan.changes,
            mcp_servers: NamedChanges {
                added: servers.added.clone(),
                changed: servers.changed.clone(),
                removed: servers.removed.clone(),
            },
        };
        let tools = tool_plan.tools.iter().map(shown).collect::<Result<Vec<_>>>()?;
        Ok(Self {
            placement,
            changes,
            toolset,
            files: wanted.files.clone(),
            tools,
            overrides: override_plan.overrides,
            servers: manifest.mcp_servers.iter().map(|it| it.id.clone()).collect(),
        })
    }

    /// The toolset as it would be.
    pub fn details(&self) -> ToolsetDetails {
        ToolsetDetails {
            toolset: (&self.toolset).into(),
            files: self.files.clone(),
            tools: self.tools.clone(),
            overrides: self.overrides.clone(),
            mcp_servers: self.servers.iter().map(|it| ToolsetServer::unseen(it)).collect(),
            warnings: self.toolset.warnings.clone(),
        }
    }
}

fn by_path(files: &[ToolsetFile]) -> BTreeMap<&str, &ToolsetFile> {
    files.iter().map(|it| (it.path.as_str(), it)).collect()
}

fn shown(tool: &Tool) -> Result<ToolsetTool> {
    let entrypoint = match Handler::of(tool)? {
        Handler::Toolset { entrypoint } => entrypoint,
        other => return Err(Error::Internal(format!("{} has a handler of the type {}", tool.id, other.key()))),
    };
    Ok(ToolsetTool { id: tool.id.to_string(), entrypoint, version: tool.version.to_string(), active: tool.active })
}
