//! The change log: who changed what, written in the same transaction as the change.

use crate::db::{Condition, DbFailure, ManyRows, Statement, condition, json_chunks, sql};
use crate::error::{Error, Result};
use crate::ids::{ToolId, Version, WorkspaceId};
use crate::text_enum::text_enum;
use crate::time::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

text_enum! {
    /// What was done.
    Action {
        Register = "register",
        Activate = "activate",
        Deactivate = "deactivate",
        Rollback = "rollback",
        Restore = "restore",
        Attach = "attach",
        Detach = "detach",
        Configure = "configure",
        Create = "create",
        Update = "update",
        Delete = "delete",
        Revoke = "revoke",
        Approve = "approve",
        Deny = "deny",
        Expire = "expire",
    }
}

/// The time of a row in the log: the clock of the database, not the time of the request, which may have arrived long
/// before. The log's contents up to a past moment are therefore the same at every query. If the clock has gone back,
/// the row gets the time of the last row. `?1` is the workspace, `?2` the time of the request.
const NOW: &str = "max(?2, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'),
    coalesce((SELECT timestamp FROM changes WHERE workspace_id = ?1 ORDER BY seq DESC LIMIT 1), ''))";

/// The next number in the log of the workspace `?1`. The number is free, because batches run one after the other.
const NEXT: &str = "1 + coalesce((SELECT max(seq) FROM changes WHERE workspace_id = ?1), 0)";

/// Who makes a change, in which workspace, and when.
pub struct Author<'a> {
    pub workspace: &'a WorkspaceId,
    pub operator: &'a str,
    pub now: Timestamp,
}

/// What a change does to its subject.
pub enum Effect {
    Created,
    Changed,
    Deleted,
}

/// One row of the log, before it is written.
pub struct Change {
    action: Action,
    subject: String,
    tool_id: Option<ToolId>,
    version: Option<String>,
    reason: Option<String>,
    previous_state: Option<String>,
    new_state: Option<String>,
    condition: Option<Condition>,
}

impl Change {
    /// `subject` is the changed thing, as `kind:id`.
    pub fn new(action: Action, subject: String) -> Self {
        Self {
            action,
            subject,
            tool_id: None,
            version: None,
            reason: None,
            previous_state: None,
            new_state: None,
            condition: None,
        }
    }

    /// Sets the tool that the change is about.
    pub fn of_tool(mut self, tool_id: &ToolId) -> Self {
        self.tool_id = Some(tool_id.clone());
        self
    }

    /// Sets the version of the tool.
    pub fn of_version(mut self, version: Version) -> Self {
        self.version = Some(version.to_string());
        self
    }

    /// Sets the reason that the author gives for the change.
    pub fn because(mut self, reason: Option<&str>) -> Self {
        self.reason = reason.map(str::to_owned);
        self
    }

    /// Sets the state of the subject before the change.
    pub fn from(mut self, state: &impl Serialize) -> Result<Self> {
        self.previous_state = Some(to_json(state)?);
        Ok(self)
    }

    /// Sets the state of the subject before the change, if the subject existed.
    pub fn before_if_any(self, state: Option<&impl Serialize>) -> Result<Self> {
        match state {
            Some(state) => self.from(state),
            None => Ok(self),
        }
    }

    /// Sets the state of the subject after the change.
    pub fn to(mut self, state: &impl Serialize) -> Result<Self> {
        self.new_state = Some(to_json(state)?);
        Ok(self)
    }

    /// Writes the row only if `condition` holds. The statement that makes the change must have the same condition. In
    /// the batch, the row goes before that statement.
    pub fn only_if(mut self, condition: Condition) -> Self {
        self.condition = Some(condition);
        self
    }

    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// What the change does to its subject.
    pub const fn effect(&self) -> Effect {
        match (&self.previous_state, &self.new_state) {
            (None, _) => Effect::Created,
            (Some(_), Some(_)) => Effect::Changed,
            (Some(_), None) => Effect::Deleted,
        }
    }

    /// The row as [`record_rows`] takes it.
    pub fn row(self) -> Value {
        json!({
            "action": self.action,
            "subject": self.subject,
            "tool_id": self.tool_id.as_ref().map(ToolId::as_str),
            "version": self.version,
            "reason": self.reason,
            "previous_state": self.previous_state,
            "new_state": self.new_state,
        })
    }

    /// The statement that writes the row.
    pub fn record(self, author: &Author<'_>) -> Statement {
        let statement = sql(format!(
            "INSERT INTO changes (workspace_id, seq, timestamp, action, subject, tool_id, version,
               operator, reason, previous_state, new_state)
             SELECT ?1, {NEXT},
               {NOW},
               ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10
             WHERE true"
        ))
        .bind(author.workspace.as_str())
        .bind(author.now.to_string())
        .bind(self.action.as_str())
        .bind(self.subject)
        .bind(self.tool_id.as_ref().map(ToolId::as_str))
        .bind(self.version)
        .bind(author.operator)
        .bind(self.reason)
        .bind(self.previous_state)
        .bind(self.new_state);
        match self.condition {
            Some(condition) => statement.and(condition),
            None => statement,
        }
    }
}

/// Records many changes of one request. The statements end with a `WHERE` clause, to which the condition of the changes
/// can be added.
pub fn record_all(author: &Author<'_>, changes: Vec<Change>) -> Result<Vec<Statement>> {
    record_rows(author, &changes.into_iter().map(Change::row).collect::<Vec<_>>())
}

/// Records many changes of one request, each [as a row](Change::row).
pub fn record_rows(author: &Author<'_>, rows: &impl ManyRows) -> Result<Vec<Statement>> {
    let statements = rows.statements(author.workspace, &insert_rows(NEXT))?.into_iter();
    Ok(statements.map(|it| it.bind(author.now.to_string()).bind(author.operator)).collect())
}

/// Records many changes of one request under the numbers that follow `last`. If another request has taken one of these
/// numbers meanwhile, the batch fails as a duplicate. A decision on a reading of the whole registry can therefore not
/// be overtaken.
pub fn record_in_order(author: &Author<'_>, last: u32, changes: Vec<Change>) -> Result<Vec<Statement>> {
    let mut next = last + 1;
    let rows = changes.into_iter().map(Change::row).collect::<Vec<_>>();
    let statements = json_chunks(&rows)?.into_iter().map(|(count, chunk)| {
        let first = next;
        next += count;
        sql(insert_rows("?5"))
            .bind(author.workspace.as_str())
            .bind(chunk)
            .bind(author.now.to_string())
            .bind(author.operator)
            .bind(first)
    });
    Ok(statements.collect())
}

/// Writes the rows of `json_each(?2)`. `first` is the number of the first row, `?3` the time of the request, and `?4`
/// the operator.
fn insert_rows(first: &str) -> String {
    let now = NOW.replace("?2", "?3");
    format!(
        "INSERT INTO changes (workspace_id, seq, timestamp, action, subject, tool_id, version, operator,
           reason, previous_state, new_state)
         SELECT ?1, {first} + key,
           {now},
           value ->> 'action', value ->> 'subject', value ->> 'tool_id', value ->> 'version', ?4,
           value ->> 'reason', value ->> 'previous_state', value ->> 'new_state'
         FROM json_each(?2) WHERE true"
    )
}

/// True if anything but an approval has changed since the change `seq`. An approval is about a call, so its changes
/// leave the registry as it is.
pub fn registry_changed_since(workspace: &WorkspaceId, seq: u32) -> Condition {
    condition("EXISTS (SELECT 1 FROM changes WHERE workspace_id = ?1 AND seq > ?2 AND subject NOT GLOB 'approval:*')")
        .bind(workspace.as_str())
        .bind(seq)
}

/// The number of the workspace's last change, as `seq`; 0, if there is none.
pub fn find_last(workspace: &WorkspaceId) -> Statement {
    sql("SELECT coalesce(max(seq), 0) AS seq FROM changes WHERE workspace_id = ?1").bind(workspace.as_str())
}

/// Stops its batch ([`is_stopped`]) unless the condition is true, and writes nothing. A condition that guards each statement
/// of a batch must not read what the batch changes; this one is asked once, before the batch changes anything.
pub fn stop_unless(workspace: &WorkspaceId, condition: Condition) -> Statement {
    // No row of the log has the number 0.
    sql("INSERT INTO changes (workspace_id, seq, timestamp, action, subject, operator)
         SELECT ?1, 0, '', 'update', '', '' WHERE true")
    .bind(workspace.as_str())
    .and(condition.negated())
}

pub fn is_stopped(failure: &DbFailure) -> bool {
    matches!(failure, DbFailure::Refused(rule) if rule.contains("seq >= 1"))
}

/// Records that one request ended several things. `ended` selects a `subject`, a `tool_id` and a `previous_state` for
/// each thing.
pub fn record_each(author: &Author<'_>, action: Action, ended: Statement) -> Statement {
    sql(format!(
        "INSERT INTO changes (workspace_id, seq, timestamp, action, subject, tool_id, operator, previous_state)
         SELECT ?1,
           coalesce((SELECT max(seq) FROM changes WHERE workspace_id = ?1), 0) + row_number() OVER (ORDER BY subject),
           {NOW},
           ?3, subject, tool_id, ?4, previous_state"
    ))
    .bind(author.workspace.as_str())
    .bind(author.now.to_string())
    .bind(action.as_str())
    .bind(author.operator)
    .selecting_from(ended, "ended")
}

/// Records changes that no request made, in any number of workspaces. `happened` selects a `workspace_id`, a `subject`,
/// a `previous_state` and a `new_state` for each changed thing.
pub fn record_everywhere(now: Timestamp, action: Action, happened: Statement) -> Statement {
    sql("INSERT INTO changes (workspace_id, seq, timestamp, action, subject, operator, previous_state, new_state)
         SELECT workspace_id,
           coalesce((SELECT max(seq) FROM changes c WHERE c.workspace_id = it.workspace_id), 0)
             + row_number() OVER (PARTITION BY workspace_id ORDER BY subject),
           max(?2, coalesce((SELECT timestamp FROM changes c WHERE c.workspace_id = it.workspace_id
             ORDER BY seq DESC LIMIT 1), '')),
           ?1, subject, ?3, previous_state, new_state")
    .bind(action.as_str())
    .bind(now.to_string())
    .bind("pegboard")
    .selecting_from(happened, "it")
}

fn to_json(state: &impl Serialize) -> Result<String> {
    serde_json::to_string(state).map_err(|cause| Error::Internal(format!("a state is not JSON: {cause}")))
}
