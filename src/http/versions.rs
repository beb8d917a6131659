//! `/api/tools`: registers tools, lists their versions, and activates and deactivates versions.

use super::body::read_given;
use super::extract::{Admin, Body, Guest, MAX_BODY_BYTES, Named, NamedVersion, Query, UnreadBody};
use super::queries::{SchemasQuery, ToolChangeQuery, ToolPageQuery};
use super::respond::{Json, JsonText, Tried};
use super::tools;
use crate::callers::{Level, Scope};
use crate::error::{Error, Place, Problem, Result};
use crate::formats;
use crate::ids::{ToolId, Version};
use crate::json_size::MAX_VALUES;
use crate::registry::{
    self, DeactivationReason, Handler, Preview, Registration, SchemaForm, Tool, ToolIn, ToolOut, VersionComparison,
    VersionPlan, Warning,
};
use crate::runners;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

#[derive(Serialize, ToSchema)]
pub struct RegisteredOut {
    #[serde(flatten)]
    tool: ToolOut,
    /// Parts of the tool that are allowed, but that a model's provider refuses or that are likely mistakes.
    warnings: Vec<Warning>,
}

/// A tool as a dry run would leave it.
#[derive(Serialize, ToSchema)]
pub struct ToolPreview {
    #[serde(flatten)]
    tool: ToolOut,
    #[serde(flatten)]
    preview: Preview,
}

impl ToolPreview {
    fn new((tool, preview): (registry::Tool, Preview), schemas: SchemaForm) -> Self {
        Self { tool: ToolOut::seen_by(Level::Admin, tool).with_schemas(schemas), preview }
    }
}

/// A version that was switched, or the preview of one.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub enum SwitchedOut {
    Done(ToolOut),
    Preview(ToolPreview),
}

impl SwitchedOut {
    async fn of(scope: &Scope, plan: VersionPlan, query: &ToolChangeQuery) -> Result<Json<Self>> {
        if query.is_dry_run() {
            return Ok(Json(Self::Preview(ToolPreview::new(plan.preview(scope)?, query.schemas()))));
        }
        let tool = ToolOut::seen_by(Level::Admin, plan.write(scope).await?);
        Ok(Json(Self::Done(tool.with_schemas(query.schemas()))))
    }
}

/// Register a tool, or a new version of one
///
/// The first version is active at once. A later version must be higher than every other version. Its step must be large
/// enough for its differences from the active version; otherwise the response is 400, with every reason. The new
/// version replaces the active version. A version is permanent: `dry_run` tells what the registration would do.
#[utoipa::path(post, path = "/api/tools", tag = "versions", params(ToolChangeQuery), request_body = ToolIn,
    responses((status = 201, description = "The version, which is active", body = RegisteredOut),
        (status = 200, description = "What the registration would do (`dry_run`)", body = ToolPreview),
        (status = 409, description = "There is that version, the id is a built-in's, or another request was faster")))]
#[worker::send]
pub async fn register_tool(
    Admin(scope): Admin,
    Query(query): Query<ToolChangeQuery>,
    body: UnreadBody,
) -> Result<Tried<RegisteredOut, ToolPreview>> {
    let body = match body.is_small() {
        true => body.read().await?,
        false => body.read_for(scope.unbound_caller().await, MAX_BODY_BYTES).await?,
    };
    let given = registration(&body);
    let inspect = async |tool: &Tool, handler: &Handler| runners::inspect(&scope, tool, handler).await;
    if query.is_dry_run() {
        let preview = registry::preview_registration(&scope, given, formats::warn, inspect).await?;
        return Ok(Tried::Preview(ToolPreview::new(preview, query.schemas())));
    }
    let registered = registry::register(&scope, given, formats::warn, inspect).await?;
    let tool = ToolOut::seen_by(Level::Admin, registered.tool).with_schemas(query.schemas());
    Ok(Tried::Created(RegisteredOut { tool, warnings: registered.warnings }))
}

fn registration(body: &[u8]) -> Registration {
    match read_given::<ToolIn>(MAX_VALUES, body) {
        Ok(it) => Registration { given: Some(Box::new(it.body)), read_only: it.read_only, problems: Vec::new() },
        Err(it) => Registration { given: it.rest().map(Box::new), read_only: it.read_only, problems: it.problems },
    }
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
    params(("tool_id" = String, Path, example = "email_search"), ToolPageQuery),
    responses((status = 200, description = "A page of versions", body = VersionPage)))]
#[worker::send]
pub async fn list_versions(
    Admin(scope): Admin,
    Named(tool_id): Named<ToolId>,
    Query(query): Query<ToolPageQuery>,
) -> Result<Json<VersionPage>> {
    let (request, schemas) = query.check()?;
    let page = registry::list_versions(&scope, &tool_id, &request).await?;
    let (versions, next_cursor) = page.map(|it| ToolOut::seen_by(Level::Admin, it).with_schemas(schemas));
    Ok(Json(VersionPage { versions, next_cursor }))
}

/// Get a version of a tool
///
/// The same as `GET /api/tools/{tool_id}?version=`.
#[utoipa::path(get, path = "/api/tools/{tool_id}/versions/{version}", tag = "versions",
    params(("tool_id" = String, Path, example = "email_search"), ("version" = String, Path, example = "1.0.0"),
        SchemasQuery),
    responses((status = 200, description = "The version", body = ToolOut)))]
#[worker::send]
pub async fn get_version(
    Guest(scope): Guest,
    named: NamedVersion,
    Query(query): Query<SchemasQuery>,
) -> Result<JsonText> {
    Ok(JsonText(registry::get_json(&scope, &named.id, named.version, query.schemas()).await?))
}

/// The versions to compare.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct CompareQuery {
    /// The version to compare with.
    #[param(example = "1.0.0")]
    from: String,
    /// The version that is compared; the active version if not given.
    #[param(example = "1.1.0")]
    to: Option<String>,
}

/// Compare two versions of a tool
///
/// Tells the fields that differ, and the step that the differences need from `from` to `to`.
#[utoipa::path(get, path = "/api/tools/{tool_id}/compare", tag = "versions",
    params(("tool_id" = String, Path, example = "word_count"), CompareQuery),
    responses((status = 200, description = "The differences", body = VersionComparison)))]
#[worker::send]
pub async fn compare_versions(
    Admin(scope): Admin,
    Named(tool_id): Named<ToolId>,
    Query(query): Query<CompareQuery>,
) -> Result<Json<VersionComparison>> {
    let from = tools::version("from", &query.from)?;
    let to = query.to.as_deref().map(|it| tools::version("to", it)).transpose()?;
    registry::compare_versions(&scope, &tool_id, from, to).await.map(Json)
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
/// The version that was active is deactivated with the reason `operator_request`. `dry_run` tells what callers would
/// notice.
#[utoipa::path(post, path = "/api/tools/{tool_id}/rollback", tag = "versions",
    params(("tool_id" = String, Path, example = "word_count"), ToolChangeQuery), request_body = RollbackIn,
    responses((status = 200, description = "The version, which is active", body = SwitchedOut),
        (status = 409, description = "The version is active or was deactivated for security, what it needs is gone, the tool is a built-in, or another request was faster")))]
#[worker::send]
pub async fn roll_back_tool(
    Admin(scope): Admin,
    Named(tool_id): Named<ToolId>,
    Query(query): Query<ToolChangeQuery>,
    Body(body): Body<RollbackIn>,
) -> Result<Json<SwitchedOut>> {
    let version = body.checked_version()?;
    let plan = registry::roll_back(&scope, &tool_id, version, body.reason.as_deref()).await?;
    SwitchedOut::of(&scope, plan, &query).await
}

impl RollbackIn {
    fn checked_version(&self) -> Result<Version> {
        let version = version(&self.version);
        if self.reason.as_deref().is_none_or(|it| it.chars().count() <= MAX_REASON_CHARS) {
            return version;
        }
        let message = format!("has more than {MAX_REASON_CHARS} characters");
        let mut problems = vec![Problem { place: Place::Body, path: "/reason".into(), message }];
        if let Err(Error::Invalid(of_version)) = version {
            problems.splice(0..0, of_version);
        }
        Err(Error::Invalid(problems))
    }
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
    params(("tool_id" = String, Path, example = "word_count"), ToolChangeQuery), request_body = DeactivationIn,
    responses((status = 200, description = "The version", body = SwitchedOut),
        (status = 409, description = "There is no active version, the version was deactivated for security, the tool is a built-in, or another request was faster")))]
#[worker::send]
pub async fn deactivate_version(
    Admin(scope): Admin,
    Named(tool_id): Named<ToolId>,
    Query(query): Query<ToolChangeQuery>,
    Body(body): Body<DeactivationIn>,
) -> Result<Json<SwitchedOut>> {
    let version = body.version.as_deref().map(version).transpose()?;
    let plan = registry::deactivate(&scope, &tool_id, version, body.reason).await?;
    SwitchedOut::of(&scope, plan, &query).await
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
    params(("tool_id" = String, Path, example = "word_count"), ToolChangeQuery), request_body = ActivationIn,
    responses((status = 200, description = "The version, which is active", body = SwitchedOut),
        (status = 409, description = "The version was deactivated for security, what it needs is gone, the tool is a built-in, or another request was faster")))]
#[worker::send]
pub async fn activate_version(
    Admin(scope): Admin,
    Named(tool_id): Named<ToolId>,
    Query(query): Query<ToolChangeQuery>,
    Body(body): Body<ActivationIn>,
) -> Result<Json<SwitchedOut>> {
    let plan = registry::activate(&scope, &tool_id, version(&body.version)?).await?;
    SwitchedOut::of(&scope, plan, &query).await
}

fn version(text: &str) -> Result<Version> {
    Version::parse(text).ok_or_else(|| Error::body("/version", "must be three numbers such as 1.0.0"))
}
