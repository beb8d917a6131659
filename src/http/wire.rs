//! How requests come from JavaScript and answers leave for it. Both ways cost more than most handlers do, so
//! that only what is used crosses: no abort signal and no properties of the connection come in, and a body goes
//! out as one piece, for every answer of ours is whole before it leaves.

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, Request};
use axum::response::Response;
use http_body_util::BodyExt;
use worker::{Headers, ResponseBuilder, web_sys};

pub fn from_worker(request: &web_sys::Request) -> worker::Result<Request<Body>> {
    let mut builder = Request::builder().method(&*request.method()).uri(request.url());
    if let Some(headers) = builder.headers_mut() {
        for (name, value) in Headers(request.headers()).entries() {
            // What HTTP let through can be neither name nor value that these refuse.
            if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
                headers.append(name, value);
            }
        }
    }
    let body = request.body().map_or_else(Body::empty, |stream| Body::new(worker::Body::new(stream)));
    builder.body(body).map_err(|cause| worker::Error::RustError(cause.to_string()))
}

pub async fn to_worker(response: Response) -> worker::Result<worker::Response> {
    let (parts, body) = response.into_parts();
    let builder = ResponseBuilder::new().with_status(parts.status.as_u16()).with_headers(Headers::from(parts.headers));
    let body = body.collect().await.map_err(|cause| worker::Error::RustError(cause.to_string()))?.to_bytes();
    Ok(if body.is_empty() { builder.empty() } else { builder.fixed(body.into()) })
}
