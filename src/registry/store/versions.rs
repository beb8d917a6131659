//! SQL that reads versions.

use super::bounded::{TOOL_BYTES, select_within_bytes};
use super::columns::TOOL_COLUMNS;
use super::context::{OVERRIDE_JOIN, tool_context};
use super::upstreams::{UPSTREAM_OF_TOOL, UPSTREAM_PREFIX};
use crate::db::{Condition, Rows, Statement, first_bytes, sql};
use crate::error::Result;
use crate::ids::{ToolId, Version, WorkspaceId};
use crate::page::{PageRequest, bad_cursor};
use crate::registry::tool::{DeactivationReason, Source, Tool};
use crate::registry::{invariants, stored};
use serde::Deserialize;
use serde_json::json;

/// The tool's revision and its highest version.
pub fn find_position(workspace: &WorkspaceId, id: &ToolId) -> Statement {
    sql("SELECT t.revision, v.major, v.minor, v.patch FROM tools t JOIN tool_versions v ON v.tool_key = t.key
         WHERE t.workspace_id = ?1 AND t.id = ?2 ORDER BY v.major DESC, v.minor DESC, v.patch DESC LIMIT 1")
    .bind(workspace.as_str())
    .bind(id.as_str())
}

pub struct VersionPosition {
    pub revision: u32,
    pub highest: Version,
}

pub fn read_position(rows: &Rows) -> Result<Option<VersionPosition>> {
    #[derive(Deserialize)]
    struct Row {
        revision: u32,
        major: u32,
        minor: u32,
        patch: u32,
    }
    let row = rows.first::<Row>()?;
    Ok(row.map(|Row { revision, major, minor, patch }| VersionPosition {
        revision,
        highest: Version { major, minor, patch },
    }))
}

/// A tool at its current version, as it was read for a decision.
pub struct ToolReading {
    pub tool: Tool,
    pub revision: u32,
    pub highest: Version,
}

/// Selects the tools of these upstreams of one source, for [`read_readings`]. An upstream is given as the beginning of its
/// tools' ids.
pub fn find_of_upstreams(workspace: &WorkspaceId, source: Source, prefixes: &[&str]) -> Statement {
    // No character of an id sorts after `~`.
    let tools = "json_each(?2) m CROSS JOIN tools t
        ON t.workspace_id = ?1 AND t.id > m.value AND t.id < m.value || '~' AND t.source = ?3";
    let prefixes = json!(prefixes).to_string();
    select_readings(tools).bind(workspace.as_str()).bind(prefixes).bind(source.as_str())
}

/// Selects the tools of a toolset's MCP servers, whether active or not, for [`read_readings`].
pub fn find_of_toolset_servers(workspace: &WorkspaceId, toolset: &str) -> Statement {
    let tools = format!(
        "upstreams u CROSS JOIN tools t ON u.workspace_id = ?1 AND u.toolset_id = ?2 AND t.workspace_id = ?1
           AND t.id > {UPSTREAM_PREFIX} AND t.id < {UPSTREAM_PREFIX} || '~' AND t.source = u.source"
    );
    select_readings(&tools).bind(workspace.as_str()).bind(toolset)
}

/// Selects the tools with these ids, for [`read_readings`]. Unknown ids are skipped.
pub fn find_readings(workspace: &WorkspaceId, ids: &[&str]) -> Statement {
    select_readings("json_each(?2) m CROSS JOIN tools t ON t.workspace_id = ?1 AND t.id = m.value")
        .bind(workspace.as_str())
        .bind(json!(ids).to_string())
}

fn select_readings(tools: &str) -> Statement {
    sql(format!(
        "SELECT {TOOL_COLUMNS}, t.revision, (
           SELECT h.major || '.' || h.minor || '.' || h.patch FROM tool_versions h WHERE h.tool_key = t.key
           ORDER BY h.major DESC, h.minor DESC, h.patch DESC LIMIT 1) AS highest
         FROM {tools} CROSS JOIN tool_versions v ON v.key = t.current_version_key"
    ))
}

pub fn read_readings(rows: &Rows) -> Result<Vec<ToolReading>> {
    #[derive(Deserialize)]
    struct Row {
        revision: u32,
        #[serde(deserialize_with = "stored::read_version")]
        highest: Version,
    }
    let (tools, rows) = (rows.all::<Tool>()?, rows.all::<Row>()?);
    let readings = tools.into_iter().zip(rows);
    Ok(readings.map(|(tool, Row { revision, highest })| ToolReading { tool, revision, highest }).collect())
}

/// Selects whether the number of a version is taken.
pub fn find_taken(workspace: &WorkspaceId, id: &ToolId, version: Version) -> Statement {
    sql("SELECT EXISTS (SELECT 1 FROM tools t JOIN tool_versions v ON v.tool_key = t.key
             WHERE t.workspace_id = ?1 AND t.id = ?2 AND v.major = ?3 AND v.minor = ?4 AND v.patch = ?5) AS registered,
           EXISTS (SELECT 1 FROM banned_versions
             WHERE workspace_id = ?1 AND tool_id = ?2 AND major = ?3 AND minor = ?4 AND patch = ?5) AS banned")
    .bind(workspace.as_str())
    .bind(id.as_str())
    .bind(version.major)
    .bind(version.minor)
    .bind(version.patch)
}

/// How the number of a version may be taken.
pub struct TakenVersion {
    pub is_registered: bool,
    /// A version of this number was deactivated for security. It may have been removed since.
    pub is_banned: bool,
}

pub fn read_taken(rows: &Rows) -> Result<TakenVersion> {
    #[derive(Deserialize)]
    struct Row {
        registered: u8,
        banned: u8,
    }
    let row = rows.first::<Row>()?;
    Ok(TakenVersion {
        is_registered: row.as_ref().is_some_and(|it| it.registered != 0),
        is_banned: row.is_some_and(|it| it.banned != 0),
    })
}

/// A page of a tool's versions, the highest first.
pub fn list(workspace: &WorkspaceId, id: &ToolId, request: &PageRequest) -> Result<Statement> {
    let after = match request.after() {
        None => Version { major: u32::MAX, minor: u32::MAX, patch: u32::MAX },
        Some(cursor) => Version::parse(cursor).ok_or_else(bad_cursor)?,
    };
    let first = if request.after().is_none() { "<=" } else { "<" };
    let from = format!(
        "FROM (SELECT v.key, v.tool_key FROM tools t JOIN tool_versions v ON v.tool_key = t.key
           WHERE t.workspace_id IN ('', ?1) AND t.id = ?2 AND (v.major, v.minor, v.patch) {first} (?3, ?4, ?5)
           ORDER BY v.major DESC, v.minor DESC, v.patch DESC LIMIT +?6) page
         CROSS JOIN tool_versions v ON v.key = page.key CROSS JOIN tools t ON t.key = page.tool_key {OVERRIDE_JOIN}"
    );
    let order = "v.major DESC, v.minor DESC, v.patch DESC";
    let columns = format!("{TOOL_COLUMNS}, {}", tool_context());
    Ok(sql(select_within_bytes("*", &columns, TOOL_BYTES, &from, order))
        .bind(workspace.as_str())
        .bind(id.as_str())
        .bind(after.major)
        .bind(after.minor)
        .bind(after.patch)
        .bind(request.rows_to_ask()))
}

/// The key of the built-in that the version `v` uses, or null, as in [`crate::registry::Handler::builtin_key`].
pub const BUILTIN_KEY: &str = "iif(v.handler ->> '$.type' = 'builtin', v.handler_key, NULL)";

/// Selects every active version of the workspace's own tools, with the columns that the invariants check.
pub fn active(workspace: &WorkspaceId) -> Statement {
    sql(format!(
        "SELECT t.id, v.major, v.minor, v.patch, v.deactivated_reason, v.credentials_required,
           {BUILTIN_KEY} AS builtin, {UPSTREAM_OF_TOOL} AS upstream
         FROM tool_versions v JOIN tools t ON t.key = v.tool_key
         WHERE v.workspace_id = ?1 AND v.active = 1 ORDER BY t.id"
    ))
    .bind(workspace.as_str())
}

pub fn read_active(rows: &Rows) -> Result<Vec<invariants::CheckedVersion>> {
    #[derive(Deserialize)]
    struct Row {
        id: String,
        major: u32,
        minor: u32,
        patch: u32,
        deactivated_reason: Option<DeactivationReason>,
        builtin: Option<String>,
        upstream: Option<String>,
        #[serde(deserialize_with = "stored::read")]
        credentials_required: Vec<String>,
    }
    let read = |row: Row| invariants::CheckedVersion {
        version: Version { major: row.major, minor: row.minor, patch: row.patch }.to_string(),
        active: true,
        deactivated_reason: row.deactivated_reason,
        builtin: row.builtin,
        upstream: row.upstream,
        credentials_required: row.credentials_required,
        tool_id: row.id,
    };
    Ok(rows.all::<Row>()?.into_iter().map(read).collect())
}

/// Selects every version of the workspace's own tools, the oldest tools first, if the condition is true.
pub fn find_all(workspace: &WorkspaceId, only_if: Condition) -> Statement {
    sql(format!(
        "SELECT {TOOL_COLUMNS} FROM tools t JOIN tool_versions v ON v.tool_key = t.key
         WHERE t.workspace_id = ?1"
    ))
    .bind(workspace.as_str())
    .and(only_if)
    .ordered_by("t.created_at, t.id, v.major, v.minor, v.patch")
}

/// The size of the version `v` in a backup, or somewhat less: the parts of any length, and 400 bytes for all others.
const VERSION_BYTES: &str = "400 + octet_length(v.description) + octet_length(v.parameters_schema)
    + coalesce(octet_length(v.returns_schema), 0) + octet_length(v.handler) + octet_length(v.examples)
    + octet_length(v.required_capabilities) + octet_length(v.credentials_required) + octet_length(v.side_effects)";

/// The SQL for the size of all versions of the workspace `?1` in a backup.
pub fn bytes_of_all() -> String {
    format!(
        "(SELECT coalesce(sum({VERSION_BYTES}), 0) FROM tools t CROSS JOIN tool_versions v ON v.tool_key = t.key
          WHERE t.workspace_id = ?1)"
    )
}

/// How many bytes and rows [`after`] selects.
const MAX_BYTES: u32 = 2_000_000;
const MAX_ROWS: u32 = 4_000;

/// Selects the next versions of the workspace's own tools, sorted by the tools' ids and then by number. `last` is the
/// version before them. At the end, no row is selected.
pub fn after(workspace: &WorkspaceId, last: Option<(&str, Version)>) -> Statement {
    let (id, version) = last.unwrap_or(("", Version { major: 0, minor: 0, patch: 0 }));
    let found = first_bytes(
        &format!(
            "SELECT v.key, t.id, v.major, v.minor, v.patch, {VERSION_BYTES} AS bytes
             FROM tools t CROSS JOIN tool_versions v ON v.tool_key = t.key
             WHERE t.workspace_id = ?1 AND t.id >= ?2
               AND (t.id > ?2 OR (v.major, v.minor, v.patch) > (?3, ?4, ?5))
             ORDER BY t.id, v.major, v.minor, v.patch LIMIT {MAX_ROWS}"
        ),
        "id, major, minor, patch",
        MAX_BYTES,
    );
    sql(format!(
        "SELECT {TOOL_COLUMNS} FROM ({found}) found
         CROSS JOIN tool_versions v ON v.key = found.key CROSS JOIN tools t ON t.key = v.tool_key
         ORDER BY t.id, v.major, v.minor, v.patch"
    ))
    .bind(workspace.as_str())
    .bind(id)
    .bind(version.major)
    .bind(version.minor)
    .bind(version.patch)
}

/// The versions that were deactivated for security, as `tool@version`.
pub fn find_banned(workspace: &WorkspaceId) -> Statement {
    sql("SELECT tool_id || '@' || major || '.' || minor || '.' || patch AS id FROM banned_versions WHERE workspace_id = ?1")
        .bind(workspace.as_str())
}
