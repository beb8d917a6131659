//! A request, and the ways to send it.

use super::OutgoingFailure;
use super::deadline::Deadline;
use super::response::OutgoingResponse;
use std::collections::BTreeMap;
use std::time::Duration;
use worker::web_sys::{self, RequestRedirect};
use worker::{Fetch, Fetcher, Headers, Method, Request, Stub};

pub struct OutgoingRequest<'a> {
    pub method: Method,
    pub url: &'a str,
    pub headers: BTreeMap<String, String>,
    pub body: RequestBody<'a>,
    pub redirects: Redirects,
    /// How long sending the request and reading the response may take together. None, if the caller limits the time.
    pub time: Option<Duration>,
}

pub enum RequestBody<'a> {
    Empty,
    Json(&'a str),
    /// JSON under another media type than `application/json`.
    JsonAs(&'a str, &'a str),
    /// `application/x-www-form-urlencoded`.
    Form(&'a str),
}

/// What the client does with a response that points to another URL.
#[derive(Clone, Copy)]
pub enum Redirects {
    Follow,
    /// Returns the redirect itself. A URL that was checked must not lead to a URL that was not checked.
    GiveBack,
}

/// The way that a request takes.
pub enum Route<'a> {
    /// The network, to the URL's host.
    Network,
    /// A port of a container. The URL's host means nothing.
    Container(&'a Fetcher),
    /// A Durable Object. The URL's host means nothing.
    Object(&'a Stub),
}

impl<'a> OutgoingRequest<'a> {
    /// A GET without headers and without a deadline. Redirects are not followed.
    pub fn get(url: &'a str) -> Self {
        let (headers, body) = (BTreeMap::new(), RequestBody::Empty);
        Self { method: Method::Get, url, headers, body, redirects: Redirects::GiveBack, time: None }
    }

    /// The same as a POST with a JSON text as its body.
    pub fn post(url: &'a str, json: &'a str) -> Self {
        Self { method: Method::Post, body: RequestBody::Json(json), ..Self::get(url) }
    }

    /// Sends the request, and waits for the head of its response.
    pub async fn send(&self, route: Route<'_>) -> Result<OutgoingResponse, OutgoingFailure> {
        let request = self.build().map_err(|cause| OutgoingFailure::Unusable(cause.to_string()))?;
        let deadline = Deadline::after(self.time);
        let response = deadline.hold(async {
            match route {
                Route::Network => Fetch::Request(request).send().await,
                Route::Container(port) => port.fetch_request(request).await?.try_into(),
                Route::Object(object) => object.fetch_with_request(request).await,
            }
        });
        let response = response.await?.map_err(|cause| OutgoingFailure::Unreachable(cause.to_string()))?;
        Ok(OutgoingResponse::new(response, deadline))
    }

    /// Builds the request with JavaScript's own options. The options of the crate `worker` name everything that
    /// Cloudflare can do to an image, and would put all of it into the bundle.
    fn build(&self) -> worker::Result<Request> {
        let headers = Headers::new();
        for (name, value) in &self.headers {
            headers.set(name, value)?;
        }
        let options = web_sys::RequestInit::new();
        options.set_method(self.method.as_ref());
        options.set_redirect(match self.redirects {
            Redirects::Follow => RequestRedirect::Follow,
            Redirects::GiveBack => RequestRedirect::Manual,
        });
        let body = match self.body {
            RequestBody::Empty => None,
            RequestBody::Json(text) => Some(("application/json", text)),
            RequestBody::JsonAs(media_type, text) => Some((media_type, text)),
            RequestBody::Form(text) => Some(("application/x-www-form-urlencoded", text)),
        };
        if let Some((content_type, text)) = body {
            headers.set("Content-Type", content_type)?;
            options.set_body(&text.into());
        }
        options.set_headers(headers.as_ref());
        match web_sys::Request::new_with_str_and_init(self.url, &options) {
            Ok(request) => Ok(request.into()),
            Err(_) => Err(worker::Error::RustError("the URL or a header cannot be used".to_owned())),
        }
    }
}
