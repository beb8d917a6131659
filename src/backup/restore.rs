//! Makes a workspace's registry equal to a backup: all of it, or nothing.

use super::check::{CheckedBackup, check};
use super::document::Backup;
use super::reading;
use crate::agents::AgentReplacement;
use crate::callers::{BoundToken, Scope};
use crate::changes::{Action, Change, record_in_order};
use crate::db::DbFailure;
use crate::error::{Error, Result};
use crate::registry::{DeactivationReason, RegistryReplacement, Tool};
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use utoipa::ToSchema;

#[derive(Serialize, ToSchema)]
pub struct Restored {
    /// How many things differed, and are now as the backup has them.
    changes: u32,
    /// The last change of the log.
    seq: u32,
}

/// Takes two round trips: the first reads the present registry, the second writes the differences. A caller who has not
/// been checked yet costs one more, because the registry may be large. Every change of a registry takes the next number of the change log. If another request has taken such a number meanwhile, the rows of
/// this restore are duplicates, and nothing is written.
pub async fn restore(scope: &Scope, backup: Backup) -> Result<Restored> {
    scope.unbound_caller().await?;
    let rows = scope.read(reading::everything(scope.workspace())).await?;
    let now = reading::read_everything(&rows)?;
    let around = reading::read_surroundings(&rows)?;

    let versions =
        now.versions.iter().map(|it| ((it.tool_id.as_str(), it.version.as_str()), it)).collect::<HashMap<_, _>>();
    let (rules, sealer) = (scope.app().url_rules(), scope.app().settings().sealer.as_ref());
    let CheckedBackup { backup, tools } = check(backup, &around.builtins, rules, sealer, |it| {
        versions.get(&(it.tool_id.as_str(), it.version.as_str())).is_some_and(|known| *known == it)
    })?;
    refuse_banned(&tools, &around.banned)?;

    let registry = RegistryReplacement::new(now.registry(), backup.registry(), &tools);
    let agents = AgentReplacement::new(now.agents(), backup.agents());
    let changes = changes(&registry, &agents, &around.bound_tokens)?;
    let count = u32::try_from(changes.len()).unwrap_or(u32::MAX);
    if changes.is_empty() {
        return Ok(Restored { changes: 0, seq: around.seq });
    }
    // The written rows get a revision that nothing in the workspace has had before. Decisions of other requests on an
    // older reading are therefore refused.
    let (workspace, revision) = (scope.workspace(), around.seq + count + 1);
    let mut statements = record_in_order(&scope.author().await?, around.seq, changes)?;
    statements.extend(agents.remove(workspace)?);
    statements.extend(registry.statements(workspace, revision)?);
    statements.extend(agents.put(workspace, revision)?);
    match scope.write_all(statements).await? {
        Ok(_) => Ok(Restored { changes: count, seq: around.seq + count }),
        Err(DbFailure::Duplicate) => {
            Err(Error::Conflict("The registry was changed by another request meanwhile; try again".into()))
        }
        Err(failure) => Err(failure.into()),
    }
}

/// A version that was deactivated for security stays deactivated, whatever an older backup says.
fn refuse_banned(tools: &[Tool], banned: &HashSet<String>) -> Result<()> {
    let back = tools.iter().filter(|it| it.deactivated_reason != Some(DeactivationReason::Security));
    let back = back.map(|it| format!("{}@{}", it.id, it.version)).filter(|it| banned.contains(it));
    let back = back.collect::<Vec<_>>();
    if back.is_empty() {
        return Ok(());
    }
    Err(Error::Conflict(format!(
        "{} were deactivated for security and cannot come back: mark them so in the backup",
        back.join(", ")
    )))
}

/// Returns a row of the change log for each record that differs. Removals come before additions, and an agent comes
/// before its attachments.
fn changes(
    registry: &RegistryReplacement<'_>,
    agents: &AgentReplacement<'_>,
    bound_tokens: &[BoundToken],
) -> Result<Vec<Change>> {
    let gone = agents.removed().collect::<HashSet<_>>();
    let mut changes = Vec::new();
    // A token that is bound to an agent ends with that agent.
    for token in bound_tokens.iter().filter(|it| gone.contains(it.agent_id.as_str())) {
        changes.push(Change::new(Action::Revoke, token.subject.clone()).from(&token.state()?)?);
    }
    changes.extend(agents.removals()?);
    changes.extend(registry.changes()?);
    changes.extend(agents.additions()?);
    Ok(changes)
}
