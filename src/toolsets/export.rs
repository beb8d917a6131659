//! Exports a toolset as a bundle that is made anew from the database. The same state always gives the same bytes.

use super::manifest::{DeclaredOverride, DeclaredServer, DeclaredTool, Manifest, ManifestVersion, Places};
use super::overrides::OverrideOut;
use super::present::{self, PresentToolset};
use super::toolset::ToolsetFile;
use super::version::ToolsetVersion;
use crate::archive::{ArchiveFault, ArchiveWriter};
use crate::callers::Scope;
use crate::error::{Error, Result};
use crate::federation::{PresentServers, ServerIn};
use crate::files::{BlobContent, WantedContents};
use crate::ids::{ToolId, ToolsetId};
use std::collections::BTreeMap;

/// The name of the manifest in a bundle.
const MANIFEST_FILE: &str = "toolset.yaml";

/// A bundle, and the name under which it is saved.
pub struct ExportedBundle {
    pub name: String,
    pub zip: Vec<u8>,
}

pub async fn export(scope: &Scope, id: &ToolsetId) -> Result<ExportedBundle> {
    let (present, [servers, _]) = present::read_with(scope, id, PresentServers::find(scope.workspace(), id)).await?;
    let toolset = present.require(id)?;
    let name = format!("{id}-{}.zip", toolset.version);
    let manifest = manifest(id, &present, PresentServers::exported(&servers)?)?;
    let mut writer = ArchiveWriter::new();
    writer.add(MANIFEST_FILE, manifest.write().as_bytes()).map_err(broken)?;
    add_files(scope, &present.files, &mut writer).await?;
    Ok(ExportedBundle { name, zip: writer.finish() })
}

fn broken(fault: ArchiveFault) -> Error {
    Error::Internal(format!("a bundle cannot be written: {}", fault.message))
}

/// The manifest that says what the database holds.
fn manifest(id: &ToolsetId, present: &PresentToolset, servers: Vec<ServerIn>) -> Result<Manifest> {
    let toolset = present.require(id)?;
    let version = ToolsetVersion::parse(&toolset.version);
    let tool = |stored: &super::toolset::StoredDeclaration| {
        serde_json::from_value::<DeclaredTool>(stored.declaration.clone())
            .map_err(|cause| Error::Internal(format!("the declaration of {} is broken: {cause}", stored.tool)))
    };
    Ok(Manifest {
        manifest_version: ManifestVersion::One,
        id: id.clone(),
        name: toolset.name.clone(),
        version: version.ok_or_else(|| Error::Internal(format!("{} is a broken version", toolset.version)))?,
        description: toolset.description.clone(),
        tools: present.declarations.iter().map(tool).collect::<Result<Vec<_>>>()?,
        tool_overrides: present.overrides.iter().map(declared_override).collect::<Result<Vec<_>>>()?,
        mcp_servers: servers.into_iter().map(DeclaredServer::from).collect(),
        places: Places::default(),
    })
}

fn declared_override(stored: &OverrideOut) -> Result<DeclaredOverride> {
    let tool_id = ToolId::parse(&stored.tool_id);
    Ok(DeclaredOverride {
        tool_id: tool_id.ok_or_else(|| Error::Internal(format!("{} is a broken id", stored.tool_id)))?,
        renderer: stored.renderer,
        renderer_config: stored.renderer_config.clone(),
        name_override: stored.name_override.clone(),
        description_override: stored.description_override.clone(),
        requires_approval: stored.requires_approval,
        enabled: stored.enabled,
    })
}

/// Adds the files. Files with the same contents follow one another, so that the contents are read once.
async fn add_files(scope: &Scope, files: &[ToolsetFile], writer: &mut ArchiveWriter) -> Result<()> {
    let mut order: Vec<String> = Vec::new();
    let mut paths: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for file in files {
        let of_contents = paths.entry(&file.sha256).or_default();
        if of_contents.is_empty() {
            order.push(file.sha256.clone());
        }
        of_contents.push(&file.path);
    }
    let mut wanted = WantedContents::new(order);
    let mut text = String::new();
    while let Some(stored) = wanted.next(scope).await? {
        for piece in stored.all()? {
            text.push_str(&super::store::stored_json::<String>(piece.data.get())?);
            if piece.number + 1 < piece.count {
                continue;
            }
            let bytes = BlobContent::stored(piece.encoding, std::mem::take(&mut text)).into_bytes()?;
            for path in paths.get(piece.sha256).into_iter().flatten() {
                writer.add(path, &bytes).map_err(broken)?;
            }
        }
    }
    match wanted.left() {
        0 => Ok(()),
        _ => Err(Error::Conflict("The toolset was changed by another request meanwhile; try again".to_owned())),
    }
}
