//! A request, and the ways to send it.

use super::OutgoingFailure;
use super::abort::AbortOnDrop;
use super::deadline::Deadline;
use super::response::OutgoingResponse;
use std::collections::BTreeMap;
use std::time::Duration;
use wasm_bindgen::prelude::wasm_bindgen;
use worker::js_sys::{Array, Promise, Uint8Array};
use worker::wasm_bindgen::JsCast;
use worker::wasm_bindgen_futures::JsFuture;
use worker::web_sys::{self, AbortSignal, RequestRedirect};
use worker::{Fetcher, Headers, Method, Request, Stub};

/// The largest body that crosses from JavaScript in one piece.
const SMALL_BYTES: u32 = 256 * 1024;

#[wasm_bindgen(module = "/src/outgoing/fetch.js")]
extern "C" {
    #[expect(clippy::too_many_arguments, reason = "an object would cross as slowly as all of them")]
    fn send(
        url: &str,
        method: &str,
        headers: &str,
        body: Option<&str>,
        redirect: &str,
        small_bytes: u32,
        kept: Option<&str>,
        signal: Option<AbortSignal>,
    ) -> Promise;
}

pub struct OutgoingRequest<'a> {
    pub method: Method,
    pub url: &'a str,
    pub headers: BTreeMap<String, String>,
    pub body: RequestBody<'a>,
    pub redirects: Redirects,
    /// How long sending the request and reading the response may take together. None, if the caller limits the time.
    pub time: Option<Duration>,
    /// The headers of the response that the caller wants to see, in lower case.
    pub kept_headers: &'static [&'static str],
    /// What ends the request early.
    pub abort: Option<&'a AbortOnDrop>,
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
#[derive(Clone, Copy)]
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
        let redirects = Redirects::GiveBack;
        Self { method: Method::Get, url, headers, body, redirects, time: None, kept_headers: &[], abort: None }
    }

    /// The same as a POST with a JSON text as its body.
    pub fn post(url: &'a str, json: &'a str) -> Self {
        Self { method: Method::Post, body: RequestBody::Json(json), ..Self::get(url) }
    }

    /// Sends the request, and waits for the head of its response.
    pub async fn send(&self, route: Route<'_>) -> Result<OutgoingResponse, OutgoingFailure> {
        let deadline = Deadline::after(self.time);
        let build = || self.build().map_err(|cause| OutgoingFailure::Unusable(cause.to_string()));
        let response = match route {
            Route::Network => return self.fetch(deadline).await,
            Route::Container(port) => {
                let request = build()?;
                deadline.hold(async { port.fetch_request(request).await?.try_into() }).await?
            }
            Route::Object(object) => deadline.hold(object.fetch_with_request(build()?)).await?,
        };
        let response = response.map_err(|cause| OutgoingFailure::Unreachable(cause.to_string()))?;
        let kept = self.kept_headers.iter().map(|name| response.headers().get(name).ok().flatten()).collect::<Vec<_>>();
        Ok(OutgoingResponse::unread(response, deadline).with_headers(self.kept(kept)))
    }

    /// Pairs the kept headers with their values.
    fn kept(&self, values: Vec<Option<String>>) -> Vec<(&'static str, String)> {
        self.kept_headers.iter().zip(values).filter_map(|(name, value)| Some((*name, value?))).collect()
    }

    /// Sends the request to the network.
    async fn fetch(&self, deadline: Deadline) -> Result<OutgoingResponse, OutgoingFailure> {
        let body = self.content();
        let content_type = body.map(|(content_type, _)| ("Content-Type", content_type));
        let headers = self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).chain(content_type);
        let headers = serde_json::json!(headers.collect::<Vec<_>>()).to_string();
        let redirect = match self.redirects {
            Redirects::Follow => "follow",
            Redirects::GiveBack => "manual",
        };
        let text = body.map(|(_, text)| text);
        let kept = (!self.kept_headers.is_empty()).then(|| self.kept_headers.join("\n"));
        let signal = self.abort.and_then(AbortOnDrop::signal);
        let method = self.method.as_ref();
        let sent = send(self.url, method, &headers, text, redirect, SMALL_BYTES, kept.as_deref(), signal);
        let answer = deadline.hold(JsFuture::from(sent)).await?;
        let answer = answer.map_err(|cause| OutgoingFailure::Unreachable(worker::Error::from(cause).to_string()))?;
        let [status, bytes, response, cause, kept] = [0, 1, 2, 3, 4].map(|it| answer.unchecked_ref::<Array>().get(it));
        // A status is a number below 1,000.
        let status = status.as_f64().unwrap_or_default() as u16;
        if let Some(cause) = cause.as_string() {
            let failure = if status == 0 { OutgoingFailure::Unusable } else { OutgoingFailure::BrokenOff };
            return Err(failure(cause));
        }
        let kept = match kept.is_undefined() {
            true => Vec::new(),
            false => self.kept(kept.unchecked_into::<Array>().iter().map(|it| it.as_string()).collect()),
        };
        let response = if bytes.is_undefined() {
            OutgoingResponse::unread(response.unchecked_into::<web_sys::Response>().into(), deadline)
        } else {
            OutgoingResponse::read(status, bytes.unchecked_into::<Uint8Array>().to_vec())
        };
        Ok(response.with_headers(kept))
    }

    /// The media type and the text of the body.
    fn content(&self) -> Option<(&str, &str)> {
        match self.body {
            RequestBody::Empty => None,
            RequestBody::Json(text) => Some(("application/json", text)),
            RequestBody::JsonAs(media_type, text) => Some((media_type, text)),
            RequestBody::Form(text) => Some(("application/x-www-form-urlencoded", text)),
        }
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
        if let Some((content_type, text)) = self.content() {
            headers.set("Content-Type", content_type)?;
            options.set_body(&text.into());
        }
        options.set_headers(headers.as_ref());
        if let Some(signal) = self.abort.and_then(AbortOnDrop::signal) {
            options.set_signal(Some(&signal));
        }
        match web_sys::Request::new_with_str_and_init(self.url, &options) {
            Ok(request) => Ok(request.into()),
            Err(_) => Err(worker::Error::RustError("the URL or a header cannot be used".to_owned())),
        }
    }
}
