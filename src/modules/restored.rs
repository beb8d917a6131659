//! The modules of a backup, and the rules that they keep: those of a registration.

use super::given::{self, MASKED, NO_NAME, Problems, trimmed};
use super::include::Include;
use super::module::{MASK, ModuleRecord, ModuleSettings};
use crate::callers::Scope;
use crate::error::Result;
use crate::ids::ModuleName;
use crate::registry::{HeaderValue, NOT_OPENED};

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

    /// The credentials that the headers name.
    pub fn credentials(&self) -> Vec<String> {
        given::credentials_of(&self.headers)
    }

    /// The record as it is stored: values that were sealed before stay as they are, and other literal values are sealed.
    /// Fails with everything that is wrong with the record.
    pub fn checked(mut self, scope: &Scope) -> Result<Self> {
        let mut problems = Problems::default();
        if ModuleName::parse(&self.name).is_none() {
            problems.add("/name", NO_NAME);
        }
        if trimmed(&self.url) != self.url {
            problems.add("/url", "must have no slash at its end, and no spaces around it");
        }
        self.include = self.include.filter(|it| *it != Include::default());
        let sealer = scope.app().settings().sealer.as_ref();
        let mut opened = self.clone().settings();
        for (name, value) in &mut opened.headers {
            let path = format!("/headers/{name}");
            match value.open(sealer, name, &self.url) {
                Some(text) if text == MASK => problems.add(&path, MASKED),
                Some(text) => *value = HeaderValue::Plain(text),
                None => problems.add(&path, NOT_OPENED),
            }
        }
        problems.rules(scope, &opened);
        self.headers = problems.sealed(scope, &self.clone().settings())?;
        Ok(self)
    }
}
