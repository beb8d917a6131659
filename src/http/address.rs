//! The address of a request: a slash at the end of a path makes no difference, and a method that a route does not take is
//! refused with those that it takes. This file serves no route.

use crate::error::Error;
use axum::body::Body;
use axum::http::uri::PathAndQuery;
use axum::http::{Method, Request, Uri, header};
use axum::response::Response;
use std::sync::Arc;

/// Takes the slashes from the end of the path. (A redirect would turn a POST into a GET.)
pub fn drop_trailing_slash(request: &mut Request<Body>) {
    if request.uri().path().len() > 1
        && request.uri().path().ends_with('/')
        && let Some(uri) = without_trailing_slash(request.uri())
    {
        *request.uri_mut() = uri;
    }
}

fn without_trailing_slash(uri: &Uri) -> Option<Uri> {
    let path = match uri.path().trim_end_matches('/') {
        "" => "/",
        path => path,
    };
    let target = match uri.query() {
        Some(query) => PathAndQuery::try_from(format!("{path}?{query}")),
        None => PathAndQuery::try_from(path),
    };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(target.ok()?);
    Uri::from_parts(parts).ok()
}

/// The refusal of a method. Its methods are not known yet.
pub async fn method_not_allowed(method: Method, uri: Uri) -> Error {
    Error::MethodNotAllowed { allowed: String::new(), instead: instead(&method, uri.path()) }
}

fn instead(method: &Method, path: &str) -> &'static str {
    let is_tool = path.strip_prefix("/api/tools/").is_some_and(|id| !id.contains('/'));
    if *method == Method::DELETE && is_tool {
        return ". A tool is never deleted: POST /api/tools/:id/deactivate takes it out of use";
    }
    ""
}

/// Names the methods of the header `Allow`, which the router adds to a refusal.
pub fn name_methods(response: &mut Response) {
    let refused = response.extensions().get::<Arc<Error>>();
    let Some(Error::MethodNotAllowed { instead, .. }) = refused.map(|it| &**it) else { return };
    let allowed = response.headers().get(header::ALLOW).and_then(|it| it.to_str().ok());
    let error = Error::MethodNotAllowed { allowed: allowed.unwrap_or("no method").to_owned(), instead };
    response.extensions_mut().insert(Arc::new(error));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slashes_at_the_end_make_no_difference() {
        let check = |uri: &str, expected: &str| {
            let mut request = Request::builder().uri(uri).body(Body::empty()).unwrap();
            drop_trailing_slash(&mut request);
            assert_eq!(request.uri(), expected);
        };
        check("http://127.0.0.1:8787/api/tools/?q=a/", "http://127.0.0.1:8787/api/tools?q=a/");
        check("http://127.0.0.1/w/acme/mcp//", "http://127.0.0.1/w/acme/mcp");
        for same in ["http://127.0.0.1/", "http://127.0.0.1/api/tools", "/a%2F"] {
            check(same, same);
        }
        check("///", "/");
    }

    #[test]
    fn a_tool_is_deactivated_and_not_deleted() {
        assert!(instead(&Method::DELETE, "/api/tools/notes").contains("/deactivate"));
        assert_eq!(instead(&Method::DELETE, "/api/tools/notes/versions"), "");
        assert_eq!(instead(&Method::PUT, "/api/tools/notes"), "");
    }
}
