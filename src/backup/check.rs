//! Checks whether a backup can be restored: its parts fit together, it keeps every rule, and it breaks no invariant.

use super::document::Backup;
use super::problems::{BackupProblems, HandlerRead, checked_version, is_current, read_handler};
use super::toolset_check::check_toolsets;
use super::toolset_problems::OwnerSources;
use crate::callers::Scope;
use crate::error::Result;
use crate::outgoing::UrlRules;
use crate::registry::invariants::DefinedNames;
use crate::registry::{Handler, Tool, ToolRecord, VersionRecord};
use crate::upstreams::UpstreamRecord;
use std::collections::{HashMap, HashSet};

/// A backup that can be restored, with its parsed versions.
pub struct CheckedBackup {
    pub backup: Backup,
    /// The versions of the backup as [`Tool`]s, in the same order.
    pub tools: Vec<Tool>,
}

/// Parses a backup, or returns everything that is wrong with it. `builtins` are the ids of the built-ins, which are
/// taken in every workspace. `now` is the present registry, whose upstreams were checked against the rules before. `known`
/// says whether the registry has an identical version. Such a version was checked against the rules before too. `contents`
/// are the sizes of the contents that the workspace has, as far as files of toolsets need them.
pub fn check(
    scope: &Scope,
    mut backup: Backup,
    builtins: &HashSet<String>,
    now: &Backup,
    contents: &HashMap<String, u32>,
    known: impl Fn(&VersionRecord) -> bool,
) -> Result<CheckedBackup> {
    let mut found = BackupProblems::default();
    let (rules, sealer) = (scope.app().url_rules(), scope.app().settings().sealer.as_ref());
    let handlers = backup.versions.iter_mut().map(|it| read_handler(it, sealer)).collect::<Vec<_>>();
    let (records, owners) = check_tools(&mut found, &backup, builtins);
    let versions = check_versions(&mut found, &backup, handlers, &records, rules, known)?;
    let (tools, handlers): (Vec<_>, Vec<_>) = versions.into_iter().unzip();
    check_credentials(&mut found, &backup);
    check_agents(&mut found, &backup);
    check_attachments(&mut found, &backup, &records, &tools, builtins)?;
    let credentials = backup.credentials.iter().map(|it| it.id.clone()).collect();
    let mut upstreams = HashSet::new();
    let list = PresentUpstreams { field: "modules", name: "name", present: now.modules.as_deref().unwrap_or_default() };
    list.check(&mut found, backup.modules.as_deref_mut(), &credentials, scope, &mut upstreams)?;
    let present = now.mcp_servers.as_deref().unwrap_or_default();
    let list = PresentUpstreams { field: "mcp_servers", name: "id", present };
    list.check(&mut found, backup.mcp_servers.as_deref_mut(), &credentials, scope, &mut upstreams)?;
    let toolsets = check_toolsets(&mut found, &mut backup, now, contents, &owners);
    if let Some(it) = &backup.workspace {
        found.workspace("/workspace", it);
    }
    if found.is_empty() {
        let defined = DefinedNames { credentials, upstreams, toolsets };
        let versions = tools.iter().zip(&handlers).map(|(tool, handler)| checked_version(tool, handler));
        found.invariants(&versions.collect::<Vec<_>>(), &defined, |index| format!("/versions/{index}"));
    }
    found.none()?;
    Ok(CheckedBackup { tools, backup })
}

fn check_tools<'a>(
    found: &mut BackupProblems,
    backup: &'a Backup,
    builtins: &HashSet<String>,
) -> (HashMap<&'a str, &'a ToolRecord>, OwnerSources) {
    let (mut records, mut owners) = (HashMap::new(), OwnerSources::default());
    let with_versions = backup.versions.iter().map(|it| it.tool_id.as_str()).collect::<HashSet<_>>();
    for (index, tool) in backup.tools.iter().enumerate() {
        let path = format!("/tools/{index}");
        found.tool(&path, tool, builtins);
        owners.add(found, &path, tool);
        if records.insert(tool.id.as_str(), tool).is_some() {
            found.add(format!("{path}/id"), "is there twice");
        }
        if !with_versions.contains(tool.id.as_str()) {
            found.add(path, "has no version");
        }
    }
    (records, owners)
}

fn check_versions(
    found: &mut BackupProblems,
    backup: &Backup,
    handlers: Vec<HandlerRead>,
    records: &HashMap<&str, &ToolRecord>,
    rules: UrlRules<'_>,
    known: impl Fn(&VersionRecord) -> bool,
) -> Result<Vec<(Tool, Handler)>> {
    let mut seen = HashSet::new();
    let mut tools = Vec::with_capacity(backup.versions.len());
    for (index, (record, handler)) in backup.versions.iter().zip(handlers).enumerate() {
        let path = format!("/versions/{index}");
        let Some(of) = records.get(record.tool_id.as_str()) else {
            found.add(format!("{path}/tool_id"), "is none of the backup's tools");
            continue;
        };
        let Some(name) = found.version_name(&path, record) else { continue };
        if !seen.insert((record.tool_id.as_str(), name.1)) {
            found.add(path.clone(), "is there twice");
        }
        tools.extend(found.version(&path, record, name, handler, of, (!known(record)).then_some(rules))?);
        if found.are_enough() {
            break;
        }
    }
    Ok(tools)
}

fn check_credentials(found: &mut BackupProblems, backup: &Backup) {
    let mut seen = HashSet::new();
    for (index, it) in backup.credentials.iter().enumerate() {
        let path = format!("/credentials/{index}");
        found.credential(&path, it);
        if !seen.insert(it.id.as_str()) {
            found.add(format!("{path}/id"), "is there twice");
        }
    }
}

/// The present upstreams of one kind, and the names of the fields that hold such upstreams in a backup.
struct PresentUpstreams<'a, R> {
    field: &'static str,
    name: &'static str,
    present: &'a [R],
}

impl<R: UpstreamRecord> PresentUpstreams<'_, R> {
    /// Adds the upstreams that the workspace will have to `defined`. Upstreams that differ from the present ones get the
    /// form in which upstreams are stored.
    fn check(
        &self,
        found: &mut BackupProblems,
        given: Option<&mut [R]>,
        credentials: &HashSet<String>,
        scope: &Scope,
        defined: &mut HashSet<String>,
    ) -> Result<()> {
        let prefix = |it: &R| it.id().map(|it| it.prefix().to_owned());
        let Some(given) = given else {
            self.present.iter().for_each(|it| found.kept_upstream("/credentials", it, credentials));
            defined.extend(self.present.iter().filter_map(prefix));
            return Ok(());
        };
        let mut names = HashSet::new();
        for (index, upstream) in given.iter_mut().enumerate() {
            let path = format!("/{}/{index}", self.field);
            found.upstream_count::<R>(&path, index + 1);
            if !names.insert(upstream.name().to_owned()) {
                found.add(format!("{path}/{}", self.name), "is there twice");
            }
            if !self.present.contains(upstream) {
                found.upstream(&path, upstream, scope)?;
            }
            found.upstream_credentials(&path, upstream, credentials);
            defined.extend(prefix(upstream));
            if found.are_enough() {
                break;
            }
        }
        Ok(())
    }
}

fn check_agents(found: &mut BackupProblems, backup: &Backup) {
    let mut seen = HashSet::new();
    for (index, agent) in backup.agents.iter().enumerate() {
        let path = format!("/agents/{index}");
        found.agent(&path, agent);
        if !seen.insert(agent.id.as_str()) {
            found.add(format!("{path}/id"), "is there twice");
        }
    }
}

fn check_attachments(
    found: &mut BackupProblems,
    backup: &Backup,
    records: &HashMap<&str, &ToolRecord>,
    tools: &[Tool],
    builtins: &HashSet<String>,
) -> Result<()> {
    let mut current: HashMap<&str, &Tool> = HashMap::new();
    for tool in tools {
        if is_current(tool, current.get(tool.id.as_str()).copied()) {
            current.insert(tool.id.as_str(), tool);
        }
    }
    let agents = backup.agents.iter().map(|it| it.id.as_str()).collect::<HashSet<_>>();
    let mut seen = HashSet::new();
    let mut counts: HashMap<&str, u32> = HashMap::new();
    for (index, it) in backup.attachments.iter().enumerate() {
        let path = format!("/attachments/{index}");
        if !agents.contains(it.agent_id.as_str()) {
            found.add(format!("{path}/agent_id"), "is none of the backup's agents");
        }
        if !records.contains_key(it.tool_id.as_str()) && !builtins.contains(&it.tool_id) {
            found.add(format!("{path}/tool_id"), "is none of the backup's tools, and no built-in");
        }
        if !seen.insert((it.agent_id.as_str(), it.tool_id.as_str())) {
            found.add(path.clone(), "is there twice");
        }
        let tool = current.get(it.tool_id.as_str()).copied();
        found.attachment(&path, it, tool, counts.entry(&it.agent_id).or_default())?;
    }
    Ok(())
}
