//! How many calls are let in: some run, a few more wait for a short time, and the rest is told to come again.

use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// How many wait, for each that runs.
const QUEUE_PER_SLOT: usize = 8;
const MAX_WAIT: Duration = Duration::from_secs(2);

pub struct Gate {
    slots: Arc<Semaphore>,
    /// One for each call that runs or waits.
    tickets: Arc<Semaphore>,
    size: usize,
}

/// There is no room.
#[derive(Debug)]
pub struct Full;

/// The right to wait. Taken before a body is read, so that bodies in memory are as few as calls.
#[expect(dead_code, reason = "held for its drop")]
pub struct Ticket(OwnedSemaphorePermit);

/// The right to run, held until the child is dead.
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
