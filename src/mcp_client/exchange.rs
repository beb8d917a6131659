//! What the client needs of HTTP and of the clock. The Worker's HTTP client gives it (`network`); the tests give it by a
//! script.

use crate::outgoing::OutgoingFailure;
use std::time::Duration;

pub trait Exchange {
    type Body: ReplyBody;

    /// Sends a request, and waits for the head of its response. Redirects are not followed.
    async fn send(&self, request: &PeerRequest<'_>) -> Result<PeerReply<Self::Body>, OutgoingFailure>;

    /// Waits for a step, but no longer than `time`.
    async fn within<T>(&self, time: Duration, step: impl Future<Output = T>) -> Option<T>;

    async fn pause(&self, time: Duration);

    /// The URL that a reference in the server's answer means, if it leads to the same server.
    fn same_origin_url(&self, reference: &str) -> Option<String>;
}

pub struct PeerRequest<'a> {
    pub verb: Verb,
    /// The server's own URL, if there is none.
    pub url: Option<&'a str>,
    /// The headers of MCP. They replace headers of the same name that the server's settings have.
    pub headers: Vec<(String, String)>,
    /// A JSON text.
    pub body: Option<&'a str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Get,
    Post,
    Delete,
}

pub struct PeerReply<B> {
    pub status: u16,
    pub content_type: Option<String>,
    /// The session that the server has begun.
    pub session: Option<String>,
    pub body: B,
}

/// A body that arrives in pieces, up to a bound. Dropping it ends the transfer.
pub trait ReplyBody {
    /// The next piece. None at the end.
    async fn next(&mut self) -> Result<Option<Vec<u8>>, OutgoingFailure>;
}
