//! MCP itself, as data and rules that a server and a client share: revisions, methods, headers, names of fields, error
//! codes and the result of a tool's call. Pure: the room knows no database, no HTTP library and no caller. The
//! registry's own MCP server is the room `mcp`.
//!
//! MCP has two eras. Until 2025-11-25 client and server agree once, by `initialize`, on a revision and on what they can
//! do. Since 2026-07-28 there is no handshake: every request states both in its `_meta`, and repeats some of its body
//! in headers.

mod call_tool_result;
mod error_code;
pub mod fields;
mod headers;
mod method;
mod param_headers;
mod revision;

pub use call_tool_result::CallToolResult;
pub use headers::{McpHeaders, PARAM_HEADER_PREFIX, RepeatingHeader, encoded};
pub use method::McpMethod;
pub use param_headers::{fault_of_param_headers, param_header, param_headers};
pub use revision::{
    Era, LATEST_LEGACY_REVISION, MODERN_REVISION, check_revision, era_of, negotiated, supported_revisions,
};
