//! The errors that a response may hold instead of a result.

use crate::json_object::JsonObject;
use serde_json::Value;

/// The code of an error. Any number is allowed: JSON-RPC defines the five codes below, a protocol over JSON-RPC defines
/// more (`mcp_protocol::error_code`), and a peer may send others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RpcErrorCode(pub i64);

impl RpcErrorCode {
    pub const PARSE_ERROR: Self = Self(-32700);
    pub const INVALID_REQUEST: Self = Self(-32600);
    pub const METHOD_NOT_FOUND: Self = Self(-32601);
    pub const INVALID_PARAMS: Self = Self(-32602);
    pub const INTERNAL_ERROR: Self = Self(-32603);
}

#[derive(Clone, Debug, PartialEq)]
pub struct RpcError {
    pub code: RpcErrorCode,
    pub message: String,
    /// Details for programs, as JSON text.
    pub data: Option<String>,
}

pub type RpcResult<T> = Result<T, RpcError>;

impl RpcError {
    #[cold]
    #[inline(never)]
    pub fn new(code: RpcErrorCode, message: &str) -> Self {
        Self { code, message: message.to_owned(), data: None }
    }

    pub fn invalid_params(message: &str) -> Self {
        Self::new(RpcErrorCode::INVALID_PARAMS, message)
    }

    pub fn with_data(mut self, data: JsonObject) -> Self {
        self.data = Some(data.finish());
        self
    }

    /// The error that a peer sent. An error without a code counts as an internal error of the peer: a response must not
    /// get lost because its error is incomplete.
    pub(super) fn read(error: &Value) -> Self {
        let code = error.get("code").and_then(Value::as_i64).map(RpcErrorCode);
        let message = error.get("message").and_then(Value::as_str).unwrap_or_default();
        let data = error.get("data").map(Value::to_string);
        Self { code: code.unwrap_or(RpcErrorCode::INTERNAL_ERROR), message: message.to_owned(), data }
    }

    pub(super) fn write(&self) -> String {
        let mut error = JsonObject::new();
        error.put("code", &self.code.0.to_string());
        error.text("message", &self.message);
        if let Some(data) = &self.data {
            error.put("data", data);
        }
        error.finish()
    }
}
