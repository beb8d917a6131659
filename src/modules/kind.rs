//! Modules as a kind of upstream.

use super::description::{self, Description};
use super::module::{ModuleKind, ModuleRecord, ModuleSettings};
use super::{MAX_MODULES, Module};
use crate::cache;
use crate::callers::Scope;
use crate::error::{Error, Result};
use crate::ids::MODULE_SEPARATOR;
use crate::registry::{Source, Tool};
use crate::settings::Settings;
use crate::text_enum::TextEnum;
use crate::upstreams::{
    DEFAULT_TIMEOUT_SECONDS, Look, LookFailure, Seen, SettingsColumns, Sight, UpstreamSettings, credentials_of,
};

impl UpstreamSettings for ModuleSettings {
    const SOURCE: Source = Source::Module;
    const SEPARATOR: char = MODULE_SEPARATOR;
    const NOUN: &'static str = "Module";
    const SUBJECT: &'static str = "module";
    const INVALID_EVENT: &'static str = "module_manifest_error";
    const SETS_POLICY: bool = false;
    const MAX: u32 = MAX_MODULES;

    type Record = ModuleRecord;

    fn read(columns: SettingsColumns) -> Result<Self> {
        let broken = |what: &str| Error::Internal(format!("the {what} of a module cannot be read"));
        let include = columns.include.map(|it| serde_json::from_str(&it)).transpose();
        Ok(Self {
            kind: ModuleKind::parse(&columns.kind).ok_or_else(|| broken("kind"))?,
            url: columns.url.ok_or_else(|| broken("URL"))?,
            slow: columns.slow,
            timeout_seconds: columns.timeout_seconds,
            headers: columns.headers,
            enabled: columns.enabled,
            auto_accept: columns.auto_accept,
            include: include.map_err(|_| broken("choice of operations"))?,
        })
    }

    fn columns(&self) -> SettingsColumns {
        SettingsColumns {
            kind: self.kind.as_str().to_owned(),
            url: Some(self.url.clone()),
            slow: self.slow,
            timeout_seconds: self.timeout_seconds,
            headers: self.headers.clone(),
            enabled: self.enabled,
            auto_accept: self.auto_accept,
            include: self.include.as_ref().map(|it| serde_json::json!(it).to_string()),
            server: None,
            toolset_id: None,
            paused: false,
        }
    }

    fn is_enabled(&self) -> bool {
        self.enabled
    }

    fn accepts_all(&self) -> bool {
        self.auto_accept
    }

    fn credentials(&self) -> Vec<String> {
        credentials_of(&self.headers)
    }

    fn timeout_seconds(&self, settings: &Settings) -> u32 {
        let by_speed = if self.slow { settings.slow_module_seconds } else { DEFAULT_TIMEOUT_SECONDS };
        self.timeout_seconds.unwrap_or(by_speed)
    }

    fn is_same_server(&self, after: &Self) -> bool {
        let address = |it: &Self| (it.kind, it.url.clone(), it.headers.clone(), it.enabled);
        address(self) == address(after)
    }

    fn with_policy(&self, _: &Tool) -> Option<Tool> {
        None
    }

    async fn look(scope: &Scope, module: &Module, sight: Sight) -> Seen {
        let cached = match sight {
            Sight::Cached => Description::cached(scope, module).await,
            Sight::Fresh => None,
        };
        let description = match cached {
            Some(description) => Ok(description),
            None => Description::ask(scope, module).await,
        };
        let look = match description {
            Err(failure) => Look::Failed(failure),
            Ok(description) => {
                let fingerprint = description.fingerprint();
                if module.findings.fingerprint.as_ref() == Some(&fingerprint) {
                    Look::Unchanged(fingerprint)
                } else {
                    match description.read(module) {
                        Ok(offers) => Look::Offered(offers, fingerprint),
                        Err(reason) => Look::Failed(LookFailure::Invalid(reason)),
                    }
                }
            }
        };
        look.into()
    }

    async fn forget(scope: &Scope, module: &Module) {
        cache::delete(scope.app(), &description::key(scope.workspace(), module.name())).await;
    }
}
