//! The upstream that a tool belongs to, as far as calls of the tool need it. The room `upstreams` manages upstreams.

use super::header_value::HeaderValue;
use crate::time::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Deserialize)]
pub struct UpstreamConnection {
    /// The base URL, without a slash at its end. None for an MCP server that is a process.
    pub url: Option<String>,
    /// Tools of an upstream that is not enabled cannot be called.
    pub enabled: bool,
    /// The headers of every request to the upstream. Literal values are sealed for `url`.
    pub headers: BTreeMap<String, HeaderValue>,
    /// The hosts, besides the one of `url`, that may get the headers.
    pub hosts: Vec<String>,
    /// When the upstream is to be asked for its tools again. None, if it was never asked.
    pub expires_at: Option<Timestamp>,
    /// The workspace's `default_guest_modules`, which decide who may use a module.
    pub default_guest_modules: Vec<String>,
    pub revision: u32,
    /// The settings that only MCP servers have.
    pub server: Option<Box<RawValue>>,
    /// The toolset that brought the upstream, and whose files its process gets.
    pub toolset_id: Option<String>,
    /// What the MCP client remembers of the server.
    pub connection: Option<Box<RawValue>>,
}

/// The upstream of a tool as JSON; null for tools of other sources. This is an additional column of a
/// [`Tool`](super::Tool), for calls. Primary keys find the upstream and the settings of the workspace, so the column costs
/// two rows for a tool of an upstream, and none for another tool.
pub const UPSTREAM_CONNECTION: &str = "iif(t.source IN ('module', 'mcp'), (
    SELECT json_object('url', u.url, 'enabled', json(iif(u.enabled, 'true', 'false')), 'headers', json(u.headers),
      'hosts', json(coalesce(u.include -> '$.hosts', '[]')), 'expires_at', u.expires_at, 'default_guest_modules', json(
      coalesce((SELECT s.default_guest_modules FROM workspace_settings s WHERE s.workspace_id = u.workspace_id), '[]')),
      'revision', u.revision, 'server', json(u.server), 'toolset_id', u.toolset_id,
      'connection', json(u.connection))
    FROM upstreams u WHERE u.workspace_id = t.workspace_id AND u.source = t.source
      AND u.name = substr(t.id, 1, instr(t.id, iif(t.source = 'mcp', ':', '.')) - 1)), NULL) AS upstream";
