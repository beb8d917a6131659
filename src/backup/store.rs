//! SQL for the size of a registry, for the settings of a workspace, and for the table `restore_chunks`.

use super::workspace::WorkspaceRecord;
use crate::agents;
use crate::db::{Condition, DbFailure, ManyRows, Rows, Statement, condition, for_each, sql};
use crate::error::{Error, Result};
use crate::ids::WorkspaceId;
use crate::registry;
use crate::time::Timestamp;
use crate::toolsets;
use crate::upstreams;
use serde::Deserialize;

/// How many chunks one run of the sweep deletes. Chunks are large, so there are few of them.
const SWEPT_AT_ONCE: u32 = 200;

/// True if the registry may fit into this many bytes. The SQL knows the size of a backup only roughly: a registry that
/// does not pass is larger for certain.
pub fn registry_fits(workspace: &WorkspaceId, bytes: usize) -> Condition {
    let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    let (registry, agents) = (registry::bytes_of_all_versions(), agents::bytes_of_all());
    let parts = [registry, agents, upstreams::bytes_of_all(), toolsets::bytes_of_all()];
    condition(format!("{} <= ?2", parts.join(" + "))).bind(workspace.as_str()).bind(bytes)
}

/// The settings of the workspace. A workspace without a row has the defaults.
pub fn find_settings(workspace: &WorkspaceId) -> Statement {
    sql("SELECT default_guest_modules FROM workspace_settings WHERE workspace_id = ?1").bind(workspace.as_str())
}

pub fn read_settings(rows: &Rows) -> Result<WorkspaceRecord> {
    #[derive(Deserialize)]
    struct SettingsRow {
        default_guest_modules: String,
    }
    let Some(row) = rows.first::<SettingsRow>()? else { return Ok(WorkspaceRecord::default()) };
    let default_guest_modules = serde_json::from_str(&row.default_guest_modules)
        .map_err(|cause| Error::Internal(format!("the stored settings cannot be read: {cause}")))?;
    Ok(WorkspaceRecord { default_guest_modules })
}

/// Writes the settings: no row, or one [`WorkspaceRecord`]. The settings must not have had `revision` before.
pub fn put_settings(workspace: &WorkspaceId, settings: &impl ManyRows, revision: u32) -> Result<Vec<Statement>> {
    let text = "INSERT INTO workspace_settings (workspace_id, default_guest_modules, revision)
        SELECT ?1, value ->> 'default_guest_modules', ?3 FROM json_each(?2) WHERE true
        ON CONFLICT (workspace_id) DO UPDATE SET default_guest_modules = excluded.default_guest_modules,
          revision = max(revision + 1, excluded.revision)";
    Ok(for_each(workspace, settings, text)?.into_iter().map(|it| it.bind(revision)).collect())
}

/// Selects a row if the condition is true.
pub fn find_whether(it: Condition) -> Statement {
    sql("SELECT 1 AS found WHERE true").and(it)
}

pub fn insert_chunk(workspace: &WorkspaceId, id: &str, now: Timestamp, data: &str) -> Statement {
    sql("INSERT INTO restore_chunks (workspace_id, id, created_at, data) VALUES (?1, ?2, ?3, ?4)")
        .bind(workspace.as_str())
        .bind(id)
        .bind(now.to_string())
        .bind(data)
}

/// Makes the batch fail if the condition is true: the statement then inserts a chunk without data, which the table
/// refuses ([`is_refusal`]).
pub fn refuse_if(workspace: &WorkspaceId, restore_id: &str, it: Condition) -> Statement {
    sql("INSERT INTO restore_chunks (workspace_id, id, created_at, data) SELECT ?1, ?2, '', NULL WHERE true")
        .bind(workspace.as_str())
        .bind(format!("{restore_id}/refused"))
        .and(it)
}

/// Whether a statement of [`refuse_if`] made the batch fail.
pub fn is_refusal(failure: &DbFailure) -> bool {
    matches!(failure, DbFailure::Refused(message) if message.contains("restore_chunks.data"))
}

/// True if the restore has not exactly this many chunks. The sweep deletes the chunks of a restore that takes too long.
pub fn chunks_are_missing(workspace: &WorkspaceId, restore_id: &str, count: usize) -> Condition {
    condition(
        "(SELECT count(*) FROM restore_chunks WHERE workspace_id = ?1 AND id > ?2 || '/' AND id < ?2 || '0') <> ?3",
    )
    .bind(workspace.as_str())
    .bind(restore_id)
    .bind(u32::try_from(count).unwrap_or(u32::MAX))
}

/// Deletes all chunks of the restore. The character `0` follows `/`.
pub fn delete_chunks(workspace: &WorkspaceId, restore_id: &str) -> Statement {
    sql("DELETE FROM restore_chunks WHERE workspace_id = ?1 AND id > ?2 || '/' AND id < ?2 || '0'")
        .bind(workspace.as_str())
        .bind(restore_id)
}

/// Deletes chunks, of any workspace, that are older than `before`.
pub fn delete_old_chunks(before: Timestamp) -> Statement {
    sql(format!(
        "DELETE FROM restore_chunks WHERE (workspace_id, id) IN (
           SELECT workspace_id, id FROM restore_chunks INDEXED BY restore_chunks_by_age
           WHERE created_at < ?1 LIMIT {SWEPT_AT_ONCE})"
    ))
    .bind(before.to_string())
}

/// A list of rows that lies in `restore_chunks`.
pub struct StagedRows {
    /// The ids of the list's chunks, in their order.
    pub chunks: Vec<String>,
    /// Whether one statement takes the rows of all chunks together, because the order of the rows matters.
    pub together: bool,
}

impl ManyRows for StagedRows {
    fn statements(&self, workspace: &WorkspaceId, text: &str) -> Result<Vec<Statement>> {
        let chunk = "SELECT data FROM restore_chunks WHERE workspace_id = ?1 AND id = ?2";
        let one = |text: &str, param: &str| sql(text).bind(workspace.as_str()).bind(param);
        if !self.together {
            let text = text.replace("json_each(?2)", &format!("json_each(({chunk}))"));
            return Ok(self.chunks.iter().map(|id| one(&text, id)).collect());
        }
        let rows = "(SELECT row.key, row.value FROM json_each(?2) id
            CROSS JOIN restore_chunks c ON c.workspace_id = ?1 AND c.id = id.value CROSS JOIN json_each(c.data) row)";
        let ids = serde_json::json!(self.chunks).to_string();
        Ok(match self.chunks.is_empty() {
            true => Vec::new(),
            false => vec![one(&text.replace("json_each(?2)", rows), &ids)],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::native::{migrated, migrations};
    use rusqlite::Connection;
    use serde_json::{Value, json};

    fn run(database: &Connection, statements: Vec<Statement>) -> Vec<Value> {
        statements.iter().flat_map(|it| it.rows_of(database).unwrap()).collect()
    }

    fn database() -> (Connection, WorkspaceId, StagedRows) {
        let (database, workspace) = (migrated(&migrations("db")), WorkspaceId::parse("w").unwrap());
        let chunks = [("r/04/000000", r#"[{"id":"c"},{"id":"b"}]"#), ("r/04/000001", r#"[{"id":"a"}]"#)];
        let now = Timestamp::from_millis(0).unwrap();
        for (id, data) in chunks.into_iter().chain([("r2/04/000000", "[]")]) {
            run(&database, vec![insert_chunk(&workspace, id, now, data)]);
        }
        let rows = StagedRows { chunks: chunks.map(|(id, _)| id.to_owned()).into(), together: false };
        (database, workspace, rows)
    }

    #[test]
    fn staged_rows_are_the_rows_of_all_chunks() {
        let (database, workspace, rows) = database();
        let ids = |rows: &StagedRows| {
            let text = "SELECT ?3 || (value ->> 'id') AS id FROM json_each(?2) WHERE true ORDER BY value ->> 'id'";
            let statements = rows.statements(&workspace, text).unwrap();
            run(&database, statements.into_iter().map(|it| it.bind("-")).collect())
        };
        assert_eq!(ids(&rows), [json!({"id": "-b"}), json!({"id": "-c"}), json!({"id": "-a"})]);
        let together = StagedRows { together: true, ..rows };
        assert_eq!(ids(&together), [json!({"id": "-a"}), json!({"id": "-b"}), json!({"id": "-c"})]);
        let none = StagedRows { chunks: Vec::new(), together: true };
        assert_eq!(none.statements(&workspace, "SELECT 1 FROM json_each(?2)").unwrap(), []);
    }

    #[test]
    fn a_restore_with_missing_chunks_is_refused() {
        let (database, workspace, _) = database();
        let refuse = |count| refuse_if(&workspace, "r", chunks_are_missing(&workspace, "r", count)).rows_of(&database);
        assert!(refuse(2).is_ok());
        let failure = refuse(3).unwrap_err().to_string();
        // D1 adds the name of the code.
        assert!(is_refusal(&DbFailure::Refused(failure)));
        run(&database, vec![delete_chunks(&workspace, "r")]);
        assert!(refuse(2).is_err() && refuse(0).is_ok());
        let left = sql("SELECT id FROM restore_chunks").rows_of(&database).unwrap();
        assert_eq!(left, [json!({"id": "r2/04/000000"})], "the chunks of another restore stay");
    }
}
