//! What `jsonschema` needs of the crate `fancy-regex`. Patterns that only a backtracking engine could run do not
//! compile: such an engine can be made to hang.

use std::fmt;

#[derive(Clone, Debug)]
pub struct Regex(regex::Regex);

impl Regex {
    /// Never fails: the engine has no limit that it could run into.
    pub fn is_match(&self, text: &str) -> Result<bool, Error> {
        Ok(self.0.is_match(text))
    }

    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

#[derive(Clone, Debug)]
pub struct RegexBuilder(regex::RegexBuilder);

impl RegexBuilder {
    pub fn new(pattern: &str) -> Self {
        Self(regex::RegexBuilder::new(pattern))
    }

    /// There is no backtracking to limit.
    pub fn backtrack_limit(&mut self, _limit: usize) -> &mut Self {
        self
    }

    pub fn delegate_size_limit(&mut self, limit: usize) -> &mut Self {
        self.0.size_limit(limit);
        self
    }

    pub fn delegate_dfa_size_limit(&mut self, limit: usize) -> &mut Self {
        self.0.dfa_size_limit(limit);
        self
    }

    pub fn build(&self) -> Result<Regex, regex::Error> {
        self.0.build().map(Regex)
    }
}

/// Why a match was given up: there is no such thing. And since the compiler knows, all that `jsonschema` would do about
/// it goes, and what is left for this engine is the same as for `regex`, and merged with it.
#[derive(Clone, Debug)]
pub enum Error {}

impl fmt::Display for Error {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {}
    }
}

impl std::error::Error for Error {}
