//! The bodies of requests about modules, and the rules that they keep.

use super::include::Include;
use super::module::{ModuleKind, ModuleSettings};
use crate::callers::Scope;
use crate::error::{Error, Result};
use crate::ids::ModuleName;
use crate::upstreams::{NO_NAME, Problems, kept_headers, plain, trimmed};
use serde::Deserialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

const MAX_TIMEOUT_SECONDS: u32 = 3_600;

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ModuleIn {
    /// The ids of the module's tools begin with its name and a dot.
    #[schema(pattern = "^[a-z0-9_-]{1,64}$", example = "research")]
    pub name: String,
    /// The address of the server. For `openapi`: of the API, or of its document.
    #[schema(min_length = 1, max_length = 2048, example = "https://research.example.com")]
    url: String,
    /// `manifest`, if not given.
    kind: Option<ModuleKind>,
    /// Whether tools have `SLOW_MODULE_SECONDS` (120) for a call instead of 30 seconds; false, if not given.
    slow: Option<bool>,
    /// The timeout of tools that name none themselves, instead of the one that `slow` gives.
    #[schema(minimum = 1, maximum = 3600)]
    timeout_seconds: Option<u32>,
    /// Headers of every request to the module. A value may name credentials of the workspace as `${NAME}`.
    headers: Option<BTreeMap<String, String>>,
    /// Tools of a module that is not enabled cannot be called; true, if not given.
    enabled: Option<bool>,
    /// Whether definitions that change, and tools that appear later, are accepted without an admin; false, if not given.
    auto_accept: Option<bool>,
    /// For `openapi`: which operations become tools. Required for more than 50 operations.
    include: Option<Include>,
}

/// Fields that are not given stay as they are.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ModulePatch)]
pub struct ModuleChange {
    /// Another origin drops the values of `headers`, unless they are given again.
    #[schema(min_length = 1, max_length = 2048)]
    url: Option<String>,
    kind: Option<ModuleKind>,
    slow: Option<bool>,
    #[schema(minimum = 1, maximum = 3600)]
    timeout_seconds: Option<u32>,
    /// Replaces all headers. The value `***` keeps the present value of the header, if the origin stays the same.
    headers: Option<BTreeMap<String, String>>,
    enabled: Option<bool>,
    auto_accept: Option<bool>,
    /// Replaces the whole choice. `{}` removes it.
    include: Option<Include>,
}

impl ModuleIn {
    /// The name and the settings, with the headers as they are stored. Fails with everything that is wrong.
    pub fn check(self, scope: &Scope) -> Result<(ModuleName, ModuleSettings)> {
        let mut problems = Problems::default();
        let name = ModuleName::parse(&self.name);
        if name.is_none() {
            problems.add("/name", NO_NAME);
        }
        let settings = ModuleSettings {
            kind: self.kind.unwrap_or(ModuleKind::Manifest),
            url: trimmed(&self.url),
            slow: self.slow.unwrap_or(false),
            timeout_seconds: self.timeout_seconds,
            headers: plain(self.headers.unwrap_or_default()),
            enabled: self.enabled.unwrap_or(true),
            auto_accept: self.auto_accept.unwrap_or(false),
            include: self.include.filter(|it| *it != Include::default()),
        };
        problems.masked("headers", &settings.headers);
        let settings = settings.checked(scope, problems)?;
        // A module without a name has a problem, and does not get here.
        name.map(|it| (it, settings)).ok_or_else(|| Error::Internal("a module has no name".into()))
    }
}

impl ModuleChange {
    /// The settings after the change, with the headers as they are stored.
    pub fn apply(self, scope: &Scope, before: &ModuleSettings) -> Result<ModuleSettings> {
        let mut problems = Problems::default();
        let url = self.url.as_deref().map_or_else(|| before.url.clone(), trimmed);
        let kept = kept_headers(scope, &before.headers, &before.url, &url);
        let headers = match self.headers {
            None => kept,
            Some(given) => problems.changed("headers", given, &kept),
        };
        let include = match self.include {
            None => before.include.clone(),
            Some(include) => Some(include).filter(|it| *it != Include::default()),
        };
        let after = ModuleSettings {
            kind: self.kind.unwrap_or(before.kind),
            url,
            slow: self.slow.unwrap_or(before.slow),
            timeout_seconds: self.timeout_seconds.or(before.timeout_seconds),
            headers,
            enabled: self.enabled.unwrap_or(before.enabled),
            auto_accept: self.auto_accept.unwrap_or(before.auto_accept),
            include,
        };
        after.checked(scope, problems)
    }
}

impl ModuleSettings {
    /// Checks the settings, whose header values are plain or were sealed before, and seals the literal values.
    fn checked(mut self, scope: &Scope, mut problems: Problems) -> Result<Self> {
        self.rules(scope, &mut problems);
        self.headers = problems.sealed(scope, "headers", &self.headers, &self.url)?;
        Ok(self)
    }

    /// Checks everything but whether the headers can be sealed.
    pub fn rules(&self, scope: &Scope, problems: &mut Problems) {
        if let Some(seconds) = self.timeout_seconds
            && !(1..=MAX_TIMEOUT_SECONDS).contains(&seconds)
        {
            problems.add("/timeout_seconds", &format!("must be from 1 to {MAX_TIMEOUT_SECONDS}, not {seconds}"));
        }
        if self.include.is_some() && self.kind == ModuleKind::Manifest {
            problems.add("/include", "is for modules of the kind openapi: a manifest names its tools itself");
        }
        problems.extend(self.include.iter().flat_map(Include::check));
        if self.kind == ModuleKind::Manifest && self.url.contains(['?', '#']) {
            problems.add("/url", "must have no query and no fragment: /manifest and /execute are added to it");
        } else {
            problems.url(scope, &self.url, &self.headers);
        }
        problems.headers(&self.headers);
    }
}
