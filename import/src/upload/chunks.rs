//! Writes a loaded database as SQL files. D1 takes statements of 100,000 bytes and of 30 seconds. D1 runs a file as a
//! whole or not at all, but a file may run twice if an upload was interrupted before it noted the first run. So rows
//! replace existing rows, the index asks which entries it has, and statements that belong together are in one file.
//!
//! Of the derived tables only keys are sent, those of messages and those of addresses. Senders, recipients and the
//! index are made in D1.

use super::sql::{Inserts, STATEMENT_BYTES, lists, pieces, text, text_or_null};
use crate::load::{State, drop_trigger_sql, inboxes};
use anyhow::{Context, Result, ensure};
use rusqlite::Connection;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// How many rows one statement derives or indexes: about two seconds of work at most, of the thirty that it may take.
const DERIVED_ENTRIES: u64 = 5_000;
const INDEXED_BYTES: u64 = 8_000_000;
const INDEXED_ENTRIES: u64 = 5_000;
/// How many pages one step of merging writes, and for how many entries there is a step: an entry is a third of a page.
const MERGED_PAGES: u64 = 500;
const MERGED_ENTRIES: u64 = 1_500;

/// The budget of a file, and the cost of statements that are short but work for long: a file is about ten seconds of
/// work at most. Rows cost their bytes.
const FILE_WORK: u32 = 100;
const DERIVING: u32 = 5;
const INDEXING: u32 = 25;
const MERGING: u32 = 5;

/// Writes the files, unless they are complete, and returns them in order.
pub fn prepare(connection: &Connection, state: &State, folder: &Path, file_bytes: u64) -> Result<Vec<PathBuf>> {
    if !folder.exists() {
        // The folder has another name until all files are complete.
        let making = folder.with_extension("making");
        if making.exists() {
            fs::remove_dir_all(&making)?;
        }
        fs::create_dir_all(&making).with_context(|| format!("cannot make {}", making.display()))?;
        let mut files = Files { folder: making.clone(), file_bytes, file: None, number: 0, bytes: 0, work: 0 };
        write_all(connection, state, &mut files)?;
        files.close()?;
        fs::rename(&making, folder)?;
    }
    let mut paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

fn write_all(connection: &Connection, state: &State, files: &mut Files) -> Result<()> {
    for trigger in &state.triggers {
        files.write(&[format!("{};\n", drop_trigger_sql(trigger))])?;
    }
    emails(connection, files)?;
    inboxes_and_entries(connection, files)?;
    people(connection, files)?;
    index(connection, files)?;
    rule(state, files)?;
    // In a file of their own: the files before may run twice only as long as no trigger reacts to them.
    files.close()?;
    for trigger in &state.triggers {
        files.write(&[format!("{};\n", drop_trigger_sql(trigger)), format!("{};\n", trigger.sql)])?;
    }
    Ok(())
}

fn emails(connection: &Connection, files: &mut Files) -> Result<()> {
    let mut inserts = Inserts::new(
        "INSERT OR REPLACE INTO emails\n(id, message_id, inbox, subject, sender, recipients, date, created_at, body) VALUES\n",
    );
    let mut select = connection.prepare(
        "SELECT id, message_id, inbox, subject, sender, recipients, date, created_at, body FROM emails ORDER BY id",
    )?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(0)?;
        let field = |at: usize| row.get_ref(at).and_then(|it| Ok(it.as_str_or_null()?));
        let [message_id, inbox, sender, date, created_at] =
            [field(1)?, field(2)?, field(4)?, field(6)?, field(7)?].map(text_or_null);
        let (subject, recipients, body) = (field(3)?, field(5)?, field(8)?);
        let literal = |subject: &str, recipients: &str, body: &str| {
            format!("({id}, {message_id}, {inbox}, {subject}, {sender}, {recipients}, {date}, {created_at}, {body})")
        };
        let whole = literal(&text_or_null(subject), &text_or_null(recipients), &text_or_null(body));
        if inserts.fits(&whole) {
            if let Some(statement) = inserts.add(&whole) {
                files.write(&[statement])?;
            }
            continue;
        }
        // A message over the limit begins empty, and is appended to.
        if let Some(statement) = inserts.take() {
            files.write(&[statement])?;
        }
        let mut statements = Vec::new();
        statements.extend(inserts.add(&literal("''", "'[]'", "''")));
        statements.extend(inserts.take());
        let most = STATEMENT_BYTES - 1_000;
        for piece in pieces(subject.unwrap_or_default(), most) {
            statements.push(format!("UPDATE emails SET subject = subject || {} WHERE id = {id};\n", text(piece)));
        }
        // The schema requires a list, so every step keeps it a list.
        for (at, list) in lists(recipients.unwrap_or("[]"), most / 2)?.iter().enumerate() {
            let list = if at == 0 {
                text(list)
            } else {
                format!("substr(recipients, 1, length(recipients) - 1) || ',' || substr({}, 2)", text(list))
            };
            statements.push(format!("UPDATE emails SET recipients = {list} WHERE id = {id};\n"));
        }
        for piece in pieces(body.unwrap_or_default(), most) {
            statements.push(format!("UPDATE emails SET body = body || {} WHERE id = {id};\n", text(piece)));
        }
        files.write(&statements)?;
    }
    files.write(&Vec::from_iter(inserts.take()))
}

/// Addresses with their local ids, from which D1 derives the senders and recipients of each entry.
fn people(connection: &Connection, files: &mut Files) -> Result<()> {
    let mut inserts = Inserts::new("INSERT OR REPLACE INTO addresses (id, address) VALUES\n");
    let mut select = connection.prepare("SELECT id, address FROM addresses ORDER BY id")?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let (id, address): (i64, String) = (row.get(0)?, row.get(1)?);
        files.write(&Vec::from_iter(inserts.add(&format!("({id}, {})", text(&address)))))?;
    }
    files.write(&Vec::from_iter(inserts.take()))?;
    // The corpus has fewer addresses than one statement may index.
    files.write_work(&"INSERT INTO address_words (address_words) VALUES ('rebuild');\n".to_owned(), DERIVING)?;

    for (lo, hi) in ranges(connection, "SELECT id, 0 FROM entries ORDER BY id", DERIVED_ENTRIES, u64::MAX)? {
        let statement = format!(
            "INSERT OR IGNORE INTO people (address_id, role, entry_id)\n\
             SELECT a.id, p.role, p.entry_id FROM entry_people p JOIN addresses a USING (address)\n\
             WHERE p.entry_id BETWEEN {lo} AND {hi} ORDER BY 1, 2, 3;\n"
        );
        files.write_work(&statement, DERIVING)?;
    }
    Ok(())
}

fn inboxes_and_entries(connection: &Connection, files: &mut Files) -> Result<()> {
    let mut inserts = Inserts::new("INSERT OR REPLACE INTO inboxes (id, inbox, emails) VALUES\n");
    let mut select = connection.prepare("SELECT id, inbox, emails FROM inboxes ORDER BY id")?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let (id, inbox, emails): (i64, String, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        files.write(&Vec::from_iter(inserts.add(&format!("({id}, {}, {emails})", text(&inbox)))))?;
    }
    files.write(&Vec::from_iter(inserts.take()))?;

    let mut inserts = Inserts::new("INSERT OR REPLACE INTO entries (id, email_id, date) VALUES\n");
    let mut select = connection.prepare("SELECT id, email_id, date FROM entries ORDER BY id")?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let (id, email_id, date): (i64, i64, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        files.write(&Vec::from_iter(inserts.add(&format!("({id}, {email_id}, {})", text(&date)))))?;
    }
    files.write(&Vec::from_iter(inserts.take()))
}

/// FTS5 would add the same entry twice. FTS5 has a row for each of its entries, which this statement asks for.
fn index(connection: &Connection, files: &mut Files) -> Result<()> {
    let sizes = "SELECT id, length(subject) + length(body) FROM entry_texts ORDER BY id";
    for (lo, hi) in ranges(connection, sizes, INDEXED_ENTRIES, INDEXED_BYTES)? {
        let statement = format!(
            "INSERT INTO emails_fts (rowid, subject, body) SELECT id, subject, body FROM entry_texts t\n\
             WHERE id BETWEEN {lo} AND {hi} AND NOT EXISTS (SELECT 1 FROM emails_fts_docsize d WHERE d.id = t.id)\n\
             ORDER BY id;\n"
        );
        files.write_work(&statement, INDEXING)?;
    }
    // `optimize` is one statement, however long it takes. These steps do the same, and a step too many does nothing.
    let entries: u64 = connection.query_row("SELECT count(*) FROM entries", [], |row| row.get(0))?;
    for step in 0..=entries / MERGED_ENTRIES {
        // The first step has a negative number, which tells FTS5 to merge all segments into one.
        let sign = if step == 0 { "-" } else { "" };
        let statement = format!("INSERT INTO emails_fts (emails_fts, rank) VALUES ('merge', {sign}{MERGED_PAGES});\n");
        files.write_work(&statement, MERGING)?;
    }
    Ok(())
}

/// The rule by which this mail was assigned.
fn rule(state: &State, files: &mut Files) -> Result<()> {
    let mut statements = vec![format!("{};\n", inboxes::TABLE), "DELETE FROM import_inboxes;\n".to_owned()];
    let mut inserts = Inserts::new("INSERT INTO import_inboxes (rule, inbox) VALUES\n");
    let rule = text(state.inboxes.rule.name());
    for inbox in inboxes::rows(&state.inboxes) {
        statements.extend(inserts.add(&format!("({rule}, {})", text_or_null(inbox))));
    }
    statements.extend(inserts.take());
    files.write(&statements)
}

/// Ranges of keys with a limited number of rows, and a limited sum of the second column.
fn ranges(connection: &Connection, select: &str, most_rows: u64, most_bytes: u64) -> Result<Vec<(i64, i64)>> {
    let mut ranges: Vec<(i64, i64)> = Vec::new();
    let (mut rows_in, mut bytes_in) = (0, 0);
    let mut select = connection.prepare(select)?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let (id, bytes): (i64, Option<u64>) = (row.get(0)?, row.get(1)?);
        let bytes = bytes.unwrap_or(0);
        match ranges.last_mut() {
            Some(range) if rows_in < most_rows && bytes_in + bytes <= most_bytes => range.1 = id,
            _ => {
                ranges.push((id, id));
                (rows_in, bytes_in) = (0, 0);
            }
        }
        rows_in += 1;
        bytes_in += bytes;
    }
    Ok(ranges)
}

/// The files, as they are written: `0001.sql`.
struct Files {
    folder: PathBuf,
    file_bytes: u64,
    file: Option<BufWriter<File>>,
    number: u32,
    /// The cost of the current file.
    bytes: u64,
    work: u32,
}

impl Files {
    /// Adds statements that belong together to one file.
    fn write(&mut self, statements: &[String]) -> Result<()> {
        statements.iter().try_for_each(|it| {
            ensure!(it.len() <= STATEMENT_BYTES, "a statement of {} bytes", it.len());
            Ok(())
        })?;
        let bytes: usize = statements.iter().map(String::len).sum();
        if self.bytes > 0 && self.bytes + bytes as u64 > self.file_bytes {
            self.close()?;
        }
        self.bytes += bytes as u64;
        for statement in statements {
            self.open()?.write_all(statement.as_bytes())?;
        }
        Ok(())
    }

    /// Adds a statement that works for long.
    fn write_work(&mut self, statement: &String, work: u32) -> Result<()> {
        if self.work + work > FILE_WORK {
            self.close()?;
        }
        self.write(std::slice::from_ref(statement))?;
        self.work += work;
        Ok(())
    }

    fn open(&mut self) -> Result<&mut BufWriter<File>> {
        Ok(match &mut self.file {
            Some(file) => file,
            none => {
                self.number += 1;
                let path = self.folder.join(format!("{:04}.sql", self.number));
                none.insert(BufWriter::new(File::create(path)?))
            }
        })
    }

    fn close(&mut self) -> Result<()> {
        (self.bytes, self.work) = (0, 0);
        self.file.take().map_or(Ok(()), |mut file| Ok(file.flush()?))
    }
}
