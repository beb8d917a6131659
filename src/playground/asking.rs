//! One request to the model's server: sent, waited for, and read piece by piece.

use super::model::{
    ModelAnswer, ModelDelta, ModelFault, ModelLimits, ModelReader, ModelRequest, StatusFaultKind, Streaming,
    fault_of_status,
};
use crate::app::App;
use crate::memory_turn::MemoryTurn;
use crate::outgoing::{AbortOnDrop, OutgoingFailure, OutgoingRequest, OutgoingResponse, Route};
use crate::registry::scrub;
use crate::workspace_settings::ModelAccess;
use futures_util::future::{Either, select};
use std::pin::pin;
use std::time::Duration;
use worker::{Delay, console_warn};

/// The most bytes of an answer, with everything around its text.
const MAX_ANSWER_BYTES: usize = 32 * 1024 * 1024;

/// How much of a refusal is read.
const MAX_REFUSAL_BYTES: usize = 64 * 1024;

/// Asks the model. The server may be silent for `silence`: before a stream begins, and between two pieces of it. A server that
/// does not stream is silent until the whole answer is there, so that only the turn's time ends the waiting. `told` gets
/// everything that becomes known, as it comes. The error is one sentence for the person in the chat.
pub async fn ask(
    app: &App,
    access: &ModelAccess,
    request: ModelRequest<'_>,
    silence: Duration,
    mut told: impl FnMut(Vec<ModelDelta>),
) -> Result<ModelAnswer, String> {
    // Dropping the future, because the turn was stopped, ends the request.
    let abort = AbortOnDrop::new();
    let silence = (request.streaming != Streaming::Off).then_some(silence);
    let response = send(app, access, request, silence, &abort).await?;
    let mut body = response.into_pieces(MAX_ANSWER_BYTES).map_err(|it| unread(&it))?;
    let mut reader = ModelReader::new(ModelLimits::default());
    let faulty = |fault: ModelFault| fault.scrubbed(|words| without_key(access, words)).to_string();
    while !reader.is_done()
        && let Some(piece) = heard(silence, body.next()).await?.map_err(|it| unread(&it))?
    {
        told(reader.read(&piece).map_err(faulty)?);
    }
    let (last, answer) = reader.end().map_err(faulty)?;
    told(last);
    Ok(answer)
}

/// Sends the request until the server takes it: once more after the pause that a busy server asks for, and once more
/// without the options that an old server refuses.
async fn send(
    app: &App,
    access: &ModelAccess,
    mut request: ModelRequest<'_>,
    silence: Option<Duration>,
    abort: &AbortOnDrop,
) -> Result<OutgoingResponse, String> {
    let mut has_waited = false;
    loop {
        let body = request.body().map_err(|cause| format!("The request to the model is not JSON: {cause}"))?;
        let mut outgoing = OutgoingRequest::post(&access.url, &body);
        outgoing.kept_headers = &["retry-after"];
        outgoing.abort = Some(abort);
        if let Some(key) = &access.key {
            outgoing.headers.insert("Authorization".to_owned(), format!("Bearer {key}"));
        }
        let response = heard(silence, outgoing.send(Route::Network)).await?;
        let response = response.map_err(|cause| {
            // The runtime's own words help nobody in a chat.
            console_warn!("the model's server cannot be reached: {cause}");
            "The model's server cannot be reached".to_owned()
        })?;
        let status = response.status();
        if (200..300).contains(&status) {
            return Ok(response);
        }
        let retry_after = response.header("retry-after").map(str::to_owned);
        let text = heard(silence, response.text(MAX_REFUSAL_BYTES, &MemoryTurn::default())).await?.unwrap_or_default();
        let fault = fault_of_status(status, &text, retry_after.as_deref(), app.clock());
        match fault.kind {
            StatusFaultKind::TryAgain { seconds } if !has_waited => {
                has_waited = true;
                Delay::from(Duration::from_secs(u64::from(seconds))).await;
            }
            StatusFaultKind::StreamOptions if request.streaming == Streaming::WithUsage => {
                request.streaming = Streaming::WithoutUsage;
            }
            StatusFaultKind::KeyRefused
            | StatusFaultKind::NotFound
            | StatusFaultKind::TryAgain { .. }
            | StatusFaultKind::StreamOptions
            | StatusFaultKind::Refused
            | StatusFaultKind::Failed => {
                return Err(fault.scrubbed(|words| without_key(access, words)).to_string());
            }
        }
    }
}

/// The server's words without the key: some servers tell which key they refused.
fn without_key(access: &ModelAccess, words: String) -> String {
    match &access.key {
        Some(key) => scrub(std::slice::from_ref(key), words),
        None => words,
    }
}

/// Waits for the server, but not longer than it may be silent.
async fn heard<T>(silence: Option<Duration>, step: impl Future<Output = T>) -> Result<T, String> {
    let Some(silence) = silence else { return Ok(step.await) };
    match select(pin!(step), Delay::from(silence)).await {
        Either::Left((done, _)) => Ok(done),
        Either::Right(_) => Err(format!("The model's server was silent for {} seconds", silence.as_secs())),
    }
}

fn unread(failure: &OutgoingFailure) -> String {
    match failure {
        OutgoingFailure::TooLarge => format!("The model's answer has more than {MAX_ANSWER_BYTES} bytes"),
        OutgoingFailure::BrokenOff(_) => "The connection to the model's server broke off".to_owned(),
        OutgoingFailure::Unusable(_)
        | OutgoingFailure::Unreachable(_)
        | OutgoingFailure::TimedOut
        | OutgoingFailure::NotText => format!("The model's answer could not be read: {failure}"),
    }
}
