//! Stage 1: one look at the database finds the tool, the agent and an earlier call under the same key, and leaves the
//! call's row as running.

use super::call::{Opened, Wanted};
use super::keys::Earlier;
use super::outcome::{Code, Failure, Stop};
use super::store;
use crate::agents::{self, Standing};
use crate::callers::{Caller, Scope};
use crate::db::Rows;
use crate::error::{Error, Result, shortened};
use crate::ids::AgentId;
use crate::registry::{self, DeactivationReason, Tool};

/// What the look showed.
pub struct Look {
    tool: Option<Tool>,
    standing: Option<Standing>,
    pub earlier: Option<Earlier>,
}

/// What is to be called, and for whom.
pub struct Target {
    pub tool: Tool,
    /// None, where the call is for no agent.
    pub standing: Option<Standing>,
    pinned: bool,
}

impl Target {
    /// A version that a call was checked against before.
    pub fn pinned(tool: Tool) -> Self {
        Self { tool, standing: None, pinned: true }
    }

    /// Whether the version can be called: it is active, or was pinned and has only been replaced.
    pub fn is_enabled(&self) -> bool {
        self.tool.active || (self.pinned && self.tool.deactivated_reason == Some(DeactivationReason::VersionUpdate))
    }
}

pub async fn look(scope: &Scope, call: &Opened) -> Result<Look> {
    let workspace = scope.workspace();
    let tool_id = call.wanted.as_ref().map(Wanted::tool_id);
    let find_tool = call.wanted.as_ref().map(|wanted| match wanted {
        Wanted::Current(id) => registry::find_tool(workspace, id),
        Wanted::Pinned(id, version) => registry::find_version(workspace, id, *version),
    });
    let agent_id = call.asked.agent_id.as_deref();
    // Whether a token is bound to an agent is seen only in the same batch.
    let find_standing = (agent_id.is_some() || scope.token_id().is_some())
        .then(|| agents::find_standing(workspace, agent_id, scope.token_id(), tool_id));

    let mut statements = Vec::with_capacity(7);
    if let Some(key) = &call.key {
        statements.push(store::keys::forget_expired(scope, key));
        statements.push(store::keys::claim(scope, key, &call.id));
        statements.push(store::keys::find_earlier(scope, key, &call.id));
    }
    statements.push(store::calls::open(scope, call));
    let (asks_tool, asks_standing) = (find_tool.is_some(), find_standing.is_some());
    statements.extend(find_tool);
    statements.extend(find_standing);

    let mut rows = scope.enter(statements).await?.into_iter();
    let mut next = || rows.next().ok_or_else(|| Error::Internal("D1 left a statement unanswered".into()));
    let earlier = match &call.key {
        Some(key) => {
            let (_forgotten, _claimed) = (next()?, next()?);
            store::keys::read_earlier(&next()?, key)?
        }
        None => None,
    };
    let _opened: Rows = next()?;
    let tool = if asks_tool { registry::read_tool(&next()?)? } else { None };
    let standing = if asks_standing { agents::read_standing(&next()?)? } else { None };
    Ok(Look { tool, standing, earlier })
}

/// What the call is about, if there is such a tool and such an agent.
pub fn target(call: &Opened, caller: &Caller, look: Look) -> std::result::Result<Target, Stop> {
    let named = call.asked.agent_id.as_deref();
    if let (Some(named), Some(own)) = (named, &caller.agent)
        && own.as_str() != named
    {
        let message = format!("This token is bound to the agent {own} and cannot act as another");
        return Err(Failure::new(Code::PermissionDenied, message).into());
    }
    let Some(tool) = look.tool else {
        let name = shortened(&call.asked.tool_name);
        return Err(Failure::new(Code::UnknownTool, format!("Tool not found: {name}")).into());
    };
    let agent = named.or(caller.agent.as_ref().map(AgentId::as_str));
    if let (Some(agent), None) = (agent, &look.standing) {
        return Err(Failure::new(Code::UnknownAgent, format!("Agent not found: {agent}")).into());
    }
    let pinned = call.wanted.as_ref().and_then(Wanted::version).is_some();
    Ok(Target { tool, standing: look.standing, pinned })
}
