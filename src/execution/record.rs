//! The last stage: writes the outcome of a call before the response is sent.

use super::call::{IdempotencyKey, OpenedCall};
use super::call_end::CallEnd;
use super::details::{CallDetails, KeptContent};
use super::outcome::{CallFailure, Ended, Status, ToolResult, cut, shown_content};
use super::payload::{CallDocument, RecordedDocument};
use super::render::{self, RenderedOutcome};
use super::resolve::ResolvedCall;
use super::store;
use crate::callers::Scope;
use crate::db::Statement;
use crate::error::{Error, Result};
use crate::files::{self, Blob};
use crate::ids::{AgentId, CallId, SessionId};
use crate::quota;
use crate::registry::scrub;
use crate::runners::FileManifests;
use crate::time::Timestamp;
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The longest error that is recorded whole in a workspace whose quota is used up.
const MAX_ERROR_BYTES: usize = 1_000;

/// Facts about the run for the record, besides its result.
#[derive(Default)]
pub struct Journal {
    pub manifests: FileManifests,
    pub duration_ms: u32,
    /// Whether the run saw that the session exists.
    pub session_seen: bool,
    /// The text that the tool printed besides its result.
    pub printed: Option<String>,
    /// The content blocks of MCP that the outcome was made of, as a JSON array.
    pub content: Option<String>,
}

/// The facts that identify a call from its opening to its record.
pub struct CallIdentity<'a> {
    pub id: &'a CallId,
    /// The name that was recorded when the call was opened.
    pub tool_name: String,
    pub session: &'a SessionId,
    /// The generation of the session, if the session was there when the call was asked for. Then the call makes no session:
    /// a session that is missing was deleted meanwhile.
    pub generation: Option<u32>,
    pub user_id: Option<&'a str>,
    /// The agent that makes the call.
    pub agent: Option<&'a AgentId>,
    /// The idempotency key of the call. The key is freed if the call is refused.
    pub key: Option<&'a IdempotencyKey>,
    pub max_result_bytes: Option<u32>,
    /// None, if the call has a row already.
    pub unwritten: Option<UnwrittenCall<'a>>,
}

/// The facts of a call without a row, which only the row needs. A call that changes nothing is written once, at its end.
pub struct UnwrittenCall<'a> {
    pub agent_id: Option<&'a str>,
    pub message_id: Option<&'a str>,
    pub started_at: Timestamp,
}

impl<'a> UnwrittenCall<'a> {
    pub fn of(call: &'a OpenedCall) -> Self {
        Self {
            agent_id: call.asked.agent_id.as_deref(),
            message_id: call.asked.message_id.as_deref(),
            started_at: call.opened_at,
        }
    }
}

/// The arguments without their secret values, and these values.
fn redacted_arguments(call: &ResolvedCall) -> (Cow<'_, Value>, Vec<String>) {
    if !call.parameters.has_secrets() {
        return (Cow::Borrowed(&call.arguments), Vec::new());
    }
    let mut shown = call.arguments.clone();
    let secrets = call.parameters.redact(&mut shown);
    (Cow::Owned(shown), secrets)
}

/// The arguments for the record.
fn recorded_arguments(redacted: &Value, refused: bool) -> Result<RecordedDocument> {
    match refused {
        true => RecordedDocument::of_refused(redacted.to_string()),
        false => RecordedDocument::new(CallDocument::Arguments, redacted.to_string()),
    }
}

/// The JSON of the result for the record. The values that its schema marks as secret are removed and added to `secrets`,
/// and the secret values of the arguments are removed too.
fn redacted_result(call: &ResolvedCall, result: &RawValue, secrets: &mut Vec<String>) -> Result<String> {
    match call.returns.as_ref().filter(|it| it.has_secrets()) {
        None => Ok(scrub(secrets, result.get().to_owned())),
        Some(schema) => {
            let mut shown = serde_json::from_str::<Value>(result.get())
                .map_err(|cause| Error::Internal(format!("a result is not JSON: {cause}")))?;
            let removed = schema.redact(&mut shown);
            let redacted = scrub(secrets, shown.to_string());
            secrets.extend(removed);
            Ok(redacted)
        }
    }
}

/// A call's row, once it is closed.
pub struct ClosedCall {
    pub version: Option<String>,
    pub status: Status,
    /// None for a call that did not run.
    pub duration_ms: Option<u32>,
    pub finished_at: Option<Timestamp>,
    pub manifests: FileManifests,
    pub error: Option<String>,
    pub arguments: Option<RecordedDocument>,
    pub result: Option<RecordedDocument>,
    pub max_result_bytes: Option<u32>,
    /// JSON of [`CallDetails`].
    pub details: Option<String>,
    pub render_plan: Option<Box<RawValue>>,
}

impl ClosedCall {
    fn documents(&self) -> impl Iterator<Item = (CallDocument, &RecordedDocument)> {
        let documents = [(CallDocument::Arguments, &self.arguments), (CallDocument::Result, &self.result)];
        documents.into_iter().filter_map(|(kind, it)| Some((kind, it.as_ref()?)))
    }

    /// The documents that are too large for the row.
    fn blobs(&self) -> impl Iterator<Item = (CallDocument, &Blob)> {
        self.documents().filter_map(|(kind, it)| Some((kind, it.blob.as_ref()?)))
    }

    /// The statement that stops the batch if the workspace's quota has no room for the documents, and for `more` bytes.
    /// None, if there are no documents.
    fn ask_for_room(&self, scope: &Scope, more: usize) -> Option<Statement> {
        let documents = self.documents().map(|(_, it)| it.column.len()).reduce(|one, other| one + other)?;
        let [error, details] = [&self.error, &self.details].map(|it| it.as_ref().map_or(0, String::len));
        let plan = self.render_plan.as_ref().map_or(0, |it| it.get().len());
        let bytes = quota::CALL_BYTES + documents + error + details + plan;
        let blobs = self.blobs().map(|(_, it)| (it.sha256(), it.size())).collect::<Vec<_>>();
        let quota_bytes = scope.app().settings().workspace_quota_bytes;
        Some(quota::ask_for_room(scope.workspace(), bytes + more, &blobs, quota_bytes))
    }
}

/// Writes the outcome of the call, and returns the response. Without `call` the tool is unknown, and so are its secret
/// arguments: then no arguments are recorded. If the workspace's quota is used up, the outcome is recorded without
/// arguments and result.
pub async fn close(
    scope: &Scope,
    identity: &CallIdentity<'_>,
    call: Option<&ResolvedCall>,
    journal: Journal,
    ended: Ended,
) -> Result<ToolResult> {
    let mut end = match CallEnd::of(scope, identity.id, ended) {
        Ok(end) => end,
        Err(recorded) => return Ok(*recorded),
    };
    let now = scope.app().clock();
    let (arguments, secrets) = call.map(redacted_arguments).unzip();
    let mut secrets = secrets.unwrap_or_default();
    let result = match (call, &end.result) {
        (Some(call), Some(result)) => Some(redacted_result(call, result, &mut secrets)?),
        (None, _) | (_, None) => None,
    };
    let returns = call.and_then(|it| it.returns.as_deref());
    let failure = end.error.as_ref().map(|it| it.redacted(returns, &mut secrets));
    let render_plan = match (call, &arguments) {
        (Some(call), Some(arguments)) if end.ran() => {
            let (result, failure) = (result.as_deref(), failure.as_deref());
            render::plan(scope, identity, call, &RenderedOutcome { arguments, result, failure, secrets: &secrets })
        }
        (Some(_), Some(_)) | (None, _) | (_, None) => None,
    };
    let kept = journal.content.as_deref().map(|it| KeptContent::of(it, end.result.as_deref())).transpose()?;
    let details = call.map(|it| CallDetails::to_json(it, journal.printed, kept)).transpose()?.flatten();
    let error_json = |error: &CallFailure| error.to_record(&secrets);
    let mut closed = ClosedCall {
        version: call.map(|it| it.target.tool.version.to_string()),
        status: end.status,
        duration_ms: end.ran().then_some(journal.duration_ms),
        finished_at: (!end.waits()).then_some(now),
        error: failure.as_deref().map(error_json).transpose()?,
        result: result.map(|it| RecordedDocument::new(CallDocument::Result, it)).transpose()?,
        manifests: journal.manifests,
        arguments: arguments.map(|it| recorded_arguments(&it, end.refused)).transpose()?,
        max_result_bytes: call.map_or(identity.max_result_bytes, |it| it.max_result_bytes),
        details: details.map(|it| scrub(&secrets, it)),
        render_plan: render_plan.clone(),
    };
    let tool_name = call.map_or(identity.tool_name.as_str(), |it| it.target.tool.id.as_str());
    let session_missing = end.ran() && !journal.session_seen && identity.generation.is_none();
    let record = CallRecord { scope, identity, tool_name, session_missing, now };

    let sealed_bytes = end.request.as_ref().map_or(0, |it| it.sealed_bytes);
    let mut statements = Vec::from_iter(closed.ask_for_room(scope, sealed_bytes));
    statements.extend(record.statements(&closed, end.refused).await?);
    statements.extend(end.request.take().into_iter().flat_map(|it| it.statements));
    let mut written = scope.write_all(statements).await?;
    if written.as_ref().is_err_and(quota::is_used_up) {
        if end.waits() {
            end = CallEnd::cannot_wait(scope).await?;
            (closed.status, closed.finished_at) = (end.status, Some(now));
            closed.error = end.error.as_ref().map(error_json).transpose()?;
        }
        if closed.error.as_ref().is_some_and(|it| it.len() > MAX_ERROR_BYTES) {
            closed.error = end.error.as_ref().map(|it| error_json(&it.brief())).transpose()?;
        }
        (closed.details, closed.render_plan) = (None, None);
        closed.arguments = closed.arguments.map(|it| it.without_value()).transpose()?;
        closed.result = closed.result.map(|it| it.without_value()).transpose()?;
        written = scope.write_all(record.statements(&closed, end.refused).await?).await?;
    }
    written?;
    let limit = closed.max_result_bytes;
    Ok(ToolResult {
        content: shown_content(journal.content, limit),
        call_id: identity.id.to_string(),
        tool_name: tool_name.to_owned(),
        version: closed.version,
        success: end.status == Status::Success,
        status: end.status,
        result: end.result.map(|it| cut(it, limit, identity.id)),
        error: end.error,
        duration_ms: journal.duration_ms,
        render_plan,
        pre_manifest_id: closed.manifests.pre.as_ref().map(String::from),
        post_manifest_id: closed.manifests.post.as_ref().map(String::from),
        never_ran: end.refused,
        returns: call.and_then(|it| it.returns.clone()),
    })
}

/// The record of one call, as it is written.
struct CallRecord<'a> {
    scope: &'a Scope,
    identity: &'a CallIdentity<'a>,
    tool_name: &'a str,
    /// Whether the call's session may not exist yet.
    session_missing: bool,
    now: Timestamp,
}

impl CallRecord<'_> {
    async fn statements(&self, closed: &ClosedCall, refused: bool) -> Result<Vec<Statement>> {
        let Self { scope, identity, tool_name, now, .. } = *self;
        let workspace = scope.workspace();
        let mut statements = Vec::new();
        match &identity.unwritten {
            Some(unwritten) => {
                let caller = scope.caller().await?;
                statements.push(store::calls::insert(workspace, caller, identity, unwritten, tool_name, closed));
            }
            None => {
                statements.push(store::calls::close(workspace, identity.id, closed));
                if tool_name != identity.tool_name {
                    statements.push(store::calls::rename(workspace, identity.id, tool_name));
                }
                // A call that waited for its approval has stored its arguments before.
                if closed.documents().any(|(_, it)| !it.is_kept()) {
                    statements.push(store::calls::untie_blobs(workspace, identity.id));
                }
            }
        }
        for (kind, blob) in closed.blobs() {
            statements.extend(blob.insert(workspace, now));
            statements.push(store::calls::tie_blob(workspace, identity.id, kind, blob));
        }
        if let Some(key) = identity.key
            && refused
        {
            statements.push(store::keys::free(workspace, scope.operator(), key, identity.id));
        }
        if self.session_missing {
            let session = files::create_session_if_missing(workspace, identity.session, identity.agent, now)?;
            statements.push(session);
        }
        Ok(statements)
    }
}
