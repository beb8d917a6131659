//! Calls that a Durable Object owns, because their tool may run for longer than the platform carries on a request whose
//! client has left. The Worker takes such a call through all stages up to the run. The object runs the call and writes
//! its record.

use super::outcome::{CallFailure, CallStop, Code, ToolResult};
use super::record::{self, CallIdentity, Journal};
use super::resolve::{CallTarget, ResolvedCall};
use super::{run, validate};
use crate::app::App;
use crate::callers::{Caller, Level, Scope};
use crate::durable::long_call;
use crate::error::{Error, Result};
use crate::ids::{AgentId, CallId, SessionId, TokenId, ToolId, Version, WorkspaceId};
use crate::registry::{self, Tool, ToolLookup};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// A call on its way to its object. The object reads the tool itself.
#[derive(Deserialize, Serialize)]
struct OwnedCall {
    workspace: String,
    level: Level,
    agent: Option<String>,
    operator: String,
    /// The token whose sight of sessions the call has.
    session_token: Option<String>,
    /// The agent that makes the call.
    calling_agent: Option<String>,
    call_id: String,
    /// The name that was recorded when the call was opened.
    recorded_name: String,
    tool_id: String,
    version: String,
    session: String,
    user_id: Option<String>,
    arguments: Value,
    max_result_bytes: Option<u32>,
    /// The host that the request named.
    own_host: Option<String>,
}

/// Whether an object runs the calls of the tool.
pub fn is_owned(tool: &Tool) -> bool {
    tool.timeout_seconds > long_call::LONGEST_CARRIED_SECONDS
}

/// Has the call run and recorded by its object. A failure here may be met after the object has run the call.
pub async fn hand_over(scope: &Scope, identity: &CallIdentity<'_>, call: &ResolvedCall) -> Result<ToolResult> {
    let (caller, tool) = (scope.caller().await?, &call.target.tool);
    let owned = OwnedCall {
        workspace: scope.workspace().to_string(),
        level: caller.level,
        agent: caller.agent.as_ref().map(AgentId::to_string),
        operator: caller.operator.clone(),
        session_token: scope.session_token().map(TokenId::to_string),
        calling_agent: identity.agent.map(AgentId::to_string),
        call_id: identity.id.to_string(),
        recorded_name: identity.tool_name.clone(),
        tool_id: tool.id.to_string(),
        version: tool.version.to_string(),
        session: identity.session.to_string(),
        user_id: identity.user_id.map(str::to_owned),
        arguments: call.arguments.clone(),
        max_result_bytes: call.max_result_bytes,
        own_host: scope.app().url_rules().own_host.map(str::to_owned),
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
    let parts = (|| {
        let agent = owned.agent.as_deref().map_or(Some(None), |it| AgentId::parse(it).map(Some))?;
        let calling = owned.calling_agent.as_deref().map_or(Some(None), |it| AgentId::parse(it).map(Some))?;
        let asker = owned.session_token.as_deref().map_or(Some(None), |it| TokenId::parse(it).map(Some))?;
        let caller = (Caller { level: owned.level, agent, operator: owned.operator }, asker, calling);
        let call = (CallId::parse(&owned.call_id)?, SessionId::parse(&owned.session)?);
        let tool = (ToolId::parse(&owned.tool_id)?, Version::parse(&owned.version)?);
        Some((WorkspaceId::parse(&owned.workspace)?, caller, call, tool))
    })();
    let (workspace, (caller, asker, agent), (id, session), (tool_id, version)) =
        parts.ok_or_else(|| Error::Internal("a long call has a broken id".into()))?;
    let scope = Scope::of_checked_caller(Arc::new(app.at_host(owned.own_host.as_deref())), workspace, caller, asker);
    let identity = CallIdentity {
        id: &id,
        tool_name: owned.recorded_name,
        session: &session,
        user_id: owned.user_id.as_deref(),
        // The key is freed only if the call is refused, and this call was not.
        key: None,
        max_result_bytes: owned.max_result_bytes,
        agent: agent.as_ref(),
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
