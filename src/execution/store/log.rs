//! Lists and figures of calls.

use super::columns::LISTED_COLUMNS;
use crate::db::{Param, Statement, sql};
use crate::error::Result;
use crate::execution::log::CallFilter;
use crate::execution::outcome::Status;
use crate::execution::row::CallRow;
use crate::ids::{AgentId, CallId, WorkspaceId};
use crate::page::{PageRequest, bad_cursor};
use crate::time::Timestamp;

const UNSUCCESSFUL: &str = "tool_calls_unsuccessful";

/// The index of `UNIQUE (workspace_id, id)`. Ids begin with the time, so this is the index by time.
const BY_ID: &str = "sqlite_autoindex_tool_calls_1";

/// Lists calls, the latest first. The SQL contains only the conditions that the filter sets.
pub fn list(workspace: &WorkspaceId, filter: &CallFilter, request: &PageRequest) -> Result<Statement> {
    let index = index_for(filter);
    let mut text = format!("SELECT {LISTED_COLUMNS} FROM tool_calls c INDEXED BY {index} WHERE c.workspace_id = ?1");
    let mut params = vec![Param::from(workspace.as_str())];
    let mut condition = |start: &str, value: Param| {
        params.push(value);
        text.push_str(&format!(" AND {start} ?{}", params.len()));
    };
    let equal = [
        ("c.tool_name =", &filter.tool_name),
        ("c.agent_id =", &filter.agent_id),
        ("c.session_id =", &filter.session_id),
        ("c.message_id =", &filter.message_id),
    ];
    for (start, value) in equal {
        if let Some(value) = value {
            condition(start, value.as_str().into());
        }
    }
    let by_id = index == BY_ID;
    let column = if by_id { "c.id" } else { "c.started_at" };
    let bound = |time: Timestamp| if by_id { CallId::bound(time) } else { time.to_string() };
    if let Some(since) = filter.since {
        condition(&format!("{column} >="), bound(since).into());
    }
    if let Some(until) = filter.until {
        condition(&format!("{column} <"), bound(until).into());
    }
    match request.after() {
        None => {}
        Some(id) if by_id => condition("c.id <", CallId::parse(id).ok_or_else(bad_cursor)?.as_str().into()),
        Some(cursor) => {
            let (time, key) = parse_cursor(cursor)?;
            condition("(c.started_at, c.key) < (", time.to_string().into());
            // The second half of the row value.
            params.push(Param::Number(key));
            text.push_str(&format!(", ?{})", params.len()));
        }
    }
    if let Some(status) = filter.status {
        // The status is written into the SQL text, together with the condition of the partial index if that index is
        // used. SQLite only compares the text of the conditions, and infers nothing.
        text.push_str(&format!(" AND c.status = '{status}'"));
        if index == UNSUCCESSFUL {
            text.push_str(" AND c.status IN ('pending_approval', 'error', 'denied')");
        }
    }
    params.push(request.rows_to_ask().into());
    let order = if by_id { "c.id DESC" } else { "c.started_at DESC, c.key DESC" };
    text.push_str(&format!(" ORDER BY {order} LIMIT +?{}", params.len()));
    Ok(params.into_iter().fold(sql(text), Statement::bind))
}

/// The index that leads to the fewest calls. SQLite's planner uses averages over all workspaces, and would rather read
/// a whole log in its order than sort a few calls.
fn index_for(filter: &CallFilter) -> &'static str {
    match filter {
        CallFilter { message_id: Some(_), .. } => "tool_calls_by_message",
        CallFilter { session_id: Some(_), .. } => "tool_calls_by_session",
        CallFilter { agent_id: Some(_), .. } => "tool_calls_by_agent",
        CallFilter { status: Some(Status::PendingApproval | Status::Error | Status::Denied), .. } => UNSUCCESSFUL,
        CallFilter { status: Some(Status::Running), .. } => "tool_calls_running",
        CallFilter { tool_name: Some(_), .. } => "tool_calls_by_tool",
        CallFilter { .. } => BY_ID,
    }
}

/// The cursor to the calls after this one, in a list with this filter.
pub fn cursor(filter: &CallFilter, call: &CallRow) -> String {
    match index_for(filter) {
        BY_ID => call.id.clone(),
        _ => format!("{} {}", call.started_at, call.key),
    }
}

fn parse_cursor(cursor: &str) -> Result<(Timestamp, f64)> {
    let (time, key) = cursor.split_once(' ').ok_or_else(bad_cursor)?;
    let key: u32 = key.parse().map_err(|_| bad_cursor())?;
    Ok((Timestamp::parse(time).ok_or_else(bad_cursor)?, key.into()))
}

/// Figures about the latest calls since a time, at most `limit` calls. Each row is one JSON text with its kind. The
/// calls are read once for all figures.
pub fn summary(workspace: &WorkspaceId, agent: Option<&AgentId>, since: Timestamp, limit: u32) -> Statement {
    let (recent, since) = match agent {
        None => (format!("INDEXED BY {BY_ID} WHERE workspace_id = ?1 AND id >= ?2 ORDER BY id"), CallId::bound(since)),
        Some(_) => (
            "INDEXED BY tool_calls_by_agent WHERE workspace_id = ?1 AND agent_id = ?4 AND started_at >= ?2
               ORDER BY started_at"
                .to_owned(),
            since.to_string(),
        ),
    };
    let statement = sql(format!(
        "WITH recent AS MATERIALIZED (
           SELECT id, tool_name, status, duration_ms, started_at, error ->> '$.code' AS code FROM tool_calls
           {recent} DESC LIMIT +?3),
         ranked AS (
           SELECT *, row_number() OVER (PARTITION BY tool_name ORDER BY duration_ms IS NULL, duration_ms) AS rank,
             count(duration_ms) OVER (PARTITION BY tool_name) AS timed FROM recent)
         SELECT 'all' AS kind, json_object('calls', count(*)) AS data FROM recent
         UNION ALL
         SELECT 'tool', data FROM (SELECT json_object('tool_name', tool_name, 'count', count(*),
             'success_rate', 1.0 * sum(status = 'success') / nullif(sum(status IN ('success', 'error', 'denied')), 0),
             'avg_ms', avg(duration_ms), 'min_ms', min(duration_ms), 'max_ms', max(duration_ms),
             'p50_ms', max(iif(rank = (timed + 1) / 2, duration_ms, NULL)),
             'p95_ms', max(iif(rank = (95 * timed + 99) / 100, duration_ms, NULL))) AS data
           FROM ranked GROUP BY tool_name ORDER BY count(*) DESC, tool_name LIMIT 200)
         UNION ALL
         SELECT 'slow', json_object('id', id, 'tool_name', tool_name, 'duration_ms', duration_ms, 'started_at', started_at)
           FROM (SELECT * FROM recent WHERE duration_ms IS NOT NULL ORDER BY duration_ms DESC, started_at DESC LIMIT 10)
         UNION ALL
         SELECT 'error', json_object('tool_name', tool_name, 'code', code, 'count', n)
           FROM (SELECT tool_name, code, count(*) AS n FROM recent WHERE code IS NOT NULL AND status IN ('error', 'denied')
             GROUP BY tool_name, code ORDER BY n DESC, tool_name, code LIMIT 10)"
    ))
    .bind(workspace.as_str())
    .bind(since)
    .bind(limit);
    match agent {
        Some(agent) => statement.bind(agent.as_str()),
        None => statement,
    }
}
