//! `/mcp`: the registry's MCP server over Streamable HTTP. A request is a POST, and its response is JSON. There are no
//! streams and no sessions, so GET and DELETE are refused.

use super::extract::{self, Query};
use super::known_query;
use super::origin::RequestOrigin;
use crate::app::App;
use crate::error::{Error, Result};
use crate::ids::SessionId;
use crate::json_rpc::{RpcError, RpcErrorCode, RpcMessage, RpcResponse};
use crate::mcp::{self, McpEndpoint, McpOutcome, McpReply};
use crate::mcp_protocol::{McpHeaders, PARAM_HEADER_PREFIX, RepeatingHeader};
use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Request, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct McpQuery {
    /// The session whose files the calls use and the resources show; `default` if not given.
    #[param(pattern = "^[A-Za-z0-9_-]{1,64}$", example = "notebook")]
    session: Option<String>,
}

/// A JSON-RPC message from a client.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it is only described: the room reads it itself")]
pub struct McpMessage {
    #[schema(pattern = "^2\\.0$", example = "2.0")]
    jsonrpc: String,
    /// A text or a whole number. A notification has no id.
    #[schema(value_type = Option<Value>, example = 1)]
    id: Option<Value>,
    #[schema(example = "tools/list")]
    method: String,
    #[schema(value_type = Option<Object>)]
    params: Option<Value>,
}

/// The response to a request: a result or an error.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it is only described: the room writes it itself")]
pub struct McpAnswer {
    #[schema(example = "2.0")]
    jsonrpc: String,
    #[schema(value_type = Option<Value>, example = 1)]
    id: Option<Value>,
    #[schema(value_type = Option<Object>)]
    result: Option<Value>,
    #[schema(value_type = Option<Object>)]
    error: Option<Value>,
}

/// Send a message to the MCP server
///
/// Serves the tools of the workspace that the header names. The revisions are 2025-11-25 and 2026-07-28. Each request
/// is independent of other requests.
#[utoipa::path(post, path = "/mcp", tag = "mcp", params(McpQuery), request_body = McpMessage,
    responses((status = 200, description = "The answer to a request", body = McpAnswer)))]
#[worker::send]
pub async fn speak(request: McpRequest) -> Result<Response> {
    request.answer().await
}

/// Send a message to the MCP server of a workspace
///
/// The same server, with the workspace in the path.
#[utoipa::path(post, path = "/w/{workspace}/mcp", tag = "mcp", params(("workspace" = String, Path), McpQuery),
    request_body = McpMessage, responses((status = 200, description = "The answer to a request", body = McpAnswer)))]
#[worker::send]
pub async fn speak_in_workspace(request: McpRequest) -> Result<Response> {
    request.answer().await
}

/// Send a message to the MCP server as an agent
///
/// Serves the agent's toolbox. The list holds exactly the tools that the agent may use now. Calls are made as the
/// agent.
#[utoipa::path(post, path = "/w/{workspace}/agents/{agent_id}/mcp", tag = "mcp",
    params(("workspace" = String, Path), ("agent_id" = String, Path), McpQuery), request_body = McpMessage,
    responses((status = 200, description = "The answer to a request", body = McpAnswer)))]
#[worker::send]
pub async fn speak_as_agent(request: McpRequest) -> Result<Response> {
    request.answer().await
}

/// A POST to an MCP endpoint. One extractor takes all parts of the request, because three handlers need the same parts,
/// and the bundle holds a copy of the extractors for each handler.
pub struct McpRequest {
    caller: extract::Anyone,
    endpoint: McpEndpoint,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl<S: Send + Sync> FromRequest<S> for McpRequest {
    type Rejection = McpRefusal;

    async fn from_request(request: Request<Body>, state: &S) -> std::result::Result<Self, McpRefusal> {
        let (mut parts, body) = request.into_parts();
        let request_id = parts.extensions.get::<Arc<App>>().map(|it| it.request_id().to_owned()).unwrap_or_default();
        let (caller, endpoint) = match read_head(&mut parts, state).await {
            Ok(head) => head,
            Err(error) => {
                // The refusal is the answer, whatever becomes of the body.
                let body = extract::collect(body, extract::SMALL_BODY_BYTES).await.unwrap_or_default();
                return Err(McpRefusal(McpReply::refused(RpcMessage::id_in(&body), error, &request_id)));
            }
        };
        match extract::collect(body, extract::MAX_BODY_BYTES).await {
            Ok(body) => Ok(Self { caller, endpoint, headers: parts.headers, body }),
            Err(error) => Err(McpRefusal(McpReply::refused(None, error, &request_id))),
        }
    }
}

/// A refusal of a request whose message was not looked at. It is a message of JSON-RPC too, because clients do not show
/// any other body.
pub struct McpRefusal(McpReply);

impl IntoResponse for McpRefusal {
    fn into_response(self) -> Response {
        respond(self.0)
    }
}

/// The caller and the endpoint, from everything but the body.
async fn read_head<S: Send + Sync>(parts: &mut Parts, state: &S) -> Result<(extract::Anyone, McpEndpoint)> {
    known_query::check_query(&["session"], &parts.uri)?;
    let workspace = extract::named_workspace(parts, state).await?;
    let agent = extract::named_agent(parts, state).await?;
    let Query(McpQuery { session }) = Query::from_request_parts(parts, state).await?;
    let session = session.as_deref().map(SessionId::parse);
    if session == Some(None) {
        return Err(Error::query("session", "must be 1 to 64 letters, digits, _ or -"));
    }
    let caller = extract::Anyone::of(parts, workspace)?;
    if !RequestOrigin::of(&parts.headers, &parts.uri).page_is_allowed(caller.app().settings()) {
        return Err(Error::Forbidden("Requests from this Origin are not let in: see CORS_ORIGINS".to_owned()));
    }
    Ok((caller, McpEndpoint { agent, session: session.flatten() }))
}

impl McpRequest {
    async fn answer(self) -> Result<Response> {
        let Self { caller, endpoint, headers, body } = self;
        if let Some((status, problem)) = media_type_problem(&headers) {
            let error = RpcError::new(RpcErrorCode::INVALID_REQUEST, problem);
            let message = RpcMessage::Response(RpcResponse { id: RpcMessage::id_in(&body), outcome: Err(error) });
            return Ok(with_message(status.into_response(), message.write()));
        }
        let mcp_headers = mcp_headers(&headers);
        let reply = mcp::serve(|level| caller.scope(level), &endpoint, &mcp_headers, body).await?;
        Ok(respond(reply))
    }
}

fn respond(reply: McpReply) -> Response {
    let response = match reply.outcome {
        McpOutcome::Answered => StatusCode::OK.into_response(),
        McpOutcome::Accepted => StatusCode::ACCEPTED.into_response(),
        McpOutcome::Invalid => StatusCode::BAD_REQUEST.into_response(),
        McpOutcome::NotFound => StatusCode::NOT_FOUND.into_response(),
        McpOutcome::Refused(error) => error.into_response(),
    };
    match reply.message {
        Some(message) => with_message(response, message),
        None => response,
    }
}

fn mcp_headers(headers: &HeaderMap) -> McpHeaders<'_> {
    let repeating = |header: RepeatingHeader| headers.get(header.name()).and_then(|it| it.to_str().ok());
    let params = headers.iter().filter_map(|(name, value)| {
        let (prefix, param) = name.as_str().split_at_checked(PARAM_HEADER_PREFIX.len())?;
        prefix.eq_ignore_ascii_case(PARAM_HEADER_PREFIX).then_some((param, value.to_str().ok()))
    });
    McpHeaders {
        revision: repeating(RepeatingHeader::Revision),
        method: repeating(RepeatingHeader::Method),
        name: repeating(RepeatingHeader::Name),
        params: params.collect(),
    }
}

/// The refusal of a body that is not JSON, or of a client that does not accept JSON.
fn media_type_problem(headers: &HeaderMap) -> Option<(StatusCode, &'static str)> {
    let text = |name: HeaderName| headers.get(name).map(|it| it.to_str().unwrap_or_default());
    let is_json = |kind: &str| {
        let kind = kind.split(';').next().unwrap_or_default().trim();
        kind.eq_ignore_ascii_case("application/json")
    };
    let takes_json =
        |kind: &str| is_json(kind) || ["*/*", "application/*"].iter().any(|it| kind.trim().starts_with(it));
    if text(header::CONTENT_TYPE).is_some_and(|it| !is_json(it)) {
        return Some((
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "Content-Type must be application/json, or left out: with curl, -H 'Content-Type: application/json'",
        ));
    }
    if text(header::ACCEPT).is_some_and(|it| !it.split(',').any(takes_json)) {
        return Some((StatusCode::NOT_ACCEPTABLE, "Accept must include application/json"));
    }
    None
}

/// The response with a JSON-RPC message as its body.
fn with_message(mut response: Response, message: String) -> Response {
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    *response.body_mut() = Body::from(message);
    response
}
