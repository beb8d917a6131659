//! `tools/list` and `tools/call`. A call is one of [`crate::execution`] like any other; only its words are MCP's.

use super::content::Content;
use super::pause::{self, Paused, Reply, Seal, Words};
use super::revision::{self, Revision};
use super::rpc::{Fault, Kind, Object, Params};
use super::{Endpoint, Refusal, Served, header_check, search, tools_json};
use crate::agents;
use crate::callers::{Level, Scope};
use crate::error::Error;
use crate::execution::{self, Call, Code, Status, ToolResult};
use crate::page::{Page, PageRequest};
use crate::registry::{self, Tool, ToolFilter};
use serde_json::{Map, Value};
use std::time::Duration;
use worker::Delay;

/// How many tools a page has: as many as a list may. Some clients read no further than the first.
pub const PAGE: u32 = 200;

/// How long a list may be kept. What has changed meanwhile is told by the call.
const TTL_MS: u32 = 60_000;

/// How often a client that has nobody to ask is made to wait, a second each time, before it hears that its call still
/// waits. It would be back at once.
const LOOKS: u32 = 5;

/// How often one whose user says to go on: they may have approved it just now.
const LOOKS_AFTER_FORM: u32 = 2;

pub async fn list(served: &Served<'_>, params: &Params) -> Result<Object, Refusal> {
    let request = served.page(params, PAGE)?;
    let (page, finds_tools) = page(served, &ToolFilter::default(), &request).await?;
    let mut result = served.cacheable(TTL_MS);
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

/// A page of what can be called at this endpoint, and whether the agent is to look for it instead. Of an agent's tools the
/// filter lets all through: they are few.
pub async fn page(
    served: &Served<'_>,
    filter: &ToolFilter,
    request: &PageRequest,
) -> crate::error::Result<(Page<Tool>, bool)> {
    let scope = served.scope;
    let mut listed = Page { items: Vec::new(), next_cursor: None };
    if served.endpoint.agent.is_none() {
        // Whether the token is an agent's is known only after it: then the page was read in vain.
        listed = registry::list(scope, filter, request).await?;
    }
    if let Some(agent_id) = served.agent().await? {
        let (agent, page) = agents::toolbox_page(scope, agent_id, request).await?;
        return Ok((page, agent.profile.find_tools));
    }
    let level = scope.caller().await?.level;
    listed.items.retain(|it| agents::judge_caller(level, it, it.active).is_ok());
    Ok((listed, false))
}

pub async fn call(served: &Served<'_>, mut params: Params) -> Result<Object, Refusal> {
    let mut name = params.text("name")?.to_owned();
    let mut arguments = params.take_object("arguments")?.unwrap_or_default();
    if search::is_own(&name)
        && let Some(agent_id) = served.agent().await?
        && agents::get(served.scope, agent_id).await?.profile.find_tools
    {
        if name == search::FIND {
            return Ok(served.content(&search::find(served.scope, agent_id, &arguments).await?));
        }
        match search::unwrap(&mut arguments) {
            Ok(inner) => (name, arguments) = inner,
            Err(wrong) => return Ok(served.content(&Content::error(wrong))),
        }
    }
    let mut call = served.endpoint.call(name, arguments);
    if served.revision == Revision::Modern {
        call.door_check = Some(header_check::check(&call.tool_name, served.headers.mirrored()));
    }
    make(served, &params, call).await
}

/// Makes the call, or tells how it stands if the client has come back to it: which it can since 2026-07-28, and where there is
/// a secret to sign with.
async fn make(served: &Served<'_>, params: &Params, call: Call) -> Result<Object, Refusal> {
    let scope = served.scope;
    let settings = scope.app().settings();
    let is_modern = served.revision == Revision::Modern;
    let sealer = settings.sealer.as_ref().filter(|_| is_modern);
    let state = if is_modern { params.optional_text("requestState")? } else { None };
    let reply = if is_modern { pause::reply(params)? } else { Reply::None };
    let shows_forms = revision::shows_forms(params);
    let (result, paused, seal) = match (state, sealer) {
        (None, _) => {
            // Few calls wait: only of those that do, a hash is made.
            let identity = sealer.map(|_| execution::identity(&call));
            let result = execution::execute(scope, call).await?;
            let paused = Paused::of(&result);
            let seal = match (sealer, identity, &paused) {
                (Some(sealer), Some(identity), Some(_)) => Some(Seal::new(scope, sealer, &identity)?),
                _ => None,
            };
            (result, paused, seal)
        }
        (Some(_), None) => return Err(Error::Unavailable("No SECRET_KEY is configured to open a requestState").into()),
        (Some(state), Some(sealer)) => {
            let seal = Seal::new(scope, sealer, &execution::identity(&call))?;
            let paused = seal.open(state, scope.app().now())?;
            let patience = match (shows_forms, &reply) {
                (true, Reply::GoOn) => LOOKS_AFTER_FORM,
                (true, _) => 0,
                (false, _) => LOOKS,
            };
            let result = stands(scope, &paused, patience).await?;
            let paused = waits(&result).then_some(paused);
            (result, paused, Some(seal))
        }
    };
    let Some(paused) = paused else { return Ok(served.content(&ended(&result)?)) };
    let words = Words {
        tool_name: &result.tool_name,
        running: result.status == Status::Running,
        reads_calls: scope.caller().await?.level >= Level::User,
    };
    match seal {
        Some(seal) if reply != Reply::Leave && paused.may_go_on() => {
            // As long again as an approval takes at the most: so that its result can still be had.
            let until = scope.app().now().plus_seconds(settings.approval_seconds.saturating_mul(2));
            let state = seal.state(&paused, until)?;
            let mut object = served.incomplete();
            paused.write(&mut object, &state, &words, shows_forms);
            Ok(object)
        }
        // Who cannot come back, does not want to wait, or has waited long, gets an answer.
        _ => Ok(served.content(&paused.content(&words))),
    }
}

fn waits(result: &ToolResult) -> bool {
    matches!(result.status, Status::PendingApproval | Status::Running)
}

/// How the call stands, after some waiting if it has not come to anything yet. What runs is waited for in any case: nobody
/// has to do anything for it to end.
async fn stands(scope: &Scope, paused: &Paused, patience: u32) -> Result<ToolResult, Refusal> {
    let mut looks = 0;
    loop {
        let result = execution::standing(scope, &paused.call, &paused.approval).await?;
        // What was sealed was there; a restore may have taken it away since.
        let result = result.ok_or_else(|| Fault::params("The call that requestState belongs to is gone"))?;
        let most = if result.status == Status::Running { LOOKS } else { patience };
        if looks >= most || !waits(&result) {
            return Ok(result);
        }
        looks += 1;
        Delay::from(Duration::from_secs(1)).await;
    }
}

/// What the model can act on is a result; what is wrong with the request, or with us, is a fault.
fn ended(result: &ToolResult) -> Result<Content, Fault> {
    let Some(failure) = &result.error else { return Ok(Content::of(result)) };
    let about_header = || failure.details.as_ref().is_some_and(|it| it.get("header").is_some());
    let kind = match failure.code {
        Code::ValidationError if about_header() => Kind::Headers,
        Code::UnknownAgent => Kind::Refused,
        Code::UnknownTool | Code::ValidationError | Code::PayloadTooLarge | Code::Conflict => Kind::InvalidParams,
        Code::Internal | Code::Unavailable => Kind::Internal,
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
        | Code::Unreachable => return Ok(Content::of(result)),
    };
    let mut data = Object::new();
    data.text("code", failure.code.as_str());
    if let Some(details) = &failure.details {
        data.put("details", &details.to_string());
    }
    data.text("call_id", &result.call_id);
    Err(Fault::new(kind, &failure.message).with(data))
}

impl Endpoint {
    /// The call that this endpoint makes of a name and arguments.
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
