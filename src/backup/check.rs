//! Checks whether a backup can be restored: its parts fit together, it keeps every rule, and it breaks no invariant.

use super::document::Backup;
use super::problems::{BackupProblems, HandlerRead, checked_version, is_current, read_handler};
use crate::callers::Scope;
use crate::error::Result;
use crate::modules::ModuleRecord;
use crate::outgoing::UrlRules;
use crate::registry::invariants::DefinedNames;
use crate::registry::{Handler, Tool, ToolRecord, VersionRecord};
use std::collections::{HashMap, HashSet};

/// A backup that can be restored, with its parsed versions.
pub struct CheckedBackup {
    pub backup: Backup,
    /// The versions of the backup as [`Tool`]s, in the same order.
    pub tools: Vec<Tool>,
}

/// Parses a backup, or returns everything that is wrong with it. `builtins` are the ids of the built-ins, which are
/// taken in every workspace. `modules` are the present modules. `known` says whether the registry has an identical
/// version. Such a version was checked against the rules before, and so was such a module.
pub fn check(
    scope: &Scope,
    mut backup: Backup,
    builtins: &HashSet<String>,
    modules: &[ModuleRecord],
    known: impl Fn(&VersionRecord) -> bool,
) -> Result<CheckedBackup> {
    let mut found = BackupProblems::default();
    let (rules, sealer) = (scope.app().url_rules(), scope.app().settings().sealer.as_ref());
    let handlers = backup.versions.iter_mut().map(|it| read_handler(it, sealer)).collect::<Vec<_>>();
    let records = check_tools(&mut found, &backup, builtins);
    let versions = check_versions(&mut found, &backup, handlers, &records, rules, known)?;
    let (tools, handlers): (Vec<_>, Vec<_>) = versions.into_iter().unzip();
    check_credentials(&mut found, &backup);
    check_agents(&mut found, &backup);
    check_attachments(&mut found, &backup, &records, &tools, builtins)?;
    let credentials = backup.credentials.iter().map(|it| it.id.clone()).collect();
    let modules = check_modules(&mut found, &mut backup, modules, &credentials, scope)?;
    if let Some(it) = &backup.workspace {
        found.workspace("/workspace", it);
    }
    if found.is_empty() {
        let defined = DefinedNames { credentials, modules };
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
) -> HashMap<&'a str, &'a ToolRecord> {
    let mut records = HashMap::new();
    let with_versions = backup.versions.iter().map(|it| it.tool_id.as_str()).collect::<HashSet<_>>();
    for (index, tool) in backup.tools.iter().enumerate() {
        let path = format!("/tools/{index}");
        found.tool(&path, tool, builtins);
        if records.insert(tool.id.as_str(), tool).is_some() {
            found.add(format!("{path}/id"), "is there twice");
        }
        if !with_versions.contains(tool.id.as_str()) {
            found.add(path, "has no version");
        }
    }
    records
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

/// Returns the names of the modules that the workspace will have. Modules that differ from the present ones get the form
/// in which modules are stored.
fn check_modules(
    found: &mut BackupProblems,
    backup: &mut Backup,
    present: &[ModuleRecord],
    credentials: &HashSet<String>,
    scope: &Scope,
) -> Result<HashSet<String>> {
    let Some(modules) = &mut backup.modules else {
        present.iter().for_each(|it| found.kept_module("/credentials", it, credentials));
        return Ok(present.iter().map(|it| it.name.clone()).collect());
    };
    let mut names = HashSet::new();
    for (index, module) in modules.iter_mut().enumerate() {
        let path = format!("/modules/{index}");
        found.module_count(&path, index + 1);
        if !names.insert(module.name.clone()) {
            found.add(format!("{path}/name"), "is there twice");
        }
        if !present.contains(module) {
            found.module(&path, module, scope)?;
        }
        found.module_credentials(&path, module, credentials);
        if found.are_enough() {
            break;
        }
    }
    Ok(names)
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
