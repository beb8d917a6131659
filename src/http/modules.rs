//! `/api/modules` and `/api/refresh-tools`: the modules of a workspace, their discovery, and what is held back.

use super::body::Given;
use super::extract::{Admin, Body, Named, PageQuery, Query};
use super::respond::{Created, Json, NoContent};
use crate::error::Result;
use crate::ids::ModuleName;
use crate::modules::{self, ModuleChange, ModuleDetails, ModuleIn, ModuleOut};
use crate::upstreams::{AcceptIn, Accepted, HeldBackOut, Refreshed};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Serialize, ToSchema)]
pub struct ModulePage {
    modules: Vec<ModuleOut>,
    next_cursor: Option<String>,
}

/// List the modules
///
/// Sorted by name.
#[utoipa::path(get, path = "/api/modules", tag = "modules", params(PageQuery),
    responses((status = 200, description = "A page of modules", body = ModulePage)))]
#[worker::send]
pub async fn list_modules(Admin(scope): Admin, Query(query): Query<PageQuery>) -> Result<Json<ModulePage>> {
    let page = modules::list(&scope, &query.check()?).await?;
    Ok(Json(ModulePage { modules: page.items, next_cursor: page.next_cursor }))
}

/// Register a module
///
/// The module is discovered at once, and is registered whatever comes of the discovery: `status`, `last_error` and
/// `warnings` tell. All tools that the first discovery finds are accepted as version 1.0.0.
#[utoipa::path(post, path = "/api/modules", tag = "modules", request_body = ModuleIn,
    responses((status = 201, description = "The module", body = ModuleDetails),
        (status = 409, description = "A module of this name exists already")))]
#[worker::send]
pub async fn create_module(
    Admin(scope): Admin,
    Given { body, read_only }: Given<ModuleIn>,
) -> Result<Created<ModuleDetails>> {
    Ok(Created(modules::create(&scope, body, &read_only).await?))
}

/// Get a module
#[utoipa::path(get, path = "/api/modules/{module}", tag = "modules", params(("module" = String, Path, example = "research")),
    responses((status = 200, description = "The module", body = ModuleDetails)))]
#[worker::send]
pub async fn get_module(Admin(scope): Admin, Named(name): Named<ModuleName>) -> Result<Json<ModuleDetails>> {
    Ok(Json(modules::get(&scope, &name).await?))
}

/// Change a module
///
/// Fields that are not given stay as they are. The module is discovered again. Of two racing changes, the second is
/// refused with 409.
#[utoipa::path(patch, path = "/api/modules/{module}", tag = "modules",
    params(("module" = String, Path, example = "research")), request_body = ModuleChange,
    responses((status = 200, description = "The module", body = ModuleDetails),
        (status = 409, description = "Another request changed the module in the meantime")))]
#[worker::send]
pub async fn update_module(
    Admin(scope): Admin,
    Named(name): Named<ModuleName>,
    Given { body, read_only }: Given<ModuleChange>,
) -> Result<Json<ModuleDetails>> {
    Ok(Json(modules::update(&scope, &name, body, &read_only).await?))
}

/// Delete a module
///
/// Its tools are deactivated. Their versions and the records of their calls stay, and a module of the same name finds
/// them again.
#[utoipa::path(delete, path = "/api/modules/{module}", tag = "modules",
    params(("module" = String, Path, example = "research")),
    responses((status = 204, description = "The module was deleted"),
        (status = 409, description = "Another request changed a tool of the module in the meantime")))]
#[worker::send]
pub async fn delete_module(Admin(scope): Admin, Named(name): Named<ModuleName>) -> Result<NoContent> {
    modules::delete(&scope, &name).await?;
    Ok(NoContent)
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RefreshIn {
    /// The modules to discover; all, if not given.
    #[schema(max_items = 200, example = json!(["research"]))]
    modules: Option<Vec<String>>,
}

#[derive(Serialize, ToSchema)]
pub struct RefreshOut {
    modules: Vec<Refreshed>,
}

/// Discover modules now
///
/// Modules are asked five at a time. A module that another request is discovering is not asked twice: the response waits
/// for the other discovery.
#[utoipa::path(post, path = "/api/refresh-tools", tag = "modules", request_body = RefreshIn,
    responses((status = 200, description = "What was found", body = RefreshOut)))]
#[worker::send]
pub async fn refresh_tools(Admin(scope): Admin, Body(given): Body<RefreshIn>) -> Result<Json<RefreshOut>> {
    Ok(Json(RefreshOut { modules: modules::refresh(&scope, given.modules.as_deref()).await? }))
}

#[derive(Serialize, ToSchema)]
pub struct HeldBackPage {
    pub held_back: Vec<HeldBackOut>,
    pub next_cursor: Option<String>,
}

/// List the definitions that wait for an admin
///
/// Definitions that a module has changed, and tools that it offers since a later discovery. Meanwhile the accepted
/// versions are listed and run.
#[utoipa::path(get, path = "/api/modules/{module}/held-back", tag = "modules",
    params(("module" = String, Path, example = "research"), PageQuery),
    responses((status = 200, description = "The definitions, sorted by tool", body = HeldBackPage)))]
#[worker::send]
pub async fn list_held_back(
    Admin(scope): Admin,
    Named(name): Named<ModuleName>,
    Query(query): Query<PageQuery>,
) -> Result<Json<HeldBackPage>> {
    let page = modules::list_held_back(&scope, &name, &query.check()?).await?;
    Ok(Json(HeldBackPage { held_back: page.items, next_cursor: page.next_cursor }))
}

#[derive(Serialize, ToSchema)]
pub struct AcceptOut {
    pub accepted: Vec<Accepted>,
}

/// Accept definitions that are held back
///
/// Each becomes a version whose number the comparison with the present version decides. All of them are accepted, or
/// none.
#[utoipa::path(post, path = "/api/modules/{module}/accept", tag = "modules",
    params(("module" = String, Path, example = "research")), request_body = AcceptIn,
    responses((status = 200, description = "The new versions", body = AcceptOut),
        (status = 409, description = "Another request changed the module or a tool in the meantime, or a hash is of another definition")))]
#[worker::send]
pub async fn accept_held_back(
    Admin(scope): Admin,
    Named(name): Named<ModuleName>,
    Body(given): Body<AcceptIn>,
) -> Result<Json<AcceptOut>> {
    Ok(Json(AcceptOut { accepted: modules::accept(&scope, &name, &given).await? }))
}
