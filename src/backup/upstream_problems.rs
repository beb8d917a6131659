//! Checks the upstreams and the settings of a backup, and collects everything that is wrong with them.

use super::problems::BackupProblems;
use super::workspace::WorkspaceRecord;
use crate::callers::Scope;
use crate::error::{Error, Result};
use crate::ids::ModuleName;
use crate::modules::MAX_MODULES;
use crate::registry::invariants::missing_upstream;
use crate::upstreams::{UpstreamRecord, UpstreamSettings};
use std::collections::HashSet;

impl BackupProblems {
    /// Checks an upstream that differs from the present one, and gives it the form in which upstreams are stored.
    pub fn upstream<R: UpstreamRecord>(&mut self, path: &str, upstream: &mut R, scope: &Scope) -> Result<()> {
        match upstream.clone().checked(scope) {
            Ok(stored) => *upstream = stored,
            Err(Error::Invalid(problems)) => self.within(path, problems),
            Err(other) => return Err(other),
        }
        Ok(())
    }

    /// `count` is the number of the backup's upstreams of one kind up to the one at `path`.
    pub fn upstream_count<R: UpstreamRecord>(&mut self, path: &str, count: usize) {
        let most = R::Settings::MAX;
        if count == most as usize + 1 {
            self.add(path, format!("is more than the {most} that a workspace can have"));
        }
    }

    /// Checks that the backup defines the credentials that one of its upstreams names.
    pub fn upstream_credentials<R: UpstreamRecord>(&mut self, path: &str, upstream: &R, defined: &HashSet<String>) {
        for id in upstream.credentials().iter().filter(|it| !defined.contains(*it)) {
            self.add(format!("{path}/headers"), format!("{id} is none of the backup's credentials"));
        }
    }

    /// Checks that the backup defines the credentials of an upstream that the backup leaves as it is.
    pub fn kept_upstream<R: UpstreamRecord>(&mut self, path: &str, upstream: &R, defined: &HashSet<String>) {
        let subject = R::Settings::SUBJECT.replace('_', " ");
        for id in upstream.credentials().iter().filter(|it| !defined.contains(*it)) {
            let name = upstream.name();
            self.add(path, format!("{id} is missing: the {subject} {name}, which stays as it is, names it"));
        }
    }

    /// An active version whose upstream neither the backup nor, if it holds no such upstreams, the workspace has.
    pub fn missing_upstream(&mut self, path: &str, version: &str, upstream: &str) {
        self.add(path, format!("handler_targets_exist: {version} {}", missing_upstream(upstream)));
    }

    pub fn workspace(&mut self, path: &str, it: &WorkspaceRecord) {
        let path = format!("{path}/default_guest_modules");
        let names = &it.default_guest_modules;
        if names.len() > MAX_MODULES as usize {
            self.add(path.clone(), format!("holds {} entries; {MAX_MODULES} are allowed", names.len()));
        }
        let mut seen = HashSet::new();
        for (index, name) in names.iter().enumerate() {
            if ModuleName::parse(name).is_none() {
                self.add(format!("{path}/{index}"), "must be 1 to 64 lower-case letters, digits, _ or -");
            } else if !seen.insert(name) {
                self.add(format!("{path}/{index}"), "is there twice");
            }
        }
    }
}
