//! The exchange with a server over the Worker's one HTTP client.

use super::exchange::{Exchange, PeerReply, PeerRequest, ReplyBody, Verb};
use super::peer::McpPeer;
use crate::outgoing::{AbortOnDrop, BodyPieces, OutgoingFailure, OutgoingRequest, RequestBody, same_origin_url};
use futures_util::future::{Either, select};
use std::pin::pin;
use std::time::Duration;
use worker::{Delay, Method};

/// How many bytes one response may have. A stream may hold notifications beside the answer.
const MAX_BODY_BYTES: usize = 32 * 1024 * 1024;

const CONTENT_TYPE: &str = "content-type";
const SESSION: &str = "mcp-session-id";

pub struct Network<'a> {
    peer: &'a McpPeer<'a>,
    /// When the client is done, what still runs is ended.
    abort: AbortOnDrop,
}

impl<'a> Network<'a> {
    pub fn to(peer: &'a McpPeer<'a>) -> Self {
        Self { peer, abort: AbortOnDrop::new() }
    }
}

impl Exchange for Network<'_> {
    type Body = BodyPieces;

    async fn send(&self, request: &PeerRequest<'_>) -> Result<PeerReply<BodyPieces>, OutgoingFailure> {
        let mut headers = self.peer.headers.clone();
        headers.retain(|name, _| !request.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name)));
        headers.extend(request.headers.iter().cloned());
        let method = match request.verb {
            Verb::Get => Method::Get,
            Verb::Post => Method::Post,
            Verb::Delete => Method::Delete,
        };
        let body = request.body.map_or(RequestBody::Empty, RequestBody::Json);
        let outgoing = OutgoingRequest {
            method,
            headers,
            body,
            kept_headers: &[CONTENT_TYPE, SESSION],
            abort: Some(&self.abort),
            ..OutgoingRequest::get(request.url.unwrap_or(self.peer.url))
        };
        let response = outgoing.send(self.peer.route).await?;
        Ok(PeerReply {
            status: response.status(),
            content_type: response.header(CONTENT_TYPE).map(str::to_owned),
            session: response.header(SESSION).map(str::to_owned),
            body: response.into_pieces(MAX_BODY_BYTES)?,
        })
    }

    async fn within<T>(&self, time: Duration, step: impl Future<Output = T>) -> Option<T> {
        match select(pin!(step), Delay::from(time)).await {
            Either::Left((done, _)) => Some(done),
            Either::Right(_) => None,
        }
    }

    async fn pause(&self, time: Duration) {
        Delay::from(time).await;
    }

    fn same_origin_url(&self, reference: &str) -> Option<String> {
        same_origin_url(reference, self.peer.url)
    }
}

impl ReplyBody for BodyPieces {
    async fn next(&mut self) -> Result<Option<Vec<u8>>, OutgoingFailure> {
        Self::next(self).await
    }
}
