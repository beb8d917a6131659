//! SQL of the table `modules`, as far as tools need it. The room `modules` manages the table.

use crate::db::{Rows, Statement, sql};
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
