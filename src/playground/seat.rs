//! The seat of a session's turns: one turn has it at a time. What comes in while the seat is taken is remembered until the
//! seat is free. Pure.

use crate::ids::MessageId;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// How many decisions are remembered. The object's alarm finds those that are forgotten.
const MAX_DECISIONS: usize = 64;

/// `T` is a turn that is under way.
pub struct Seat<T> {
    state: RefCell<SeatState<T>>,
    /// The messages of approvals that were decided, the oldest decision first. Whoever frees the seat looks at them.
    decided: RefCell<VecDeque<MessageId>>,
}

enum SeatState<T> {
    Free,
    /// Something else than a turn has the seat. Mostly a turn is being begun.
    Taken {
        /// Whether the turn is to be stopped as soon as it has begun.
        is_stopped: bool,
    },
    Busy(Rc<T>),
}

/// The right to begin a turn. Dropping it gives the seat back, unless a turn has it.
pub struct Reservation<T>(Rc<Seat<T>>);

impl<T> Default for Seat<T> {
    fn default() -> Self {
        Self { state: RefCell::new(SeatState::Free), decided: RefCell::default() }
    }
}

impl<T> Seat<T> {
    /// None, if the seat is not free.
    pub fn reserve(self: &Rc<Self>) -> Option<Reservation<T>> {
        let mut state = self.state.borrow_mut();
        match *state {
            SeatState::Free => {
                *state = SeatState::Taken { is_stopped: false };
                Some(Reservation(self.clone()))
            }
            SeatState::Taken { .. } | SeatState::Busy(_) => None,
        }
    }

    /// The turn that is under way.
    pub fn turn(&self) -> Option<Rc<T>> {
        match &*self.state.borrow() {
            SeatState::Busy(turn) => Some(turn.clone()),
            SeatState::Free | SeatState::Taken { .. } => None,
        }
    }

    /// The turn that has the seat: the caller stops it. If a turn is only being begun, the seat remembers the stop, and
    /// [`Reservation::give_to`] tells of it.
    pub fn stop(&self) -> Option<Rc<T>> {
        if let SeatState::Taken { is_stopped } = &mut *self.state.borrow_mut() {
            *is_stopped = true;
        }
        self.turn()
    }

    /// Frees the seat, if this turn still has it.
    pub fn leave(&self, turn: &Rc<T>) {
        let mut state = self.state.borrow_mut();
        if matches!(&*state, SeatState::Busy(busy) if Rc::ptr_eq(busy, turn)) {
            *state = SeatState::Free;
        }
    }

    pub fn note_decision(&self, message: MessageId) {
        let mut decided = self.decided.borrow_mut();
        if decided.contains(&message) {
            return;
        }
        if decided.len() >= MAX_DECISIONS {
            decided.pop_front();
        }
        decided.push_back(message);
    }

    /// The message whose turn may go on, with the right to go on with it. None, if the seat is not free: then the decision
    /// is looked at when it is.
    pub fn take_decision(self: &Rc<Self>) -> Option<(MessageId, Reservation<T>)> {
        if self.decided.borrow().is_empty() {
            return None;
        }
        let reservation = self.reserve()?;
        let message = self.decided.borrow_mut().pop_front()?;
        Some((message, reservation))
    }
}

impl<T> Reservation<T> {
    /// Gives the seat to a turn. Returns whether the turn is to be stopped at once.
    pub fn give_to(&self, turn: Rc<T>) -> bool {
        let before = self.0.state.replace(SeatState::Busy(turn));
        matches!(before, SeatState::Taken { is_stopped: true })
    }
}

impl<T> Drop for Reservation<T> {
    fn drop(&mut self) {
        let mut state = self.0.state.borrow_mut();
        if let SeatState::Taken { .. } = *state {
            *state = SeatState::Free;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seat() -> Rc<Seat<&'static str>> {
        Rc::default()
    }

    fn message(id: &str) -> MessageId {
        MessageId::parse(id).unwrap()
    }

    #[test]
    fn one_turn_has_the_seat_until_it_leaves() {
        let seat = seat();
        let reservation = seat.reserve().unwrap();
        assert!(seat.reserve().is_none() && seat.turn().is_none());
        let turn = Rc::new("turn");
        assert!(!reservation.give_to(turn.clone()));
        drop(reservation);
        assert!(seat.reserve().is_none());
        assert_eq!(seat.turn().as_deref(), Some(&"turn"));
        seat.leave(&Rc::new("turn"));
        assert!(seat.reserve().is_none(), "only the turn itself leaves");
        seat.leave(&turn);
        assert!(seat.reserve().is_some());
        assert!(seat.reserve().is_some(), "a reservation that is dropped gives the seat back");
    }

    #[test]
    fn a_turn_that_is_being_begun_is_stopped_when_it_has_begun() {
        let seat = seat();
        let reservation = seat.reserve().unwrap();
        assert!(seat.stop().is_none());
        assert!(reservation.give_to(Rc::new("turn")));
        drop(reservation);
        assert!(seat.stop().is_some(), "a turn that is under way is stopped by the one who asks");
        seat.leave(&seat.turn().unwrap());
        assert!(seat.stop().is_none());
        // A stop is for the turn that was being begun, and not for the one after it.
        let failed = seat.reserve().unwrap();
        seat.stop();
        drop(failed);
        assert!(!seat.reserve().unwrap().give_to(Rc::new("next")));
    }

    #[test]
    fn a_decision_is_looked_at_when_the_seat_is_free() {
        let seat = seat();
        assert!(seat.take_decision().is_none());
        let failed = seat.reserve().unwrap();
        seat.note_decision(message("msg_1"));
        assert!(seat.take_decision().is_none(), "the seat is taken");
        drop(failed);
        let (decided, reservation) = seat.take_decision().unwrap();
        assert_eq!(decided, message("msg_1"));
        // Another decision comes in while this one is looked at.
        seat.note_decision(message("msg_1"));
        assert!(seat.take_decision().is_none());
        let turn = Rc::new("turn");
        reservation.give_to(turn.clone());
        drop(reservation);
        assert!(seat.take_decision().is_none());
        seat.leave(&turn);
        assert!(seat.take_decision().is_some());
        assert!(seat.take_decision().is_none(), "it is looked at once");
    }

    #[test]
    fn decisions_about_several_messages_are_all_looked_at() {
        let seat = seat();
        let busy = seat.reserve().unwrap();
        for id in ["msg_1", "msg_2", "msg_1", "msg_3"] {
            seat.note_decision(message(id));
        }
        drop(busy);
        let taken = || seat.take_decision().map(|(it, _)| it.to_string());
        assert_eq!([taken(), taken(), taken()].map(Option::unwrap), ["msg_1", "msg_2", "msg_3"]);
        assert_eq!(taken(), None);
        // Their number has a bound, and the newest ones stay.
        (0..=MAX_DECISIONS).for_each(|it| seat.note_decision(message(&format!("msg_{it}"))));
        let kept = std::iter::from_fn(taken).collect::<Vec<_>>();
        assert_eq!((kept.len(), kept[0].as_str()), (MAX_DECISIONS, "msg_1"));
    }
}
