//! The rule and the inboxes by which the mail of a database is assigned. They are kept in the database, because mail
//! that is added later is assigned together with the existing mail.

use crate::mailboxes::{Inboxes, Rule};
use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use rusqlite::{Connection, params};
use std::collections::BTreeSet;

/// A row for each chosen inbox, or one row without an inbox for all.
pub const TABLE: &str = "CREATE TABLE IF NOT EXISTS import_inboxes (rule TEXT NOT NULL, inbox TEXT)";

/// The requested selection, combined with the existing one. No searchable mail is removed, unless the user asks for it.
pub fn settle(connection: &Connection, asked: &Inboxes, replace: bool) -> Result<Inboxes> {
    if replace || super::count(connection, "emails")? == 0 {
        return Ok(asked.clone());
    }
    // Mail that no import assigned is in its owners' inboxes.
    let held = read(connection)?.unwrap_or(Inboxes { rule: Rule::Owner, chosen: None });
    match held.with(asked) {
        Some(both) => Ok(both),
        None => bail!(
            "the mail in this database was placed by other options ({held}) than these ({asked}), and all of it is placed by \
             the same: give the options that it has, or --replace-inboxes to place all of it anew by these"
        ),
    }
}

fn read(connection: &Connection) -> Result<Option<Inboxes>> {
    if !super::has_table(connection, "import_inboxes")? {
        return Ok(None);
    }
    let rows = connection
        .prepare("SELECT rule, inbox FROM import_inboxes")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<Vec<(String, Option<String>)>, _>>()?;
    let Some((rule, _)) = rows.first() else { return Ok(None) };
    let rule = Rule::from_str(rule, false).ok().with_context(|| format!("`{rule}` is no rule of inboxes"))?;
    // One row without an inbox means all inboxes.
    let chosen: Option<BTreeSet<String>> = rows.into_iter().map(|(_, inbox)| inbox).collect();
    Ok(Some(Inboxes { rule, chosen }))
}

pub fn save(connection: &Connection, inboxes: &Inboxes) -> Result<()> {
    connection.execute_batch(&format!("{TABLE}; DELETE FROM import_inboxes;"))?;
    let mut insert = connection.prepare("INSERT INTO import_inboxes (rule, inbox) VALUES (?1, ?2)")?;
    for inbox in rows(inboxes) {
        insert.execute(params![inboxes.rule.name(), inbox])?;
    }
    Ok(())
}

/// The inbox of each row.
pub fn rows(inboxes: &Inboxes) -> Vec<Option<&str>> {
    match &inboxes.chosen {
        None => vec![None],
        Some(some) => some.iter().map(|inbox| Some(inbox.as_str())).collect(),
    }
}
