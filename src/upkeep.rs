//! What the cron trigger does.

use crate::app::App;
use crate::db::sql;
use crate::error::Result;
use crate::execution;
use crate::files;
use worker::Env;

/// Ends what nobody else ends, frees what nobody sees, and lets SQLite refresh the statistics that its query planner
/// goes by; for those it looks only at tables that have changed much. Each step runs even if one before it failed; the
/// first failure is the run's.
pub async fn run(env: Env) -> Result<()> {
    let app = App::new(env)?;
    let steps = [execution::sweep(&app).await, files::sweep(&app).await, optimize(&app).await];
    steps.into_iter().collect()
}

#[expect(clippy::disallowed_methods, reason = "upkeep is about no workspace, and nobody calls it")]
async fn optimize(app: &App) -> Result<()> {
    app.db()?.batch(&[sql("PRAGMA optimize")]).await?;
    Ok(())
}
