//! The HTTP headers of a request. Since 2026-07-28 some headers repeat a part of the body, so that a proxy can route a
//! request without parsing it. A request whose header differs from the body is invalid.

use super::fields::{self, META_REVISION};
use super::method::McpMethod;
use crate::json_rpc::{RpcError, RpcErrorCode, RpcRequest, RpcResult};
use crate::text_enum::TextEnum;
use data_encoding::BASE64;
use serde_json::Value;

/// A header that repeats a part of the body.
#[derive(Clone, Copy, Debug)]
pub enum RepeatingHeader {
    Revision,
    Method,
    /// The subject of the request ([`McpMethod::named_by`]).
    Name,
}

impl RepeatingHeader {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Revision => "MCP-Protocol-Version",
            Self::Method => "Mcp-Method",
            Self::Name => "Mcp-Name",
        }
    }

    /// The part of the request that the header repeats. A request without this part needs no such header.
    pub fn value_in(self, request: &RpcRequest) -> Option<&str> {
        match self {
            Self::Revision => fields::meta(&request.params, META_REVISION)?.as_str(),
            Self::Method => Some(&request.method),
            Self::Name => request.params.0.get(McpMethod::parse(&request.method)?.named_by()?).and_then(Value::as_str),
        }
    }
}

/// The prefix of headers that repeat an argument of a tool's call. The argument's schema names the header
/// (`x-mcp-header`).
pub const PARAM_HEADER_PREFIX: &str = "Mcp-Param-";

/// The headers of one request that MCP uses. None, if a header is missing or is not ASCII text.
#[derive(Default)]
pub struct McpHeaders<'a> {
    pub revision: Option<&'a str>,
    pub method: Option<&'a str>,
    pub name: Option<&'a str>,
    /// The headers `Mcp-Param-…`, by the rest of their names.
    pub params: Vec<(&'a str, Option<&'a str>)>,
}

impl McpHeaders<'_> {
    /// The arguments that the headers repeat. None, where a value cannot be decoded.
    pub fn mirrored(&self) -> Vec<(String, Option<String>)> {
        self.params.iter().map(|(name, value)| ((*name).to_owned(), value.and_then(decoded))).collect()
    }

    fn value(&self, header: RepeatingHeader) -> Option<String> {
        match header {
            RepeatingHeader::Revision => self.revision.map(str::to_owned),
            RepeatingHeader::Method => self.method.map(|it| it.trim().to_owned()),
            RepeatingHeader::Name => self.name.and_then(decoded),
        }
    }

    /// Refuses a request whose header differs from the body.
    pub fn check(&self, header: RepeatingHeader, request: &RpcRequest) -> RpcResult<()> {
        let Some(expected) = header.value_in(request) else { return Ok(()) };
        let name = header.name();
        match self.value(header) {
            None => Err(header_mismatch(&format!("the header {name} is missing or cannot be read"))),
            Some(value) if value == expected => Ok(()),
            Some(value) => Err(header_mismatch(&format!("{name} is {value:?}, and the body says {expected:?}"))),
        }
    }
}

/// The text that a header stands for. `=?base64?…?=` stands for a text that HTTP does not allow in a header.
fn decoded(value: &str) -> Option<String> {
    let value = value.trim();
    match value.strip_prefix("=?base64?").and_then(|it| it.strip_suffix("?=")) {
        None => Some(value.to_owned()),
        Some(coded) => String::from_utf8(BASE64.decode(coded.as_bytes()).ok()?).ok(),
    }
}

/// A text in the form that a header can have. The opposite of [`decoded`].
pub fn encoded(text: &str) -> String {
    let is_plain = text.bytes().all(|it| (b' '..=b'~').contains(&it)) && text.trim() == text;
    // A plain text that looks like an encoded one would be decoded.
    match is_plain && !(text.starts_with("=?base64?") && text.ends_with("?=")) {
        true => text.to_owned(),
        false => format!("=?base64?{}?=", BASE64.encode(text.as_bytes())),
    }
}

pub fn header_mismatch(problem: &str) -> RpcError {
    RpcError::new(RpcErrorCode::HEADER_MISMATCH, &format!("Header mismatch: {problem}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_decoded_again() {
        for (text, is_plain) in [
            ("", true),
            ("a b", true),
            (" a", false),
            ("a ", false),
            ("a\tb", false),
            ("\r\n", false),
            ("größe", false),
            ("=?base64?IGE=?=", false),
            ("=?base64?x", true),
        ] {
            let header = encoded(text);
            assert_eq!(header == text, is_plain, "{text}");
            assert!(header.is_ascii());
            assert_eq!(decoded(&header).as_deref(), Some(text));
        }
    }
}
