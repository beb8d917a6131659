//! Many changes of a session's files that become one file manifest: all of them, or none. The database puts racing writers
//! one after the other, as for a single file. Files that others changed meanwhile stay, unless the draft changes or
//! deletes the same path.

use super::ahead::{self, BATCH_BYTES, SMALL_BYTES};
use super::commit::{claim_session, manifest_id};
use super::store::blob::{self, SmallBlobRow};
use super::store::commit::{FileCommit, activate, insert_copies};
use super::store::draft::{self, ChangeList, ChangeRow, CommitNeeds, CommitPlace};
use super::store::usage;
use super::{Blob, FileChangeOrigin, FilePath, store};
use crate::callers::Scope;
use crate::db::{DbFailure, Statement};
use crate::error::{Error, Result};
use crate::ids::{FileManifestId, SessionId, TokenId};
use crate::quota;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;

/// The most bytes of the names of all directories that hold changed files. They travel as one parameter.
const MAX_DIRECTORY_BYTES: usize = 1_000_000;

/// How many statements of a commit's batch carry all changed paths.
const LISTS_IN_BATCH: usize = 3;

/// The file manifests before and after a commit. They are the same if the commit changed nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct CommittedFiles {
    pub pre: Option<FileManifestId>,
    pub post: Option<FileManifestId>,
}

/// Why a commit changed nothing, although it should have.
#[derive(Clone, Debug, PartialEq)]
pub enum CommitRefusal {
    /// A changed path names a file as one of its directories.
    NotADirectory { path: String, file: String },
    /// A changed path is a directory, which holds files.
    IsADirectory { path: String },
    /// The paths of the directories of the changed files have more bytes than one statement takes.
    TooManyDirectories { bytes: usize },
    /// The session exists, and the caller must not see it.
    Hidden { session: SessionId },
    /// The session that the changes are for was deleted.
    Gone { session: SessionId },
    /// The files of the session would together exceed their limit.
    Full { bytes: u64, max_bytes: u64 },
    /// The workspace would store more than its quota allows.
    OverQuota(Error),
}

impl fmt::Display for CommitRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotADirectory { path, file } => write!(f, "Cannot write {path}: {file} is a file, not a directory"),
            Self::IsADirectory { path } => write!(f, "Cannot write {path}: it is a directory"),
            Self::TooManyDirectories { bytes } => write!(
                f,
                "Cannot write the files: the paths of their directories have {bytes} bytes; {MAX_DIRECTORY_BYTES} are \
                 allowed"
            ),
            Self::Hidden { session } => {
                write!(
                    f,
                    "Cannot write the files: the session {session} was not made by this agent; name another session"
                )
            }
            Self::Gone { session } => {
                write!(f, "Cannot write the files: the session {session} was deleted after the call was asked for")
            }
            Self::Full { bytes, max_bytes } => {
                write!(
                    f,
                    "Cannot write the files: the session's files would have {bytes} bytes; {max_bytes} are allowed"
                )
            }
            Self::OverQuota(error) => error.fmt(f),
        }
    }
}

/// Contents that wait for the commit, with the path of their first use.
struct PendingBlob {
    path: FilePath,
    blob: Blob,
}

/// The changes that are to become one file manifest.
pub struct FileDraft<'a> {
    scope: &'a Scope,
    session: &'a SessionId,
    changes: DraftChanges,
}

/// The new file of each written path: its SHA-256 and its size.
type Writes = BTreeMap<String, (String, u32)>;

/// The changes themselves, without the request that makes them.
#[derive(Default)]
struct DraftChanges {
    writes: Writes,
    deletions: BTreeSet<String>,
    /// The SHA-256 of all contents of the draft.
    contents: HashSet<String>,
    pending: Vec<PendingBlob>,
    /// The SHA-256 of the contents that were stored ahead.
    ahead: Vec<String>,
}

/// The limits that a commit must keep.
struct CommitLimits {
    session_max_bytes: u64,
    quota_bytes: u64,
}

impl<'a> FileDraft<'a> {
    pub fn new(scope: &'a Scope, session: &'a SessionId) -> Self {
        Self { scope, session, changes: DraftChanges::default() }
    }

    /// Deletes the file at this path, if there is one at the commit.
    pub fn delete(&mut self, path: &FilePath) {
        self.changes.deletions.insert(path.as_str().to_owned());
    }

    /// Makes room for a file of `size` bytes: if the contents so far are too many for one batch with it, they are stored
    /// ahead. Whoever is about to read large contents calls this first, so that they are not in memory together.
    pub async fn make_room(&mut self, size: u32) -> Result<std::result::Result<(), CommitRefusal>> {
        // Base64 takes four bytes for three.
        let most_bytes = size as usize / 3 * 4 + 4;
        if self.changes.is_full_with(most_bytes) { self.store_ahead().await } else { Ok(Ok(())) }
    }

    /// Writes a file. If the contents so far are too many for one batch, they are stored ahead.
    pub async fn write(&mut self, path: FilePath, blob: Blob) -> Result<std::result::Result<(), CommitRefusal>> {
        if self.changes.is_full_with(blob.stored_bytes())
            && let Err(refusal) = self.store_ahead().await?
        {
            return Ok(Err(refusal));
        }
        self.changes.write(path, blob).map(Ok)
    }

    /// Stores the contents that wait, in a batch of their own. Nothing refers to them yet. They are in the sweep's queue
    /// from now on, and the sweep leaves them alone for an hour.
    async fn store_ahead(&mut self) -> Result<std::result::Result<(), CommitRefusal>> {
        let pending = std::mem::take(&mut self.changes.pending);
        let app = self.scope.app();
        let blobs = pending.iter().map(|it| &it.blob).collect::<Vec<_>>();
        let quota_bytes = app.settings().workspace_quota_bytes;
        let statements = ahead::statements(self.scope.workspace(), &blobs, quota_bytes, app.clock())?;
        let sha256 = pending.iter().map(|it| it.blob.sha256().to_owned()).collect::<Vec<_>>();
        // The statements have the contents now. They become JSON on their way, and three copies are one too many.
        drop(pending);
        match self.scope.write_all(statements).await? {
            Err(failure) if quota::is_used_up(&failure) => {
                Ok(Err(CommitRefusal::OverQuota(quota::refusal(self.scope, CANNOT_WRITE).await?)))
            }
            stored => {
                stored?;
                self.changes.ahead.extend(sha256);
                Ok(Ok(()))
            }
        }
    }

    /// Makes one file manifest of all changes, on top of the session's present. Creates the session if no session has that
    /// name. Makes no file manifest if nothing changes. A commit that is refused changes nothing.
    pub async fn commit(
        mut self,
        origin: FileChangeOrigin,
    ) -> Result<std::result::Result<CommittedFiles, CommitRefusal>> {
        if let Some(refusal) = self.changes.never_writable() {
            return Ok(Err(refusal));
        }
        let list = self.changes.list()?;
        if self.changes.is_too_large_with(&list)
            && let Err(refusal) = self.store_ahead().await?
        {
            return Ok(Err(refusal));
        }
        let scope = self.scope;
        let settings = scope.app().settings();
        let limits =
            CommitLimits { session_max_bytes: settings.session_max_bytes, quota_bytes: settings.workspace_quota_bytes };
        let post = manifest_id(&origin)?;
        let origin = origin.completed(scope).await?;
        let (workspace, session, now) = (scope.workspace(), self.session, scope.app().clock());
        let new = FileCommit { workspace, session, manifest: &post, origin: &origin, now };
        let statements = self.changes.statements(&new, scope.session_token(), &list, &limits)?;
        self.changes.pending.clear();
        let rows = match scope.write_all(statements).await? {
            Err(failure) => return stopped(scope, &new, failure).await.map(Err),
            Ok(rows) => rows,
        };
        let [_, _, place, inserted, ..] = rows.as_slice() else {
            return Err(Error::Internal("D1 gave too few answers to a commit".into()));
        };
        let Some(place) = draft::read_place(place)? else {
            return match origin.generation {
                Some(_) if self.changes.is_empty() => Ok(Ok(CommittedFiles { pre: None, post: None })),
                Some(_) => Ok(Err(CommitRefusal::Gone { session: session.clone() })),
                None => Err(Error::Internal("a session did not spring up".into())),
            };
        };
        if inserted.changes() > 0 {
            return Ok(Ok(CommittedFiles { pre: place.manifest_id, post: Some(post) }));
        }
        Ok(match self.changes.refusal(&place, &limits)? {
            Some(refusal) => Err(refusal),
            None => Ok(CommittedFiles { pre: place.manifest_id.clone(), post: place.manifest_id }),
        })
    }
}

impl DraftChanges {
    fn write(&mut self, path: FilePath, blob: Blob) -> Result<()> {
        let file = (blob.sha256().to_owned(), blob.size());
        if self.writes.insert(path.as_str().to_owned(), file).is_some() {
            // The contents of the first write would be stored, and nothing would refer to them.
            return Err(Error::Internal(format!("a draft writes {path} twice")));
        }
        if self.contents.insert(blob.sha256().to_owned()) {
            self.pending.push(PendingBlob { path, blob });
        }
        Ok(())
    }

    fn is_empty(&self) -> bool {
        self.writes.is_empty() && self.deletions.is_empty()
    }

    fn pending_bytes(&self) -> usize {
        self.pending.iter().map(|it| it.blob.stored_bytes()).sum()
    }

    /// Whether one batch cannot hold contents of this size besides those that wait. A single file always fits, as for
    /// `write_file`.
    fn is_full_with(&self, stored_bytes: usize) -> bool {
        !self.pending.is_empty() && self.pending_bytes() + stored_bytes > BATCH_BYTES
    }

    /// Whether one batch cannot hold the changed paths besides the contents that wait.
    fn is_too_large_with(&self, list: &ChangeList) -> bool {
        self.pending.len() > 1 && self.pending_bytes() + LISTS_IN_BATCH * list.bytes() > BATCH_BYTES
    }

    /// The changed paths as rows. A path that is both written and deleted is written. Contents that come with the commit
    /// have one row that counts as their first use.
    fn rows(&self) -> Vec<ChangeRow> {
        let first = self.pending.iter().map(|it| it.path.as_str()).collect::<HashSet<_>>();
        let written = self.writes.iter().map(|(path, (sha256, size))| {
            ChangeRow(path.clone(), Some(sha256.clone()), Some(*size), first.contains(path.as_str()).into())
        });
        let deleted = self.deletions.iter().filter(|it| !self.writes.contains_key(*it));
        written.chain(deleted.map(|it| ChangeRow(it.clone(), None, None, 0))).collect()
    }

    fn list(&self) -> Result<ChangeList> {
        ChangeList::new(&self.rows())
    }

    /// The path of the only entry that the file manifest makes, if it makes one only, and the entry holds a file.
    fn alone(&self) -> Option<&str> {
        match (self.writes.len(), self.deletions.len()) {
            (1, 0) => self.writes.keys().next().map(String::as_str),
            _ => None,
        }
    }

    /// The directories of the written files, which must be no files. A deleted file may become a directory in the same
    /// commit.
    fn directories(&self) -> BTreeSet<&str> {
        let mut directories = BTreeSet::new();
        for path in self.writes.keys() {
            // From the bottom up, so that directories which another file has named are not walked again.
            let mut rest = path.as_str();
            while let Some((directory, _)) = rest.rsplit_once('/').filter(|(it, _)| !it.is_empty()) {
                if !directories.insert(directory) {
                    break;
                }
                rest = directory;
            }
        }
        directories.retain(|it| !self.deletions.contains(*it));
        directories
    }

    /// A refusal that does not depend on the session's files.
    fn never_writable(&self) -> Option<CommitRefusal> {
        let directories = self.directories();
        if let Some(file) = directories.iter().find(|it| self.writes.contains_key(**it)) {
            return Some(self.not_a_directory(file));
        }
        let bytes = directories.iter().map(|it| it.len() + 4).sum();
        (bytes > MAX_DIRECTORY_BYTES).then_some(CommitRefusal::TooManyDirectories { bytes })
    }

    fn not_a_directory(&self, file: &str) -> CommitRefusal {
        let path = self.writes.range(format!("{file}/")..).next().map_or(file, |(path, _)| path);
        CommitRefusal::NotADirectory { path: path.to_owned(), file: file.to_owned() }
    }

    /// The batch that makes the commit.
    fn statements(
        &self,
        new: &FileCommit<'_>,
        token: Option<&TokenId>,
        list: &ChangeList,
        limits: &CommitLimits,
    ) -> Result<Vec<Statement>> {
        let FileCommit { workspace, session, manifest: post, now, .. } = *new;
        let needs =
            CommitNeeds { directories: json!(self.directories()).to_string(), ahead: json!(self.ahead).to_string() };
        let writes = u32::try_from(self.writes.len()).unwrap_or(u32::MAX);
        let alone = self.alone();
        let mut statements = vec![
            store::session::refuse_hidden(workspace, session, token),
            claim_session(new)?,
            draft::find_place(new, list, &needs),
            draft::insert_manifest(new, list, &needs, alone, limits.session_max_bytes),
            draft::insert_entries(new, list, alone.is_some()),
            usage::count_commit(new, writes, &sizes(&self.pending), limits.quota_bytes),
            insert_copies(workspace, post, None),
            activate(new),
        ];
        let (small, large) = by_size(&self.pending);
        statements.extend(blob::insert_small_for(post, workspace, &small, now)?);
        statements.extend(large.iter().flat_map(|it| blob::insert_for(post, &it.path, workspace, &it.blob, now)));
        Ok(statements)
    }

    /// The reason why no file manifest was made. None, if the changes changed nothing.
    fn refusal(&self, place: &CommitPlace, limits: &CommitLimits) -> Result<Option<CommitRefusal>> {
        if place.is_gone {
            return Err(Error::Internal("contents that were stored ahead are gone".into()));
        }
        if place.entries == 0 {
            return Ok(None);
        }
        Ok(Some(match (&place.file_above, &place.directory) {
            (Some(file), _) => self.not_a_directory(file),
            (None, Some(path)) => CommitRefusal::IsADirectory { path: path.clone() },
            (None, None) => CommitRefusal::Full { bytes: place.bytes, max_bytes: limits.session_max_bytes },
        }))
    }
}

const CANNOT_WRITE: &str = "Cannot write the files";

/// The reason why a batch was stopped.
async fn stopped(scope: &Scope, new: &FileCommit<'_>, failure: DbFailure) -> Result<CommitRefusal> {
    if store::session::is_of_another_agent(&failure) {
        let session = new.session.clone();
        return Ok(match new.origin.generation {
            Some(_) => CommitRefusal::Gone { session },
            None => CommitRefusal::Hidden { session },
        });
    }
    if quota::is_used_up(&failure) {
        return Ok(CommitRefusal::OverQuota(quota::refusal(scope, CANNOT_WRITE).await?));
    }
    Err(failure.into())
}

fn sizes(pending: &[PendingBlob]) -> Vec<(&str, u32)> {
    pending.iter().map(|it| (it.blob.sha256(), it.blob.size())).collect()
}

/// The contents that travel in JSON lists, and those that have parameters of their own.
fn by_size(pending: &[PendingBlob]) -> (Vec<SmallBlobRow<'_>>, Vec<&PendingBlob>) {
    let (small, large): (Vec<_>, Vec<_>) = pending.iter().partition(|it| it.blob.stored_bytes() <= SMALL_BYTES);
    (small.into_iter().map(small_row).collect(), large)
}

fn small_row(it: &PendingBlob) -> SmallBlobRow<'_> {
    let content = it.blob.content();
    SmallBlobRow(it.blob.sha256(), it.blob.size(), content.encoding(), content.as_str(), it.path.as_str())
}

#[cfg(test)]
mod tests;
