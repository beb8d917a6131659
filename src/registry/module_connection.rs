//! The module that a tool belongs to, as far as calls of the tool need it. The room `modules` manages modules.

use super::header_value::HeaderValue;
use crate::time::Timestamp;
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Deserialize)]
pub struct ModuleConnection {
    /// The base URL, without a slash at its end.
    pub url: String,
    /// Tools of a module that is not enabled cannot be called.
    pub enabled: bool,
    /// The headers of every request to the module. Literal values are sealed for `url`.
    pub headers: BTreeMap<String, HeaderValue>,
    /// The hosts, besides the one of `url`, that may get the headers.
    pub hosts: Vec<String>,
    /// When the module is to be asked for its tools again. None, if it was never asked.
    pub expires_at: Option<Timestamp>,
    /// The workspace's `default_guest_modules`, which decide who may use the module.
    pub default_guest_modules: Vec<String>,
}

/// The module of a tool as JSON; null for tools of other sources. This is an additional column of a
/// [`Tool`](super::Tool), for calls. Primary keys find the module and the settings of the workspace, so the column costs
/// two rows for a tool of a module, and none for another tool.
pub const MODULE_CONNECTION: &str = "iif(t.source = 'module', (
    SELECT json_object('url', m.url, 'enabled', json(iif(m.enabled, 'true', 'false')), 'headers', json(m.headers),
      'hosts', json(coalesce(m.include -> '$.hosts', '[]')), 'expires_at', m.expires_at, 'default_guest_modules', json(
      coalesce((SELECT s.default_guest_modules FROM workspace_settings s WHERE s.workspace_id = m.workspace_id), '[]')))
    FROM modules m WHERE m.workspace_id = t.workspace_id AND m.name = substr(t.id, 1, instr(t.id, '.') - 1)), NULL) AS module";
