//! The work of the cron trigger, and of the alarms of workspaces that have objects.

use crate::app::App;
use crate::backup;
use crate::db::sql;
use crate::error::{Error, Result};
use crate::execution;
use crate::federation::ServerSettings;
use crate::files;
use crate::ids::{UpstreamId, WorkspaceId};
use crate::modules::ModuleSettings;
use crate::oversight;
use crate::registry;
use crate::settings::Storage;
use crate::upstreams;
use std::sync::Arc;
use worker::{Env, console_error};

/// What the alarm of a workspace's object names as its trigger, before the name of the workspace. No cron trigger looks so.
const ALARM: &str = "workspace ";

/// The work of a trigger. If workspaces have objects, then each object has its own upkeep done, and the cron trigger has nothing
/// to do.
pub async fn run(env: Env, trigger: &str) -> Result<()> {
    if let Some(name) = trigger.strip_prefix(ALARM) {
        let app = Arc::new(App::in_object(env)?);
        if let Err(cause) = work_in_object(&app, name).await {
            // The trigger of a cron fails by a throw, for which the runtime ends the event. An object has no such end: its
            // alarm would hang for 15 minutes, and then the runtime would reset the object.
            console_error!("the upkeep of the workspace {name} failed: {cause:?}");
            app.note_failure_in_object();
        }
        return Ok(());
    }
    let app = Arc::new(App::new(env)?);
    match app.settings().storage {
        Some(Storage::D1) => work(&app).await,
        Some(Storage::Objects) | None => Ok(()),
    }
}

async fn work_in_object(app: &Arc<App>, name: &str) -> Result<()> {
    let workspace = WorkspaceId::parse(name).ok_or_else(|| Error::Internal(format!("{name} is no workspace")))?;
    let done = work(app).await;
    // The object reports its figures although a step has failed.
    oversight::report(app, &workspace).await.and(done)
}

/// One run of upkeep in one database. The run ends calls and approvals that no request will end, counts the calls that have
/// ended, in all and by time, deletes old records of calls and old figures of them, frees files that nothing can reach, deletes
/// what broken restores have left, seals header values that are stored unsealed, discovers the upstreams that are due, and lets
/// SQLite refresh the statistics of its query planner. SQLite looks only at tables that have changed much. Every step runs even
/// if a step before it failed. The run fails with the first failure.
async fn work(app: &Arc<App>) -> Result<()> {
    let steps = [
        execution::sweep(app).await,
        execution::totals::count(app).await,
        execution::series::count(app).await,
        execution::delete_old_calls(app).await,
        execution::series::delete_old(app).await,
        files::sweep(app).await,
        backup::sweep(app).await,
        registry::seal_headers(app).await,
        upstreams::refresh_due::<ModuleSettings>(app).await,
        upstreams::refresh_due::<ServerSettings>(app).await,
        tidy(app).await,
    ];
    steps.into_iter().collect()
}

/// Discovers the upstreams that a request has noted. Nobody waits for the outcome, so a failure is logged.
pub async fn refresh_noted(env: Env, noted: Vec<(WorkspaceId, UpstreamId)>) {
    let refreshed = async {
        let app = Arc::new(App::new(env)?);
        upstreams::refresh_noted::<ModuleSettings>(&app, &noted).await?;
        upstreams::refresh_noted::<ServerSettings>(&app, &noted).await
    };
    if let Err(cause) = refreshed.await {
        console_error!("a discovery in the background failed: {cause:?}");
    }
}

#[expect(clippy::disallowed_methods, reason = "upkeep is about no workspace, and nobody calls it")]
async fn tidy(app: &App) -> Result<()> {
    app.db()?.batch(&[registry::forget_refusals(app.now()), sql("PRAGMA optimize")]).await?;
    Ok(())
}
