//! The queue of calls: some calls run, a few more wait for a short time, and the rest is refused with the advice to
//! retry.

use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// How many calls may wait for each slot.
const QUEUE_PER_SLOT: usize = 8;
const MAX_WAIT: Duration = Duration::from_secs(2);

pub struct Gate {
    slots: Arc<Semaphore>,
    /// One permit for each call that runs or waits.
    tickets: Arc<Semaphore>,
    size: usize,
}

/// The queue is full.
#[derive(Debug)]
pub struct Full;

/// The permit to wait. A request takes it before its body is read, so that memory never holds more bodies than calls.
#[expect(dead_code, reason = "held for its drop")]
pub struct Ticket(OwnedSemaphorePermit);

/// The permit to run, held until the child is dead.
#[expect(dead_code, reason = "held for its drop")]
pub struct Slot(OwnedSemaphorePermit, Ticket);

impl Gate {
    pub fn new(size: usize) -> Self {
        let tickets = size + size * QUEUE_PER_SLOT;
        Self { slots: Arc::new(Semaphore::new(size)), tickets: Arc::new(Semaphore::new(tickets)), size }
    }

    pub fn ticket(&self) -> Result<Ticket, Full> {
        self.tickets.clone().try_acquire_owned().map(Ticket).map_err(|_| Full)
    }

    pub async fn slot(&self, ticket: Ticket) -> Result<Slot, Full> {
        match timeout(MAX_WAIT, self.slots.clone().acquire_owned()).await {
            Ok(Ok(permit)) => Ok(Slot(permit, ticket)),
            Ok(Err(_)) | Err(_) => Err(Full),
        }
    }

    pub fn slots(&self) -> usize {
        self.size
    }

    pub fn queue(&self) -> usize {
        self.size * QUEUE_PER_SLOT
    }

    pub fn running(&self) -> usize {
        self.size - self.slots.available_permits()
    }

    pub fn waiting(&self) -> usize {
        (self.size + self.queue() - self.tickets.available_permits()).saturating_sub(self.running())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn it_fills_and_empties() {
        let gate = Gate::new(1);
        let slot = gate.slot(gate.ticket().unwrap()).await.unwrap();
        let waiting: Vec<_> = (0..8).map(|_| gate.ticket().unwrap()).collect();
        assert_eq!((gate.running(), gate.waiting()), (1, 8));
        assert!(gate.ticket().is_err());
        let mut waiting = waiting.into_iter();
        assert!(gate.slot(waiting.next().unwrap()).await.is_err(), "nobody waits for long");
        drop(slot);
        assert!(gate.slot(waiting.next().unwrap()).await.is_ok());
        drop(waiting);
        assert_eq!((gate.running(), gate.waiting()), (0, 0));
    }
}
