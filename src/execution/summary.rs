//! How the calls of the last day went.

use super::outcome::Code;
use super::store;
use crate::callers::Scope;
use crate::error::{Error, Result};
use crate::time::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How many calls are looked at; the latest ones.
const MAX_CALLS: u32 = 10_000;

#[derive(Serialize, ToSchema)]
pub struct Summary {
    /// Calls from this time on were looked at, the latest 10,000 at the most.
    #[schema(value_type = String, format = DateTime)]
    since: Timestamp,
    /// How many were looked at.
    calls: u32,
    /// By tool, the most called first; 200 at the most.
    tools: Vec<ToolSummary>,
    /// The calls that took longest.
    slowest: Vec<SlowCall>,
    /// The commonest errors.
    errors: Vec<ErrorCount>,
}

/// Durations are of calls that ran; a refused one has none.
#[derive(Serialize, Deserialize, ToSchema)]
pub struct ToolSummary {
    tool_name: String,
    count: u32,
    /// The share of successes among the calls that have ended.
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

/// A bound token sees how its agent's calls went.
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
