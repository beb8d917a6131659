//! A backup becomes the workspace's registry: all of it, or nothing.

use super::check::{Checked, check};
use super::difference::{Difference, difference};
use super::document::{AttachmentRecord, Backup};
use super::store;
use crate::agents;
use crate::callers::{BoundToken, Scope};
use crate::changes::{Action, Change, record_in_order};
use crate::db::Failure;
use crate::error::{Error, Result};
use crate::ids::ToolId;
use crate::registry::credential;
use crate::registry::{self, DeactivationReason, Tool};
use serde::Serialize;
use serde_json::json;
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
    let rows = scope.read(store::everything(scope.workspace())).await?;
    scope.caller().await?.must_be_unbound()?;
    let now = store::read_everything(&rows)?;
    let around = store::read_surroundings(&rows)?;

    let versions =
        now.versions.iter().map(|it| ((it.tool_id.as_str(), it.version.as_str()), it)).collect::<HashMap<_, _>>();
    let private = scope.app().settings().private_urls;
    let Checked { backup, tools } = check(backup, &around.builtins, private, |it| {
        versions.get(&(it.tool_id.as_str(), it.version.as_str())).is_some_and(|known| *known == it)
    })?;
    refuse_banned(&tools, &around.banned)?;

    let differs = difference(&now, &backup);
    let gone = differs.agents.removed.iter().map(|it| it.id.as_str()).collect::<HashSet<_>>();
    let revoked = around.bound_tokens.iter().filter(|it| gone.contains(it.agent_id.as_str())).collect::<Vec<_>>();
    let changes = changes(&differs, &now, &backup, &tools, &revoked)?;
    let count = u32::try_from(changes.len()).unwrap_or(u32::MAX);
    if changes.is_empty() {
        return Ok(Restored { changes: 0, seq: around.seq });
    }
    let mut statements = record_in_order(&scope.author().await?, around.seq, changes)?;
    statements.extend(store::put_in_place(scope.workspace(), &differs, &tools, around.seq + count + 1)?);
    match scope.write_all(statements).await? {
        Ok(_) => Ok(Restored { changes: count, seq: around.seq + count }),
        Err(Failure::Duplicate) => {
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
    differs: &Difference<'_>,
    now: &Backup,
    wanted: &Backup,
    tools: &[Tool],
    revoked: &[&BoundToken],
) -> Result<Vec<Change>> {
    let mut changes = Vec::new();
    for token in revoked {
        changes.push(Change::new(Action::Revoke, token.subject.clone()).from(&token.state()?)?);
    }
    for it in &differs.attachments.removed {
        changes.push(of_attachment(it)?.from(&attachment(it))?);
    }
    for it in &differs.agents.removed {
        changes.push(Change::new(Action::Restore, agents::subject(&it.id)).from(it)?);
    }
    for it in &differs.versions.removed {
        changes.push(registry::removal(&it.tool_id, &it.version)?.from(&it.switch())?);
    }
    for it in &differs.credentials.removed {
        changes.push(Change::new(Action::Restore, credential::subject(&it.id)).from(it)?);
    }
    for (it, before) in &differs.credentials.put {
        changes.push(Change::new(Action::Restore, credential::subject(&it.id)).from_option(*before)?.to(it)?);
    }
    changes.extend(of_versions(differs, now, wanted, tools)?);
    for (it, before) in &differs.agents.put {
        changes.push(Change::new(Action::Restore, agents::subject(&it.id)).from_option(*before)?.to(it)?);
    }
    for (it, before) in &differs.attachments.put {
        let before = before.map(attachment);
        // A time of attaching that differs is no difference that the log could tell.
        changes.push(of_attachment(it)?.from_option(before.as_ref())?.to(&attachment(it))?);
    }
    Ok(changes)
}

/// The versions that differ themselves, and those of a tool that does: its time of creation is part of what each shows.
fn of_versions(differs: &Difference<'_>, now: &Backup, wanted: &Backup, tools: &[Tool]) -> Result<Vec<Change>> {
    let before = now.versions.iter().map(|it| ((it.tool_id.as_str(), it.version.as_str()), it));
    let before = before.collect::<HashMap<_, _>>();
    let put = differs.versions.put.iter().map(|(it, _)| std::ptr::from_ref(*it)).collect::<HashSet<_>>();
    let other_tools = differs.tools.put.iter().map(|(it, _)| it.id.as_str()).collect::<HashSet<_>>();
    let mut changes = Vec::new();
    for (record, tool) in wanted.versions.iter().zip(tools) {
        if !put.contains(&std::ptr::from_ref(record)) && !other_tools.contains(record.tool_id.as_str()) {
            continue;
        }
        let previous = before.get(&(record.tool_id.as_str(), record.version.as_str())).map(|it| it.switch());
        changes.push(registry::change(Action::Restore, tool)?.from_option(previous.as_ref())?);
    }
    Ok(changes)
}

fn of_attachment(it: &AttachmentRecord) -> Result<Change> {
    about(Change::new(Action::Restore, format!("attachment:{}/{}", it.agent_id, it.tool_id)), &it.tool_id)
}

fn about(change: Change, tool_id: &str) -> Result<Change> {
    let id = ToolId::parse(tool_id).ok_or_else(|| Error::Internal(format!("{tool_id} is not the id of a tool")))?;
    Ok(change.of_tool(&id))
}

/// An attachment as the log shows it.
fn attachment(it: &AttachmentRecord) -> serde_json::Value {
    json!({"agent_id": it.agent_id, "tool_id": it.tool_id, "config": it.config})
}
