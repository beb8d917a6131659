//! Writes the present registry as JSON Lines, piece by piece.

use super::present::PresentRecords;
use super::toolsets::ToolsetLines;
use super::{Line, LineCounts};
use crate::backup::reading::read_seq;
use crate::backup::store::{find_settings, read_settings};
use crate::backup::workspace::WorkspaceRecord;
use crate::callers::Scope;
use crate::changes;
use crate::error::{Error, Result};
use crate::registry::{ToolRecord, VersionRecord};
use futures_util::stream::{self, Stream};
use worker::send::SendFuture;

/// From how many bytes on a piece is sent.
const PIECE_BYTES: usize = 256 * 1024;

/// Streams the registry as it is now. If the registry changes before the last line, the stream fails: the lines would
/// not fit together.
pub fn export(scope: Scope) -> impl Stream<Item = Result<Vec<u8>>> + Send {
    let counts = LineCounts::complete();
    let (agent, tool, toolsets) = (None, None, ToolsetLines::default());
    let export = Export { scope, records: None, settings: None, counts, agent, tool, toolsets, ended: false };
    stream::try_unfold(export, |mut export| {
        SendFuture::new(async move { Ok(export.piece().await?.map(|piece| (piece, export))) })
    })
}

struct Export {
    scope: Scope,
    /// The records that are still to be written. None before the first piece.
    records: Option<PresentRecords>,
    /// The settings of the workspace, until they are written.
    settings: Option<WorkspaceRecord>,
    counts: LineCounts,
    /// The agent that was written last.
    agent: Option<String>,
    /// The tool that was written last.
    tool: Option<String>,
    toolsets: ToolsetLines,
    ended: bool,
}

impl Export {
    /// Returns the next lines. None after the last line.
    async fn piece(&mut self) -> Result<Option<Vec<u8>>> {
        let mut lines = Vec::new();
        while !self.ended && lines.len() < PIECE_BYTES {
            let line = self.line().await?;
            self.counts.add(&line);
            self.ended = matches!(line, Line::End(_));
            serde_json::to_writer(&mut lines, &line)
                .map_err(|cause| Error::Internal(format!("a line of a backup is not JSON: {cause}")))?;
            lines.push(b'\n');
        }
        Ok((!lines.is_empty()).then_some(lines))
    }

    /// Returns the next line, in the order that `lines/mod.rs` explains.
    async fn line(&mut self) -> Result<Line> {
        let Self { scope, records, settings, agent, tool, toolsets, .. } = self;
        let records = match records {
            Some(records) => records,
            None => {
                let workspace = scope.workspace();
                let [seq, found] = scope.read([changes::find_last(workspace), find_settings(workspace)]).await?;
                scope.unbound_caller().await?;
                *settings = Some(read_settings(&found)?);
                records.insert(PresentRecords::at(read_seq(&seq)?))
            }
        };
        if let Some(it) = records.credentials.next(scope).await? {
            return Ok(Line::Credential(it));
        }
        let attached = records.builtin_attachments.peek(scope).await?;
        if attached.is_some_and(|it| agent.as_ref() == Some(&it.agent_id))
            && let Some(it) = records.builtin_attachments.next(scope).await?
        {
            return Ok(Line::Attachment(it));
        }
        if let Some(it) = records.agents.next(scope).await? {
            *agent = Some(it.id.clone());
            return Ok(Line::Agent(it));
        }
        let version = records.versions.peek(scope).await?;
        let of_tool = version.is_some_and(|it| tool.as_deref() == Some(it.id.as_str()));
        if !of_tool {
            let attached = records.attachments.peek(scope).await?;
            if attached.is_some_and(|it| tool.as_ref() == Some(&it.tool_id))
                && let Some(it) = records.attachments.next(scope).await?
            {
                return Ok(Line::Attachment(it));
            }
            if let Some(it) = records.versions.peek(scope).await? {
                *tool = Some(it.id.to_string());
                return Ok(Line::Tool(ToolRecord::from(it)));
            }
        }
        if let Some(it) = records.versions.next(scope).await? {
            return Ok(Line::Version(Box::new(VersionRecord::try_from(it)?)));
        }
        if let Some(it) = settings.take() {
            return Ok(Line::Workspace(it));
        }
        if let Some(it) = records.modules.next(scope).await? {
            return Ok(Line::Module(Box::new(it)));
        }
        if let Some(it) = records.servers.next(scope).await? {
            return Ok(Line::Server(Box::new(it)));
        }
        Ok(match toolsets.next(scope, records).await? {
            Some(line) => line,
            None => Line::End(self.counts),
        })
    }
}
