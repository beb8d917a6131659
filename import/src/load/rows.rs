//! The first stage: a row for each message.

use super::reader::{self, Item, Outcome};
use super::{Phase, Plan, State};
use crate::mail::{Mail, Unusable};
use crate::summary::Summary;
use anyhow::Result;
use rusqlite::{Connection, params};

pub fn load(connection: &Connection, plan: &Plan, state: &mut State, summary: &mut Summary) -> Result<()> {
    let mut progress = plan.bar()?;
    // Transactions by hand, because each transaction ends in the closure in which the next one begins.
    connection.execute_batch("BEGIN")?;
    let mut in_batch = 0;
    reader::read(plan, state.taken, |item| {
        progress.at(item.at, summary.read, summary.bytes);
        summary.take(item.bytes);
        state.taken += 1;
        take(connection, state, item)?;
        in_batch += 1;
        if in_batch == plan.batch {
            in_batch = 0;
            state.save(connection)?;
            connection.execute_batch("COMMIT; BEGIN")?;
        }
        Ok(())
    })?;
    state.phase = Phase::Placing;
    state.save(connection)?;
    connection.execute_batch("COMMIT")?;
    progress.finish(&format!("{} messages", summary.read));
    Ok(())
}

fn take(connection: &Connection, state: &mut State, item: Item) -> Result<()> {
    let unusable = match item.outcome {
        Outcome::Elsewhere => {
            state.elsewhere += 1;
            return Ok(());
        }
        Outcome::Wanted { mail, owner } => {
            if insert(connection, state, &mail, &owner)? {
                return Ok(());
            }
            Unusable::Duplicate(mail.message_id)
        }
        Outcome::Unusable(unusable) => unusable,
    };
    let mut skip =
        connection.prepare_cached("INSERT INTO import_skipped (reason, file, detail) VALUES (?1, ?2, ?3)")?;
    skip.execute([unusable.reason(), &item.file, &unusable.to_string()])?;
    Ok(())
}

/// Inserts the message, and tells whether it is new. A message that exists stays unchanged.
fn insert(connection: &Connection, state: &mut State, mail: &Mail, owner: &str) -> Result<bool> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO emails (id, message_id, inbox, subject, sender, recipients, date, created_at, body)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT (message_id) DO NOTHING",
    )?;
    let recipients = serde_json::to_string(&mail.recipients)?;
    let Mail { message_id, subject, sender, date, body, .. } = mail;
    let row = params![state.next_id, message_id, owner, subject, sender, recipients, date, state.created_at, body];
    if insert.execute(row)? == 0 {
        return Ok(false);
    }
    state.next_id += 1;
    Ok(true)
}
