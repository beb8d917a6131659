//! Tools that are servers: a call is posted to them as JSON, and what they answer is its result. No header of the caller's
//! goes with it, no redirect is followed.

use super::{Failed, Output, Task, answer};
use crate::callers::Scope;
use crate::error::Error;
use crate::json_size::{MAX_VALUES, values};
use crate::outgoing;
use crate::registry;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use worker::web_sys::RequestRedirect;
use worker::{Fetch, Headers, Request};

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
    let url = registry::check_url(url, scope.app().settings().private_urls)
        .map_err(|fault| unusable(&format!("its URL {fault}")))?;
    let mut lent = headers.iter().filter(|(name, _)| is_sensitive(name)).map(|(_, it)| it.clone()).collect::<Vec<_>>();
    let headers = fill_in(headers, |name| {
        let value = scope.app().credential(scope.workspace(), name);
        lent.extend(value.clone());
        value
    })
    .map_err(|missing| unusable(&format!("the credential {missing} has no value; wrangler secret put sets one")))?;
    let body = json!({"tool_name": task.tool.id.as_str(), "arguments": task.arguments, "user_id": task.user_id});
    let request = post(&url.href(), &headers, &body).map_err(ours)?;
    let mut response = Fetch::Request(request)
        .send()
        .await
        .map_err(|_| Failed::Unreachable(format!("{} could not be reached", task.tool.id)))?;
    let text = answer::text(&mut response, task.tool.id.as_str()).await?;
    // A server that repeats what it was sent must not show the caller what was lent to the tool alone.
    let text = registry::scrub(&lent, text);
    let status = response.status_code();
    if !(200..300).contains(&status) {
        let told = answer::told(&text);
        return Err(Failed::tool(format!("{} answered with the status {status}: {told}", task.tool.id)));
    }
    if values(text.as_bytes()) > MAX_VALUES {
        return Err(Failed::tool(format!("{} answered more than {MAX_VALUES} values", task.tool.id)));
    }
    Ok(Output::plain(serde_json::from_str(&text).unwrap_or(Value::String(text))))
}

/// Whether a header's value is likely to be a secret, though it was given as it is.
fn is_sensitive(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["auth", "cookie", "key", "password", "secret", "signature", "token"].iter().any(|it| name.contains(it))
}

/// The headers with the values of the credentials that they name, or the name of one that has none.
fn fill_in(
    headers: &BTreeMap<String, String>,
    mut credential: impl FnMut(&str) -> Option<String>,
) -> Result<BTreeMap<String, String>, String> {
    let mut filled = BTreeMap::new();
    for (name, value) in headers {
        let mut whole = String::new();
        for piece in registry::pieces(value) {
            match piece {
                Ok(text) => whole.push_str(text),
                Err(id) => whole.push_str(&credential(id).ok_or_else(|| id.to_owned())?),
            }
        }
        filled.insert(name.clone(), whole);
    }
    Ok(filled)
}

fn post(url: &str, headers: &BTreeMap<String, String>, body: &Value) -> worker::Result<Request> {
    let sent = Headers::new();
    for (name, value) in headers {
        sent.set(name, value)?;
    }
    outgoing::post(url, &sent, RequestRedirect::Manual, &body.to_string())
}

fn ours(cause: worker::Error) -> Failed {
    Failed::Broken(Error::Internal(format!("a tool's request could not be made: {cause}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_get_the_values_of_their_credentials() {
        let credential = |name: &str| (name == "KEY").then(|| "s3cret".to_owned());
        let headers = |value: &str| BTreeMap::from([("X".to_owned(), value.to_owned())]);
        let filled = |value: &str| fill_in(&headers(value), credential).map(|it| it["X"].clone());
        assert_eq!(filled("Bearer ${KEY}!"), Ok("Bearer s3cret!".to_owned()));
        assert_eq!(filled("$KEY {KEY} ${"), Ok("$KEY {KEY} ${".to_owned()));
        assert_eq!(filled("${KEY} ${OTHER}"), Err("OTHER".to_owned()));
    }
}
