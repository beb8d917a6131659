//! SQL for the files of toolsets, as programs get them. The room `toolsets` writes the table `toolset_files`.

use super::lookup::ListedFile;
use crate::db::{Rows, Statement, sql};
use crate::error::Result;
use crate::ids::WorkspaceId;

/// The files of a toolset, by path. The paths are relative to the root of the bundle.
pub fn find_bundle(workspace: &WorkspaceId, toolset: &str) -> Statement {
    sql("SELECT path, sha256, size FROM toolset_files WHERE workspace_id = ?1 AND toolset_id = ?2 ORDER BY path")
        .bind(workspace.as_str())
        .bind(toolset)
}

pub fn read_bundle(rows: &Rows) -> Result<Vec<ListedFile>> {
    rows.all()
}
