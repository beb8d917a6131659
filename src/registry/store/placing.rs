//! SQL that writes many tools and versions at once. The rows of a statement are one parameter, a JSON array. Most
//! statements end with a `WHERE` clause, so that a condition can be added to them.

use super::columns;
use super::credentials;
use crate::db::{Condition, DbFailure, ManyRows, Statement, condition, for_each, sql};
use crate::error::Result;
use crate::ids::{ToolId, Version, WorkspaceId};
use crate::registry::record::ToolRecord;
use crate::registry::tool::{DeactivationReason, Tool};
use crate::time::Timestamp;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Whether a trigger of `tool_versions` refused a version that was deactivated for security.
pub fn is_banned(failure: &DbFailure) -> bool {
    matches!(failure, DbFailure::Refused(message) if message.contains("deactivated for security"))
}

/// The facts that a decision relies on: the revisions of the tools that were read, and the credentials that must be
/// defined. Each of the two is one parameter of every statement, with room for tens of thousands of tools.
#[derive(Default)]
pub struct ToolsRead {
    /// The revisions by the tools' ids.
    tools: BTreeMap<String, u32>,
    credentials: BTreeSet<String>,
}

impl ToolsRead {
    pub fn at(&mut self, id: &ToolId, revision: u32) {
        self.tools.insert(id.to_string(), revision);
    }

    pub fn needs(&mut self, credentials: &[String]) {
        self.credentials.extend(credentials.iter().cloned());
    }

    /// True while every tool is at its revision and every credential is defined.
    pub fn unchanged(&self, workspace: &WorkspaceId) -> Condition {
        let credentials = credentials::are_defined(workspace, &self.credentials);
        if self.tools.is_empty() {
            return credentials;
        }
        condition(
            "NOT EXISTS (SELECT 1 FROM json_each(?2) it WHERE NOT EXISTS (
               SELECT 1 FROM tools
               WHERE workspace_id = ?1 AND id = it.key AND revision = it.value))",
        )
        .bind(workspace.as_str())
        .bind(json!(self.tools).to_string())
        .and(credentials)
    }

    /// Increments the tools' revisions, so that decisions of other requests on the same reading are refused. This
    /// statement must be the last of its batch, because [`Self::unchanged`] is false after it.
    pub fn move_on(&self, workspace: &WorkspaceId) -> Option<Statement> {
        let move_on = sql("UPDATE tools SET revision = revision + 1
             WHERE workspace_id = ?1 AND id IN (SELECT key FROM json_each(?2))")
        .bind(workspace.as_str())
        .bind(json!(self.tools).to_string());
        (!self.tools.is_empty()).then_some(move_on)
    }
}

/// Versions that get the same state: active, or deactivated at one time for one reason.
pub struct SwitchedVersions {
    active: bool,
    deactivated_at: Option<Timestamp>,
    deactivated_reason: Option<DeactivationReason>,
    versions: Vec<Value>,
}

impl SwitchedVersions {
    /// Adds a version to the last group, if that group has the same state, and else to a new group.
    pub fn push(groups: &mut Vec<Self>, after: &Tool) {
        let (active, deactivated_at, deactivated_reason) =
            (after.active, after.deactivated_at, after.deactivated_reason);
        let named = named(after.id.as_str(), after.version);
        match groups.last_mut() {
            Some(last)
                if (last.active, last.deactivated_at, last.deactivated_reason)
                    == (active, deactivated_at, deactivated_reason) =>
            {
                last.versions.push(named);
            }
            _ => groups.push(Self { active, deactivated_at, deactivated_reason, versions: vec![named] }),
        }
    }

    pub fn statements(&self, workspace: &WorkspaceId) -> Result<Vec<Statement>> {
        let text = format!(
            "UPDATE tool_versions SET active = ?3, deactivated_at = ?4, deactivated_reason = ?5
             WHERE key IN ({FIND_VERSIONS})"
        );
        let bind = |statement: Statement| {
            statement
                .bind(self.active)
                .bind(self.deactivated_at.as_ref().map(Timestamp::to_string))
                .bind(self.deactivated_reason.map(DeactivationReason::as_str))
        };
        Ok(for_each(workspace, &self.versions, &text)?.into_iter().map(bind).collect())
    }
}

/// The keys of the versions that `?2` names, with their tools and numbers.
const FIND_VERSIONS: &str = "SELECT v.key FROM json_each(?2) it
    CROSS JOIN tools t ON t.workspace_id = ?1 AND t.id = it.value ->> 'tool_id'
    CROSS JOIN tool_versions v ON v.tool_key = t.key AND v.major = it.value ->> 'major'
      AND v.minor = it.value ->> 'minor' AND v.patch = it.value ->> 'patch'";

/// Adds tools. Their revision is a number that no tool of the workspace has had before: a decision about a tool that was
/// deleted meanwhile does not change a new tool of the same name.
const INSERT_TOOLS: &str = "INSERT INTO tools (workspace_id, id, source, created_at, revision)
    SELECT ?1, value ->> 'id', value ->> 'source', value ->> 'created_at',
      1 + coalesce((SELECT max(seq) FROM changes WHERE workspace_id = ?1), 0)
    FROM json_each(?2) WHERE true";

/// Adds tools that do not exist yet.
pub fn insert_tools(workspace: &WorkspaceId, tools: &[ToolRecord]) -> Result<Vec<Statement>> {
    for_each(workspace, tools, INSERT_TOOLS)
}

/// Adds tools, each as a [`ToolRecord`], and changes those that exist. New tools are added from the oldest to the newest,
/// because lists show tools in the order in which they were added.
pub fn put_tools(workspace: &WorkspaceId, tools: &impl ManyRows) -> Result<Vec<Statement>> {
    let text = format!(
        "{INSERT_TOOLS} ORDER BY value ->> 'created_at', value ->> 'id'
         ON CONFLICT (workspace_id, id) DO UPDATE SET source = excluded.source, created_at = excluded.created_at"
    );
    for_each(workspace, tools, &text)
}

pub fn delete_tools(workspace: &WorkspaceId, ids: &impl ManyRows) -> Result<Vec<Statement>> {
    for_each(workspace, ids, "DELETE FROM tools WHERE workspace_id = ?1 AND id IN (SELECT value FROM json_each(?2))")
}

/// Adds versions, each [as JSON](columns::version_json), to existing tools.
pub fn insert_versions(workspace: &WorkspaceId, versions: &impl ManyRows) -> Result<Vec<Statement>> {
    for_each(workspace, versions, &(columns::insert_versions("?2") + " WHERE true"))
}

/// Deletes versions, each [by its name](named).
pub fn delete_versions(workspace: &WorkspaceId, versions: &impl ManyRows) -> Result<Vec<Statement>> {
    for_each(workspace, versions, &format!("DELETE FROM tool_versions WHERE key IN ({FIND_VERSIONS})"))
}

/// Sets the tools' current version to none, and their revision.
pub fn let_go_of_current(workspace: &WorkspaceId, ids: &impl ManyRows, revision: u32) -> Result<Vec<Statement>> {
    let text = "UPDATE tools SET current_version_key = NULL, revision = ?3
        WHERE workspace_id = ?1 AND id IN (SELECT value FROM json_each(?2))";
    Ok(for_each(workspace, ids, text)?.into_iter().map(|it| it.bind(revision)).collect())
}

/// Sets the current version of those tools that have none: the active one, or the highest if none is active. A trigger has
/// set the current version of a tool that got a version.
pub fn find_current(workspace: &WorkspaceId, ids: &impl ManyRows) -> Result<Vec<Statement>> {
    for_each(
        workspace,
        ids,
        "UPDATE tools SET current_version_key = coalesce(
           (SELECT key FROM tool_versions WHERE workspace_id = ?1 AND tool_key = tools.key AND active = 1),
           (SELECT key FROM tool_versions WHERE tool_key = tools.key ORDER BY major DESC, minor DESC, patch DESC LIMIT 1))
         WHERE workspace_id = ?1 AND id IN (SELECT value FROM json_each(?2)) AND current_version_key IS NULL",
    )
}

/// A version as [`FIND_VERSIONS`] takes it.
pub fn named(tool_id: &str, version: Version) -> Value {
    let Version { major, minor, patch } = version;
    json!({"tool_id": tool_id, "major": major, "minor": minor, "patch": patch})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::fixture;
    use rusqlite::Connection;

    fn database() -> Connection {
        let database = Connection::open_in_memory().unwrap();
        let tables = "
            CREATE TABLE tools (key INTEGER PRIMARY KEY, workspace_id, id, source, created_at, revision INTEGER);
            CREATE TABLE tool_versions (key INTEGER PRIMARY KEY, tool_key, major INTEGER, minor INTEGER, patch INTEGER,
              active INTEGER, deactivated_at, deactivated_reason);
            CREATE TABLE credentials (workspace_id, id);
            CREATE TABLE changes (workspace_id, seq INTEGER);
            INSERT INTO changes VALUES ('w', 6), ('other', 99);
            INSERT INTO credentials VALUES ('w', 'A'), ('other', 'B');
            INSERT INTO tools (workspace_id, id, revision) VALUES ('w', 'one', 3), ('w', 'two', 4), ('other', 'one', 9);
            INSERT INTO tool_versions (tool_key, major, minor, patch, active) VALUES (1, 1, 0, 0, 1), (2, 1, 0, 0, 1);";
        database.execute_batch(tables).unwrap();
        database
    }

    fn workspace() -> WorkspaceId {
        WorkspaceId::parse("w").unwrap()
    }

    #[test]
    fn tools_are_unchanged_while_each_is_at_its_revision() {
        #[track_caller]
        fn check(tools: &[(&str, u32)], credentials: &[&str], expected: bool) {
            let mut read = ToolsRead::default();
            for (id, revision) in tools {
                read.at(&ToolId::parse(id).unwrap(), *revision);
            }
            read.needs(&credentials.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>());
            let asked = sql("SELECT ?1 AS unchanged WHERE true").bind("yes").and(read.unchanged(&workspace()));
            assert_eq!(!asked.rows_of(&database()).unwrap().is_empty(), expected);
        }
        check(&[], &[], true);
        check(&[("one", 3), ("two", 4)], &["A"], true);
        check(&[("one", 3), ("two", 3)], &["A"], false);
        check(&[("one", 9)], &[], false);
        check(&[("none", 1)], &[], false);
        check(&[("one", 3)], &["A", "B"], false);
    }

    #[test]
    fn many_tools_are_placed_at_once() {
        let (database, workspace) = (database(), workspace());
        let run = |statements: Vec<Statement>| {
            for it in statements {
                it.rows_of(&database).unwrap();
            }
        };
        let new = ["three", "four"].map(|it| ToolRecord::from(&fixture(it)));
        run(insert_tools(&workspace, &new).unwrap());
        let mut switched = Vec::new();
        for id in ["one", "two"] {
            let off = fixture(id).switched_off(DeactivationReason::VersionUpdate, Timestamp::from_millis(0).unwrap());
            SwitchedVersions::push(&mut switched, &off);
        }
        assert_eq!(switched.len(), 1, "those that stand in the same way are one statement");
        run(switched[0].statements(&workspace).unwrap());
        let mut read = ToolsRead::default();
        read.at(&ToolId::parse("one").unwrap(), 3);
        run(read.move_on(&workspace).into_iter().collect());

        let seen = sql("SELECT group_concat(id || ' ' || revision, ', ') AS tools,
               (SELECT group_concat(active || ' ' || deactivated_reason, ', ') FROM tool_versions) AS versions
             FROM tools WHERE workspace_id = ?1")
        .bind("w")
        .rows_of(&database)
        .unwrap();
        let expected = json!({
            "tools": "one 4, two 4, three 7, four 7",
            "versions": "0 version_update, 0 version_update",
        });
        assert_eq!(seen, [expected]);
    }
}
