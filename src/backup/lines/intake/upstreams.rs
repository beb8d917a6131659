//! The lines of the workspace's settings and upstreams.

use super::Intake;
use crate::backup::lines::present::{Cursor, PresentRecords};
use crate::backup::lines::staging::List;
use crate::backup::workspace::WorkspaceRecord;
use crate::error::Result;
use crate::federation::ServerRecord;
use crate::modules::ModuleRecord;
use crate::registry::invariants::CheckedVersion;
use crate::upstreams::{UpstreamRecord, upstream_put, upstream_removed};
use std::collections::BTreeMap;

#[derive(Default)]
pub(super) struct UpstreamIntake {
    /// Whether the settings have come. If they have, the lines hold the modules too.
    pub(super) has_settings: bool,
    /// The last upstream of the present kind, and how many there are.
    last: Option<String>,
    count: usize,
    /// The upstreams that active versions need: for each, the place and the name of one of these versions.
    needed: BTreeMap<String, (String, String)>,
}

impl UpstreamIntake {
    /// Notes the upstream of an active version. The upstreams come after all versions, so the upstream is looked for at
    /// the end, and not together with the other invariants of the version.
    pub(super) fn need(&mut self, path: &str, version: &mut CheckedVersion) {
        if let Some(upstream) = version.upstream.take() {
            let name = || (path.to_owned(), format!("{}@{}", version.tool_id, version.version));
            self.needed.entry(upstream).or_insert_with(name);
        }
    }
}

/// Upstreams of one kind in the lines of a backup.
pub(super) trait UpstreamLine: UpstreamRecord {
    /// The lists of changes, and the lists of rows.
    const REMOVED: List;
    const PUT: List;
    const DELETED_ROWS: List;
    const PUT_ROWS: List;

    /// The name of the field that holds the upstream's name.
    const NAME: &'static str;

    fn present(records: &mut PresentRecords) -> &mut Cursor<Self, String>;
}

impl UpstreamLine for ModuleRecord {
    const REMOVED: List = List::ModulesRemoved;
    const PUT: List = List::ModulesPut;
    const DELETED_ROWS: List = List::DeletedModules;
    const PUT_ROWS: List = List::Modules;
    const NAME: &'static str = "name";

    fn present(records: &mut PresentRecords) -> &mut Cursor<Self, String> {
        &mut records.modules
    }
}

impl UpstreamLine for ServerRecord {
    const REMOVED: List = List::ServersRemoved;
    const PUT: List = List::ServersPut;
    const DELETED_ROWS: List = List::DeletedServers;
    const PUT_ROWS: List = List::Servers;
    const NAME: &'static str = "id";

    fn present(records: &mut PresentRecords) -> &mut Cursor<Self, String> {
        &mut records.servers
    }
}

impl Intake<'_> {
    pub(super) fn workspace(&mut self, path: &str, it: &WorkspaceRecord) -> Result<()> {
        if std::mem::replace(&mut self.upstreams.has_settings, true) {
            self.found.add(path, "is there twice");
            return Ok(());
        }
        self.found.workspace(path, it);
        if let Some(change) = it.change(&self.around.settings)? {
            self.staging.change(List::SettingsPut, change)?;
            self.staging.add(List::Settings, it)?;
        }
        Ok(())
    }

    pub(super) async fn upstream<R: UpstreamLine>(&mut self, path: &str, mut it: R) -> Result<()> {
        if !self.upstreams.has_settings {
            self.found.add(path, "is out of order: the workspace's settings come before its modules and MCP servers");
        }
        let name = it.name().to_owned();
        let last = self.upstreams.last.replace(name.clone());
        let rises = self.rises(&format!("{path}/{}", R::NAME), last.as_ref(), &name);
        self.defined.upstreams.extend(it.id().map(|it| it.prefix().to_owned()));
        self.upstreams.count += 1;
        self.found.upstream_count::<R>(path, self.upstreams.count);
        self.found.upstream_credentials(path, &it, &self.defined.credentials);
        if !rises {
            return Ok(());
        }
        while let Some(gone) = R::present(&mut self.present).next_below(self.scope, &name).await? {
            self.remove_upstream(&gone)?;
        }
        let before = R::present(&mut self.present).next_at(self.scope, &name).await?;
        if before.as_ref() != Some(&it) {
            self.found.upstream(path, &mut it, self.scope)?;
            self.staging.change(R::PUT, upstream_put(&it, before.as_ref())?)?;
            self.staging.add(R::PUT_ROWS, &it.row()?)?;
        }
        Ok(())
    }

    /// Ends the upstreams of one kind: those that no line has named are removed. If the lines are older than this kind,
    /// the upstreams stay as they are.
    pub(super) async fn close_upstreams<R: UpstreamLine>(&mut self, path: &str, are_older: bool) -> Result<()> {
        while let Some(it) = R::present(&mut self.present).next(self.scope).await? {
            if are_older {
                self.found.kept_upstream(path, &it, &self.defined.credentials);
                self.defined.upstreams.extend(it.id().map(|it| it.prefix().to_owned()));
            } else {
                self.remove_upstream(&it)?;
            }
        }
        (self.upstreams.last, self.upstreams.count) = (None, 0);
        Ok(())
    }

    /// Looks for the upstreams that active versions need.
    pub(super) fn find_needed_upstreams(&mut self) {
        for (upstream, (path, version)) in std::mem::take(&mut self.upstreams.needed) {
            if !self.defined.upstreams.contains(&upstream) {
                self.found.missing_upstream(&path, &version, &upstream);
            }
        }
    }

    fn remove_upstream<R: UpstreamLine>(&mut self, gone: &R) -> Result<()> {
        self.staging.change(R::REMOVED, upstream_removed(gone)?)?;
        self.staging.add(R::DELETED_ROWS, &gone.name())
    }
}
