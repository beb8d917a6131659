//! `/`, `/healthz`, `/openapi.json` and `/docs`: routes that need no workspace.

use super::extract::accepts;
use super::respond::Json;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What this server is, and where to go from here.
#[derive(Serialize, ToSchema)]
pub struct Welcome {
    #[schema(example = "Pegboard")]
    name: &'static str,
    #[schema(example = "0.1.0")]
    version: &'static str,
    description: &'static str,
    /// Every route, with a form to try it.
    #[schema(example = "/docs")]
    docs: &'static str,
    /// The same description for programs.
    #[schema(example = "/openapi.json")]
    openapi: &'static str,
    #[schema(example = "/healthz")]
    health: &'static str,
    /// The MCP server of a workspace.
    #[schema(example = "/w/{workspace}/mcp")]
    mcp: &'static str,
    first_steps: [&'static str; 3],
}

const WELCOME: Welcome = Welcome {
    name: "Pegboard",
    version: VERSION,
    description: "The tool registry that AI agents run on: tools are registered, versioned, found, run under guard, and recorded.",
    docs: "/docs",
    openapi: "/openapi.json",
    health: "/healthz",
    mcp: "/w/{workspace}/mcp",
    first_steps: [
        "curl -H 'X-Workspace-Id: demo' $URL/api/tools",
        "curl -H 'X-Workspace-Id: demo' $URL/api/agents -d '{\"name\": \"Mail clerk\"}'",
        "claude mcp add --transport http pegboard $URL/w/demo/mcp",
    ],
};

/// Learn what this server is
///
/// Names the server and its addresses. A browser gets a page, and every other client gets JSON. In `first_steps`, `$URL` is
/// the address of this server. A server that is not open also needs `-H "Authorization: Bearer $TOKEN"`.
#[utoipa::path(get, path = "/", tag = "site",
    responses((status = 200, description = "The name and the addresses", content(
        (Welcome = "application/json"), (String = "text/html; charset=utf-8")))))]
pub async fn welcome(headers: HeaderMap) -> Response {
    let mut response = match accepts(&headers, "text/html") {
        true => page("text/html; charset=utf-8", welcome_page()),
        false => Json(WELCOME).into_response(),
    };
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("Accept"));
    response
}

/// The same as a page. None of the texts comes from a request.
fn welcome_page() -> String {
    let Welcome { name, version, description, docs, openapi, health, mcp, first_steps } = WELCOME;
    let links = [
        (docs, "every route, with a form to try it"),
        (openapi, "the same description for programs"),
        (health, "whether the server responds"),
    ];
    let links = links.map(|(path, about)| format!("<li><a href=\"{path}\">{path}</a>: {about}</li>\n")).concat();
    let steps = first_steps.join("\n");
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>{name}</title>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <style>body {{ max-width: 46rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; \
         color-scheme: light dark }} pre {{ overflow: auto }}</style>\n\
         <h1>{name} <small>{version}</small></h1>\n<p>{description}</p>\n\
         <ul>\n{links}<li><code>{mcp}</code>: the MCP server of a workspace</li>\n</ul>\n\
         <p>First steps, where <code>$URL</code> is the address of this page (a server that is not open also needs \
         <code>-H \"Authorization: Bearer $TOKEN\"</code>):</p>\n<pre>{steps}</pre>\n</html>\n"
    )
}

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
    Json(Health { status: "ok", version: VERSION })
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
fn page(content_type: &'static str, text: impl Into<Body>) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(content_type)),
        (header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=300")),
        (
            header::CONTENT_SECURITY_POLICY,
            HeaderValue::from_static("default-src 'self'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"),
        ),
    ];
    (headers, text.into()).into_response()
}
