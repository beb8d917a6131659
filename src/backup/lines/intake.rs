//! Restores a backup that comes as JSON Lines. One walk goes through the lines and the present registry together, which
//! both have the same order. The walk checks each record against the rules, and stages a decision for each difference.

mod toolsets;
mod upstreams;

use super::present::PresentRecords;
use super::split::{BodyLines, MAX_RECORD_BYTES};
use super::staging::{List, Staging};
use super::{Line, LineCounts};
use crate::agents::{self, AgentOut, AttachmentRecord};
use crate::backup::preview::RestoreMode;
use crate::backup::problems::{
    BackupProblems, brought_back, checked_version, is_current, read_handler, refuse_brought_back,
};
use crate::backup::reading::{RestoreSurroundings, read_surroundings, surroundings};
use crate::backup::restore::{Restored, token_revoked};
use crate::callers::Scope;
use crate::error::{Error, Result};
use crate::federation::ServerRecord;
use crate::ids::Version;
use crate::modules::ModuleRecord;
use crate::registry::credential::Credential;
use crate::registry::invariants::{CheckedVersion, DefinedNames};
use crate::registry::{self, Tool, ToolRecord, VersionRecord};
use futures_util::stream::Stream;
use toolsets::ToolsetIntake;
use upstreams::UpstreamIntake;

/// How many versions that may not come back one response names.
const MAX_NAMED: usize = 50;

/// Makes the registry equal to the backup: all of it, or nothing. The caller is checked before the body is read.
/// `parse` reads one line.
pub async fn restore(
    scope: &Scope,
    pieces: impl Stream<Item = Result<Vec<u8>>>,
    parse: impl Fn(&[u8]) -> Result<Line>,
    mode: RestoreMode,
) -> Result<Restored> {
    scope.unbound_caller().await?;
    let [banned, bound_tokens, builtins, settings, seq] = scope.read(surroundings(scope.workspace())).await?;
    let around = read_surroundings([&banned, &bound_tokens, &builtins, &settings, &seq])?;
    let seq = around.seq;
    let mut lines = BodyLines::new(pieces);
    let mut intake = Intake::new(scope, around, mode)?;
    let restored = match intake.read(&mut lines, parse).await {
        Ok(()) => intake.staging.switch(scope, seq).await,
        Err(error) => {
            lines.drain().await;
            Err(error)
        }
    };
    intake.staging.delete(scope).await;
    restored
}

/// The part of a backup that a line belongs to. The parts come in this order.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
enum Part {
    Credentials,
    Agents,
    Tools,
    Modules,
    Servers,
    Toolsets,
    End,
}

/// The tool that the following versions and attachments belong to.
struct OpenTool {
    path: String,
    record: ToolRecord,
    /// Whether the tool's own row differs. All versions then differ too, because every version shows the creation time
    /// of its tool.
    differs: bool,
    /// Whether the tool is in the list of touched tools.
    touched: bool,
    last_version: Option<Version>,
    /// The version that configurations are checked against.
    current: Option<Tool>,
    /// The active versions, with their places in the body.
    active: Vec<(String, CheckedVersion)>,
    last_agent: Option<String>,
}

struct Intake<'a> {
    scope: &'a Scope,
    around: RestoreSurroundings,
    present: PresentRecords,
    staging: Staging,
    found: BackupProblems,
    /// The versions that the backup would bring back.
    back: Vec<String>,
    part: Part,
    counts: LineCounts,
    /// The credentials and the upstreams of the backup.
    defined: DefinedNames,
    last_credential: Option<String>,
    /// The ids of the agents, sorted, and how many attachments each has so far.
    agents: Vec<(String, u32)>,
    /// The last built-in that was attached to the last agent.
    last_builtin: Option<String>,
    tool: Option<OpenTool>,
    /// The tool that was removed last.
    removed_tool: Option<String>,
    upstreams: UpstreamIntake,
    toolsets: ToolsetIntake<'a>,
}

impl<'a> Intake<'a> {
    fn new(scope: &'a Scope, around: RestoreSurroundings, mode: RestoreMode) -> Result<Self> {
        Ok(Self {
            scope,
            present: PresentRecords::at(around.seq),
            around,
            staging: Staging::new(mode)?,
            found: BackupProblems::default(),
            back: Vec::new(),
            part: Part::Credentials,
            counts: LineCounts::default(),
            defined: DefinedNames::default(),
            last_credential: None,
            agents: Vec::new(),
            last_builtin: None,
            tool: None,
            removed_tool: None,
            upstreams: UpstreamIntake::default(),
            toolsets: ToolsetIntake::new(scope),
        })
    }

    /// Reads all lines. Fails if the backup cannot be restored.
    async fn read<S: Stream<Item = Result<Vec<u8>>>>(
        &mut self,
        lines: &mut BodyLines<S>,
        parse: impl Fn(&[u8]) -> Result<Line>,
    ) -> Result<()> {
        while let Some((number, line)) = lines.next().await? {
            let (path, is_long) = (format!("/{number}"), line.len() > MAX_RECORD_BYTES);
            match parse(line) {
                Ok(line) if is_long && !matches!(line, Line::Toolset(_)) => self.found.add(path, TOO_LONG),
                Ok(line) => self.line(path, line).await?,
                Err(Error::Invalid(problems)) => self.found.within(&path, problems),
                Err(other) => return Err(other),
            }
            if self.found.are_enough() {
                break;
            }
            self.write_some().await?;
        }
        if self.found.is_empty() && self.part != Part::End {
            self.found.add("", "The backup is cut off: its last line must be the end, which counts the records");
        }
        std::mem::take(&mut self.found).none()?;
        refuse_brought_back(&self.back)?;
        if self.staging.is_dry_run() { Ok(()) } else { self.toolsets.store_contents().await }
    }

    async fn line(&mut self, path: String, line: Line) -> Result<()> {
        if self.part == Part::End {
            self.found.add(path, "comes after the end");
            return Ok(());
        }
        self.counts.add(&line);
        match line {
            Line::Credential(it) => {
                if self.enter(&path, Part::Credentials).await? {
                    self.credential(&path, it).await?;
                }
            }
            Line::Agent(it) => {
                if self.enter(&path, Part::Agents).await? {
                    self.agent(&path, it).await?;
                }
            }
            Line::Tool(it) => {
                if self.enter(&path, Part::Tools).await? {
                    self.tool(path, it).await?;
                }
            }
            Line::Version(it) => self.version(&path, *it).await?,
            Line::Attachment(it) => match self.part {
                Part::Tools | Part::Modules | Part::Servers | Part::Toolsets => self.attachment(&path, it).await?,
                Part::Credentials | Part::Agents | Part::End => self.builtin_attachment(&path, it).await?,
            },
            Line::Workspace(it) => {
                if self.enter(&path, Part::Modules).await? {
                    self.workspace(&path, &it)?;
                }
            }
            Line::Module(it) => {
                if self.enter(&path, Part::Modules).await? {
                    self.upstream(&path, *it).await?;
                }
            }
            Line::Server(it) => {
                if self.enter(&path, Part::Servers).await? {
                    self.server(&path, &it);
                    self.upstream(&path, *it).await?;
                }
            }
            Line::Content(it) => {
                if self.enter(&path, Part::Toolsets).await? {
                    self.content(&path, *it).await?;
                }
            }
            Line::Toolset(it) => {
                if self.enter(&path, Part::Toolsets).await? {
                    self.toolset(&path, *it).await?;
                }
            }
            Line::Override(it) => {
                if self.enter(&path, Part::Toolsets).await? {
                    self.tool_override(&path, *it).await?;
                }
            }
            Line::End(counts) => {
                self.enter(&path, Part::End).await?;
                self.close_upstreams::<ServerRecord>(&path, counts.are_older_than_servers()).await?;
                self.close_toolsets(counts.are_older_than_toolsets()).await?;
                self.find_needed_upstreams();
                if counts.are_older_than_servers() && !counts.are_older_than_toolsets() {
                    self.found.add(path.clone(), "counts toolsets, and no mcp_servers");
                }
                if !counts.are_those_of(&self.counts) {
                    self.found
                        .add(path, "does not count the lines that came before it: lines are missing, or too many");
                }
            }
        }
        Ok(())
    }

    /// Goes on to the part that the next line belongs to. False if this part is over.
    async fn enter(&mut self, path: &str, part: Part) -> Result<bool> {
        if part < self.part {
            self.found.add(path, OUT_OF_ORDER);
            return Ok(false);
        }
        if part > Part::Credentials && self.part == Part::Credentials {
            while let Some(gone) = self.present.credentials.next(self.scope).await? {
                self.remove_credential(&gone)?;
            }
        }
        if part > Part::Agents && self.part <= Part::Agents {
            self.remove_agents_below(None).await?;
        }
        if part > Part::Tools && self.part <= Part::Tools {
            self.close_tool().await?;
            self.remove_tools_below(None).await?;
        }
        if part > Part::Modules && self.part <= Part::Modules {
            let are_older = !self.upstreams.has_settings;
            self.close_upstreams::<ModuleRecord>(path, are_older).await?;
        }
        // Lines with toolsets are not older than MCP servers. Other lines tell this by their end.
        if part == Part::Toolsets && self.part <= Part::Servers {
            self.close_upstreams::<ServerRecord>(path, false).await?;
        }
        self.part = part;
        Ok(true)
    }

    /// Writes the decisions, if there are many. One line may remove any number of records, so every loop over removed
    /// records does so too. The decisions about a backup that will be refused are thrown away.
    async fn write_some(&mut self) -> Result<()> {
        if self.found.is_empty() {
            return self.staging.write_some(self.scope).await;
        }
        self.staging.give_up();
        Ok(())
    }

    /// Whether the key is higher than the one before it. A record that is not is a problem.
    fn rises<K: PartialOrd>(&mut self, path: &str, last: Option<&K>, key: &K) -> bool {
        match last {
            Some(last) if last == key => self.found.add(path, "is there twice"),
            Some(last) if last > key => self.found.add(path, "is out of order: the names must rise from line to line"),
            _ => return true,
        }
        false
    }

    async fn credential(&mut self, path: &str, it: Credential) -> Result<()> {
        let last = self.last_credential.take();
        let rises = self.rises(&format!("{path}/id"), last.as_ref(), &it.id);
        self.found.credential(path, &it);
        self.last_credential = Some(it.id.clone());
        self.defined.credentials.insert(it.id.clone());
        if !rises {
            return Ok(());
        }
        while let Some(gone) = self.present.credentials.next_below(self.scope, &it.id).await? {
            self.remove_credential(&gone)?;
        }
        let before = self.present.credentials.next_at(self.scope, &it.id).await?;
        if before.as_ref() != Some(&it) {
            self.staging.change(List::CredentialsPut, registry::credential_put(&it, before.as_ref())?)?;
            self.staging.add(List::Credentials, &it)?;
        }
        Ok(())
    }

    fn remove_credential(&mut self, gone: &Credential) -> Result<()> {
        self.staging.change(List::CredentialsRemoved, registry::credential_removed(gone)?)?;
        self.staging.add(List::DeletedCredentials, &gone.id)
    }

    async fn agent(&mut self, path: &str, it: AgentOut) -> Result<()> {
        let last = self.agents.last().map(|(id, _)| id.clone());
        let rises = self.rises(&format!("{path}/id"), last.as_ref(), &it.id);
        self.found.agent(path, &it);
        if !rises {
            return Ok(());
        }
        self.remove_agents_below(Some(&it.id)).await?;
        let before = self.present.agents.next_at(self.scope, &it.id).await?;
        if before.as_ref() != Some(&it) {
            self.staging.change(List::AgentsPut, agents::agent_put(&it, before.as_ref())?)?;
            self.staging.add(List::Agents, &it)?;
        }
        self.agents.push((it.id, 0));
        self.last_builtin = None;
        Ok(())
    }

    /// Removes the present agents with lower ids, and the attachments of built-ins that no line has named. Without an
    /// id, removes the rest.
    async fn remove_agents_below(&mut self, id: Option<&String>) -> Result<()> {
        let scope = self.scope;
        let end = id.map(|it| (it.clone(), String::new()));
        while let Some(gone) = self.present.builtin_attachments.next_until(scope, end.as_ref()).await? {
            self.remove_attachment(&gone)?;
            self.write_some().await?;
        }
        while let Some(gone) = self.present.agents.next_until(scope, id).await? {
            // A token that is bound to an agent ends with that agent.
            for token in self.around.bound_tokens.iter().filter(|it| it.agent_id == gone.id) {
                self.staging.change(List::TokensRevoked, token_revoked(token)?)?;
            }
            self.staging.change(List::AgentsRemoved, agents::agent_removed(&gone)?)?;
            self.staging.add(List::DeletedAgents, &gone.id)?;
            self.write_some().await?;
        }
        Ok(())
    }

    fn remove_attachment(&mut self, gone: &AttachmentRecord) -> Result<()> {
        self.staging.change(List::AttachmentsRemoved, agents::attachment_removed(gone)?)?;
        self.staging.add(List::DeletedAttachments, &gone.name())
    }

    fn put_attachment(&mut self, it: &AttachmentRecord, before: Option<&AttachmentRecord>) -> Result<()> {
        if before != Some(it) {
            self.staging.change(List::AttachmentsPut, agents::attachment_put(it, before)?)?;
            self.staging.add(List::Attachments, it)?;
        }
        Ok(())
    }

    /// An attachment of a built-in, which follows its agent.
    async fn builtin_attachment(&mut self, path: &str, it: AttachmentRecord) -> Result<()> {
        let last = self.last_builtin.take();
        let rises = self.rises(path, last.as_ref(), &it.tool_id);
        self.last_builtin = Some(it.tool_id.clone());
        if !self.around.builtins.contains(&it.tool_id) {
            let message = "is no built-in: an attachment of another tool follows the versions of its tool";
            self.found.add(format!("{path}/tool_id"), message);
            return Ok(());
        }
        let Some((_, count)) = self.agents.last_mut().filter(|(id, _)| *id == it.agent_id) else {
            self.found
                .add(format!("{path}/agent_id"), "is none of the backup's agents, or not the one before this line");
            return Ok(());
        };
        self.found.attachment(path, &it, None, count)?;
        if !rises {
            return Ok(());
        }
        let key = (it.agent_id.clone(), it.tool_id.clone());
        while let Some(gone) = self.present.builtin_attachments.next_below(self.scope, &key).await? {
            self.remove_attachment(&gone)?;
        }
        let before = self.present.builtin_attachments.next_at(self.scope, &key).await?;
        self.put_attachment(&it, before.as_ref())
    }

    async fn tool(&mut self, path: String, it: ToolRecord) -> Result<()> {
        let last = self.tool.as_ref().map(|it| it.record.id.clone());
        self.close_tool().await?;
        let rises = self.rises(&format!("{path}/id"), last.as_ref(), &it.id);
        self.found.tool(&path, &it, &self.around.builtins);
        self.owner(&path, &it);
        let mut open = OpenTool {
            path,
            differs: true,
            touched: false,
            last_version: None,
            current: None,
            active: Vec::new(),
            last_agent: None,
            record: it,
        };
        if rises {
            self.remove_tools_below(Some(&open.record.id)).await?;
            let before = self.present.versions.peek(self.scope).await?;
            let before = before.filter(|it| it.id.as_str() == open.record.id).map(ToolRecord::from);
            open.differs = before.as_ref() != Some(&open.record);
            if open.differs {
                self.staging.add(List::Tools, &open.record)?;
                self.touch(&mut open)?;
            }
        }
        self.tool = Some(open);
        Ok(())
    }

    fn touch(&mut self, open: &mut OpenTool) -> Result<()> {
        if !open.touched {
            open.touched = true;
            self.staging.add(List::TouchedTools, &open.record.id)?;
        }
        Ok(())
    }

    /// Ends the open tool: what the registry has of it, and no line has named, is removed.
    async fn close_tool(&mut self) -> Result<()> {
        let Some(mut open) = self.tool.take() else { return Ok(()) };
        let scope = self.scope;
        if open.last_version.is_none() {
            self.found.add(open.path.clone(), "has no version");
        }
        while let Some(gone) = next_of_tool(&mut self.present, scope, &open.record.id).await? {
            self.remove_version(&mut open, gone)?;
        }
        while let Some(gone) = next_attachment_of(&mut self.present, scope, &open.record.id).await? {
            self.remove_attachment(&gone)?;
        }
        if self.found.is_empty() {
            let (paths, active): (Vec<_>, Vec<_>) = open.active.into_iter().unzip();
            self.found.invariants(&active, &self.defined, |index| paths.get(index).cloned().unwrap_or_default());
        }
        Ok(())
    }

    /// Removes a version of a tool that stays.
    fn remove_version(&mut self, open: &mut OpenTool, gone: Tool) -> Result<()> {
        self.staging.add(List::GoneVersions, &registry::version_name(gone.id.as_str(), gone.version))?;
        self.staging.change(List::VersionsRemoved, registry::version_removed(&VersionRecord::try_from(gone)?)?)?;
        self.touch(open)
    }

    /// Removes the present tools with lower ids. Without an id, removes the rest.
    async fn remove_tools_below(&mut self, id: Option<&String>) -> Result<()> {
        let scope = self.scope;
        let end = id.map(|it| (it.clone(), String::new()));
        while let Some(gone) = self.present.attachments.next_until(scope, end.as_ref()).await? {
            self.remove_attachment(&gone)?;
            self.write_some().await?;
        }
        let end = id.map(|it| (it.clone(), FIRST));
        while let Some(gone) = self.present.versions.next_until(scope, end.as_ref()).await? {
            // The versions of a tool go with the tool.
            if self.removed_tool.as_deref() != Some(gone.id.as_str()) {
                self.staging.add(List::DeletedTools, &gone.id.as_str())?;
                self.removed_tool = Some(gone.id.to_string());
            }
            self.staging.change(List::VersionsRemoved, registry::version_removed(&VersionRecord::try_from(gone)?)?)?;
            self.write_some().await?;
        }
        Ok(())
    }

    async fn version(&mut self, path: &str, mut record: VersionRecord) -> Result<()> {
        let Some(mut open) = self.tool.take_if(|it| it.record.id == record.tool_id) else {
            let message = "is none of the backup's tools, or not the one before this line";
            self.found.add(format!("{path}/tool_id"), message);
            return Ok(());
        };
        let result = self.version_of(path, &mut open, &mut record).await;
        self.tool = Some(open);
        result
    }

    async fn version_of(&mut self, path: &str, open: &mut OpenTool, record: &mut VersionRecord) -> Result<()> {
        if open.last_agent.is_some() {
            self.found.add(path, "is out of order: a tool's versions come before its attachments");
        }
        let Some((id, version)) = self.found.version_name(path, record) else { return Ok(()) };
        let rises = self.rises(path, open.last_version.as_ref(), &version);
        open.last_version = Some(version);
        let handler = read_handler(record, self.scope.app().settings().sealer.as_ref());
        if !rises {
            return Ok(());
        }
        let key = (record.tool_id.clone(), version);
        while let Some(gone) = self.present.versions.next_below(self.scope, &key).await? {
            self.remove_version(open, gone)?;
        }
        let before = self.present.versions.next_at(self.scope, &key).await?.map(VersionRecord::try_from).transpose()?;
        let differs = before.as_ref() != Some(record);
        let rules = differs.then_some(self.scope.app().url_rules());
        let checked = self.found.version(path, record, (id, version), handler, &open.record, rules)?;
        let Some((tool, handler)) = checked else { return Ok(()) };
        if self.back.len() < MAX_NAMED {
            self.back.extend(brought_back(&tool, &self.around.banned));
        }
        if tool.active {
            let mut checked = checked_version(&tool, &handler);
            self.upstreams.need(path, &mut checked);
            self.toolsets.need(path, &mut checked);
            open.active.push((path.to_owned(), checked));
        }
        if differs {
            if before.is_some() {
                self.staging.add(List::GoneVersions, &registry::version_name(&record.tool_id, version))?;
            }
            self.staging.add(List::Versions, &registry::version_json(&tool)?)?;
            self.touch(open)?;
        }
        if differs || open.differs {
            self.staging.change(List::VersionsPut, registry::version_put(&tool, before.as_ref())?)?;
        }
        if is_current(&tool, open.current.as_ref()) {
            open.current = Some(tool);
        }
        Ok(())
    }

    /// An attachment of one of the backup's tools, which follows the versions of the tool.
    async fn attachment(&mut self, path: &str, it: AttachmentRecord) -> Result<()> {
        let Some(mut open) = self.tool.take_if(|open| open.record.id == it.tool_id) else {
            let message = "is none of the backup's tools, or not the one before this line; \
                           an attachment of a built-in follows its agent";
            self.found.add(format!("{path}/tool_id"), message);
            return Ok(());
        };
        let result = self.attachment_of(path, &mut open, it).await;
        self.tool = Some(open);
        result
    }

    async fn attachment_of(&mut self, path: &str, open: &mut OpenTool, it: AttachmentRecord) -> Result<()> {
        let last = open.last_agent.replace(it.agent_id.clone());
        let rises = self.rises(path, last.as_ref(), &it.agent_id);
        let Ok(at) = self.agents.binary_search_by(|(id, _)| id.as_str().cmp(&it.agent_id)) else {
            self.found.add(format!("{path}/agent_id"), "is none of the backup's agents");
            return Ok(());
        };
        // A version with a problem may have a schema that cannot be used.
        let current = open.current.as_ref().filter(|_| self.found.is_empty());
        if let Some((_, count)) = self.agents.get_mut(at) {
            self.found.attachment(path, &it, current, count)?;
        }
        if !rises {
            return Ok(());
        }
        let key = (it.tool_id.clone(), it.agent_id.clone());
        while let Some(gone) = self.present.attachments.next_below(self.scope, &key).await? {
            self.remove_attachment(&gone)?;
        }
        let before = self.present.attachments.next_at(self.scope, &key).await?;
        self.put_attachment(&it, before.as_ref())
    }
}

const OUT_OF_ORDER: &str = "is out of order: credentials come first, then agents, then tools, then the workspace's settings, modules, \
     MCP servers and toolsets";

const TOO_LONG: &str = "is longer than the 2000000 bytes that a line may have";

/// No version is lower.
const FIRST: Version = Version { major: 0, minor: 0, patch: 0 };

/// The next present version, if it is one of this tool.
async fn next_of_tool(present: &mut PresentRecords, scope: &Scope, id: &str) -> Result<Option<Tool>> {
    let next = present.versions.peek(scope).await?;
    if next.is_some_and(|it| it.id.as_str() == id) { present.versions.next(scope).await } else { Ok(None) }
}

/// The next present attachment, if it is one of this tool.
async fn next_attachment_of(present: &mut PresentRecords, scope: &Scope, id: &str) -> Result<Option<AttachmentRecord>> {
    let next = present.attachments.peek(scope).await?;
    if next.is_some_and(|it| it.tool_id == id) { present.attachments.next(scope).await } else { Ok(None) }
}
