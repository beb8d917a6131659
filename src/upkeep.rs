//! What the cron trigger does.

use crate::app::App;
use crate::db::sql;
use worker::{Env, console_error};

/// Lets SQLite refresh the statistics that its query planner goes by; it looks only at tables that
/// have changed much.
pub async fn run(env: Env) {
    let app = match App::new(env) {
        Ok(app) => app,
        Err(cause) => return console_error!("upkeep could not begin: {cause:?}"),
    };
    if let Err(cause) = app.db().batch(&[sql("PRAGMA optimize")]).await {
        console_error!("upkeep failed: {cause:?}");
    }
}
