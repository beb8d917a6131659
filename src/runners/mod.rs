//! What carries calls out. A runner gets a task that is allowed and whose arguments fit, and asks neither again.

mod builtin;
mod http;

use crate::callers::Scope;
use crate::error::Error;
use crate::ids::{CallId, ManifestId, SessionId};
use crate::registry::schema::Violation;
use crate::registry::{Handler, Tool};
use serde_json::Value;

/// What is to be done.
pub struct Task<'a> {
    pub call_id: &'a CallId,
    pub tool: &'a Tool,
    pub arguments: &'a Value,
    pub session: &'a SessionId,
    pub user_id: Option<&'a str>,
}

/// The state of the session's files before and after a run: the same, if it changed nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Manifests {
    pub pre: Option<ManifestId>,
    pub post: Option<ManifestId>,
}

/// What was done.
pub struct Output {
    pub result: Value,
    pub manifests: Manifests,
    /// Whether the session was seen to be there.
    pub session_seen: bool,
}

impl Output {
    /// Of a task that had nothing to do with files.
    fn plain(result: Value) -> Self {
        Self { result, manifests: Manifests::default(), session_seen: false }
    }
}

/// Why nothing came of it.
pub enum Failed {
    /// The tool itself says so.
    Tool(String),
    /// The tool could not be asked.
    Unreachable(String),
    /// Our fault.
    Broken(Error),
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::Broken(error)
    }
}

/// What a handler of ours asks of its arguments beyond what the schema can say.
pub fn check(tool: &Tool, arguments: &Value) -> Result<Vec<Violation>, Error> {
    Ok(match Handler::of(tool)? {
        Handler::Builtin { key } => builtin::check(&key, arguments),
        Handler::Http { .. } | Handler::Python { .. } => Vec::new(),
    })
}

pub async fn run(scope: &Scope, task: &Task<'_>) -> Result<Output, Failed> {
    match Handler::of(task.tool)? {
        Handler::Builtin { key } => builtin::run(scope, task, &key).await,
        Handler::Http { url, headers } => http::run(scope, task, &url, &headers).await,
        Handler::Python { .. } => {
            Err(Failed::Unreachable("Python tools need the sandbox, which is not there yet".into()))
        }
    }
}
