//! Writes the decisions of a request about tools: new tools, new versions, versions switched on and off.
//!
//! A request reads the tools, decides about each tool, and collects the decisions in a [`Placement`], for any number of
//! tools. One batch then writes the placement together with its rows of the change log: all of these rows, or none.
//! Registering, activating, deactivating and rolling back are placements of one tool.

use super::bump::Comparison;
use super::log::{self, VersionSwitch};
use super::record::ToolRecord;
use super::store;
use super::store::placing::{SwitchedVersions, ToolsRead};
use super::store::upstreams::is_taken_id;
use super::store::versions::ToolReading;
use super::tool::{DeactivationReason, Tool};
use crate::callers::Scope;
use crate::changes::{Action, Change, is_stopped, record_all, stop_unless};
use crate::db::{Condition, DbFailure, Statement};
use crate::error::Result;
use serde_json::Value;

pub enum PlacementOutcome {
    Done,
    /// Another request has changed one of the tools since they were read, or has deleted a needed credential.
    Overtaken,
    /// One of the versions was deactivated for security, and cannot come back.
    Banned,
}

/// Decisions about tools that are written together.
#[derive(Default)]
pub struct Placement {
    read: ToolsRead,
    changes: Vec<Change>,
    tools: Vec<ToolRecord>,
    switched: Vec<SwitchedVersions>,
    versions: Vec<Value>,
    /// What other rooms write together with the tools.
    also: Vec<Statement>,
    /// What other rooms write after everything else.
    last: Vec<Statement>,
    condition: Option<Condition>,
    first: Option<Condition>,
}

impl Placement {
    /// Puts the definition of a source in place, as a new tool or as a version that replaces the current one. The number
    /// of the version is the lowest that the comparison with the current version allows, above the highest number that
    /// there is. Returns the tool with its number.
    pub fn put(&mut self, present: Option<&ToolReading>, mut definition: Tool) -> Result<Tool> {
        match present {
            None => self.add_tool(&definition)?,
            Some(present) => {
                definition.created_at = present.tool.created_at;
                definition.version = Comparison::of(&present.tool, &definition)?.step().from(present.highest);
                self.add_version(&present.tool, present.revision, &definition)?;
            }
        }
        Ok(definition)
    }

    /// Adds a row of the change log about something else than a tool.
    pub fn record(&mut self, change: Change) {
        self.changes.push(change);
    }

    /// Adds a statement of another room. It ends with a `WHERE` clause, and holds under the placement's own conditions.
    pub fn also(&mut self, statement: Statement) {
        self.also.push(statement);
    }

    /// Adds a statement of another room that comes after everything else, and may change what the conditions read. It must
    /// find out by itself whether the batch has gone through.
    pub fn last(&mut self, statement: Statement) {
        self.last.push(statement);
    }

    /// Writes the placement only under this condition too. No statement of the placement but the last ones may change what
    /// the condition reads.
    pub fn only_if(&mut self, condition: Condition) {
        self.condition = Some(match self.condition.take() {
            Some(present) => present.and(condition),
            None => condition,
        });
    }

    /// Writes the placement only if this condition is true too, before anything is written. The placement may change what
    /// the condition reads.
    pub fn only_if_first(&mut self, condition: Condition) {
        self.first = Some(match self.first.take() {
            Some(present) => present.and(condition),
            None => condition,
        });
    }

    /// Adds a new tool with its first version.
    pub fn add_tool(&mut self, tool: &Tool) -> Result<()> {
        self.tools.push(ToolRecord::from(tool));
        self.add(Action::Register, tool, None)
    }

    /// Adds a version, which replaces the current one, to a tool that was read at `revision`.
    pub fn add_version(&mut self, current: &Tool, revision: u32, tool: &Tool) -> Result<()> {
        self.read.at(&tool.id, revision);
        if current.active {
            let replaced = current.switched_off(DeactivationReason::VersionUpdate, tool.registered_at);
            self.switch_off(current, &replaced, DeactivationReason::VersionUpdate)?;
        }
        self.add(Action::Update, tool, Some(current))
    }

    fn add(&mut self, action: Action, tool: &Tool, current: Option<&Tool>) -> Result<()> {
        let current = current.map(VersionSwitch::from);
        self.changes.push(log::change(action, tool)?.before_if_any(current.as_ref())?);
        self.read.needs(&tool.credentials_required);
        self.versions.push(store::columns::version_json(tool)?);
        Ok(())
    }

    /// Switches off a version of a tool that was read at `revision`.
    pub fn deactivate(&mut self, before: &Tool, revision: u32, after: &Tool, reason: DeactivationReason) -> Result<()> {
        self.read.at(&before.id, revision);
        self.switch_off(before, after, reason)
    }

    /// Switches on a version of a tool that was read at `revision`. Another active version must be switched off first.
    pub fn activate(
        &mut self,
        before: &Tool,
        revision: u32,
        after: &Tool,
        action: Action,
        reason: Option<&str>,
    ) -> Result<()> {
        self.read.at(&before.id, revision);
        self.read.needs(&after.credentials_required);
        self.changes.push(log::change(action, after)?.from(&VersionSwitch::from(before))?.because(reason));
        SwitchedVersions::push(&mut self.switched, after);
        Ok(())
    }

    fn switch_off(&mut self, before: &Tool, after: &Tool, reason: DeactivationReason) -> Result<()> {
        let change = log::change(Action::Deactivate, after)?.from(&VersionSwitch::from(before))?;
        self.changes.push(change.because(Some(reason.as_str())));
        SwitchedVersions::push(&mut self.switched, after);
        Ok(())
    }

    /// Takes one round trip. Every statement applies only while the tools are unchanged since they were read. The last
    /// statement increments the tools' revisions.
    pub async fn write(self, scope: &Scope) -> Result<PlacementOutcome> {
        let workspace = scope.workspace();
        let unchanged = self.read.unchanged(workspace);
        let unchanged = match self.condition {
            Some(condition) => unchanged.and(condition),
            None => unchanged,
        };
        let mut statements = record_all(&scope.author().await?, self.changes)?;
        statements.extend(store::placing::insert_tools(workspace, &self.tools)?);
        // In `switched`, versions that go off come first, because only one version of a tool can be active.
        for it in &self.switched {
            statements.extend(it.statements(workspace)?);
        }
        statements.extend(store::placing::insert_versions(workspace, &self.versions)?);
        statements.extend(self.also);
        statements.extend(self.read.move_on(workspace));
        let statements = statements.into_iter().map(|it| it.and(unchanged.clone()));
        let first = self.first.map(|it| stop_unless(workspace, it));
        let skipped = usize::from(first.is_some());
        let statements = first.into_iter().chain(statements).chain(self.last).collect();
        match scope.write_all(statements).await? {
            Ok(rows) if rows.get(skipped).is_some_and(|it| it.changes() > 0) => Ok(PlacementOutcome::Done),
            // `Duplicate`: another request has created a tool of the same name meanwhile.
            // `MissingReference`: another request has deleted something that a row refers to.
            Ok(_) | Err(DbFailure::Duplicate | DbFailure::MissingReference) => Ok(PlacementOutcome::Overtaken),
            Err(failure) if is_stopped(&failure) || is_taken_id(&failure) => Ok(PlacementOutcome::Overtaken),
            Err(failure) if store::placing::is_banned(&failure) => Ok(PlacementOutcome::Banned),
            Err(failure) => Err(failure.into()),
        }
    }
}
