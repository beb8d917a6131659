//! SQL for the tables `modules` and `held_back_tools`.

pub mod replacing;

use super::held_back::{HeldBack, HeldBackChange};
use super::include::Include;
use super::module::{Findings, Module, ModuleKind, ModuleSettings, ModuleStatus};
use super::offer::ModuleWarning;
use crate::db::{Condition, Rows, Statement, condition, for_each, sql};
use crate::error::{Error, Result};
use crate::ids::{ModuleName, ToolId, WorkspaceId};
use crate::page::PageRequest;
use crate::registry::{HeaderValue, select_within_bytes};
use crate::time::Timestamp;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use std::collections::BTreeMap;

const COLUMNS: &str =
    "m.name, m.kind, m.url, m.slow, m.timeout_seconds, m.headers, m.enabled, m.auto_accept, m.include, m.created_at,
     m.revision, m.status, m.discovered_at, m.expires_at, m.last_error, m.warnings, m.fingerprint, m.leased_until";

/// How many active tools the module has, and how many definitions are held back.
const COUNTS: &str = "(
      SELECT count(*) FROM tools t CROSS JOIN tool_versions v ON v.key = t.current_version_key
      WHERE t.workspace_id = m.workspace_id AND t.id > m.name || '.' AND t.id < m.name || '/' AND v.active = 1) AS tools,
    (SELECT count(*) FROM held_back_tools h WHERE h.workspace_id = m.workspace_id AND h.module = m.name) AS held_back";

#[derive(Deserialize)]
struct ModuleRow {
    name: String,
    kind: ModuleKind,
    url: String,
    slow: u8,
    timeout_seconds: Option<u32>,
    headers: String,
    enabled: u8,
    auto_accept: u8,
    include: Option<String>,
    created_at: Timestamp,
    revision: u32,
    status: ModuleStatus,
    discovered_at: Option<Timestamp>,
    expires_at: Option<Timestamp>,
    last_error: Option<String>,
    warnings: String,
    fingerprint: Option<String>,
    leased_until: Option<Timestamp>,
    #[serde(default)]
    tools: u32,
    #[serde(default)]
    held_back: u32,
}

impl TryFrom<ModuleRow> for Module {
    type Error = Error;

    fn try_from(row: ModuleRow) -> Result<Self> {
        Ok(Self {
            name: ModuleName::parse(&row.name)
                .ok_or_else(|| Error::Internal(format!("the module {} has a broken name", row.name)))?,
            settings: ModuleSettings {
                kind: row.kind,
                url: row.url,
                slow: row.slow != 0,
                timeout_seconds: row.timeout_seconds,
                headers: stored_json::<BTreeMap<String, HeaderValue>>(&row.headers)?,
                enabled: row.enabled != 0,
                auto_accept: row.auto_accept != 0,
                include: row.include.as_deref().map(stored_json::<Include>).transpose()?,
            },
            created_at: row.created_at,
            revision: row.revision,
            findings: Findings {
                status: row.status,
                discovered_at: row.discovered_at,
                expires_at: row.expires_at,
                last_error: row.last_error,
                warnings: stored_json::<Vec<ModuleWarning>>(&row.warnings)?,
                fingerprint: row.fingerprint,
            },
            leased_until: row.leased_until,
            tools: row.tools,
            held_back: row.held_back,
        })
    }
}

fn stored_json<T: DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|cause| Error::Internal(format!("stored JSON cannot be read: {cause}")))
}

pub fn read_modules(rows: &Rows) -> Result<Vec<Module>> {
    rows.all::<ModuleRow>()?.into_iter().map(Module::try_from).collect()
}

pub fn read_module(rows: &Rows) -> Result<Option<Module>> {
    rows.first::<ModuleRow>()?.map(Module::try_from).transpose()
}

/// A page of the workspace's modules, sorted by name.
pub fn list(workspace: &WorkspaceId, request: &PageRequest) -> Statement {
    sql(format!(
        "SELECT {COLUMNS}, {COUNTS} FROM modules m WHERE m.workspace_id = ?1 AND m.name > ?2 ORDER BY m.name LIMIT ?3"
    ))
    .bind(workspace.as_str())
    .bind(request.after().unwrap_or_default())
    .bind(request.rows_to_ask())
}

pub fn find(workspace: &WorkspaceId, name: &ModuleName) -> Statement {
    sql(format!("SELECT {COLUMNS}, {COUNTS} FROM modules m WHERE m.workspace_id = ?1 AND m.name = ?2"))
        .bind(workspace.as_str())
        .bind(name.as_str())
}

/// All modules of the workspace, or those with these names, sorted by name.
pub fn find_all(workspace: &WorkspaceId, names: Option<&[ModuleName]>) -> Statement {
    sql(format!(
        "SELECT {COLUMNS}, {COUNTS} FROM modules m WHERE m.workspace_id = ?1 AND {} ORDER BY m.name",
        named("?2")
    ))
    .bind(workspace.as_str())
    .bind(names_json(names))
}

/// True for the modules `m` that the parameter names; for all, if the parameter is null.
fn named(param: &str) -> String {
    format!("({param} IS NULL OR m.name IN (SELECT value FROM json_each({param})))")
}

fn names_json(names: Option<&[ModuleName]>) -> Option<String> {
    names.map(|it| json!(it.iter().map(ModuleName::as_str).collect::<Vec<_>>()).to_string())
}

/// The number of the workspace's modules, as `modules`.
pub fn count(workspace: &WorkspaceId) -> Statement {
    sql("SELECT count(*) AS modules FROM modules WHERE workspace_id = ?1").bind(workspace.as_str())
}

pub fn read_count(rows: &Rows) -> Result<u32> {
    #[derive(Deserialize)]
    struct CountRow {
        modules: u32,
    }
    Ok(rows.first::<CountRow>()?.map_or(0, |it| it.modules))
}

/// The ids of the module's active tools, as `id`, sorted.
pub fn find_tool_ids(workspace: &WorkspaceId, name: &ModuleName) -> Statement {
    sql("SELECT t.id FROM tools t CROSS JOIN tool_versions v ON v.key = t.current_version_key
         WHERE t.workspace_id = ?1 AND t.id > ?2 || '.' AND t.id < ?2 || '/' AND v.active = 1 ORDER BY t.id")
    .bind(workspace.as_str())
    .bind(name.as_str())
}

/// The lease that one discovery holds on modules.
#[derive(Clone, Debug)]
pub struct Lease {
    pub token: String,
    pub now: Timestamp,
    pub until: Timestamp,
}

/// Adds a module, leased. A module of this name makes the batch fail as a duplicate.
pub fn insert(workspace: &WorkspaceId, module: &Module, lease: &Lease) -> Statement {
    settings_bound(
        sql("INSERT INTO modules (workspace_id, name, kind, url, slow, timeout_seconds, headers, enabled, auto_accept,
               include, created_at, revision, lease, leased_until)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)")
        .bind(workspace.as_str())
        .bind(module.name.as_str()),
        &module.settings,
    )
    .bind(module.created_at.to_string())
    .bind(module.revision)
    .bind(lease.token.as_str())
    .bind(lease.until.to_string())
}

/// Changes the settings, and takes the lease from a discovery that goes on with the old ones. The next discovery looks at
/// all tools.
pub fn update(workspace: &WorkspaceId, module: &Module, lease: &Lease) -> Statement {
    settings_bound(
        sql("UPDATE modules SET kind = ?3, url = ?4, slow = ?5, timeout_seconds = ?6, headers = ?7, enabled = ?8,
               auto_accept = ?9, include = ?10, revision = revision + 1, fingerprint = NULL, lease = ?12,
               leased_until = ?13
             WHERE workspace_id = ?1 AND name = ?2 AND revision = ?11")
        .bind(workspace.as_str())
        .bind(module.name.as_str()),
        &module.settings,
    )
    .bind(module.revision)
    .bind(lease.token.as_str())
    .bind(lease.until.to_string())
}

fn settings_bound(statement: Statement, settings: &ModuleSettings) -> Statement {
    statement
        .bind(settings.kind.as_str())
        .bind(settings.url.as_str())
        .bind(settings.slow)
        .bind(settings.timeout_seconds)
        .bind(json!(settings.headers).to_string())
        .bind(settings.enabled)
        .bind(settings.auto_accept)
        .bind(settings.include.as_ref().map(|it| json!(it).to_string()))
}

/// True while the module is at the revision that was read.
pub fn is_at(workspace: &WorkspaceId, module: &Module) -> Condition {
    condition("EXISTS (SELECT 1 FROM modules WHERE workspace_id = ?1 AND name = ?2 AND revision = ?3)")
        .bind(workspace.as_str())
        .bind(module.name.as_str())
        .bind(module.revision)
}

/// True while the module has no active tools but these. Another request may activate a tool that was read as inactive.
pub fn has_no_active_tool_but(workspace: &WorkspaceId, name: &ModuleName, tool_ids: &[&str]) -> Condition {
    condition(
        "NOT EXISTS (SELECT 1 FROM tools t CROSS JOIN tool_versions v ON v.key = t.current_version_key
           WHERE t.workspace_id = ?1 AND t.id > ?2 || '.' AND t.id < ?2 || '/' AND t.source = 'module' AND v.active = 1
             AND t.id NOT IN (SELECT value FROM json_each(?3)))",
    )
    .bind(workspace.as_str())
    .bind(name.as_str())
    .bind(json!(tool_ids).to_string())
}

pub fn delete(workspace: &WorkspaceId, module: &Module) -> Statement {
    sql("DELETE FROM modules WHERE workspace_id = ?1 AND name = ?2").bind(workspace.as_str()).bind(module.name.as_str())
}

/// Leases those of the workspace's enabled modules that nobody has leased: all, or those with these names.
pub fn lease(workspace: &WorkspaceId, names: Option<&[ModuleName]>, lease: &Lease) -> Statement {
    sql(format!(
        "UPDATE modules AS m SET lease = ?3, leased_until = ?4
         WHERE m.workspace_id = ?1 AND {} AND m.enabled = 1 AND coalesce(m.leased_until, '') <= ?5",
        named("?2")
    ))
    .bind(workspace.as_str())
    .bind(names_json(names))
    .bind(lease.token.as_str())
    .bind(lease.until.to_string())
    .bind(lease.now.to_string())
}

/// Leases those of these modules that are due and that nobody has leased.
pub fn lease_due_in(workspace: &WorkspaceId, names: &[ModuleName], lease: &Lease) -> Statement {
    self::lease(workspace, Some(names), lease)
        .and(condition("coalesce(m.expires_at, '') <= ?1").bind(lease.now.to_string()))
}

/// Takes the lease of a module from whoever holds it. Decisions on an older reading of the module are refused from now
/// on.
pub fn seize(workspace: &WorkspaceId, name: &ModuleName, lease: &Lease) -> Statement {
    sql("UPDATE modules SET lease = ?3, leased_until = ?4, revision = revision + 1 WHERE workspace_id = ?1 AND name = ?2")
        .bind(workspace.as_str())
        .bind(name.as_str())
        .bind(lease.token.as_str())
        .bind(lease.until.to_string())
}

/// The workspace's modules that the lease is on.
pub fn find_leased(workspace: &WorkspaceId, lease: &Lease) -> Statement {
    sql(format!("SELECT {COLUMNS}, {COUNTS} FROM modules m WHERE m.workspace_id = ?1 AND m.lease = ?2 ORDER BY m.name"))
        .bind(workspace.as_str())
        .bind(lease.token.as_str())
}

/// Leases the modules of all workspaces that are due, the oldest first, at most `limit`.
pub fn lease_due(lease: &Lease, limit: u32) -> Statement {
    sql("UPDATE modules SET lease = ?1, leased_until = ?2 WHERE (workspace_id, name) IN (
           SELECT workspace_id, name FROM modules INDEXED BY modules_by_expiry
           WHERE enabled = 1 AND coalesce(expires_at, '') <= ?3 AND coalesce(leased_until, '') <= ?3
           ORDER BY coalesce(expires_at, '') LIMIT ?4)")
    .bind(lease.token.as_str())
    .bind(lease.until.to_string())
    .bind(lease.now.to_string())
    .bind(limit)
}

/// The modules of all workspaces that the lease is on, each with its `workspace_id`.
pub fn find_leased_everywhere(lease: &Lease) -> Statement {
    sql(format!("SELECT m.workspace_id, {COLUMNS} FROM modules m INDEXED BY modules_by_lease WHERE m.lease = ?1"))
        .bind(lease.token.as_str())
}

pub fn read_leased_everywhere(rows: &Rows) -> Result<Vec<(WorkspaceId, Module)>> {
    #[derive(Deserialize)]
    struct WorkspaceRow {
        workspace_id: String,
    }
    let workspaces = rows.all::<WorkspaceRow>()?.into_iter().map(|it| {
        WorkspaceId::parse(&it.workspace_id)
            .ok_or_else(|| Error::Internal(format!("{} is no workspace", it.workspace_id)))
    });
    workspaces.collect::<Result<Vec<_>>>().and_then(|it| Ok(it.into_iter().zip(read_modules(rows)?).collect()))
}

/// True while the lease is on all of these modules. A module that was changed or deleted meanwhile has lost it.
pub fn are_leased(workspace: &WorkspaceId, names: &[&str], lease: &Lease) -> Condition {
    condition(
        "NOT EXISTS (SELECT 1 FROM json_each(?2) it WHERE NOT EXISTS (
           SELECT 1 FROM modules WHERE workspace_id = ?1 AND name = it.value AND lease = ?3))",
    )
    .bind(workspace.as_str())
    .bind(json!(names).to_string())
    .bind(lease.token.as_str())
}

/// Writes what a discovery has found, and ends its lease. The token of the lease stays, because conditions of the same
/// batch read it.
pub fn put_findings(workspace: &WorkspaceId, name: &ModuleName, findings: &Findings, lease: &Lease) -> Statement {
    sql("UPDATE modules SET status = ?4, discovered_at = ?5, expires_at = ?6, last_error = ?7, warnings = ?8,
           fingerprint = ?9, leased_until = NULL
         WHERE workspace_id = ?1 AND name = ?2 AND lease = ?3")
    .bind(workspace.as_str())
    .bind(name.as_str())
    .bind(lease.token.as_str())
    .bind(findings.status.as_str())
    .bind(findings.discovered_at.map(|it| it.to_string()))
    .bind(findings.expires_at.map(|it| it.to_string()))
    .bind(findings.last_error.as_deref())
    .bind(json!(findings.warnings).to_string())
    .bind(findings.fingerprint.as_deref())
}

/// The names of the workspace's modules that are due, as `name`.
pub fn find_due(workspace: &WorkspaceId, now: Timestamp) -> Statement {
    sql("SELECT name FROM modules INDEXED BY modules_due
         WHERE workspace_id = ?1 AND enabled = 1 AND coalesce(expires_at, '') <= ?2
           AND coalesce(leased_until, '') <= ?2 LIMIT ?3")
    .bind(workspace.as_str())
    .bind(now.to_string())
    .bind(MAX_DUE)
}

/// How many modules one request has asked again in the background.
const MAX_DUE: u32 = 10;

pub fn read_names(rows: &Rows) -> Result<Vec<ModuleName>> {
    #[derive(Deserialize)]
    struct NameRow {
        name: String,
    }
    Ok(rows.all::<NameRow>()?.iter().filter_map(|it| ModuleName::parse(&it.name)).collect())
}

/// A page of the definitions that are held back of one module, sorted by tool. The page is bounded by bytes
/// ([`registry::is_cut`](crate::registry::is_cut)).
pub fn list_held_back(workspace: &WorkspaceId, module: &ModuleName, request: &PageRequest) -> Statement {
    let columns = "h.module, h.tool_id, h.change, h.offered";
    let from = "FROM (SELECT * FROM held_back_tools WHERE workspace_id = ?1 AND module = ?2 AND tool_id > ?3
                 ORDER BY tool_id LIMIT ?4) h";
    sql(select_within_bytes("module, tool_id, change, offered", columns, "octet_length(h.offered)", from, "h.tool_id"))
        .bind(workspace.as_str())
        .bind(module.as_str())
        .bind(request.after().unwrap_or_default())
        .bind(request.rows_to_ask())
}

/// The definitions that are held back, of all these modules, sorted by tool.
pub fn find_held_back(workspace: &WorkspaceId, modules: &[&str]) -> Statement {
    sql("SELECT h.module, h.tool_id, h.change, h.offered FROM json_each(?2) m
         CROSS JOIN held_back_tools h ON h.workspace_id = ?1 AND h.module = m.value ORDER BY h.module, h.tool_id")
    .bind(workspace.as_str())
    .bind(json!(modules).to_string())
}

pub fn read_held_back(rows: &Rows) -> Result<Vec<HeldBack>> {
    #[derive(Deserialize)]
    struct HeldBackRow {
        module: String,
        tool_id: String,
        change: HeldBackChange,
        offered: String,
    }
    let read = |row: HeldBackRow| {
        let broken = || Error::Internal(format!("{} is held back under a broken name", row.tool_id));
        Ok(HeldBack {
            module: ModuleName::parse(&row.module).ok_or_else(broken)?,
            tool_id: ToolId::parse(&row.tool_id).ok_or_else(broken)?,
            change: row.change,
            offered: stored_json(&row.offered)?,
        })
    };
    rows.all::<HeldBackRow>()?.into_iter().map(read).collect()
}

/// Holds definitions back. A definition of the same tool is replaced.
pub fn put_held_back(workspace: &WorkspaceId, held: &[HeldBack]) -> Result<Vec<Statement>> {
    let rows = held.iter().map(|it| {
        json!({"module": it.module.as_str(), "tool_id": it.tool_id.as_str(), "change": it.change,
            "offered": json!(it.offered).to_string()})
    });
    for_each(
        workspace,
        &rows.collect::<Vec<_>>(),
        "INSERT OR REPLACE INTO held_back_tools (workspace_id, module, tool_id, change, offered)
         SELECT ?1, value ->> 'module', value ->> 'tool_id', value ->> 'change', value ->> 'offered'
         FROM json_each(?2) WHERE true",
    )
}

/// Deletes what is held back of these tools.
pub fn forget_held_back(workspace: &WorkspaceId, tools: &[(&ModuleName, &ToolId)]) -> Result<Vec<Statement>> {
    let rows = tools.iter().map(|(module, tool)| json!({"module": module.as_str(), "tool_id": tool.as_str()}));
    for_each(
        workspace,
        &rows.collect::<Vec<_>>(),
        "DELETE FROM held_back_tools WHERE workspace_id = ?1 AND (module, tool_id) IN (
           SELECT value ->> 'module', value ->> 'tool_id' FROM json_each(?2))",
    )
}
