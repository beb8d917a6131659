//! Statements as plain values, so that the code that builds them can be tested on the host.

use super::known_texts::SentText;
use crate::error::{Error, Result};
use crate::ids::WorkspaceId;
use serde::ser::{Serialize, SerializeSeq, Serializer};

/// One SQL statement with the values bound to `?1`, `?2`, ….
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    pub(super) sql: String,
    pub(super) params: Vec<Param>,
    /// Whether the rows are read with [`Rows::texts`](super::Rows::texts).
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

/// Starts a statement. SQLite compiles a statement again at each run if its planner looks at a parameter. It does so for a
/// bare parameter after LIMIT, which cost a list of tools 150 microseconds: write `LIMIT +?1`.
pub fn sql(text: impl Into<String>) -> Statement {
    Statement { sql: text.into(), params: Vec::new(), texts: false, repeatable: false }
}

impl Statement {
    /// Says that every column is a text without characters below the space, or null, and that there are at least two columns.
    /// Such rows reach Rust as they are, unescaped. JSON is such a text. A column may also hold several texts, joined by
    /// [`BETWEEN_TEXTS`](super::BETWEEN_TEXTS): each of them counts as a column.
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
    pub(super) fn is_repeatable(&self) -> bool {
        let text = self.sql.trim_start();
        let writes = || ["INSERT ", "UPDATE ", "DELETE ", "REPLACE "].iter().any(|it| text.contains(it));
        self.repeatable || text.starts_with("SELECT ") || (text.starts_with("WITH ") && !writes())
    }

    /// The bytes of the statement's texts.
    pub(super) fn bytes(&self) -> usize {
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

/// A statement as `db.js` gets it: `[texts, sql, ...params]`.
pub(super) struct SentStatement<'a> {
    pub statement: &'a Statement,
    /// Whether `db.js` remembers the texts of statements for this database.
    pub remembers_texts: bool,
}

impl Serialize for SentStatement<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let Statement { sql, params, texts, .. } = self.statement;
        let mut parts = serializer.serialize_seq(Some(2 + params.len()))?;
        parts.serialize_element(texts)?;
        parts.serialize_element(&if self.remembers_texts { SentText::numbered(sql) } else { SentText::Whole(sql) })?;
        for param in params {
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

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::{Connection, StatementStatus};
    use serde_json::Value;
    use std::fs;
    use std::path::PathBuf;

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
    fn a_batch_is_one_text() {
        let batch =
            [sql("SELECT ?1, ?2").bind("a\"b").bind(None::<u32>), sql("SELECT ?1").bind(5_u32).selecting_texts()];
        let expected = r#"[[false,"SELECT ?1, ?2","a\"b",null],[true,"SELECT ?1",5.0]]"#;
        let sent = batch.each_ref().map(|statement| SentStatement { statement, remembers_texts: false });
        assert_eq!(serde_json::to_string(&sent).unwrap(), expected);
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

    /// How often SQLite compiles a statement again for one run.
    fn compiled_again(text: &str) -> i32 {
        let database = Connection::open_in_memory().unwrap();
        let mut statement = database.prepare(text).unwrap();
        assert!(statement.exists([51.0]).unwrap());
        statement.get_status(StatementStatus::RePrepare)
    }

    #[test]
    fn no_limit_is_a_bare_parameter() {
        assert_eq!((compiled_again("SELECT 1 LIMIT ?1"), compiled_again("SELECT 1 LIMIT +?1")), (1, 0));
        let mut folders = vec![PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src")];
        while let Some(folder) = folders.pop() {
            for path in fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()) {
                if path.is_dir() {
                    folders.push(path);
                } else if !path.ends_with("db/statement.rs") {
                    let text = fs::read(&path).unwrap();
                    assert!(!String::from_utf8_lossy(&text).contains("LIMIT ?"), "{}", path.display());
                }
            }
        }
    }
}
