//! Versions registered, switched on and off. What was decided on a reading of a tool is written while the tool is at the
//! revision that was read; the last statement of a batch moves it on.

use super::columns::{TOOL_COLUMNS, insert_versions, version_json};
use super::credentials;
use crate::db::{Condition, Rows, Statement, condition, sql};
use crate::error::Result;
use crate::ids::{ToolId, Version, WorkspaceId};
use crate::page::{PageRequest, bad_cursor};
use crate::registry::tool::{DeactivationReason, Tool};
use crate::registry::{invariants, stored};
use crate::time::Timestamp;
use serde::Deserialize;
use serde_json::json;

/// A tool as it was read, for a decision about it.
pub struct At<'a> {
    pub workspace: &'a WorkspaceId,
    pub id: &'a ToolId,
    pub revision: u32,
    /// What the version that is to be active asks for.
    pub credentials: &'a [String],
}

impl At<'_> {
    /// True while the tool is at the revision that was read, and the credentials are defined.
    pub fn holds(&self) -> Condition {
        condition("EXISTS (SELECT 1 FROM tools WHERE workspace_id = ?1 AND id = ?2 AND revision = ?3)")
            .bind(self.workspace.as_str())
            .bind(self.id.as_str())
            .bind(self.revision)
            .and(credentials::are_defined(self.workspace, self.credentials))
    }

    /// A statement about the tool `?2` of the workspace `?1`.
    fn statement(&self, text: impl Into<String>) -> Statement {
        sql(text).bind(self.workspace.as_str()).bind(self.id.as_str())
    }
}

/// The key of the tool `?2`.
const TOOL_KEY: &str = "(SELECT key FROM tools WHERE workspace_id = ?1 AND id = ?2)";

/// The tool's revision and its highest version.
pub fn find_position(workspace: &WorkspaceId, id: &ToolId) -> Statement {
    sql("SELECT t.revision, v.major, v.minor, v.patch FROM tools t JOIN tool_versions v ON v.tool_key = t.key
         WHERE t.workspace_id = ?1 AND t.id = ?2 ORDER BY v.major DESC, v.minor DESC, v.patch DESC LIMIT 1")
    .bind(workspace.as_str())
    .bind(id.as_str())
}

pub struct Position {
    pub revision: u32,
    pub highest: Version,
}

pub fn read_position(rows: &Rows) -> Result<Option<Position>> {
    #[derive(Deserialize)]
    struct Row {
        revision: u32,
        major: u32,
        minor: u32,
        patch: u32,
    }
    let row = rows.first::<Row>()?;
    Ok(row.map(|Row { revision, major, minor, patch }| Position { revision, highest: Version { major, minor, patch } }))
}

/// Whether there is that version.
pub fn exists(workspace: &WorkspaceId, id: &ToolId, version: Version) -> Statement {
    sql("SELECT 1 AS found FROM tools t JOIN tool_versions v ON v.tool_key = t.key
         WHERE t.workspace_id = ?1 AND t.id = ?2 AND v.major = ?3 AND v.minor = ?4 AND v.patch = ?5")
    .bind(workspace.as_str())
    .bind(id.as_str())
    .bind(version.major)
    .bind(version.minor)
    .bind(version.patch)
}

/// A page of a tool's versions, the highest first.
pub fn list(workspace: &WorkspaceId, id: &ToolId, request: &PageRequest) -> Result<Statement> {
    let after = match request.after() {
        None => Version { major: u32::MAX, minor: u32::MAX, patch: u32::MAX },
        Some(cursor) => Version::parse(cursor).ok_or_else(bad_cursor)?,
    };
    let first = if request.after().is_none() { "<=" } else { "<" };
    Ok(sql(format!(
        "SELECT {TOOL_COLUMNS} FROM tools t JOIN tool_versions v ON v.tool_key = t.key
         WHERE t.workspace_id IN ('', ?1) AND t.id = ?2 AND (v.major, v.minor, v.patch) {first} (?3, ?4, ?5)
         ORDER BY v.major DESC, v.minor DESC, v.patch DESC LIMIT ?6"
    ))
    .bind(workspace.as_str())
    .bind(id.as_str())
    .bind(after.major)
    .bind(after.minor)
    .bind(after.patch)
    .bind(request.rows_to_ask()))
}

/// Every active version of the workspace's own tools, with what invariants are about.
pub fn active(workspace: &WorkspaceId) -> Statement {
    sql("SELECT t.id, v.major, v.minor, v.patch, v.deactivated_reason, v.credentials_required,
           iif(v.handler ->> '$.type' = 'builtin', v.handler_key, NULL) AS builtin
         FROM tools t JOIN tool_versions v ON v.tool_key = t.key AND v.active = 1
         WHERE t.workspace_id = ?1 ORDER BY t.id")
    .bind(workspace.as_str())
}

pub fn read_active(rows: &Rows) -> Result<Vec<invariants::Version>> {
    #[derive(Deserialize)]
    struct Row {
        id: String,
        major: u32,
        minor: u32,
        patch: u32,
        deactivated_reason: Option<DeactivationReason>,
        builtin: Option<String>,
        #[serde(deserialize_with = "stored::read")]
        credentials_required: Vec<String>,
    }
    let read = |row: Row| invariants::Version {
        version: Version { major: row.major, minor: row.minor, patch: row.patch }.to_string(),
        active: true,
        deactivated_reason: row.deactivated_reason,
        builtin: row.builtin,
        credentials_required: row.credentials_required,
        tool_id: row.id,
    };
    Ok(rows.all::<Row>()?.into_iter().map(read).collect())
}

/// Makes a tool that is not there yet. Its revision starts where none of the workspace has ever been, so that a decision
/// about a tool that is gone does not hit another of its name.
pub fn insert_tool(workspace: &WorkspaceId, tool: &Tool) -> Statement {
    sql("INSERT INTO tools (workspace_id, id, source, created_at, revision)
         SELECT ?1, ?2, ?3, ?4, 1 + coalesce((SELECT max(seq) FROM changes WHERE workspace_id = ?1), 0) WHERE true")
    .bind(workspace.as_str())
    .bind(tool.id.as_str())
    .bind(tool.source.as_str())
    .bind(tool.created_at.to_string())
    .and(credentials::are_defined(workspace, &tool.credentials_required))
}

/// Adds the first version to a tool that has just been made: to one that has none.
pub fn insert_first(workspace: &WorkspaceId, tool: &Tool) -> Result<Statement> {
    let has_none = condition("NOT EXISTS (SELECT 1 FROM tool_versions WHERE tool_key = t.key)");
    insert_while(workspace, tool, has_none)
}

/// Adds a version to a tool that is as it was read.
pub fn insert(at: &At<'_>, tool: &Tool) -> Result<Statement> {
    insert_while(at.workspace, tool, at.holds())
}

fn insert_while(workspace: &WorkspaceId, tool: &Tool, condition: Condition) -> Result<Statement> {
    let version = json!([version_json(tool)?]).to_string();
    let insert = sql(insert_versions("?2") + " WHERE true").bind(workspace.as_str()).bind(version);
    Ok(insert.and(condition))
}

/// Every version of the workspace's own tools, in the order of the tools' ages.
pub fn find_all(workspace: &WorkspaceId) -> Statement {
    sql(format!(
        "SELECT {TOOL_COLUMNS} FROM tools t JOIN tool_versions v ON v.tool_key = t.key
         WHERE t.workspace_id = ?1 ORDER BY t.created_at, t.id, v.major, v.minor, v.patch"
    ))
    .bind(workspace.as_str())
}

/// Switches a version on or off, as `tool` says.
pub fn switch(at: &At<'_>, tool: &Tool) -> Statement {
    at.statement(format!(
        "UPDATE tool_versions SET active = ?6, deactivated_at = ?7, deactivated_reason = ?8
         WHERE tool_key = {TOOL_KEY} AND major = ?3 AND minor = ?4 AND patch = ?5"
    ))
    .bind(tool.version.major)
    .bind(tool.version.minor)
    .bind(tool.version.patch)
    .bind(tool.active)
    .bind(tool.deactivated_at.as_ref().map(Timestamp::to_string))
    .bind(tool.deactivated_reason.map(DeactivationReason::as_str))
    .and(at.holds())
}

/// Moves the tool on from where it was read: the last of its batch. It touches no row if the tool was overtaken.
pub fn move_on(at: &At<'_>) -> Statement {
    at.statement("UPDATE tools SET revision = revision + 1 WHERE workspace_id = ?1 AND id = ?2").and(at.holds())
}
