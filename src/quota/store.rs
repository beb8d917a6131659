//! SQL for the table `workspace_usage`.

use crate::db::{DbFailure, Param, Rows, Statement, sql};
use crate::error::Result;
use crate::ids::WorkspaceId;
use serde::Deserialize;
use serde_json::json;

/// The bytes that a file manifest, an entry of a file, and the row of contents count with. The triggers of
/// 0021_count_stored_bytes.sql use the same numbers.
pub const FILE_MANIFEST_BYTES: u32 = 600;
pub const ENTRY_BYTES: u32 = 300;
pub const CONTENTS_BYTES: u32 = 200;

/// The bytes that a call counts with, besides those of its documents and its error.
pub const CALL_BYTES: usize = 1_000;

/// A call that counts with more bytes than this is counted at once. The triggers of 0035_count_render_plans.sql use the
/// same number.
pub const LARGE_CALL_BYTES: u32 = 5_096;

/// The bytes that a message counts with, besides those of its parts and metadata. Triggers of 0040_messages.sql count
/// messages.
pub const MESSAGE_BYTES: usize = 600;

/// What a workspace stores, as far as it has been counted.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
pub struct Usage {
    /// The bytes of files and their history.
    pub files_bytes: u64,
    /// The bytes of calls and of the messages of conversations.
    pub calls_bytes: u64,
}

impl Usage {
    pub const fn used_bytes(self) -> u64 {
        self.files_bytes + self.calls_bytes
    }
}

pub fn find(workspace: &WorkspaceId) -> Statement {
    sql("SELECT max(files_bytes, 0) AS files_bytes, max(calls_bytes, 0) AS calls_bytes FROM workspace_usage
         WHERE workspace_id = ?1")
    .bind(workspace.as_str())
}

/// What all workspaces store together.
pub fn find_everywhere() -> Statement {
    sql("SELECT max(coalesce(sum(files_bytes), 0), 0) AS files_bytes, max(coalesce(sum(calls_bytes), 0), 0) AS calls_bytes
         FROM workspace_usage")
}

pub fn read(rows: &Rows) -> Result<Usage> {
    Ok(rows.first()?.unwrap_or_default())
}

/// Counts bytes of files. Stops its batch ([`is_used_up`]) if the workspace would then store more than `most_bytes`.
/// `made` is a query for one row with the column `bytes`, or for none. Its `?1` is the workspace, and the caller binds its
/// parameters from `?3` on.
pub fn count_files_within(workspace: &WorkspaceId, most_bytes: u64, made: &str) -> Statement {
    sql(format!(
        "INSERT INTO workspace_usage (workspace_id, files_bytes, calls_bytes, over)
         SELECT ?1, made.bytes, 0, made.bytes > ?2 FROM ({made}) made WHERE true
         ON CONFLICT (workspace_id) DO UPDATE SET files_bytes = files_bytes + excluded.files_bytes,
           over = files_bytes + calls_bytes + excluded.files_bytes > ?2"
    ))
    .bind(workspace.as_str())
    .bind(Param::Number(most_bytes as f64))
}

/// Stops its batch ([`is_used_up`]) if `bytes`, and those of the `contents` (SHA-256 and size) that the workspace does
/// not have yet, find no room within the quota. Changes nothing otherwise.
pub fn ask_for_room(workspace: &WorkspaceId, bytes: usize, contents: &[(&str, u32)], quota_bytes: u64) -> Statement {
    let new = if contents.is_empty() {
        ""
    } else {
        "+ (SELECT coalesce(sum(j.value ->> 1), 0) FROM json_each(?4) j WHERE NOT EXISTS (
             SELECT 1 FROM blobs b WHERE b.workspace_id = ?1 AND b.sha256 = j.value ->> 0))"
    };
    let statement = sql(format!(
        "INSERT INTO workspace_usage (workspace_id, files_bytes, calls_bytes, over) SELECT ?1, 0, 0, 1
         WHERE coalesce((SELECT files_bytes + calls_bytes FROM workspace_usage WHERE workspace_id = ?1), 0) + ?2 {new} > ?3"
    ))
    .bind(workspace.as_str())
    .bind(Param::Number(bytes as f64))
    .bind(Param::Number(quota_bytes as f64))
    .repeatable();
    if contents.is_empty() { statement } else { statement.bind(json!(contents).to_string()) }
}

/// Stops its batch ([`is_used_up`]) if `bytes` find no room within the quota in the place of those that are counted already.
/// `counted` is a query for these, with one row or none. Its `?1` is the workspace, and the caller binds its parameters from
/// `?4` on. Changes nothing otherwise.
pub fn ask_for_room_instead(workspace: &WorkspaceId, bytes: usize, counted: &str, quota_bytes: u64) -> Statement {
    sql(format!(
        "INSERT INTO workspace_usage (workspace_id, files_bytes, calls_bytes, over) SELECT ?1, 0, 0, 1
         FROM (SELECT ?2 - coalesce(({counted}), 0) AS bytes) more
         WHERE more.bytes > 0 AND more.bytes > ?3
           - coalesce((SELECT files_bytes + calls_bytes FROM workspace_usage WHERE workspace_id = ?1), 0)"
    ))
    .bind(workspace.as_str())
    .bind(Param::Number(bytes as f64))
    .bind(Param::Number(quota_bytes as f64))
    .repeatable()
}

/// Whether a batch failed because the quota is used up. The name is that of the constraint.
pub fn is_used_up(failure: &DbFailure) -> bool {
    matches!(failure, DbFailure::Refused(rule) if rule.contains("within_quota"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::native::{migrated, migrations};
    use rusqlite::Connection;

    /// Rows of two workspaces: files, calls up to the mark and after it, their contents, and sealed arguments.
    const ROWS: &str = "
        INSERT INTO sessions (workspace_id, id, tree_id, created_at, updated_at) VALUES ('ws', 's', 't', '', '');
        INSERT INTO manifests (workspace_id, id, session_id, tree_id, line, seq, source, created_at, files, bytes)
          VALUES ('ws', 'm1', 's', 't', '', 1, 'edit', '', 1, 1), ('ws', 'm2', 's', 't', '', 2, 'edit', '', 1, 1);
        INSERT INTO blobs (workspace_id, sha256, size, encoding, chunks, created_at, use_path)
          VALUES ('ws', printf('%064d', 1), 10, 'utf8', 1, '', '/a'), ('ws', printf('%064d', 2), 20, 'utf8', 1, '', NULL),
            ('ws', printf('%064d', 3), 40, 'utf8', 1, '', NULL), ('other', printf('%064d', 1), 80, 'utf8', 1, '', '/a');
        INSERT INTO file_entries (workspace_id, tree_id, path, label, sha256, size)
          VALUES ('ws', 't', '/a', 'a1', printf('%064d', 1), 10);
        INSERT INTO tool_calls (workspace_id, id, tool_name, operator, status, started_at, arguments, result)
          VALUES ('ws', 'c1', 't', 'o', 'success', '', '1', '22'), ('ws', 'c2', 't', 'o', 'success', '', '1', NULL),
            ('ws', 'c3', 't', 'o', 'success', '', '1', printf('%.*c', 9000, 'x'));
        INSERT INTO call_blobs VALUES ('ws', 'c1', 'result', printf('%064d', 2), 20);
        INSERT INTO approvals (workspace_id, id, call_id, status, sealed_arguments, requested_by, created_at, expires_at)
          VALUES ('ws', 'p', 'c1', 'pending', 'sealed', 'o', '', '');
        UPDATE call_mark SET key = 1;";

    fn usage(database: &Connection, workspace: &str) -> (u64, u64) {
        let rows = find(&WorkspaceId::parse(workspace).unwrap()).rows_of(database).unwrap();
        rows.first().map_or((0, 0), |it| (it["files_bytes"].as_u64().unwrap(), it["calls_bytes"].as_u64().unwrap()))
    }

    #[test]
    fn the_migration_counts_what_there_is() {
        let files = migrations("db");
        let is_older = |it: &&std::path::PathBuf| it.file_name().unwrap().to_str().unwrap() < "0020";
        let database = migrated(&files.iter().filter(is_older).cloned().collect::<Vec<_>>());
        database.execute_batch(ROWS).unwrap();
        for file in files.iter().filter(|it| !is_older(it)) {
            database.execute_batch(&std::fs::read_to_string(file).unwrap()).unwrap();
        }
        // Contents without a path are of a file, unless a call uses them.
        let files = 210 + 240 + 2 * 600 + 300;
        // The second call is after the mark, and small.
        assert_eq!(usage(&database, "ws"), (files, 220 + 1_003 + 10_001 + 6));
        assert_eq!((usage(&database, "other"), usage(&database, "none")), ((280, 0), (0, 0)));
    }

    #[test]
    fn a_batch_without_room_is_stopped() {
        let database = migrated(&migrations("db"));
        let workspace = WorkspaceId::parse("ws").unwrap();
        let sha256 = "0".repeat(63) + "1";
        let refused = |bytes: usize, contents: &[(&str, u32)]| match ask_for_room(&workspace, bytes, contents, 1_000)
            .rows_of(&database)
        {
            Ok(_) => false,
            Err(error) => {
                assert!(is_used_up(&DbFailure::Refused(error.to_string())), "{error}");
                true
            }
        };
        assert!(!refused(1_000, &[]) && refused(1_001, &[]), "a workspace that stores nothing");
        let insert = "INSERT INTO blobs (workspace_id, sha256, size, encoding, chunks, created_at, use_path)";
        database.execute_batch(&format!("{insert} VALUES ('ws', '{sha256}', 700, 'utf8', 1, '', NULL)")).unwrap();
        assert_eq!(usage(&database, "ws"), (0, 900));
        assert!(!refused(100, &[]) && refused(101, &[]));
        let other = "f".repeat(64);
        assert!(!refused(50, &[(&sha256, 700)]), "the workspace has these contents");
        assert!(!refused(50, &[(&other, 50)]) && refused(50, &[(&other, 51), (&sha256, 700)]));
        let write = |bytes: u32| {
            let made = format!("SELECT {bytes} AS bytes");
            count_files_within(&workspace, 1_000, &made).rows_of(&database).is_ok()
        };
        assert!(write(100) && !write(1));
        assert_eq!(usage(&database, "ws"), (100, 900), "a stopped batch counts nothing");
        database.execute_batch("DELETE FROM blobs").unwrap();
        assert!(usage(&database, "ws") == (100, 0) && write(900));
    }
}
