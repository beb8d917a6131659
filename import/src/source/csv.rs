//! Kaggle's `emails.csv`: a column `file` without `maildir/`, and a column `message` with the whole text.
//!
//! The file is read with `csv-core`, because `csv` holds a whole record in memory, and one missing quote makes a single
//! record of the rest of the file.

use super::{Content, Found, MESSAGE_BYTES, Visit};
use anyhow::{Context, Result};
use csv_core::{ReadRecordResult, Reader};
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

/// The columns that are used.
const COLUMNS: usize = 256;

pub fn read(path: &Path, skip: u64, visit: Visit) -> Result<()> {
    let failed = || format!("cannot read {}", path.display());
    let file = File::open(path).with_context(failed)?;
    let mut records = Records::new(BufReader::with_capacity(1 << 20, file));
    records.next().with_context(failed)?;
    let column = |name: &str| {
        let at = records.fields().position(|header| header.trim_ascii() == name.as_bytes());
        at.with_context(|| format!("{} has no column `{name}`", path.display()))
    };
    let (file, message) = (column("file")?, column("message")?);

    let mut found = 0;
    while records.next().with_context(failed)? {
        found += 1;
        if found <= skip {
            continue;
        }
        let content = match records.fields().nth(message) {
            _ if records.size > MESSAGE_BYTES => Content::TooLarge(records.size),
            Some(text) => Content::Raw(text.to_vec()),
            // A record that is too short loses one message, not the whole file.
            None => Content::Unreadable(format!("record {found} has no message")),
        };
        let file = String::from_utf8_lossy(records.fields().nth(file).unwrap_or_default()).into_owned();
        if visit(Found { file, content, at: records.consumed }).is_break() {
            break;
        }
    }
    Ok(())
}

/// The records of a file, one at a time. The rest of a record that is longer than a message may be is skipped.
struct Records<R> {
    input: R,
    reader: Reader,
    consumed: u64,
    /// The parser's output buffer.
    piece: Box<[u8]>,
    /// The current record: its fields, one after the other; the end of each field; and the length of the whole record.
    text: Vec<u8>,
    ends: Vec<usize>,
    size: u64,
}

impl<R: BufRead> Records<R> {
    fn new(input: R) -> Self {
        let piece = vec![0; 1 << 16].into_boxed_slice();
        Self { input, reader: Reader::new(), consumed: 0, piece, text: Vec::new(), ends: Vec::new(), size: 0 }
    }

    /// Reads the next record, and tells whether there was one.
    fn next(&mut self) -> io::Result<bool> {
        self.text.clear();
        self.ends.clear();
        self.size = 0;
        let mut ends = [0; 16];
        loop {
            let input = self.input.fill_buf()?;
            let (result, read, written, ended) = self.reader.read_record(input, &mut self.piece, &mut ends);
            self.input.consume(read);
            self.consumed += read as u64;
            self.size += written as u64;
            let room = (MESSAGE_BYTES as usize).saturating_sub(self.text.len());
            self.text.extend_from_slice(&self.piece[..written.min(room)]);
            let room = COLUMNS - self.ends.len();
            self.ends.extend_from_slice(&ends[..ended.min(room)]);
            match result {
                ReadRecordResult::Record => return Ok(true),
                ReadRecordResult::End => return Ok(false),
                _ => {}
            }
        }
    }

    /// The fields that are complete.
    fn fields(&self) -> impl Iterator<Item = &[u8]> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        begins.zip(&self.ends).map_while(|(begin, &end)| self.text.get(begin..end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &[u8], buffer: usize) -> Vec<Vec<String>> {
        let mut records = Records::new(BufReader::with_capacity(buffer, text));
        let mut all = Vec::new();
        while records.next().unwrap() {
            all.push(records.fields().map(|field| String::from_utf8(field.to_vec()).unwrap()).collect());
        }
        assert_eq!(records.consumed, text.len() as u64);
        all
    }

    #[test]
    fn records_are_what_the_csv_crate_makes_of_them() {
        let text = "\u{feff}file,message\n\n1,\"a \"\"quoted\"\"\r\nline, and more\"\r\nshort\n3,plain,third\n4,\"open";
        let mut reader = csv::ReaderBuilder::new().flexible(true).has_headers(false).from_reader(text.as_bytes());
        let expected: Vec<Vec<String>> =
            reader.records().map(|record| record.unwrap().iter().map(str::to_owned).collect()).collect();
        assert_eq!(expected.len(), 5);
        // The byte order mark can only be recognised when all of it has been read.
        for buffer in 4..40 {
            assert_eq!(all(text.as_bytes(), buffer), expected);
        }
    }

    #[test]
    fn a_record_without_end_takes_no_memory_without_end() {
        let mut text = b"1,\"".to_vec();
        text.resize(40 << 20, b'x');
        text.extend(b"\"\n2,b\n");
        let mut records = Records::new(text.as_slice());
        assert!(records.next().unwrap());
        assert_eq!(records.size, (40 << 20) - 2);
        assert!(records.text.capacity() <= 2 * MESSAGE_BYTES as usize);
        assert_eq!(Vec::from_iter(records.fields()), [b"1"]);
        assert!(records.next().unwrap());
        assert_eq!(Vec::from_iter(records.fields()), [b"2", b"b"]);
        assert!(!records.next().unwrap());
    }
}
