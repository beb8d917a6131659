//! Refuses query parameters that a route does not take, on every route and for every method. A misspelt filter would
//! filter nothing, and a misspelt `dry_run` would write.
//!
//! The parameters come from `openapi.json` (build.rs), so a described parameter is a known one.

use super::cors;
use crate::error::{Error, Place, Problem, Result, shortened};
use crate::nearest::{did_you_mean, nearest};
use axum::extract::Request;
use axum::http::Uri;
use axum::middleware::map_request;
use axum::routing::MethodRouter;
use utoipa::openapi::HttpMethod;
use worker::url::form_urlencoded;

/// How many unknown parameters one response names.
const MAX_PROBLEMS: usize = 20;

type Names = &'static [&'static str];

/// The parameters of each operation, by its method and path.
static PARAMETERS: &[(&str, &str, Names)] = &include!(concat!(env!("OUT_DIR"), "/query_parameters.rs"));

/// The endpoint, for requests whose parameters are all described. The endpoints of MCP ask [`check_query`] themselves,
/// because their refusals are messages of JSON-RPC.
pub fn guarded(path: &str, methods: &[HttpMethod], endpoint: MethodRouter) -> MethodRouter {
    if cors::is_mcp(path) {
        return endpoint;
    }
    let names = parameters(path, methods);
    endpoint.route_layer(map_request(move |request: Request| check(names, request)))
}

fn parameters(path: &str, methods: &[HttpMethod]) -> Names {
    let is_method = |word: &str| methods.iter().any(|it| word_of(it) == word);
    let found = PARAMETERS.iter().find(|(method, at, _)| *at == path && is_method(method));
    found.map_or(&[], |(_, _, names)| names)
}

fn word_of(method: &HttpMethod) -> &'static str {
    match method {
        HttpMethod::Get => "get",
        HttpMethod::Post => "post",
        HttpMethod::Put => "put",
        HttpMethod::Delete => "delete",
        HttpMethod::Options => "options",
        HttpMethod::Head => "head",
        HttpMethod::Patch => "patch",
        HttpMethod::Trace => "trace",
    }
}

async fn check(names: Names, request: Request) -> Result<Request> {
    check_query(names, request.uri()).map(|()| request)
}

/// Refuses parameters of other names than these.
pub fn check_query(names: &[&str], uri: &Uri) -> Result<()> {
    match problems(names, uri.query().unwrap_or_default()) {
        problems if problems.is_empty() => Ok(()),
        problems => Err(Error::Invalid(problems)),
    }
}

fn problems(names: &[&str], query: &str) -> Vec<Problem> {
    let mut problems: Vec<Problem> = Vec::new();
    for (name, _) in form_urlencoded::parse(query.as_bytes()) {
        let path = shortened(&name);
        if !names.contains(&&*name) && problems.len() < MAX_PROBLEMS && problems.iter().all(|it| it.path != path) {
            problems.push(Problem { place: Place::Query, path, message: message(names, &name) });
        }
    }
    problems
}

fn message(names: &[&str], name: &str) -> String {
    if names.is_empty() {
        return "is unknown: this route takes no query parameters".to_owned();
    }
    let suggestion = did_you_mean(nearest(name, names.iter().copied()));
    format!("is unknown: this route takes {}{suggestion}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unknown_parameter_is_named_once() {
        let told = |query: &str| {
            let problems = problems(&["limit", "cursor"], query).into_iter();
            problems.map(|it| format!("{} {}", it.path, it.message)).collect::<Vec<_>>()
        };
        for good in ["", "limit=1", "cursor=&limit=x", "&&", "limit=1&limit=2"] {
            assert_eq!(told(good), Vec::<String>::new(), "{good}");
        }
        let takes = "is unknown: this route takes limit, cursor";
        let expected = [format!("lmit {takes}. Did you mean limit?"), format!("dry_run {takes}")];
        assert_eq!(told("lmit=1&dry_run=true&lmit=2"), expected);
        assert_eq!(told("%6cimit=1&limit%20=2"), [format!("limit  {takes}. Did you mean limit?")]);
        assert_eq!(problems(&[], "x")[0].message, "is unknown: this route takes no query parameters");
        assert_eq!(problems(&[], &(0..100).map(|it| format!("p{it}&")).collect::<String>()).len(), MAX_PROBLEMS);
    }

    #[test]
    fn the_parameters_are_those_of_the_description() {
        assert_eq!(parameters("/api/agents", &[HttpMethod::Get]), ["limit", "cursor"]);
        assert_eq!(parameters("/api/agents", &[HttpMethod::Post]), [""; 0]);
        assert_eq!(parameters("/nowhere", &[HttpMethod::Get]), [""; 0]);
    }
}
