//! `/api/registry/stats`, `/api/registry/health` and `/metrics`: figures and alerts.

use super::extract::{Admin, Operator};
use super::respond::Json;
use crate::error::Result;
use crate::oversight::{self, RegistryHealth, RegistryStats};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};

/// See the workspace's figures
///
/// Figures of tools, calls and registrations. They are exact, and cost the same however many calls there have been.
#[utoipa::path(get, path = "/api/registry/stats", tag = "registry",
    responses((status = 200, description = "The figures", body = RegistryStats)))]
#[worker::send]
pub async fn get_stats(Admin(scope): Admin) -> Result<Json<RegistryStats>> {
    oversight::stats(&scope).await.map(Json)
}

/// See what needs attention
///
/// The status code is 200 whatever the alerts are. The field `status` is the status of the gravest alert.
#[utoipa::path(get, path = "/api/registry/health", tag = "registry",
    responses((status = 200, description = "The alerts", body = RegistryHealth)))]
#[worker::send]
pub async fn get_health(Admin(scope): Admin) -> Result<Json<RegistryHealth>> {
    oversight::health(&scope).await.map(Json)
}

/// The figures of the whole Worker, for Prometheus
///
/// The figures cover all workspaces and name none. The route needs the root token, unless the Worker runs in open mode.
#[utoipa::path(get, path = "/metrics", tag = "site", security(("bearer" = []), ()),
    responses((status = 200, description = "Prometheus' text format 0.0.4", body = String, content_type = "text/plain; version=0.0.4; charset=utf-8"),
        (status = 401, description = "No token, or another than the root token")))]
#[worker::send]
pub async fn get_metrics(Operator(app): Operator) -> Result<Response> {
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    Ok(([(header::CONTENT_TYPE, kind)], oversight::metrics(&app).await?).into_response())
}
