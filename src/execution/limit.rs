//! The fifth stage: a tool's rate limit, which is the most calls in any minute.

use super::outcome::{CallFailure, CallStop, Code};
use crate::callers::Scope;
use crate::durable::limiter::{self, RateWindow};
use crate::registry::Tool;
use serde_json::json;
use worker::console_error;

/// Proof that the tool's rate limit admits the call. None inside, if the tool has no rate limit.
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

/// Gives back the slot of a call that was admitted and then did not run. If giving back fails, the slot is lost for a
/// minute, and the caller gets no error for it.
pub async fn give_back(scope: &Scope, tool: &Tool, slot: RateSlot) {
    let Some(taken) = slot.0 else { return };
    if let Err(error) = limiter::give_back(scope.app(), scope.workspace(), &tool.id, taken).await {
        console_error!("a call of {} was not given back: {error:?}", tool.id);
    }
}
