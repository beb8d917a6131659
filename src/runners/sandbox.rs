//! Sends Python to the sandbox: to the sandbox's container if the deployment has one, else to the server at
//! SANDBOX_URL. docs/sandbox.md describes the protocol.

use super::{MAX_RESPONSE_BYTES, RunFailure};
use crate::callers::Scope;
use crate::durable::sandbox::{BROKEN_OFF, SandboxConversation, SandboxRoute};
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
#[derive(Default, Serialize)]
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
    /// Whether a look is at code that works on files.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub files: bool,
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
    #[serde(default)]
    message: String,
    details: Option<RefusalDetails>,
}

#[derive(Default, Deserialize)]
struct RefusalDetails {
    #[serde(default)]
    reason: String,
    /// The SHA-256 of the contents that a run needs and the sandbox does not have.
    #[serde(default)]
    missing: Vec<String>,
}

#[derive(Default, Serialize)]
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

impl SandboxOutput {
    /// Whether the sandbox ended before the code did.
    pub fn was_cut_short(&self) -> bool {
        self.error_kind.as_deref() == Some("killed") && self.exit.is_none()
    }
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
    let (status, text) = SandboxTalk::new(scope)
        .ask(route, &asked, None, MAX_RESPONSE_BYTES)
        .await
        .map_err(|(place, failure)| failed(place, failure))?;
    match status {
        200 if values(text.as_bytes()) > MAX_VALUES => {
            Err(RunFailure::tool(format!("The code returned more than {MAX_VALUES} values")))
        }
        200 => serde_json::from_str(&text).map_err(|cause| unusable("what answers is no sandbox", &cause.to_string())),
        429 => Err(RunFailure::Unreachable(busy(&text).into())),
        status => Err(unusable(&format!("it answered with the status {status}"), excerpt(&text))),
    }
}

/// Why a run on files has no output.
#[derive(Debug, PartialEq)]
pub enum NoOutput {
    /// The sandbox lacks these contents. Nothing was run, and the run can be asked for again.
    Missing(Vec<String>),
    /// Nothing was run. The message is for the caller.
    Busy(&'static str),
    /// Nothing was run, because the files or the arguments break a limit of the sandbox. The message is for the caller.
    OverLimit(String),
    /// Nothing was run, and the operator should know why.
    Refused(String),
    /// The container broke off.
    MayHaveBegun,
}

impl NoOutput {
    /// Reads the status and the body of an answer that is no output.
    pub fn of(status: u16, text: &str) -> Self {
        let refusal = serde_json::from_str::<Refusal>(text).ok().map(|it| it.error);
        match (status, refusal) {
            (409, Some(RefusalError { details: Some(details), .. })) if !details.missing.is_empty() => {
                Self::Missing(details.missing)
            }
            (400 | 413, Some(RefusalError { message, .. })) if !message.is_empty() => Self::OverLimit(message),
            (429, _) => Self::Busy(busy(text)),
            (503, Some(RefusalError { message, details: Some(details) })) if details.reason == "unavailable" => {
                Self::Refused(format!("Python cannot work on files there: {message}"))
            }
            (BROKEN_OFF, _) => Self::MayHaveBegun,
            _ => Self::Refused(format!("it answered with the status {status}")),
        }
    }
}

/// The failure of a run on files that got no answer, or none that can be read. The run may have acted, and so nobody sends
/// it again.
pub fn may_have_begun(why: &str) -> RunFailure {
    RunFailure::Unreachable(format!("The sandbox gave no answer ({why}): the run may have begun and is not repeated"))
}

/// The message of a call that got no slot, from the body of the sandbox's refusal.
fn busy(refusal: &str) -> &'static str {
    match serde_json::from_str::<Refusal>(refusal) {
        Ok(Refusal { error: RefusalError { details: Some(details), .. } }) if details.reason == "share" => {
            "This workspace's own calls hold its half of the sandbox, and other workspaces wait: call again in a second"
        }
        _ => "The sandbox is busy: call again in a second",
    }
}

/// The requests of one call to the sandbox: to the workspace's container or, if the deployment has none, to the server at
/// SANDBOX_URL.
pub struct SandboxTalk<'a> {
    scope: &'a Scope,
    containers: SandboxConversation,
}

/// A failed request, with where it failed.
type TalkFailure = (&'static str, OutgoingFailure);

const NO_URL: &str = "SANDBOX_URL is not set";

impl<'a> SandboxTalk<'a> {
    pub fn new(scope: &'a Scope) -> Self {
        Self { scope, containers: SandboxConversation::new(scope.app(), scope.workspace()) }
    }

    /// Sends a request, and returns the status and the text of the answer.
    pub async fn ask(
        &mut self,
        route: SandboxRoute,
        asked: &str,
        time: Option<Duration>,
        max_bytes: usize,
    ) -> Result<(u16, String), TalkFailure> {
        let response = self.send(route, asked, time).await?;
        let status = response.status();
        let text = response.text(max_bytes, self.scope.memory_turn()).await;
        text.map(|it| (status, it)).map_err(|it| ("its answer cannot be read", it))
    }

    async fn send(
        &mut self,
        route: SandboxRoute,
        asked: &str,
        time: Option<Duration>,
    ) -> Result<OutgoingResponse, TalkFailure> {
        let app = self.scope.app();
        let contained = self.containers.send(app, route, asked, time).await;
        if let Some(response) = contained.map_err(|it| ("its container did not answer", it))? {
            return Ok(response);
        }
        let url = app.settings().sandbox_url.as_ref().ok_or((NO_URL, OutgoingFailure::Unusable(NO_URL.into())))?;
        let url = format!("{url}{}", route.path());
        let request = OutgoingRequest { redirects: Redirects::Follow, time, ..OutgoingRequest::post(&url, asked) };
        request.send(Route::Network).await.map_err(|it| ("nothing answers at SANDBOX_URL", it))
    }
}

/// The failure of a request that changes nothing, or that can be repeated.
pub fn failed(unreachable: &str, failure: OutgoingFailure) -> RunFailure {
    match failure {
        OutgoingFailure::Unusable(_) if unreachable == NO_URL => RunFailure::Unreachable(NOT_CONFIGURED.into()),
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

/// The failure of a request for a run on files.
pub fn failed_run(place: &'static str, failure: OutgoingFailure) -> RunFailure {
    match failure {
        // The request was never sent.
        OutgoingFailure::Unusable(_) => failed(place, failure),
        OutgoingFailure::TimedOut => may_have_begun("its time is up"),
        OutgoingFailure::Unreachable(cause) | OutgoingFailure::BrokenOff(cause) => {
            console_error!("the sandbox broke off a run on files: {place}: {cause}");
            may_have_begun(place)
        }
        OutgoingFailure::TooLarge => may_have_begun("its answer is too large"),
        OutgoingFailure::NotText => may_have_begun("its answer is not text"),
    }
}

/// Logs the cause for the operator. The caller sees only `why`.
pub fn unusable(why: &str, cause: &str) -> RunFailure {
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

    #[test]
    fn a_run_without_an_output_tells_why() {
        let missing = r#"{"error": {"code": "CONTENTS_MISSING", "message": "m", "details": {"missing": ["a", "b"]}}}"#;
        assert_eq!(NoOutput::of(409, missing), NoOutput::Missing(vec!["a".into(), "b".into()]));
        let status = |status| NoOutput::Refused(format!("it answered with the status {status}"));
        assert_eq!((NoOutput::of(409, "{}"), NoOutput::of(503, "x")), (status(409), status(503)));
        let limit = r#"{"error": {"code": "VALIDATION_ERROR", "message": "files: too many", "details": null}}"#;
        assert_eq!(NoOutput::of(400, limit), NoOutput::OverLimit("files: too many".into()));
        assert_eq!(NoOutput::of(429, "{}"), NoOutput::Busy("The sandbox is busy: call again in a second"));
        let none = r#"{"error": {"message": "there is no landlock", "details": {"reason": "unavailable"}}}"#;
        let cannot = "Python cannot work on files there: there is no landlock";
        assert_eq!(NoOutput::of(503, none), NoOutput::Refused(cannot.into()));
        assert_eq!(NoOutput::of(502, "The sandbox container broke off"), NoOutput::MayHaveBegun);
    }
}
