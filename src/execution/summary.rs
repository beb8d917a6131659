//! Figures about the calls of the last 24 hours.

use super::outcome::Code;
use super::store;
use crate::callers::Scope;
use crate::error::{Error, Result};
use crate::time::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The most calls that a summary covers. They are the latest calls.
const MAX_CALLS: u32 = 10_000;

#[derive(Serialize, ToSchema)]
pub struct Summary {
    /// The summary covers the calls from this time on, but at most the latest 10,000.
    #[schema(value_type = String, format = DateTime)]
    since: Timestamp,
    /// How many calls the summary covers.
    calls: u32,
    /// Figures by tool, the most called tool first. At most 200 tools.
    tools: Vec<ToolSummary>,
    /// The calls that took longest.
    slowest: Vec<SlowCall>,
    /// The most frequent errors.
    errors: Vec<ErrorCount>,
}

/// Figures of one tool. Durations cover the calls that ran: a refused call has no duration.
#[derive(Serialize, Deserialize, ToSchema)]
pub struct ToolSummary {
    tool_name: String,
    count: u32,
    /// The share of successful calls among the calls that have ended.
    success_rate: Option<f64>,
    avg_ms: Option<f64>,
    min_ms: Option<u32>,
    max_ms: Option<u32>,
    p50_ms: Option<u32>,
    p95_ms: Option<u32>,
}

#[derive(Serialize, Deserialize, ToSchema)]
pub struct SlowCall {
    id: String,
    tool_name: String,
    duration_ms: u32,
    #[schema(value_type = String, format = DateTime)]
    started_at: Timestamp,
}

#[derive(Serialize, Deserialize, ToSchema)]
pub struct ErrorCount {
    tool_name: String,
    code: Code,
    count: u32,
}

#[derive(Deserialize)]
struct Total {
    calls: u32,
}

#[derive(Deserialize)]
struct Row {
    kind: String,
    data: String,
}

/// Summarises the calls of the workspace. A bound token sees only the calls of its agent.
pub async fn summary(scope: &Scope) -> Result<Summary> {
    let agent = scope.caller().await?.agent.as_ref();
    let since = scope.app().now().days_before(1);
    let [rows] = scope.read([store::log::summary(scope.workspace(), agent, since, MAX_CALLS)]).await?;
    let rows = rows.all::<Row>()?;
    let all: Vec<Total> = of_kind(&rows, "all")?;
    Ok(Summary {
        since,
        calls: all.iter().map(|it| it.calls).sum(),
        tools: of_kind(&rows, "tool")?,
        slowest: of_kind(&rows, "slow")?,
        errors: of_kind(&rows, "error")?,
    })
}

fn of_kind<T: DeserializeOwned>(rows: &[Row], kind: &str) -> Result<Vec<T>> {
    let read = |row: &Row| {
        serde_json::from_str(&row.data).map_err(|cause| Error::Internal(format!("a summary cannot be read: {cause}")))
    };
    rows.iter().filter(|it| it.kind == kind).map(read).collect()
}
