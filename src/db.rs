//! The only access to D1. Statements are plain values, so that the code that builds them can be tested on the host. A
//! batch of statements runs as one transaction, in one round trip. The cost of each request is counted here. A batch
//! that met a passing fault of D1 is repeated here, if repeating it is safe.

use crate::error::{Error, Result};
use crate::ids::WorkspaceId;
use crate::random;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde::ser::{Serialize, SerializeSeq, Serializer};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;
use wasm_bindgen::prelude::wasm_bindgen;
use worker::js_sys::{Promise, Uint8Array};
use worker::wasm_bindgen::{JsCast, JsValue};
use worker::wasm_bindgen_futures::JsFuture;
use worker::{D1Database, Delay, console_warn};

#[wasm_bindgen(module = "/src/db.js")]
extern "C" {
    fn run(database: &JsValue, batch: &str, faults: Option<&str>) -> Promise;
}

/// One SQL statement with the values bound to `?1`, `?2`, ….
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    sql: String,
    params: Vec<Param>,
    /// Whether the rows are read with [`Rows::texts`].
    texts: bool,
    /// Whether the statement may run twice although it writes.
    repeatable: bool,
}

/// A bound value. Every number reaches SQLite as REAL. Where this matters (for the rowid of an FTS table), the SQL
/// casts the number or uses a subquery.
#[derive(Clone, Debug, PartialEq)]
pub enum Param {
    Null,
    Text(String),
    Number(f64),
}

/// Starts a statement.
pub fn sql(text: impl Into<String>) -> Statement {
    Statement { sql: text.into(), params: Vec::new(), texts: false, repeatable: false }
}

impl Statement {
    /// Says that every column is a text without characters below the space, or null, and that there are at least two columns.
    /// Such rows reach Rust as they are, unescaped. JSON is such a text. A column may also hold several texts, joined by
    /// [`BETWEEN_TEXTS`]: each of them counts as a column.
    pub fn selecting_texts(mut self) -> Self {
        self.texts = true;
        self
    }

    /// Says that a statement which writes may run twice: the second run changes nothing, and no caller reads how many
    /// rows it changed. A guard by a revision or a primary key is not enough. The first run may have succeeded unseen,
    /// and the second run would then report a conflict that there never was.
    pub fn repeatable(mut self) -> Self {
        self.repeatable = true;
        self
    }

    /// Whether the statement may run twice. A statement that only reads always may.
    fn is_repeatable(&self) -> bool {
        let text = self.sql.trim_start();
        let writes = || ["INSERT ", "UPDATE ", "DELETE ", "REPLACE "].iter().any(|it| text.contains(it));
        self.repeatable || text.starts_with("SELECT ") || (text.starts_with("WITH ") && !writes())
    }

    /// The bytes of the statement's texts.
    fn bytes(&self) -> usize {
        let bytes_of = |param: &Param| match param {
            Param::Text(text) => text.len(),
            Param::Null | Param::Number(_) => 0,
        };
        self.sql.len() + self.params.iter().map(bytes_of).sum::<usize>()
    }

    /// Binds the next parameter.
    pub fn bind(mut self, value: impl Into<Param>) -> Self {
        self.params.push(value.into());
        self
    }

    /// Adds a condition to the `WHERE` clause that the statement ends with.
    pub fn and(self, condition: Condition) -> Self {
        self.with(" AND (", &condition.text, condition.params, ")")
    }

    /// Adds the order of the rows at the end of the statement.
    pub fn ordered_by(mut self, columns: &str) -> Self {
        self.sql.extend([" ORDER BY ", columns]);
        self
    }

    /// Adds a query at the end of the statement, in brackets and under a name, as a table to read from.
    pub fn selecting_from(self, query: Self, name: &str) -> Self {
        self.with(" FROM (", &query.sql, query.params, &format!(") {name}"))
    }

    /// Adds a text with parameters of its own. Their numbers continue after the parameters that the statement has
    /// bound.
    fn with(mut self, before: &str, text: &str, params: Vec<Param>, after: &str) -> Self {
        let text = renumbered(text, self.params.len());
        self.sql.extend([before, &text, after]);
        self.params.extend(params);
        self
    }
}

/// The condition under which a statement changes rows, with the values bound to its own `?1`, `?2`, …. A room writes a
/// condition once and adds it to every statement of a batch, whatever those statements have bound ([`Statement::and`]).
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    text: String,
    params: Vec<Param>,
}

/// Starts a condition.
pub fn condition(text: impl Into<String>) -> Condition {
    Condition { text: text.into(), params: Vec::new() }
}

impl Condition {
    /// Binds the next parameter.
    pub fn bind(mut self, value: impl Into<Param>) -> Self {
        self.params.push(value.into());
        self
    }

    /// True if the condition is false.
    pub fn negated(mut self) -> Self {
        self.text = format!("NOT ({})", self.text);
        self
    }

    /// True if both conditions are true.
    pub fn and(mut self, other: Self) -> Self {
        self.text = format!("({}) AND ({})", self.text, renumbered(&other.text, self.params.len()));
        self.params.extend(other.params);
        self
    }
}

/// SQL with every `?n` replaced by `?n+by`. Text in quotes stays unchanged.
fn renumbered(text: &str, by: usize) -> String {
    let mut result = String::with_capacity(text.len() + 8);
    let mut quoted = false;
    let mut rest = text;
    while let Some(at) = rest.find(['\'', '?']) {
        let (before, found) = rest.split_at(at);
        result.push_str(before);
        let (mark, after) = found.split_at(1);
        result.push_str(mark);
        quoted ^= mark == "'";
        let digits = after.len() - after.trim_start_matches(|it: char| it.is_ascii_digit()).len();
        let (number, after_number) = after.split_at(digits);
        rest = match number.parse::<usize>() {
            Ok(number) if mark == "?" && !quoted => {
                result.push_str(&(number + by).to_string());
                after_number
            }
            _ => after,
        };
    }
    result + rest
}

/// Serializes a statement as `[texts, sql, ...params]`.
impl Serialize for Statement {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut parts = serializer.serialize_seq(Some(2 + self.params.len()))?;
        parts.serialize_element(&self.texts)?;
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

/// The highest number of bytes in one parameter. D1 allows two million.
const MAX_CHUNK_BYTES: usize = 1_000_000;

/// Many rows of a workspace, for statements that take their rows from `json_each(?2)`.
pub trait ManyRows {
    /// The statements that do `text` with all of the rows. In `text`, `?1` is the workspace, `json_each(?2)` gives the
    /// rows, and the caller binds all parameters from `?3` on.
    fn statements(&self, workspace: &WorkspaceId, text: &str) -> Result<Vec<Statement>>;
}

/// Rows that the statements carry themselves. The size of a parameter is limited, so there are as many statements as
/// the rows need.
impl<T: Serialize> ManyRows for [T] {
    fn statements(&self, workspace: &WorkspaceId, text: &str) -> Result<Vec<Statement>> {
        let chunks = json_chunks(self)?.into_iter();
        Ok(chunks.map(|(_, chunk)| sql(text).bind(workspace.as_str()).bind(chunk)).collect())
    }
}

impl<T: Serialize> ManyRows for Vec<T> {
    fn statements(&self, workspace: &WorkspaceId, text: &str) -> Result<Vec<Statement>> {
        self.as_slice().statements(workspace, text)
    }
}

/// Statements about many rows of a workspace. `?1` is the workspace, and `?2` is a JSON array of rows.
pub fn for_each(workspace: &WorkspaceId, rows: &(impl ManyRows + ?Sized), text: &str) -> Result<Vec<Statement>> {
    rows.statements(workspace, text)
}

/// Selects the first of `rows`, up to `max_bytes`. `rows` must have their sizes in the column `bytes`. The row that
/// exceeds the limit is still selected. If the last selected row is `full`, further rows may have been left out. The
/// SQL around this selection must join the large columns themselves.
pub fn first_bytes(rows: &str, order: &str, max_bytes: u32) -> String {
    format!(
        "SELECT *, until > {max_bytes} AS full FROM (
           SELECT *, sum(bytes) OVER (ORDER BY {order} ROWS UNBOUNDED PRECEDING) AS until FROM ({rows}))
         WHERE until - bytes <= {max_bytes}"
    )
}

/// Splits many rows into JSON arrays, for statements that take rows in this form. Each array comes with the number of
/// its rows.
pub fn json_chunks(items: &[impl Serialize]) -> Result<Vec<(u32, String)>> {
    let mut chunks: Vec<(u32, String)> = Vec::new();
    for item in items {
        let item = serde_json::to_string(item)
            .map_err(|cause| Error::Internal(format!("a row for the database is not JSON: {cause}")))?;
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
    Ok(chunks)
}

/// What `db.js` writes between rows of texts, and between the columns of such a row.
const BETWEEN_ROWS: char = '\u{1e}';
const BETWEEN_COLUMNS: char = '\u{1f}';

/// The SQL of the character between columns.
pub const BETWEEN_TEXTS: &str = "char(31)";

/// The response of D1 to one statement.
pub struct Rows {
    /// The response to the whole batch. `place` is the position of this statement's rows: a JSON array, or texts.
    answer: Arc<String>,
    place: Range<usize>,
    figures: Figures,
}

/// The figures that `db.js` returns for one statement, in this order.
#[derive(Clone, Copy, Deserialize)]
struct Figures {
    changes: Option<u32>,
    rows_read: Option<u32>,
    rows_written: Option<u32>,
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
        self.line().split(BETWEEN_ROWS).map(columns).collect()
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

fn columns<const N: usize>(row: &str) -> Result<[&str; N]> {
    let columns = row.split(BETWEEN_COLUMNS).collect::<Vec<_>>();
    let count = columns.len();
    columns.try_into().map_err(|_| Error::Internal(format!("a row has {count} texts instead of {N}")))
}

/// Parses the responses to a batch from the lines that `db.js` writes.
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

/// Why a batch failed. A failed batch changes nothing, unless it is [`DbFailure::Lost`].
#[derive(Debug, PartialEq)]
pub enum DbFailure {
    /// A row with the same key exists already.
    Duplicate,
    /// A row that the batch refers to does not exist.
    MissingReference,
    /// A rule of the schema refused a row. The message is the rule's own, for the room that knows the rule.
    Refused(String),
    /// The migrations have not been applied.
    NotMigrated,
    /// D1 had no time for the batch, and did not begin to run it.
    Busy(String),
    /// The connection to D1 broke, or D1 restarted. Nobody knows whether the batch has run.
    Lost(String),
    Other(String),
}

/// Parts of the messages of faults that pass: <https://developers.cloudflare.com/d1/observability/debug-d1/>. These
/// faults are met before D1 begins to run the batch.
const BUSY: [&str; 5] = [
    "D1 DB is overloaded",
    "Too many requests queued",
    "Internal error while starting up D1 DB storage",
    "Cannot resolve D1 DB due to transient issue",
    "Currently processing a long-running export",
];

/// These faults may be met after D1 has run the batch.
const LOST: [&str; 6] = [
    "Network connection lost",
    "caused object to be reset",
    "reset because its code was updated",
    "exceeded its memory limit and was reset",
    "due to an internal error",
    "internal error; reference",
];

impl DbFailure {
    /// D1 distinguishes failures only by the text of the message.
    fn from_message(message: String) -> Self {
        if message.contains("UNIQUE constraint failed") {
            Self::Duplicate
        } else if message.contains("FOREIGN KEY constraint failed") {
            Self::MissingReference
        } else if message.contains("no such table") {
            Self::NotMigrated
        } else if message.contains("SQLITE_CONSTRAINT") {
            Self::Refused(message)
        } else if BUSY.iter().any(|it| message.contains(it)) {
            Self::Busy(message)
        } else if LOST.iter().any(|it| message.contains(it)) {
            Self::Lost(message)
        } else {
            Self::Other(message)
        }
    }

    /// Whether the batch may be sent again. `repeatable` says whether the batch may run twice.
    const fn may_be_retried(&self, repeatable: bool) -> bool {
        match self {
            Self::Busy(_) => true,
            Self::Lost(_) => repeatable,
            Self::Duplicate | Self::MissingReference | Self::Refused(_) | Self::NotMigrated | Self::Other(_) => false,
        }
    }
}

impl From<DbFailure> for Error {
    fn from(failure: DbFailure) -> Self {
        match failure {
            DbFailure::Duplicate => Self::Internal("a unique constraint failed where none should".into()),
            DbFailure::MissingReference => Self::Internal("a foreign key constraint failed where none should".into()),
            DbFailure::NotMigrated => {
                Self::Unavailable("The database has no tables yet: run wrangler d1 migrations apply DB")
            }
            DbFailure::Busy(_) => Self::TryAgain("The database is busy, and nothing was changed: try again"),
            DbFailure::Lost(_) => Self::TryAgain(
                "The connection to the database was lost: try again. A change may have been made all the same, so look \
                 before you repeat it, or repeat it with an idempotency key",
            ),
            DbFailure::Refused(cause) | DbFailure::Other(cause) => Self::Internal(cause),
        }
    }
}

/// The cost of a request so far.
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

/// How often a batch is repeated, and how long the first pause is. Each further pause is twice as long. A pause is
/// longer by a random time, so that requests which failed together do not come back together.
const RETRIES: u32 = 3;
const FIRST_PAUSE_MILLIS: u64 = 100;

fn pause(retry: u32) -> Duration {
    let millis = FIRST_PAUSE_MILLIS << retry;
    let mut byte = [0];
    // Without randomness, the pause is only less spread.
    let _ = random::fill(&mut byte);
    Duration::from_millis(millis + millis * u64::from(byte[0]) / 256)
}

pub struct Db {
    database: D1Database,
    cost: Arc<Cost>,
    /// The faults that tests plan.
    faults: Option<&'static str>,
}

impl Db {
    /// The cost of every batch is added to `cost`.
    pub fn new(database: D1Database, cost: Arc<Cost>, faults: Option<&'static str>) -> Self {
        Self { database, cost, faults }
    }

    /// Runs the statements as one transaction: all of them or none. After a passing fault of D1, the batch is sent
    /// again, if it did not run or may run twice.
    pub async fn batch(&self, statements: &[Statement]) -> std::result::Result<Vec<Rows>, DbFailure> {
        let batch =
            batch_json(statements).map_err(|cause| DbFailure::Other(format!("a batch is not JSON: {cause}")))?;
        for retry in 0..RETRIES {
            match self.send(&batch).await {
                Err(failure) if failure.may_be_retried(statements.iter().all(Statement::is_repeatable)) => {
                    Delay::from(pause(retry)).await;
                }
                ended => return ended,
            }
        }
        self.send(&batch).await
    }

    /// Sends a batch once.
    async fn send(&self, batch: &str) -> std::result::Result<Vec<Rows>, DbFailure> {
        self.cost.round_trips.fetch_add(1, Relaxed);
        let answer = JsFuture::from(run(self.database.as_ref(), batch, self.faults))
            .await
            .map_err(|cause| DbFailure::from_message(message_of(&cause)))
            .inspect_err(|failure| {
                if let DbFailure::Busy(cause) | DbFailure::Lost(cause) = failure {
                    console_warn!("D1 failed for the moment: {cause}");
                }
            })?;
        let rows = read_answer(Uint8Array::new(&answer).to_vec())
            .map_err(|cause| DbFailure::Other(format!("D1's answer cannot be read: {cause}")))?;
        for it in &rows {
            self.cost.rows_read.fetch_add(it.figures.rows_read.unwrap_or_default(), Relaxed);
            self.cost.rows_written.fetch_add(it.figures.rows_written.unwrap_or_default(), Relaxed);
        }
        Ok(rows)
    }
}

/// From how many bytes on the text of a batch gets its room at once. A text that grows step by step takes up to three times
/// its size.
const LARGE_BATCH_BYTES: usize = 256 * 1024;

fn batch_json(statements: &[Statement]) -> serde_json::Result<String> {
    let bytes = statements.iter().map(Statement::bytes).sum::<usize>();
    if bytes < LARGE_BATCH_BYTES {
        return serde_json::to_string(statements);
    }
    let mut batch = Vec::with_capacity(bytes + bytes / 16);
    serde_json::to_writer(&mut batch, statements)?;
    String::from_utf8(batch).map_err(serde::ser::Error::custom)
}

fn message_of(cause: &JsValue) -> String {
    cause.dyn_ref::<worker::js_sys::Error>().map_or_else(|| format!("{cause:?}"), |error| String::from(error.message()))
}

#[cfg(test)]
pub mod native;
#[cfg(test)]
mod schema;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn chunks_are_arrays_that_fit() {
        assert_eq!(json_chunks(&[""; 0]).unwrap(), []);
        assert_eq!(json_chunks(&["a", "b"]).unwrap(), [(2, r#"["a","b"]"#.to_owned())]);
        let long = Value::from("x".repeat(600_000));
        let chunks = json_chunks(&[long.clone(), long.clone(), 1.into(), long]).unwrap();
        assert_eq!(chunks.iter().map(|(count, _)| *count).collect::<Vec<_>>(), [1, 2, 1]);
        for (count, chunk) in chunks {
            assert_eq!(serde_json::from_str::<Vec<Value>>(&chunk).unwrap().len(), count as usize);
        }
    }

    #[test]
    fn constraint_failures_are_told_apart() {
        let check = |message: &str, expected| assert_eq!(DbFailure::from_message(message.into()), expected);
        check("D1_ERROR: UNIQUE constraint failed: agent_tools.workspace_id: SQLITE_CONSTRAINT", DbFailure::Duplicate);
        check("D1_ERROR: FOREIGN KEY constraint failed: SQLITE_CONSTRAINT", DbFailure::MissingReference);
        check("D1_ERROR: no such table: tools: SQLITE_ERROR", DbFailure::NotMigrated);
        let rule = "D1_ERROR: no more of these: SQLITE_CONSTRAINT";
        check(rule, DbFailure::Refused(rule.into()));
        let unknown = "D1_ERROR: near \"SELEC\": syntax error: SQLITE_ERROR";
        check(unknown, DbFailure::Other(unknown.into()));
    }

    #[test]
    fn faults_that_pass_are_told_by_whether_the_batch_may_have_run() {
        for message in [
            "D1_ERROR: D1 DB is overloaded. Requests queued for too long.",
            "D1_ERROR: D1 DB is overloaded. Too many requests queued.",
            "D1_ERROR: Internal error while starting up D1 DB storage caused object to be reset.",
            "D1_ERROR: Cannot resolve D1 DB due to transient issue on remote node.",
        ] {
            let failure = DbFailure::from_message(message.into());
            assert_eq!(failure, DbFailure::Busy(message.into()));
            assert!(failure.may_be_retried(false), "{message}");
        }
        for message in [
            "D1_ERROR: Network connection lost.",
            "D1_ERROR: D1 DB storage operation exceeded timeout which caused object to be reset.",
            "D1_ERROR: Internal error in D1 DB storage caused object to be reset.",
            "D1_ERROR: D1 DB reset because its code was updated.",
            "D1_ERROR: D1 DB's isolate exceeded its memory limit and was reset.",
            "D1_ERROR: internal error; reference = nvs8qpkqmrjdk2qlftcini97",
        ] {
            let failure = DbFailure::from_message(message.into());
            assert_eq!(failure, DbFailure::Lost(message.into()));
            assert!(failure.may_be_retried(true) && !failure.may_be_retried(false), "{message}");
        }
        for failure in [DbFailure::Duplicate, DbFailure::NotMigrated, DbFailure::Other("?".into())] {
            assert!(!failure.may_be_retried(true));
        }
    }

    #[test]
    fn reads_may_run_twice_and_writes_only_if_their_room_says_so() {
        for read in ["SELECT 1", "\n  SELECT a FROM t", "WITH a AS (SELECT 1) SELECT * FROM a"] {
            assert!(sql(read).is_repeatable(), "{read}");
        }
        for write in
            ["INSERT INTO t VALUES (1)", "UPDATE t SET a = 1", "WITH a AS (SELECT 1) DELETE FROM t", "PRAGMA optimize"]
        {
            assert!(!sql(write).is_repeatable(), "{write}");
            assert!(sql(write).repeatable().is_repeatable(), "{write}");
        }
    }

    #[test]
    fn pauses_grow_and_are_spread() {
        for (retry, least) in [(0, 100), (1, 200), (2, 400)] {
            let pauses = (0..50).map(|_| pause(retry).as_millis()).collect::<std::collections::BTreeSet<_>>();
            assert!(pauses.iter().all(|it| (least..2 * least).contains(it)) && pauses.len() > 5, "{pauses:?}");
        }
    }

    #[test]
    fn an_unforeseen_failure_is_internal() {
        assert_eq!(Error::from(DbFailure::Duplicate).code(), "INTERNAL");
        for failure in [DbFailure::NotMigrated, DbFailure::Busy("?".into()), DbFailure::Lost("?".into())] {
            assert_eq!(Error::from(failure).code(), "UNAVAILABLE");
        }
    }

    #[test]
    fn a_batch_is_one_text() {
        let batch =
            [sql("SELECT ?1, ?2").bind("a\"b").bind(None::<u32>), sql("SELECT ?1").bind(5_u32).selecting_texts()];
        let expected = r#"[[false,"SELECT ?1, ?2","a\"b",null],[true,"SELECT ?1",5.0]]"#;
        assert_eq!(serde_json::to_string(&batch).unwrap(), expected);
    }

    #[test]
    fn a_condition_brings_its_parameters() {
        let both = condition("a = ?1 OR b = ?2").bind("a").bind("b").and(condition("c = ?1").bind("c"));
        let statement = sql("DELETE FROM t WHERE x = ?1").bind("x").and(both);
        let expected = sql("DELETE FROM t WHERE x = ?1 AND ((a = ?2 OR b = ?3) AND (c = ?4))");
        assert_eq!(statement, ["x", "a", "b", "c"].into_iter().fold(expected, Statement::bind));
    }

    #[test]
    fn a_query_brings_its_parameters() {
        let query = sql("SELECT ?2 AS b WHERE ?1").bind(1_u32).bind(2_u32);
        let statement = sql("INSERT INTO t SELECT ?1, b").bind("x").selecting_from(query, "it");
        let expected = sql("INSERT INTO t SELECT ?1, b FROM (SELECT ?3 AS b WHERE ?2) it");
        assert_eq!(statement, expected.bind("x").bind(1_u32).bind(2_u32));
    }

    #[test]
    fn only_parameters_are_renumbered() {
        for (text, expected) in [
            ("?1, ?12, ?1", "?11, ?22, ?11"),
            ("a = '?1' AND b = ?1", "a = '?1' AND b = ?11"),
            ("a = 'it''s ?1' || ?2", "a = 'it''s ?1' || ?12"),
            ("? ?x ä?1ä", "? ?x ä?11ä"),
            ("", ""),
        ] {
            assert_eq!(renumbered(text, 10), expected);
        }
    }

    #[test]
    fn texts_are_read_as_they_are() {
        let answer = "[[0,0,0,0],[0,0,0,0]]\n{\"a\":\"\\n\"}\u{1f}x\u{1e}\u{1f}y\n";
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
