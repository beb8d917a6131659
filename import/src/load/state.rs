//! The progress of an import: one row in the loaded database, changed in the same transactions as the mail. The row
//! exists only until the import is done.

use super::triggers::{self, Trigger};
use crate::hex::hex;
use crate::mailboxes::Inboxes;
use anyhow::{Context, Result};
use rusqlite::{Connection, OptionalExtension, Transaction};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The identity of an import: only the same import can continue an interrupted one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    pub source: String,
    /// A hash of the owners of mailboxes.
    pub owners: String,
    pub inboxes: Inboxes,
    pub limit: Option<u64>,
}

impl Job {
    /// The same text for the same import.
    pub fn fingerprint(&self) -> Result<String> {
        Ok(hex(&Sha256::digest(serde_json::to_string(self)?)[..8]))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    Reading,
    Placing,
    Indexing,
    Indexed,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    pub job: Job,
    /// The selection by which all mail is assigned, including the mail of earlier imports.
    pub inboxes: Inboxes,
    pub phase: Phase,
    /// When the import began; the `created_at` of its rows.
    pub created_at: String,
    pub first_id: i64,
    pub next_id: i64,
    /// Messages taken from the source, loaded or not.
    pub taken: u64,
    /// Of these, the messages in no chosen inbox.
    pub elsewhere: u64,
    pub entries: u64,
    /// The key up to which the full-text index has entries.
    pub indexed_to: i64,
    /// The triggers of the schema, to be restored at the end.
    pub triggers: Vec<Trigger>,
}

pub fn read(connection: &Connection) -> Result<Option<State>> {
    if !super::has_table(connection, "import_state")? {
        return Ok(None);
    }
    let text: Option<String> =
        connection.query_row("SELECT state FROM import_state", [], |row| row.get(0)).optional()?;
    text.map(|text| serde_json::from_str(&text).context("cannot read what an earlier import left")).transpose()
}

pub fn begin(connection: &mut Connection, job: Job, inboxes: Inboxes) -> Result<State> {
    let transaction = connection.transaction()?;
    transaction.execute_batch(
        "CREATE TABLE import_state (state TEXT NOT NULL);
         CREATE TABLE import_skipped (id INTEGER PRIMARY KEY, reason TEXT, file TEXT, detail TEXT);
         INSERT INTO import_state VALUES ('');",
    )?;
    let next_id = transaction.query_row("SELECT coalesce(max(id), 0) + 1 FROM emails", [], |row| row.get(0))?;
    let state = State {
        job,
        inboxes,
        phase: Phase::Reading,
        created_at: now(&transaction)?,
        first_id: next_id,
        next_id,
        taken: 0,
        elsewhere: 0,
        entries: 0,
        indexed_to: 0,
        triggers: triggers::remove(&transaction)?,
    };
    state.save(&transaction)?;
    transaction.commit()?;
    Ok(state)
}

/// SQLite's CURRENT_TIMESTAMP, or the time in SOURCE_DATE_EPOCH: then the same source makes the same database.
fn now(connection: &Connection) -> Result<String> {
    let epoch = match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(text) => Some(text.parse::<i64>().context("SOURCE_DATE_EPOCH is a number of seconds")?),
        Err(_) => None,
    };
    let sql = "SELECT coalesce(datetime(?1, 'unixepoch'), CURRENT_TIMESTAMP)";
    Ok(connection.query_row(sql, [epoch], |row| row.get(0))?)
}

impl State {
    /// Whether this job is the one that was begun. While the source is being read, the limit may change, unless the new
    /// limit has already been passed.
    pub fn goes_on_as(&self, job: &Job) -> bool {
        let may_end_there = self.phase == Phase::Reading && job.limit.is_none_or(|limit| limit >= self.taken);
        let limit = if may_end_there { self.job.limit } else { job.limit };
        self.job == Job { limit, ..job.clone() }
    }

    /// Saves the progress in the transaction of the work, so that both are committed together.
    pub fn save(&self, connection: &Connection) -> Result<()> {
        connection.prepare_cached("UPDATE import_state SET state = ?1")?.execute([serde_json::to_string(self)?])?;
        Ok(())
    }
}

pub fn end(transaction: &Transaction) -> Result<()> {
    Ok(transaction.execute_batch("DROP TABLE import_state; DROP TABLE import_skipped;")?)
}

/// Takes an unfinished import back: its messages are deleted, and the next import rebuilds the searchable tables.
pub fn undo(connection: &mut Connection, state: &State) -> Result<()> {
    let transaction = connection.transaction()?;
    let people = "DELETE FROM people WHERE entry_id IN (SELECT id FROM entries WHERE email_id >= ?1)";
    transaction.execute(people, [state.first_id])?;
    transaction.execute("DELETE FROM entries WHERE email_id >= ?1", [state.first_id])?;
    transaction.execute("DELETE FROM emails WHERE id >= ?1", [state.first_id])?;
    triggers::restore(&transaction, &state.triggers)?;
    end(&transaction)?;
    transaction.commit()?;
    Ok(())
}
