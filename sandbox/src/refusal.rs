//! Refusals: the responses of requests by which nothing was run.

use crate::body::BadBody;
use crate::gate::Full;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::{Value, json};

/// Why nothing was run.
pub enum Refusal {
    Invalid(String),
    TooLong {
        most: usize,
    },
    MediaType,
    /// All slots are taken.
    Busy,
    /// The call's share has all the slots that it may have while others wait.
    Share,
    Unavailable(String),
    /// The second room cannot be opened here.
    NoRoom(String),
    /// The share does not have the contents with these hashes.
    Missing(Vec<String>),
    /// The share does not have these contents any more.
    Gone,
    Path,
    Method,
}

impl From<BadBody> for Refusal {
    fn from(bad: BadBody) -> Self {
        match bad {
            BadBody::TooLong { most } => Self::TooLong { most },
            BadBody::Broken => Self::Invalid("the body did not arrive whole".into()),
        }
    }
}

impl From<Full> for Refusal {
    fn from(full: Full) -> Self {
        match full {
            Full::Busy => Self::Busy,
            Full::Share => Self::Share,
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (status, code, message) = match &self {
            Self::Invalid(why) => (StatusCode::BAD_REQUEST, "VALIDATION_ERROR", why.clone()),
            Self::TooLong { most } => {
                (StatusCode::PAYLOAD_TOO_LARGE, "PAYLOAD_TOO_LARGE", format!("a request has at most {most} bytes"))
            }
            Self::MediaType => (
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "UNSUPPORTED_MEDIA_TYPE",
                "a request is application/json, and says so".into(),
            ),
            Self::Busy => (StatusCode::TOO_MANY_REQUESTS, "RATE_LIMITED", "the sandbox is busy; try again".into()),
            Self::Share => (
                StatusCode::TOO_MANY_REQUESTS,
                "RATE_LIMITED",
                "calls of the same share hold half of the sandbox, and others wait; try again".into(),
            ),
            Self::Unavailable(why) => (StatusCode::SERVICE_UNAVAILABLE, "UNAVAILABLE", why.clone()),
            Self::NoRoom(why) => {
                let message = format!("calls on files are unavailable here: {why}");
                (StatusCode::SERVICE_UNAVAILABLE, "UNAVAILABLE", message)
            }
            Self::Missing(_) => (
                StatusCode::CONFLICT,
                "CONTENTS_MISSING",
                "some contents are not here; send them to /files/contents, and try again".into(),
            ),
            Self::Gone => (StatusCode::NOT_FOUND, "NOT_FOUND", "these contents are not here".into()),
            Self::Path => (
                StatusCode::NOT_FOUND,
                "NOT_FOUND",
                "there are /run, /check, /files/run, /files/contents, /files/read, /inspect and /health".into(),
            ),
            Self::Method => (
                StatusCode::METHOD_NOT_ALLOWED,
                "METHOD_NOT_ALLOWED",
                "GET is for /health, POST for all other paths".into(),
            ),
        };
        let details = match &self {
            Self::Busy => json!({"reason": "busy"}),
            Self::Share => json!({"reason": "share"}),
            Self::NoRoom(_) => json!({"reason": "unavailable"}),
            Self::Missing(hashes) => json!({"missing": hashes}),
            Self::Invalid(_)
            | Self::TooLong { .. }
            | Self::MediaType
            | Self::Unavailable(_)
            | Self::Gone
            | Self::Path
            | Self::Method => Value::Null,
        };
        let mut response =
            json_response(status, &json!({"error": {"code": code, "message": message, "details": details}}));
        if matches!(self, Self::Busy | Self::Share | Self::Unavailable(_)) {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}

pub fn json_response(status: StatusCode, value: &impl Serialize) -> Response {
    match serde_json::to_vec(value) {
        Ok(body) => (status, [(CONTENT_TYPE, "application/json")], body).into_response(),
        Err(cause) => (StatusCode::INTERNAL_SERVER_ERROR, cause.to_string()).into_response(),
    }
}

/// Whether a request says that it is JSON. A browser sends this type only with permission, so that no web page can use a
/// sandbox on a developer's machine.
pub fn is_json(headers: &HeaderMap) -> bool {
    let given = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    given.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}
