//! Compares two JSON Schemas: is every document that is valid under `from` valid under `to`?
//!
//! The question decides which step a new version of a tool needs. If the new parameters' schema takes every document that
//! the old one took, callers need not change, and a minor version is enough.
//!
//! The method is a search for a counterexample, in four stages:
//!
//! 1. [`close`] prepares each schema: an object whose fields are described takes no other fields.
//! 2. [`read`] translates both schemas into [`claims`]: facts about a value, combined by *and* and *not*. Equal claims are
//!    stored once, so that parts which both schemas share are recognised at once.
//! 3. [`search`] tries to build a document for which the claims of `from` are true and the claims of `to` are false. It
//!    tries one kind of value after the other; each kind has its own file ([`number`], [`text`], [`list`], [`object`]).
//! 4. [`explain`] turns the result into obstacles for a person: it follows the difference down to single keywords.
//!
//! The search has three results. If it finds a document, the schemas are not compatible, and the document is the proof. If
//! every way to build one ends in a contradiction, the schemas are compatible. If it reaches its bounds ([`MAX_STEPS`])
//! first, the answer is unknown, and unknown counts as not compatible. A keyword that `read` does not understand becomes an
//! opaque claim, from which nothing is concluded.
//!
//! The tests in `oracle` hold the results against the real validator, with many random pairs of schemas.

mod claims;
mod close;
mod explain;
mod holds;
mod list;
mod number;
mod numbers;
mod object;
mod patterns;
mod read;
mod search;
mod text;
mod unevaluated;
mod wording;

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod tests;

pub use close::closed;

use claims::Claims;
use explain::Explanation;
use search::{Answer, Search};
use serde_json::Value;
use std::rc::Rc;

/// How many steps a search may take.
const MAX_STEPS: usize = 100_000;

/// One reason why a document that is valid under `from` may be invalid under `to`.
#[derive(Clone, Debug, PartialEq)]
pub struct Obstacle {
    /// The place in the document: a JSON pointer, with `*` for any element or any other field. Empty for the whole document.
    pub path: String,
    /// The reason, for a person.
    pub message: String,
    /// Whether such a document was found. If not, the search reached its bounds.
    pub certain: bool,
}

/// The reasons why a document that is valid under `from` may be invalid under `to`; none, if `to` takes all of them.
pub fn obstacles(from: &Value, to: &Value) -> Vec<Obstacle> {
    compare(from, to).0
}

/// The obstacles, and for each certain one a document that proves it.
fn compare(from: &Value, to: &Value) -> (Vec<Obstacle>, Vec<Rc<Value>>) {
    let mut claims = Claims::new();
    let (from, to) = (read::read(&mut claims, from), read::read(&mut claims, to));
    if from == to {
        return (Vec::new(), Vec::new());
    }
    if claims.go_round() {
        let message = "a schema that refers to itself on the spot cannot be compared".into();
        return (vec![Obstacle { path: String::new(), message, certain: false }], Vec::new());
    }
    let mut search = Search::new(claims, MAX_STEPS);
    let answer = search.find(&[from, !to]);
    let explanation = Explanation::new(&mut search, from, to);
    match answer {
        Answer::Nothing => (explanation.of_emptiness(), Vec::new()),
        Answer::Unknown => explanation.of_difference(None),
        Answer::Document(document) => explanation.of_difference(Some(document)),
    }
}
