//! Federation: the MCP servers of others, whose tools become tools of a workspace, as those of every upstream do. Remote
//! servers are asked directly; a stdio server is a process that a host runs, and the host is asked.

mod bundled;
mod bundled_files;
mod given;
mod kind;
mod listing;
mod peer;
mod restored;
mod server;
mod stdio;

#[cfg(test)]
pub use bundled::fixture;
pub use bundled::{DeclaredServers, PresentServers, ServerNote, ServerPlan, ServersAround};
pub use bundled_files::BundledFiles;
pub use given::{ServerChange, ServerIn};
pub use peer::{ServerAnswer, call};
pub use server::{ServerDetails, ServerOut, ServerRecord, ServerSettings, Transport};
pub use stdio::has_host;

use crate::callers::Scope;
use crate::error::{Error, Result};
use crate::ids::{ServerId, UpstreamId};
use crate::page::{Page, PageRequest};
use crate::read_only::{ReadOnly, shown};
use crate::registry;
use crate::upstreams::{self, AcceptIn, Accepted, HeldBackOut, Refreshed};
use server::McpServer;

/// The most MCP servers of one workspace.
pub const MAX_SERVERS: u32 = 200;

/// A page of the workspace's MCP servers, sorted by id.
pub async fn list(scope: &Scope, request: &PageRequest) -> Result<Page<ServerOut>> {
    let page = upstreams::list::<ServerSettings>(scope, request).await?;
    let (items, next_cursor) = page.map(ServerOut::from);
    Ok(Page { items, next_cursor })
}

pub async fn get(scope: &Scope, id: &ServerId) -> Result<ServerDetails> {
    upstreams::get(scope, &id.into()).await.map(|it| details(scope, it))
}

fn details(scope: &Scope, (server, tool_ids): (McpServer, Vec<String>)) -> ServerDetails {
    let mut warnings = stdio::missing_credentials(scope, &server);
    warnings.extend(server.findings.warnings.iter().cloned());
    ServerDetails { server: server.into(), tool_ids, warnings }
}

/// Registers an MCP server and discovers it at once. The server is registered whatever comes of the discovery.
pub async fn create(scope: &Scope, given: ServerIn, read_only: &ReadOnly) -> Result<ServerDetails> {
    upstreams::must_have_room::<ServerSettings>(scope).await?;
    let (id, settings) = given.check(scope)?;
    if !read_only.is_empty() {
        let present = match get(scope, &id).await {
            Ok(present) => vec![shown(&present)?],
            Err(_) => Vec::new(),
        };
        read_only.check(&present)?;
    }
    upstreams::create(scope, UpstreamId::from(&id), settings).await?;
    get(scope, &id).await
}

/// Changes the settings of an MCP server. The server is discovered again, unless it is not enabled.
pub async fn update(scope: &Scope, id: &ServerId, change: ServerChange, read_only: &ReadOnly) -> Result<ServerDetails> {
    let (before, tool_ids) = upstreams::get::<ServerSettings>(scope, &id.into()).await?;
    if !read_only.is_empty() {
        read_only.check(&[shown(&details(scope, (before.clone(), tool_ids)))?])?;
    }
    if let (Some(toolset), Some(true), true) = (&before.settings.toolset_id, change.enabled, before.settings.paused) {
        return Err(Error::Conflict(format!(
            "{id} is off because its toolset {toolset} is disabled: POST /api/toolsets/{toolset}/enable turns both on"
        )));
    }
    let settings = change.apply(scope, id, &before.settings)?;
    let stops =
        before.settings.transport == Transport::Stdio && (!settings.enabled || settings.transport != Transport::Stdio);
    upstreams::update(scope, before, settings).await?;
    if stops {
        stdio::stop(scope, id.as_str()).await;
    }
    get(scope, id).await
}

/// Deletes an MCP server and deactivates its tools. Their versions and records stay. A toolset's server goes with its toolset.
pub async fn delete(scope: &Scope, id: &ServerId) -> Result<()> {
    let [toolset] = scope.read([upstreams::find_toolset_of::<ServerSettings>(scope.workspace(), id.as_str())]).await?;
    scope.caller().await?.must_be_unbound()?;
    if let [toolset, ..] = registry::read_tool_ids(&toolset)?.as_slice() {
        return Err(Error::Conflict(format!(
            "{id} belongs to the toolset {toolset}: uninstall the toolset, or upgrade it to a version without {id}"
        )));
    }
    upstreams::delete::<ServerSettings>(scope, &id.into()).await
}

/// Discovers an MCP server now.
pub async fn refresh(scope: &Scope, id: &ServerId) -> Result<Refreshed> {
    let refreshed = upstreams::refresh::<ServerSettings>(scope, Some(&[id.to_string()]), "/id").await;
    match refreshed {
        Ok(refreshed) => refreshed.into_iter().next().ok_or_else(|| Error::not_found("MCP server", id)),
        // The id is a part of the path, and not of a body.
        Err(Error::Invalid(_)) => Err(Error::not_found("MCP server", id)),
        Err(other) => Err(other),
    }
}

/// A page of what is held back of the MCP server, sorted by tool.
pub async fn list_held_back(scope: &Scope, id: &ServerId, request: &PageRequest) -> Result<Page<HeldBackOut>> {
    upstreams::list_held_back::<ServerSettings>(scope, &id.into(), request).await
}

/// Accepts what is held back of the MCP server: everything, or the given tools.
pub async fn accept(scope: &Scope, id: &ServerId, given: &AcceptIn) -> Result<Vec<Accepted>> {
    upstreams::accept::<ServerSettings>(scope, &id.into(), given).await
}
