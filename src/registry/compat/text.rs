//! Builds a text for which some facts are true.

use super::claims::{Claim, Fact};
use super::search::{DocumentSearch, SearchAnswer};
use serde_json::Value;
use std::rc::Rc;

/// The longest text that is built.
const MAX_LENGTH: u64 = 5_000;

/// Texts that are tried with every pattern.
const USUAL: [&str; 12] =
    ["", "a", "A", "0", "1", "ab", "a1", "-", " ", "2020-01-01", "a@b.co", "https://example.com/"];

impl DocumentSearch {
    pub fn text(&mut self, facts: &[Claim]) -> SearchAnswer {
        let (least, most) = self.sizes(facts);
        if least > MAX_LENGTH {
            return SearchAnswer::Unknown;
        }
        let mut patterns = Vec::new();
        let mut excluded = 0;
        for claim in facts {
            match self.claims.as_fact(*claim) {
                Some(Fact::Pattern(pattern)) => patterns.push(pattern.clone()),
                Some(Fact::OneOf(values)) => excluded += values.len(),
                _ => {}
            }
        }
        let mut texts = Vec::new();
        for pattern in &patterns {
            guess(pattern, &mut texts);
        }
        texts.extend(USUAL.map(String::from));
        for text in &mut texts {
            let last = text.chars().next_back().unwrap_or('a');
            for _ in text.chars().count()..least as usize {
                text.push(last);
            }
        }
        // Without patterns, it is enough to try one text more than are excluded.
        let length = if most > least { least + 1 } else { least } as usize;
        for index in 0..=excluded as u32 {
            texts.extend(char::from_u32('a' as u32 + index).map(|it| it.to_string().repeat(length)));
        }
        let mut told = patterns.is_empty();
        for text in texts {
            self.spend(patterns.len() * (1 + text.len() / 64));
            let document = Value::String(text);
            match self.fits(facts, &document) {
                Some(true) => return SearchAnswer::Document(Rc::new(document)),
                Some(false) => {}
                None => told = false,
            }
        }
        if told { SearchAnswer::Nothing } else { SearchAnswer::Unknown }
    }
}

/// Adds texts that may fit a pattern: the pattern without its special characters, up to an alternative or a character
/// class.
pub fn guess(pattern: &str, texts: &mut Vec<String>) {
    let start = pattern.split(['[', '.', '{', '|']).next().unwrap_or_default();
    for part in pattern.split('|').chain([start]) {
        let text = part.replace(['^', '$', '\\', '(', ')', '+', '*', '?'], "");
        texts.push(text.clone() + "a");
        texts.push(text.clone() + "0");
        texts.push(text);
    }
}
