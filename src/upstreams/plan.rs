//! Changes of several upstreams of one kind that one batch writes, together with everything else that the batch is about.
//! A toolset brings, changes and removes its MCP servers like this.

use super::discovery::{LeasedUpstream, Refreshed, Sight, discover};
use super::kind::{UpstreamRecord, UpstreamSettings};
use super::store::{self, Lease};
use super::upstream::{Findings, Upstream};
use crate::callers::Scope;
use crate::changes::{Action, Change};
use crate::error::Result;
use crate::ids::{UpstreamId, WorkspaceId};
use crate::registry::{self, DeactivationReason, Placement, Tool, ToolReading};
use crate::time::Timestamp;
use futures_util::stream::{self, StreamExt};

/// How many upstreams the request itself discovers. Others are discovered after the response.
const AT_ONCE: usize = 10;

/// How many servers are told at once that they are not needed any more.
const FORGOTTEN_AT_ONCE: usize = 5;

pub struct UpstreamPlan<S> {
    lease: Lease,
    now: Timestamp,
    added: Vec<Upstream<S>>,
    changed: Vec<ChangedUpstream<S>>,
    removed: Vec<Upstream<S>>,
}

struct ChangedUpstream<S> {
    before: Upstream<S>,
    after: Upstream<S>,
}

impl<S: UpstreamSettings> ChangedUpstream<S> {
    /// A session with another server, or under another credential, is not the session that is remembered.
    fn keeps_connection(&self) -> bool {
        self.before.settings.is_same_server(&self.after.settings)
    }

    /// The upstream as the batch leaves it.
    fn written(self) -> Upstream<S> {
        let connection = self.after.findings.connection.clone().filter(|_| self.keeps_connection());
        let findings = Findings { fingerprint: None, expires_at: None, connection, ..self.after.findings };
        Upstream { findings, revision: self.after.revision + 1, ..self.after }
    }
}

impl<S: UpstreamSettings> UpstreamPlan<S> {
    pub fn new(now: Timestamp) -> Result<Self> {
        Ok(Self { lease: Lease::new(now)?, now, added: Vec::new(), changed: Vec::new(), removed: Vec::new() })
    }

    /// Adds an upstream.
    pub fn add(&mut self, id: UpstreamId, settings: S) {
        self.added.push(Upstream::new(id, settings, self.now));
    }

    /// Gives an upstream other settings. Returns whether they differ from the present ones.
    pub fn change(&mut self, before: &Upstream<S>, settings: S) -> bool {
        let differs = settings != before.settings;
        if differs {
            let after = Upstream { settings, ..before.clone() };
            self.changed.push(ChangedUpstream { before: before.clone(), after });
        }
        differs
    }

    /// Deletes an upstream, and deactivates its tools.
    pub fn remove(&mut self, upstream: &Upstream<S>) {
        self.removed.push(upstream.clone());
    }

    /// Adds everything to a placement: the upstreams, their tools and the rows of the change log. `present` are the tools of
    /// the changed and of the removed upstreams. The placement is overtaken if one of the upstreams is not as it was read.
    pub fn place(&self, scope: &Scope, present: &[ToolReading], placement: &mut Placement) -> Result<()> {
        let workspace = scope.workspace();
        let read = self.changed.iter().map(|it| &it.before).chain(&self.removed).collect::<Vec<_>>();
        if !read.is_empty() {
            placement.only_if_first(store::placing::are_at(workspace, &read));
        }
        self.place_added(workspace, placement)?;
        self.place_changed(scope, present, placement)?;
        self.place_removed(workspace, present, placement)
    }

    fn place_added(&self, workspace: &WorkspaceId, placement: &mut Placement) -> Result<()> {
        let mut rows = Vec::new();
        for it in &self.added {
            placement.record(Change::new(Action::Create, S::subject(it.name())).to(&masked(it))?);
            placement.only_if_first(registry::has_only_tools_of(workspace, it.id.prefix(), S::SOURCE));
            rows.push(store::placing::row(it, self.is_asked_now(&it.id), false));
        }
        let statements = store::placing::insert_all::<S>(workspace, &rows, &self.lease)?;
        statements.into_iter().for_each(|it| placement.also(it));
        Ok(())
    }

    /// The tools get the policy of the new settings at once, as new versions. The upstreams need not answer for this.
    fn place_changed(&self, scope: &Scope, present: &[ToolReading], placement: &mut Placement) -> Result<()> {
        let mut rows = Vec::new();
        for it in &self.changed {
            let change = Change::new(Action::Update, S::subject(it.before.name()));
            placement.record(change.from(&masked(&it.before))?.to(&masked(&it.after))?);
            rows.push(store::placing::row(&it.after, self.is_asked_now(&it.after.id), it.keeps_connection()));
            for reading in active_tools(present, &it.after.id) {
                if let Some(tool) = it.after.settings.with_policy(&reading.tool) {
                    let (registered_at, registered_by) = (self.now, scope.operator().to_owned());
                    placement.put(Some(reading), Tool { registered_at, registered_by, ..tool })?;
                }
            }
        }
        let statements = store::placing::update_all::<S>(scope.workspace(), &rows, &self.lease)?;
        statements.into_iter().for_each(|it| placement.also(it));
        Ok(())
    }

    fn place_removed(&self, workspace: &WorkspaceId, present: &[ToolReading], placement: &mut Placement) -> Result<()> {
        let reason = DeactivationReason::OperatorRequest;
        for it in &self.removed {
            placement.record(Change::new(Action::Delete, S::subject(it.name())).from(&masked(it))?);
            let mut ids = Vec::new();
            for ToolReading { tool, revision, .. } in active_tools(present, &it.id) {
                placement.deactivate(tool, *revision, &tool.switched_off(reason, self.now), reason)?;
                ids.push(tool.id.as_str());
            }
            // A discovery may have added a tool since the tools were read.
            placement.only_if_first(store::has_no_active_tool_but::<S>(workspace, &it.id, &ids));
        }
        let names = self.removed.iter().map(Upstream::name).collect::<Vec<_>>();
        let statements = store::replacing::delete_all(workspace, S::SOURCE, &names)?;
        statements.into_iter().for_each(|it| placement.also(it));
        Ok(())
    }

    /// The upstreams that are to be asked after the batch, in the order in which they are asked.
    fn asked(&self) -> impl Iterator<Item = &Upstream<S>> {
        self.added.iter().chain(self.changed.iter().map(|it| &it.after)).filter(|it| it.settings.is_enabled())
    }

    /// Whether the request itself discovers the upstream.
    fn is_asked_now(&self, id: &UpstreamId) -> bool {
        self.asked().take(AT_ONCE).any(|it| it.id == *id)
    }

    /// After the batch: tells servers that they are not needed any more, and discovers those that are added or changed.
    pub async fn finish(self, scope: &Scope) -> Result<Vec<Refreshed>> {
        let moved = self.changed.iter().filter(|it| !it.keeps_connection()).map(|it| &it.before);
        let forgotten = self.removed.iter().chain(moved);
        stream::iter(forgotten).for_each_concurrent(FORGOTTEN_AT_ONCE, |it| S::forget(scope, it)).await;
        for it in self.asked().skip(AT_ONCE) {
            scope.app().ask_again(scope.workspace().clone(), it.id.clone());
        }
        let Self { lease, added, changed, .. } = self;
        let asked = added.into_iter().chain(changed.into_iter().map(ChangedUpstream::written));
        let asked = asked.filter(|it| it.settings.is_enabled()).take(AT_ONCE);
        let leased = asked.map(|upstream| LeasedUpstream { scope, upstream }).collect();
        discover(leased, &lease, Sight::Fresh).await
    }
}

fn masked<S: UpstreamSettings>(upstream: &Upstream<S>) -> S::Record {
    S::Record::stored(upstream).without_values()
}

fn active_tools<'a>(present: &'a [ToolReading], id: &'a UpstreamId) -> impl Iterator<Item = &'a ToolReading> {
    present.iter().filter(|it| it.tool.active && it.tool.id.as_str().starts_with(id.prefix()))
}
