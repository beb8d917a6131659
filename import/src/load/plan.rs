//! The job of an import: its source, and its options.

use super::state::Job;
use crate::mailboxes::{Inboxes, Owners};
use crate::progress::Progress;
use crate::source::{Extent, Source};
use anyhow::Result;

pub struct Plan<'a> {
    pub source: &'a Source,
    pub owners: &'a Owners,
    /// The inboxes whose mail is loaded.
    pub inboxes: Inboxes,
    /// Whether to assign all mail by them, whatever inboxes there were.
    pub replace_inboxes: bool,
    /// How many messages of the source count, from its beginning.
    pub limit: Option<u64>,
    /// Messages that one transaction loads.
    pub batch: u64,
    /// Whether to forget an interrupted import and the messages that it loaded.
    pub restart: bool,
}

impl Plan<'_> {
    pub fn job(&self) -> Result<Job> {
        Ok(Job {
            source: self.source.identity()?,
            owners: self.owners.fingerprint(),
            inboxes: self.inboxes.clone(),
            limit: self.limit,
        })
    }

    /// The progress of reading.
    pub fn bar(&self) -> Result<Progress> {
        Ok(match (self.source.extent()?, self.limit) {
            (Extent::Messages(messages), limit) => {
                Progress::bar("reading", limit.map_or(messages, |most| most.min(messages)))
            }
            (Extent::Bytes(bytes), _) => Progress::bar("reading", bytes),
        })
    }
}
