//! SQL for what the registry needs of the table `modules`. The room `modules` manages the table.

use crate::db::{Condition, ManyRows, Statement, condition, for_each, sql};
use crate::error::Result;
use crate::ids::WorkspaceId;

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
