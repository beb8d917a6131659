//! The texts of statements that `db.js` knows. A statement has some kilobytes of SQL, and the same few hundred statements come
//! again and again. So a text crosses to JavaScript once for each isolate, without its indentation; after that its number crosses.

use foldhash::fast::FixedState;
use serde::Serialize;
use std::cell::RefCell;
use std::collections::HashMap;

/// How many texts an isolate remembers before it forgets all of them, and how many bytes they may have together. Some statements
/// hold figures of their requests, so the number of texts has no bound of its own.
const MOST: usize = 1_000;
const MOST_BYTES: usize = 2_000_000;

thread_local! {
    static KNOWN: RefCell<KnownTexts> = RefCell::default();
}

#[derive(Default)]
struct KnownTexts {
    numbers: HashMap<Box<str>, u32, FixedState>,
    bytes: usize,
}

/// The SQL of a statement as `db.js` gets it.
#[derive(Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum SentText<'a> {
    /// For databases that do not remember texts.
    Whole(&'a str),
    /// The number under which `db.js` remembers the text from now on, in the place of whatever had the number before.
    New(u32, String),
    Known(u32),
}

impl SentText<'_> {
    /// The text for the next batch. A batch must be sent at once and only once: later batches may give its numbers to other texts.
    pub fn numbered(text: &str) -> SentText<'_> {
        KNOWN.with_borrow_mut(|known| known.look_up(text))
    }
}

impl KnownTexts {
    fn look_up(&mut self, text: &str) -> SentText<'static> {
        if let Some(number) = self.numbers.get(text) {
            return SentText::Known(*number);
        }
        if self.numbers.len() >= MOST || self.bytes + text.len() > MOST_BYTES {
            *self = Self::default();
        }
        let number = self.numbers.len() as u32;
        self.bytes += text.len();
        self.numbers.insert(text.into(), number);
        SentText::New(number, without_indentation(text))
    }
}

/// The text with each line break and the spaces after it as one space. Text in quotes stays unchanged, and so does a text with
/// comments, which end with their lines.
fn without_indentation(text: &str) -> String {
    if text.contains("--") {
        return text.to_owned();
    }
    let mut result = String::with_capacity(text.len());
    for (number, part) in text.split('\'').enumerate() {
        let is_quoted = number % 2 == 1;
        result.push_str(if number == 0 { "" } else { "'" });
        if is_quoted {
            result.push_str(part);
            continue;
        }
        for (number, line) in part.split('\n').enumerate() {
            result.push_str(if number == 0 { line } else { " " });
            result.push_str(if number == 0 { "" } else { line.trim_start_matches(' ') });
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_crosses_once() {
        let mut known = KnownTexts::default();
        assert_eq!(known.look_up("SELECT 1"), SentText::New(0, "SELECT 1".into()));
        assert_eq!(known.look_up("SELECT 2"), SentText::New(1, "SELECT 2".into()));
        assert_eq!(known.look_up("SELECT 1"), SentText::Known(0));
        let sent = [SentText::Whole("a"), SentText::New(7, "b".into()), SentText::Known(7)];
        assert_eq!(serde_json::to_string(&sent).unwrap(), r#"["a",[7,"b"],7]"#);
    }

    #[test]
    fn what_an_isolate_remembers_has_a_bound() {
        let mut known = KnownTexts::default();
        for number in 0..MOST {
            known.look_up(&format!("SELECT {number}"));
        }
        assert_eq!(known.look_up("SELECT 0"), SentText::Known(0));
        assert_eq!(known.look_up("SELECT now"), SentText::New(0, "SELECT now".into()));
        assert_eq!(known.look_up("SELECT 0"), SentText::New(1, "SELECT 0".into()));
        let large = "x".repeat(MOST_BYTES);
        assert!(matches!(known.look_up(&large), SentText::New(0, _)));
        assert!(matches!(known.look_up("SELECT 0"), SentText::New(0, _)));
    }

    #[test]
    fn only_indentation_goes() {
        let text = "SELECT 'a\n  b''\n  c' AS x\n    FROM t  WHERE y = ''\n  AND z";
        assert_eq!(without_indentation(text), "SELECT 'a\n  b''\n  c' AS x FROM t  WHERE y = '' AND z");
        assert_eq!(without_indentation("-- why\nSELECT 1"), "-- why\nSELECT 1");
    }
}
