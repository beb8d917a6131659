//! Sessions, and the file manifests that are their history.

use super::line_diff::{LineDiff, unified};
use super::store::commit::{self, FileCommit};
use super::store::lookup::{self, FileDifferenceRow, FileView, FoundInFileManifest, ListedFile};
use super::{FileChangeOrigin, FileManifestSource, store};
use crate::callers::Scope;
use crate::db::DbFailure;
use crate::error::{Error, Result};
use crate::ids::{FileManifestId, MessageId, SessionId};
use crate::page::{AgeOrder, Page, PageRequest, bad_cursor};
use crate::quota;
use crate::text_enum::text_enum;
use crate::time::Timestamp;

/// A session, with the number and size of its present files.
#[derive(Clone, Debug)]
pub struct Session {
    pub id: SessionId,
    /// The file manifest that is the session's present. None until the first file is written.
    pub active_manifest_id: Option<FileManifestId>,
    /// The message that the conversation of the session shows last.
    pub active_message_id: Option<MessageId>,
    pub files: u32,
    pub bytes: u64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// All files of a session at one moment. A file manifest never changes.
#[derive(Clone, Debug)]
pub struct FileManifest {
    pub id: FileManifestId,
    pub session_id: SessionId,
    pub parent_id: Option<FileManifestId>,
    pub source: FileManifestSource,
    pub source_ref: Option<String>,
    pub created_at: Timestamp,
    pub files: u32,
    pub bytes: u64,
    /// Whether the file manifest is the session's present.
    pub is_active: bool,
}

text_enum! {
    /// What happened to a path between two file manifests.
    FileChangeKind {
        Added = "added",
        Removed = "removed",
        Modified = "modified",
    }
}

/// The contents of a file, by their SHA-256.
#[derive(Clone, Debug, PartialEq)]
pub struct FileDigest {
    pub sha256: String,
    pub size: u32,
}

/// How one path differs between two file manifests.
#[derive(Clone, Debug)]
pub struct FileDifference {
    pub path: String,
    pub change: FileChangeKind,
    pub from: Option<FileDigest>,
    pub to: Option<FileDigest>,
    /// How the contents differ, if the caller asked for this.
    pub text: Option<TextDifference>,
}

/// How the contents of a path differ.
#[derive(Clone, Debug, PartialEq)]
pub enum TextDifference {
    Lines(LineDiff),
    /// One of the two files is not text.
    Binary,
    /// One of the two files is larger than [`lookup::MAX_COMPARED_BYTES`].
    TooLarge,
}

impl FileDifference {
    /// `with_text` says whether the row holds the contents of small texts.
    fn read(row: FileDifferenceRow, with_text: bool) -> Self {
        let text = with_text.then(|| TextDifference::of(&row));
        let held = |sha256: Option<String>, size: Option<u32>| Some(FileDigest { sha256: sha256?, size: size? });
        let from = held(row.from_sha256, row.from_size);
        let to = held(row.to_sha256, row.to_size);
        let change = match (&from, &to) {
            (None, _) => FileChangeKind::Added,
            (_, None) => FileChangeKind::Removed,
            _ => FileChangeKind::Modified,
        };
        Self { path: row.path, change, from, to, text }
    }
}

impl TextDifference {
    fn of(row: &FileDifferenceRow) -> Self {
        if row.from_size.max(row.to_size).is_some_and(|it| it > lookup::MAX_COMPARED_BYTES) {
            return Self::TooLarge;
        }
        let (from, to) = (row.from_text.as_deref(), row.to_text.as_deref());
        if from.is_some() == row.from_size.is_some() && to.is_some() == row.to_size.is_some() {
            Self::Lines(unified(&row.path, from, to))
        } else {
            Self::Binary
        }
    }
}

/// A page of the workspace's sessions. A bound token sees only the sessions that its agent made.
pub async fn list_sessions(scope: &Scope, order: AgeOrder, request: &PageRequest) -> Result<Page<Session>> {
    let agent = scope.caller().await?.agent.as_ref();
    let [rows] = scope.read([store::session::list(scope.workspace(), agent, order, request)?]).await?;
    let sessions = store::session::read_all(&rows)?;
    Ok(request.page(sessions, |it| PageRequest::age_cursor(it.created_at, it.id.as_str())))
}

pub async fn get_session(scope: &Scope, id: &SessionId) -> Result<Session> {
    let [rows] = scope.read([store::session::find_visible(scope.workspace(), id, scope.session_token())]).await?;
    store::session::read(&rows)?.ok_or_else(|| session_not_found(id))
}

/// Deletes the session. From then on nothing of it can be seen, and a session of the same name can be made. The sweep
/// deletes the file manifests, and frees contents that no session uses any more. Sessions that branched off keep their
/// own file manifests. Returns the generation of the session, if the session had a conversation.
pub async fn delete_session(scope: &Scope, id: &SessionId) -> Result<Option<u32>> {
    let [_, conversation, deleted] = scope
        .write([
            store::session::refuse_hidden(scope.workspace(), id, scope.session_token()),
            store::session::find_conversation(scope.workspace(), id),
            store::session::delete(scope.workspace(), id),
        ])
        .await?
        .map_err(|failure| session_failure(failure, id))?;
    if deleted.changes() == 0 {
        return Err(session_not_found(id));
    }
    store::session::read_conversation(&conversation)
}

/// Makes another file manifest of the session its present. Later file manifests stay and can be checked out again.
pub async fn check_out(scope: &Scope, id: &SessionId, manifest: &FileManifestId) -> Result<Session> {
    let workspace = scope.workspace();
    let [_, seen, _, session] = scope
        .write([
            store::session::refuse_hidden(workspace, id, scope.session_token()),
            lookup::find_manifest(FileView { workspace, session: id, at: Some(manifest) }, scope.session_token()),
            store::session::check_out(workspace, id, manifest, scope.app().now()),
            store::session::find(workspace, id),
        ])
        .await?
        .map_err(|failure| session_failure(failure, id))?;
    require_session_and_manifest(lookup::read_manifest(&seen)?, id, Some(manifest))?;
    store::session::read(&session)?.ok_or_else(|| session_not_found(id))
}

/// Makes a session that begins with the files of `session` at its file manifest `at`, or at its present, which costs one
/// more round trip. The two sessions share all contents. The new session has the name `named`, which no other session may
/// have, or a random one.
pub async fn branch(
    scope: &Scope,
    session: &SessionId,
    at: Option<&FileManifestId>,
    named: Option<SessionId>,
) -> Result<Session> {
    let present = match at {
        Some(_) => None,
        None => get_session(scope, session).await?.active_manifest_id,
    };
    let nothing = || Error::Conflict(format!("The session {session} has no files yet: there is nothing to branch off"));
    let at = at.or(present.as_ref()).ok_or_else(nothing)?;
    let workspace = scope.workspace();
    let branched = named.map_or_else(SessionId::random, Ok)?;
    let manifest = FileManifestId::random()?;
    let origin =
        FileChangeOrigin { source: FileManifestSource::Branch, source_ref: None, agent: None, generation: None };
    let origin = origin.completed(scope).await?;
    let new =
        FileCommit { workspace, session: &branched, manifest: &manifest, origin: &origin, now: scope.app().now() };
    let written = scope
        .write([
            store::session::refuse_hidden(workspace, session, scope.session_token()),
            lookup::find_manifest(FileView { workspace, session, at: Some(at) }, scope.session_token()),
            commit::insert_branch_session(&new, session, at),
            commit::insert_branch(&new, session, at),
            commit::insert_copies(workspace, &manifest, None),
            store::usage::count_branch(&new, scope.app().settings().workspace_quota_bytes),
            commit::count_branch(&new, session),
            store::session::find(workspace, &branched),
        ])
        .await?;
    let [_, seen, inserted, _, _, _, _, made] = unless_refused(scope, session, "Cannot branch", written).await?;
    require_session_and_manifest(lookup::read_manifest(&seen)?, session, Some(at))?;
    if inserted.changes() == 0 {
        return Err(Error::AlreadyExists(format!("The session {branched} exists already")));
    }
    store::session::read(&made)?.ok_or_else(|| Error::Internal("a branch was not made".into()))
}

/// A page of the session's file manifests, the newest first. If `source_ref` is set, the page has only file manifests
/// that this call or message made.
pub async fn list_manifests(
    scope: &Scope,
    session: &SessionId,
    source_ref: Option<&str>,
    request: &PageRequest,
) -> Result<Page<FileManifest>> {
    let last = request.after().map(|it| FileManifestId::parse(it).ok_or_else(bad_cursor)).transpose()?;
    let view = FileView { workspace: scope.workspace(), session, at: last.as_ref() };
    let [seen, rows] = scope
        .read([
            lookup::find_manifest(view, scope.session_token()),
            store::session::list_manifests(view, source_ref, request.rows_to_ask()),
        ])
        .await?;
    let seen = lookup::read_manifest(&seen)?.ok_or_else(|| session_not_found(session))?;
    if last.is_some() && seen.manifest_id.is_none() {
        return Err(bad_cursor());
    }
    Ok(request.page(store::session::read_manifests(&rows)?, |it| it.id.to_string()))
}

/// A file manifest with a page of its files, by path.
pub async fn get_manifest(
    scope: &Scope,
    session: &SessionId,
    id: &FileManifestId,
    request: &PageRequest,
) -> Result<(FileManifest, Page<ListedFile>)> {
    let after = after_path(request)?;
    let view = FileView { workspace: scope.workspace(), session, at: Some(id) };
    let [seen, manifest, files] = scope
        .read([
            lookup::find_manifest(view, scope.session_token()),
            store::session::find_manifest(scope.workspace(), session, id),
            lookup::list_files(view, after, request.rows_to_ask()),
        ])
        .await?;
    require_session_and_manifest(lookup::read_manifest(&seen)?, session, Some(id))?;
    let manifest = store::session::read_manifest(&manifest)?.ok_or_else(|| Error::not_found("Manifest", id))?;
    Ok((manifest, request.page(lookup::read_files(&files)?, |it| it.path.clone())))
}

/// A page of the session's present files, by path. The page is empty if there is no such session.
pub async fn list_files(scope: &Scope, session: &SessionId, request: &PageRequest) -> Result<Page<ListedFile>> {
    let after = after_path(request)?;
    let view = FileView { workspace: scope.workspace(), session, at: None };
    let [seen, files] = scope
        .read([
            lookup::find_manifest(view, scope.session_token()),
            lookup::list_files(view, after, request.rows_to_ask()),
        ])
        .await?;
    let files = if lookup::read_manifest(&seen)?.is_some() { lookup::read_files(&files)? } else { Vec::new() };
    Ok(request.page(files, |it| it.path.clone()))
}

/// A page of the differences between two file manifests of the session, by path. With `contents`, each difference of
/// small texts is shown line by line, and the page is bounded by the bytes of these texts.
pub async fn diff(
    scope: &Scope,
    session: &SessionId,
    from: &FileManifestId,
    to: &FileManifestId,
    contents: bool,
    request: &PageRequest,
) -> Result<Page<FileDifference>> {
    let after = after_path(request)?;
    let workspace = scope.workspace();
    let token = scope.session_token();
    let differences = lookup::list_differences(workspace, session, (from, to), after, contents, request.rows_to_ask());
    let [one, other, rows] = scope
        .read([
            lookup::find_manifest(FileView { workspace, session, at: Some(from) }, token),
            lookup::find_manifest(FileView { workspace, session, at: Some(to) }, token),
            differences,
        ])
        .await?;
    require_session_and_manifest(lookup::read_manifest(&one)?, session, Some(from))?;
    require_session_and_manifest(lookup::read_manifest(&other)?, session, Some(to))?;
    let rows = rows.all::<FileDifferenceRow>()?;
    let is_cut = rows.last().is_some_and(|it| it.full != 0);
    let differences = rows.into_iter().map(|it| FileDifference::read(it, contents)).collect();
    Ok(request.cut_page(differences, is_cut, |it: &FileDifference| it.path.clone()))
}

/// The path after which a page by path begins.
fn after_path(request: &PageRequest) -> Result<Option<&str>> {
    match request.after() {
        Some(path) if !path.starts_with('/') => Err(bad_cursor()),
        after => Ok(after),
    }
}

/// The error for a batch that failed. For a caller who must not see the session, there is no such session.
pub(super) fn session_failure(failure: DbFailure, session: &SessionId) -> Error {
    if store::session::is_of_another_agent(&failure) { session_not_found(session) } else { failure.into() }
}

/// The result of a batch that stores something in the session, or the error if the batch failed. `what` says what cannot
/// be done if the workspace's quota is used up.
pub async fn unless_refused<T>(
    scope: &Scope,
    session: &SessionId,
    what: &str,
    written: std::result::Result<T, DbFailure>,
) -> Result<T> {
    match written {
        Err(failure) if quota::is_used_up(&failure) => Err(quota::refusal(scope, what).await?),
        written => written.map_err(|failure| session_failure(failure, session)),
    }
}

pub fn session_not_found(session: &SessionId) -> Error {
    Error::not_found("Session", session)
}

/// Returns the result of the lookup. Fails if the session does not exist, or if `at` names a file manifest that the
/// session does not have.
pub(super) fn require_session_and_manifest<T>(
    seen: Option<FoundInFileManifest<T>>,
    session: &SessionId,
    at: Option<&FileManifestId>,
) -> Result<FoundInFileManifest<T>> {
    let seen = seen.ok_or_else(|| session_not_found(session))?;
    match at {
        Some(id) if seen.manifest_id.is_none() => Err(Error::not_found("Manifest", id)),
        _ => Ok(seen),
    }
}
