//! `tools/list` and `tools/call`. A call goes through [`crate::execution`] like any other.

use super::context::{McpContext, tools_json};
use super::pause::{self, FormReply, PausedCall, StateSeal};
use super::reply::McpFailure;
use super::{McpEndpoint, content, header_check, search};
use crate::agents::{self, ToolStanding};
use crate::callers::Scope;
use crate::error::Error;
use crate::execution::{self, Call, Code, Status, ToolResult, WaitingNotice};
use crate::json_object::JsonObject;
use crate::json_rpc::{RpcError, RpcErrorCode, RpcParams};
use crate::mcp_protocol::{CallToolResult, Era, fields};
use crate::page::{Page, PageRequest};
use crate::registry::{self, Tool, ToolFilter};
use serde_json::{Map, Value};
use std::time::Duration;
use worker::Delay;

/// The tools on a page: as many as a list of the API may have, because some clients read only the first page.
pub const PAGE: u32 = 200;

/// How long a client may cache a list. A call of a tool that has changed since then tells the client so.
const TTL_MS: u32 = 60_000;

/// How often the server checks again, once a second, whether a paused call has ended. After that, a client without a
/// user to ask is told that the call still waits. Such a client retries at once.
const LOOKS: u32 = 5;

/// The same for a client whose user says to go on. The user may have just approved the call.
const LOOKS_AFTER_FORM: u32 = 2;

pub async fn list(context: &McpContext<'_>, params: &RpcParams) -> Result<JsonObject, McpFailure> {
    let request = context.page(params, PAGE)?;
    let (page, finds_tools) = page(context, &ToolFilter::default(), &request).await?;
    let mut result = context.cacheable(TTL_MS);
    if finds_tools {
        result.put("tools", search::TOOLS);
        return Ok(result);
    }
    result.put("tools", &tools_json(page.items.iter())?);
    if let Some(cursor) = page.next_cursor {
        result.text("nextCursor", &cursor);
    }
    Ok(result)
}

/// A page of the tools that can be called at this endpoint, and whether the agent finds its tools by search instead.
/// The filter does not apply to an agent's tools: they are few.
pub async fn page(
    context: &McpContext<'_>,
    filter: &ToolFilter,
    request: &PageRequest,
) -> crate::error::Result<(Page<Tool>, bool)> {
    let scope = context.scope;
    let mut listed = Page { items: Vec::new(), next_cursor: None };
    let mut guest_modules = Vec::new();
    if context.endpoint.agent.is_none() {
        // This read also tells whether the token is bound to an agent. If it is, the page was read for nothing.
        (listed, guest_modules) = registry::list_with_guest_modules(scope, filter, request).await?;
    }
    if let Some(agent_id) = context.agent().await? {
        let (agent, page) = agents::toolbox_page(scope, agent_id, request).await?;
        return Ok((page, agent.profile.find_tools));
    }
    let level = scope.caller().await?.level;
    let standing = |tool: &Tool| ToolStanding {
        attached: false,
        enabled: tool.active && tool.is_switched_on(),
        default_modules: &guest_modules,
    };
    listed.items.retain(|it| agents::judge_caller(level, it, standing(it)).is_ok());
    Ok((listed, false))
}

pub async fn call(context: &McpContext<'_>, mut params: RpcParams) -> Result<JsonObject, McpFailure> {
    let mut name = params.text("name")?.to_owned();
    let mut arguments = params.take_object("arguments")?.unwrap_or_default();
    if search::is_own(&name)
        && let Some(agent_id) = context.agent().await?
        && agents::get(context.scope, agent_id).await?.profile.find_tools
    {
        if name == search::FIND {
            return Ok(context.call_result(&search::find(context.scope, agent_id, &arguments).await?));
        }
        match search::unwrap(&mut arguments) {
            Ok(inner) => (name, arguments) = inner,
            Err(wrong) => return Ok(context.call_result(&CallToolResult::error(wrong))),
        }
    }
    let mut call = context.endpoint.call(name, arguments);
    if context.era == Era::Modern {
        call.door_check = Some(header_check::check(&call.tool_name, context.headers.mirrored()));
    }
    make(context, &params, call).await
}

/// Makes the call. If the client comes back to a paused call, tells the state of that call instead. A client can come
/// back since 2026-07-28, and only where a secret is configured to seal its state.
async fn make(context: &McpContext<'_>, params: &RpcParams, call: Call) -> Result<JsonObject, McpFailure> {
    let scope = context.scope;
    let settings = scope.app().settings();
    let is_modern = context.era == Era::Modern;
    let sealer = settings.sealer.as_ref().filter(|_| is_modern);
    let state = if is_modern { params.optional_text(fields::REQUEST_STATE)? } else { None };
    let reply = if is_modern { pause::reply(params)? } else { FormReply::None };
    let shows_forms = fields::client_shows_forms(params);
    let (result, paused, seal) = match (state, sealer) {
        (None, _) => {
            // Few calls are paused. Only a paused call needs the hash of its identity.
            let identity = sealer.map(|_| execution::identity(&call));
            let result = execution::execute(scope, call).await?;
            let paused = PausedCall::of(&result);
            let seal = match (sealer, identity, &paused) {
                (Some(sealer), Some(identity), Some(_)) => Some(StateSeal::new(scope, sealer, &identity)?),
                _ => None,
            };
            (result, paused, seal)
        }
        (Some(_), None) => return Err(Error::Unavailable("No SECRET_KEY is configured to open a requestState").into()),
        (Some(state), Some(sealer)) => {
            let seal = StateSeal::new(scope, sealer, &execution::identity(&call))?;
            let paused = seal.open(state, scope.app().now())?;
            let patience = match (shows_forms, &reply) {
                (true, FormReply::GoOn) => LOOKS_AFTER_FORM,
                (true, FormReply::None | FormReply::Leave) => 0,
                (false, FormReply::None | FormReply::GoOn | FormReply::Leave) => LOOKS,
            };
            let result = current_result(scope, &paused, patience).await?;
            let paused = is_unfinished(&result).then_some(paused);
            (result, paused, Some(seal))
        }
    };
    let Some(paused) = paused else { return Ok(context.call_result(&final_result(&result)?)) };
    let reads_calls = WaitingNotice::is_for_reader(scope.caller().await?);
    let notice = paused.notice(&result.tool_name, result.status == Status::Running, reads_calls);
    match seal {
        Some(seal) if reply != FormReply::Leave && paused.may_go_on() => {
            // Twice the time that an approval may take, so that the client can still fetch the result of a late
            // approval.
            let until = scope.app().now().plus_seconds(settings.approval_seconds.saturating_mul(2));
            let state = seal.state(&paused, until)?;
            let mut object = context.input_required();
            PausedCall::write(&mut object, &state, &notice, shows_forms);
            Ok(object)
        }
        // The client cannot come back, does not want to wait, or has come back too often: it gets a result.
        Some(_) | None => Ok(context.call_result(&paused.content(&notice))),
    }
}

fn is_unfinished(result: &ToolResult) -> bool {
    matches!(result.status, Status::PendingApproval | Status::Running)
}

/// The state of a paused call, after some waiting if it has not ended. A call that runs is always waited for: it ends
/// without anybody's help.
async fn current_result(scope: &Scope, paused: &PausedCall, patience: u32) -> Result<ToolResult, McpFailure> {
    let mut looks = 0;
    loop {
        let result = execution::standing(scope, &paused.call, &paused.approval).await?;
        // The call existed when its state was sealed. A restore may have removed it since.
        let result = result.ok_or_else(|| RpcError::invalid_params("The call that requestState belongs to is gone"))?;
        let most = if result.status == Status::Running { LOOKS } else { patience };
        if looks >= most || !is_unfinished(&result) {
            return Ok(result);
        }
        looks += 1;
        Delay::from(Duration::from_secs(1)).await;
    }
}

/// A failure that the model can act on is a result. A failure of the request, or of the server, is an error.
fn final_result(result: &ToolResult) -> Result<CallToolResult, RpcError> {
    let Some(failure) = &result.error else { return Ok(content::of(result)) };
    let about_header = || failure.details.as_ref().is_some_and(|it| it.get("header").is_some());
    let code = match failure.code {
        Code::ValidationError if about_header() => RpcErrorCode::HEADER_MISMATCH,
        Code::UnknownAgent => RpcErrorCode::REFUSED,
        Code::UnknownTool | Code::ValidationError | Code::PayloadTooLarge | Code::Conflict => {
            RpcErrorCode::INVALID_PARAMS
        }
        Code::Internal | Code::Unavailable => RpcErrorCode::INTERNAL_ERROR,
        Code::PermissionDenied
        | Code::NotAttached
        | Code::CapabilityMissing
        | Code::RiskTooHigh
        | Code::ModuleNotAllowed
        | Code::ToolDisabled
        | Code::InvalidArguments
        | Code::ApprovalRequired
        | Code::ApprovalDenied
        | Code::ApprovalExpired
        | Code::RateLimited
        | Code::ToolError
        | Code::Timeout
        | Code::InvalidResult
        | Code::Unreachable => return Ok(content::of(result)),
    };
    let mut data = JsonObject::new();
    data.text("code", failure.code.as_str());
    if let Some(details) = &failure.details {
        data.put("details", &details.to_string());
    }
    data.text("call_id", &result.call_id);
    Err(RpcError::new(code, &failure.message).with_data(data))
}

impl McpEndpoint {
    /// Makes the call of a tool at this endpoint.
    fn call(&self, tool_name: String, arguments: Map<String, Value>) -> Call {
        Call {
            tool_name,
            arguments,
            agent_id: self.agent.as_ref().map(String::from),
            session_id: self.session.clone(),
            ..Call::default()
        }
    }
}
