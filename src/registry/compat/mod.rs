//! Whether what fits one schema fits another: every document that is valid under `from` is valid under `to`.
//!
//! Both schemas are read into [`claims`]; then a document is [searched](search) for that is as the one claims and not as
//! the other does. If there is one, that is an obstacle for certain, and [`explain`] says what it runs against. If there can
//! be none, the schemas are compatible. If neither is found within the bounds set here, it cannot be told.

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
use search::{DocumentSearch, SearchAnswer};
use serde_json::Value;
use std::rc::Rc;

/// How much work a comparison may be.
const MAX_STEPS: usize = 100_000;

/// One reason why a document that satisfies the one schema might not satisfy the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Obstacle {
    /// Where in a document: a JSON pointer, with `*` for any element or any further field. Empty for the document itself.
    pub path: String,
    /// For a person.
    pub message: String,
    /// Whether there is such a document. Else it could not be told, and counts as one.
    pub certain: bool,
}

/// Reasons why documents that `from` takes might not be taken by `to`, up to a number; none, if all are taken.
pub fn obstacles(from: &Value, to: &Value) -> Vec<Obstacle> {
    compare(from, to).0
}

/// The obstacles, and for each that is certain a document that shows it.
fn compare(from: &Value, to: &Value) -> (Vec<Obstacle>, Vec<Rc<Value>>) {
    let mut claims = Claims::new();
    let (from, to) = (read::read(&mut claims, from), read::read(&mut claims, to));
    if from == to {
        return (Vec::new(), Vec::new());
    }
    if claims.has_cycle() {
        let message = "a schema that refers to itself on the spot cannot be compared".into();
        return (vec![Obstacle { path: String::new(), message, certain: false }], Vec::new());
    }
    let mut search = DocumentSearch::new(claims, MAX_STEPS);
    let answer = search.find(&[from, !to]);
    let explanation = Explanation::new(&mut search, from, to);
    match answer {
        SearchAnswer::Nothing => (explanation.of_emptiness(), Vec::new()),
        SearchAnswer::Unknown => explanation.of_difference(None),
        SearchAnswer::Document(document) => explanation.of_difference(Some(document)),
    }
}
