//! What the cron trigger does.

use crate::app::App;
use crate::db::sql;
use crate::error::Result;
use worker::Env;

/// Lets SQLite refresh the statistics that its query planner goes by; it looks only at tables that
/// have changed much.
#[expect(clippy::disallowed_methods, reason = "upkeep is about no workspace, and nobody calls it")]
pub async fn run(env: Env) -> Result<()> {
    App::new(env)?.db()?.batch(&[sql("PRAGMA optimize")]).await?;
    Ok(())
}
