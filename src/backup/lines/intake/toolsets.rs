//! The lines of toolsets: the contents of their files, the toolsets themselves, and their overrides.

use super::Intake;
use crate::backup::lines::contents::{ContentLine, ContentsIntake};
use crate::backup::lines::staging::List;
use crate::backup::toolset_problems::OwnerSources;
use crate::callers::Scope;
use crate::error::Result;
use crate::federation::ServerRecord;
use crate::files::{AheadContents, stored_sizes};
use crate::registry::invariants::CheckedVersion;
use crate::registry::{Source, ToolRecord};
use crate::toolsets::{
    OverrideRecord, ToolsetParts, ToolsetRecord, override_name, override_put, override_removed, override_row,
    toolset_put, toolset_removed,
};
use std::collections::HashSet;

/// What is wrong with contents that are nowhere.
const NO_CONTENTS: &str =
    "is the name of contents that no line before the toolset holds, and that the workspace does not have";

pub(super) struct ToolsetIntake<'a> {
    contents: ContentsIntake,
    /// Contents on their way to the database. Nothing refers to them until all decisions take effect.
    ahead: AheadContents<'a>,
    /// The MCP servers of the backup: their places, ids and toolsets.
    servers: Vec<(String, String, Option<String>)>,
    owners: OwnerSources,
    last: Option<String>,
    count: usize,
    open: Option<OpenToolset>,
    /// The active versions of toolsets' tools: their places, toolsets, tools and numbers.
    needed: Vec<(String, String, String, String)>,
}

/// The toolset that the following overrides belong to.
struct OpenToolset {
    id: String,
    /// The ids of its tools within the toolset.
    names: Vec<String>,
    last_override: Option<String>,
}

impl<'a> ToolsetIntake<'a> {
    pub(super) fn new(scope: &'a Scope) -> Self {
        Self {
            contents: ContentsIntake::default(),
            ahead: AheadContents::new(scope, "Cannot restore the backup"),
            servers: Vec::new(),
            owners: OwnerSources::default(),
            last: None,
            count: 0,
            open: None,
            needed: Vec::new(),
        }
    }

    /// Notes the toolset of an active version. The toolsets come after all versions, so the tool is looked for at the end.
    pub(super) fn need(&mut self, path: &str, version: &mut CheckedVersion) {
        if let Some(toolset) = version.toolset.take() {
            self.needed.push((path.to_owned(), toolset, version.tool_id.clone(), version.version.clone()));
        }
    }

    /// Stores the contents that wait. They are kept for an hour, which is as long as a restore may take.
    pub(super) async fn store_contents(&mut self) -> Result<()> {
        self.ahead.store().await
    }
}

impl Intake<'_> {
    /// Notes the source of a tool.
    pub(super) fn owner(&mut self, path: &str, it: &ToolRecord) {
        self.toolsets.owners.add(&mut self.found, path, it);
    }

    /// Notes the toolset of an MCP server.
    pub(super) fn server(&mut self, path: &str, it: &ServerRecord) {
        if self.toolsets.owners.has_other(&it.id, Source::Mcp) {
            self.found.add(format!("{path}/id"), "was the id of a toolset, whose tools are still recorded");
        }
        self.toolsets.servers.push((path.to_owned(), it.id.clone(), it.toolset_id.clone()));
    }

    /// A piece of contents. Whole contents are stored ahead, unless a present toolset has them: nothing can delete these
    /// before the restore ends.
    pub(super) async fn content(&mut self, path: &str, line: ContentLine) -> Result<()> {
        let blob = match self.toolsets.contents.take(path, line) {
            Ok(Some(blob)) => blob,
            Ok(None) => return Ok(()),
            Err(message) => {
                self.found.add(path, message);
                return Ok(());
            }
        };
        if !self.found.is_empty() || self.staging.is_dry_run() {
            return Ok(());
        }
        let next = self.present.toolsets.peek(self.scope).await?;
        if next.is_some_and(|it| it.files.iter().any(|it| it.sha256 == blob.sha256())) {
            return Ok(());
        }
        self.toolsets.ahead.add(blob).await
    }

    pub(super) async fn toolset(&mut self, path: &str, mut it: ToolsetRecord) -> Result<()> {
        let last = self.toolsets.last.replace(it.id.clone());
        let rises = self.rises(&format!("{path}/id"), last.as_ref(), &it.id);
        self.toolsets.count += 1;
        self.found.toolset_count(path, self.toolsets.count);
        let is_server = self.toolsets.servers.iter().any(|(_, id, _)| *id == it.id);
        self.found.toolset_id(path, &it.id, is_server, &self.toolsets.owners);
        if !rises {
            return Ok(());
        }
        self.remove_toolsets_below(Some(&it.id)).await?;
        let before = self.present.toolsets.next_at(self.scope, &it.id).await?;
        let differs = before.as_ref() != Some(&it);
        self.contents_of(path, &it, differs).await?;
        if differs {
            self.found.toolset(path, &mut it);
            self.put_toolset(&it, before.as_ref())?;
        }
        self.defined.toolsets.add(&it.id, None);
        it.tool_names().for_each(|name| self.defined.toolsets.add(&it.id, Some(name)));
        let names = it.tool_names().map(str::to_owned).collect();
        self.toolsets.open = Some(OpenToolset { id: it.id, names, last_override: None });
        Ok(())
    }

    /// Checks the contents of a toolset's files: those that have come are used, and all are there.
    async fn contents_of(&mut self, path: &str, it: &ToolsetRecord, differs: bool) -> Result<()> {
        let came = match self.toolsets.contents.end() {
            Ok(came) => came,
            Err(open) => {
                self.found.add(open, "is not the last piece of the contents");
                return Ok(());
            }
        };
        let used = it.files.iter().map(|it| it.sha256.as_str()).collect::<HashSet<_>>();
        for (_, unused) in came.iter().filter(|(sha256, _)| !used.contains(sha256.as_str())) {
            self.found.add(unused.path.clone(), "is for no file of the toolset that follows");
        }
        if !differs {
            return Ok(());
        }
        let asked = used.into_iter().filter(|it| !came.contains_key(*it)).collect::<Vec<_>>();
        let stored = stored_sizes(self.scope, &asked).await?;
        let size = |sha256: &str| came.get(sha256).map(|it| it.size).or_else(|| stored.get(sha256).copied());
        self.found.contents(path, it, size, NO_CONTENTS);
        Ok(())
    }

    fn put_toolset(&mut self, it: &ToolsetRecord, before: Option<&ToolsetRecord>) -> Result<()> {
        self.staging.change(List::ToolsetsPut, toolset_put(it, before)?)?;
        let parts = ToolsetParts::new(it, before);
        self.staging.add(List::Toolsets, &parts.toolset)?;
        let lists = [
            (List::GoneToolsetFiles, parts.gone_files),
            (List::GoneDeclarations, parts.gone_tools.into_iter().collect()),
            (List::ToolsetFiles, parts.files),
            (List::Declarations, parts.tools),
        ];
        for (list, rows) in lists {
            rows.iter().try_for_each(|row| self.staging.add(list, row))?;
        }
        Ok(())
    }

    /// An override, which follows its toolset.
    pub(super) async fn tool_override(&mut self, path: &str, mut it: OverrideRecord) -> Result<()> {
        let Some(mut open) = self.toolsets.open.take_if(|open| open.id == it.toolset_id) else {
            let message = "is none of the backup's toolsets, or not the one before this line";
            self.found.add(format!("{path}/toolset_id"), message);
            return Ok(());
        };
        let last = open.last_override.replace(it.tool_id.clone());
        let rises = self.rises(&format!("{path}/tool_id"), last.as_ref(), &it.tool_id);
        let of_toolset = |(_, id, toolset): &'_ (String, String, Option<String>)| {
            (toolset.as_ref() == Some(&open.id)).then(|| id.clone())
        };
        let servers = self.toolsets.servers.iter().filter_map(of_toolset).collect::<Vec<_>>();
        let [names, servers] = [&open.names, &servers].map(|it| it.iter().map(String::as_str).collect::<HashSet<_>>());
        self.found.overridden_tool(path, &it, &names, &servers);
        self.toolsets.open = Some(open);
        if !rises {
            return Ok(());
        }
        let key = it.key();
        self.remove_overrides_below(Some(&key)).await?;
        let before = self.present.overrides.next_at(self.scope, &key).await?;
        if before.as_ref() != Some(&it) {
            self.found.tool_override(path, &mut it);
            if self.found.is_empty() {
                self.staging.change(List::OverridesPut, override_put(&it, before.as_ref())?)?;
                self.staging.add(List::Overrides, &override_row(&it))?;
            }
        }
        Ok(())
    }

    /// Removes the present toolsets with lower ids, and the overrides that no line has named. Without an id, removes the rest.
    async fn remove_toolsets_below(&mut self, id: Option<&String>) -> Result<()> {
        let end = id.map(|it| (it.clone(), String::new()));
        self.remove_overrides_below(end.as_ref()).await?;
        while let Some(gone) = self.present.toolsets.next_until(self.scope, id).await? {
            self.staging.change(List::ToolsetsRemoved, toolset_removed(&gone)?)?;
            self.staging.add(List::DeletedToolsets, &gone.id)?;
            self.write_some().await?;
        }
        Ok(())
    }

    async fn remove_overrides_below(&mut self, end: Option<&(String, String)>) -> Result<()> {
        while let Some(gone) = self.present.overrides.next_until(self.scope, end).await? {
            self.staging.change(List::OverridesRemoved, override_removed(&gone)?)?;
            self.staging.add(List::DeletedOverrides, &override_name(&gone))?;
            self.write_some().await?;
        }
        Ok(())
    }

    /// Ends the toolsets: those that no line has named are removed. If the lines are older than toolsets, the toolsets stay as
    /// they are. Then everything is known that tools and MCP servers need of toolsets.
    pub(super) async fn close_toolsets(&mut self, are_older: bool) -> Result<()> {
        match self.toolsets.contents.end() {
            Ok(came) => {
                for (_, unused) in came {
                    self.found.add(unused.path, "is followed by no toolset");
                }
            }
            Err(open) => self.found.add(open, "is not the last piece of the contents"),
        }
        if are_older {
            while let Some(it) = self.present.toolsets.next(self.scope).await? {
                self.defined.toolsets.add(&it.id, None);
                it.tool_names().for_each(|name| self.defined.toolsets.add(&it.id, Some(name)));
            }
        } else {
            self.remove_toolsets_below(None).await?;
        }
        for (path, id, toolset) in std::mem::take(&mut self.toolsets.servers) {
            if are_older && self.defined.toolsets.has_toolset(&id) {
                self.found
                    .add(format!("{path}/id"), "is the id of a toolset: toolsets and MCP servers share their ids");
            }
            if toolset.is_some_and(|it| !self.defined.toolsets.has_toolset(&it)) {
                self.found.missing_toolset(&path);
            }
        }
        for (path, toolset, tool, version) in std::mem::take(&mut self.toolsets.needed) {
            if let Some(message) = self.defined.toolsets.missing(&toolset, &tool) {
                self.found.add(path, format!("handler_targets_exist: {tool}@{version} {message}"));
            }
        }
        Ok(())
    }
}
