//! The fourth stage: calls that wait until an admin lets them run. An approval is used once, even if several requests
//! race for it. The approved call runs with the arguments of the original request, on the version that they were
//! checked against.

use super::call::sealer;
use super::limit::{self, RateSlot};
use super::notice::WaitingNotice;
use super::outcome::{CallFailure, CallStop, Code, Status, ToolResult};
use super::payload::CallDocument;
use super::record::{self, CallIdentity, Journal};
use super::resolve::{CallTarget, ResolvedCall};
use super::run;
use super::store::{self, approvals::ApprovalDecision, approvals::ApprovalWithCall};
use super::validate::{self, CheckedCall};
use crate::callers::Scope;
use crate::changes::{Action, Author, Change};
use crate::db::Statement;
use crate::error::{Error, Result};
use crate::ids::{AgentId, ApprovalId, CallId, SessionId};
use crate::page::{Page, PageRequest};
use crate::registry::{self, Tool};
use crate::runners::Runner;
use crate::text_enum::text_enum;
use crate::time::Timestamp;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use utoipa::ToSchema;

/// The most bytes of arguments with a secret that a waiting call may have. A D1 value holds 2 MB, and sealed text has
/// two digits for each byte.
const MAX_SEALED_BYTES: usize = 900_000;

text_enum! {
    /// The status of an approval.
    ApprovalStatus {
        Pending = "pending",
        Approved = "approved",
        Denied = "denied",
        Expired = "expired",
    }
}

/// An approval and its call. Secret arguments are not shown.
#[derive(Serialize, ToSchema)]
pub struct ApprovalOut {
    #[schema(example = "appr_6f1c0d2b9a8e4f7d8c5b3a2f1e0d9c8b")]
    pub id: String,
    pub call_id: String,
    pub status: ApprovalStatus,
    pub tool_name: String,
    pub version: Option<String>,
    pub agent_id: Option<String>,
    pub user_id: Option<String>,
    pub session_id: Option<String>,
    #[schema(value_type = Option<Value>)]
    pub arguments: Option<Box<RawValue>>,
    /// `["arguments"]` if the arguments are shown as a description: `{truncated, size, prefix, …}`. Otherwise the arguments
    /// are the call's own, whatever their fields are.
    pub shortened: Vec<CallDocument>,
    pub requested_by: String,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
    pub decided_by: Option<String>,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub decided_at: Option<Timestamp>,
    pub reason: Option<String>,
}

/// A decision about an approval.
pub struct Decided<T> {
    /// An `Err` says what went wrong after the decision: the decision stands all the same.
    pub outcome: Result<T>,
    /// Where the decided call was made. None, if the call goes on waiting.
    pub place: Option<CallPlace>,
}

/// The message of a conversation that a call belongs to.
pub struct CallPlace {
    pub session: SessionId,
    pub message_id: String,
    pub asked_at: Timestamp,
}

/// A new approval that is not yet stored.
pub struct ApprovalRequest {
    /// The statements that store the approval. They go into the batch that closes the call's row.
    pub statements: Vec<Statement>,
    /// The bytes of the sealed arguments, which are stored with the approval.
    pub sealed_bytes: usize,
    /// The failure in the response to the call.
    pub failure: CallFailure,
}

/// A call that may run: it needs no approval, or it has been approved.
pub struct ClearedCall<'a> {
    call: &'a ResolvedCall,
    runner: Box<dyn Runner>,
}

impl<'a> ClearedCall<'a> {
    pub fn call(&self) -> &'a ResolvedCall {
        self.call
    }

    pub fn tool(&self) -> &'a Tool {
        &self.call.target.tool
    }

    pub fn runner(&self) -> &dyn Runner {
        self.runner.as_ref()
    }
}

/// Lets the call go on if it needs no approval.
pub async fn clear<'a>(
    scope: &Scope,
    id: &CallId,
    checked: CheckedCall<'a>,
) -> std::result::Result<ClearedCall<'a>, CallStop> {
    let call = checked.call();
    let tool = &call.target.tool;
    if tool.needs_approval() {
        return Err(CallStop::Pending(Box::new(ask(scope, id, call).await?)));
    }
    Ok(ClearedCall { call, runner: checked.into_runner() })
}

async fn ask(scope: &Scope, call_id: &CallId, call: &ResolvedCall) -> Result<ApprovalRequest> {
    let id = ApprovalId::random()?;
    let sealed = call.parameters.has_secrets().then(|| seal(scope, call_id, &call.arguments)).transpose()?;
    // A call has its own clock, because its request may have arrived long before.
    let author = Author { now: scope.app().clock(), ..scope.author().await? };
    let expires_at = author.now.plus_seconds(scope.app().settings().approval_seconds);
    let tool = &call.target.tool.id;
    let state = state(&id, call_id.as_str(), tool.as_str(), ApprovalStatus::Pending, None);
    let notice = WaitingNotice {
        tool_name: tool.as_str(),
        call: call_id,
        approval: &id,
        running: false,
        reads_calls: WaitingNotice::is_for_reader(scope.caller().await?),
    };
    Ok(ApprovalRequest {
        sealed_bytes: sealed.as_ref().map_or(0, String::len),
        statements: vec![
            store::approvals::insert(&author, &id, call_id, sealed.as_deref(), expires_at),
            Change::new(Action::Create, subject(&id)).of_tool(tool).to(&state)?.record(&author),
        ],
        failure: notice.failure(),
    })
}

fn seal(scope: &Scope, call: &CallId, arguments: &Value) -> Result<String> {
    let text = arguments.to_string();
    if text.len() > MAX_SEALED_BYTES {
        return Err(Error::TooLarge { limit_bytes: MAX_SEALED_BYTES });
    }
    sealer(scope)?.seal(&text, call.as_str())
}

/// A page of the approvals, oldest first.
pub async fn list(scope: &Scope, status: Option<ApprovalStatus>, request: &PageRequest) -> Result<Page<ApprovalOut>> {
    let [rows] = scope.read([store::approvals::list(scope.workspace(), status, scope.app().now(), request)?]).await?;
    scope.caller().await?.must_be_unbound()?;
    let found =
        store::approvals::read_all(&rows)?.into_iter().map(ApprovalOut::try_from).collect::<Result<Vec<_>>>()?;
    Ok(request.page(found, |it| PageRequest::age_cursor(it.created_at, &it.id)))
}

pub async fn get(scope: &Scope, id: &ApprovalId) -> Result<ApprovalOut> {
    let [rows] = scope.read([store::approvals::find(scope.workspace(), id, scope.app().now())]).await?;
    scope.caller().await?.must_be_unbound()?;
    found(id, store::approvals::read(&rows)?)?.try_into()
}

/// Approves and runs the call, and returns its outcome. If the tool's rate limit is used up, the call goes on waiting.
///
/// `locate` is asked about a call of a message: it returns the generation of the session if the call makes no session, and
/// refuses a call that may not run now.
pub async fn approve(
    scope: &Scope,
    id: &ApprovalId,
    reason: Option<&str>,
    locate: impl AsyncFnOnce(&CallPlace, &Tool) -> Result<Option<u32>>,
) -> Result<Decided<ToolResult>> {
    let waiting = WaitingCall::find(scope, id).await?;
    let tool = waiting.tool()?;
    let generation = match waiting.place()? {
        Some(place) => locate(&place, tool).await?,
        None => None,
    };
    let arguments = waiting.arguments(scope).await?;
    let slot = match limit::take(scope, tool).await {
        Ok(slot) => slot,
        Err(CallStop::Refused(failure)) => {
            // If another request has decided the approval meanwhile, `find` fails: the call does not wait any more.
            let outcome = WaitingCall::find(scope, id).await?.still_waits(failure);
            return Ok(Decided { outcome: Ok(outcome), place: None });
        }
        Err(CallStop::Broken(error)) => return Err(error),
        Err(CallStop::Failed(_) | CallStop::Pending(_) | CallStop::Recorded(_)) => {
            return Err(Error::Internal("a limit neither held nor failed".into()));
        }
    };
    match waiting.decide(scope, ApprovalStatus::Approved, reason).await {
        Ok(true) => {
            let place = waiting.place()?;
            Ok(Decided { outcome: waiting.run(scope, arguments, slot, generation).await, place })
        }
        Ok(false) => {
            limit::give_back(scope, tool, slot).await;
            // Reading the approval again finds the best error message: the tool may be gone, or another request may
            // have decided.
            WaitingCall::find(scope, id).await?.tool()?;
            Err(decided_meanwhile(id))
        }
        Err(error) => {
            limit::give_back(scope, tool, slot).await;
            Err(error)
        }
    }
}

/// Ends the call without running it.
pub async fn deny(scope: &Scope, id: &ApprovalId, reason: Option<&str>) -> Result<Decided<ApprovalOut>> {
    let waiting = WaitingCall::find(scope, id).await?;
    if !waiting.decide(scope, ApprovalStatus::Denied, reason).await? {
        return Err(decided_meanwhile(id));
    }
    let place = waiting.place()?;
    let mut approval = ApprovalOut::try_from(waiting.asked)?;
    approval.status = ApprovalStatus::Denied;
    approval.decided_by = Some(scope.caller().await?.operator.clone());
    approval.decided_at = Some(scope.app().now());
    approval.reason = reason.map(str::to_owned);
    Ok(Decided { outcome: Ok(approval), place })
}

/// An approval that can be decided, with everything that its call needs to run.
struct WaitingCall {
    id: ApprovalId,
    call_id: CallId,
    asked: ApprovalWithCall,
    target: Option<CallTarget>,
    agent_is_gone: bool,
}

impl WaitingCall {
    async fn find(scope: &Scope, id: &ApprovalId) -> Result<Self> {
        let workspace = scope.workspace();
        let [approval, tool, agent] = scope
            .read([
                store::approvals::find(workspace, id, scope.app().now()),
                store::approvals::find_tool(workspace, id),
                store::approvals::find_agent(workspace, id),
            ])
            .await?;
        // An agent must not decide about its own calls.
        scope.caller().await?.must_be_unbound()?;
        let asked = found(id, store::approvals::read(&approval)?)?;
        let status = asked.approval.status;
        if status != ApprovalStatus::Pending {
            return Err(Error::Conflict(format!("The approval {id} is {status} already")));
        }
        let call_id = asked.call.call_id()?;
        let target = registry::read_tool(&tool)?.map(CallTarget::pinned);
        let agent_is_gone = asked.call.agent_id.is_some() && agent.is_empty()?;
        Ok(Self { id: id.clone(), call_id, asked, target, agent_is_gone })
    }

    /// The message that the call belongs to.
    fn place(&self) -> Result<Option<CallPlace>> {
        let Some(message_id) = self.asked.call.message_id.clone() else { return Ok(None) };
        let call = &self.asked.call;
        Ok(Some(CallPlace { session: call.session()?, message_id, asked_at: call.started_at }))
    }

    /// The tool, if the call may still be run.
    fn tool(&self) -> Result<&Tool> {
        let call = &self.asked.call;
        if self.agent_is_gone {
            let agent = call.agent_id.as_deref().unwrap_or_default();
            return Err(Error::Conflict(format!("The agent {agent}, for which the call was asked, is gone")));
        }
        match &self.target {
            Some(target) if target.tool.has_other_code_since(self.asked.approval.created_at) => {
                Err(Error::Conflict(format!(
                    "The toolset of {} has been upgraded since the call was asked: deny the call, and ask again",
                    call.tool_name
                )))
            }
            Some(target) if target.is_enabled() => Ok(&target.tool),
            _ => {
                let version = call.version.as_deref().unwrap_or_default();
                Err(Error::Conflict(format!(
                    "{}@{version} has been deactivated since the call was asked",
                    call.tool_name
                )))
            }
        }
    }

    /// The arguments of the original request.
    async fn arguments(&self, scope: &Scope) -> Result<Value> {
        let text = match &self.asked.approval.sealed_arguments {
            Some(sealed) => sealer(scope)?.open(sealed, self.call_id.as_str()).ok_or_else(|| {
                Error::Conflict("The arguments were sealed with another SECRET_KEY; deny the call and ask again".into())
            })?,
            None => {
                let whole = self.asked.call.whole(scope, CallDocument::Arguments).await?;
                whole.map(|it| it.get().to_owned()).unwrap_or_default()
            }
        };
        serde_json::from_str(&text)
            .map_err(|cause| Error::Internal(format!("the call {} has broken arguments: {cause}", self.call_id)))
    }

    /// Decides the approval, unless another request has decided it: then the result is false. The decision, its change
    /// row and the update of the call are one batch.
    async fn decide(&self, scope: &Scope, to: ApprovalStatus, reason: Option<&str>) -> Result<bool> {
        let (workspace, author) = (scope.workspace(), scope.author().await?);
        let tool_name = &self.asked.call.tool_name;
        let state = |status, reason| state(&self.id, self.call_id.as_str(), tool_name, status, reason);
        let to_run = if to == ApprovalStatus::Approved { Some(self.tool()?) } else { None };
        let decision = ApprovalDecision { id: &self.id, now: author.now, to_run };
        let action = if to_run.is_some() { Action::Approve } else { Action::Deny };
        let change = Change::new(action, subject(&self.id))
            .because(reason)
            .from(&state(ApprovalStatus::Pending, None))?
            .to(&state(to, reason))?
            .only_if(store::approvals::can_be_decided(workspace, &decision));
        let then = match to_run {
            Some(tool) => {
                let seconds = tool.timeout_seconds + store::calls::GRACE_SECONDS;
                store::calls::resume(workspace, &self.call_id, scope.app().clock().plus_seconds(seconds))
            }
            None => {
                let because = reason.map(|it| format!(": {it}")).unwrap_or_default();
                let message = format!("{} was denied by {}{because}", tool_name, author.operator);
                let failure =
                    CallFailure::new(Code::ApprovalDenied, message).with(json!({"approval_id": self.id.as_str()}));
                store::calls::deny(workspace, &self.call_id, &failure.to_json()?, author.now)
            }
        };
        let decide = store::approvals::decide(&author, &decision, to, reason);
        let [_, decided, _] = scope.write([change.record(&author), decide, then]).await??;
        Ok(decided.changes() > 0)
    }

    /// Runs the approved call, and records its outcome.
    async fn run(self, scope: &Scope, arguments: Value, slot: RateSlot, generation: Option<u32>) -> Result<ToolResult> {
        let Some(target) = self.target else { return Err(decided_meanwhile(&self.id)) };
        let row = self.asked.call;
        let (session, agent) = (row.session()?, row.agent_id.as_deref().and_then(AgentId::parse));
        // Only a call for an agent can come from a bound token.
        if agent.is_some() {
            scope.use_sessions_of(&row.operator);
        }
        let call = ResolvedCall::resumed(target, arguments, row.max_result_bytes)?;
        let identity = CallIdentity {
            id: &self.call_id,
            tool_name: row.tool_name,
            session: &session,
            generation,
            user_id: row.user_id.as_deref(),
            agent: agent.as_ref(),
            key: None,
            max_result_bytes: row.max_result_bytes,
            unwritten: None,
        };
        let mut journal = Journal::default();
        let ended = match validate::prepare(&call) {
            Ok(runner) => run::run(scope, &identity, ClearedCall { call: &call, runner }, slot, &mut journal).await,
            Err(stop) => Err(stop),
        };
        record::close(scope, &identity, Some(&call), journal, ended).await
    }

    /// The response for a call that goes on waiting although an admin approved it.
    fn still_waits(self, failure: CallFailure) -> ToolResult {
        ToolResult {
            content: None,
            call_id: self.call_id.to_string(),
            tool_name: self.asked.call.tool_name,
            version: self.asked.call.version,
            success: false,
            status: Status::PendingApproval,
            result: None,
            error: Some(failure),
            duration_ms: 0,
            render_plan: None,
            pre_manifest_id: None,
            post_manifest_id: None,
            never_ran: true,
            returns: None,
        }
    }
}

fn found(id: &ApprovalId, row: Option<ApprovalWithCall>) -> Result<ApprovalWithCall> {
    row.ok_or_else(|| Error::not_found("Approval", id))
}

fn decided_meanwhile(id: &ApprovalId) -> Error {
    Error::Conflict(format!("The approval {id} was decided by another request meanwhile"))
}

fn subject(id: &ApprovalId) -> String {
    format!("approval:{id}")
}

/// The state of an approval in the change log.
fn state(id: &ApprovalId, call: &str, tool_name: &str, status: ApprovalStatus, reason: Option<&str>) -> Value {
    json!({"id": id.as_str(), "call_id": call, "tool_name": tool_name, "status": status, "reason": reason})
}
