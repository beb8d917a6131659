//! The fifth stage: at most so many calls of a tool in any minute.

use super::outcome::{CallFailure, CallStop, Code};
use crate::callers::Scope;
use crate::durable::limiter::{self, RateWindow};
use crate::registry::Tool;
use serde_json::json;
use worker::console_error;

/// The place of a call that was let through by its tool's rate limit, if the tool has one.
pub struct RateSlot(Option<RateWindow>);

pub async fn take(scope: &Scope, tool: &Tool) -> std::result::Result<RateSlot, CallStop> {
    let Some(limit) = tool.rate_limit else { return Ok(RateSlot(None)) };
    let window = limiter::take(scope.app(), scope.workspace(), &tool.id, limit).await?;
    if window.allowed {
        return Ok(RateSlot(Some(window)));
    }
    let retry_after = window.retry_after;
    let message = format!(
        "Rate limit exceeded: {} may be called {limit} times a minute; try again in {retry_after} seconds",
        tool.id
    );
    Err(CallFailure::new(Code::RateLimited, message).with(json!({"limit": limit, "retry_after": retry_after})).into())
}

/// Gives the slot back, for a call that was let through and then did not run. If that fails, the slot is lost for a
/// minute: the caller is not made to pay for it with an error.
pub async fn give_back(scope: &Scope, tool: &Tool, slot: RateSlot) {
    let Some(taken) = slot.0 else { return };
    if let Err(error) = limiter::give_back(scope.app(), scope.workspace(), &tool.id, taken).await {
        console_error!("a call of {} was not given back: {error:?}", tool.id);
    }
}
