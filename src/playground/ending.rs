//! The end of a turn: its message is stored, and the clients are told.

use super::fit::fitted;
use super::kept::{KeptEnd, KeptTurn};
use super::live::Interruption;
use super::memory::now;
use super::messages::{self, Message};
use super::part::{FinishReason, Usage};
use super::turn::{Turn, count_steps};
use super::ui::MessageWriter;
use super::whole::WholeTurn;
use crate::error::Result;
use serde_json::{Map, Value, json};
use worker::console_error;

/// How a turn ended.
pub enum TurnEnd {
    /// The model has answered.
    Answered(FinishReason),
    /// Calls wait for their approvals.
    Waits,
    StepLimit,
    TooLarge,
    Interrupted(Interruption),
    /// The sentence is for the person in the chat.
    Failed(String),
}

/// Figures about a turn, for the message's metadata.
pub struct TurnFigures {
    pub usage: Option<Usage>,
    /// How many of the messages that were read the model did not get.
    pub dropped_messages: usize,
}

impl Turn {
    /// Stores the message, and tells the clients of the end. Returns whether the message is stored, or can never be.
    pub async fn finish(&mut self, end: TurnEnd, figures: &TurnFigures) -> bool {
        self.live.tell(|it| it.interrupt("The turn ended before the call did"));
        let reason = match &end {
            TurnEnd::Answered(reason) => *reason,
            TurnEnd::Waits => FinishReason::ToolCalls,
            TurnEnd::StepLimit => FinishReason::Other,
            TurnEnd::TooLarge => FinishReason::Length,
            TurnEnd::Interrupted(Interruption::Stopped) => FinishReason::Other,
            TurnEnd::Interrupted(Interruption::OutOfTime) | TurnEnd::Failed(_) => FinishReason::Error,
        };
        let mut metadata = self.metadata(&end, figures);
        let kept_end = KeptEnd {
            finish_reason: Some(reason),
            usage: figures.usage,
            metadata: Some(metadata.clone().into()),
            may_go_on: !matches!(end, TurnEnd::Interrupted(Interruption::Stopped)),
        };
        let parts = fitted(self.live.writer.borrow().parts().to_vec());
        let mut message = self.kept.message(parts, &kept_end, self.scope.app().clock());
        let Some(stored) = self.store(&mut message, &kept_end).await else { return true };
        let is_settled = match &stored {
            Ok(()) => self.forget(self.kept.waiting_after(&kept_end, &message.parts, now())).await,
            Err(error) if messages::is_final(error) => self.forget(self.kept.waiting_unstored(error, now())).await,
            // The object's storage still has the turn, and the alarm tries again.
            Err(cause) => {
                console_error!("the message {} is not stored yet: {cause:?}", message.id);
                false
            }
        };
        if self.scope.app().settings().cost_header {
            metadata.insert("d1_cost".into(), self.scope.app().cost().to_string().into());
            message.metadata = Some(metadata.clone().into());
        }
        let unstored = stored.as_ref().err().map(|error| match messages::is_final(error) {
            true => error.to_string(),
            false => "The message could not be stored; it will be tried again".to_owned(),
        });
        if let Some(sentence) = &unstored {
            metadata.insert("ended_by".into(), sentence.as_str().into());
            message.finish_reason = Some(FinishReason::Error);
            message.metadata = Some(metadata.clone().into());
        }
        *self.live.whole.borrow_mut() = Some(WholeTurn::new(&self.kept.session, message).to_json());
        match (unstored, &end) {
            (Some(sentence), _) => self.live.tell(|it| it.error(&sentence)),
            (None, TurnEnd::Interrupted(interruption)) => self.live.tell(|it| tell_interruption(it, *interruption)),
            (None, TurnEnd::Failed(sentence)) => self.live.tell(|it| it.error(sentence)),
            (None, TurnEnd::Answered(_) | TurnEnd::Waits | TurnEnd::StepLimit | TurnEnd::TooLarge) => {
                self.live.tell(|it| it.finish(reason, &metadata.into()));
            }
        }
        is_settled
    }

    /// Stores the message in D1. None, if the turn was given up: its message is stored already, and the object's storage may
    /// belong to another turn.
    async fn store(&mut self, message: &mut Message, end: &KeptEnd) -> Option<Result<()>> {
        if self.live.is_dismissed() {
            return None;
        }
        // After a crash the message is stored from here, so it must be whole.
        let kept = match self.memory.save(&message.parts).await {
            Ok(()) if self.live.is_dismissed() => return None,
            Ok(()) => self.memory.keep_end(end).await,
            Err(error) => Err(error),
        };
        if let Err(cause) = kept {
            console_error!("the end of the message {} is not kept: {cause:?}", message.id);
        }
        if self.live.is_dismissed() {
            return None;
        }
        let stored = messages::store_answer(&self.scope, &self.kept.session, self.kept.generation, message).await;
        (!self.live.is_dismissed()).then_some(stored)
    }

    /// Forgets the turn, because its message is stored or can never be. `waiting` is kept until its approvals are decided.
    async fn forget(&mut self, waiting: Option<KeptTurn>) -> bool {
        let forgotten = self.memory.end(waiting.as_ref()).await;
        forgotten.inspect_err(|cause| console_error!("a turn is not forgotten: {cause:?}")).is_ok()
    }

    fn metadata(&self, end: &TurnEnd, figures: &TurnFigures) -> Map<String, Value> {
        let mut metadata = Map::new();
        metadata.insert("model".into(), self.access.model.as_str().into());
        metadata.insert("steps".into(), count_steps(&self.live.writer.borrow()).into());
        metadata.insert("usage".into(), json!(figures.usage));
        let dropped = figures.dropped_messages + self.older_messages as usize;
        if dropped > 0 {
            metadata.insert("dropped_messages".into(), dropped.into());
        }
        if self.toolkit.is_cut {
            metadata.insert("tools_left_out".into(), true.into());
        }
        let ended_by = match end {
            // The turn of a message that waits goes on later, and clients merge the metadata of both ends.
            TurnEnd::Answered(_) | TurnEnd::Waits => None,
            TurnEnd::StepLimit => Some(format!("The turn ended after {} steps (max_steps)", self.max_steps())),
            TurnEnd::TooLarge => Some("The turn ended because its message had grown too large".to_owned()),
            TurnEnd::Interrupted(interruption) => Some(sentence_of(*interruption).to_owned()),
            TurnEnd::Failed(sentence) => Some(sentence.clone()),
        };
        if let Some(sentence) = ended_by {
            metadata.insert("ended_by".into(), sentence.into());
        }
        metadata
    }
}

/// Tells the clients that the turn ends early.
pub fn tell_interruption(writer: &mut MessageWriter, interruption: Interruption) -> Vec<u8> {
    match interruption {
        Interruption::Stopped => writer.abort(sentence_of(interruption)),
        Interruption::OutOfTime => writer.error(sentence_of(interruption)),
    }
}

const fn sentence_of(interruption: Interruption) -> &'static str {
    match interruption {
        Interruption::Stopped => "The turn was stopped",
        Interruption::OutOfTime => "The turn took longer than its time (TURN_SECONDS)",
    }
}
