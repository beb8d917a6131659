//! One message: a request, a notification or a response.

use super::error::{RpcError, RpcErrorCode};
use super::params::RpcParams;
use crate::json_object::JsonObject;
use crate::json_size::{MAX_VALUES, values};
use serde_json::{Map, Number, Value};
use std::fmt;

#[derive(Clone, Debug, PartialEq)]
pub enum RpcMessage {
    Request(RpcRequest),
    Notification(RpcNotification),
    Response(RpcResponse),
}

/// A message that asks for a response.
#[derive(Clone, Debug, PartialEq)]
pub struct RpcRequest {
    pub id: RpcId,
    pub method: String,
    pub params: RpcParams,
}

/// A message that asks for no response.
#[derive(Clone, Debug, PartialEq)]
pub struct RpcNotification {
    pub method: String,
    pub params: RpcParams,
}

#[derive(Clone, Debug, PartialEq)]
pub struct RpcResponse {
    /// The request's id. None, if the receiver could not read one in the request.
    pub id: Option<RpcId>,
    /// The result as JSON text, or the error.
    pub outcome: Result<String, RpcError>,
}

/// The id that ties a response to its request: a text or a whole number. `Display` writes the id as JSON.
#[derive(Clone, Debug, PartialEq)]
pub enum RpcId {
    Number(Number),
    Text(String),
}

/// A body that holds no message.
#[derive(Debug, PartialEq)]
pub struct UnreadableMessage {
    pub error: RpcError,
    /// The id in the body, if one could be read.
    pub id: Option<RpcId>,
}

impl RpcId {
    pub(super) fn read(id: Value) -> Option<Self> {
        match id {
            Value::String(text) => Some(Self::Text(text)),
            Value::Number(number) if !number.is_f64() => Some(Self::Number(number)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }
}

impl fmt::Display for RpcId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => Value::from(text.as_str()).fmt(f),
        }
    }
}

impl RpcMessage {
    /// Reads the one message in `body`. A body with too many values is refused before it is parsed.
    pub fn read(body: &[u8]) -> Result<Self, UnreadableMessage> {
        let unreadable = |code, text: &str| UnreadableMessage { error: RpcError::new(code, text), id: None };
        let invalid = |text: &str| unreadable(RpcErrorCode::INVALID_REQUEST, text);
        if values(body) > MAX_VALUES {
            return Err(invalid(&format!("The message holds more than {MAX_VALUES} values")));
        }
        let body =
            std::str::from_utf8(body).map_err(|_| unreadable(RpcErrorCode::PARSE_ERROR, "The body is not UTF-8"))?;
        let message = serde_json::from_str(body)
            .map_err(|cause| unreadable(RpcErrorCode::PARSE_ERROR, &format!("The body is not JSON: {cause}")))?;
        match message {
            Value::Object(fields) => Self::read_fields(fields),
            Value::Array(_) => Err(invalid("Batches are not supported: send one message at a time")),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                Err(invalid("A message is a JSON object"))
            }
        }
    }

    /// The id of the request in `body`, for a refusal of which the rest of the message is no matter.
    pub fn id_in(body: &[u8]) -> Option<RpcId> {
        match Self::read(body) {
            Ok(Self::Request(request)) => Some(request.id),
            Ok(Self::Notification(_) | Self::Response(_)) => None,
            Err(unreadable) => unreadable.id,
        }
    }

    fn read_fields(mut fields: Map<String, Value>) -> Result<Self, UnreadableMessage> {
        let given_id = fields.remove("id");
        let has_id = given_id.is_some();
        let id = given_id.and_then(RpcId::read);
        let invalid = |text: &str, id: Option<RpcId>| {
            Err(UnreadableMessage { error: RpcError::new(RpcErrorCode::INVALID_REQUEST, text), id })
        };
        if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return invalid("jsonrpc must be \"2.0\"", id);
        }
        let method = match (fields.remove("method"), fields.remove("error"), fields.remove("result")) {
            (Some(Value::String(method)), _, _) => method,
            (None, Some(error), _) => {
                return Ok(Self::Response(RpcResponse { id, outcome: Err(RpcError::read(&error)) }));
            }
            (None, None, Some(result)) => {
                return Ok(Self::Response(RpcResponse { id, outcome: Ok(result.to_string()) }));
            }
            (Some(_), _, _) | (None, None, None) => return invalid("method must be a text", id),
        };
        let params = match fields.remove("params") {
            None | Some(Value::Null) => RpcParams::default(),
            Some(Value::Object(params)) => RpcParams(params),
            Some(_) => return invalid("params must be an object", id),
        };
        match (has_id, id) {
            (false, _) => Ok(Self::Notification(RpcNotification { method, params })),
            (true, Some(id)) => Ok(Self::Request(RpcRequest { id, method, params })),
            (true, None) => invalid("id must be a text or a whole number", None),
        }
    }

    pub fn write(&self) -> String {
        let mut message = JsonObject::new();
        message.text("jsonrpc", "2.0");
        match self {
            Self::Request(request) => {
                message.put("id", &request.id.to_string());
                write_call(&request.method, &request.params, &mut message);
            }
            Self::Notification(notification) => {
                write_call(&notification.method, &notification.params, &mut message);
            }
            Self::Response(response) => {
                if let Some(id) = &response.id {
                    message.put("id", &id.to_string());
                }
                match &response.outcome {
                    Ok(result) => message.put("result", result),
                    Err(error) => message.put("error", &error.write()),
                }
            }
        }
        message.finish()
    }
}

fn write_call(method: &str, params: &RpcParams, message: &mut JsonObject) {
    message.text("method", method);
    if !params.0.is_empty() {
        message.put("params", &JsonObject::of(&params.0).finish());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn text_id(text: &str) -> Option<RpcId> {
        Some(RpcId::Text(text.to_owned()))
    }

    fn number_id(number: i64) -> Option<RpcId> {
        Some(RpcId::Number(number.into()))
    }

    #[track_caller]
    fn refused(body: &str, code: RpcErrorCode, id: Option<RpcId>) {
        let unreadable = RpcMessage::read(body.as_bytes()).unwrap_err();
        assert_eq!((unreadable.error.code, unreadable.id), (code, id), "{body}");
    }

    #[test]
    fn what_is_no_message_is_refused_under_its_id() {
        let (parse, invalid) = (RpcErrorCode::PARSE_ERROR, RpcErrorCode::INVALID_REQUEST);
        refused("", parse, None);
        refused("{", parse, None);
        refused(r#"{"jsonrpc":"2.0","id":1,"method":"ping"} x"#, parse, None);
        refused("7", invalid, None);
        refused("[]", invalid, None);
        refused(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, invalid, None);
        refused(r#"{"id":1,"method":"ping"}"#, invalid, number_id(1));
        refused(r#"{"jsonrpc":"1.0","id":"a","method":"ping"}"#, invalid, text_id("a"));
        refused(r#"{"jsonrpc":"2.0","id":1,"method":7}"#, invalid, number_id(1));
        refused(r#"{"jsonrpc":"2.0","id":1}"#, invalid, number_id(1));
        refused(r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#, invalid, number_id(1));
        for id in ["null", "1.5", "{}", "[1]", "true"] {
            refused(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#), invalid, None);
        }
        assert_eq!(RpcMessage::read(b"\"\xff\"").unwrap_err().error.code, parse);
    }

    #[test]
    fn too_many_values_are_refused_before_they_are_read() {
        let numbers = "0,".repeat(300_000);
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":[{numbers}0]}}}}"#);
        refused(&body, RpcErrorCode::INVALID_REQUEST, None);
    }

    #[test]
    fn requests_notifications_and_responses_are_told_apart() {
        let of = |body: &str| RpcMessage::read(body.as_bytes()).unwrap();
        let RpcMessage::Request(request) = of(r#"{"jsonrpc":"2.0","id":"x","method":"ping"}"#) else { unreachable!() };
        assert_eq!((Some(request.id), request.method.as_str()), (text_id("x"), "ping"));
        assert!(matches!(of(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#), RpcMessage::Notification(_)));
        assert!(matches!(of(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#), RpcMessage::Response(_)));
        assert!(matches!(of(r#"{"jsonrpc":"2.0","id":1,"error":{}}"#), RpcMessage::Response(_)));
    }

    #[test]
    fn an_incomplete_error_is_an_internal_error() {
        let body = br#"{"jsonrpc":"2.0","id":null,"error":{"message":"no"}}"#;
        let error = RpcError::new(RpcErrorCode::INTERNAL_ERROR, "no");
        assert_eq!(RpcMessage::read(body), Ok(RpcMessage::Response(RpcResponse { id: None, outcome: Err(error) })));
    }

    #[test]
    fn what_is_written_is_read_again() {
        let params = RpcParams(json!({"a\"b": [1, null], "_meta": {"x": 1.5}}).as_object().unwrap().clone());
        let error = RpcError { code: RpcErrorCode(-32099), message: "n\"o".into(), data: Some(r#"{"x":1}"#.into()) };
        let method = || "tools/call".to_owned();
        for message in [
            RpcMessage::Request(RpcRequest { id: RpcId::Number(u64::MAX.into()), method: method(), params }),
            RpcMessage::Request(RpcRequest {
                id: RpcId::Text("ä\"".into()),
                method: method(),
                params: RpcParams::default(),
            }),
            RpcMessage::Notification(RpcNotification { method: method(), params: RpcParams::default() }),
            RpcMessage::Response(RpcResponse { id: number_id(-7), outcome: Ok(r#"{"a":[1.0]}"#.into()) }),
            RpcMessage::Response(RpcResponse { id: text_id("x"), outcome: Err(error.clone()) }),
            RpcMessage::Response(RpcResponse { id: None, outcome: Err(error) }),
        ] {
            let text = message.write();
            assert_eq!(RpcMessage::read(text.as_bytes()), Ok(message), "{text}");
        }
    }

    #[test]
    fn responses_are_json() {
        let written = |id, outcome| RpcMessage::Response(RpcResponse { id, outcome }).write();
        assert_eq!(
            written(text_id("x\"y"), Ok(r#"{"a":1,"b":{"c":[1.0]}}"#.into())),
            r#"{"jsonrpc":"2.0","id":"x\"y","result":{"a":1,"b":{"c":[1.0]}}}"#
        );
        assert_eq!(written(number_id(7), Ok("{}".into())), r#"{"jsonrpc":"2.0","id":7,"result":{}}"#);
        let data = JsonObject::of(json!({"x": 1}).as_object().unwrap());
        let error = RpcError::new(RpcErrorCode::METHOD_NOT_FOUND, "no").with_data(data);
        assert_eq!(
            written(number_id(7), Err(error.clone())),
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"no","data":{"x":1}}}"#
        );
        assert_eq!(written(None, Err(error)).find("\"id\""), None);
    }
}
