//! An upstream: what an admin has set, and what the last discovery found.

use super::offer::UpstreamWarning;
use crate::ids::UpstreamId;
use crate::text_enum::text_enum;
use crate::time::Timestamp;

text_enum! {
    /// What the last discovery found.
    UpstreamStatus {
        Ok = "ok",
        /// The server did not answer.
        Unreachable = "unreachable",
        /// The server answered, but not with a description of its tools.
        Invalid = "invalid",
        /// The server was never asked.
        Unseen = "unseen",
    }
}

/// What the last discovery found.
#[derive(Clone, Debug)]
pub struct Findings {
    pub status: UpstreamStatus,
    /// When the upstream was last discovered with success.
    pub discovered_at: Option<Timestamp>,
    /// When the upstream is asked again.
    pub expires_at: Option<Timestamp>,
    pub last_error: Option<String>,
    pub warnings: Vec<UpstreamWarning>,
    /// The hash of the description that was last put in place. None, if the tools have been changed since.
    pub fingerprint: Option<String>,
    /// What the client remembers of the server, as JSON. Only MCP servers have it.
    pub connection: Option<String>,
}

impl Findings {
    /// The findings about an upstream that was never asked.
    pub const fn none() -> Self {
        Self {
            status: UpstreamStatus::Unseen,
            discovered_at: None,
            expires_at: None,
            last_error: None,
            warnings: Vec::new(),
            fingerprint: None,
            connection: None,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Upstream<S> {
    pub id: UpstreamId,
    pub settings: S,
    pub created_at: Timestamp,
    /// Counts the changes of the settings. A change that is based on an older revision is refused.
    pub revision: u32,
    pub findings: Findings,
    /// How many active tools it has.
    pub tools: u32,
    pub held_back: u32,
    /// Until when a discovery holds the upstream, if one does.
    pub leased_until: Option<Timestamp>,
}

impl<S> Upstream<S> {
    /// An upstream that is registered now.
    pub const fn new(id: UpstreamId, settings: S, now: Timestamp) -> Self {
        Self {
            id,
            settings,
            created_at: now,
            revision: 1,
            findings: Findings::none(),
            tools: 0,
            held_back: 0,
            leased_until: None,
        }
    }

    pub fn name(&self) -> &str {
        self.id.name()
    }
}
