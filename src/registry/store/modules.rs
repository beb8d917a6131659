//! SQL of the table `modules`, as far as tools need it. The room `modules` manages the table.

use crate::db::{Condition, ManyRows, Rows, Statement, condition, for_each, sql};
use crate::error::{Error, Result};
use crate::ids::{ModuleName, WorkspaceId};
use crate::registry::module_access::ModuleAccess;
use crate::workspace_settings::DEFAULT_GUEST_MODULES;
use serde::Deserialize;

/// Selects the modules that guests may use and those that are disabled, in one row.
pub fn find_access(workspace: &WorkspaceId) -> Statement {
    sql(format!(
        "SELECT {DEFAULT_GUEST_MODULES} AS default_guest_modules,
           (SELECT json_group_array(name) FROM modules WHERE workspace_id = ?1 AND enabled = 0) AS disabled"
    ))
    .bind(workspace.as_str())
}

pub fn read_access(rows: &Rows) -> Result<ModuleAccess> {
    #[derive(Deserialize)]
    struct Row {
        default_guest_modules: String,
        disabled: String,
    }
    let names = |text: &str| {
        serde_json::from_str(text).map_err(|cause| Error::Internal(format!("stored names cannot be read: {cause}")))
    };
    let row = rows.first::<Row>()?.ok_or_else(|| Error::Internal("the state of modules has no row".into()))?;
    Ok(ModuleAccess { default_guest_modules: names(&row.default_guest_modules)?, disabled: names(&row.disabled)? })
}

/// Selects a row if the module is registered.
pub fn module_exists(workspace: &WorkspaceId, name: &ModuleName) -> Statement {
    sql("SELECT 1 AS found FROM modules WHERE workspace_id = ?1 AND name = ?2")
        .bind(workspace.as_str())
        .bind(name.as_str())
}

/// The module that the tool `t` belongs to; null for tools of other sources.
pub const MODULE_OF_TOOL: &str = "iif(t.source = 'module', substr(t.id, 1, instr(t.id, '.') - 1), NULL)";

/// The names of the workspace's modules, as `id`.
pub fn names(workspace: &WorkspaceId) -> Statement {
    sql("SELECT name AS id FROM modules WHERE workspace_id = ?1").bind(workspace.as_str())
}

/// True while the module is registered.
pub fn is_registered(workspace: &WorkspaceId, name: &str) -> Condition {
    condition("EXISTS (SELECT 1 FROM modules WHERE workspace_id = ?1 AND name = ?2)")
        .bind(workspace.as_str())
        .bind(name)
}

/// Makes the modules due that tools with these ids belong to. The next discovery compares every tool, and a discovery
/// that is going on puts nothing in place, because its decisions are based on the tools as they were.
pub fn ask_again(workspace: &WorkspaceId, tool_ids: &impl ManyRows) -> Result<Vec<Statement>> {
    for_each(
        workspace,
        tool_ids,
        "UPDATE modules SET fingerprint = NULL, expires_at = NULL, lease = NULL, leased_until = NULL
         WHERE workspace_id = ?1 AND name IN (SELECT substr(value, 1, instr(value, '.') - 1) FROM json_each(?2))",
    )
}
