//! `/api/registry/changes` and `/api/registry/state`: what was done, and what the registry was.

use super::extract::{Admin, Query};
use super::respond::{Json, Lines};
use crate::error::{Error, Result};
use crate::history::{self, ChangeFilter, ChangeOut, LogOrder, Moment, State};
use crate::page::PageRequest;
use crate::time::Timestamp;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Which changes to list. Every condition must hold.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ChangeQuery {
    /// How many to answer at the most.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
    /// Where the page before this one ended: its `next_cursor`.
    #[param(pattern = "^[A-Za-z0-9_-]+$")]
    cursor: Option<String>,
    /// Changes that are about this tool: its versions, and attachments of it.
    #[param(example = "word_count")]
    tool_id: Option<String>,
    /// Changes of exactly this thing.
    #[param(example = "tool:word_count@1.0.0")]
    subject: Option<String>,
    /// Not before this time.
    #[param(value_type = Option<String>, format = DateTime)]
    since: Option<Timestamp>,
    /// Not after this time.
    #[param(value_type = Option<String>, format = DateTime)]
    until: Option<Timestamp>,
    /// The oldest come first, if not given.
    #[param(inline)]
    order: Option<LogOrder>,
}

#[derive(Serialize, ToSchema)]
pub struct ChangePage {
    changes: Vec<ChangeOut>,
    next_cursor: Option<String>,
}

/// Read the change log
///
/// Every mutation is in it, from the first one on, in the order of `seq`. With `Accept: application/x-ndjson`, all of it that the
/// filters let through, a change a line.
#[utoipa::path(get, path = "/api/registry/changes", tag = "registry", params(ChangeQuery),
    responses((status = 200, description = "A page of changes", content(
        (ChangePage = "application/json"), (String = "application/x-ndjson")))))]
#[worker::send]
pub async fn list_changes(
    Admin(scope): Admin,
    headers: HeaderMap,
    Query(query): Query<ChangeQuery>,
) -> Result<Response> {
    let filter = ChangeFilter {
        tool_id: query.tool_id,
        subject: query.subject,
        since: query.since,
        until: query.until,
        order: query.order.unwrap_or(LogOrder::Oldest),
    };
    if wants_lines(&headers) {
        if query.limit.is_some() || query.cursor.is_some() {
            return Err(Error::query("limit", "and cursor are for pages: JSON Lines are the whole log"));
        }
        return Ok(Lines::of(history::export(scope, filter)).await?.into_response());
    }
    let request = PageRequest::new(query.limit, query.cursor.as_deref())?;
    let page = history::list(&scope, &filter, &request).await?;
    Ok(Json(ChangePage { changes: page.items, next_cursor: page.next_cursor }).into_response())
}

fn wants_lines(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).into_iter().filter_map(|it| it.to_str().ok());
    accepted.flat_map(|it| it.split(',')).any(|it| it.trim().starts_with("application/x-ndjson"))
}

/// Which state. At most one of the two; the present one, if none.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct StateQuery {
    /// After the last change at or before this time.
    #[param(value_type = Option<String>, format = DateTime)]
    at: Option<Timestamp>,
    /// After exactly this change; 0 is before the first.
    #[param(minimum = 0)]
    seq: Option<u32>,
}

/// See the registry as it was
///
/// Rebuilt from the change log alone. Built-ins are not in it: they never change.
#[utoipa::path(get, path = "/api/registry/state", tag = "registry", params(StateQuery),
    responses((status = 200, description = "Tools, versions, agents and attachments", body = State)))]
#[worker::send]
pub async fn get_state(Admin(scope): Admin, Query(query): Query<StateQuery>) -> Result<Json<State>> {
    let moment = match (query.at, query.seq) {
        (Some(_), Some(_)) => return Err(Error::query("seq", "and at cannot both be given")),
        (Some(at), None) => Moment::At(at),
        (None, Some(seq)) => Moment::Seq(seq),
        (None, None) => Moment::Now,
    };
    Ok(Json(history::state(&scope, moment).await?))
}
