//! Exact rate limits. One object per workspace and tool stores the times of the calls of the last minute. Stored times
//! survive the object's eviction and a restart. A Durable Object handles no other event while it waits for its storage,
//! so two racing calls never see the same window.

use crate::app::App;
use crate::error::{Error, Result};
use crate::ids::{ToolId, WorkspaceId};
use crate::memory_turn::MemoryTurn;
use crate::outgoing::{OutgoingRequest, Route};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use worker::{Date, DurableObject, Env, Request, Response, State, durable_object, wasm_bindgen};

const WINDOW_MILLIS: u64 = 60_000;
const STORAGE_KEY: &str = "window";

/// The longest response of a limiter: a few numbers.
const MAX_RESPONSE_BYTES: usize = 1_000;

#[derive(Clone, Copy, Serialize, Deserialize)]
enum LimiterRequest {
    /// Use up one call of the window, if one is left.
    Take { limit: u32 },
    /// Only read the window.
    Peek { limit: u32 },
    /// Undo a call that was allowed at this time, and then did not take place.
    GiveBack { taken_at: u64 },
}

/// A tool's window of one minute, after a call was allowed or refused, or as a peek found it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RateWindow {
    /// Whether the call may go on. For a peek: whether a call could go on.
    pub allowed: bool,
    pub remaining: u32,
    /// Whole seconds until a call may go on; 0 if a call may go on now.
    pub retry_after: u32,
    /// The time at which the limiter read the window. [`give_back`] needs this time.
    pub at: u64,
}

/// Uses up one call of the window, or says how long to wait.
pub async fn take(app: &App, workspace: &WorkspaceId, tool: &ToolId, limit: u32) -> Result<RateWindow> {
    send(app, workspace, tool, LimiterRequest::Take { limit }).await
}

/// Reads the window without using up a call.
pub async fn peek(app: &App, workspace: &WorkspaceId, tool: &ToolId, limit: u32) -> Result<RateWindow> {
    send(app, workspace, tool, LimiterRequest::Peek { limit }).await
}

/// Gives back a call that was allowed and then did not take place.
pub async fn give_back(app: &App, workspace: &WorkspaceId, tool: &ToolId, taken: RateWindow) -> Result<()> {
    send(app, workspace, tool, LimiterRequest::GiveBack { taken_at: taken.at }).await.map(drop)
}

async fn send(app: &App, workspace: &WorkspaceId, tool: &ToolId, ask: LimiterRequest) -> Result<RateWindow> {
    let limiters = app.limiters()?;
    let failed = |cause: String| Error::Internal(format!("the limiter did not answer: {cause}"));
    // Neither name can contain a slash, so no two pairs of workspace and tool share an object.
    let limiter = limiters.get_by_name(&format!("{workspace}/{tool}")).map_err(|it| failed(it.to_string()))?;
    let asked = serde_json::to_string(&ask).map_err(|it| failed(it.to_string()))?;
    let response = OutgoingRequest::post("https://limiter/", &asked).send(Route::Object(&limiter)).await;
    let response = response.map_err(|it| failed(it.to_string()))?;
    let text = response.text(MAX_RESPONSE_BYTES, &MemoryTurn::default()).await.map_err(|it| failed(it.to_string()))?;
    serde_json::from_str(&text).map_err(|it| failed(it.to_string()))
}

#[durable_object(fetch)]
pub struct Limiter {
    state: State,
}

impl DurableObject for Limiter {
    fn new(state: State, _env: Env) -> Self {
        Self { state }
    }

    async fn fetch(&self, mut request: Request) -> worker::Result<Response> {
        let ask = request.json::<LimiterRequest>().await?;
        let storage = self.state.storage();
        let mut times = storage.get::<CallTimes>(STORAGE_KEY).await?.unwrap_or_default();
        let now = Date::now().as_millis();
        let window = match ask {
            LimiterRequest::Peek { limit } => times.window(limit, now),
            LimiterRequest::Take { limit } => {
                let window = times.take(limit, now);
                if window.allowed {
                    storage.put(STORAGE_KEY, &times).await?;
                }
                window
            }
            LimiterRequest::GiveBack { taken_at } => {
                times.give_back(taken_at);
                storage.put(STORAGE_KEY, &times).await?;
                times.window(0, now)
            }
        };
        Response::from_json(&window)
    }
}

/// The times of the allowed calls, oldest first.
#[derive(Default, Serialize, Deserialize)]
struct CallTimes(VecDeque<u64>);

impl CallTimes {
    fn take(&mut self, limit: u32, now: u64) -> RateWindow {
        let before = self.window(limit, now);
        if before.allowed {
            self.0.push_back(now);
            return RateWindow { allowed: true, ..self.window(limit, now) };
        }
        before
    }

    fn give_back(&mut self, taken_at: u64) {
        if let Some(index) = self.0.iter().rposition(|at| *at == taken_at) {
            self.0.remove(index);
        }
    }

    fn window(&mut self, limit: u32, now: u64) -> RateWindow {
        while self.0.front().is_some_and(|at| at + WINDOW_MILLIS <= now) {
            self.0.pop_front();
        }
        let used = self.0.len();
        let limit = limit as usize;
        // The call that must leave the window before another may enter. The limit may have been lowered since, so this
        // call need not be the oldest one.
        let blocking = used.checked_sub(limit).and_then(|index| self.0.get(index));
        let wait = blocking.map_or(0, |at| (at + WINDOW_MILLIS).saturating_sub(now).div_ceil(1_000));
        RateWindow {
            allowed: used < limit,
            remaining: u32::try_from(limit.saturating_sub(used)).unwrap_or(u32::MAX),
            retry_after: u32::try_from(wait).unwrap_or(u32::MAX),
            at: now,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_as_the_limit_and_no_more() {
        let mut times = CallTimes::default();
        let allowed = (0..30).filter(|_| times.take(5, 1_000).allowed).count();
        assert_eq!(allowed, 5);
        assert_eq!(times.window(5, 1_000), RateWindow { allowed: false, remaining: 0, retry_after: 60, at: 1_000 });
    }

    #[test]
    fn the_window_slides() {
        let mut times = CallTimes::default();
        for at in [0, 10_000, 20_000] {
            assert!(times.take(3, at).allowed);
        }
        assert_eq!(times.take(3, 59_999).retry_after, 1);
        assert!(times.take(3, 60_000).allowed);
        assert_eq!(times.take(3, 60_000).retry_after, 10);
    }

    #[test]
    fn to_wait_as_told_is_enough() {
        let mut times = CallTimes::default();
        times.take(1, 123);
        let wait = u64::from(times.take(1, 30_456).retry_after);
        assert!(times.take(1, 30_456 + wait * 1_000).allowed);
    }

    #[test]
    fn a_lowered_limit_waits_for_enough_calls_to_leave() {
        let mut times = CallTimes::default();
        for at in [0, 10_000, 20_000] {
            times.take(3, at);
        }
        assert_eq!(times.window(1, 20_000).retry_after, 60);
        assert_eq!(times.window(2, 20_000).retry_after, 50);
    }

    #[test]
    fn what_is_given_back_can_be_taken_again() {
        let mut times = CallTimes::default();
        let taken = [times.take(2, 5), times.take(2, 7)];
        assert!(!times.take(2, 8).allowed);
        times.give_back(taken[0].at);
        assert!(times.take(2, 9).allowed && !times.take(2, 9).allowed);
        times.give_back(1);
        assert!(!times.take(2, 9).allowed);
    }

    #[test]
    fn a_look_uses_nothing() {
        let mut times = CallTimes::default();
        times.take(2, 0);
        for _ in 0..5 {
            assert_eq!(times.window(2, 0).remaining, 1);
        }
    }
}
