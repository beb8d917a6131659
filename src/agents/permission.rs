//! Decides whether an agent may use a tool on behalf of a caller. No other module decides this. Pure.

use super::Agent;
use crate::callers::Level;
use crate::registry::{Risk, Tool};
use std::fmt;

/// The reason why a tool may not be used.
#[derive(Debug, PartialEq)]
pub enum PermissionRefusal {
    Level { needed: Level, effective: Level },
    NotAttached,
    Capabilities { missing: Vec<String> },
    Risk { tool: Risk, allowed: Risk },
    Module { module: String },
    Disabled,
}

impl fmt::Display for PermissionRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Level { needed, effective } => {
                write!(f, "needs the level {needed}, and the effective level is {effective}")
            }
            Self::NotAttached => f.write_str("is not attached to the agent"),
            Self::Capabilities { missing } => write!(f, "needs the capabilities {}", missing.join(", ")),
            Self::Risk { tool, allowed } => write!(f, "has the risk {tool}, and the agent is allowed {allowed}"),
            Self::Module { module } => write!(f, "belongs to the module {module}, which the agent may not use"),
            Self::Disabled => f.write_str("is not active"),
        }
    }
}

/// Checks a caller without an agent. Fails with the first reason for a refusal.
pub fn judge_caller(caller: Level, tool: &Tool, enabled: bool) -> Result<(), PermissionRefusal> {
    judge_level(caller, tool)?;
    if enabled { Ok(()) } else { Err(PermissionRefusal::Disabled) }
}

fn judge_level(effective: Level, tool: &Tool) -> Result<(), PermissionRefusal> {
    if effective < tool.required_permission {
        return Err(PermissionRefusal::Level { needed: tool.required_permission, effective });
    }
    Ok(())
}

/// Checks an agent with its caller. Fails with the first of the [`refusals`].
pub fn judge(
    agent: &Agent,
    caller: Level,
    tool: &Tool,
    attached: bool,
    enabled: bool,
) -> Result<(), PermissionRefusal> {
    refusals(agent, caller, tool, attached, enabled).next().map_or(Ok(()), Err)
}

/// Every reason why the agent may not use the tool on behalf of the caller, in the order in which calls are refused.
/// `attached` says whether the agent has the tool, by an attachment or by default. `enabled` says whether the version
/// in question can be called.
pub fn refusals(
    agent: &Agent,
    caller: Level,
    tool: &Tool,
    attached: bool,
    enabled: bool,
) -> impl Iterator<Item = PermissionRefusal> {
    let profile = &agent.profile;
    let missing =
        tool.required_capabilities.iter().filter(|it| !profile.capabilities.contains(it)).cloned().collect::<Vec<_>>();
    let module = tool.module_name().filter(|module| !profile.allowed_modules.iter().any(|it| it == module));
    let risk = PermissionRefusal::Risk { tool: tool.risk_level, allowed: profile.max_risk };
    [
        judge_level(caller.min(profile.permission_level), tool).err(),
        (!attached).then_some(PermissionRefusal::NotAttached),
        (!missing.is_empty()).then_some(PermissionRefusal::Capabilities { missing }),
        (tool.risk_level > profile.max_risk).then_some(risk),
        module.map(|it| PermissionRefusal::Module { module: it.to_owned() }),
        (!enabled).then_some(PermissionRefusal::Disabled),
    ]
    .into_iter()
    .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::{Profile, ProfileChange};
    use crate::ids::AgentId;
    use crate::registry::{Source, fixture};
    use crate::time::Timestamp;

    fn agent(change: ProfileChange) -> Agent {
        Agent {
            id: AgentId::random().unwrap(),
            profile: Profile::new("a".into(), change).unwrap(),
            created_at: Timestamp::from_millis(0).unwrap(),
            revision: 1,
        }
    }

    fn tool(id: &str, change: impl FnOnce(&mut Tool)) -> Tool {
        let mut tool = fixture(id);
        change(&mut tool);
        tool
    }

    fn allowed(agent: &Agent, caller: Level, tool: &Tool) -> Result<(), PermissionRefusal> {
        judge(agent, caller, tool, true, tool.active)
    }

    #[test]
    fn a_plain_tool_is_allowed() {
        assert_eq!(allowed(&agent(ProfileChange::default()), Level::Guest, &fixture("x")), Ok(()));
    }

    #[test]
    fn the_lower_of_the_callers_and_the_agents_level_counts() {
        let tool = tool("x", |it| it.required_permission = Level::Admin);
        for (caller, of_agent, expected) in [
            (Level::Owner, Level::User, Some(Level::User)),
            (Level::User, Level::Owner, Some(Level::User)),
            (Level::Admin, Level::Owner, None),
        ] {
            let agent = agent(ProfileChange { permission_level: Some(of_agent), ..Default::default() });
            let refusal = expected.map(|effective| PermissionRefusal::Level { needed: Level::Admin, effective });
            assert_eq!(allowed(&agent, caller, &tool).err(), refusal);
        }
    }

    #[test]
    fn missing_capabilities_are_named() {
        let tool = tool("x", |it| it.required_capabilities = vec!["net".into(), "mail".into()]);
        let agent = agent(ProfileChange { capabilities: Some(vec!["mail".into()]), ..Default::default() });
        let refusal = allowed(&agent, Level::Owner, &tool).unwrap_err();
        assert_eq!(refusal, PermissionRefusal::Capabilities { missing: vec!["net".into()] });
        assert_eq!(refusal.to_string(), "needs the capabilities net");
    }

    #[test]
    fn the_level_comes_before_the_attachment_and_that_before_the_rest() {
        let agent = agent(ProfileChange::default());
        let tool = tool("x", |it| {
            it.required_permission = Level::User;
            it.risk_level = Risk::Critical;
        });
        let judged = |caller, attached| judge(&agent, caller, &tool, attached, true).unwrap_err();
        assert!(matches!(judged(Level::Guest, false), PermissionRefusal::Level { .. }));
        assert_eq!(judged(Level::User, false), PermissionRefusal::NotAttached);
        assert!(matches!(judged(Level::User, true), PermissionRefusal::Risk { .. }));
    }

    #[test]
    fn a_caller_without_an_agent_is_held_to_level_and_activity_alone() {
        let mut tool = tool("x", |it| it.required_capabilities = vec!["net".into()]);
        assert_eq!(judge_caller(Level::Guest, &tool, true), Ok(()));
        assert_eq!(judge_caller(Level::Guest, &tool, false), Err(PermissionRefusal::Disabled));
        tool.required_permission = Level::Admin;
        assert!(judge_caller(Level::User, &tool, true).is_err());
    }

    #[test]
    fn every_reason_is_told_in_the_order_of_refusals() {
        let agent = agent(ProfileChange::default());
        let tool = tool("files.wipe", |it| {
            it.source = Source::Module;
            it.required_permission = Level::Admin;
            it.required_capabilities = vec!["net".into()];
            it.risk_level = Risk::Critical;
        });
        let told = |tool, attached, enabled| {
            refusals(&agent, Level::Owner, tool, attached, enabled).map(|it| it.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(
            told(&tool, false, false),
            [
                "needs the level admin, and the effective level is user",
                "is not attached to the agent",
                "needs the capabilities net",
                "has the risk critical, and the agent is allowed medium",
                "belongs to the module files, which the agent may not use",
                "is not active",
            ]
        );
        assert!(told(&fixture("x"), true, true).is_empty());
    }

    #[test]
    fn risk_modules_and_activity() {
        let agent = agent(ProfileChange { allowed_modules: Some(vec!["research".into()]), ..Default::default() });
        let check = |tool: Tool, expected: Option<PermissionRefusal>| {
            assert_eq!(allowed(&agent, Level::Owner, &tool).err(), expected)
        };
        check(tool("x", |it| it.risk_level = Risk::Medium), None);
        check(
            tool("x", |it| it.risk_level = Risk::High),
            Some(PermissionRefusal::Risk { tool: Risk::High, allowed: Risk::Medium }),
        );
        check(tool("research.web", |it| it.source = Source::Module), None);
        check(
            tool("files.delete", |it| it.source = Source::Module),
            Some(PermissionRefusal::Module { module: "files".into() }),
        );
        check(tool("x", |it| it.active = false), Some(PermissionRefusal::Disabled));
    }
}
