//! A turn: the model is asked, the calls that it asks for are made, and the model gets their results, until it answers.

use super::approvals::Settled;
use super::asked_calls::AskedCalls;
use super::calls::{self, CallContext};
use super::conversation::{Conversation, HistoryMessage, conversation};
use super::ending::{TurnEnd, TurnFigures, tell_interruption};
use super::kept::KeptTurn;
use super::live::{Interruption, LiveTurn, StopSignal};
use super::memory::TurnMemory;
use super::messages::Message;
use super::model::{ModelRequest, Streaming};
use super::part::{Part, Role, Usage};
use super::planned::PlannedCall;
use super::start::TurnStart;
use super::times::ChatTimes;
use super::toolkit::Toolkit;
use super::ui::MessageWriter;
use super::{approvals, asking};
use crate::agents::Agent;
use crate::callers::Scope;
use crate::error::{Error, Result};
use crate::settings::ModelStreaming;
use crate::workspace_settings::ModelAccess;
use futures_util::future::{Either, select};
use std::rc::Rc;
use std::time::Duration;
use worker::{Delay, console_error};

/// How many steps a turn has at most, if its agent does not say otherwise.
const DEFAULT_MAX_STEPS: u32 = 16;

/// How many bytes the parts of a message may have for another step to begin. One step adds less than what is left up to
/// [`super::messages::MAX_STORED_BYTES`], or `fit` makes the message smaller.
const STEP_BEGINS_BELOW_BYTES: usize = 6 * 1024 * 1024;

/// How long a turn that was interrupted waits for its calls. Every call that the Worker itself runs has ended by then.
const PATIENCE: Duration = Duration::from_secs(90);

/// Everything that a turn needs, read in one batch.
pub struct Turn {
    /// The access of the caller who began the turn.
    pub scope: Scope,
    /// The access of the caller who has answered approvals, and in whose name these answers are decisions.
    pub decider: Scope,
    pub kept: KeptTurn,
    pub start: TurnStart,
    pub agent: Agent,
    pub access: ModelAccess,
    pub toolkit: Toolkit,
    /// The conversation up to the message that the turn answers.
    pub history: Vec<Message>,
    /// How many messages of the conversation are older than these.
    pub older_messages: u32,
    /// The tokens of the message until it was paused by an approval.
    pub usage_before: Option<Usage>,
    pub live: Rc<LiveTurn>,
    pub stop: StopSignal,
    pub memory: TurnMemory,
}

impl Turn {
    /// Runs the turn to its end, and stores its message. Returns whether the message is stored, or can never be.
    pub async fn run(&mut self) -> bool {
        let mut figures = TurnFigures { usage: self.usage_before, dropped_messages: 0 };
        let end = match self.steps(&mut figures).await {
            Ok(end) => end,
            Err(error) => {
                if let Error::Internal(cause) = &error {
                    console_error!("a turn of the session {} failed: {cause}", self.kept.session);
                }
                TurnEnd::Failed(error.to_string())
            }
        };
        self.finish(end, &figures).await
    }

    pub fn max_steps(&self) -> usize {
        self.agent.profile.max_steps.unwrap_or(DEFAULT_MAX_STEPS) as usize
    }

    async fn steps(&mut self, figures: &mut TurnFigures) -> Result<TurnEnd> {
        if let TurnStart::Approvals { answers, .. } = &self.start {
            let settling = Box::pin(approvals::settle(&self.scope, &self.live, &self.toolkit, &self.decider, answers));
            match patiently(&mut self.stop, &self.live, settling).await {
                Waited::Done(settled) => match settled? {
                    Settled::All => {}
                    Settled::SomeWait => return Ok(TurnEnd::Waits),
                },
                Waited::Interrupted(interruption, _) => return Ok(TurnEnd::Interrupted(interruption)),
            }
            // From here on the message has more than what was stored when it paused.
            self.save().await?;
        }
        loop {
            if count_steps(&self.live.writer.borrow()) >= self.max_steps() {
                return Ok(TurnEnd::StepLimit);
            }
            if let Some(end) = self.step(figures).await? {
                return Ok(end);
            }
        }
    }

    /// Asks the model once, and makes the calls that it asks for. None, if the model is to be asked again.
    async fn step(&mut self, figures: &mut TurnFigures) -> Result<Option<TurnEnd>> {
        let conversation = self.conversation();
        figures.dropped_messages = conversation.dropped_messages;
        self.live.tell(MessageWriter::begin_step);
        let mut asked = AskedCalls::new(&self.live, &self.toolkit);
        let request = request(&self.agent, &self.access, &self.toolkit, &conversation);
        let silence = ChatTimes::of(self.scope.app().settings()).silence();
        let asking = asking::ask(self.scope.app(), &self.access, request, silence, |deltas| asked.tell(deltas));
        let answer = match self.stop.or_work(&self.live, Box::pin(asking)).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(sentence)) => return Ok(Some(TurnEnd::Failed(sentence))),
            Err((interruption, _)) => return Ok(Some(TurnEnd::Interrupted(interruption))),
        };
        add_usage(&mut figures.usage, answer.usage);
        let finish = answer.finish;
        let planned = asked.plan(answer)?;
        if planned.is_empty() {
            self.live.tell(MessageWriter::end_step);
            return Ok(Some(TurnEnd::Answered(finish)));
        }
        self.save().await?;
        let interruption = self.make_calls(&planned).await?;
        self.save().await?;
        self.live.tell(MessageWriter::end_step);
        let (bytes, waits) = {
            let writer = self.live.writer.borrow();
            (writer.parts().iter().map(Part::bytes).sum::<usize>(), writer.parts().iter().any(Part::waits))
        };
        Ok(match interruption {
            Some(interruption) => Some(TurnEnd::Interrupted(interruption)),
            None if waits => Some(TurnEnd::Waits),
            None if bytes > STEP_BEGINS_BELOW_BYTES => Some(TurnEnd::TooLarge),
            None => None,
        })
    }

    /// The messages for the model: the conversation, and the turn so far.
    fn conversation(&self) -> Conversation {
        let writer = self.live.writer.borrow();
        let stored =
            self.history.iter().map(|it| HistoryMessage { role: it.role, parts: &it.parts, ended_by: it.ended_by() });
        let own = HistoryMessage { role: Role::Assistant, parts: writer.parts(), ended_by: None };
        let history = stored.chain((!own.parts.is_empty()).then_some(own)).collect::<Vec<_>>();
        let budget = (self.access.context_tokens as usize).saturating_sub(self.toolkit.tokens());
        conversation(self.agent.profile.system_prompt.as_deref(), &history, budget)
    }

    /// Makes the calls of a step. Fails if the caller may go on no longer.
    async fn make_calls(&mut self, planned: &[PlannedCall]) -> Result<Option<Interruption>> {
        if self.live.is_dismissed() {
            return Ok(Some(Interruption::Stopped));
        }
        let context = CallContext {
            scope: &self.scope,
            live: &self.live,
            agent: &self.agent.id,
            session: &self.kept.session,
            message: &self.kept.message_id,
            user_id: self.kept.user_id.as_deref(),
        };
        let running = Box::pin(calls::run(&context, planned));
        let (made, interruption) = match patiently(&mut self.stop, &self.live, running).await {
            Waited::Done(made) => (Some(made), None),
            Waited::Interrupted(interruption, made) => (made, Some(interruption)),
        };
        if let Some(Err(error)) = made {
            if let Error::Internal(cause) = &error {
                console_error!("calls of the session {} failed: {cause}", self.kept.session);
            }
            self.live.tell(|it| it.interrupt(&format!("The call could not be made: {error}")));
            if matches!(error, Error::Unauthorized(_)) {
                return Err(error);
            }
        }
        Ok(interruption)
    }

    async fn save(&mut self) -> Result<()> {
        if self.live.is_dismissed() {
            return Err(Error::Conflict("The turn was given up".into()));
        }
        let parts = self.live.writer.borrow().parts().to_vec();
        self.memory.save(&parts).await
    }
}

/// What became of work that a turn has waited for.
enum Waited<T> {
    Done(T),
    /// The turn is to end. The work has been done meanwhile, unless it took too long: such a call has an object of its own,
    /// which records it.
    Interrupted(Interruption, Option<T>),
}

/// Waits for calls that are being made. A turn that is interrupted meanwhile tells its clients at once, but waits for the calls:
/// a tool that has acted must be in the message.
async fn patiently<W: Future + Unpin>(stop: &mut StopSignal, live: &LiveTurn, work: W) -> Waited<W::Output> {
    match stop.or_work(live, work).await {
        Ok(done) => Waited::Done(done),
        Err((interruption, work)) => {
            // Calls that have not begun are refused.
            live.stop();
            live.end_streams_with(|it| tell_interruption(it, interruption));
            match select(work, Delay::from(PATIENCE)).await {
                Either::Left((done, _)) => Waited::Interrupted(interruption, Some(done)),
                Either::Right(_) => Waited::Interrupted(interruption, None),
            }
        }
    }
}

/// What the model is asked.
fn request<'a>(
    agent: &'a Agent,
    access: &'a ModelAccess,
    toolkit: &'a Toolkit,
    conversation: &'a Conversation,
) -> ModelRequest<'a> {
    let streams = match access.streaming {
        ModelStreaming::Always => true,
        ModelStreaming::WithoutTools => toolkit.exported.is_empty(),
        ModelStreaming::Never => false,
    };
    ModelRequest {
        model: &access.model,
        messages: &conversation.messages,
        tools: &toolkit.exported,
        temperature: agent.profile.temperature,
        streaming: if streams { Streaming::WithUsage } else { Streaming::Off },
    }
}

/// How many steps the message has.
pub fn count_steps(writer: &MessageWriter) -> usize {
    writer.parts().iter().filter(|it| matches!(it, Part::StepStart)).count()
}

fn add_usage(sum: &mut Option<Usage>, more: Option<Usage>) {
    if let Some(more) = more {
        let sum = sum.get_or_insert_default();
        sum.input_tokens += more.input_tokens;
        sum.output_tokens += more.output_tokens;
        sum.total_tokens += more.total_tokens;
    }
}
