//! The queue of calls: some calls run, a few more wait for a short time, and the rest is refused with the advice to
//! retry.
//!
//! Each call belongs to a share, for example a workspace. A share may use all slots while no other share waits. As soon
//! as a call of another share waits, a share that holds more than half of the slots gives a slot back: its youngest call
//! is stopped, and waits for a slot again. Code leaves no trace, so a stopped call can simply be run from its beginning.
//!
//! A call on files leaves a trace, and is never stopped for another call. So the second room's gate never gives a share more
//! than half of the slots.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::timeout;

/// How many calls may wait for each slot.
const QUEUE_PER_SLOT: usize = 8;
const MAX_WAIT: Duration = Duration::from_secs(2);

#[derive(Clone)]
pub struct Gate {
    state: Arc<Mutex<State>>,
    size: usize,
    /// Whether calls can be stopped, and run again from their beginning.
    can_stop: bool,
}

#[derive(Default)]
struct State {
    /// How many calls run or wait, or are being received.
    tickets: usize,
    running: Vec<Running>,
    waiting: VecDeque<Waiting>,
    /// The shares of the calls that run or wait, one for each call.
    shares: Vec<Arc<str>>,
    /// The number of the next slot.
    next: u64,
}

struct Running {
    number: u64,
    share: Arc<str>,
    /// Tells the call to stop. None once the call has been told.
    stop: Option<oneshot::Sender<()>>,
}

struct Waiting {
    share: Arc<str>,
    slot: oneshot::Sender<Slot>,
}

/// Why a call gets no slot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Full {
    /// All slots are taken, and the queue is full or did not move.
    Busy,
    /// The share has as many calls as it may have while other shares have calls too.
    Share,
}

/// The permit to wait. A request takes it before its body is read, so that memory never holds more bodies than calls.
pub struct Ticket {
    gate: Gate,
    /// Unknown until the body has been read.
    share: Option<Arc<str>>,
}

/// The permit to run, held until the child is dead.
pub struct Slot {
    gate: Gate,
    number: u64,
    stopped: Option<oneshot::Receiver<()>>,
}

impl Gate {
    pub fn new(size: usize) -> Self {
        Self { state: Arc::default(), size, can_stop: true }
    }

    /// A gate of calls that are never stopped.
    pub fn without_stops(size: usize) -> Self {
        Self { can_stop: false, ..Self::new(size) }
    }

    pub fn ticket(&self) -> Result<Ticket, Full> {
        let mut state = self.state();
        if state.tickets >= self.size + self.queue() {
            return Err(Full::Busy);
        }
        state.tickets += 1;
        Ok(Ticket { gate: self.clone(), share: None })
    }

    pub fn slots(&self) -> usize {
        self.size
    }

    pub fn queue(&self) -> usize {
        self.size * QUEUE_PER_SLOT
    }

    pub fn running(&self) -> usize {
        self.state().running.len()
    }

    pub fn waiting(&self) -> usize {
        let state = self.state();
        state.tickets.saturating_sub(state.running.len())
    }

    /// How many slots a share may hold while others wait.
    fn fair_slots(&self) -> usize {
        (self.size / 2).max(1)
    }

    /// How many slots a named share may hold at any time.
    fn most_slots(&self) -> usize {
        if self.can_stop { self.size } else { self.fair_slots() }
    }

    /// How many calls of one share may run and wait together. The other half of the queue stays free for other shares.
    fn fair_tickets(&self) -> usize {
        (self.size + self.queue()) / 2
    }

    /// No code panics while it holds the state, so that the state of a poisoned lock is sound too.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives free slots to waiting calls, and then takes slots from a share that holds too many.
    fn settle(&self) {
        let mut state = self.state();
        while state.running.len() < self.size {
            let Some(next) = state.next_waiting(self.most_slots()) else { break };
            let number = state.next;
            state.next += 1;
            let (stop, stopped) = oneshot::channel();
            state.running.push(Running { number, share: next.share, stop: Some(stop) });
            // A call that no longer waits gives its slot back when the slot is dropped, which locks the state.
            let slot = Slot { gate: self.clone(), number, stopped: Some(stopped) };
            drop(state);
            drop(next.slot.send(slot));
            state = self.state();
        }
        if self.can_stop {
            state.take_back(self.fair_slots());
        }
    }
}

impl State {
    /// How many slots a share holds, without the slots that it is about to give back.
    fn held(&self, share: &str) -> usize {
        self.running.iter().filter(|it| it.stop.is_some() && *it.share == *share).count()
    }

    /// Takes the next call from the queue: the first call of the share that holds the fewest slots. A named share that holds
    /// `most` slots gets no other.
    fn next_waiting(&mut self, most: usize) -> Option<Waiting> {
        self.waiting.retain(|it| !it.slot.is_closed());
        let running = |share: &Arc<str>| self.running.iter().filter(|it| it.share == *share).count();
        let waiting = self.waiting.iter().enumerate().map(|(index, it)| (running(&it.share), index, &it.share));
        let next = waiting.filter(|(held, _, share)| *held < most || share.is_empty()).map(|it| (it.0, it.1)).min();
        next.and_then(|(_, index)| self.waiting.remove(index))
    }

    /// Stops the youngest calls of shares that hold more than `fair` slots, one call for each waiting call of another
    /// share.
    fn take_back(&mut self, fair: usize) {
        self.waiting.retain(|it| !it.slot.is_closed());
        let mut coming = self.running.iter().filter(|it| it.stop.is_none()).count();
        for index in (0..self.running.len()).rev() {
            let share = self.running[index].share.clone();
            let others = self.waiting.iter().filter(|it| it.share != share).count();
            if others > coming
                && self.held(&share) > fair
                && let Some(stop) = self.running[index].stop.take()
            {
                // The call may have ended by itself; its slot comes free either way.
                let _ = stop.send(());
                coming += 1;
            }
        }
    }
}

impl Ticket {
    /// Names the share of the call. A share may have at most half of all calls that run and wait. Calls without a name
    /// are the calls of one client, which may fill the queue.
    pub fn of_share(mut self, share: &str) -> Result<Self, Full> {
        let mut state = self.gate.state();
        if !share.is_empty() && state.shares.iter().filter(|it| ***it == *share).count() >= self.gate.fair_tickets() {
            return Err(Full::Share);
        }
        let share: Arc<str> = share.into();
        state.shares.push(share.clone());
        drop(state);
        self.share = Some(share);
        Ok(self)
    }

    /// Waits for a slot.
    pub async fn slot(&self) -> Result<Slot, Full> {
        let share = self.share.clone().unwrap_or_default();
        let (slot, given) = oneshot::channel();
        self.gate.state().waiting.push_back(Waiting { share: share.clone(), slot });
        self.gate.settle();
        match timeout(MAX_WAIT, given).await {
            Ok(Ok(slot)) => Ok(slot),
            Ok(Err(_)) | Err(_) => Err(self.reason(&share)),
        }
    }

    /// The reason why a call got no slot in time.
    fn reason(&self, share: &str) -> Full {
        let state = self.gate.state();
        let others = !self.gate.can_stop || state.shares.iter().any(|it| **it != *share);
        if others && state.held(share) >= self.gate.fair_slots() { Full::Share } else { Full::Busy }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut state = self.gate.state();
        state.tickets = state.tickets.saturating_sub(1);
        if let Some(share) = &self.share
            && let Some(index) = state.shares.iter().position(|it| it == share)
        {
            state.shares.swap_remove(index);
        }
    }
}

impl Slot {
    /// Ends when the call must stop, because its share gives the slot back. May be taken once.
    pub fn stopped(&mut self) -> impl Future<Output = ()> + use<> {
        let stopped = self.stopped.take();
        async move {
            let told = match stopped {
                Some(stopped) => stopped.await.is_ok(),
                None => false,
            };
            if !told {
                std::future::pending().await
            }
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.gate.state().running.retain(|it| it.number != self.number);
        self.gate.settle();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::sleep;

    fn ticket(gate: &Gate, share: &str) -> Ticket {
        gate.ticket().unwrap().of_share(share).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn it_fills_and_empties() {
        let gate = Gate::new(1);
        let first = gate.ticket().unwrap();
        let slot = first.slot().await.unwrap();
        let waiting: Vec<_> = (0..8).map(|_| gate.ticket().unwrap()).collect();
        assert_eq!((gate.running(), gate.waiting()), (1, 8));
        assert!(gate.ticket().is_err());
        let mut waiting = waiting.into_iter();
        assert_eq!(waiting.next().unwrap().slot().await.err(), Some(Full::Busy), "nobody waits for long");
        drop((slot, first));
        let next = waiting.next().unwrap();
        assert!(next.slot().await.is_ok());
        drop((waiting, next));
        assert_eq!((gate.running(), gate.waiting()), (0, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn a_share_uses_all_slots_until_another_one_waits() {
        let gate = Gate::new(4);
        let tickets: Vec<_> = (0..4).map(|_| ticket(&gate, "greedy")).collect();
        let mut slots = Vec::new();
        for each in &tickets {
            slots.push(each.slot().await.unwrap());
        }
        assert_eq!(gate.running(), 4);
        let mut youngest = slots.pop().unwrap();
        let stopped = youngest.stopped();
        let stopping = async {
            stopped.await;
            drop(youngest);
        };
        let other = ticket(&gate, "other");
        let (given, ()) = tokio::join!(other.slot(), stopping);
        let given = given.unwrap();
        assert_eq!(gate.running(), 4);
        // The stopped call waits behind the other share, and the reason is its own share.
        assert_eq!(tickets[3].slot().await.err(), Some(Full::Share));
        drop(given);
        assert!(tickets[3].slot().await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn half_of_the_slots_is_never_taken_back() {
        let gate = Gate::new(2);
        let (one, two) = (ticket(&gate, "one"), ticket(&gate, "two"));
        let (mut first, mut second) = (one.slot().await.unwrap(), two.slot().await.unwrap());
        let (stopped, also_stopped) = (first.stopped(), second.stopped());
        let third = ticket(&gate, "three");
        tokio::select! {
            refused = third.slot() => assert_eq!(refused.err(), Some(Full::Busy)),
            () = stopped => panic!("a fair share was taken"),
            () = also_stopped => panic!("a fair share was taken"),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_share_with_the_fewest_slots_is_next() {
        let gate = Gate::new(2);
        let tickets = ["one", "one", "one", "two"].map(|share| ticket(&gate, share));
        let first = tickets[0].slot().await.unwrap();
        let second = tickets[1].slot().await.unwrap();
        let late = async {
            sleep(Duration::from_millis(10)).await;
            drop(first);
            sleep(Duration::from_millis(10)).await;
        };
        let (third, fourth, ()) = tokio::join!(tickets[2].slot(), tickets[3].slot(), late);
        assert_eq!((third.is_ok(), fourth.is_ok()), (false, true), "the second share waited, though behind the first");
        drop(second);
    }

    #[tokio::test(start_paused = true)]
    async fn a_share_whose_calls_are_never_stopped_gets_half_of_the_slots() {
        let gate = Gate::without_stops(4);
        let tickets: Vec<_> = (0..3).map(|_| ticket(&gate, "greedy")).collect();
        let (first, second) = (tickets[0].slot().await.unwrap(), tickets[1].slot().await.unwrap());
        assert_eq!(tickets[2].slot().await.err(), Some(Full::Share), "two slots are free, for others");
        let other = ticket(&gate, "other");
        let third = other.slot().await.unwrap();
        drop(first);
        assert!(tickets[2].slot().await.is_ok());
        drop((second, third));
    }

    #[tokio::test(start_paused = true)]
    async fn a_share_fills_half_of_the_queue() {
        let gate = Gate::new(2);
        let held: Vec<_> = (0..9).map(|_| ticket(&gate, "greedy")).collect();
        assert_eq!(gate.ticket().unwrap().of_share("greedy").err(), Some(Full::Share));
        assert!(gate.ticket().unwrap().of_share("other").is_ok());
        drop(held);
        assert!(gate.ticket().unwrap().of_share("greedy").is_ok());
    }
}
