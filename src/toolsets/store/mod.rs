//! SQL for the tables `toolsets`, `toolset_files` and `toolset_tools`.

pub mod files;
pub mod overrides;
pub mod replacing;

use super::toolset::{StoredDeclaration, Toolset, ToolsetFile, ToolsetServer, ToolsetTool};
use crate::db::{Condition, Rows, Statement, condition, for_each, sql};
use crate::error::{BundleNote, Error, Result};
use crate::ids::{ToolsetId, WorkspaceId};
use crate::page::PageRequest;
use crate::time::Timestamp;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

const COLUMNS: &str =
    "id, name, version, description, enabled, installed_at, source_ref, manifest_version, warnings, revision";

/// A page of the workspace's toolsets, sorted by id.
pub fn list(workspace: &WorkspaceId, request: &PageRequest) -> Statement {
    sql(format!("SELECT {COLUMNS} FROM toolsets WHERE workspace_id = ?1 AND id > ?2 ORDER BY id LIMIT +?3"))
        .bind(workspace.as_str())
        .bind(request.after().unwrap_or_default())
        .bind(request.rows_to_ask())
}

pub fn find(workspace: &WorkspaceId, id: &ToolsetId) -> Statement {
    sql(format!("SELECT {COLUMNS} FROM toolsets WHERE workspace_id = ?1 AND id = ?2"))
        .bind(workspace.as_str())
        .bind(id.as_str())
}

pub fn read_all(rows: &Rows) -> Result<Vec<Toolset>> {
    #[derive(Deserialize)]
    struct ToolsetRow {
        id: String,
        name: String,
        version: String,
        description: String,
        enabled: u8,
        installed_at: Timestamp,
        source_ref: Option<String>,
        manifest_version: String,
        warnings: String,
        revision: u32,
    }
    let read = |row: ToolsetRow| {
        Ok(Toolset {
            id: row.id,
            name: row.name,
            version: row.version,
            description: row.description,
            enabled: row.enabled != 0,
            installed_at: row.installed_at,
            source_ref: row.source_ref,
            manifest_version: row.manifest_version,
            warnings: stored_json::<Vec<BundleNote>>(&row.warnings)?,
            revision: row.revision,
        })
    };
    rows.all::<ToolsetRow>()?.into_iter().map(read).collect()
}

pub fn read(rows: &Rows) -> Result<Option<Toolset>> {
    Ok(read_all(rows)?.into_iter().next())
}

pub fn stored_json<T: DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|cause| Error::Internal(format!("stored JSON cannot be read: {cause}")))
}

/// The files of a toolset, by path.
pub fn find_files(workspace: &WorkspaceId, id: &ToolsetId) -> Statement {
    sql("SELECT path, kind, sha256, size FROM toolset_files WHERE workspace_id = ?1 AND toolset_id = ?2 ORDER BY path")
        .bind(workspace.as_str())
        .bind(id.as_str())
}

pub fn read_files(rows: &Rows) -> Result<Vec<ToolsetFile>> {
    rows.all()
}

/// The declarations of a toolset's tools, in the order of the manifest.
pub fn find_declarations(workspace: &WorkspaceId, id: &ToolsetId) -> Statement {
    sql("SELECT tool, declaration FROM toolset_tools WHERE workspace_id = ?1 AND toolset_id = ?2 ORDER BY position")
        .bind(workspace.as_str())
        .bind(id.as_str())
}

pub fn read_declarations(rows: &Rows) -> Result<Vec<StoredDeclaration>> {
    #[derive(Deserialize)]
    struct DeclarationRow {
        tool: String,
        declaration: String,
    }
    let read =
        |row: DeclarationRow| Ok(StoredDeclaration { tool: row.tool, declaration: stored_json(&row.declaration)? });
    rows.all::<DeclarationRow>()?.into_iter().map(read).collect()
}

/// The declared tools of a toolset, with their current versions.
pub fn find_tools(workspace: &WorkspaceId, id: &ToolsetId) -> Statement {
    sql("SELECT t.id, d.declaration ->> 'entrypoint' AS entrypoint, v.major || '.' || v.minor || '.' || v.patch AS version,
           v.active
         FROM toolset_tools d CROSS JOIN tools t ON t.workspace_id = d.workspace_id AND t.id = d.toolset_id || ':' || d.tool
         CROSS JOIN tool_versions v ON v.key = t.current_version_key
         WHERE d.workspace_id = ?1 AND d.toolset_id = ?2 ORDER BY d.position")
    .bind(workspace.as_str())
    .bind(id.as_str())
}

pub fn read_tools(rows: &Rows) -> Result<Vec<ToolsetTool>> {
    #[derive(Deserialize)]
    struct ToolRow {
        id: String,
        entrypoint: String,
        version: String,
        active: u8,
    }
    let read = |row: ToolRow| ToolsetTool {
        id: row.id,
        entrypoint: row.entrypoint,
        version: row.version,
        active: row.active != 0,
    };
    Ok(rows.all::<ToolRow>()?.into_iter().map(read).collect())
}

/// The MCP servers that a toolset has brought, by id.
pub fn find_servers(workspace: &WorkspaceId, id: &ToolsetId) -> Statement {
    sql("SELECT name AS id, json(iif(enabled, 'true', 'false')) AS enabled, status, last_error FROM upstreams
         WHERE workspace_id = ?1 AND toolset_id = ?2 ORDER BY name")
    .bind(workspace.as_str())
    .bind(id.as_str())
}

pub fn read_servers(rows: &Rows) -> Result<Vec<ToolsetServer>> {
    #[derive(Deserialize)]
    struct ServerRow {
        id: String,
        enabled: String,
        status: crate::upstreams::UpstreamStatus,
        last_error: Option<String>,
    }
    let read = |row: ServerRow| ToolsetServer {
        id: row.id,
        enabled: row.enabled == "true",
        status: row.status,
        last_error: row.last_error,
    };
    Ok(rows.all::<ServerRow>()?.into_iter().map(read).collect())
}

/// The tools, by id, that overrides of the toolset are about and that no server offers. Only MCP servers may offer a tool later.
pub fn find_absent_tools(workspace: &WorkspaceId, id: &ToolsetId) -> Statement {
    sql("SELECT o.tool_id AS id FROM tool_overrides o WHERE o.workspace_id = ?1 AND o.toolset_id = ?2 AND NOT EXISTS (
           SELECT 1 FROM tools t CROSS JOIN tool_versions v ON v.key = t.current_version_key
           WHERE t.workspace_id = o.workspace_id AND t.id = o.tool_id AND v.active = 1) ORDER BY o.tool_id")
    .bind(workspace.as_str())
    .bind(id.as_str())
}

pub fn read_absent_tools(rows: &Rows) -> Result<Vec<String>> {
    #[derive(Deserialize)]
    struct ToolRow {
        id: String,
    }
    Ok(rows.all::<ToolRow>()?.into_iter().map(|it| it.id).collect())
}

/// Selects a row if tools are recorded under this id that belong to another source: those of an MCP server that is gone.
pub fn find_foreign_tools(workspace: &WorkspaceId, id: &ToolsetId) -> Statement {
    sql("SELECT 1 AS found FROM tools WHERE workspace_id = ?1 AND id > ?2 AND id < ?2 || '~' AND source <> 'toolset' LIMIT 1")
        .bind(workspace.as_str())
        .bind(format!("{id}:"))
}

/// True until another request has installed a toolset of this id. `token` names this request.
pub fn is_free(workspace: &WorkspaceId, id: &str, token: &str) -> Condition {
    condition("NOT EXISTS (SELECT 1 FROM toolsets WHERE workspace_id = ?1 AND id = ?2 AND decided_by <> ?3)")
        .bind(workspace.as_str())
        .bind(id)
        .bind(token)
}

/// True while the toolset is at the revision that was read. A toolset that was uninstalled and installed again has another time.
pub fn is_at(workspace: &WorkspaceId, toolset: &Toolset) -> Condition {
    condition(
        "EXISTS (SELECT 1 FROM toolsets WHERE workspace_id = ?1 AND id = ?2 AND revision = ?3 AND installed_at = ?4)",
    )
    .bind(workspace.as_str())
    .bind(toolset.id.as_str())
    .bind(toolset.revision)
    .bind(toolset.installed_at.to_string())
}

/// Adds a toolset, in the name of the request `token`.
pub fn insert(workspace: &WorkspaceId, toolset: &Toolset, token: &str) -> Statement {
    sql("INSERT INTO toolsets (workspace_id, id, name, version, description, enabled, source_ref, manifest_version, warnings,
           decided_by, installed_at)
         SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11 WHERE true")
    .bind(workspace.as_str())
    .bind(toolset.id.as_str())
    .bind(toolset.name.as_str())
    .bind(toolset.version.as_str())
    .bind(toolset.description.as_str())
    .bind(toolset.enabled)
    .bind(toolset.source_ref.as_deref())
    .bind(toolset.manifest_version.as_str())
    .bind(json!(toolset.warnings).to_string())
    .bind(token)
    .bind(toolset.installed_at.to_string())
}

/// Replaces a toolset, in the name of the request `token`. The revision stays until [`end`]. `files_changed_at` is given if the
/// files change.
pub fn update(
    workspace: &WorkspaceId,
    toolset: &Toolset,
    token: &str,
    files_changed_at: Option<Timestamp>,
) -> Statement {
    sql("UPDATE toolsets SET name = ?3, version = ?4, description = ?5, enabled = ?6, source_ref = ?7,
           manifest_version = ?8, warnings = ?9, decided_by = ?10, files_changed_at = coalesce(?11, files_changed_at)
         WHERE workspace_id = ?1 AND id = ?2")
    .bind(workspace.as_str())
    .bind(toolset.id.as_str())
    .bind(toolset.name.as_str())
    .bind(toolset.version.as_str())
    .bind(toolset.description.as_str())
    .bind(toolset.enabled)
    .bind(toolset.source_ref.as_deref())
    .bind(toolset.manifest_version.as_str())
    .bind(json!(toolset.warnings).to_string())
    .bind(token)
    .bind(files_changed_at.map(|it| it.to_string()))
}

/// Ends a batch that has changed a toolset in the name of the request `token`.
pub fn end(workspace: &WorkspaceId, id: &str, token: &str) -> Statement {
    sql("UPDATE toolsets SET revision = revision + 1 WHERE workspace_id = ?1 AND id = ?2 AND decided_by = ?3")
        .bind(workspace.as_str())
        .bind(id)
        .bind(token)
}

/// Ends a batch that removes a toolset in the name of the request `token`. Files, declarations and overrides go with it.
pub fn delete(workspace: &WorkspaceId, id: &str, token: &str) -> Statement {
    sql("DELETE FROM toolsets WHERE workspace_id = ?1 AND id = ?2 AND decided_by = ?3")
        .bind(workspace.as_str())
        .bind(id)
        .bind(token)
}

/// Makes the files of a toolset these ones. Rows that stay the same are not written.
pub fn put_files(workspace: &WorkspaceId, id: &str, files: &[ToolsetFile]) -> Vec<Statement> {
    let rows =
        json!(files.iter().map(|it| json!([it.path, it.kind, it.sha256, it.size])).collect::<Vec<_>>()).to_string();
    // One text instead of three columns: SQLite searches a list of rows that may hold nulls from the first to the last.
    let delete = sql("DELETE FROM toolset_files WHERE workspace_id = ?1 AND toolset_id = ?2
         AND sha256 || kind || '/' || path NOT IN (
           SELECT (j.value ->> 2) || (j.value ->> 1) || '/' || (j.value ->> 0) FROM json_each(?3) j)");
    let insert = sql("INSERT INTO toolset_files (workspace_id, toolset_id, path, kind, sha256, size)
         SELECT ?1, ?2, j.value ->> 0, j.value ->> 1, j.value ->> 2, j.value ->> 3 FROM json_each(?3) j
         WHERE NOT EXISTS (SELECT 1 FROM toolset_files f
           WHERE f.workspace_id = ?1 AND f.toolset_id = ?2 AND f.path = j.value ->> 0)");
    [delete, insert].map(|it| it.bind(workspace.as_str()).bind(id).bind(rows.as_str())).into()
}

/// Makes the declarations of a toolset these ones.
pub fn put_declarations(
    workspace: &WorkspaceId,
    id: &str,
    declarations: &[StoredDeclaration],
) -> Result<Vec<Statement>> {
    let delete = sql("DELETE FROM toolset_tools WHERE workspace_id = ?1 AND toolset_id = ?2");
    let row = |(position, it): (usize, &StoredDeclaration)| json!([it.tool, position, it.declaration.to_string()]);
    let rows = declarations.iter().enumerate().map(row).collect::<Vec<Value>>();
    let insert = "INSERT INTO toolset_tools (workspace_id, toolset_id, tool, position, declaration)
         SELECT ?1, ?3, j.value ->> 0, j.value ->> 1, j.value ->> 2 FROM json_each(?2) j WHERE true";
    let mut statements = vec![delete.bind(workspace.as_str()).bind(id)];
    statements.extend(for_each(workspace, &rows, insert)?.into_iter().map(|it| it.bind(id)));
    Ok(statements)
}

/// How many toolsets the workspace has, as `toolsets`.
pub fn count(workspace: &WorkspaceId) -> Statement {
    sql("SELECT count(*) AS toolsets FROM toolsets WHERE workspace_id = ?1").bind(workspace.as_str())
}

pub fn read_count(rows: &Rows) -> Result<u32> {
    #[derive(Deserialize)]
    struct CountRow {
        toolsets: u32,
    }
    Ok(rows.first::<CountRow>()?.map_or(0, |it| it.toolsets))
}
