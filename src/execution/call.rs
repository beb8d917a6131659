//! A call, as it was asked for.

use super::outcome::CallFailure;
use crate::agents::Agent;
use crate::callers::Scope;
use crate::error::{Error, Result};
use crate::formats::names::HashedName;
use crate::ids::{CallId, SessionId, ToolId, Version};
use crate::registry::schema::Schema;
use crate::registry::{Tool, ToolLookup};
use crate::seal::Sealer;
use crate::time::Timestamp;
use serde_json::{Map, Value, json};

/// The session of calls that name none.
pub const DEFAULT_SESSION: &str = "default";

/// The longest tool name that is recorded; a longer one is no tool's.
const MAX_RECORDED_NAME: usize = 300;

#[derive(Default)]
pub struct Call {
    /// A tool's id, or `id@version`.
    pub tool_name: String,
    pub arguments: Map<String, Value>,
    pub agent_id: Option<String>,
    pub session_id: Option<SessionId>,
    pub user_id: Option<String>,
    pub message_id: Option<String>,
    pub idempotency_key: Option<String>,
    pub max_result_bytes: Option<u32>,
    /// What the door that the call came through checks once the tool is known.
    pub door_check: Option<DoorCheck>,
    /// What is wrong with the arguments, if nothing of them could be read.
    pub unreadable: Option<String>,
    /// What is wrong with the request apart from its `tool_name`: such a call is refused, and recorded.
    pub fault: Option<Error>,
}

impl Call {
    /// A call of which nothing but the tool's name could be read.
    pub fn faulty(tool_name: String, fault: Error) -> Self {
        Self { tool_name, fault: Some(fault), ..Self::default() }
    }
}

/// A check that only one door needs: it sees the tool and the arguments as they came, and tells what is wrong with the
/// request. Only a caller who may call the tool is told.
pub type DoorCheck = Box<dyn Fn(&CalledTool<'_>, &Value) -> Option<CallFailure>>;

/// The tool of a call, and the agent that the call is for.
pub struct CalledTool<'a> {
    pub tool: &'a Tool,
    pub parameters: &'a Schema,
    pub agent: Option<&'a Agent>,
}

/// Which tool, at which version, a name means.
#[derive(Debug, PartialEq)]
pub struct CalledName {
    name: NameForm,
    /// The version that is pinned; the active one, if none is.
    pub version: Option<Version>,
}

/// A tool's own name, or the one that it is handed out under.
#[derive(Debug, PartialEq)]
enum NameForm {
    Id(ToolId),
    Hashed(HashedName),
}

impl CalledName {
    /// None, if no tool could have that name.
    pub fn parse(name: &str) -> Option<Self> {
        let (name, version) = match name.rsplit_once('@') {
            None => (name, None),
            Some((name, version)) => (name, Some(Version::parse(version)?)),
        };
        let name = match HashedName::parse(name) {
            Some(hashed) => NameForm::Hashed(hashed),
            None => NameForm::Id(ToolId::parse(name)?),
        };
        Some(Self { name, version })
    }

    /// How the registry looks for it.
    pub fn lookup(&self) -> ToolLookup<'_> {
        match &self.name {
            NameForm::Id(id) => ToolLookup::Id(id),
            NameForm::Hashed(hashed) => ToolLookup::Prefix(hashed.prefix()),
        }
    }

    /// The tool that the name means, out of those that were found.
    pub fn choose(&self, mut found: Vec<Tool>) -> Option<Tool> {
        if let NameForm::Hashed(hashed) = &self.name {
            found.retain(|it| hashed.is_of(&it.id));
        }
        // If two tools were found, the hashes in their names are the same. The name could mean either, so it means
        // none.
        if found.len() == 1 { found.pop() } else { None }
    }

    pub fn as_str(&self) -> &str {
        match &self.name {
            NameForm::Id(id) => id.as_str(),
            NameForm::Hashed(hashed) => hashed.as_str(),
        }
    }
}

/// A call that has its id and its own clock, and goes on to be looked up.
pub struct OpenedCall {
    pub id: CallId,
    /// When the call began. The request that holds it may have begun long before.
    pub opened_at: Timestamp,
    /// 1 for the first of several calls that are opened together, 2 for the next. A call may have to wait for those
    /// before it, so that the sweep takes it for dead only after the time-outs of all of them.
    pub place: u32,
    pub asked: Call,
    pub session: SessionId,
    /// None, if no tool could have the name.
    pub name: Option<CalledName>,
    pub key: Option<IdempotencyKey>,
}

/// What makes two requests the same call.
pub struct IdempotencyKey {
    pub key: String,
    pub arguments_hash: String,
}

impl IdempotencyKey {
    fn of(scope: &Scope, asked: &Call) -> Result<Option<Self>> {
        let Some(key) = &asked.idempotency_key else { return Ok(None) };
        Ok(Some(Self { key: key.clone(), arguments_hash: sealer(scope)?.hash(&identity(asked))? }))
    }
}

impl OpenedCall {
    pub fn new(scope: &Scope, mut asked: Call, place: u32) -> Result<Self> {
        let default = || SessionId::parse(DEFAULT_SESSION);
        let session = asked.session_id.clone().or_else(default);
        let key = match IdempotencyKey::of(scope, &asked) {
            Ok(key) => key,
            Err(error) => {
                asked.fault.get_or_insert(error);
                None
            }
        };
        Ok(Self {
            id: CallId::random()?,
            opened_at: scope.app().clock(),
            place,
            session: session.ok_or_else(|| Error::Internal("the default session has no name".into()))?,
            name: CalledName::parse(&asked.tool_name),
            key,
            asked,
        })
    }

    /// The name under which the call is recorded and answered, until it is known which tool it means.
    pub fn tool_name(&self) -> String {
        match &self.name {
            Some(name) => name.as_str().to_owned(),
            None => self.asked.tool_name.chars().take(MAX_RECORDED_NAME).collect(),
        }
    }
}

/// The deployment's sealer; without a secret nothing can be sealed or compared in secret.
pub fn sealer(scope: &Scope) -> Result<&Sealer> {
    let missing = Error::Unavailable("No SECRET_KEY is configured: npx wrangler secret put SECRET_KEY");
    scope.app().settings().sealer.as_ref().ok_or(missing)
}

/// All that must be the same in two requests under one key, as one text.
pub fn identity(call: &Call) -> String {
    let session = call.session_id.as_ref().map_or(DEFAULT_SESSION, SessionId::as_str);
    let mut text = json!([call.tool_name, call.agent_id, session]).to_string();
    write_fields(&call.arguments, &mut text);
    text
}

/// Writes an object with its fields in order of their names, at every depth: their order says nothing.
fn write_fields(fields: &Map<String, Value>, text: &mut String) {
    let mut fields = fields.iter().collect::<Vec<_>>();
    fields.sort_unstable_by_key(|(name, _)| *name);
    for (name, value) in fields {
        text.push_str(&json!(name).to_string());
        text.push(':');
        write_value(value, text);
    }
    text.push('}');
}

fn write_value(value: &Value, text: &mut String) {
    match value {
        Value::Object(fields) => write_fields(fields, text),
        Value::Array(elements) => {
            elements.iter().for_each(|it| write_value(it, text));
            text.push(']');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            text.push_str(&value.to_string());
            text.push(',');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_pin_a_version() {
        let check = |name: &str, expected: Option<(&str, bool)>| {
            let called = CalledName::parse(name);
            assert_eq!(called.as_ref().map(|it| (it.as_str(), it.version.is_some())), expected, "{name}");
        };
        check("read_file", Some(("read_file", false)));
        check("read_file@1.0.0", Some(("read_file", true)));
        check("module.tool@10.20.30", Some(("module.tool", true)));
        check("module_tool_HABCDEFGHIJKL@1.0.0", Some(("module_tool_HABCDEFGHIJKL", true)));
        for bad in ["", "@1.0.0", "read_file@", "read_file@1", "read file", "a@1.0.0@1.0.0", "../x"] {
            check(bad, None);
        }
    }

    #[test]
    fn the_order_of_fields_makes_no_other_call() {
        let call = |arguments: Value| {
            let mut call = Call::faulty("t".into(), Error::NoRoute);
            call.arguments = arguments.as_object().unwrap().clone();
            identity(&call)
        };
        assert_eq!(call(json!({"a": 1, "b": {"c": 2, "d": [3]}})), call(json!({"b": {"d": [3], "c": 2}, "a": 1})));
        assert_ne!(call(json!({"a": 1})), call(json!({"a": 2})));
        assert_ne!(call(json!({"a": [1, 2]})), call(json!({"a": [2, 1]})));
        assert_ne!(call(json!({"a": [[1], 2]})), call(json!({"a": [1, [2]]})));
        assert_ne!(call(json!({"a": {"b": 1}})), call(json!({"a": {}, "b": 1})));
        assert_ne!(call(json!({"a": "1"})), call(json!({"a": 1})));
    }
}
