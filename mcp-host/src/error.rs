//! Why a request was not carried out: one form for all refusals, `{"error": "…"}`.
//!
//! The status tells whether a call may have run. After 502 it may have; after every other refusal it surely did not.

use crate::body::BadBody;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::json;
use std::time::Duration;

#[derive(Debug)]
pub enum Refusal {
    /// The secret is missing or wrong.
    Secret,
    /// The request makes no sense.
    Invalid(String),
    /// The command is not allowed, or its package is not installed.
    Command(String),
    TooLong(usize),
    MediaType,
    Unknown,
    Method(&'static str),
    /// The host does not hold the key with this configuration.
    Configuration,
    /// The host does not hold the files of the configuration, or not all of them.
    Files,
    /// Not now; perhaps after a while.
    Later {
        words: String,
        after: Duration,
        stderr: String,
    },
    /// The server got the message, and ended before it answered.
    Ended {
        words: String,
        stderr: String,
    },
}

impl Refusal {
    pub fn later(words: impl Into<String>, after: Duration) -> Self {
        Self::Later { words: words.into(), after, stderr: String::new() }
    }

    pub fn of_body(bad: &BadBody, max_bytes: usize) -> Self {
        match bad {
            BadBody::TooLong => Self::TooLong(max_bytes),
            BadBody::Broken => Self::Invalid("the body did not arrive whole".into()),
        }
    }

    fn status(&self) -> StatusCode {
        match self {
            Self::Secret => StatusCode::UNAUTHORIZED,
            Self::Invalid(_) => StatusCode::BAD_REQUEST,
            Self::Command(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::TooLong(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::MediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Unknown => StatusCode::NOT_FOUND,
            Self::Method(_) => StatusCode::METHOD_NOT_ALLOWED,
            Self::Configuration | Self::Files => StatusCode::PRECONDITION_FAILED,
            Self::Later { .. } => StatusCode::SERVICE_UNAVAILABLE,
            Self::Ended { .. } => StatusCode::BAD_GATEWAY,
        }
    }

    fn words(&self) -> String {
        match self {
            Self::Secret => "the secret of this host is missing or wrong".into(),
            Self::TooLong(max_bytes) => format!("the body has at most {max_bytes} bytes"),
            Self::MediaType => "a request is application/json, and says so".into(),
            Self::Unknown => "there is nothing here".into(),
            Self::Method(allowed) => format!("the methods of this path are {allowed}"),
            Self::Configuration => "configuration needed".into(),
            Self::Files => "files needed".into(),
            Self::Invalid(words) | Self::Command(words) | Self::Later { words, .. } | Self::Ended { words, .. } => {
                words.clone()
            }
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut told = json!({"error": self.words()});
        if let Self::Later { stderr, .. } | Self::Ended { stderr, .. } = &self
            && !stderr.is_empty()
        {
            told["stderr"] = json!(stderr);
        }
        let mut response = json_response(self.status(), &told);
        if let Self::Later { after, .. } = &self {
            let seconds = after.as_secs_f64().ceil().max(1.0) as u64;
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
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
