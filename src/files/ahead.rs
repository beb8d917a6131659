//! Contents that are stored ahead of the rows that refer to them, because there are too many for one batch. They are in the
//! sweep's queue from then on, and the sweep leaves them alone for an hour.

use super::Blob;
use super::store::blob::{self, SmallBlobRow};
use super::store::usage;
use crate::callers::Scope;
use crate::db::Statement;
use crate::error::Result;
use crate::ids::WorkspaceId;
use crate::quota;
use crate::time::Timestamp;

/// How many bytes of contents and paths one batch holds at most. A batch takes room several times in an isolate's 128 MB:
/// as statements, as JSON, and on its way to D1. Contents beyond this are stored ahead of the commit.
pub const BATCH_BYTES: usize = 8 * 1024 * 1024;

/// How many bytes of contents travel as a part of a JSON list. Larger contents have a parameter of their own, because a
/// parameter of D1 holds two million bytes, and JSON may double a text.
pub const SMALL_BYTES: usize = 256 * 1024;

/// How long the sweep leaves contents alone that were stored ahead. The rows that refer to them come within seconds.
pub const KEPT_AHEAD_SECONDS: u32 = 60 * 60;

/// Contents on their way to the database, for rows that come afterwards.
pub struct AheadContents<'a> {
    scope: &'a Scope,
    /// What the request is doing, for the message if the quota is used up.
    what: &'static str,
    /// All contents that will be added, until the first of them are stored.
    expected: Vec<(String, u32)>,
    pending: Vec<Blob>,
}

impl<'a> AheadContents<'a> {
    pub fn new(scope: &'a Scope, what: &'static str) -> Self {
        Self { scope, what, expected: Vec::new(), pending: Vec::new() }
    }

    /// Stores nothing unless there is room for all of these contents, given by SHA-256 and size. Those that were stored before
    /// the quota was used up would otherwise take room for an hour, and nothing would refer to them.
    pub fn expecting(mut self, contents: Vec<(String, u32)>) -> Self {
        self.expected = contents;
        self
    }

    /// Adds contents. If those that wait are too many for one batch with it, they are stored first.
    pub async fn add(&mut self, blob: Blob) -> Result<()> {
        let bytes = self.pending.iter().map(Blob::stored_bytes).sum::<usize>();
        if !self.pending.is_empty() && bytes + blob.stored_bytes() > BATCH_BYTES {
            self.store().await?;
        }
        self.pending.push(blob);
        Ok(())
    }

    /// Stores the contents that wait.
    pub async fn store(&mut self) -> Result<()> {
        let pending = std::mem::take(&mut self.pending);
        if pending.is_empty() {
            return Ok(());
        }
        let app = self.scope.app();
        let blobs = pending.iter().collect::<Vec<_>>();
        let quota_bytes = app.settings().workspace_quota_bytes;
        let expected = std::mem::take(&mut self.expected);
        let expected = expected.iter().map(|(sha256, size)| (sha256.as_str(), *size)).collect::<Vec<_>>();
        let mut batch = vec![quota::ask_for_room(self.scope.workspace(), 0, &expected, quota_bytes)];
        batch.extend(statements(self.scope.workspace(), &blobs, quota_bytes, app.clock())?);
        // The statements have the contents now, and they become JSON on their way: three copies are one too many.
        drop(pending);
        match self.scope.write_all(batch).await? {
            Ok(_) => Ok(()),
            Err(failure) if quota::is_used_up(&failure) => Err(quota::refusal(self.scope, self.what).await?),
            Err(failure) => Err(failure.into()),
        }
    }
}

/// The batch that stores contents ahead.
pub fn statements(
    workspace: &WorkspaceId,
    blobs: &[&Blob],
    quota_bytes: u64,
    now: Timestamp,
) -> Result<Vec<Statement>> {
    let (small, large): (Vec<&Blob>, Vec<&Blob>) = blobs.iter().partition(|it| it.stored_bytes() <= SMALL_BYTES);
    let small = small.into_iter().map(|it| {
        let content = it.content();
        SmallBlobRow(it.sha256(), it.size(), content.encoding(), content.as_str(), "")
    });
    let sizes = blobs.iter().map(|it| (it.sha256(), it.size())).collect::<Vec<_>>();
    let mut statements = vec![usage::count_ahead(workspace, &sizes, quota_bytes)];
    statements.extend(blob::insert_small_ahead(workspace, &small.collect::<Vec<_>>(), now)?);
    statements.extend(large.iter().flat_map(|it| blob::insert_ahead(workspace, it, now)));
    let sha256 = sizes.iter().map(|(sha256, _)| *sha256).collect::<Vec<_>>();
    statements.push(blob::keep_until(workspace, &sha256, now.plus_seconds(KEPT_AHEAD_SECONDS)));
    Ok(statements)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::native::{migrated, migrations};
    use crate::db::sql;
    use crate::files::store::sweep::delete_blobs;
    use rusqlite::Connection;
    use serde_json::{Value, json};

    fn run(database: &Connection, statements: impl IntoIterator<Item = Statement>) -> Vec<Value> {
        statements.into_iter().flat_map(|it| it.rows_of(database).unwrap()).collect()
    }

    fn now(seconds: u32) -> Timestamp {
        Timestamp::from_millis(0).unwrap().plus_seconds(seconds)
    }

    /// How many contents are stored, and the bytes that they count with.
    fn stored(database: &Connection) -> (Value, Value) {
        let mut rows = run(
            database,
            [sql("SELECT (SELECT count(*) FROM blobs) AS blobs, (SELECT count(*) FROM blob_chunks) AS chunks, files_bytes
                 FROM workspace_usage")],
        );
        let row = rows.remove(0);
        (json!([row["blobs"], row["chunks"]]), row["files_bytes"].clone())
    }

    #[test]
    fn contents_of_a_toolset_count_until_the_sweep_after_its_removal() {
        let (database, workspace) = (migrated(&migrations("db")), WorkspaceId::parse("w").unwrap());
        let (small, large) = (Blob::text("x".into()), Blob::text("y".repeat(2_500_000)));
        let store = || run(&database, statements(&workspace, &[&small, &large], 10_000_000, now(0)).unwrap());
        let sweep = |seconds| run(&database, [delete_blobs(now(seconds))]);
        store();
        // Contents that are there already do not count twice.
        store();
        let all = (json!([2, 2]), json!(400 + 1 + 2_500_000));
        assert_eq!(stored(&database), all);
        sweep(KEPT_AHEAD_SECONDS - 1);
        assert_eq!(stored(&database), all, "the rows that refer to them may come within the hour");

        let toolset = "INSERT INTO toolsets (workspace_id, id, name, version, description, enabled, installed_at,
            manifest_version, decided_by) VALUES ('w', 'kit', 'Kit', '1.0.0', '', 1, '', '1', '')";
        run(&database, [sql(toolset)]);
        let file = |path: &str, blob: &Blob| {
            sql("INSERT INTO toolset_files VALUES ('w', 'kit', ?1, 'asset', ?2, ?3)")
                .bind(path)
                .bind(blob.sha256())
                .bind(blob.size())
        };
        run(&database, [file("a", &small), file("b", &small), file("c", &large)]);
        sweep(KEPT_AHEAD_SECONDS + 1);
        assert_eq!(stored(&database), all, "the toolset uses them");

        // One of two files with the same contents goes, and then the toolset.
        run(&database, [sql("DELETE FROM toolset_files WHERE path = 'a'")]);
        sweep(KEPT_AHEAD_SECONDS + 1);
        assert_eq!(stored(&database), all);
        run(&database, [sql("DELETE FROM toolsets")]);
        assert_eq!(stored(&database), all, "the sweep frees them");
        sweep(KEPT_AHEAD_SECONDS + 1);
        assert_eq!(stored(&database), (json!([0, 0]), json!(0)));
    }
}
