//! Which pages of other origins may call us: those that the var `CORS_ORIGINS` names.

use axum::http::{HeaderName, HeaderValue, Method, header};
use std::time::Duration;
use tower_http::cors::{AllowOrigin, CorsLayer};

pub fn layer(origins: &[String]) -> CorsLayer {
    let origin = if origins.iter().any(|it| it == "*") {
        AllowOrigin::any()
    } else {
        AllowOrigin::list(origins.iter().filter_map(|it| HeaderValue::try_from(it).ok()))
    };
    CorsLayer::new()
        .allow_origin(origin)
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE])
        .allow_headers([header::AUTHORIZATION, header::CONTENT_TYPE, HeaderName::from_static("x-workspace-id")])
        .expose_headers([header::ETAG, header::RETRY_AFTER, super::REQUEST_ID, super::files::MANIFEST_ID])
        .max_age(Duration::from_hours(24))
}
