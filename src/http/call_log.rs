//! `/api/tool-calls`: the record of calls.

use super::extract::{Admin, Named, Query, User};
use super::respond::Json;
use crate::error::{Error, Result};
use crate::execution::series::{self, BucketLength, CallSeries};
use crate::execution::{self, ArchivedCalls, CallFilter, CallOut, ListedCalls, MAX_WAIT_SECONDS, Status, Summary};
use crate::ids::{CallId, ToolId};
use crate::page::PageRequest;
use crate::time::Timestamp;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::time::Duration;
use utoipa::{IntoParams, ToSchema};

/// Which calls to list. Every condition must hold.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct CallQuery {
    /// The most items that a page may hold.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
    /// The `next_cursor` of the page before this one.
    #[param(pattern = "^[A-Za-z0-9_-]+$")]
    cursor: Option<String>,
    #[param(example = "read_file")]
    tool_name: Option<String>,
    agent_id: Option<String>,
    session_id: Option<String>,
    message_id: Option<String>,
    #[param(inline)]
    status: Option<Status>,
    /// Only calls that started at or after this time.
    #[param(value_type = Option<String>, format = DateTime)]
    since: Option<Timestamp>,
    /// Only calls that started before this time.
    #[param(value_type = Option<String>, format = DateTime)]
    until: Option<Timestamp>,
}

impl CallQuery {
    fn into_filter(self) -> Result<CallFilter> {
        if let (Some(since), Some(until)) = (self.since, self.until)
            && since > until
        {
            return Err(Error::query("until", "must not be before since"));
        }
        Ok(CallFilter {
            tool_name: self.tool_name,
            agent_id: self.agent_id,
            session_id: self.session_id,
            message_id: self.message_id,
            status: self.status,
            since: self.since,
            until: self.until,
        })
    }
}

#[derive(Serialize, ToSchema)]
pub struct CallPage {
    tool_calls: Vec<CallOut>,
    next_cursor: Option<String>,
    /// With `since`: the files of the operator's bucket in which calls from `since` on (and before `until`) lie, whose records were
    /// deleted; the newest first, at most 100. Empty for a token that is bound to an agent.
    archived: Vec<ArchivedCalls>,
}

/// List the calls
///
/// The latest come first. A list shows arguments and results over 8 KB only as their size and beginning. With `since`, the list
/// also says where older calls lie, if the operator keeps them.
#[utoipa::path(get, path = "/api/tool-calls", tag = "calls", params(CallQuery),
    responses((status = 200, description = "A page of calls", body = CallPage)))]
#[worker::send]
pub async fn list_tool_calls(User(scope): User, Query(query): Query<CallQuery>) -> Result<Json<CallPage>> {
    let request = PageRequest::new(query.limit, query.cursor.as_deref())?;
    let ListedCalls { page, archived } = execution::list_calls(&scope, query.into_filter()?, &request).await?;
    Ok(Json(CallPage { tool_calls: page.items, next_cursor: page.next_cursor, archived }))
}

/// See figures about the calls of the last 24 hours
///
/// The summary covers at most the latest 10,000 calls.
#[utoipa::path(get, path = "/api/tool-calls/summary", tag = "calls",
    responses((status = 200, description = "Figures by tool, the slowest calls, the commonest errors", body = Summary)))]
#[worker::send]
pub async fn get_call_summary(User(scope): User) -> Result<Json<Summary>> {
    execution::summary(&scope).await.map(Json)
}

/// What a series covers.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SeriesQuery {
    /// The length of a bucket; a minute if not given.
    #[param(inline, example = "hour")]
    bucket: Option<BucketLength>,
    /// A time in the first bucket, at most 1,440 buckets ago. If not given: the series covers the last 60 minutes, 24 hours
    /// or 30 days.
    #[param(value_type = Option<String>, format = DateTime)]
    since: Option<Timestamp>,
    /// Only calls of this tool.
    #[param(example = "read_file")]
    tool_name: Option<String>,
}

impl SeriesQuery {
    fn tool(&self) -> Result<Option<ToolId>> {
        let parse = |name: &str| {
            ToolId::parse(name).ok_or_else(|| Error::query("tool_name", "must be the id of a tool, without a version"))
        };
        self.tool_name.as_deref().map(parse).transpose()
    }
}

/// See the calls over time
///
/// How many calls of each minute, hour or day ended as `success`, `error` and `denied`, and the median and the 95th
/// percentile of the durations of those that ran. A call counts in the bucket in which it started, as soon as it has ended.
/// Every bucket from `since` to now is there: one without calls has zeros, and null for its durations.
///
/// The cost does not depend on the number of calls. Upkeep counts calls every five minutes; of those that it has not counted
/// yet, the latest 10,000 are added, and further ones appear with the next runs. Durations are counted on a logarithmic
/// scale, so `p50` and `p95` are off by an eighth at most. Calls whose record was deleted still count. A call of a name that
/// no tool has counts only if `tool_name` is not given.
#[utoipa::path(get, path = "/api/tool-calls/series", tag = "calls", params(SeriesQuery),
    responses((status = 200, description = "The buckets, the oldest first", body = CallSeries)))]
#[worker::send]
pub async fn get_call_series(Admin(scope): Admin, Query(query): Query<SeriesQuery>) -> Result<Json<CallSeries>> {
    let length = query.bucket.unwrap_or(BucketLength::Minute);
    series::series(&scope, length, query.tool()?.as_ref(), query.since).await.map(Json)
}

/// How long to wait for the end of a call.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct WaitQuery {
    /// The seconds to wait for a call that runs or waits for its approval. The response comes when the call ends, or
    /// with the record as it is when the time is over.
    #[param(minimum = 0, maximum = 30, default = 0)]
    wait: Option<u32>,
}

impl WaitQuery {
    fn checked(&self) -> Result<Duration> {
        match self.wait.unwrap_or(0) {
            seconds @ 0..=MAX_WAIT_SECONDS => Ok(Duration::from_secs(seconds.into())),
            _ => Err(Error::query("wait", format!("must be from 0 to {MAX_WAIT_SECONDS}"))),
        }
    }
}

/// Get a call
///
/// With `wait`, the response to a call that has not ended comes when the call ends.
#[utoipa::path(get, path = "/api/tool-calls/{call_id}", tag = "calls", params(("call_id" = String, Path), WaitQuery),
    responses((status = 200, description = "The call", body = CallOut)))]
#[worker::send]
pub async fn get_tool_call(
    User(scope): User,
    Named(call_id): Named<CallId>,
    Query(query): Query<WaitQuery>,
) -> Result<Json<CallOut>> {
    execution::get_awaited_call(&scope, &call_id, query.checked()?).await.map(Json)
}

/// Get the whole result of a call
#[utoipa::path(get, path = "/api/tool-calls/{call_id}/result", tag = "calls", params(("call_id" = String, Path)),
    responses((status = 200, description = "The result", body = Value)))]
#[worker::send]
pub async fn get_call_result(User(scope): User, Named(call_id): Named<CallId>) -> Result<Json<Box<RawValue>>> {
    execution::result_of(&scope, &call_id).await.map(Json)
}

/// Get the whole arguments of a call
///
/// Secret values are redacted.
#[utoipa::path(get, path = "/api/tool-calls/{call_id}/arguments", tag = "calls", params(("call_id" = String, Path)),
    responses((status = 200, description = "The arguments", body = Value)))]
#[worker::send]
pub async fn get_call_arguments(User(scope): User, Named(call_id): Named<CallId>) -> Result<Json<Box<RawValue>>> {
    execution::arguments_of(&scope, &call_id).await.map(Json)
}

/// What a page may do wherever it is opened: run its own scripts and show its own images. It has no origin, reaches no
/// network, and opens nothing. The console shows pages under the same policy.
const PAGE_POLICY: &str = "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; \
    style-src 'unsafe-inline'; img-src data: blob:; font-src data:; media-src data: blob:; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'self'";

/// Get the page of a call
///
/// The page of a call whose renderer is `html`: the artifact of the toolset as it is now, or the `content` of the plan,
/// with a script that sets `window.__TOOL_DATA__` to the `data` of the plan. Show it in a sandboxed frame.
#[utoipa::path(get, path = "/api/tool-calls/{call_id}/render", tag = "calls", params(("call_id" = String, Path)),
    responses(
        (status = 200, description = "The page", content((String = "text/html"))),
        (status = 409, description = "The call has no render plan, or another renderer than html"),
    ))]
#[worker::send]
pub async fn render_call(User(scope): User, Named(call_id): Named<CallId>) -> Result<Response> {
    let mut response = execution::page_of(&scope, &call_id).await?.into_response();
    for (name, value) in [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, PAGE_POLICY),
        // No directive of the policy stops WebRTC, which sends to any address. Browsers that know this header do.
        (HeaderName::from_static("connection-allowlist"), "()"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "private"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    Ok(response)
}
