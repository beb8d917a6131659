//! The routes.

use crate::body;
use crate::bridge;
use crate::configuration;
use crate::error::{Refusal, json_response};
use crate::file_set::{self, Pieces};
use crate::key::ServerKey;
use crate::secret;
use crate::server::{Server, Turn};
use crate::servers::Servers;
use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use serde_json::json;
use std::sync::Arc;
use tokio::task::spawn_blocking;

/// Names the configuration that a request is meant for.
const CONFIG: &str = "mcp-host-config";

pub struct App {
    pub servers: Arc<Servers>,
    pub secret: Option<String>,
}

pub fn router(app: Arc<App>) -> Router {
    let servers = Router::new()
        .route("/servers/{key}", put(put_server).get(get_server).delete(delete_server))
        .route("/servers/{key}/files", put(put_files).post(post_files))
        .route("/servers/{key}/mcp", post(post_mcp).delete(delete_session))
        .layer(from_fn_with_state(app.clone(), check_secret));
    Router::new()
        .route("/health", get(health))
        .merge(servers)
        .method_not_allowed_fallback(async || {
            Refusal::Method("PUT, GET and DELETE of /servers/{key}, PUT and POST of its /files, POST of its /mcp")
        })
        .fallback_service(
            Router::new().fallback(async || Refusal::Unknown).layer(from_fn_with_state(app.clone(), check_secret)),
        )
        .with_state(app)
}

async fn check_secret(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    if secret::admits(app.secret.as_deref(), request.headers()) {
        next.run(request).await
    } else {
        Refusal::Secret.into_response()
    }
}

async fn health(State(app): State<Arc<App>>) -> Response {
    let (running, most) = (app.servers.running(), app.servers.limits().servers);
    json_response(StatusCode::OK, &json!({"status": "ok", "running": running, "servers": most}))
}

async fn put_server(State(app): State<Arc<App>>, Path(key): Path<String>, body: Body) -> Result<Response, Refusal> {
    let key = parsed(&key)?;
    let body = body::read(body, configuration::MAX_BYTES).await;
    let body = body.map_err(|bad| Refusal::of_body(&bad, configuration::MAX_BYTES))?;
    let hash = app.servers.put(key, &body).await?;
    Ok(json_response(StatusCode::OK, &json!({"config": hash})))
}

/// Takes a list of files, and tells which contents are missing.
async fn put_files(State(app): State<Arc<App>>, Path(key): Path<String>, body: Body) -> Result<Response, Refusal> {
    let key = parsed(&key)?;
    let body = body::read(body, file_set::MAX_LIST_BYTES).await;
    let body = body.map_err(|bad| Refusal::of_body(&bad, file_set::MAX_LIST_BYTES))?;
    let files = app.servers.put_files(key, &body)?;
    Ok(json_response(StatusCode::OK, &json!({"files": files.hash, "missing": files.missing()})))
}

/// Takes contents of files that are in the list.
async fn post_files(State(app): State<Arc<App>>, Path(key): Path<String>, body: Body) -> Result<StatusCode, Refusal> {
    let key = parsed(&key)?;
    let Some(files) = app.servers.files(&key) else {
        body::skip(body).await;
        return Err(Refusal::Files);
    };
    let body = body::read(body, file_set::MAX_PIECES_BYTES).await;
    let body = body.map_err(|bad| Refusal::of_body(&bad, file_set::MAX_PIECES_BYTES))?;
    let taken = spawn_blocking(move || files.take(Pieces::parse(&body)?)).await;
    let taken = taken.unwrap_or_else(|_| Err("the contents were lost".to_owned()));
    taken.map(|()| StatusCode::NO_CONTENT).map_err(Refusal::Invalid)
}

async fn get_server(State(app): State<Arc<App>>, Path(key): Path<String>) -> Result<Response, Refusal> {
    let server = app.servers.find(&parsed(&key)?).ok_or(Refusal::Unknown)?;
    Ok(json_response(StatusCode::OK, &server.report()))
}

async fn delete_server(State(app): State<Arc<App>>, Path(key): Path<String>) -> Result<StatusCode, Refusal> {
    app.servers.remove(&parsed(&key)?).await;
    Ok(StatusCode::NO_CONTENT)
}

async fn post_mcp(
    State(app): State<Arc<App>>,
    Path(key): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    let (server, _turn) = match server_of(&app, &key, &headers) {
        Ok(found) => found,
        Err(refusal) => {
            body::skip(body).await;
            return Err(refusal);
        }
    };
    let body = body::read(body, bridge::MAX_BYTES).await.map_err(|bad| Refusal::of_body(&bad, bridge::MAX_BYTES))?;
    bridge::post(&app.servers, &server, &headers, &body).await
}

/// The server that a request is meant for, and the request's turn. The body is read later, so that only so many bodies are
/// in memory.
fn server_of(app: &App, key: &str, headers: &HeaderMap) -> Result<(Arc<Server>, Turn), Refusal> {
    let key = parsed(key)?;
    if !is_json(headers) {
        return Err(Refusal::MediaType);
    }
    let meant = headers.get(CONFIG).map(|it| it.as_bytes()).unwrap_or_default();
    let server = app.servers.find(&key).filter(|it| it.hash.as_bytes() == meant).ok_or(Refusal::Configuration)?;
    let turn = server.turn()?;
    Ok((server, turn))
}

/// A session ends with its process, and other clients may use it too.
async fn delete_session(Path(key): Path<String>) -> Result<StatusCode, Refusal> {
    parsed(&key).map(|_| StatusCode::NO_CONTENT)
}

fn parsed(key: &str) -> Result<ServerKey, Refusal> {
    ServerKey::parse(key).ok_or_else(|| Refusal::Invalid("a key has 1 to 200 letters, digits, _ . : or -".into()))
}

fn is_json(headers: &HeaderMap) -> bool {
    let given = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    given.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}
