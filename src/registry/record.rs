//! Tools and versions as backups hold them: every stored field, including ids and times.

use super::fields::version_fields;
use super::tool::{
    DeactivationReason, Example, ExecutionMode, ResourceClass, Risk, RollbackStrategy, SideEffect, Source, Tool,
};
use super::{Handler, VersionSwitch, handler_json};
use crate::callers::Level;
use crate::error::{Error, Result};
use crate::ids::{ToolId, Version};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolRecord {
    #[schema(example = "word_count")]
    pub id: String,
    pub source: Source,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

impl From<&Tool> for ToolRecord {
    fn from(tool: &Tool) -> Self {
        Self { id: tool.id.to_string(), source: tool.source, created_at: tool.created_at }
    }
}

macro_rules! version_record {
    (own { $($own:ident: $own_type:tt;)* }
     shared { $($shared:ident: ($($type:tt)*), given $attributes:tt $given:tt $decide:expr, shown $shown:tt;)* }) => {
        /// A version, with its handler as it is stored: header values are not masked, and literal ones are sealed.
        #[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
        #[serde(deny_unknown_fields)]
        pub struct VersionRecord {
            #[schema(example = "word_count")]
            pub tool_id: String,
            #[schema(example = "1.0.0")]
            pub version: String,
            pub name: String,
            pub description: String,
            /// JSON Schema, as a JSON string.
            pub parameters_schema: String,
            pub returns_schema: Option<String>,
            #[schema(value_type = Object)]
            pub handler: Value,
            pub category: String,
            $(pub $shared: $($type)*,)*
            #[schema(value_type = String, format = DateTime)]
            pub registered_at: Timestamp,
            pub registered_by: String,
            pub active: bool,
            #[schema(value_type = Option<String>, format = DateTime)]
            pub deactivated_at: Option<Timestamp>,
            pub deactivated_reason: Option<DeactivationReason>,
        }

        impl TryFrom<Tool> for VersionRecord {
            type Error = Error;

            fn try_from(tool: Tool) -> Result<Self> {
                Ok(Self {
                    handler: json!(Handler::of(&tool)?),
                    tool_id: tool.id.to_string(),
                    version: tool.version.to_string(),
                    $($own: tool.$own,)*
                    $($shared: tool.$shared,)*
                })
            }
        }

        impl VersionRecord {
            /// Converts the record to a [`Tool`]. The ids and the handler have been parsed before, and the record holds
            /// the handler as it is stored.
            pub fn to_tool(&self, id: ToolId, version: Version, of: &ToolRecord, handler: &Handler) -> Result<Tool> {
                Ok(Tool {
                    key: 0,
                    id,
                    source: of.source,
                    created_at: of.created_at,
                    version,
                    handler_key: handler.key().to_owned(),
                    handler: handler_json(&self.handler)?,
                    missing_credentials: Vec::new(),
                    current_policy: None,
                    context: None,
                    upstream: None,
                    $($own: self.$own.clone(),)*
                    $($shared: self.$shared.clone(),)*
                })
            }
        }
    };
}

version_fields!(version_record);

impl VersionRecord {
    /// The id of the tool and the version, which together are unique.
    pub fn name(&self) -> (&str, &str) {
        (&self.tool_id, &self.version)
    }

    /// Whether the version is active, and why not, as the change log stores this state.
    pub fn switch(&self) -> VersionSwitch {
        VersionSwitch {
            version: self.version.clone(),
            active: self.active,
            deactivated_at: self.deactivated_at,
            deactivated_reason: self.deactivated_reason,
        }
    }
}
