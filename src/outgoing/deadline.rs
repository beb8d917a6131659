//! The deadline of a request: for sending it and for reading the whole response.

use super::OutgoingFailure;
use futures_util::future::{Either, select};
use std::pin::pin;
use std::time::Duration;
use worker::{Date, Delay};

/// The deadline, in milliseconds since 1970. None, if the caller limits the time of the whole run.
#[derive(Clone, Copy)]
pub struct Deadline(Option<u64>);

impl Deadline {
    pub fn after(time: Option<Duration>) -> Self {
        let millis = |it: Duration| u64::try_from(it.as_millis()).unwrap_or(u64::MAX);
        Self(time.map(|it| Date::now().as_millis().saturating_add(millis(it))))
    }

    /// Waits for one step of the request, but not beyond the deadline.
    pub async fn hold<T>(self, step: impl Future<Output = T>) -> Result<T, OutgoingFailure> {
        let Some(end) = self.0 else { return Ok(step.await) };
        let left = Duration::from_millis(end.saturating_sub(Date::now().as_millis()));
        match select(pin!(step), Delay::from(left)).await {
            Either::Left((done, _)) => Ok(done),
            Either::Right(_) => Err(OutgoingFailure::TimedOut),
        }
    }
}
