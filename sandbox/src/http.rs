//! The three routes, and their refusals.

use crate::answer::Answer;
use crate::body::{self, BadBody, MAX_BYTES};
use crate::gate::{Full, Gate, Slot};
use crate::limits::Limits;
use crate::pool::Zygotes;
use crate::request::Request;
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::Serialize;
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
}

pub fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/health", get(health))
        .route("/run", post(run))
        .route("/check", post(check))
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
    // A browser sends this type only with permission, so that no web page can use a sandbox on a developer's machine.
    if !is_json(headers) {
        body::skip(body).await;
        return Err(Refusal::MediaType);
    }
    let ticket = match app.gate.ticket() {
        Ok(ticket) => ticket,
        Err(full) => {
            body::skip(body).await;
            return Err(full.into());
        }
    };
    let body = body::read(body).await?;
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

fn is_json(headers: &HeaderMap) -> bool {
    let given = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    given.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

/// Why nothing was run.
enum Refusal {
    Invalid(String),
    TooLong,
    MediaType,
    /// All slots are taken.
    Busy,
    /// The call's share has all the slots that it may have while others wait.
    Share,
    Unavailable(String),
    Path,
    Method,
}

impl From<BadBody> for Refusal {
    fn from(bad: BadBody) -> Self {
        match bad {
            BadBody::TooLong => Self::TooLong,
            BadBody::Broken => Self::Invalid("the body did not arrive whole".into()),
        }
    }
}

impl From<Full> for Refusal {
    fn from(full: Full) -> Self {
        match full {
            Full::Busy => Self::Busy,
            Full::Share => Self::Share,
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (status, code, message) = match &self {
            Self::Invalid(why) => (StatusCode::BAD_REQUEST, "VALIDATION_ERROR", why.clone()),
            Self::TooLong => {
                (StatusCode::PAYLOAD_TOO_LARGE, "PAYLOAD_TOO_LARGE", format!("a request has at most {MAX_BYTES} bytes"))
            }
            Self::MediaType => (
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "UNSUPPORTED_MEDIA_TYPE",
                "a request is application/json, and says so".into(),
            ),
            Self::Busy => (StatusCode::TOO_MANY_REQUESTS, "RATE_LIMITED", "the sandbox is busy; try again".into()),
            Self::Share => (
                StatusCode::TOO_MANY_REQUESTS,
                "RATE_LIMITED",
                "calls of the same share hold half of the sandbox, and others wait; try again".into(),
            ),
            Self::Unavailable(why) => (StatusCode::SERVICE_UNAVAILABLE, "UNAVAILABLE", why.clone()),
            Self::Path => (StatusCode::NOT_FOUND, "NOT_FOUND", "there are /run, /check and /health".into()),
            Self::Method => {
                (StatusCode::METHOD_NOT_ALLOWED, "METHOD_NOT_ALLOWED", "POST /run, POST /check, GET /health".into())
            }
        };
        let details = match &self {
            Self::Busy => json!({"reason": "busy"}),
            Self::Share => json!({"reason": "share"}),
            _ => json!(null),
        };
        let mut response =
            json_response(status, &json!({"error": {"code": code, "message": message, "details": details}}));
        if matches!(self, Self::Busy | Self::Share | Self::Unavailable(_)) {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}

fn json_response(status: StatusCode, value: &impl Serialize) -> Response {
    match serde_json::to_vec(value) {
        Ok(body) => (status, [(CONTENT_TYPE, "application/json")], body).into_response(),
        Err(cause) => (StatusCode::INTERNAL_SERVER_ERROR, cause.to_string()).into_response(),
    }
}
