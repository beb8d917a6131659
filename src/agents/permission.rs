//! Decides whether an agent may use a tool on behalf of a caller. No other module decides this. Pure.

use super::Agent;
use crate::callers::Level;
use crate::registry::{Risk, Source, Tool};
use std::fmt;

/// The reason why a tool may not be used.
#[derive(Debug, PartialEq)]
pub enum PermissionRefusal {
    Level {
        needed: Level,
        effective: Level,
    },
    NotAttached,
    Capabilities {
        missing: Vec<String>,
    },
    Risk {
        tool: Risk,
        allowed: Risk,
    },
    Module {
        module: String,
    },
    /// The module is not one of those that the workspace leaves to guests without an agent.
    GuestModule {
        module: String,
    },
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
            Self::GuestModule { module } => write!(f, "belongs to the module {module}, which guests may not use"),
            Self::Disabled => f.write_str("is not active"),
        }
    }
}

/// What a decision needs to know about the tool, besides its definition.
#[derive(Clone, Copy)]
pub struct ToolStanding<'a> {
    /// Whether the agent has the tool, by an attachment or by default. Tools of modules need no attachment.
    pub attached: bool,
    /// Whether the version in question can be called.
    pub enabled: bool,
    /// The workspace's `default_guest_modules`. Only decisions about tools of modules need them.
    pub default_modules: &'a [String],
}

/// Checks a caller without an agent. Fails with the first reason for a refusal. A guest may use the workspace's default
/// modules. Other callers may use every module.
pub fn judge_caller(caller: Level, tool: &Tool, standing: ToolStanding<'_>) -> Result<(), PermissionRefusal> {
    judge_level(caller, tool)?;
    if caller == Level::Guest
        && let Some(module) = module_outside(standing.default_modules, tool)
    {
        return Err(PermissionRefusal::GuestModule { module });
    }
    if standing.enabled { Ok(()) } else { Err(PermissionRefusal::Disabled) }
}

fn judge_level(effective: Level, tool: &Tool) -> Result<(), PermissionRefusal> {
    if effective < tool.required_permission {
        return Err(PermissionRefusal::Level { needed: tool.required_permission, effective });
    }
    Ok(())
}

/// The module that the tool belongs to, if it is outside the list.
fn module_outside(allowed: &[String], tool: &Tool) -> Option<String> {
    tool.module_name().filter(|module| !allowed.iter().any(|it| it == module)).map(str::to_owned)
}

/// Checks an agent with its caller. Fails with the first of the [`refusals`].
pub fn judge(agent: &Agent, caller: Level, tool: &Tool, standing: ToolStanding<'_>) -> Result<(), PermissionRefusal> {
    refusals(agent, caller, tool, standing).next().map_or(Ok(()), Err)
}

/// Every reason why the agent may not use the tool on behalf of the caller, in the order in which calls are refused. A
/// tool of a module is allowed by its module instead of an attachment: the module must be in the agent's list of modules,
/// or in the workspace's list if the agent's is empty.
pub fn refusals(
    agent: &Agent,
    caller: Level,
    tool: &Tool,
    standing: ToolStanding<'_>,
) -> impl Iterator<Item = PermissionRefusal> {
    let profile = &agent.profile;
    let missing =
        tool.required_capabilities.iter().filter(|it| !profile.capabilities.contains(it)).cloned().collect::<Vec<_>>();
    let own = Some(profile.allowed_modules.as_slice()).filter(|it| !it.is_empty());
    let has_tool = standing.attached || tool.source == Source::Module;
    let risk = PermissionRefusal::Risk { tool: tool.risk_level, allowed: profile.max_risk };
    [
        judge_level(caller.min(profile.permission_level), tool).err(),
        (!has_tool).then_some(PermissionRefusal::NotAttached),
        (!missing.is_empty()).then_some(PermissionRefusal::Capabilities { missing }),
        (tool.risk_level > profile.max_risk).then_some(risk),
        module_outside(own.unwrap_or(standing.default_modules), tool)
            .map(|module| PermissionRefusal::Module { module }),
        (!standing.enabled).then_some(PermissionRefusal::Disabled),
    ]
    .into_iter()
    .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::{Profile, ProfileChange};
    use crate::ids::AgentId;
    use crate::registry::fixture;
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

    const fn standing(attached: bool, enabled: bool) -> ToolStanding<'static> {
        ToolStanding { attached, enabled, default_modules: &[] }
    }

    fn allowed(agent: &Agent, caller: Level, tool: &Tool) -> Result<(), PermissionRefusal> {
        judge(agent, caller, tool, standing(true, tool.active))
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
        let judged = |caller, attached| judge(&agent, caller, &tool, standing(attached, true)).unwrap_err();
        assert!(matches!(judged(Level::Guest, false), PermissionRefusal::Level { .. }));
        assert_eq!(judged(Level::User, false), PermissionRefusal::NotAttached);
        assert!(matches!(judged(Level::User, true), PermissionRefusal::Risk { .. }));
    }

    #[test]
    fn a_caller_without_an_agent_is_held_to_level_and_activity_alone() {
        let mut tool = tool("x", |it| it.required_capabilities = vec!["net".into()]);
        let judged = |level, tool: &Tool, enabled| judge_caller(level, tool, standing(false, enabled));
        assert_eq!(judged(Level::Guest, &tool, true), Ok(()));
        assert_eq!(judged(Level::Guest, &tool, false), Err(PermissionRefusal::Disabled));
        tool.required_permission = Level::Admin;
        assert!(judged(Level::User, &tool, true).is_err());
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
            refusals(&agent, Level::Owner, tool, standing(attached, enabled))
                .map(|it| it.to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            told(&tool, false, false),
            [
                "needs the level admin, and the effective level is user",
                "needs the capabilities net",
                "has the risk critical, and the agent is allowed medium",
                "belongs to the module files, which the agent may not use",
                "is not active",
            ]
        );
        let plain = fixture("x");
        assert_eq!(told(&plain, false, true), ["is not attached to the agent"]);
        assert!(told(&plain, true, true).is_empty());
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

    #[test]
    fn a_tool_of_a_module_needs_the_module_and_no_attachment() {
        let research = tool("research.web", |it| it.source = Source::Module);
        let judged = |own: &[&str], defaults: &[&str], attached| {
            let [own, defaults] = [own, defaults].map(|it| it.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>());
            let agent = agent(ProfileChange { allowed_modules: Some(own), ..Default::default() });
            let standing = ToolStanding { default_modules: &defaults, ..standing(attached, true) };
            judge(&agent, Level::Owner, &research, standing).is_ok()
        };
        for attached in [false, true] {
            assert!(judged(&["files", "research"], &[], attached));
            assert!(judged(&[], &["research"], attached), "an empty list means the workspace's");
            assert!(!judged(&[], &["files"], attached));
            assert!(!judged(&[], &[], attached));
            assert!(!judged(&["files"], &["research"], attached), "a list of its own replaces the workspace's");
            assert!(!judged(&["resea", "research.web", "research."], &[], attached));
        }
    }

    #[test]
    fn a_guest_without_an_agent_is_held_to_the_default_modules() {
        let research = tool("research.web", |it| it.source = Source::Module);
        let judged = |level, tool: &Tool, defaults: &[String]| {
            judge_caller(level, tool, ToolStanding { default_modules: defaults, ..standing(false, true) })
        };
        let refused = Err(PermissionRefusal::GuestModule { module: "research".into() });
        assert_eq!(judged(Level::Guest, &research, &[]), refused);
        assert_eq!(judged(Level::Guest, &research, &["research".into()]), Ok(()));
        assert_eq!(judged(Level::Guest, &fixture("x"), &[]), Ok(()));
        for level in [Level::User, Level::Admin, Level::Owner] {
            assert_eq!(judged(level, &research, &[]), Ok(()));
        }
    }
}
