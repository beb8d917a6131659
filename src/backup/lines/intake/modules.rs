//! The lines of the workspace's settings and modules.

use super::Intake;
use crate::backup::lines::staging::List;
use crate::backup::workspace::WorkspaceRecord;
use crate::error::Result;
use crate::modules::{self, ModuleRecord};
use crate::registry::invariants::CheckedVersion;
use std::collections::BTreeMap;

#[derive(Default)]
pub(super) struct ModuleIntake {
    /// Whether the settings have come. If they have, the lines hold the modules too.
    has_settings: bool,
    last: Option<String>,
    /// The modules that active versions need: for each, the place and the name of one of these versions.
    needed: BTreeMap<String, (String, String)>,
}

impl ModuleIntake {
    /// Notes the module of an active version. The modules come after all versions, so the module is looked for at the
    /// end, and not together with the other invariants of the version.
    pub(super) fn need(&mut self, path: &str, version: &mut CheckedVersion) {
        if let Some(module) = version.module.take() {
            let name = || (path.to_owned(), format!("{}@{}", version.tool_id, version.version));
            self.needed.entry(module).or_insert_with(name);
        }
    }
}

impl Intake<'_> {
    pub(super) fn workspace(&mut self, path: &str, it: &WorkspaceRecord) -> Result<()> {
        if std::mem::replace(&mut self.modules.has_settings, true) {
            self.found.add(path, "is there twice");
            return Ok(());
        }
        self.found.workspace(path, it);
        if let Some(change) = it.change(&self.around.settings)? {
            self.staging.change(List::SettingsPut, change)?;
            self.staging.add(List::Settings, it)?;
        }
        Ok(())
    }

    pub(super) async fn module(&mut self, path: &str, mut it: ModuleRecord) -> Result<()> {
        if !self.modules.has_settings {
            self.found.add(path, "is out of order: the workspace's settings come before its modules");
        }
        let last = self.modules.last.replace(it.name.clone());
        let rises = self.rises(&format!("{path}/name"), last.as_ref(), &it.name);
        self.defined.modules.insert(it.name.clone());
        self.found.module_count(path, self.defined.modules.len());
        self.found.module_credentials(path, &it, &self.defined.credentials);
        if !rises {
            return Ok(());
        }
        while let Some(gone) = self.present.modules.next_below(self.scope, &it.name).await? {
            self.remove_module(&gone)?;
        }
        let before = self.present.modules.next_at(self.scope, &it.name).await?;
        if before.as_ref() != Some(&it) {
            self.found.module(path, &mut it, self.scope)?;
            self.staging.change(List::ModulesPut, modules::module_put(&it, before.as_ref())?)?;
            self.staging.add(List::Modules, &it)?;
        }
        Ok(())
    }

    /// Ends the modules: those that no line has named are removed, or, if the lines hold no modules, stay as they are.
    pub(super) async fn close_modules(&mut self, path: &str) -> Result<()> {
        while let Some(it) = self.present.modules.next(self.scope).await? {
            if self.modules.has_settings {
                self.remove_module(&it)?;
            } else {
                self.found.kept_module(path, &it, &self.defined.credentials);
                self.defined.modules.insert(it.name);
            }
        }
        for (module, (path, version)) in std::mem::take(&mut self.modules.needed) {
            if !self.defined.modules.contains(&module) {
                self.found.missing_module(&path, &version, &module);
            }
        }
        Ok(())
    }

    fn remove_module(&mut self, gone: &ModuleRecord) -> Result<()> {
        self.staging.change(List::ModulesRemoved, modules::module_removed(gone)?)?;
        self.staging.add(List::DeletedModules, &gone.name)
    }
}
