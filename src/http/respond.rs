//! Shapes of answers.

use crate::error::Error;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

/// 200 with a JSON body.
pub struct Json<T>(pub T);

/// 201 with what was made.
pub struct Created<T>(pub T);

/// 201 or 200 with what was stored.
pub enum Stored<T> {
    New(T),
    Replaced(T),
}

/// 204.
pub struct NoContent;

/// 200 with a text.
pub struct Text(pub String);

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        match serde_json::to_vec(&self.0) {
            Ok(body) => ([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], body).into_response(),
            Err(cause) => Error::Internal(format!("an answer is not JSON: {cause}")).into_response(),
        }
    }
}

impl<T: Serialize> IntoResponse for Created<T> {
    fn into_response(self) -> Response {
        let mut response = Json(self.0).into_response();
        if response.status() == StatusCode::OK {
            *response.status_mut() = StatusCode::CREATED;
        }
        response
    }
}

impl<T: Serialize> IntoResponse for Stored<T> {
    fn into_response(self) -> Response {
        match self {
            Self::New(thing) => Created(thing).into_response(),
            Self::Replaced(thing) => Json(thing).into_response(),
        }
    }
}

impl IntoResponse for NoContent {
    fn into_response(self) -> Response {
        StatusCode::NO_CONTENT.into_response()
    }
}

impl IntoResponse for Text {
    fn into_response(self) -> Response {
        let plain = HeaderValue::from_static("text/plain; charset=utf-8");
        ([(header::CONTENT_TYPE, plain)], self.0).into_response()
    }
}
