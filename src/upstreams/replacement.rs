//! Replaces the upstreams of one kind in a workspace, as a restore does. Only records that differ are written.

use super::kind::{UpstreamRecord, UpstreamSettings};
use super::store;
use crate::changes::{Action, Change};
use crate::db::{ManyRows, Statement};
use crate::error::Result;
use crate::ids::WorkspaceId;
use crate::registry::{RecordDifference, Source};
use crate::time::Timestamp;
use serde_json::{Value, json};

/// The differences between the present upstreams and the wanted ones.
pub struct UpstreamReplacement<'a, R>(RecordDifference<'a, R>);

impl<'a, R: UpstreamRecord> UpstreamReplacement<'a, R> {
    pub fn new(now: &'a [R], wanted: &'a [R]) -> Self {
        Self(RecordDifference::between(now, wanted, |it| it.name()))
    }

    /// Rows of the change log for the removed upstreams.
    pub fn removals(&self) -> Result<Vec<Change>> {
        self.0.removed.iter().map(|it| upstream_removed(*it)).collect()
    }

    /// Rows of the change log for the added and changed upstreams.
    pub fn additions(&self) -> Result<Vec<Change>> {
        self.0.put.iter().map(|(it, before)| upstream_put(*it, *before)).collect()
    }

    /// The rows that write the differences.
    pub fn rows(&self) -> Result<UpstreamRows<Vec<Value>>> {
        Ok(UpstreamRows {
            source: R::Settings::SOURCE,
            removed: self.0.removed.iter().map(|it| json!(it.name())).collect(),
            put: self.0.put.iter().map(|(it, _)| it.row()).collect::<Result<_>>()?,
        })
    }
}

/// The rows that a replacement writes, one list for each purpose.
pub struct UpstreamRows<R> {
    pub source: Source,
    /// Names.
    pub removed: R,
    /// Each is an [`UpstreamRecord::row`].
    pub put: R,
}

impl<R: ManyRows> UpstreamRows<R> {
    /// The statements that write the rows, after the tools of the upstreams have been written. No upstream of the
    /// workspace may have had `revision`.
    pub fn statements(&self, workspace: &WorkspaceId, revision: u32, now: Timestamp) -> Result<Vec<Statement>> {
        let mut statements = store::replacing::delete_all(workspace, self.source, &self.removed)?;
        statements.extend(store::replacing::put_all(workspace, self.source, &self.put, revision, now)?);
        Ok(statements)
    }
}

/// The change that removes an upstream.
pub fn upstream_removed<R: UpstreamRecord>(it: &R) -> Result<Change> {
    Change::new(Action::Restore, R::Settings::subject(it.name())).from(&it.clone().without_values())
}

/// The change that adds an upstream, or replaces the upstream `before`. The change log shows no secret value. If only
/// values differ, the states before and after look equal.
pub fn upstream_put<R: UpstreamRecord>(it: &R, before: Option<&R>) -> Result<Change> {
    let before = before.map(|it| it.clone().without_values());
    let change = Change::new(Action::Restore, R::Settings::subject(it.name())).before_if_any(before.as_ref())?;
    change.to(&it.clone().without_values())
}
