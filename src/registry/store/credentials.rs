//! SQL for the table `credentials`, and for the tools that ask for a credential.

use crate::db::{Condition, ManyRows, Param, Rows, Statement, condition, for_each, sql};
use crate::error::Result;
use crate::ids::WorkspaceId;
use crate::page::PageRequest;
use crate::registry::ToolFilter;
use crate::registry::credential::Credential;
use serde::Deserialize;
use std::collections::BTreeSet;

/// How many of the tools that ask for a credential an error message names.
const NAMED_USERS: u32 = 10;

/// True while the credential exists.
pub fn exists(workspace: &WorkspaceId, id: &str) -> Condition {
    condition("EXISTS (SELECT 1 FROM credentials WHERE workspace_id = ?1 AND id = ?2)")
        .bind(workspace.as_str())
        .bind(id)
}

/// True while no active version and no upstream asks for the credential.
pub fn is_unused(workspace: &WorkspaceId, id: &str) -> Condition {
    condition("NOT EXISTS (SELECT 1 FROM tool_search WHERE tool_search MATCH ?1)").bind(users(workspace, id)).and(
        condition(format!("NOT EXISTS (SELECT 1 FROM upstreams u WHERE u.workspace_id = ?1 AND {})", asks("?2")))
            .bind(workspace.as_str())
            .bind(id),
    )
}

/// True while all of the credentials are defined.
pub fn are_defined(workspace: &WorkspaceId, ids: &BTreeSet<String>) -> Condition {
    condition(
        "NOT EXISTS (SELECT 1 FROM json_each(?2)
           WHERE value NOT IN (SELECT id FROM credentials WHERE workspace_id = ?1))",
    )
    .bind(workspace.as_str())
    .bind(serde_json::json!(ids).to_string())
}

/// An FTS5 expression for the tools whose active version asks for the credential.
fn users(workspace: &WorkspaceId, id: &str) -> Param {
    let filter = ToolFilter { credential: Some(id.to_owned()), ..ToolFilter::default() };
    filter.to_fts5(workspace).into()
}

pub fn list(workspace: &WorkspaceId, request: &PageRequest) -> Statement {
    after(workspace, request.after(), request.rows_to_ask())
}

pub fn find(workspace: &WorkspaceId, id: &str) -> Statement {
    sql("SELECT id, description, created_at FROM credentials WHERE workspace_id = ?1 AND id = ?2")
        .bind(workspace.as_str())
        .bind(id)
}

pub fn insert(workspace: &WorkspaceId, credential: &Credential) -> Statement {
    sql("INSERT INTO credentials (workspace_id, id, description, created_at) VALUES (?1, ?2, ?3, ?4)")
        .bind(workspace.as_str())
        .bind(credential.id.as_str())
        .bind(credential.description.as_str())
        .bind(credential.created_at.to_string())
}

pub fn delete(workspace: &WorkspaceId, id: &str) -> Statement {
    sql("DELETE FROM credentials WHERE workspace_id = ?1 AND id = ?2")
        .bind(workspace.as_str())
        .bind(id)
        .and(is_unused(workspace, id))
}

/// True for the upstreams `u` whose headers, or whose environment, ask for the credential of the parameter.
fn asks(param: &str) -> String {
    format!("instr(u.headers || coalesce(u.server, ''), '${{' || {param} || '}}')")
}

/// The upstreams that ask for the credential, and the tools whose active version does.
pub fn active_users(workspace: &WorkspaceId, id: &str) -> Statement {
    sql(format!(
        "SELECT iif(u.source = 'mcp', 'the MCP server ', 'the module ') || u.name AS id FROM upstreams u
         WHERE u.workspace_id = ?1 AND {}
         UNION ALL SELECT id FROM (
           SELECT t.id FROM tool_search s JOIN tools t ON t.key = s.rowid
           WHERE t.workspace_id = ?1 AND s.tool_search MATCH ?2 ORDER BY s.rowid LIMIT +?3)
         LIMIT +?3",
        asks("?4")
    ))
    .bind(workspace.as_str())
    .bind(users(workspace, id))
    .bind(NAMED_USERS)
    .bind(id)
}

/// Selects all credentials of the workspace.
pub fn all(workspace: &WorkspaceId) -> Statement {
    sql("SELECT id, description, created_at FROM credentials WHERE workspace_id = ?1 ORDER BY id")
        .bind(workspace.as_str())
}

/// Selects the next credentials of the workspace, sorted by name.
pub fn after(workspace: &WorkspaceId, id: Option<&str>, limit: u32) -> Statement {
    sql("SELECT id, description, created_at FROM credentials WHERE workspace_id = ?1 AND id > ?2 ORDER BY id LIMIT +?3")
        .bind(workspace.as_str())
        .bind(id.unwrap_or_default())
        .bind(limit)
}

/// Inserts credentials that do not exist yet.
pub fn insert_all(workspace: &WorkspaceId, credentials: &[Credential]) -> Result<Vec<Statement>> {
    for_each(
        workspace,
        credentials,
        "INSERT INTO credentials (workspace_id, id, description, created_at)
         SELECT ?1, value ->> 'id', value ->> 'description', value ->> 'created_at' FROM json_each(?2) WHERE true",
    )
}

/// Inserts credentials. Existing credentials of the same names are replaced.
pub fn put_all(workspace: &WorkspaceId, credentials: &impl ManyRows) -> Result<Vec<Statement>> {
    for_each(
        workspace,
        credentials,
        "INSERT INTO credentials (workspace_id, id, description, created_at)
         SELECT ?1, value ->> 'id', value ->> 'description', value ->> 'created_at' FROM json_each(?2) WHERE true
         ON CONFLICT (workspace_id, id) DO UPDATE SET description = excluded.description, created_at = excluded.created_at",
    )
}

pub fn delete_all(workspace: &WorkspaceId, ids: &impl ManyRows) -> Result<Vec<Statement>> {
    for_each(
        workspace,
        ids,
        "DELETE FROM credentials WHERE workspace_id = ?1 AND id IN (SELECT value FROM json_each(?2))",
    )
}

/// Reads the ids that a statement of this file has selected.
pub fn read_ids(rows: &Rows) -> Result<Vec<String>> {
    #[derive(Deserialize)]
    struct IdRow {
        id: String,
    }
    Ok(rows.all::<IdRow>()?.into_iter().map(|it| it.id).collect())
}

/// Selects those of the given credentials that the workspace does not define.
pub fn undefined(workspace: &WorkspaceId, ids: &[String]) -> Statement {
    sql("SELECT value AS id FROM json_each(?2)
         WHERE value NOT IN (SELECT id FROM credentials WHERE workspace_id = ?1) ORDER BY key")
    .bind(workspace.as_str())
    .bind(serde_json::json!(ids).to_string())
}
