//! `/api/mcp-servers`: the MCP servers of others, their discovery, and what is held back.

use super::body::Given;
use super::extract::{Admin, Body, Named, PageQuery, Query};
use super::modules::{AcceptOut, HeldBackPage};
use super::respond::{Created, Json, NoContent};
use crate::error::Result;
use crate::federation::{self, ServerChange, ServerDetails, ServerIn, ServerOut};
use crate::ids::ServerId;
use crate::upstreams::{AcceptIn, Refreshed};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Serialize, ToSchema)]
#[schema(as = McpServerPage)]
pub struct ServerPage {
    mcp_servers: Vec<ServerOut>,
    next_cursor: Option<String>,
}

/// List the MCP servers
///
/// Sorted by id.
#[utoipa::path(get, path = "/api/mcp-servers", tag = "mcp-servers", params(PageQuery),
    responses((status = 200, description = "A page of MCP servers", body = ServerPage)))]
#[worker::send]
pub async fn list_mcp_servers(Admin(scope): Admin, Query(query): Query<PageQuery>) -> Result<Json<ServerPage>> {
    let page = federation::list(&scope, &query.check()?).await?;
    Ok(Json(ServerPage { mcp_servers: page.items, next_cursor: page.next_cursor }))
}

/// Register an MCP server
///
/// The server is discovered at once, and is registered whatever comes of the discovery: `status`, `last_error` and
/// `warnings` tell. All tools that the first discovery finds are accepted as version 1.0.0.
#[utoipa::path(post, path = "/api/mcp-servers", tag = "mcp-servers", request_body = ServerIn,
    responses((status = 201, description = "The MCP server", body = ServerDetails),
        (status = 409, description = "An MCP server or a toolset of this id exists already, or tools of a former toolset")))]
#[worker::send]
pub async fn create_mcp_server(
    Admin(scope): Admin,
    Given { body, read_only }: Given<ServerIn>,
) -> Result<Created<ServerDetails>> {
    Ok(Created(federation::create(&scope, body, &read_only).await?))
}

/// Get an MCP server
#[utoipa::path(get, path = "/api/mcp-servers/{server_id}", tag = "mcp-servers",
    params(("server_id" = String, Path, example = "time")),
    responses((status = 200, description = "The MCP server", body = ServerDetails)))]
#[worker::send]
pub async fn get_mcp_server(Admin(scope): Admin, Named(id): Named<ServerId>) -> Result<Json<ServerDetails>> {
    Ok(Json(federation::get(&scope, &id).await?))
}

/// Change an MCP server
///
/// Fields that are not given stay as they are. The server is discovered again. Another risk, or another rule for
/// approvals, gives every tool of the server a new version at once. Of two racing changes, the second is refused with 409.
#[utoipa::path(patch, path = "/api/mcp-servers/{server_id}", tag = "mcp-servers",
    params(("server_id" = String, Path, example = "time")), request_body = ServerChange,
    responses((status = 200, description = "The MCP server", body = ServerDetails),
        (status = 409, description = "Another request changed the MCP server in the meantime; or the server would be enabled \
             while its toolset is disabled")))]
#[worker::send]
pub async fn update_mcp_server(
    Admin(scope): Admin,
    Named(id): Named<ServerId>,
    Given { body, read_only }: Given<ServerChange>,
) -> Result<Json<ServerDetails>> {
    Ok(Json(federation::update(&scope, &id, body, &read_only).await?))
}

/// Delete an MCP server
///
/// Its tools are deactivated, and the process of a stdio server is stopped. The versions of the tools and the records of
/// their calls stay, and a server of the same id finds them again.
#[utoipa::path(delete, path = "/api/mcp-servers/{server_id}", tag = "mcp-servers",
    params(("server_id" = String, Path, example = "time")),
    responses((status = 204, description = "The MCP server was deleted"),
        (status = 409, description = "The MCP server belongs to a toolset, or another request changed one of its tools in \
             the meantime")))]
#[worker::send]
pub async fn delete_mcp_server(Admin(scope): Admin, Named(id): Named<ServerId>) -> Result<NoContent> {
    federation::delete(&scope, &id).await?;
    Ok(NoContent)
}

/// Discover an MCP server now
///
/// A server that another request is discovering is not asked twice: the response waits for the other discovery.
#[utoipa::path(post, path = "/api/mcp-servers/{server_id}/refresh", tag = "mcp-servers",
    params(("server_id" = String, Path, example = "time")),
    responses((status = 200, description = "What was found", body = Refreshed)))]
#[worker::send]
pub async fn refresh_mcp_server(Admin(scope): Admin, Named(id): Named<ServerId>) -> Result<Json<Refreshed>> {
    Ok(Json(federation::refresh(&scope, &id).await?))
}

/// List the definitions of an MCP server that wait for an admin
///
/// Definitions that the server has changed, and tools that it offers since a later discovery. Meanwhile the accepted
/// versions are listed and run.
#[utoipa::path(get, path = "/api/mcp-servers/{server_id}/held-back", tag = "mcp-servers",
    params(("server_id" = String, Path, example = "time"), PageQuery),
    responses((status = 200, description = "The definitions, sorted by tool", body = HeldBackPage)))]
#[worker::send]
pub async fn list_held_back_of_mcp_server(
    Admin(scope): Admin,
    Named(id): Named<ServerId>,
    Query(query): Query<PageQuery>,
) -> Result<Json<HeldBackPage>> {
    let page = federation::list_held_back(&scope, &id, &query.check()?).await?;
    Ok(Json(HeldBackPage { held_back: page.items, next_cursor: page.next_cursor }))
}

/// Accept definitions of an MCP server that are held back
///
/// Each becomes a version whose number the comparison with the present version decides. All of them are accepted, or
/// none.
#[utoipa::path(post, path = "/api/mcp-servers/{server_id}/accept", tag = "mcp-servers",
    params(("server_id" = String, Path, example = "time")), request_body = AcceptIn,
    responses((status = 200, description = "The new versions", body = AcceptOut),
        (status = 409, description = "Another request changed the MCP server or a tool in the meantime, or a hash is of another definition")))]
#[worker::send]
pub async fn accept_held_back_of_mcp_server(
    Admin(scope): Admin,
    Named(id): Named<ServerId>,
    Body(given): Body<AcceptIn>,
) -> Result<Json<AcceptOut>> {
    Ok(Json(AcceptOut { accepted: federation::accept(&scope, &id, &given).await? }))
}
