//! Calls that a Durable Object owns, because their tool may run for longer than the platform carries on a request whose
//! client has left. The Worker takes such a call through all stages up to the run. The object runs the call and writes
//! its record.

use super::outcome::{CallFailure, CallStop, Code, ToolResult};
use super::record::{self, CallIdentity, Journal};
use super::resolve::{CallTarget, ResolvedCall};
use super::{run, validate};
use crate::app::App;
use crate::callers::{CarriedCaller, Scope};
use crate::durable::long_call;
use crate::error::{Error, Result};
use crate::ids::{AgentId, CallId, SessionId, ToolId, Version};
use crate::registry::{self, Tool, ToolLookup};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A call on its way to its object. The object reads the tool itself.
#[derive(Deserialize, Serialize)]
struct OwnedCall {
    caller: CarriedCaller,
    /// The agent that makes the call.
    calling_agent: Option<AgentId>,
    call_id: CallId,
    /// The name that was recorded when the call was opened.
    recorded_name: String,
    tool_id: ToolId,
    version: String,
    session: SessionId,
    /// The generation of the session, if the session was there when the call was asked for.
    #[serde(default)]
    generation: Option<u32>,
    user_id: Option<String>,
    arguments: Value,
    max_result_bytes: Option<u32>,
}

/// Whether an object runs the calls of the tool.
pub fn is_owned(tool: &Tool) -> bool {
    tool.timeout_seconds > long_call::LONGEST_CARRIED_SECONDS
}

/// Has the call run and recorded by its object. A failure here may be met after the object has run the call.
pub async fn hand_over(scope: &Scope, identity: &CallIdentity<'_>, call: &ResolvedCall) -> Result<ToolResult> {
    let tool = &call.target.tool;
    let owned = OwnedCall {
        caller: CarriedCaller::of(scope).await?,
        calling_agent: identity.agent.cloned(),
        call_id: identity.id.clone(),
        recorded_name: identity.tool_name.clone(),
        tool_id: tool.id.clone(),
        version: tool.version.to_string(),
        session: identity.session.clone(),
        generation: identity.generation,
        user_id: identity.user_id.map(str::to_owned),
        arguments: call.arguments.clone(),
        max_result_bytes: call.max_result_bytes,
    };
    let owned =
        serde_json::to_string(&owned).map_err(|cause| Error::Internal(format!("a long call is not JSON: {cause}")))?;
    let ended = long_call::run(scope.app(), scope.memory_turn(), identity.id, &owned).await?;
    let result: ToolResult = serde_json::from_str(&ended)
        .map_err(|cause| Error::Internal(format!("the result of a long call cannot be read: {cause}")))?;
    Ok(ToolResult { returns: call.returns.clone(), ..result })
}

/// Runs and records a call in its object. Returns the [`ToolResult`] as JSON.
pub async fn run_owned(app: App, owned: &str) -> Result<String> {
    let owned: OwnedCall =
        serde_json::from_str(owned).map_err(|cause| Error::Internal(format!("a long call cannot be read: {cause}")))?;
    let OwnedCall { caller, calling_agent, call_id, tool_id, session, .. } = owned;
    let version = Version::parse(&owned.version)
        .ok_or_else(|| Error::Internal(format!("a long call has the version {:?}", owned.version)))?;
    let scope = caller.scope(app);
    let identity = CallIdentity {
        id: &call_id,
        tool_name: owned.recorded_name,
        session: &session,
        generation: owned.generation,
        user_id: owned.user_id.as_deref(),
        // The key is freed only if the call is refused, and this call was not.
        key: None,
        max_result_bytes: owned.max_result_bytes,
        agent: calling_agent.as_ref(),
        // A long call has its row before it runs.
        unwritten: None,
    };
    let lookup = registry::look_up_tools(scope.workspace(), ToolLookup::Id(&tool_id), Some(version));
    let [rows] = scope.read([lookup]).await?;
    let mut journal = Journal::default();
    let result = match registry::read_tool(&rows)? {
        Some(tool) => {
            let target = CallTarget::pinned(tool);
            let call = ResolvedCall::resumed(target, owned.arguments, owned.max_result_bytes)?;
            let ended = match validate::prepare(&call) {
                Ok(runner) => run::carry_out(&scope, &identity, &call, runner.as_ref(), &mut journal).await,
                Err(stop) => Err(stop),
            };
            record::close(&scope, &identity, Some(&call), journal, ended).await?
        }
        // A restore has removed the version after the call was checked.
        None => {
            let failure = CallFailure::new(Code::ToolDisabled, format!("{tool_id}@{version} is gone"));
            record::close(&scope, &identity, None, journal, Err(CallStop::Failed(failure))).await?
        }
    };
    serde_json::to_string(&result).map_err(|cause| Error::Internal(format!("a result is not JSON: {cause}")))
}
