//! Tools that are servers: a call is posted to them as JSON, and what they answer is its result. No header of the caller's
//! goes with it, no redirect is followed.

use super::{Failed, MAX_RESPONSE_BYTES, Output, Task};
use crate::callers::Scope;
use crate::error::Error;
use crate::json_size::{MAX_VALUES, values};
use crate::outgoing::{OutgoingFailure, OutgoingRequest, Route, check_url, excerpt, fill_in, is_sensitive};
use crate::registry;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

pub async fn run(
    scope: &Scope,
    task: &Task<'_>,
    url: &str,
    headers: &BTreeMap<String, String>,
) -> Result<Output, Failed> {
    // Where a tool is, and what is wrong with that, is for admins, who see its handler.
    let unusable = |cause: &str| Failed::Unreachable(format!("{} cannot be called: {cause}", task.tool.id));
    // One that was replaced can still be called by its number, and what it may use may be gone since.
    if let Some(missing) = task.tool.missing_credentials.first() {
        return Err(unusable(&format!("this workspace does not define the credential {missing} any more")));
    }
    let url =
        check_url(url, scope.app().settings().private_urls).map_err(|fault| unusable(&format!("its URL {fault}")))?;
    let mut lent = headers.iter().filter(|(name, _)| is_sensitive(name)).map(|(_, it)| it.clone()).collect::<Vec<_>>();
    let headers = fill_in(headers, |name| {
        let value = scope.app().credential(scope.workspace(), name);
        lent.extend(value.clone());
        value
    })
    .map_err(|missing| unusable(&format!("the credential {missing} has no value; wrangler secret put sets one")))?;
    let body = json!({"tool_name": task.tool.id.as_str(), "arguments": task.arguments, "user_id": task.user_id});
    let (url, body) = (url.href(), body.to_string());
    let time = Some(Duration::from_secs(task.tool.timeout_seconds.into()));
    let request = OutgoingRequest { headers, time, ..OutgoingRequest::post(&url, &body) };
    let response = request.send(Route::Network).await.map_err(|it| failed(task, it))?;
    let status = response.status();
    let text = response.text(MAX_RESPONSE_BYTES).await.map_err(|it| failed(task, it))?;
    // A server that repeats what it was sent must not show the caller what was lent to the tool alone.
    let text = registry::scrub(&lent, text);
    if !(200..300).contains(&status) {
        let told = excerpt(&text);
        return Err(Failed::tool(format!("{} answered with the status {status}: {told}", task.tool.id)));
    }
    if values(text.as_bytes()) > MAX_VALUES {
        return Err(Failed::tool(format!("{} answered more than {MAX_VALUES} values", task.tool.id)));
    }
    Ok(Output::plain(serde_json::from_str(&text).unwrap_or(Value::String(text))))
}

fn failed(task: &Task<'_>, failure: OutgoingFailure) -> Failed {
    let tool = &task.tool.id;
    match failure {
        OutgoingFailure::Unusable(cause) => {
            Failed::Broken(Error::Internal(format!("a tool's request could not be made: {cause}")))
        }
        OutgoingFailure::Unreachable(_) => Failed::Unreachable(format!("{tool} could not be reached")),
        OutgoingFailure::TimedOut => Failed::timeout(task.tool),
        OutgoingFailure::BrokenOff(cause) => Failed::Unreachable(format!("{tool} broke off its answer: {cause}")),
        OutgoingFailure::TooLarge => Failed::tool(format!("{tool} answered more than {MAX_RESPONSE_BYTES} bytes")),
        OutgoingFailure::NotText => Failed::tool(format!("{tool} answered something that is not text")),
    }
}
