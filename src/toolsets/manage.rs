//! Enables, disables and uninstalls toolsets.

use super::present::{self, PresentToolset};
use super::toolset::{Toolset, ToolsetDetails, ToolsetState};
use super::{get, override_plan, store, subject, tool_plan};
use crate::callers::Scope;
use crate::changes::{Action, Change};
use crate::error::{Error, Result};
use crate::federation::PresentServers;
use crate::ids::{ToolsetId, random_hex};
use crate::registry::{DeactivationReason, Placement, PlacementOutcome};

/// Enables or disables a toolset. The tools of a disabled toolset cannot be called, and its MCP servers are stopped.
pub async fn set_enabled(scope: &Scope, id: &ToolsetId, enabled: bool) -> Result<ToolsetDetails> {
    let (present, servers) = present::read_with(scope, id, PresentServers::find(scope.workspace(), id)).await?;
    let before = present.require(id)?;
    if before.enabled == enabled {
        return get(scope, id).await;
    }
    let (workspace, token) = (scope.workspace(), random_hex::<16>()?);
    let after = Toolset { enabled, ..before.clone() };
    let mut placement = Placement::default();
    let state = ToolsetState::new(&after, &present.files, &present.declarations);
    placement.record(Change::new(Action::Update, subject(id)).before_if_any(present.state().as_ref())?.to(&state)?);
    placement.only_if(store::is_at(workspace, before));
    placement.also(store::update(workspace, &after, &token, None));
    let servers = PresentServers::read(&servers)?;
    let servers = if enabled { servers.resume(scope)? } else { servers.pause(scope)? };
    servers.place(scope, &mut placement)?;
    placement.last(store::end(workspace, id.as_str(), &token));
    write(scope, placement, id).await?;
    servers.finish(scope).await;
    get(scope, id).await
}

/// Uninstalls a toolset: its tools are deactivated, its files and MCP servers are gone. Versions and records stay.
pub async fn uninstall(scope: &Scope, id: &ToolsetId) -> Result<()> {
    let (present, servers) = present::read_with(scope, id, PresentServers::find(scope.workspace(), id)).await?;
    let before = present.require(id)?;
    let (workspace, token) = (scope.workspace(), random_hex::<16>()?);
    let mut placement = Placement::default();
    placement.record(Change::new(Action::Delete, subject(id)).before_if_any(present.state().as_ref())?);
    placement.only_if(store::is_at(workspace, before));
    switch_off_tools(scope, &mut placement, &present)?;
    override_plan::record_removal(&mut placement, &present.overrides)?;
    let servers = PresentServers::read(&servers)?.remove(scope)?;
    servers.place(scope, &mut placement)?;
    // The row names this request, so that the last statement knows whether the batch has gone through.
    placement.also(store::update(workspace, before, &token, None));
    placement.last(store::delete(workspace, id.as_str(), &token));
    write(scope, placement, id).await?;
    servers.finish(scope).await;
    Ok(())
}

fn switch_off_tools(scope: &Scope, placement: &mut Placement, present: &PresentToolset) -> Result<()> {
    for reading in present.tools.iter().filter(|it| it.tool.active) {
        tool_plan::switch_off(placement, reading, DeactivationReason::OperatorRequest, scope.app().now())?;
    }
    Ok(())
}

async fn write(scope: &Scope, placement: Placement, id: &ToolsetId) -> Result<()> {
    match placement.write(scope).await? {
        PlacementOutcome::Done => Ok(()),
        PlacementOutcome::Overtaken | PlacementOutcome::Banned => Err(Error::Conflict(format!(
            "The toolset {id} or one of its tools was changed by another request meanwhile; try again"
        ))),
    }
}
