//! The way back to a server with which a handshake was made.

use super::exchange::{PeerRequest, Verb};
use super::question::ACCEPT_BOTH;

/// Where messages are posted that are no questions of their own: answers to the server's requests, and notifications.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// The server's own URL, if there is none.
    pub url: Option<String>,
    /// The revision that the handshake agreed on. Empty before.
    pub revision: String,
    pub session: Option<String>,
    /// Whether a stream that has ended can be gone on with.
    pub resumes: bool,
}

impl Link {
    /// The headers of every request after the handshake.
    pub fn headers(&self) -> Vec<(String, String)> {
        let mut headers = vec![("Accept".to_owned(), ACCEPT_BOTH.to_owned())];
        // Revisions are dates. The header came with 2025-06-18.
        if self.url.is_none() && self.revision.as_str() >= "2025-06-18" {
            headers.push(("MCP-Protocol-Version".to_owned(), self.revision.clone()));
        }
        headers.extend(self.session.clone().map(|it| ("Mcp-Session-Id".to_owned(), it)));
        headers
    }

    pub fn post<'a>(&'a self, body: &'a str) -> PeerRequest<'a> {
        PeerRequest { verb: Verb::Post, url: self.url.as_deref(), headers: self.headers(), body: Some(body) }
    }
}
