//! Waits for the end of a call.

use super::log::{self, CallOut};
use super::outcome::Status;
use super::store;
use crate::callers::Scope;
use crate::error::Result;
use crate::ids::CallId;
use std::time::Duration;
use worker::Delay;

/// The longest time, in seconds, that a request may wait.
pub const MAX_WAIT_SECONDS: u32 = 30;

/// The time between two looks at the call. It grows, because a call either ends soon or waits for a person.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// The record of a call, once the call has ended. After `wait`, the record as it is then.
pub async fn get(scope: &Scope, id: &CallId, wait: Duration) -> Result<CallOut> {
    // This also checks that the caller may see the call.
    let call = log::get(scope, id).await?;
    if call.status.has_ended() || wait.is_zero() {
        return Ok(call);
    }
    // A request that waits keeps nothing in memory, and looks at nothing but the status.
    drop(call);
    for pause in pauses(wait) {
        Delay::from(pause).await;
        let [rows] = scope.read([store::calls::find_status(scope.workspace(), id)]).await?;
        if store::calls::read_status(&rows)?.is_none_or(Status::has_ended) {
            break;
        }
    }
    log::get(scope, id).await
}

/// The pauses between the looks, which take the whole time together.
fn pauses(mut left: Duration) -> impl Iterator<Item = Duration> {
    let mut pause = FIRST_PAUSE;
    std::iter::from_fn(move || {
        let next = pause.min(left);
        (left, pause) = (left - next, (pause * 3 / 2).min(LONGEST_PAUSE));
        Some(next).filter(|it| !it.is_zero())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_become_rarer_and_end_with_the_time() {
        for seconds in [1, 7, 30] {
            let all = pauses(Duration::from_secs(seconds)).collect::<Vec<_>>();
            assert_eq!(all.iter().sum::<Duration>(), Duration::from_secs(seconds));
            assert!(all.iter().all(|it| *it <= LONGEST_PAUSE) && all[0] == FIRST_PAUSE);
        }
        assert!(pauses(Duration::from_secs(30)).count() <= 18, "D1 is asked sparingly");
        assert_eq!(pauses(Duration::ZERO).count(), 0);
    }
}
