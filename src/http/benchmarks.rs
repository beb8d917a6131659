//! `/api/benchmarks/inboxes`: the mail that the benchmarks' tools search.

use super::extract::Guest;
use super::respond::Json;
use crate::error::Result;
use crate::mail::{self, Inbox};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Serialize, ToSchema)]
pub struct InboxList {
    inboxes: Vec<Inbox>,
}

/// List the inboxes
///
/// All inboxes that `email_search` can search, sorted by their addresses. They are the same for all workspaces.
#[utoipa::path(get, path = "/api/benchmarks/inboxes", tag = "benchmarks",
    responses((status = 200, description = "All inboxes", body = InboxList)))]
#[worker::send]
pub async fn list_inboxes(Guest(scope): Guest) -> Result<Json<InboxList>> {
    Ok(Json(InboxList { inboxes: mail::inboxes(&scope).await? }))
}
