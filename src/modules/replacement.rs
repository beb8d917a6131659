//! Replaces the modules of a workspace, as a restore does. Only records that differ are written.

use super::module::ModuleRecord;
use super::{store, subject};
use crate::changes::{Action, Change};
use crate::db::{ManyRows, Statement};
use crate::error::Result;
use crate::ids::WorkspaceId;
use crate::registry::RecordDifference;
use crate::time::Timestamp;
use serde_json::{Value, json};

/// The differences between the present modules and the wanted ones.
pub struct ModuleReplacement<'a>(RecordDifference<'a, ModuleRecord>);

impl<'a> ModuleReplacement<'a> {
    pub fn new(now: &'a [ModuleRecord], wanted: &'a [ModuleRecord]) -> Self {
        Self(RecordDifference::between(now, wanted, |it| it.name.as_str()))
    }

    /// Rows of the change log for the removed modules.
    pub fn removals(&self) -> Result<Vec<Change>> {
        self.0.removed.iter().map(|it| module_removed(it)).collect()
    }

    /// Rows of the change log for the added and changed modules.
    pub fn additions(&self) -> Result<Vec<Change>> {
        self.0.put.iter().map(|(it, before)| module_put(it, *before)).collect()
    }

    /// The rows that write the differences.
    pub fn rows(&self) -> ModuleRows<Vec<Value>> {
        ModuleRows {
            removed: self.0.removed.iter().map(|it| json!(it.name)).collect(),
            put: self.0.put.iter().map(|(it, _)| json!(it)).collect(),
        }
    }
}

/// The rows that a replacement writes, one list for each purpose.
pub struct ModuleRows<R> {
    /// Names.
    pub removed: R,
    /// Each is a [`ModuleRecord`].
    pub put: R,
}

impl<R: ManyRows> ModuleRows<R> {
    /// The statements that write the rows, after the tools of the modules have been written. No module of the workspace
    /// may have had `revision`.
    pub fn statements(&self, workspace: &WorkspaceId, revision: u32, now: Timestamp) -> Result<Vec<Statement>> {
        let mut statements = store::replacing::delete_all(workspace, &self.removed)?;
        statements.extend(store::replacing::put_all(workspace, &self.put, revision, now)?);
        Ok(statements)
    }
}

/// The change that removes a module.
pub fn module_removed(it: &ModuleRecord) -> Result<Change> {
    Change::new(Action::Restore, subject(&it.name)).from(&it.clone().without_values())
}

/// The change that adds a module, or replaces the module `before`. The change log shows no header value. If only values
/// differ, the states before and after look equal.
pub fn module_put(it: &ModuleRecord, before: Option<&ModuleRecord>) -> Result<Change> {
    let before = before.map(|it| it.clone().without_values());
    Change::new(Action::Restore, subject(&it.name)).before_if_any(before.as_ref())?.to(&it.clone().without_values())
}
