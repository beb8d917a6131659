//! SQL of the tables `toolsets` and `toolset_tools`, as far as tools need it. The room `toolsets` manages the tables.

use crate::db::{Condition, Rows, Statement, condition, sql};
use crate::error::Result;
use crate::ids::{SERVER_SEPARATOR, ToolId, WorkspaceId};
use crate::registry::invariants::DeclaredTools;
use serde::Deserialize;

/// The toolset that the tool `t` belongs to; null for tools of other sources.
pub const TOOLSET_OF_TOOL: &str = "iif(t.source = 'toolset', substr(t.id, 1, instr(t.id, ':') - 1), NULL)";

/// All toolsets of the workspace, with the tools that they declare.
pub fn declared(workspace: &WorkspaceId) -> Statement {
    sql("SELECT s.id, d.tool FROM toolsets s
         LEFT JOIN toolset_tools d ON d.workspace_id = s.workspace_id AND d.toolset_id = s.id WHERE s.workspace_id = ?1")
    .bind(workspace.as_str())
}

/// The toolset in the tool's id, if it is installed, and whether it declares the tool. No row is read for an id without a
/// toolset.
pub fn declared_of(workspace: &WorkspaceId, tool: &ToolId) -> Statement {
    let (toolset, name) = split(tool);
    sql("SELECT s.id, d.tool FROM toolsets s
         LEFT JOIN toolset_tools d ON d.workspace_id = s.workspace_id AND d.toolset_id = s.id AND d.tool = ?3
         WHERE s.workspace_id = ?1 AND s.id = ?2")
    .bind(workspace.as_str())
    .bind(toolset)
    .bind(name)
}

pub fn read_declared(rows: &Rows) -> Result<DeclaredTools> {
    #[derive(Deserialize)]
    struct DeclaredRow {
        id: String,
        tool: Option<String>,
    }
    let mut declared = DeclaredTools::default();
    for DeclaredRow { id, tool } in rows.all()? {
        declared.add(&id, tool.as_deref());
    }
    Ok(declared)
}

/// True while the tool's toolset is installed and declares the tool.
pub fn is_declared(workspace: &WorkspaceId, tool: &ToolId) -> Condition {
    let (toolset, name) = split(tool);
    condition("EXISTS (SELECT 1 FROM toolset_tools WHERE workspace_id = ?1 AND toolset_id = ?2 AND tool = ?3)")
        .bind(workspace.as_str())
        .bind(toolset)
        .bind(name)
}

fn split(tool: &ToolId) -> (&str, &str) {
    tool.as_str().split_once(SERVER_SEPARATOR).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::native::{migrated, migrations};
    use serde_json::json;

    #[test]
    fn a_tool_is_declared_by_the_toolset_in_its_id() {
        let database = migrated(&migrations("db"));
        database
            .execute_batch(
                "INSERT INTO toolsets (workspace_id, id, name, version, description, enabled, installed_at, manifest_version,
                   decided_by) VALUES ('w', 'kit', 'Kit', '1.0.0', '', 1, '', '1', '');
                 INSERT INTO toolset_tools VALUES ('w', 'kit', 'plot', 0, '{}');",
            )
            .unwrap();
        let check = |workspace: &str, tool: &str, expected: &[serde_json::Value]| {
            let (workspace, tool) = (WorkspaceId::parse(workspace).unwrap(), ToolId::parse(tool).unwrap());
            assert_eq!(declared_of(&workspace, &tool).rows_of(&database).unwrap(), expected);
            let is_declared = sql("SELECT 1 AS it WHERE true").and(is_declared(&workspace, &tool));
            let has_tool = expected.first().is_some_and(|it| !it["tool"].is_null());
            assert_eq!(is_declared.rows_of(&database).unwrap().len(), usize::from(has_tool));
        };
        check("w", "kit:plot", &[json!({"id": "kit", "tool": "plot"})]);
        check("w", "kit:other", &[json!({"id": "kit", "tool": null})]);
        check("w", "other:plot", &[]);
        check("w", "plot", &[]);
        check("v", "kit:plot", &[]);
        let all = declared(&WorkspaceId::parse("w").unwrap()).rows_of(&database).unwrap();
        assert_eq!(all, [json!({"id": "kit", "tool": "plot"})]);
    }
}
