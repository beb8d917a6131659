//! The routes of the first room, and those of both.

use crate::answer::Answer;
use crate::body::MAX_BYTES;
use crate::files::{self, FileApp};
use crate::gate::{Gate, Slot};
use crate::intake;
use crate::limits::Limits;
use crate::pool::Zygotes;
use crate::refusal::{Refusal, json_response};
use crate::request::Request;
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::oneshot;

pub struct App {
    pub zygotes: Arc<Zygotes>,
    pub gate: Gate,
    pub limits: Limits,
    /// How many calls were run.
    pub calls: AtomicU64,
    /// The second room.
    pub files: Arc<FileApp>,
}

pub fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/health", get(health))
        .route("/run", post(run))
        .route("/check", post(check))
        .merge(files::router(app.files.clone()))
        .method_not_allowed_fallback(async || Refusal::Method)
        .fallback(async || Refusal::Path)
        .with_state(app)
}

/// Tells which layers are on, and how busy the server is. The layers without which the server does not start are listed
/// too.
async fn health(State(app): State<Arc<App>>) -> Response {
    let Some(zygote) = app.zygotes.current() else {
        return Refusal::Unavailable("Python is being started".into()).into_response();
    };
    let layers = &zygote.layers;
    let told = json!({
        "status": "ok",
        "python": zygote.python,
        "layers": {
            "seccomp": true,
            "no_new_privs": true,
            "rlimits": true,
            "non_root": true,
            "landlock": layers.landlock,
            "namespaces": layers.namespaces,
            "private_root": layers.private_root,
        },
        "calls": app.calls.load(Ordering::Relaxed),
        "queue": {
            "running": app.gate.running(),
            "slots": app.gate.slots(),
            "waiting": app.gate.waiting(),
            "capacity": app.gate.queue(),
        },
        "zygote": {
            "pid": zygote.pid,
            "calls": zygote.calls(),
            "age_seconds": zygote.born.elapsed().as_secs(),
            "started": app.zygotes.started(),
        },
        "limits": {
            "timeout_seconds": app.limits.timeout.as_secs_f64(),
            "memory_mb": app.limits.memory_bytes >> 20,
        },
        "files": files::health(&app.files),
    });
    json_response(StatusCode::OK, &told)
}

async fn run(State(app): State<Arc<App>>, headers: HeaderMap, body: Body) -> Result<Response, Refusal> {
    answer(app, &headers, body, Request::to_run).await
}

/// Looks at code without running it. A look takes a slot and a child like a run, because hostile source can attack the
/// compiler.
async fn check(State(app): State<Arc<App>>, headers: HeaderMap, body: Body) -> Result<Response, Refusal> {
    answer(app, &headers, body, Request::to_check).await
}

async fn answer(
    app: Arc<App>,
    headers: &HeaderMap,
    body: Body,
    parse: fn(&[u8], Limits) -> Result<Request, String>,
) -> Result<Response, Refusal> {
    let (ticket, body) = intake::take(&app.gate, headers, body, MAX_BYTES).await?;
    let request = Arc::new(parse(&body, app.limits).map_err(Refusal::Invalid)?);
    drop(body);
    let ticket = ticket.of_share(&request.share)?;
    // A call that had to give its slot back waits for another slot. A call that must give back the second slot too is
    // refused, so that the client gets a response in time.
    for _ in 0..2 {
        let slot = ticket.slot().await?;
        let (answer, answered) = oneshot::channel();
        // The call runs in a task of its own: if the client disconnects, this function is dropped, but the child must
        // still be killed and reaped.
        tokio::spawn(carry_out(app.clone(), slot, request.clone(), answer));
        match answered.await {
            Ok(Ok(Some(answer))) => return Ok(json_response(StatusCode::OK, &answer)),
            Ok(Ok(None)) => {}
            Ok(Err(cause)) => return Err(Refusal::Unavailable(cause.to_string())),
            Err(_) => return Err(Refusal::Unavailable("the call was lost".into())),
        }
    }
    Err(Refusal::Share)
}

/// Runs the call. The answer is none if the call was stopped because its share holds too many slots.
async fn carry_out(
    app: Arc<App>,
    mut slot: Slot,
    request: Arc<Request>,
    mut answer: oneshot::Sender<std::io::Result<Option<Answer>>>,
) {
    let mut given_back = false;
    let stopped = slot.stopped();
    let abandoned = async {
        tokio::select! {
            () = stopped => given_back = true,
            () = answer.closed() => {}
        }
    };
    let ended = app.zygotes.call(&request, abandoned).await;
    drop(slot);
    if ended.is_ok() && !given_back {
        app.calls.fetch_add(1, Ordering::Relaxed);
    }
    // Sending fails if the client no longer waits.
    let _ = answer.send(ended.map(|ended| (!given_back).then_some(ended)));
}
