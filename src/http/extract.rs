//! Extractors: the typed arguments of handlers, for every route. They parse the caller, the ids in the path, the query
//! and the body. Every fault becomes an error with the usual envelope.
//!
//! Code that does not depend on a type is in functions of its own, because generic code is in the bundle once for each
//! handler.

use super::body::{Given, read_given, read_json};
use crate::app::App;
use crate::callers::{Caller, CallerCredential, Level, Presented, Scope};
use crate::error::{Error, Place, Problem, Result, escaped, shortened};
use crate::files::FilePath;
use crate::ids::{
    AgentId, ApprovalId, CallId, CredentialId, FileManifestId, ModuleName, ServerId, SessionId, TokenId, ToolId,
    ToolsetId, Version, WorkspaceId,
};
use crate::json_size::{MAX_VALUES, values};
use crate::page::PageRequest;
use axum::body::{Body as RequestBody, Bytes as Buffer};
use axum::extract::{FromRequest, FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Request, header};
use futures_util::stream::{Stream, StreamExt};
use http_body_util::BodyExt;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use subtle::ConstantTimeEq;
use utoipa::{IntoParams, ToSchema};

/// The largest body, in bytes.
pub const MAX_BODY_BYTES: usize = 16 * 1024 * 1024;

/// How many bytes of a larger body are read before the connection is given up.
const MAX_DRAINED_BYTES: usize = 4 * MAX_BODY_BYTES;

/// The largest body that is read before the caller is known, where other bodies wait for the caller.
pub const SMALL_BODY_BYTES: usize = 64 * 1024;

const WORKSPACE: &str = "X-Workspace-Id";

/// Declares an extractor that gives the scope of a caller with at least this level. The level itself is checked with
/// the handler's first read or write ([`Scope`]).
macro_rules! callers {
    ($($(#[$meta:meta])* $name:ident),+ $(,)?) => {
        $(
            $(#[$meta])*
            pub struct $name(pub Scope);

            impl<S: Sync> FromRequestParts<S> for $name {
                type Rejection = Error;

                async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self> {
                    scope(parts, Level::$name).map(Self)
                }
            }
        )+
    };
}

callers! {
    /// Any caller who may enter the workspace.
    Guest,
    /// A caller who works with agents, sessions and files.
    User,
    /// A caller who decides what may run.
    Admin,
    /// A caller who owns the workspace.
    Owner,
}

/// The operator of the Worker: a caller with the root token, or any caller in open mode. The request names no
/// workspace.
pub struct Operator(pub Arc<App>);

impl<S: Sync> FromRequestParts<S> for Operator {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self> {
        let app = app(parts)?;
        match sent_token(&parts.headers, &app)? {
            SentToken::None | SentToken::Root => Ok(Self(app)),
            SentToken::OfWorkspace(_) => Err(Error::Unauthorized("This needs the root token")),
        }
    }
}

/// A caller of any level, for routes that learn the level only later.
pub struct Anyone {
    app: Arc<App>,
    workspace: WorkspaceId,
    credential: CallerCredential,
}

impl Anyone {
    pub fn of(parts: &Parts, workspace: WorkspaceId) -> Result<Self> {
        let app = app(parts)?;
        let credential = credential(&parts.headers, &workspace, &app)?;
        Ok(Self { app, workspace, credential })
    }

    pub fn app(&self) -> &App {
        &self.app
    }

    pub fn scope(self, needs: Level) -> Scope {
        Scope::new(self.app, self.workspace, self.credential, needs)
    }
}

/// The workspace that the path names, or else the header.
pub async fn named_workspace<S: Send + Sync>(parts: &mut Parts, state: &S) -> Result<WorkspaceId> {
    let named = path_param(parts, state, "workspace").await.ok_or(Error::NoRoute)?;
    if named.is_empty() {
        return workspace(&parts.headers);
    }
    let named = WorkspaceId::parse(&named)
        .ok_or_else(|| Error::path("workspace", "must be 1 to 64 letters, digits, _ or -"))?;
    match parts.headers.contains_key(WORKSPACE) {
        true if workspace(&parts.headers)? != named => {
            Err(Error::header(WORKSPACE, "names another workspace than the path"))
        }
        _ => Ok(named),
    }
}

/// The agent that the path names, if it names one.
pub async fn named_agent<S: Send + Sync>(parts: &mut Parts, state: &S) -> Result<Option<AgentId>> {
    let named = path_param(parts, state, AgentId::PARAM).await.ok_or(Error::NoRoute)?;
    match named.as_str() {
        "" => Ok(None),
        named => AgentId::parse(named).map(Some).ok_or_else(|| Error::not_found(AgentId::KIND, named)),
    }
}

fn scope(parts: &Parts, needs: Level) -> Result<Scope> {
    let app = app(parts)?;
    let workspace = workspace(&parts.headers)?;
    let credential = credential(&parts.headers, &workspace, &app)?;
    Ok(Scope::new(app, workspace, credential, needs))
}

fn app(parts: &Parts) -> Result<Arc<App>> {
    parts.extensions.get::<Arc<App>>().cloned().ok_or_else(|| Error::Internal("a request came without its app".into()))
}

fn workspace(headers: &HeaderMap) -> Result<WorkspaceId> {
    let Some(value) = headers.get(WORKSPACE) else {
        return Err(Error::header(WORKSPACE, "is required: it names the workspace"));
    };
    value
        .to_str()
        .ok()
        .and_then(WorkspaceId::parse)
        .ok_or_else(|| Error::header(WORKSPACE, "must be 1 to 64 letters, digits, _ or -"))
}

/// The credential of a caller. A token that was not made here for this workspace is refused at once.
fn credential(headers: &HeaderMap, workspace: &WorkspaceId, app: &App) -> Result<CallerCredential> {
    Ok(match sent_token(headers, app)? {
        SentToken::None => CallerCredential::Open,
        SentToken::Root => CallerCredential::Root,
        SentToken::OfWorkspace(token) => {
            CallerCredential::Token(Presented::parse(token, workspace, app.settings().sealer.as_ref())?)
        }
    })
}

/// The token of a request.
enum SentToken<'a> {
    /// No token, in open mode.
    None,
    Root,
    /// Any other token. It has not been checked.
    OfWorkspace(&'a str),
}

fn sent_token<'a>(headers: &'a HeaderMap, app: &App) -> Result<SentToken<'a>> {
    let Some(value) = headers.get(header::AUTHORIZATION) else {
        return if app.settings().open {
            Ok(SentToken::None)
        } else {
            Err(Error::Unauthorized("A token is needed: Authorization: Bearer …"))
        };
    };
    let token = value
        .to_str()
        .ok()
        .and_then(|it| it.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map(|(_, token)| token.trim())
        .ok_or(Error::Unauthorized("The Authorization header must be: Bearer …"))?;
    let digest: [u8; 32] = Sha256::digest(token).into();
    match app.settings().root_token {
        Some(root) if bool::from(root.ct_eq(&digest)) => Ok(SentToken::Root),
        _ => Ok(SentToken::OfWorkspace(token)),
    }
}

/// An id in the path of the URL. A text that cannot be an id is answered with "not found".
pub struct Named<T>(pub T);

/// An id that paths hold as a parameter with its own name.
pub trait PathId: Sized {
    const PARAM: &'static str;
    const KIND: &'static str;
    fn parse(text: &str) -> Option<Self>;
}

macro_rules! path_ids {
    ($($id:ident, $param:literal, $kind:literal;)+) => {
        $(impl PathId for $id {
            const PARAM: &'static str = $param;
            const KIND: &'static str = $kind;

            fn parse(text: &str) -> Option<Self> {
                Self::parse(text)
            }
        })+
    };
}

path_ids! {
    ToolId, "tool_id", "Tool";
    AgentId, "agent_id", "Agent";
    TokenId, "token_id", "Token";
    SessionId, "session_id", "Session";
    FileManifestId, "manifest_id", "Manifest";
    CallId, "call_id", "Tool call";
    ApprovalId, "approval_id", "Approval";
    CredentialId, "credential_id", "Credential";
    ModuleName, "module", "Module";
    ServerId, "server_id", "MCP server";
    ToolsetId, "toolset_id", "Toolset";
}

impl<S: Send + Sync, T: PathId> FromRequestParts<S> for Named<T> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let text = path_param(parts, state, T::PARAM).await.ok_or(Error::NoRoute)?;
        T::parse(&text).map(Self).ok_or_else(|| Error::not_found(T::KIND, &text))
    }
}

/// A tool, perhaps with a version: `id` or `id@version`, as calls name it.
pub struct NamedVersion {
    pub id: ToolId,
    pub version: Option<Version>,
}

impl<S: Send + Sync> FromRequestParts<S> for NamedVersion {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let text = path_param(parts, state, ToolId::PARAM).await.ok_or(Error::NoRoute)?;
        let inner = path_param(parts, state, "version").await.ok_or(Error::NoRoute)?;
        let (id, version) = match text.split_once('@') {
            Some((id, version)) => (id, Some(version)),
            None => (text.as_str(), Some(inner.as_str()).filter(|it| !it.is_empty())),
        };
        let named = || Some((ToolId::parse(id)?, version.map(Version::parse)));
        match named() {
            Some((id, None)) => Ok(Self { id, version: None }),
            Some((id, Some(Some(version)))) => Ok(Self { id, version: Some(version) }),
            Some((_, Some(None))) | None => Err(Error::not_found(ToolId::KIND, &text)),
        }
    }
}

/// The value of a parameter in the path. `None` if the path is not UTF-8 after percent-decoding.
async fn path_param<S: Send + Sync>(parts: &mut Parts, state: &S, name: &str) -> Option<String> {
    let params = RawPathParams::from_request_parts(parts, state).await.ok()?;
    Some(params.iter().find(|(it, _)| *it == name).map_or("", |(_, text)| text).to_owned())
}

/// The path of a file: the rest of the URL's path.
pub struct FileAt(pub FilePath);

impl<S: Send + Sync> FromRequestParts<S> for FileAt {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let text = path_param(parts, state, "path")
            .await
            .ok_or_else(|| Error::path("path", "must be UTF-8 where it is percent-encoded"))?;
        FilePath::parse(&text).map(Self).map_err(|reason| Error::path("path", reason))
    }
}

/// The query string. An unknown parameter is an error, because a misspelt filter would filter nothing.
pub struct Query<T>(pub T);

impl<S: Sync, T: DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self> {
        let text = parts.uri.query().unwrap_or_default();
        read_query(text).map(Self)
    }
}

fn read_query<T: DeserializeOwned>(text: &str) -> Result<T> {
    let pairs = serde_urlencoded::Deserializer::new(form_urlencoded(text));
    serde_path_to_error::deserialize(pairs).map_err(query_fault)
}

fn query_fault(cause: serde_path_to_error::Error<serde_urlencoded::de::Error>) -> Error {
    let message = cause.inner().to_string();
    let name = place(cause.path(), &message).unwrap_or_default();
    Error::query(name, worded(message))
}

fn form_urlencoded(text: &str) -> worker::url::form_urlencoded::Parse<'_> {
    worker::url::form_urlencoded::parse(text.as_bytes())
}

/// The parameters of every list.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// The most items that a page may hold.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
    /// The `next_cursor` of the page before this one.
    #[param(pattern = "^[A-Za-z0-9_-]+$")]
    cursor: Option<String>,
}

impl PageQuery {
    pub fn check(&self) -> Result<PageRequest> {
        PageRequest::new(self.limit, self.cursor.as_deref())
    }
}

/// A JSON body, with any Content-Type.
pub struct Body<T>(pub T);

impl<S: Sync, T: DeserializeOwned + ToSchema> FromRequest<S> for Body<T> {
    type Rejection = Error;

    async fn from_request(request: Request<RequestBody>, _state: &S) -> Result<Self> {
        read_json(&collect(request.into_body(), MAX_BODY_BYTES).await?).map(Self)
    }
}

/// A JSON body that may repeat read-only fields of a response.
impl<S: Sync, T: DeserializeOwned + ToSchema> FromRequest<S> for Given<T> {
    type Rejection = Error;

    async fn from_request(request: Request<RequestBody>, _state: &S) -> Result<Self> {
        let given = read_given(MAX_VALUES, &collect(request.into_body(), MAX_BODY_BYTES).await?);
        given.map_err(|faulty| Error::Invalid(faulty.problems))
    }
}

/// A body that the handler parses itself, with [`read_json`].
pub struct Bytes(pub Vec<u8>);

impl<S: Sync> FromRequest<S> for Bytes {
    type Rejection = Error;

    async fn from_request(request: Request<RequestBody>, _state: &S) -> Result<Self> {
        collect(request.into_body(), MAX_BODY_BYTES).await.map(Self)
    }
}

/// A body that has not been read yet, with any Content-Type. The handlers of large bodies first learn who is calling.
pub struct UnreadBody {
    body: RequestBody,
    /// The length that the request's head tells.
    length: Option<usize>,
}

impl<S: Sync> FromRequest<S> for UnreadBody {
    type Rejection = Error;

    async fn from_request(request: Request<RequestBody>, _state: &S) -> Result<Self> {
        let length = request.headers().get(header::CONTENT_LENGTH).and_then(|it| it.to_str().ok()?.parse().ok());
        Ok(Self { body: request.into_body(), length })
    }
}

impl UnreadBody {
    /// The body, if the caller was let in. The body of a refused caller is thrown away as it comes.
    pub async fn read_for(self, caller: Result<&Caller>, limit_bytes: usize) -> Result<Vec<u8>> {
        if let Err(refusal) = caller {
            // The refusal is the answer, whatever becomes of the body.
            let _ = collect(self.body, 0).await;
            return Err(refusal);
        }
        collect(self.body, limit_bytes).await
    }

    /// The body piece by piece, for a body of any size.
    pub fn pieces(self) -> impl Stream<Item = Result<Vec<u8>>> {
        let read = |piece: std::result::Result<Buffer, axum::Error>| match piece {
            Ok(piece) => Ok(Vec::from(piece)),
            Err(cause) => Err(Error::body("", format!("The body could not be read: {cause}"))),
        };
        self.body.into_data_stream().map(read)
    }

    /// Whether the body is so small that reading it costs less than asking the database who is calling.
    pub fn is_small(&self) -> bool {
        self.length.is_some_and(|it| it <= SMALL_BODY_BYTES)
    }

    /// Reads a small body.
    pub async fn read(self) -> Result<Vec<u8>> {
        collect(self.body, SMALL_BODY_BYTES).await
    }
}

/// The whole body, up to the limit. A longer body is read on for a while and thrown away: a client that is still
/// sending when the response comes sees a broken connection instead of the response.
pub async fn collect(mut body: RequestBody, limit_bytes: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut total = 0_usize;
    while total <= MAX_DRAINED_BYTES
        && let Some(frame) = body.frame().await
    {
        let frame = frame.map_err(|cause| Error::body("", format!("The body could not be read: {cause}")))?;
        let Some(data) = frame.data_ref() else { continue };
        total = total.saturating_add(data.len());
        if total <= limit_bytes {
            bytes.extend_from_slice(data);
        } else {
            bytes = Vec::new();
        }
    }
    if total > limit_bytes {
        return Err(Error::TooLarge { limit_bytes });
    }
    Ok(bytes)
}

/// JSON Lines.
const LINES: &str = "application/x-ndjson";

/// Whether the client wants the response as JSON Lines.
pub fn wants_lines(headers: &HeaderMap) -> bool {
    accepts(headers, LINES)
}

/// Whether the client names this type among those that it accepts.
pub fn accepts(headers: &HeaderMap, content_type: &str) -> bool {
    let accepted = headers.get_all(header::ACCEPT).into_iter().filter_map(|it| it.to_str().ok());
    accepted.flat_map(|it| it.split(',')).any(|it| it.trim().starts_with(content_type))
}

/// Whether the client sends its body as JSON Lines.
pub fn sends_lines(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|it| it.to_str().ok());
    kind.is_some_and(|it| it.trim().starts_with(LINES))
}

/// Parses a body that may be any JSON.
pub fn read_any_json(bytes: &[u8]) -> Result<serde_json::Value> {
    if values(bytes) > MAX_VALUES {
        return Err(Error::body("", format!("The body holds more than {MAX_VALUES} values")));
    }
    let text = std::str::from_utf8(bytes).map_err(|cause| Error::body("", cause.to_string()))?;
    serde_json::from_str(text).map_err(|cause| Error::body("", cause.to_string()))
}

/// Parses a JSON object of up to `max_values` values, and tells the first fault. The limit may be higher than usual where
/// most values become typed fields, which take less memory.
pub fn read_object<T: DeserializeOwned>(max_values: usize, bytes: &[u8]) -> Result<T> {
    parse_object(max_values, bytes).map_err(|first| Error::Invalid(vec![first]))
}

pub fn parse_object<T: DeserializeOwned>(max_values: usize, bytes: &[u8]) -> std::result::Result<T, Problem> {
    check_json(max_values, bytes).map_err(of_body)?;
    // Everything is read from texts, so the bundle has the reader of texts alone.
    let text = std::str::from_utf8(bytes).map_err(|cause| of_body(format!("The body is not UTF-8: {cause}")))?;
    let mut json = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(&mut json).map_err(|cause| body_problem(&cause))?;
    json.end().map_err(|cause| of_body(cause.to_string()))?;
    Ok(value)
}

fn check_json(max_values: usize, bytes: &[u8]) -> std::result::Result<(), String> {
    if values(bytes) > max_values {
        return Err(format!("The body holds more than {max_values} values"));
    }
    if bytes.trim_ascii_start().is_empty() {
        return Err("The body is empty: it must be a JSON object".to_owned());
    }
    // serde would accept an array as a struct, field by field.
    if bytes.trim_ascii_start().first().is_some_and(|it| *it != b'{') {
        return Err("The body must be a JSON object".to_owned());
    }
    Ok(())
}

/// A fault of the body as a whole.
fn of_body(message: String) -> Problem {
    Problem { place: Place::Body, path: String::new(), message }
}

/// The fault at which serde gave up.
fn body_problem(cause: &serde_path_to_error::Error<serde_json::Error>) -> Problem {
    let message = without_value(cause.inner().to_string());
    let pointer = place(cause.path(), &message).map_or_else(String::new, |it| format!("/{it}"));
    Problem { place: Place::Body, path: shortened(&pointer), message: shortened(&worded(message)) }
}

/// A message that tells what was expected, without the value that was given: the value may be a secret, and the message
/// may be recorded.
fn without_value(message: String) -> String {
    let told = ["invalid type: ", "invalid value: ", "invalid length "].iter().any(|start| message.starts_with(start));
    match message.rsplit_once(", expected ") {
        Some((_, expected)) if told => format!("expected {expected}"),
        _ => message,
    }
}

/// A message of serde in the words of our own messages, which follow the name of the field or parameter.
fn worded(message: String) -> String {
    let listed = |start: &str| {
        let (_, listed) = message.strip_prefix(start)?.split_once("expected ")?;
        let end = listed.find(" at line ").unwrap_or(listed.len());
        Some(listed[..end].trim_start_matches("one of ").replace('`', "").replace(" or ", ", "))
    };
    if message.starts_with("missing field") {
        return "is required".to_owned();
    }
    if message.starts_with("duplicate field") {
        return "is given twice".to_owned();
    }
    if let Some(words) = listed("unknown variant ") {
        return format!("must be one of {words}");
    }
    if let Some(fields) = listed("unknown field ") {
        return format!("is unknown: the fields are {fields}");
    }
    match message.as_str() {
        "provided string was not `true` or `false`" => "must be true or false".to_owned(),
        "invalid digit found in string" | "cannot parse integer from empty string" => {
            "must be a whole number".to_owned()
        }
        "number too large to fit in target type" => "is too large".to_owned(),
        _ => message,
    }
}

/// The place of a value that did not fit, as the inside of a JSON pointer. serde reports a missing or unknown field at
/// the object around it, and names the field only in its message.
fn place(path: &serde_path_to_error::Path, message: &str) -> Option<String> {
    use serde_path_to_error::Segment;
    let mut steps = path
        .iter()
        .filter_map(|segment| match segment {
            Segment::Seq { index } => Some(index.to_string()),
            Segment::Map { key } => Some(escaped(key)),
            Segment::Enum { .. } | Segment::Unknown => None,
        })
        .collect::<Vec<_>>();
    let named = ["missing field `", "unknown field `", "duplicate field `"]
        .iter()
        .find_map(|start| message.strip_prefix(start)?.split_once('`'));
    if let Some(field) = named.map(|(field, _)| escaped(field))
        && steps.last() != Some(&field)
    {
        steps.push(field);
    }
    (!steps.is_empty()).then(|| steps.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
        read_object(MAX_VALUES, bytes)
    }

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Outer {
        name: String,
        level: Option<Level>,
        inner: Option<Vec<Inner>>,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        count: u32,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Filters {
        #[expect(dead_code, reason = "only its place is of interest")]
        limit: Option<u32>,
    }

    #[track_caller]
    fn path_of<T: std::fmt::Debug>(result: Result<T>) -> String {
        match result {
            Err(Error::Invalid(problems)) => {
                let [Problem { path, .. }] = problems.as_slice() else {
                    unreachable!("one fault at a time");
                };
                path.clone()
            }
            other => unreachable!("{other:?}"),
        }
    }

    #[test]
    fn every_fault_of_a_body_has_its_place() {
        let check =
            |json: &str, expected: &str| assert_eq!(path_of(read_json::<Outer>(json.as_bytes())), expected, "{json}");
        check("{}", "/name");
        check(r#"{"name": 1}"#, "/name");
        check(r#"{"name": "a", "level": "root"}"#, "/level");
        check(r#"{"name": "a", "inner": [{"count": 1}, {"count": -1}]}"#, "/inner/1/count");
        check(r#"{"name": "a", "inner": [{}]}"#, "/inner/0/count");
        check(r#"{"name": "a", "inner": [{"count": 1, "a/b": 2}]}"#, "/inner/0/a~1b");
        check(r#"{"name": "a", "nmae": "b"}"#, "/nmae");
        check(r#"{"name": "a", "name": "b"}"#, "/name");
        check("", "");
        check("{", "");
        check(r#"{"name": "a"} x"#, "");
        check(r#"["a"]"#, "");
        check("7", "");
    }

    #[test]
    fn faults_are_told_in_our_words() {
        let told = |result: Result<Outer>| result.err().map(|it| it.to_string()).unwrap_or_default();
        let body = |json: &str| told(read_json(json.as_bytes()));
        assert_eq!(body(""), "The body is empty: it must be a JSON object");
        assert_eq!(body("{}"), "/name: is required");
        assert_eq!(body(r#"{"name": "a", "name": "b"}"#), "/name: is given twice");
        assert_eq!(body(r#"{"name": "a", "nmae": 1}"#), "/nmae: is unknown: the fields are name, level, inner");
        assert_eq!(body(r#"{"name": "a", "level": "root"}"#), "/level: must be one of guest, user, admin, owner");
        let query = |text: &str| read_query::<Filters>(text).err().map(|it| it.to_string()).unwrap_or_default();
        assert_eq!(query("limit=x"), "limit: must be a whole number");
        assert_eq!(query("limit=99999999999"), "limit: is too large");
        assert_eq!(query("limt=1"), "limt: is unknown: the fields are limit");
        assert_eq!(worded("provided string was not `true` or `false`".into()), "must be true or false");
    }

    #[test]
    fn a_name_as_long_as_a_body_is_not_told_whole() {
        let json = format!(r#"{{"name": "a", "{}": 1}}"#, "ä".repeat(100_000));
        let Err(Error::Invalid(problems)) = read_json::<Outer>(json.as_bytes()) else { unreachable!("unknown field") };
        assert!(problems[0].path.len() < 510 && problems[0].message.len() < 510);
    }

    #[test]
    fn a_fault_does_not_show_the_value() {
        let Err(error) = read_json::<Outer>(br#"{"name": {"pin": "hunter2"}, "inner": "hunter2, expected x"}"#) else {
            unreachable!("a name is a text");
        };
        assert!(error.to_string().contains("expected a string"), "{error}");
        let Err(error) = read_json::<Outer>(br#"{"name": "a", "inner": "hunter2, expected x"}"#) else {
            unreachable!("a list is no text");
        };
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }

    #[test]
    fn null_means_absent() {
        let outer = read_json::<Outer>(br#"{"name": "a", "level": null, "inner": null}"#).unwrap();
        assert_eq!((outer.level, outer.inner), (None, None));
    }

    #[test]
    fn deep_json_is_refused_and_does_not_overflow() {
        let deep = r#"{"a":"#.repeat(100_000);
        assert!(read_json::<serde_json::Value>(deep.as_bytes()).is_err());
    }

    #[test]
    fn a_body_of_too_many_values_is_refused_before_it_is_read() {
        let numbers = |count: usize| format!(r#"{{"a":[{}0]}}"#, "0,".repeat(count)).into_bytes();
        assert!(read_json::<serde_json::Value>(&numbers(1_000)).is_ok());
        assert!(read_json::<serde_json::Value>(&numbers(300_000)).is_err());
        let text = format!(r#"{{"a":"{}"}}"#, r#"[,{\\\","#.repeat(300_000));
        assert!(read_json::<serde_json::Value>(text.as_bytes()).is_ok());
    }

    #[test]
    fn every_fault_of_a_query_has_its_place() {
        let check = |text: &str, expected: &str| assert_eq!(path_of(read_query::<Filters>(text)), expected, "{text}");
        check("limit=x", "limit");
        check("limit=-1", "limit");
        check("lmit=1", "lmit");
        check("limit=1&limit=2", "limit");
        assert!(read_query::<Filters>("limit=5").is_ok() && read_query::<Filters>("").is_ok());
    }
}
