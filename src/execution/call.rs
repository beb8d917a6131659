//! A call as the caller requested it.

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

/// The session of a call that names no session.
pub const DEFAULT_SESSION: &str = "default";

/// The longest tool name that is recorded. No tool has a longer name.
const MAX_RECORDED_NAME: usize = 300;

#[derive(Default)]
pub struct Call {
    /// A tool's id, or `id@version`.
    pub tool_name: String,
    pub arguments: Map<String, Value>,
    pub agent_id: Option<String>,
    pub session_id: Option<SessionId>,
    /// The generation of the session, if the session was there when the call was asked for. Then the call makes no session:
    /// a session that is missing was deleted meanwhile.
    pub generation: Option<u32>,
    pub user_id: Option<String>,
    pub message_id: Option<String>,
    pub idempotency_key: Option<String>,
    /// The name of a model's call. It serves as the idempotency key of a call without one.
    pub model_call: Option<ModelCallName>,
    pub max_result_bytes: Option<u32>,
    /// A check by the protocol (the door) that the call came through. It runs once the tool is known.
    pub door_check: Option<DoorCheck>,
    /// The reason why the arguments could not be read at all, if they could not.
    pub unreadable: Option<String>,
    /// An error in the request outside its `tool_name`. A call with such an error is refused and recorded.
    pub fault: Option<Error>,
}

/// The name of a call in a model's message.
pub struct ModelCallName {
    /// The provider's id of the call.
    pub id: String,
    /// How many calls of the message before this one have the same id. Some servers give all calls one id.
    pub before: usize,
}

impl ModelCallName {
    /// One text for the call, which no other agent's call and no call in another session has.
    fn identity(&self, call: &Call) -> String {
        json!(["model call", call.agent_id, session_name(call), self.id, self.before]).to_string()
    }
}

impl Call {
    /// A call whose request has an error. Only the tool's name could be read.
    pub fn faulty(tool_name: String, fault: Error) -> Self {
        Self { tool_name, fault: Some(fault), ..Self::default() }
    }
}

/// A check that only one protocol needs. The check gets the tool and the unchanged arguments, and returns the error in
/// the request, if there is one. Only a caller who may call the tool sees this error.
pub type DoorCheck = Box<dyn Fn(&CalledTool<'_>, &Value) -> Option<CallFailure>>;

/// The tool of a call, and the agent that the call is for.
pub struct CalledTool<'a> {
    pub tool: &'a Tool,
    pub parameters: &'a Schema,
    pub agent: Option<&'a Agent>,
}

/// A tool's name in a request, perhaps with a version.
#[derive(Debug, PartialEq)]
pub struct CalledName {
    name: NameForm,
    /// The pinned version. None means the active version.
    pub version: Option<Version>,
}

/// A tool's id, or the name under which a format exports the tool.
#[derive(Debug, PartialEq)]
enum NameForm {
    Id(ToolId),
    Hashed(HashedName),
}

impl CalledName {
    /// Parses a name. None, if no tool could have this name.
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

    /// The lookup of this name in the registry.
    pub fn lookup(&self) -> ToolLookup<'_> {
        match &self.name {
            NameForm::Id(id) => ToolLookup::Id(id),
            NameForm::Hashed(hashed) => ToolLookup::Prefix(hashed.prefix()),
        }
    }

    /// Picks the tool that the name means from the tools that the lookup found.
    pub fn choose(&self, mut found: Vec<Tool>) -> Option<Tool> {
        if let NameForm::Hashed(hashed) = &self.name {
            found.retain(|it| hashed.is_of(&it.id));
        }
        // Two tools remain only if their hashes are equal. The name could then mean either tool, so it means none.
        if found.len() == 1 { found.pop() } else { None }
    }

    pub fn as_str(&self) -> &str {
        match &self.name {
            NameForm::Id(id) => id.as_str(),
            NameForm::Hashed(hashed) => hashed.as_str(),
        }
    }
}

/// A call that has an id and a start time, and is ready for the lookup.
pub struct OpenedCall {
    pub id: CallId,
    /// The start of the call. Its request may have arrived long before.
    pub opened_at: Timestamp,
    /// 1 for the first of several calls that are opened together, 2 for the second. A call may have to wait for the
    /// calls before it. So the sweep takes the call for dead only after the timeouts of all of them.
    pub place: u32,
    pub asked: Call,
    pub session: SessionId,
    /// None, if no tool could have this name.
    pub name: Option<CalledName>,
    pub key: Option<IdempotencyKey>,
}

/// The idempotency key of a call. Two requests with an equal key and an equal hash are the same call.
pub struct IdempotencyKey {
    pub key: String,
    pub arguments_hash: String,
    pub origin: KeyOrigin,
}

/// Who chose an idempotency key.
#[derive(Clone, Copy, PartialEq)]
pub enum KeyOrigin {
    Caller,
    /// The key is the id that the provider gave to a model's call.
    ModelCall,
}

impl IdempotencyKey {
    fn of(scope: &Scope, asked: &Call) -> Result<Option<Self>> {
        match (&asked.idempotency_key, &asked.model_call) {
            (Some(key), _) => Self::given(sealer(scope)?, key, asked).map(Some),
            // Without a SECRET_KEY a model's call has no key, and runs as often as it is sent.
            (None, Some(name)) => {
                let sealer = scope.app().settings().sealer.as_ref();
                sealer.map(|it| Self::of_model(it, name, asked)).transpose()
            }
            (None, None) => Ok(None),
        }
    }

    /// The key that a caller chose.
    fn given(sealer: &Sealer, key: &str, asked: &Call) -> Result<Self> {
        let arguments_hash = sealer.hash(&identity(asked))?;
        Ok(Self { key: key.to_owned(), arguments_hash, origin: KeyOrigin::Caller })
    }

    /// The key of a model's call. It is a keyed hash, so no caller can choose a key that is equal to it.
    fn of_model(sealer: &Sealer, name: &ModelCallName, asked: &Call) -> Result<Self> {
        let key = format!("model:{}", sealer.hash(&name.identity(asked))?);
        Ok(Self { key, arguments_hash: sealer.hash(&identity(asked))?, origin: KeyOrigin::ModelCall })
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
        let opened_at = scope.app().clock();
        Ok(Self {
            id: CallId::at(opened_at, place)?,
            opened_at,
            place,
            session: session.ok_or_else(|| Error::Internal("the default session has no name".into()))?,
            name: CalledName::parse(&asked.tool_name),
            key,
            asked,
        })
    }

    /// The tool name in the record and in the response, until the tool itself is known.
    pub fn tool_name(&self) -> String {
        match &self.name {
            Some(name) => name.as_str().to_owned(),
            None => self.asked.tool_name.chars().take(MAX_RECORDED_NAME).collect(),
        }
    }
}

/// The sealer of this deployment. Without a `SECRET_KEY`, nothing can be sealed or hashed.
pub fn sealer(scope: &Scope) -> Result<&Sealer> {
    let missing = Error::Unavailable("No SECRET_KEY is configured: npx wrangler secret put SECRET_KEY");
    scope.app().settings().sealer.as_ref().ok_or(missing)
}

/// One text made of everything that must be equal in two requests with the same idempotency key.
pub fn identity(call: &Call) -> String {
    let mut text = json!([call.tool_name, call.agent_id, session_name(call)]).to_string();
    write_fields(&call.arguments, &mut text);
    text
}

fn session_name(call: &Call) -> &str {
    call.session_id.as_ref().map_or(DEFAULT_SESSION, SessionId::as_str)
}

/// Writes the fields of an object sorted by name, at every depth, because the order of fields has no meaning.
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
    fn a_models_call_has_a_key_of_its_own() {
        let sealer = Sealer::new("secret");
        let key = |agent: &str, session: Option<&str>, id: &str, before: usize| {
            let session_id = session.and_then(SessionId::parse);
            let call = Call { agent_id: Some(agent.to_owned()), session_id, ..Call::default() };
            let name = ModelCallName { id: id.to_owned(), before };
            IdempotencyKey::of_model(&sealer, &name, &call).unwrap().key
        };
        let first = key("a", None, "c1", 0);
        assert_eq!(first, key("a", Some(DEFAULT_SESSION), "c1", 0));
        for other in
            [key("b", None, "c1", 0), key("a", Some("s"), "c1", 0), key("a", None, "c2", 0), key("a", None, "c1", 1)]
        {
            assert_ne!(first, other);
        }
        // The length of the id makes no difference to the length of the key.
        assert_eq!(first.len(), key("a", None, &"x".repeat(100_000), 0).len());
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
