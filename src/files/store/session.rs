//! SQL for sessions, and for the file manifests of a session.

use super::lookup::FileView;
use super::parse_stored_manifest_id;
use crate::callers::token_may_see;
use crate::db::{DbFailure, Rows, Statement, sql};
use crate::error::{Error, Result};
use crate::files::{FileManifest, FileManifestSource, Session};
use crate::ids::{AgentId, FileManifestId, MessageId, SessionId, TokenId, WorkspaceId};
use crate::page::{AgeOrder, PageRequest};
use crate::time::Timestamp;
use serde::Deserialize;

#[derive(Deserialize)]
struct SessionRow {
    id: String,
    active_manifest_id: Option<String>,
    active_message_id: Option<String>,
    files: u32,
    bytes: u64,
    created_at: Timestamp,
    updated_at: Timestamp,
}

impl TryFrom<SessionRow> for Session {
    type Error = Error;

    fn try_from(row: SessionRow) -> Result<Self> {
        Ok(Self {
            id: parse_stored_session_id(&row.id)?,
            active_manifest_id: row.active_manifest_id.as_deref().map(parse_stored_manifest_id).transpose()?,
            active_message_id: row.active_message_id.as_deref().map(parse_stored_message_id).transpose()?,
            files: row.files,
            bytes: row.bytes,
            created_at: row.created_at,
            updated_at: row.updated_at,
        })
    }
}

fn parse_stored_session_id(id: &str) -> Result<SessionId> {
    SessionId::parse(id).ok_or_else(|| Error::Internal(format!("the session {id} has a broken id")))
}

fn parse_stored_message_id(id: &str) -> Result<MessageId> {
    MessageId::parse(id).ok_or_else(|| Error::Internal(format!("the message {id} has a broken id")))
}

/// Selects sessions `s` with the number and size of their present files.
fn select_sessions(rest: &str) -> Statement {
    sql(format!(
        "SELECT s.id, s.active_manifest_id, s.active_message_id, coalesce(m.files, 0) AS files, coalesce(m.bytes, 0) AS bytes,
           s.created_at, s.updated_at FROM sessions s
         LEFT JOIN manifests m ON m.workspace_id = s.workspace_id AND m.id = s.active_manifest_id
         WHERE s.workspace_id = ?1 AND s.deleted = 0 AND {rest}"
    ))
}

/// A page of sessions. If `agent` is set, only the sessions that this agent made.
pub fn list(
    workspace: &WorkspaceId,
    agent: Option<&AgentId>,
    order: AgeOrder,
    request: &PageRequest,
) -> Result<Statement> {
    let (created_at, id) = match (order, request.after_age()?) {
        // After every time.
        (AgeOrder::Newest, ("", _)) => ("~", ""),
        (_, position) => position,
    };
    let (follows, direction) = match order {
        AgeOrder::Oldest => (">", ""),
        AgeOrder::Newest => ("<", " DESC"),
    };
    let made_by = if agent.is_some() { "s.agent_id = ?5 AND " } else { "" };
    let rest = format!(
        "{made_by}(s.created_at, s.id) {follows} (?2, ?3)
         ORDER BY s.created_at{direction}, s.id{direction} LIMIT +?4"
    );
    let statement =
        select_sessions(&rest).bind(workspace.as_str()).bind(created_at).bind(id).bind(request.rows_to_ask());
    Ok(match agent {
        Some(agent) => statement.bind(agent.as_str()),
        None => statement,
    })
}

pub fn find(workspace: &WorkspaceId, id: &SessionId) -> Statement {
    select_sessions("s.id = ?2").bind(workspace.as_str()).bind(id.as_str())
}

/// The same, if the token may see the session.
pub fn find_visible(workspace: &WorkspaceId, id: &SessionId, token: Option<&TokenId>) -> Statement {
    find(workspace, id).and(token_may_see(workspace, token, "s.agent_id"))
}

/// Stops its batch if the session exists and the token must not see it ([`is_of_another_agent`]). Changes nothing
/// otherwise. Batches that change a session's files begin with this.
pub fn refuse_hidden(workspace: &WorkspaceId, id: &SessionId, token: Option<&TokenId>) -> Statement {
    sql("UPDATE sessions AS s SET agent_id = '' WHERE s.workspace_id = ?1 AND s.id = ?2 AND s.deleted = 0")
        .bind(workspace.as_str())
        .bind(id.as_str())
        .and(token_may_see(workspace, token, "s.agent_id").negated())
}

/// Stops its batch if the session exists and has another generation ([`is_of_another_agent`]). Changes nothing otherwise.
pub fn refuse_other_generation(workspace: &WorkspaceId, id: &SessionId, generation: u32) -> Statement {
    sql("UPDATE sessions AS s SET agent_id = ''
         WHERE s.workspace_id = ?1 AND s.id = ?2 AND s.deleted = 0 AND s.generation <> ?3")
    .bind(workspace.as_str())
    .bind(id.as_str())
    .bind(generation)
}

/// Whether a batch failed because the session is hidden from the token, or has another generation. The words are those of the
/// trigger `sessions_keep_agent`.
pub fn is_of_another_agent(failure: &DbFailure) -> bool {
    matches!(failure, DbFailure::Refused(rule) if rule.contains("the session of another agent"))
}

pub fn read(rows: &Rows) -> Result<Option<Session>> {
    rows.first::<SessionRow>()?.map(Session::try_from).transpose()
}

pub fn read_all(rows: &Rows) -> Result<Vec<Session>> {
    rows.all::<SessionRow>()?.into_iter().map(Session::try_from).collect()
}

/// The generation of the session, if the session has a conversation.
pub fn find_conversation(workspace: &WorkspaceId, id: &SessionId) -> Statement {
    sql("SELECT generation FROM sessions
         WHERE workspace_id = ?1 AND id = ?2 AND deleted = 0 AND active_message_id IS NOT NULL")
    .bind(workspace.as_str())
    .bind(id.as_str())
}

pub fn read_conversation(rows: &Rows) -> Result<Option<u32>> {
    #[derive(Deserialize)]
    struct Row {
        generation: u32,
    }
    Ok(rows.first::<Row>()?.map(|it| it.generation))
}

/// Marks a session as deleted. The sweep deletes its file manifests, and then the session itself.
pub fn delete(workspace: &WorkspaceId, id: &SessionId) -> Statement {
    sql("UPDATE sessions SET deleted = 1 WHERE workspace_id = ?1 AND id = ?2 AND deleted = 0")
        .bind(workspace.as_str())
        .bind(id.as_str())
}

/// Makes a file manifest of the session its present. Changes nothing if the session has no such file manifest.
pub fn check_out(workspace: &WorkspaceId, id: &SessionId, manifest: &FileManifestId, now: Timestamp) -> Statement {
    sql("UPDATE sessions SET active_manifest_id = ?3, updated_at = ?4
         WHERE workspace_id = ?1 AND id = ?2 AND deleted = 0 AND EXISTS (
           SELECT 1 FROM manifests m WHERE m.workspace_id = ?1 AND m.session_id = ?2 AND m.id = ?3
             AND m.generation = sessions.generation)")
    .bind(workspace.as_str())
    .bind(id.as_str())
    .bind(manifest.as_str())
    .bind(now.to_string())
}

/// The columns of a file manifest. The parameters ?1 and ?2 are the workspace and the session.
const MANIFEST_COLUMNS: &str = "id, session_id, parent_id, source, source_ref, created_at, files, bytes,
    id IS (SELECT active_manifest_id FROM sessions WHERE workspace_id = ?1 AND id = ?2 AND deleted = 0) AS active";

#[derive(Deserialize)]
struct FileManifestRow {
    id: String,
    session_id: String,
    parent_id: Option<String>,
    source: FileManifestSource,
    source_ref: Option<String>,
    created_at: Timestamp,
    files: u32,
    bytes: u64,
    active: u8,
}

impl TryFrom<FileManifestRow> for FileManifest {
    type Error = Error;

    fn try_from(row: FileManifestRow) -> Result<Self> {
        Ok(Self {
            id: parse_stored_manifest_id(&row.id)?,
            session_id: parse_stored_session_id(&row.session_id)?,
            parent_id: row.parent_id.as_deref().map(parse_stored_manifest_id).transpose()?,
            source: row.source,
            source_ref: row.source_ref,
            created_at: row.created_at,
            files: row.files,
            bytes: row.bytes,
            is_active: row.active != 0,
        })
    }
}

/// File manifests of a session, the newest first. If `view.at` is set, only file manifests before `view.at`.
pub fn list_manifests(view: FileView<'_>, source_ref: Option<&str>, limit: u32) -> Statement {
    // The statement names the indexes, because the planner may judge a walk through all file manifests by key to be as
    // good. The condition about the digits is the one of the partial index.
    let (index, filter) = match source_ref {
        Some(_) => (
            "",
            "AND key IN (
               SELECT key FROM manifests INDEXED BY manifests_by_source_ref
               WHERE workspace_id = ?1 AND session_id = ?2 AND source_ref = ?5
                 AND substr(source_ref, 6) <> substr(id, 5)
               UNION ALL
               SELECT key FROM manifests
               WHERE workspace_id = ?1 AND id = 'man_' || substr(?5, 6) AND source_ref = ?5)",
        ),
        None => ("INDEXED BY manifests_by_session", ""),
    };
    let statement = view
        .sql(format!(
            "SELECT {MANIFEST_COLUMNS} FROM manifests {index}
             WHERE workspace_id = ?1 AND session_id = ?2 {filter}
               AND generation = (SELECT generation FROM sessions WHERE workspace_id = ?1 AND id = ?2 AND deleted = 0)
               AND key < coalesce(
                 (SELECT key FROM manifests WHERE workspace_id = ?1 AND id = ?3), 9223372036854775807)
             ORDER BY key DESC LIMIT +?4"
        ))
        .bind(limit);
    match source_ref {
        Some(source_ref) => statement.bind(source_ref),
        None => statement,
    }
}

pub fn find_manifest(workspace: &WorkspaceId, session: &SessionId, id: &FileManifestId) -> Statement {
    sql(format!("SELECT {MANIFEST_COLUMNS} FROM manifests WHERE workspace_id = ?1 AND session_id = ?2 AND id = ?3"))
        .bind(workspace.as_str())
        .bind(session.as_str())
        .bind(id.as_str())
}

pub fn read_manifest(rows: &Rows) -> Result<Option<FileManifest>> {
    rows.first::<FileManifestRow>()?.map(FileManifest::try_from).transpose()
}

pub fn read_manifests(rows: &Rows) -> Result<Vec<FileManifest>> {
    rows.all::<FileManifestRow>()?.into_iter().map(FileManifest::try_from).collect()
}
