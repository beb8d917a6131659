//! Reads a whole registry in one batch, together with the other facts that a restore needs.

use super::document::Backup;
use super::store;
use super::workspace::WorkspaceRecord;
use super::{MAX_DOCUMENT_BYTES, too_large};
use crate::agents::{self, AgentOut};
use crate::callers::{self, BoundToken, Scope};
use crate::changes;
use crate::db::{Rows, Statement};
use crate::error::{Error, Result};
use crate::federation::ServerSettings;
use crate::ids::WorkspaceId;
use crate::modules::ModuleSettings;
use crate::registry::{self, ToolRecord, VersionRecord};
use crate::toolsets;
use crate::upstreams;
use serde::Deserialize;
use std::collections::HashSet;

/// The present registry of a workspace, and the facts around it.
pub struct PresentRegistry {
    pub backup: Backup,
    pub around: RestoreSurroundings,
}

/// Reads the present registry: one statement for each kind of record, in one transaction. The registry may be large, so
/// the caller is checked before it is read. Reads nothing if the registry is too large for one document, because the
/// registry would not fit into memory.
pub async fn read_registry(scope: &Scope) -> Result<PresentRegistry> {
    scope.unbound_caller().await?;
    let workspace = scope.workspace();
    let [banned, bound_tokens, builtins, settings, seq] = surroundings(workspace);
    let fits = || store::registry_fits(workspace, MAX_DOCUMENT_BYTES);
    let [
        versions,
        agents,
        attachments,
        credentials,
        modules,
        servers,
        toolsets,
        overrides,
        fit,
        banned,
        bound_tokens,
        builtins,
        settings,
        seq,
    ] = scope
        .read([
            registry::find_all_versions(workspace, fits()),
            agents::find_all(workspace, fits()),
            agents::find_all_attachments(workspace, fits()),
            registry::find_credentials(workspace),
            upstreams::find_all::<ModuleSettings>(workspace, fits()),
            upstreams::find_all::<ServerSettings>(workspace, fits()),
            toolsets::find_all(workspace, fits()),
            toolsets::find_all_overrides(workspace, fits()),
            store::find_whether(fits()),
            banned,
            bound_tokens,
            builtins,
            settings,
            seq,
        ])
        .await?;
    if fit.is_empty()? {
        return Err(too_large());
    }
    let around = read_surroundings([&banned, &bound_tokens, &builtins, &settings, &seq])?;
    let records = read_records([&versions, &agents, &attachments, &credentials, &modules, &servers])?;
    let mut toolsets = toolsets::read_records(&toolsets)?;
    toolsets.sort_by(|one, other| (one.installed_at, &one.id).cmp(&(other.installed_at, &other.id)));
    let backup = Backup {
        workspace: Some(around.settings.clone()),
        toolsets: Some(toolsets),
        overrides: Some(toolsets::read_override_records(&overrides)?),
        ..records
    };
    Ok(PresentRegistry { backup, around })
}

/// Everything but the toolsets and the settings.
fn read_records([versions, agents, attachments, credentials, modules, servers]: [&Rows; 6]) -> Result<Backup> {
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
        modules: Some(upstreams::read_records(modules)?),
        mcp_servers: Some(upstreams::read_records(servers)?),
        toolsets: None,
        overrides: None,
        workspace: None,
    })
}

/// The facts that a restore needs besides the registry.
pub struct RestoreSurroundings {
    /// Versions that were deactivated for security, as `tool@version`.
    pub banned: HashSet<String>,
    pub bound_tokens: Vec<BoundToken>,
    /// The ids of the built-in tools.
    pub builtins: HashSet<String>,
    pub settings: WorkspaceRecord,
    /// The number of the last change.
    pub seq: u32,
}

/// One statement for each of the facts around a registry.
pub fn surroundings(workspace: &WorkspaceId) -> [Statement; 5] {
    [
        registry::find_banned_versions(workspace),
        callers::find_bound_tokens(workspace),
        registry::find_builtins(),
        store::find_settings(workspace),
        changes::find_last(workspace),
    ]
}

pub fn read_surroundings([banned, bound_tokens, builtins, settings, seq]: [&Rows; 5]) -> Result<RestoreSurroundings> {
    #[derive(Deserialize)]
    struct Id {
        id: String,
    }
    let ids = |rows: &Rows| Ok::<_, Error>(rows.all::<Id>()?.into_iter().map(|it| it.id).collect());
    Ok(RestoreSurroundings {
        banned: ids(banned)?,
        bound_tokens: bound_tokens.all()?,
        builtins: ids(builtins)?,
        settings: store::read_settings(settings)?,
        seq: read_seq(seq)?,
    })
}

/// The number of the last change.
pub fn read_seq(rows: &Rows) -> Result<u32> {
    #[derive(Deserialize)]
    struct Seq {
        seq: u32,
    }
    Ok(rows.first::<Seq>()?.map_or(0, |it| it.seq))
}
