//! The exported names of properties. Every provider takes `^[a-zA-Z0-9_.-]{1,64}$`. A name that does not fit is
//! exported with `_` for each character that does not fit, and with a hash. The stored schema is enough to map a name
//! both ways.

use super::names::digits;
use crate::registry::is_key;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// How many characters of a name that does not fit are kept.
const KEPT: usize = 40;
const MARK: &str = "_H";
const DIGITS: usize = 8;

/// The exported name of a property.
pub fn exported(key: &str) -> Cow<'_, str> {
    if is_key(key) {
        return Cow::Borrowed(key);
    }
    let plain = |it: char| if it.is_ascii_alphanumeric() || "_.-".contains(it) { it } else { '_' };
    let mut name = key.chars().take(KEPT).map(plain).collect::<String>();
    name.push_str(MARK);
    name.extend(digits(key, DIGITS));
    Cow::Owned(name)
}

/// Whether the name may be an exported name that differs from the property's own.
pub fn may_be_exported(name: &str) -> bool {
    let end = name.len().checked_sub(DIGITS);
    end.and_then(|it| name.get(..it)).is_some_and(|it| it.ends_with(MARK))
}

/// The exported name of a property. None, if a sibling has this name as its own.
pub fn exported_beside<'a>(key: &'a str, siblings: &Map<String, Value>) -> Option<Cow<'a, str>> {
    let name = exported(key);
    (name == key || !siblings.contains_key(&*name)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_name_that_fits_stays() {
        for key in ["a", "user.name", "X-Request-Id", &"x".repeat(64)] {
            assert_eq!(exported(key), key);
            assert!(!may_be_exported(key));
        }
    }

    #[test]
    fn another_fits_and_stays_recognisable() {
        for (key, expected) in [
            ("first name", "first_name_H"),
            ("größe", "gr__e_H"),
            ("$filter", "_filter_H"),
            ("", "_H"),
            ("日本", "___H"),
        ] {
            let name = exported(key);
            assert!(name.starts_with(expected) && is_key(&name) && may_be_exported(&name), "{key}: {name}");
        }
        let (one, two) = (exported(&"x".repeat(65)).into_owned(), exported(&"x".repeat(66)).into_owned());
        assert!(is_key(&one) && one != two);
        assert_ne!(exported("a b"), exported("a/b"));
    }

    #[test]
    fn a_sibling_keeps_its_name() {
        let name = exported("a b").into_owned();
        let siblings = json!({"a b": {}, name.as_str(): {}});
        let siblings = siblings.as_object().unwrap();
        assert_eq!(exported_beside("a b", siblings), None);
        assert_eq!(exported_beside(&name, siblings).as_deref(), Some(name.as_str()));
    }
}
