//! Decides about each tool that an upstream offers: is it put in place, held back, or left as it is? And which tools of
//! the upstream are gone? The decisions go into a [`Placement`].

use super::held_back::{HeldBack, HeldBackChange};
use super::kind::UpstreamSettings;
use super::offer::{Offers, Registrant, UpstreamWarning, is_same_definition, policy};
use super::upstream::Upstream;
use crate::changes::Action;
use crate::error::{Problem, Result};
use crate::ids::ToolId;
use crate::outgoing::UrlRules;
use crate::registry::{self, DeactivationReason, Placement, Tool, ToolReading};
use std::collections::{HashMap, HashSet};

/// The most warnings that an upstream keeps.
const MAX_WARNINGS: usize = 200;

/// The reason in the change log for a tool that comes back.
const OFFERED_AGAIN: &str = "the server offers the tool again";

/// What was decided about one upstream.
#[derive(Debug, Default)]
pub struct Decided {
    pub added: u32,
    pub changed: u32,
    pub removed: u32,
    pub held: Vec<HeldBack>,
    pub warnings: Vec<UpstreamWarning>,
    /// How many tools the upstream offers.
    pub offered: usize,
}

/// What holds for all tools of an upstream.
pub struct PlacingRules<'a> {
    /// The timeout of tools that name none.
    pub timeout_seconds: u32,
    pub url_rules: UrlRules<'a>,
    pub by: Registrant<'a>,
}

/// Decides about everything that an upstream offers. `present` are the upstream's tools, whether active or not.
pub fn decide<S: UpstreamSettings>(
    placement: &mut Placement,
    upstream: &Upstream<S>,
    offers: &Offers,
    present: &HashMap<&str, &ToolReading>,
    rules: &PlacingRules<'_>,
) -> Result<Decided> {
    let PlacingRules { timeout_seconds, url_rules, by } = rules;
    let mut decided = Decided { warnings: offers.warnings.clone(), offered: offers.tools.len(), ..Decided::default() };
    let mut kept = offers.left_out.iter().map(ToolId::as_str).collect::<HashSet<_>>();
    let first_sight = upstream.findings.discovered_at.is_none();
    for (id, offered) in &offers.tools {
        kept.insert(id.as_str());
        let tool = offered.to_tool::<S>(id, *timeout_seconds, by)?;
        let mut problems = registry::problems(&tool, &offered.handler);
        problems.extend(offered.handler.check(*url_rules));
        if !problems.is_empty() {
            decided.warnings.push(UpstreamWarning { tool: Some(id.to_string()), message: told(&problems) });
            continue;
        }
        let reading = present.get(id.as_str()).copied();
        let hold =
            |change| HeldBack { upstream: upstream.id.clone(), tool_id: id.clone(), change, offered: offered.clone() };
        let hurdles =
            Hurdles { first_sight, accepts_all: upstream.settings.accepts_all(), sets_policy: S::SETS_POLICY };
        match verdict(reading.map(|it| &it.tool), &tool, hurdles) {
            Verdict::Leave => {}
            Verdict::Put if reading.is_none() => {
                placement.put(None, tool)?;
                decided.added += 1;
            }
            Verdict::Put => {
                placement.put(reading, tool)?;
                decided.changed += 1;
            }
            Verdict::BringBack => {
                if let Some(ToolReading { tool, revision, .. }) = reading {
                    let after = Tool { active: true, deactivated_at: None, deactivated_reason: None, ..tool.clone() };
                    placement.activate(tool, *revision, &after, Action::Activate, Some(OFFERED_AGAIN))?;
                    decided.added += 1;
                }
            }
            Verdict::HoldBack(change) => decided.held.push(hold(change)),
        }
    }
    let gone = present.values().filter(|it| it.tool.active && !kept.contains(it.tool.id.as_str()));
    for ToolReading { tool, revision, .. } in gone.copied() {
        let reason = DeactivationReason::Deprecated;
        placement.deactivate(tool, *revision, &tool.switched_off(reason, by.now), reason)?;
        decided.removed += 1;
    }
    bound_warnings(&mut decided.warnings);
    Ok(decided)
}

/// What happens to one offered definition.
#[derive(Debug, PartialEq)]
enum Verdict {
    /// The tool is as it is offered, or an admin has switched it off.
    Leave,
    /// The definition becomes the active version.
    Put,
    /// The current version becomes active again.
    BringBack,
    HoldBack(HeldBackChange),
}

/// What an offered definition has to pass.
#[derive(Clone, Copy, Debug)]
struct Hurdles {
    first_sight: bool,
    /// Whether everything is accepted without an admin.
    accepts_all: bool,
    /// Whether the policy of the tool is an admin's, and not a part of the definition.
    sets_policy: bool,
}

/// `first_sight` says whether the upstream has never been discovered before: then its new tools are what the admin
/// who registered the upstream wants.
fn verdict(present: Option<&Tool>, offered: &Tool, hurdles: Hurdles) -> Verdict {
    let Hurdles { first_sight, accepts_all, sets_policy } = hurdles;
    let Some(present) = present else {
        return if first_sight || accepts_all { Verdict::Put } else { Verdict::HoldBack(HeldBackChange::New) };
    };
    // Only a tool that the upstream itself has taken away, or that went with its upstream, comes back by itself. Anything
    // else was switched off by a person.
    let may_come_back = match present.deactivated_reason {
        Some(DeactivationReason::Deprecated) => true,
        Some(DeactivationReason::OperatorRequest) => first_sight,
        Some(DeactivationReason::Security | DeactivationReason::VersionUpdate) | None => false,
    };
    let has_same_policy = policy(present) == policy(offered);
    let is_same = is_same_definition(present, offered) && (sets_policy || has_same_policy);
    match (present.active, is_same) {
        (true, true) if present.timeout_seconds == offered.timeout_seconds && has_same_policy => Verdict::Leave,
        (true, true) => Verdict::Put,
        (false, true) if may_come_back => Verdict::BringBack,
        (false, true) => Verdict::Leave,
        (active, false) if accepts_all && (active || may_come_back) => Verdict::Put,
        (_, false) => Verdict::HoldBack(HeldBackChange::Changed),
    }
}

/// The problems of one tool as one sentence.
fn told(problems: &[Problem]) -> String {
    let told = problems.iter().take(3).map(|it| format!("{}: {}", it.path.trim_start_matches('/'), it.message));
    let more = problems.len().saturating_sub(3);
    let more = if more == 0 { String::new() } else { format!("; and {more} more") };
    format!("{}{more}", told.collect::<Vec<_>>().join("; "))
}

/// Drops the warnings that an upstream has no room for, and says how many there are.
pub fn bound_warnings(warnings: &mut Vec<UpstreamWarning>) {
    let more = warnings.len().saturating_sub(MAX_WARNINGS);
    if more > 0 {
        warnings.truncate(MAX_WARNINGS);
        warnings.push(UpstreamWarning { tool: None, message: format!("{more} more warnings are not shown") });
    }
}

#[cfg(test)]
mod tests {
    use super::HeldBackChange::{Changed, New};
    use super::*;
    use crate::registry::{Risk, fixture};
    use crate::time::Timestamp;

    #[track_caller]
    fn check(present: Option<&Tool>, offered: &Tool, first: bool, auto: bool, expected: Verdict) {
        let hurdles = Hurdles { first_sight: first, accepts_all: auto, sets_policy: false };
        assert_eq!(verdict(present, offered, hurdles), expected, "first sight: {first}, auto: {auto}");
    }

    #[test]
    fn a_policy_that_an_admin_has_set_needs_no_admin() {
        let (present, mut offered) = (fixture("m:t"), fixture("m:t"));
        offered.risk_level = Risk::High;
        let hurdles = |sets_policy| Hurdles { first_sight: false, accepts_all: false, sets_policy };
        assert_eq!(verdict(Some(&present), &offered, hurdles(true)), Verdict::Put);
        assert_eq!(verdict(Some(&present), &offered, hurdles(false)), Verdict::HoldBack(Changed));
    }

    fn off(reason: DeactivationReason) -> Tool {
        fixture("m.t").switched_off(reason, Timestamp::from_millis(0).unwrap())
    }

    #[test]
    fn a_new_tool_is_accepted_at_first_sight_alone() {
        let offered = fixture("m.t");
        check(None, &offered, true, false, Verdict::Put);
        check(None, &offered, false, false, Verdict::HoldBack(New));
        check(None, &offered, false, true, Verdict::Put);
    }

    #[test]
    fn a_changed_definition_waits() {
        let (present, mut offered) = (fixture("m.t"), fixture("m.t"));
        check(Some(&present), &offered, false, false, Verdict::Leave);
        offered.risk_level = Risk::Safe;
        check(Some(&present), &offered, false, false, Verdict::HoldBack(Changed));
        check(Some(&present), &offered, true, false, Verdict::HoldBack(Changed));
        check(Some(&present), &offered, false, true, Verdict::Put);
    }

    #[test]
    fn another_timeout_alone_needs_no_admin() {
        let (present, mut offered) = (fixture("m.t"), fixture("m.t"));
        offered.timeout_seconds = 120;
        check(Some(&present), &offered, false, false, Verdict::Put);
    }

    #[test]
    fn a_tool_that_returns_unchanged_is_active_again() {
        let mut offered = fixture("m.t");
        check(Some(&off(DeactivationReason::Deprecated)), &offered, false, false, Verdict::BringBack);
        offered.description = "Something else".into();
        check(Some(&off(DeactivationReason::Deprecated)), &offered, false, false, Verdict::HoldBack(Changed));
        check(Some(&off(DeactivationReason::Deprecated)), &offered, false, true, Verdict::Put);
    }

    #[test]
    fn what_a_person_switched_off_stays_off() {
        let mut offered = fixture("m.t");
        for auto in [false, true] {
            check(Some(&off(DeactivationReason::OperatorRequest)), &offered, false, auto, Verdict::Leave);
            check(Some(&off(DeactivationReason::Security)), &offered, true, auto, Verdict::Leave);
        }
        // The tools of a deleted module come back with the module.
        check(Some(&off(DeactivationReason::OperatorRequest)), &offered, true, false, Verdict::BringBack);
        offered.description = "Something else".into();
        check(Some(&off(DeactivationReason::OperatorRequest)), &offered, false, true, Verdict::HoldBack(Changed));
        check(Some(&off(DeactivationReason::Security)), &offered, false, true, Verdict::HoldBack(Changed));
    }

    #[test]
    fn the_order_and_the_spaces_of_a_schema_do_not_count() {
        let (mut one, mut other) = (fixture("m.t"), fixture("m.t"));
        one.parameters_schema = r#"{"type": "object", "properties": {"a": {}, "b": {}}}"#.into();
        other.parameters_schema = r#"{"properties":{"b":{},"a":{}},"type":"object"}"#.into();
        assert!(is_same_definition(&one, &other));
        other.parameters_schema = r#"{"properties":{"b":{},"a":{"type":"null"}},"type":"object"}"#.into();
        assert!(!is_same_definition(&one, &other));
    }
}
