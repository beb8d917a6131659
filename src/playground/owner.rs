//! The owner of a session's turns: lets one turn run at a time, and brings to an end what a crash has left behind. The
//! Durable Object in `chats` wraps it.

use super::fit::fitted;
use super::kept::KeptTurn;
use super::live::LiveTurn;
use super::loading;
use super::memory::{TurnMemory, UnfinishedTurn, now, waited};
use super::messages;
use super::order::TurnOrder;
use super::seat::{Reservation, Seat};
use super::standing::{self, Standing};
use super::start::{CheckedOutMessage, TurnStart};
use super::times::ChatTimes;
use super::turn::Turn;
use super::ui::MessageWriter;
use crate::app::App;
use crate::callers::Scope;
use crate::error::{Error, Result};
use crate::execution::{self, Outlook};
use crate::ids::{MessageId, SessionId, UpstreamId, WorkspaceId};
use crate::settings::Settings;
use futures_util::future::{Either, select};
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;
use worker::{Delay, Env, State, console_error};

/// How long a request waits for the seat while no turn has it, and how often the request looks. To tell a message how its
/// calls stand, the object takes the seat for a few round trips, and a client must not be refused because of that.
const SEAT_WAIT: Duration = Duration::from_secs(5);
const SEAT_PAUSE: Duration = Duration::from_millis(20);

/// How long the beginning of a turn may take. A beginning that never ends would keep the seat for ever.
const BEGIN_TIME: Duration = Duration::from_secs(60);

/// What a look at a message that waits has found.
enum Look {
    /// The turn goes on.
    GoesOn(Box<Turn>),
    /// It waits on. The next look is due after this pause.
    Waits(Duration),
    IsOver,
}

#[derive(Clone)]
pub struct Owner {
    env: Env,
    state: Rc<State>,
    seat: Rc<Seat<LiveTurn>>,
    /// The last generation of the session that was deleted.
    deleted: Rc<Cell<Option<u32>>>,
}

impl Owner {
    pub fn new(env: Env, state: Rc<State>) -> Self {
        Self { env, state, seat: Rc::default(), deleted: Rc::default() }
    }

    fn times(&self) -> ChatTimes {
        ChatTimes::of(Settings::of(&self.env))
    }

    fn memory(&self) -> Result<TurnMemory> {
        let approval_time = Duration::from_secs(u64::from(Settings::of(&self.env).approval_seconds));
        TurnMemory::new(&self.state, self.times(), approval_time)
    }

    /// The turn that is under way.
    pub fn live(&self) -> Option<Rc<LiveTurn>> {
        self.seat.turn()
    }

    /// Stops the turn that is under way, and returns it. A turn that is being begun is stopped when it has begun. Turns that
    /// wait for approvals do not go on by themselves any more.
    pub async fn stop(&self) -> Result<Option<Rc<LiveTurn>>> {
        let live = self.seat.stop().inspect(|it| it.stop());
        let memory = self.memory()?;
        for waiting in memory.all_waiting().await?.into_iter().filter(|it| !it.was_stopped) {
            memory.keep_waiting(&KeptTurn { was_stopped: true, ..waiting }).await?;
        }
        Ok(live)
    }

    /// The seat, unless a turn has it.
    async fn reserve(&self) -> Result<Reservation<LiveTurn>> {
        let mut waited = Duration::ZERO;
        loop {
            if let Some(reservation) = self.seat.reserve() {
                return Ok(reservation);
            }
            if self.live().is_some() || waited >= SEAT_WAIT {
                let sentence = "A turn is under way in this session: wait for its end, or stop it";
                return Err(Error::Conflict(sentence.into()));
            }
            Delay::from(SEAT_PAUSE).await;
            waited += SEAT_PAUSE;
        }
    }

    /// Begins a turn. The caller runs the returned turn with [`Owner::run`]. If no turn begins, an approval may have been
    /// decided meanwhile ([`Owner::go_on_if_decided`]).
    pub async fn begin(&self, order: TurnOrder) -> Result<Turn> {
        self.begin_with(&self.reserve().await?, order).await
    }

    async fn begin_with(&self, reservation: &Reservation<LiveTurn>, order: TurnOrder) -> Result<Turn> {
        match select(Box::pin(self.begin_now(reservation, order)), Delay::from(BEGIN_TIME)).await {
            Either::Left((begun, _)) => begun,
            Either::Right(_) => Err(Error::TryAgain("The turn did not begin in time")),
        }
    }

    async fn begin_now(&self, reservation: &Reservation<LiveTurn>, order: TurnOrder) -> Result<Turn> {
        let mut memory = self.memory()?;
        self.recover(&mut memory).await?;
        let waiting = match &order.start {
            TurnStart::Approvals { message, .. } => memory.waiting(message).await?,
            TurnStart::Message { .. } | TurnStart::Regenerate { .. } | TurnStart::Again { .. } => None,
        };
        let turn = loading::load(App::new(self.env.clone())?, order, waiting, memory).await?;
        turn.memory.begin(&turn.kept).await?;
        let is_stopped = reservation.give_to(turn.live.clone());
        if is_stopped || self.is_deleted(turn.kept.generation) {
            turn.live.stop();
        }
        Ok(turn)
    }

    /// An approval of this message was decided. Returns the turn that goes on, if there is one. A turn that is under way
    /// looks at the decision at its end.
    pub async fn go_on(&self, message_id: MessageId) -> Result<Option<Turn>> {
        self.seat.note_decision(message_id);
        self.go_on_if_decided().await
    }

    /// Goes on with a turn that waits, if its approval was decided and the seat is free. Whoever frees the seat asks for
    /// this: a decision must not be lost because something else had the seat when it came in.
    pub async fn go_on_if_decided(&self) -> Result<Option<Turn>> {
        while let Some((message_id, reservation)) = self.seat.take_decision() {
            match self.go_on_after_decision(&reservation, &message_id).await {
                Ok(None) => {}
                Ok(turn) => return Ok(turn),
                Err(cause) => {
                    // The decision is remembered no longer, and nobody tells of it again.
                    self.memory()?.look_within(self.times().look_after()).await?;
                    return Err(cause);
                }
            }
        }
        Ok(None)
    }

    async fn go_on_after_decision(
        &self,
        reservation: &Reservation<LiveTurn>,
        message_id: &MessageId,
    ) -> Result<Option<Turn>> {
        match self.memory()?.waiting(message_id).await? {
            Some(waiting) => self.go_on_with(reservation, &waiting).await,
            None => Ok(None),
        }
    }

    /// None, if there is nothing to go on with. Then the message tells how its calls stand.
    async fn go_on_with(&self, reservation: &Reservation<LiveTurn>, waiting: &KeptTurn) -> Result<Option<Turn>> {
        if waiting.was_stopped {
            return self.tell_standing(waiting).await.map(|()| None);
        }
        // The turn goes on for the caller who began it, whoever has decided.
        match self.begin_with(reservation, waiting.to_go_on()).await {
            Ok(turn) => Ok(Some(turn)),
            // The conversation is elsewhere. It may come back to the message.
            Err(Error::Conflict(_)) => self.tell_standing(waiting).await.map(|()| None),
            // The session, the agent or the token is gone, so the turn can never go on.
            Err(Error::NotFound { .. } | Error::Unauthorized(_)) => {
                let ended = KeptTurn { was_stopped: true, ..waiting.clone() };
                self.tell_standing(&ended).await.map(|()| None)
            }
            Err(error) => Err(error),
        }
    }

    /// Tells a message how its calls stand, and keeps what it still waits for.
    async fn tell_standing(&self, waiting: &KeptTurn) -> Result<()> {
        let told = standing::tell(App::new(self.env.clone())?, waiting).await?;
        let memory = self.memory()?;
        let still_waiting = match told {
            Standing::Present => return Ok(()),
            Standing::Told(parts) => waiting.waiting_for(&parts, now()),
            Standing::Gone => None,
        };
        match still_waiting {
            Some(turn) => memory.keep_waiting(&turn).await,
            None => memory.forget_waiting(&waiting.message_id).await,
        }
    }

    /// Runs a turn to its end, and goes on with it if an approval was decided meanwhile. Returns the upstreams that the turn
    /// has found to be due.
    pub async fn run(&self, mut turn: Turn) -> Vec<(WorkspaceId, UpstreamId)> {
        let mut due = Vec::new();
        loop {
            let is_settled = turn.run().await;
            self.seat.leave(&turn.live);
            // Clients that have seen the end may begin the next turn at once.
            turn.live.end();
            due.extend(turn.scope.app().take_due_upstreams());
            if !is_settled && let Err(cause) = self.look_again().await {
                console_error!("a turn is not looked after: {cause:?}");
            }
            turn = match self.go_on_if_decided().await {
                Ok(Some(turn)) => turn,
                Ok(None) => return due,
                Err(cause) => {
                    console_error!("a turn does not go on: {cause:?}");
                    return due;
                }
            };
        }
    }

    /// Makes a message the conversation's present, unless a turn is under way.
    pub async fn check_out(&self, scope: &Scope, session: &SessionId, message: &CheckedOutMessage) -> Result<()> {
        let _reservation = self.reserve().await?;
        let mut memory = self.memory()?;
        // A message that a crash has left behind must not become the present after this one.
        self.recover(&mut memory).await?;
        let present = messages::check_out(scope, session, message).await?.active_message_id;
        let Some(present) = present else { return Ok(()) };
        match memory.waiting(&present).await? {
            // The word of a decision may have been lost while the conversation was elsewhere.
            Some(_) => memory.look_within(self.times().next_look(Duration::ZERO, None)).await,
            None => Ok(()),
        }
    }

    /// The session was deleted. No call of its turn begins any more, and the turn does not go on after an approval.
    pub async fn session_deleted(&self, generation: u32) -> Result<()> {
        self.deleted.set(self.deleted.get().max(Some(generation)));
        if let Some(live) = self.live().filter(|it| self.is_deleted(it.generation)) {
            live.stop();
        }
        let Some(_reservation) = self.seat.reserve() else { return Ok(()) };
        let mut memory = self.memory()?;
        self.recover(&mut memory).await?;
        for waiting in memory.all_waiting().await?.iter().filter(|it| self.is_deleted(it.generation)) {
            memory.forget_waiting(&waiting.message_id).await?;
        }
        Ok(())
    }

    fn is_deleted(&self, generation: u32) -> bool {
        self.deleted.get().is_some_and(|it| generation <= it)
    }

    /// The alarm: ends a message that a crash has left behind, and a turn that hangs. Returns a turn that goes on, because
    /// its approvals were decided or have expired and nobody has told the object.
    ///
    /// Whatever fails, the object looks again: the platform repeats an alarm that throws only a few times.
    pub async fn look_after(&self) -> Result<Option<Turn>> {
        match self.look().await {
            Ok(turn) => Ok(turn),
            Err(cause) => {
                console_error!("a turn could not be looked after: {cause:?}");
                self.look_again().await.map(|()| None)
            }
        }
    }

    async fn look(&self) -> Result<Option<Turn>> {
        if let Some(live) = self.live().filter(|it| it.hangs()) {
            live.dismiss("The turn hung, and was ended");
            self.seat.leave(&live);
        }
        let Some(reservation) = self.seat.reserve() else { return self.look_again().await.map(|()| None) };
        let mut memory = self.memory()?;
        self.recover(&mut memory).await?;
        let mut pauses = Vec::new();
        for waiting in memory.all_waiting().await? {
            match self.look_at(&reservation, &memory, &waiting).await {
                // Its end looks after the others.
                Ok(Look::GoesOn(turn)) => return Ok(Some(*turn)),
                Ok(Look::Waits(pause)) => pauses.push(pause),
                Ok(Look::IsOver) => {}
                Err(cause) => {
                    console_error!("the message {} could not be looked after: {cause:?}", waiting.message_id);
                    // Only somebody who sets a model or makes room ends such a fault. The object looks ever more rarely.
                    let lasts = matches!(cause, Error::Unavailable(_)) || messages::is_final(&cause);
                    pauses.push(match lasts {
                        true => self.times().next_look(waited(&waiting), None),
                        false => self.times().look_after(),
                    });
                }
            }
        }
        match pauses.into_iter().min() {
            Some(pause) => memory.look_again(pause).await.map(|()| None),
            None => Ok(None),
        }
    }

    /// Looks at the approvals of a message that waits.
    async fn look_at(
        &self,
        reservation: &Reservation<LiveTurn>,
        memory: &TurnMemory,
        waiting: &KeptTurn,
    ) -> Result<Look> {
        let scope = waiting.caller.clone().scope(App::new(self.env.clone())?);
        if let Outlook::Unchanged { expires_at } = execution::outlook(&scope, &waiting.approvals).await? {
            let expires_in = expires_at.map(|it| it.millis_since(scope.app().clock()));
            let expires_in = expires_in.map(|it| Duration::from_millis(u64::from(it)));
            return Ok(Look::Waits(self.times().next_look(waited(waiting), expires_in)));
        }
        if let Some(turn) = self.go_on_with(reservation, waiting).await? {
            return Ok(Look::GoesOn(Box::new(turn)));
        }
        let left = memory.waiting(&waiting.message_id).await?;
        Ok(left.map_or(Look::IsOver, |it| Look::Waits(memory.next_look(&it))))
    }

    async fn look_again(&self) -> Result<()> {
        self.memory()?.look_again(self.times().look_after()).await
    }

    /// Stores the message of a turn whose runtime crashed. Its calls are recorded, as far as they were made.
    async fn recover(&self, memory: &mut TurnMemory) -> Result<()> {
        let Some(UnfinishedTurn { turn, parts, end }) = memory.unfinished().await? else { return Ok(()) };
        if parts.is_empty() && !turn.approvals.is_empty() {
            // The message is stored as it was when it paused, and nothing has been added to it: the turn waits again.
            let waits_since = turn.waits_since.or(Some(now()));
            return memory.end(Some(&KeptTurn { waits_since, ..turn })).await;
        }
        let scope = turn.caller.clone().scope(App::new(self.env.clone())?);
        let mut writer = MessageWriter::resumed(turn.message_id.clone(), parts, turn.style);
        writer.interrupt("The turn broke off while the call was made; the record of the call tells its outcome");
        let mut message = turn.message(fitted(writer.into_parts()), &end, scope.app().clock());
        let stored = messages::store_answer(&scope, &turn.session, turn.generation, &mut message).await;
        match stored {
            Ok(()) => memory.end(turn.waiting_after(&end, &message.parts, now()).as_ref()).await,
            Err(error) if messages::is_final(&error) => memory.end(turn.waiting_unstored(&error, now()).as_ref()).await,
            Err(error) => Err(error),
        }
    }
}
