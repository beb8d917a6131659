//! Several calls at once, from one message of a model. One batch looks them up. Calls that read or write state keep
//! their order among each other; the other calls run side by side.

use super::call::{Call, OpenedCall};
use super::outcome::ToolResult;
use super::{resolve, walk};
use crate::callers::Scope;
use crate::error::{Error, Result};
use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

/// How many calls run at once. A Worker has six connections. With more calls, a call could reach its timeout while it
/// waits for a connection.
const AT_ONCE: usize = 5;

/// Runs the calls, and returns their outcomes in the order of the calls. An error of one call does not stop the other
/// calls.
///
/// The caller is checked first, because calls that run side by side cannot wait for each other's check.
pub async fn execute_all(scope: &Scope, calls: Vec<Call>) -> Result<Vec<Result<ToolResult>>> {
    scope.caller().await?;
    let opened =
        (1..).zip(calls).map(|(place, call)| OpenedCall::new(scope, call, place)).collect::<Result<Vec<_>>>()?;
    let lookups = resolve::look_up(scope, &opened).await?;
    let mut ended = opened.iter().map(|_| Err(Error::Internal("a call was never run".into()))).collect::<Vec<_>>();
    let mut waiting = Vec::new();
    for (index, (call, lookup)) in opened.into_iter().zip(lookups).enumerate() {
        let order = lookup.order();
        waiting.push(QueuedCall { index, order, ends: Box::pin(walk::walk(scope, call, lookup)) });
    }
    let mut running = Vec::<QueuedCall<'_>>::new();
    poll_fn(|context| {
        loop {
            running.retain_mut(|it| match it.ends.as_mut().poll(context) {
                Poll::Ready(result) => {
                    ended[it.index] = result;
                    false
                }
                Poll::Pending => true,
            });
            let orders = |calls: &[QueuedCall<'_>]| calls.iter().map(|it| it.order).collect::<Vec<_>>();
            match next(&orders(&waiting), &orders(&running)) {
                Some(next) => running.push(waiting.remove(next)),
                None if running.is_empty() => return Poll::Ready(()),
                None => return Poll::Pending,
            }
        }
    })
    .await;
    Ok(ended)
}

/// A call of the message. The call does nothing until its future is polled.
struct QueuedCall<'a> {
    index: usize,
    order: RunOrder,
    ends: Pin<Box<dyn Future<Output = Result<ToolResult>> + 'a>>,
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
    fn no_more_run_at_once_than_there_are_connections() {
        assert_eq!(next(&[Any], &[Any; 4]), Some(0));
        assert_eq!(next(&[Any], &[Any; 5]), None);
        assert_eq!(next(&[Reads], &[Reads; 5]), None);
    }
}
