//! All files of a session at one moment, for a program that gets them as a directory.

use super::lookup::require_manifest;
use super::store::bundle::{find_bundle, read_bundle};
use super::store::lookup::{self, FileTotals, FileView, ListedFile};
use crate::callers::Scope;
use crate::db::{Rows, Statement};
use crate::error::Result;
use crate::ids::{FileManifestId, SessionId};
use std::fmt;

/// The most files, and the most bytes of files, that a program gets.
const MAX_FILES: u32 = 2_000;
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// The files of a session. A session that does not exist, or that is hidden from the caller, has none.
pub struct SessionFiles {
    pub manifest_id: Option<FileManifestId>,
    pub files: Vec<ListedFile>,
}

/// The session has more files than a program gets.
#[derive(Debug, PartialEq)]
pub struct TooManyFiles {
    files: u32,
    bytes: u64,
}

impl TooManyFiles {
    fn of(totals: FileTotals) -> Option<Self> {
        let FileTotals { files, bytes } = totals;
        (files > MAX_FILES || bytes > MAX_BYTES).then_some(Self { files, bytes })
    }
}

impl fmt::Display for TooManyFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { files, bytes } = self;
        write!(
            f,
            "The session has {files} files of {bytes} bytes together; a tool that works on files gets at most {MAX_FILES} \
             files and {MAX_BYTES} bytes"
        )
    }
}

/// All files of the session: at present, or at the file manifest `at`. Costs one round trip.
pub async fn list_all(
    scope: &Scope,
    session: &SessionId,
    at: Option<&FileManifestId>,
) -> Result<std::result::Result<SessionFiles, TooManyFiles>> {
    let view = FileView { workspace: scope.workspace(), session, at };
    let [totals, files] = scope.read(statements(scope, view)).await?;
    read(at, &totals, &files)
}

/// All present files of the session, and the files of a toolset. Costs one round trip.
pub async fn list_all_with_bundle(
    scope: &Scope,
    session: &SessionId,
    toolset: &str,
) -> Result<(std::result::Result<SessionFiles, TooManyFiles>, Vec<ListedFile>)> {
    let [totals, files] = statements(scope, FileView { workspace: scope.workspace(), session, at: None });
    let [totals, files, bundle] = scope.read([totals, files, find_bundle(scope.workspace(), toolset)]).await?;
    Ok((read(None, &totals, &files)?, read_bundle(&bundle)?))
}

/// The files of a toolset. Costs one round trip.
pub async fn list_bundle(scope: &Scope, toolset: &str) -> Result<Vec<ListedFile>> {
    let [bundle] = scope.read([find_bundle(scope.workspace(), toolset)]).await?;
    read_bundle(&bundle)
}

fn statements(scope: &Scope, view: FileView<'_>) -> [Statement; 2] {
    [lookup::find_totals(view, scope.session_token()), lookup::list_all(view, MAX_FILES)]
}

fn read(
    at: Option<&FileManifestId>,
    totals: &Rows,
    files: &Rows,
) -> Result<std::result::Result<SessionFiles, TooManyFiles>> {
    let Some(seen) = require_manifest(lookup::read_totals(totals)?, at)? else {
        return Ok(Ok(SessionFiles { manifest_id: None, files: Vec::new() }));
    };
    if let Some(refused) = TooManyFiles::of(seen.found) {
        return Ok(Err(refused));
    }
    Ok(Ok(SessionFiles { manifest_id: seen.manifest_id, files: lookup::read_all(files)? }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_figures() {
        let told = |files, bytes| TooManyFiles::of(FileTotals { files, bytes }).map(|it| it.to_string());
        assert_eq!(told(2_000, 67_108_864), None);
        assert_eq!(told(0, 0), None);
        let expected = "The session has 2001 files of 5 bytes together; a tool that works on files gets at most 2000 files \
            and 67108864 bytes";
        assert_eq!(told(2_001, 5).as_deref(), Some(expected));
        assert!(told(1, 67_108_865).is_some_and(|it| it.contains("1 files of 67108865 bytes")));
    }
}
