//! Every way in which a request can be refused or fail, with its code, its status and the one error envelope:
//! `{"error": {"code", "message", "details"}}`.

use crate::nearest::did_you_mean;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt;
use std::sync::Arc;
use utoipa::ToSchema;

pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong, from the caller's point of view.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// The request itself is wrong, in these places.
    Invalid(Vec<Problem>),
    /// The request is wrong in one place, and the whole message is a contract, to the letter.
    Worded(Problem),
    /// A bundle of tools is wrong, in these places.
    Bundle(Vec<BundleNote>),
    /// The request has no token although one is needed, or a token that is not valid.
    Unauthorized(&'static str),
    /// The token is valid, but does not allow the request.
    Forbidden(String),
    NotFound {
        kind: &'static str,
        id: String,
        /// A known name that is near to the unknown one.
        nearest: Option<String>,
    },
    NoRoute,
    MethodNotAllowed {
        /// The methods that the route takes, as the header `Allow` lists them.
        allowed: String,
        /// What to do instead; empty, or a sentence after a full stop.
        instead: &'static str,
    },
    /// In open mode, the request names a host that is not this server's.
    Misdirected,
    AlreadyExists(String),
    /// The thing is not, or no longer, in a state that allows the request.
    Conflict(String),
    TooLarge {
        limit_bytes: usize,
    },
    /// The request would store more than is allowed.
    NoRoom {
        message: String,
        limit_bytes: u64,
    },
    /// The workspace would store more than its quota allows.
    OverQuota {
        message: String,
        used_bytes: u64,
        quota_bytes: u64,
    },
    /// A fault of the Worker. The cause is written to the log and never sent.
    Internal(String),
    /// Something that the request needs is not available now.
    Unavailable(&'static str),
    /// Something that the request needs cannot be reached now. The message says what.
    Unreachable(String),
    /// Something that the request needs will be available again soon, by itself.
    TryAgain(&'static str),
    /// A Durable Object of this deployment has refused the request.
    PassedOn(Box<Refusal>),
}

/// An error as it was told, on its way from a Durable Object to the Worker.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Refusal {
    status: u16,
    code: String,
    message: String,
    details: Value,
    /// The cause of a fault, for the log of the request that asked the object.
    cause: Option<String>,
}

impl From<&Error> for Refusal {
    fn from(error: &Error) -> Self {
        let cause = match error {
            Error::Internal(cause) => Some(cause.clone()),
            _ => None,
        };
        let (status, details) = (error.status().as_u16(), error.details(""));
        Self { status, code: error.code().to_owned(), message: error.to_string(), details, cause }
    }
}

impl From<Refusal> for Error {
    fn from(mut refusal: Refusal) -> Self {
        match refusal.cause.take() {
            Some(cause) => Self::Internal(cause),
            None => Self::PassedOn(Box::new(refusal)),
        }
    }
}

/// After how many seconds a request that met [`Error::TryAgain`] should be sent again.
const RETRY_AFTER_SECONDS: u32 = 2;

/// One fault of a request, and its place in the request.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    pub place: Place,
    /// A JSON pointer for a fault in the body. Otherwise the bare name of the parameter or header.
    pub path: String,
    pub message: String,
}

impl Problem {
    fn shown(&self) -> Value {
        json!({"in": self.place.as_str(), "path": self.path, "message": self.message})
    }
}

/// One fault of a bundle of tools, or one warning about it, and its place in the bundle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BundleNote {
    /// The path of the file in the bundle; null if the note is about the ZIP itself.
    #[schema(required)]
    pub file: Option<String>,
    /// The line in the file, from 1.
    #[schema(required)]
    pub line: Option<u32>,
    /// A JSON pointer into the manifest.
    #[schema(required)]
    pub path: Option<String>,
    pub message: String,
}

impl BundleNote {
    /// A note about the bundle as a whole.
    pub fn about_bundle(message: String) -> Self {
        Self { file: None, line: None, path: None, message }
    }

    /// How many notes a response shows.
    const MAX_SHOWN: usize = 100;

    /// The notes that a response shows, and one more that counts the others.
    pub fn shown(notes: &[Self]) -> Vec<Self> {
        let mut shown = notes.iter().take(Self::MAX_SHOWN).cloned().collect::<Vec<_>>();
        let others = notes.len() - shown.len();
        if others > 0 {
            shown.push(Self { file: None, line: None, path: None, message: format!("and {others} more") });
        }
        shown
    }
}

impl fmt::Display for BundleNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.line.map(|it| format!("line {it}"));
        let path = self.path.clone().filter(|it| !it.is_empty());
        let place = [self.file.clone(), line, path].into_iter().flatten().collect::<Vec<_>>().join(", ");
        if place.is_empty() { f.write_str(&self.message) } else { write!(f, "{place}: {}", self.message) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    Body,
    Query,
    Header,
    /// The path of the URL.
    Path,
}

impl Place {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Body => "body",
            Self::Query => "query",
            Self::Header => "header",
            Self::Path => "path",
        }
    }
}

impl Error {
    /// One fault in the body, at the JSON pointer `path`.
    pub fn body(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self::at(Place::Body, path, message)
    }

    /// One fault in the body, with a message that is a contract.
    pub fn worded(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Worded(Problem { place: Place::Body, path: path.into(), message: message.into() })
    }

    /// One fault in the query string, in the parameter `name`.
    pub fn query(name: impl Into<String>, message: impl Into<String>) -> Self {
        Self::at(Place::Query, name, message)
    }

    /// One fault in a header.
    pub fn header(name: impl Into<String>, message: impl Into<String>) -> Self {
        Self::at(Place::Header, name, message)
    }

    /// One fault in the URL's path, in the parameter `name`.
    pub fn path(name: impl Into<String>, message: impl Into<String>) -> Self {
        Self::at(Place::Path, name, message)
    }

    fn at(place: Place, path: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Invalid(vec![Problem { place, path: path.into(), message: message.into() }])
    }

    pub fn not_found(kind: &'static str, id: impl fmt::Display) -> Self {
        Self::NotFound { kind, id: id.to_string(), nearest: None }
    }

    /// The code of the error. Codes are stable, because clients match on them.
    pub fn code(&self) -> &str {
        match self {
            Self::Invalid(_) | Self::Worded(_) | Self::Bundle(_) => "VALIDATION_ERROR",
            Self::Unauthorized(_) => "UNAUTHORIZED",
            Self::Forbidden(_) => "PERMISSION_DENIED",
            Self::NotFound { .. } | Self::NoRoute => "NOT_FOUND",
            Self::MethodNotAllowed { .. } => "METHOD_NOT_ALLOWED",
            Self::Misdirected => "MISDIRECTED_REQUEST",
            Self::AlreadyExists(_) => "ALREADY_EXISTS",
            Self::Conflict(_) => "CONFLICT",
            Self::TooLarge { .. } | Self::NoRoom { .. } | Self::OverQuota { .. } => "PAYLOAD_TOO_LARGE",
            Self::Internal(_) => "INTERNAL",
            Self::Unavailable(_) | Self::Unreachable(_) | Self::TryAgain(_) => "UNAVAILABLE",
            Self::PassedOn(refusal) => &refusal.code,
        }
    }

    pub fn status(&self) -> StatusCode {
        match self {
            Self::Invalid(_) | Self::Worded(_) | Self::Bundle(_) => StatusCode::BAD_REQUEST,
            Self::Unauthorized(_) => StatusCode::UNAUTHORIZED,
            Self::Forbidden(_) => StatusCode::FORBIDDEN,
            Self::NotFound { .. } | Self::NoRoute => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed { .. } => StatusCode::METHOD_NOT_ALLOWED,
            Self::Misdirected => StatusCode::MISDIRECTED_REQUEST,
            Self::AlreadyExists(_) | Self::Conflict(_) => StatusCode::CONFLICT,
            Self::TooLarge { .. } | Self::NoRoom { .. } | Self::OverQuota { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Unavailable(_) | Self::Unreachable(_) | Self::TryAgain(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::PassedOn(refusal) => {
                StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
            }
        }
    }

    /// The `details` of the envelope, for programs.
    pub fn details(&self, request_id: &str) -> Value {
        match self {
            Self::Invalid(problems) => json!({"problems": problems.iter().map(Problem::shown).collect::<Vec<_>>()}),
            Self::Worded(problem) => json!({"problems": [problem.shown()]}),
            Self::Bundle(faults) => json!({"problems": BundleNote::shown(faults)}),
            Self::TooLarge { limit_bytes } => json!({"limit_bytes": limit_bytes}),
            Self::NoRoom { limit_bytes, .. } => json!({"limit_bytes": limit_bytes}),
            Self::OverQuota { used_bytes, quota_bytes, .. } => {
                json!({"used_bytes": used_bytes, "quota_bytes": quota_bytes})
            }
            Self::Internal(_) => json!({"request_id": request_id}),
            Self::TryAgain(_) => json!({"retry_after": RETRY_AFTER_SECONDS}),
            Self::NotFound { nearest: Some(nearest), .. } => json!({"nearest": nearest}),
            Self::PassedOn(refusal) => refusal.details.clone(),
            Self::Unauthorized(_)
            | Self::Forbidden(_)
            | Self::NotFound { nearest: None, .. }
            | Self::NoRoute
            | Self::MethodNotAllowed { .. }
            | Self::Misdirected
            | Self::AlreadyExists(_)
            | Self::Conflict(_)
            | Self::Unavailable(_)
            | Self::Unreachable(_) => Value::Null,
        }
    }

    /// After how many seconds the request should be sent again, if the error passes by itself.
    fn retry_after(&self) -> Option<u32> {
        match self {
            Self::TryAgain(_) => Some(RETRY_AFTER_SECONDS),
            Self::PassedOn(refusal) => refusal.details.get("retry_after")?.as_u64()?.try_into().ok(),
            _ => None,
        }
    }

    /// The body of the response.
    pub fn envelope(&self, request_id: &str) -> Value {
        let (code, message) = (self.code(), self.to_string());
        json!({"error": {"code": code, "message": message, "details": self.details(request_id)}})
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(problems) => {
                for (index, it) in problems.iter().enumerate() {
                    let separator = if index == 0 { "" } else { "; " };
                    match it.path.as_str() {
                        "" => write!(f, "{separator}{}", it.message)?,
                        path => write!(f, "{separator}{path}: {}", it.message)?,
                    }
                }
                Ok(())
            }
            Self::Worded(problem) => f.write_str(&problem.message),
            Self::Bundle(faults) => match faults.split_first() {
                Some((first, [])) => first.fmt(f),
                Some((first, rest)) => write!(f, "{first}; and {} more", rest.len()),
                None => f.write_str("The bundle is wrong"),
            },
            Self::Unauthorized(message) | Self::Unavailable(message) | Self::TryAgain(message) => f.write_str(message),
            Self::Forbidden(message)
            | Self::AlreadyExists(message)
            | Self::Conflict(message)
            | Self::Unreachable(message)
            | Self::NoRoom { message, .. }
            | Self::OverQuota { message, .. } => f.write_str(message),
            Self::NotFound { kind, id, nearest } => {
                write!(f, "{kind} not found: {id}{}", did_you_mean(nearest.as_deref()))
            }
            Self::NoRoute => f.write_str("There is no such route; GET /openapi.json lists them all"),
            Self::MethodNotAllowed { allowed, instead } => {
                write!(f, "This route does not take that method; it takes {}{instead}", allowed.replace(',', ", "))
            }
            Self::Misdirected => f.write_str(
                "This server is in open mode, where it answers as localhost, 127.0.0.1, [::1] and the hosts in \
                 OPEN_HOSTS only",
            ),
            Self::TooLarge { limit_bytes } => {
                write!(f, "The body is larger than {limit_bytes} bytes")
            }
            Self::Internal(_) => f.write_str("Something went wrong on our side"),
            Self::PassedOn(refusal) => f.write_str(&refusal.message),
        }
    }
}

impl std::error::Error for Error {}

/// Adds the problems that lie within no problem that is known already: a wrong part of a body would otherwise be told
/// again for each rule.
pub fn add_new(problems: &mut Vec<Problem>, more: Vec<Problem>) {
    for it in more {
        let holds_it = |known: &Problem| {
            let rest = it.path.strip_prefix(known.path.as_str());
            known.place == it.place && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        if !problems.iter().any(holds_it) {
            problems.push(it);
        }
    }
}

/// A name as one step of a JSON pointer.
pub fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// How many bytes of a caller's own text a message repeats.
const MAX_TOLD_BYTES: usize = 400;

/// The beginning and the end of a long text. In a message, the reason stands at the end, after the value.
pub fn shortened(text: &str) -> String {
    if text.len() <= MAX_TOLD_BYTES {
        return text.to_owned();
    }
    let head = &text[..text.floor_char_boundary(MAX_TOLD_BYTES / 2)];
    let tail = &text[text.ceil_char_boundary(text.len() - MAX_TOLD_BYTES / 2)..];
    format!("{head}…{tail}")
}

/// The status and headers of the response. [`crate::http`] writes the body, because only that room knows the request's
/// id.
impl IntoResponse for Error {
    fn into_response(self) -> Response {
        let mut response = self.status().into_response();
        if self.status() == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = self.retry_after() {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response.extensions_mut().insert(Arc::new(self));
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_problem_is_named_in_the_message_and_in_the_details() {
        let error = Error::Invalid(vec![
            Problem { place: Place::Body, path: "/name".into(), message: "must not be empty".into() },
            Problem { place: Place::Query, path: "limit".into(), message: "must be from 1 to 200".into() },
        ]);
        assert_eq!(
            error.envelope("r1"),
            json!({"error": {
                "code": "VALIDATION_ERROR",
                "message": "/name: must not be empty; limit: must be from 1 to 200",
                "details": {"problems": [
                    {"in": "body", "path": "/name", "message": "must not be empty"},
                    {"in": "query", "path": "limit", "message": "must be from 1 to 200"},
                ]},
            }})
        );
    }

    #[test]
    fn the_first_fault_of_a_bundle_is_told_and_the_others_are_listed() {
        let fault = |line| BundleNote {
            file: Some("toolset.yaml".into()),
            line: Some(line),
            path: Some("/tools/0/entrypoint".into()),
            message: "names no file of the bundle".into(),
        };
        let error = Error::Bundle(vec![fault(12)]);
        let message = "toolset.yaml, line 12, /tools/0/entrypoint: names no file of the bundle";
        let problem = json!({
            "file": "toolset.yaml", "line": 12, "path": "/tools/0/entrypoint", "message": "names no file of the bundle",
        });
        assert_eq!(
            error.envelope("r1"),
            json!({"error": {"code": "VALIDATION_ERROR", "message": message, "details": {"problems": [problem]}}})
        );
        let error = Error::Bundle((12..162).map(fault).collect());
        assert_eq!(error.to_string(), format!("{message}; and 149 more"));
        let details = error.details("r1");
        let problems = details["problems"].as_array().unwrap();
        assert_eq!((problems.len(), &problems[100]["message"]), (101, &json!("and 50 more")));
        let zip = BundleNote { file: None, line: None, path: None, message: "The ZIP is encrypted".into() };
        assert_eq!(zip.to_string(), "The ZIP is encrypted");
    }

    #[test]
    fn a_problem_within_a_known_one_is_not_told_again() {
        let problem = |path: &str| Problem { place: Place::Body, path: path.to_owned(), message: String::new() };
        let mut problems = vec![problem("/handler")];
        let more = ["/handler/url", "/handler_key", "/name", "/name"];
        add_new(&mut problems, more.map(problem).to_vec());
        assert_eq!(problems, ["/handler", "/handler_key", "/name"].map(problem));
    }

    #[test]
    fn an_error_that_is_passed_on_is_told_as_it_was() {
        for error in [
            Error::Conflict("busy".into()),
            Error::not_found("Session", "s"),
            Error::Unauthorized("no"),
            Error::TryAgain("soon"),
            Error::OverQuota { message: "full".into(), used_bytes: 2, quota_bytes: 1 },
            Error::Internal("no such table".into()),
        ] {
            let carried = serde_json::to_string(&Refusal::from(&error)).unwrap();
            let rebuilt = Error::from(serde_json::from_str::<Refusal>(&carried).unwrap());
            assert_eq!(rebuilt.envelope("r1"), error.envelope("r1"));
            let (rebuilt, error) = (rebuilt.into_response(), error.into_response());
            assert_eq!((rebuilt.status(), rebuilt.headers()), (error.status(), error.headers()));
        }
    }

    #[test]
    fn an_internal_cause_stays_inside() {
        let error = Error::Internal("no such table: secrets".into());
        let envelope = error.envelope("req_7");
        assert!(!envelope.to_string().contains("secrets"));
        assert_eq!(envelope["error"]["details"]["request_id"], "req_7");
    }
}
