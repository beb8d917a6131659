//! The kinds of responses.

use crate::error::{Error, Result};
use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, Stream, StreamExt, TryStreamExt};
use serde::Serialize;
use std::future::ready;
use std::pin::Pin;

/// 200 with a JSON body.
pub struct Json<T>(pub T);

/// 200 with a text that is JSON already.
pub struct JsonText(pub String);

/// 201 with the created thing.
pub struct Created<T>(pub T);

/// 201 or 200 with the stored thing.
pub enum Stored<T> {
    New(T),
    Replaced(T),
}

/// 201 with the created thing, or 200 with the preview of a dry run.
pub enum Tried<T, P> {
    Created(T),
    Preview(P),
}

/// 204.
pub struct NoContent;

/// 200 with a text.
pub struct Text(pub String);

/// 200 with JSON Lines, which are sent piece by piece. The first piece is read before the response begins, so a refusal
/// still gets its own status. A failure after the first piece breaks the response off.
pub struct Lines {
    first: Vec<u8>,
    rest: Pin<Box<dyn Stream<Item = Result<Vec<u8>>> + Send>>,
}

impl Lines {
    pub async fn of(pieces: impl Stream<Item = Result<Vec<u8>>> + Send + 'static) -> Result<Self> {
        let mut rest = Box::pin(pieces);
        Ok(Self { first: rest.try_next().await?.unwrap_or_default(), rest })
    }
}

impl IntoResponse for Lines {
    fn into_response(self) -> Response {
        let pieces = stream::once(ready(Ok(self.first))).chain(self.rest);
        let kind = HeaderValue::from_static("application/x-ndjson");
        ([(header::CONTENT_TYPE, kind)], Body::from_stream(pieces)).into_response()
    }
}

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        json(serde_json::to_vec(&self.0))
    }
}

impl IntoResponse for JsonText {
    fn into_response(self) -> Response {
        json(Ok(self.0.into_bytes()))
    }
}

fn json(body: serde_json::Result<Vec<u8>>) -> Response {
    match body {
        Ok(body) => ([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], body).into_response(),
        Err(cause) => Error::Internal(format!("an answer is not JSON: {cause}")).into_response(),
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

impl<T: Serialize, P: Serialize> IntoResponse for Tried<T, P> {
    fn into_response(self) -> Response {
        match self {
            Self::Created(thing) => Created(thing).into_response(),
            Self::Preview(preview) => Json(preview).into_response(),
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
