//! A module: what an admin has set, and what the last discovery found.

use super::include::Include;
use super::offer::ModuleWarning;
use crate::ids::ModuleName;
use crate::registry::{HeaderValue, masked_url};
use crate::text_enum::text_enum;
use crate::time::Timestamp;
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

text_enum! {
    /// What the last discovery found.
    ModuleStatus {
        Ok = "ok",
        /// The module did not answer.
        Unreachable = "unreachable",
        /// The module answered, but not with a description of its tools.
        Invalid = "invalid",
        /// The module was never asked.
        Unseen = "unseen",
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

/// What the last discovery found.
#[derive(Clone, Debug)]
pub struct Findings {
    pub status: ModuleStatus,
    /// When the module was last discovered with success.
    pub discovered_at: Option<Timestamp>,
    /// When the module is asked again.
    pub expires_at: Option<Timestamp>,
    pub last_error: Option<String>,
    pub warnings: Vec<ModuleWarning>,
    /// The hash of the description that was last put in place. None, if the tools have been changed since.
    pub fingerprint: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Module {
    pub name: ModuleName,
    pub settings: ModuleSettings,
    pub created_at: Timestamp,
    /// Counts the changes of the settings. A change that is based on an older revision is refused.
    pub revision: u32,
    pub findings: Findings,
    /// How many active tools it has.
    pub tools: u32,
    pub held_back: u32,
    /// Until when a discovery holds the module, if one does.
    pub leased_until: Option<Timestamp>,
}

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

/// What is shown instead of the value of a header.
pub const MASK: &str = "***";

impl ModuleRecord {
    /// The module as backups hold it.
    pub fn stored(module: &Module) -> Self {
        let settings = module.settings.clone();
        Self {
            name: module.name.to_string(),
            kind: settings.kind,
            url: settings.url,
            slow: settings.slow,
            timeout_seconds: settings.timeout_seconds,
            headers: settings.headers,
            enabled: settings.enabled,
            auto_accept: settings.auto_accept,
            include: settings.include,
            created_at: module.created_at,
        }
    }

    /// The module as the change log shows it.
    pub fn masked(module: &Module) -> Self {
        Self::stored(module).without_values()
    }

    /// The record with the names of its headers and of its URL's parameters, but without their values.
    pub fn without_values(self) -> Self {
        let mask = |(name, _)| (name, HeaderValue::Plain(MASK.to_owned()));
        let headers = self.headers.into_iter().map(mask).collect();
        Self { headers, url: masked_url(&self.url), ..self }
    }
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
    status: ModuleStatus,
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
        let Module { name, settings, findings, .. } = module;
        Self {
            name: name.to_string(),
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
    pub warnings: Vec<ModuleWarning>,
}
