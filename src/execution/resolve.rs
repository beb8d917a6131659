//! The first stage: one batch finds the tool, the agent and an earlier call with the same idempotency key. If the tool
//! may change something, the batch also opens the call's row as running.

use super::call::{CalledName, CalledTool, OpenedCall};
use super::keys::EarlierCall;
use super::many::RunOrder;
use super::outcome::{CallFailure, CallStop, Code};
use super::{store, suggest};
use crate::agents::{self, AgentStanding, PermissionRefusal, ToolStanding};
use crate::callers::{self, Caller, Level, Scope};
use crate::db::{Rows, Statement};
use crate::error::{Error, Result, shortened};
use crate::formats;
use crate::ids::AgentId;
use crate::registry::schema::{self, Schema};
use crate::registry::{self, Builtin, DeactivationReason, ResourceClass, Risk, Tool};
use crate::runners::{EarlyRead, EarlyRows};
use crate::text_enum::TextEnum;
use crate::upstreams;
use serde_json::Value;
use std::rc::Rc;

/// The rows that the first batch read for one call.
pub struct CallLookup {
    tool: Option<Tool>,
    standing: Option<AgentStanding>,
    pub earlier: Option<EarlierCall>,
    /// Whether the look-up has left a row of the call in the database.
    pub opened: bool,
    early: Option<EarlyRows>,
}

impl CallLookup {
    /// When the call may run, relative to the other calls of its message.
    pub fn order(&self) -> RunOrder {
        let Some(tool) = &self.tool else { return RunOrder::Any };
        match tool.resource_class {
            ResourceClass::State if tool.risk_level == Risk::Safe && tool.side_effects.is_empty() => RunOrder::Reads,
            ResourceClass::State => RunOrder::Writes,
            ResourceClass::Control | ResourceClass::Compute => RunOrder::Any,
        }
    }
}

/// The tool of a call, and the agent that makes the call.
pub struct CallTarget {
    pub tool: Tool,
    /// None, if no agent makes the call.
    pub standing: Option<AgentStanding>,
    pinned: bool,
}

impl CallTarget {
    /// `pinned` says whether the call names the version.
    pub fn new(tool: Tool, standing: Option<AgentStanding>, pinned: bool) -> Self {
        Self { tool: tool.under_current_policy(), standing, pinned }
    }

    /// The target of a call that was checked before, with the version that it was checked against.
    pub fn pinned(tool: Tool) -> Self {
        Self::new(tool, None, true)
    }

    /// Whether the version can be called. An active version can. A pinned version can also be called if it was
    /// deactivated only because a newer version replaced it, and the tool still has an active version. A tool of a
    /// module, a toolset or an MCP server can be called only if that is there and enabled, and if no override disables the
    /// tool.
    pub fn is_enabled(&self) -> bool {
        let replaced = self.tool.deactivated_reason == Some(DeactivationReason::VersionUpdate);
        self.tool.is_switched_on() && (self.tool.active || (self.pinned && replaced && self.tool.has_active_version()))
    }

    /// Whether a caller of this level may make the call, for its agent if it has one.
    pub fn judge(&self, caller: Level) -> std::result::Result<(), PermissionRefusal> {
        let standing = ToolStanding {
            attached: self.standing.as_ref().is_some_and(|it| it.has(&self.tool.id)),
            enabled: self.is_enabled(),
            default_modules: self.tool.default_guest_modules(),
        };
        match &self.standing {
            Some(it) => agents::judge(&it.agent, caller, &self.tool, standing),
            None => agents::judge_caller(caller, &self.tool, standing),
        }
    }
}

/// A call whose tool and agent are known. Every later stage takes this value, and the record is written from it.
pub struct ResolvedCall {
    pub target: CallTarget,
    /// The schema of the arguments. It also says which arguments are secret.
    pub parameters: Rc<Schema>,
    /// The schema of the result, if the tool has one.
    pub returns: Option<Rc<Schema>>,
    /// The arguments under the property names of the schema. Secrets are found by these names.
    pub arguments: Value,
    pub max_result_bytes: Option<u32>,
    /// The error in the unchanged arguments, if there is one. Only a caller who may call the tool sees it.
    pub fault_as_given: Option<CallFailure>,
    pub early: Option<EarlyRows>,
}

impl ResolvedCall {
    /// A call that waited for its approval. Its arguments were checked before it began to wait.
    pub fn resumed(target: CallTarget, arguments: Value, max_result_bytes: Option<u32>) -> Result<Self> {
        let (parameters, returns) = schemas(&target.tool)?;
        Ok(Self { target, parameters, returns, arguments, max_result_bytes, fault_as_given: None, early: None })
    }
}

fn schemas(tool: &Tool) -> Result<(Rc<Schema>, Option<Rc<Schema>>)> {
    let parameters = schema::compiled(&tool.parameters_schema)?;
    Ok((parameters, tool.returns_schema.as_deref().map(schema::compiled).transpose()?))
}

/// Resolves a call after its lookup: finds its tool and agent, and gives the arguments the property names of the tool's
/// schema.
pub async fn resolve(
    scope: &Scope,
    call: &mut OpenedCall,
    mut lookup: CallLookup,
) -> std::result::Result<ResolvedCall, CallStop> {
    let caller = scope.caller().await?;
    if let Some(fault) = &call.asked.fault {
        return Err(CallFailure::of(fault, scope.app().request_id()).into());
    }
    let early = lookup.early.take();
    let target = match target(call, caller, lookup) {
        Ok(target) => target,
        Err(failure) => return Err(suggest::explained(scope, call, failure).await.into()),
    };
    upstreams::note_use(scope, &target.tool);
    let (parameters, returns) = schemas(&target.tool)?;
    let mut arguments = Value::Object(std::mem::take(&mut call.asked.arguments));
    let agent = target.standing.as_ref().map(|it| &it.agent);
    let unreadable = call.asked.unreadable.as_ref().map(|it| CallFailure::new(Code::InvalidArguments, it));
    let fault_as_given = unreadable.or_else(|| {
        let check = call.asked.door_check.as_ref()?;
        check(&CalledTool { tool: &target.tool, parameters: &parameters, agent }, &arguments)
    });
    formats::arguments::restore(&parameters, &mut arguments);
    let config = target.standing.as_ref().and_then(|it| it.config.as_ref());
    let max_result_bytes = call.asked.max_result_bytes.or(config.and_then(|it| it.max_result_bytes()));
    Ok(ResolvedCall { target, parameters, returns, arguments, max_result_bytes, fault_as_given, early })
}

/// Looks up any number of calls in one round trip.
///
/// A turn of a chat goes on for minutes, and its token may have been revoked meanwhile. So the batch looks the token up again,
/// and opens no row without it.
pub async fn look_up(scope: &Scope, calls: &[OpenedCall]) -> Result<Vec<CallLookup>> {
    let mut statements = Vec::new();
    let carried = callers::carried_exists(scope);
    for call in calls {
        if let Some(key) = &call.key {
            statements.push(store::keys::forget_expired(scope, key, call.opened_at));
            statements.push(store::keys::claim(scope, key, &call.id, call.opened_at));
            statements.push(store::keys::find_earlier(scope, key, &call.id));
        }
        if may_act(call) {
            let open = store::calls::open(scope, call);
            statements.push(match &carried {
                Some(exists) => open.and(exists.clone()),
                None => open,
            });
        }
        statements
            .extend(call.name.as_ref().map(|it| registry::look_up_tools(scope.workspace(), it.lookup(), it.version)));
        statements.extend(find_standing(scope, call));
    }
    // Of several calls, an earlier one may write what a later one reads. Nothing comes before the first one.
    let early = calls.first().and_then(early_read);
    if let (Some(read), [call, ..]) = (&early, calls) {
        statements.extend(read.statements(scope, &call.session));
    }
    statements.extend(carried.is_some().then(|| callers::find_carried(scope)).flatten());
    let mut rows = scope.enter(statements).await?;
    if carried.is_some() {
        let token = rows.pop().ok_or_else(|| Error::Internal("D1 left a statement unanswered".into()))?;
        callers::check_carried(scope, &token)?;
    }
    let mut rows = rows.into_iter();
    let mut lookups = calls.iter().map(|call| read_lookup(scope, call, &mut rows)).collect::<Result<Vec<_>>>()?;
    if let (Some(read), Some(lookup)) = (early, lookups.first_mut()) {
        lookup.early = Some(read.answered(&mut rows)?);
    }
    Ok(lookups)
}

/// Whether the call's row may have to be there before the call runs. The built-ins that change nothing are known by
/// their names, so that their look-up writes nothing. For other tools the database decides ([`store::calls::open`]).
fn may_act(call: &OpenedCall) -> bool {
    let Some(name) = call.name.as_ref().filter(|it| it.version.is_none() && call.key.is_none()) else { return true };
    match Builtin::parse(name.as_str()) {
        Some(Builtin::ReadFile | Builtin::ListFiles | Builtin::EmailSearch | Builtin::EmailGet) => false,
        Some(Builtin::WriteFile | Builtin::ExecutePython) | None => true,
    }
}

fn early_read(call: &OpenedCall) -> Option<EarlyRead> {
    let name = call.name.as_ref().filter(|it| it.version.is_none())?;
    EarlyRead::of(name.as_str(), &call.asked.arguments)
}

/// Reads the agent, and what the agent may do with the tool. Only the same batch tells whether the token is bound to an
/// agent, so a request with a token always reads this.
fn find_standing(scope: &Scope, call: &OpenedCall) -> Option<Statement> {
    let (agent, token) = (call.asked.agent_id.as_deref(), scope.token_id());
    let sought = call.name.as_ref().map(CalledName::lookup);
    (agent.is_some() || token.is_some()).then(|| agents::find_standing(scope.workspace(), agent, token, sought))
}

fn read_lookup(scope: &Scope, call: &OpenedCall, rows: &mut impl Iterator<Item = Rows>) -> Result<CallLookup> {
    let mut next = || rows.next().ok_or_else(|| Error::Internal("D1 left a statement unanswered".into()));
    let earlier = match &call.key {
        Some(key) => {
            let (_forgotten, _claimed) = (next()?, next()?);
            store::keys::read_earlier(&next()?, key)?
        }
        None => None,
    };
    // A call with a key always has its row, even if the batch was sent twice and only the first one inserted the row.
    let opened = may_act(call) && (next()?.changes() > 0 || call.key.is_some());
    let tool = match &call.name {
        Some(name) => name.choose(registry::read_tools(&next()?)?).map(Tool::under_current_policy),
        None => None,
    };
    let key = tool.as_ref().map(|it| it.key);
    let asks_standing = call.asked.agent_id.is_some() || scope.token_id().is_some();
    let standing = if asks_standing { agents::read_standing(&next()?, key)? } else { None };
    Ok(CallLookup { tool, standing, earlier, opened, early: None })
}

/// The tool and the agent of the call, if both exist.
fn target(call: &OpenedCall, caller: &Caller, lookup: CallLookup) -> std::result::Result<CallTarget, CallFailure> {
    let named = call.asked.agent_id.as_deref();
    if let (Some(named), Some(own)) = (named, &caller.agent)
        && own.as_str() != named
    {
        let message = format!("This token is bound to the agent {own} and cannot act as another");
        return Err(CallFailure::new(Code::PermissionDenied, message));
    }
    let Some(tool) = lookup.tool else {
        let name = shortened(&call.asked.tool_name);
        return Err(CallFailure::new(Code::UnknownTool, format!("Tool not found: {name}")));
    };
    let agent = named.or(caller.agent.as_ref().map(AgentId::as_str));
    if let (Some(agent), None) = (agent, &lookup.standing) {
        return Err(CallFailure::new(Code::UnknownAgent, format!("Agent not found: {agent}")));
    }
    let pinned = call.name.as_ref().is_some_and(|it| it.version.is_some());
    Ok(CallTarget { tool, standing: lookup.standing, pinned })
}
