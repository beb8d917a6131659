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

    pub fn build(&self) -> Result<Regex, Error> {
        self.0.build().map(Regex).map_err(Error)
    }
}

/// Why a pattern does not compile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(regex::Error);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Error {}
