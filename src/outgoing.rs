//! Requests that the Worker makes. By JavaScript's own options: `worker`'s hold all that Cloudflare can do to an image on
//! its way, and would put it into the bundle.

use worker::web_sys::{self, RequestRedirect};
use worker::{Error, Headers, Request};

/// A POST of a JSON text.
pub fn post(url: &str, headers: &Headers, redirect: RequestRedirect, body: &str) -> worker::Result<Request> {
    headers.set("Content-Type", "application/json")?;
    let options = web_sys::RequestInit::new();
    options.set_method("POST");
    options.set_headers(headers.as_ref());
    options.set_redirect(redirect);
    options.set_body(&body.into());
    match web_sys::Request::new_with_str_and_init(url, &options) {
        Ok(request) => Ok(request.into()),
        Err(_) => Err(Error::RustError("the URL or a header cannot be used".to_owned())),
    }
}
