//! What `jsonschema` needs of the crate `jsonschema-regex`: patterns as JSON Schema writes them (ECMA-262) in the syntax
//! of the engine that runs them. Upstream parses with all of Unicode's tables at hand; here nothing is parsed but what
//! the two syntaxes write differently.

mod translate;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

/// A pattern in the engine's syntax. Of a pattern that the engine could not run (look-around, back-references) and of
/// one that is none, there is no telling apart: `jsonschema` says of both that they are not a "regex".
#[allow(clippy::result_unit_err)] // as `jsonschema` expects it
pub fn to_rust_regex(pattern: &str) -> Result<String, ()> {
    translate::translate(pattern).ok().filter(|it| it.can_run).map(|it| it.text).ok_or(())
}

/// Whether a text is a pattern at all, be it one that the engine cannot run.
pub fn is_valid_ecma_regex(pattern: &str) -> bool {
    translate::translate(pattern).is_ok()
}

/// Whether `text` has a character that `\s` stands for.
pub fn contains_ecma_whitespace(text: &str) -> bool {
    text.chars().any(|it| it == '\u{feff}' || (it.is_whitespace() && it != '\u{85}'))
}

/// A pattern that is so simple that no engine is needed.
#[derive(Debug, PartialEq)]
pub enum PatternAnalysis<'a> {
    /// `^prefix`
    Prefix(Cow<'a, str>),
    /// `^exact$`
    Exact(Cow<'a, str>),
    /// `^(one|or|other)$`, sorted.
    Alternation(Vec<String>),
    /// `^\S*$`
    NoWhitespace,
}

pub fn analyze_pattern(pattern: &str) -> Option<PatternAnalysis<'_>> {
    if pattern == r"^\S*$" {
        return Some(PatternAnalysis::NoWhitespace);
    }
    let rest = pattern.strip_prefix('^')?;
    if let Some(choices) = rest.strip_prefix('(').and_then(|it| it.strip_suffix(")$")) {
        let mut choices = choices.split('|').map(literal).collect::<Option<Vec<_>>>()?;
        choices.sort_unstable();
        return Some(PatternAnalysis::Alternation(choices));
    }
    match rest.strip_suffix('$').and_then(literal) {
        Some(exact) => Some(PatternAnalysis::Exact(exact.into())),
        None => literal(rest).map(|prefix| PatternAnalysis::Prefix(prefix.into())),
    }
}

/// The text that a pattern stands for, if it stands for one text.
fn literal(pattern: &str) -> Option<String> {
    let mut chars = pattern.chars();
    let mut text = String::with_capacity(pattern.len());
    while let Some(next) = chars.next() {
        text.push(match next {
            '\\' => chars.next().filter(char::is_ascii_punctuation)?,
            '^' | '$' | '.' | '*' | '+' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '|' => return None,
            other => other,
        });
    }
    Some(text)
}

/// A text that a pattern matches: none is made up here, and `jsonschema` does without.
pub fn pattern_witness(_pattern: &str) -> Option<String> {
    None
}
