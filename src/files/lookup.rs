//! Reading files and directories, without changing them.

use super::blob::BlobContent;
use super::listing::{DirectoryEntry, DirectoryEntryKind, MAX_LISTED};
use super::session::require_session_and_manifest;
use super::store::blob::{BlobStart, CHUNKS_AT_ONCE};
use super::store::lookup::{DirectoryPosition, FileStart, FileView, FoundInFileManifest};
use super::{FilePath, store};
use crate::callers::Scope;
use crate::db::{Rows, Statement};
use crate::error::{Error, Result};
use crate::ids::{FileManifestId, SessionId};
use crate::page::{Page, PageRequest, bad_cursor};

/// A file with its contents.
#[derive(Clone, Debug, PartialEq)]
pub struct File {
    pub path: FilePath,
    pub sha256: String,
    /// The size in bytes, before any encoding.
    pub size: u32,
    pub content: BlobContent,
}

/// The result of a lookup, and the file manifest that was searched. A session that does not exist, or that has no file
/// manifest yet, holds nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct FileLookup<T> {
    pub manifest_id: Option<FileManifestId>,
    pub found: Option<T>,
}

/// The file at `path`: at present, or at the session's file manifest `at`.
pub async fn read_file(
    scope: &Scope,
    session: &SessionId,
    at: Option<&FileManifestId>,
    path: &FilePath,
) -> Result<FileLookup<File>> {
    let [rows] = scope.read([find_file(scope, session, at, path)]).await?;
    read_found_file(scope, &rows, at, path).await
}

/// The statement of [`read_file`], for a batch of another room.
pub fn find_file(scope: &Scope, session: &SessionId, at: Option<&FileManifestId>, path: &FilePath) -> Statement {
    let view = FileView { workspace: scope.workspace(), session, at };
    store::lookup::find_file(view, scope.session_token(), path)
}

/// The file that [`find_file`] found.
pub async fn read_found_file(
    scope: &Scope,
    rows: &Rows,
    at: Option<&FileManifestId>,
    path: &FilePath,
) -> Result<FileLookup<File>> {
    let Some(seen) = require_manifest(store::lookup::read_file(rows)?, at)? else {
        return Ok(FileLookup { manifest_id: None, found: None });
    };
    let found = match seen.found {
        None => None,
        Some(file) => read_whole_file(scope, path, file).await?,
    };
    Ok(FileLookup { manifest_id: seen.manifest_id, found })
}

/// Returns the entries of a directory: directories first, then by name. There is one entry more than
/// [`super::listing_text`] shows, so that the listing can say that there are more. The root always exists.
pub async fn list_dir(
    scope: &Scope,
    session: &SessionId,
    at: Option<&FileManifestId>,
    dir: &FilePath,
) -> Result<FileLookup<Vec<DirectoryEntry>>> {
    let rows = scope.read(find_dir(scope, session, at, dir)).await?;
    read_found_dir(&rows, at, dir)
}

/// The statements of [`list_dir`], for a batch of another room.
pub fn find_dir(scope: &Scope, session: &SessionId, at: Option<&FileManifestId>, dir: &FilePath) -> [Statement; 2] {
    let view = FileView { workspace: scope.workspace(), session, at };
    [store::lookup::find_manifest(view, scope.session_token()), store::lookup::list_children(view, dir, MAX_LISTED + 1)]
}

/// The directory that [`find_dir`] found.
pub fn read_found_dir(
    [manifest, children]: &[Rows; 2],
    at: Option<&FileManifestId>,
    dir: &FilePath,
) -> Result<FileLookup<Vec<DirectoryEntry>>> {
    let seen = require_manifest(store::lookup::read_manifest(manifest)?, at)?;
    let entries = if seen.is_some() { store::lookup::read_children(children, dir)? } else { Vec::new() };
    Ok(FileLookup {
        manifest_id: seen.and_then(|it| it.manifest_id),
        found: (dir.is_root() || !entries.is_empty()).then_some(entries),
    })
}

/// The file or the directory at a path.
#[derive(Debug)]
pub enum FileOrDirectory {
    File(File),
    Directory(Page<DirectoryEntry>),
}

/// The file at `path`, or a page of the directory at `path`, with the file manifest that was read.
pub async fn open_path(
    scope: &Scope,
    session: &SessionId,
    at: Option<&FileManifestId>,
    path: &FilePath,
    request: &PageRequest,
) -> Result<(Option<FileManifestId>, FileOrDirectory)> {
    let position = match request.after().map(|it| it.split_once(' ')) {
        None => DirectoryPosition::Start,
        Some(Some(("directory", name))) => DirectoryPosition::AfterDirectory(name),
        Some(Some(("file", name))) => DirectoryPosition::AfterFile(name),
        Some(_) => return Err(bad_cursor()),
    };
    let view = FileView { workspace: scope.workspace(), session, at };
    let [file, children] = scope
        .read([
            store::lookup::find_file(view, scope.session_token(), path),
            store::lookup::page_children(view, path, position, request.rows_to_ask()),
        ])
        .await?;
    let seen = require_session_and_manifest(store::lookup::read_file(&file)?, session, at)?;
    if let Some(file) = seen.found {
        let file = read_whole_file(scope, path, file).await?.ok_or_else(|| Error::not_found("File", path))?;
        return Ok((seen.manifest_id, FileOrDirectory::File(file)));
    }
    let children = store::lookup::read_children(&children, path)?;
    if children.is_empty() && request.after().is_none() && !path.is_root() {
        return Err(Error::not_found("File", path));
    }
    let page = request.page(children, |it| match it.kind {
        DirectoryEntryKind::Directory => format!("directory {}", it.name),
        DirectoryEntryKind::File { .. } => format!("file {}", it.name),
    });
    Ok((seen.manifest_id, FileOrDirectory::Directory(page)))
}

/// The contents that have this SHA-256 in the workspace.
pub async fn read_blob(scope: &Scope, sha256: &str) -> Result<Option<BlobContent>> {
    let [rows] = scope.read([store::blob::find(scope.workspace(), sha256)]).await?;
    match rows.first::<BlobStart>()? {
        None => Ok(None),
        Some(start) => read_remaining_chunks(scope, start).await,
    }
}

/// Fails if the caller named a file manifest that does not exist.
pub(super) fn require_manifest<T>(
    seen: Option<FoundInFileManifest<T>>,
    at: Option<&FileManifestId>,
) -> Result<Option<FoundInFileManifest<T>>> {
    match at {
        Some(id) if seen.as_ref().is_none_or(|it| it.manifest_id.is_none()) => Err(Error::not_found("Manifest", id)),
        _ => Ok(seen),
    }
}

/// The file with all of its contents. None if the sweep deleted the contents in the meantime.
async fn read_whole_file(scope: &Scope, path: &FilePath, file: FileStart) -> Result<Option<File>> {
    let sha256 = file.start.sha256.clone();
    let content = read_remaining_chunks(scope, file.start).await?;
    Ok(content.map(|content| File { path: path.clone(), sha256, size: file.size, content }))
}

/// Reads the chunks after the first one. The contents may lose their last reference between two reads, and the sweep
/// may then delete them. In that case there is no result.
async fn read_remaining_chunks(scope: &Scope, start: BlobStart) -> Result<Option<BlobContent>> {
    if start.chunks > 1 {
        scope.memory_turn().take().await;
    }
    let mut text = start.data;
    // The last chunk is the only short one, so the text never has to move while it grows.
    text.reserve_exact(text.len() * (start.chunks.saturating_sub(1) as usize));
    let mut next = 1;
    while next < start.chunks {
        let [rows] = scope.read([store::blob::find_chunks(scope.workspace(), &start.sha256, next)]).await?;
        let chunks = store::blob::read_chunks(&rows)?;
        if chunks.len() < CHUNKS_AT_ONCE.min(start.chunks - next) as usize {
            return Ok(None);
        }
        text.extend(chunks);
        next += CHUNKS_AT_ONCE;
    }
    Ok(Some(BlobContent::stored(start.encoding, text)))
}
