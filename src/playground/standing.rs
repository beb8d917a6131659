//! Messages that wait for approvals, and whose turns do not go on: the conversation is elsewhere, or the turn was stopped or
//! has lost its caller. Models and people read such a message later, so it tells all the same how its calls stand.

use super::approvals;
use super::fit::fitted;
use super::kept::KeptTurn;
use super::live::LiveTurn;
use super::messages;
use super::part::Part;
use super::times::ChatTimes;
use super::toolkit::{MAX_TOOLS, Toolkit};
use super::ui::MessageWriter;
use crate::agents;
use crate::app::App;
use crate::error::{Error, Result};
use crate::files;
use crate::page::PageRequest;

/// What became of a message.
pub enum Standing {
    /// The conversation ends with the message. So its turn may go on, and then the turn tells how the calls stand.
    Present,
    /// The message has these parts now.
    Told(Vec<Part>),
    Gone,
}

/// Tells the message of the turn how its calls stand. The files and the conversation stay where they are.
pub async fn tell(app: App, turn: &KeptTurn) -> Result<Standing> {
    let scope = turn.caller.clone().scope(app);
    let (workspace, session) = (scope.workspace(), &turn.session);
    let request = PageRequest::of_up_to(MAX_TOOLS, None)?;
    let mut statements = Vec::from(agents::find_toolbox(&scope, &turn.agent, &request)?);
    statements.push(files::find_session(workspace, session));
    statements.push(messages::find_answer(workspace, session, &turn.message_id));
    let mut rows = scope.enter(statements).await?;
    let missing = || Error::Internal("D1 left a statement unanswered".into());
    let message = messages::read_answer(&rows.pop().ok_or_else(missing)?)?;
    let present = files::read_session(&rows.pop().ok_or_else(missing)?)?.and_then(|it| it.active_message_id);
    let Some(mut message) = message else { return Ok(Standing::Gone) };
    let waits = message.parts.iter().any(Part::waits);
    if waits && !turn.was_stopped && present.as_ref() == Some(&turn.message_id) {
        return Ok(Standing::Present);
    }
    let toolbox = rows.try_into().map_err(|_| missing())?;
    let toolkit = match agents::read_toolbox(&scope, &turn.agent, &request, &toolbox).await {
        Ok((_, page)) => Toolkit::new(page.items, page.next_cursor.is_some())?,
        // The agent is gone, and its tools with it.
        Err(Error::NotFound { .. }) => Toolkit::default(),
        Err(error) => return Err(error),
    };
    let times = ChatTimes::of(scope.app().settings());
    let writer = MessageWriter::resumed(turn.message_id.clone(), message.parts.clone(), turn.style);
    let (live, _) = LiveTurn::new(writer, turn.generation, 0, times);
    // A call that runs is not waited for: its end is told too.
    live.stop();
    approvals::settle(&scope, &live, &toolkit, &scope, &[]).await?;
    let parts = fitted(live.writer.into_inner().into_parts());
    if parts != message.parts {
        message.parts = parts;
        messages::change_answer(&scope, session, turn.generation, &message).await?;
    }
    Ok(Standing::Told(message.parts))
}
