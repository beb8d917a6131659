//! The upstreams of a workspace: listing, registering, changing, deleting and discovering them.

use super::discovery::{LeasedUpstream, Refreshed, Sight, discover};
use super::kind::{UpstreamRecord, UpstreamSettings};
use super::store::{self, Lease};
use super::upstream::{Findings, Upstream};
use crate::callers::Scope;
use crate::changes::{Action, Change, is_stopped, stop_unless};
use crate::db::DbFailure;
use crate::error::{Error, Place, Problem, Result, shortened};
use crate::ids::UpstreamId;
use crate::page::{Page, PageRequest};
use crate::registry::{self, DeactivationReason, Placement, PlacementOutcome, Tool};
use std::time::Duration;
use worker::Delay;

/// How often, and how many times, a refresh looks whether another discovery of an upstream has ended. Together they are
/// longer than the discovery of a stdio server, which may have to start.
const POLL: Duration = Duration::from_millis(250);
const POLLS: u32 = 140;

/// How often a decision is made again that another request has overtaken.
const ATTEMPTS: u32 = 3;

/// A page of the workspace's upstreams of one kind, sorted by name.
pub async fn list<S: UpstreamSettings>(scope: &Scope, request: &PageRequest) -> Result<Page<Upstream<S>>> {
    let [rows] = scope.read([store::list::<S>(scope.workspace(), request)]).await?;
    scope.caller().await?.must_be_unbound()?;
    Ok(request.page(store::read_upstreams(&rows)?, |it: &Upstream<S>| it.name().to_owned()))
}

/// An upstream, and the ids of its active tools.
pub async fn get<S: UpstreamSettings>(scope: &Scope, id: &UpstreamId) -> Result<(Upstream<S>, Vec<String>)> {
    let workspace = scope.workspace();
    let [upstream, tools] = scope.read([store::find::<S>(workspace, id), store::find_tool_ids(workspace, id)]).await?;
    scope.caller().await?.must_be_unbound()?;
    Ok((found(id, store::read_upstream(&upstream)?)?, registry::read_tool_ids(&tools)?))
}

/// Fails if the caller may not register an upstream, or the workspace has as many of this kind as it can have. The first
/// step of a registration.
pub async fn must_have_room<S: UpstreamSettings>(scope: &Scope) -> Result<()> {
    let [count] = scope.read([store::count::<S>(scope.workspace())]).await?;
    scope.caller().await?.must_be_unbound()?;
    if store::read_count(&count)? >= S::MAX {
        let (most, noun) = (S::MAX, S::SUBJECT.replace('_', " "));
        return Err(Error::Conflict(format!("This workspace has {most} {noun}s, and no more are allowed")));
    }
    Ok(())
}

/// Registers an upstream and discovers it at once. The upstream is registered whatever comes of the discovery.
pub async fn create<S: UpstreamSettings>(scope: &Scope, id: UpstreamId, settings: S) -> Result<()> {
    let workspace = scope.workspace();
    check_credentials(scope, &settings).await?;
    let now = scope.app().now();
    let upstream = Upstream::new(id, settings, now);
    let lease = Lease::new(now)?;
    let record = S::Record::stored(&upstream).without_values();
    let change = Change::new(Action::Create, S::subject(upstream.name())).to(&record)?;
    let insert = store::insert(workspace, &upstream, &lease);
    // Another thing's tools would stand in the way of every discovery.
    let has_free_ids = registry::has_only_tools_of(workspace, upstream.id.prefix(), S::SOURCE);
    let stop = stop_unless(workspace, has_free_ids);
    // The id of a present toolset stops the insertion, which is told first.
    match scope.write([insert, stop, change.record(&scope.author().await?)]).await? {
        Ok(_) => {}
        Err(failure) if registry::is_taken_id(&failure) => {
            let (noun, name) = (upstream.id.noun(), upstream.name());
            return Err(Error::AlreadyExists(format!("{name} is the id of a toolset: give the {noun} another one")));
        }
        Err(failure) if is_stopped(&failure) => {
            let (noun, name) = (upstream.id.noun(), upstream.name());
            return Err(Error::Conflict(format!(
                "{name} was the id of a toolset, and its tools are still recorded: give the {noun} another id"
            )));
        }
        Err(DbFailure::Duplicate) => {
            let (noun, name) = (upstream.id.noun(), upstream.name());
            return Err(Error::AlreadyExists(format!("The {noun} {name} exists")));
        }
        Err(failure) => return Err(failure.into()),
    }
    if upstream.settings.is_enabled() {
        discover(vec![LeasedUpstream { scope, upstream }], &lease, Sight::Fresh).await?;
    }
    Ok(())
}

/// Gives an upstream other settings. The upstream is discovered again, unless it is not enabled.
pub async fn update<S: UpstreamSettings>(scope: &Scope, before: Upstream<S>, settings: S) -> Result<()> {
    if settings == before.settings {
        return Ok(());
    }
    check_credentials(scope, &settings).await?;
    let workspace = scope.workspace();
    let after = Upstream { settings, ..before.clone() };
    let lease = Lease::new(scope.app().now())?;
    let masked = |it| S::Record::stored(it).without_values();
    let change = Change::new(Action::Update, S::subject(before.name()))
        .from(&masked(&before))?
        .to(&masked(&after))?
        .only_if(store::is_at(workspace, &before));
    // A session with another server, or under another credential, is not the session that is remembered.
    let keeps_connection = before.settings.is_same_server(&after.settings);
    let update = store::update(workspace, &after, &lease, keeps_connection);
    let [_, updated] = scope.write([change.record(&scope.author().await?), update]).await??;
    if updated.changes() == 0 {
        return Err(changed_meanwhile(&before.id));
    }
    if S::SETS_POLICY {
        put_policy(scope, &after, &lease).await?;
    }
    if after.settings.is_enabled() {
        // After a restore, the description in the cache may be that of another address.
        let was_asked = before.findings.expires_at.is_some();
        let sight = if was_asked && keeps_connection { Sight::Cached } else { Sight::Fresh };
        let connection = after.findings.connection.filter(|_| keeps_connection);
        let findings = Findings { fingerprint: None, connection, ..after.findings };
        let upstream = Upstream { findings, revision: after.revision + 1, ..after };
        discover(vec![LeasedUpstream { scope, upstream }], &lease, sight).await?;
    }
    Ok(())
}

/// Gives the upstream's tools the policy of its settings, as new versions. The upstream need not answer for this.
async fn put_policy<S: UpstreamSettings>(scope: &Scope, upstream: &Upstream<S>, lease: &Lease) -> Result<()> {
    let (workspace, id) = (scope.workspace(), &upstream.id);
    for _ in 0..ATTEMPTS {
        let [present] = scope.read([registry::find_tools_of_upstreams(workspace, S::SOURCE, &[id.prefix()])]).await?;
        let present = registry::read_readings(&present)?;
        let mut placement = Placement::default();
        let mut is_empty = true;
        for reading in present.iter().filter(|it| it.tool.active) {
            if let Some(tool) = upstream.settings.with_policy(&reading.tool) {
                let (registered_at, registered_by) = (scope.app().now(), scope.operator().to_owned());
                placement.put(Some(reading), Tool { registered_at, registered_by, ..tool })?;
                is_empty = false;
            }
        }
        if is_empty {
            return Ok(());
        }
        placement.only_if(store::are_leased::<S>(workspace, &[id], lease));
        match placement.write(scope).await? {
            PlacementOutcome::Done => return Ok(()),
            PlacementOutcome::Overtaken | PlacementOutcome::Banned => {}
        }
    }
    Err(changed_meanwhile(id))
}

fn changed_meanwhile(id: &UpstreamId) -> Error {
    Error::Conflict(format!("{} was changed by another request meanwhile; read it and try again", id.name()))
}

/// Deletes an upstream and deactivates its tools. Their versions and records stay.
pub async fn delete<S: UpstreamSettings>(scope: &Scope, id: &UpstreamId) -> Result<()> {
    let workspace = scope.workspace();
    scope.unbound_caller().await?;
    // From the lease on, no discovery and no acceptance adds a tool that this request does not see.
    let lease = Lease::new(scope.app().now())?;
    let [_, upstream, present] = scope
        .write([
            store::seize::<S>(workspace, id, &lease),
            store::find::<S>(workspace, id),
            registry::find_tools_of_upstreams(workspace, S::SOURCE, &[id.prefix()]),
        ])
        .await??;
    let upstream = found::<S>(id, store::read_upstream(&upstream)?)?;
    let mut placement = Placement::default();
    let record = S::Record::stored(&upstream).without_values();
    placement.record(Change::new(Action::Delete, S::subject(id.name())).from(&record)?);
    let reason = DeactivationReason::OperatorRequest;
    let present = registry::read_readings(&present)?;
    let active = present.iter().filter(|it| it.tool.active).collect::<Vec<_>>();
    for it in &active {
        let after = it.tool.switched_off(reason, scope.app().now());
        placement.deactivate(&it.tool, it.revision, &after, reason)?;
    }
    let ids = active.iter().map(|it| it.tool.id.as_str()).collect::<Vec<_>>();
    placement.only_if(store::has_no_active_tool_but::<S>(workspace, id, &ids));
    placement.also(store::delete::<S>(workspace, id));
    match placement.write(scope).await? {
        PlacementOutcome::Done => {
            S::forget(scope, &upstream).await;
            Ok(())
        }
        PlacementOutcome::Overtaken | PlacementOutcome::Banned => {
            let name = id.name();
            Err(Error::Conflict(format!("A tool of {name} was changed by another request meanwhile; try again")))
        }
    }
}

/// Discovers all upstreams of one kind in the workspace, or those with these names, at once. An upstream that another
/// request discovers at this moment is not asked twice: this request waits for the other one. `path` is the place of the
/// names in the request.
pub async fn refresh<S: UpstreamSettings>(
    scope: &Scope,
    names: Option<&[String]>,
    path: &str,
) -> Result<Vec<Refreshed>> {
    let workspace = scope.workspace();
    let ids = names.map(|names| parse_names::<S>(names, path)).transpose()?;
    let ids = ids.as_deref();
    scope.unbound_caller().await?;
    let lease = Lease::new(scope.app().now())?;
    let [_, leased, all] = scope
        .write([
            store::lease::<S>(workspace, ids, &lease),
            store::find_leased::<S>(workspace, &lease),
            store::find_named::<S>(workspace, ids),
        ])
        .await??;
    let (leased, all) = (store::read_upstreams::<S>(&leased)?, store::read_upstreams::<S>(&all)?);
    refuse_unknown(ids, &all, path)?;
    let others = all.into_iter().filter(|it| !leased.iter().any(|leased| leased.id == it.id)).collect::<Vec<_>>();
    let leased = leased.into_iter().map(|upstream| LeasedUpstream { scope, upstream }).collect();
    let mut refreshed = discover(leased, &lease, Sight::Fresh).await?;
    refreshed.extend(await_others(scope, others).await?);
    refreshed.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(refreshed)
}

/// The upstreams that this request may not ask: those that are disabled, and those that another request discovers now.
async fn await_others<S: UpstreamSettings>(scope: &Scope, upstreams: Vec<Upstream<S>>) -> Result<Vec<Refreshed>> {
    let (busy, disabled): (Vec<_>, Vec<_>) = upstreams.into_iter().partition(|it| it.settings.is_enabled());
    let mut refreshed = disabled.iter().map(Refreshed::untouched).collect::<Vec<_>>();
    for (it, upstream) in refreshed.iter_mut().zip(&disabled) {
        it.error = Some(format!("The {} is disabled", upstream.id.noun()));
    }
    let ids = busy.iter().map(|it| it.id.clone()).collect::<Vec<_>>();
    if ids.is_empty() {
        return Ok(refreshed);
    }
    for _ in 0..POLLS {
        Delay::from(POLL).await;
        let [now] = scope.read([store::find_named::<S>(scope.workspace(), Some(&ids))]).await?;
        let now = store::read_upstreams::<S>(&now)?;
        if now.iter().all(|it| it.leased_until.is_none_or(|until| until <= scope.app().clock())) {
            refreshed.extend(now.iter().map(Refreshed::untouched));
            return Ok(refreshed);
        }
    }
    Err(Error::Unavailable("Another request is discovering the server; try again"))
}

fn unknown<S: UpstreamSettings>(path: &str, index: usize, name: &str) -> Problem {
    Problem {
        place: Place::Body,
        path: format!("{path}/{index}"),
        message: format!("{} not found: {}", S::NOUN, shortened(name)),
    }
}

fn parse_names<S: UpstreamSettings>(names: &[String], path: &str) -> Result<Vec<UpstreamId>> {
    let parse =
        |(index, it): (usize, &String)| UpstreamId::new(it, S::SEPARATOR).ok_or_else(|| unknown::<S>(path, index, it));
    let parsed = names.iter().enumerate().map(parse);
    parsed.collect::<std::result::Result<Vec<_>, _>>().map_err(|it| Error::Invalid(vec![it]))
}

fn refuse_unknown<S: UpstreamSettings>(ids: Option<&[UpstreamId]>, found: &[Upstream<S>], path: &str) -> Result<()> {
    let missing = ids.into_iter().flatten().enumerate().filter(|(_, it)| !found.iter().any(|found| found.id == **it));
    let problems = missing.map(|(index, it)| unknown::<S>(path, index, it.name())).collect::<Vec<_>>();
    if problems.is_empty() { Ok(()) } else { Err(Error::Invalid(problems)) }
}

/// Fails if the settings name a credential that the workspace does not define.
async fn check_credentials<S: UpstreamSettings>(scope: &Scope, settings: &S) -> Result<()> {
    let named = settings.credentials();
    if named.is_empty() {
        return Ok(());
    }
    let undefined = registry::credential::undefined(scope, &named).await?;
    let problems = undefined.iter().map(|id| Problem {
        place: Place::Body,
        path: settings.place_of_credentials().to_owned(),
        message: format!("{id} is not a credential of this workspace: POST /api/credentials defines one"),
    });
    let problems = problems.collect::<Vec<_>>();
    if problems.is_empty() { Ok(()) } else { Err(Error::Invalid(problems)) }
}

pub fn found<S: UpstreamSettings>(id: &UpstreamId, upstream: Option<Upstream<S>>) -> Result<Upstream<S>> {
    upstream.ok_or_else(|| Error::not_found(S::NOUN, id.name()))
}
