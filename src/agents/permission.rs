//! May this agent, for this caller, use this tool? Pure, and the one place that says so.

use super::Agent;
use crate::callers::Level;
use crate::registry::{Risk, Tool};
use std::fmt;

/// What stands in the way.
#[derive(Debug, PartialEq)]
pub enum Refusal {
    Level { needed: Level, effective: Level },
    Capabilities { missing: Vec<String> },
    Risk { tool: Risk, allowed: Risk },
    Module { module: String },
    Disabled,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Level { needed, effective } => write!(f, "needs the level {needed}, and this call has {effective}"),
            Self::Capabilities { missing } => write!(f, "needs the capabilities {}", missing.join(", ")),
            Self::Risk { tool, allowed } => write!(f, "has the risk {tool}, and the agent is allowed {allowed}"),
            Self::Module { module } => write!(f, "belongs to the module {module}, which the agent may not use"),
            Self::Disabled => f.write_str("has no active version"),
        }
    }
}

/// The first thing that stands in the way, in the order in which calls are refused.
pub fn judge(agent: &Agent, caller: Level, tool: &Tool) -> Result<(), Refusal> {
    let profile = &agent.profile;
    let effective = caller.min(profile.permission_level);
    if effective < tool.required_permission {
        return Err(Refusal::Level { needed: tool.required_permission, effective });
    }
    let missing =
        tool.required_capabilities.iter().filter(|it| !profile.capabilities.contains(it)).cloned().collect::<Vec<_>>();
    if !missing.is_empty() {
        return Err(Refusal::Capabilities { missing });
    }
    if tool.risk_level > profile.max_risk {
        return Err(Refusal::Risk { tool: tool.risk_level, allowed: profile.max_risk });
    }
    if let Some(module) = tool.module()
        && !profile.allowed_modules.iter().any(|it| it == module)
    {
        return Err(Refusal::Module { module: module.to_owned() });
    }
    if !tool.active {
        return Err(Refusal::Disabled);
    }
    Ok(())
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

    #[test]
    fn a_plain_tool_is_allowed() {
        assert_eq!(judge(&agent(ProfileChange::default()), Level::Guest, &fixture("x")), Ok(()));
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
            let refusal = expected.map(|effective| Refusal::Level { needed: Level::Admin, effective });
            assert_eq!(judge(&agent, caller, &tool).err(), refusal);
        }
    }

    #[test]
    fn missing_capabilities_are_named() {
        let tool = tool("x", |it| it.required_capabilities = vec!["net".into(), "mail".into()]);
        let agent = agent(ProfileChange { capabilities: Some(vec!["mail".into()]), ..Default::default() });
        let refusal = judge(&agent, Level::Owner, &tool).unwrap_err();
        assert_eq!(refusal, Refusal::Capabilities { missing: vec!["net".into()] });
        assert_eq!(refusal.to_string(), "needs the capabilities net");
    }

    #[test]
    fn risk_modules_and_activity() {
        let agent = agent(ProfileChange { allowed_modules: Some(vec!["research".into()]), ..Default::default() });
        let check =
            |tool: Tool, expected: Option<Refusal>| assert_eq!(judge(&agent, Level::Owner, &tool).err(), expected);
        check(tool("x", |it| it.risk_level = Risk::Medium), None);
        check(
            tool("x", |it| it.risk_level = Risk::High),
            Some(Refusal::Risk { tool: Risk::High, allowed: Risk::Medium }),
        );
        check(tool("research.web", |it| it.source = Source::Module), None);
        check(tool("files.delete", |it| it.source = Source::Module), Some(Refusal::Module { module: "files".into() }));
        check(tool("x", |it| it.active = false), Some(Refusal::Disabled));
    }
}
