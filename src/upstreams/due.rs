//! Upstreams that are due: their description is too old, or they failed, or they were never asked. They are discovered in
//! the background, and meanwhile everything is answered from what there is.

use super::discovery::{LeasedUpstream, Sight, discover};
use super::kind::UpstreamSettings;
use super::store::{self, Lease};
use crate::app::App;
use crate::callers::Scope;
use crate::db::{Rows, Statement};
use crate::error::Result;
use crate::ids::{UpstreamId, WorkspaceId};
use crate::registry::Tool;
use std::sync::Arc;

/// How many upstreams of one kind one run of the cron trigger discovers.
const AT_A_TICK: u32 = 50;

/// Selects the workspace's upstreams that are due, for [`note_due`]. The statement goes with a batch that reads a toolbox.
pub fn find_due(scope: &Scope) -> Statement {
    store::find_due(scope.workspace(), scope.app().now())
}

/// Has the upstreams discovered after the response.
pub fn note_due(scope: &Scope, due: &Rows) -> Result<()> {
    for id in store::read_ids(due)? {
        scope.app().ask_again(scope.workspace().clone(), id);
    }
    Ok(())
}

/// Has the tool's upstream discovered after the response, if the upstream is due.
pub fn note_use(scope: &Scope, tool: &Tool) {
    let due = tool.upstream.as_ref().filter(|it| it.expires_at.is_none_or(|at| at <= scope.app().now()));
    if let (Some(_), Some(id)) = (due, tool.upstream_id()) {
        scope.app().ask_again(scope.workspace().clone(), id);
    }
}

/// Has the tool's upstream discovered after the response, because the upstream says that it has no such tool.
pub async fn note_unknown_tool(scope: &Scope, tool: &Tool) -> Result<()> {
    if let Some(id) = tool.upstream_id() {
        scope.write([store::expire(scope.workspace(), &id)]).await??;
        scope.app().ask_again(scope.workspace().clone(), id);
    }
    Ok(())
}

/// Discovers those of the upstreams that requests have noted which are of one kind. They are in one workspace after the
/// other.
pub async fn refresh_noted<S: UpstreamSettings>(app: &Arc<App>, noted: &[(WorkspaceId, UpstreamId)]) -> Result<()> {
    let mut due = noted.iter().filter(|(_, id)| id.prefix().ends_with(S::SEPARATOR)).cloned().collect::<Vec<_>>();
    due.sort();
    due.dedup();
    while let Some((workspace, _)) = due.first().cloned() {
        let (own, others) = due.into_iter().partition::<Vec<_>, _>(|(it, _)| *it == workspace);
        due = others;
        let ids = own.into_iter().map(|(_, id)| id).collect::<Vec<_>>();
        let scope = Scope::of_pegboard(app.clone(), workspace);
        let lease = Lease::new(app.clock())?;
        let [_, leased] = scope
            .write([
                store::lease_due_in::<S>(scope.workspace(), &ids, &lease),
                store::find_leased::<S>(scope.workspace(), &lease),
            ])
            .await??;
        let leased = store::read_upstreams::<S>(&leased)?;
        let leased = leased.into_iter().map(|upstream| LeasedUpstream { scope: &scope, upstream });
        discover(leased.collect(), &lease, Sight::Fresh).await?;
    }
    Ok(())
}

/// Discovers the upstreams of one kind that are due, in all workspaces, the oldest first, at most 50.
#[expect(clippy::disallowed_methods, reason = "upkeep is about no workspace, and nobody calls it")]
pub async fn refresh_due<S: UpstreamSettings>(app: &Arc<App>) -> Result<()> {
    let lease = Lease::new(app.clock())?;
    let statements = [store::lease_due::<S>(&lease, AT_A_TICK), store::find_leased_everywhere(&lease)];
    let rows = app.db()?.batch(&statements).await?;
    let mut leased = rows.last().map(store::read_leased_everywhere::<S>).transpose()?.unwrap_or_default();
    leased.sort_by(|(one, _), (other, _)| one.cmp(other));
    let scopes = leased.iter().map(|(workspace, _)| Scope::of_pegboard(app.clone(), workspace.clone()));
    let scopes = scopes.collect::<Vec<_>>();
    let upstreams = scopes.iter().zip(leased).map(|(scope, (_, upstream))| LeasedUpstream { scope, upstream });
    discover(upstreams.collect(), &lease, Sight::Fresh).await?;
    Ok(())
}
