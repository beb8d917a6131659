//! Replaces a workspace's tools, versions and credentials, as a restore does. Only records that differ are written.

use super::credential::{self, Credential};
use super::difference::RecordDifference;
use super::record::{ToolRecord, VersionRecord};
use super::tool::Tool;
use super::{log, store};
use crate::changes::{Action, Change};
use crate::db::{ManyRows, Statement};
use crate::error::Result;
use crate::ids::{Version, WorkspaceId};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap, HashSet};

/// The tools, versions and credentials of a workspace.
#[derive(Clone, Copy)]
pub struct RegistryRecords<'a> {
    pub tools: &'a [ToolRecord],
    pub versions: &'a [VersionRecord],
    pub credentials: &'a [Credential],
}

/// The difference between the present registry and the wanted one.
pub struct RegistryReplacement<'a> {
    now: RegistryRecords<'a>,
    wanted: RegistryRecords<'a>,
    /// The wanted versions as [`Tool`]s, in the order of `wanted.versions`.
    wanted_tools: &'a [Tool],
    tools: RecordDifference<'a, ToolRecord>,
    versions: RecordDifference<'a, VersionRecord>,
    credentials: RecordDifference<'a, Credential>,
}

impl<'a> RegistryReplacement<'a> {
    /// `wanted_tools` are the parsed `wanted.versions`, in the same order.
    pub fn new(now: RegistryRecords<'a>, wanted: RegistryRecords<'a>, wanted_tools: &'a [Tool]) -> Self {
        Self {
            now,
            wanted,
            wanted_tools,
            tools: RecordDifference::between(now.tools, wanted.tools, |it| it.id.as_str()),
            versions: RecordDifference::between(now.versions, wanted.versions, VersionRecord::name),
            credentials: RecordDifference::between(now.credentials, wanted.credentials, |it| it.id.as_str()),
        }
    }

    /// Returns a row of the change log for each record that differs. Removals come before additions.
    pub fn changes(&self) -> Result<Vec<Change>> {
        let mut changes = Vec::new();
        for it in &self.versions.removed {
            changes.push(version_removed(it)?);
        }
        for it in &self.credentials.removed {
            changes.push(credential_removed(it)?);
        }
        for (it, before) in &self.credentials.put {
            changes.push(credential_put(it, *before)?);
        }
        let before = self.now.versions.iter().map(|it| (it.name(), it)).collect::<HashMap<_, _>>();
        for (name, tool) in self.changed_versions() {
            changes.push(version_put(tool, before.get(&name).copied())?);
        }
        Ok(changes)
    }

    /// Returns the versions that differ, and all versions of a tool whose own row differs: every version shows the
    /// creation time of its tool.
    fn changed_versions(&self) -> impl Iterator<Item = ((&str, &str), &Tool)> {
        let put = self.put_names();
        let tools = self.tools.put.iter().map(|(it, _)| it.id.as_str()).collect::<HashSet<_>>();
        let all = self.wanted.versions.iter().map(VersionRecord::name).zip(self.wanted_tools);
        all.filter(move |(name, _)| put.contains(name) || tools.contains(name.0))
    }

    fn put_names(&self) -> HashSet<(&str, &str)> {
        self.versions.put.iter().map(|(it, _)| it.name()).collect()
    }

    /// Returns the statements that write the differences. The touched tools get `revision`, a number that nothing in
    /// the workspace has had before. A decision that another request made on an older reading is therefore refused.
    pub fn statements(&self, workspace: &WorkspaceId, revision: u32) -> Result<Vec<Statement>> {
        let touched = self.versions.put.iter().map(|(it, _)| it.tool_id.as_str());
        let touched = touched.chain(self.versions.removed.iter().map(|it| it.tool_id.as_str()));
        let touched = touched.chain(self.tools.put.iter().map(|(it, _)| it.id.as_str())).collect::<BTreeSet<_>>();
        let replaced = self.versions.put.iter().filter_map(|(_, before)| *before);
        let gone = self.versions.removed.iter().copied().chain(replaced);
        let gone = gone.filter_map(|it| Some(store::placing::named(&it.tool_id, Version::parse(&it.version)?)));
        let put = self.put_names();
        let versions = self.wanted.versions.iter().zip(self.wanted_tools).filter(|(it, _)| put.contains(&it.name()));
        RegistryRows {
            removed_tools: self.tools.removed.iter().map(|it| json!(it.id)).collect(),
            removed_credentials: self.credentials.removed.iter().map(|it| json!(it.id)).collect(),
            touched_tools: touched.into_iter().map(Value::from).collect(),
            gone_versions: gone.collect(),
            credentials: self.credentials.put.iter().map(|(it, _)| json!(it)).collect(),
            tools: self.tools.put.iter().map(|(it, _)| json!(it)).collect(),
            versions: versions.map(|(_, tool)| store::columns::version_json(tool)).collect::<Result<Vec<_>>>()?,
        }
        .statements(workspace, revision)
    }
}

/// The rows that a replacement writes, one list for each purpose.
pub struct RegistryRows<R> {
    /// Ids.
    pub removed_tools: R,
    /// Ids.
    pub removed_credentials: R,
    /// The ids of all tools that a difference is about.
    pub touched_tools: R,
    /// The [names](crate::registry::version_name) of versions that are removed or replaced.
    pub gone_versions: R,
    pub credentials: R,
    /// Each is a [`ToolRecord`].
    pub tools: R,
    /// Versions [as JSON](crate::registry::version_json).
    pub versions: R,
}

impl<R: ManyRows> RegistryRows<R> {
    /// Returns the statements that write the rows, in the order in which they must run.
    pub fn statements(&self, workspace: &WorkspaceId, revision: u32) -> Result<Vec<Statement>> {
        let parts = [
            store::placing::delete_tools(workspace, &self.removed_tools)?,
            store::credentials::delete_all(workspace, &self.removed_credentials)?,
            // A changed version is deleted and inserted again. In between, no tool may point to that version as its
            // current one.
            store::placing::let_go_of_current(workspace, &self.touched_tools, revision)?,
            store::placing::delete_versions(workspace, &self.gone_versions)?,
            store::credentials::put_all(workspace, &self.credentials)?,
            store::placing::put_tools(workspace, &self.tools)?,
            store::placing::insert_versions(workspace, &self.versions)?,
            store::placing::find_current(workspace, &self.touched_tools)?,
            store::upstreams::ask_again(workspace, &self.removed_tools)?,
            store::upstreams::ask_again(workspace, &self.touched_tools)?,
        ];
        Ok(parts.into_iter().flatten().collect())
    }
}

/// The change that removes a version.
pub fn version_removed(it: &VersionRecord) -> Result<Change> {
    log::removal(&it.tool_id, &it.version)?.from(&it.switch())
}

/// The change that adds a version, or replaces the version `before`.
pub fn version_put(tool: &Tool, before: Option<&VersionRecord>) -> Result<Change> {
    log::change(Action::Restore, tool)?.before_if_any(before.map(VersionRecord::switch).as_ref())
}

/// The change that removes a credential.
pub fn credential_removed(it: &Credential) -> Result<Change> {
    Change::new(Action::Restore, credential::subject(&it.id)).from(it)
}

/// The change that adds a credential, or replaces the credential `before`.
pub fn credential_put(it: &Credential, before: Option<&Credential>) -> Result<Change> {
    Change::new(Action::Restore, credential::subject(&it.id)).before_if_any(before)?.to(it)
}
