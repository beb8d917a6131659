//! What a turn writes: one batch when it begins, and one when it ends. Each batch decides in SQL, so that a turn costs two
//! round trips here, and nothing is written if something is missing.

use super::store::{self, NewTexts, UserMessage};
use super::{MAX_STORED_BYTES, Message};
use crate::db::{Rows, Statement};
use crate::error::{Error, Result};
use crate::files;
use crate::ids::{AgentId, FileManifestId, MessageId, SessionId, TokenId, WorkspaceId};
use crate::playground::part::{Part, Role};
use crate::playground::start::{MessagePlace, TurnStart};
use crate::quota;
use crate::time::Timestamp;

/// The beginning of a turn.
pub struct TurnBeginning<'a> {
    pub workspace: &'a WorkspaceId,
    pub session: &'a SessionId,
    /// The token whose sessions the caller may see.
    pub token: Option<&'a TokenId>,
    pub agent: &'a AgentId,
    pub start: &'a TurnStart,
    pub now: Timestamp,
    pub quota_bytes: u64,
}

/// A turn that has begun.
#[derive(Debug, PartialEq)]
pub struct BegunTurn {
    /// The generation of the session. The turn's end is refused if the session was deleted and made anew meanwhile.
    pub generation: u32,
    /// The messages up to the one of the user that is to be answered: the oldest first.
    pub path: Vec<Message>,
    /// How many older messages of the path were left out.
    pub older_messages: u32,
    /// The answer that goes on.
    pub paused: Option<Message>,
    /// The session's active message.
    pub active_message_id: Option<MessageId>,
}

impl TurnBeginning<'_> {
    /// The statements that begin the turn. They stop their batch if the session is hidden from the token, or if the
    /// workspace's quota is used up ([`files::unless_refused`]).
    pub fn statements(&self) -> Result<Vec<Statement>> {
        let Self { workspace, session, agent, now, .. } = *self;
        let mut statements = vec![files::refuse_hidden(workspace, session, self.token)];
        let named = match self.start {
            TurnStart::Message { id, parts, place } => {
                let texts = texts_of(parts)?;
                statements.push(quota::ask_for_room(workspace, texts.bytes(), &[], self.quota_bytes));
                let named = match place {
                    MessagePlace::AfterActive => {
                        let created = files::create_session_of_agent_if_missing(workspace, session, agent, now)?;
                        statements.push(created);
                        None
                    }
                    MessagePlace::Under(id) | MessagePlace::Instead(id) => Some(id),
                };
                let other_id = &MessageId::random()?;
                let message = UserMessage { client_id: id.as_ref(), other_id, agent, texts: &texts, now };
                statements.extend(store::insert_user_message(workspace, session, message, place));
                named
            }
            TurnStart::Regenerate { message } => {
                statements.push(store::go_back_to_question(workspace, session, message.as_ref(), agent, now));
                message.as_ref()
            }
            TurnStart::Again { id, parts } => {
                let texts = texts_of(parts)?;
                statements.push(quota::ask_for_room(workspace, texts.bytes(), &[], self.quota_bytes));
                statements.push(files::create_session_of_agent_if_missing(workspace, session, agent, now)?);
                let other_id = &MessageId::random()?;
                let message = UserMessage { client_id: id.as_ref(), other_id, agent, texts: &texts, now };
                statements.extend(store::insert_if_unknown(workspace, session, message));
                statements.push(store::go_back_to_shown(workspace, session, message));
                id.as_ref()
            }
            TurnStart::Approvals { message, .. } => Some(message),
        };
        statements.push(store::find_begun(workspace, session, named, agent));
        // The answer that goes on is read by itself: alone it may be larger than a path is read.
        let paused = self.paused();
        statements.extend(paused.map(|it| store::find_answer(workspace, session, it)));
        statements.push(store::newest_of_path(workspace, session, paused));
        Ok(statements)
    }

    /// The answer that goes on.
    fn paused(&self) -> Option<&MessageId> {
        match self.start {
            TurnStart::Message { .. } | TurnStart::Regenerate { .. } | TurnStart::Again { .. } => None,
            TurnStart::Approvals { message, .. } => Some(message),
        }
    }

    /// Reads the rows of [`Self::statements`]: all of them, or at least the last three.
    pub fn read(&self, rows: &[Rows]) -> Result<BegunTurn> {
        let (begun, paused, path) = match (self.paused(), rows) {
            (Some(_), [.., begun, paused, path]) => (begun, Some(paused), path),
            (None, [.., begun, path]) => (begun, None, path),
            (Some(_) | None, _) => return Err(Error::Internal("the beginning of a turn has too few rows".into())),
        };
        let begun = store::read_begun(begun)?;
        if !begun.has_agent {
            return Err(Error::not_found("Agent", self.agent));
        }
        let Some(generation) = begun.generation else { return Err(files::session_not_found(self.session)) };
        self.refusal(&begun).map_or(Ok(()), Err)?;
        let (path, older_messages) = store::read_path(path)?;
        let paused = paused.map(store::read_answer).transpose()?.flatten();
        Ok(BegunTurn { generation, path, older_messages, paused, active_message_id: begun.active_message_id })
    }

    /// Why the turn cannot begin with this message, if it cannot.
    fn refusal(&self, begun: &store::Begun) -> Option<Error> {
        let missing = |id: &MessageId| begun.named_role.is_none().then(|| Error::not_found("Message", id));
        let none = || {
            let message = format!("The session {} has no message yet", self.session);
            begun.active_message_id.is_none().then_some(Error::Conflict(message))
        };
        let conflict = |message: String| Some(Error::Conflict(message));
        match self.start {
            TurnStart::Message { .. } if begun.written => None,
            TurnStart::Message { place: MessagePlace::AfterActive, .. } => {
                Some(Error::Internal("a message was not written".into()))
            }
            TurnStart::Message { place: MessagePlace::Under(id), .. } => Some(Error::not_found("Message", id)),
            TurnStart::Message { place: MessagePlace::Instead(id), .. } => {
                missing(id).or_else(|| conflict(format!("The message {id} is not the user's")))
            }
            TurnStart::Regenerate { .. } if begun.written => None,
            TurnStart::Regenerate { message } => (message.as_ref().map_or_else(none, missing))
                .or_else(|| conflict("The message answers no message of the user".into())),
            TurnStart::Again { .. } if begun.written => None,
            TurnStart::Again { id: Some(id), .. } if begun.named_role == Some(Role::Assistant) => {
                conflict(format!("The message {id} is not the user's"))
            }
            TurnStart::Again { .. } => Some(Error::Internal("a message was not written".into())),
            TurnStart::Approvals { message, .. } => match begun.named_role {
                Some(Role::Assistant) => None,
                Some(Role::User) => conflict("The message is the user's, and waits for no approval".into()),
                None => missing(message),
            },
        }
    }
}

/// The end of a turn: its answer.
pub struct TurnEnding<'a> {
    pub workspace: &'a WorkspaceId,
    pub session: &'a SessionId,
    /// Of the [beginning](BegunTurn).
    pub generation: u32,
    /// The answer. Its `manifest_id` is not used: the session's present is stored.
    pub message: &'a Message,
    pub now: Timestamp,
    pub quota_bytes: u64,
}

/// A turn that has ended: what became of its answer.
#[derive(Debug, PartialEq)]
pub enum EndedTurn {
    /// The answer is the session's active message. `manifest_id` is the session's present.
    Stored { manifest_id: Option<FileManifestId> },
    /// The session was deleted meanwhile, and perhaps made anew.
    SessionGone,
}

impl TurnEnding<'_> {
    /// The statements that store the answer, or replace it if the message has gone on, and make it the active message.
    /// They may run twice. They stop their batch if the workspace's quota is used up
    /// ([`quota::is_used_up`]).
    pub fn statements(&self) -> Result<Vec<Statement>> {
        let Self { workspace, session, generation, message, now, .. } = *self;
        let Some(parent) = message.parent_id.as_ref().filter(|_| message.role == Role::Assistant) else {
            return Err(Error::Internal(format!("the message {} answers nothing", message.id)));
        };
        let texts = texts_of(&message.parts)?.with_metadata(message.metadata.as_ref());
        let mut statements =
            vec![store::ask_for_room_again(workspace, (session, generation), &message.id, &texts, self.quota_bytes)];
        statements.extend(store::put_answer(workspace, (session, generation), message, parent, &texts)?);
        statements.push(store::activate(workspace, (session, generation), &message.id, now));
        statements.push(store::find_stored(workspace, (session, generation), &message.id));
        Ok(statements)
    }

    /// Reads the rows of [`Self::statements`]: all of them, or at least the last one.
    pub fn read(&self, rows: &[Rows]) -> Result<EndedTurn> {
        let Some(rows) = rows.last() else {
            return Err(Error::Internal("the end of a turn has no rows".into()));
        };
        Ok(match store::read_stored(rows)? {
            Some(manifest_id) => EndedTurn::Stored { manifest_id },
            None => EndedTurn::SessionGone,
        })
    }
}

/// The parts as JSON. Fails if they are too large.
pub(super) fn texts_of(parts: &[Part]) -> Result<NewTexts> {
    let json = serde_json::to_string(parts)
        .map_err(|cause| Error::Internal(format!("the parts of a message are not JSON: {cause}")))?;
    if json.len() > MAX_STORED_BYTES {
        let message = format!("The message has {} bytes; {MAX_STORED_BYTES} are allowed", json.len());
        return Err(Error::NoRoom { message, limit_bytes: MAX_STORED_BYTES as u64 });
    }
    Ok(NewTexts::new(&json))
}
