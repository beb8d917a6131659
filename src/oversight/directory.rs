//! SQL on the directory of the workspaces that have objects: each object reports its figures there.

use crate::db::{Statement, sql};
use crate::error::{Error, Result};
use crate::ids::WorkspaceId;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// One number of the metrics: the name of its family, the value of the family's label, and the number.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    pub family: String,
    pub label: String,
    pub value: u64,
}

/// Writes what the object of a workspace has counted into the directory. A report that says the same as the last one writes
/// nothing, so `reported_at` is the time from which on the figures have been these.
pub fn put_report(workspace: &WorkspaceId, samples: &[Sample], now: Timestamp) -> Result<Statement> {
    let report = serde_json::to_string(samples).map_err(|it| Error::Internal(format!("a report is not JSON: {it}")))?;
    let text = "INSERT INTO directory (workspace_id, report, reported_at) VALUES (?1, ?2, ?3)
         ON CONFLICT (workspace_id) DO UPDATE SET report = excluded.report, reported_at = excluded.reported_at
         WHERE directory.report <> excluded.report";
    Ok(sql(text).bind(workspace.as_str()).bind(report).bind(now.to_string()).repeatable())
}

/// The family whose samples are the size of one database each.
pub const LARGEST_DATABASE: &str = "largest_database_bytes";

/// Adds up the reports of all workspaces.
pub fn sums_of_reports() -> Statement {
    sql("SELECT value ->> 'family' AS family, value ->> 'label' AS label,
           iif(value ->> 'family' = ?1, max(value ->> 'value'), sum(value ->> 'value')) AS value
         FROM directory, json_each(report) GROUP BY 1, 2")
    .bind(LARGEST_DATABASE)
}
