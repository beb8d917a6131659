//! Several calls at once, from one message of a model. One batch looks them up. Calls that read or write state keep
//! their order among each other; the other calls run side by side.

use super::call::{Call, OpenedCall};
use super::outcome::{ToolResult, cut};
use super::{resolve, walk};
use crate::callers::Scope;
use crate::error::{Error, Result};
use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;
use worker::Delay;

/// How many calls run at once. A Worker has six connections. With more calls, a call could reach its timeout while it
/// waits for a connection.
const AT_ONCE: usize = 5;

/// How many bytes the results of one message may have together. A result that does not fit is cut.
const MAX_RESULT_BYTES: usize = 4_000_000;

/// How many of these bytes are kept for each call that has not ended yet, so that an early result leaves room for the
/// others.
const KEPT_BYTES: usize = 32 * 1024;

/// Runs the calls, and returns their outcomes in the order of the calls. An error of one call does not stop the other
/// calls. The results share the room of one response.
pub async fn execute_all(scope: &Scope, calls: Vec<Call>) -> Result<Vec<Result<ToolResult>>> {
    let mut outcomes = calls.iter().map(|_| Err(Error::Internal("a call was never run".into()))).collect::<Vec<_>>();
    let mut room = ResultRoom { bytes: MAX_RESULT_BYTES, calls: calls.len() };
    let once = |_: usize, _: &Result<ToolResult>| None;
    execute_each(scope, calls, once, |index, result| outcomes[index] = result.map(|it| room.fit(it))).await?;
    Ok(outcomes)
}

/// A call that is made once more, because it failed for the moment.
pub struct SecondTry {
    pub call: Call,
    /// The pause before it.
    pub pause: Duration,
}

/// Runs the calls, and tells the outcome of each call as soon as it has ended, with the call's index. `again` looks at the
/// outcome of each call first, and may have the call made once more. The second try is in the place of the first one: calls
/// that keep their order wait for it too.
///
/// The caller is checked first, because calls that run side by side cannot wait for each other's check.
pub async fn execute_each(
    scope: &Scope,
    calls: Vec<Call>,
    again: impl Fn(usize, &Result<ToolResult>) -> Option<SecondTry>,
    mut ended: impl FnMut(usize, Result<ToolResult>),
) -> Result<()> {
    scope.caller().await?;
    let opened =
        (1..).zip(calls).map(|(place, call)| OpenedCall::new(scope, call, place)).collect::<Result<Vec<_>>>()?;
    let lookups = resolve::look_up(scope, &opened).await?;
    let mut waiting = Vec::new();
    for (index, (call, lookup)) in opened.into_iter().zip(lookups).enumerate() {
        let (order, again) = (lookup.order(), &again);
        let ends = async move {
            let ended = walk::walk(scope, call, lookup).await;
            let Some(SecondTry { call, pause }) = again(index, &ended) else { return ended };
            Delay::from(pause).await;
            super::execute(scope, call).await
        };
        waiting.push(QueuedCall { index, order, ends: Box::pin(ends) });
    }
    let mut running = Vec::<QueuedCall<'_>>::new();
    let turn = scope.memory_turn();
    poll_fn(|context| {
        loop {
            let before = running.len();
            running.retain_mut(|it| match turn.as_call(it.number(), || it.ends.as_mut().poll(context)) {
                Poll::Ready(result) => {
                    ended(it.index, result);
                    turn.end(it.number());
                    false
                }
                Poll::Pending => true,
            });
            if running.len() < before {
                // A call that was polled before may have waited for its turn.
                continue;
            }
            let orders = |calls: &[QueuedCall<'_>]| calls.iter().map(|it| it.order).collect::<Vec<_>>();
            match next(&orders(&waiting), &orders(&running)) {
                Some(next) => running.push(waiting.remove(next)),
                None if running.is_empty() => return Poll::Ready(()),
                None => return Poll::Pending,
            }
        }
    })
    .await;
    Ok(())
}

/// A call of the message. The call does nothing until its future is polled.
struct QueuedCall<'a> {
    index: usize,
    order: RunOrder,
    ends: Pin<Box<dyn Future<Output = Result<ToolResult>> + 'a>>,
}

impl QueuedCall<'_> {
    /// The number by which the call takes turns in holding large values.
    fn number(&self) -> u32 {
        u32::try_from(self.index).unwrap_or(u32::MAX).saturating_add(1)
    }
}

/// The room for the results of the calls that have not ended yet.
struct ResultRoom {
    bytes: usize,
    calls: usize,
}

impl ResultRoom {
    /// Cuts a result that does not fit, as `max_result_bytes` does. The response to a message shows no render plans, so
    /// they do not take up memory until the last call has ended.
    fn fit(&mut self, mut ended: ToolResult) -> ToolResult {
        self.calls = self.calls.saturating_sub(1);
        ended.render_plan = None;
        let most = self.bytes.saturating_sub(self.calls * KEPT_BYTES).max(KEPT_BYTES);
        let most = u32::try_from(most).unwrap_or(u32::MAX);
        ended.result = ended.result.map(|it| cut(it, Some(most), &ended.call_id));
        self.bytes = self.bytes.saturating_sub(ended.result.as_ref().map_or(0, |it| it.get().len()));
        ended
    }
}

/// When a call may run, relative to the other calls of its message.
#[derive(Clone, Copy, PartialEq)]
pub enum RunOrder {
    Any,
    /// After all earlier writes, and side by side with other reads.
    Reads,
    /// After all earlier reads and writes.
    Writes,
}

/// The first of the waiting calls that may run now.
fn next(waiting: &[RunOrder], running: &[RunOrder]) -> Option<usize> {
    if running.len() >= AT_ONCE {
        return None;
    }
    let mut before = running.to_vec();
    waiting.iter().position(|order| {
        let may_run = match order {
            RunOrder::Any => true,
            RunOrder::Reads => !before.contains(&RunOrder::Writes),
            RunOrder::Writes => before.iter().all(|it| *it == RunOrder::Any),
        };
        before.push(*order);
        may_run
    })
}

#[cfg(test)]
mod tests {
    use super::RunOrder::{Any, Reads, Writes};
    use super::*;
    use crate::execution::outcome::Status;

    #[test]
    fn what_touches_state_keeps_its_order() {
        for (waiting, running, expected) in [
            (&[][..], &[][..], None),
            (&[Writes, Reads], &[], Some(0)),
            (&[Reads, Writes], &[Writes], None),
            (&[Reads, Writes, Any], &[Writes], Some(2)),
            (&[Reads, Reads], &[Reads], Some(0)),
            (&[Writes, Reads], &[Reads], None),
            (&[Writes], &[Any, Any], Some(0)),
            (&[Writes], &[Any, Writes], None),
        ] {
            assert_eq!(next(waiting, running), expected);
        }
    }

    #[test]
    fn results_share_the_room_of_their_message() {
        let result = |bytes: usize| ToolResult {
            content: None,
            call_id: "call_1".into(),
            tool_name: "t".into(),
            version: None,
            success: true,
            status: Status::Success,
            result: serde_json::value::to_raw_value(&"x".repeat(bytes)).ok(),
            error: None,
            duration_ms: 0,
            render_plan: None,
            pre_manifest_id: None,
            post_manifest_id: None,
            never_ran: false,
            returns: None,
        };
        let mut room = ResultRoom { bytes: MAX_RESULT_BYTES, calls: 4 };
        let mut bytes = |of: usize| room.fit(result(of)).result.map_or(0, |it| it.get().len());
        assert_eq!(bytes(1_000_000), 1_000_002);
        let long = bytes(10_000_000);
        assert!((2_900_000..3_000_000).contains(&long), "{long}");
        assert_eq!(bytes(10_000), 10_002, "some room is kept for the calls after it");
        assert!((KEPT_BYTES..KEPT_BYTES * 3).contains(&bytes(10_000_000)));
    }

    #[test]
    fn no_more_run_at_once_than_there_are_connections() {
        assert_eq!(next(&[Any], &[Any; 4]), Some(0));
        assert_eq!(next(&[Any], &[Any; 5]), None);
        assert_eq!(next(&[Reads], &[Reads; 5]), None);
    }
}
