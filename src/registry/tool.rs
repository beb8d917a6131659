//! A tool at one of its versions, and the types of its fields.

use super::fields::version_fields;
use super::policy::Policy;
use super::stored;
use super::tool_context::ToolContext;
use super::upstream_connection::UpstreamConnection;
use crate::callers::Level;
use crate::ids::{MODULE_SEPARATOR, SERVER_SEPARATOR, ToolId, UpstreamId, Version};
use crate::text_enum::{TextEnum, text_enum};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use utoipa::ToSchema;

text_enum! {
    /// Where a tool comes from.
    Source {
        Builtin = "builtin",
        Registered = "registered",
        Module = "module",
        Toolset = "toolset",
        Mcp = "mcp",
    }
}

text_enum! {
    /// How much harm a call can do. Calls of high and critical risk need an approval.
    Risk {
        Safe = "safe",
        Low = "low",
        Medium = "medium",
        High = "high",
        Critical = "critical",
    }
}

impl Source {
    /// The character after the upstream's name in the ids of such tools. None, if such tools belong to no upstream.
    pub const fn separator(self) -> Option<char> {
        match self {
            Self::Module => Some(MODULE_SEPARATOR),
            Self::Mcp => Some(SERVER_SEPARATOR),
            Self::Builtin | Self::Registered | Self::Toolset => None,
        }
    }

    /// Whether the definitions of such tools come from other people's servers and packages, and not from a registrant.
    pub fn is_foreign(self) -> bool {
        match self {
            Self::Builtin | Self::Registered => false,
            Self::Module | Self::Toolset | Self::Mcp => true,
        }
    }
}

impl Risk {
    /// Whether every call of this risk needs an approval, whatever its tool asks for.
    pub fn always_needs_approval(self) -> bool {
        self >= Self::High
    }

    /// This risk and all lower risks.
    pub fn and_below(self) -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(move |it| *it <= self)
    }
}

text_enum! {
    /// Where a tool runs.
    ExecutionMode {
        Local = "local",
        Remote = "remote",
        Browser = "browser",
    }
}

text_enum! {
    /// The kind of resource that a tool mostly uses.
    ResourceClass {
        Control = "control",
        Compute = "compute",
        State = "state",
    }
}

text_enum! {
    /// How the effects of a call can be undone.
    RollbackStrategy {
        None = "none",
        Compensating = "compensating",
        Snapshot = "snapshot",
    }
}

text_enum! {
    /// The reason why a version was deactivated.
    DeactivationReason {
        VersionUpdate = "version_update",
        Security = "security",
        Deprecated = "deprecated",
        OperatorRequest = "operator_request",
    }
}

/// A call that shows how the tool is used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Example {
    pub description: String,
    /// Arguments that satisfy the parameters' schema.
    pub params: Value,
    pub expected_output: Option<Value>,
}

/// An effect of a call outside its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SideEffect {
    #[schema(example = "file_write")]
    pub effect_type: String,
    pub description: String,
    pub reversible: bool,
    #[schema(example = "exports/")]
    pub scope: String,
}

macro_rules! tool {
    (own { $($own:ident: ($($own_type:tt)*);)* }
     shared { $($shared:ident: ($($type:tt)*), given $attributes:tt $given:tt $decide:expr, shown $shown:tt;)* }) => {
        /// A tool at one of its versions, as it is read from the columns that `store::columns` lists.
        #[derive(Clone, Debug, Deserialize)]
        pub struct Tool {
            /// The tool's number in the database, which attachments refer to. No response shows this number.
            pub key: u32,
            #[serde(deserialize_with = "stored::read_id")]
            pub id: ToolId,
            pub source: Source,
            pub created_at: Timestamp,
            #[serde(deserialize_with = "stored::read_version")]
            pub version: Version,
            pub handler_key: String,
            #[serde(deserialize_with = "stored::read")]
            pub handler: Box<RawValue>,
            $(#[serde(deserialize_with = "stored::read")] pub $own: $($own_type)*,)*
            $(#[serde(deserialize_with = "stored::read")] pub $shared: $($type)*,)*
            /// The credentials in `credentials_required` that the workspace does not define. Only queries for one tool
            /// fill this field; in lists the field is empty.
            #[serde(default, deserialize_with = "stored::read_list")]
            pub missing_credentials: Vec<String>,
            /// The policy of the tool's current version, if this version was looked up by its number. Otherwise this
            /// version is the current one.
            #[serde(default, deserialize_with = "stored::read_optional_json")]
            pub current_policy: Option<Policy>,
            /// The upstream that the tool belongs to. Only look-ups for calls fill this field.
            #[serde(default, deserialize_with = "stored::read_optional_json")]
            pub upstream: Option<Box<UpstreamConnection>>,
            /// What holds for the tool besides its versions. Queries that decide about versions, and backups, leave this
            /// field empty.
            #[serde(default, deserialize_with = "stored::read_optional_json")]
            pub context: Option<Box<ToolContext>>,
        }
    };
}

version_fields!(tool);

impl Tool {
    /// Returns a deactivated copy of the version.
    pub fn switched_off(&self, reason: DeactivationReason, now: Timestamp) -> Self {
        Self { active: false, deactivated_at: Some(now), deactivated_reason: Some(reason), ..self.clone() }
    }

    pub fn is_builtin(&self) -> bool {
        self.source == Source::Builtin
    }

    /// The workspace's `default_guest_modules`, for a tool of a module that was looked up for a call.
    pub fn default_guest_modules(&self) -> &[String] {
        self.upstream.as_ref().map_or(&[], |it| &it.default_guest_modules)
    }

    /// The upstream that the tool belongs to: the tool's id tells.
    pub fn upstream_id(&self) -> Option<UpstreamId> {
        let separator = self.source.separator()?;
        let (name, _) = self.id.as_str().split_once(separator)?;
        UpstreamId::new(name, separator)
    }

    /// The module that a tool of source `module` belongs to: its id up to the first dot.
    pub fn module_name(&self) -> Option<&str> {
        match self.source {
            Source::Module => self.id.as_str().split_once(MODULE_SEPARATOR).map(|(module, _)| module),
            Source::Builtin | Source::Registered | Source::Toolset | Source::Mcp => None,
        }
    }
}

/// A plain registered tool, for tests to change as they need.
#[cfg(test)]
pub fn fixture(id: &str) -> Tool {
    let given = serde_json::json!({
        "id": "x", "version": "1.0.0", "name": id, "description": format!("The tool {id}"),
        "parameters_schema": {"type": "object"}, "handler": {"type": "http", "url": "https://example.com"},
    });
    let given: super::ToolIn = serde_json::from_value(given).unwrap();
    let tool = given.read("root", Timestamp::from_millis(0).unwrap()).unwrap().tool;
    Tool { key: 1, id: ToolId::parse(id).unwrap(), ..tool }
}
