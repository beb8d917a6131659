//! A backup of any size, as JSON Lines. Both directions work in pieces, so that neither holds a whole registry in
//! memory.
//!
//! Every line is one record, as an object with one field that names the kind of the record. The records are sorted, so
//! that a restore can compare them with the present registry in one walk through both:
//! - credentials, sorted by id;
//! - agents, sorted by id; each is followed by its attachments of built-ins, sorted by tool;
//! - tools, sorted by id; each is followed by its versions, sorted by number, and then by its attachments, sorted by
//!   agent;
//! - the settings of the workspace, then the modules and then the MCP servers, each sorted by name. Lines without the
//!   settings are older than modules, and a restore of them leaves both as they are;
//! - toolsets, sorted by id; each comes after the contents of its files, in pieces, and is followed by its overrides, sorted
//!   by tool;
//! - the end, which counts the records. An end that does not count MCP servers is older than these: a restore leaves
//!   them as they are; so it is with toolsets. Without the end, a backup that was cut off would look like a whole one, and a restore
//!   would delete everything that was cut off.

mod contents;
mod export;
mod intake;
mod present;
mod split;
mod staging;
mod toolsets;

pub use export::export;
pub use intake::restore;

use super::workspace::WorkspaceRecord;
use crate::agents::{AgentOut, AttachmentRecord};
use crate::federation::ServerRecord;
use crate::modules::ModuleRecord;
use crate::registry::credential::Credential;
use crate::registry::{ToolRecord, VersionRecord};
use crate::toolsets::{OverrideRecord, ToolsetRecord};
use contents::ContentLine;
use serde::{Deserialize, Serialize};

/// One line of a backup.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Line {
    Credential(Credential),
    Agent(AgentOut),
    Tool(ToolRecord),
    Version(Box<VersionRecord>),
    Attachment(AttachmentRecord),
    Workspace(WorkspaceRecord),
    Module(Box<ModuleRecord>),
    #[serde(rename = "mcp_server")]
    Server(Box<ServerRecord>),
    Content(Box<ContentLine>),
    Toolset(Box<ToolsetRecord>),
    Override(Box<OverrideRecord>),
    End(LineCounts),
}

/// How many lines of each kind a backup has.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LineCounts {
    credentials: u32,
    agents: u32,
    tools: u32,
    versions: u32,
    attachments: u32,
    /// 1, or 0 in lines that are older than modules.
    #[serde(default)]
    workspace: u32,
    #[serde(default)]
    modules: u32,
    /// None in lines that are older than MCP servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mcp_servers: Option<u32>,
    /// None in lines that are older than toolsets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    toolsets: Option<u32>,
    #[serde(default)]
    contents: u32,
    #[serde(default)]
    overrides: u32,
}

impl LineCounts {
    /// The counts of a backup that holds everything, before its first line.
    pub fn complete() -> Self {
        Self { mcp_servers: Some(0), toolsets: Some(0), ..Self::default() }
    }

    pub fn are_older_than_servers(&self) -> bool {
        self.mcp_servers.is_none()
    }

    pub fn are_older_than_toolsets(&self) -> bool {
        self.toolsets.is_none()
    }

    /// Whether these counts, of an end, are those of the lines that came before it.
    pub fn are_those_of(&self, lines: &Self) -> bool {
        let counted = |it: &Self| Self {
            mcp_servers: Some(it.mcp_servers.unwrap_or(0)),
            toolsets: Some(it.toolsets.unwrap_or(0)),
            ..*it
        };
        counted(self) == counted(lines)
    }

    pub fn add(&mut self, line: &Line) {
        match line {
            Line::Credential(_) => self.credentials += 1,
            Line::Agent(_) => self.agents += 1,
            Line::Tool(_) => self.tools += 1,
            Line::Version(_) => self.versions += 1,
            Line::Attachment(_) => self.attachments += 1,
            Line::Workspace(_) => self.workspace += 1,
            Line::Module(_) => self.modules += 1,
            Line::Server(_) => *self.mcp_servers.get_or_insert(0) += 1,
            Line::Content(_) => self.contents += 1,
            Line::Toolset(_) => *self.toolsets.get_or_insert(0) += 1,
            Line::Override(_) => self.overrides += 1,
            Line::End(_) => {}
        }
    }
}
