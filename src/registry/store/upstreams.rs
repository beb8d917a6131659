//! SQL of the table `upstreams`, as far as tools need it. The room `upstreams` manages the table.

use crate::db::{Condition, DbFailure, ManyRows, Rows, Statement, condition, for_each, sql};
use crate::error::{Error, Result};
use crate::ids::{ModuleName, UpstreamId, WorkspaceId};
use crate::registry::tool::Source;
use crate::workspace_settings::DEFAULT_GUEST_MODULES;
use serde::Deserialize;

/// The beginning of the ids of the tools of the upstream `u`. No character of an id sorts after `~`, so the tools are the
/// range of ids from here to here and `~`.
pub const UPSTREAM_PREFIX: &str = "u.name || iif(u.source = 'mcp', ':', '.')";

/// The upstream that the tool `t` belongs to, as the beginning of the tool's id; null for tools of other sources.
pub const UPSTREAM_OF_TOOL: &str =
    "iif(t.source IN ('module', 'mcp'), substr(t.id, 1, instr(t.id, iif(t.source = 'mcp', ':', '.'))), NULL)";

/// Selects the modules that guests may use, in one row.
pub fn find_guest_modules(workspace: &WorkspaceId) -> Statement {
    sql(format!("SELECT {DEFAULT_GUEST_MODULES} AS default_guest_modules")).bind(workspace.as_str())
}

pub fn read_guest_modules(rows: &Rows) -> Result<Vec<String>> {
    #[derive(Deserialize)]
    struct Row {
        default_guest_modules: String,
    }
    let row = rows.first::<Row>()?.ok_or_else(|| Error::Internal("the guests' modules have no row".into()))?;
    serde_json::from_str(&row.default_guest_modules)
        .map_err(|cause| Error::Internal(format!("stored names cannot be read: {cause}")))
}

/// Selects a row if the module is registered.
pub fn module_exists(workspace: &WorkspaceId, name: &ModuleName) -> Statement {
    sql("SELECT 1 AS found FROM upstreams WHERE workspace_id = ?1 AND source = 'module' AND name = ?2")
        .bind(workspace.as_str())
        .bind(name.as_str())
}

/// The upstreams of the workspace, each as the beginning of its tools' ids, as `id`.
pub fn prefixes(workspace: &WorkspaceId) -> Statement {
    sql(format!("SELECT {UPSTREAM_PREFIX} AS id FROM upstreams u WHERE u.workspace_id = ?1")).bind(workspace.as_str())
}

/// True while the upstream is registered.
pub fn is_registered(workspace: &WorkspaceId, id: &UpstreamId) -> Condition {
    condition(format!(
        "EXISTS (SELECT 1 FROM upstreams u WHERE u.workspace_id = ?1 AND u.name = ?2 AND {UPSTREAM_PREFIX} = ?3)"
    ))
    .bind(workspace.as_str())
    .bind(id.name())
    .bind(id.prefix())
}

/// Whether a trigger refused a toolset with the id of an MCP server, or an MCP server with the id of a toolset.
pub fn is_taken_id(failure: &DbFailure) -> bool {
    let words = ["the id of a toolset", "the id of an MCP server"];
    matches!(failure, DbFailure::Refused(rule) if words.iter().any(|it| rule.contains(it)))
}

/// True while all tools whose ids begin with `prefix` are of this source. A toolset that was uninstalled leaves its tools
/// behind, inactive, and so does an MCP server: nothing else can have their ids, because their versions and records stay.
pub fn has_only_tools_of(workspace: &WorkspaceId, prefix: &str, source: Source) -> Condition {
    condition(
        "NOT EXISTS (SELECT 1 FROM tools WHERE workspace_id = ?1 AND id > ?2 AND id < ?2 || '~' AND source <> ?3)",
    )
    .bind(workspace.as_str())
    .bind(prefix)
    .bind(source.as_str())
}

/// Makes the upstreams due that tools with these ids belong to. The next discovery compares every tool, and a discovery
/// that is going on puts nothing in place, because its decisions are based on the tools as they were.
pub fn ask_again(workspace: &WorkspaceId, tool_ids: &impl ManyRows) -> Result<Vec<Statement>> {
    for_each(
        workspace,
        tool_ids,
        "UPDATE upstreams SET fingerprint = NULL, expires_at = NULL, lease = NULL, leased_until = NULL
         WHERE workspace_id = ?1 AND (
           source = 'module' AND name IN (SELECT substr(value, 1, instr(value, '.') - 1) FROM json_each(?2))
           OR source = 'mcp' AND name IN (SELECT substr(value, 1, instr(value, ':') - 1) FROM json_each(?2)))",
    )
}
