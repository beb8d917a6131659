//! The rules about who may call a tool. A call may name an older version, but the rules of the current version hold for
//! that call too. Otherwise the call would escape a rule that a newer version has tightened.

use super::tool::{Risk, Tool};
use crate::callers::Level;
use serde::Deserialize;

/// The policy of one version.
#[derive(Clone, Debug, Deserialize)]
pub struct Policy {
    /// Whether the version is active.
    pub active: bool,
    risk_level: Risk,
    required_permission: Level,
    required_capabilities: Vec<String>,
    requires_approval: bool,
    rate_limit: Option<u32>,
}

impl Tool {
    /// The version with the policy that holds for its calls today. Each rule is the stricter one of this version and of
    /// the tool's current version. Only the rate limit is always the current version's, because all versions share one
    /// count of calls.
    pub fn under_current_policy(mut self) -> Self {
        let Some(current) = &self.current_policy else { return self };
        self.risk_level = self.risk_level.max(current.risk_level);
        self.required_permission = self.required_permission.max(current.required_permission);
        for capability in &current.required_capabilities {
            if !self.required_capabilities.contains(capability) {
                self.required_capabilities.push(capability.clone());
            }
        }
        self.requires_approval |= current.requires_approval;
        self.rate_limit = current.rate_limit;
        self
    }

    /// Whether a call has to wait for an approval: the override or the version asks for one, or the risk does.
    pub fn needs_approval(&self) -> bool {
        self.asks_for_approval() || self.risk_level.always_needs_approval()
    }

    /// Whether the tool has an active version. A tool without one cannot be called at all.
    pub fn has_active_version(&self) -> bool {
        self.active || self.current_policy.as_ref().is_some_and(|it| it.active)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::fixture;
    use crate::text_enum::TextEnum;

    fn policy(risk_level: Risk, required_permission: Level, capabilities: &[&str], requires_approval: bool) -> Policy {
        Policy {
            active: true,
            risk_level,
            required_permission,
            required_capabilities: capabilities.iter().map(|it| (*it).to_owned()).collect(),
            requires_approval,
            rate_limit: Some(3),
        }
    }

    #[test]
    fn each_rule_is_the_stricter_one_and_the_rate_limit_is_the_current_one() {
        let mut tool = fixture("x");
        tool.required_capabilities = vec!["mail".into()];
        tool.rate_limit = Some(1);
        tool.current_policy = Some(policy(Risk::High, Level::Admin, &["net", "mail"], true));
        let held = tool.clone().under_current_policy();
        assert_eq!((held.risk_level, held.required_permission), (Risk::High, Level::Admin));
        assert_eq!(held.required_capabilities, ["mail", "net"]);
        assert_eq!((held.requires_approval, held.rate_limit), (true, Some(3)));

        // A looser current version loosens nothing.
        (tool.risk_level, tool.required_permission, tool.requires_approval) = (Risk::Critical, Level::Owner, true);
        tool.current_policy = Some(policy(Risk::Safe, Level::Guest, &[], false));
        let held = tool.under_current_policy();
        assert_eq!((held.risk_level, held.required_permission), (Risk::Critical, Level::Owner));
        assert_eq!((held.required_capabilities.len(), held.requires_approval), (1, true));
    }

    #[test]
    fn the_version_or_its_risk_asks_for_an_approval() {
        let needs = |risk_level, requires_approval| {
            let mut tool = fixture("x");
            (tool.risk_level, tool.requires_approval) = (risk_level, requires_approval);
            tool.needs_approval()
        };
        assert_eq!(Risk::ALL.iter().map(|it| needs(*it, false)).collect::<Vec<_>>(), [false, false, false, true, true]);
        assert!(Risk::ALL.iter().all(|it| needs(*it, true)));
    }

    #[test]
    fn the_current_version_keeps_its_own_policy() {
        let mut tool = fixture("x");
        tool.rate_limit = Some(1);
        assert_eq!(tool.clone().under_current_policy().rate_limit, Some(1));
        assert!(tool.has_active_version());
        tool.active = false;
        assert!(!tool.has_active_version());
        tool.current_policy = Some(policy(Risk::Low, Level::Guest, &[], false));
        assert!(tool.has_active_version());
    }
}
