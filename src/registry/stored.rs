//! How columns store the fields of a version: lists and handlers as JSON text, booleans as 0 and 1, other fields
//! unchanged.

use super::tool::{DeactivationReason, ExecutionMode, ResourceClass, Risk, RollbackStrategy};
use crate::callers::Level;
use crate::ids::{ToolId, Version};
use crate::time::Timestamp;
use serde::de::{DeserializeOwned, Deserializer, Error, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::fmt;
use std::marker::PhantomData;

/// How a response shows the JSON that D1 returns for a column.
pub enum ShownAs {
    /// The same JSON.
    Unchanged,
    /// `false` for 0, and `true` for 1.
    Boolean,
    /// The JSON that the text contains.
    JsonOfText,
}

/// A type that a column can hold.
pub trait ColumnValue: Sized {
    const SHOWN_AS: ShownAs;

    fn read<'de, D: Deserializer<'de>>(column: D) -> Result<Self, D::Error>;

    /// The value for the column, in the JSON array that a statement takes its rows from.
    fn written(&self) -> serde_json::Result<Value>;
}

/// [`ColumnValue::read`], for `deserialize_with`.
pub fn read<'de, D: Deserializer<'de>, T: ColumnValue>(column: D) -> Result<T, D::Error> {
    T::read(column)
}

/// Reads a list from a column that is null if the list is empty.
pub fn read_list<'de, D: Deserializer<'de>>(column: D) -> Result<Vec<String>, D::Error> {
    match Option::<String>::deserialize(column)? {
        Some(text) => serde_json::from_str(&text).map_err(D::Error::custom),
        None => Ok(Vec::new()),
    }
}

/// Reads a value from a column of JSON that may be null.
pub fn read_optional_json<'de, D: Deserializer<'de>, T: DeserializeOwned>(column: D) -> Result<Option<T>, D::Error> {
    let text = Option::<String>::deserialize(column)?;
    text.map(|it| serde_json::from_str(&it).map_err(D::Error::custom)).transpose()
}

pub fn read_id<'de, D: Deserializer<'de>>(column: D) -> Result<ToolId, D::Error> {
    column.deserialize_str(CheckedText("the id of a tool", ToolId::parse))
}

pub fn read_version<'de, D: Deserializer<'de>>(column: D) -> Result<Version, D::Error> {
    column.deserialize_str(CheckedText("a version", Version::parse))
}

/// Declares types that columns hold unchanged.
macro_rules! stored_as_they_are {
    ($($type:ty),+ $(,)?) => {
        $(impl ColumnValue for $type {
            const SHOWN_AS: ShownAs = ShownAs::Unchanged;

            fn read<'de, D: Deserializer<'de>>(column: D) -> Result<Self, D::Error> {
                Self::deserialize(column)
            }

            fn written(&self) -> serde_json::Result<Value> {
                serde_json::to_value(self)
            }
        })+
    };
}

stored_as_they_are! {
    u32, Option<u32>, String, Option<String>, Timestamp, Option<Timestamp>,
    Risk, Level, ExecutionMode, ResourceClass, RollbackStrategy, Option<DeactivationReason>,
}

impl ColumnValue for bool {
    const SHOWN_AS: ShownAs = ShownAs::Boolean;

    fn read<'de, D: Deserializer<'de>>(column: D) -> Result<Self, D::Error> {
        Ok(u8::deserialize(column)? != 0)
    }

    fn written(&self) -> serde_json::Result<Value> {
        Ok(json!(*self))
    }
}

impl<T: DeserializeOwned + Serialize> ColumnValue for Vec<T> {
    const SHOWN_AS: ShownAs = ShownAs::JsonOfText;

    fn read<'de, D: Deserializer<'de>>(column: D) -> Result<Self, D::Error> {
        column.deserialize_str(JsonText(PhantomData))
    }

    fn written(&self) -> serde_json::Result<Value> {
        serde_json::to_string(self).map(Value::String)
    }
}

impl ColumnValue for Box<RawValue> {
    const SHOWN_AS: ShownAs = ShownAs::JsonOfText;

    fn read<'de, D: Deserializer<'de>>(column: D) -> Result<Self, D::Error> {
        column.deserialize_str(JsonText(PhantomData))
    }

    fn written(&self) -> serde_json::Result<Value> {
        Ok(Value::from(self.get()))
    }
}

/// Parses JSON text straight from the row, without a copy of the text.
struct JsonText<T>(PhantomData<T>);

impl<T: DeserializeOwned> Visitor<'_> for JsonText<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON in a text")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        serde_json::from_str(text).map_err(E::custom)
    }
}

/// Parses a text with the given function. The first field names the expected text in error messages.
struct CheckedText<T>(&'static str, fn(&str) -> Option<T>);

impl<T> Visitor<'_> for CheckedText<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        self.1(text).ok_or_else(|| E::custom(format_args!("{text} is not {}", self.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        #[track_caller]
        fn check<T: ColumnValue + fmt::Debug>(value: T, in_column: Value) {
            let shown = format!("{value:?}");
            let written = value.written().unwrap();
            assert_eq!(written, in_column);
            assert_eq!(format!("{:?}", T::read(written).unwrap()), shown);
        }
        check(Some(5_u32), json!(5));
        check(None::<u32>, Value::Null);
        check(Risk::High, json!("high"));
        check(vec!["a".to_owned()], json!(r#"["a"]"#));
        check(RawValue::from_string(r#"{"b": 1}"#.to_owned()).unwrap(), json!(r#"{"b": 1}"#));
        // SQLite stores a boolean as a number.
        assert_eq!(true.written().unwrap(), json!(true));
        assert!(bool::read(json!(1)).unwrap() && !bool::read(json!(0)).unwrap());
    }

    #[test]
    fn what_is_broken_is_an_error() {
        assert!(<Vec<String> as ColumnValue>::read(json!("[")).is_err());
        assert!(Risk::read(json!("none")).is_err());
        assert!(read_id(json!("a b")).is_err() && read_version(json!("1")).is_err());
        assert_eq!(read_list(Value::Null).unwrap(), Vec::<String>::new());
    }
}
