//! Where Python runs: in the sandbox's container where the deployment has one, else in the server at SANDBOX_URL. The
//! contract is docs/sandbox.md's.

use super::{MAX_RESPONSE_BYTES, RunFailure};
use crate::callers::Scope;
use crate::durable::sandbox;
use crate::error::Error;
use crate::json_size::{MAX_VALUES, values};
use crate::outgoing::{OutgoingFailure, OutgoingRequest, OutgoingResponse, Redirects, Route, excerpt};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;
use worker::console_error;

/// What a call may need beyond its tool's time: a place in the queue, and a container that starts. The sandbox itself
/// holds the code to the tool's time, from when the code starts.
pub const WAIT: Duration = Duration::from_secs(25);

/// The longest request that the sandbox takes, less what surrounds code and arguments.
pub const MAX_ASKED_BYTES: usize = 4 * 1024 * 1024 - 1024;

const NOT_CONFIGURED: &str = "Python runs in a sandbox, and this deployment has none: deploy it with the container of \
    wrangler.toml, or set SANDBOX_URL to where a sandbox server listens (docs/sandbox.md)";

/// What is to be run.
#[derive(Serialize)]
pub struct SandboxJob<'a> {
    pub code: &'a str,
    /// Of the code, the function that is called with the arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<&'a Value>,
    pub limits: Limits,
}

#[derive(Serialize)]
pub struct Limits {
    pub timeout_seconds: u32,
}

/// What the sandbox answers.
#[derive(Deserialize)]
pub struct SandboxOutput {
    /// None, if it went well.
    pub error_kind: Option<String>,
    #[serde(default)]
    pub error: Option<String>,
    pub stdout: String,
    pub stderr: String,
    pub result: Value,
    /// None, if the sandbox did not live to see it.
    pub exit: Option<i32>,
    pub truncated: Truncated,
}

#[derive(Deserialize)]
pub struct Truncated {
    pub stdout: bool,
    pub stderr: bool,
}

pub async fn run(scope: &Scope, job: &SandboxJob<'_>) -> Result<SandboxOutput, RunFailure> {
    let asked = serde_json::to_string(job).map_err(|cause| Error::Internal(format!("a job is not JSON: {cause}")))?;
    let response = ask(scope, &asked).await?;
    let status = response.status();
    let text = response.text(MAX_RESPONSE_BYTES).await.map_err(|it| failed("its answer cannot be read", it))?;
    match status {
        200 if values(text.as_bytes()) > MAX_VALUES => {
            Err(RunFailure::tool(format!("The code returned more than {MAX_VALUES} values")))
        }
        200 => serde_json::from_str(&text).map_err(|cause| unusable("what answers is no sandbox", &cause.to_string())),
        429 => Err(RunFailure::Unreachable("The sandbox is busy: call again in a second".into())),
        status => Err(unusable(&format!("it answered with the status {status}"), excerpt(&text))),
    }
}

/// Asks the workspace's container, or, where the deployment has none, the server at SANDBOX_URL.
async fn ask(scope: &Scope, asked: &str) -> Result<OutgoingResponse, RunFailure> {
    let app = scope.app();
    let contained = sandbox::run(app, scope.workspace(), asked).await;
    if let Some(response) = contained.map_err(|it| failed("its container did not answer", it))? {
        return Ok(response);
    }
    let url = app.settings().sandbox_url.as_ref().ok_or_else(|| RunFailure::Unreachable(NOT_CONFIGURED.into()))?;
    let url = format!("{url}/run");
    let request = OutgoingRequest { redirects: Redirects::Follow, ..OutgoingRequest::post(&url, asked) };
    request.send(Route::Network).await.map_err(|it| failed("nothing answers at SANDBOX_URL", it))
}

fn failed(unreachable: &str, failure: OutgoingFailure) -> RunFailure {
    match failure {
        OutgoingFailure::Unusable(cause) => unusable("SANDBOX_URL is no URL", &cause),
        OutgoingFailure::Unreachable(cause) => unusable(unreachable, &cause),
        OutgoingFailure::TimedOut => too_late(),
        OutgoingFailure::BrokenOff(cause) => {
            RunFailure::Unreachable(format!("The sandbox broke off its answer: {cause}"))
        }
        OutgoingFailure::TooLarge => {
            RunFailure::tool(format!("The sandbox answered more than {MAX_RESPONSE_BYTES} bytes"))
        }
        OutgoingFailure::NotText => RunFailure::tool("The sandbox answered something that is not text"),
    }
}

/// The sandbox has not answered within the tool's time and the extra wait.
pub fn too_late() -> RunFailure {
    RunFailure::Unreachable("The sandbox did not answer in time: call again".into())
}

/// The cause is for the operator.
fn unusable(why: &str, cause: &str) -> RunFailure {
    console_error!("the sandbox cannot be used: {why}: {cause}");
    RunFailure::Unreachable(format!("The sandbox cannot be used: {why}"))
}
