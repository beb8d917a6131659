//! Fills the arguments of a call into the parts of a request.

use super::pairs::{form, query};
use crate::error::escaped;
use crate::hex::percent_encoded;
use crate::outgoing::fault_of_header;
use crate::registry::schema::Violation;
use crate::registry::{RestBody, RestHandler, UrlTemplate};
use serde_json::{Map, Value};

/// Many servers refuse longer URLs.
const MAX_URL_BYTES: usize = 16 * 1024;

#[derive(Debug, PartialEq)]
pub struct FilledRequest {
    pub url: String,
    /// The headers that come from arguments.
    pub headers: Vec<(String, String)>,
    pub body: FilledBody,
}

#[derive(Debug, PartialEq)]
pub enum FilledBody {
    Empty,
    Json(String),
    Form(String),
}

/// The request with these arguments, or every argument that cannot be sent.
pub fn fill(handler: &RestHandler, arguments: &Value) -> Result<FilledRequest, Vec<Violation>> {
    let nothing = Map::new();
    let arguments = arguments.as_object().unwrap_or(&nothing);
    let mut filling = Filling { handler, arguments, violations: Vec::new() };
    filling.refuse_unplaced();
    let request = FilledRequest { url: filling.url(), headers: filling.headers(), body: filling.body() };
    if filling.violations.is_empty() { Ok(request) } else { Err(filling.violations) }
}

struct Filling<'a> {
    handler: &'a RestHandler,
    arguments: &'a Map<String, Value>,
    violations: Vec<Violation>,
}

impl Filling<'_> {
    fn refuse(&mut self, argument: &str, message: impl Into<String>) {
        let path = if argument.is_empty() { String::new() } else { format!("/{}", escaped(argument)) };
        self.violations.push(Violation { path, message: message.into() });
    }

    /// A schema may allow more than its properties. An argument that would be lost is refused.
    fn refuse_unplaced(&mut self) {
        for name in self.arguments.keys().filter(|it| !self.handler.places_argument(it)) {
            let path = format!("/{}", escaped(name));
            self.violations.push(Violation { path, message: "has no place in the request of this tool".to_owned() });
        }
    }

    /// The argument, unless it is missing or null.
    fn given(&self, name: &str) -> Option<&Value> {
        self.arguments.get(name).filter(|it| !it.is_null())
    }

    fn url(&mut self) -> String {
        let Ok(template) = UrlTemplate::parse(&self.handler.url) else {
            self.refuse("", "cannot be sent: the tool's URL cannot be read");
            return String::new();
        };
        for (index, name) in template.parameters().enumerate() {
            // A parameter may come twice in one path.
            if !template.parameters().take(index).any(|it| it == name)
                && let Err(fault) = path_value(self.given(name))
            {
                self.refuse(name, fault);
            }
        }
        let mut url = template.filled(|name| path_value(self.given(name)).unwrap_or_default());
        // Two values can make a step upwards together: {a}{b}.
        if self.violations.is_empty() && dot_segments(&url) > dot_segments(&template.filled(|_| "x".to_owned())) {
            self.refuse("", "would make a . or .. of the URL's path, which leads to another path");
        }
        let styled = |name: &String| self.handler.styles.get(name).copied();
        let given = self.handler.query.iter().filter_map(|name| Some((name, self.given(name)?)));
        let query = query(given.map(|(name, value)| (name.as_str(), value, styled(name))));
        if !query.is_empty() {
            url.push(if url.contains('?') { '&' } else { '?' });
            url.push_str(&query);
        }
        if url.len() > MAX_URL_BYTES {
            self.refuse("", format!("would make a URL of more than {MAX_URL_BYTES} bytes"));
        }
        url
    }

    fn headers(&mut self) -> Vec<(String, String)> {
        let mut headers = Vec::new();
        for name in &self.handler.header_params {
            let Some(given) = self.given(name) else { continue };
            match plain_text(given, |it| it.to_owned()) {
                Some(value) => match fault_of_header(name, &value) {
                    Some(fault) => self.refuse(name, fault),
                    None => headers.push((name.clone(), value)),
                },
                None => self.refuse(name, "must be a text, a number, a boolean or a list of them: it is a header"),
            }
        }
        headers
    }

    fn body(&mut self) -> FilledBody {
        let Some(given) = self.given("body") else { return FilledBody::Empty };
        match (self.handler.body, given) {
            (RestBody::None, _) => FilledBody::Empty,
            (RestBody::Json, value) => FilledBody::Json(value.to_string()),
            (RestBody::Form, Value::Object(fields)) => FilledBody::Form(form(fields)),
            (RestBody::Form, _) => {
                self.refuse("body", "must be an object: its fields are the fields of the form");
                FilledBody::Empty
            }
        }
    }
}

/// A value as a part of the path, in which every character with a meaning for URLs is encoded.
fn path_value(value: Option<&Value>) -> Result<String, &'static str> {
    let Some(value) = value else { return Err("must be given: it is a part of the URL's path") };
    let text = plain_text(value, percent_encoded)
        .ok_or("must be a text, a number, a boolean or a list of them: it is a part of the URL's path")?;
    match text.as_str() {
        "" => Err("must not be empty: it is a part of the URL's path"),
        "." | ".." => Err("must not be . or ..: in a URL's path, it would lead to another path"),
        _ => Ok(text),
    }
}

/// A scalar as text, or a list of scalars with commas between them. None for other values.
fn plain_text(value: &Value, encoded: fn(&str) -> String) -> Option<String> {
    match value {
        Value::String(text) => Some(encoded(text)),
        Value::Number(_) | Value::Bool(_) => Some(encoded(&value.to_string())),
        Value::Array(items) => {
            let scalar = |it: &Value| if it.is_array() { None } else { plain_text(it, encoded) };
            Some(items.iter().map(scalar).collect::<Option<Vec<_>>>()?.join(","))
        }
        Value::Null | Value::Object(_) => None,
    }
}

/// How many steps of the URL's path are `.` or `..`, also in the form that a URL's parser reads as dots.
fn dot_segments(url: &str) -> usize {
    let path = url.split('?').next().unwrap_or_default();
    let is_dots = |it: &str| matches!(it.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | "..");
    path.split(['/', '\\']).filter(|it| is_dots(it)).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::RestMethod;
    use serde_json::json;

    fn handler() -> RestHandler {
        RestHandler {
            method: RestMethod::Post,
            query: vec!["q".into(), "tags".into()],
            header_params: vec!["X-Trace".into()],
            body: RestBody::Json,
            ..RestHandler::get("https://a.example/v1/{id}/x?v=1")
        }
    }

    #[track_caller]
    fn refused(handler: &RestHandler, arguments: Value, expected: &[&str]) {
        let violations = fill(handler, &arguments).unwrap_err();
        assert_eq!(violations.iter().map(|it| it.path.as_str()).collect::<Vec<_>>(), expected, "{violations:?}");
    }

    #[test]
    fn each_argument_goes_to_its_place() {
        let arguments = json!({"id": 7, "q": "a b&c", "tags": ["x", "y"], "X-Trace": true, "body": {"n": [1, null]}});
        let request = fill(&handler(), &arguments).unwrap();
        assert_eq!(request.url, "https://a.example/v1/7/x?v=1&q=a%20b%26c&tags=x&tags=y");
        assert_eq!(request.headers, [("X-Trace".to_owned(), "true".to_owned())]);
        assert_eq!(request.body, FilledBody::Json(r#"{"n":[1,null]}"#.to_owned()));
    }

    #[test]
    fn what_is_missing_or_null_is_not_sent() {
        let request = fill(&handler(), &json!({"id": "a", "q": null, "X-Trace": null, "body": null})).unwrap();
        let url = "https://a.example/v1/a/x?v=1".to_owned();
        assert_eq!(request, FilledRequest { url, headers: Vec::new(), body: FilledBody::Empty });
    }

    #[test]
    fn no_value_leaves_its_place_in_the_path() {
        let url = |id: Value| fill(&handler(), &json!({"id": id})).unwrap().url;
        for (id, expected) in [
            ("../../admin", "..%2F..%2Fadmin"),
            ("..\\x", "..%5Cx"),
            ("a?b#c", "a%3Fb%23c"),
            ("%2e%2e", "%252e%252e"),
            ("ä", "%C3%A4"),
            ("\r\n", "%0D%0A"),
            ("...", "..."),
        ] {
            assert_eq!(url(json!(id)), format!("https://a.example/v1/{expected}/x?v=1"), "{id}");
        }
        assert_eq!(url(json!(["a,b", 2])), "https://a.example/v1/a%2Cb,2/x?v=1");
        for id in [json!("."), json!(".."), json!(""), json!(null), json!({"a": 1}), json!([["a"]]), json!([])] {
            refused(&handler(), json!({ "id": id }), &["/id"]);
        }
        refused(&handler(), json!({}), &["/id"]);
        let two = RestHandler { query: Vec::new(), ..RestHandler::get("https://a.example/{a}{b}/x/{a}..{b}") };
        refused(&two, json!({"a": ".", "b": "."}), &["/a", "/b"]);
        let dots = RestHandler::get("https://a.example/.{a}/x");
        refused(&dots, json!({"a": "."}), &["/a"]);
        let lists = RestHandler::get("https://a.example/{a}./x");
        assert!(fill(&lists, &json!({"a": ["."]})).is_err());
        let fixed = RestHandler::get("https://a.example/./{a}");
        assert!(fill(&fixed, &json!({"a": "x"})).is_ok(), "the registrant wrote it");
    }

    #[test]
    fn headers_hold_what_headers_can_hold() {
        for value in [json!("a\r\nX-Evil: 1"), json!("ä"), json!({"a": 1}), json!("\u{0}"), json!("x".repeat(5_000))] {
            refused(&handler(), json!({"id": 1, "X-Trace": value}), &["/X-Trace"]);
        }
        let list = fill(&handler(), &json!({"id": 1, "X-Trace": ["a", 1]})).unwrap();
        assert_eq!(list.headers[0].1, "a,1");
    }

    #[test]
    fn a_form_is_made_of_an_object() {
        let handler = RestHandler { body: RestBody::Form, ..handler() };
        let request = fill(&handler, &json!({"id": 1, "body": {"a": 1, "b": {"c": [true]}}})).unwrap();
        assert_eq!(request.body, FilledBody::Form("a=1&b%5Bc%5D%5B%5D=true".to_owned()));
        refused(&handler, json!({"id": 1, "body": [1]}), &["/body"]);
    }

    #[test]
    fn arguments_that_would_be_lost_or_too_long_are_refused() {
        refused(&handler(), json!({"id": 1, "a/b": 2}), &["/a~1b"]);
        refused(&handler(), json!({"id": 1, "q": "x".repeat(20_000)}), &[""]);
        let bodiless = RestHandler { body: RestBody::None, ..handler() };
        refused(&bodiless, json!({"id": 1, "body": {}}), &["/body"]);
    }
}
