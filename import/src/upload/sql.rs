//! SQL as text, because D1 takes files of nothing else: literals, and inserts that are cut to D1's limit of a
//! statement.

use anyhow::{Context, Result};

/// D1 takes statements of 100,000 bytes.
pub const STATEMENT_BYTES: usize = 90_000;

/// wrangler looks for this text in the whole file, and refuses the file or, worse, removes the text.
const TRANSACTION: &str = "BEGIN TRANSACTION";

/// A text literal. It never holds wrangler's word for a transaction: a mark replaces the word, one that the text does
/// not hold. The depth of the expression does not grow with the number of marks: D1 takes a hundred levels.
pub fn text(value: &str) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
    if !value.contains(TRANSACTION) {
        return quoted(value);
    }
    let lacking = (0..).map(|number: u64| format!("<{number}>")).find(|mark| !value.contains(mark.as_str()));
    let mark = lacking.unwrap_or_default();
    format!("replace({}, '{mark}', 'BEGIN' || ' TRANSACTION')", quoted(&value.replace(TRANSACTION, &mark)))
}

pub fn text_or_null(value: Option<&str>) -> String {
    value.map_or_else(|| "NULL".to_owned(), text)
}

/// Rows of one table, gathered into statements of up to the maximum length.
pub struct Inserts {
    head: &'static str,
    rows: String,
}

impl Inserts {
    pub fn new(head: &'static str) -> Self {
        Self { head, rows: String::new() }
    }

    /// Whether a row is short enough for a statement.
    pub fn fits(&self, row: &str) -> bool {
        self.head.len() + row.len() + 2 <= STATEMENT_BYTES
    }

    /// Adds a row, `(1, 'a')`, and returns a statement if one is full.
    pub fn add(&mut self, row: &str) -> Option<String> {
        let full = self.head.len() + self.rows.len() + row.len() + 4 > STATEMENT_BYTES;
        let statement = if full { self.take() } else { None };
        if !self.rows.is_empty() {
            self.rows.push_str(",\n");
        }
        self.rows.push_str(row);
        statement
    }

    /// The last statement.
    pub fn take(&mut self) -> Option<String> {
        (!self.rows.is_empty()).then(|| format!("{}{};\n", self.head, std::mem::take(&mut self.rows)))
    }
}

/// A text in pieces, each a literal of a limited length, which together are the whole.
pub fn pieces(value: &str, most: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = value;
    while !rest.is_empty() {
        // In the worst case all characters are quotes, and the literal is twice as long as its text.
        let end = rest.floor_char_boundary(most / 2);
        let (piece, after) = rest.split_at(end);
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// A JSON list in several lists of limited length: the first as it is, the others to be appended to it.
pub fn lists(json: &str, most: usize) -> Result<Vec<String>> {
    let values: Vec<String> = serde_json::from_str(json).context("recipients that are no list")?;
    let mut lists: Vec<Vec<String>> = vec![Vec::new()];
    let mut bytes = 0;
    for value in values {
        let size = serde_json::to_string(&value)?.len() * 2 + 1;
        if bytes + size > most && bytes > 0 {
            lists.push(Vec::new());
            bytes = 0;
        }
        bytes += size;
        if let Some(last) = lists.last_mut() {
            last.push(value);
        }
    }
    Ok(lists.iter().map(serde_json::to_string).collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_say_what_they_are_of() {
        let database = rusqlite::Connection::open_in_memory().unwrap();
        for value in ["", "it's", "'';--", "a\nb\r\n\u{1}é", "BEGIN TRANSACTION;x;COMMIT;", "BEGIN TRANSACTION'"] {
            let back: String = database.query_row(&format!("SELECT {}", text(value)), [], |row| row.get(0)).unwrap();
            assert_eq!(back, value);
            assert!(!text(value).contains("BEGIN TRANSACTION"));
        }
    }

    #[test]
    fn however_many_transactions_are_one_expression() {
        let database = rusqlite::Connection::open_in_memory().unwrap();
        let value = "<0> it's <BEGIN TRANSACTION>; <1".repeat(2_000); // SQLite takes a thousand levels, D1 a hundred.
        let back: String = database.query_row(&format!("SELECT {}", text(&value)), [], |row| row.get(0)).unwrap();
        assert_eq!(back, value);
        assert!(!text(&value).contains("BEGIN TRANSACTION"));
    }

    #[test]
    fn statements_are_never_over_the_limit() {
        let mut inserts = Inserts::new("INSERT INTO t VALUES ");
        let row = format!("({})", text(&"x".repeat(40_000)));
        let mut statements: Vec<String> = (0..5).filter_map(|_| inserts.add(&row)).collect();
        statements.extend(inserts.take());
        assert_eq!(statements.iter().map(|it| it.matches("('x").count()).collect::<Vec<_>>(), [2, 2, 1]);
        assert!(statements.iter().all(|it| it.len() <= STATEMENT_BYTES));
        assert!(!inserts.fits(&format!("({})", text(&"x".repeat(90_000)))));
    }

    #[test]
    fn pieces_make_the_whole_and_cut_no_character() {
        let value = "é'".repeat(5_000);
        let pieces = pieces(&value, 1_001);
        assert_eq!(pieces.concat(), value);
        assert!(pieces.iter().all(|piece| text(piece).len() <= 1_003));
    }

    #[test]
    fn lists_make_the_whole() {
        let values: Vec<String> = (0..100).map(|each| format!("person.{each}@enron.com")).collect();
        let lists = lists(&serde_json::to_string(&values).unwrap(), 500).unwrap();
        assert!(lists.len() > 5 && lists.iter().all(|list| list.len() <= 500));
        let back: Vec<String> =
            lists.iter().flat_map(|list| serde_json::from_str::<Vec<String>>(list).unwrap()).collect();
        assert_eq!(back, values);
    }
}
