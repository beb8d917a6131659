//! The last stage: writes the outcome of a call before the response is sent.

use super::call::{IdempotencyKey, OpenedCall};
use super::details::CallDetails;
use super::outcome::{CallFailure, CallStop, Ended, Status, ToolResult, cut};
use super::payload::{CallDocument, RecordedDocument};
use super::resolve::ResolvedCall;
use super::store;
use crate::callers::Scope;
use crate::db::Statement;
use crate::error::{Error, Result};
use crate::files;
use crate::ids::{AgentId, CallId, SessionId};
use crate::registry::scrub;
use crate::runners::FileManifests;
use crate::time::Timestamp;
use serde_json::Value;
use serde_json::value::RawValue;
use worker::console_error;

/// Facts about the run for the record, besides its result.
#[derive(Default)]
pub struct Journal {
    pub manifests: FileManifests,
    pub duration_ms: u32,
    /// Whether the run saw that the session exists.
    pub session_seen: bool,
    /// The text that the tool printed besides its result.
    pub printed: Option<String>,
}

/// The facts that identify a call from its opening to its record.
pub struct CallIdentity<'a> {
    pub id: &'a CallId,
    /// The name that was recorded when the call was opened.
    pub tool_name: String,
    pub session: &'a SessionId,
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

/// The arguments for the record, and the secret values that were removed from them.
fn recorded_arguments(call: &ResolvedCall) -> Result<(RecordedDocument, Vec<String>)> {
    if !call.parameters.has_secrets() {
        return Ok((RecordedDocument::new(CallDocument::Arguments, call.arguments.to_string())?, Vec::new()));
    }
    let mut shown = call.arguments.clone();
    let secrets = call.parameters.redact(&mut shown);
    Ok((RecordedDocument::new(CallDocument::Arguments, shown.to_string())?, secrets))
}

/// The result for the record. The values that its schema marks as secret are removed and added to `secrets`, and the
/// secret values of the arguments are removed too.
fn recorded_result(call: &ResolvedCall, result: &RawValue, secrets: &mut Vec<String>) -> Result<RecordedDocument> {
    match call.returns.as_ref().filter(|it| it.has_secrets()) {
        None => RecordedDocument::new(CallDocument::Result, scrub(secrets, result.get().to_owned())),
        Some(schema) => {
            let mut shown = serde_json::from_str::<Value>(result.get())
                .map_err(|cause| Error::Internal(format!("a result is not JSON: {cause}")))?;
            let removed = schema.redact(&mut shown);
            let recorded = RecordedDocument::new(CallDocument::Result, scrub(secrets, shown.to_string()));
            secrets.extend(removed);
            recorded
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
}

/// Writes the outcome of the call, and returns the response. Without `call` the tool is unknown, and so are its secret
/// arguments: then no arguments are recorded.
pub async fn close(
    scope: &Scope,
    identity: &CallIdentity<'_>,
    call: Option<&ResolvedCall>,
    journal: Journal,
    ended: Ended,
) -> Result<ToolResult> {
    let mut asking = Vec::new();
    let refused = matches!(ended, Err(CallStop::Refused(_) | CallStop::Broken(_)));
    let (status, result, error) = match ended {
        Ok(result) => (Status::Success, Some(result), None),
        Err(CallStop::Refused(failure) | CallStop::Failed(failure)) => (Status::Error, None, Some(failure)),
        Err(CallStop::Broken(error)) => {
            log(scope, identity.id, &error);
            (Status::Error, None, Some(CallFailure::of(&error, scope.app().request_id())))
        }
        Err(CallStop::Pending(request)) => {
            asking = request.statements;
            (Status::PendingApproval, None, Some(request.failure))
        }
        Err(CallStop::Recorded(result)) => return Ok(*result),
    };
    let ran = !refused && status != Status::PendingApproval;
    let now = scope.app().clock();
    let (arguments, secrets) = call.map(recorded_arguments).transpose()?.unzip();
    let mut secrets = secrets.unwrap_or_default();
    let recorded = match (call, &result) {
        (Some(call), Some(result)) => Some(recorded_result(call, result, &mut secrets)?),
        (None, _) | (_, None) => None,
    };
    let details = call.map(|it| CallDetails::to_json(it, journal.printed)).transpose()?.flatten();
    let closed = ClosedCall {
        version: call.map(|it| it.target.tool.version.to_string()),
        status,
        duration_ms: ran.then_some(journal.duration_ms),
        finished_at: (status != Status::PendingApproval).then_some(now),
        error: error.as_ref().map(CallFailure::to_json).transpose()?.map(|it| scrub(&secrets, it)),
        result: recorded,
        manifests: journal.manifests,
        arguments,
        max_result_bytes: call.map_or(identity.max_result_bytes, |it| it.max_result_bytes),
        details: details.map(|it| scrub(&secrets, it)),
    };
    let tool_name = call.map_or(identity.tool_name.as_str(), |it| it.target.tool.id.as_str());
    let mut statements = Vec::new();
    match &identity.unwritten {
        Some(unwritten) => {
            let caller = scope.caller().await?;
            statements.push(store::calls::insert(scope.workspace(), caller, identity, unwritten, tool_name, &closed));
        }
        None => {
            statements.push(store::calls::close(scope.workspace(), identity.id, &closed));
            if tool_name != identity.tool_name {
                statements.push(store::calls::rename(scope.workspace(), identity.id, tool_name));
            }
        }
    }
    statements.extend(asking);
    statements.extend(blobs(scope, identity.id, &closed, now));
    if let Some(key) = identity.key
        && refused
    {
        statements.push(store::keys::free(scope.workspace(), scope.operator(), key, identity.id));
    }
    if ran && !journal.session_seen {
        let session = files::create_session_if_missing(scope.workspace(), identity.session, identity.agent, now)?;
        statements.push(session);
    }
    scope.write_all(statements).await??;
    Ok(ToolResult {
        call_id: identity.id.to_string(),
        tool_name: tool_name.to_owned(),
        version: closed.version,
        success: status == Status::Success,
        status,
        result: result.map(|it| cut(it, closed.max_result_bytes, identity.id)),
        error,
        duration_ms: journal.duration_ms,
        render_plan: None,
        pre_manifest_id: closed.manifests.pre.as_ref().map(String::from),
        post_manifest_id: closed.manifests.post.as_ref().map(String::from),
        returns: call.and_then(|it| it.returns.clone()),
    })
}

/// The statements that store documents which are too large for the row.
fn blobs(scope: &Scope, id: &CallId, closed: &ClosedCall, now: Timestamp) -> Vec<Statement> {
    let documents = [(CallDocument::Arguments, &closed.arguments), (CallDocument::Result, &closed.result)];
    let large = documents.iter().filter_map(|(kind, it)| Some((*kind, it.as_ref()?.blob.as_ref()?)));
    large
        .flat_map(|(kind, blob)| {
            let mut statements = blob.insert(scope.workspace(), now);
            statements.push(store::calls::tie_blob(scope.workspace(), id, kind, blob));
            statements
        })
        .collect()
}

/// Logs the cause of an internal error. Only the log shows the cause.
pub fn log(scope: &Scope, id: &CallId, error: &Error) {
    if let Error::Internal(cause) = error {
        console_error!("request {} failed in the call {id}: {cause}", scope.app().request_id());
    }
}
