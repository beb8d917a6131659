//! Discovery: asks modules what they offer, and puts in place what was decided.
//!
//! One discovery may cover many modules. It leases them first, so that of several requests for the same module only one
//! does the work: every write of the discovery holds only while the lease is its own.

use super::decision::{Decided, PlacingRules, decide};
use super::description::{Description, DescriptionFailure};
use super::held_back::HeldBack;
use super::limits::{self, FRESH_SECONDS, LEASE_SECONDS, RETRY_SECONDS};
use super::module::{Findings, Module, ModuleStatus};
use super::offer::{Offers, Registrant};
use super::store::{self, Lease};
use crate::callers::Scope;
use crate::db::Statement;
use crate::error::{Result, shortened};
use crate::ids::random_hex;
use crate::registry::{self, Placement, PlacementOutcome, ToolReading};
use crate::time::Timestamp;
use futures_util::stream::{self, StreamExt};
use serde::Serialize;
use serde_json::json;
use std::collections::HashMap;
use utoipa::ToSchema;
use worker::{console_log, console_warn};

/// How many modules are asked at once. A Worker has six connections, and the database needs one.
const AT_ONCE: usize = 5;

/// How much one batch puts in place. Everything below these limits is one round trip.
const GROUP_TOOLS: usize = 1_000;
const GROUP_BYTES: usize = 4_000_000;

/// How often a decision is made again that another request has overtaken.
const ATTEMPTS: usize = 3;

/// What a refresh of one module did.
#[derive(Debug, Serialize, ToSchema)]
pub struct Refreshed {
    #[schema(example = "research")]
    pub name: String,
    pub status: ModuleStatus,
    /// How many tools were added, or became active again.
    pub added: u32,
    /// How many tools got a new version.
    pub changed: u32,
    /// How many tools are gone.
    pub removed: u32,
    /// How many definitions wait for an admin.
    pub held_back: u32,
    pub error: Option<String>,
}

impl Refreshed {
    /// A module that this refresh left as it is.
    pub fn untouched(module: &Module) -> Self {
        Self {
            name: module.name.to_string(),
            status: module.findings.status,
            added: 0,
            changed: 0,
            removed: 0,
            held_back: module.held_back,
            error: module.findings.last_error.clone(),
        }
    }
}

impl Lease {
    /// A lease that nobody else has, from now on.
    pub fn new(now: Timestamp) -> Result<Self> {
        Ok(Self { token: random_hex::<16>()?, now, until: now.plus_seconds(LEASE_SECONDS) })
    }
}

/// Where a discovery gets the description from.
#[derive(Clone, Copy, PartialEq)]
pub enum Sight {
    /// From the module.
    Fresh,
    /// From the cache, if it is there: only the settings have changed.
    Cached,
}

/// A module that was leased, in the workspace of its scope.
pub struct LeasedModule<'a> {
    pub scope: &'a Scope,
    pub module: Module,
}

/// What the module answered.
enum Sighting {
    Failed(DescriptionFailure),
    /// The description is the one that was put in place before.
    Unchanged(String),
    Offered(Offers, String),
}

struct SeenModule<'a> {
    scope: &'a Scope,
    module: Module,
    sighting: Sighting,
}

impl SeenModule<'_> {
    fn tools(&self) -> usize {
        match &self.sighting {
            Sighting::Offered(offers, _) => offers.tools.len(),
            Sighting::Failed(_) | Sighting::Unchanged(_) => 0,
        }
    }

    fn bytes(&self) -> usize {
        match &self.sighting {
            Sighting::Offered(offers, _) => offers.tools.iter().map(|(_, it)| it.bytes()).sum(),
            Sighting::Failed(_) | Sighting::Unchanged(_) => 0,
        }
    }
}

/// Discovers leased modules, five at a time. A failure of one module is noted and changes nothing for the others. The
/// modules of one workspace must follow each other.
pub async fn discover(modules: Vec<LeasedModule<'_>>, lease: &Lease, sight: Sight) -> Result<Vec<Refreshed>> {
    let mut seen = stream::iter(modules).map(|it| look(it, sight)).buffered(AT_ONCE);
    let mut refreshed = Vec::new();
    let mut group: Vec<SeenModule<'_>> = Vec::new();
    while let Some(next) = seen.next().await {
        let is_full = group.iter().map(SeenModule::tools).sum::<usize>() + next.tools() > GROUP_TOOLS
            || group.iter().map(SeenModule::bytes).sum::<usize>() + next.bytes() > GROUP_BYTES;
        let is_other = group.first().is_some_and(|it| it.scope.workspace() != next.scope.workspace());
        if !group.is_empty() && (is_full || is_other) {
            refreshed.extend(settle(std::mem::take(&mut group), lease).await?);
        }
        group.push(next);
    }
    if !group.is_empty() {
        refreshed.extend(settle(group, lease).await?);
    }
    Ok(refreshed)
}

async fn look(LeasedModule { scope, module }: LeasedModule<'_>, sight: Sight) -> SeenModule<'_> {
    let cached = match sight {
        Sight::Cached => Description::cached(scope, &module).await,
        Sight::Fresh => None,
    };
    let description = match cached {
        Some(description) => Ok(description),
        None => Description::ask(scope, &module).await,
    };
    let sighting = match description {
        Err(failure) => Sighting::Failed(failure),
        Ok(description) => {
            let fingerprint = description.fingerprint();
            if module.findings.fingerprint.as_ref() == Some(&fingerprint) {
                Sighting::Unchanged(fingerprint)
            } else {
                match description.read(&module) {
                    Ok(offers) => Sighting::Offered(offers, fingerprint),
                    Err(reason) => Sighting::Failed(DescriptionFailure::Invalid(reason)),
                }
            }
        }
    };
    SeenModule { scope, module, sighting }
}

/// Writes what was seen of modules of one workspace.
async fn settle(group: Vec<SeenModule<'_>>, lease: &Lease) -> Result<Vec<Refreshed>> {
    let Some(scope) = group.first().map(|it| it.scope) else { return Ok(Vec::new()) };
    let now = scope.app().clock();
    let mut refreshed = Vec::new();
    let mut notes = Vec::new();
    let mut offering = Vec::new();
    for SeenModule { module, sighting, .. } in group {
        let findings = match sighting {
            Sighting::Offered(offers, fingerprint) => {
                offering.push(OfferingModule { module, offers, fingerprint });
                continue;
            }
            Sighting::Unchanged(fingerprint) => {
                ok_findings(&module, module.findings.warnings.clone(), fingerprint, now)
            }
            Sighting::Failed(failure) => failed_findings(scope, &module, failure, now),
        };
        notes.push(store::put_findings(scope.workspace(), &module.name, &findings, lease));
        refreshed.push(Refreshed::untouched(&Module { findings, ..module }));
    }
    if !notes.is_empty() {
        scope.write_all(notes).await??;
    }
    refreshed.extend(place_all(scope, offering, lease).await?);
    Ok(refreshed)
}

/// A module that offers something else than before.
struct OfferingModule {
    module: Module,
    offers: Offers,
    fingerprint: String,
}

/// Puts in place what the modules offer, in one batch. If another request has overtaken the batch, each module is decided
/// again by itself, so that no module spoils another.
async fn place_all(scope: &Scope, modules: Vec<OfferingModule>, lease: &Lease) -> Result<Vec<Refreshed>> {
    if modules.is_empty() {
        return Ok(Vec::new());
    }
    if let Some(refreshed) = place(scope, &modules, lease).await? {
        return Ok(refreshed);
    }
    let mut refreshed = Vec::new();
    for it in modules {
        refreshed.push(place_one(scope, it, lease).await?);
    }
    Ok(refreshed)
}

async fn place_one(scope: &Scope, it: OfferingModule, lease: &Lease) -> Result<Refreshed> {
    let alone = [it];
    for _ in 0..ATTEMPTS {
        if let Some(refreshed) = place(scope, &alone, lease).await?.and_then(|it| it.into_iter().next()) {
            return Ok(refreshed);
        }
    }
    let [it] = alone;
    let error = "The tools could not be put in place: another request changes them, or the module itself";
    let findings = Findings {
        expires_at: Some(scope.app().clock().plus_seconds(RETRY_SECONDS)),
        last_error: Some(error.to_owned()),
        ..it.module.findings.clone()
    };
    scope.write([store::put_findings(scope.workspace(), &it.module.name, &findings, lease)]).await??;
    Ok(Refreshed::untouched(&Module { findings, ..it.module }))
}

/// Decides about the modules and writes the decisions. None, if another request has changed one of the tools or modules
/// since they were read, or a version cannot come back.
async fn place(scope: &Scope, modules: &[OfferingModule], lease: &Lease) -> Result<Option<Vec<Refreshed>>> {
    let workspace = scope.workspace();
    let names = modules.iter().map(|it| it.module.name.as_str()).collect::<Vec<_>>();
    let [present, held] = scope
        .read([registry::find_tools_of_modules(workspace, &names), store::find_held_back(workspace, &names)])
        .await?;
    let (present, held) = (registry::read_readings(&present)?, store::read_held_back(&held)?);
    let operator = scope.caller().await?.operator.clone();
    let now = scope.app().clock();
    let mut placement = Placement::default();
    let mut refreshed = Vec::new();
    for it in modules {
        let prefix = format!("{}.", it.module.name);
        let own = present.iter().filter(|it| it.tool.id.as_str().starts_with(&prefix));
        let own = own.map(|it| (it.tool.id.as_str(), it)).collect::<HashMap<&str, &ToolReading>>();
        let rules = PlacingRules {
            timeout_seconds: limits::timeout_seconds(scope.app().settings(), &it.module.settings),
            url_rules: scope.app().url_rules(),
            by: Registrant { operator: &operator, now },
        };
        let decided = decide(&mut placement, &it.module, &it.offers, &own, &rules)?;
        let held = held.iter().filter(|held| held.module == it.module.name).collect::<Vec<_>>();
        for statement in held_back_statements(scope, &held, &decided.held)? {
            placement.also(statement);
        }
        let findings = ok_findings(&it.module, decided.warnings.clone(), it.fingerprint.clone(), now);
        placement.also(store::put_findings(workspace, &it.module.name, &findings, lease));
        log_discovered(scope, &it.module, &decided);
        refreshed.push(Refreshed {
            name: it.module.name.to_string(),
            status: ModuleStatus::Ok,
            added: decided.added,
            changed: decided.changed,
            removed: decided.removed,
            held_back: u32::try_from(decided.held.len()).unwrap_or(u32::MAX),
            error: None,
        });
    }
    placement.only_if(store::are_leased(workspace, &names, lease));
    match placement.write(scope).await? {
        PlacementOutcome::Done => Ok(Some(refreshed)),
        PlacementOutcome::Overtaken | PlacementOutcome::Banned => Ok(None),
    }
}

/// The statements that make the held-back definitions of one module those of `wanted`. What is the same is not written.
fn held_back_statements(scope: &Scope, now: &[&HeldBack], wanted: &[HeldBack]) -> Result<Vec<Statement>> {
    let put = wanted.iter().filter(|it| !now.contains(it)).cloned().collect::<Vec<_>>();
    let gone = now.iter().filter(|it| !wanted.iter().any(|wanted| wanted.tool_id == it.tool_id));
    let gone = gone.map(|it| (&it.module, &it.tool_id)).collect::<Vec<_>>();
    let mut statements = store::forget_held_back(scope.workspace(), &gone)?;
    statements.extend(store::put_held_back(scope.workspace(), &put)?);
    Ok(statements)
}

fn ok_findings(module: &Module, warnings: Vec<super::ModuleWarning>, fingerprint: String, now: Timestamp) -> Findings {
    // The modules of one deployment must not all come due at once: the time differs by up to a tenth.
    let jitter = module.name.as_str().bytes().fold(0_u32, |sum, it| sum.wrapping_mul(31).wrapping_add(it.into()));
    let seconds = FRESH_SECONDS - jitter % (FRESH_SECONDS / 10);
    Findings {
        status: ModuleStatus::Ok,
        discovered_at: Some(now),
        expires_at: Some(now.plus_seconds(seconds)),
        last_error: None,
        warnings,
        fingerprint: Some(fingerprint),
    }
}

/// The last good tools stay as they are while a module is down.
fn failed_findings(scope: &Scope, module: &Module, failure: DescriptionFailure, now: Timestamp) -> Findings {
    let (status, event, error) = match failure {
        DescriptionFailure::Unreachable(error) => (ModuleStatus::Unreachable, "module_unreachable", error),
        DescriptionFailure::Invalid(error) => (ModuleStatus::Invalid, "module_manifest_error", error),
    };
    let (workspace, name) = (scope.workspace().as_str(), module.name.as_str());
    console_warn!("{}", json!({"event": event, "workspace": workspace, "module": name, "error": error}));
    Findings {
        status,
        expires_at: Some(now.plus_seconds(RETRY_SECONDS)),
        last_error: Some(shortened(&error)),
        ..module.findings.clone()
    }
}

fn log_discovered(scope: &Scope, module: &Module, decided: &Decided) {
    let (workspace, name) = (scope.workspace().as_str(), module.name.as_str());
    let (added, changed, removed, held) = (decided.added, decided.changed, decided.removed, decided.held.len());
    console_log!(
        "{}",
        json!({"event": "module_discovered", "workspace": workspace, "module": name, "tools": decided.offered,
            "added": added, "changed": changed, "removed": removed, "held_back": held})
    );
}
