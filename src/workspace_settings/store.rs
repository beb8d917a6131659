//! SQL for the table `workspace_settings`. A workspace without a row has the defaults, at revision 0.

use super::WorkspaceSettings;
use crate::db::{Condition, Rows, Statement, condition, sql};
use crate::error::{Error, Result};
use crate::ids::WorkspaceId;
use serde::Deserialize;
use serde_json::json;

/// The SQL of the default modules of the workspace `?1`, as JSON: a part of other rooms' statements. SQLite evaluates
/// the sub-select once in a statement.
pub const DEFAULT_GUEST_MODULES: &str =
    "coalesce((SELECT default_guest_modules FROM workspace_settings WHERE workspace_id = ?1), '[]')";

pub fn find(workspace: &WorkspaceId) -> Statement {
    sql("SELECT default_guest_modules, revision FROM workspace_settings WHERE workspace_id = ?1")
        .bind(workspace.as_str())
}

pub fn read(rows: &Rows) -> Result<WorkspaceSettings> {
    #[derive(Deserialize)]
    struct Row {
        default_guest_modules: String,
        revision: u32,
    }
    let Some(row) = rows.first::<Row>()? else { return Ok(WorkspaceSettings::default()) };
    let default_guest_modules = serde_json::from_str(&row.default_guest_modules)
        .map_err(|cause| Error::Internal(format!("the stored modules cannot be read: {cause}")))?;
    Ok(WorkspaceSettings { default_guest_modules, revision: row.revision })
}

/// True while the settings are at the revision that was read.
pub fn are_at(workspace: &WorkspaceId, revision: u32) -> Condition {
    condition("coalesce((SELECT revision FROM workspace_settings WHERE workspace_id = ?1), 0) = ?2")
        .bind(workspace.as_str())
        .bind(revision)
}

/// Writes the settings, if they are still at the revision that was read.
pub fn put(workspace: &WorkspaceId, settings: &WorkspaceSettings) -> Statement {
    sql("REPLACE INTO workspace_settings (workspace_id, default_guest_modules, revision) SELECT ?1, ?2, ?3 + 1 WHERE true")
        .bind(workspace.as_str())
        .bind(json!(settings.default_guest_modules).to_string())
        .bind(settings.revision)
        .and(are_at(workspace, settings.revision))
}
