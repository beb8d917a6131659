//! The second stage: the inboxes of each message, its key there, and its sender and recipients. An inbox owns a block
//! of keys, and the keys rise with the date (migrations/benchmarks/0001). So one more message in the middle moves
//! others. Therefore everything is rebuilt from the messages, and depends on nothing else.

use super::{Phase, State};
use crate::mailboxes::Inboxes;
use anyhow::{Context, Result, bail};
use rusqlite::{Connection, Transaction, params};

/// The number of keys in a block.
const BLOCK: u64 = 1 << 20;

/// The senders and recipients of each entry, and the words of their addresses. The messages are read once, and rows are
/// added in the order of their keys.
const PEOPLE: &str = "
    CREATE TEMP TABLE named AS SELECT address, role, entry_id FROM entry_people;
    INSERT INTO addresses (address) SELECT DISTINCT address FROM temp.named ORDER BY address;
    INSERT OR IGNORE INTO people (address_id, role, entry_id)
      SELECT a.id, role, entry_id FROM temp.named JOIN addresses a USING (address) ORDER BY a.id, role, entry_id;
    DROP TABLE temp.named;
    INSERT INTO address_words (address_words) VALUES ('rebuild');";

pub fn all(connection: &mut Connection, inboxes: &Inboxes, state: &mut State) -> Result<()> {
    let transaction = connection.transaction()?;
    transaction.execute_batch(
        "CREATE TEMP TABLE place (inbox TEXT, date TEXT, message_id TEXT, email_id INTEGER);
         DELETE FROM people;
         DELETE FROM addresses;
         DELETE FROM entries;
         DELETE FROM inboxes;
         INSERT INTO emails_fts (emails_fts) VALUES ('delete-all');",
    )?;
    find(&transaction, inboxes)?;
    transaction.execute_batch(
        "INSERT INTO inboxes (inbox, emails) SELECT inbox, count(*) FROM place GROUP BY inbox ORDER BY inbox",
    )?;
    let largest: Option<(String, u64)> = transaction
        .prepare("SELECT inbox, emails FROM inboxes ORDER BY emails DESC LIMIT 1")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .next()
        .transpose()?;
    if let Some((inbox, emails)) = largest
        && emails > BLOCK
    {
        bail!("{inbox} has {emails} messages, and an inbox has room for {BLOCK}");
    }
    state.entries = transaction.execute(
        "INSERT INTO entries (id, email_id, date)
         SELECT lo + row_number() OVER (PARTITION BY i.id ORDER BY p.date, p.message_id) - 1, p.email_id, p.date
         FROM inboxes i JOIN place p USING (inbox) ORDER BY i.id, p.date, p.message_id",
        [],
    )? as u64;
    transaction.execute_batch("DROP TABLE temp.place")?;
    transaction.execute_batch(PEOPLE)?;
    state.phase = Phase::Indexing;
    state.indexed_to = 0;
    state.save(&transaction)?;
    transaction.commit()?;
    Ok(())
}

/// Fills `place`. It reads columns that stand before the bodies in the rows, so that the bodies are not read.
fn find(transaction: &Transaction, inboxes: &Inboxes) -> Result<()> {
    let mut emails =
        transaction.prepare("SELECT id, message_id, inbox, sender, recipients, coalesce(date, '') FROM emails")?;
    let mut place =
        transaction.prepare("INSERT INTO place (inbox, date, message_id, email_id) VALUES (?1, ?2, ?3, ?4)")?;
    let mut rows = emails.query([])?;
    while let Some(row) = rows.next()? {
        let (id, message_id, owner): (i64, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let (sender, recipients): (Option<String>, Option<String>) = (row.get(3)?, row.get(4)?);
        let recipients = recipients.map(|text| serde_json::from_str::<Vec<String>>(&text)).transpose();
        let recipients = recipients.with_context(|| format!("the recipients of {message_id}"))?.unwrap_or_default();
        let date: String = row.get(5)?;
        for inbox in inboxes.of(&owner, sender.as_deref().unwrap_or_default(), &recipients) {
            place.execute(params![inbox, date, message_id, id])?;
        }
    }
    Ok(())
}
