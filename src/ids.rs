//! Names and ids. They are parsed once, where a request comes in, and trusted from then on. Ids that the Worker makes
//! hold 128 random bits.

use crate::error::Result;
use crate::hex;
use crate::random;
use crate::time::Timestamp;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Declares a text type whose values all keep a rule.
macro_rules! id {
    ($(#[$meta:meta])* $name:ident, $rule:path) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            pub fn parse(text: &str) -> Option<Self> {
                $rule(text).then(|| Self(text.to_owned()))
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&$name> for String {
            fn from(id: &$name) -> Self {
                id.0.clone()
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                Self::parse(&text).ok_or_else(|| D::Error::custom(concat!("is no ", stringify!($name))))
            }
        }
    };
}

id!(
    /// The tenant, named by the header `X-Workspace-Id`.
    WorkspaceId,
    is_slug
);
id!(
    /// `read_file`, `module.tool`, `toolset:tool`, `server:tool`.
    ToolId,
    is_tool_id
);
id!(
    /// `agent_…`
    AgentId,
    is_slug
);
id!(
    /// `tok_…`
    TokenId,
    is_slug
);
id!(
    /// The name that a client chose for a session, or `sess_…`.
    SessionId,
    is_slug
);
id!(
    /// `man_…`: a file manifest.
    FileManifestId,
    is_slug
);
id!(
    /// `msg_…`: a message of a conversation, or the id that a client chose for the message.
    MessageId,
    is_slug
);
id!(
    /// `call_…`
    CallId,
    is_slug
);
id!(
    /// `appr_…`
    ApprovalId,
    is_slug
);
id!(
    /// The name of a module, with which the ids of its tools begin.
    ModuleName,
    is_module_name
);
id!(
    /// The id of an MCP server, with which the ids of its tools begin.
    ServerId,
    is_module_name
);
id!(
    /// The id of a toolset, with which the ids of its tools begin.
    ToolsetId,
    is_module_name
);
id!(
    /// A server of others whose tools are tools of a workspace, by the beginning of the tools' ids: `research.` is a
    /// module, `time:` is an MCP server.
    UpstreamId,
    is_upstream_id
);
id!(
    /// The name of a secret of the Worker.
    CredentialId,
    is_variable
);

/// Adds `random`, which makes an id with the prefix of its kind.
macro_rules! made_here {
    ($($name:ident, $prefix:literal;)+) => {
        $(impl $name {
            pub fn random() -> Result<Self> {
                Ok(Self(format!(concat!($prefix, "{}"), random_hex::<16>()?)))
            }
        })+
    };
}

made_here! {
    AgentId, "agent_";
    TokenId, "tok_";
    SessionId, "sess_";
    FileManifestId, "man_";
    ApprovalId, "appr_";
    MessageId, "msg_";
}

impl MessageId {
    /// Whether the Worker may have made the id. A client may choose an id that looks the same.
    pub fn is_made_here(&self) -> bool {
        self.0.starts_with("msg_")
    }
}

impl CallId {
    /// How many digits follow `call_`: the time, the place, and the random part.
    pub const DIGITS: usize = 12 + 2 + 32;

    /// The id of a call that starts at this time. Ids sort by time, and the calls of one message by their place in it,
    /// so that the index by id is also the index by time.
    pub fn at(time: Timestamp, place: u32) -> Result<Self> {
        Ok(Self(format!("{}{:02x}{}", Self::bound(time), place.min(0xff), random_hex::<16>()?)))
    }

    /// The bound between the ids of calls that started before this time, and the ids of the other calls.
    pub fn bound(time: Timestamp) -> String {
        format!("call_{:012x}", time.millis())
    }
}

impl ToolId {
    /// Whether the tool belongs to a module, an MCP server or a toolset, which its id names. Built-ins and registered tools
    /// belong to nobody.
    pub fn has_owner(&self) -> bool {
        self.0.contains([MODULE_SEPARATOR, SERVER_SEPARATOR])
    }
}

impl UpstreamId {
    /// The upstream with this name whose tools' ids continue after `separator`.
    pub fn new(name: &str, separator: char) -> Option<Self> {
        Self::parse(&format!("{name}{separator}"))
    }

    /// The name of the module, or the id of the MCP server.
    pub fn name(&self) -> &str {
        &self.0[..self.0.len() - 1]
    }

    /// The beginning of the ids of the upstream's tools.
    pub fn prefix(&self) -> &str {
        &self.0
    }

    /// What the upstream is, in words.
    pub fn noun(&self) -> &'static str {
        if self.0.ends_with(MODULE_SEPARATOR) { "module" } else { "MCP server" }
    }
}

impl From<&ModuleName> for UpstreamId {
    fn from(name: &ModuleName) -> Self {
        Self(format!("{name}{MODULE_SEPARATOR}"))
    }
}

impl From<&ServerId> for UpstreamId {
    fn from(id: &ServerId) -> Self {
        Self(format!("{id}{SERVER_SEPARATOR}"))
    }
}

/// The character between the name of an upstream and the name of its tool.
pub const MODULE_SEPARATOR: char = '.';
pub const SERVER_SEPARATOR: char = ':';

impl TokenId {
    /// Whether the id has the form of those that the Worker makes. The names of operators that are not tokens, such as
    /// `root`, do not.
    pub fn is_made_here(&self) -> bool {
        self.0.starts_with("tok_")
    }
}

/// `BYTES` random bytes in hexadecimal.
pub fn random_hex<const BYTES: usize>() -> Result<String> {
    let mut bytes = [0; BYTES];
    random::fill(&mut bytes)?;
    Ok(hex::encode(&bytes))
}

/// `^[A-Za-z0-9_-]{1,64}$`
pub fn is_slug(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(is_slug_byte)
}

/// `^[a-z0-9_-]{1,64}$`
fn is_module_name(text: &str) -> bool {
    is_slug(text) && !text.bytes().any(|it| it.is_ascii_uppercase())
}

fn is_upstream_id(text: &str) -> bool {
    text.strip_suffix([MODULE_SEPARATOR, SERVER_SEPARATOR]).is_some_and(is_module_name)
}

fn is_tool_id(text: &str) -> bool {
    (1..=256).contains(&text.len()) && text.bytes().all(|it| is_slug_byte(it) || it == b'.' || it == b':')
}

/// `^[A-Za-z_][A-Za-z0-9_]{0,63}$`
fn is_variable(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
        && !text.starts_with(|it: char| it.is_ascii_digit())
}

const fn is_slug_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// The longest name of an agent or a token, in characters.
const MAX_NAME_CHARS: usize = 200;

/// Checks a name that a person gives to an agent or a token.
pub fn check_name(name: &str) -> std::result::Result<(), String> {
    let chars = name.chars().count();
    if name.trim().is_empty() {
        Err("must not be empty".into())
    } else if chars > MAX_NAME_CHARS {
        Err(format!("has {chars} characters; {MAX_NAME_CHARS} are allowed"))
    } else if name.chars().any(char::is_control) {
        Err("must not hold control characters".into())
    } else {
        Ok(())
    }
}

/// Checks the name of a model. An empty name stands for none. Servers of models name them as they like, with slashes and
/// colons.
pub fn check_model_name(name: &str) -> std::result::Result<(), String> {
    if name.chars().count() > MAX_NAME_CHARS {
        return Err(format!("must be at most {MAX_NAME_CHARS} characters"));
    }
    if name.chars().any(char::is_control) || name.trim() != name {
        return Err("must not have control characters, or spaces at its ends".into());
    }
    Ok(())
}

/// The version of a tool: exactly three numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    pub major: u32,
    pub minor: u32,
    pub patch: u32,
}

impl Version {
    /// `1.2.3`: no signs, no leading zeros, no suffix.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('.').map(|part| {
            let plain = !part.is_empty()
                && part.bytes().all(|it| it.is_ascii_digit())
                && (part == "0" || !part.starts_with('0'));
            if plain { part.parse().ok() } else { None }
        });
        let version = Self { major: parts.next()??, minor: parts.next()??, patch: parts.next()?? };
        parts.next().is_none().then_some(version)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workspaces_are_slugs_of_64() {
        for good in ["a", "ws_abc-123", &"x".repeat(64)] {
            assert!(WorkspaceId::parse(good).is_some(), "{good}");
        }
        for bad in ["", "a b", "ä", "a/b", "a.b", "a\u{0}", &"x".repeat(65)] {
            assert!(WorkspaceId::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn tool_ids_may_name_where_they_come_from() {
        for good in ["read_file", "research.web_search", "kit:analyze", "srv:Tool-2"] {
            assert!(ToolId::parse(good).is_some(), "{good}");
        }
        for bad in ["", "a b", "a@1.0.0", "../x", &"x".repeat(257)] {
            assert!(ToolId::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn an_upstream_is_the_beginning_of_its_tools_ids() {
        let [module, server] = ["research.", "time:"].map(|it| UpstreamId::parse(it).unwrap());
        assert_eq!((module.name(), module.noun()), ("research", "module"));
        assert_eq!((server.name(), server.noun()), ("time", "MCP server"));
        assert_eq!(UpstreamId::from(&ModuleName::parse("research").unwrap()), module);
        assert_eq!(UpstreamId::from(&ServerId::parse("time").unwrap()), server);
        for bad in ["", ".", "research", "Research.", "a.b.", "a b:"] {
            assert_eq!(UpstreamId::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_ids_of_calls_sort_by_time() {
        let [early, late] =
            ["2026-11-17T09:59:59.999Z", "2026-11-17T10:00:00.000Z"].map(|it| Timestamp::parse(it).unwrap());
        let id = |time, place| CallId::at(time, place).unwrap();
        assert!(id(early, 255) < id(late, 1) && id(late, 1) < id(late, 2) && id(late, 9) < id(late, 300));
        assert!(
            CallId::bound(late).as_str() < id(late, 0).as_str()
                && id(early, 255).as_str() < CallId::bound(late).as_str()
        );
        assert_eq!(CallId::parse(id(late, 1).as_str()).unwrap().as_str().len(), "call_".len() + CallId::DIGITS);
    }

    #[test]
    fn versions_are_exactly_three_numbers() {
        let check = |text, expected: Option<&str>| {
            assert_eq!(Version::parse(text).map(|it| it.to_string()).as_deref(), expected, "{text}");
        };
        check("1.2.3", Some("1.2.3"));
        check("0.0.0", Some("0.0.0"));
        check("10.20.4294967295", Some("10.20.4294967295"));
        for bad in ["", "1", "1.2", "1.2.3.4", "01.2.3", "1.2.3-rc1", "+1.2.3", "1.2.x", "1..3", "1.2.4294967296"] {
            check(bad, None);
        }
    }

    #[test]
    fn versions_sort_as_numbers() {
        assert!(Version::parse("1.10.0") > Version::parse("1.9.9"));
    }

    #[test]
    fn made_ids_differ_and_parse() {
        let (one, two) = (AgentId::random().unwrap(), AgentId::random().unwrap());
        assert_ne!(one, two);
        assert_eq!(one.as_str().len(), "agent_".len() + 32);
        assert_eq!(AgentId::parse(one.as_str()), Some(one));
    }

    #[test]
    fn names_are_for_people() {
        for good in ["Clerk", "Büro 7 🤖", &"x".repeat(200)] {
            assert!(check_name(good).is_ok(), "{good}");
        }
        for bad in ["", "   ", "a\u{0}b", "line\nbreak", &"x".repeat(201)] {
            assert!(check_name(bad).is_err(), "{bad}");
        }
    }
}
