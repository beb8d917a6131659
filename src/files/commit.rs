//! Changing files: every change makes a manifest.

use super::session::known_at;
use super::store::commit::{self, Commit, Place};
use super::store::look::View;
use super::{Blob, FilePath, store};
use crate::callers::Scope;
use crate::db::Statement;
use crate::error::{Error, Result};
use crate::ids::{self, ManifestId, SessionId, WorkspaceId};
use crate::text_enum::text_enum;
use crate::time::Timestamp;
use std::fmt;

/// The largest file.
pub const MAX_FILE_BYTES: u32 = 10 * 1024 * 1024;

text_enum! {
    /// What made a manifest.
    Source {
        UserUpload = "user_upload",
        ToolRun = "tool_run",
        Branch = "branch",
        Edit = "edit",
    }
}

/// Where a change comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Origin {
    pub source: Source,
    /// The call or message that it belongs to.
    pub source_ref: Option<String>,
}

/// A file that was written, and the manifests before and after.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    pub pre: Option<ManifestId>,
    pub post: ManifestId,
    /// Whether there was no file before.
    pub created: bool,
    pub sha256: String,
    pub size: u32,
}

/// Why a file cannot be written.
#[derive(Clone, Debug, PartialEq)]
pub enum Unwritable {
    /// Of the directories that the path names, this one is a file.
    NotADirectory {
        path: FilePath,
        file: String,
    },
    IsADirectory {
        path: FilePath,
    },
    TooLarge {
        path: FilePath,
        size: u32,
    },
    /// All files of the session would take more than they may.
    Full {
        path: FilePath,
        bytes: u64,
        max_bytes: u64,
    },
}

impl fmt::Display for Unwritable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotADirectory { path, file } => write!(f, "Cannot write {path}: {file} is a file, not a directory"),
            Self::IsADirectory { path } => write!(f, "Cannot write {path}: it is a directory"),
            Self::TooLarge { path, size } => {
                write!(f, "Cannot write {path}: it has {size} bytes; {MAX_FILE_BYTES} are allowed")
            }
            Self::Full { path, bytes, max_bytes } => {
                write!(f, "Cannot write {path}: the session's files would have {bytes} bytes; {max_bytes} are allowed")
            }
        }
    }
}

impl From<Unwritable> for Error {
    fn from(reason: Unwritable) -> Self {
        let message = reason.to_string();
        match reason {
            Unwritable::NotADirectory { .. } | Unwritable::IsADirectory { .. } => Self::Conflict(message),
            Unwritable::TooLarge { .. } => Self::NoRoom { message, limit_bytes: MAX_FILE_BYTES.into() },
            Unwritable::Full { max_bytes, .. } => Self::NoRoom { message, limit_bytes: max_bytes },
        }
    }
}

/// Makes the session if there is none of that name (for a batch of another room).
pub fn create_session_if_missing(workspace: &WorkspaceId, session: &SessionId, now: Timestamp) -> Result<Statement> {
    Ok(commit::create_session_if_missing(workspace, session, &ids::random_hex::<16>()?, now))
}

/// Writes a file into the session's present, whatever others are writing at the same time. The session springs up if
/// there is none of that name. What cannot be written changes nothing.
pub async fn write_file(
    scope: &Scope,
    session: &SessionId,
    path: &FilePath,
    bytes: Vec<u8>,
    origin: Origin,
) -> Result<std::result::Result<Written, Unwritable>> {
    let max_bytes = scope.app().settings().workspace_max_bytes;
    let blob = Blob::new(bytes);
    if let Some(reason) = never_writable(path, blob.size(), max_bytes) {
        return Ok(Err(reason));
    }
    let (workspace, now, post) = (scope.workspace(), scope.app().clock(), ManifestId::random()?);
    let new = Commit { workspace, session, manifest: &post, origin: &origin, now };
    // In a session that springs up here nothing can stand in the way, so that no refused write makes one.
    let mut statements = vec![
        create_session_if_missing(workspace, session, now)?,
        commit::find_place(&new, path),
        commit::insert_writing(&new, path, &blob, max_bytes),
        commit::count_in_lines(workspace, &post),
        commit::insert_entry(workspace, &post, path, &blob),
        commit::activate(&new),
    ];
    statements.extend(store::blob::insert_for(&post, workspace, &blob, now));
    let rows = scope.write_all(statements).await??;
    let [_, place, inserted, ..] = rows.as_slice() else {
        return Err(Error::Internal("D1 gave too few answers to a write".into()));
    };
    let place = commit::read_place(place)?.ok_or_else(|| Error::Internal("a session did not spring up".into()))?;
    if inserted.changes() == 0 {
        return Ok(Err(refusal(path, place, blob.size(), max_bytes)));
    }
    Ok(Ok(Written {
        pre: place.manifest_id,
        post,
        created: place.size.is_none(),
        sha256: blob.sha256().to_owned(),
        size: blob.size(),
    }))
}

/// Deletes the file at `path`, or all that are below it, in one manifest.
pub async fn delete_file(scope: &Scope, session: &SessionId, path: &FilePath, origin: Origin) -> Result<ManifestId> {
    if path.is_root() {
        return Err(Error::path("path", "is the root, which cannot be deleted"));
    }
    let (workspace, now, post) = (scope.workspace(), scope.app().clock(), ManifestId::random()?);
    let new = Commit { workspace, session, manifest: &post, origin: &origin, now };
    let [seen, inserted, _, _, _] = scope
        .write([
            store::look::find_manifest(View { workspace, session, at: None }),
            commit::insert_removing(&new, path),
            commit::count_in_lines(workspace, &post),
            commit::insert_absences(&new, path),
            commit::activate(&new),
        ])
        .await??;
    known_at(store::look::read_manifest(&seen)?, session, None)?;
    if inserted.changes() == 0 { Err(Error::not_found("File", path)) } else { Ok(post) }
}

/// What no state of the session could make right.
fn never_writable(path: &FilePath, size: u32, max_bytes: u64) -> Option<Unwritable> {
    let path = path.clone();
    if path.is_root() {
        Some(Unwritable::IsADirectory { path })
    } else if size > MAX_FILE_BYTES {
        Some(Unwritable::TooLarge { path, size })
    } else if u64::from(size) > max_bytes {
        Some(Unwritable::Full { path, bytes: size.into(), max_bytes })
    } else {
        None
    }
}

fn refusal(path: &FilePath, place: Place, size: u32, max_bytes: u64) -> Unwritable {
    let path = path.clone();
    match place {
        Place { file_above: Some(file), .. } => Unwritable::NotADirectory { path, file },
        Place { is_directory: true, .. } => Unwritable::IsADirectory { path },
        Place { bytes, size: old, .. } => {
            let others = bytes.saturating_sub(old.unwrap_or(0).into());
            Unwritable::Full { path, bytes: others + u64::from(size), max_bytes }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_names_the_path_and_has_its_status() {
        let path = FilePath::parse("/a/b").unwrap();
        let check = |reason: Unwritable, code: &str, message: &str| {
            assert_eq!((reason.to_string().as_str(), Error::from(reason).code()), (message, code));
        };
        check(
            Unwritable::NotADirectory { path: path.clone(), file: "/a".into() },
            "CONFLICT",
            "Cannot write /a/b: /a is a file, not a directory",
        );
        check(Unwritable::IsADirectory { path: path.clone() }, "CONFLICT", "Cannot write /a/b: it is a directory");
        check(
            Unwritable::TooLarge { path: path.clone(), size: 10_485_761 },
            "PAYLOAD_TOO_LARGE",
            "Cannot write /a/b: it has 10485761 bytes; 10485760 are allowed",
        );
        check(
            Unwritable::Full { path, bytes: 9, max_bytes: 8 },
            "PAYLOAD_TOO_LARGE",
            "Cannot write /a/b: the session's files would have 9 bytes; 8 are allowed",
        );
    }
}
