//! Loads a database, in stages. Each stage commits its work together with its progress (`state`), in the database
//! itself. So a killed import continues from its last commit, and its final result equals that of an uninterrupted
//! import.
//!
//! 1. `rows`: messages, in the source's order
//! 2. `place`: the inboxes of each message, its key there, and its sender and recipients
//! 3. `index`: the full-text index over the assigned messages
//!
//! The schema's triggers do all this for single messages, one by one; they are removed meanwhile.

mod dry_run;
pub mod inboxes;
mod index;
mod place;
mod plan;
mod reader;
mod rows;
mod state;
mod triggers;

use crate::progress::Progress;
use crate::report::Report;
use crate::summary::Summary;
use anyhow::{Context, Result, bail};
use rusqlite::Connection;
use state::Phase;
use std::path::Path;
use std::time::Duration;

pub use dry_run::dry_run;
pub use plan::Plan;
pub use state::State;
pub use triggers::drop_sql as drop_trigger_sql;

/// Opens a database for loading. It is locked for this process, until the process ends.
pub fn open(path: &Path) -> Result<Connection> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    let connection = Connection::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    connection.busy_timeout(Duration::ZERO)?;
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    // A rollback journal holds only the changed pages, and loading changes few pages and adds many. With write-ahead
    // logging, which the runtime sets, all pages would be written twice. The runtime switches back by itself.
    let switched = connection.pragma_update(None, "journal_mode", "DELETE");
    switched.with_context(|| format!("{} is in use: stop the dev server first", path.display()))?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "foreign_keys", false)?;
    connection.pragma_update(None, "cache_size", -64_000)?;
    connection.pragma_update(None, "temp_store", "FILE")?;
    connection.set_prepared_statement_cache_capacity(32);
    Ok(connection)
}

/// Whether an import that wants an empty database must do nothing: there is mail, or an unfinished import of another
/// source.
pub fn in_the_way(connection: &Connection, plan: &Plan) -> Result<Option<&'static str>> {
    Ok(match state::read(connection)? {
        Some(state) => (!state.goes_on_as(&plan.job()?)).then_some("an import that was interrupted"),
        None => (count(connection, "emails")? > 0).then_some("mail"),
    })
}

/// Runs all stages, and restores the form of the database that the Worker needs.
pub fn load(connection: &mut Connection, plan: &Plan, report: &Path) -> Result<Summary> {
    let (mut state, mut summary) = rows_and_places(connection, plan)?;
    if state.phase == Phase::Indexing {
        index::fill(connection, &mut state, plan.batch)?;
    }
    finish(connection, &state, report, &mut summary)?;
    Ok(summary)
}

/// Runs the first two stages, which make everything that an upload sends.
pub fn rows_and_places(connection: &mut Connection, plan: &Plan) -> Result<(State, Summary)> {
    let mut state = begin(connection, plan)?;
    let mut summary = Summary::begin(state.taken);
    if state.phase == Phase::Reading {
        rows::load(connection, plan, &mut state, &mut summary)?;
    }
    if state.phase == Phase::Placing {
        let progress = Progress::spinner("placing");
        let inboxes = state.inboxes.clone();
        place::all(connection, &inboxes, &mut state)?;
        progress.finish(&format!("{} entries", state.entries));
    }
    Ok((state, summary))
}

/// Continues the interrupted import if it is the same one; otherwise begins a new import.
fn begin(connection: &mut Connection, plan: &Plan) -> Result<State> {
    let job = plan.job()?;
    match state::read(connection)? {
        // An import that failed at once, because its source could not be read, does not count.
        Some(state) if plan.restart || state.taken == 0 && state.job != job => state::undo(connection, &state)?,
        Some(mut state) if state.goes_on_as(&job) => {
            state.job = job;
            eprintln!("going on after {} messages", state.taken);
            return Ok(state);
        }
        Some(state) => bail!(
            "an import of {} was interrupted here: finish it with the arguments it had, or forget it with --restart",
            state.job.source
        ),
        None => {}
    }
    let inboxes = inboxes::settle(connection, &plan.inboxes, plan.replace_inboxes)?;
    state::begin(connection, job, inboxes)
}

fn finish(connection: &mut Connection, state: &State, report: &Path, summary: &mut Summary) -> Result<()> {
    count_up(connection, state, summary)?;
    write_report(connection, report)?;
    let transaction = connection.transaction()?;
    inboxes::save(&transaction, &state.inboxes)?;
    triggers::restore(&transaction, &state.triggers)?;
    state::end(&transaction)?;
    transaction.commit()?;
    Ok(())
}

/// The counts of the final database.
pub fn count_up(connection: &Connection, state: &State, summary: &mut Summary) -> Result<()> {
    summary.loaded = (state.next_id - state.first_id) as u64;
    summary.elsewhere = state.elsewhere;
    summary.inboxes = count(connection, "inboxes")?;
    summary.entries = state.entries;
    summary.skipped = connection
        .prepare("SELECT reason, count(*) FROM import_skipped GROUP BY reason")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_, _>>()?;
    Ok(())
}

/// The counts of all runs, which the database has kept.
pub fn write_report(connection: &Connection, path: &Path) -> Result<()> {
    let mut report = Report::create(path)?;
    let mut skipped = connection.prepare("SELECT reason, file, detail FROM import_skipped ORDER BY id")?;
    let mut rows = skipped.query([])?;
    while let Some(row) = rows.next()? {
        let (reason, file, detail): (String, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        report.row([&reason, &file, &detail])?;
    }
    report.finish()
}

fn has_table(connection: &Connection, name: &str) -> Result<bool> {
    let question = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1)";
    Ok(connection.query_row(question, [name], |row| row.get(0))?)
}

fn count(connection: &Connection, table: &str) -> Result<u64> {
    Ok(connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))?)
}
