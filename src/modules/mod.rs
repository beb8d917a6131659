//! Modules: HTTP servers that describe their tools by a manifest, and REST APIs that describe themselves by an OpenAPI
//! document. Their tools become tools of a workspace, as those of every upstream do.

mod description;
mod given;
mod include;
mod kind;
mod manifest;
mod module;
mod openapi;
mod parameters;
mod restored;

pub use given::{ModuleChange, ModuleIn};
pub use module::{ModuleDetails, ModuleOut, ModuleRecord, ModuleSettings};

use crate::callers::Scope;
use crate::error::Result;
use crate::ids::{ModuleName, UpstreamId};
use crate::page::{Page, PageRequest};
use crate::read_only::{ReadOnly, shown};
use crate::upstreams::{self, AcceptIn, Accepted, HeldBackOut, Refreshed};
use module::Module;

/// The most modules of one workspace.
pub const MAX_MODULES: u32 = 200;

/// A page of the workspace's modules, sorted by name.
pub async fn list(scope: &Scope, request: &PageRequest) -> Result<Page<ModuleOut>> {
    let (items, next_cursor) = upstreams::list::<ModuleSettings>(scope, request).await?.map(ModuleOut::from);
    Ok(Page { items, next_cursor })
}

pub async fn get(scope: &Scope, name: &ModuleName) -> Result<ModuleDetails> {
    upstreams::get(scope, &name.into()).await.map(details)
}

fn details((module, tool_ids): (Module, Vec<String>)) -> ModuleDetails {
    let warnings = module.findings.warnings.clone();
    ModuleDetails { module: module.into(), tool_ids, warnings }
}

/// Registers a module and discovers it at once. The module is registered whatever comes of the discovery.
pub async fn create(scope: &Scope, given: ModuleIn, read_only: &ReadOnly) -> Result<ModuleDetails> {
    upstreams::must_have_room::<ModuleSettings>(scope).await?;
    let (name, settings) = given.check(scope)?;
    if !read_only.is_empty() {
        let present = match get(scope, &name).await {
            Ok(present) => vec![shown(&present)?],
            Err(_) => Vec::new(),
        };
        read_only.check(&present)?;
    }
    upstreams::create(scope, UpstreamId::from(&name), settings).await?;
    get(scope, &name).await
}

/// Changes the settings of a module. The module is discovered again, unless it is not enabled.
pub async fn update(
    scope: &Scope,
    name: &ModuleName,
    change: ModuleChange,
    read_only: &ReadOnly,
) -> Result<ModuleDetails> {
    let (before, tool_ids) = upstreams::get::<ModuleSettings>(scope, &name.into()).await?;
    if !read_only.is_empty() {
        read_only.check(&[shown(&details((before.clone(), tool_ids)))?])?;
    }
    let settings = change.apply(scope, &before.settings)?;
    upstreams::update(scope, before, settings).await?;
    get(scope, name).await
}

/// Deletes a module and deactivates its tools. Their versions and records stay.
pub async fn delete(scope: &Scope, name: &ModuleName) -> Result<()> {
    upstreams::delete::<ModuleSettings>(scope, &name.into()).await
}

/// Discovers all modules of the workspace, or those with these names, at once.
pub async fn refresh(scope: &Scope, names: Option<&[String]>) -> Result<Vec<Refreshed>> {
    upstreams::refresh::<ModuleSettings>(scope, names, "/modules").await
}

/// A page of what is held back of the module, sorted by tool.
pub async fn list_held_back(scope: &Scope, name: &ModuleName, request: &PageRequest) -> Result<Page<HeldBackOut>> {
    upstreams::list_held_back::<ModuleSettings>(scope, &name.into(), request).await
}

/// Accepts what is held back of the module: everything, or the given tools.
pub async fn accept(scope: &Scope, name: &ModuleName, given: &AcceptIn) -> Result<Vec<Accepted>> {
    upstreams::accept::<ModuleSettings>(scope, &name.into(), given).await
}
