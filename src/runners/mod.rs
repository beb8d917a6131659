//! What carries calls out. A runner gets a call that is allowed and whose arguments fit its schema, and asks neither
//! again.
//!
//! Each kind of handler is a file here, with a [`Runner`] of its own. [`prepare`] is the one place that tells the kinds
//! apart.

mod builtin;
mod files;
mod http;
mod mail;
mod python;
mod sandbox;

use crate::callers::Scope;
use crate::error::{Error, Result};
use crate::ids::{CallId, FileManifestId, SessionId};
use crate::registry::schema::Violation;
use crate::registry::{Handler, Tool};
use futures_util::future::{Either, select};
use serde_json::Value;
use std::pin::Pin;
use std::time::Duration;
use worker::Delay;

/// The longest response that is read, of a tool's server or of the sandbox.
const MAX_RESPONSE_BYTES: usize = 10 * 1024 * 1024;

/// What is to be done.
pub struct RunTask<'a> {
    pub call_id: &'a CallId,
    pub tool: &'a Tool,
    pub arguments: &'a Value,
    pub session: &'a SessionId,
    pub user_id: Option<&'a str>,
}

impl<'a> RunTask<'a> {
    /// An argument that is a text.
    fn text(&self, parameter: &str) -> Option<&'a str> {
        self.arguments.get(parameter)?.as_str()
    }
}

/// The file manifests of the session before and after a run. A run that changed no file has the same one twice.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileManifests {
    pub pre: Option<FileManifestId>,
    pub post: Option<FileManifestId>,
}

/// What a run gave.
pub struct RunOutput {
    pub result: Value,
    pub manifests: FileManifests,
    /// Whether the run saw that the session exists.
    pub session_seen: bool,
}

impl RunOutput {
    /// The output of a run that had nothing to do with files.
    fn plain(result: Value) -> Self {
        Self { result, manifests: FileManifests::default(), session_seen: false }
    }
}

/// What a tool says of its own failure.
pub struct ToolReport {
    pub message: String,
    pub details: Option<Value>,
}

/// Why a run gave nothing.
pub enum RunFailure {
    /// The tool itself reports that it failed.
    Tool(ToolReport),
    /// The tool's time was up.
    Timeout(ToolReport),
    /// The tool could not be asked.
    Unreachable(String),
    /// Our fault.
    Broken(Error),
}

impl RunFailure {
    fn tool(message: impl Into<String>) -> Self {
        Self::Tool(ToolReport { message: message.into(), details: None })
    }

    fn timeout(tool: &Tool) -> Self {
        let message = format!("{} did not finish within {} seconds", tool.id, tool.timeout_seconds);
        Self::Timeout(ToolReport { message, details: None })
    }
}

impl From<Error> for RunFailure {
    fn from(error: Error) -> Self {
        Self::Broken(error)
    }
}

/// One call of a tool, ready to run: its handler is read, and its arguments are checked.
pub trait Runner {
    /// Carries the task out. The task's tool and arguments are those that the runner was prepared for.
    fn run<'a>(&'a self, scope: &'a Scope, task: &'a RunTask<'a>) -> Run<'a>;

    /// How long the run may take beyond its tool's own time.
    fn extra_wait(&self) -> Duration {
        Duration::ZERO
    }

    /// What is answered when the time is up, and the extra wait too.
    fn too_late(&self, tool: &Tool) -> RunFailure {
        RunFailure::timeout(tool)
    }
}

/// A run under way.
pub type Run<'a> = Pin<Box<dyn Future<Output = std::result::Result<RunOutput, RunFailure>> + 'a>>;

/// A runner, or what is wrong with the arguments beyond what a schema can say.
pub type Prepared = std::result::Result<Box<dyn Runner>, Vec<Violation>>;

/// Makes the runner of one call.
pub fn prepare(tool: &Tool, arguments: &Value) -> Result<Prepared> {
    Ok(match Handler::of(tool)? {
        Handler::Builtin { key } => builtin::prepare(key, arguments),
        Handler::Http { url, headers } => http::prepare(url, headers),
        Handler::Python { code, function } => python::prepare(code, function, arguments),
    })
}

/// Runs a task within its time. An output that comes too late counts as if it had never come.
pub async fn run(runner: &dyn Runner, scope: &Scope, task: &RunTask<'_>) -> std::result::Result<RunOutput, RunFailure> {
    let time = Duration::from_secs(task.tool.timeout_seconds.into()) + runner.extra_wait();
    match select(runner.run(scope, task), Delay::from(time)).await {
        Either::Left((ended, _)) => ended,
        Either::Right(_) => Err(runner.too_late(task.tool)),
    }
}
