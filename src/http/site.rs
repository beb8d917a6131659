//! `/healthz`, `/openapi.json` and `/docs`: routes that need no workspace.

use super::respond::Json;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Serialize, ToSchema)]
pub struct Health {
    #[schema(example = "ok")]
    status: &'static str,
    #[schema(example = "0.1.0")]
    version: &'static str,
}

/// Check that the Worker responds
#[utoipa::path(get, path = "/healthz", tag = "site",
    responses((status = 200, description = "The Worker responds", body = Health)))]
pub async fn health() -> Json<Health> {
    Json(Health { status: "ok", version: env!("CARGO_PKG_VERSION") })
}

/// The description of the API.
pub const OPENAPI: &str = include_str!(concat!(env!("OUT_DIR"), "/openapi.json"));

/// Get this description
#[utoipa::path(get, path = "/openapi.json", tag = "site",
    responses((status = 200, description = "OpenAPI 3.1", body = Object, content_type = "application/json")))]
pub async fn openapi() -> Response {
    page("application/json", OPENAPI)
}

/// Read this description as a page
#[utoipa::path(get, path = "/docs", tag = "site",
    responses((status = 200, description = "An HTML page that loads nothing from other sites", body = String, content_type = "text/html; charset=utf-8")))]
pub async fn docs() -> Response {
    page("text/html; charset=utf-8", include_str!("docs.html"))
}

/// A file that stays the same until the next deployment.
fn page(content_type: &'static str, text: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(content_type)),
        (header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=300")),
        (
            header::CONTENT_SECURITY_POLICY,
            HeaderValue::from_static("default-src 'self'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"),
        ),
    ];
    (headers, text).into_response()
}
