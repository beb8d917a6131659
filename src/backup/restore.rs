//! A backup becomes the workspace's registry: all of it, or nothing.

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

/// Two round trips: what is there is read, and what differs is written. Every change of a registry takes the next number
/// of the log; if another request has taken one meanwhile, this one's rows find theirs taken, and nothing is done.
pub async fn restore(scope: &Scope, backup: Backup) -> Result<Restored> {
    let rows = scope.read(reading::everything(scope.workspace())).await?;
    scope.caller().await?.must_be_unbound()?;
    let now = reading::read_everything(&rows)?;
    let around = reading::read_surroundings(&rows)?;

    let versions =
        now.versions.iter().map(|it| ((it.tool_id.as_str(), it.version.as_str()), it)).collect::<HashMap<_, _>>();
    let private = scope.app().settings().private_urls;
    let CheckedBackup { backup, tools } = check(backup, &around.builtins, private, |it| {
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
    // What is put in place gets a revision that nothing of the workspace has had, so that what others decided on an older
    // reading is refused.
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

/// What was switched off for security stays so, whatever a backup from before says.
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

/// A row of the log for each thing that differs. What goes is told before what comes, and an agent before its attachments.
fn changes(
    registry: &RegistryReplacement<'_>,
    agents: &AgentReplacement<'_>,
    bound_tokens: &[BoundToken],
) -> Result<Vec<Change>> {
    let gone = agents.removed().collect::<HashSet<_>>();
    let mut changes = Vec::new();
    // A token ends with the agent that it is bound to.
    for token in bound_tokens.iter().filter(|it| gone.contains(it.agent_id.as_str())) {
        changes.push(Change::new(Action::Revoke, token.subject.clone()).from(&token.state()?)?);
    }
    changes.extend(agents.removals()?);
    changes.extend(registry.changes()?);
    changes.extend(agents.additions()?);
    Ok(changes)
}
