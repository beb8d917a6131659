//! Adds the nearest known name to a response that a tool or an agent was not found. This file serves no route. Every
//! route gets the suggestion here, also for a text that could be no id.

use super::extract::{Guest, PathId};
use super::wire;
use crate::app::App;
use crate::error::Error;
use crate::ids::{AgentId, ToolId};
use crate::{agents, registry};
use axum::extract::FromRequestParts;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;
use worker::web_sys;

/// Costs a round trip if the response is such a refusal, and nothing otherwise.
pub async fn nearest(app: &Arc<App>, request: &web_sys::Request, response: Response) -> Response {
    match unknown(&response) {
        Some((kind, id)) => match find(app, request, kind, &id).await {
            Some(nearest) => Error::NotFound { kind, id, nearest: Some(nearest) }.into_response(),
            None => response,
        },
        None => response,
    }
}

/// The unknown tool or agent that the response is about. A response to an MCP request has its body already.
fn unknown(response: &Response) -> Option<(&'static str, String)> {
    let error = response.extensions().get::<Arc<Error>>()?;
    let Error::NotFound { kind, id, nearest: None } = &**error else { return None };
    let is_open = !response.headers().contains_key(header::CONTENT_TYPE);
    (is_open && [ToolId::KIND, AgentId::KIND].contains(kind)).then(|| (*kind, id.clone()))
}

/// A name that the caller of the request may see. The caller is checked once more, because a refusal may come before
/// any check.
async fn find(app: &Arc<App>, request: &web_sys::Request, kind: &str, id: &str) -> Option<String> {
    let mut parts = wire::head_from_worker(request)?;
    parts.extensions.insert(app.clone());
    let Guest(scope) = Guest::from_request_parts(&mut parts, &()).await.ok()?;
    if kind == ToolId::KIND {
        registry::nearest_tool(&scope, id).await
    } else {
        agents::nearest_agent(&scope, id).await
    }
}
