//! Changing files. Every change makes a new file manifest.

use super::session::{require_session_and_manifest, unless_refused};
use super::store::commit::{self, FileCommit, WritePlace};
use super::store::lookup::FileView;
use super::store::usage;
use super::{Blob, FilePath, store};
use crate::callers::Scope;
use crate::db::Statement;
use crate::error::{Error, Result};
use crate::ids::{self, AgentId, CallId, FileManifestId, SessionId, WorkspaceId};
use crate::quota;
use crate::settings::Settings;
use crate::text_enum::text_enum;
use crate::time::Timestamp;
use std::fmt;

/// The largest file, in bytes.
pub const MAX_FILE_BYTES: u32 = 10 * 1024 * 1024;

text_enum! {
    /// The kind of action that made a file manifest.
    FileManifestSource {
        UserUpload = "user_upload",
        ToolRun = "tool_run",
        Branch = "branch",
        Edit = "edit",
    }
}

/// The cause of a change of files.
#[derive(Clone, Debug, PartialEq)]
pub struct FileChangeOrigin {
    pub source: FileManifestSource,
    /// The call or message that caused the change.
    pub source_ref: Option<String>,
    /// The agent whose call caused the change. A session that the change creates belongs to this agent, or else to the
    /// agent of the caller's token.
    pub agent: Option<AgentId>,
    /// The generation of the session, if the session was there when the change was asked for. Then the change is for this
    /// session alone. A change without a generation creates the session if no session has that name.
    pub generation: Option<u32>,
}

/// The generation of no session: for the change of a session that is known to be gone.
pub const GONE: u32 = u32::MAX;

impl FileChangeOrigin {
    /// The same origin, with the agent of the caller's token if no agent is known.
    pub(super) async fn completed(mut self, scope: &Scope) -> Result<Self> {
        let caller = scope.caller().await?;
        self.agent = self.agent.or_else(|| caller.agent.clone());
        Ok(self)
    }
}

/// A file that was written, with the file manifests before and after the write.
#[derive(Clone, Debug, PartialEq)]
pub struct WrittenFile {
    pub pre: Option<FileManifestId>,
    pub post: FileManifestId,
    /// Whether the path held no file before.
    pub created: bool,
    pub sha256: String,
    pub size: u32,
}

/// Why a file cannot be written.
#[derive(Clone, Debug, PartialEq)]
pub enum FileWriteRefusal {
    /// The path names a file as one of its directories.
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
    /// The session exists, and the caller must not see it.
    Hidden {
        path: FilePath,
        session: SessionId,
    },
    /// The session that the change is for was deleted.
    Gone {
        path: FilePath,
        session: SessionId,
    },
    /// The files of the session would together exceed their limit.
    Full {
        path: FilePath,
        bytes: u64,
        max_bytes: u64,
    },
    /// The workspace would store more than its quota allows.
    OverQuota(Error),
}

impl fmt::Display for FileWriteRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotADirectory { path, file } => write!(f, "Cannot write {path}: {file} is a file, not a directory"),
            Self::IsADirectory { path } => write!(f, "Cannot write {path}: it is a directory"),
            Self::TooLarge { path, size } => {
                write!(f, "Cannot write {path}: it has {size} bytes; {MAX_FILE_BYTES} are allowed")
            }
            Self::Hidden { path, session } => {
                write!(f, "Cannot write {path}: the session {session} was not made by this agent; name another session")
            }
            Self::Gone { path, session } => {
                write!(f, "Cannot write {path}: the session {session} was deleted after the call was asked for")
            }
            Self::Full { path, bytes, max_bytes } => {
                write!(f, "Cannot write {path}: the session's files would have {bytes} bytes; {max_bytes} are allowed")
            }
            Self::OverQuota(error) => error.fmt(f),
        }
    }
}

impl From<FileWriteRefusal> for Error {
    fn from(reason: FileWriteRefusal) -> Self {
        let message = reason.to_string();
        match reason {
            FileWriteRefusal::NotADirectory { .. }
            | FileWriteRefusal::IsADirectory { .. }
            | FileWriteRefusal::Gone { .. } => Self::Conflict(message),
            FileWriteRefusal::Hidden { .. } => Self::Forbidden(message),
            FileWriteRefusal::TooLarge { .. } => Self::NoRoom { message, limit_bytes: MAX_FILE_BYTES.into() },
            FileWriteRefusal::Full { max_bytes, .. } => Self::NoRoom { message, limit_bytes: max_bytes },
            FileWriteRefusal::OverQuota(error) => error,
        }
    }
}

/// Creates the session if no session has that name. It belongs to the agent, if there is one. The statement is for
/// another room's batch.
pub fn create_session_if_missing(
    workspace: &WorkspaceId,
    session: &SessionId,
    agent: Option<&AgentId>,
    now: Timestamp,
) -> Result<Statement> {
    Ok(commit::create_session_if_missing(workspace, session, agent, &ids::random_hex::<16>()?, now))
}

/// The same, if the agent exists.
pub fn create_session_of_agent_if_missing(
    workspace: &WorkspaceId,
    session: &SessionId,
    agent: &AgentId,
    now: Timestamp,
) -> Result<Statement> {
    Ok(commit::create_session_of_agent_if_missing(workspace, session, agent, &ids::random_hex::<16>()?, now))
}

/// Makes sure that a change finds its session: creates the session, or stops the batch if the change is for a session of
/// another generation ([`store::session::is_of_another_agent`]).
pub(super) fn claim_session(new: &FileCommit<'_>) -> Result<Statement> {
    let FileCommit { workspace, session, origin, now, .. } = *new;
    match origin.generation {
        Some(generation) => Ok(store::session::refuse_other_generation(workspace, session, generation)),
        None => create_session_if_missing(workspace, session, origin.agent.as_ref(), now),
    }
}

/// Writes a file on top of the session's present. Other requests may write at the same time: the database puts the
/// writes one after the other. Creates the session if no session has that name. A write that is refused changes
/// nothing.
pub async fn write_file(
    scope: &Scope,
    session: &SessionId,
    path: &FilePath,
    bytes: Vec<u8>,
    origin: FileChangeOrigin,
) -> Result<std::result::Result<WrittenFile, FileWriteRefusal>> {
    let Settings { session_max_bytes: max_bytes, workspace_quota_bytes, .. } = *scope.app().settings();
    let blob = Blob::new(bytes);
    if let Some(reason) = never_writable(path, blob.size(), max_bytes) {
        return Ok(Err(reason));
    }
    let (workspace, now, post) = (scope.workspace(), scope.app().clock(), manifest_id(&origin)?);
    let origin = origin.completed(scope).await?;
    let new = FileCommit { workspace, session, manifest: &post, origin: &origin, now };
    // A new session has no files, so nothing in it prevents the write. A refused write therefore never creates a
    // session.
    let mut statements = vec![
        store::session::refuse_hidden(workspace, session, scope.session_token()),
        claim_session(&new)?,
        commit::find_place(&new, path),
        commit::insert_manifest_with_file(&new, path, &blob, max_bytes),
        commit::insert_entry(workspace, &post, path, &blob),
        usage::count_write(&new, &blob, workspace_quota_bytes),
        commit::insert_copies(workspace, &post, None),
        commit::activate(&new),
    ];
    statements.extend(store::blob::insert_for(&post, path, workspace, &blob, now));
    let gone = || Ok(Err(FileWriteRefusal::Gone { path: path.clone(), session: session.clone() }));
    let rows = match scope.write_all(statements).await? {
        Err(failure) if store::session::is_of_another_agent(&failure) && origin.generation.is_some() => return gone(),
        Err(failure) if store::session::is_of_another_agent(&failure) => {
            return Ok(Err(FileWriteRefusal::Hidden { path: path.clone(), session: session.clone() }));
        }
        Err(failure) if quota::is_used_up(&failure) => {
            let error = quota::refusal(scope, &format!("Cannot write {path}")).await?;
            return Ok(Err(FileWriteRefusal::OverQuota(error)));
        }
        rows => rows?,
    };
    let [_, _, place, inserted, ..] = rows.as_slice() else {
        return Err(Error::Internal("D1 gave too few answers to a write".into()));
    };
    let place = match commit::read_place(place)? {
        Some(place) => place,
        None if origin.generation.is_some() => return gone(),
        None => return Err(Error::Internal("a session did not spring up".into())),
    };
    if inserted.changes() == 0 {
        return Ok(Err(write_refusal(path, place, blob.size(), max_bytes)));
    }
    Ok(Ok(WrittenFile {
        pre: place.manifest_id,
        post,
        created: place.size.is_none(),
        sha256: blob.sha256().to_owned(),
        size: blob.size(),
    }))
}

/// Deletes the file at `path`, or all files below `path`, and makes one file manifest. If there are many files, the
/// sweep writes their entries later; until then a mark on the directory hides the files.
pub async fn delete_file(
    scope: &Scope,
    session: &SessionId,
    path: &FilePath,
    origin: FileChangeOrigin,
) -> Result<FileManifestId> {
    if path.is_root() {
        return Err(Error::path("path", "is the root, which cannot be deleted"));
    }
    let (workspace, now, post) = (scope.workspace(), scope.app().clock(), FileManifestId::random()?);
    let new = FileCommit { workspace, session, manifest: &post, origin: &origin, now };
    let written = scope
        .write([
            store::session::refuse_hidden(workspace, session, scope.session_token()),
            store::lookup::find_manifest(FileView { workspace, session, at: None }, scope.session_token()),
            commit::insert_manifest_without(&new, path),
            commit::insert_absences(&new, path),
            usage::count_deletion(&new, scope.app().settings().workspace_quota_bytes),
            commit::insert_cleared_directory(workspace, &post, path),
            commit::insert_copies(workspace, &post, Some(path)),
            commit::activate(&new),
        ])
        .await?;
    let what = format!("Cannot delete {path}");
    let [_, seen, inserted, _, _, _, _, _] = unless_refused(scope, session, &what, written).await?;
    require_session_and_manifest(store::lookup::read_manifest(&seen)?, session, None)?;
    if inserted.changes() == 0 { Err(Error::not_found("File", path)) } else { Ok(post) }
}

/// The id of a new file manifest. If a call makes the file manifest, the id has the digits of the call's id, so that the
/// file manifest is found by the call without a row in an index.
pub(super) fn manifest_id(origin: &FileChangeOrigin) -> Result<FileManifestId> {
    let digits = origin.source_ref.as_deref().and_then(|it| it.strip_prefix("call_"));
    let digits = digits.filter(|it| it.len() == CallId::DIGITS);
    match digits.and_then(|it| FileManifestId::parse(&format!("man_{it}"))) {
        Some(id) => Ok(id),
        None => FileManifestId::random(),
    }
}

/// Refusals that do not depend on the session's files.
fn never_writable(path: &FilePath, size: u32, max_bytes: u64) -> Option<FileWriteRefusal> {
    let path = path.clone();
    if path.is_root() {
        Some(FileWriteRefusal::IsADirectory { path })
    } else if size > MAX_FILE_BYTES {
        Some(FileWriteRefusal::TooLarge { path, size })
    } else if u64::from(size) > max_bytes {
        Some(FileWriteRefusal::Full { path, bytes: size.into(), max_bytes })
    } else {
        None
    }
}

fn write_refusal(path: &FilePath, place: WritePlace, size: u32, max_bytes: u64) -> FileWriteRefusal {
    let path = path.clone();
    match place {
        WritePlace { file_above: Some(file), .. } => FileWriteRefusal::NotADirectory { path, file },
        WritePlace { is_directory: true, .. } => FileWriteRefusal::IsADirectory { path },
        WritePlace { bytes, size: old, .. } => {
            let others = bytes.saturating_sub(old.unwrap_or(0).into());
            FileWriteRefusal::Full { path, bytes: others + u64::from(size), max_bytes }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_manifest_has_the_digits_of_its_call() {
        let made = |source_ref: Option<&str>| {
            let origin = FileChangeOrigin {
                source: FileManifestSource::ToolRun,
                source_ref: source_ref.map(str::to_owned),
                agent: None,
                generation: None,
            };
            manifest_id(&origin).unwrap().to_string()
        };
        let digits = "0123456789ab010123456789abcdef0123456789abcdef";
        assert_eq!(made(Some(&format!("call_{digits}"))), format!("man_{digits}"));
        for other in [None, Some("call_x"), Some("msg_0123456789abcdef0123456789abcdef")] {
            assert_eq!(made(other).len(), "man_".len() + 32);
            assert_ne!(made(other), made(other));
        }
    }

    #[test]
    fn every_refusal_names_the_path_and_has_its_status() {
        let path = FilePath::parse("/a/b").unwrap();
        let check = |reason: FileWriteRefusal, code: &str, message: &str| {
            assert_eq!((reason.to_string().as_str(), Error::from(reason).code()), (message, code));
        };
        check(
            FileWriteRefusal::NotADirectory { path: path.clone(), file: "/a".into() },
            "CONFLICT",
            "Cannot write /a/b: /a is a file, not a directory",
        );
        check(
            FileWriteRefusal::IsADirectory { path: path.clone() },
            "CONFLICT",
            "Cannot write /a/b: it is a directory",
        );
        check(
            FileWriteRefusal::TooLarge { path: path.clone(), size: 10_485_761 },
            "PAYLOAD_TOO_LARGE",
            "Cannot write /a/b: it has 10485761 bytes; 10485760 are allowed",
        );
        check(
            FileWriteRefusal::Hidden { path: path.clone(), session: SessionId::parse("s").unwrap() },
            "PERMISSION_DENIED",
            "Cannot write /a/b: the session s was not made by this agent; name another session",
        );
        check(
            FileWriteRefusal::Gone { path: path.clone(), session: SessionId::parse("s").unwrap() },
            "CONFLICT",
            "Cannot write /a/b: the session s was deleted after the call was asked for",
        );
        check(
            FileWriteRefusal::Full { path, bytes: 9, max_bytes: 8 },
            "PAYLOAD_TOO_LARGE",
            "Cannot write /a/b: the session's files would have 9 bytes; 8 are allowed",
        );
    }
}
