//! Imports a bundle: everything is checked before anything is written, and one batch writes all rows. The contents of the
//! files are stored before, where nothing refers to them yet, so an import that breaks off changes nothing.

use super::changes::ImportChanges;
use super::check::{UnstoredBundle, check};
use super::definition::Importer;
use super::get;
use super::manifest::Manifest;
use super::options::ImportOptions;
use super::package::Package;
use super::plan::{ImportPlan, WantedToolset};
use super::present::{self, PresentToolset};
use super::toolset::ToolsetDetails;
use crate::callers::Scope;
use crate::error::{BundleNote, Error, Result};
use crate::federation::{BundledFiles, DeclaredServers, ServerIn, ServerNote};
use crate::files::{AheadContents, Blob};
use crate::registry::PlacementOutcome;
use crate::runners::BundleFiles;
use serde::Serialize;
use std::collections::HashSet;
use utoipa::ToSchema;

/// How often an import is decided again that another request has overtaken.
const ATTEMPTS: u32 = 3;

/// A toolset that was imported, or that would be.
#[derive(Serialize, ToSchema)]
pub struct Imported {
    #[serde(flatten)]
    pub toolset: ToolsetDetails,
    /// What the import adds, changes and removes.
    pub changes: ImportChanges,
}

/// What became of an import.
pub enum ImportOutcome {
    Installed(Imported),
    Replaced(Imported),
    /// Nothing was written.
    Preview(Imported),
}

/// Imports a bundle, or tells what its import would do.
pub async fn import(scope: &Scope, zip: &[u8], options: &ImportOptions) -> Result<ImportOutcome> {
    options.check()?;
    let package = Package::open(zip).map_err(Error::Bundle)?;
    let (file, text) = package.manifest();
    let (manifest, mut faults) = Manifest::read(file, text);
    let Some(manifest) = manifest else { return Err(Error::Bundle(faults)) };
    let bundle = UnstoredBundle::new(&package);
    let declared = declared_servers(scope, &bundle, &manifest, &mut faults)?;
    let (mut present, mut around) = present::read_for_import(scope, &manifest.id, &declared).await?;
    // What cannot be installed at all need not be loaded.
    present.must_be_replaceable(&around, &manifest, options)?;
    let by = Importer { operator: scope.operator(), now: scope.app().now() };
    let checked = check(scope, &bundle, &manifest, by).await?;
    faults.extend(checked.faults);
    let warnings = manifest.warnings().iter().cloned().chain(checked.warnings).collect::<Vec<_>>();
    let warnings = BundleNote::shown(&warnings);
    let wanted = WantedToolset::new(&bundle, &manifest, checked.tools, warnings, options)?;
    let mut declared = Some(declared);
    for _ in 0..ATTEMPTS {
        let servers = match declared.take() {
            Some(declared) => declared,
            None => declared_servers(scope, &bundle, &manifest, &mut faults)?,
        };
        let (servers, clashes) = servers.plan(scope, around.servers, present.is_enabled())?;
        faults.extend(clashes.into_iter().map(|it| server_note(&manifest, it)));
        if !faults.is_empty() {
            return Err(Error::Bundle(faults));
        }
        let plan = ImportPlan::new(scope, &present, &wanted, &servers)?;
        if options.dry_run {
            return Ok(ImportOutcome::Preview(Imported { toolset: plan.details(), changes: plan.changes }));
        }
        store_contents(scope, &package, &present).await?;
        let ImportPlan { placement, changes, .. } = plan;
        match placement.write(scope).await? {
            PlacementOutcome::Done => {
                let unreached = servers.finish(scope).await.into_iter().map(|it| server_note(&manifest, it));
                let mut toolset = get(scope, &manifest.id).await?;
                toolset.warnings.extend(unreached);
                let imported = Imported { toolset, changes };
                return Ok(match present.toolset {
                    Some(_) => ImportOutcome::Replaced(imported),
                    None => ImportOutcome::Installed(imported),
                });
            }
            PlacementOutcome::Overtaken | PlacementOutcome::Banned => {}
        }
        let again = declared_servers(scope, &bundle, &manifest, &mut faults)?;
        (present, around) = present::read_for_import(scope, &manifest.id, &again).await?;
        present.must_be_replaceable(&around, &manifest, options)?;
        declared = Some(again);
    }
    Err(Error::Conflict("Other requests have changed the toolset or its tools meanwhile; try again".to_owned()))
}

/// The MCP servers that the manifest declares, checked as their registration would be.
fn declared_servers(
    scope: &Scope,
    bundle: &UnstoredBundle<'_, '_>,
    manifest: &Manifest,
    faults: &mut Vec<BundleNote>,
) -> Result<DeclaredServers> {
    let files = BundledFiles::new(bundle.list().iter().map(|it| (it.path.as_str(), it.sha256.as_str(), it.size)));
    let given = manifest.mcp_servers.iter().map(ServerIn::from).collect();
    let (declared, found) = DeclaredServers::check(scope, &manifest.id, files.as_ref(), given)?;
    faults.extend(found.into_iter().map(|it| server_note(manifest, it)));
    Ok(declared)
}

/// A note about a server, with its place in the manifest.
pub fn server_note(manifest: &Manifest, note: ServerNote) -> BundleNote {
    let ServerNote { server, path, message, .. } = note;
    manifest.note(&format!("{}{path}", manifest.server_pointer(&server)), message)
}

/// Stores the contents that the toolset does not have yet, one file in memory at a time.
async fn store_contents(scope: &Scope, package: &Package<'_>, present: &PresentToolset) -> Result<()> {
    let mut stored = present.files.iter().map(|it| it.sha256.as_str()).collect::<HashSet<_>>();
    let new = package.files().iter().filter(|it| stored.insert(&it.sha256)).collect::<Vec<_>>();
    let expected = new.iter().map(|it| (it.sha256.clone(), it.size)).collect();
    let mut contents = AheadContents::new(scope, "Cannot import the toolset").expecting(expected);
    for file in new {
        contents.add(Blob::new(package.read(&file.path)?)).await?;
    }
    contents.store().await
}
