//! Native SQLite for tests: databases with the migrations applied, and parameters bound as D1 binds them, with every
//! number as REAL.

use super::rows::read_answer;
use super::{Param, Rows, Statement};
use rusqlite::limits::Limit;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, StatementStatus, ToSql, params_from_iter};
use serde_json::{Map, Value};
use std::fs;
use std::path::PathBuf;

/// The migrations of one database, `db` or `benchmarks`, in the order in which they are applied.
pub fn migrations(database: &str) -> Vec<PathBuf> {
    let folder = format!("{}/migrations/{database}", env!("CARGO_MANIFEST_DIR"));
    let mut files = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect::<Vec<_>>();
    files.sort();
    files
}

/// The limits that Cloudflare documents for D1. Local D1 enforces few of them.
const D1_LIMITS: [(Limit, i32); 6] = [
    (Limit::SQLITE_LIMIT_LENGTH, 2_000_000),
    (Limit::SQLITE_LIMIT_SQL_LENGTH, 100_000),
    (Limit::SQLITE_LIMIT_COLUMN, 100),
    (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 5),
    (Limit::SQLITE_LIMIT_FUNCTION_ARG, 32),
    (Limit::SQLITE_LIMIT_VARIABLE_NUMBER, 100),
];

/// A new database with these migrations applied.
pub fn migrated(files: &[PathBuf]) -> Connection {
    let database = Connection::open_in_memory().unwrap();
    for (limit, value) in D1_LIMITS {
        database.set_limit(limit, value).unwrap();
    }
    for file in files {
        database.execute_batch(&fs::read_to_string(file).unwrap()).unwrap();
    }
    database
}

impl ToSql for Param {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Number(number) => ValueRef::Real(*number),
        }))
    }
}

impl Statement {
    /// Runs the statement, and returns its rows as D1 would.
    pub fn rows_of(&self, database: &Connection) -> rusqlite::Result<Vec<Value>> {
        let mut statement = database.prepare_cached(&self.sql)?;
        let names = statement.column_names().map(str::to_owned).collect::<Vec<_>>();
        let rows = statement.query_map(params_from_iter(&self.params), |row| {
            let cells = names.iter().enumerate().map(|(at, name)| Ok((name.clone(), json_of(row.get_ref(at)?))));
            cells.collect::<rusqlite::Result<Map<_, _>>>().map(Value::Object)
        })?;
        rows.collect()
    }

    /// Runs the statement, and returns its rows in the form in which code reads them.
    pub fn answer_of(&self, database: &Connection) -> rusqlite::Result<Rows> {
        let rows = self.rows_of(database)?;
        let answer = format!("[[{},0,0,0]]\n{}", database.changes(), Value::from(rows));
        Ok(read_answer(answer.into_bytes()).unwrap().remove(0))
    }

    /// SQLite's plan for the statement, as text.
    pub fn plan_of(&self, database: &Connection) -> String {
        let mut explained = self.clone();
        explained.sql.insert_str(0, "EXPLAIN QUERY PLAN ");
        serde_json::json!(explained.rows_of(database).unwrap()).to_string()
    }

    /// How many steps SQLite's virtual machine takes to run the statement, which measures the rows that it reads.
    pub fn steps_of(&self, database: &Connection) -> i32 {
        let mut statement = database.prepare(&self.sql).unwrap();
        let mut rows = statement.query(params_from_iter(&self.params)).unwrap();
        while rows.next().unwrap().is_some() {}
        drop(rows);
        statement.get_status(StatementStatus::VmStep)
    }

    /// Adds a column to the statement, before another column.
    pub fn with_column(mut self, column: &str, before: &str) -> Self {
        self.sql = self.sql.replacen(before, &format!("{column}, {before}"), 1);
        self
    }
}

fn json_of(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into(),
        ValueRef::Blob(_) => panic!("D1 is asked for no blobs"),
    }
}
