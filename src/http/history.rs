//! `/api/registry/changes` and `/api/registry/state`: the change log, and earlier states of the registry.

use super::extract::{Admin, Query, wants_lines};
use super::respond::{Json, Lines};
use crate::changes::Action;
use crate::error::{Error, Result};
use crate::history::{self, ChangeFilter, ChangeOut, Moment, State};
use crate::page::{AgeOrder, PageRequest};
use crate::registry;
use crate::time::Timestamp;
use crate::workspace_settings;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Which changes to list. Every condition must hold.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ChangeQuery {
    /// The most items that a page may hold.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
    /// The `next_cursor` of the page before this one.
    #[param(pattern = "^[A-Za-z0-9_-]+$")]
    cursor: Option<String>,
    /// Only changes of this tool, of its versions, and of attachments of it.
    #[param(example = "word_count")]
    tool_id: Option<String>,
    /// Only changes of this thing. `tool:<id>` without a version stands for all versions of the tool.
    #[param(example = "tool:word_count@1.0.0")]
    subject: Option<String>,
    /// Only changes by this operator: a token's id or name, `root`, `anonymous` or `pegboard`.
    #[param(example = "anonymous")]
    operator: Option<String>,
    /// Only changes of this kind.
    #[param(inline)]
    action: Option<Action>,
    /// Only changes at or after this time.
    #[param(value_type = Option<String>, format = DateTime)]
    since: Option<Timestamp>,
    /// Only changes at or before this time.
    #[param(value_type = Option<String>, format = DateTime)]
    until: Option<Timestamp>,
    /// If not given, the oldest come first.
    #[param(inline)]
    order: Option<AgeOrder>,
}

#[derive(Serialize, ToSchema)]
pub struct ChangePage {
    changes: Vec<ChangeOut>,
    next_cursor: Option<String>,
}

/// Read the change log
///
/// The log holds every mutation from the first one on, in the order of `seq`. With `Accept: application/x-ndjson`, the
/// response is one change per line, and holds all changes that pass the filters. A page looks at 10,000 changes at most if
/// it is filtered by more than a subject, a tool or a token: it may then hold few changes or none, and `next_cursor` goes
/// on.
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
        operator: query.operator,
        action: query.action,
        since: query.since,
        until: query.until,
        order: query.order.unwrap_or(AgeOrder::Oldest),
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

/// Which state to show. At most one of the two may be given; without either, the present state.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct StateQuery {
    /// The state after the last change at or before this time, which must not be in the future. A date alone is its
    /// first moment in UTC.
    #[param(value_type = Option<String>, format = DateTime)]
    at: Option<Timestamp>,
    /// The state after exactly this change; 0 is the state before the first change.
    #[param(minimum = 0)]
    seq: Option<u32>,
}

/// See the registry as it was
///
/// The state is rebuilt from the change log alone. Built-ins are not in it, because they never change.
#[utoipa::path(get, path = "/api/registry/state", tag = "registry", params(StateQuery),
    responses((status = 200, description = "Everything in the registry", body = State)))]
#[worker::send]
pub async fn get_state(Admin(scope): Admin, Query(query): Query<StateQuery>) -> Result<Json<State>> {
    let moment = match (query.at, query.seq) {
        (Some(_), Some(_)) => return Err(Error::query("seq", "and at cannot both be given")),
        (Some(at), None) => Moment::At(at),
        (None, Some(seq)) => Moment::Seq(seq),
        (None, None) => Moment::Now,
    };
    Ok(Json(history::state(&scope, moment, registry::shown_state, workspace_settings::defaults()?).await?))
}
