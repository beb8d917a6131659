//! The one way to D1. Statements are plain values, so that what builds them tests on the host;
//! they run as one atomic batch, in one round trip, and what each request cost is counted here.

use crate::error::{Error, Result};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde::ser::{Serialize, SerializeSeq, Serializer};
use serde_json::Value;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use wasm_bindgen::prelude::wasm_bindgen;
use worker::D1Database;
use worker::js_sys::{Promise, Uint8Array};
use worker::wasm_bindgen::{JsCast, JsValue};
use worker::wasm_bindgen_futures::JsFuture;

#[wasm_bindgen(module = "/src/db.js")]
extern "C" {
    fn run(database: &JsValue, batch: &str) -> Promise;
}

/// One SQL statement with what is bound to `?1`, `?2`, ….
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    sql: String,
    params: Vec<Param>,
}

/// A bound value. Numbers reach SQLite as REAL, whatever they are: where that matters
/// (a rowid of an FTS table), the SQL casts or sub-selects.
#[derive(Clone, Debug, PartialEq)]
pub enum Param {
    Null,
    Text(String),
    Number(f64),
}

/// Starts a statement.
pub fn sql(text: impl Into<String>) -> Statement {
    Statement { sql: text.into(), params: Vec::new() }
}

impl Statement {
    /// Binds the next parameter.
    pub fn bind(mut self, value: impl Into<Param>) -> Self {
        self.params.push(value.into());
        self
    }

    /// Adds to the end of the text.
    pub fn and(mut self, text: &str) -> Self {
        self.sql.push_str(text);
        self
    }

    /// How many parameters are bound.
    pub fn bound(&self) -> usize {
        self.params.len()
    }
}

/// As `[sql, ...params]`.
impl Serialize for Statement {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut parts = serializer.serialize_seq(Some(1 + self.params.len()))?;
        parts.serialize_element(&self.sql)?;
        for param in &self.params {
            parts.serialize_element(param)?;
        }
        parts.end()
    }
}

impl From<&str> for Param {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Param {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<u32> for Param {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

impl From<bool> for Param {
    fn from(truth: bool) -> Self {
        Self::Number(truth.into())
    }
}

impl<T: Into<Self>> From<Option<T>> for Param {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl Serialize for Param {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_none(),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Number(number) => serializer.serialize_f64(*number),
        }
    }
}

/// The most that one parameter holds, in bytes. D1 takes two million.
const MAX_CHUNK_BYTES: usize = 1_000_000;

/// Many rows for statements that take them as a JSON array: as many arrays as it takes, each with how many it holds.
pub fn json_chunks(items: &[Value]) -> Vec<(u32, String)> {
    let mut chunks: Vec<(u32, String)> = Vec::new();
    for item in items {
        let item = item.to_string();
        match chunks.last_mut() {
            Some((count, chunk)) if chunk.len() + item.len() < MAX_CHUNK_BYTES => {
                *count += 1;
                chunk.push(',');
                chunk.push_str(&item);
            }
            _ => chunks.push((1, format!("[{item}"))),
        }
    }
    for (_, chunk) in &mut chunks {
        chunk.push(']');
    }
    chunks
}

/// What one statement answered.
pub struct Rows {
    /// The answer to the whole batch, and where in it the rows of this statement stand, as a JSON array.
    answer: Arc<String>,
    place: Range<usize>,
    figures: Figures,
}

/// What `db.js` tells of one statement, in this order.
#[derive(Clone, Copy, Deserialize)]
struct Figures {
    changes: Option<u32>,
    rows_read: Option<u32>,
    rows_written: Option<u32>,
    size_after: Option<u64>,
}

/// A row that counts something. One type for all of them, for each type of row costs the bundle some kilobytes.
#[derive(Deserialize)]
pub struct Figure {
    pub name: String,
    pub count: u32,
    /// What else is to be said of it.
    pub more: Option<String>,
}

impl Rows {
    pub fn figures(&self) -> Result<Vec<Figure>> {
        self.all()
    }

    pub fn all<'a, T: Deserialize<'a>>(&'a self) -> Result<Vec<T>> {
        if self.json().is_empty() {
            return Ok(Vec::new());
        }
        serde_json::from_str(self.json()).map_err(misfit)
    }

    pub fn first<'a, T: Deserialize<'a>>(&'a self) -> Result<Option<T>> {
        Ok(self.all()?.into_iter().next())
    }

    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.first::<IgnoredAny>()?.is_none())
    }

    fn json(&self) -> &str {
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

/// The answers to a batch, from the lines that `db.js` writes.
fn read_answer(answer: Vec<u8>) -> std::result::Result<Vec<Rows>, String> {
    let answer = Arc::new(String::from_utf8(answer).map_err(|cause| cause.to_string())?);
    let (figures, rows) = answer.split_once('\n').unwrap_or((&answer, ""));
    let figures: Vec<Figures> = serde_json::from_str(figures).map_err(|cause| cause.to_string())?;
    let mut start = answer.len() - rows.len();
    let places = rows.split('\n').map(|line| {
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

/// Why a batch did not run. Nothing of it was done.
#[derive(Debug, PartialEq)]
pub enum Failure {
    /// A row of that key is there already.
    Duplicate,
    /// A row that it refers to is not there.
    MissingReference,
    /// A version that was deactivated for security was to come back.
    Banned,
    /// The migrations have not been run.
    NotMigrated,
    Other(String),
}

impl Failure {
    /// D1 tells by text alone.
    fn from_message(message: String) -> Self {
        if message.contains("UNIQUE constraint failed") {
            Self::Duplicate
        } else if message.contains("FOREIGN KEY constraint failed") {
            Self::MissingReference
        } else if message.contains("deactivated for security") {
            Self::Banned
        } else if message.contains("no such table") {
            Self::NotMigrated
        } else {
            Self::Other(message)
        }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Duplicate => Self::Internal("a unique constraint failed where none should".into()),
            Failure::MissingReference => Self::Internal("a foreign key constraint failed where none should".into()),
            Failure::Banned => Self::Internal("a version that is banned was to come back".into()),
            Failure::NotMigrated => {
                Self::Unavailable("The database has no tables yet: run wrangler d1 migrations apply DB")
            }
            Failure::Other(cause) => Self::Internal(cause),
        }
    }
}

/// What a request has cost so far.
#[derive(Default)]
pub struct Cost {
    round_trips: AtomicU32,
    rows_read: AtomicU32,
    rows_written: AtomicU32,
}

impl std::fmt::Display for Cost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "round_trips={}, rows_read={}, rows_written={}",
            self.round_trips.load(Relaxed),
            self.rows_read.load(Relaxed),
            self.rows_written.load(Relaxed)
        )
    }
}

pub struct Db {
    database: D1Database,
    cost: Arc<Cost>,
}

impl Db {
    /// What it costs is added to `cost`.
    pub fn new(database: D1Database, cost: Arc<Cost>) -> Self {
        Self { database, cost }
    }

    /// Runs the statements as one transaction: all of them or none.
    pub async fn batch(&self, statements: &[Statement]) -> std::result::Result<Vec<Rows>, Failure> {
        self.cost.round_trips.fetch_add(1, Relaxed);
        let batch = serde_json::to_string(statements)
            .map_err(|cause| Failure::Other(format!("a batch is not JSON: {cause}")))?;
        let answer = JsFuture::from(run(self.database.as_ref(), &batch))
            .await
            .map_err(|cause| Failure::from_message(message_of(&cause)))?;
        let rows = read_answer(Uint8Array::new(&answer).to_vec())
            .map_err(|cause| Failure::Other(format!("D1's answer cannot be read: {cause}")))?;
        for it in &rows {
            self.cost.rows_read.fetch_add(it.figures.rows_read.unwrap_or_default(), Relaxed);
            self.cost.rows_written.fetch_add(it.figures.rows_written.unwrap_or_default(), Relaxed);
        }
        Ok(rows)
    }
}

fn message_of(cause: &JsValue) -> String {
    cause.dyn_ref::<worker::js_sys::Error>().map_or_else(|| format!("{cause:?}"), |error| String::from(error.message()))
}

#[cfg(test)]
mod native;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_arrays_that_fit() {
        assert_eq!(json_chunks(&[]), []);
        assert_eq!(json_chunks(&[1.into(), "a".into()]), [(2, r#"[1,"a"]"#.to_owned())]);
        let long = Value::from("x".repeat(600_000));
        let chunks = json_chunks(&[long.clone(), long.clone(), 1.into(), long]);
        assert_eq!(chunks.iter().map(|(count, _)| *count).collect::<Vec<_>>(), [1, 2, 1]);
        for (count, chunk) in chunks {
            assert_eq!(serde_json::from_str::<Vec<Value>>(&chunk).unwrap().len(), count as usize);
        }
    }

    #[test]
    fn constraint_failures_are_told_apart() {
        let check = |message: &str, expected| assert_eq!(Failure::from_message(message.into()), expected);
        check("D1_ERROR: UNIQUE constraint failed: agent_tools.workspace_id: SQLITE_CONSTRAINT", Failure::Duplicate);
        check("D1_ERROR: FOREIGN KEY constraint failed: SQLITE_CONSTRAINT", Failure::MissingReference);
        check("D1_ERROR: no such table: tools: SQLITE_ERROR", Failure::NotMigrated);
        check(
            "D1_ERROR: storage caused object to be reset",
            Failure::Other("D1_ERROR: storage caused object to be reset".into()),
        );
    }

    #[test]
    fn an_unforeseen_failure_is_internal() {
        assert_eq!(Error::from(Failure::Duplicate).code(), "INTERNAL");
        assert_eq!(Error::from(Failure::NotMigrated).code(), "UNAVAILABLE");
    }

    #[test]
    fn a_batch_is_one_text() {
        let batch = [sql("SELECT ?1, ?2").bind("a\"b").bind(None::<u32>), sql("SELECT ?1").bind(5_u32)];
        let expected = r#"[["SELECT ?1, ?2","a\"b",null],["SELECT ?1",5.0]]"#;
        assert_eq!(serde_json::to_string(&batch).unwrap(), expected);
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
