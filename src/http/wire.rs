//! Converts requests from JavaScript and responses to JavaScript. This file serves no route. Both conversions cost more
//! than most handlers, so as little data as possible crosses, as few times as possible. The head of a request and the
//! head of a response cross as one text each (`wire.js`). A request body of usual size comes as one piece, and a
//! response body of known length leaves as one piece.

use super::REQUEST_ID;
use axum::body::{Body, HttpBody};
use axum::http::request::{Builder, Parts};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Request, header};
use axum::response::Response;
use futures_util::TryStreamExt;
use http_body_util::BodyExt;
use std::sync::Arc;
use wasm_bindgen::prelude::wasm_bindgen;
use worker::ResponseBuilder;
use worker::js_sys::Uint8Array;
use worker::send::SendWrapper;
use worker::wasm_bindgen::JsValue;
use worker::wasm_bindgen_futures::JsFuture;
use worker::web_sys::{self, ReadableStream};

/// The largest request body that is read as one piece. The handler may refuse a larger body before its end.
const ONE_PIECE_BYTES: usize = 1024 * 1024;

#[wasm_bindgen(module = "/src/http/wire.js")]
extern "C" {
    #[wasm_bindgen(js_name = headOf)]
    fn head_of(request: &web_sys::Request) -> String;
    #[wasm_bindgen(catch)]
    fn respond(status: u16, request_id: &str, head: &str, body: Option<&[u8]>) -> Result<web_sys::Response, JsValue>;
}

/// The head of a request, whatever has become of its body.
pub fn head_from_worker(request: &web_sys::Request) -> Option<Parts> {
    Some(builder_of(&head_of(request)).body(()).ok()?.into_parts().0)
}

fn builder_of(head: &str) -> Builder {
    let mut lines = head.split('\n');
    let mut builder = Request::builder();
    if let (Some(method), Some(url)) = (lines.next(), lines.next()) {
        builder = builder.method(method).uri(url);
    }
    if let Some(headers) = builder.headers_mut() {
        while let (Some(name), Some(value)) = (lines.next(), lines.next()) {
            // A header that came in over HTTP always passes these checks.
            if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
                headers.append(name, value);
            }
        }
    }
    builder
}

pub async fn from_worker(request: &web_sys::Request) -> worker::Result<Request<Body>> {
    let builder = builder_of(&head_of(request));
    let in_one_piece = builder.headers_ref().and_then(content_length).is_some_and(|it| it <= ONE_PIECE_BYTES);
    let body = if in_one_piece {
        Body::from(Uint8Array::new(&JsFuture::from(request.array_buffer()?).await?).to_vec())
    } else {
        request.body().map_or_else(Body::empty, |stream| Body::new(worker::Body::new(stream)))
    };
    builder.body(body).map_err(|cause| worker::Error::RustError(cause.to_string()))
}

fn content_length(headers: &HeaderMap) -> Option<usize> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// The body of another response of the runtime, which is passed on without a look at it. A piece that crossed to Rust and
/// back would cost more than most events of a stream.
#[derive(Clone)]
pub struct PassedOnBody(Arc<SendWrapper<ReadableStream>>);

impl PassedOnBody {
    pub fn new(stream: ReadableStream) -> Self {
        Self(Arc::new(SendWrapper::new(stream)))
    }
}

pub async fn to_worker(response: Response) -> worker::Result<web_sys::Response> {
    let (mut parts, body) = response.into_parts();
    if let Some(passed_on) = parts.extensions.remove::<PassedOnBody>() {
        let builder = ResponseBuilder::new().with_status(parts.status.as_u16()).with_headers(parts.headers.into());
        return Ok(builder.stream(ReadableStream::clone(&passed_on.0)).into());
    }
    if body.size_hint().exact().is_none() {
        let failed = |cause: axum::Error| worker::Error::RustError(cause.to_string());
        let pieces = TryStreamExt::map_err(body.into_data_stream(), failed);
        let builder = ResponseBuilder::new().with_status(parts.status.as_u16()).with_headers(parts.headers.into());
        return Ok(builder.from_stream(pieces)?.into());
    }
    let body = body.collect().await.map_err(|cause| worker::Error::RustError(cause.to_string()))?.to_bytes();
    let body = (!body.is_empty()).then_some(&*body);
    let request_id = parts.headers.remove(REQUEST_ID);
    let request_id = request_id.as_ref().and_then(|it| it.to_str().ok()).unwrap_or_default();
    Ok(respond(parts.status.as_u16(), request_id, &lines_of(&parts.headers), body)?)
}

/// One line for each name and one for each value. A value that is not text is left out: the Worker sets no such header.
fn lines_of(headers: &HeaderMap) -> String {
    let mut lines = String::with_capacity(512);
    for (name, value) in headers {
        if let Ok(value) = value.to_str() {
            lines.extend([name.as_str(), "\n", value, "\n"]);
        }
    }
    lines
}
