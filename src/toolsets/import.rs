//! Imports a bundle: everything is checked before anything is written, and one batch writes all rows. The contents of the
//! files are stored before, where nothing refers to them yet, so an import that breaks off changes nothing.

use super::changes::ImportChanges;
use super::check::check;
use super::definition::Importer;
use super::get;
use super::manifest::Manifest;
use super::options::ImportOptions;
use super::package::Package;
use super::plan::{ImportPlan, WantedToolset};
use super::present::{self, PresentToolset};
use super::toolset::ToolsetDetails;
use crate::callers::Scope;
use crate::error::{Error, Result};
use crate::federation::bundled;
use crate::files::{AheadContents, Blob};
use crate::registry::PlacementOutcome;
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
    let read = Manifest::read(file, text);
    let Some(manifest) = read.manifest else { return Err(Error::Bundle(read.faults)) };
    // What cannot be installed at all need not be loaded.
    let mut present = present::read(scope, &manifest.id).await?;
    present.must_be_replaceable(&manifest, options)?;
    let by = Importer { operator: scope.operator(), now: scope.app().now() };
    let checked = check(scope, &package, &manifest, by).await?;
    let servers = bundled::check(scope, &manifest, &present.servers)?;
    let faults = read.faults.into_iter().chain(checked.faults).chain(servers.faults).collect::<Vec<_>>();
    if !faults.is_empty() {
        return Err(Error::Bundle(faults));
    }
    let warnings = read.warnings.into_iter().chain(checked.warnings).chain(servers.warnings).collect();
    let wanted = WantedToolset::new(&package, &manifest, checked.tools, servers.servers, warnings, options);
    for attempt in 0..ATTEMPTS {
        if attempt > 0 {
            present = present::read(scope, &manifest.id).await?;
            present.must_be_replaceable(&manifest, options)?;
        }
        let plan = ImportPlan::new(scope, &present, &wanted)?;
        if options.dry_run {
            return Ok(ImportOutcome::Preview(Imported { toolset: plan.details(), changes: plan.changes }));
        }
        store_contents(scope, &package, &present).await?;
        let ImportPlan { placement, changes, asked, .. } = plan;
        match placement.write(scope).await? {
            PlacementOutcome::Done => {
                bundled::discover(scope, asked).await?;
                let imported = Imported { toolset: get(scope, &manifest.id).await?, changes };
                return Ok(match present.toolset {
                    Some(_) => ImportOutcome::Replaced(imported),
                    None => ImportOutcome::Installed(imported),
                });
            }
            PlacementOutcome::Overtaken | PlacementOutcome::Banned => {}
        }
    }
    Err(Error::Conflict("Other requests have changed the toolset or its tools meanwhile; try again".to_owned()))
}

/// Stores the contents that the toolset does not have yet, one file in memory at a time.
async fn store_contents(scope: &Scope, package: &Package<'_>, present: &PresentToolset) -> Result<()> {
    let mut stored = present.files.iter().map(|it| it.sha256.as_str()).collect::<HashSet<_>>();
    let mut contents = AheadContents::new(scope, "Cannot import the toolset");
    for file in package.files() {
        if stored.insert(&file.sha256) {
            contents.add(Blob::new(package.read(&file.path)?)).await?;
        }
    }
    contents.store().await
}
