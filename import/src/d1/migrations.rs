//! The schema, from the same files and with the same records as `wrangler d1 migrations apply`.

use super::config::Database;
use anyhow::{Context, Result, ensure};
use rusqlite::Connection;
use std::collections::HashSet;
use std::fs;

/// Applies the missing migrations, each in a transaction with its record.
pub fn apply(connection: &mut Connection, database: &Database) -> Result<()> {
    let table = database.migrations_table.replace('"', "\"\"");
    // This is wrangler's own SQL, so that the table is the same, whichever program makes it.
    connection.execute_batch(&format!(
        "CREATE TABLE IF NOT EXISTS \"{table}\"(
\t\tid         INTEGER PRIMARY KEY AUTOINCREMENT,
\t\tname       TEXT UNIQUE,
\t\tapplied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL
);"
    ))?;
    let applied: HashSet<String> = connection
        .prepare(&format!("SELECT name FROM \"{table}\""))?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;

    let folder = &database.migrations;
    let listed = fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let mut names = Vec::new();
    for entry in listed {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".sql") {
            names.push(name);
        }
    }
    ensure!(!names.is_empty(), "{} has no migrations", folder.display());
    names.sort();
    for name in names.into_iter().filter(|name| !applied.contains(name)) {
        let sql = fs::read_to_string(folder.join(&name))?;
        let transaction = connection.transaction()?;
        transaction.execute_batch(&sql).with_context(|| format!("cannot apply {name}"))?;
        transaction.execute(&format!("INSERT INTO \"{table}\" (name) VALUES (?1)"), [&name])?;
        transaction.commit()?;
    }
    Ok(())
}
