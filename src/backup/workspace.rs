//! The settings of a workspace, as backups hold them.

use crate::changes::{Action, Change};
use crate::error::Result;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The subject of changes of the settings.
const SUBJECT: &str = "workspace:settings";

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkspaceRecord {
    /// The modules of agents whose own list of modules is empty, and of guests without an agent.
    #[schema(max_items = 200, example = json!(["research"]))]
    pub default_guest_modules: Vec<String>,
}

impl WorkspaceRecord {
    /// The change that replaces the settings `before`. None, if nothing differs.
    pub fn change(&self, before: &Self) -> Result<Option<Change>> {
        if self == before {
            return Ok(None);
        }
        Change::new(Action::Restore, SUBJECT.to_owned()).from(before)?.to(self).map(Some)
    }
}
