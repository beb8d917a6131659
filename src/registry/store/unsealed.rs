//! The queue of versions that were stored with literal header values as they were given. The statements cover all
//! workspaces.

use crate::db::{Rows, Statement, sql};
use crate::error::Result;
use serde::Deserialize;

/// The most versions that one run of upkeep seals.
const AT_ONCE: u32 = 50;

#[derive(Deserialize)]
pub struct UnsealedVersion {
    pub workspace_id: String,
    pub version_key: u32,
    /// None, if the version has been deleted.
    pub handler: Option<String>,
}

pub fn find() -> Statement {
    sql("SELECT u.workspace_id, u.version_key, v.handler FROM unsealed_versions u
         LEFT JOIN tool_versions v ON v.key = u.version_key AND v.workspace_id = u.workspace_id LIMIT +?1")
    .bind(AT_ONCE)
}

pub fn read(rows: &Rows) -> Result<Vec<UnsealedVersion>> {
    rows.all()
}

/// Replaces the handler, unless another request has replaced the version meanwhile.
pub fn put_handler(version: &UnsealedVersion, sealed: &str) -> Statement {
    sql("UPDATE tool_versions SET handler = ?3 WHERE workspace_id = ?1 AND key = ?2 AND handler = ?4")
        .bind(version.workspace_id.as_str())
        .bind(version.version_key)
        .bind(sealed)
        .bind(version.handler.as_deref())
}

pub fn forget(version: &UnsealedVersion) -> Statement {
    sql("DELETE FROM unsealed_versions WHERE workspace_id = ?1 AND version_key = ?2")
        .bind(version.workspace_id.as_str())
        .bind(version.version_key)
}
