//! The live stream of a turn: every client that listens gets each event. A client that leaves takes nothing away from the
//! others, and a client that reads too slowly is cut off and may come back. The number of clients is bounded, because each
//! of them may have bytes that wait.

use futures_util::future::{Either, select};
use futures_util::stream::{self, Stream};
use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::pin;
use std::rc::{Rc, Weak};
use std::task::{Poll, Waker};

/// How many bytes wait for one client at most.
const MAX_WAITING_BYTES: usize = 4 * 1024 * 1024;

/// How many clients listen at the same time at most. Together with the bytes that wait for each of them, this is a quarter of
/// an isolate's memory.
pub const MAX_LISTENERS: usize = 8;

#[derive(Default)]
pub struct Broadcast {
    listeners: RefCell<Vec<Weak<RefCell<Listener>>>>,
    has_ended: RefCell<bool>,
}

/// The events that one client has not read yet.
#[derive(Default)]
struct Listener {
    waiting: Vec<u8>,
    has_ended: bool,
    waker: Option<Waker>,
}

impl Listener {
    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

impl Broadcast {
    /// Tells all clients. Nothing is told after the end.
    pub fn send(&self, events: &[u8]) {
        if events.is_empty() || *self.has_ended.borrow() {
            return;
        }
        self.for_each(|listener| {
            if listener.waiting.len() + events.len() > MAX_WAITING_BYTES {
                // The rest of the stream would be wrong without these events, so the stream ends here.
                listener.has_ended = true;
            } else if !listener.has_ended {
                listener.waiting.extend_from_slice(events);
            }
        });
    }

    /// Ends the stream of every client.
    pub fn end(&self) {
        *self.has_ended.borrow_mut() = true;
        self.for_each(|listener| listener.has_ended = true);
    }

    fn for_each(&self, mut change: impl FnMut(&mut Listener)) {
        self.listeners.borrow_mut().retain(|it| match it.upgrade() {
            Some(listener) => {
                let mut listener = listener.borrow_mut();
                change(&mut listener);
                listener.wake();
                true
            }
            None => false,
        });
    }

    /// The stream of a new client: `first`, then everything that is told from now on. `pause` gives a future for the time
    /// after which a silent stream sends `keep_alive`. None, if too many clients listen already.
    pub fn listen<P: Future + 'static, F: Fn() -> P + 'static>(
        &self,
        first: Vec<u8>,
        keep_alive: &'static [u8],
        pause: F,
    ) -> Option<impl Stream<Item = Vec<u8>> + 'static + use<P, F>> {
        let has_ended = *self.has_ended.borrow();
        let listener = Rc::new(RefCell::new(Listener { waiting: first, has_ended, waker: None }));
        let mut listeners = self.listeners.borrow_mut();
        listeners.retain(|it| it.strong_count() > 0);
        if listeners.len() >= MAX_LISTENERS {
            return None;
        }
        listeners.push(Rc::downgrade(&listener));
        Some(stream::unfold((listener, pause), move |(listener, pause)| async move {
            let next = match select(pin!(next(&listener)), pin!(pause())).await {
                Either::Left((next, _)) => next?,
                Either::Right(_) => keep_alive.to_vec(),
            };
            Some((next, (listener, pause)))
        }))
    }

    /// Waits for the end of the stream.
    pub async fn ended(&self) {
        let listener = Rc::new(RefCell::new(Listener { has_ended: *self.has_ended.borrow(), ..Listener::default() }));
        self.listeners.borrow_mut().push(Rc::downgrade(&listener));
        while next(&listener).await.is_some() {}
    }
}

/// The events that wait for a client, as soon as there are some. None at the end.
async fn next(listener: &RefCell<Listener>) -> Option<Vec<u8>> {
    poll_fn(|context| {
        let mut listener = listener.borrow_mut();
        if !listener.waiting.is_empty() {
            return Poll::Ready(Some(std::mem::take(&mut listener.waiting)));
        }
        if listener.has_ended {
            return Poll::Ready(None);
        }
        listener.waker = Some(context.waker().clone());
        Poll::Pending
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::future::{FutureExt, pending, ready};
    use futures_util::stream::StreamExt;

    fn listen(broadcast: &Broadcast, first: &str) -> impl Stream<Item = Vec<u8>> + 'static + use<> {
        broadcast.listen(first.as_bytes().to_vec(), b": keep-alive\n\n", pending::<()>).unwrap()
    }

    #[test]
    fn every_client_gets_every_event_after_it_came() {
        let broadcast = Broadcast::default();
        let mut early = pin!(listen(&broadcast, ""));
        broadcast.send(b"a");
        let mut late = pin!(listen(&broadcast, "A"));
        broadcast.send(b"b");
        assert_eq!(early.next().now_or_never(), Some(Some(b"ab".to_vec())));
        assert_eq!(late.next().now_or_never(), Some(Some(b"Ab".to_vec())));
        assert_eq!(late.next().now_or_never(), None);
        broadcast.send(b"c");
        broadcast.end();
        broadcast.send(b"never");
        assert_eq!(late.next().now_or_never(), Some(Some(b"c".to_vec())));
        assert_eq!(late.next().now_or_never(), Some(None));
        assert_eq!(broadcast.ended().now_or_never(), Some(()));
    }

    #[test]
    fn a_client_that_left_is_forgotten_and_a_slow_one_is_cut_off() {
        let broadcast = Broadcast::default();
        drop(listen(&broadcast, ""));
        let mut slow = pin!(listen(&broadcast, ""));
        let piece = vec![b'x'; 1024 * 1024];
        for _ in 0..6 {
            broadcast.send(&piece);
        }
        assert_eq!(broadcast.listeners.borrow().len(), 1);
        assert_eq!(slow.next().now_or_never().flatten().map(|it| it.len()), Some(4 * piece.len()));
        assert_eq!(slow.next().now_or_never(), Some(None), "no event is left out in the middle");
    }

    #[test]
    fn one_client_too_many_is_refused_until_another_leaves() {
        let broadcast = Broadcast::default();
        let mut clients = (0..MAX_LISTENERS).map(|_| listen(&broadcast, "")).collect::<Vec<_>>();
        assert!(broadcast.listen(Vec::new(), b"", pending::<()>).is_none());
        clients.pop();
        clients.push(listen(&broadcast, ""));
        assert!(broadcast.listen(Vec::new(), b"", pending::<()>).is_none());
        assert_eq!(broadcast.ended().now_or_never(), None, "whoever waits for the end is no client");
    }

    #[test]
    fn a_silent_stream_is_kept_alive() {
        let broadcast = Broadcast::default();
        let mut stream = pin!(broadcast.listen(Vec::new(), b": keep-alive\n\n", || ready(())).unwrap());
        assert_eq!(stream.next().now_or_never(), Some(Some(b": keep-alive\n\n".to_vec())));
    }
}
