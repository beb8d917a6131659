//! The registry as an MCP server, for clients of both eras (`mcp_protocol`). Each request is served by itself:
//! nothing is kept between two requests of a client. The room knows no HTTP: `http::mcp` is the transport.
//!
//! The server offers tools, resources and completions. It has no prompts, logging, subscriptions or tasks.

mod completion;
mod content;
mod context;
mod header_check;
mod introduction;
mod pause;
mod reply;
mod resources;
mod search;
mod tools;
mod uri;

pub use reply::{McpOutcome, McpReply};

use crate::callers::{Level, Scope};
use crate::error::{Result, shortened};
use crate::ids::{AgentId, SessionId};
use crate::json_object::JsonObject;
use crate::json_rpc::{RpcError, RpcErrorCode, RpcMessage, RpcParams, RpcRequest};
use crate::mcp_protocol::{Era, McpHeaders, McpMethod, check_revision, era_of};
use crate::text_enum::TextEnum;
use context::McpContext;
use reply::McpFailure;

/// The parts of a request's URL besides the workspace.
#[derive(Default)]
pub struct McpEndpoint {
    /// The agent whose toolbox is served. None serves all tools of the workspace.
    pub agent: Option<AgentId>,
    /// The session whose files the calls use.
    pub session: Option<SessionId>,
}

/// Serves one message. `scope_for` makes the caller's scope. It is a function, because the level that the caller needs
/// is known only after the message has been read.
///
/// An `Error` is returned only if the caller is refused and the message is not a request. Such a message has no
/// JSON-RPC response that could hold the error.
pub async fn serve(
    scope_for: impl FnOnce(Level) -> Scope,
    endpoint: &McpEndpoint,
    headers: &McpHeaders<'_>,
    body: Vec<u8>,
) -> Result<McpReply> {
    let message = RpcMessage::read(&body);
    // The body may be large, and a call may take long.
    drop(body);
    let request = match message {
        Err(unreadable) => return Ok(McpReply::invalid(unreadable.id, unreadable.error)),
        Ok(RpcMessage::Notification(_) | RpcMessage::Response(_)) => {
            if let Err(error) = check_revision(headers) {
                return Ok(McpReply::invalid(None, error));
            }
            scope_for(Level::Guest).caller().await?;
            return Ok(McpReply::accepted());
        }
        Ok(RpcMessage::Request(request)) => request,
    };
    let era = match era_of(&request, headers) {
        Ok(era) => era,
        Err(error) => return Ok(McpReply::invalid(Some(request.id), error)),
    };
    let RpcRequest { id, method: method_text, params } = request;
    let method = McpMethod::parse(&method_text);
    let scope = scope_for(level(method, &params));
    let context = McpContext { scope: &scope, endpoint, era, headers };
    let result = match method {
        Some(method) => answer(&context, method, params).await,
        None => Err(method_not_found(&method_text)),
    };
    Ok(match result {
        Ok(result) => McpReply::answered(id, result),
        Err(failure) => failure.reply(era, id, scope.app().request_id()),
    })
}

/// The lowest level of caller that may make the request.
fn level(method: Option<McpMethod>, params: &RpcParams) -> Level {
    match method {
        Some(McpMethod::ListResources) => Level::User,
        Some(McpMethod::ReadResource) => resources::level(params.text("uri").ok()),
        Some(
            McpMethod::Initialize
            | McpMethod::Ping
            | McpMethod::Discover
            | McpMethod::ListTools
            | McpMethod::CallTool
            | McpMethod::ListResourceTemplates
            | McpMethod::Complete
            | McpMethod::GetPrompt,
        )
        | None => Level::Guest,
    }
}

/// The result of a request.
async fn answer(
    context: &McpContext<'_>,
    method: McpMethod,
    params: RpcParams,
) -> std::result::Result<JsonObject, McpFailure> {
    match (method, context.era) {
        (McpMethod::CallTool, _) => tools::call(context, params).await,
        (McpMethod::ListTools, _) => tools::list(context, &params).await,
        (McpMethod::ListResources, _) => resources::list(context, &params).await,
        (McpMethod::ReadResource, _) => resources::read(context, &params).await,
        (McpMethod::ListResourceTemplates, _) => {
            context.scope.caller().await?;
            Ok(resources::templates(context))
        }
        (McpMethod::Complete, _) => completion::complete(context, &params).await,
        (McpMethod::Initialize, Era::Legacy) => introduction::initialize(context, &params).await,
        (McpMethod::Ping, Era::Legacy) => {
            context.scope.caller().await?;
            Ok(JsonObject::new())
        }
        (McpMethod::Discover, Era::Modern) => introduction::discover(context).await,
        (McpMethod::GetPrompt, _)
        | (McpMethod::Initialize | McpMethod::Ping, Era::Modern)
        | (McpMethod::Discover, Era::Legacy) => Err(method_not_found(method.as_str())),
    }
}

fn method_not_found(method: &str) -> McpFailure {
    let message = format!("Method not found: {}", shortened(method));
    RpcError::new(RpcErrorCode::METHOD_NOT_FOUND, &message).into()
}
