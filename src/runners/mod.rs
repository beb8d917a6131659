//! Runners carry out calls. A runner gets a call that is allowed and whose arguments fit the schema, and checks neither
//! again.
//!
//! Each kind of handler has a file here, with its own [`Runner`]. Only [`prepare`] distinguishes the kinds.

mod builtin;
mod early;
mod file_contents;
mod files;
mod http;
mod mail;
mod mcp;
mod module;
mod python;
mod python_check;
mod python_files;
mod python_parameters;
mod rest;
mod sandbox;
mod toolset;
mod toolset_inspection;

pub use early::{EarlyRead, EarlyRows};
pub use python_check::inspect;
pub use toolset_inspection::{BundleFiles, InspectedFunction, inspect_bundle};

use crate::callers::Scope;
use crate::error::{Error, Result};
use crate::ids::{AgentId, CallId, FileManifestId, SessionId};
use crate::registry::schema::{self, Violation};
use crate::registry::{Handler, Tool};
use futures_util::future::{Either, select};
use serde_json::Value;
use std::pin::Pin;
use std::time::Duration;
use worker::Delay;

/// The largest response, in bytes, that is read from a tool's server or from the sandbox.
const MAX_RESPONSE_BYTES: usize = 10 * 1024 * 1024;

/// The call that a runner carries out.
pub struct RunTask<'a> {
    pub call_id: &'a CallId,
    pub tool: &'a Tool,
    pub arguments: &'a Value,
    pub session: &'a SessionId,
    /// The generation of the session, if the session was there when the call was asked for.
    pub generation: Option<u32>,
    pub user_id: Option<&'a str>,
    /// The rows that were read together with the look-up of the call.
    pub early: Option<&'a EarlyRows>,
    /// The agent that makes the call.
    pub agent: Option<&'a AgentId>,
}

impl<'a> RunTask<'a> {
    /// The value of a parameter, if it is a text.
    fn text(&self, parameter: &str) -> Option<&'a str> {
        self.arguments.get(parameter)?.as_str()
    }
}

/// The file manifests of the session before and after a run. Both are the same if the run changed no file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileManifests {
    pub pre: Option<FileManifestId>,
    pub post: Option<FileManifestId>,
}

/// The output of a successful run.
pub struct RunOutput {
    pub result: Value,
    pub manifests: FileManifests,
    /// Whether the run saw that the session exists.
    pub session_seen: bool,
    /// The text that the tool printed besides its result.
    pub printed: Option<String>,
    /// The content blocks of MCP that the result was made of, as a JSON array.
    pub content: Option<String>,
}

impl RunOutput {
    /// The output of a run that used no files and printed nothing.
    fn plain(result: Value) -> Self {
        Self { result, manifests: FileManifests::default(), session_seen: false, printed: None, content: None }
    }
}

/// A tool's report of its own failure.
#[derive(Default)]
pub struct ToolReport {
    pub message: String,
    pub details: Option<Value>,
    /// The content blocks of MCP that the report was made of, as a JSON array.
    pub content: Option<Box<str>>,
    /// What the tool did to the files of the session before it failed, if it works on files.
    pub files: Option<Box<RunFiles>>,
}

/// What a run did to the files of its session.
pub struct RunFiles {
    pub manifests: FileManifests,
    /// Whether the run saw that the session exists.
    pub session_seen: bool,
}

/// The reason why a run has no output.
pub enum RunFailure {
    /// The tool itself reports that it failed.
    Tool(ToolReport),
    /// The tool did not end within its timeout.
    Timeout(ToolReport),
    /// The tool could not be reached.
    Unreachable(String),
    /// An error of the Worker itself.
    Broken(Error),
}

impl RunFailure {
    fn tool(message: impl Into<String>) -> Self {
        Self::Tool(ToolReport { message: message.into(), ..ToolReport::default() })
    }

    /// The tool's own report, if the tool has run.
    pub fn report_mut(&mut self) -> Option<&mut ToolReport> {
        match self {
            Self::Tool(report) | Self::Timeout(report) => Some(report),
            Self::Unreachable(_) | Self::Broken(_) => None,
        }
    }

    fn timeout(tool: &Tool) -> Self {
        let message = format!("{} did not finish within {} seconds", tool.id, tool.timeout_seconds);
        Self::Timeout(ToolReport { message, ..ToolReport::default() })
    }
}

impl From<Error> for RunFailure {
    fn from(error: Error) -> Self {
        Self::Broken(error)
    }
}

/// A tool's call that is ready to run: its handler has been read, and its arguments have been checked.
pub trait Runner {
    /// Carries out the task. The task must have the tool and the arguments that the runner was prepared for.
    fn run<'a>(&'a self, scope: &'a Scope, task: &'a RunTask<'a>) -> Run<'a>;

    /// How long the run may take beyond the tool's timeout.
    fn extra_wait(&self) -> Duration {
        Duration::ZERO
    }

    /// The failure of a run that did not end within the tool's timeout and the extra wait.
    fn too_late(&self, tool: &Tool) -> RunFailure {
        RunFailure::timeout(tool)
    }
}

/// The future of a run.
pub type Run<'a> = Pin<Box<dyn Future<Output = std::result::Result<RunOutput, RunFailure>> + 'a>>;

/// A runner, or the violations of rules that a schema cannot express.
pub type Prepared = std::result::Result<Box<dyn Runner>, Vec<Violation>>;

/// Makes the runner for one call.
pub fn prepare(tool: &Tool, arguments: &Value) -> Result<Prepared> {
    Ok(match Handler::of(tool)? {
        Handler::Builtin { key } => builtin::prepare(key, arguments),
        Handler::Http { url, headers } => http::prepare(url, headers),
        Handler::Rest(rest) => rest::prepare(rest, arguments),
        Handler::Module { .. } => module::prepare(),
        Handler::Mcp { tool, .. } => mcp::prepare(tool),
        Handler::Toolset { entrypoint } => toolset::prepare(entrypoint, arguments),
        Handler::Python(python) => {
            let parameters = schema::compiled(&tool.parameters_schema)?;
            let prepare = if python.files { python_files::prepare } else { python::prepare };
            prepare(python, parameters, arguments)
        }
    })
}

/// Runs a task within its timeout and the runner's extra wait. An output that comes later is ignored.
pub async fn run(runner: &dyn Runner, scope: &Scope, task: &RunTask<'_>) -> std::result::Result<RunOutput, RunFailure> {
    let time = Duration::from_secs(task.tool.timeout_seconds.into()) + runner.extra_wait();
    match select(runner.run(scope, task), Delay::from(time)).await {
        Either::Left((ended, _)) => ended,
        Either::Right(_) => Err(runner.too_late(task.tool)),
    }
}
