//! Takes turns in holding large values, for calls that run side by side in one request. An isolate has 128 MB for all of its
//! requests. A call with a result of 10 MiB needs some 60 MB until its record is written: several at once would not fit.

use std::future::poll_fn;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::task::Poll;

/// From how many bytes on a value is large.
pub const LARGE_BYTES: usize = 1024 * 1024;

/// Calls are numbered from 1. A request with a single call has no numbers, and never waits.
#[derive(Default)]
pub struct MemoryTurn {
    /// The call that is being polled.
    current: AtomicU32,
    /// The call whose turn it is.
    holder: AtomicU32,
}

impl MemoryTurn {
    /// Polls something as part of the call with this number.
    pub fn as_call<T>(&self, number: u32, poll: impl FnOnce() -> T) -> T {
        self.current.store(number, Relaxed);
        let polled = poll();
        self.current.store(0, Relaxed);
        polled
    }

    /// Waits until no other call holds large values. From then on, the present call is the one that does, until it ends.
    ///
    /// This wakes nobody: whoever polls the calls of a request polls all of them again when one has ended.
    pub async fn take(&self) {
        poll_fn(|_| {
            let current = self.current.load(Relaxed);
            match self.holder.load(Relaxed) {
                _ if current == 0 => Poll::Ready(()),
                0 => {
                    self.holder.store(current, Relaxed);
                    Poll::Ready(())
                }
                holder if holder == current => Poll::Ready(()),
                _ => Poll::Pending,
            }
        })
        .await;
    }

    /// Ends the turn of a call, if it was its turn.
    pub fn end(&self, number: u32) {
        if self.holder.load(Relaxed) == number {
            self.holder.store(0, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::task::{Context, Waker};

    #[test]
    fn one_call_after_the_other_has_its_turn() {
        let turn = MemoryTurn::default();
        let poll = |number: u32| {
            turn.as_call(number, || pin!(turn.take()).poll(&mut Context::from_waker(Waker::noop())).is_ready())
        };
        assert!(poll(0) && poll(0), "a single call never waits");
        assert!(poll(1) && poll(1));
        assert!(!poll(2));
        turn.end(2);
        assert!(!poll(2), "only the holder ends its turn");
        turn.end(1);
        assert!(poll(2) && !poll(1));
    }
}
