//! SQL for the tables `upstreams` and `held_back_definitions`.

pub mod placing;
pub mod replacing;

use super::held_back::{HeldBack, HeldBackChange};
use super::kind::{SettingsColumns, UpstreamSettings};
use super::offer::UpstreamWarning;
use super::upstream::{Findings, Upstream, UpstreamStatus};
use crate::db::{Condition, Rows, Statement, condition, for_each, sql};
use crate::error::{Error, Result};
use crate::ids::{ToolId, UpstreamId, WorkspaceId};
use crate::page::PageRequest;
use crate::registry::{HeaderValue, UPSTREAM_PREFIX, select_within_bytes};
use crate::time::Timestamp;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use std::collections::BTreeMap;

const COLUMNS: &str =
    "u.name, u.kind, u.url, u.slow, u.timeout_seconds, u.headers, u.enabled, u.auto_accept, u.include, u.server,
     u.toolset_id, u.paused, u.created_at, u.revision, u.status, u.discovered_at, u.expires_at, u.last_error, u.warnings, u.fingerprint,
     u.connection, u.leased_until";

/// How many active tools the upstream has, and how many definitions are held back.
fn counts() -> String {
    format!(
        "(SELECT count(*) FROM tools t CROSS JOIN tool_versions v ON v.key = t.current_version_key
          WHERE t.workspace_id = u.workspace_id AND t.source = u.source AND v.active = 1
            AND t.id > {UPSTREAM_PREFIX} AND t.id < {UPSTREAM_PREFIX} || '~') AS tools,
         (SELECT count(*) FROM held_back_definitions h WHERE h.workspace_id = u.workspace_id AND h.source = u.source
            AND h.name = u.name) AS held_back"
    )
}

/// Selects upstreams with their counts.
fn select(condition: &str) -> Statement {
    sql(format!("SELECT {COLUMNS}, {} FROM upstreams u WHERE {condition}", counts()))
}

#[derive(Deserialize)]
struct UpstreamRow {
    name: String,
    kind: String,
    url: Option<String>,
    slow: u8,
    timeout_seconds: Option<u32>,
    headers: String,
    enabled: u8,
    auto_accept: u8,
    include: Option<String>,
    server: Option<String>,
    toolset_id: Option<String>,
    paused: u8,
    created_at: Timestamp,
    revision: u32,
    status: UpstreamStatus,
    discovered_at: Option<Timestamp>,
    expires_at: Option<Timestamp>,
    last_error: Option<String>,
    warnings: String,
    fingerprint: Option<String>,
    connection: Option<String>,
    leased_until: Option<Timestamp>,
    #[serde(default)]
    tools: u32,
    #[serde(default)]
    held_back: u32,
}

impl UpstreamRow {
    fn read<S: UpstreamSettings>(self) -> Result<Upstream<S>> {
        Ok(Upstream {
            id: UpstreamId::new(&self.name, S::SEPARATOR)
                .ok_or_else(|| Error::Internal(format!("{} is a broken name of an upstream", self.name)))?,
            settings: S::read(SettingsColumns {
                kind: self.kind,
                url: self.url,
                slow: self.slow != 0,
                timeout_seconds: self.timeout_seconds,
                headers: stored_json::<BTreeMap<String, HeaderValue>>(&self.headers)?,
                enabled: self.enabled != 0,
                auto_accept: self.auto_accept != 0,
                include: self.include,
                server: self.server,
                toolset_id: self.toolset_id,
                paused: self.paused != 0,
            })?,
            created_at: self.created_at,
            revision: self.revision,
            findings: Findings {
                status: self.status,
                discovered_at: self.discovered_at,
                expires_at: self.expires_at,
                last_error: self.last_error,
                warnings: stored_json::<Vec<UpstreamWarning>>(&self.warnings)?,
                fingerprint: self.fingerprint,
                connection: self.connection,
            },
            leased_until: self.leased_until,
            tools: self.tools,
            held_back: self.held_back,
        })
    }
}

fn stored_json<T: DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|cause| Error::Internal(format!("stored JSON cannot be read: {cause}")))
}

pub fn read_upstreams<S: UpstreamSettings>(rows: &Rows) -> Result<Vec<Upstream<S>>> {
    rows.all::<UpstreamRow>()?.into_iter().map(UpstreamRow::read).collect()
}

pub fn read_upstream<S: UpstreamSettings>(rows: &Rows) -> Result<Option<Upstream<S>>> {
    rows.first::<UpstreamRow>()?.map(UpstreamRow::read).transpose()
}

/// A page of the workspace's upstreams of one kind, sorted by name.
pub fn list<S: UpstreamSettings>(workspace: &WorkspaceId, request: &PageRequest) -> Statement {
    select("u.workspace_id = ?1 AND u.source = ?2 AND u.name > ?3 ORDER BY u.name LIMIT +?4")
        .bind(workspace.as_str())
        .bind(S::SOURCE.as_str())
        .bind(request.after().unwrap_or_default())
        .bind(request.rows_to_ask())
}

pub fn find<S: UpstreamSettings>(workspace: &WorkspaceId, id: &UpstreamId) -> Statement {
    select("u.workspace_id = ?1 AND u.source = ?2 AND u.name = ?3")
        .bind(workspace.as_str())
        .bind(S::SOURCE.as_str())
        .bind(id.name())
}

/// All upstreams of one kind in the workspace, or those with these names, sorted by name.
pub fn find_named<S: UpstreamSettings>(workspace: &WorkspaceId, ids: Option<&[UpstreamId]>) -> Statement {
    select(&format!("u.workspace_id = ?1 AND u.source = ?2 AND {} ORDER BY u.name", named("?3")))
        .bind(workspace.as_str())
        .bind(S::SOURCE.as_str())
        .bind(names_json(ids))
}

/// True for the upstreams `u` that the parameter names; for all, if the parameter is null.
fn named(param: &str) -> String {
    format!("({param} IS NULL OR u.name IN (SELECT value FROM json_each({param})))")
}

fn names_json(ids: Option<&[UpstreamId]>) -> Option<String> {
    ids.map(|it| json!(it.iter().map(UpstreamId::name).collect::<Vec<_>>()).to_string())
}

/// The number of the workspace's upstreams of one kind, as `upstreams`.
pub fn count<S: UpstreamSettings>(workspace: &WorkspaceId) -> Statement {
    sql("SELECT count(*) AS upstreams FROM upstreams WHERE workspace_id = ?1 AND source = ?2")
        .bind(workspace.as_str())
        .bind(S::SOURCE.as_str())
}

pub fn read_count(rows: &Rows) -> Result<u32> {
    #[derive(Deserialize)]
    struct CountRow {
        upstreams: u32,
    }
    Ok(rows.first::<CountRow>()?.map_or(0, |it| it.upstreams))
}

/// The ids of the upstream's active tools, as `id`, sorted.
pub fn find_tool_ids(workspace: &WorkspaceId, id: &UpstreamId) -> Statement {
    sql("SELECT t.id FROM tools t CROSS JOIN tool_versions v ON v.key = t.current_version_key
         WHERE t.workspace_id = ?1 AND t.id > ?2 AND t.id < ?2 || '~' AND v.active = 1 ORDER BY t.id")
    .bind(workspace.as_str())
    .bind(id.prefix())
}

/// The lease that one discovery holds on upstreams.
#[derive(Clone, Debug)]
pub struct Lease {
    pub token: String,
    pub now: Timestamp,
    pub until: Timestamp,
}

/// Adds an upstream, leased. An upstream of this name makes the batch fail as a duplicate.
pub fn insert<S: UpstreamSettings>(workspace: &WorkspaceId, upstream: &Upstream<S>, lease: &Lease) -> Statement {
    settings_bound(
        sql("INSERT INTO upstreams (workspace_id, source, name, kind, url, slow, timeout_seconds, headers, enabled,
               auto_accept, include, server, toolset_id, paused, created_at, revision, lease, leased_until)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)"),
        workspace,
        upstream,
    )
    .bind(upstream.created_at.to_string())
    .bind(upstream.revision)
    .bind(lease.token.as_str())
    .bind(lease.until.to_string())
}

/// Changes the settings, and takes the lease from a discovery that goes on with the old ones. The next discovery looks at
/// all tools.
pub fn update<S: UpstreamSettings>(
    workspace: &WorkspaceId,
    upstream: &Upstream<S>,
    lease: &Lease,
    keeps_connection: bool,
) -> Statement {
    settings_bound(
        sql("UPDATE upstreams SET kind = ?4, url = ?5, slow = ?6, timeout_seconds = ?7, headers = ?8, enabled = ?9,
               auto_accept = ?10, include = ?11, server = ?12, toolset_id = ?13, paused = ?14,
               revision = revision + 1, fingerprint = NULL, lease = ?16, leased_until = ?17,
               connection = iif(?18, connection, NULL)
             WHERE workspace_id = ?1 AND source = ?2 AND name = ?3 AND revision = ?15"),
        workspace,
        upstream,
    )
    .bind(upstream.revision)
    .bind(lease.token.as_str())
    .bind(lease.until.to_string())
    .bind(keeps_connection)
}

fn settings_bound<S: UpstreamSettings>(
    statement: Statement,
    workspace: &WorkspaceId,
    upstream: &Upstream<S>,
) -> Statement {
    let settings = upstream.settings.columns();
    statement
        .bind(workspace.as_str())
        .bind(S::SOURCE.as_str())
        .bind(upstream.name())
        .bind(settings.kind)
        .bind(settings.url)
        .bind(settings.slow)
        .bind(settings.timeout_seconds)
        .bind(json!(settings.headers).to_string())
        .bind(settings.enabled)
        .bind(settings.auto_accept)
        .bind(settings.include)
        .bind(settings.server)
        .bind(settings.toolset_id)
        .bind(settings.paused)
}

/// True while the upstream is at the revision that was read.
pub fn is_at<S: UpstreamSettings>(workspace: &WorkspaceId, upstream: &Upstream<S>) -> Condition {
    condition(
        "EXISTS (SELECT 1 FROM upstreams WHERE workspace_id = ?1 AND source = ?2 AND name = ?3 AND revision = ?4)",
    )
    .bind(workspace.as_str())
    .bind(S::SOURCE.as_str())
    .bind(upstream.name())
    .bind(upstream.revision)
}

/// True while the upstream has no active tools but these. Another request may activate a tool that was read as inactive.
pub fn has_no_active_tool_but<S: UpstreamSettings>(
    workspace: &WorkspaceId,
    id: &UpstreamId,
    tool_ids: &[&str],
) -> Condition {
    condition(
        "NOT EXISTS (SELECT 1 FROM tools t CROSS JOIN tool_versions v ON v.key = t.current_version_key
           WHERE t.workspace_id = ?1 AND t.id > ?2 AND t.id < ?2 || '~' AND t.source = ?3 AND v.active = 1
             AND t.id NOT IN (SELECT value FROM json_each(?4)))",
    )
    .bind(workspace.as_str())
    .bind(id.prefix())
    .bind(S::SOURCE.as_str())
    .bind(json!(tool_ids).to_string())
}

pub fn delete<S: UpstreamSettings>(workspace: &WorkspaceId, id: &UpstreamId) -> Statement {
    sql("DELETE FROM upstreams WHERE workspace_id = ?1 AND source = ?2 AND name = ?3")
        .bind(workspace.as_str())
        .bind(S::SOURCE.as_str())
        .bind(id.name())
}

/// Leases those of the workspace's enabled upstreams of one kind that nobody has leased: all, or those with these names.
pub fn lease<S: UpstreamSettings>(workspace: &WorkspaceId, ids: Option<&[UpstreamId]>, lease: &Lease) -> Statement {
    sql(format!(
        "UPDATE upstreams AS u SET lease = ?4, leased_until = ?5
         WHERE u.workspace_id = ?1 AND u.source = ?2 AND {} AND u.enabled = 1 AND coalesce(u.leased_until, '') <= ?6",
        named("?3")
    ))
    .bind(workspace.as_str())
    .bind(S::SOURCE.as_str())
    .bind(names_json(ids))
    .bind(lease.token.as_str())
    .bind(lease.until.to_string())
    .bind(lease.now.to_string())
}

/// Leases those of these upstreams that are due and that nobody has leased.
pub fn lease_due_in<S: UpstreamSettings>(workspace: &WorkspaceId, ids: &[UpstreamId], lease: &Lease) -> Statement {
    self::lease::<S>(workspace, Some(ids), lease)
        .and(condition("coalesce(u.expires_at, '') <= ?1").bind(lease.now.to_string()))
}

/// Takes the lease of an upstream from whoever holds it. Decisions on an older reading of the upstream are refused from
/// now on.
pub fn seize<S: UpstreamSettings>(workspace: &WorkspaceId, id: &UpstreamId, lease: &Lease) -> Statement {
    sql("UPDATE upstreams SET lease = ?4, leased_until = ?5, revision = revision + 1
         WHERE workspace_id = ?1 AND source = ?2 AND name = ?3")
    .bind(workspace.as_str())
    .bind(S::SOURCE.as_str())
    .bind(id.name())
    .bind(lease.token.as_str())
    .bind(lease.until.to_string())
}

/// Makes an upstream due.
pub fn expire(workspace: &WorkspaceId, id: &UpstreamId) -> Statement {
    sql(format!(
        "UPDATE upstreams AS u SET expires_at = NULL WHERE u.workspace_id = ?1 AND u.name = ?2 AND {UPSTREAM_PREFIX} = ?3"
    ))
    .bind(workspace.as_str())
    .bind(id.name())
    .bind(id.prefix())
}

/// Keeps what the client remembers of a server, unless the server's settings have changed since they were read.
pub fn put_connection<S: UpstreamSettings>(
    workspace: &WorkspaceId,
    id: &UpstreamId,
    revision: u32,
    connection: &str,
) -> Statement {
    sql("UPDATE upstreams SET connection = ?5 WHERE workspace_id = ?1 AND source = ?2 AND name = ?3 AND revision = ?4")
        .bind(workspace.as_str())
        .bind(S::SOURCE.as_str())
        .bind(id.name())
        .bind(revision)
        .bind(connection)
}

/// The workspace's upstreams of one kind that the lease is on.
pub fn find_leased<S: UpstreamSettings>(workspace: &WorkspaceId, lease: &Lease) -> Statement {
    select("u.workspace_id = ?1 AND u.source = ?2 AND u.lease = ?3 ORDER BY u.name")
        .bind(workspace.as_str())
        .bind(S::SOURCE.as_str())
        .bind(lease.token.as_str())
}

/// Leases the upstreams of one kind that are due, in all workspaces, the oldest first, at most `limit`.
pub fn lease_due<S: UpstreamSettings>(lease: &Lease, limit: u32) -> Statement {
    sql("UPDATE upstreams SET lease = ?1, leased_until = ?2 WHERE (workspace_id, source, name) IN (
           SELECT workspace_id, source, name FROM upstreams INDEXED BY upstreams_by_expiry
           WHERE enabled = 1 AND source = ?5 AND coalesce(expires_at, '') <= ?3 AND coalesce(leased_until, '') <= ?3
           ORDER BY coalesce(expires_at, '') LIMIT +?4)")
    .bind(lease.token.as_str())
    .bind(lease.until.to_string())
    .bind(lease.now.to_string())
    .bind(limit)
    .bind(S::SOURCE.as_str())
}

/// The upstreams of all workspaces that the lease is on, each with its `workspace_id`.
pub fn find_leased_everywhere(lease: &Lease) -> Statement {
    sql(format!("SELECT u.workspace_id, {COLUMNS} FROM upstreams u INDEXED BY upstreams_by_lease WHERE u.lease = ?1"))
        .bind(lease.token.as_str())
}

pub fn read_leased_everywhere<S: UpstreamSettings>(rows: &Rows) -> Result<Vec<(WorkspaceId, Upstream<S>)>> {
    #[derive(Deserialize)]
    struct WorkspaceRow {
        workspace_id: String,
    }
    let workspaces = rows.all::<WorkspaceRow>()?.into_iter().map(|it| {
        WorkspaceId::parse(&it.workspace_id)
            .ok_or_else(|| Error::Internal(format!("{} is no workspace", it.workspace_id)))
    });
    workspaces.collect::<Result<Vec<_>>>().and_then(|it| Ok(it.into_iter().zip(read_upstreams(rows)?).collect()))
}

/// True while the lease is on all of these upstreams. An upstream that was changed or deleted meanwhile has lost it.
pub fn are_leased<S: UpstreamSettings>(workspace: &WorkspaceId, ids: &[&UpstreamId], lease: &Lease) -> Condition {
    condition(
        "NOT EXISTS (SELECT 1 FROM json_each(?3) it WHERE NOT EXISTS (
           SELECT 1 FROM upstreams WHERE workspace_id = ?1 AND source = ?2 AND name = it.value AND lease = ?4))",
    )
    .bind(workspace.as_str())
    .bind(S::SOURCE.as_str())
    .bind(names_of(ids))
    .bind(lease.token.as_str())
}

fn names_of(ids: &[&UpstreamId]) -> String {
    json!(ids.iter().map(|it| it.name()).collect::<Vec<_>>()).to_string()
}

/// Writes what a discovery has found, and ends its lease. The token of the lease stays, because conditions of the same
/// batch read it.
pub fn put_findings<S: UpstreamSettings>(
    workspace: &WorkspaceId,
    id: &UpstreamId,
    findings: &Findings,
    lease: &Lease,
) -> Statement {
    sql("UPDATE upstreams SET status = ?5, discovered_at = ?6, expires_at = ?7, last_error = ?8, warnings = ?9,
           fingerprint = ?10, connection = ?11, leased_until = NULL
         WHERE workspace_id = ?1 AND source = ?2 AND name = ?3 AND lease = ?4")
    .bind(workspace.as_str())
    .bind(S::SOURCE.as_str())
    .bind(id.name())
    .bind(lease.token.as_str())
    .bind(findings.status.as_str())
    .bind(findings.discovered_at.map(|it| it.to_string()))
    .bind(findings.expires_at.map(|it| it.to_string()))
    .bind(findings.last_error.as_deref())
    .bind(json!(findings.warnings).to_string())
    .bind(findings.fingerprint.as_deref())
    .bind(findings.connection.as_deref())
}

/// The workspace's upstreams of all kinds that are due, each as its `prefix`.
pub fn find_due(workspace: &WorkspaceId, now: Timestamp) -> Statement {
    sql(format!(
        "SELECT {UPSTREAM_PREFIX} AS prefix FROM upstreams u INDEXED BY upstreams_due
         WHERE u.workspace_id = ?1 AND u.enabled = 1 AND coalesce(u.expires_at, '') <= ?2
           AND coalesce(u.leased_until, '') <= ?2 LIMIT +?3"
    ))
    .bind(workspace.as_str())
    .bind(now.to_string())
    .bind(MAX_DUE)
}

/// How many upstreams one request has asked again in the background.
const MAX_DUE: u32 = 10;

pub fn read_ids(rows: &Rows) -> Result<Vec<UpstreamId>> {
    #[derive(Deserialize)]
    struct PrefixRow {
        prefix: String,
    }
    Ok(rows.all::<PrefixRow>()?.iter().filter_map(|it| UpstreamId::parse(&it.prefix)).collect())
}

/// A page of the definitions that are held back of one upstream, sorted by tool. The page is bounded by bytes
/// ([`registry::is_cut`](crate::registry::is_cut)).
pub fn list_held_back<S: UpstreamSettings>(
    workspace: &WorkspaceId,
    id: &UpstreamId,
    request: &PageRequest,
) -> Statement {
    let columns = "h.name, h.tool_id, h.change, h.offered";
    let from = "FROM (SELECT * FROM held_back_definitions
                 WHERE workspace_id = ?1 AND source = ?2 AND name = ?3 AND tool_id > ?4 ORDER BY tool_id LIMIT +?5) h";
    sql(select_within_bytes("name, tool_id, change, offered", columns, "octet_length(h.offered)", from, "h.tool_id"))
        .bind(workspace.as_str())
        .bind(S::SOURCE.as_str())
        .bind(id.name())
        .bind(request.after().unwrap_or_default())
        .bind(request.rows_to_ask())
}

/// The definitions that are held back, of all these upstreams, sorted by tool.
pub fn find_held_back<S: UpstreamSettings>(workspace: &WorkspaceId, ids: &[&UpstreamId]) -> Statement {
    sql("SELECT h.name, h.tool_id, h.change, h.offered FROM json_each(?3) u
         CROSS JOIN held_back_definitions h ON h.workspace_id = ?1 AND h.source = ?2 AND h.name = u.value
         ORDER BY h.name, h.tool_id")
    .bind(workspace.as_str())
    .bind(S::SOURCE.as_str())
    .bind(names_of(ids))
}

pub fn read_held_back<S: UpstreamSettings>(rows: &Rows) -> Result<Vec<HeldBack>> {
    #[derive(Deserialize)]
    struct HeldBackRow {
        name: String,
        tool_id: String,
        change: HeldBackChange,
        offered: String,
    }
    let read = |row: HeldBackRow| {
        let broken = || Error::Internal(format!("{} is held back under a broken name", row.tool_id));
        Ok(HeldBack {
            upstream: UpstreamId::new(&row.name, S::SEPARATOR).ok_or_else(broken)?,
            tool_id: ToolId::parse(&row.tool_id).ok_or_else(broken)?,
            change: row.change,
            offered: stored_json(&row.offered)?,
        })
    };
    rows.all::<HeldBackRow>()?.into_iter().map(read).collect()
}

/// Holds definitions back. A definition of the same tool is replaced.
pub fn put_held_back<S: UpstreamSettings>(workspace: &WorkspaceId, held: &[HeldBack]) -> Result<Vec<Statement>> {
    let rows = held.iter().map(|it| {
        json!({"name": it.upstream.name(), "tool_id": it.tool_id.as_str(), "change": it.change,
            "offered": json!(it.offered).to_string()})
    });
    let statements = for_each(
        workspace,
        &rows.collect::<Vec<_>>(),
        "INSERT OR REPLACE INTO held_back_definitions (workspace_id, source, name, tool_id, change, offered)
         SELECT ?1, ?3, value ->> 'name', value ->> 'tool_id', value ->> 'change', value ->> 'offered'
         FROM json_each(?2) WHERE true",
    )?;
    Ok(statements.into_iter().map(|it| it.bind(S::SOURCE.as_str())).collect())
}

/// Deletes what is held back of these tools.
pub fn forget_held_back<S: UpstreamSettings>(
    workspace: &WorkspaceId,
    tools: &[(&UpstreamId, &ToolId)],
) -> Result<Vec<Statement>> {
    let rows = tools.iter().map(|(id, tool)| json!({"name": id.name(), "tool_id": tool.as_str()}));
    let statements = for_each(
        workspace,
        &rows.collect::<Vec<_>>(),
        "DELETE FROM held_back_definitions WHERE workspace_id = ?1 AND source = ?3 AND (name, tool_id) IN (
           SELECT value ->> 'name', value ->> 'tool_id' FROM json_each(?2))",
    )?;
    Ok(statements.into_iter().map(|it| it.bind(S::SOURCE.as_str())).collect())
}
