//! The message for a fact that is an obstacle.

use super::claims::{ALL, ARRAY, BOOLEAN, BoundSide, FRACTION, Fact, Kinds, NULL, NUMBER, OBJECT, STRING, WHOLE};
use serde_json::Value;

/// The message for a fact that `to` claims, given the facts that `from` claimed before.
pub fn of(fact: &Fact, before: &[&Fact]) -> String {
    match fact {
        Fact::Kind(kinds) => format!("no longer takes {}", plural(ALL & !kinds)),
        Fact::OneOf(values) => {
            match before.iter().find_map(|it| if let Fact::OneOf(it) = it { Some(it) } else { None }) {
                Some(was) => format!("no longer takes {}", listed(was.iter().filter(|it| !values.contains(it)))),
                None => format!("must now be {}", listed(values.iter())),
            }
        }
        Fact::Bound { side, open, limit } => {
            let name = match (side, open) {
                (BoundSide::Least, false) => "minimum",
                (BoundSide::Least, true) => "exclusive minimum",
                (BoundSide::Most, false) => "maximum",
                (BoundSide::Most, true) => "exclusive maximum",
            };
            let was = before.iter().find_map(|it| match it {
                Fact::Bound { side: a, open: b, limit } if (a, b) == (side, open) => Some(limit.to_string()),
                _ => None,
            });
            went(name, was, &limit.to_string())
        }
        Fact::Size { of, side, limit } => {
            let name = match (*of, side) {
                (STRING, BoundSide::Least) => "minimum length",
                (STRING, BoundSide::Most) => "maximum length",
                (ARRAY, BoundSide::Least) => "minimum number of elements",
                (ARRAY, BoundSide::Most) => "maximum number of elements",
                (_, BoundSide::Least) => "minimum number of fields",
                (_, BoundSide::Most) => "maximum number of fields",
            };
            let was = before.iter().find_map(|it| match it {
                Fact::Size { of: a, side: b, limit } if (a, b) == (of, side) => Some(limit.to_string()),
                _ => None,
            });
            went(name, was, &limit.to_string())
        }
        Fact::MultipleOf(of) => format!("must now be a multiple of {of}"),
        Fact::Pattern(pattern) => format!("must now fit the pattern `{pattern}`"),
        Fact::Unique => "its elements must now all be different".into(),
        Fact::Contains { .. } => "must now contain other elements than before".into(),
        Fact::Required(name) => format!("`{name}` is now required"),
        Fact::Field(name, _) => format!("`{name}` is no longer taken"),
        Fact::Names(_) => "no longer takes all names of fields".into(),
        Fact::Item(..) | Fact::Items(..) => "no longer takes all elements".into(),
        Fact::Matching(pattern, _) => format!("no longer takes fields whose name fits `{pattern}`"),
        Fact::Others { .. } => "no longer takes fields that it does not describe".into(),
        Fact::Opaque(what, _) => format!("`{what}` is not compared"),
    }
}

fn went(name: &str, was: Option<String>, is: &str) -> String {
    match was {
        Some(was) => format!("the {name} went from {was} to {is}"),
        None if name.starts_with('e') => format!("now has an {name} of {is}"),
        None => format!("now has a {name} of {is}"),
    }
}

fn plural(kinds: Kinds) -> &'static str {
    match kinds {
        NULL => "null",
        BOOLEAN => "booleans",
        WHOLE => "integers",
        FRACTION => "numbers with a fraction",
        NUMBER => "numbers",
        STRING => "strings",
        ARRAY => "arrays",
        OBJECT => "objects",
        _ => "some kinds of values",
    }
}

fn listed<'v>(values: impl Iterator<Item = &'v Value>) -> String {
    values.map(Value::to_string).collect::<Vec<_>>().join(", ")
}
