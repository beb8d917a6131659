//! Stage 5: at most so many calls of a tool in any minute.

use super::outcome::{Code, Failure, Stop};
use crate::callers::Scope;
use crate::durable::limiter::{self, Standing};
use crate::registry::Tool;
use serde_json::json;
use worker::console_error;

/// A call that was let through; none where the tool has no limit.
pub struct Slot(Option<Standing>);

pub async fn take(scope: &Scope, tool: &Tool) -> std::result::Result<Slot, Stop> {
    let Some(limit) = tool.rate_limit else { return Ok(Slot(None)) };
    let standing = limiter::take(scope.app(), scope.workspace(), &tool.id, limit).await?;
    if standing.allowed {
        return Ok(Slot(Some(standing)));
    }
    let retry_after = standing.retry_after;
    let message = format!(
        "Rate limit exceeded: {} may be called {limit} times a minute; try again in {retry_after} seconds",
        tool.id
    );
    Err(Failure::new(Code::RateLimited, message).with(json!({"limit": limit, "retry_after": retry_after})).into())
}

/// Gives the slot back, for a call that was let through and then did not run. If that fails, it is lost for a minute,
/// which is nobody's fault who waits for an answer.
pub async fn give_back(scope: &Scope, tool: &Tool, slot: Slot) {
    let Some(taken) = slot.0 else { return };
    if let Err(error) = limiter::give_back(scope.app(), scope.workspace(), &tool.id, taken).await {
        console_error!("a call of {} was not given back: {error:?}", tool.id);
    }
}
