//! What happens to the servers of a toolset: in the batch, and after it.

use super::ServerNote;
use crate::callers::Scope;
use crate::error::Result;
use crate::federation::server::{McpServer, ServerSettings};
use crate::ids::{ServerId, UpstreamId};
use crate::registry::credential::{self, Credential};
use crate::registry::{Placement, ToolReading};
use crate::time::Timestamp;
use crate::upstreams::{Refreshed, UpstreamPlan, UpstreamStatus};
use std::collections::BTreeMap;
use worker::console_warn;

/// What happens to the servers of a toolset.
pub struct ServerPlan {
    pub added: Vec<String>,
    pub changed: Vec<String>,
    pub removed: Vec<String>,
    pub warnings: Vec<ServerNote>,
    pub(super) now: Timestamp,
    plan: UpstreamPlan<ServerSettings>,
    tools: Vec<ToolReading>,
    /// Credentials that the servers name, and that nobody has defined.
    pub(super) credentials: Vec<Credential>,
    /// The places of the servers in the bundle.
    pub(super) indices: BTreeMap<String, usize>,
}

impl ServerPlan {
    pub(super) fn new(now: Timestamp, tools: Vec<ToolReading>) -> Result<Self> {
        Ok(Self {
            added: Vec::new(),
            changed: Vec::new(),
            removed: Vec::new(),
            warnings: Vec::new(),
            now,
            plan: UpstreamPlan::new(now)?,
            tools,
            credentials: Vec::new(),
            indices: BTreeMap::new(),
        })
    }

    pub(super) fn put(&mut self, id: &ServerId, before: Option<&McpServer>, settings: ServerSettings) {
        match before {
            Some(before) => self.change(before, settings),
            None => {
                self.plan.add(UpstreamId::from(id), settings);
                self.added.push(id.to_string());
            }
        }
    }

    pub(super) fn change(&mut self, before: &McpServer, settings: ServerSettings) {
        if self.plan.change(before, settings) {
            self.changed.push(before.name().to_owned());
        }
    }

    pub(super) fn remove(&mut self, server: &McpServer) {
        self.plan.remove(server);
        self.removed.push(server.name().to_owned());
    }

    /// Adds the servers, their tools, the credentials that nobody has defined, and the rows of the change log to a
    /// placement. The placement is overtaken if one of the servers was changed since it was read.
    pub fn place(&self, scope: &Scope, placement: &mut Placement) -> Result<()> {
        credential::define(placement, scope.workspace(), &self.credentials)?;
        self.plan.place(scope, &self.tools, placement)
    }

    /// After the batch: stops the processes and ends the sessions of servers that are gone or off, and discovers those that
    /// are new or changed. Returns a warning for each server that was not discovered.
    pub async fn finish(self, scope: &Scope) -> Vec<ServerNote> {
        let Self { plan, indices, warnings, .. } = self;
        match plan.finish(scope).await {
            Ok(refreshed) => refreshed.into_iter().filter_map(|it| undiscovered(it, &indices, &warnings)).collect(),
            Err(cause) => {
                console_warn!("the servers of a toolset were not discovered: {cause:?}");
                Vec::new()
            }
        }
    }
}

/// A warning about a server that was not discovered, unless it has been told before that a credential has no value.
fn undiscovered(refreshed: Refreshed, indices: &BTreeMap<String, usize>, told: &[ServerNote]) -> Option<ServerNote> {
    let is_told = told.iter().any(|it| it.server == refreshed.name);
    if refreshed.status == UpstreamStatus::Ok || is_told {
        return None;
    }
    let index = indices.get(&refreshed.name).copied();
    let message = refreshed.error.unwrap_or_else(|| "The MCP server was not discovered".to_owned());
    Some(ServerNote { server: refreshed.name, index, path: String::new(), message })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refreshed(name: &str, status: UpstreamStatus, error: Option<&str>) -> Refreshed {
        let error = error.map(str::to_owned);
        Refreshed { name: name.into(), status, added: 0, changed: 0, removed: 0, held_back: 0, error }
    }

    #[test]
    fn a_server_that_was_not_discovered_is_told_once() {
        let indices = BTreeMap::from([("a".to_owned(), 0), ("b".to_owned(), 1)]);
        let message = "the credential has no value".to_owned();
        let told = ServerNote { server: "b".into(), index: Some(1), path: "/env/KEY".into(), message };
        let note = |it| undiscovered(it, &indices, std::slice::from_ref(&told));
        assert_eq!(note(refreshed("a", UpstreamStatus::Ok, None)), None);
        assert_eq!(note(refreshed("b", UpstreamStatus::Unreachable, Some("it was not asked"))), None);
        let told = note(refreshed("a", UpstreamStatus::Unreachable, Some("it is down"))).unwrap();
        assert_eq!((told.index, told.path.as_str(), told.message.as_str()), (Some(0), "", "it is down"));
        assert_eq!(note(refreshed("c", UpstreamStatus::Invalid, None)).unwrap().index, None);
    }
}
