//! The reference for measuring an import: the same rows, already parsed, go into the two plain tables of Pegboard's
//! specification, in the fastest way that SQLite has. It uses one transaction and no journal, and builds the indexes
//! and the full-text index after the rows. It cannot be continued, and has no tables of inboxes, people or keys.
//!
//!   bare LOADED.sqlite NEW.sqlite      prints the seconds

use rusqlite::{Connection, Result, Row, params};
use std::time::{Duration, Instant};

const TABLES: &str = "
    PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -64000;
    CREATE TABLE emails (message_id TEXT PRIMARY KEY, inbox TEXT NOT NULL, subject TEXT, sender TEXT, recipients TEXT,
      date TEXT, body TEXT, created_at DATETIME DEFAULT CURRENT_TIMESTAMP);
    CREATE VIRTUAL TABLE emails_fts USING fts5(subject, body, content='emails', content_rowid='rowid');
    BEGIN;";
const INDEXES: &str = "
    CREATE INDEX idx_emails_inbox ON emails(inbox);
    CREATE INDEX idx_emails_date ON emails(date);
    INSERT INTO emails_fts(emails_fts) VALUES ('rebuild');
    COMMIT;";
/// Rows are fetched, outside the measured time, before they are inserted, inside the measured time.
const BATCH: usize = 5_000;

type Texts = [Option<String>; 7];

fn main() -> Result<()> {
    let mut paths = std::env::args().skip(1);
    let (Some(loaded), Some(new)) = (paths.next(), paths.next()) else {
        eprintln!("usage: bare LOADED.sqlite NEW.sqlite");
        std::process::exit(2);
    };
    let loaded = Connection::open(loaded)?;
    let new = Connection::open(new)?;
    new.execute_batch(TABLES)?;

    let mut insert = new.prepare(
        "INSERT INTO emails (message_id, inbox, subject, sender, recipients, date, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    let mut select =
        loaded.prepare("SELECT message_id, inbox, subject, sender, recipients, date, body FROM emails ORDER BY id")?;
    let mut rows = select.query_map([], texts)?;
    let mut spent = Duration::ZERO;
    loop {
        let batch = rows.by_ref().take(BATCH).collect::<Result<Vec<Texts>>>()?;
        if batch.is_empty() {
            break;
        }
        let begun = Instant::now();
        for [message_id, inbox, subject, sender, recipients, date, body] in &batch {
            insert.execute(params![message_id, inbox, subject, sender, recipients, date, body])?;
        }
        spent += begun.elapsed();
    }
    let begun = Instant::now();
    new.execute_batch(INDEXES)?;
    println!("{:.2}", (spent + begun.elapsed()).as_secs_f64());
    Ok(())
}

fn texts(row: &Row) -> Result<Texts> {
    Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?, row.get(6)?])
}
