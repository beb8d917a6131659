//! What a restore has to change: everything in which the registry and the backup differ, and nothing else.

use super::document::{AttachmentRecord, Backup, ToolRecord, VersionRecord};
use crate::agents::AgentOut;
use crate::registry::credential::Credential;
use std::collections::HashMap;
use std::hash::Hash;

/// The things of one kind that differ.
pub struct Side<'a, T> {
    /// With what was in its place, if anything was.
    pub put: Vec<(&'a T, Option<&'a T>)>,
    pub removed: Vec<&'a T>,
}

pub struct Difference<'a> {
    pub tools: Side<'a, ToolRecord>,
    pub versions: Side<'a, VersionRecord>,
    pub agents: Side<'a, AgentOut>,
    pub attachments: Side<'a, AttachmentRecord>,
    pub credentials: Side<'a, Credential>,
}

pub fn difference<'a>(now: &'a Backup, wanted: &'a Backup) -> Difference<'a> {
    Difference {
        tools: side(&now.tools, &wanted.tools, |it| it.id.as_str()),
        versions: side(&now.versions, &wanted.versions, |it| (it.tool_id.as_str(), it.version.as_str())),
        agents: side(&now.agents, &wanted.agents, |it| it.id.as_str()),
        attachments: side(&now.attachments, &wanted.attachments, |it| (it.agent_id.as_str(), it.tool_id.as_str())),
        credentials: side(&now.credentials, &wanted.credentials, |it| it.id.as_str()),
    }
}

fn side<'a, T: PartialEq, K: Eq + Hash>(now: &'a [T], wanted: &'a [T], name: impl Fn(&'a T) -> K) -> Side<'a, T> {
    let mut before = now.iter().map(|it| (name(it), it)).collect::<HashMap<_, _>>();
    let mut put = Vec::new();
    for it in wanted {
        match before.remove(&name(it)) {
            Some(same) if same == it => {}
            other => put.push((it, other)),
        }
    }
    // In the order in which they stood.
    let removed = now.iter().filter(|it| before.contains_key(&name(it))).collect();
    Side { put, removed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_the_same_is_left_alone() {
        let now = [("a", 1), ("b", 1), ("c", 1)];
        let wanted = [("d", 1), ("b", 2), ("a", 1)];
        let side = side(&now, &wanted, |it| it.0);
        assert_eq!(side.put, [(&("d", 1), None), (&("b", 2), Some(&("b", 1)))]);
        assert_eq!(side.removed, [&("c", 1)]);
    }
}
