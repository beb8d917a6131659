//! Decides which overrides a toolset has after an import: those of its manifest, and those that an admin has set.

use super::changes::NamedChanges;
use super::manifest::DeclaredOverride;
use super::overrides::{OverrideOut, change};
use crate::error::Result;
use crate::ids::ToolsetId;
use crate::registry::Placement;
use std::collections::BTreeMap;

/// The overrides of one import.
pub struct OverridePlan {
    pub changes: NamedChanges,
    /// All overrides of the toolset after the import, in order.
    pub overrides: Vec<OverrideOut>,
    pub warnings: Vec<String>,
}

/// What the bundle has, that an override may need.
pub trait OverrideGrounds {
    fn has_tool(&self, id: &str) -> bool;
    fn has_file(&self, path: &str) -> bool;
}

/// Decides about all overrides, and records what changes. An override that an admin has set stays as long as the bundle has
/// its tool: an upgrade must not take back an approval that an admin asks for. A page that the bundle no longer has goes.
pub fn decide(
    placement: &mut Placement,
    toolset: &ToolsetId,
    present: &[OverrideOut],
    declared: &[DeclaredOverride],
    grounds: &impl OverrideGrounds,
) -> Result<OverridePlan> {
    let plan = merged(toolset, present, declared, grounds);
    let before = by_tool(present);
    let after = by_tool(&plan.overrides);
    for (id, present) in &before {
        if !after.contains_key(id) {
            placement.record(change(Some(present), None)?);
        }
    }
    for (id, wanted) in &after {
        let present = before.get(id).copied();
        if present != Some(*wanted) {
            placement.record(change(present, Some(wanted))?);
        }
    }
    Ok(plan)
}

/// Records that all overrides go with their toolset.
pub fn record_removal(placement: &mut Placement, present: &[OverrideOut]) -> Result<()> {
    for it in present {
        placement.record(change(Some(it), None)?);
    }
    Ok(())
}

fn merged(
    toolset: &ToolsetId,
    present: &[OverrideOut],
    declared: &[DeclaredOverride],
    grounds: &impl OverrideGrounds,
) -> OverridePlan {
    let (kept, dropped): (Vec<_>, Vec<_>) =
        present.iter().filter(|it| it.by_admin).partition(|it| grounds.has_tool(&it.tool_id));
    let mut warnings = Vec::new();
    let mut with_page = |it: &OverrideOut| {
        let Some(page) = it.artifact().filter(|it| !grounds.has_file(it)) else { return Some(it.clone()) };
        warnings.push(format!("the override of {} loses its renderer: the bundle no longer has {page}", it.tool_id));
        let bare = OverrideOut { renderer: None, renderer_config: None, ..it.clone() };
        (!bare.is_empty()).then_some(bare)
    };
    let kept = kept.into_iter().filter_map(&mut with_page).collect::<Vec<_>>();
    let of_admin = by_tool(&kept);
    let mut overrides = declared
        .iter()
        .map(|it| match of_admin.get(it.tool_id.as_str()) {
            Some(kept) => (*kept).clone(),
            None => of_bundle(toolset, it),
        })
        .collect::<Vec<_>>();
    let declared = |id: &str| declared.iter().any(|it| it.tool_id.as_str() == id);
    overrides.extend(kept.iter().filter(|it| !declared(&it.tool_id)).cloned());
    for it in kept.iter().filter(|it| declared(&it.tool_id)) {
        warnings.push(format!("an admin has set the override of {}, and it stays instead of the bundle's", it.tool_id));
    }
    for it in dropped {
        warnings.push(format!("the override of {} is removed: the bundle no longer has the tool", it.tool_id));
    }
    let changes = NamedChanges::between(&by_tool(present), &by_tool(&overrides));
    OverridePlan { changes, overrides, warnings }
}

fn by_tool<'a>(overrides: impl IntoIterator<Item = &'a OverrideOut>) -> BTreeMap<&'a str, &'a OverrideOut> {
    overrides.into_iter().map(|it| (it.tool_id.as_str(), it)).collect()
}

fn of_bundle(toolset: &ToolsetId, declared: &DeclaredOverride) -> OverrideOut {
    OverrideOut {
        toolset_id: toolset.to_string(),
        tool_id: declared.tool_id.to_string(),
        renderer: declared.renderer,
        renderer_config: declared.renderer_config.clone(),
        name_override: declared.name_override.clone(),
        description_override: declared.description_override.clone(),
        requires_approval: declared.requires_approval,
        enabled: declared.enabled,
        by_admin: false,
    }
}
