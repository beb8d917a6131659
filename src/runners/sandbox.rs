//! Sends Python to the sandbox: to the sandbox's container if the deployment has one, else to the server at
//! SANDBOX_URL. docs/sandbox.md describes the protocol.

use super::{MAX_RESPONSE_BYTES, RunFailure};
use crate::callers::Scope;
use crate::durable::sandbox::{self, SandboxRoute};
use crate::error::Error;
use crate::json_size::{MAX_VALUES, values};
use crate::outgoing::{OutgoingFailure, OutgoingRequest, OutgoingResponse, Redirects, Route, excerpt};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;
use worker::console_error;

/// The time that a call may need beyond its tool's timeout, to wait in the queue and for a container that starts. The
/// sandbox itself applies the tool's timeout, from the start of the code.
pub const WAIT: Duration = Duration::from_secs(25);

/// The most bytes of code and arguments in a request: the longest request that the sandbox accepts, less the JSON
/// around code and arguments.
pub const MAX_ASKED_BYTES: usize = 4 * 1024 * 1024 - 1024;

const NOT_CONFIGURED: &str = "Python runs in a sandbox, and this deployment has none: deploy it with the container of \
    wrangler.toml, or set SANDBOX_URL to where a sandbox server listens (docs/sandbox.md)";

/// The body of a request to the sandbox.
#[derive(Serialize)]
pub struct SandboxJob<'a> {
    pub code: &'a str,
    /// The function of the code that is called with the arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<&'a Value>,
    /// The names of the schema's properties. A function whose parameters are all among them gets keyword arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub properties: Option<&'a [&'a str]>,
    pub limits: Limits,
}

/// A job with the name of the workspace, by which the sandbox shares its slots fairly.
#[derive(Serialize)]
struct SharedJob<'a> {
    #[serde(flatten)]
    job: &'a SandboxJob<'a>,
    share: &'a str,
}

/// The body of a refusal.
#[derive(Deserialize)]
struct Refusal {
    error: RefusalError,
}

#[derive(Deserialize)]
struct RefusalError {
    details: Option<RefusalDetails>,
}

#[derive(Deserialize)]
struct RefusalDetails {
    reason: String,
}

#[derive(Serialize)]
pub struct Limits {
    pub timeout_seconds: u32,
}

/// The body of the sandbox's response.
#[derive(Deserialize)]
pub struct SandboxOutput {
    /// None, if the code ended without an error.
    pub error_kind: Option<String>,
    #[serde(default)]
    pub error: Option<String>,
    pub stdout: String,
    pub stderr: String,
    pub result: Value,
    /// The exit code. None, if the sandbox ended before the code did.
    pub exit: Option<i32>,
    pub truncated: Truncated,
}

#[derive(Deserialize)]
pub struct Truncated {
    pub stdout: bool,
    pub stderr: bool,
}

/// Sends a job to the sandbox, and returns the sandbox's response, whatever became of the code.
pub async fn send(scope: &Scope, route: SandboxRoute, job: &SandboxJob<'_>) -> Result<SandboxOutput, RunFailure> {
    let shared = SharedJob { job, share: scope.workspace().as_str() };
    let asked =
        serde_json::to_string(&shared).map_err(|cause| Error::Internal(format!("a job is not JSON: {cause}")))?;
    let response = ask(scope, route, &asked).await?;
    let status = response.status();
    let text = response
        .text(MAX_RESPONSE_BYTES, scope.memory_turn())
        .await
        .map_err(|it| failed("its answer cannot be read", it))?;
    match status {
        200 if values(text.as_bytes()) > MAX_VALUES => {
            Err(RunFailure::tool(format!("The code returned more than {MAX_VALUES} values")))
        }
        200 => serde_json::from_str(&text).map_err(|cause| unusable("what answers is no sandbox", &cause.to_string())),
        429 => Err(RunFailure::Unreachable(busy(&text).into())),
        status => Err(unusable(&format!("it answered with the status {status}"), excerpt(&text))),
    }
}

/// The message of a call that got no slot, from the body of the sandbox's refusal.
fn busy(refusal: &str) -> &'static str {
    match serde_json::from_str::<Refusal>(refusal) {
        Ok(Refusal { error: RefusalError { details: Some(RefusalDetails { reason }) } }) if reason == "share" => {
            "This workspace's own calls hold its half of the sandbox, and other workspaces wait: call again in a second"
        }
        _ => "The sandbox is busy: call again in a second",
    }
}

/// Sends the request to the workspace's container or, if the deployment has none, to the server at SANDBOX_URL.
async fn ask(scope: &Scope, route: SandboxRoute, asked: &str) -> Result<OutgoingResponse, RunFailure> {
    let app = scope.app();
    let contained = sandbox::send(app, scope.workspace(), route, asked).await;
    if let Some(response) = contained.map_err(|it| failed("its container did not answer", it))? {
        return Ok(response);
    }
    let url = app.settings().sandbox_url.as_ref().ok_or_else(|| RunFailure::Unreachable(NOT_CONFIGURED.into()))?;
    let url = format!("{url}{}", route.path());
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

/// The failure of a call that got no response within the tool's timeout and the extra wait.
pub fn too_late() -> RunFailure {
    RunFailure::Unreachable("The sandbox did not answer in time: call again".into())
}

/// Logs the cause for the operator. The caller sees only `why`.
fn unusable(why: &str, cause: &str) -> RunFailure {
    console_error!("the sandbox cannot be used: {why}: {cause}");
    RunFailure::Unreachable(format!("The sandbox cannot be used: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_tells_whose_calls_are_in_the_way() {
        assert!(busy(r#"{"error": {"details": {"reason": "share"}}}"#).starts_with("This workspace's own calls"));
        for other in [r#"{"error": {"details": {"reason": "busy"}}}"#, r#"{"error": {"details": null}}"#, "", "{}"] {
            assert_eq!(busy(other), "The sandbox is busy: call again in a second");
        }
    }
}
