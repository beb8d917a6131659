//! Regular expressions, run by the validator itself.

use crate::registry::schema::Schema;
use serde_json::{Value, json};

/// How many patterns are compiled, each to a megabyte at most. Whether a text fits any further pattern cannot be
/// decided.
const MAX_PATTERNS: usize = 40;

#[derive(Default)]
pub struct CompiledPatterns {
    compiled: Vec<(String, Option<Schema>)>,
}

impl CompiledPatterns {
    /// Whether the text fits the pattern. None if that cannot be decided.
    pub fn fits(&mut self, pattern: &str, text: &str) -> Option<bool> {
        let index = match self.compiled.iter().position(|it| it.0 == pattern) {
            Some(index) => index,
            None if self.compiled.len() >= MAX_PATTERNS => return None,
            None => {
                self.compiled.push((pattern.to_owned(), Schema::compile(json!({ "pattern": pattern })).ok()));
                self.compiled.len() - 1
            }
        };
        let schema = self.compiled[index].1.as_ref()?;
        Some(schema.violations(&Value::from(text)).is_empty())
    }

    /// Whether a name is in the sorted list `names`, or fits one of the patterns. None if that cannot be decided.
    pub fn names(&mut self, names: &[String], patterns: &[String], name: &str) -> Option<bool> {
        if names.binary_search_by(|it| it.as_str().cmp(name)).is_ok() {
            return Some(true);
        }
        let mut told = Some(false);
        for pattern in patterns {
            match self.fits(pattern, name) {
                Some(true) => return Some(true),
                Some(false) => {}
                None => told = None,
            }
        }
        told
    }
}
