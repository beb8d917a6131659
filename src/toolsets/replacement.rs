//! Replaces the toolsets and the overrides of a workspace, as a restore does. Only what differs is written. The versions of
//! the tools and the MCP servers are replaced by their own rooms.

use super::record::{OverrideRecord, ToolsetRecord};
use super::store::replacing;
use super::toolset::{ToolsetFile, ToolsetState};
use crate::changes::{Action, Change};
use crate::db::{ManyRows, Statement};
use crate::error::{Error, Result};
use crate::ids::{ToolId, WorkspaceId};
use crate::registry::RecordDifference;
use serde_json::{Value, json};

/// The toolsets and the overrides of a workspace.
#[derive(Clone, Copy)]
pub struct ToolsetRecords<'a> {
    pub toolsets: &'a [ToolsetRecord],
    pub overrides: &'a [OverrideRecord],
}

/// The differences between the present toolsets and the wanted ones.
pub struct ToolsetReplacement<'a> {
    toolsets: RecordDifference<'a, ToolsetRecord>,
    overrides: RecordDifference<'a, OverrideRecord>,
}

impl<'a> ToolsetReplacement<'a> {
    pub fn new(now: ToolsetRecords<'a>, wanted: ToolsetRecords<'a>) -> Self {
        Self {
            toolsets: RecordDifference::between(now.toolsets, wanted.toolsets, |it| it.id.as_str()),
            overrides: RecordDifference::between(now.overrides, wanted.overrides, |it| {
                (it.toolset_id.as_str(), it.tool_id.as_str())
            }),
        }
    }

    /// Rows of the change log for what is removed.
    pub fn removals(&self) -> Result<Vec<Change>> {
        let overrides = self.overrides.removed.iter().map(|it| override_removed(it));
        overrides.chain(self.toolsets.removed.iter().map(|it| toolset_removed(it))).collect()
    }

    /// Rows of the change log for what is added and changed.
    pub fn additions(&self) -> Result<Vec<Change>> {
        let toolsets = self.toolsets.put.iter().map(|(it, before)| toolset_put(it, *before));
        toolsets.chain(self.overrides.put.iter().map(|(it, before)| override_put(it, *before))).collect()
    }

    /// The rows that write the differences.
    pub fn rows(&self) -> ToolsetRows<Vec<Value>> {
        let mut rows = ToolsetRows {
            removed_overrides: self.overrides.removed.iter().map(|it| override_name(it)).collect(),
            removed_toolsets: self.toolsets.removed.iter().map(|it| json!(it.id)).collect(),
            gone_files: Vec::new(),
            gone_tools: Vec::new(),
            toolsets: Vec::new(),
            files: Vec::new(),
            tools: Vec::new(),
            overrides: self.overrides.put.iter().map(|(it, _)| override_row(it)).collect(),
        };
        for (it, before) in &self.toolsets.put {
            let parts = ToolsetParts::new(it, *before);
            rows.toolsets.push(parts.toolset);
            rows.gone_files.extend(parts.gone_files);
            rows.gone_tools.extend(parts.gone_tools);
            rows.files.extend(parts.files);
            rows.tools.extend(parts.tools);
        }
        rows
    }
}

/// The rows that a replacement writes, one list for each purpose.
pub struct ToolsetRows<R> {
    /// Each is an [`override_name`].
    pub removed_overrides: R,
    /// Ids.
    pub removed_toolsets: R,
    /// Toolsets and paths of files that are removed or replaced.
    pub gone_files: R,
    /// The ids of the toolsets whose declarations are replaced.
    pub gone_tools: R,
    pub toolsets: R,
    pub files: R,
    pub tools: R,
    /// Each is an [`override_row`].
    pub overrides: R,
}

impl<R: ManyRows> ToolsetRows<R> {
    /// The statements that remove rows. They come before MCP servers are added, because one of these may get the id of a
    /// toolset that goes.
    pub fn remove(&self, workspace: &WorkspaceId) -> Result<Vec<Statement>> {
        let parts = [
            replacing::delete_overrides(workspace, &self.removed_overrides)?,
            replacing::delete_files(workspace, &self.gone_files)?,
            replacing::delete_declarations(workspace, &self.gone_tools)?,
            replacing::delete_toolsets(workspace, &self.removed_toolsets)?,
        ];
        Ok(parts.into_iter().flatten().collect())
    }

    /// The statements that add and change rows. They come after MCP servers have been removed, because a toolset may get
    /// the id of one of these. The touched toolsets get `revision`, which no toolset of the workspace may have had.
    pub fn put(&self, workspace: &WorkspaceId, revision: u32) -> Result<Vec<Statement>> {
        let parts = [
            replacing::put_toolsets(workspace, &self.toolsets, revision)?,
            replacing::insert_files(workspace, &self.files)?,
            replacing::insert_declarations(workspace, &self.tools)?,
            replacing::put_overrides(workspace, &self.overrides)?,
            replacing::raise_revisions(workspace, &self.removed_overrides, "value ->> 0", revision)?,
            replacing::raise_revisions(workspace, &self.overrides, "value ->> 'toolset_id'", revision)?,
        ];
        Ok(parts.into_iter().flatten().collect())
    }
}

/// The rows of one toolset that is added or changed.
pub struct ToolsetParts {
    pub toolset: Value,
    pub gone_files: Vec<Value>,
    pub gone_tools: Option<Value>,
    pub files: Vec<Value>,
    pub tools: Vec<Value>,
}

impl ToolsetParts {
    /// Files that stay the same are not written.
    pub fn new(it: &ToolsetRecord, before: Option<&ToolsetRecord>) -> Self {
        let known = before.map_or(&[][..], |it| it.files.as_slice());
        let files = RecordDifference::between(known, &it.files, |it| it.path.as_str());
        let replaced = files.put.iter().filter_map(|(_, before)| *before);
        let gone = files.removed.iter().copied().chain(replaced);
        let has_same_tools = before.is_some_and(|before| before.tools == it.tools);
        let tools = it.tools.iter().enumerate().filter(|_| !has_same_tools);
        Self {
            toolset: json!({
                "id": it.id, "name": it.name, "version": it.version, "description": it.description,
                "enabled": it.enabled, "installed_at": it.installed_at, "source_ref": it.source_ref,
                "manifest_version": it.manifest_version, "warnings": json!(it.warnings).to_string(),
            }),
            gone_files: gone.map(|file| json!([it.id, file.path])).collect(),
            gone_tools: (!has_same_tools && before.is_some()).then(|| json!(it.id)),
            files: files.put.iter().map(|(file, _)| file_row(&it.id, file)).collect(),
            tools: tools.map(|(position, tool)| json!([it.id, tool.get("id"), position, tool.to_string()])).collect(),
        }
    }
}

fn file_row(toolset: &str, it: &ToolsetFile) -> Value {
    json!([toolset, it.path, it.kind, it.sha256, it.size])
}

/// An override by its toolset and its tool.
pub fn override_name(it: &OverrideRecord) -> Value {
    json!([it.toolset_id, it.tool_id])
}

/// The columns of an override. The configuration is a text, and stays as Rust writes it.
pub fn override_row(it: &OverrideRecord) -> Value {
    json!({
        "toolset_id": it.toolset_id, "tool_id": it.tool_id, "position": it.position, "renderer": it.renderer,
        "renderer_config": it.renderer_config.as_ref().map(|it| json!(it).to_string()),
        "name_override": it.name_override, "description_override": it.description_override,
        "requires_approval": it.requires_approval, "enabled": it.enabled, "by_admin": it.by_admin,
    })
}

fn toolset_change(id: &str) -> Change {
    Change::new(Action::Restore, format!("toolset:{id}"))
}

/// The change that removes a toolset.
pub fn toolset_removed(it: &ToolsetRecord) -> Result<Change> {
    toolset_change(&it.id).from(&ToolsetState::of_record(it))
}

/// The change that adds a toolset, or replaces the toolset `before`. The change log does not hold the whole declarations of
/// tools: if only these differ, the states before and after look equal.
pub fn toolset_put(it: &ToolsetRecord, before: Option<&ToolsetRecord>) -> Result<Change> {
    let change = toolset_change(&it.id).before_if_any(before.map(ToolsetState::of_record).as_ref())?;
    change.to(&ToolsetState::of_record(it))
}

fn override_change(it: &OverrideRecord) -> Result<Change> {
    let tool = ToolId::parse(&it.tool_id);
    let tool = tool.ok_or_else(|| Error::Internal(format!("an override has the broken tool id {}", it.tool_id)))?;
    Ok(Change::new(Action::Restore, format!("override:{tool}")).of_tool(&tool))
}

/// The change that removes an override.
pub fn override_removed(it: &OverrideRecord) -> Result<Change> {
    override_change(it)?.from(&it.shown())
}

/// The change that adds an override, or replaces the override `before`.
pub fn override_put(it: &OverrideRecord, before: Option<&OverrideRecord>) -> Result<Change> {
    override_change(it)?.before_if_any(before.map(OverrideRecord::shown).as_ref())?.to(&it.shown())
}
