//! Tools that are HTTP servers. A call is posted to the server as JSON, and the response is the result of the call. The
//! request has none of the caller's headers, and redirects are not followed.

use super::{MAX_RESPONSE_BYTES, Prepared, Run, RunFailure, RunOutput, RunTask, Runner};
use crate::callers::Scope;
use crate::error::Error;
use crate::json_size::{MAX_VALUES, values};
use crate::outgoing::{
    OutgoingFailure, OutgoingRequest, Route, check_url, credentials_in, excerpt, fill_in, is_sensitive,
    may_carry_credentials,
};
use crate::registry::{self, HeaderValue};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

struct HttpRunner {
    url: String,
    headers: BTreeMap<String, HeaderValue>,
}

pub fn prepare(url: String, headers: BTreeMap<String, HeaderValue>) -> Prepared {
    Ok(Box::new(HttpRunner { url, headers }))
}

impl Runner for HttpRunner {
    fn run<'a>(&'a self, scope: &'a Scope, task: &'a RunTask<'a>) -> Run<'a> {
        Box::pin(post(scope, task, &self.url, &self.headers))
    }
}

async fn post(
    scope: &Scope,
    task: &RunTask<'_>,
    url: &str,
    headers: &BTreeMap<String, HeaderValue>,
) -> Result<RunOutput, RunFailure> {
    // Only admins see the handler. So no message contains the URL, or the details of a fault of the server.
    let unusable = |cause: &str| RunFailure::Unreachable(format!("{} cannot be called: {cause}", task.tool.id));
    // A replaced version can still be called by its number. A credential of such a version may have been deleted.
    if let Some(missing) = task.tool.missing_credentials.first() {
        return Err(unusable(&format!("this workspace does not define the credential {missing} any more")));
    }
    let settings = scope.app().settings();
    let open =
        |(name, value): (&String, &HeaderValue)| Some((name.clone(), value.open(settings.sealer.as_ref(), name, url)?));
    let headers = headers.iter().map(open).collect::<Option<BTreeMap<_, _>>>().ok_or_else(|| {
        unusable("a header was sealed with another SECRET_KEY; register a new version with the header's value")
    })?;
    let url = check_url(url, scope.app().url_rules()).map_err(|fault| unusable(&format!("its URL {fault}")))?;
    let asks = headers.values().any(|it| credentials_in(it).next().is_some());
    if asks && !may_carry_credentials(&url, settings.open) {
        return Err(unusable("its credentials are sent over https only"));
    }
    let host = url.host();
    let mut lent = headers.iter().filter(|(name, _)| is_sensitive(name)).map(|(_, it)| it.clone()).collect::<Vec<_>>();
    let headers = fill_in(&headers, |name| {
        let value = scope.app().credential(scope.workspace(), name, &host);
        lent.extend(value.clone());
        value
    })
    .map_err(|missing| {
        // The same words for a secret that does not exist and for one that is not lent, so that no caller learns which
        // secrets there are.
        unusable(&format!(
            "the credential {missing} has no value here; wrangler secret put sets one, and CREDENTIAL_WORKSPACES lends \
             it to a workspace and a host"
        ))
    })?;
    let body = json!({"tool_name": task.tool.id.as_str(), "arguments": task.arguments, "user_id": task.user_id});
    let (url, body) = (url.href(), body.to_string());
    let time = Some(Duration::from_secs(task.tool.timeout_seconds.into()));
    let request = OutgoingRequest { headers, time, ..OutgoingRequest::post(&url, &body) };
    let response = request.send(Route::Network).await.map_err(|it| failed(task, it))?;
    let status = response.status();
    let text = response.text(MAX_RESPONSE_BYTES, scope.memory_turn()).await.map_err(|it| failed(task, it))?;
    // A server may repeat the headers of the request. The caller must not see the credentials in them.
    let text = registry::scrub(&lent, text);
    if !(200..300).contains(&status) {
        let told = excerpt(&text);
        return Err(RunFailure::tool(format!("{} answered with the status {status}: {told}", task.tool.id)));
    }
    if values(text.as_bytes()) > MAX_VALUES {
        return Err(RunFailure::tool(format!("{} answered more than {MAX_VALUES} values", task.tool.id)));
    }
    Ok(RunOutput::plain(serde_json::from_str(&text).unwrap_or(Value::String(text))))
}

fn failed(task: &RunTask<'_>, failure: OutgoingFailure) -> RunFailure {
    let tool = &task.tool.id;
    match failure {
        OutgoingFailure::Unusable(cause) => {
            RunFailure::Broken(Error::Internal(format!("a tool's request could not be made: {cause}")))
        }
        OutgoingFailure::Unreachable(_) => RunFailure::Unreachable(format!("{tool} could not be reached")),
        OutgoingFailure::TimedOut => RunFailure::timeout(task.tool),
        OutgoingFailure::BrokenOff(cause) => RunFailure::Unreachable(format!("{tool} broke off its answer: {cause}")),
        OutgoingFailure::TooLarge => RunFailure::tool(format!("{tool} answered more than {MAX_RESPONSE_BYTES} bytes")),
        OutgoingFailure::NotText => RunFailure::tool(format!("{tool} answered something that is not text")),
    }
}
