//! The Worker's side of a chat: checks the caller, and hands the request to the object that owns the session's turns.

use super::messages::{self, Whereabouts};
use super::order::{OwnerRequest, TurnOrder};
use super::start::CheckedOutMessage;
use super::ui::ChatRequest;
use crate::agents;
use crate::callers::{CarriedCaller, Scope};
use crate::error::{Error, Refusal, Result};
use crate::execution::{self, ApprovalOut, CallPlace, Decided, ToolResult};
use crate::files::{self, Session};
use crate::ids::{AgentId, ApprovalId, MessageId, SessionId};
use crate::outgoing::{OutgoingRequest, OutgoingResponse, Route};
use crate::registry::{Handler, Tool};
use crate::workspace_settings;
use worker::console_error;

const NO_CONTENT: u16 = 204;

/// The first status that is a refusal.
const FIRST_REFUSAL: u16 = 400;

/// How much of a refusal is read. The object words it itself.
const MAX_REFUSAL_BYTES: usize = 64 * 1024;

/// Begins a turn. The response is the turn's stream, or its message at the end, or a refusal.
pub async fn chat(
    scope: &Scope,
    session: &SessionId,
    request: ChatRequest,
    is_whole: bool,
) -> Result<OutgoingResponse> {
    let agent_id = chosen_agent(scope, request.agent_id.as_deref()).await?;
    let workspace = scope.workspace();
    let mut statements = vec![agents::find(workspace, &agent_id), workspace_settings::find(workspace)];
    // During a turn, the object refuses before it asks what the caller may see. But a caller who must not see the session must
    // not learn of its turn.
    if let Some(token) = scope.session_token() {
        statements.push(files::find_session(workspace, session));
        statements.push(files::find_visible_session(workspace, session, Some(token)));
    }
    let rows = scope.enter(statements).await?;
    let [agent, settings, sight @ ..] = rows.as_slice() else {
        return Err(Error::Internal("D1 left a statement unanswered".into()));
    };
    let agent = agents::read_found(scope, &agent_id, agent).await?;
    let settings = workspace_settings::read(settings)?;
    if let [found, visible] = sight
        && !found.is_empty()?
        && visible.is_empty()?
    {
        return Err(files::session_not_found(session));
    }
    // The object asks again. Here a missing model is refused before anything is written.
    workspace_settings::model_access(scope.app(), workspace, &settings, agent.profile.model.as_deref())?;
    let order = TurnOrder {
        caller: CarriedCaller::of(scope).await?,
        session: session.clone(),
        agent: agent_id,
        user_id: request.user_id,
        style: request.style,
        start: request.start,
        is_whole,
    };
    ask(scope, session, &OwnerRequest::Turn(Box::new(order))).await
}

/// The agent that the request names, or the one that the token is bound to.
async fn chosen_agent(scope: &Scope, named: Option<&str>) -> Result<AgentId> {
    match named {
        Some(named) => AgentId::parse(named).ok_or_else(|| Error::not_found("Agent", named)),
        None => {
            let own = scope.caller().await?.agent.clone();
            own.ok_or_else(|| Error::body("/agentId", "is required: it names the agent that answers"))
        }
    }
}

/// The stream of the turn that is under way. None, if there is none, or no such session: a client that opens a new chat asks
/// for its stream before the first message.
pub async fn resume(scope: &Scope, session: &SessionId) -> Result<Option<OutgoingResponse>> {
    match files::get_session(scope, session).await {
        Ok(_) => {}
        Err(Error::NotFound { .. }) => return Ok(None),
        Err(error) => return Err(error),
    }
    let response = ask(scope, session, &OwnerRequest::Stream).await?;
    Ok(Some(response).filter(|it| it.status() != NO_CONTENT))
}

/// Ends the turn that is under way, and waits for its end.
pub async fn stop(scope: &Scope, session: &SessionId) -> Result<()> {
    files::get_session(scope, session).await?;
    ask(scope, session, &OwnerRequest::Stop).await.map(drop)
}

/// Makes a message the conversation's present, and brings its files back.
pub async fn check_out(scope: &Scope, session: &SessionId, message: CheckedOutMessage) -> Result<Session> {
    // Before the object refuses because of a turn, as in `chat`.
    files::get_session(scope, session).await?;
    let caller = CarriedCaller::of(scope).await?;
    ask(scope, session, &OwnerRequest::CheckOut { caller, session: session.clone(), message }).await?;
    files::get_session(scope, session).await
}

/// Deletes a session. Its turn ends, so that no later call of the turn brings the session back.
pub async fn delete_session(scope: &Scope, session: &SessionId) -> Result<()> {
    // A session without a conversation has no turn.
    if let Some(generation) = files::delete_session(scope, session).await?
        && let Err(cause) = ask(scope, session, &OwnerRequest::SessionDeleted { generation }).await
    {
        console_error!("the turn of the deleted session {session} does not end: {cause:?}");
    }
    Ok(())
}

/// Approves and runs a call. If the call belongs to a turn, the turn goes on.
pub async fn approve(scope: &Scope, id: &ApprovalId, reason: Option<&str>) -> Result<ToolResult> {
    let locate = async |place: &CallPlace, tool: &Tool| locate(scope, place, tool).await;
    let Decided { outcome, place } = execution::approve(scope, id, reason, locate).await?;
    go_on(scope, place).await;
    outcome
}

/// The generation of the session of a call's message. A call works on the files that the session has at present, so a call that
/// works on files is refused while the conversation is on a branch without the message.
async fn locate(scope: &Scope, place: &CallPlace, tool: &Tool) -> Result<Option<u32>> {
    let Some(message) = made_here(place) else { return Ok(None) };
    match messages::whereabouts(scope, &place.session, &message, place.asked_at).await? {
        Whereabouts::Elsewhere { .. } if Handler::of(tool)?.works_on_files() => Err(Error::Conflict(format!(
            "The call works on files, and the conversation of the session {} is on another branch: check out the message \
             {message} first",
            place.session
        ))),
        Whereabouts::Elsewhere { generation } | Whereabouts::Present { generation } => Ok(Some(generation)),
        Whereabouts::Gone => Ok(Some(files::GONE)),
    }
}

/// The message of a call, if it may be one of a turn. A caller of `/api/execute` may name any message.
fn made_here(place: &CallPlace) -> Option<MessageId> {
    MessageId::parse(&place.message_id).filter(MessageId::is_made_here)
}

/// Denies a call. If the call belongs to a turn, the turn goes on.
pub async fn deny(scope: &Scope, id: &ApprovalId, reason: Option<&str>) -> Result<ApprovalOut> {
    let Decided { outcome, place } = execution::deny(scope, id, reason).await?;
    go_on(scope, place).await;
    outcome
}

/// Tells the owner of a turn that an approval was decided. The decision stands, whatever becomes of the turn.
async fn go_on(scope: &Scope, place: Option<CallPlace>) {
    let Some(place) = place else { return };
    // Only the owner of a turn knows its own messages.
    let Some(message_id) = made_here(&place) else { return };
    if let Err(cause) = ask(scope, &place.session, &OwnerRequest::GoOn { message_id }).await {
        console_error!("the turn of the session {} does not go on: {cause:?}", place.session);
    }
}

/// Asks the object that owns the session's turns. A refusal of the object is the error.
async fn ask(scope: &Scope, session: &SessionId, request: &OwnerRequest) -> Result<OutgoingResponse> {
    let failed = |cause: String| Error::Internal(format!("the owner of a chat did not answer: {cause}"));
    let body = serde_json::to_string(request).map_err(|it| failed(it.to_string()))?;
    let name = format!("{}:{session}", scope.workspace());
    let object = scope.app().chats()?.get_by_name(&name).map_err(|it| failed(it.to_string()))?;
    let outgoing = OutgoingRequest::post("https://chat/", &body);
    let response = outgoing.send(Route::Object(&object)).await.map_err(|it| failed(it.to_string()))?;
    if response.status() < FIRST_REFUSAL {
        return Ok(response);
    }
    let text = response.text(MAX_REFUSAL_BYTES, scope.memory_turn()).await.map_err(|it| failed(it.to_string()))?;
    Err(serde_json::from_str::<Refusal>(&text).map_or_else(|_| failed(text), Error::from))
}
