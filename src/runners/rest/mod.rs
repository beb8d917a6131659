//! Tools that call a REST API. Each argument becomes a part of the request (`filling`, `pairs`), and the response is the
//! result of the call. The request has none of the caller's headers, and redirects are not followed.

mod filling;
mod pairs;

use super::http::{answer, refused, result, server};
use super::{Prepared, Run, RunFailure, RunOutput, RunTask, Runner};
use crate::callers::Scope;
use crate::outgoing::{OutgoingRequest, RequestBody, is_trusted};
use crate::registry::{RestHandler, RestMethod, Source, StoredHeaders};
use filling::{FilledBody, FilledRequest, fill};
use serde_json::Value;
use std::collections::BTreeMap;
use worker::Method;

/// Headers that many APIs ask for, unless the tool has its own.
const DEFAULT_HEADERS: [(&str, &str); 2] = [("Accept", "application/json, */*;q=0.5"), ("User-Agent", "pegboard")];

struct RestRunner {
    handler: RestHandler,
    request: FilledRequest,
}

/// Refuses arguments that cannot be sent where the handler places them.
pub fn prepare(handler: RestHandler, arguments: &Value) -> Prepared {
    let request = fill(&handler, arguments)?;
    Ok(Box::new(RestRunner { handler, request }))
}

impl Runner for RestRunner {
    fn run<'a>(&'a self, scope: &'a Scope, task: &'a RunTask<'a>) -> Run<'a> {
        Box::pin(self.send(scope, task))
    }
}

impl RestRunner {
    async fn send(&self, scope: &Scope, task: &RunTask<'_>) -> Result<RunOutput, RunFailure> {
        let FilledRequest { url, body, .. } = &self.request;
        let server = server(scope, task, url, &self.stored_headers(task)?)?;
        let request = OutgoingRequest {
            method: method(self.handler.method),
            headers: self.headers(&server.headers),
            body: match (body, &self.handler.content_type) {
                (FilledBody::Empty, _) => RequestBody::Empty,
                (FilledBody::Json(text), None) => RequestBody::Json(text),
                (FilledBody::Json(text), Some(media_type)) => RequestBody::JsonAs(media_type, text),
                (FilledBody::Form(text), _) => RequestBody::Form(text),
            },
            ..OutgoingRequest::get(&server.url)
        };
        let (status, text) = answer(scope, task, &server, &request).await?;
        match status {
            // A response without a body, as to HEAD or with the status 204, says only that the call succeeded.
            200..300 if text.is_empty() => Ok(RunOutput::plain(Value::Null)),
            200..300 => result(task, text),
            300..400 => {
                let message = format!("{} answered with the status {status}: redirects are not followed", task.tool.id);
                Err(RunFailure::tool(message))
            }
            _ => Err(refused(task, status, &text)),
        }
    }

    /// The headers of the tool's module, if it has one and they may be sent to this URL, and the handler's own.
    fn stored_headers<'a>(&'a self, task: &'a RunTask<'_>) -> Result<Vec<StoredHeaders<'a>>, RunFailure> {
        let own = StoredHeaders { values: &self.handler.headers, url: &self.handler.url };
        match &task.tool.upstream {
            Some(module) if is_trusted(&self.request.url, module.url.as_deref().unwrap_or_default(), &module.hosts) => {
                let url = module.url.as_deref().unwrap_or_default();
                Ok(vec![StoredHeaders { values: &module.headers, url }, own])
            }
            Some(_) => Ok(vec![own]),
            // A tool without its module is not active, so a call gets here only if the module was deleted this moment.
            None if task.tool.source == Source::Module => {
                let message = format!("{} cannot be called: its module is not registered any more", task.tool.id);
                Err(RunFailure::Unreachable(message))
            }
            None => Ok(vec![own]),
        }
    }

    /// All headers of the request. An argument never replaces a header of the tool or its module, which may be a
    /// credential.
    fn headers(&self, fixed: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let mut headers = fixed.clone();
        let arguments = self.request.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        for (name, value) in arguments.chain(DEFAULT_HEADERS) {
            if !headers.keys().any(|it| it.eq_ignore_ascii_case(name)) {
                headers.insert(name.to_owned(), value.to_owned());
            }
        }
        headers
    }
}

fn method(method: RestMethod) -> Method {
    match method {
        RestMethod::Get => Method::Get,
        RestMethod::Head => Method::Head,
        RestMethod::Post => Method::Post,
        RestMethod::Put => Method::Put,
        RestMethod::Patch => Method::Patch,
        RestMethod::Delete => Method::Delete,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_argument_replaces_no_fixed_header() {
        let handler = RestHandler {
            header_params: vec!["authorization".into(), "Accept".into()],
            ..RestHandler::get("https://a/")
        };
        let request = fill(&handler, &json!({"authorization": "mine", "Accept": "text/csv"})).unwrap();
        let fixed = BTreeMap::from([("Authorization".to_owned(), "Bearer s3cret".to_owned())]);
        let headers = RestRunner { handler, request }.headers(&fixed);
        let sent = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect::<Vec<_>>();
        let expected = [("Accept", "text/csv"), ("Authorization", "Bearer s3cret"), ("User-Agent", "pegboard")];
        assert_eq!(sent, expected);
    }
}
