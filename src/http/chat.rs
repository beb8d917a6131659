//! `/api/playground/sessions/{session_id}/chat`, below it `/{chat_id}/stream`, and `/stop`: turns of a chat.

use super::body::read_json_up_to;
use super::extract::{Bytes, Named, User};
use super::respond::NoContent;
use super::wire::PassedOnBody;
use crate::error::{Error, Result};
use crate::ids::SessionId;
use crate::outgoing::OutgoingResponse;
use crate::playground::{self, ChatIn, STREAM_HEADERS};
use axum::body::Body as ResponseContent;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use utoipa::ToSchema;
use worker::ResponseBody;

/// An event of a turn's stream. This type only describes the events; `playground` writes them.
#[derive(ToSchema)]
#[expect(dead_code, reason = "the type is read by the description of the API alone")]
pub struct ChatEvent {
    /// A JSON object with the event's `type`, as AI SDK's UI message stream (v1) has it; at the end, `[DONE]`.
    #[schema(example = r#"{"type":"text-delta","id":"t0","delta":"Hello"}"#)]
    data: String,
}

/// Send a message to an agent
///
/// The response is the agent's turn as an AI SDK UI message stream, so that `useChat` works as it is. With
/// `Accept: application/json` the response is one JSON document at the end of the turn. The turn goes on when the client
/// leaves.
#[utoipa::path(post, path = "/api/playground/sessions/{session_id}/chat", tag = "playground",
    params(("session_id" = String, Path)), request_body = ChatIn,
    responses(
        (status = 200, description = "The turn", content(
            (ChatEvent = "text/event-stream"),
            (playground::WholeTurn = "application/json"),
        )),
        (status = 409, description = "A turn is under way in this session, or nothing waits for the approval"),
        (status = 503, description = "No model is configured"),
    ))]
#[worker::send]
pub async fn chat(
    User(scope): User,
    Named(session_id): Named<SessionId>,
    headers: HeaderMap,
    Bytes(bytes): Bytes,
) -> Result<Response> {
    // A client posts its whole history, of which one message is read.
    let body = read_json_up_to::<ChatIn>(usize::MAX, &bytes)?;
    drop(bytes);
    pass_on(playground::chat(&scope, &session_id, body.read()?, wants_json(&headers)).await?)
}

/// Come back to the turn that is under way
///
/// The response begins with the message so far. `chat_id` is the client's own name for the chat, and means nothing here.
#[utoipa::path(get, path = "/api/playground/sessions/{session_id}/chat/{chat_id}/stream", tag = "playground",
    params(("session_id" = String, Path), ("chat_id" = String, Path)),
    responses(
        (status = 200, description = "The turn", body = ChatEvent, content_type = "text/event-stream"),
        (status = 204, description = "No turn is under way, or there is no such session"),
        (status = 409, description = "Too many clients listen to the turn already"),
    ))]
#[worker::send]
pub async fn resume_chat(User(scope): User, Named(session_id): Named<SessionId>) -> Result<Response> {
    match playground::resume(&scope, &session_id).await? {
        Some(stream) => pass_on(stream),
        None => Ok(NoContent.into_response()),
    }
}

/// Stop the turn that is under way
///
/// No new call begins. Calls that run already are waited for, for up to 20 seconds.
#[utoipa::path(post, path = "/api/playground/sessions/{session_id}/stop", tag = "playground",
    params(("session_id" = String, Path)),
    responses((status = 204, description = "The turn has ended, or ends as soon as its calls have")))]
#[worker::send]
pub async fn stop_chat(User(scope): User, Named(session_id): Named<SessionId>) -> Result<NoContent> {
    playground::stop(&scope, &session_id).await?;
    Ok(NoContent)
}

/// Whether the client wants one JSON document.
fn wants_json(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|it| it.to_str().ok()).unwrap_or_default();
    accept.contains("application/json") && !accept.contains("text/event-stream")
}

/// The response of the object that owns the turn.
fn pass_on(answer: OutgoingResponse) -> Result<Response> {
    let failed = |cause: String| Error::Internal(format!("the owner of a chat did not answer: {cause}"));
    let status = StatusCode::from_u16(answer.status()).map_err(|it| failed(it.to_string()))?;
    let mut response = Response::new(ResponseContent::empty());
    *response.status_mut() = status;
    let answer = answer.into_response().map_err(|it| failed(it.to_string()))?;
    let content_type = answer.headers().get("content-type").ok().flatten().unwrap_or_default();
    if content_type.starts_with("text/event-stream") {
        for (name, value) in STREAM_HEADERS {
            response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
    } else if let Ok(value) = HeaderValue::try_from(content_type)
        && !value.is_empty()
    {
        response.headers_mut().insert(header::CONTENT_TYPE, value);
    }
    if let ResponseBody::Stream(stream) = answer.into_parts().1 {
        response.extensions_mut().insert(PassedOnBody::new(stream));
    }
    Ok(response)
}
