//! Modules in the change log and in backups, and the rules that the modules of a backup keep: those of a registration.

use super::include::Include;
use super::module::{ModuleRecord, ModuleSettings};
use crate::callers::Scope;
use crate::error::{Error, Result};
use crate::ids::ModuleName;
use crate::registry::{HeaderValue, masked_url};
use crate::upstreams::{MASK, NO_NAME, Problems, Upstream, UpstreamRecord, credentials_of, trimmed};
use serde_json::Value;

impl ModuleRecord {
    fn settings(self) -> ModuleSettings {
        ModuleSettings {
            kind: self.kind,
            url: self.url,
            slow: self.slow,
            timeout_seconds: self.timeout_seconds,
            headers: self.headers,
            enabled: self.enabled,
            auto_accept: self.auto_accept,
            include: self.include,
        }
    }
}

impl UpstreamRecord for ModuleRecord {
    type Settings = ModuleSettings;

    fn stored(module: &Upstream<ModuleSettings>) -> Self {
        let settings = module.settings.clone();
        Self {
            name: module.name().to_owned(),
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

    /// The names of the headers and of the URL's parameters stay.
    fn without_values(self) -> Self {
        let mask = |(name, _)| (name, HeaderValue::Plain(MASK.to_owned()));
        let headers = self.headers.into_iter().map(mask).collect();
        Self { headers, url: masked_url(&self.url), ..self }
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn credentials(&self) -> Vec<String> {
        credentials_of(&self.headers)
    }

    /// The columns have the names of the fields.
    fn row(&self) -> Result<Value> {
        serde_json::to_value(self).map_err(|cause| Error::Internal(format!("a module is not JSON: {cause}")))
    }

    fn checked(mut self, scope: &Scope) -> Result<Self> {
        let mut problems = Problems::default();
        if ModuleName::parse(&self.name).is_none() {
            problems.add("/name", NO_NAME);
        }
        if trimmed(&self.url) != self.url {
            problems.add("/url", "must have no slash at its end, and no spaces around it");
        }
        self.include = self.include.filter(|it| *it != Include::default());
        let mut opened = self.clone().settings();
        problems.opened(scope, "headers", &mut opened.headers, &self.url);
        opened.rules(scope, &mut problems);
        self.headers = problems.sealed(scope, "headers", &self.headers, &self.url)?;
        Ok(self)
    }
}
