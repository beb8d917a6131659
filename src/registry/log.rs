//! Versions in the change log. The state after a change is the complete version as admins see it, so that the log alone
//! tells the registry's past.

use super::{DeactivationReason, Tool, ToolOut};
use crate::callers::Level;
use crate::changes::{Action, Change};
use crate::error::{Error, Result};
use crate::ids::{ToolId, Version};
use crate::time::Timestamp;
use serde::Serialize;

pub fn subject(id: &ToolId, version: Version) -> String {
    format!("tool:{id}@{version}")
}

/// A change of one version. `after` is the version after the change.
pub fn change(action: Action, after: &Tool) -> Result<Change> {
    Change::new(action, subject(&after.id, after.version))
        .of_tool(&after.id)
        .of_version(after.version)
        .to(&ToolOut::seen_by(Level::Admin, after.clone()))
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
