//! Checks the toolsets and the overrides of a backup, and collects everything that is wrong with them.

use super::problems::BackupProblems;
use crate::ids::SERVER_SEPARATOR;
use crate::registry::{Source, ToolRecord};
use crate::toolsets::{MAX_TOOLSETS, OverrideRecord, ToolsetRecord};
use std::collections::{HashMap, HashSet};

/// The toolset or the MCP server that a tool's id begins with.
pub fn owner_of(tool_id: &str) -> Option<&str> {
    tool_id.split_once(SERVER_SEPARATOR).map(|(owner, _)| owner)
}

/// The sources of the tools of toolsets and MCP servers. Both share their ids, so the tools of one id have one source, even
/// if the toolset or the server is gone.
#[derive(Default)]
pub struct OwnerSources(HashMap<String, Source>);

impl OwnerSources {
    pub fn add(&mut self, found: &mut BackupProblems, path: &str, tool: &ToolRecord) {
        let (Source::Toolset | Source::Mcp, Some(owner)) = (tool.source, owner_of(&tool.id)) else { return };
        match self.0.get(owner) {
            Some(source) if *source != tool.source => {
                let message = format!("begins like the ids of tools of the source {source}: toolsets and MCP servers");
                found.add(format!("{path}/id"), format!("{message} share their ids"));
            }
            Some(_) => {}
            None => drop(self.0.insert(owner.to_owned(), tool.source)),
        }
    }

    /// Whether the tools under this id come from another source.
    pub fn has_other(&self, owner: &str, source: Source) -> bool {
        self.0.get(owner).is_some_and(|it| *it != source)
    }
}

impl BackupProblems {
    /// Checks a toolset that differs from the present one, and gives it the form in which toolsets are stored.
    pub fn toolset(&mut self, path: &str, toolset: &mut ToolsetRecord) {
        match toolset.clone().checked() {
            Ok(stored) => *toolset = stored,
            Err(problems) => self.within(path, problems),
        }
    }

    /// `count` is the number of the backup's toolsets up to the one at `path`.
    pub fn toolset_count(&mut self, path: &str, count: usize) {
        if count == MAX_TOOLSETS as usize + 1 {
            self.add(path, format!("is more than the {MAX_TOOLSETS} that a workspace can have"));
        }
    }

    /// Checks that no MCP server has, or had, the id of a toolset. `is_server` says whether one has it.
    pub fn toolset_id(&mut self, path: &str, id: &str, is_server: bool, owners: &OwnerSources) {
        if is_server {
            self.add(format!("{path}/id"), "is the id of an MCP server: toolsets and MCP servers share their ids");
        } else if owners.has_other(id, Source::Toolset) {
            self.add(format!("{path}/id"), "was the id of an MCP server, whose tools are still recorded");
        }
    }

    /// Checks that the contents of the files are there. `size` finds the size of contents, and `missing` says what is wrong
    /// with contents that are not there.
    pub fn contents(&mut self, path: &str, it: &ToolsetRecord, size: impl Fn(&str) -> Option<u32>, missing: &str) {
        for (index, file) in it.files.iter().enumerate() {
            match size(&file.sha256) {
                None => self.add(format!("{path}/files/{index}/sha256"), missing),
                Some(size) if size != file.size => {
                    self.add(format!("{path}/files/{index}/size"), format!("is not the size of the contents, {size}"));
                }
                Some(_) => {}
            }
        }
    }

    /// Checks an override that differs from the present one, and gives it the form in which overrides are stored.
    pub fn tool_override(&mut self, path: &str, it: &mut OverrideRecord) {
        match it.clone().checked() {
            Ok(stored) => *it = stored,
            Err(problems) => self.within(path, problems),
        }
    }

    /// Checks that the tool of an override is one of the toolset, which declares the tools `names`, or of one of its MCP
    /// servers.
    pub fn overridden_tool(&mut self, path: &str, it: &OverrideRecord, names: &HashSet<&str>, servers: &HashSet<&str>) {
        if !it.is_of(names, servers) {
            let message = format!("is no tool of the toolset {}, nor of one of its MCP servers", it.toolset_id);
            self.add(format!("{path}/tool_id"), message);
        }
    }

    /// An MCP server whose toolset neither the backup nor, if it holds no toolsets, the workspace has.
    pub fn missing_toolset(&mut self, path: &str) {
        self.add(format!("{path}/toolset_id"), "is the id of no toolset that there would be");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::time::Timestamp;

    #[test]
    fn the_tools_of_one_id_have_one_source() {
        let tool =
            |id: &str, source| ToolRecord { id: id.into(), source, created_at: Timestamp::from_millis(0).unwrap() };
        let (mut found, mut owners) = (BackupProblems::default(), OwnerSources::default());
        let tools = [("a:x", Source::Mcp), ("a:y", Source::Mcp), ("b:x", Source::Toolset), ("c.x", Source::Module)];
        for (id, source) in tools {
            owners.add(&mut found, "/tools/0", &tool(id, source));
        }
        assert!(found.is_empty());
        assert!(owners.has_other("a", Source::Toolset) && !owners.has_other("b", Source::Toolset));
        assert!(!owners.has_other("c", Source::Toolset));
        owners.add(&mut found, "/tools/4", &tool("b:y", Source::Mcp));
        let Err(Error::Invalid(problems)) = found.none() else { unreachable!("two sources") };
        assert_eq!(problems[0].path, "/tools/4/id");
    }
}
