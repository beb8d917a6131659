//! `/api/workspace`: the settings of the workspace.

use super::extract::{Admin, Body, User};
use super::respond::Json;
use crate::error::Result;
use crate::workspace_settings::{self, SettingsChange, WorkspaceSettings};

/// Get the settings of the workspace
#[utoipa::path(get, path = "/api/workspace", tag = "workspace",
    responses((status = 200, description = "The settings", body = WorkspaceSettings)))]
#[worker::send]
pub async fn get_workspace(User(scope): User) -> Result<Json<WorkspaceSettings>> {
    Ok(Json(workspace_settings::get(&scope).await?))
}

/// Change the settings of the workspace
///
/// Settings that are not given stay as they are. Of two racing changes, the second is refused with 409.
#[utoipa::path(patch, path = "/api/workspace", tag = "workspace", request_body = SettingsChange,
    responses(
        (status = 200, description = "The settings", body = WorkspaceSettings),
        (status = 409, description = "Another request changed the settings in the meantime"),
    ))]
#[worker::send]
pub async fn update_workspace(
    Admin(scope): Admin,
    Body(change): Body<SettingsChange>,
) -> Result<Json<WorkspaceSettings>> {
    Ok(Json(workspace_settings::update(&scope, change).await?))
}
