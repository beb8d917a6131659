//! The third stage: the full-text index. It is built in pieces of one transaction each, so that a killed import loses
//! one piece.
//!
//! This is as fast as FTS5's own `rebuild`, because FTS5 may gather more in memory before it writes. So it writes fewer
//! and larger segments, which need fewer merges.

use super::{Phase, State};
use crate::progress::Progress;
use anyhow::Result;
use rusqlite::{Connection, OptionalExtension, params};

/// How much FTS5 gathers before it writes a segment. Its default is 1 MiB.
const GATHERED_BYTES: i64 = 64 << 20;
/// FTS5's settings for this, and for merging on the fly, are rows of its own table. Both are removed at the end.
const LOADING: &str = "INSERT INTO emails_fts (emails_fts, rank) VALUES ('hashsize', ?1), ('automerge', 0)";

pub fn fill(connection: &mut Connection, state: &mut State, batch: u64) -> Result<()> {
    let before: u64 =
        connection.query_row("SELECT count(*) FROM entries WHERE id <= ?1", [state.indexed_to], |row| row.get(0))?;
    let mut done = before;
    let mut progress = Progress::bar("indexing", state.entries).starting_at(before);
    // A continued import does not repeat this: FTS5 counts the changes of its settings, and its pages would differ
    // slightly.
    let is_set = "SELECT EXISTS (SELECT 1 FROM emails_fts_config WHERE k = 'hashsize')";
    if !connection.query_row(is_set, [], |row| row.get::<_, bool>(0))? {
        connection.execute(LOADING, [GATHERED_BYTES])?;
    }
    while let Some(to) = end_of_batch(connection, state.indexed_to, batch)? {
        let transaction = connection.transaction()?;
        done += transaction.execute(
            "INSERT INTO emails_fts (rowid, subject, body)
             SELECT id, subject, body FROM entry_texts WHERE id > ?1 AND id <= ?2 ORDER BY id",
            params![state.indexed_to, to],
        )? as u64;
        state.indexed_to = to;
        state.save(&transaction)?;
        transaction.commit()?;
        progress.at(done, done - before, 0);
    }
    let transaction = connection.transaction()?;
    transaction.execute_batch("INSERT INTO emails_fts (emails_fts) VALUES ('optimize')")?;
    transaction.execute_batch("DELETE FROM emails_fts_config WHERE k IN ('hashsize', 'automerge')")?;
    state.phase = Phase::Indexed;
    state.save(&transaction)?;
    transaction.commit()?;
    progress.finish(&format!("{done} entries"));
    Ok(())
}

/// The key of the last of the next entries, if there are any.
fn end_of_batch(connection: &Connection, after: i64, batch: u64) -> Result<Option<i64>> {
    let mut last =
        connection.prepare_cached("SELECT max(id) FROM (SELECT id FROM entries WHERE id > ?1 ORDER BY id LIMIT ?2)")?;
    Ok(last.query_row(params![after, batch], |row| row.get(0)).optional()?.flatten())
}
