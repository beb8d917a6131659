//! Responses of the MCP endpoint: JSON-RPC messages under the status that an MCP server over HTTP would choose.

use crate::error::json_response;
use crate::handshake::{HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_REVISION};
use crate::message::{Message, read};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

pub const INVALID_REQUEST: i64 = -32600;
pub const PARSE_ERROR: i64 = -32700;
pub const METHOD_NOT_FOUND: i64 = -32601;
/// What servers before 2026-07-28 answer to a request outside of a session, and to one of an unknown session.
pub const NO_SESSION: i64 = -32000;
pub const UNKNOWN_SESSION: i64 = -32001;

/// An error of the bridge itself.
pub fn error(status: StatusCode, id: Option<&RawValue>, code: i64, words: &str, data: &Value) -> Response {
    json_response(status, &Message::error(id, code, words, data))
}

/// A notification was taken.
pub fn accepted() -> Response {
    StatusCode::ACCEPTED.into_response()
}

/// The answer of a server that has sessions: every message is 200.
pub fn legacy(answer: &Message) -> Response {
    json_response(StatusCode::OK, answer)
}

/// The answer of a server without sessions, where some errors have a status of their own.
pub fn modern(answer: &Message) -> Response {
    #[derive(Deserialize)]
    struct ErrorCode {
        code: i64,
    }
    let status = match answer.get("error").and_then(read::<ErrorCode>).map(|it| it.code) {
        Some(HEADER_MISMATCH | MISSING_CAPABILITY | UNSUPPORTED_REVISION) => StatusCode::BAD_REQUEST,
        Some(METHOD_NOT_FOUND) => StatusCode::NOT_FOUND,
        _ => StatusCode::OK,
    };
    json_response(status, answer)
}
