//! Checks the toolsets of a backup that is one document: against the rules, against each other, and against the MCP servers.

use super::document::Backup;
use super::problems::BackupProblems;
use super::toolset_problems::OwnerSources;
use crate::federation::ServerRecord;
use crate::registry::Source;
use crate::registry::invariants::DeclaredTools;
use crate::toolsets::{OverrideRecord, ToolsetRecord, ToolsetRecords};
use std::collections::{HashMap, HashSet};

/// What is wrong with contents that only JSON Lines could bring.
const NO_CONTENTS: &str = "the workspace has no such contents, and a document does not hold them: take the backup as JSON Lines \
    (Accept: application/x-ndjson) and restore these";

/// Checks everything about toolsets, and returns the tools that the workspace's toolsets will declare. Toolsets and overrides
/// that differ from the present ones get the form in which they are stored.
pub fn check_toolsets(
    found: &mut BackupProblems,
    backup: &mut Backup,
    now: &Backup,
    contents: &HashMap<String, u32>,
    owners: &OwnerSources,
) -> DeclaredTools {
    let Backup { toolsets, overrides, mcp_servers, .. } = backup;
    let present = now.toolsets();
    if let Some(toolsets) = toolsets {
        check_records(found, toolsets, present.toolsets, contents);
    } else if overrides.is_some() {
        found.add("/overrides", "goes with toolsets only");
    }
    let wanted = toolsets.as_deref().unwrap_or(present.toolsets);
    let kept = now.mcp_servers.as_deref().unwrap_or_default();
    check_servers(found, mcp_servers.as_deref(), kept, wanted, owners);
    let servers = mcp_servers.as_deref().unwrap_or(kept);
    if toolsets.is_some() {
        for (index, it) in wanted.iter().enumerate() {
            let is_server = servers.iter().any(|server| server.id == it.id);
            found.toolset_id(&format!("/toolsets/{index}"), &it.id, is_server, owners);
        }
        let overrides = overrides.as_deref_mut().unwrap_or_default();
        check_overrides(found, overrides, present, wanted, servers);
    }
    let mut declared = DeclaredTools::default();
    for it in wanted {
        declared.add(&it.id, None);
        it.tool_names().for_each(|name| declared.add(&it.id, Some(name)));
    }
    declared
}

fn check_records(
    found: &mut BackupProblems,
    toolsets: &mut [ToolsetRecord],
    present: &[ToolsetRecord],
    contents: &HashMap<String, u32>,
) {
    let mut ids = HashSet::new();
    for (index, it) in toolsets.iter_mut().enumerate() {
        let path = format!("/toolsets/{index}");
        found.toolset_count(&path, index + 1);
        if !ids.insert(it.id.clone()) {
            found.add(format!("{path}/id"), "is there twice");
        }
        if !present.contains(it) {
            found.contents(&path, it, |sha256| contents.get(sha256).copied(), NO_CONTENTS);
            found.toolset(&path, it);
        }
        if found.are_enough() {
            break;
        }
    }
}

/// Checks that the toolsets of MCP servers will be there. `given` are the servers of the backup, if it holds servers, and
/// `kept` those that stay if it does not.
fn check_servers(
    found: &mut BackupProblems,
    given: Option<&[ServerRecord]>,
    kept: &[ServerRecord],
    toolsets: &[ToolsetRecord],
    owners: &OwnerSources,
) {
    let is_toolset = |id: &str| toolsets.iter().any(|it| it.id == id);
    for (index, server) in given.unwrap_or(kept).iter().enumerate() {
        let path = format!("/mcp_servers/{index}");
        let toolset = server.toolset_id.as_deref().filter(|it| !is_toolset(it));
        match (given, toolset) {
            (_, None) => {}
            (Some(_), Some(_)) => found.missing_toolset(&path),
            (None, Some(toolset)) => {
                let name = &server.id;
                let message =
                    format!("{toolset} is missing: the MCP server {name}, which stays as it is, belongs to it");
                found.add("/toolsets", message);
            }
        }
        if given.is_some() && owners.has_other(&server.id, Source::Mcp) {
            found.add(format!("{path}/id"), "was the id of a toolset, whose tools are still recorded");
        }
    }
}

fn check_overrides(
    found: &mut BackupProblems,
    overrides: &mut [OverrideRecord],
    present: ToolsetRecords<'_>,
    toolsets: &[ToolsetRecord],
    servers: &[ServerRecord],
) {
    let present = present.overrides.iter().map(|it| (it.tool_id.as_str(), it)).collect::<HashMap<_, _>>();
    let mut names: HashMap<&str, HashSet<&str>> = HashMap::new();
    for it in toolsets {
        names.entry(&it.id).or_default().extend(it.tool_names());
    }
    let mut of_toolsets: HashMap<&str, HashSet<&str>> = HashMap::new();
    for server in servers {
        of_toolsets.entry(server.toolset_id.as_deref().unwrap_or_default()).or_default().insert(&server.id);
    }
    let (none, mut seen) = (HashSet::new(), HashSet::new());
    for (index, it) in overrides.iter_mut().enumerate() {
        let path = format!("/overrides/{index}");
        if !seen.insert(it.tool_id.clone()) {
            found.add(format!("{path}/tool_id"), "is there twice");
        }
        match names.get(it.toolset_id.as_str()) {
            Some(names) => {
                let servers = of_toolsets.get(it.toolset_id.as_str()).unwrap_or(&none);
                found.overridden_tool(&path, it, names, servers);
            }
            None => found.add(format!("{path}/toolset_id"), "is none of the backup's toolsets"),
        }
        if present.get(it.tool_id.as_str()).is_none_or(|known| **known != *it) {
            found.tool_override(&path, it);
        }
        if found.are_enough() {
            break;
        }
    }
}
