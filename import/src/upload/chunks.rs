//! A loaded file as SQL files. D1 takes 100,000 bytes in a statement and 30 seconds for one; and each file is carried
//! out as a whole or not at all, but might be carried out once more, by somebody who was interrupted before he could
//! note it. So rows replace what they find, the index asks what it has already, and what belongs together is in one
//! file.
//!
//! Of what follows from the messages only keys are sent, theirs and those of addresses: who wrote and got them, and the
//! index, are made there.

use super::sql::{Inserts, STATEMENT_BYTES, lists, pieces, text, text_or_null};
use crate::load::{State, drop_trigger_sql, inboxes};
use anyhow::{Context, Result, ensure};
use rusqlite::Connection;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// What one statement derives or indexes: at most some two seconds' work, of the thirty that it may take.
const DERIVED_ENTRIES: u64 = 5_000;
const INDEXED_BYTES: u64 = 8_000_000;
const INDEXED_ENTRIES: u64 = 5_000;
/// Pages that one step of merging writes, and entries for which there is a step: an entry is a third of a page.
const MERGED_PAGES: u64 = 500;
const MERGED_ENTRIES: u64 = 1_500;

/// What a file may cost to carry out, and what statements cost that are short and work for long: a file is some ten
/// seconds' work at most. Rows cost their bytes.
const FILE_WORK: u32 = 100;
const DERIVING: u32 = 5;
const INDEXING: u32 = 25;
const MERGING: u32 = 5;

/// Writes the files, unless that was done, and gives them in their order.
pub fn prepare(connection: &Connection, state: &State, folder: &Path, file_bytes: u64) -> Result<Vec<PathBuf>> {
    if !folder.exists() {
        // Under another name until all of them are whole.
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
    // By themselves: what comes before may be carried out twice only as long as no trigger answers to it.
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
        // A message over the limit: begun with nothing, and then added to.
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
        // Lists stay lists at each step, which the schema sees to.
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

/// Addresses under the ids that they have here, and from them, there, who is in which entry.
fn people(connection: &Connection, files: &mut Files) -> Result<()> {
    let mut inserts = Inserts::new("INSERT OR REPLACE INTO addresses (id, address) VALUES\n");
    let mut select = connection.prepare("SELECT id, address FROM addresses ORDER BY id")?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let (id, address): (i64, String) = (row.get(0)?, row.get(1)?);
        files.write(&Vec::from_iter(inserts.add(&format!("({id}, {})", text(&address)))))?;
    }
    files.write(&Vec::from_iter(inserts.take()))?;

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

/// FTS5 would take the same entry twice. It has a row for each that it has, by which it is asked.
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
    // `optimize` is one statement, however long it takes; this does the same in steps, and a step too many does
    // nothing.
    let entries: u64 = connection.query_row("SELECT count(*) FROM entries", [], |row| row.get(0))?;
    for step in 0..=entries / MERGED_ENTRIES {
        // The first one says, by its sign, that all segments are to become one.
        let sign = if step == 0 { "-" } else { "" };
        let statement = format!("INSERT INTO emails_fts (emails_fts, rank) VALUES ('merge', {sign}{MERGED_PAGES});\n");
        files.write_work(&statement, MERGING)?;
    }
    Ok(())
}

/// By which rule this mail was placed.
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

/// Ranges of keys with so many rows at most, and so much of what the second column sums up to.
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
    /// Of the file that is written now.
    bytes: u64,
    work: u32,
}

impl Files {
    /// Statements that belong together: they are in one file.
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

    /// A statement that takes its time.
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
