//! What `jsonschema` needs of the crate `regex`, on the Pike VM: small, and its time is linear in the text.

use regex_automata::nfa::thompson::{self, WhichCaptures, pikevm};
use std::fmt;
use std::sync::{Arc, Mutex};

/// The largest compiled pattern, in bytes, where nothing else is asked for.
const SIZE_LIMIT: usize = 1024 * 1024;

/// How many steps a match may take: a text's length times the pattern's size. What would take more counts as no match,
/// so that a large pattern against a large text cannot take a Worker's whole time.
const MAX_STEPS: usize = 500_000_000;

#[derive(Clone)]
pub struct Regex {
    pattern: String,
    engine: pikevm::PikeVM,
    /// What a match works in, kept from one to the next.
    cache: Arc<Mutex<pikevm::Cache>>,
}

impl Regex {
    pub fn new(pattern: &str) -> Result<Self, Error> {
        RegexBuilder::new(pattern).build()
    }

    /// Whether the pattern fits anywhere in `text`.
    pub fn is_match(&self, text: &str) -> bool {
        if text.len().saturating_mul(self.engine.get_nfa().states().len()) > MAX_STEPS {
            return false;
        }
        match self.cache.try_lock() {
            Ok(mut cache) => self.engine.is_match(&mut cache, text),
            Err(_) => self.engine.is_match(&mut self.engine.create_cache(), text),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.pattern
    }
}

impl fmt::Debug for Regex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Regex").field(&self.pattern).finish()
    }
}

#[derive(Clone, Debug)]
pub struct RegexBuilder {
    pattern: String,
    size_limit: usize,
}

impl RegexBuilder {
    pub fn new(pattern: &str) -> Self {
        Self { pattern: pattern.to_owned(), size_limit: SIZE_LIMIT }
    }

    pub fn size_limit(&mut self, limit: usize) -> &mut Self {
        self.size_limit = limit;
        self
    }

    /// There is no DFA to limit.
    pub fn dfa_size_limit(&mut self, _limit: usize) -> &mut Self {
        self
    }

    pub fn build(&self) -> Result<Regex, Error> {
        // Nobody asks what a group matched, and groups make a match's memory grow with their number.
        let config = thompson::Config::new().nfa_size_limit(Some(self.size_limit)).which_captures(WhichCaptures::None);
        let engine = pikevm::PikeVM::builder().thompson(config).build(&self.pattern).map_err(|_| Error)?;
        let cache = Arc::new(Mutex::new(engine.create_cache()));
        Ok(Regex { pattern: self.pattern.clone(), engine, cache })
    }
}

/// A pattern that does not compile. The engine could tell why, at some length; but `jsonschema` does not ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the pattern does not compile")
    }
}

impl std::error::Error for Error {}
