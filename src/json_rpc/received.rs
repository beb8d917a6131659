//! A message as a client receives it. The result of a response can be long, so its text is not parsed here: whoever knows
//! what was asked for parses it, once.

use super::error::RpcError;
use super::message::{RpcId, RpcResponse};
use crate::json_size::{MAX_VALUES, values};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

#[derive(Clone, Debug, PartialEq)]
pub enum ReceivedMessage {
    Response(RpcResponse),
    /// The server asks the client for something. Its parameters are not read.
    Request {
        id: RpcId,
        method: String,
    },
    Notification,
}

#[derive(Deserialize)]
struct Fields<'a> {
    #[serde(default)]
    jsonrpc: Value,
    #[serde(default, deserialize_with = "given")]
    id: Option<Value>,
    method: Option<String>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<Value>,
}

/// A field that is null is there nevertheless.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl ReceivedMessage {
    /// Reads one message. Fails with the reason, which continues a sentence that begins with the message.
    pub fn read(text: &str) -> Result<Self, String> {
        if values(text.as_bytes()) > MAX_VALUES {
            return Err(format!("holds more than {MAX_VALUES} values"));
        }
        let fields = serde_json::from_str::<Fields<'_>>(text).map_err(|cause| format!("is not JSON-RPC: {cause}"))?;
        if fields.jsonrpc != "2.0" {
            return Err("is not JSON-RPC: jsonrpc must be \"2.0\"".to_owned());
        }
        let has_id = fields.id.is_some();
        let id = fields.id.and_then(RpcId::read);
        match (fields.method, fields.error, fields.result) {
            (Some(method), _, _) => match (has_id, id) {
                (false, _) => Ok(Self::Notification),
                (true, Some(id)) => Ok(Self::Request { id, method }),
                (true, None) => Err("is not JSON-RPC: id must be a text or a whole number".to_owned()),
            },
            (None, Some(error), _) => Ok(Self::Response(RpcResponse { id, outcome: Err(RpcError::read(&error)) })),
            (None, None, Some(result)) => Ok(Self::Response(RpcResponse { id, outcome: Ok(result.get().to_owned()) })),
            (None, None, None) => Err("is not JSON-RPC: there is neither a result nor an error".to_owned()),
        }
    }

    /// Reads the messages of a text that is one message, or a batch of them.
    pub fn read_batch(text: &str) -> Result<Vec<Self>, String> {
        if !text.trim_start().starts_with('[') {
            return Self::read(text).map(|it| vec![it]);
        }
        if values(text.as_bytes()) > MAX_VALUES {
            return Err(format!("holds more than {MAX_VALUES} values"));
        }
        let messages =
            serde_json::from_str::<Vec<&RawValue>>(text).map_err(|cause| format!("is not JSON-RPC: {cause}"))?;
        messages.into_iter().map(|it| Self::read(it.get())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json_rpc::RpcErrorCode;

    fn response(id: Option<RpcId>, outcome: Result<&str, RpcError>) -> ReceivedMessage {
        ReceivedMessage::Response(RpcResponse { id, outcome: outcome.map(str::to_owned) })
    }

    fn number(id: i64) -> RpcId {
        RpcId::Number(id.into())
    }

    #[test]
    fn a_result_keeps_its_text_to_the_letter() {
        let text = r#"{"jsonrpc":"2.0", "result": {"b" : 1.0, "a": "\u0041"}, "id": 7}"#;
        let expected = response(Some(number(7)), Ok(r#"{"b" : 1.0, "a": "\u0041"}"#));
        assert_eq!(ReceivedMessage::read(text), Ok(expected));
    }

    #[test]
    fn messages_are_told_apart() {
        let read = |text: &str| ReceivedMessage::read(text).unwrap();
        let error = RpcError::new(RpcErrorCode(-32000), "no");
        let refusal = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no"}}"#;
        assert_eq!(read(refusal), response(None, Err(error)));
        let ping = ReceivedMessage::Request { id: RpcId::Text("p".into()), method: "ping".into() };
        assert_eq!(read(r#"{"jsonrpc":"2.0","id":"p","method":"ping","params":{"a":[1]}}"#), ping);
        assert_eq!(read(r#"{"jsonrpc":"2.0","method":"notifications/message"}"#), ReceivedMessage::Notification);
    }

    #[test]
    fn what_is_no_message_is_refused() {
        for text in [
            "",
            "7",
            "{",
            "{}",
            "[]",
            r#"{"jsonrpc":"1.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":null}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}} x"#,
        ] {
            assert!(ReceivedMessage::read(text).is_err(), "{text}");
        }
        let many = format!(r#"{{"jsonrpc":"2.0","id":1,"result":[{}0]}}"#, "0,".repeat(300_000));
        assert!(ReceivedMessage::read(&many).unwrap_err().contains("values"));
    }

    #[test]
    fn a_batch_is_several_messages() {
        let text = r#" [{"jsonrpc":"2.0","method":"x"}, {"jsonrpc":"2.0","id":1,"result":{}}]"#;
        let expected = vec![ReceivedMessage::Notification, response(Some(number(1)), Ok("{}"))];
        assert_eq!(ReceivedMessage::read_batch(text), Ok(expected));
        assert!(ReceivedMessage::read_batch(r#"[{"jsonrpc":"2.0"}]"#).is_err());
    }
}
