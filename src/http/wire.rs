//! Converts requests from JavaScript and responses to JavaScript. It serves no route of its own. Both conversions cost
//! more than most handlers, so only the necessary parts cross: a request brings no abort signal and no properties of
//! the connection, a request body of usual size comes as one piece, and a response body of known length leaves as one
//! piece.

use axum::body::{Body, HttpBody};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Request, header};
use axum::response::Response;
use futures_util::TryStreamExt;
use http_body_util::BodyExt;
use worker::js_sys::Uint8Array;
use worker::wasm_bindgen_futures::JsFuture;
use worker::{Headers, ResponseBuilder, web_sys};

/// The largest request body that is read as one piece. The handler may refuse a larger one before its end.
const ONE_PIECE_BYTES: usize = 1024 * 1024;

pub async fn from_worker(request: &web_sys::Request) -> worker::Result<Request<Body>> {
    let mut builder = Request::builder().method(&*request.method()).uri(request.url());
    let mut in_one_piece = false;
    if let Some(headers) = builder.headers_mut() {
        for (name, value) in Headers(request.headers()).entries() {
            // A header that came in over HTTP always passes these checks.
            if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
                headers.append(name, value);
            }
        }
        in_one_piece = content_length(headers).is_some_and(|it| it <= ONE_PIECE_BYTES);
    }
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

pub async fn to_worker(response: Response) -> worker::Result<worker::Response> {
    let (parts, body) = response.into_parts();
    let builder = ResponseBuilder::new().with_status(parts.status.as_u16()).with_headers(Headers::from(parts.headers));
    if body.size_hint().exact().is_none() {
        let failed = |cause: axum::Error| worker::Error::RustError(cause.to_string());
        let pieces = TryStreamExt::map_err(body.into_data_stream(), failed);
        return builder.from_stream(pieces);
    }
    let body = body.collect().await.map_err(|cause| worker::Error::RustError(cause.to_string()))?.to_bytes();
    Ok(if body.is_empty() { builder.empty() } else { builder.fixed(body.into()) })
}
