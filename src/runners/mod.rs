//! What carries calls out. A runner gets a task that is allowed and whose arguments fit, and asks neither again.

mod answer;
mod builtin;
mod files;
mod http;
mod mail;
mod python;
mod sandbox;

use crate::callers::Scope;
use crate::error::Error;
use crate::ids::{CallId, ManifestId, SessionId};
use crate::registry::schema::Violation;
use crate::registry::{Builtin, Handler, Tool};
use crate::text_enum::TextEnum;
use futures_util::future::{Either, select};
use serde_json::Value;
use std::pin::pin;
use std::time::Duration;
use worker::Delay;

/// What is to be done.
pub struct Task<'a> {
    pub call_id: &'a CallId,
    pub tool: &'a Tool,
    pub arguments: &'a Value,
    pub session: &'a SessionId,
    pub user_id: Option<&'a str>,
}

impl<'a> Task<'a> {
    /// An argument that is a text.
    fn text(&self, parameter: &str) -> Option<&'a str> {
        self.arguments.get(parameter)?.as_str()
    }
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

/// What a tool says of its failure.
pub struct Said {
    pub message: String,
    pub details: Option<Value>,
}

/// Why nothing came of it.
pub enum Failed {
    /// The tool itself says so.
    Tool(Said),
    /// Its time was up.
    Timeout(Said),
    /// The tool could not be asked.
    Unreachable(String),
    /// Our fault.
    Broken(Error),
}

impl Failed {
    fn tool(message: impl Into<String>) -> Self {
        Self::Tool(Said { message: message.into(), details: None })
    }
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
        Handler::Python { code, .. } => python::check_arguments(&code, arguments),
        Handler::Http { .. } => Vec::new(),
    })
}

/// Carries a task out, within its time. What comes too late is as if it had never come.
pub async fn run(scope: &Scope, task: &Task<'_>) -> Result<Output, Failed> {
    let handler = Handler::of(task.tool)?;
    let python = is_python(&handler);
    let seconds = task.tool.timeout_seconds;
    // The sandbox looks at the clock itself, from when the code is run.
    let deadline = Duration::from_secs((seconds + if python { sandbox::WAIT_SECONDS } else { 0 }).into());
    match select(pin!(carry_out(scope, task, handler)), Delay::from(deadline)).await {
        Either::Left((ended, _)) => ended,
        Either::Right(_) if python => Err(Failed::Unreachable("The sandbox did not answer in time: call again".into())),
        Either::Right(_) => {
            let message = format!("{} did not finish within {seconds} seconds", task.tool.id);
            Err(Failed::Timeout(Said { message, details: None }))
        }
    }
}

fn is_python(handler: &Handler) -> bool {
    match handler {
        Handler::Python { .. } => true,
        Handler::Builtin { key } => Builtin::parse(key) == Some(Builtin::ExecutePython),
        Handler::Http { .. } => false,
    }
}

async fn carry_out(scope: &Scope, task: &Task<'_>, handler: Handler) -> Result<Output, Failed> {
    match handler {
        Handler::Builtin { key } => builtin::run(scope, task, &key).await,
        Handler::Http { url, headers } => http::run(scope, task, &url, &headers).await,
        Handler::Python { code, function } => python::call(scope, task, &code, &function).await,
    }
}
