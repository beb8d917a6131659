//! Compares two JSON Schemas: is every document that is valid under `from` also valid under `to`?
//!
//! # The three answers
//!
//! - Every document of `from` is valid under `to`: [`obstacles`] returns none.
//! - A document is valid under `from` and not under `to`. The comparison has found such a document. Each obstacle that
//!   a document shows is `certain`.
//! - Neither was found within the bounds. The comparison returns an obstacle that is not `certain`.
//!
//! The comparison errs on one side only. It never calls schemas compatible without a proof, and it never calls an
//! obstacle certain without a document. In doubt it reports an obstacle, and the author must raise the version further
//! than strictly necessary.
//!
//! # The method
//!
//! 1. [`closed`] prepares a schema of a version: an object schema that describes its fields takes no other fields.
//! 2. [`read`] turns both schemas into [`claims`]. A claim is a fact about a value, all of several claims, or the
//!    opposite of a claim. Equal claims are stored once. So common parts of the schemas are recognised as the same
//!    claim.
//! 3. [`search`] looks for a document for which the claim `from` is true and the claim `to` is false. It tries each
//!    kind of value, then each alternative, and builds the value from the facts that remain. If every way ends in a
//!    contradiction, no such document exists, and that is the proof.
//! 4. [`holds`] evaluates a claim for a document. The search checks every document that it builds before it returns
//!    the document.
//! 5. [`explain`] follows the difference down to single keywords, and [`wording`] names them. Each step searches again,
//!    for a document that contradicts this one keyword.
//!
//! A `from` that no document fits would be compatible with everything. Its author hardly meant that, so the
//! comparison reports an obstacle that is not certain.
//!
//! # The approximations
//!
//! Each of these leads to "cannot be decided", never to a wrong answer.
//!
//! - Work, depth and sizes have limits. They are constants in the files that use them.
//! - A keyword that [`read`] does not understand is an opaque claim, which is neither true nor false of a document:
//!   `unevaluatedItems`, `$dynamicRef`, `dependencies`, `additionalItems`, and references that leave the schema, name
//!   an `$anchor` or may be relative to an inner `$id`. So is `unevaluatedProperties` beside patterns that apply only
//!   under a condition. Two opaque claims are equal only if their whole schemas are equal and hold no reference.
//! - Patterns are the same only if their texts are the same. The search tests some guessed texts against a pattern, and
//!   failed guesses prove nothing.
//! - Fields under new names are tried with a few names if patterns tell names apart.
//! - Different elements of a list (`uniqueItems`) are chosen one after the other. A bad choice is not taken back.
//! - Numbers with a fraction are tried at some places between their bounds. Whole numbers, bounds and decimal multiples
//!   are exact.
//! - `contains` with counts is only checked, not used to build a list.
//! - A schema that refers to itself for the same value means nothing, and is not compared.
//!
//! Annotations, `format` among them, are not compared: the validator does not check them either.
//!
//! # Where to find what
//!
//! | file | idea |
//! |---|---|
//! | `close` | which fields an object may have, when versions are compared |
//! | `claims` | the data structure: kinds of values, facts, claims and their opposites |
//! | `read`, `unevaluated` | each keyword as claims |
//! | `search` | branches, choices, recursion, and the budget of steps |
//! | `number`, `text`, `list`, `object` | building one value of a kind from facts |
//! | `numbers` | exact arithmetic on JSON numbers |
//! | `patterns` | regular expressions, as the validator runs them |
//! | `holds` | whether a claim is true of a document |
//! | `explain`, `wording` | obstacles for a person |
//! | `tests` | each keyword in both directions |
//! | `oracle` | random pairs of schemas, checked against the validator |

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

/// How many steps a comparison may take.
const MAX_STEPS: usize = 100_000;

/// One reason why a document that fits the one schema might not fit the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Obstacle {
    /// The place in a document: a JSON pointer, with `*` for any element or any other field. Empty for the document
    /// itself.
    pub path: String,
    /// The reason, for a person.
    pub message: String,
    /// Whether such a document was found. Otherwise the comparison could not decide, and this counts as an obstacle.
    pub certain: bool,
}

/// Reasons why a document that fits `from` might not fit `to`, up to a limit. None if every document that fits `from`
/// also fits `to`.
pub fn obstacles(from: &Value, to: &Value) -> Vec<Obstacle> {
    compare(from, to).0
}

/// The obstacles, and a document for each that is certain.
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
