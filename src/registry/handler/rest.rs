//! Requests to a REST API: the place of each argument in the request.

use super::url_template::UrlTemplate;
use super::{Headers, problem};
use crate::error::{Place, Problem, escaped};
use crate::outgoing::fault_of_header;
use crate::text_enum::text_enum;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How many names a list of a handler may hold, and how long each may be.
const MAX_NAMES: usize = 200;
const MAX_NAME_BYTES: usize = 256;

/// The argument that is the request's body.
pub const BODY: &str = "body";

text_enum! {
    /// The methods of requests.
    RestMethod {
        Get = "GET",
        Head = "HEAD",
        Post = "POST",
        Put = "PUT",
        Patch = "PATCH",
        Delete = "DELETE",
    }
}

text_enum! {
    /// How the argument `body` is sent.
    RestBody {
        /// There is no such argument.
        None = "none",
        Json = "json",
        /// `application/x-www-form-urlencoded`.
        Form = "form",
    }
}

impl RestBody {
    /// The body of a handler that names none.
    const fn none() -> Self {
        Self::None
    }
}

text_enum! {
    /// How a list or an object is written into the query, if not as the parameter repeated for each element of a list, and
    /// as JSON for an object.
    QueryStyle {
        /// The elements of a list with commas between them.
        Comma = "comma",
        Space = "space",
        Pipe = "pipe",
        /// `a[b]=1` for an object, `a[]=1` for a list.
        Deep = "deep",
        /// Each field of an object as a parameter of its own.
        Fields = "fields",
        Json = "json",
    }
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct RestHandler {
    pub method: RestMethod,
    /// The URL, with parameters in its path.
    pub url: String,
    /// The arguments that go into the query.
    #[serde(default)]
    pub query: Vec<String>,
    /// The headers that are the same for every call.
    #[serde(default)]
    pub headers: Headers,
    /// The arguments that are headers.
    #[serde(default)]
    pub header_params: Vec<String>,
    #[serde(default = "RestBody::none")]
    pub body: RestBody,
    /// The media type of a JSON body, if it is not `application/json`, such as `application/merge-patch+json`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// The arguments of the query that are written in a style of their own.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub styles: BTreeMap<String, QueryStyle>,
}

impl RestHandler {
    /// A GET without arguments.
    pub fn get(url: &str) -> Self {
        Self {
            method: RestMethod::Get,
            url: url.to_owned(),
            query: Vec::new(),
            headers: BTreeMap::new(),
            header_params: Vec::new(),
            body: RestBody::None,
            content_type: None,
            styles: BTreeMap::new(),
        }
    }

    /// Returns everything that is wrong with the places of the arguments. The URL and the headers are checked elsewhere.
    pub fn check(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (field, names) in [("query", &self.query), ("header_params", &self.header_params)] {
            if names.len() > MAX_NAMES {
                let message = format!("holds {} names; {MAX_NAMES} are allowed", names.len());
                problems.push(problem(&format!("/{field}"), message));
            }
            for (index, _) in names.iter().enumerate().filter(|(_, it)| !(1..=MAX_NAME_BYTES).contains(&it.len())) {
                let message = format!("must have 1 to {MAX_NAME_BYTES} bytes");
                problems.push(problem(&format!("/{field}/{index}"), message));
            }
        }
        for (index, name) in self.header_params.iter().enumerate() {
            let is_fixed = || self.headers.keys().any(|it| it.eq_ignore_ascii_case(name));
            let fault = fault_of_header(name, "").or_else(|| is_fixed().then_some("is one of `headers` already"));
            problems.extend(fault.map(|it| problem(&format!("/header_params/{index}"), it)));
        }
        if self.body != RestBody::None && matches!(self.method, RestMethod::Get | RestMethod::Head) {
            problems.push(problem("/body", format!("must be none: a {} request has no body", self.method)));
        }
        if self.content_type.as_deref().is_some_and(|it| self.body != RestBody::Json || !is_json_type(it)) {
            let message = "must be a media type that ends with json, for the body json";
            problems.push(problem("/content_type", message));
        }
        for name in self.styles.keys().filter(|it| !self.query.contains(it)) {
            let shown = name.chars().take(64).collect::<String>();
            problems.push(problem("/styles", format!("names {shown}, which `query` does not list")));
        }
        problems
    }

    /// The arguments that have a place in the request, and the field of the handler that says so.
    fn places(&self) -> Vec<(String, String)> {
        let template = UrlTemplate::parse(&self.url).ok();
        // A parameter may come twice in one path: both times it is the same argument.
        let mut in_path = template.iter().flat_map(UrlTemplate::parameters).collect::<Vec<_>>();
        in_path.sort_unstable();
        in_path.dedup();
        let listed = |field: &'static str, names: &[String]| {
            names
                .iter()
                .enumerate()
                .map(move |(index, it)| (it.clone(), format!("/{field}/{index}")))
                .collect::<Vec<_>>()
        };
        let mut places = in_path.into_iter().map(|it| (it.to_owned(), "/url".to_owned())).collect::<Vec<_>>();
        places.extend(listed("query", &self.query));
        places.extend(listed("header_params", &self.header_params));
        if self.body != RestBody::None {
            places.push((BODY.to_owned(), "/body".to_owned()));
        }
        places
    }

    /// Whether the argument has a place in the request.
    pub fn places_argument(&self, name: &str) -> bool {
        self.query.iter().chain(&self.header_params).any(|it| it == name)
            || (name == BODY && self.body != RestBody::None)
            || UrlTemplate::parse(&self.url).is_ok_and(|it| it.parameters().any(|it| it == name))
    }

    /// Returns a problem for each place without a parameter of the tool, for each parameter that has two places, and for
    /// each parameter without a place.
    pub fn check_parameters(&self, names: &[&str]) -> Vec<Problem> {
        let mut problems = Vec::new();
        if UrlTemplate::parse(&self.url).is_err() {
            // Which parameters the URL has is unknown, and its fault is told by `Handler::check`.
            return problems;
        }
        let places = self.places();
        for (index, (name, place)) in places.iter().enumerate() {
            let shown = name.chars().take(64).collect::<String>();
            if !names.contains(&name.as_str()) {
                let message = format!("places {shown}, which is no property at the top of parameters_schema");
                problems.push(problem(place, message));
            }
            if let Some((_, other)) = places[..index].iter().find(|(it, _)| it == name) {
                problems.push(problem(place, format!("places {shown} again: /handler{other} does already")));
            }
        }
        let unplaced = names.iter().filter(|name| !places.iter().any(|(it, _)| it == *name));
        problems.extend(unplaced.map(|name| {
            let shown = name.chars().take(64).collect::<String>();
            let path = format!("/parameters_schema/properties/{}", escaped(&shown));
            Problem { place: Place::Body, path, message: UNPLACED.to_owned() }
        }));
        problems
    }
}

/// Whether a media type, in lower case and without parameters, is one of JSON.
pub fn is_json_type(media_type: &str) -> bool {
    let is_plain = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || b"/+.-_".contains(&it);
    media_type.len() <= MAX_NAME_BYTES
        && media_type.bytes().all(is_plain)
        && (media_type == "application/json" || media_type.ends_with("+json"))
        && media_type.split('/').count() == 2
        && !media_type.starts_with('/')
}

const UNPLACED: &str = "has no place in the request: write {its name} into the path of the handler's url, or add its name to \
    query or header_params (the parameter `body` needs body: json or form)";

#[cfg(test)]
mod tests {
    use super::*;

    fn handler() -> RestHandler {
        RestHandler {
            method: RestMethod::Post,
            query: vec!["q".into()],
            header_params: vec!["X-Trace".into()],
            body: RestBody::Json,
            ..RestHandler::get("https://a.example/{id}")
        }
    }

    #[track_caller]
    fn check(problems: &[Problem], expected: &[&str]) {
        assert_eq!(problems.iter().map(|it| it.path.as_str()).collect::<Vec<_>>(), expected, "{problems:?}");
    }

    #[test]
    fn each_parameter_has_one_place() {
        check(&handler().check_parameters(&["id", "q", "X-Trace", "body"]), &[]);
        check(&handler().check_parameters(&["id", "q", "body"]), &["/handler/header_params/0"]);
        check(&handler().check_parameters(&["q", "X-Trace"]), &["/handler/url", "/handler/body"]);
        check(
            &handler().check_parameters(&["id", "q", "X-Trace", "body", "a/b"]),
            &["/parameters_schema/properties/a~1b"],
        );
        let twice = RestHandler { query: vec!["q".into(), "id".into(), "q".into()], ..handler() };
        check(&twice.check_parameters(&["id", "q", "X-Trace", "body"]), &["/handler/query/1", "/handler/query/2"]);
        let in_path = RestHandler::get("https://a.example/{id}/x/{id}");
        check(&in_path.check_parameters(&["id"]), &[]);
    }

    #[test]
    fn every_argument_knows_whether_it_is_sent() {
        for name in ["id", "q", "X-Trace", "body"] {
            assert!(handler().places_argument(name), "{name}");
        }
        assert!(!handler().places_argument("other"));
        assert!(!RestHandler { body: RestBody::None, ..handler() }.places_argument("body"));
    }

    #[test]
    fn places_that_cannot_be_sent_are_refused() {
        check(&handler().check(), &[]);
        let headers = vec!["Host".into(), "a b".into(), "x-key".into(), "X-Fine".into()];
        let fixed = super::super::headers(&[("X-Key", "1")]);
        check(
            &RestHandler { header_params: headers, headers: fixed, ..handler() }.check(),
            &["/handler/header_params/0", "/handler/header_params/1", "/handler/header_params/2"],
        );
        check(&RestHandler { method: RestMethod::Get, ..handler() }.check(), &["/handler/body"]);
        check(&RestHandler { query: vec![String::new()], ..handler() }.check(), &["/handler/query/0"]);
        check(&RestHandler { query: vec!["x".into(); 201], ..handler() }.check(), &["/handler/query"]);
        let typed = |content_type: &str, body: RestBody| {
            RestHandler { content_type: Some(content_type.into()), body, ..handler() }.check()
        };
        check(&typed("application/merge-patch+json", RestBody::Json), &[]);
        check(&typed("application/merge-patch+json", RestBody::Form), &["/handler/content_type"]);
        for wrong in
            ["", "json", "text/html", "a/b/c+json", "/x+json", "a/b+json\r\nX: 1", "application/json; charset=x"]
        {
            check(&typed(wrong, RestBody::Json), &["/handler/content_type"]);
        }
        let styles = BTreeMap::from([("other".to_owned(), QueryStyle::Comma)]);
        check(&RestHandler { styles, ..handler() }.check(), &["/handler/styles"]);
    }
}
