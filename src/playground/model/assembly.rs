//! Puts an answer together from its chunks, within limits.

use super::answer::{ModelAnswer, ModelDelta, corrected, is_cut};
use super::calls::Calls;
use super::chunk::Chunk;
use super::fault::ModelFault;
use crate::formats::calls::MAX_CALLS;
use crate::playground::part::{FinishReason, Usage};

/// How large an answer may be.
#[derive(Clone, Copy, Debug)]
pub struct ModelLimits {
    /// Text and reasoning together.
    pub text_bytes: usize,
    /// The arguments of one call.
    pub argument_bytes: usize,
    pub calls: usize,
    /// One piece of a stream, or a whole document, with all that is around the answer.
    pub document_bytes: usize,
}

impl Default for ModelLimits {
    fn default() -> Self {
        Self {
            text_bytes: 1024 * 1024,
            argument_bytes: 256 * 1024,
            calls: MAX_CALLS,
            // A text of the largest size, if most of its characters are escaped.
            document_bytes: 4 * 1024 * 1024,
        }
    }
}

pub struct Assembly {
    limits: ModelLimits,
    /// How many bytes of text and reasoning have been told.
    text_bytes: usize,
    calls: Calls,
    finish: Option<FinishReason>,
    usage: Option<Usage>,
    is_answer: bool,
    is_bare: bool,
}

/// How the body of an answer ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BodyEnd {
    /// A document is whole.
    Document,
    /// A stream ended with `[DONE]`.
    Done,
    /// A stream ended without it, as some servers do.
    Silent,
}

impl Assembly {
    pub fn new(limits: ModelLimits) -> Self {
        Self {
            limits,
            text_bytes: 0,
            calls: Calls::default(),
            finish: None,
            usage: None,
            is_answer: false,
            is_bare: false,
        }
    }

    /// Adds a chunk, and tells what is new.
    pub fn take(&mut self, chunk: Chunk, deltas: &mut Vec<ModelDelta>) -> Result<(), ModelFault> {
        self.is_answer |= chunk.is_answer;
        self.is_bare |= chunk.is_bare;
        // Some servers count in every chunk: the last one counts all.
        self.usage = chunk.usage.or(self.usage);
        self.finish = chunk.finish.or(self.finish);
        self.text_bytes += chunk.text.len() + chunk.reasoning.len();
        if self.text_bytes > self.limits.text_bytes {
            return Err(ModelFault::TooLarge("the text"));
        }
        if !chunk.reasoning.is_empty() {
            deltas.push(ModelDelta::Reasoning(chunk.reasoning));
        }
        if !chunk.text.is_empty() {
            deltas.push(ModelDelta::Text(chunk.text));
        }
        chunk.calls.into_iter().try_for_each(|it| self.calls.take(it, &self.limits, deltas))
    }

    /// Whether any chunk was a piece of an answer.
    pub fn is_answer(&self) -> bool {
        self.is_answer
    }

    pub fn end(self, body: BodyEnd, deltas: &mut Vec<ModelDelta>) -> Result<ModelAnswer, ModelFault> {
        let is_whole = match body {
            BodyEnd::Document => true,
            BodyEnd::Done => self.is_bare,
            BodyEnd::Silent => false,
        };
        let finish = self.finish.or(is_whole.then_some(FinishReason::Stop)).ok_or(ModelFault::BrokenOff)?;
        let finish = corrected(finish, !self.calls.is_empty());
        let calls = if is_cut(finish) { Vec::new() } else { self.calls.end(deltas) };
        Ok(ModelAnswer { calls, finish, usage: self.usage })
    }
}
