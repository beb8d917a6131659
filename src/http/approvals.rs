//! `/api/approvals`: calls that wait until an admin lets them run.

use super::body::read_json;
use super::extract::{Admin, Bytes, Named, Query};
use super::respond::Json;
use crate::error::{Error, Result};
use crate::execution::{self, ApprovalOut, ApprovalStatus, ToolResult};
use crate::ids::ApprovalId;
use crate::page::PageRequest;
use crate::playground;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// The longest reason.
const MAX_REASON_CHARS: usize = 1_000;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ApprovalQuery {
    /// The most items that a page may hold.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
    /// The `next_cursor` of the page before this one.
    #[param(pattern = "^[A-Za-z0-9_-]+$")]
    cursor: Option<String>,
    #[param(inline)]
    status: Option<ApprovalStatus>,
}

#[derive(Serialize, ToSchema)]
pub struct ApprovalPage {
    approvals: Vec<ApprovalOut>,
    next_cursor: Option<String>,
}

/// List the approvals
///
/// The oldest come first.
#[utoipa::path(get, path = "/api/approvals", tag = "approvals", params(ApprovalQuery),
    responses((status = 200, description = "A page of approvals", body = ApprovalPage)))]
#[worker::send]
pub async fn list_approvals(Admin(scope): Admin, Query(query): Query<ApprovalQuery>) -> Result<Json<ApprovalPage>> {
    let request = PageRequest::new(query.limit, query.cursor.as_deref())?;
    let page = execution::list_approvals(&scope, query.status, &request).await?;
    Ok(Json(ApprovalPage { approvals: page.items, next_cursor: page.next_cursor }))
}

/// Get an approval
#[utoipa::path(get, path = "/api/approvals/{approval_id}", tag = "approvals", params(("approval_id" = String, Path)),
    responses((status = 200, description = "The approval", body = ApprovalOut)))]
#[worker::send]
pub async fn get_approval(Admin(scope): Admin, Named(id): Named<ApprovalId>) -> Result<Json<ApprovalOut>> {
    execution::get_approval(&scope, &id).await.map(Json)
}

#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DecisionIn {
    #[schema(max_length = 1000, example = "Checked with Ada")]
    reason: Option<String>,
}

/// The reason of a decision. The body may be empty.
fn reason(body: &[u8]) -> Result<Option<String>> {
    let decision = if body.is_empty() { DecisionIn::default() } else { read_json::<DecisionIn>(body)? };
    match decision.reason.as_deref().map(|it| it.chars().count()) {
        Some(chars) if chars > MAX_REASON_CHARS => {
            Err(Error::body("/reason", format!("has {chars} characters; {MAX_REASON_CHARS} are allowed")))
        }
        _ => Ok(decision.reason),
    }
}

/// Approve a call and run it
///
/// The call runs with the arguments of the original request, on the version that they were checked against. An approval
/// is used once.
#[utoipa::path(post, path = "/api/approvals/{approval_id}/approve", tag = "approvals",
    params(("approval_id" = String, Path)), request_body = Option<DecisionIn>,
    responses(
        (status = 200, description = "The tool ran: `success` says how it went", body = ToolResult),
        (status = 409, description = "It is decided or expired, or its tool's version or agent is gone"),
        (status = 429, description = "Too many calls; the call goes on waiting", body = ToolResult),
    ))]
#[worker::send]
pub async fn approve_call(Admin(scope): Admin, Named(id): Named<ApprovalId>, Bytes(body): Bytes) -> Result<ToolResult> {
    playground::approve(&scope, &id, reason(&body)?.as_deref()).await
}

/// Deny a call
#[utoipa::path(post, path = "/api/approvals/{approval_id}/deny", tag = "approvals",
    params(("approval_id" = String, Path)), request_body = Option<DecisionIn>,
    responses(
        (status = 200, description = "The approval, denied", body = ApprovalOut),
        (status = 409, description = "It is decided or expired"),
    ))]
#[worker::send]
pub async fn deny_call(
    Admin(scope): Admin,
    Named(id): Named<ApprovalId>,
    Bytes(body): Bytes,
) -> Result<Json<ApprovalOut>> {
    playground::deny(&scope, &id, reason(&body)?.as_deref()).await.map(Json)
}
