//! Old calls go into a bucket before their rows are deleted, if the deployment has one: as JSON Lines, compressed, a file for the
//! calls of one day of a workspace, or several files for many calls. The row that says where the calls lie is written in the
//! transaction that deletes them. A crash before this transaction leaves a file that nothing names, and the next run replaces
//! the file.

use super::log;
use super::row::CallRow;
use super::store::{archives, retention};
use crate::app::App;
use crate::bucket::Bucket;
use crate::callers::Scope;
use crate::error::{Error, Result};
use crate::ids::WorkspaceId;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use utoipa::ToSchema;

/// How many blocks of calls, and how many files, one run works on.
const BLOCKS: u32 = 4;
const FILES: usize = 100;

/// The most calls of one file, and the most bytes of several calls in one file. One call may be larger. The calls of a file are in
/// the isolate's memory several times, so a file is no larger than what one round trip may read.
const FILE_CALLS: usize = 1_000;
const FILE_BYTES: u32 = 4 * 1024 * 1024;

/// A file of archived calls.
#[derive(Serialize, Deserialize, ToSchema)]
pub struct ArchivedCalls {
    /// The day on which the calls started, in UTC.
    #[schema(example = "2026-08-20")]
    pub day: String,
    /// The key of the file in the bucket.
    pub key: String,
    /// How many calls the file has.
    pub calls: u32,
    /// The size of the compressed file.
    pub bytes: u32,
    /// When the first of the calls started.
    #[schema(value_type = String, format = DateTime)]
    pub first_at: Timestamp,
    /// When the last of the calls started.
    #[schema(value_type = String, format = DateTime)]
    pub last_at: Timestamp,
}

/// The calls of a file that is to be written.
struct PlannedFile {
    keys: Vec<u32>,
    bytes: u32,
}

/// Archives the old calls of all workspaces, the oldest first. A file that fails is told at the end, and tried again by a later
/// run.
#[expect(clippy::disallowed_methods, reason = "upkeep is about no workspace, and nobody calls it")]
pub async fn archive_old_calls(app: &Arc<App>, bucket: &Bucket, before: Timestamp) -> Result<()> {
    let db = app.db()?;
    let (mut files, mut done) = (0, Ok(()));
    for _ in 0..BLOCKS {
        let answers = db.batch(&[archives::find(before)]).await?;
        let block = answers.first().map(|it| it.all::<archives::FoundCall>()).transpose()?.unwrap_or_default();
        let next = block.last().map(|it| it.key).filter(|_| block.iter().all(|it| it.young == 0));
        for ((workspace, day), planned) in plan(block) {
            for file in planned {
                if files == FILES {
                    return done;
                }
                files += 1;
                done = done.and(archive(app, bucket, &workspace, &day, &file.keys).await);
            }
        }
        // After the end, or after young calls, the next run begins with the oldest call again.
        db.batch(&[retention::move_on(next.unwrap_or(0))]).await?;
        if next.is_none() {
            break;
        }
    }
    done
}

/// The files for the old calls of a block, by workspace and day.
fn plan(block: Vec<archives::FoundCall>) -> BTreeMap<(WorkspaceId, String), Vec<PlannedFile>> {
    let mut plan = BTreeMap::<_, Vec<PlannedFile>>::new();
    for call in block.into_iter().filter(|it| it.old == 1) {
        let files = plan.entry((call.workspace_id, call.day)).or_default();
        match files.last_mut() {
            Some(file) if file.keys.len() < FILE_CALLS && file.bytes.saturating_add(call.bytes) <= FILE_BYTES => {
                file.keys.push(call.key);
                file.bytes += call.bytes;
            }
            _ => files.push(PlannedFile { keys: vec![call.key], bytes: call.bytes }),
        }
    }
    plan
}

/// Writes one file, and deletes its calls once the bucket has the file.
async fn archive(app: &Arc<App>, bucket: &Bucket, workspace: &WorkspaceId, day: &str, keys: &[u32]) -> Result<()> {
    let scope = Scope::of_pegboard(app.clone(), workspace.clone());
    let [rows] = scope.read([archives::find_calls(workspace, keys)]).await?;
    let mut lines = Vec::new();
    let (mut ids, mut times) = (Vec::new(), Vec::new());
    for call in rows.all::<CallRow>()? {
        ids.push(call.id.clone());
        times.push(call.started_at);
        let record = log::whole_record(&scope, call).await?;
        serde_json::to_writer(&mut lines, &record)
            .map_err(|cause| Error::Internal(format!("a call is not JSON: {cause}")))?;
        lines.push(b'\n');
    }
    drop(rows);
    let (Some(first), Some(last)) = (ids.first(), ids.last()) else { return Ok(()) };
    let (Some(first_at), Some(last_at)) = (times.iter().min(), times.iter().max()) else { return Ok(()) };
    let key = format!("{workspace}/{day}/{first}-{last}.jsonl.gz");
    let calls = u32::try_from(ids.len()).unwrap_or(u32::MAX);
    let bytes = bucket.put_gzip(&key, lines).await?;
    let file = ArchivedCalls { day: day.to_owned(), key, calls, bytes, first_at: *first_at, last_at: *last_at };
    scope.write_all(archives::put_away(workspace, &file, keys)).await??;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(key: u32, workspace: &str, day: &str, bytes: u32) -> archives::FoundCall {
        let workspace_id = WorkspaceId::parse(workspace).unwrap();
        archives::FoundCall { key, workspace_id, day: day.into(), bytes, old: 1, young: 0 }
    }

    /// The keys of each file.
    fn planned(block: Vec<archives::FoundCall>) -> Vec<Vec<u32>> {
        plan(block).into_values().flatten().map(|it| it.keys).collect()
    }

    #[test]
    fn a_file_has_the_calls_of_one_day_of_one_workspace() {
        let mut running = call(5, "a", "2026-01-01", 1);
        running.old = 0;
        let block = vec![
            call(1, "b", "2026-01-01", 1),
            call(2, "a", "2026-01-01", 1),
            call(3, "a", "2026-01-02", 1),
            call(4, "a", "2026-01-01", 1),
            running,
        ];
        assert_eq!(planned(block), [vec![2, 4], vec![3], vec![1]]);
    }

    #[test]
    fn a_file_is_bounded_and_a_large_call_has_its_own() {
        let of = |sizes: &[u32]| {
            planned((0..).zip(sizes).map(|(key, bytes)| call(key, "a", "2026-01-01", *bytes)).collect())
        };
        assert_eq!(of(&[1, 5 * FILE_BYTES, 1, FILE_BYTES - 1, 1]), [vec![0], vec![1], vec![2, 3], vec![4]]);
        assert_eq!(of(&[1; 2_500]).iter().map(Vec::len).collect::<Vec<_>>(), [1_000, 1_000, 500]);
    }
}
