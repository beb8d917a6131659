//! Tools that are HTTP servers. A call is posted to the server as JSON, and the response is the result of the call. The
//! request has none of the caller's headers, and redirects are not followed.

use super::{MAX_RESPONSE_BYTES, Prepared, Run, RunFailure, RunOutput, RunTask, Runner};
use crate::callers::Scope;
use crate::error::Error;
use crate::json_size::{MAX_VALUES, values};
use crate::outgoing::{OutgoingFailure, OutgoingRequest, Route, excerpt};
use crate::registry::{HeaderValue, Server, StoredHeaders};
use serde_json::{Value, json};
use std::collections::BTreeMap;

struct HttpRunner {
    url: String,
    headers: BTreeMap<String, HeaderValue>,
}

pub fn prepare(url: String, headers: BTreeMap<String, HeaderValue>) -> Prepared {
    Ok(Box::new(HttpRunner { url, headers }))
}

impl Runner for HttpRunner {
    fn run<'a>(&'a self, scope: &'a Scope, task: &'a RunTask<'a>) -> Run<'a> {
        Box::pin(post(scope, task, StoredHeaders { values: &self.headers, url: &self.url }))
    }
}

async fn post(scope: &Scope, task: &RunTask<'_>, headers: StoredHeaders<'_>) -> Result<RunOutput, RunFailure> {
    let server = server(scope, task, headers.url, &[headers])?;
    let body = json!({"tool_name": task.tool.id.as_str(), "arguments": task.arguments, "user_id": task.user_id});
    let body = body.to_string();
    // `runners::run` limits the time of the whole run, so the request needs no timer of its own.
    let request = OutgoingRequest { headers: server.headers.clone(), ..OutgoingRequest::post(&server.url, &body) };
    let (status, text) = answer(scope, task, &server, &request).await?;
    if (200..300).contains(&status) { result(task, text) } else { Err(refused(task, status, &text)) }
}

/// Sends a tool's request, and returns the status and the text of the response, without the secrets of the request.
pub async fn answer(
    scope: &Scope,
    task: &RunTask<'_>,
    server: &Server,
    request: &OutgoingRequest<'_>,
) -> Result<(u16, String), RunFailure> {
    let response = request.send(Route::Network).await.map_err(|it| failed(task, it))?;
    let status = response.status();
    let text = response.text(MAX_RESPONSE_BYTES, scope.memory_turn()).await.map_err(|it| failed(task, it))?;
    Ok((status, server.scrub(text)))
}

/// The result that a successful response holds: JSON, or text.
pub fn result(task: &RunTask<'_>, text: String) -> Result<RunOutput, RunFailure> {
    check_size(task, &text)?;
    Ok(RunOutput::plain(serde_json::from_str(&text).unwrap_or(Value::String(text))))
}

/// The failure of a call that the server answered with another status than success.
pub fn refused(task: &RunTask<'_>, status: u16, text: &str) -> RunFailure {
    RunFailure::tool(format!("{} answered with the status {status}: {}", task.tool.id, excerpt(text)))
}

/// The server of a tool, if it can be called. No message contains the URL, because only admins see the handler.
pub fn server(
    scope: &Scope,
    task: &RunTask<'_>,
    url: &str,
    headers: &[StoredHeaders<'_>],
) -> Result<Server, RunFailure> {
    let unusable = |cause: String| RunFailure::Unreachable(format!("{} cannot be called: {cause}", task.tool.id));
    // A replaced version can still be called by its number. A credential of such a version may have been deleted.
    if let Some(missing) = task.tool.missing_credentials.first() {
        return Err(unusable(format!("this workspace does not define the credential {missing} any more")));
    }
    Server::of(scope, url, headers).map_err(unusable)
}

/// Refuses a response that would take too much memory as JSON.
pub fn check_size(task: &RunTask<'_>, text: &str) -> Result<(), RunFailure> {
    if values(text.as_bytes()) > MAX_VALUES {
        return Err(RunFailure::tool(format!("{} answered more than {MAX_VALUES} values", task.tool.id)));
    }
    Ok(())
}

/// The failure of a request that got no response.
fn failed(task: &RunTask<'_>, failure: OutgoingFailure) -> RunFailure {
    let tool = &task.tool.id;
    match failure {
        OutgoingFailure::Unusable(cause) => {
            RunFailure::Broken(Error::Internal(format!("a tool's request could not be made: {cause}")))
        }
        OutgoingFailure::Unreachable(_) => {
            RunFailure::Unreachable(format!("{tool} could not be reached: no server answers at its URL"))
        }
        OutgoingFailure::TimedOut => RunFailure::timeout(task.tool),
        OutgoingFailure::BrokenOff(cause) => RunFailure::Unreachable(format!("{tool} broke off its answer: {cause}")),
        OutgoingFailure::TooLarge => RunFailure::tool(format!("{tool} answered more than {MAX_RESPONSE_BYTES} bytes")),
        OutgoingFailure::NotText => RunFailure::tool(format!("{tool} answered something that is not text")),
    }
}
