//! The bodies of requests about modules, and the rules that they keep.

use super::include::Include;
use super::module::{MASK, ModuleKind, ModuleSettings};
use crate::callers::Scope;
use crate::error::{Error, Place, Problem, Result};
use crate::ids::ModuleName;
use crate::outgoing::{check_url, credentials_in, fault_of_header, may_carry_credentials};
use crate::registry::HeaderValue;
use crate::registry::credential::is_credential_id;
use serde::Deserialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

const MAX_URL_BYTES: usize = 2_048;
const MAX_HEADERS: usize = 32;
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
        for header in settings.headers.iter().filter(|(_, value)| value.plain() == Some(MASK)) {
            problems.add(&format!("/headers/{}", header.0), MASKED);
        }
        let settings = problems.check(scope, settings)?;
        // A module without a name has a problem, and does not get here.
        name.map(|it| (it, settings)).ok_or_else(|| Error::Internal("a module has no name".into()))
    }
}

impl ModuleChange {
    /// The settings after the change, with the headers as they are stored.
    pub fn apply(self, scope: &Scope, before: &ModuleSettings) -> Result<ModuleSettings> {
        let mut problems = Problems::default();
        let url = self.url.as_deref().map_or_else(|| before.url.clone(), trimmed);
        let same_origin = origin(&url).is_some_and(|it| origin(&before.url) == Some(it));
        // Values are sealed for the whole URL, so another path needs them sealed again.
        let kept = before.headers.iter().filter(|_| same_origin).map(|(name, value)| {
            let sealer = scope.app().settings().sealer.as_ref().filter(|_| url != before.url);
            let opened = sealer.and_then(|it| value.open(Some(it), name, &before.url));
            (name.clone(), opened.map_or_else(|| value.clone(), HeaderValue::Plain))
        });
        let kept = kept.collect::<BTreeMap<_, _>>();
        let headers = match self.headers {
            None => kept,
            Some(given) => {
                let mut headers = plain(given);
                for (name, value) in headers.iter_mut().filter(|(_, value)| value.plain() == Some(MASK)) {
                    match kept.get(name) {
                        Some(present) => *value = present.clone(),
                        None => problems.add(
                            &format!("/headers/{name}"),
                            "is masked, and stands for no present value at the same origin: give the value itself",
                        ),
                    }
                }
                headers
            }
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
        problems.check(scope, after)
    }
}

/// Collects everything that is wrong with a body.
#[derive(Default)]
pub struct Problems(Vec<Problem>);

impl Problems {
    pub fn add(&mut self, path: &str, message: &str) {
        self.0.push(Problem { place: Place::Body, path: path.to_owned(), message: message.to_owned() });
    }

    /// Checks the settings, whose header values are plain or were sealed before, and seals the literal values.
    fn check(mut self, scope: &Scope, mut settings: ModuleSettings) -> Result<ModuleSettings> {
        self.rules(scope, &settings);
        settings.headers = self.sealed(scope, &settings)?;
        Ok(settings)
    }

    /// Checks everything but whether the headers can be sealed.
    pub fn rules(&mut self, scope: &Scope, settings: &ModuleSettings) {
        if let Some(seconds) = settings.timeout_seconds
            && !(1..=MAX_TIMEOUT_SECONDS).contains(&seconds)
        {
            self.add("/timeout_seconds", &format!("must be from 1 to {MAX_TIMEOUT_SECONDS}, not {seconds}"));
        }
        if settings.include.is_some() && settings.kind == ModuleKind::Manifest {
            self.add("/include", "is for modules of the kind openapi: a manifest names its tools itself");
        }
        self.0.extend(settings.include.iter().flat_map(Include::check));
        self.url(scope, settings);
        self.headers(&settings.headers);
    }

    fn url(&mut self, scope: &Scope, settings: &ModuleSettings) {
        let url = &settings.url;
        if url.len() > MAX_URL_BYTES {
            return self.add("/url", "is too long");
        }
        if settings.kind == ModuleKind::Manifest && url.contains(['?', '#']) {
            return self.add("/url", "must have no query and no fragment: /manifest and /execute are added to it");
        }
        match check_url(url, scope.app().url_rules()) {
            Ok(url) if names_credentials(settings) && !may_carry_credentials(&url, scope.app().settings().open) => {
                self.add("/url", "must be https, because the headers hold credentials");
            }
            Ok(_) => {}
            Err(fault) => self.add("/url", fault),
        }
    }

    fn headers(&mut self, headers: &BTreeMap<String, HeaderValue>) {
        if headers.len() > MAX_HEADERS {
            self.add("/headers", &format!("holds {} headers; {MAX_HEADERS} are allowed", headers.len()));
        }
        for (name, value) in headers {
            let value = value.plain().unwrap_or_default();
            let fault = fault_of_header(name, value).or_else(|| {
                let named = credentials_in(value).all(is_credential_id);
                (!named).then_some("names what could be no credential between ${ and }")
            });
            if let Some(fault) = fault {
                self.add(&format!("/headers/{}", name.chars().take(64).collect::<String>()), fault);
            }
        }
    }

    /// The headers as they are stored. Fails if there is any problem.
    pub fn sealed(mut self, scope: &Scope, settings: &ModuleSettings) -> Result<BTreeMap<String, HeaderValue>> {
        if !self.0.is_empty() {
            return Err(Error::Invalid(self.0));
        }
        let sealer = scope.app().settings().sealer.as_ref();
        let mut sealed = BTreeMap::new();
        for (name, value) in &settings.headers {
            match sealer {
                Some(sealer) => {
                    sealed.insert(name.clone(), value.sealed(sealer, name, &settings.url)?);
                }
                None if value.needs_seal() => self.add(&format!("/headers/{name}"), NO_KEY),
                None => {
                    sealed.insert(name.clone(), value.clone());
                }
            }
        }
        if self.0.is_empty() { Ok(sealed) } else { Err(Error::Invalid(self.0)) }
    }
}

pub const MASKED: &str = "is masked: give the value itself";
pub const NO_NAME: &str = "must be 1 to 64 lower-case letters, digits, _ or -";
const NO_KEY: &str = "has a literal value, which is stored sealed, and no SECRET_KEY is configured: \
    npx wrangler secret put SECRET_KEY, or name a credential as ${NAME}";

fn names_credentials(settings: &ModuleSettings) -> bool {
    settings.headers.values().filter_map(HeaderValue::plain).any(|it| credentials_in(it).next().is_some())
}

/// The credentials that the headers name. No credential is in a sealed value.
pub fn credentials_of(headers: &BTreeMap<String, HeaderValue>) -> Vec<String> {
    let values = headers.values().filter_map(HeaderValue::plain);
    values.flat_map(credentials_in).map(str::to_owned).collect()
}

pub fn trimmed(url: &str) -> String {
    url.trim().trim_end_matches('/').to_owned()
}

fn plain(headers: BTreeMap<String, String>) -> BTreeMap<String, HeaderValue> {
    headers.into_iter().map(|(name, value)| (name, HeaderValue::Plain(value))).collect()
}

/// The scheme, the host and the port.
fn origin(url: &str) -> Option<String> {
    web_sys::Url::new(url).ok().map(|it| it.origin())
}
