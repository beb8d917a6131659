//! The transport of 2024-11-05: one stream of events stays open, and all answers come on it. Messages are posted to an
//! endpoint that the stream names first. The stream lives as long as the conversation, so nothing of it is remembered.

use super::body::EventBody;
use super::conversation::{Conversation, EraFailure, is_stream, is_success};
use super::exchange::{Exchange, PeerRequest, ReplyBody, Verb};
use super::failure::FailureCause;
use super::link::Link;
use super::memory::PeerEra;
use super::question::{INITIALIZED, MAX_HANDSHAKE_BYTES, Question, Words, handshake_params};
use super::revisions::agreed;
use crate::mcp_protocol::McpMethod;
use crate::memory_turn::MemoryTurn;
use crate::outgoing::excerpt;
use std::time::Duration;

/// How long a stream may take to name its endpoint. A server of another era may keep a stream open and say nothing.
const ENDPOINT_TIME: Duration = Duration::from_secs(5);
/// How much of the text of a refusal is read.
const MAX_REFUSAL_BYTES: usize = 64 * 1024;

pub struct OpenStream<B> {
    events: EventBody<B>,
    link: Link,
}

impl<E: Exchange> Conversation<'_, E> {
    pub async fn ask_over_stream(&mut self, question: &Question) -> Result<String, EraFailure> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => self.open_stream().await?,
        };
        let words = Words {
            id: self.new_id(),
            method: question.method,
            params: &question.params,
            max_bytes: question.max_bytes,
        };
        self.was_sent = true;
        self.in_flight = Some((words.id.clone(), stream.link.clone()));
        let result = self.say_over(&mut stream, &words).await?;
        self.in_flight = None;
        self.stream = Some(stream);
        Ok(result)
    }

    async fn open_stream(&mut self) -> Result<OpenStream<E::Body>, EraFailure> {
        let headers = vec![("Accept".to_owned(), "text/event-stream".to_owned())];
        let request = PeerRequest { verb: Verb::Get, url: None, headers, body: None };
        let mut reply = self.exchange.send(&request).await.map_err(FailureCause::from)?;
        if !is_stream(&reply) {
            return Err(EraFailure::OtherEra(refused(reply.status, &mut reply.body, self.turn).await));
        }
        let mut events = EventBody::of(reply.body);
        let Some(endpoint) = self.exchange.within(ENDPOINT_TIME, endpoint(&mut events, self.turn)).await else {
            let problem = "opened a stream of events and did not name its endpoint".to_owned();
            return Err(EraFailure::OtherEra(FailureCause::Protocol(problem)));
        };
        // Headers with credentials go to the endpoint, so it must be the same server.
        let Some(url) = self.exchange.same_origin_url(&endpoint.map_err(EraFailure::OtherEra)?) else {
            let problem = "named an endpoint that is not on the same server".to_owned();
            return Err(FailureCause::Protocol(problem).into());
        };
        let link = Link { url: Some(url), revision: String::new(), session: None, resumes: false };
        let mut stream = OpenStream { events, link };
        self.handshakes += 1;
        let params = handshake_params(self.offer);
        let (method, max_bytes) = (McpMethod::Initialize, MAX_HANDSHAKE_BYTES);
        let words = Words { id: self.new_id(), method, params: &params, max_bytes };
        let result = self.say_over(&mut stream, &words).await?;
        let memory = agreed(&result, PeerEra::EventStream, None)?;
        stream.link.revision.clone_from(&memory.revision);
        self.memory = Some(memory);
        self.post(&stream.link, INITIALIZED).await?;
        Ok(stream)
    }

    /// Posts a request, and waits for its answer on the stream.
    async fn say_over(&mut self, stream: &mut OpenStream<E::Body>, words: &Words<'_>) -> Result<String, FailureCause> {
        self.post(&stream.link, &words.write()).await?;
        match self.listen(&mut stream.events, &words.id, Some(&stream.link)).await? {
            Some(spoken) => spoken.into_result(),
            None => Err(FailureCause::BrokenOff("the stream ended before the answer".to_owned())),
        }
    }

    async fn post(&mut self, link: &Link, body: &str) -> Result<(), FailureCause> {
        let mut reply = self.exchange.send(&link.post(body)).await?;
        match is_success(reply.status) {
            true => Ok(()),
            false => Err(refused(reply.status, &mut reply.body, self.turn).await),
        }
    }
}

/// The endpoint that a stream names.
async fn endpoint<B: ReplyBody>(events: &mut EventBody<B>, turn: &MemoryTurn) -> Result<String, FailureCause> {
    while let Some(event) = events.next(turn).await? {
        if event.kind == "endpoint" {
            return Ok(event.data.trim().to_owned());
        }
    }
    Err(FailureCause::BrokenOff("the stream ended before it named its endpoint".to_owned()))
}

async fn refused<B: ReplyBody>(status: u16, body: &mut B, turn: &MemoryTurn) -> FailureCause {
    // A text that cannot be read says nothing about the refusal. A page that is no stream need not be read at all.
    let text = match is_success(status) {
        true => "the server opens no stream of events".to_owned(),
        false => super::body::text(body, MAX_REFUSAL_BYTES, turn).await.unwrap_or_default(),
    };
    FailureCause::Refused { status, text: excerpt(&text).to_owned() }
}
