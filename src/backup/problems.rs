//! Checks the records of a backup one by one, and collects everything that is wrong with them.

use super::toolset_problems::owner_of;
use crate::agents::{AgentOut, AttachmentRecord, Config, MAX_ATTACHED, Profile, ProfileChange};
use crate::error::{Error, Place, Problem, Result};
use crate::ids::{AgentId, ToolId, ToolsetId, UpstreamId, Version};
use crate::outgoing::UrlRules;
use crate::registry::credential::{self, Credential};
use crate::registry::invariants::{self, CheckedVersion, DefinedNames};
use crate::registry::{self, DeactivationReason, Handler, Source, Tool, ToolRecord, VersionRecord};
use crate::seal::Sealer;
use serde_json::json;
use std::collections::HashSet;

/// How many problems one response names.
const MAX_PROBLEMS: usize = 50;

pub type HandlerRead = std::result::Result<Handler, Vec<Problem>>;

/// Parses the handler of a record, and replaces it in the record by the form in which handlers are stored. Equal
/// handlers then compare as equal. The returned handler has its header values as they were given, so that they can be
/// checked.
pub fn read_handler(record: &mut VersionRecord, sealer: Option<&Sealer>) -> HandlerRead {
    let handler = Handler::read_backup(&record.handler)?;
    let stored = handler.sealed(sealer).map_err(|error| match error {
        Error::Invalid(problems) => problems,
        other => vec![Problem { place: Place::Body, path: "/handler".into(), message: other.to_string() }],
    })?;
    record.handler = json!(stored);
    Ok(handler.opened(sealer))
}

/// The fields of a version that the invariants are about.
pub fn checked_version(tool: &Tool, handler: &Handler) -> CheckedVersion {
    CheckedVersion {
        tool_id: tool.id.to_string(),
        version: tool.version.to_string(),
        active: tool.active,
        deactivated_reason: tool.deactivated_reason,
        builtin: handler.builtin_key().map(str::to_owned),
        upstream: tool.upstream_id().map(|it| it.prefix().to_owned()),
        toolset: tool.own_toolset().map(str::to_owned),
        credentials_required: tool.credentials_required.clone(),
    }
}

/// A version that was deactivated for security stays deactivated, whatever an older backup says. Returns the name of the
/// version, if the backup would bring it back.
pub fn brought_back(tool: &Tool, banned: &HashSet<String>) -> Option<String> {
    let name = (tool.deactivated_reason != Some(DeactivationReason::Security))
        .then(|| format!("{}@{}", tool.id, tool.version))?;
    banned.contains(&name).then_some(name)
}

/// Refuses a backup that would bring these versions back.
pub fn refuse_brought_back(names: &[String]) -> Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    Err(Error::Conflict(format!(
        "{} were deactivated for security and cannot come back: mark them so in the backup",
        names.join(", ")
    )))
}

/// The version that configurations of attachments are checked against: the active one, or the last one if none is
/// active.
pub fn is_current(tool: &Tool, known: Option<&Tool>) -> bool {
    known.is_none_or(|known| tool.active || !known.active)
}

/// Everything that is wrong with a backup.
#[derive(Default)]
pub struct BackupProblems(Vec<Problem>);

impl BackupProblems {
    pub fn add(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.0.push(Problem { place: Place::Body, path: path.into(), message: message.into() });
    }

    /// Adds the problems of one record, with their paths in the whole backup.
    pub fn within(&mut self, path: &str, problems: Vec<Problem>) {
        self.0.extend(problems.into_iter().map(|it| Problem { path: format!("{path}{}", it.path), ..it }));
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a response would name no further problem.
    pub fn are_enough(&self) -> bool {
        self.0.len() >= MAX_PROBLEMS
    }

    /// Fails if there is any problem.
    pub fn none(mut self) -> Result<()> {
        self.0.truncate(MAX_PROBLEMS);
        if self.0.is_empty() { Ok(()) } else { Err(Error::Invalid(self.0)) }
    }

    pub fn tool(&mut self, path: &str, tool: &ToolRecord, builtins: &HashSet<String>) {
        let fits_source = match tool.source {
            Source::Registered => registry::is_registered_id(&tool.id),
            Source::Module | Source::Mcp => tool.source.separator().is_some_and(|separator| {
                tool.id.split_once(separator).is_some_and(|(name, _)| UpstreamId::new(name, separator).is_some())
            }),
            Source::Toolset => owner_of(&tool.id).is_some_and(|it| ToolsetId::parse(it).is_some()),
            Source::Builtin => true,
        };
        if ToolId::parse(&tool.id).is_none() || !fits_source {
            self.add(format!("{path}/id"), format!("is not the id of a tool of the source {}", tool.source));
        }
        if tool.source == Source::Builtin || builtins.contains(&tool.id) {
            self.add(format!("{path}/id"), "is a built-in's, which no backup holds");
        }
    }

    /// Parses the id and the number of a version.
    pub fn version_name(&mut self, path: &str, record: &VersionRecord) -> Option<(ToolId, Version)> {
        let name = ToolId::parse(&record.tool_id).zip(Version::parse(&record.version));
        if name.is_none() {
            self.add(format!("{path}/version"), "must be three numbers such as 1.0.0");
        }
        name
    }

    /// Checks a version of the tool `of`. `rules` are those for the handler's URL; none for a version that the registry
    /// has in the same form, because such a version was checked against all rules before. Returns nothing if the handler
    /// cannot be read.
    pub fn version(
        &mut self,
        path: &str,
        record: &VersionRecord,
        (id, version): (ToolId, Version),
        handler: HandlerRead,
        of: &ToolRecord,
        rules: Option<UrlRules<'_>>,
    ) -> Result<Option<(Tool, Handler)>> {
        let handler = match handler {
            Ok(handler) => handler,
            Err(problems) => {
                self.within(path, problems);
                return Ok(None);
            }
        };
        if record.deactivated_at.is_some() != record.deactivated_reason.is_some() {
            self.add(format!("{path}/deactivated_at"), "and deactivated_reason stand together or not at all");
        }
        let tool = record.to_tool(id, version, of, &handler)?;
        if let Some(rules) = rules {
            self.within(path, handler.unopened());
            self.within(path, registry::problems(&tool, &handler));
            self.upstream_handler(path, &tool, &handler);
            // The handler of an inactive version may be one that this deployment cannot call.
            if tool.active {
                self.within(path, handler.check(rules));
            }
        }
        Ok(Some((tool, handler)))
    }

    /// Checks that a handler which is an upstream is that of the tool.
    fn upstream_handler(&mut self, path: &str, tool: &Tool, handler: &Handler) {
        let id = tool.upstream_id();
        let is_own = |source, name: &str| tool.source == source && id.as_ref().is_some_and(|id| id.name() == name);
        match handler {
            Handler::Module { module } if !is_own(Source::Module, module) => {
                self.add(
                    format!("{path}/handler/module"),
                    "is not the module of the tool: its id begins with the name",
                );
            }
            Handler::Mcp { server, .. } if !is_own(Source::Mcp, server) => {
                self.add(
                    format!("{path}/handler/server"),
                    "is not the MCP server of the tool: its id begins with the name",
                );
            }
            Handler::Toolset { .. } if tool.source != Source::Toolset => {
                self.add(format!("{path}/handler/type"), "toolset is for the tools of toolsets only");
            }
            Handler::Module { .. }
            | Handler::Mcp { .. }
            | Handler::Toolset { .. }
            | Handler::Builtin { .. }
            | Handler::Http { .. }
            | Handler::Rest(_)
            | Handler::Python(_) => {}
        }
    }

    pub fn credential(&mut self, path: &str, it: &Credential) {
        self.within(path, credential::check(&it.id, &it.description));
    }

    pub fn agent(&mut self, path: &str, agent: &AgentOut) {
        if AgentId::parse(&agent.id).is_none() {
            self.add(format!("{path}/id"), "is not the id of an agent");
        }
        let given = ProfileChange {
            name: None,
            capabilities: Some(agent.capabilities.clone()),
            max_risk: Some(agent.max_risk),
            allowed_modules: Some(agent.allowed_modules.clone()),
            permission_level: Some(agent.permission_level),
            default_tools: Some(agent.default_tools),
            find_tools: Some(agent.find_tools),
            system_prompt: agent.system_prompt.clone(),
            model: agent.model.clone(),
            max_steps: agent.max_steps,
            temperature: agent.temperature,
        };
        let profile = match Profile::new(agent.name.clone(), given) {
            Ok(profile) => profile,
            Err(Error::Invalid(problems)) => return self.within(path, problems),
            Err(_) => return,
        };
        // A request clears a setting with a value that no agent has, and a backup holds null instead.
        for (field, is_kept) in [
            ("system_prompt", profile.system_prompt == agent.system_prompt),
            ("model", profile.model == agent.model),
            ("max_steps", profile.max_steps == agent.max_steps),
            ("temperature", profile.temperature == agent.temperature),
        ] {
            if !is_kept {
                self.add(format!("{path}/{field}"), "must be null if the agent does not have it");
            }
        }
    }

    /// Checks the configuration of an attachment against the current version of its tool, and counts the attachment.
    /// `count` is the number of the agent's attachments before this one.
    pub fn attachment(
        &mut self,
        path: &str,
        it: &AttachmentRecord,
        current: Option<&Tool>,
        count: &mut u32,
    ) -> Result<()> {
        if let Some(config) = &it.config {
            self.within(path, Config(config.clone()).problems(current)?);
        }
        *count += 1;
        if *count == MAX_ATTACHED + 1 {
            self.add(path, format!("is more than the {MAX_ATTACHED} that an agent can have"));
        }
        Ok(())
    }

    /// Checks the invariants. `path` gives the place of the version with this index.
    pub fn invariants(&mut self, versions: &[CheckedVersion], defined: &DefinedNames, path: impl Fn(usize) -> String) {
        for invariant in invariants::check(versions, defined) {
            for it in invariant.violations.into_iter().take(MAX_PROBLEMS) {
                let index = versions.iter().position(|is| is.tool_id == it.tool_id && is.version == it.version);
                let message = format!("{}: {}@{} {}", invariant.name, it.tool_id, it.version, it.message);
                self.add(index.map_or_else(|| "/versions".to_owned(), &path), message);
            }
        }
        // No invariant covers this rule, because only a backup can break it: an active version has no reason for a
        // deactivation.
        for (index, it) in versions.iter().enumerate() {
            if it.active && it.deactivated_reason.is_some() && self.0.is_empty() {
                self.add(format!("{}/deactivated_at", path(index)), "belongs to a version that is not active");
            }
        }
    }
}
