//! Discovery: asks upstreams what they offer, and puts in place what was decided.
//!
//! One discovery may cover many upstreams. It leases them first, so that of several requests for the same upstream only
//! one does the work: every write of the discovery holds only while the lease is its own.

use super::decision::{Decided, PlacingRules, decide};
use super::held_back::HeldBack;
use super::kind::{Look, LookFailure, Seen, UpstreamSettings};
use super::limits::{FRESH_SECONDS, LEASE_SECONDS, RETRY_SECONDS};
use super::offer::{Offers, Registrant, UpstreamWarning};
use super::store::{self, Lease};
use super::upstream::{Findings, Upstream, UpstreamStatus};
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

/// How many upstreams are asked at once. A Worker has six connections, and the database needs one.
const AT_ONCE: usize = 5;

/// How much one batch puts in place. Everything below these limits is one round trip.
const GROUP_TOOLS: usize = 1_000;
const GROUP_BYTES: usize = 4_000_000;

/// How often a decision is made again that another request has overtaken.
const ATTEMPTS: usize = 3;

/// What a refresh of one upstream did.
#[derive(Debug, Serialize, ToSchema)]
pub struct Refreshed {
    #[schema(example = "research")]
    pub name: String,
    pub status: UpstreamStatus,
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
    /// An upstream that this refresh left as it is.
    pub fn untouched<S>(upstream: &Upstream<S>) -> Self {
        Self {
            name: upstream.name().to_owned(),
            status: upstream.findings.status,
            added: 0,
            changed: 0,
            removed: 0,
            held_back: upstream.held_back,
            error: upstream.findings.last_error.clone(),
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
    /// From the upstream.
    Fresh,
    /// From the cache, if it is there: only the settings have changed.
    Cached,
}

/// An upstream that was leased, in the workspace of its scope.
pub struct LeasedUpstream<'a, S> {
    pub scope: &'a Scope,
    pub upstream: Upstream<S>,
}

struct SeenUpstream<'a, S> {
    scope: &'a Scope,
    upstream: Upstream<S>,
    seen: Seen,
}

impl<S> SeenUpstream<'_, S> {
    fn tools(&self) -> usize {
        match &self.seen.look {
            Look::Offered(offers, _) => offers.tools.len(),
            Look::Failed(_) | Look::Unchanged(_) => 0,
        }
    }

    fn bytes(&self) -> usize {
        match &self.seen.look {
            Look::Offered(offers, _) => offers.tools.iter().map(|(_, it)| it.bytes()).sum(),
            Look::Failed(_) | Look::Unchanged(_) => 0,
        }
    }
}

/// Discovers leased upstreams, five at a time. A failure of one upstream is noted and changes nothing for the others. The
/// upstreams of one workspace must follow each other.
pub async fn discover<S: UpstreamSettings>(
    upstreams: Vec<LeasedUpstream<'_, S>>,
    lease: &Lease,
    sight: Sight,
) -> Result<Vec<Refreshed>> {
    let mut seen = stream::iter(upstreams).map(|it| look(it, sight)).buffered(AT_ONCE);
    let mut refreshed = Vec::new();
    let mut group: Vec<SeenUpstream<'_, S>> = Vec::new();
    while let Some(next) = seen.next().await {
        let is_full = group.iter().map(SeenUpstream::tools).sum::<usize>() + next.tools() > GROUP_TOOLS
            || group.iter().map(SeenUpstream::bytes).sum::<usize>() + next.bytes() > GROUP_BYTES;
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

async fn look<S: UpstreamSettings>(
    LeasedUpstream { scope, upstream }: LeasedUpstream<'_, S>,
    sight: Sight,
) -> SeenUpstream<'_, S> {
    let seen = S::look(scope, &upstream, sight).await;
    SeenUpstream { scope, upstream, seen }
}

/// Writes what was seen of upstreams of one workspace.
async fn settle<S: UpstreamSettings>(group: Vec<SeenUpstream<'_, S>>, lease: &Lease) -> Result<Vec<Refreshed>> {
    let Some(scope) = group.first().map(|it| it.scope) else { return Ok(Vec::new()) };
    let now = scope.app().clock();
    let mut refreshed = Vec::new();
    let mut notes = Vec::new();
    let mut offering = Vec::new();
    for SeenUpstream { mut upstream, seen: Seen { look, connection, fresh_seconds }, .. } in group {
        upstream.findings.connection = connection.or(upstream.findings.connection);
        let findings = match look {
            Look::Offered(offers, fingerprint) => {
                offering.push(OfferingUpstream { upstream, offers, fingerprint, fresh_seconds });
                continue;
            }
            Look::Unchanged(fingerprint) => {
                let warnings = upstream.findings.warnings.clone();
                ok_findings(&upstream, warnings, fingerprint, fresh_seconds, now)
            }
            Look::Failed(failure) => failed_findings(scope, &upstream, failure, now),
        };
        notes.push(store::put_findings::<S>(scope.workspace(), &upstream.id, &findings, lease));
        refreshed.push(Refreshed::untouched(&Upstream { findings, ..upstream }));
    }
    if !notes.is_empty() {
        scope.write_all(notes).await??;
    }
    refreshed.extend(place_all(scope, offering, lease).await?);
    Ok(refreshed)
}

/// An upstream that offers something else than before.
struct OfferingUpstream<S> {
    upstream: Upstream<S>,
    offers: Offers,
    fingerprint: String,
    fresh_seconds: Option<u32>,
}

/// Puts in place what the upstreams offer, in one batch. If another request has overtaken the batch, each upstream is
/// decided again by itself, so that no upstream spoils another.
async fn place_all<S: UpstreamSettings>(
    scope: &Scope,
    upstreams: Vec<OfferingUpstream<S>>,
    lease: &Lease,
) -> Result<Vec<Refreshed>> {
    if upstreams.is_empty() {
        return Ok(Vec::new());
    }
    if let Some(refreshed) = place(scope, &upstreams, lease).await? {
        return Ok(refreshed);
    }
    let mut refreshed = Vec::new();
    for it in upstreams {
        refreshed.push(place_one(scope, it, lease).await?);
    }
    Ok(refreshed)
}

async fn place_one<S: UpstreamSettings>(scope: &Scope, it: OfferingUpstream<S>, lease: &Lease) -> Result<Refreshed> {
    let alone = [it];
    for _ in 0..ATTEMPTS {
        if let Some(refreshed) = place(scope, &alone, lease).await?.and_then(|it| it.into_iter().next()) {
            return Ok(refreshed);
        }
    }
    let [it] = alone;
    let noun = it.upstream.id.noun();
    let error = format!("The tools could not be put in place: another request changes them, or the {noun} itself");
    let findings = Findings {
        expires_at: Some(scope.app().clock().plus_seconds(RETRY_SECONDS)),
        last_error: Some(error),
        ..it.upstream.findings.clone()
    };
    scope.write([store::put_findings::<S>(scope.workspace(), &it.upstream.id, &findings, lease)]).await??;
    Ok(Refreshed::untouched(&Upstream { findings, ..it.upstream }))
}

/// Decides about the upstreams and writes the decisions. None, if another request has changed one of the tools or
/// upstreams since they were read, or a version cannot come back.
async fn place<S: UpstreamSettings>(
    scope: &Scope,
    upstreams: &[OfferingUpstream<S>],
    lease: &Lease,
) -> Result<Option<Vec<Refreshed>>> {
    let workspace = scope.workspace();
    let ids = upstreams.iter().map(|it| &it.upstream.id).collect::<Vec<_>>();
    let prefixes = ids.iter().map(|it| it.prefix()).collect::<Vec<_>>();
    let [present, held] = scope
        .read([
            registry::find_tools_of_upstreams(workspace, S::SOURCE, &prefixes),
            store::find_held_back::<S>(workspace, &ids),
        ])
        .await?;
    let (present, held) = (registry::read_readings(&present)?, store::read_held_back::<S>(&held)?);
    let operator = scope.caller().await?.operator.clone();
    let now = scope.app().clock();
    let mut placement = Placement::default();
    let mut refreshed = Vec::new();
    for it in upstreams {
        let own = present.iter().filter(|tool| tool.tool.id.as_str().starts_with(it.upstream.id.prefix()));
        let own = own.map(|it| (it.tool.id.as_str(), it)).collect::<HashMap<&str, &ToolReading>>();
        let rules = PlacingRules {
            timeout_seconds: it.upstream.settings.timeout_seconds(scope.app().settings()),
            url_rules: scope.app().url_rules(),
            by: Registrant { operator: &operator, now },
        };
        let decided = decide(&mut placement, &it.upstream, &it.offers, &own, &rules)?;
        let held = held.iter().filter(|held| held.upstream == it.upstream.id).collect::<Vec<_>>();
        for statement in held_back_statements::<S>(scope, &held, &decided.held)? {
            placement.also(statement);
        }
        let warnings = decided.warnings.clone();
        let findings = ok_findings(&it.upstream, warnings, it.fingerprint.clone(), it.fresh_seconds, now);
        placement.also(store::put_findings::<S>(workspace, &it.upstream.id, &findings, lease));
        log_discovered(scope, &it.upstream, &decided);
        refreshed.push(Refreshed {
            name: it.upstream.name().to_owned(),
            status: UpstreamStatus::Ok,
            added: decided.added,
            changed: decided.changed,
            removed: decided.removed,
            held_back: u32::try_from(decided.held.len()).unwrap_or(u32::MAX),
            error: None,
        });
    }
    placement.only_if(store::are_leased::<S>(workspace, &ids, lease));
    match placement.write(scope).await? {
        PlacementOutcome::Done => Ok(Some(refreshed)),
        PlacementOutcome::Overtaken | PlacementOutcome::Banned => Ok(None),
    }
}

/// The statements that make the held-back definitions of one upstream those of `wanted`. What is the same is not written.
fn held_back_statements<S: UpstreamSettings>(
    scope: &Scope,
    now: &[&HeldBack],
    wanted: &[HeldBack],
) -> Result<Vec<Statement>> {
    let put = wanted.iter().filter(|it| !now.contains(it)).cloned().collect::<Vec<_>>();
    let gone = now.iter().filter(|it| !wanted.iter().any(|wanted| wanted.tool_id == it.tool_id));
    let gone = gone.map(|it| (&it.upstream, &it.tool_id)).collect::<Vec<_>>();
    let mut statements = store::forget_held_back::<S>(scope.workspace(), &gone)?;
    statements.extend(store::put_held_back::<S>(scope.workspace(), &put)?);
    Ok(statements)
}

fn ok_findings<S>(
    upstream: &Upstream<S>,
    warnings: Vec<UpstreamWarning>,
    fingerprint: String,
    fresh_seconds: Option<u32>,
    now: Timestamp,
) -> Findings {
    // The upstreams of one deployment must not all come due at once: the time differs by up to a tenth.
    let jitter = upstream.name().bytes().fold(0_u32, |sum, it| sum.wrapping_mul(31).wrapping_add(it.into()));
    let fresh = fresh_seconds.unwrap_or(FRESH_SECONDS).clamp(RETRY_SECONDS, FRESH_SECONDS);
    let seconds = fresh - jitter % (fresh / 10);
    Findings {
        status: UpstreamStatus::Ok,
        discovered_at: Some(now),
        expires_at: Some(now.plus_seconds(seconds)),
        last_error: None,
        warnings,
        fingerprint: Some(fingerprint),
        connection: upstream.findings.connection.clone(),
    }
}

/// The last good tools stay as they are while an upstream is down.
fn failed_findings<S: UpstreamSettings>(
    scope: &Scope,
    upstream: &Upstream<S>,
    failure: LookFailure,
    now: Timestamp,
) -> Findings {
    let (status, event, error) = match failure {
        LookFailure::Unreachable(error) => (UpstreamStatus::Unreachable, format!("{}_unreachable", S::SUBJECT), error),
        LookFailure::Invalid(error) => (UpstreamStatus::Invalid, S::INVALID_EVENT.to_owned(), error),
    };
    let workspace = scope.workspace().as_str();
    console_warn!("{}", json!({"event": event, "workspace": workspace, S::SUBJECT: upstream.name(), "error": error}));
    Findings {
        status,
        expires_at: Some(now.plus_seconds(RETRY_SECONDS)),
        last_error: Some(shortened(&error)),
        ..upstream.findings.clone()
    }
}

fn log_discovered<S: UpstreamSettings>(scope: &Scope, upstream: &Upstream<S>, decided: &Decided) {
    let event = format!("{}_discovered", S::SUBJECT);
    let workspace = scope.workspace().as_str();
    let (added, changed, removed, held) = (decided.added, decided.changed, decided.removed, decided.held.len());
    console_log!(
        "{}",
        json!({"event": event, "workspace": workspace, S::SUBJECT: upstream.name(), "tools": decided.offered,
            "added": added, "changed": changed, "removed": removed, "held_back": held})
    );
}
