//! A module: what an admin has set, and how a module is shown.

use super::include::Include;
use crate::registry::HeaderValue;
use crate::text_enum::text_enum;
use crate::time::Timestamp;
use crate::upstreams::{MASK, Upstream, UpstreamStatus, UpstreamWarning};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

text_enum! {
    /// How a module describes its tools.
    ModuleKind {
        /// `GET {url}/manifest` describes the tools, and `POST {url}/execute` runs them.
        Manifest = "manifest",
        /// An OpenAPI document describes a REST API, and each operation is a tool.
        Openapi = "openapi",
    }
}

/// What an admin has set.
#[derive(Clone, Debug, PartialEq)]
pub struct ModuleSettings {
    pub kind: ModuleKind,
    /// Without a slash at its end.
    pub url: String,
    pub slow: bool,
    /// The timeout of tools that name none. None, if `slow` decides.
    pub timeout_seconds: Option<u32>,
    /// As they are stored: literal values are sealed for `url`.
    pub headers: BTreeMap<String, HeaderValue>,
    pub enabled: bool,
    pub auto_accept: bool,
    pub include: Option<Include>,
}

pub type Module = Upstream<ModuleSettings>;

/// A module in the change log and in backups: what an admin has set. In the change log the values of the headers are
/// masked; in backups the literal ones are sealed.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ModuleRecord {
    #[schema(example = "research")]
    pub name: String,
    pub kind: ModuleKind,
    pub url: String,
    pub slow: bool,
    pub timeout_seconds: Option<u32>,
    #[schema(value_type = Object)]
    pub headers: BTreeMap<String, HeaderValue>,
    pub enabled: bool,
    pub auto_accept: bool,
    pub include: Option<Include>,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

/// A module as responses show it.
#[derive(Serialize, ToSchema)]
pub struct ModuleOut {
    #[schema(example = "research")]
    name: String,
    url: String,
    kind: ModuleKind,
    slow: bool,
    timeout_seconds: Option<u32>,
    /// The names of the headers. Their values are never shown.
    #[schema(example = json!({"Authorization": "***"}))]
    headers: BTreeMap<String, &'static str>,
    enabled: bool,
    auto_accept: bool,
    include: Option<Include>,
    status: UpstreamStatus,
    /// How many active tools the module has.
    tools: u32,
    /// How many definitions wait for an admin.
    held_back: u32,
    /// When the module was last discovered with success.
    #[schema(value_type = Option<String>, format = DateTime)]
    discovered_at: Option<Timestamp>,
    /// When Pegboard asks the module again.
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
    last_error: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
}

impl From<Module> for ModuleOut {
    fn from(module: Module) -> Self {
        let Module { id, settings, findings, .. } = module;
        Self {
            name: id.name().to_owned(),
            url: settings.url,
            kind: settings.kind,
            slow: settings.slow,
            timeout_seconds: settings.timeout_seconds,
            headers: settings.headers.into_keys().map(|it| (it, MASK)).collect(),
            enabled: settings.enabled,
            auto_accept: settings.auto_accept,
            include: settings.include,
            status: findings.status,
            tools: module.tools,
            held_back: module.held_back,
            discovered_at: findings.discovered_at,
            expires_at: findings.expires_at,
            last_error: findings.last_error,
            created_at: module.created_at,
        }
    }
}

/// A module with its tools, and everything that was left out.
#[derive(Serialize, ToSchema)]
pub struct ModuleDetails {
    #[serde(flatten)]
    pub module: ModuleOut,
    /// The active tools, sorted by id.
    pub tool_ids: Vec<String>,
    pub warnings: Vec<UpstreamWarning>,
}
