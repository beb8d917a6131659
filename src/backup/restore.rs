//! Makes a workspace's registry equal to a backup: all of it, or nothing.

use super::check::{CheckedBackup, check};
use super::document::Backup;
use super::preview::{RestoreMode, RestorePreview};
use super::problems::{brought_back, refuse_brought_back};
use super::reading::{PresentRegistry, read_registry};
use super::store;
use crate::agents::AgentReplacement;
use crate::callers::{BoundToken, Scope};
use crate::changes::{Action, Change, record_in_order};
use crate::db::DbFailure;
use crate::error::{Error, Result};
use crate::federation::ServerRecord;
use crate::modules::ModuleRecord;
use crate::registry::{RegistryReplacement, is_taken_id};
use crate::upstreams::UpstreamReplacement;
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use utoipa::ToSchema;

#[derive(Serialize, ToSchema)]
pub struct Restored {
    /// How many things differed, and are now as the backup has them.
    pub changes: u32,
    /// The last change of the log.
    pub seq: u32,
    /// Only in the response to a dry run.
    #[serde(flatten)]
    pub preview: Option<RestorePreview>,
}

/// Takes two round trips: the first reads the present registry, the second writes the differences. A caller who has not
/// been checked yet costs one more, because the registry may be large. Every change of a registry takes the next number
/// of the change log. If another request has taken such a number meanwhile, the rows of this restore are duplicates, and
/// nothing is written. A dry run takes the first round trip only.
pub async fn restore(scope: &Scope, backup: Backup, mode: RestoreMode) -> Result<Restored> {
    let PresentRegistry { backup: now, around } = read_registry(scope).await?;
    let versions =
        now.versions.iter().map(|it| ((it.tool_id.as_str(), it.version.as_str()), it)).collect::<HashMap<_, _>>();
    let (modules_now, servers_now) =
        (now.modules.as_deref().unwrap_or_default(), now.mcp_servers.as_deref().unwrap_or_default());
    let CheckedBackup { backup, tools } = check(scope, backup, &around.builtins, &now, |it| {
        versions.get(&(it.tool_id.as_str(), it.version.as_str())).is_some_and(|known| *known == it)
    })?;
    refuse_brought_back(&tools.iter().filter_map(|it| brought_back(it, &around.banned)).collect::<Vec<_>>())?;

    let registry = RegistryReplacement::new(now.registry(), backup.registry(), &tools);
    let agents = AgentReplacement::new(now.agents(), backup.agents());
    let upstreams = UpstreamReplacements {
        modules: UpstreamReplacement::new(modules_now, backup.modules.as_deref().unwrap_or(modules_now)),
        servers: UpstreamReplacement::new(servers_now, backup.mcp_servers.as_deref().unwrap_or(servers_now)),
    };
    let settings = backup.workspace.as_ref().map(|it| it.change(&around.settings)).transpose()?.flatten();
    let wanted_settings = settings.as_ref().and(backup.workspace.as_ref());
    let wanted_settings = wanted_settings.into_iter().collect::<Vec<_>>();
    let changes = changes(&registry, &upstreams, settings, &agents, &around.bound_tokens)?;
    let count = u32::try_from(changes.len()).unwrap_or(u32::MAX);
    if mode == RestoreMode::Preview {
        let preview = Some(RestorePreview::of(&changes));
        return Ok(Restored { changes: count, seq: around.seq, preview });
    }
    if changes.is_empty() {
        return Ok(Restored { changes: 0, seq: around.seq, preview: None });
    }
    // The written rows get a revision that nothing in the workspace has had before. Decisions of other requests on an
    // older reading are therefore refused.
    let (workspace, revision, agents) = (scope.workspace(), around.seq + count + 1, agents.rows());
    let mut statements = record_in_order(&scope.author().await?, around.seq, changes)?;
    statements.extend(agents.remove(workspace)?);
    statements.extend(registry.statements(workspace, revision)?);
    statements.extend(upstreams.modules.rows()?.statements(workspace, revision, scope.app().now())?);
    statements.extend(upstreams.servers.rows()?.statements(workspace, revision, scope.app().now())?);
    statements.extend(store::put_settings(workspace, &wanted_settings, revision)?);
    statements.extend(agents.put(workspace, revision)?);
    match scope.write_all(statements).await? {
        Ok(_) => Ok(Restored { changes: count, seq: around.seq + count, preview: None }),
        Err(DbFailure::Duplicate) => Err(overtaken()),
        Err(failure) if is_taken_id(&failure) => Err(id_of_toolset()),
        Err(failure) => Err(failure.into()),
    }
}

struct UpstreamReplacements<'a> {
    modules: UpstreamReplacement<'a, ModuleRecord>,
    servers: UpstreamReplacement<'a, ServerRecord>,
}

/// The answer if the registry is no longer as it was read.
pub fn overtaken() -> Error {
    Error::Conflict("The registry was changed by another request meanwhile; try again".into())
}

/// The answer if the backup holds an MCP server with the id of a toolset that the workspace has.
pub fn id_of_toolset() -> Error {
    Error::Conflict(
        "An MCP server of the backup has the id of a toolset of this workspace: uninstall the toolset first".into(),
    )
}

/// The change that ends a token together with its agent.
pub fn token_revoked(token: &BoundToken) -> Result<Change> {
    Change::new(Action::Revoke, token.subject.clone()).from(&token.state()?)
}

/// Returns a row of the change log for each record that differs. Removals come before additions, and an agent comes
/// before its attachments.
fn changes(
    registry: &RegistryReplacement<'_>,
    upstreams: &UpstreamReplacements<'_>,
    settings: Option<Change>,
    agents: &AgentReplacement<'_>,
    bound_tokens: &[BoundToken],
) -> Result<Vec<Change>> {
    let gone = agents.removed().collect::<HashSet<_>>();
    let mut changes = Vec::new();
    // A token that is bound to an agent ends with that agent.
    for token in bound_tokens.iter().filter(|it| gone.contains(it.agent_id.as_str())) {
        changes.push(token_revoked(token)?);
    }
    changes.extend(agents.removals()?);
    changes.extend(upstreams.modules.removals()?);
    changes.extend(upstreams.servers.removals()?);
    changes.extend(registry.changes()?);
    changes.extend(upstreams.modules.additions()?);
    changes.extend(upstreams.servers.additions()?);
    changes.extend(settings);
    changes.extend(agents.additions()?);
    Ok(changes)
}
