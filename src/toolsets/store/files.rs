//! SQL for one file of a toolset.

use crate::db::{Rows, Statement, sql};
use crate::error::Result;
use crate::ids::{ToolsetId, WorkspaceId};
use serde::Deserialize;

/// Selects the SHA-256 of a file, or null if the toolset has no such file. No row, if there is no such toolset.
pub fn find(workspace: &WorkspaceId, toolset: &ToolsetId, path: &str) -> Statement {
    sql("SELECT f.sha256 FROM toolsets s
         LEFT JOIN toolset_files f ON f.workspace_id = s.workspace_id AND f.toolset_id = s.id AND f.path = ?3
         WHERE s.workspace_id = ?1 AND s.id = ?2")
    .bind(workspace.as_str())
    .bind(toolset.as_str())
    .bind(path)
}

pub fn read(rows: &Rows) -> Result<Option<Option<String>>> {
    #[derive(Deserialize)]
    struct Row {
        sha256: Option<String>,
    }
    Ok(rows.first::<Row>()?.map(|it| it.sha256))
}
