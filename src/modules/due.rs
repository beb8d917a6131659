//! Modules that are due: their description is older than an hour, or they failed, or they were never asked. They are
//! discovered in the background, and meanwhile everything is answered from what there is.

use super::discovery::{LeasedModule, Sight, discover};
use super::store::{self, Lease};
use crate::app::App;
use crate::callers::Scope;
use crate::db::{Rows, Statement};
use crate::error::Result;
use crate::ids::{ModuleName, WorkspaceId};
use crate::registry::Tool;
use std::sync::Arc;
use worker::{Env, console_error};

/// How many modules one run of the cron trigger discovers.
const AT_A_TICK: u32 = 50;

/// Selects the workspace's modules that are due, for [`note_due`]. The statement goes with a batch that reads a toolbox.
pub fn find_due(scope: &Scope) -> Statement {
    store::find_due(scope.workspace(), scope.app().now())
}

/// Has the modules discovered after the response.
pub fn note_due(scope: &Scope, due: &Rows) -> Result<()> {
    for name in store::read_names(due)? {
        scope.app().ask_again(scope.workspace().clone(), name);
    }
    Ok(())
}

/// Has the tool's module discovered after the response, if it is due.
pub fn note_use(scope: &Scope, tool: &Tool) {
    let due = tool.module.as_ref().filter(|it| it.expires_at.is_none_or(|at| at <= scope.app().now()));
    if let (Some(_), Some(name)) = (due, tool.module_name().and_then(ModuleName::parse)) {
        scope.app().ask_again(scope.workspace().clone(), name);
    }
}

/// Discovers the modules that requests have noted. Nobody waits for the outcome, so a failure is logged.
pub async fn refresh_in_background(env: Env, due: Vec<(WorkspaceId, ModuleName)>) {
    if let Err(cause) = refresh_noted(env, due).await {
        console_error!("a discovery in the background failed: {cause:?}");
    }
}

async fn refresh_noted(env: Env, mut due: Vec<(WorkspaceId, ModuleName)>) -> Result<()> {
    let app = Arc::new(App::new(env)?);
    due.sort();
    due.dedup();
    while let Some((workspace, _)) = due.first().cloned() {
        let (own, others) = due.into_iter().partition::<Vec<_>, _>(|(it, _)| *it == workspace);
        due = others;
        let names = own.into_iter().map(|(_, name)| name).collect::<Vec<_>>();
        let scope = Scope::of_pegboard(app.clone(), workspace);
        let lease = Lease::new(app.clock())?;
        let [_, leased] = scope
            .write([
                store::lease_due_in(scope.workspace(), &names, &lease),
                store::find_leased(scope.workspace(), &lease),
            ])
            .await??;
        let leased = store::read_modules(&leased)?;
        discover(
            leased.into_iter().map(|module| LeasedModule { scope: &scope, module }).collect(),
            &lease,
            Sight::Fresh,
        )
        .await?;
    }
    Ok(())
}

/// Discovers the modules of all workspaces that are due, the oldest first, at most 50.
#[expect(clippy::disallowed_methods, reason = "upkeep is about no workspace, and nobody calls it")]
pub async fn refresh_due(app: &Arc<App>) -> Result<()> {
    let lease = Lease::new(app.clock())?;
    let rows = app.db()?.batch(&[store::lease_due(&lease, AT_A_TICK), store::find_leased_everywhere(&lease)]).await?;
    let mut leased = rows.last().map(store::read_leased_everywhere).transpose()?.unwrap_or_default();
    leased.sort_by(|(one, _), (other, _)| one.cmp(other));
    let scopes = leased.iter().map(|(workspace, _)| Scope::of_pegboard(app.clone(), workspace.clone()));
    let scopes = scopes.collect::<Vec<_>>();
    let modules = scopes.iter().zip(leased).map(|(scope, (_, module))| LeasedModule { scope, module });
    discover(modules.collect(), &lease, Sight::Fresh).await?;
    Ok(())
}
