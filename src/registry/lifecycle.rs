//! Switches versions on and off. Each change is decided on one reading of the tool, as a [`VersionPlan`]. The plan is
//! written only if no other request has changed the tool since. A dry run tells the plan instead.

use super::handler::Handler;
use super::invariants::{DeclaredTools, missing_upstream};
use super::placement::{Placement, PlacementOutcome};
use super::preview::{Preview, VersionComparison};
use super::store::versions::VersionPosition;
use super::tool::{DeactivationReason, Tool};
use super::warnings::{Warning, warnings};
use super::{ToolLookup, not_found, store};
use crate::callers::Scope;
use crate::changes::Action;
use crate::error::{Error, Result};
use crate::ids::{ToolId, Version};
use crate::page::{Page, PageRequest};

/// A page of the tool's versions, the highest first.
pub async fn list_versions(scope: &Scope, id: &ToolId, request: &PageRequest) -> Result<Page<Tool>> {
    let [tool, versions] = scope
        .read([
            store::tools::tool_exists(scope.workspace(), Some(id.as_str())),
            store::versions::list(scope.workspace(), id, request)?,
        ])
        .await?;
    if tool.is_empty()? {
        return Err(Error::not_found("Tool", id));
    }
    let is_cut = store::bounded::is_cut(&versions)?;
    Ok(request.cut_page(store::tools::read_tools(&versions)?, is_cut, |it| it.version.to_string()))
}

/// The differences between two versions. Without `to`, the second one is the active version, or the highest if none is
/// active.
pub async fn compare_versions(
    scope: &Scope,
    id: &ToolId,
    from: Version,
    to: Option<Version>,
) -> Result<VersionComparison> {
    let found = |version| store::tools::look_up_tools(scope.workspace(), ToolLookup::Id(id), version);
    let [one, other] = scope.read([found(Some(from)), found(to)]).await?;
    scope.caller().await?.must_be_unbound()?;
    let [one, other] = [(one, Some(from)), (other, to)]
        .map(|(rows, version)| store::tools::read_tool(&rows)?.ok_or_else(|| not_found(id, version)));
    VersionComparison::of(&one?, &other?, scope.app().settings().sealer.as_ref())
}

/// A decided change of a tool's versions.
pub struct VersionPlan {
    /// The version after the change.
    tool: Tool,
    /// The version before the change. If the change makes another version active: the version that is shown now, which
    /// is the active one, or the highest if none is active.
    before: Tool,
    /// None if nothing changes.
    placement: Option<Placement>,
}

impl VersionPlan {
    /// Takes one round trip, unless nothing changes.
    pub async fn write(self, scope: &Scope) -> Result<Tool> {
        if let Some(placement) = self.placement {
            write(scope, placement, &self.tool.id).await?;
        }
        Ok(self.tool)
    }

    /// What the plan would do. Writes nothing.
    pub fn preview(self, scope: &Scope) -> Result<(Tool, Preview)> {
        let mut warnings = warnings(&self.tool);
        if self.before.active && !self.tool.active {
            let message = "No version of the tool would be active: calls would be refused as TOOL_DISABLED";
            warnings.push(Warning::new("/active", message));
        }
        let sealer = scope.app().settings().sealer.as_ref();
        let preview = Preview::of(Some(&self.before), &self.tool, sealer, warnings)?;
        Ok((self.tool, preview))
    }
}

/// Makes another version of the tool the active one, and records the change as a rollback.
pub async fn roll_back(scope: &Scope, id: &ToolId, version: Version, reason: Option<&str>) -> Result<VersionPlan> {
    let reading = ToolReading::of(scope, id, Some(version)).await?;
    if reading.target.active {
        return Err(Error::Conflict(format!("{id}@{version} is the active version")));
    }
    reading.activate(scope, Action::Rollback, reason)
}

/// Switches a version on. Another active version is switched off.
pub async fn activate(scope: &Scope, id: &ToolId, version: Version) -> Result<VersionPlan> {
    let reading = ToolReading::of(scope, id, Some(version)).await?;
    if reading.target.active {
        return Ok(reading.unchanged());
    }
    reading.activate(scope, Action::Activate, None)
}

/// Switches off the given version, or the active one if none is given. If the version is off already, only its reason
/// changes.
pub async fn deactivate(
    scope: &Scope,
    id: &ToolId,
    version: Option<Version>,
    reason: DeactivationReason,
) -> Result<VersionPlan> {
    let reading = ToolReading::of(scope, id, version).await?;
    let before = &reading.target;
    if version.is_none() && !before.active {
        return Err(Error::Conflict(format!("{id} has no active version")));
    }
    if before.deactivated_reason == Some(reason) {
        return Ok(reading.unchanged());
    }
    if before.deactivated_reason == Some(DeactivationReason::Security) {
        return Err(Error::Conflict(format!("{id}@{} was deactivated for security, which is final", before.version)));
    }
    let mut after = before.switched_off(reason, scope.app().now());
    after.deactivated_at = before.deactivated_at.or(after.deactivated_at);
    let mut placement = Placement::default();
    placement.deactivate(before, reading.revision, &after, reason)?;
    Ok(VersionPlan { tool: after, before: reading.target, placement: Some(placement) })
}

/// A tool as it was read for a decision.
struct ToolReading {
    /// The version that lists show: the active one, or the highest if none is active.
    current: Tool,
    target: Tool,
    revision: u32,
    /// What the toolset in the tool's id declares.
    declared: DeclaredTools,
}

impl ToolReading {
    /// Takes one round trip. The target is the given version, or the current one if none is given.
    async fn of(scope: &Scope, id: &ToolId, version: Option<Version>) -> Result<Self> {
        let workspace = scope.workspace();
        let target = match version {
            Some(version) => store::tools::look_up_tools(workspace, ToolLookup::Id(id), Some(version)),
            None => store::tools::find_tool(workspace, id),
        };
        let [current, target, position, declared] = scope
            .read([
                store::tools::find_tool(workspace, id),
                target,
                store::versions::find_position(workspace, id),
                store::toolsets::declared_of(workspace, id),
            ])
            .await?;
        scope.caller().await?.must_be_unbound()?;
        let current = store::tools::read_tool(&current)?.ok_or_else(|| Error::not_found("Tool", id))?;
        if current.is_builtin() {
            let message = format!("{id} is a built-in tool: its newest version is always active");
            return Err(Error::Conflict(message));
        }
        let target = store::tools::read_tool(&target)?;
        let target = target.ok_or_else(|| match version {
            Some(version) => Error::not_found("Tool", format!("{id}@{version}")),
            None => Error::not_found("Tool", id),
        })?;
        let Some(VersionPosition { revision, .. }) = store::versions::read_position(&position)? else {
            return Err(Error::Internal(format!("the tool {id} has no position")));
        };
        let declared = store::toolsets::read_declared(&declared)?;
        Ok(Self { current, target, revision, declared })
    }

    /// The target is already as it should be.
    fn unchanged(self) -> VersionPlan {
        VersionPlan { tool: self.target.clone(), before: self.target, placement: None }
    }

    /// Makes the target the active version, unless a rule forbids this.
    fn activate(self, scope: &Scope, action: Action, reason: Option<&str>) -> Result<VersionPlan> {
        let before = &self.target;
        let name = format!("{}@{}", before.id, before.version);
        if before.deactivated_reason == Some(DeactivationReason::Security) {
            return Err(Error::Conflict(format!("{name} was deactivated for security and cannot come back")));
        }
        if let Some(missing) = Handler::of(before)?.missing_target() {
            return Err(Error::Conflict(format!("{name} cannot be active: {missing}")));
        }
        let upstream = before.upstream_id();
        if let (Some(upstream), None) = (&upstream, &before.upstream) {
            return Err(Error::Conflict(format!("{name} cannot be active: {}", missing_upstream(upstream.prefix()))));
        }
        let toolset = before.own_toolset();
        if let Some(missing) = toolset.and_then(|it| self.declared.missing(it, before.id.as_str())) {
            return Err(Error::Conflict(format!("{name} cannot be active: {missing}")));
        }
        if !before.missing_credentials.is_empty() {
            let message = format!("{name} cannot be active: it needs {}", before.missing_credentials.join(", "));
            return Err(Error::Conflict(format!("{message}, which this workspace does not define")));
        }
        let after = Tool { active: true, deactivated_at: None, deactivated_reason: None, ..before.clone() };
        let mut placement = Placement::default();
        if self.current.active {
            let reason = DeactivationReason::OperatorRequest;
            let replaced = self.current.switched_off(reason, scope.app().now());
            placement.deactivate(&self.current, self.revision, &replaced, reason)?;
        }
        placement.activate(before, self.revision, &after, action, reason)?;
        if let Some(upstream) = upstream {
            placement.only_if(store::upstreams::is_registered(scope.workspace(), &upstream));
        }
        if toolset.is_some() {
            placement.only_if(store::toolsets::is_declared(scope.workspace(), &before.id));
        }
        Ok(VersionPlan { tool: after, before: self.current, placement: Some(placement) })
    }
}

async fn write(scope: &Scope, placement: Placement, id: &ToolId) -> Result<()> {
    match placement.write(scope).await? {
        PlacementOutcome::Done => Ok(()),
        PlacementOutcome::Overtaken => {
            Err(Error::Conflict(format!("{id} was changed by another request meanwhile; read it and try again")))
        }
        PlacementOutcome::Banned => Err(Error::Conflict(format!("{id} was deactivated for security meanwhile"))),
    }
}
