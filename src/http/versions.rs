//! `/api/tools`: registers tools, lists their versions, and activates and deactivates versions.

use super::extract::{Admin, Body, MAX_BODY_BYTES, Named, PageQuery, Query, UnreadBody, read_json};
use super::respond::{Created, Json};
use crate::callers::Level;
use crate::error::{Error, Result};
use crate::formats;
use crate::ids::{ToolId, Version};
use crate::registry::{self, DeactivationReason, Handler, Tool, ToolIn, ToolOut, Warning};
use crate::runners;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Serialize, ToSchema)]
pub struct RegisteredOut {
    #[serde(flatten)]
    tool: ToolOut,
    /// Parts of the tool that are allowed, but that a model's provider refuses or that are likely mistakes.
    warnings: Vec<Warning>,
}

/// Register a tool, or a new version of one
///
/// The first version is active at once. A later version must be higher than every other version. Its step must be large
/// enough for its differences from the active version; otherwise the response is 400, with every reason. The new
/// version replaces the active version.
#[utoipa::path(post, path = "/api/tools", tag = "versions", request_body = ToolIn,
    responses((status = 201, description = "The version, which is active", body = RegisteredOut),
        (status = 409, description = "There is that version, the id is a built-in's, or another request was faster")))]
#[worker::send]
pub async fn register_tool(Admin(scope): Admin, body: UnreadBody) -> Result<Created<RegisteredOut>> {
    let body = match body.is_small() {
        true => body.read().await?,
        false => body.read_for(scope.unbound_caller().await, MAX_BODY_BYTES).await?,
    };
    let inspect = async |tool: &Tool, handler: &Handler| runners::inspect(&scope, tool, handler).await;
    let registered = registry::register(&scope, read_json::<ToolIn>(&body).into(), formats::warn, inspect).await?;
    let tool = ToolOut::seen_by(Level::Admin, registered.tool);
    Ok(Created(RegisteredOut { tool, warnings: registered.warnings }))
}

#[derive(Serialize, ToSchema)]
pub struct VersionPage {
    versions: Vec<ToolOut>,
    next_cursor: Option<String>,
}

/// List a tool's versions
///
/// The highest come first.
#[utoipa::path(get, path = "/api/tools/{tool_id}/versions", tag = "versions",
    params(("tool_id" = String, Path, example = "email_search"), PageQuery),
    responses((status = 200, description = "A page of versions", body = VersionPage)))]
#[worker::send]
pub async fn list_versions(
    Admin(scope): Admin,
    Named(tool_id): Named<ToolId>,
    Query(query): Query<PageQuery>,
) -> Result<Json<VersionPage>> {
    let page = registry::list_versions(&scope, &tool_id, &query.check()?).await?;
    let (versions, next_cursor) = page.map(|it| ToolOut::seen_by(Level::Admin, it));
    Ok(Json(VersionPage { versions, next_cursor }))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RollbackIn {
    #[schema(example = "1.0.0")]
    version: String,
    /// A reason for the change log.
    #[schema(max_length = 500, example = "1.1.0 loses every tenth message")]
    reason: Option<String>,
}

/// Go back to another version
///
/// The version that was active is deactivated with the reason `operator_request`.
#[utoipa::path(post, path = "/api/tools/{tool_id}/rollback", tag = "versions",
    params(("tool_id" = String, Path, example = "word_count")), request_body = RollbackIn,
    responses((status = 200, description = "The version, which is active", body = ToolOut),
        (status = 409, description = "The version is active or was deactivated for security, what it needs is gone, the tool is a built-in, or another request was faster")))]
#[worker::send]
pub async fn roll_back_tool(
    Admin(scope): Admin,
    Named(tool_id): Named<ToolId>,
    Body(body): Body<RollbackIn>,
) -> Result<Json<ToolOut>> {
    let reason = body.reason.as_deref();
    if reason.is_some_and(|it| it.chars().count() > MAX_REASON_CHARS) {
        return Err(Error::body("/reason", format!("has more than {MAX_REASON_CHARS} characters")));
    }
    let tool = registry::roll_back(&scope, &tool_id, version(&body.version)?, reason).await?;
    Ok(Json(ToolOut::seen_by(Level::Admin, tool)))
}

const MAX_REASON_CHARS: usize = 500;

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DeactivationIn {
    /// The version; the active version if not given.
    #[schema(example = "1.0.0")]
    version: Option<String>,
    reason: DeactivationReason,
}

/// Deactivate a version
///
/// If the version is inactive already, this changes its reason. The reason `security` is final.
#[utoipa::path(post, path = "/api/tools/{tool_id}/deactivate", tag = "versions",
    params(("tool_id" = String, Path, example = "word_count")), request_body = DeactivationIn,
    responses((status = 200, description = "The version", body = ToolOut),
        (status = 409, description = "There is no active version, the version was deactivated for security, the tool is a built-in, or another request was faster")))]
#[worker::send]
pub async fn deactivate_version(
    Admin(scope): Admin,
    Named(tool_id): Named<ToolId>,
    Body(body): Body<DeactivationIn>,
) -> Result<Json<ToolOut>> {
    let version = body.version.as_deref().map(version).transpose()?;
    let tool = registry::deactivate(&scope, &tool_id, version, body.reason).await?;
    Ok(Json(ToolOut::seen_by(Level::Admin, tool)))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ActivationIn {
    #[schema(example = "1.0.0")]
    version: String,
}

/// Activate a version
///
/// If another version is active, it is deactivated with the reason `operator_request`.
#[utoipa::path(post, path = "/api/tools/{tool_id}/activate", tag = "versions",
    params(("tool_id" = String, Path, example = "word_count")), request_body = ActivationIn,
    responses((status = 200, description = "The version, which is active", body = ToolOut),
        (status = 409, description = "The version was deactivated for security, what it needs is gone, the tool is a built-in, or another request was faster")))]
#[worker::send]
pub async fn activate_version(
    Admin(scope): Admin,
    Named(tool_id): Named<ToolId>,
    Body(body): Body<ActivationIn>,
) -> Result<Json<ToolOut>> {
    let tool = registry::activate(&scope, &tool_id, version(&body.version)?).await?;
    Ok(Json(ToolOut::seen_by(Level::Admin, tool)))
}

fn version(text: &str) -> Result<Version> {
    Version::parse(text).ok_or_else(|| Error::body("/version", "must be three numbers such as 1.0.0"))
}
