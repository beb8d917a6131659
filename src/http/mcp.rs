//! `/mcp`: the registry as an MCP server, over Streamable HTTP. A request is a POST and its answer is JSON: there are no
//! streams and no sessions, so that GET and DELETE are refused.

use super::extract::{self, Query};
use super::origin::RequestOrigin;
use crate::callers::{Level, Scope};
use crate::error::{Error, Result};
use crate::ids::{SessionId, WorkspaceId};
use crate::mcp::{
    self, Era, JsonObject, McpEndpoint, McpFailure, McpFailureKind, McpHeaders, RpcError, RpcErrorCode, RpcMessage,
};
use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts};
use axum::http::{HeaderMap, HeaderValue, Request, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use worker::console_error;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct McpQuery {
    /// Whose files calls see, and which are the resources: `default` if it is not given.
    #[param(pattern = "^[A-Za-z0-9_-]{1,64}$", example = "notebook")]
    session: Option<String>,
}

/// A message of JSON-RPC's, as clients send them.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it is only described: the room reads it itself")]
pub struct McpMessage {
    #[schema(pattern = "^2\\.0$", example = "2.0")]
    jsonrpc: String,
    /// A text or a whole number; a notification has none.
    #[schema(value_type = Option<Value>, example = 1)]
    id: Option<Value>,
    #[schema(example = "tools/list")]
    method: String,
    #[schema(value_type = Option<Object>)]
    params: Option<Value>,
}

/// What a request is answered with: a result or an error.
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

/// Speak MCP
///
/// With the tools of the workspace that the header names. Revisions 2025-11-25 and 2026-07-28; each request stands by itself.
#[utoipa::path(post, path = "/mcp", tag = "mcp", params(McpQuery), request_body = McpMessage,
    responses((status = 200, description = "The answer to a request", body = McpAnswer)))]
#[worker::send]
pub async fn speak(request: McpRequest) -> Result<Response> {
    request.answer().await
}

/// Speak MCP in a workspace
///
/// The same, with the workspace in the path.
#[utoipa::path(post, path = "/w/{workspace}/mcp", tag = "mcp", params(("workspace" = String, Path), McpQuery),
    request_body = McpMessage, responses((status = 200, description = "The answer to a request", body = McpAnswer)))]
#[worker::send]
pub async fn speak_in_workspace(request: McpRequest) -> Result<Response> {
    request.answer().await
}

/// Speak MCP as an agent
///
/// With the agent's toolbox: what is listed is what it may really use now, and calls are its calls.
#[utoipa::path(post, path = "/w/{workspace}/agents/{agent_id}/mcp", tag = "mcp",
    params(("workspace" = String, Path), ("agent_id" = String, Path), McpQuery), request_body = McpMessage,
    responses((status = 200, description = "The answer to a request", body = McpAnswer)))]
#[worker::send]
pub async fn speak_as_agent(request: McpRequest) -> Result<Response> {
    request.answer().await
}

/// A request that may come in: from whom it is, for which workspace, and what it brings. One extractor for all that, and not
/// one for each part: what axum makes of a handler is in the bundle for each of the three.
pub struct McpRequest {
    caller: extract::Anyone,
    workspace: WorkspaceId,
    endpoint: McpEndpoint,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl<S: Send + Sync> FromRequest<S> for McpRequest {
    type Rejection = Error;

    async fn from_request(request: Request<Body>, state: &S) -> Result<Self> {
        let (mut parts, body) = request.into_parts();
        let workspace = extract::named_workspace(&mut parts, state).await?;
        let agent = extract::named_agent(&mut parts, state).await?;
        let Query(McpQuery { session }) = Query::from_request_parts(&mut parts, state).await?;
        let session = session.as_deref().map(SessionId::parse);
        if session == Some(None) {
            return Err(Error::query("session", "must be 1 to 64 letters, digits, _ or -"));
        }
        let caller = extract::Anyone::of(&parts)?;
        let settings = caller.app().settings();
        if !RequestOrigin::of(&parts.headers, &parts.uri).is_allowed(&settings.cors_origins, settings.open) {
            let message = "Requests from this Origin, or to this Host, are not let in: see CORS_ORIGINS".to_owned();
            return Err(Error::Forbidden(message));
        }
        let body = extract::collect(body, extract::MAX_BODY_BYTES).await?;
        let endpoint = McpEndpoint { agent, session: session.flatten() };
        Ok(Self { caller, workspace, endpoint, headers: parts.headers, body })
    }
}

impl McpRequest {
    async fn answer(self) -> Result<Response> {
        if let Some(refusal) = self.unspeakable() {
            return Ok(refusal);
        }
        let message = mcp::read(&self.body);
        // The call may take long, and the body be large.
        drop(self.body);
        let header = |name: &str| self.headers.get(name).and_then(|it| it.to_str().ok());
        let params = self.headers.iter().filter_map(|(name, value)| {
            let name = name.as_str().strip_prefix("mcp-param-")?;
            Some((name, value.to_str().ok()))
        });
        let headers = McpHeaders {
            version: header("mcp-protocol-version"),
            method: header("mcp-method"),
            name: header("mcp-name"),
            params: params.collect(),
        };
        let request = match message {
            RpcMessage::Broken(fault, id) => return Ok(refuse(StatusCode::BAD_REQUEST, &fault, id.as_ref())),
            RpcMessage::Notification | RpcMessage::Response => {
                if let Err(fault) = mcp::check_version(&headers) {
                    return Ok(refuse(StatusCode::BAD_REQUEST, &fault, None));
                }
                self.caller.scope(self.workspace, Level::Guest).caller().await?;
                return Ok(StatusCode::ACCEPTED.into_response());
            }
            RpcMessage::Request(request) => request,
        };
        let id = request.id.clone();
        let revision = match mcp::revision_of(&request, &headers) {
            Ok(revision) => revision,
            Err(fault) => return Ok(refuse(StatusCode::BAD_REQUEST, &fault, Some(&id))),
        };
        let scope = self.caller.scope(self.workspace, mcp::level(&request));
        Ok(match mcp::answer(&scope, &self.endpoint, revision, &headers, request).await {
            Ok(message) => json(StatusCode::OK, message),
            Err(refusal) => refused(&scope, revision, refusal, &id),
        })
    }

    /// A body, or a wish for an answer, in another language than JSON.
    fn unspeakable(&self) -> Option<Response> {
        let text = |name| self.headers.get(name).map(|it: &HeaderValue| it.to_str().unwrap_or_default());
        let is_json = |kind: &str| {
            let kind = kind.split(';').next().unwrap_or_default().trim();
            kind.eq_ignore_ascii_case("application/json")
        };
        let any = |kind: &str| is_json(kind) || ["*/*", "application/*"].iter().any(|it| kind.trim().starts_with(it));
        let fault = |message: &str| RpcError::new(RpcErrorCode::InvalidRequest, message);
        if text(header::CONTENT_TYPE).is_some_and(|it| !is_json(it)) {
            return Some(refuse(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                &fault("Content-Type must be application/json"),
                None,
            ));
        }
        if text(header::ACCEPT).is_some_and(|it| !it.split(',').any(any)) {
            return Some(refuse(StatusCode::NOT_ACCEPTABLE, &fault("Accept must include application/json"), None));
        }
        None
    }
}

/// What is wrong with a request that was understood is told in an answer like any other, but for what the revision or the
/// API has a status for.
fn refused(scope: &Scope, revision: Era, refusal: McpFailure, id: &Value) -> Response {
    match *refusal.0 {
        McpFailureKind::RpcError(fault) => {
            let status = match fault.kind {
                RpcErrorCode::NoMethod if revision == Era::Modern => StatusCode::NOT_FOUND,
                // The endpoint's agent is not there.
                RpcErrorCode::Refused => StatusCode::NOT_FOUND,
                RpcErrorCode::Headers => StatusCode::BAD_REQUEST,
                _ => StatusCode::OK,
            };
            refuse(status, &fault, Some(id))
        }
        McpFailureKind::Error(error) => {
            if let Error::Internal(cause) = &error {
                console_error!("request {} failed: {cause}", scope.app().request_id());
            }
            let (kind, status) = match &error {
                Error::Invalid(_) => (RpcErrorCode::InvalidParams, StatusCode::OK),
                Error::Internal(_) | Error::Unavailable(_) => (RpcErrorCode::Internal, error.status()),
                _ => (RpcErrorCode::Refused, error.status()),
            };
            let mut data = JsonObject::new();
            data.text("code", error.code());
            data.put("details", &error.details(scope.app().request_id()).to_string());
            let mut response = refuse(status, &RpcError::new(kind, &error.to_string()).with(data), Some(id));
            if let Error::Unauthorized(_) = &error {
                response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            response
        }
    }
}

fn refuse(status: StatusCode, fault: &RpcError, id: Option<&Value>) -> Response {
    json(status, fault.to_message(id))
}

fn json(status: StatusCode, message: String) -> Response {
    (status, [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], message).into_response()
}
