//! How versions stand in the change log: the state after a change is the version as admins see it, whole, so that the log
//! alone tells what the registry was.

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

/// A change of one version, which is as `after` says from now on.
pub fn change(action: Action, after: &Tool) -> Result<Change> {
    Change::new(action, subject(&after.id, after.version))
        .of_tool(&after.id)
        .of_version(after.version)
        .to(&ToolOut::seen_by(Level::Admin, after.clone()))
}

/// A version that is gone, with all that it was.
pub fn removal(tool_id: &str, version: &str) -> Result<Change> {
    let (Some(id), Some(version)) = (ToolId::parse(tool_id), Version::parse(version)) else {
        return Err(Error::Internal(format!("{tool_id}@{version} is not a version of a tool")));
    };
    Ok(Change::new(Action::Restore, subject(&id, version)).of_tool(&id).of_version(version))
}

/// What of a version can change after it was registered: what the log tells of how it was before.
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
