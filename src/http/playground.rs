//! `/api/playground/sessions/{session_id}/messages` and `/checkout`: the conversations of the playground.

use super::extract::{Body, Named, Query, User};
use super::respond::Json;
use super::sessions::SessionOut;
use crate::error::{Error, Result};
use crate::ids::{MessageId, SessionId};
use crate::page::PageRequest;
use crate::playground::{self, CheckedOutMessage, MessageOut};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct MessageQuery {
    /// The last message of the branch to show; the session's active message if not given.
    leaf: Option<String>,
    /// The most items that a page may hold.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
    /// The `next_cursor` of the page before this one.
    #[param(pattern = "^[A-Za-z0-9_-]+$")]
    cursor: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub struct MessagePage {
    messages: Vec<MessageOut>,
    next_cursor: Option<String>,
}

/// List the messages of a conversation
///
/// The messages from the first one to `leaf`, the oldest first. A page holds at most about 4 MB, so it may have fewer
/// items than `limit`; `next_cursor` goes on after them, on the same branch. A token that is bound to an agent sees only
/// the conversations of that agent.
#[utoipa::path(get, path = "/api/playground/sessions/{session_id}/messages", tag = "playground",
    params(("session_id" = String, Path), MessageQuery),
    responses((status = 200, description = "A page of messages", body = MessagePage)))]
#[worker::send]
pub async fn list_messages(
    User(scope): User,
    Named(session_id): Named<SessionId>,
    Query(query): Query<MessageQuery>,
) -> Result<Json<MessagePage>> {
    let request = PageRequest::new(query.limit, query.cursor.as_deref())?;
    let leaf = query.leaf.as_deref().map(message_id).transpose()?;
    let page = playground::list_messages(&scope, &session_id, leaf.as_ref(), &request).await?;
    let (messages, next_cursor) = page.map(|it| MessageOut::new(&session_id, it));
    Ok(Json(MessagePage { messages, next_cursor }))
}

/// The message to check out.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MessageIn {
    message_id: String,
    /// Whether the conversation goes on from this message to the end of its branch, as the branch was left. For a message
    /// with several answers, this is the branch of the first answer.
    to_end: Option<bool>,
}

/// Check a message out
///
/// The message becomes the session's active one, and the files after it become the session's present, in one step. Later
/// messages and files stay. The next message begins a branch from here.
#[utoipa::path(post, path = "/api/playground/sessions/{session_id}/checkout", tag = "playground",
    params(("session_id" = String, Path)), request_body = MessageIn,
    responses(
        (status = 200, description = "The session", body = SessionOut),
        (status = 409, description = "A turn is under way in this session"),
    ))]
#[worker::send]
pub async fn check_out_message(
    User(scope): User,
    Named(session_id): Named<SessionId>,
    Body(body): Body<MessageIn>,
) -> Result<Json<SessionOut>> {
    let message = CheckedOutMessage { id: message_id(&body.message_id)?, to_end: body.to_end.unwrap_or_default() };
    Ok(Json(playground::check_out(&scope, &session_id, message).await?.into()))
}

/// An id that no message can have names no message.
fn message_id(id: &str) -> Result<MessageId> {
    MessageId::parse(id).ok_or_else(|| Error::not_found("Message", id))
}
