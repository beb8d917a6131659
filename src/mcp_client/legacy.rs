//! The era from 2025-03-26 to 2025-11-25: a handshake first, then requests, perhaps in a session that the server keeps.

use super::body::EventBody;
use super::conversation::{Conversation, EraFailure, Spoken, is_stream};
use super::exchange::{Exchange, PeerRequest, Verb};
use super::failure::FailureCause;
use super::link::Link;
use super::memory::PeerEra;
use super::question::{INITIALIZED, MAX_HANDSHAKE_BYTES, Question, Words, handshake_params};
use super::revisions::agreed;
use crate::json_rpc::RpcErrorCode;
use crate::mcp_protocol::McpMethod;
use std::time::Duration;

/// How often the client comes back to a stream that ended before the answer.
const MAX_RETURNS: u32 = 10;
const USUAL_RETRY: Duration = Duration::from_secs(1);
const LONGEST_RETRY: Duration = Duration::from_secs(30);

impl<E: Exchange> Conversation<'_, E> {
    pub async fn ask_legacy(&mut self, question: &Question) -> Result<String, EraFailure> {
        let mut is_fresh = !self.remembers(PeerEra::Legacy);
        if is_fresh {
            self.handshake().await?;
        }
        loop {
            let link = self.link();
            let words = Words {
                id: self.new_id(),
                method: question.method,
                params: &question.params,
                max_bytes: question.max_bytes,
            };
            self.was_sent = true;
            self.in_flight = Some((words.id.clone(), link.clone()));
            let (spoken, _) = self.say(&words, link.headers(), Some(&link)).await?;
            self.in_flight = None;
            if is_fresh || !is_lost_session(&spoken) {
                let failure = if tells_other_era(&spoken) { EraFailure::OtherEra } else { EraFailure::Final };
                return spoken.into_result().map_err(failure);
            }
            // The server does not know the session. It has therefore not run the request.
            self.was_sent = false;
            self.handshake().await?;
            is_fresh = true;
        }
    }

    /// Agrees with the server on a revision. Nothing cancels a handshake, because the protocol forbids it.
    async fn handshake(&mut self) -> Result<(), EraFailure> {
        self.handshakes += 1;
        let params = handshake_params(self.offer);
        let (method, max_bytes) = (McpMethod::Initialize, MAX_HANDSHAKE_BYTES);
        let words = Words { id: self.new_id(), method, params: &params, max_bytes };
        let link = Link { url: None, revision: String::new(), session: None, resumes: false };
        let (spoken, session) = self.say(&words, link.headers(), Some(&link)).await?;
        let is_other = matches!(spoken.status(), 400 | 404 | 405)
            || matches!(spoken.code(), Some(RpcErrorCode::METHOD_NOT_FOUND | RpcErrorCode::UNSUPPORTED_REVISION));
        let result = spoken.into_result();
        let result = result.map_err(if is_other { EraFailure::OtherEra } else { EraFailure::Final })?;
        self.memory = Some(agreed(&result, PeerEra::Legacy, session)?);
        // The server answers a notification with a status alone, and the next request shows whether it was taken.
        self.exchange.send(&self.link().post(INITIALIZED)).await.map_err(FailureCause::from)?;
        Ok(())
    }

    fn link(&self) -> Link {
        let (revision, session) =
            self.memory.as_ref().map(|it| (it.revision.clone(), it.session.clone())).unwrap_or_default();
        Link { url: None, revision, session, resumes: true }
    }

    /// Reads the answer from a stream. Comes back to a stream that ends early, if its events had ids.
    pub async fn answer_on_stream(
        &mut self,
        mut events: EventBody<E::Body>,
        words: &Words<'_>,
        link: Option<&Link>,
    ) -> Result<Spoken, FailureCause> {
        let mut returns = 0;
        let mut seen = None;
        loop {
            let cause = match self.listen(&mut events, &words.id, link).await {
                Ok(Some(spoken)) => return Ok(spoken),
                Ok(None) => "the stream ended before the answer".to_owned(),
                Err(FailureCause::BrokenOff(cause)) => cause,
                Err(cause) => return Err(cause),
            };
            seen = events.last_id().map(str::to_owned).or(seen);
            let (Some(link), Some(last)) = (link.filter(|it| it.resumes), seen.clone()) else {
                return Err(FailureCause::BrokenOff(cause));
            };
            returns += 1;
            if returns > MAX_RETURNS {
                return Err(FailureCause::BrokenOff(cause));
            }
            let wait = events.retry_millis().map_or(USUAL_RETRY, Duration::from_millis);
            self.exchange.pause(wait.min(LONGEST_RETRY)).await;
            events = self.go_on(link, last).await?;
        }
    }

    /// The rest of a stream, after the event with this id.
    async fn go_on(&mut self, link: &Link, last_id: String) -> Result<EventBody<E::Body>, FailureCause> {
        let mut headers = link.headers();
        headers.retain(|(name, _)| name != "Accept");
        headers.extend([("Accept".to_owned(), "text/event-stream".to_owned()), ("Last-Event-ID".to_owned(), last_id)]);
        let request = PeerRequest { verb: Verb::Get, url: link.url.as_deref(), headers, body: None };
        let reply = self.exchange.send(&request).await?;
        if !is_stream(&reply) {
            let status = reply.status;
            return Err(FailureCause::BrokenOff(format!("the stream ended, and its rest has the status {status}")));
        }
        Ok(EventBody::of(reply.body))
    }

    /// Tells the server that its session is not needed any more.
    pub async fn end_session(&mut self) {
        let link = self.link();
        if self.remembers(PeerEra::Legacy) && link.session.is_some() {
            let request = PeerRequest { verb: Verb::Delete, url: None, headers: link.headers(), body: None };
            // A server may refuse. It then ends the session by itself, sooner or later.
            let _ = self.exchange.send(&request).await;
        }
    }
}

/// Whether the server says that it does not know the session. Many servers answer 400 instead of 404, and say so in
/// words.
fn is_lost_session(spoken: &Spoken) -> bool {
    let words = || spoken.words().to_lowercase();
    match spoken.status() {
        404 => true,
        400 => words().contains("session") || words().contains("initializ"),
        _ => false,
    }
}

/// Whether a server with which a handshake was made does not speak this era any more.
fn tells_other_era(spoken: &Spoken) -> bool {
    let is_modern_error = matches!(
        spoken.code(),
        Some(RpcErrorCode::HEADER_MISMATCH | RpcErrorCode::MISSING_CAPABILITY | RpcErrorCode::UNSUPPORTED_REVISION)
    );
    is_modern_error || spoken.status() == 405
}
