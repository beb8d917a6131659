//! Checks the modules and the settings of a backup, and collects everything that is wrong with them.

use super::problems::BackupProblems;
use super::workspace::WorkspaceRecord;
use crate::callers::Scope;
use crate::error::{Error, Result};
use crate::ids::ModuleName;
use crate::modules::{MAX_MODULES, ModuleRecord};
use crate::registry::invariants::missing_module;
use std::collections::HashSet;

impl BackupProblems {
    /// Checks a module that differs from the present one, and gives it the form in which modules are stored.
    pub fn module(&mut self, path: &str, module: &mut ModuleRecord, scope: &Scope) -> Result<()> {
        match module.clone().checked(scope) {
            Ok(stored) => *module = stored,
            Err(Error::Invalid(problems)) => self.within(path, problems),
            Err(other) => return Err(other),
        }
        Ok(())
    }

    /// `count` is the number of the backup's modules up to the one at `path`.
    pub fn module_count(&mut self, path: &str, count: usize) {
        if count == MAX_MODULES as usize + 1 {
            self.add(path, format!("is more than the {MAX_MODULES} that a workspace can have"));
        }
    }

    /// Checks that the backup defines the credentials that the headers of one of its modules name.
    pub fn module_credentials(&mut self, path: &str, module: &ModuleRecord, defined: &HashSet<String>) {
        for id in module.credentials().iter().filter(|it| !defined.contains(*it)) {
            self.add(format!("{path}/headers"), format!("{id} is none of the backup's credentials"));
        }
    }

    /// Checks that the backup defines the credentials of a module that the backup leaves as it is.
    pub fn kept_module(&mut self, path: &str, module: &ModuleRecord, defined: &HashSet<String>) {
        for id in module.credentials().iter().filter(|it| !defined.contains(*it)) {
            self.add(path, format!("{id} is missing: the module {}, which stays as it is, names it", module.name));
        }
    }

    /// An active version whose module neither the backup nor, if it holds no modules, the workspace has.
    pub fn missing_module(&mut self, path: &str, version: &str, module: &str) {
        self.add(path, format!("handler_targets_exist: {version} {}", missing_module(module)));
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
