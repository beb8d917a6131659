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
}

/// The module of a tool as JSON; null for tools of other sources. This is an additional column of a
/// [`Tool`](super::Tool), for calls. A primary key finds the row, so the column costs one row.
pub const MODULE_CONNECTION: &str = "iif(t.source = 'module', (
    SELECT json_object('url', m.url, 'enabled', json(iif(m.enabled, 'true', 'false')), 'headers', json(m.headers),
      'hosts', json(coalesce(m.include -> '$.hosts', '[]')), 'expires_at', m.expires_at)
    FROM modules m WHERE m.workspace_id = t.workspace_id AND m.name = substr(t.id, 1, instr(t.id, '.') - 1)), NULL) AS module";
