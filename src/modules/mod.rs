//! Modules: other people's servers, whose tools become tools of a workspace. A module is discovered, its tools are rows of
//! the database like all others, and what the module offers later is held back until an admin accepts it.

mod decision;
mod description;
mod discovery;
mod due;
mod given;
mod held_back;
mod hidden_characters;
mod include;
mod limits;
mod manifest;
mod module;
mod offer;
mod openapi;
mod parameters;
mod replacement;
mod restored;
mod store;

pub use discovery::Refreshed;
pub use due::{find_due, note_due, note_use, refresh_due, refresh_in_background};
pub use given::{ModuleChange, ModuleIn};
pub use held_back::{Accepted, HeldBackOut, accept, list as list_held_back};
pub use module::{ModuleDetails, ModuleOut, ModuleRecord, ModuleStatus};
pub use offer::ModuleWarning;
pub use replacement::{ModuleReplacement, ModuleRows, module_put, module_removed};
pub use store::replacing::{after as modules_after, bytes_of_all, find_all, read_records};

use crate::cache;
use crate::callers::Scope;
use crate::changes::{Action, Change};
use crate::db::DbFailure;
use crate::error::{Error, Place, Problem, Result, shortened};
use crate::ids::ModuleName;
use crate::page::{Page, PageRequest};
use crate::read_only::{ReadOnly, shown};
use crate::registry::{self, DeactivationReason, Placement, PlacementOutcome};
use crate::time::Timestamp;
use discovery::{LeasedModule, Sight, discover};
use module::{Findings, Module, ModuleSettings};
use std::time::Duration;
use store::Lease;
use worker::Delay;

/// The most modules of one workspace.
pub const MAX_MODULES: u32 = 200;

/// How often, and how many times, a refresh looks whether another discovery of a module has ended.
const POLL: Duration = Duration::from_millis(250);
const POLLS: u32 = 60;

/// A page of the workspace's modules, sorted by name.
pub async fn list(scope: &Scope, request: &PageRequest) -> Result<Page<ModuleOut>> {
    let [rows] = scope.read([store::list(scope.workspace(), request)]).await?;
    scope.caller().await?.must_be_unbound()?;
    let page = request.page(store::read_modules(&rows)?, |it: &Module| it.name.to_string());
    let (items, next_cursor) = page.map(ModuleOut::from);
    Ok(Page { items, next_cursor })
}

pub async fn get(scope: &Scope, name: &ModuleName) -> Result<ModuleDetails> {
    let workspace = scope.workspace();
    let [module, tools] = scope.read([store::find(workspace, name), store::find_tool_ids(workspace, name)]).await?;
    scope.caller().await?.must_be_unbound()?;
    let module = found(name, store::read_module(&module)?)?;
    let warnings = module.findings.warnings.clone();
    Ok(ModuleDetails { module: module.into(), tool_ids: registry::read_tool_ids(&tools)?, warnings })
}

/// Registers a module and discovers it at once. The module is registered whatever comes of the discovery.
pub async fn create(scope: &Scope, given: ModuleIn, read_only: &ReadOnly) -> Result<ModuleDetails> {
    let workspace = scope.workspace();
    let [count] = scope.read([store::count(workspace)]).await?;
    scope.caller().await?.must_be_unbound()?;
    let (name, settings) = given.check(scope)?;
    check_credentials(scope, &settings).await?;
    if !read_only.is_empty() {
        let present = match get(scope, &name).await {
            Ok(present) => vec![shown(&present)?],
            Err(_) => Vec::new(),
        };
        read_only.check(&present)?;
    }
    if store::read_count(&count)? >= MAX_MODULES {
        return Err(Error::Conflict(format!("This workspace has {MAX_MODULES} modules, and no more are allowed")));
    }
    let now = scope.app().now();
    let module = new_module(name, settings, now);
    let lease = Lease::new(now)?;
    let change = Change::new(Action::Create, subject(&module.name)).to(&ModuleRecord::masked(&module))?;
    let insert = store::insert(workspace, &module, &lease);
    match scope.write([insert, change.record(&scope.author().await?)]).await? {
        Ok(_) => {}
        Err(DbFailure::Duplicate) => {
            return Err(Error::AlreadyExists(format!("The module {} exists", module.name)));
        }
        Err(failure) => return Err(failure.into()),
    }
    let name = module.name.clone();
    if module.settings.enabled {
        discover(vec![LeasedModule { scope, module }], &lease, Sight::Fresh).await?;
    }
    get(scope, &name).await
}

/// Changes the settings of a module. The module is discovered again, unless it is not enabled.
pub async fn update(
    scope: &Scope,
    name: &ModuleName,
    change: ModuleChange,
    read_only: &ReadOnly,
) -> Result<ModuleDetails> {
    let workspace = scope.workspace();
    let [found_rows] = scope.read([store::find(workspace, name)]).await?;
    scope.caller().await?.must_be_unbound()?;
    let before = found(name, store::read_module(&found_rows)?)?;
    if !read_only.is_empty() {
        read_only.check(&[shown(&get(scope, name).await?)?])?;
    }
    let settings = change.apply(scope, &before.settings)?;
    if settings == before.settings {
        return get(scope, name).await;
    }
    check_credentials(scope, &settings).await?;
    let after = Module { settings, ..before.clone() };
    let lease = Lease::new(scope.app().now())?;
    let change = Change::new(Action::Update, subject(name))
        .from(&ModuleRecord::masked(&before))?
        .to(&ModuleRecord::masked(&after))?
        .only_if(store::is_at(workspace, &before));
    let [_, updated] =
        scope.write([change.record(&scope.author().await?), store::update(workspace, &after, &lease)]).await??;
    if updated.changes() == 0 {
        return Err(Error::Conflict(format!("{name} was changed by another request meanwhile; read it and try again")));
    }
    if after.settings.enabled {
        let sight = sight_after(&before, &after.settings);
        let findings = Findings { fingerprint: None, ..after.findings };
        let module = Module { findings, revision: after.revision + 1, ..after };
        discover(vec![LeasedModule { scope, module }], &lease, sight).await?;
    }
    get(scope, name).await
}

/// A module whose address stays the same need not be asked again: the cache has its description. After a restore, the
/// description in the cache may be that of another address.
fn sight_after(before: &Module, after: &ModuleSettings) -> Sight {
    let address = |it: &ModuleSettings| (it.kind, it.url.clone(), it.headers.clone(), it.enabled);
    let was_asked = before.findings.expires_at.is_some();
    if was_asked && address(&before.settings) == address(after) { Sight::Cached } else { Sight::Fresh }
}

/// Deletes a module and deactivates its tools. Their versions and records stay.
pub async fn delete(scope: &Scope, name: &ModuleName) -> Result<()> {
    let workspace = scope.workspace();
    scope.unbound_caller().await?;
    // From the lease on, no discovery and no acceptance adds a tool that this request does not see.
    let lease = Lease::new(scope.app().now())?;
    let [_, module, present] = scope
        .write([
            store::seize(workspace, name, &lease),
            store::find(workspace, name),
            registry::find_tools_of_modules(workspace, &[name.as_str()]),
        ])
        .await??;
    let module = found(name, store::read_module(&module)?)?;
    let mut placement = Placement::default();
    placement.record(Change::new(Action::Delete, subject(name)).from(&ModuleRecord::masked(&module))?);
    let reason = DeactivationReason::OperatorRequest;
    let present = registry::read_readings(&present)?;
    let active = present.iter().filter(|it| it.tool.active).collect::<Vec<_>>();
    for it in &active {
        let after = it.tool.switched_off(reason, scope.app().now());
        placement.deactivate(&it.tool, it.revision, &after, reason)?;
    }
    let ids = active.iter().map(|it| it.tool.id.as_str()).collect::<Vec<_>>();
    placement.only_if(store::has_no_active_tool_but(workspace, name, &ids));
    placement.also(store::delete(workspace, &module));
    match placement.write(scope).await? {
        PlacementOutcome::Done => {
            cache::delete(scope.app(), &description::key(workspace, name)).await;
            Ok(())
        }
        PlacementOutcome::Overtaken | PlacementOutcome::Banned => {
            Err(Error::Conflict(format!("A tool of {name} was changed by another request meanwhile; try again")))
        }
    }
}

/// Discovers all modules of the workspace, or those with these names, at once. A module that another request discovers at
/// this moment is not asked twice: this request waits for the other one.
pub async fn refresh(scope: &Scope, names: Option<&[String]>) -> Result<Vec<Refreshed>> {
    let workspace = scope.workspace();
    let names = names.map(parse_names).transpose()?;
    let names = names.as_deref();
    scope.unbound_caller().await?;
    let lease = Lease::new(scope.app().now())?;
    let [_, leased, all] = scope
        .write([
            store::lease(workspace, names, &lease),
            store::find_leased(workspace, &lease),
            store::find_all(workspace, names),
        ])
        .await??;
    let (leased, all) = (store::read_modules(&leased)?, store::read_modules(&all)?);
    refuse_unknown(names, &all)?;
    let others = all.into_iter().filter(|it| !leased.iter().any(|leased| leased.name == it.name)).collect::<Vec<_>>();
    let leased = leased.into_iter().map(|module| LeasedModule { scope, module }).collect();
    let mut refreshed = discover(leased, &lease, Sight::Fresh).await?;
    refreshed.extend(await_others(scope, others).await?);
    refreshed.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(refreshed)
}

/// The modules that this request may not ask: those that are disabled, and those that another request discovers now.
async fn await_others(scope: &Scope, modules: Vec<Module>) -> Result<Vec<Refreshed>> {
    let (busy, disabled): (Vec<_>, Vec<_>) = modules.into_iter().partition(|it| it.settings.enabled);
    let mut refreshed = disabled.iter().map(Refreshed::untouched).collect::<Vec<_>>();
    for it in &mut refreshed {
        it.error = Some("The module is disabled".to_owned());
    }
    let names = busy.iter().map(|it| it.name.clone()).collect::<Vec<_>>();
    if names.is_empty() {
        return Ok(refreshed);
    }
    for _ in 0..POLLS {
        Delay::from(POLL).await;
        let [now] = scope.read([store::find_all(scope.workspace(), Some(&names))]).await?;
        let now = store::read_modules(&now)?;
        if now.iter().all(|it| it.leased_until.is_none_or(|until| until <= scope.app().clock())) {
            refreshed.extend(now.iter().map(Refreshed::untouched));
            return Ok(refreshed);
        }
    }
    Err(Error::Unavailable("Another request is discovering the module; try again"))
}

fn parse_names(names: &[String]) -> Result<Vec<ModuleName>> {
    let unknown = |index: usize, name: &str| Problem {
        place: Place::Body,
        path: format!("/modules/{index}"),
        message: format!("Module not found: {}", shortened(name)),
    };
    let parsed = names.iter().enumerate().map(|(index, it)| ModuleName::parse(it).ok_or_else(|| unknown(index, it)));
    parsed.collect::<std::result::Result<Vec<_>, _>>().map_err(|it| Error::Invalid(vec![it]))
}

fn refuse_unknown(names: Option<&[ModuleName]>, found: &[Module]) -> Result<()> {
    let unknown =
        names.into_iter().flatten().enumerate().filter(|(_, it)| !found.iter().any(|found| found.name == **it));
    let problems = unknown.map(|(index, it)| Problem {
        place: Place::Body,
        path: format!("/modules/{index}"),
        message: format!("Module not found: {it}"),
    });
    let problems = problems.collect::<Vec<_>>();
    if problems.is_empty() { Ok(()) } else { Err(Error::Invalid(problems)) }
}

/// Fails if the headers name a credential that the workspace does not define.
async fn check_credentials(scope: &Scope, settings: &ModuleSettings) -> Result<()> {
    let named = given::credentials_of(&settings.headers);
    if named.is_empty() {
        return Ok(());
    }
    let undefined = registry::credential::undefined(scope, &named).await?;
    let problems = undefined.iter().map(|id| Problem {
        place: Place::Body,
        path: "/headers".to_owned(),
        message: format!("{id} is not a credential of this workspace: POST /api/credentials defines one"),
    });
    let problems = problems.collect::<Vec<_>>();
    if problems.is_empty() { Ok(()) } else { Err(Error::Invalid(problems)) }
}

fn new_module(name: ModuleName, settings: ModuleSettings, now: Timestamp) -> Module {
    let findings = Findings {
        status: ModuleStatus::Unseen,
        discovered_at: None,
        expires_at: None,
        last_error: None,
        warnings: Vec::new(),
        fingerprint: None,
    };
    Module { name, settings, created_at: now, revision: 1, findings, tools: 0, held_back: 0, leased_until: None }
}

fn found(name: &ModuleName, module: Option<Module>) -> Result<Module> {
    module.ok_or_else(|| Error::not_found("Module", name))
}

fn subject(name: impl std::fmt::Display) -> String {
    format!("module:{name}")
}
