//! Decides about each tool of a bundle: does it become a new version, come back, or stay as it is? And which tools are
//! gone?

use super::changes::NamedChanges;
use super::definition::is_same;
use crate::changes::Action;
use crate::error::Result;
use crate::registry::{DeactivationReason, Placement, Tool, ToolReading};
use crate::time::Timestamp;
use std::collections::{HashMap, HashSet};

/// The reason in the change log for a tool that comes back.
const IMPORTED_AGAIN: &str = "the toolset was imported again";

/// The decisions about the tools of one import.
#[derive(Debug, Default)]
pub struct ToolPlan {
    pub changes: NamedChanges,
    /// The tools at the versions that they will have, in the order of the manifest.
    pub tools: Vec<Tool>,
    /// The tools of the bundle that an admin has switched off, and that stay off.
    pub kept_off: Vec<String>,
}

/// Decides about all tools. `is_installed` says whether the toolset is installed already: then a tool that is switched off
/// was switched off by a person, and stays so.
pub fn decide(
    placement: &mut Placement,
    present: &[ToolReading],
    offered: &[Tool],
    is_installed: bool,
    now: Timestamp,
) -> Result<ToolPlan> {
    let mut plan = ToolPlan::default();
    let readings = present.iter().map(|it| (it.tool.id.as_str(), it)).collect::<HashMap<_, _>>();
    for tool in offered {
        let id = tool.id.to_string();
        let Some(reading) = readings.get(tool.id.as_str()).copied() else {
            plan.tools.push(placement.put(None, tool.clone())?);
            plan.changes.added.push(id);
            continue;
        };
        let present = &reading.tool;
        match verdict(present, is_same(present, tool)?, is_installed) {
            Verdict::Leave => plan.tools.push(present.clone()),
            Verdict::KeepOff => {
                plan.tools.push(present.clone());
                plan.kept_off.push(id);
            }
            Verdict::Put => {
                plan.tools.push(placement.put(Some(reading), tool.clone())?);
                if present.active { plan.changes.changed.push(id) } else { plan.changes.added.push(id) }
            }
            Verdict::BringBack => {
                let after = Tool { active: true, deactivated_at: None, deactivated_reason: None, ..present.clone() };
                placement.activate(present, reading.revision, &after, Action::Activate, Some(IMPORTED_AGAIN))?;
                plan.tools.push(after);
                plan.changes.added.push(id);
            }
        }
    }
    let wanted = offered.iter().map(|it| it.id.as_str()).collect::<HashSet<_>>();
    for reading in present.iter().filter(|it| it.tool.active && !wanted.contains(it.tool.id.as_str())) {
        switch_off(placement, reading, DeactivationReason::Deprecated, now)?;
        plan.changes.removed.push(reading.tool.id.to_string());
    }
    Ok(plan)
}

/// Switches off a tool whose toolset no longer has it.
pub fn switch_off(
    placement: &mut Placement,
    reading: &ToolReading,
    reason: DeactivationReason,
    now: Timestamp,
) -> Result<()> {
    let ToolReading { tool, revision, .. } = reading;
    placement.deactivate(tool, *revision, &tool.switched_off(reason, now), reason)
}

#[derive(Debug, PartialEq)]
enum Verdict {
    /// The tool is as the bundle has it.
    Leave,
    /// A person has switched the tool off.
    KeepOff,
    /// The definition becomes the active version.
    Put,
    /// The current version becomes active again.
    BringBack,
}

fn verdict(present: &Tool, is_same: bool, is_installed: bool) -> Verdict {
    if present.active {
        return if is_same { Verdict::Leave } else { Verdict::Put };
    }
    let may_come_back = match present.deactivated_reason {
        Some(DeactivationReason::Deprecated) => true,
        // The tools of a toolset that was uninstalled come back with it.
        Some(DeactivationReason::OperatorRequest) => !is_installed,
        Some(DeactivationReason::Security | DeactivationReason::VersionUpdate) | None => false,
    };
    match (may_come_back, is_same) {
        (false, _) => Verdict::KeepOff,
        (true, true) => Verdict::BringBack,
        (true, false) => Verdict::Put,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::fixture;

    fn off(reason: DeactivationReason) -> Tool {
        fixture("kit:t").switched_off(reason, Timestamp::from_millis(0).unwrap())
    }

    #[test]
    fn what_a_person_switched_off_stays_off() {
        assert_eq!(verdict(&fixture("kit:t"), true, true), Verdict::Leave);
        assert_eq!(verdict(&fixture("kit:t"), false, true), Verdict::Put);
        for is_same in [true, false] {
            assert_eq!(verdict(&off(DeactivationReason::OperatorRequest), is_same, true), Verdict::KeepOff);
            for is_installed in [true, false] {
                assert_eq!(verdict(&off(DeactivationReason::Security), is_same, is_installed), Verdict::KeepOff);
            }
        }
    }

    #[test]
    fn what_went_with_its_toolset_comes_back_with_it() {
        for (reason, is_installed) in
            [(DeactivationReason::OperatorRequest, false), (DeactivationReason::Deprecated, true)]
        {
            assert_eq!(verdict(&off(reason), true, is_installed), Verdict::BringBack);
            assert_eq!(verdict(&off(reason), false, is_installed), Verdict::Put);
        }
    }
}
