//! The parameters of a request. `params` is an object, because in MCP all parameters have names.

use super::error::{RpcError, RpcResult};
use serde_json::{Map, Value};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct RpcParams(pub Map<String, Value>);

impl RpcParams {
    /// The value of a parameter that must be a text.
    pub fn text(&self, name: &str) -> RpcResult<&str> {
        let text = self.0.get(name).and_then(Value::as_str);
        text.ok_or_else(|| RpcError::invalid_params(&format!("params.{name} must be a text")))
    }

    /// The value of a parameter that may be missing, and must be a text otherwise.
    pub fn optional_text(&self, name: &str) -> RpcResult<Option<&str>> {
        match self.0.get(name) {
            None => Ok(None),
            Some(_) => self.text(name).map(Some),
        }
    }

    /// Removes a parameter that may be missing, and must be an object otherwise. Returns its value.
    pub fn take_object(&mut self, name: &str) -> RpcResult<Option<Map<String, Value>>> {
        match self.0.remove(name) {
            None => Ok(None),
            Some(Value::Object(fields)) => Ok(Some(fields)),
            Some(_) => Err(RpcError::invalid_params(&format!("params.{name} must be an object"))),
        }
    }
}
