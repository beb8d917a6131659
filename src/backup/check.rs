//! Checks whether a backup can be restored: its parts fit together, it keeps every rule, and it breaks no invariant.

use super::document::Backup;
use crate::agents::{Config, MAX_ATTACHED, Profile, ProfileChange};
use crate::error::{Error, Place, Problem, Result};
use crate::ids::{AgentId, ToolId, Version};
use crate::outgoing::UrlRules;
use crate::registry::credential;
use crate::registry::invariants;
use crate::registry::{self, Handler, Source, Tool, ToolRecord, VersionRecord};
use crate::seal::Sealer;
use serde_json::json;
use std::collections::{HashMap, HashSet};

const MAX_PROBLEMS: usize = 50;

/// A backup that can be restored, with its parsed versions.
pub struct CheckedBackup {
    pub backup: Backup,
    /// The versions of the backup as [`Tool`]s, in the same order.
    pub tools: Vec<Tool>,
}

/// Parses a backup, or returns everything that is wrong with it. `builtins` are the ids of the built-ins, which are
/// taken in every workspace. `known` says whether the registry has an identical version. Such a version was checked
/// against the rules before.
pub fn check(
    mut backup: Backup,
    builtins: &HashSet<String>,
    rules: UrlRules<'_>,
    sealer: Option<&Sealer>,
    known: impl Fn(&VersionRecord) -> bool,
) -> Result<CheckedBackup> {
    let mut found = BackupProblems(Vec::new());
    let handlers = backup.versions.iter_mut().map(|it| read_handler(it, sealer)).collect::<Vec<_>>();
    let records = found.tools(&backup, builtins);
    let versions = found.versions(&backup, handlers, &records, rules, known)?;
    let (tools, handlers): (Vec<_>, Vec<_>) = versions.into_iter().unzip();
    found.credentials(&backup);
    found.agents(&backup);
    found.attachments(&backup, &records, &tools, builtins)?;
    if found.0.is_empty() {
        found.invariants(&backup, &tools, &handlers);
    }
    found.0.truncate(MAX_PROBLEMS);
    if found.0.is_empty() { Ok(CheckedBackup { tools, backup }) } else { Err(Error::Invalid(found.0)) }
}

type HandlerRead = std::result::Result<Handler, Vec<Problem>>;

/// Parses the handler of a record, and replaces it in the record by the form in which handlers are stored. Equal
/// handlers then compare as equal. The returned handler has its header values as they were given, so that they can be
/// checked.
fn read_handler(record: &mut VersionRecord, sealer: Option<&Sealer>) -> HandlerRead {
    let handler = Handler::read_backup(&record.handler)?;
    let stored = handler.sealed(sealer).map_err(|error| match error {
        Error::Invalid(problems) => problems,
        other => vec![Problem { place: Place::Body, path: "/handler".into(), message: other.to_string() }],
    })?;
    record.handler = json!(stored);
    Ok(handler.opened(sealer))
}

struct BackupProblems(Vec<Problem>);

impl BackupProblems {
    fn add(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.0.push(Problem { place: Place::Body, path: path.into(), message: message.into() });
    }

    /// Adds the problems of one record, with their paths in the whole backup.
    fn within(&mut self, path: &str, problems: Vec<Problem>) {
        self.0.extend(problems.into_iter().map(|it| Problem { path: format!("{path}{}", it.path), ..it }));
    }

    fn tools<'a>(&mut self, backup: &'a Backup, builtins: &HashSet<String>) -> HashMap<&'a str, &'a ToolRecord> {
        let mut records = HashMap::new();
        let with_versions = backup.versions.iter().map(|it| it.tool_id.as_str()).collect::<HashSet<_>>();
        for (index, tool) in backup.tools.iter().enumerate() {
            let path = format!("/tools/{index}");
            if ToolId::parse(&tool.id).is_none()
                || (tool.source == Source::Registered && !registry::is_registered_id(&tool.id))
            {
                self.add(format!("{path}/id"), "is not the id of a tool");
            }
            if tool.source == Source::Builtin || builtins.contains(&tool.id) {
                self.add(format!("{path}/id"), "is a built-in's, which no backup holds");
            }
            if records.insert(tool.id.as_str(), tool).is_some() {
                self.add(format!("{path}/id"), "is there twice");
            }
            if !with_versions.contains(tool.id.as_str()) {
                self.add(path, "has no version");
            }
        }
        records
    }

    fn versions(
        &mut self,
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
                self.add(format!("{path}/tool_id"), "is none of the backup's tools");
                continue;
            };
            let (Some(id), Some(version)) = (ToolId::parse(&record.tool_id), Version::parse(&record.version)) else {
                self.add(format!("{path}/version"), "must be three numbers such as 1.0.0");
                continue;
            };
            if !seen.insert((record.tool_id.as_str(), version)) {
                self.add(path.clone(), "is there twice");
            }
            let handler = match handler {
                Ok(handler) => handler,
                Err(problems) => {
                    self.within(&path, problems);
                    continue;
                }
            };
            if record.deactivated_at.is_some() != record.deactivated_reason.is_some() {
                self.add(format!("{path}/deactivated_at"), "and deactivated_reason stand together or not at all");
            }
            let tool = record.to_tool(id, version, of, &handler)?;
            if !known(record) {
                self.within(&path, handler.unopened());
                self.within(&path, registry::problems(&tool, &handler));
                // The handler of an inactive version may be one that this deployment cannot call.
                if tool.active {
                    self.within(&path, handler.check(rules));
                }
            }
            tools.push((tool, handler));
            if self.0.len() >= MAX_PROBLEMS {
                break;
            }
        }
        Ok(tools)
    }

    fn credentials(&mut self, backup: &Backup) {
        let mut seen = HashSet::new();
        for (index, it) in backup.credentials.iter().enumerate() {
            let path = format!("/credentials/{index}");
            self.within(&path, credential::check(&it.id, &it.description));
            if !seen.insert(it.id.as_str()) {
                self.add(format!("{path}/id"), "is there twice");
            }
        }
    }

    fn agents(&mut self, backup: &Backup) {
        let mut seen = HashSet::new();
        for (index, agent) in backup.agents.iter().enumerate() {
            let path = format!("/agents/{index}");
            if AgentId::parse(&agent.id).is_none() {
                self.add(format!("{path}/id"), "is not the id of an agent");
            }
            if !seen.insert(agent.id.as_str()) {
                self.add(format!("{path}/id"), "is there twice");
            }
            let given = ProfileChange {
                name: None,
                capabilities: Some(agent.capabilities.clone()),
                max_risk: Some(agent.max_risk),
                allowed_modules: Some(agent.allowed_modules.clone()),
                permission_level: Some(agent.permission_level),
                default_tools: Some(agent.default_tools),
                find_tools: Some(agent.find_tools),
            };
            if let Err(Error::Invalid(problems)) = Profile::new(agent.name.clone(), given) {
                self.within(&path, problems);
            }
        }
    }

    fn attachments(
        &mut self,
        backup: &Backup,
        records: &HashMap<&str, &ToolRecord>,
        tools: &[Tool],
        builtins: &HashSet<String>,
    ) -> Result<()> {
        // The version that a configuration is checked against: the active one, or the last one if none is active.
        let mut current: HashMap<&str, &Tool> = HashMap::new();
        for tool in tools {
            let known = current.entry(tool.id.as_str()).or_insert(tool);
            if tool.active || !known.active {
                *known = tool;
            }
        }
        let agents = backup.agents.iter().map(|it| it.id.as_str()).collect::<HashSet<_>>();
        let mut seen = HashSet::new();
        let mut counts: HashMap<&str, u32> = HashMap::new();
        for (index, it) in backup.attachments.iter().enumerate() {
            let path = format!("/attachments/{index}");
            if !agents.contains(it.agent_id.as_str()) {
                self.add(format!("{path}/agent_id"), "is none of the backup's agents");
            }
            if !records.contains_key(it.tool_id.as_str()) && !builtins.contains(&it.tool_id) {
                self.add(format!("{path}/tool_id"), "is none of the backup's tools, and no built-in");
            }
            if !seen.insert((it.agent_id.as_str(), it.tool_id.as_str())) {
                self.add(path.clone(), "is there twice");
            }
            if let Some(config) = &it.config {
                let tool = current.get(it.tool_id.as_str()).copied();
                self.within(&path, Config(config.clone()).problems(tool)?);
            }
            let count = counts.entry(&it.agent_id).or_default();
            *count += 1;
            if *count == MAX_ATTACHED + 1 {
                self.add(path, format!("is more than the {MAX_ATTACHED} that an agent can have"));
            }
        }
        Ok(())
    }

    fn invariants(&mut self, backup: &Backup, tools: &[Tool], handlers: &[Handler]) {
        let credentials = backup.credentials.iter().map(|it| it.id.as_str()).collect();
        let versions = tools.iter().zip(handlers).map(|(it, handler)| invariants::CheckedVersion {
            tool_id: it.id.to_string(),
            version: it.version.to_string(),
            active: it.active,
            deactivated_reason: it.deactivated_reason,
            builtin: handler.builtin_key().map(str::to_owned),
            credentials_required: it.credentials_required.clone(),
        });
        let versions = versions.collect::<Vec<_>>();
        let places = versions.iter().enumerate().map(|(index, it)| ((it.tool_id.as_str(), it.version.as_str()), index));
        let places = places.collect::<HashMap<_, _>>();
        for invariant in invariants::check(&versions, &credentials) {
            for it in invariant.violations.into_iter().take(MAX_PROBLEMS) {
                let index = places.get(&(it.tool_id.as_str(), it.version.as_str()));
                let message = format!("{}: {}@{} {}", invariant.name, it.tool_id, it.version, it.message);
                self.add(index.map_or_else(|| "/versions".to_owned(), |it| format!("/versions/{it}")), message);
            }
        }
        // No invariant covers this rule, because only a backup can break it: an active version has no reason for a
        // deactivation.
        for (index, it) in tools.iter().enumerate() {
            if it.active && it.deactivated_reason.is_some() && self.0.is_empty() {
                self.add(format!("/versions/{index}/deactivated_at"), "belongs to a version that is not active");
            }
        }
    }
}
