//! Reads the body of a reply: as one text, or event by event.

use super::exchange::ReplyBody;
use super::failure::FailureCause;
use crate::event_reader::{EventReader, StreamEvent};
use crate::memory_turn::{LARGE_BYTES, MemoryTurn};
use std::collections::VecDeque;

/// The largest event: a result of 10 MiB, and what is around it.
const MAX_EVENT_BYTES: usize = 10 * 1024 * 1024 + 64 * 1024;

/// The whole body, if it is text of at most `max_bytes`. A large body is read when it is the call's turn.
pub async fn text<B: ReplyBody>(body: &mut B, max_bytes: usize, turn: &MemoryTurn) -> Result<String, FailureCause> {
    let mut bytes = Vec::new();
    while let Some(piece) = body.next().await? {
        if bytes.is_empty() {
            bytes = piece;
        } else {
            bytes.extend_from_slice(&piece);
        }
        if bytes.len() > max_bytes {
            return Err(FailureCause::TooLarge("bytes".to_owned()));
        }
        if bytes.len() > LARGE_BYTES {
            turn.take().await;
        }
    }
    String::from_utf8(bytes).map_err(|_| FailureCause::NotText)
}

/// A body that is a stream of events.
pub struct EventBody<B> {
    body: B,
    reader: EventReader,
    /// Events that have arrived and were not asked for yet.
    arrived: VecDeque<StreamEvent>,
    /// How many bytes of unfinished events have arrived.
    bytes: usize,
}

impl<B: ReplyBody> EventBody<B> {
    pub fn of(body: B) -> Self {
        Self { body, reader: EventReader::new(MAX_EVENT_BYTES), arrived: VecDeque::new(), bytes: 0 }
    }

    /// The next event. None at the end.
    pub async fn next(&mut self, turn: &MemoryTurn) -> Result<Option<StreamEvent>, FailureCause> {
        loop {
            if let Some(event) = self.arrived.pop_front() {
                return Ok(Some(event));
            }
            let Some(piece) = self.body.next().await? else { return Ok(None) };
            let events = self.reader.read(&piece)?;
            self.bytes = if events.is_empty() { self.bytes + piece.len() } else { 0 };
            if self.bytes > LARGE_BYTES {
                turn.take().await;
            }
            self.arrived.extend(events);
        }
    }

    /// Where the stream was, for going on after its end.
    pub fn last_id(&self) -> Option<&str> {
        self.reader.last_id.as_deref()
    }

    pub fn retry_millis(&self) -> Option<u64> {
        self.reader.retry_millis
    }
}
