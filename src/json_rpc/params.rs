//! The parameters of a request. MCP names them all: `params` is an object.

use super::error::{RpcError, RpcResult};
use serde_json::{Map, Value};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct RpcParams(pub Map<String, Value>);

impl RpcParams {
    /// A text that must be there.
    pub fn text(&self, name: &str) -> RpcResult<&str> {
        let text = self.0.get(name).and_then(Value::as_str);
        text.ok_or_else(|| RpcError::invalid_params(&format!("params.{name} must be a text")))
    }

    /// A text that may be left out.
    pub fn optional_text(&self, name: &str) -> RpcResult<Option<&str>> {
        match self.0.get(name) {
            None => Ok(None),
            Some(_) => self.text(name).map(Some),
        }
    }

    /// An object that may be left out, taken out of the parameters.
    pub fn take_object(&mut self, name: &str) -> RpcResult<Option<Map<String, Value>>> {
        match self.0.remove(name) {
            None => Ok(None),
            Some(Value::Object(fields)) => Ok(Some(fields)),
            Some(_) => Err(RpcError::invalid_params(&format!("params.{name} must be an object"))),
        }
    }
}
