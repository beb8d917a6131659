//! JSON-RPC 2.0 as MCP has it: one message to a request, and what it is answered with.

use crate::json_size::{MAX_VALUES, values};
use serde_json::{Map, Value};

/// What went wrong, in the words of JSON-RPC and MCP.
#[derive(Debug, PartialEq)]
pub struct RpcError {
    pub kind: RpcErrorCode,
    pub message: String,
    /// What programs are told besides, as JSON.
    pub data: Option<String>,
}

/// The faults that there are, each with its code.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RpcErrorCode {
    Parse,
    InvalidRequest,
    /// The revision has no such method, or the server does not offer it.
    NoMethod,
    InvalidParams,
    Internal,
    /// The caller is not let in, or the endpoint is not there: `data.code` says it in the API's words.
    Refused,
    /// In 2025-11-25 alone; since then it is [`RpcErrorCode::InvalidParams`].
    NoResource,
    /// A header says something else than the body, or is missing.
    Headers,
    /// A revision that is not spoken here.
    Version,
}

impl RpcErrorCode {
    pub const fn code(self) -> i32 {
        match self {
            Self::Parse => -32700,
            Self::InvalidRequest => -32600,
            Self::NoMethod => -32601,
            Self::InvalidParams => -32602,
            Self::Internal => -32603,
            Self::Refused => -32000,
            Self::NoResource => -32002,
            Self::Headers => -32020,
            Self::Version => -32022,
        }
    }
}

impl RpcError {
    #[cold]
    #[inline(never)]
    pub fn new(kind: RpcErrorCode, message: &str) -> Self {
        Self { kind, message: message.to_owned(), data: None }
    }

    pub fn params(message: &str) -> Self {
        Self::new(RpcErrorCode::InvalidParams, message)
    }

    pub fn with(mut self, data: JsonObject) -> Self {
        self.data = Some(data.finish());
        self
    }

    /// The message that tells it. Without an id it answers something that had none that could be read.
    pub fn to_message(&self, id: Option<&Value>) -> String {
        let mut error = JsonObject::new();
        error.put("code", &self.kind.code().to_string());
        error.put("message", &Value::from(self.message.as_str()).to_string());
        if let Some(data) = &self.data {
            error.put("data", data);
        }
        let mut message = JsonObject::new();
        message.put("jsonrpc", "\"2.0\"");
        if let Some(id) = id {
            message.put("id", &id.to_string());
        }
        message.put("error", &error.finish());
        message.finish()
    }
}

pub type Result<T> = std::result::Result<T, RpcError>;

/// What a client sent.
#[derive(Debug)]
pub enum RpcMessage {
    Request(RpcRequest),
    Notification,
    /// To a request that was never made: none are, here.
    Response,
    /// What is none, with the id that it had, if it had one.
    Broken(RpcError, Option<Value>),
}

#[derive(Debug)]
pub struct RpcRequest {
    /// A text or a whole number.
    pub id: Value,
    pub method: String,
    pub params: RpcParams,
}

/// Reads one message.
pub fn read(body: &[u8]) -> RpcMessage {
    let broken = |kind, text: &str| RpcMessage::Broken(RpcError::new(kind, text), None);
    if values(body) > MAX_VALUES {
        return broken(RpcErrorCode::InvalidRequest, &format!("The message holds more than {MAX_VALUES} values"));
    }
    // As text: to read values from bytes too would be another reader in the bundle.
    let Ok(body) = std::str::from_utf8(body) else { return broken(RpcErrorCode::Parse, "The body is not UTF-8") };
    let mut message = match serde_json::from_str(body) {
        Ok(Value::Object(message)) => message,
        Ok(Value::Array(_)) => {
            return broken(RpcErrorCode::InvalidRequest, "Batches are not supported: send one message at a time");
        }
        Ok(_) => return broken(RpcErrorCode::InvalidRequest, "A message is a JSON object"),
        Err(cause) => return broken(RpcErrorCode::Parse, &format!("The body is not JSON: {cause}")),
    };
    let id = message.remove("id");
    let refuse =
        |text: &str| RpcMessage::Broken(RpcError::new(RpcErrorCode::InvalidRequest, text), id.clone().filter(is_id));
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return refuse("jsonrpc must be \"2.0\"");
    }
    let method = match message.remove("method") {
        Some(Value::String(method)) => method,
        None if message.contains_key("result") || message.contains_key("error") => return RpcMessage::Response,
        _ => return refuse("method must be a text"),
    };
    let params = match message.remove("params") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(params)) => params,
        Some(_) => return refuse("params must be an object"),
    };
    match id {
        None => RpcMessage::Notification,
        Some(id) if is_id(&id) => RpcMessage::Request(RpcRequest { id, method, params: RpcParams(params) }),
        Some(_) => refuse("id must be a text or a whole number"),
    }
}

fn is_id(id: &Value) -> bool {
    id.is_string() || id.is_i64() || id.is_u64()
}

/// What a request is about.
#[derive(Debug, Default)]
pub struct RpcParams(pub Map<String, Value>);

impl RpcParams {
    /// A text that must be there.
    pub fn text(&self, name: &str) -> Result<&str> {
        self.0
            .get(name)
            .and_then(Value::as_str)
            .ok_or_else(|| RpcError::params(&format!("params.{name} must be a text")))
    }

    /// A text that may be left out.
    pub fn optional_text(&self, name: &str) -> Result<Option<&str>> {
        match self.0.get(name) {
            None => Ok(None),
            Some(_) => self.text(name).map(Some),
        }
    }

    /// An object that may be left out.
    pub fn take_object(&mut self, name: &str) -> Result<Option<Map<String, Value>>> {
        match self.0.remove(name) {
            None => Ok(None),
            Some(Value::Object(fields)) => Ok(Some(fields)),
            Some(_) => Err(RpcError::params(&format!("params.{name} must be an object"))),
        }
    }

    /// What the client says about the request itself.
    pub fn meta(&self, name: &str) -> Option<&Value> {
        self.0.get("_meta")?.get(name)
    }
}

/// A JSON object that is written field by field: what is JSON already is not read and written again.
pub struct JsonObject(String);

impl Default for JsonObject {
    fn default() -> Self {
        Self("{".to_owned())
    }
}

impl JsonObject {
    pub fn new() -> Self {
        Self::default()
    }

    /// One that has these fields, whatever their names.
    pub fn of(fields: &Map<String, Value>) -> Self {
        let mut object = Self::new();
        for (name, value) in fields {
            let name = Value::from(name.as_str()).to_string();
            object.put(&name[1..name.len() - 1], &value.to_string());
        }
        object
    }

    /// A text.
    pub fn text(&mut self, name: &str, text: &str) {
        self.put(name, &Value::from(text).to_string());
    }

    /// A field whose JSON there is already. The name is one of ours, that needs no escapes.
    pub fn put(&mut self, name: &str, json: &str) {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.extend(["\"", name, "\":", json]);
    }

    pub fn finish(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

/// The message that answers a request.
pub fn answer(id: &Value, result: JsonObject) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{}}}"#, result.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn refused(body: &str, kind: RpcErrorCode, id: Option<Value>) {
        let RpcMessage::Broken(fault, its) = read(body.as_bytes()) else { unreachable!("{body}") };
        assert_eq!((fault.kind, its), (kind, id), "{body}");
    }

    #[test]
    fn what_is_no_message_is_refused_under_its_id() {
        refused("", RpcErrorCode::Parse, None);
        refused("{", RpcErrorCode::Parse, None);
        refused(r#"{"jsonrpc":"2.0","id":1,"method":"ping"} x"#, RpcErrorCode::Parse, None);
        refused("7", RpcErrorCode::InvalidRequest, None);
        refused("[]", RpcErrorCode::InvalidRequest, None);
        refused(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, RpcErrorCode::InvalidRequest, None);
        refused(r#"{"id":1,"method":"ping"}"#, RpcErrorCode::InvalidRequest, Some(json!(1)));
        refused(r#"{"jsonrpc":"1.0","id":"a","method":"ping"}"#, RpcErrorCode::InvalidRequest, Some(json!("a")));
        refused(r#"{"jsonrpc":"2.0","id":1,"method":7}"#, RpcErrorCode::InvalidRequest, Some(json!(1)));
        refused(r#"{"jsonrpc":"2.0","id":1}"#, RpcErrorCode::InvalidRequest, Some(json!(1)));
        refused(
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#,
            RpcErrorCode::InvalidRequest,
            Some(json!(1)),
        );
        for id in ["null", "1.5", "{}", "[1]", "true"] {
            refused(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#), RpcErrorCode::InvalidRequest, None);
        }
    }

    #[test]
    fn too_many_values_are_refused_before_they_are_read() {
        let numbers = "0,".repeat(300_000);
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":[{numbers}0]}}}}"#);
        refused(&body, RpcErrorCode::InvalidRequest, None);
    }

    #[test]
    fn requests_notifications_and_responses_are_told_apart() {
        let of = |body: &str| read(body.as_bytes());
        let RpcMessage::Request(request) = of(r#"{"jsonrpc":"2.0","id":"x","method":"ping"}"#) else { unreachable!() };
        assert_eq!((request.id, request.method.as_str()), (json!("x"), "ping"));
        assert!(matches!(of(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#), RpcMessage::Notification));
        assert!(matches!(of(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#), RpcMessage::Response));
        assert!(matches!(of(r#"{"jsonrpc":"2.0","id":1,"error":{}}"#), RpcMessage::Response));
    }

    #[test]
    fn answers_are_json() {
        let mut result = JsonObject::new();
        result.put("a", "1");
        result.put("b", r#"{"c":[1.0]}"#);
        assert_eq!(answer(&json!("x\"y"), result), r#"{"jsonrpc":"2.0","id":"x\"y","result":{"a":1,"b":{"c":[1.0]}}}"#);
        assert_eq!(answer(&json!(7), JsonObject::new()), r#"{"jsonrpc":"2.0","id":7,"result":{}}"#);
        let odd = json!({"a\"b\\": 1, "": null});
        assert_eq!(serde_json::from_str::<Value>(&JsonObject::of(odd.as_object().unwrap()).finish()).unwrap(), odd);
        let fault =
            RpcError::new(RpcErrorCode::NoMethod, "no").with(JsonObject::of(json!({"x": 1}).as_object().unwrap()));
        assert_eq!(
            fault.to_message(Some(&json!(7))),
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"no","data":{"x":1}}}"#
        );
        assert_eq!(fault.to_message(None).find("\"id\""), None);
    }
}
