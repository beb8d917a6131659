//! CORS, for every route. Pages of the origins in the var `CORS_ORIGINS` may call the API. The endpoints of MCP also
//! admit the origins that `origin.rs` admits.

use super::origin::RequestOrigin;
use crate::settings::Settings;
use axum::http::Method;
use axum::http::header;
use std::time::Duration;
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer};

pub fn layer(settings: &'static Settings) -> CorsLayer {
    let origins = &settings.cors_origins;
    let origin = if origins.iter().any(|it| it == "*") {
        AllowOrigin::any()
    } else {
        AllowOrigin::predicate(move |origin, parts| {
            origins.iter().any(|it| it.as_bytes() == origin.as_bytes())
                || (is_mcp(parts.uri.path()) && RequestOrigin::of(&parts.headers, &parts.uri).page_is_allowed(settings))
        })
    };
    CorsLayer::new()
        .allow_origin(origin)
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE])
        // A tool's schema may name its own headers for MCP, so every header is allowed. The origin decides who may
        // call.
        .allow_headers(AllowHeaders::mirror_request())
        .expose_headers([
            header::ETAG,
            header::RETRY_AFTER,
            super::REQUEST_ID,
            super::files::MANIFEST_ID,
            super::replicas::BOOKMARK,
        ])
        .max_age(Duration::from_hours(24))
}

/// Whether a path is an endpoint of MCP. `/api/tools/mcp` is not an endpoint, but a tool with the id `mcp`.
pub fn is_mcp(path: &str) -> bool {
    path == "/mcp" || (path.starts_with("/w/") && path.ends_with("/mcp"))
}
