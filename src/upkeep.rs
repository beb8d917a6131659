//! What the cron trigger does.

use crate::app::App;
use crate::db::sql;
use crate::error::Result;
use crate::execution;
use crate::files;
use crate::registry;
use worker::Env;

/// Ends what nobody else ends, counts what has ended, frees what nobody sees, and lets SQLite refresh the statistics that
/// its query planner goes by; for those it looks only at tables that have changed much. Each step runs even if one before
/// it failed; the first failure is the run's.
pub async fn run(env: Env) -> Result<()> {
    let app = App::new(env)?;
    let steps = [
        execution::sweep(&app).await,
        execution::totals::count(&app).await,
        files::sweep(&app).await,
        tidy(&app).await,
    ];
    steps.into_iter().collect()
}

#[expect(clippy::disallowed_methods, reason = "upkeep is about no workspace, and nobody calls it")]
async fn tidy(app: &App) -> Result<()> {
    app.db()?.batch(&[registry::forget_refusals(app.now()), sql("PRAGMA optimize")]).await?;
    Ok(())
}
