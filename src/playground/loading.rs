//! The beginning of a turn: everything that the turn needs is read, and the user's message is put in its place, in one
//! batch.

use super::kept::{KeptTurn, approvals_of};
use super::live::{LiveTurn, StopSignal};
use super::memory::TurnMemory;
use super::messages::{BegunTurn, Message, TurnBeginning};
use super::order::TurnOrder;
use super::part::{Part, Usage};
use super::times::ChatTimes;
use super::toolkit::{MAX_TOOLS, Toolkit};
use super::turn::Turn;
use super::ui::MessageWriter;
use crate::agents;
use crate::app::App;
use crate::callers;
use crate::error::{Error, Result};
use crate::files;
use crate::ids::{AgentId, MessageId};
use crate::page::PageRequest;
use crate::workspace_settings;
use std::rc::Rc;

/// `waiting` is the turn that the order goes on with, if that turn was kept. It stays the turn of the caller who began it: the
/// order's own caller only decides.
pub async fn load(app: App, order: TurnOrder, waiting: Option<KeptTurn>, memory: TurnMemory) -> Result<Turn> {
    let began = waiting.as_ref().map_or(&order.caller, |it| &it.caller).clone();
    let scope = began.clone().scope(app);
    let decider = order.caller.clone().scope_beside(&scope);
    let TurnOrder { session, agent: agent_id, .. } = &order;
    let request = PageRequest::of_up_to(MAX_TOOLS, None)?;
    let settings = scope.app().settings();
    let beginning = TurnBeginning {
        workspace: scope.workspace(),
        session,
        token: decider.session_token(),
        agent: agent_id,
        start: &order.start,
        now: scope.app().now(),
        quota_bytes: settings.workspace_quota_bytes,
    };
    let mut statements = beginning.statements()?;
    let begun_count = statements.len();
    statements.extend(agents::find_toolbox(&scope, agent_id, &request)?);
    statements.push(workspace_settings::find(scope.workspace()));
    let carried = callers::find_carried(&scope);
    let has_token = carried.is_some();
    statements.extend(carried);
    let written = scope.write_all(statements).await?;
    let mut rows = files::unless_refused(&scope, session, "Cannot store the message", written).await?;
    let missing = || Error::Internal("D1 left a statement unanswered".into());
    if has_token {
        let checked = callers::check_carried(&scope, &rows.pop().ok_or_else(missing)?);
        // Whoever answers has a valid token, and must not read that it is not.
        checked.map_err(|error| if order.has_answers() { began_without_token() } else { error })?;
    }
    let of_workspace = workspace_settings::read(&rows.pop().ok_or_else(missing)?)?;
    let toolbox = rows.split_off(begun_count).try_into().map_err(|_| missing())?;
    let (agent, page) = agents::read_toolbox(&scope, agent_id, &request, &toolbox).await?;
    let begun = beginning.read(&rows)?;
    let model = agent.profile.model.as_deref();
    let access = workspace_settings::model_access(scope.app(), scope.workspace(), &of_workspace, model)?;
    let AnswerSoFar { message_id, parent_id, parts, usage } = AnswerSoFar::of(&begun, agent_id)?;
    let (user_id, style, waits_since) = match waiting {
        Some(it) => (it.user_id, it.style, it.waits_since),
        None => (order.user_id, order.style, None),
    };
    let kept = KeptTurn {
        caller: began,
        session: order.session,
        agent: order.agent,
        user_id,
        style,
        message_id: message_id.clone(),
        parent_id,
        generation: begun.generation,
        approvals: approvals_of(&parts),
        waits_since,
        was_stopped: false,
    };
    // The client that listens first has sent the order.
    let writer = MessageWriter::resumed(message_id, parts, order.style);
    let (live, registration) = LiveTurn::new(writer, begun.generation, settings.turn_seconds, ChatTimes::of(settings));
    Ok(Turn {
        toolkit: Toolkit::new(page.items, page.next_cursor.is_some())?,
        scope,
        decider,
        kept,
        start: order.start,
        agent,
        access,
        history: begun.path,
        older_messages: begun.older_messages,
        usage_before: usage,
        live: Rc::new(live),
        stop: StopSignal::new(registration),
        memory,
    })
}

fn began_without_token() -> Error {
    let sentence = "The token of the caller who began the turn is not valid any more: decide about the approval itself, and \
                    write the next message";
    Error::Conflict(sentence.into())
}

/// The answer that a turn writes, as far as it is written.
struct AnswerSoFar {
    message_id: MessageId,
    /// The user's message.
    parent_id: MessageId,
    parts: Vec<Part>,
    /// The tokens of the message until it was paused by an approval.
    usage: Option<Usage>,
}

impl AnswerSoFar {
    fn of(begun: &BegunTurn, agent: &AgentId) -> Result<Self> {
        let Some(paused) = &begun.paused else {
            let question = begun.path.last().ok_or_else(|| Error::Internal("a turn answers nothing".into()))?;
            let (message_id, parent_id) = (MessageId::random()?, question.id.clone());
            return Ok(Self { message_id, parent_id, parts: Vec::new(), usage: None });
        };
        let waits =
            |it: &&Message| begun.active_message_id.as_ref() == Some(&it.id) && it.parts.iter().any(Part::waits);
        let conflict = |sentence: &str| Error::Conflict(sentence.to_owned());
        let Message { id, parent_id, parts, usage, agent_id, .. } = Some(paused)
            .filter(waits)
            .ok_or_else(|| conflict("No call of the conversation's last message waits for an approval"))?;
        if agent_id.as_ref() != Some(agent) {
            return Err(conflict("The message whose approvals are answered is another agent's: name that agent"));
        }
        let parent_id = parent_id.clone().ok_or_else(|| conflict("The message answers no message of the user"))?;
        Ok(Self { message_id: id.clone(), parent_id, parts: parts.clone(), usage: *usage })
    }
}
