//! JSON that is passed on unchanged. It is checked to be JSON that every reader accepts, but it is not parsed into
//! values: values would cost memory, and large numbers would lose digits.

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// Checks the JSON. A `RawValue` alone may still hold half a surrogate pair, a number beyond all floats, or endless
/// nesting. The check adds some nesting, because readers will meet the value inside our response, and inside their own
/// documents.
pub fn check(value: &RawValue) -> serde_json::Result<()> {
    serde_json::from_str::<Checked>(&format!("[[[[{}]]]]", value.get())).map(|_| ())
}

struct Checked;

impl<'de> Deserialize<'de> for Checked {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Checked)
    }
}

impl<'de> Visitor<'de> for Checked {
    type Value = Self;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E: Error>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Checked>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self, A::Error> {
        while entries.next_entry::<Checked, Checked>()?.is_some() {}
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good(text: &str) -> bool {
        serde_json::from_str::<Box<RawValue>>(text).is_ok_and(|value| check(&value).is_ok())
    }

    #[test]
    fn what_every_reader_takes_is_good() {
        for text in
            ["null", "true", "-1", "1e300", "123456789012345678901234567890", r#""😀""#, "[[],{}]", r#"{"a":[1]}"#]
        {
            assert!(good(text), "{text}");
        }
        assert!(good(&format!("{}{}", "[".repeat(120), "]".repeat(120))));
    }

    #[test]
    fn what_some_reader_chokes_on_is_not() {
        for text in ["", "nul", "[1,]", "1e999", r#""\ud800""#, r#"{"\udc00":1}"#, "NaN", "1 2"] {
            assert!(!good(text), "{text}");
        }
        assert!(!good(&format!("{}{}", "[".repeat(100_000), "]".repeat(100_000))));
    }
}
