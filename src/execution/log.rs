//! Reads the record of calls.

use super::archive::ArchivedCalls;
use super::details::CallDetails;
use super::outcome::{CallFailure, Status};
use super::payload::CallDocument;
use super::row::CallRow;
use super::store;
use crate::callers::Scope;
use crate::error::{Error, Result};
use crate::ids::{AgentId, CallId};
use crate::page::{Page, PageRequest};
use crate::time::Timestamp;
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

/// Which calls to list. Every condition must hold.
#[derive(Default)]
pub struct CallFilter {
    pub tool_name: Option<String>,
    pub agent_id: Option<String>,
    pub session_id: Option<String>,
    pub message_id: Option<String>,
    pub status: Option<Status>,
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
}

impl CallFilter {
    /// Restricts the filter to the agent that the token is bound to.
    fn of(mut self, own: Option<&AgentId>) -> Result<Self> {
        let Some(own) = own else { return Ok(self) };
        match &self.agent_id {
            Some(other) if other != own.as_str() => {
                Err(Error::Forbidden(format!("This token is bound to the agent {own} and sees no other's calls")))
            }
            _ => {
                self.agent_id = Some(own.to_string());
                Ok(self)
            }
        }
    }
}

/// A recorded call. Secret values are redacted. Large arguments and results are shown as their hash, size and
/// beginning, with the URL of the whole document.
#[derive(Serialize, ToSchema)]
pub struct CallOut {
    #[schema(example = "call_6f1c0d2b9a8e4f7d8c5b3a2f1e0d9c8b")]
    pub id: String,
    pub tool_name: String,
    pub version: Option<String>,
    pub agent_id: Option<String>,
    pub user_id: Option<String>,
    pub session_id: Option<String>,
    pub message_id: Option<String>,
    #[schema(value_type = Option<Value>)]
    pub arguments: Option<Box<RawValue>>,
    #[schema(value_type = Option<Value>)]
    pub result: Option<Box<RawValue>>,
    /// Which of `arguments` and `result` are shown as a description: `{truncated, size, prefix, …}`. A document that is not
    /// named here is the document itself, whatever its fields are.
    pub shortened: Vec<CallDocument>,
    pub error: Option<CallFailure>,
    /// What the tool printed besides its result, and warnings about the arguments; null if there is nothing to tell.
    pub details: Option<CallDetails>,
    pub status: Status,
    pub duration_ms: Option<u32>,
    #[schema(value_type = String, format = DateTime)]
    pub started_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub finished_at: Option<Timestamp>,
    /// How the result is to be shown: `{renderer, config, error?}`; null if the tool has no renderer, or has not run. In
    /// lists, a long plan has no configuration, but its size and the URL of the call.
    #[schema(value_type = Option<Object>)]
    pub render_plan: Option<Box<RawValue>>,
    pub pre_manifest_id: Option<String>,
    pub post_manifest_id: Option<String>,
    /// The caller: a token's id, `root`, or `anonymous` in open mode.
    pub operator: String,
}

impl TryFrom<CallRow> for CallOut {
    type Error = Error;

    fn try_from(row: CallRow) -> Result<Self> {
        Ok(Self {
            arguments: row.shown(CallDocument::Arguments)?,
            result: row.shown(CallDocument::Result)?,
            shortened: row.shortened(&[CallDocument::Arguments, CallDocument::Result])?,
            error: row.failure()?,
            details: row.details()?,
            render_plan: row.plan()?,
            id: row.id,
            tool_name: row.tool_name,
            version: row.version,
            agent_id: row.agent_id,
            user_id: row.user_id,
            session_id: row.session_id,
            message_id: row.message_id,
            status: row.status,
            duration_ms: row.duration_ms,
            started_at: row.started_at,
            finished_at: row.finished_at,
            pre_manifest_id: row.pre_manifest_id,
            post_manifest_id: row.post_manifest_id,
            operator: row.operator,
        })
    }
}

/// A page of calls, and where older calls lie.
pub struct ListedCalls {
    pub page: Page<CallOut>,
    pub archived: Vec<ArchivedCalls>,
}

/// A page of calls, the latest first. A bound token sees only the calls of its agent, and no archive, because a file has the calls
/// of all agents.
pub async fn list(scope: &Scope, filter: CallFilter, request: &PageRequest) -> Result<ListedCalls> {
    let own = scope.caller().await?.agent.as_ref();
    let since = filter.since.filter(|_| own.is_none());
    let filter = filter.of(own)?;
    let mut statements = vec![store::log::list(scope.workspace(), &filter, request)?];
    statements.extend(since.map(|since| store::archives::list(scope.workspace(), since, filter.until)));
    let mut answers = scope.enter(statements).await?.into_iter();
    let rows = answers.next().map(|it| it.all::<CallRow>()).transpose()?.unwrap_or_default();
    let archived = answers.next().map(|it| it.all()).transpose()?.unwrap_or_default();
    let page = request.page(rows, |it| store::log::cursor(&filter, it));
    let items = page.items.into_iter().map(CallOut::try_from).collect::<Result<_>>()?;
    Ok(ListedCalls { page: Page { items, next_cursor: page.next_cursor }, archived })
}

/// The record of a call with its large documents, for a reader who has no database.
pub(super) async fn whole_record(scope: &Scope, call: CallRow) -> Result<CallOut> {
    let [mut arguments, mut result] = [None, None];
    for (kind, whole) in [(CallDocument::Arguments, &mut arguments), (CallDocument::Result, &mut result)] {
        if call.is_blob(kind)? {
            *whole = call.whole(scope, kind).await?;
        }
    }
    let shown = CallOut::try_from(call)?;
    Ok(CallOut { arguments: arguments.or(shown.arguments), result: result.or(shown.result), ..shown })
}

pub async fn get(scope: &Scope, id: &CallId) -> Result<CallOut> {
    find(scope, id).await?.try_into()
}

/// The whole result of a call, even if it is large.
pub async fn result_of(scope: &Scope, id: &CallId) -> Result<Box<RawValue>> {
    whole(scope, id, CallDocument::Result).await
}

/// The whole arguments of a call, even if they are large. Secret values are redacted.
pub async fn arguments_of(scope: &Scope, id: &CallId) -> Result<Box<RawValue>> {
    whole(scope, id, CallDocument::Arguments).await
}

async fn whole(scope: &Scope, id: &CallId, kind: CallDocument) -> Result<Box<RawValue>> {
    let call = find(scope, id).await?;
    match call.whole(scope, kind).await? {
        Some(whole) => Ok(whole),
        None => Err(Error::not_found(kind.title(), format!("{id}{}", why_missing(&call)?))),
    }
}

/// Why a call has no such document, in brackets.
fn why_missing(call: &CallRow) -> Result<String> {
    let id = &call.id;
    let failure = call.failure()?;
    let told = || failure.as_ref().map(|it| it.message.clone()).unwrap_or_default();
    Ok(match call.status {
        Status::PendingApproval => {
            format!(" (the call waits for its approval; GET /api/tool-calls/{id}?wait=30 waits for its end)")
        }
        Status::Running => format!(" (the call still runs; GET /api/tool-calls/{id}?wait=30 waits for its end)"),
        Status::Denied | Status::Error => format!(" (the call has none: {})", told()),
        Status::Success => String::new(),
    })
}

/// The call, if the caller may see it. For a bound token, the call of another agent does not exist.
pub(super) async fn find(scope: &Scope, id: &CallId) -> Result<CallRow> {
    let [rows] = scope.read([store::calls::find(scope.workspace(), id)]).await?;
    let own = scope.caller().await?.agent.as_ref().map(AgentId::as_str);
    store::calls::read(&rows)?
        .filter(|it| own.is_none() || it.agent_id.as_deref() == own)
        .ok_or_else(|| Error::not_found("Tool call", id))
}
