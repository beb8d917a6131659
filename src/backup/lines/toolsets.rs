//! Writes toolsets as lines: the contents of a toolset's files, then the toolset, then its overrides. Contents that several
//! files of a toolset have are written once. Contents that several toolsets have are written with each of them, so that no
//! list of all contents is needed.

use super::Line;
use super::contents::ContentLine;
use super::present::PresentRecords;
use crate::backup::restore::overtaken;
use crate::callers::Scope;
use crate::error::Result;
use crate::files::WantedContents;
use crate::toolsets::ToolsetRecord;
use std::collections::{HashSet, VecDeque};

#[derive(Default)]
pub(super) struct ToolsetLines {
    /// The toolset whose contents are written.
    waiting: Option<(Box<ToolsetRecord>, WantedContents)>,
    /// Pieces of contents that were read.
    pieces: VecDeque<ContentLine>,
    /// The toolset that was written last.
    toolset: Option<String>,
}

impl ToolsetLines {
    /// The next line. None after the last one.
    pub(super) async fn next(&mut self, scope: &Scope, records: &mut PresentRecords) -> Result<Option<Line>> {
        let attached = records.overrides.peek(scope).await?;
        if self.waiting.is_none()
            && attached.is_some_and(|it| self.toolset.as_ref() == Some(&it.toolset_id))
            && let Some(it) = records.overrides.next(scope).await?
        {
            return Ok(Some(Line::Override(Box::new(it))));
        }
        if self.waiting.is_none() {
            let next = records.toolsets.next(scope).await?;
            self.waiting = next.map(|it| {
                let wanted = contents_of(&it);
                (Box::new(it), wanted)
            });
        }
        let Some((_, wanted)) = &mut self.waiting else { return Ok(None) };
        if self.pieces.is_empty()
            && let Some(read) = wanted.next(scope).await?
        {
            self.pieces = read.all()?.iter().map(ContentLine::of).collect::<Result<_>>()?;
        }
        if let Some(piece) = self.pieces.pop_front() {
            return Ok(Some(Line::Content(Box::new(piece))));
        }
        let Some((toolset, wanted)) = self.waiting.take() else { return Ok(None) };
        if wanted.left() > 0 {
            return Err(overtaken());
        }
        self.toolset = Some(toolset.id.clone());
        Ok(Some(Line::Toolset(toolset)))
    }
}

/// The contents of a toolset's files, each once, in the order of the files.
fn contents_of(it: &ToolsetRecord) -> WantedContents {
    let mut seen = HashSet::new();
    let files = it.files.iter().filter(|it| seen.insert(it.sha256.as_str()));
    WantedContents::new(files.map(|it| it.sha256.clone()).collect::<Vec<_>>())
}
