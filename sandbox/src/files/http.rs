//! The routes of the second room.

use super::contents::Contents;
use super::request::{ContentsIn, FileRequest, ReadIn, hash, hex, parse};
use super::room::{Room, State as RoomState};
use super::run::{self, Ended};
use crate::body;
use crate::config::Config;
use crate::gate::Gate;
use crate::intake::{self, json_body};
use crate::limits::Limits;
use crate::refusal::{Refusal, json_response};
use crate::slot_size::{MAX_FILE_BYTES, MAX_FILES, MAX_TOTAL_BYTES};
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::routing::post;
use data_encoding::BASE64;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::{Semaphore, oneshot};

/// Code, some megabytes of arguments, and the paths of all files.
const MAX_RUN_BYTES: usize = 8 << 20;
/// Some chunks of contents. Quotes and line ends double in JSON.
const MAX_CONTENTS_BYTES: usize = 12 << 20;
const MAX_READ_BYTES: usize = 1 << 10;
/// How many bytes one response of `POST /files/read` holds: a multiple of three, so that texts in base64 can be joined.
const MAX_PIECE_BYTES: usize = 3 << 20;
/// How many bodies with contents are in memory at once.
const UPLOADS: usize = 2;

pub struct FileApp {
    room: Room,
    gate: Gate,
    contents: Arc<Contents>,
    limits: Limits,
    uploads: Semaphore,
    /// How many calls were run.
    calls: AtomicU64,
}

impl FileApp {
    pub fn new(config: &Config) -> Self {
        let most = usize::try_from(config.contents_mb << 20).unwrap_or(usize::MAX);
        Self {
            room: Room::new(config),
            gate: Gate::without_stops(config.files_slots),
            contents: Arc::new(Contents::new(most)),
            limits: Limits::of_files(config),
            uploads: Semaphore::new(UPLOADS),
            calls: AtomicU64::new(0),
        }
    }
}

impl FileApp {
    pub fn is_busy(&self) -> bool {
        self.gate.running() > 0
    }
}

pub fn router<S: Clone + Send + Sync + 'static>(app: Arc<FileApp>) -> Router<S> {
    Router::new()
        .route("/files/run", post(run))
        .route("/inspect", post(inspect))
        .route("/files/contents", post(take_contents))
        .route("/files/read", post(read_contents))
        .with_state(app)
}

/// Tells whether the room is open, which layers are on, and how busy it is.
pub fn health(app: &FileApp) -> Value {
    let (status, reason, room) = match app.room.state() {
        RoomState::Idle => ("idle", None, None),
        RoomState::Open(room) => ("ok", None, Some(room)),
        RoomState::Unavailable { why, .. } => ("unavailable", Some(why), None),
    };
    let zygote = room.as_ref().and_then(|room| room.zygotes.current());
    json!({
        "status": status,
        "reason": reason,
        "layers": zygote.as_ref().map(|zygote| json!({
            "landlock": zygote.layers.landlock,
            "namespaces": zygote.layers.namespaces,
            "private_root": zygote.layers.private_root,
        })),
        "zygote": zygote.as_ref().map(|zygote| json!({
            "pid": zygote.pid,
            "calls": zygote.calls(),
            "age_seconds": zygote.born.elapsed().as_secs(),
            "started": room.as_ref().map(|room| room.zygotes.started()),
        })),
        "folders": room.as_ref().and_then(|room| room.folders()),
        "calls": app.calls.load(Ordering::Relaxed),
        "queue": {
            "running": app.gate.running(),
            "slots": app.gate.slots(),
            "waiting": app.gate.waiting(),
            "capacity": app.gate.queue(),
        },
        "contents": {"bytes": app.contents.bytes(), "most": app.contents.most()},
        "limits": {
            "timeout_seconds": app.limits.timeout.as_secs_f64(),
            "memory_mb": app.limits.memory_bytes >> 20,
            "files": MAX_FILES,
            "file_bytes": MAX_FILE_BYTES,
            "total_bytes": MAX_TOTAL_BYTES,
        },
    })
}

async fn run(State(app): State<Arc<FileApp>>, headers: HeaderMap, body: Body) -> Result<Response, Refusal> {
    answer(app, &headers, body, FileRequest::to_run).await
}

/// Infers the schemas of functions, which loads their modules.
async fn inspect(State(app): State<Arc<FileApp>>, headers: HeaderMap, body: Body) -> Result<Response, Refusal> {
    answer(app, &headers, body, FileRequest::to_inspect).await
}

async fn answer(
    app: Arc<FileApp>,
    headers: &HeaderMap,
    body: Body,
    parse: fn(&[u8], Limits) -> Result<FileRequest, String>,
) -> Result<Response, Refusal> {
    let (ticket, body) = intake::take(&app.gate, headers, body, MAX_RUN_BYTES).await?;
    let request = Arc::new(parse(&body, app.limits).map_err(Refusal::Invalid)?);
    drop(body);
    let room = app.room.open().await.map_err(Refusal::NoRoom)?;
    // Before the wait for a slot, so that missing contents can come meanwhile.
    let contents = app.contents.get_all(&request.share, request.hashes()).map_err(missing)?;
    request.check_sizes(&contents).map_err(Refusal::Invalid)?;
    drop(contents);
    let ticket = ticket.of_share(&request.share)?;
    let slot = ticket.slot().await?;
    let (outcome, ended) = oneshot::channel();
    let contents = app.contents.clone();
    // The call runs in a task of its own: if the client disconnects, this function is dropped, but the child must still be
    // killed, and its folder removed.
    tokio::spawn(async move {
        run::run(room, contents, request, outcome).await;
        drop(slot);
    });
    match ended.await {
        Ok(Ok(Ended::Answered(answer))) => {
            app.calls.fetch_add(1, Ordering::Relaxed);
            Ok(json_response(StatusCode::OK, &answer))
        }
        Ok(Ok(Ended::Missing(hashes))) => Err(missing(hashes)),
        Ok(Ok(Ended::Invalid(why))) => Err(Refusal::Invalid(why)),
        Ok(Err(cause)) => Err(Refusal::Unavailable(cause.to_string())),
        Err(_) => Err(Refusal::Unavailable("the call was lost".into())),
    }
}

fn missing(hashes: Vec<crate::folder::Hash>) -> Refusal {
    Refusal::Missing(hashes.iter().map(hex).collect())
}

async fn take_contents(State(app): State<Arc<FileApp>>, headers: HeaderMap, body: Body) -> Result<Response, Refusal> {
    let body = json_body(&headers, body).await?;
    let _turn = app.uploads.acquire().await.map_err(|cause| Refusal::Unavailable(cause.to_string()))?;
    let body = body::read(body, MAX_CONTENTS_BYTES).await?;
    let given = parse(&body, |it: &ContentsIn| &it.share).map_err(Refusal::Invalid)?;
    drop(body);
    let mut kept = Vec::new();
    for piece in given.pieces {
        kept.extend(app.contents.take(&given.share, piece).map_err(Refusal::Invalid)?.as_ref().map(hex));
    }
    Ok(json_response(StatusCode::OK, &json!({"kept": kept})))
}

async fn read_contents(State(app): State<Arc<FileApp>>, headers: HeaderMap, body: Body) -> Result<Response, Refusal> {
    let body = body::read(json_body(&headers, body).await?, MAX_READ_BYTES).await?;
    let asked = parse(&body, |it: &ReadIn| &it.share).map_err(Refusal::Invalid)?;
    let name = hash(&asked.sha256).ok_or_else(|| Refusal::Invalid("sha256: this is none".into()))?;
    let bytes = app.contents.get(&asked.share, &name).ok_or(Refusal::Gone)?;
    let rest = bytes.get(asked.from..).unwrap_or_default();
    let piece = &rest[..rest.len().min(asked.bytes.unwrap_or(MAX_PIECE_BYTES)).min(MAX_PIECE_BYTES)];
    let told = json!({"sha256": asked.sha256, "size": bytes.len(), "from": asked.from, "data": BASE64.encode(piece)});
    Ok(json_response(StatusCode::OK, &told))
}
