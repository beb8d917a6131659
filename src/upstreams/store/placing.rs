//! SQL that adds and changes several upstreams of one kind at once. The statements end with a `WHERE` clause, so that the
//! conditions of a placement can be added to them.

use super::{Lease, select};
use crate::db::{Condition, Statement, condition, for_each, sql};
use crate::error::Result;
use crate::ids::WorkspaceId;
use crate::upstreams::kind::UpstreamSettings;
use crate::upstreams::upstream::Upstream;
use serde_json::{Value, json};

/// The upstream as [`insert_all`] and [`update_all`] take it. `is_leased` says whether the lease is put on it.
pub fn row<S: UpstreamSettings>(upstream: &Upstream<S>, is_leased: bool, keeps_connection: bool) -> Value {
    let settings = upstream.settings.columns();
    json!({
        "name": upstream.name(), "kind": settings.kind, "url": settings.url, "slow": settings.slow,
        "timeout_seconds": settings.timeout_seconds, "headers": settings.headers, "enabled": settings.enabled,
        "auto_accept": settings.auto_accept, "include": settings.include, "server": settings.server,
        "toolset_id": settings.toolset_id, "paused": settings.paused, "created_at": upstream.created_at,
        "revision": upstream.revision, "is_leased": is_leased, "keeps_connection": keeps_connection,
    })
}

/// Adds upstreams. An upstream of the same name makes the batch fail as a duplicate.
pub fn insert_all<S: UpstreamSettings>(
    workspace: &WorkspaceId,
    rows: &[Value],
    lease: &Lease,
) -> Result<Vec<Statement>> {
    let statements = for_each(
        workspace,
        rows,
        "INSERT INTO upstreams (workspace_id, source, name, kind, url, slow, timeout_seconds, headers, enabled,
           auto_accept, include, server, toolset_id, paused, created_at, revision, lease, leased_until)
         SELECT ?1, ?3, value ->> 'name', value ->> 'kind', value ->> 'url', value ->> 'slow',
           value ->> 'timeout_seconds', value ->> 'headers', value ->> 'enabled', value ->> 'auto_accept',
           value ->> 'include', value ->> 'server', value ->> 'toolset_id', value ->> 'paused', value ->> 'created_at',
           value ->> 'revision', iif(value ->> 'is_leased', ?4, NULL), iif(value ->> 'is_leased', ?5, NULL)
         FROM json_each(?2) WHERE true",
    )?;
    Ok(leased::<S>(statements, lease))
}

/// Changes the settings of upstreams, and takes their leases from discoveries that go on with the old ones. The next
/// discovery looks at all tools, and is due at once.
pub fn update_all<S: UpstreamSettings>(
    workspace: &WorkspaceId,
    rows: &[Value],
    lease: &Lease,
) -> Result<Vec<Statement>> {
    let statements = for_each(
        workspace,
        rows,
        "UPDATE upstreams AS u SET kind = it.value ->> 'kind', url = it.value ->> 'url', slow = it.value ->> 'slow',
           timeout_seconds = it.value ->> 'timeout_seconds', headers = it.value ->> 'headers',
           enabled = it.value ->> 'enabled', auto_accept = it.value ->> 'auto_accept', include = it.value ->> 'include',
           server = it.value ->> 'server', toolset_id = it.value ->> 'toolset_id', paused = it.value ->> 'paused',
           revision = u.revision + 1, fingerprint = NULL, expires_at = NULL,
           connection = iif(it.value ->> 'keeps_connection', u.connection, NULL),
           lease = iif(it.value ->> 'is_leased', ?4, NULL), leased_until = iif(it.value ->> 'is_leased', ?5, NULL)
         FROM json_each(?2) it WHERE u.workspace_id = ?1 AND u.source = ?3 AND u.name = it.value ->> 'name'",
    )?;
    Ok(leased::<S>(statements, lease))
}

fn leased<S: UpstreamSettings>(statements: Vec<Statement>, lease: &Lease) -> Vec<Statement> {
    let bind = |it: Statement| it.bind(S::SOURCE.as_str()).bind(lease.token.as_str()).bind(lease.until.to_string());
    statements.into_iter().map(bind).collect()
}

/// True while all of these upstreams are at the revisions that were read.
pub fn are_at<S: UpstreamSettings>(workspace: &WorkspaceId, upstreams: &[&Upstream<S>]) -> Condition {
    let revisions = upstreams.iter().map(|it| (it.name().to_owned(), json!(it.revision))).collect();
    condition(
        "NOT EXISTS (SELECT 1 FROM json_each(?3) it WHERE NOT EXISTS (
           SELECT 1 FROM upstreams WHERE workspace_id = ?1 AND source = ?2 AND name = it.key AND revision = it.value))",
    )
    .bind(workspace.as_str())
    .bind(S::SOURCE.as_str())
    .bind(Value::Object(revisions).to_string())
}

/// The upstreams that a toolset has brought, sorted by name, and those with one of these names.
pub fn find_of_toolset<S: UpstreamSettings>(workspace: &WorkspaceId, toolset: &str, names: &[&str]) -> Statement {
    select(
        "u.workspace_id = ?1 AND u.source = ?2 AND (u.toolset_id = ?3 OR u.name IN (SELECT value FROM json_each(?4)))
         ORDER BY u.name",
    )
    .bind(workspace.as_str())
    .bind(S::SOURCE.as_str())
    .bind(toolset)
    .bind(json!(names).to_string())
}

/// Selects a row if the upstream was brought by a toolset that is there.
pub fn find_toolset_of<S: UpstreamSettings>(workspace: &WorkspaceId, name: &str) -> Statement {
    sql("SELECT t.id FROM upstreams u CROSS JOIN toolsets t ON t.workspace_id = ?1 AND t.id = u.toolset_id
         WHERE u.workspace_id = ?1 AND u.source = ?2 AND u.name = ?3")
    .bind(workspace.as_str())
    .bind(S::SOURCE.as_str())
    .bind(name)
}
