//! Runs the importer, and inspects its result.

use rusqlite::Connection;
use rusqlite::types::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

pub const BINARY: &str = env!("CARGO_BIN_EXE_pegboard-import");

/// The repository's root, the working directory of everything here.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// A new, empty folder, with a name that no other test has.
pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("import").join(name);
    if folder.exists() {
        std::fs::remove_dir_all(&folder).unwrap();
    }
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// `pegboard-import load`, with its files in `work`. Rows always get the same creation time.
pub fn load(work: &Path) -> Command {
    let mut command = Command::new(BINARY);
    command.current_dir(root()).env("SOURCE_DATE_EPOCH", "1000000000").arg("load").arg("--work").arg(work.join("work"));
    command
}

pub fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    String::from_utf8(output.stdout).unwrap()
}

pub fn refused(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(!output.status.success(), "{}", said(&output));
    String::from_utf8(output.stderr).unwrap()
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// A synthetic corpus that all tests share.
pub fn corpus() -> &'static Path {
    static CORPUS: OnceLock<PathBuf> = OnceLock::new();
    CORPUS.get_or_init(|| {
        let path = folder("corpus").join("corpus.csv");
        let mut command = Command::new(BINARY);
        command.current_dir(root()).args(["synthesise", "samples/enron", "--messages", "600"]).arg(&path);
        run(&mut command);
        path
    })
}

/// All rows of the schema's tables. For the full-text indexes: that FTS5's own check, which reads all texts again,
/// passes; and for the index of the mail, how often each word occurs; `shadow` adds the pages of the index.
pub fn contents(path: &Path, shadow: bool) -> Vec<String> {
    let database = Connection::open(path).unwrap();
    let check = "INSERT INTO emails_fts (emails_fts, rank) VALUES ('integrity-check', 1);
        INSERT INTO address_words (address_words, rank) VALUES ('integrity-check', 1)";
    database.execute_batch(check).unwrap();
    database.execute_batch("CREATE VIRTUAL TABLE temp.words USING fts5vocab('main', 'emails_fts', 'row')").unwrap();
    let mut selects = vec![
        "SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE '\\_cf\\_%' ESCAPE '\\' ORDER BY type, name",
        "SELECT name FROM d1_migrations ORDER BY id",
        "SELECT * FROM emails ORDER BY id",
        "SELECT * FROM addresses ORDER BY id",
        "SELECT * FROM people ORDER BY address_id, role, entry_id",
        "SELECT * FROM inboxes ORDER BY id",
        "SELECT * FROM entries ORDER BY id",
        "SELECT * FROM import_inboxes",
        "SELECT * FROM temp.words",
        "PRAGMA foreign_key_check",
    ];
    if shadow {
        selects.extend([
            "SELECT * FROM emails_fts_data",
            "SELECT * FROM emails_fts_idx",
            "SELECT * FROM emails_fts_config",
        ]);
    }
    selects.into_iter().flat_map(|select| rows(&database, select)).collect()
}

pub fn rows(database: &Connection, select: &str) -> Vec<String> {
    let mut statement = database.prepare(select).unwrap();
    let columns = statement.column_count();
    let row = |row: &rusqlite::Row| (0..columns).map(|at| row.get::<_, Value>(at)).collect::<Result<Vec<_>, _>>();
    let rows: Result<Vec<Vec<Value>>, _> = statement.query_map([], row).unwrap().collect();
    rows.unwrap().into_iter().map(|row| format!("{select}: {row:?}")).collect()
}

/// Fails with the first difference, because all differences would be megabytes.
pub fn assert_same(left: &[String], right: &[String]) {
    for (left, right) in left.iter().zip(right) {
        assert!(left == right, "{:.600}\nis not\n{:.600}", left, right);
    }
    assert_eq!(left.len(), right.len());
}
