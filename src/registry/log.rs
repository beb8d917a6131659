//! Versions in the change log. The state after a change is the complete version as admins see it, so that the log alone
//! tells the registry's past.

use super::{DeactivationReason, Risk, Source, Tool, ToolOut};
use crate::changes::{Action, Change};
use crate::error::{Error, Result};
use crate::ids::{MODULE_SEPARATOR, SERVER_SEPARATOR, ToolId, Version};
use crate::time::Timestamp;
use serde::de::{Deserializer, IgnoredAny};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

pub fn subject(id: &ToolId, version: Version) -> String {
    format!("tool:{id}@{version}")
}

/// A change of one version. `after` is the version after the change.
pub fn change(action: Action, after: &Tool) -> Result<Change> {
    Change::new(action, subject(&after.id, after.version))
        .of_tool(&after.id)
        .of_version(after.version)
        .to(&ToolOut::of_version(after))
}

/// The logged state of a version in the form that responses have today. A change from before a field existed does not
/// have it.
pub fn shown_state(state: Box<RawValue>) -> Result<Box<RawValue>> {
    #[derive(Deserialize)]
    struct LaterFields {
        #[serde(default)]
        requires_approval: bool,
        risk_level: Option<Risk>,
        needs_approval: Option<bool>,
        #[serde(default, deserialize_with = "is_there")]
        renderer: bool,
        #[serde(default, deserialize_with = "is_there")]
        module: bool,
        #[serde(default)]
        id: String,
        source: Option<Source>,
    }
    fn is_there<'de, D: Deserializer<'de>>(value: D) -> std::result::Result<bool, D::Error> {
        IgnoredAny::deserialize(value).map(|_| true)
    }
    let broken = |cause| Error::Internal(format!("a version's state cannot be read: {cause}"));
    let fields = serde_json::from_str::<LaterFields>(state.get()).map_err(broken)?;
    let mut added = String::new();
    if !fields.renderer {
        // No version in the log had a renderer before there was this field.
        added.push_str(",\"renderer\":null,\"renderer_config\":null");
    }
    if !fields.module {
        // No version in the log belonged to a toolset before there was this field.
        let owner_of = |source: Source, separator: char| {
            let owner = fields.id.split_once(separator).map(|(owner, _)| owner);
            Value::from(owner.filter(|_| fields.source == Some(source)))
        };
        let (server, module) = (owner_of(Source::Mcp, SERVER_SEPARATOR), owner_of(Source::Module, MODULE_SEPARATOR));
        added.push_str(&format!(",\"toolset_id\":null,\"server_id\":{server},\"module\":{module},\"enabled\":true"));
    }
    if fields.needs_approval.is_none() {
        let needs_approval = fields.requires_approval || fields.risk_level.is_some_and(Risk::always_needs_approval);
        added.push_str(&format!(",\"needs_approval\":{needs_approval}"));
    }
    if added.is_empty() {
        return Ok(state);
    }
    let open = state.get().trim_end().strip_suffix('}').unwrap_or_default();
    RawValue::from_string(format!("{open}{added}}}")).map_err(broken)
}

/// The removal of a version by a restore. The previous state is added by [`Change::from`].
pub fn removal(tool_id: &str, version: &str) -> Result<Change> {
    let (Some(id), Some(version)) = (ToolId::parse(tool_id), Version::parse(version)) else {
        return Err(Error::Internal(format!("{tool_id}@{version} is not a version of a tool")));
    };
    Ok(Change::new(Action::Restore, subject(&id, version)).of_tool(&id).of_version(version))
}

/// The fields of a version that can change after its registration. The change log stores these fields as the state
/// before a change.
#[derive(Serialize)]
pub struct VersionSwitch {
    pub version: String,
    pub active: bool,
    pub deactivated_at: Option<Timestamp>,
    pub deactivated_reason: Option<DeactivationReason>,
}

impl From<&Tool> for VersionSwitch {
    fn from(tool: &Tool) -> Self {
        Self {
            version: tool.version.to_string(),
            active: tool.active,
            deactivated_at: tool.deactivated_at,
            deactivated_reason: tool.deactivated_reason,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_older_state_gets_the_fields_of_today() {
        let shown = |state: Value| {
            let shown = shown_state(RawValue::from_string(state.to_string()).unwrap()).unwrap();
            serde_json::from_str::<Value>(shown.get()).unwrap()
        };
        for (risk, asks, needs) in [("low", false, false), ("low", true, true), ("high", false, true)] {
            let mut state = json!({"id": "x", "risk_level": risk, "requires_approval": asks});
            let with_field = shown(state.clone());
            state["needs_approval"] = needs.into();
            for name in ["renderer", "renderer_config", "toolset_id", "server_id", "module"] {
                state[name] = Value::Null;
            }
            state["enabled"] = true.into();
            assert_eq!(with_field, state);
            assert_eq!(shown(state.clone()), state);
        }
        let owners = |id: &str, source: &str| {
            let state = shown(json!({"id": id, "source": source}));
            (state["server_id"].clone(), state["module"].clone())
        };
        assert_eq!(owners("time:now", "mcp"), (json!("time"), Value::Null));
        assert_eq!(owners("mail.send.now", "module"), (Value::Null, json!("mail")));
    }
}
