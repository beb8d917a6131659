//! Fields of a request's body that only responses have. A body may repeat what a response has shown, so that a thing
//! can be read, changed and sent back as it is.

use crate::error::{Error, Place, Problem, Result};
use serde::Serialize;
use serde_json::{Map, Value};

/// The read-only fields of one body.
#[derive(Debug, Default)]
pub struct ReadOnly(Map<String, Value>);

impl ReadOnly {
    /// `null` means absent, as everywhere.
    pub fn new(fields: Map<String, Value>) -> Self {
        Self(fields.into_iter().filter(|(_, value)| !value.is_null()).collect())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A field that is a text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    /// A problem for each field that is equal in none of the things `shown`: the thing as it is now, and as the request
    /// makes it.
    pub fn problems(&self, shown: &[Value]) -> Vec<Problem> {
        let differs = |(name, value): &(&String, &Value)| {
            !shown.iter().filter_map(|it| it.get(name.as_str())).any(|it| is_same(it, value))
        };
        let problem = |(name, _): (&String, &Value)| Problem {
            place: Place::Body,
            path: format!("/{name}"),
            message: "is read-only, and differs from what there is: leave it out".to_owned(),
        };
        self.0.iter().filter(differs).map(problem).collect()
    }

    /// Fails if a field differs.
    pub fn check(&self, shown: &[Value]) -> Result<()> {
        match self.problems(shown) {
            problems if problems.is_empty() => Ok(()),
            problems => Err(Error::Invalid(problems)),
        }
    }
}

/// A thing as JSON, to be compared.
pub fn shown(thing: &impl Serialize) -> Result<Value> {
    serde_json::to_value(thing).map_err(|cause| Error::Internal(format!("an answer is not JSON: {cause}")))
}

/// Whether a given value is the shown one. A schema is shown as a text or as an object.
fn is_same(shown: &Value, given: &Value) -> bool {
    match (shown, given) {
        (Value::String(text), Value::Object(_)) => {
            serde_json::from_str::<Value>(text).is_ok_and(|object| object == *given)
        }
        (shown, given) => shown == given,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(given: Value, shown: &[Value], expected: &[&str]) {
        let Value::Object(fields) = given else { unreachable!("fields") };
        let problems = ReadOnly::new(fields).problems(shown);
        assert_eq!(problems.iter().map(|it| it.path.as_str()).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn equal_fields_are_ignored_and_others_are_named() {
        let now = json!({"id": "a", "active": false, "at": null, "schema": "{\"type\": \"object\"}"});
        let then = json!({"id": "a", "active": true});
        check(json!({}), &[], &[]);
        check(json!({"id": "a", "at": null}), std::slice::from_ref(&now), &[]);
        check(json!({"id": "a"}), &[], &["/id"]);
        check(json!({"id": "b", "active": true}), std::slice::from_ref(&now), &["/id", "/active"]);
        check(json!({"id": "a", "active": true}), &[now.clone(), then], &[]);
        check(json!({"schema": {"type": "object"}}), std::slice::from_ref(&now), &[]);
        check(json!({"schema": {"type": "array"}}), &[now], &["/schema"]);
    }
}
