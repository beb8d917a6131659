//! The sweep deletes file manifests whose retention has ended, and rows that no file manifest can reach any more. One
//! run does a bounded amount of work, and the next run continues where it ended. The sweep does not search for garbage:
//! triggers mark a row when it loses its last use (0003_files.sql).

use super::store::sweep::{self, ClearedDirectory, ENTRIES, MANIFESTS, OldFileManifests, StaleEntry, StaleTreeSpan};
use super::store::usage;
use crate::app::App;
use crate::db::{Db, Statement};
use crate::error::Result;
use crate::time::Timestamp;

/// How many pieces one run frees. Each piece comes from other trees, so that all trees get their turn.
const PIECES: u32 = 10;

/// One run of the sweep.
#[expect(clippy::disallowed_methods, reason = "the sweep is about no workspace, and nobody calls it")]
pub async fn sweep(app: &App) -> Result<()> {
    let db = app.db()?;
    if let Some(days) = app.settings().file_manifest_retention_days {
        delete_expired_manifests(db, app.now().days_before(days)).await?;
    }
    for _ in 0..PIECES {
        if !free_a_piece(db, app.now()).await? {
            break;
        }
    }
    Ok(())
}

/// Deletes the next file manifests that were made before `before` and have not been a session's present since then.
async fn delete_expired_manifests(db: &Db, before: Timestamp) -> Result<()> {
    let answers = db.batch(&[sweep::find_old_manifests(before)]).await?;
    if let Some(rows) = answers.first()
        && let Some(old) = rows.first::<OldFileManifests>()?
    {
        let last = old.last.unwrap_or(0);
        db.batch(&[sweep::delete_old_manifests(before, last), sweep::move_retention(next_retention_start(&old))])
            .await?;
    }
    Ok(())
}

/// Frees one piece, and tells whether there was anything to free. Contents that lose their last use here are freed with
/// the next piece.
async fn free_a_piece(db: &Db, now: Timestamp) -> Result<bool> {
    let mut statements = sweep::delete_dead_sessions().to_vec();
    statements.extend([
        sweep::forget_cleared_directory(),
        sweep::find_cleared_directory(),
        sweep::find_stale_entries(),
        sweep::delete_blobs(now),
    ]);
    let answers = db.batch(&statements).await?;
    let [messages, manifests, sessions, _, _, cleared, entries, blobs] = answers.as_slice() else { return Ok(false) };
    let cleared = cleared.first::<ClearedDirectory>()?;
    let spans = spans(entries.all()?);
    let mut statements = spans.iter().flat_map(free_entries).collect::<Vec<_>>();
    statements.extend(cleared.iter().flat_map(sweep::clear_paths));
    let found = [messages, manifests, sessions, blobs].iter().any(|it| it.changes() > 0) || !statements.is_empty();
    if !statements.is_empty() {
        db.batch(&statements).await?;
    }
    Ok(found)
}

/// The key after which retention continues. Retention starts again from the beginning when it has reached the end, or a
/// file manifest that is still young. All later file manifests are younger still.
fn next_retention_start(old: &OldFileManifests) -> u32 {
    match old.last {
        Some(last) if old.count == MANIFESTS && old.young == 0 => last,
        _ => 0,
    }
}

fn free_entries(span: &StaleTreeSpan) -> Vec<Statement> {
    let mut statements = vec![sweep::delete_garbage(span), usage::uncount_entries(&span.workspace_id)];
    statements.extend(sweep::move_on(span));
    statements
}

/// The spans of these entries, one for each tree. Only the last span can be incomplete.
fn spans(entries: Vec<StaleEntry>) -> Vec<StaleTreeSpan> {
    let cut = entries.len() == ENTRIES as usize;
    let mut spans: Vec<StaleTreeSpan> = Vec::new();
    for entry in entries {
        let (path, label) = match (entry.path, entry.label) {
            (Some(path), Some(label)) => (path, label),
            _ => (entry.after_path.clone(), entry.after_label.clone()),
        };
        match spans.last_mut() {
            Some(span) if span.tree_id == entry.tree_id && span.workspace_id == entry.workspace_id => {
                (span.path, span.label) = (path, label);
            }
            _ => spans.push(StaleTreeSpan {
                workspace_id: entry.workspace_id,
                tree_id: entry.tree_id,
                after_path: entry.after_path,
                after_label: entry.after_label,
                path,
                label,
                last: true,
            }),
        }
    }
    if let Some(span) = spans.last_mut() {
        span.last = !cut;
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(tree: u32, place: Option<(&str, &str)>) -> StaleEntry {
        StaleEntry {
            workspace_id: "ws".into(),
            tree_id: format!("tree {tree}"),
            after_path: "/a".into(),
            after_label: "a1".into(),
            path: place.map(|it| it.0.into()),
            label: place.map(|it| it.1.into()),
        }
    }

    #[test]
    fn a_tree_is_one_span_up_to_its_last_entry() {
        let spans = spans(vec![entry(1, Some(("/b", "a1"))), entry(1, Some(("/b", "a2"))), entry(2, None)]);
        let seen = spans
            .iter()
            .map(|it| (it.tree_id.as_str(), it.path.as_str(), it.label.as_str(), it.last))
            .collect::<Vec<_>>();
        assert_eq!(seen, [("tree 1", "/b", "a2", true), ("tree 2", "/a", "a1", true)]);
    }

    #[test]
    fn only_the_last_tree_is_cut_off() {
        let mut entries = vec![entry(1, Some(("/b", "a1")))];
        entries.resize(ENTRIES as usize, entry(2, Some(("/c", "a1"))));
        assert_eq!(spans(entries).iter().map(|it| it.last).collect::<Vec<_>>(), [true, false]);
        assert_eq!(spans(Vec::new()), []);
    }

    #[test]
    fn retention_begins_anew_at_the_end_and_where_manifests_are_young() {
        let check = |count, last, young, expected| {
            assert_eq!(next_retention_start(&OldFileManifests { count, last, young }), expected);
        };
        check(MANIFESTS, Some(7), 0, 7);
        check(MANIFESTS, Some(7), 1, 0);
        check(5, Some(7), 0, 0);
        check(0, None, 0, 0);
    }
}
