//! The messages of conversations. A session holds one conversation, which is a tree: a message that is written under an
//! older one begins a branch. Each message remembers the files of the session after it, so that a conversation and its
//! files are moved together.

mod shown;
mod store;
#[cfg(test)]
mod tests;
mod turn;

pub use shown::MessageOut;
pub use store::{find_answer, read_answer};
pub use turn::{BegunTurn, TurnBeginning};
use turn::{EndedTurn, TurnEnding, texts_of};

use super::part::{FinishReason, Part, Role, Usage};
use super::start::CheckedOutMessage;
use crate::callers::Scope;
use crate::error::{Error, Result};
use crate::files::{self, Session};
use crate::ids::{AgentId, FileManifestId, MessageId, SessionId};
use crate::page::{Page, PageRequest, bad_cursor};
use crate::time::Timestamp;
use serde_json::Value;

/// How many bytes the parts of one stored message may have, as JSON. `fit` and `turn` keep answers below it.
pub const MAX_STORED_BYTES: usize = 8_000_000;

#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    pub id: MessageId,
    /// None: the message begins a conversation.
    pub parent_id: Option<MessageId>,
    pub role: Role,
    pub parts: Vec<Part>,
    /// The agent that the message was written to, or that wrote it.
    pub agent_id: Option<AgentId>,
    /// The files of the session after the message. None: the session had no files.
    pub manifest_id: Option<FileManifestId>,
    pub finish_reason: Option<FinishReason>,
    pub usage: Option<Usage>,
    pub metadata: Option<Value>,
    pub created_at: Timestamp,
}

impl Message {
    /// Why the turn of the message ended early, if it did.
    pub fn ended_by(&self) -> Option<&str> {
        self.metadata.as_ref()?.get("ended_by")?.as_str()
    }
}

/// A message with the messages beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedMessage {
    pub message: Message,
    /// The ids of the messages with the same parent, this one included, in the order of their creation: the newest 200.
    pub siblings: Vec<String>,
    /// How many messages are before it on its path.
    depth: u32,
}

/// A page of the messages from the first one to `leaf`, or to the active message, the oldest first. The page is bounded
/// by its bytes too.
pub async fn list(
    scope: &Scope,
    session: &SessionId,
    leaf: Option<&MessageId>,
    request: &PageRequest,
) -> Result<Page<ListedMessage>> {
    let (workspace, token) = (scope.workspace(), scope.session_token());
    let position = request.after().map(|it| Position::parse(it).ok_or_else(bad_cursor)).transpose()?;
    if position.as_ref().is_some_and(|it| leaf.is_some_and(|leaf| *leaf != it.leaf)) {
        return Err(bad_cursor());
    }
    // The cursor names the leaf, so that all pages are of one path, although the conversation may go on meanwhile.
    let leaf = leaf.or(position.as_ref().map(|it| &it.leaf));
    let first = position.as_ref().map_or(0, |it| it.depth.saturating_add(1));
    let [seen, rows] = scope
        .read([
            files::find_visible_session(workspace, session, token),
            store::list(workspace, session, leaf, first, request.rows_to_ask()),
        ])
        .await?;
    let seen = files::read_session(&seen)?.ok_or_else(|| files::session_not_found(session))?;
    let (messages, is_cut) = store::read_listed(&rows)?;
    let Some(leaf) = leaf.or(seen.active_message_id.as_ref()) else {
        return Ok(Page { items: Vec::new(), next_cursor: None });
    };
    if messages.is_empty() && position.is_none() {
        return Err(Error::not_found("Message", leaf));
    }
    Ok(request.cut_page(messages, is_cut, |it| Position { depth: it.depth, leaf: leaf.clone() }.to_string()))
}

/// Where a page ended: the depth of its last message, on the path to a leaf.
struct Position {
    depth: u32,
    leaf: MessageId,
}

impl Position {
    fn parse(text: &str) -> Option<Self> {
        let (depth, leaf) = text.split_once(' ')?;
        Some(Self { depth: depth.parse().ok()?, leaf: MessageId::parse(leaf)? })
    }
}

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.depth, self.leaf)
    }
}

/// Where a message is, as the conversation sees it.
#[derive(Debug, PartialEq)]
pub enum Whereabouts {
    /// On the path to the active message, or not stored yet.
    Present { generation: u32 },
    /// On another branch.
    Elsewhere { generation: u32 },
    /// Its session was deleted.
    Gone,
}

/// Where the message of a call is that was asked for at this time.
pub async fn whereabouts(
    scope: &Scope,
    session: &SessionId,
    message: &MessageId,
    asked_at: Timestamp,
) -> Result<Whereabouts> {
    let [rows] = scope.read([store::find_whereabouts(scope.workspace(), session, message)]).await?;
    store::read_whereabouts(&rows, asked_at)
}

/// Makes another message of the session its active one, and the files after that message its present.
pub async fn check_out(scope: &Scope, session: &SessionId, message: &CheckedOutMessage) -> Result<Session> {
    let workspace = scope.workspace();
    let written = scope
        .write([
            files::refuse_hidden(workspace, session, scope.session_token()),
            store::check_out(workspace, session, message, scope.app().now()),
            files::find_session(workspace, session),
        ])
        .await?;
    let [_, moved, found] = files::unless_refused(scope, session, "Cannot check out", written).await?;
    let found = files::read_session(&found)?.ok_or_else(|| files::session_not_found(session))?;
    if moved.changes() == 0 {
        return Err(Error::not_found("Message", &message.id));
    }
    Ok(found)
}

/// Whether an answer that was not stored for this reason can never be.
pub fn is_final(error: &Error) -> bool {
    matches!(error, Error::NotFound { .. } | Error::OverQuota { .. } | Error::NoRoom { .. })
}

/// Stores the answer of a turn with the files after it, and makes it the active message. May be called again for the same
/// answer.
pub async fn store_answer(scope: &Scope, session: &SessionId, generation: u32, message: &mut Message) -> Result<()> {
    let ending = TurnEnding {
        workspace: scope.workspace(),
        session,
        generation,
        message,
        now: scope.app().clock(),
        quota_bytes: scope.app().settings().workspace_quota_bytes,
    };
    let written = scope.write_all(ending.statements()?).await?;
    let rows = files::unless_refused(scope, session, "Cannot store the message", written).await?;
    match ending.read(&rows)? {
        EndedTurn::Stored { manifest_id } => {
            message.manifest_id = manifest_id;
            Ok(())
        }
        EndedTurn::SessionGone => Err(files::session_not_found(session)),
    }
}

/// Changes the parts of a stored answer, wherever the conversation is. Its files and the active message stay. May be called
/// again for the same answer.
pub async fn change_answer(scope: &Scope, session: &SessionId, generation: u32, message: &Message) -> Result<()> {
    let (workspace, place) = (scope.workspace(), (session, generation));
    let texts = texts_of(&message.parts)?.with_metadata(message.metadata.as_ref());
    let quota_bytes = scope.app().settings().workspace_quota_bytes;
    let mut statements = vec![store::ask_for_room_again(workspace, place, &message.id, &texts, quota_bytes)];
    statements.extend(store::change_answer(workspace, place, &message.id, &texts));
    let written = scope.write_all(statements).await?;
    files::unless_refused(scope, session, "Cannot store the message", written).await.map(drop)
}
