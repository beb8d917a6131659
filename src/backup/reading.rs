//! Reads a whole registry in one batch, together with the other facts that a restore needs.

use super::document::Backup;
use crate::agents::{self, AgentOut};
use crate::callers::{self, BoundToken};
use crate::changes;
use crate::db::{Rows, Statement};
use crate::error::{Error, Result};
use crate::ids::WorkspaceId;
use crate::registry::{self, ToolRecord, VersionRecord};
use serde::Deserialize;
use std::collections::HashSet;

/// One statement for each kind of record.
pub fn everything(workspace: &WorkspaceId) -> [Statement; 8] {
    [
        registry::find_all_versions(workspace),
        agents::find_all(workspace),
        agents::find_all_attachments(workspace),
        registry::find_credentials(workspace),
        registry::find_banned_versions(workspace),
        callers::find_bound_tokens(workspace),
        registry::find_builtins(),
        changes::find_last(workspace),
    ]
}

pub fn read_everything(rows: &[Rows; 8]) -> Result<Backup> {
    let [versions, agents, attachments, credentials, ..] = rows;
    let versions = registry::read_tools(versions)?;
    let mut tools: Vec<ToolRecord> = Vec::new();
    for it in &versions {
        if tools.last().is_none_or(|last| last.id != it.id.as_str()) {
            tools.push(ToolRecord::from(it));
        }
    }
    Ok(Backup {
        tools,
        versions: versions.into_iter().map(VersionRecord::try_from).collect::<Result<_>>()?,
        agents: agents::read_all(agents)?.iter().map(AgentOut::from).collect(),
        attachments: agents::read_all_attachments(attachments)?,
        credentials: credentials.all()?,
    })
}

/// The facts that a restore needs besides the registry.
pub struct RestoreSurroundings {
    /// Versions that were deactivated for security, as `tool@version`.
    pub banned: HashSet<String>,
    pub bound_tokens: Vec<BoundToken>,
    /// The ids of the built-in tools.
    pub builtins: HashSet<String>,
    /// The number of the last change.
    pub seq: u32,
}

pub fn read_surroundings(rows: &[Rows; 8]) -> Result<RestoreSurroundings> {
    #[derive(Deserialize)]
    struct Id {
        id: String,
    }
    #[derive(Deserialize)]
    struct Seq {
        seq: u32,
    }
    let [.., banned, bound_tokens, builtins, seq] = rows;
    let ids = |rows: &Rows| Ok::<_, Error>(rows.all::<Id>()?.into_iter().map(|it| it.id).collect());
    Ok(RestoreSurroundings {
        banned: ids(banned)?,
        bound_tokens: bound_tokens.all()?,
        builtins: ids(builtins)?,
        seq: seq.first::<Seq>()?.map_or(0, |it| it.seq),
    })
}
