//! Stage 1: one look at the database finds the tool, the agent and an earlier call under the same key, and leaves the
//! call's row as running.

use super::call::{Opened, Wanted};
use super::keys::Earlier;
use super::many::Order;
use super::outcome::{Code, Failure, Stop};
use super::store;
use crate::agents::{self, AgentStanding};
use crate::callers::{Caller, Scope};
use crate::db::{Rows, Statement};
use crate::error::{Error, Result, shortened};
use crate::ids::AgentId;
use crate::registry::{self, DeactivationReason, ResourceClass, Risk, Tool};

/// What the look showed.
pub struct Look {
    tool: Option<Tool>,
    standing: Option<AgentStanding>,
    pub earlier: Option<Earlier>,
}

impl Look {
    /// When the call may run, beside others.
    pub fn order(&self) -> Order {
        match &self.tool {
            Some(tool) if tool.resource_class == ResourceClass::State => {
                let reads = tool.risk_level == Risk::Safe && tool.side_effects.is_empty();
                if reads { Order::Reads } else { Order::Writes }
            }
            _ => Order::Any,
        }
    }
}

/// What is to be called, and for whom.
pub struct Target {
    pub tool: Tool,
    /// None, where the call is for no agent.
    pub standing: Option<AgentStanding>,
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

/// One round trip for any number of calls.
pub async fn look(scope: &Scope, calls: &[Opened]) -> Result<Vec<Look>> {
    let mut statements = Vec::new();
    for (turn, call) in (1..).zip(calls) {
        if let Some(key) = &call.key {
            statements.push(store::keys::forget_expired(scope, key));
            statements.push(store::keys::claim(scope, key, &call.id));
            statements.push(store::keys::find_earlier(scope, key, &call.id));
        }
        statements.push(store::calls::open(scope, call, turn));
        statements
            .extend(call.wanted.as_ref().map(|it| registry::look_up_tools(scope.workspace(), it.sought(), it.version)));
        statements.extend(find_standing(scope, call));
    }
    let mut rows = scope.enter(statements).await?.into_iter();
    calls.iter().map(|call| read_look(scope, call, &mut rows)).collect()
}

/// Whether a token is bound to an agent is seen only in the same batch.
fn find_standing(scope: &Scope, call: &Opened) -> Option<Statement> {
    let (agent, token) = (call.asked.agent_id.as_deref(), scope.token_id());
    let sought = call.wanted.as_ref().map(Wanted::sought);
    (agent.is_some() || token.is_some()).then(|| agents::find_standing(scope.workspace(), agent, token, sought))
}

fn read_look(scope: &Scope, call: &Opened, rows: &mut impl Iterator<Item = Rows>) -> Result<Look> {
    let mut next = || rows.next().ok_or_else(|| Error::Internal("D1 left a statement unanswered".into()));
    let earlier = match &call.key {
        Some(key) => {
            let (_forgotten, _claimed) = (next()?, next()?);
            store::keys::read_earlier(&next()?, key)?
        }
        None => None,
    };
    let _opened: Rows = next()?;
    let tool = match &call.wanted {
        Some(wanted) => wanted.choose(registry::read_tools(&next()?)?),
        None => None,
    };
    let key = tool.as_ref().map(|it| it.key);
    let asks_standing = call.asked.agent_id.is_some() || scope.token_id().is_some();
    let standing = if asks_standing { agents::read_standing(&next()?, key)? } else { None };
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
    let pinned = call.wanted.as_ref().is_some_and(|it| it.version.is_some());
    Ok(Target { tool, standing: look.standing, pinned })
}
