//! Exports a toolset as a bundle that is made anew from the database. The same state always gives the same bytes.

use super::manifest::{DeclaredOverride, DeclaredTool, MANIFEST_FILE, Manifest};
use super::present::{self, PresentToolset};
use super::toolset::ToolsetFile;
use super::version::ToolsetVersion;
use crate::archive::ArchiveWriter;
use crate::callers::Scope;
use crate::error::{Error, Result};
use crate::federation::bundled;
use crate::files::{BlobContent, WantedContents};
use crate::ids::ToolsetId;
use std::collections::BTreeMap;

/// A bundle, and the name under which it is saved.
pub struct ExportedBundle {
    pub name: String,
    pub zip: Vec<u8>,
}

pub async fn export(scope: &Scope, id: &ToolsetId) -> Result<ExportedBundle> {
    let present = present::read(scope, id).await?;
    let toolset = present.require(id)?;
    let name = format!("{id}-{}.zip", toolset.version);
    let manifest = manifest(id, &present)?;
    let mut writer = ArchiveWriter::new();
    writer.add(MANIFEST_FILE, manifest.write().as_bytes()).map_err(broken)?;
    add_files(scope, &present.files, &mut writer).await?;
    Ok(ExportedBundle { name, zip: writer.finish().map_err(broken)? })
}

fn broken(cause: impl std::fmt::Display) -> Error {
    Error::Internal(format!("a bundle cannot be written: {cause}"))
}

/// The manifest that says what the database holds.
fn manifest(id: &ToolsetId, present: &PresentToolset) -> Result<Manifest> {
    let toolset = present.require(id)?;
    let version = ToolsetVersion::parse(&toolset.version);
    let tool = |stored: &super::toolset::StoredDeclaration| {
        serde_json::from_value::<DeclaredTool>(stored.declaration.clone())
            .map_err(|cause| Error::Internal(format!("the declaration of {} is broken: {cause}", stored.tool)))
    };
    Ok(Manifest::new(
        id.clone(),
        toolset.name.clone(),
        version.ok_or_else(|| Error::Internal(format!("{} is a broken version", toolset.version)))?,
        toolset.description.clone(),
        present.declarations.iter().map(tool).collect::<Result<Vec<_>>>()?,
        present.overrides.iter().map(DeclaredOverride::from).collect(),
        bundled::declared(id, &present.servers),
    ))
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
            let chunk: String = serde_json::from_str(piece.data.get()).map_err(broken)?;
            text.push_str(&chunk);
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
