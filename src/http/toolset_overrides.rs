//! `/api/toolsets/{toolset_id}/overrides/{tool_id}`: what an admin says about a tool of a toolset, besides its versions.

use super::body::Given;
use super::extract::{Admin, Named, User};
use super::respond::{Json, NoContent};
use crate::error::Result;
use crate::ids::{ToolId, ToolsetId};
use crate::toolsets::{self, OverrideIn, OverrideOut};

/// Get the override of a tool
///
/// The tool is one of the toolset's own, with or without the toolset's id before it, or one of the toolset's MCP servers.
#[utoipa::path(get, path = "/api/toolsets/{toolset_id}/overrides/{tool_id}", tag = "toolsets",
    params(("toolset_id" = String, Path), ("tool_id" = String, Path)),
    responses((status = 200, description = "The override", body = OverrideOut)))]
#[worker::send]
pub async fn get_override(
    User(scope): User,
    Named(toolset): Named<ToolsetId>,
    Named(tool): Named<ToolId>,
) -> Result<Json<OverrideOut>> {
    toolsets::get_override(&scope, &toolset, &tool).await.map(Json)
}

/// Set the override of a tool
///
/// The override replaces the present one as a whole. It holds at once, for every version of the tool, and makes no new
/// version. An upgrade of the toolset keeps it as long as the toolset has the tool. A tool of one of the toolset's MCP
/// servers need not exist yet.
#[utoipa::path(put, path = "/api/toolsets/{toolset_id}/overrides/{tool_id}", tag = "toolsets",
    params(("toolset_id" = String, Path), ("tool_id" = String, Path)), request_body = OverrideIn,
    responses(
        (status = 200, description = "The override", body = OverrideOut),
        (status = 409, description = "Another request changed the toolset in the meantime"),
    ))]
#[worker::send]
pub async fn put_override(
    Admin(scope): Admin,
    Named(toolset): Named<ToolsetId>,
    Named(tool): Named<ToolId>,
    Given { body, read_only }: Given<OverrideIn>,
) -> Result<Json<OverrideOut>> {
    toolsets::put_override(&scope, &toolset, &tool, body, &read_only).await.map(Json)
}

/// Delete the override of a tool
///
/// The tool is then as its version says. Importing the toolset again brings back what its manifest says.
#[utoipa::path(delete, path = "/api/toolsets/{toolset_id}/overrides/{tool_id}", tag = "toolsets",
    params(("toolset_id" = String, Path), ("tool_id" = String, Path)),
    responses(
        (status = 204, description = "The override was deleted"),
        (status = 409, description = "Another request changed the toolset in the meantime"),
    ))]
#[worker::send]
pub async fn delete_override(
    Admin(scope): Admin,
    Named(toolset): Named<ToolsetId>,
    Named(tool): Named<ToolId>,
) -> Result<NoContent> {
    toolsets::delete_override(&scope, &toolset, &tool).await?;
    Ok(NoContent)
}
