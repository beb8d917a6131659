//! One JSON-RPC message. Only its outermost fields are read; their values are passed on as they came, to the last digit.

use serde::de::{Error as _, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use std::fmt;

#[derive(Clone, Debug)]
pub struct Message(Vec<(String, Box<RawValue>)>);

#[derive(Debug, PartialEq)]
pub enum MessageKind {
    Request {
        method: String,
    },
    Notification {
        method: String,
    },
    /// With a result or an error.
    Response,
}

impl Message {
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(bytes).map_err(|cause| cause.to_string())
    }

    /// A request that gets its id later, or a notification.
    pub fn new(method: &str, params: &Value) -> Self {
        Self::of_fields([("method", raw(&method)), ("params", raw(params))])
    }

    pub fn result(id: &RawValue, result: &RawValue) -> Self {
        Self::of_fields([("id", id.to_owned()), ("result", result.to_owned())])
    }

    /// An error; without an id, the request could not be read.
    pub fn error(id: Option<&RawValue>, code: i64, words: &str, data: &Value) -> Self {
        let mut error = json!({"code": code, "message": words});
        if !data.is_null() {
            error["data"] = data.clone();
        }
        // The id is never read as a number, which might be larger than all that Rust knows.
        let id = id.map(ToOwned::to_owned).unwrap_or_default();
        Self::of_fields([("id", id), ("error", raw(&error))])
    }

    fn of_fields<const N: usize>(fields: [(&str, Box<RawValue>); N]) -> Self {
        let fields = [("jsonrpc", raw(&"2.0"))].into_iter().chain(fields);
        Self(fields.map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// None, if it is no message of JSON-RPC 2.0.
    pub fn kind(&self) -> Option<MessageKind> {
        let method = self.get("method").map(read::<String>);
        match (method, self.id()) {
            (Some(method), Some(_)) => Some(MessageKind::Request { method: method? }),
            (Some(method), None) if self.get("id").is_none() => Some(MessageKind::Notification { method: method? }),
            (None, Some(_)) if self.get("result").is_some() != self.get("error").is_some() => {
                Some(MessageKind::Response)
            }
            _ => None,
        }
    }

    pub fn get(&self, name: &str) -> Option<&RawValue> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| &**value)
    }

    /// The id, if it is a string or a number.
    pub fn id(&self) -> Option<&RawValue> {
        self.get("id")
            .filter(|it| it.get().starts_with(|first: char| first == '"' || first == '-' || first.is_ascii_digit()))
    }

    /// The same message with another id.
    pub fn with_id(mut self, id: Box<RawValue>) -> Self {
        match self.0.iter_mut().find(|(name, _)| name == "id") {
            Some((_, old)) => *old = id,
            None => self.0.push(("id".to_owned(), id)),
        }
        self
    }

    /// The message as one line. Values that came with line breaks of their own are written anew.
    pub fn to_line(&self) -> Option<Vec<u8>> {
        let mut line = serde_json::to_vec(self).ok()?;
        if line.contains(&b'\n') || line.contains(&b'\r') {
            // Outside of strings, a line break is white space; inside, JSON does not allow it.
            line.retain(|byte| !matches!(byte, b'\n' | b'\r'));
        }
        line.push(b'\n');
        Some(line)
    }
}

/// A raw value as a value of a type.
pub fn read<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Option<T> {
    serde_json::from_str(raw.get()).ok()
}

/// A value as JSON. Only for values that are always JSON: texts, numbers, JSON itself.
pub fn raw(value: &impl Serialize) -> Box<RawValue> {
    to_raw_value(value).unwrap_or_default()
}

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Message;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("one JSON-RPC message")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Message, A::Error> {
                let mut fields: Vec<(String, Box<RawValue>)> = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, Box<RawValue>>()? {
                    // Two readers might take different ones of two values.
                    if fields.iter().any(|(known, _)| *known == name) {
                        return Err(A::Error::custom(format!("the field {name:?} comes twice")));
                    }
                    if fields.len() == MAX_FIELDS {
                        return Err(A::Error::custom("a message has few fields"));
                    }
                    fields.push((name, value));
                }
                Ok(Message(fields))
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

const MAX_FIELDS: usize = 32;

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Message, String> {
        Message::parse(text.as_bytes())
    }

    #[test]
    fn kinds_are_told_apart() {
        let kind = |text: &str| parse(text).unwrap().kind();
        assert_eq!(kind(r#"{"id":1,"method":"a"}"#), Some(MessageKind::Request { method: "a".into() }));
        assert_eq!(kind(r#"{"method":"a","params":{}}"#), Some(MessageKind::Notification { method: "a".into() }));
        assert_eq!(kind(r#"{"id":"x","result":null}"#), Some(MessageKind::Response));
        for none in
            [r#"{}"#, r#"{"id":null,"method":"a"}"#, r#"{"id":1}"#, r#"{"id":1,"method":7}"#, r#"{"id":{},"result":1}"#]
        {
            assert_eq!(kind(none), None, "{none}");
        }
    }

    #[test]
    fn values_pass_unchanged_and_the_id_is_replaced() {
        let message =
            parse("{\"jsonrpc\":\"2.0\",\"id\":\"a\",\n \"result\":{\"n\":1.50e400,\r\n\"t\":\"a\\nb\"}}").unwrap();
        let line = message.with_id(raw(&7)).to_line().unwrap();
        assert_eq!(line, b"{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"n\":1.50e400,\"t\":\"a\\nb\"}}\n");
    }

    #[test]
    fn an_id_may_be_a_number_that_nobody_can_hold() {
        let message = parse(r#"{"id":1e999,"method":"a"}"#).unwrap();
        let error = Message::error(message.id(), -1, "no", &Value::Null).to_line().unwrap();
        assert_eq!(error, b"{\"jsonrpc\":\"2.0\",\"id\":1e999,\"error\":{\"code\":-1,\"message\":\"no\"}}\n");
    }

    #[test]
    fn what_is_no_single_message_is_refused() {
        for bad in ["[]", "1", "", "{", r#"{"id":1,"id":2}"#, "{\"a\":\"\u{1}\"}"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
        // Depth costs no stack.
        let deep = format!(r#"{{"id":1,"result":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(parse(&deep).unwrap().kind(), Some(MessageKind::Response));
    }
}
