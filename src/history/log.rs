//! The change log, in pages or as a whole.

use super::store;
use crate::callers::Scope;
use crate::changes::Action;
use crate::error::{Error, Result};
use crate::page::{AgeOrder, Page, PageRequest, bad_cursor};
use crate::time::Timestamp;
use futures_util::stream::{self, Stream};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;
use worker::send::SendFuture;

/// How many rows an export reads at once.
const EXPORTED_AT_ONCE: u32 = 1_000;

/// Which changes to list. Every condition must hold.
pub struct ChangeFilter {
    pub tool_id: Option<String>,
    pub subject: Option<String>,
    pub operator: Option<String>,
    pub action: Option<Action>,
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
    pub order: AgeOrder,
}

impl ChangeFilter {
    /// Whether the subject is a tool without a version, which stands for all of its versions.
    pub fn names_all_versions(&self) -> bool {
        self.subject.as_ref().is_some_and(|it| it.starts_with("tool:") && !it.contains('@'))
    }
}

/// One row of the log.
#[derive(Serialize, ToSchema)]
pub struct ChangeOut {
    /// The number of the change. The numbers within a workspace have no gaps.
    pub seq: u32,
    #[schema(value_type = String, format = DateTime)]
    timestamp: Timestamp,
    #[schema(example = "update")]
    action: String,
    /// The changed thing, as `kind:id`.
    #[schema(example = "tool:word_count@1.1.0")]
    subject: String,
    tool_id: Option<String>,
    version: Option<String>,
    /// The name of the caller: a token's id, `root`, `anonymous` or `pegboard`.
    operator: String,
    /// The name of the token, also after it was revoked. Null if the operator is no token.
    #[schema(example = "Deploy pipeline")]
    operator_name: Option<String>,
    reason: Option<String>,
    #[schema(value_type = Option<Value>)]
    previous_state: Option<Box<RawValue>>,
    /// The whole state of the subject after the change. Null if the subject no longer exists.
    #[schema(value_type = Option<Value>)]
    new_state: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
pub struct ChangeRow {
    seq: u32,
    timestamp: Timestamp,
    action: String,
    subject: String,
    tool_id: Option<String>,
    version: Option<String>,
    operator: String,
    operator_name: Option<String>,
    reason: Option<String>,
    previous_state: Option<String>,
    new_state: Option<String>,
    /// Whether the rows have reached the size limit of one query, so that further rows may have been left out.
    full: u8,
}

impl TryFrom<ChangeRow> for ChangeOut {
    type Error = Error;

    fn try_from(row: ChangeRow) -> Result<Self> {
        let raw = |state: Option<String>| {
            let state = state.map(RawValue::from_string).transpose();
            state.map_err(|cause| Error::Internal(format!("the change {} has a broken state: {cause}", row.seq)))
        };
        Ok(Self {
            seq: row.seq,
            timestamp: row.timestamp,
            action: row.action,
            subject: row.subject,
            tool_id: row.tool_id,
            version: row.version,
            operator: row.operator,
            operator_name: row.operator_name,
            reason: row.reason,
            previous_state: raw(row.previous_state)?,
            new_state: raw(row.new_state)?,
        })
    }
}

/// A page of the log.
pub async fn list(scope: &Scope, filter: &ChangeFilter, request: &PageRequest) -> Result<Page<ChangeOut>> {
    let after = request.after().map(|it| it.parse::<u32>().map_err(|_| bad_cursor())).transpose()?;
    let mut found = read(scope, filter, after, request.rows_to_ask()).await?;
    // The query asks for one row more than the page shows.
    if found.changes.len() == request.rows_to_ask() as usize {
        found.changes.pop();
        found.more_after = found.changes.last().map(|it| it.seq);
    }
    let next_cursor = found.more_after.map(|it| PageRequest::cursor(&it.to_string()));
    Ok(Page { items: found.changes, next_cursor })
}

/// The rows of one query.
struct FoundChanges {
    changes: Vec<ChangeOut>,
    /// The number after which the next query must go on, if a limit of the query may have left rows out.
    more_after: Option<u32>,
}

/// Reads the rows after the number `after`, in the filter's order.
async fn read(scope: &Scope, filter: &ChangeFilter, after: Option<u32>, limit: u32) -> Result<FoundChanges> {
    /// The columns of a row besides those of the change, and whether there is a change.
    #[derive(Deserialize)]
    struct ReachRow {
        seq: Option<u32>,
        reached: Option<u32>,
    }
    let [rows] = scope.read([store::list_changes(scope.workspace(), filter, after, limit)]).await?;
    scope.caller().await?.must_be_unbound()?;
    let reach = rows.first::<ReachRow>()?;
    let reached = reach.as_ref().and_then(|it| it.reached);
    if reach.is_none_or(|it| it.seq.is_none()) {
        return Ok(FoundChanges { changes: Vec::new(), more_after: reached });
    }
    let rows = rows.all::<ChangeRow>()?;
    let is_full = rows.len() == limit as usize || rows.last().is_some_and(|it| it.full != 0);
    let more_after = if is_full { rows.last().map(|it| it.seq) } else { reached };
    Ok(FoundChanges { changes: rows.into_iter().map(ChangeOut::try_from).collect::<Result<_>>()?, more_after })
}

/// Streams all changes that match the filter, as JSON Lines.
pub fn export(scope: Scope, filter: ChangeFilter) -> impl Stream<Item = Result<Vec<u8>>> + Send {
    let export = Export { scope, filter, after: None, ended: false };
    stream::try_unfold(export, |mut export| {
        SendFuture::new(async move { Ok(export.next().await?.map(|piece| (piece, export))) })
    })
}

/// The progress of an export.
struct Export {
    scope: Scope,
    filter: ChangeFilter,
    after: Option<u32>,
    ended: bool,
}

impl Export {
    /// Returns the next lines. None at the end of the log.
    async fn next(&mut self) -> Result<Option<Vec<u8>>> {
        if self.ended {
            return Ok(None);
        }
        let FoundChanges { changes, more_after } =
            read(&self.scope, &self.filter, self.after, EXPORTED_AT_ONCE).await?;
        (self.after, self.ended) = (more_after, more_after.is_none());
        let mut lines = Vec::new();
        for change in &changes {
            serde_json::to_writer(&mut lines, change)
                .map_err(|cause| Error::Internal(format!("a change is not JSON: {cause}")))?;
            lines.push(b'\n');
        }
        Ok(Some(lines))
    }
}
