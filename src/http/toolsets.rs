//! `/api/toolsets`: bundles of tools, imported, exported, enabled and uninstalled.

use super::extract::{Admin, Named, PageQuery, Query, UnreadBody, User};
use super::respond::{Created, Json, NoContent};
use crate::error::Result;
use crate::ids::ToolsetId;
use crate::toolsets::{self, ImportOptions, ImportOutcome, Imported, MAX_BUNDLE_BYTES, ToolsetDetails, ToolsetOut};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

#[derive(Serialize, ToSchema)]
pub struct ToolsetPage {
    toolsets: Vec<ToolsetOut>,
    next_cursor: Option<String>,
}

/// List the toolsets
///
/// Sorted by id.
#[utoipa::path(get, path = "/api/toolsets", tag = "toolsets", params(PageQuery),
    responses((status = 200, description = "A page of toolsets", body = ToolsetPage)))]
#[worker::send]
pub async fn list_toolsets(User(scope): User, Query(query): Query<PageQuery>) -> Result<Json<ToolsetPage>> {
    let page = toolsets::list(&scope, &query.check()?).await?;
    let (toolsets, next_cursor) = page.map(|it| ToolsetOut::from(&it));
    Ok(Json(ToolsetPage { toolsets, next_cursor }))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ImportQuery {
    /// Check the bundle and tell what the import would do, with status 200, but write nothing.
    dry_run: Option<bool>,
    /// Replace a toolset of the same id, in one atomic step. The response has status 200 then.
    replace: Option<bool>,
    /// Replace a newer version too. Goes with `replace` only.
    downgrade: Option<bool>,
    /// Where the bundle comes from. This is stored and shown, and never fetched.
    #[param(max_length = 1000, example = "https://github.com/acme/app-builder")]
    source_ref: Option<String>,
}

impl From<ImportQuery> for ImportOptions {
    fn from(query: ImportQuery) -> Self {
        Self {
            dry_run: query.dry_run.unwrap_or(false),
            replace: query.replace.unwrap_or(false),
            downgrade: query.downgrade.unwrap_or(false),
            source_ref: query.source_ref,
        }
    }
}

/// Import a toolset
///
/// The body is a ZIP with a manifest, `toolset.yaml`. Everything is checked before anything is written: all faults are told
/// at once, each with its file, line and path, and the modules of all entry points are loaded in the sandbox. Changed tools
/// get new versions, and tools that are gone are deactivated.
#[utoipa::path(post, path = "/api/toolsets", tag = "toolsets", params(ImportQuery),
    request_body(content = String, content_type = "application/zip"),
    responses((status = 200, description = "What a dry run tells, or the replaced toolset", body = Imported),
        (status = 201, description = "The toolset", body = Imported),
        (status = 409, description = "A toolset of this id exists, or a newer version of it, or another thing has the id"),
        (status = 413, description = "The ZIP has more than 16 MiB"),
        (status = 503, description = "The sandbox, which loads the tools, cannot be reached")))]
#[worker::send]
pub async fn import_toolset(
    Admin(scope): Admin,
    Query(query): Query<ImportQuery>,
    body: UnreadBody,
) -> Result<Response> {
    let zip = body.read_for(scope.unbound_caller().await, MAX_BUNDLE_BYTES).await?;
    Ok(match toolsets::import(&scope, &zip, &query.into()).await? {
        ImportOutcome::Installed(imported) => Created(imported).into_response(),
        ImportOutcome::Replaced(imported) | ImportOutcome::Preview(imported) => Json(imported).into_response(),
    })
}

/// Get a toolset
///
/// With its files, tools, overrides and MCP servers, and the warnings of its import.
#[utoipa::path(get, path = "/api/toolsets/{toolset_id}", tag = "toolsets",
    params(("toolset_id" = String, Path, example = "app-builder")),
    responses((status = 200, description = "The toolset", body = ToolsetDetails)))]
#[worker::send]
pub async fn get_toolset(User(scope): User, Named(id): Named<ToolsetId>) -> Result<Json<ToolsetDetails>> {
    Ok(Json(toolsets::get(&scope, &id).await?))
}

/// Export a toolset
///
/// The ZIP is made anew from what is stored, and is byte for byte the same for the same state. Values of `env` and
/// `headers` are `${NAME}`: the credential that they name, or the name of the field if they were given literally.
#[utoipa::path(get, path = "/api/toolsets/{toolset_id}/export", tag = "toolsets",
    params(("toolset_id" = String, Path, example = "app-builder")),
    responses((status = 200, description = "The bundle", body = String, content_type = "application/zip")))]
#[worker::send]
pub async fn export_toolset(Admin(scope): Admin, Named(id): Named<ToolsetId>) -> Result<Response> {
    let bundle = toolsets::export(&scope, &id).await?;
    let mut response = bundle.zip.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/zip"));
    let disposition = HeaderValue::try_from(format!("attachment; filename=\"{}\"", bundle.name));
    headers.extend(disposition.ok().map(|it| (header::CONTENT_DISPOSITION, it)));
    Ok(response)
}

/// Enable a toolset
///
/// Its tools can be called again, and its MCP servers start.
#[utoipa::path(post, path = "/api/toolsets/{toolset_id}/enable", tag = "toolsets",
    params(("toolset_id" = String, Path, example = "app-builder")),
    responses((status = 200, description = "The toolset", body = ToolsetDetails),
        (status = 409, description = "Another request changed the toolset in the meantime")))]
#[worker::send]
pub async fn enable_toolset(Admin(scope): Admin, Named(id): Named<ToolsetId>) -> Result<Json<ToolsetDetails>> {
    Ok(Json(toolsets::set_enabled(&scope, &id, true).await?))
}

/// Disable a toolset
///
/// Calls of its tools are refused as `TOOL_DISABLED`, and its MCP servers are stopped.
#[utoipa::path(post, path = "/api/toolsets/{toolset_id}/disable", tag = "toolsets",
    params(("toolset_id" = String, Path, example = "app-builder")),
    responses((status = 200, description = "The toolset", body = ToolsetDetails),
        (status = 409, description = "Another request changed the toolset in the meantime")))]
#[worker::send]
pub async fn disable_toolset(Admin(scope): Admin, Named(id): Named<ToolsetId>) -> Result<Json<ToolsetDetails>> {
    Ok(Json(toolsets::set_enabled(&scope, &id, false).await?))
}

/// Uninstall a toolset
///
/// Its tools are deactivated; its files, overrides and MCP servers are gone. The versions of the tools and the records of
/// their calls stay, and a toolset of the same id finds them again.
#[utoipa::path(delete, path = "/api/toolsets/{toolset_id}", tag = "toolsets",
    params(("toolset_id" = String, Path, example = "app-builder")),
    responses((status = 204, description = "The toolset was uninstalled"),
        (status = 409, description = "Another request changed the toolset in the meantime")))]
#[worker::send]
pub async fn uninstall_toolset(Admin(scope): Admin, Named(id): Named<ToolsetId>) -> Result<NoContent> {
    toolsets::uninstall(&scope, &id).await?;
    Ok(NoContent)
}
