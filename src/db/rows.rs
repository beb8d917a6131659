//! The responses of D1, read from the lines that `db.js` writes.

use crate::error::{Error, Result};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::ops::Range;
use std::sync::Arc;

/// What `db.js` writes between the texts of rows of texts.
const BETWEEN: char = '\u{1f}';

/// The SQL of the character between texts.
pub const BETWEEN_TEXTS: &str = "char(31)";

/// The response of D1 to one statement.
pub struct Rows {
    /// The response to the whole batch. `place` is the position of this statement's rows: a JSON array, or texts.
    answer: Arc<String>,
    place: Range<usize>,
    pub(super) figures: Figures,
}

/// The figures that `db.js` returns for one statement, in this order.
#[derive(Clone, Copy, Deserialize)]
pub(super) struct Figures {
    changes: Option<u32>,
    pub(super) rows_read: Option<u32>,
    pub(super) rows_written: Option<u32>,
    size_after: Option<u64>,
}

/// A row that counts something. All counts share this type, because each type of row costs the bundle some kilobytes.
#[derive(Deserialize)]
pub struct Figure {
    pub name: String,
    pub count: u32,
    /// Further information about the counted thing.
    pub more: Option<String>,
}

impl Rows {
    pub fn figures(&self) -> Result<Vec<Figure>> {
        self.all()
    }

    pub fn all<'a, T: Deserialize<'a>>(&'a self) -> Result<Vec<T>> {
        if self.line().is_empty() {
            return Ok(Vec::new());
        }
        serde_json::from_str(self.line()).map_err(misfit)
    }

    pub fn first<'a, T: Deserialize<'a>>(&'a self) -> Result<Option<T>> {
        Ok(self.all()?.into_iter().next())
    }

    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.first::<IgnoredAny>()?.is_none())
    }

    /// The rows of a statement that [selects texts](Statement::selecting_texts). Null is an empty text.
    pub fn texts<const N: usize>(&self) -> Result<Vec<[&str; N]>> {
        if self.line().is_empty() {
            return Ok(Vec::new());
        }
        // The texts may be long, so they are looked through once, and not once for rows and once more for columns.
        let texts = self.line().split(BETWEEN).collect::<Vec<_>>();
        let (rows, rest) = texts.as_chunks::<N>();
        match rest {
            [] => Ok(rows.to_vec()),
            _ => Err(Error::Internal(format!("{} texts are no rows of {N}", texts.len()))),
        }
    }

    fn line(&self) -> &str {
        self.answer.get(self.place.clone()).unwrap_or_default()
    }

    /// How many rows the statement inserted, updated or deleted itself.
    pub fn changes(&self) -> u32 {
        self.figures.changes.unwrap_or_default()
    }

    /// How large the whole database was after the statement.
    pub fn database_bytes(&self) -> u64 {
        self.figures.size_after.unwrap_or_default()
    }
}

/// Parses the responses to a batch from the lines that `db.js` writes.
pub(super) fn read_answer(answer: Vec<u8>) -> std::result::Result<Vec<Rows>, String> {
    let answer = Arc::new(String::from_utf8(answer).map_err(|cause| cause.to_string())?);
    let (figures, rows) = answer.split_once('\n').unwrap_or((&answer, ""));
    let figures: Vec<Figures> = serde_json::from_str(figures).map_err(|cause| cause.to_string())?;
    let mut start = answer.len() - rows.len();
    // The last line is taken as it is. Most batches that read much have one statement.
    let places = rows.splitn(figures.len(), '\n').map(|line| {
        let place = start..start + line.len();
        start = place.end + 1;
        place
    });
    Ok(figures
        .into_iter()
        .zip(places)
        .map(|(figures, place)| Rows { answer: answer.clone(), place, figures })
        .collect())
}

fn misfit(cause: serde_json::Error) -> Error {
    Error::Internal(format!("a row does not fit its type: {cause}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_as_they_are() {
        let answer = "[[0,0,0,0],[0,0,0,0]]\n{\"a\":\"\\n\"}\u{1f}x\u{1f}\u{1f}y\n";
        let [rows, none] = <[Rows; 2]>::try_from(read_answer(answer.into()).unwrap()).ok().unwrap();
        assert_eq!(rows.texts().unwrap(), [["{\"a\":\"\\n\"}", "x"], ["", "y"]]);
        assert!(none.texts::<2>().unwrap().is_empty());
        assert!(rows.texts::<3>().is_err());
    }

    #[test]
    fn rows_are_read_by_name() {
        #[derive(Debug, Deserialize, PartialEq)]
        struct Row {
            id: String,
        }
        let answer = "[[2,3,null,null],[0,0,0,0]]\n[{\"id\":\"a\"},{\"id\":\"b\"}]\n[]";
        let [rows, none] = <[Rows; 2]>::try_from(read_answer(answer.into()).unwrap()).ok().unwrap();
        assert!(none.is_empty().unwrap() && !rows.is_empty().unwrap());
        assert_eq!(rows.all::<Row>().unwrap().len(), 2);
        assert_eq!(rows.first::<Row>().unwrap(), Some(Row { id: "a".into() }));
        assert_eq!(rows.changes(), 2);
        assert!(rows.all::<u32>().is_err());
    }
}
