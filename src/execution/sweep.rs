//! Ends what no request will end: calls whose runtime died, approvals that nobody decided, and idempotency keys that
//! have expired.

use super::outcome::{CallFailure, Code};
use super::store;
use crate::app::App;
use crate::error::Result;

/// Runs one transaction of bounded work. The next run continues where this run stopped.
#[expect(clippy::disallowed_methods, reason = "the sweep is about no workspace, and nobody calls it")]
pub async fn sweep(app: &App) -> Result<()> {
    let died = CallFailure::new(Code::Timeout, "The call did not end within its time: its runtime ended before it did");
    let expired = CallFailure::expired();
    app.db()?
        .batch(&[
            store::sweep::end_dead_calls(app.now(), &died.to_json()?),
            store::sweep::record_expiries(app.now()),
            store::sweep::end_expired_calls(app.now(), &expired.to_json()?),
            store::sweep::expire_approvals(app.now()),
            store::sweep::forget_keys(app.now()),
        ])
        .await?;
    Ok(())
}
