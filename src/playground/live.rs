//! A turn that is under way, as the clients and the object see it: its stream, its message so far, and the switch that stops
//! it.

use super::broadcast::{Broadcast, MAX_LISTENERS};
use super::memory::now;
use super::times::ChatTimes;
use super::ui::{DONE, KEEP_ALIVE, MessageWriter};
use crate::error::{Error, Result};
use futures_util::future::{AbortHandle, AbortRegistration, Abortable, Either, select};
use futures_util::stream::Stream;
use std::cell::{Cell, RefCell};
use std::pin::pin;
use std::time::Duration;
use worker::Delay;

/// A client that comes back gets the message so far, up to so many bytes.
const MAX_REPLAYED_BYTES: usize = 1024 * 1024;

pub struct LiveTurn {
    pub writer: RefCell<MessageWriter>,
    broadcast: Broadcast,
    /// Ends with the turn. The streams may end before.
    over: Broadcast,
    /// The events with which the streams have ended before the message.
    last_words: RefCell<Vec<u8>>,
    stop: AbortHandle,
    is_stopped: Cell<bool>,
    /// Whether the object has given the turn up. The turn may still run, but what it does counts no more.
    is_dismissed: Cell<bool>,
    /// When the turn must have ended, in milliseconds since 1970.
    deadline: u64,
    times: ChatTimes,
    /// The generation of the session.
    pub generation: u32,
    /// The response to clients that want one JSON document. It is here before the turn is over.
    pub whole: RefCell<Option<String>>,
}

/// Why a turn is to end early.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Interruption {
    Stopped,
    OutOfTime,
}

impl LiveTurn {
    /// The turn, and what [`LiveTurn::interrupted`] waits for.
    pub fn new(writer: MessageWriter, generation: u32, seconds: u32, times: ChatTimes) -> (Self, AbortRegistration) {
        let (stop, registration) = AbortHandle::new_pair();
        let turn = Self {
            writer: RefCell::new(writer),
            broadcast: Broadcast::default(),
            over: Broadcast::default(),
            last_words: RefCell::default(),
            stop,
            is_stopped: Cell::new(false),
            is_dismissed: Cell::new(false),
            deadline: now() + 1_000 * u64::from(seconds),
            times,
            generation,
            whole: RefCell::new(None),
        };
        (turn, registration)
    }

    /// Changes the message, and tells all clients.
    pub fn tell(&self, change: impl FnOnce(&mut MessageWriter) -> Vec<u8>) {
        let events = change(&mut self.writer.borrow_mut());
        self.broadcast.send(&events);
    }

    /// Ends the streams of all clients. The turn may still write its message.
    fn end_streams(&self) {
        self.broadcast.send(DONE);
        self.broadcast.end();
    }

    /// Ends the streams of all clients with `last`, while the message goes on. `last` gets a writer without parts, because the
    /// message itself has not ended.
    pub fn end_streams_with(&self, last: impl FnOnce(&mut MessageWriter) -> Vec<u8>) {
        let mut writer = self.writer.borrow().without_parts();
        let mut last_words = last(&mut writer);
        self.broadcast.send(&last_words);
        self.end_streams();
        last_words.extend_from_slice(DONE);
        *self.last_words.borrow_mut() = last_words;
    }

    /// The stream for the client that begins the turn. The client has the message already, if the turn goes on with one.
    pub fn listen(&self) -> Result<impl Stream<Item = Vec<u8>> + 'static + use<>> {
        let first = self.writer.borrow().start();
        self.stream_from(first)
    }

    /// The stream for a client that comes back: the message so far, and everything after it.
    pub fn listen_again(&self) -> Result<impl Stream<Item = Vec<u8>> + 'static + use<>> {
        let mut first = self.writer.borrow().replay(MAX_REPLAYED_BYTES);
        first.extend_from_slice(&self.last_words.borrow());
        self.stream_from(first)
    }

    fn stream_from(&self, first: Vec<u8>) -> Result<impl Stream<Item = Vec<u8>> + 'static + use<>> {
        let silence = self.times.keep_alive();
        let stream = self.broadcast.listen(first, KEEP_ALIVE, move || Delay::from(silence));
        stream.ok_or_else(|| {
            Error::Conflict(format!(
                "{MAX_LISTENERS} clients listen to this turn already: wait until one of them leaves"
            ))
        })
    }

    /// Says that the turn is over: its message is stored, or will be by the alarm.
    pub fn end(&self) {
        self.end_streams();
        self.over.end();
    }

    /// Waits for the end of the turn.
    pub async fn ended(&self) {
        self.over.ended().await;
    }

    pub fn stop(&self) {
        self.is_stopped.set(true);
        self.stop.abort();
    }

    pub fn is_stopped(&self) -> bool {
        self.is_stopped.get()
    }

    /// Whether the turn should have ended long ago.
    pub fn hangs(&self) -> bool {
        Duration::from_millis(now().saturating_sub(self.deadline)) > self.times.grace()
    }

    /// Gives up a turn that hangs. It keeps nothing more, stores nothing more and begins no call, because another turn may
    /// have begun when it wakes up.
    pub fn dismiss(&self, sentence: &str) {
        self.is_dismissed.set(true);
        self.stop();
        self.tell(|it| it.error(sentence));
        self.end();
    }

    pub fn is_dismissed(&self) -> bool {
        self.is_dismissed.get()
    }

    /// How much of the turn's time is left.
    pub fn time_left(&self) -> Duration {
        Duration::from_millis(self.deadline.saturating_sub(now()))
    }
}

/// The signal that ends a turn early. Only the turn itself waits for it.
pub struct StopSignal(Abortable<std::future::Pending<()>>);

impl StopSignal {
    pub fn new(registration: AbortRegistration) -> Self {
        Self(Abortable::new(std::future::pending(), registration))
    }

    /// The result of `work`, or the reason why the turn is to end before `work` is done. Then the rest of the work is given
    /// back.
    pub async fn or_work<W: Future + Unpin>(
        &mut self,
        turn: &LiveTurn,
        work: W,
    ) -> std::result::Result<W::Output, (Interruption, W)> {
        if turn.is_stopped() {
            return Err((Interruption::Stopped, work));
        }
        let interrupted = async {
            match select(&mut self.0, Delay::from(turn.time_left())).await {
                Either::Left(_) => Interruption::Stopped,
                Either::Right(_) => Interruption::OutOfTime,
            }
        };
        match select(work, pin!(interrupted)).await {
            Either::Left((done, _)) => Ok(done),
            Either::Right((interruption, work)) => Err((interruption, work)),
        }
    }
}
