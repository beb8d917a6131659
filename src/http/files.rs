//! `/api/sessions/{session_id}/files` and `/api/sessions/{session_id}/files/{path}`: reads, writes and deletes files,
//! and lists directories.

use super::extract::{FileAt, Named, Query, UnreadBody, User};
use super::respond::{Json, NoContent, Stored};
use super::sessions::manifest_id;
use crate::callers::Scope;
use crate::error::{Error, Result};
use crate::files::{
    self, BlobContent, DirectoryEntry, DirectoryEntryKind, File, FileChangeOrigin, FileManifestSource, FileOrDirectory,
    FilePath,
};
use crate::ids::{FileManifestId, SessionId};
use crate::page::PageRequest;
use crate::text_enum::text_enum;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

pub const MANIFEST_ID: HeaderName = HeaderName::from_static("x-manifest-id");

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct FilesQuery {
    /// Read the files at this file manifest of the session, instead of the present ones.
    manifest_id: Option<String>,
    /// The most entries of a directory that a page may hold.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
    /// The `next_cursor` of the page before this one.
    #[param(pattern = "^[A-Za-z0-9_-]+$")]
    cursor: Option<String>,
}

text_enum! {
    /// The type of a directory's entry.
    EntryType {
        Directory = "directory",
        File = "file",
    }
}

#[derive(Serialize, ToSchema)]
pub struct EntryOut {
    name: String,
    path: String,
    #[schema(inline)]
    r#type: EntryType,
    /// The size in bytes; null for a directory.
    size: Option<u32>,
    sha256: Option<String>,
}

impl From<DirectoryEntry> for EntryOut {
    fn from(entry: DirectoryEntry) -> Self {
        let (r#type, size, sha256) = match entry.kind {
            DirectoryEntryKind::Directory => (EntryType::Directory, None, None),
            DirectoryEntryKind::File { sha256, size } => (EntryType::File, Some(size), Some(sha256)),
        };
        Self { name: entry.name, path: entry.path, r#type, size, sha256 }
    }
}

#[derive(Serialize, ToSchema)]
pub struct DirectoryPage {
    path: String,
    /// Null until the first file is written.
    manifest_id: Option<String>,
    entries: Vec<EntryOut>,
    next_cursor: Option<String>,
}

/// List the root directory of a session
///
/// Directories come first, then files, each sorted by name.
#[utoipa::path(get, path = "/api/sessions/{session_id}/files", tag = "files",
    params(("session_id" = String, Path), FilesQuery),
    responses((status = 200, description = "A page of the directory", body = DirectoryPage)))]
#[worker::send]
pub async fn list_root(
    User(scope): User,
    Named(session_id): Named<SessionId>,
    Query(query): Query<FilesQuery>,
) -> Result<Response> {
    open_path(&scope, &session_id, &FilePath::root(), query).await
}

/// Read a file, or list a directory
///
/// The response for a file is its bytes, with `ETag` (its SHA-256) and `X-Manifest-Id`. The response for a directory is
/// JSON: directories first, then files, each sorted by name.
#[utoipa::path(get, path = "/api/sessions/{session_id}/files/{path}", tag = "files",
    params(("session_id" = String, Path), ("path" = String, Path, example = "data/config.json"), FilesQuery),
    responses((status = 200, description = "The file, or a page of the directory", content(
        (DirectoryPage = "application/json"), (String = "text/plain"), (String = "application/octet-stream")))))]
#[worker::send]
pub async fn get_file(
    User(scope): User,
    FileAt(path): FileAt,
    Named(session_id): Named<SessionId>,
    Query(query): Query<FilesQuery>,
) -> Result<Response> {
    open_path(&scope, &session_id, &path, query).await
}

async fn open_path(scope: &Scope, session_id: &SessionId, path: &FilePath, query: FilesQuery) -> Result<Response> {
    let request = PageRequest::new(query.limit, query.cursor.as_deref())?;
    let at = query.manifest_id.as_deref().map(manifest_id).transpose()?;
    let (manifest_id, opened) = files::open_path(scope, session_id, at.as_ref(), path, &request).await?;
    match opened {
        FileOrDirectory::File(file) => answer_file(file, manifest_id.as_ref()),
        FileOrDirectory::Directory(page) => {
            let (entries, next_cursor) = page.map(EntryOut::from);
            let manifest_id = manifest_id.as_ref().map(String::from);
            Ok(Json(DirectoryPage { path: path.to_string(), manifest_id, entries, next_cursor }).into_response())
        }
    }
}

/// A response with the bytes of a file. A user wrote these bytes, so no browser may show them as a page of this site.
fn answer_file(file: File, manifest_id: Option<&FileManifestId>) -> Result<Response> {
    let content_type = match file.content {
        BlobContent::Text(_) => "text/plain; charset=utf-8",
        BlobContent::Base64(_) => "application/octet-stream",
    };
    let etag = format!("\"{}\"", file.sha256);
    let mut response = file.content.into_bytes()?.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox"));
    headers.extend(HeaderValue::try_from(etag).ok().map(|it| (header::ETAG, it)));
    let manifest_id = manifest_id.and_then(|it| HeaderValue::try_from(it.as_str()).ok());
    headers.extend(manifest_id.map(|it| (MANIFEST_ID, it)));
    Ok(response)
}

/// The session of a write, which creates the session if it does not exist. So a name that cannot be a session's is an
/// error in the request, not a missing session.
pub struct SessionToWrite(SessionId);

impl<S: Send + Sync> FromRequestParts<S> for SessionToWrite {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        Named::from_request_parts(parts, state)
            .await
            .map(|Named(id)| Self(id))
            .map_err(|_| Error::path("session_id", "must be 1 to 64 letters, digits, _ or -"))
    }
}

/// A file that has just been written.
#[derive(Serialize, ToSchema)]
pub struct WrittenOut {
    #[schema(example = "/data/config.json")]
    path: String,
    sha256: String,
    size: u32,
    manifest_id: String,
    /// The file manifest before the new one.
    parent_manifest_id: Option<String>,
}

/// Write a file
///
/// The body is the contents of the file, up to 10 MiB. No body makes an empty file. The session is created if no
/// session has that name. If several requests write at once, no file is lost. A write that the workspace's quota has no
/// room for is 413, with `used_bytes` and `quota_bytes` in `details`.
#[utoipa::path(put, path = "/api/sessions/{session_id}/files/{path}", tag = "files",
    params(("session_id" = String, Path), ("path" = String, Path, example = "data/config.json")),
    request_body(content = Option<String>, content_type = "application/octet-stream"),
    responses(
        (status = 200, description = "The file was replaced", body = WrittenOut),
        (status = 201, description = "The file is new", body = WrittenOut),
        (status = 409, description = "The path is a directory, or a directory in the path is a file"),
    ))]
#[worker::send]
pub async fn put_file(
    User(scope): User,
    FileAt(path): FileAt,
    SessionToWrite(session_id): SessionToWrite,
    body: UnreadBody,
) -> Result<Stored<WrittenOut>> {
    if path.is_root() {
        return Err(Error::path("path", "is the root, which is a directory"));
    }
    let bytes = body.read_for(scope.caller().await, files::MAX_FILE_BYTES as usize).await?;
    let origin =
        FileChangeOrigin { source: FileManifestSource::UserUpload, source_ref: None, agent: None, generation: None };
    let written = files::write_file(&scope, &session_id, &path, bytes, origin).await??;
    let out = WrittenOut {
        path: path.to_string(),
        sha256: written.sha256,
        size: written.size,
        manifest_id: written.post.to_string(),
        parent_manifest_id: written.pre.as_ref().map(String::from),
    };
    Ok(if written.created { Stored::New(out) } else { Stored::Replaced(out) })
}

/// Delete a file or a directory
///
/// A directory is deleted with everything below it, in one file manifest. Older file manifests keep their files.
#[utoipa::path(delete, path = "/api/sessions/{session_id}/files/{path}", tag = "files",
    params(("session_id" = String, Path), ("path" = String, Path, example = "data/config.json")),
    responses((status = 204, description = "The file or directory was deleted")))]
#[worker::send]
pub async fn delete_file(
    User(scope): User,
    FileAt(path): FileAt,
    Named(session_id): Named<SessionId>,
) -> Result<NoContent> {
    files::delete_file(
        &scope,
        &session_id,
        &path,
        FileChangeOrigin { source: FileManifestSource::Edit, source_ref: None, agent: None, generation: None },
    )
    .await?;
    Ok(NoContent)
}
