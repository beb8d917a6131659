//! `/api/sessions`, `/api/sessions/{session_id}` and below it `/manifests`, `/diff`, `/checkout` and `/branch`:
//! sessions and their file manifests.

use super::extract::{Body, Named, PageQuery, Query, User};
use super::respond::{Created, Json, NoContent};
use crate::error::{Error, Place, Problem, Result};
use crate::files::{
    self, FileChangeKind, FileDifference, FileDigest, FileManifest, FileManifestSource, ListedFile, Session,
    TextDifference,
};
use crate::ids::{FileManifestId, SessionId};
use crate::page::{AgeOrder, PageRequest};
use crate::playground;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// A session, with the number and size of its present files.
#[derive(Serialize, ToSchema)]
pub struct SessionOut {
    id: String,
    /// The id again, under the name that calls and branches use.
    session_id: String,
    /// The file manifest that is the session's present; null until the first file is written.
    #[schema(example = "man_6f1c0d2b9a8e4f7d8c5b3a2f1e0d9c8b")]
    active_manifest_id: Option<String>,
    /// The message that the conversation of the session shows last; null until the first message.
    #[schema(example = "msg_6f1c0d2b9a8e4f7d8c5b3a2f1e0d9c8b")]
    active_message_id: Option<String>,
    files: u32,
    bytes: u64,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
}

impl From<Session> for SessionOut {
    fn from(session: Session) -> Self {
        Self {
            id: session.id.to_string(),
            session_id: session.id.to_string(),
            active_manifest_id: session.active_manifest_id.as_ref().map(String::from),
            active_message_id: session.active_message_id.as_ref().map(String::from),
            files: session.files,
            bytes: session.bytes,
            created_at: session.created_at,
            updated_at: session.updated_at,
        }
    }
}

#[derive(Serialize, ToSchema)]
pub struct SessionPage {
    sessions: Vec<SessionOut>,
    next_cursor: Option<String>,
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SessionQuery {
    /// The most items that a page may hold.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
    /// The `next_cursor` of the page before this one.
    #[param(pattern = "^[A-Za-z0-9_-]+$")]
    cursor: Option<String>,
    /// Whether the oldest or the newest session comes first; the oldest, if not given.
    #[param(inline)]
    order: Option<AgeOrder>,
}

/// List the sessions
///
/// The oldest come first, or the newest if the request asks for them.
#[utoipa::path(get, path = "/api/sessions", tag = "sessions", params(SessionQuery),
    responses((status = 200, description = "A page of sessions", body = SessionPage)))]
#[worker::send]
pub async fn list_sessions(User(scope): User, Query(query): Query<SessionQuery>) -> Result<Json<SessionPage>> {
    let request = PageRequest::new(query.limit, query.cursor.as_deref())?;
    let order = query.order.unwrap_or(AgeOrder::Oldest);
    let (sessions, next_cursor) = files::list_sessions(&scope, order, &request).await?.map(SessionOut::from);
    Ok(Json(SessionPage { sessions, next_cursor }))
}

/// Get a session
#[utoipa::path(get, path = "/api/sessions/{session_id}", tag = "sessions", params(("session_id" = String, Path)),
    responses((status = 200, description = "The session", body = SessionOut)))]
#[worker::send]
pub async fn get_session(User(scope): User, Named(session_id): Named<SessionId>) -> Result<Json<SessionOut>> {
    Ok(Json(files::get_session(&scope, &session_id).await?.into()))
}

/// Delete a session
///
/// Deletes the session with its file manifests and its conversation. Sessions that branched off keep their own. A turn of
/// the session that is under way ends.
#[utoipa::path(delete, path = "/api/sessions/{session_id}", tag = "sessions", params(("session_id" = String, Path)),
    responses((status = 204, description = "The session was deleted")))]
#[worker::send]
pub async fn delete_session(User(scope): User, Named(session_id): Named<SessionId>) -> Result<NoContent> {
    playground::delete_session(&scope, &session_id).await?;
    Ok(NoContent)
}

/// A file manifest: all files of a session at one moment. It never changes.
#[derive(Serialize, ToSchema)]
pub struct ManifestOut {
    id: String,
    session_id: String,
    parent_id: Option<String>,
    #[schema(inline)]
    source: FileManifestSource,
    /// The call or message that made this file manifest.
    source_ref: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// How many files there are.
    files: u32,
    /// The size of all files together, in bytes.
    bytes: u64,
    /// Whether this file manifest is the session's present.
    active: bool,
}

impl From<FileManifest> for ManifestOut {
    fn from(manifest: FileManifest) -> Self {
        Self {
            id: manifest.id.to_string(),
            session_id: manifest.session_id.to_string(),
            parent_id: manifest.parent_id.as_ref().map(String::from),
            source: manifest.source,
            source_ref: manifest.source_ref,
            created_at: manifest.created_at,
            files: manifest.files,
            bytes: manifest.bytes,
            active: manifest.is_active,
        }
    }
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ManifestQuery {
    /// The most items that a page may hold.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
    /// The `next_cursor` of the page before this one.
    #[param(pattern = "^[A-Za-z0-9_-]+$")]
    cursor: Option<String>,
    /// Only file manifests that this call or message made.
    source_ref: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub struct ManifestPage {
    manifests: Vec<ManifestOut>,
    next_cursor: Option<String>,
}

/// List the file manifests of a session
///
/// The newest come first.
#[utoipa::path(get, path = "/api/sessions/{session_id}/manifests", tag = "sessions",
    params(("session_id" = String, Path), ManifestQuery),
    responses((status = 200, description = "A page of file manifests", body = ManifestPage)))]
#[worker::send]
pub async fn list_manifests(
    User(scope): User,
    Named(session_id): Named<SessionId>,
    Query(query): Query<ManifestQuery>,
) -> Result<Json<ManifestPage>> {
    let request = PageRequest::new(query.limit, query.cursor.as_deref())?;
    let page = files::list_manifests(&scope, &session_id, query.source_ref.as_deref(), &request).await?;
    let (manifests, next_cursor) = page.map(ManifestOut::from);
    Ok(Json(ManifestPage { manifests, next_cursor }))
}

#[derive(Serialize, ToSchema)]
pub struct ManifestEntryOut {
    path: String,
    sha256: String,
    size: u32,
}

impl From<ListedFile> for ManifestEntryOut {
    fn from(file: ListedFile) -> Self {
        Self { path: file.path, sha256: file.sha256, size: file.size }
    }
}

/// A file manifest with a page of its files.
#[derive(Serialize, ToSchema)]
pub struct ManifestEntriesPage {
    #[serde(flatten)]
    manifest: ManifestOut,
    entries: Vec<ManifestEntryOut>,
    next_cursor: Option<String>,
}

/// Get a file manifest
///
/// The response holds a page of its files, in the order of their paths.
#[utoipa::path(get, path = "/api/sessions/{session_id}/manifests/{manifest_id}", tag = "sessions",
    params(("session_id" = String, Path), ("manifest_id" = String, Path), PageQuery),
    responses((status = 200, description = "The file manifest", body = ManifestEntriesPage)))]
#[worker::send]
pub async fn get_manifest(
    User(scope): User,
    Named(session_id): Named<SessionId>,
    Named(manifest_id): Named<FileManifestId>,
    Query(query): Query<PageQuery>,
) -> Result<Json<ManifestEntriesPage>> {
    let (manifest, page) = files::get_manifest(&scope, &session_id, &manifest_id, &query.check()?).await?;
    let (entries, next_cursor) = page.map(ManifestEntryOut::from);
    Ok(Json(ManifestEntriesPage { manifest: manifest.into(), entries, next_cursor }))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DiffQuery {
    /// The file manifest to compare with. Required.
    #[param(required = true)]
    from: Option<String>,
    /// The file manifest that is compared. Required.
    #[param(required = true)]
    to: Option<String>,
    /// Whether to show how the contents of texts differ, for files up to 100 KB.
    content: Option<bool>,
    /// The most items that a page may hold.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
    /// The `next_cursor` of the page before this one.
    #[param(pattern = "^[A-Za-z0-9_-]+$")]
    cursor: Option<String>,
}

impl DiffQuery {
    /// Both file manifests, or a problem for each that is missing.
    fn both(&self) -> Result<(&str, &str)> {
        let missing = |(name, given): (&str, &Option<String>)| {
            let message = "is required: it is the id of a file manifest".to_owned();
            given.is_none().then(|| Problem { place: Place::Query, path: name.to_owned(), message })
        };
        match (&self.from, &self.to) {
            (Some(from), Some(to)) => Ok((from, to)),
            (from, to) => Err(Error::Invalid([("from", from), ("to", to)].into_iter().filter_map(missing).collect())),
        }
    }
}

#[derive(Serialize, ToSchema)]
pub struct HeldOut {
    sha256: String,
    size: u32,
}

impl From<FileDigest> for HeldOut {
    fn from(held: FileDigest) -> Self {
        Self { sha256: held.sha256, size: held.size }
    }
}

#[derive(Serialize, ToSchema)]
pub struct DifferenceOut {
    path: String,
    #[schema(inline)]
    change: FileChangeKind,
    from: Option<HeldOut>,
    to: Option<HeldOut>,
    /// With `content=true`, the unified diff of two texts up to 100 KB.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "--- a/notes.txt\n+++ b/notes.txt\n@@ -1 +1 @@\n-gas is up\n+gas is down\n")]
    diff: Option<String>,
    /// With `content=true`, why there is no diff, or why the diff is longer than necessary.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    diff_note: Option<&'static str>,
}

impl From<FileDifference> for DifferenceOut {
    fn from(it: FileDifference) -> Self {
        let (diff, diff_note) = match it.text {
            None => (None, None),
            Some(TextDifference::Binary) => (None, Some("One of the files is not text")),
            Some(TextDifference::TooLarge) => (None, Some("One of the files is larger than 100 KB")),
            Some(TextDifference::Lines(lines)) => (
                Some(lines.text),
                (!lines.is_minimal)
                    .then_some("More than 1,000 lines differ: the part with all differences is shown as replaced"),
            ),
        };
        Self {
            path: it.path,
            change: it.change,
            from: it.from.map(HeldOut::from),
            to: it.to.map(HeldOut::from),
            diff,
            diff_note,
        }
    }
}

#[derive(Serialize, ToSchema)]
pub struct DiffPage {
    changes: Vec<DifferenceOut>,
    next_cursor: Option<String>,
}

/// Compare two file manifests of a session
///
/// Lists the paths that differ, in the order of the paths. With `content=true`, each text also has its unified diff. A page
/// then holds at most 4 MB, so it may have fewer items than `limit`; `next_cursor` goes on after them.
#[utoipa::path(get, path = "/api/sessions/{session_id}/diff", tag = "sessions",
    params(("session_id" = String, Path), DiffQuery),
    responses((status = 200, description = "A page of differences", body = DiffPage)))]
#[worker::send]
pub async fn diff_manifests(
    User(scope): User,
    Named(session_id): Named<SessionId>,
    Query(query): Query<DiffQuery>,
) -> Result<Json<DiffPage>> {
    let request = PageRequest::new(query.limit, query.cursor.as_deref())?;
    let (from, to) = query.both()?;
    let (from, to) = (manifest_id(from)?, manifest_id(to)?);
    let page = files::diff(&scope, &session_id, &from, &to, query.content.unwrap_or(false), &request).await?;
    let (changes, next_cursor) = page.map(DifferenceOut::from);
    Ok(Json(DiffPage { changes, next_cursor }))
}

/// The file manifest to check out.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ManifestIn {
    manifest_id: String,
}

/// Check a file manifest out
///
/// The file manifest becomes the session's present. Later file manifests stay. The next write starts a new line from
/// here.
#[utoipa::path(post, path = "/api/sessions/{session_id}/checkout", tag = "sessions",
    params(("session_id" = String, Path)), request_body = ManifestIn,
    responses((status = 200, description = "The session", body = SessionOut)))]
#[worker::send]
pub async fn check_out(
    User(scope): User,
    Named(session_id): Named<SessionId>,
    Body(body): Body<ManifestIn>,
) -> Result<Json<SessionOut>> {
    let manifest_id = manifest_id(&body.manifest_id)?;
    Ok(Json(files::check_out(&scope, &session_id, &manifest_id).await?.into()))
}

/// The file manifest to branch off from, and the name of the new session.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BranchIn {
    /// The file manifest to branch off from. If not given, the session's present.
    manifest_id: Option<String>,
    /// The id of the new session, which no session may have yet. If not given, Pegboard chooses one.
    #[schema(pattern = "^[A-Za-z0-9_-]{1,64}$")]
    session_id: Option<String>,
}

/// Branch a session off from a file manifest
///
/// Makes a session that begins with the files of this file manifest. Both sessions share all contents, and neither sees
/// the changes of the other.
#[utoipa::path(post, path = "/api/sessions/{session_id}/branch", tag = "sessions",
    params(("session_id" = String, Path)), request_body = BranchIn,
    responses(
        (status = 201, description = "The new session", body = SessionOut),
        (status = 409, description = "A session has this id already, or the session has no files to branch off from"),
    ))]
#[worker::send]
pub async fn branch_session(
    User(scope): User,
    Named(session_id): Named<SessionId>,
    Body(body): Body<BranchIn>,
) -> Result<Created<SessionOut>> {
    let manifest_id = body.manifest_id.as_deref().map(manifest_id).transpose()?;
    let named = body.session_id.as_deref().map(|it| {
        SessionId::parse(it).ok_or_else(|| Error::body("/session_id", "must be 1 to 64 letters, digits, _ or -"))
    });
    Ok(Created(files::branch(&scope, &session_id, manifest_id.as_ref(), named.transpose()?).await?.into()))
}

/// The id of a file manifest. A text that cannot be an id is answered with "not found".
pub fn manifest_id(text: &str) -> Result<FileManifestId> {
    FileManifestId::parse(text).ok_or_else(|| Error::not_found("Manifest", text))
}
