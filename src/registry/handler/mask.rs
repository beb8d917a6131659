//! Handlers as responses show them, without values that may be secrets, and the same handlers given again.

use super::{Handler, Headers, header_problem, problem};
use crate::error::Problem;
use serde_json::{Map, Value, json};

/// What responses show instead of a value.
const MASK: &str = "***";
const MASKED: &str =
    "is masked, and stands for no value of the current version under the same URL: give the value itself";

impl Handler {
    /// The handler with the names of its headers and of its URL's parameters, but without their values.
    pub fn masked(&self) -> Value {
        match self {
            Self::Http { url, headers } => {
                json!({"type": "http", "url": masked_url(url), "headers": masked_headers(headers)})
            }
            Self::Rest(rest) => {
                let mut shown = json!({
                    "type": "rest", "method": rest.method, "url": masked_url(&rest.url), "query": rest.query,
                    "headers": masked_headers(&rest.headers), "header_params": rest.header_params, "body": rest.body,
                });
                if let Some(content_type) = &rest.content_type {
                    shown["content_type"] = content_type.as_str().into();
                }
                if !rest.styles.is_empty() {
                    shown["styles"] = json!(rest.styles);
                }
                shown
            }
            Self::Builtin { key } => json!({"type": "builtin", "key": key}),
            Self::Module { module } => json!({"type": "module", "module": module}),
            Self::Python(_) | Self::Mcp { .. } | Self::Toolset { .. } => json!(self),
        }
    }

    /// Replaces masked values, as responses show them, by the values of `present`, the handler of the current version.
    /// Returns a problem for each masked value that has no present one. A header keeps its value only if the URL stays
    /// the same: otherwise a registrant who cannot see the value could have it sent to another server.
    pub fn unmask(&mut self, present: Option<&Self>) -> Vec<Problem> {
        let Some((url, headers)) = self.server_mut() else { return Vec::new() };
        let present = present.and_then(Self::server);
        let present_url = present.map_or("", |(url, _)| url);
        let mut problems = Vec::new();
        if *url == masked_url(present_url) {
            present_url.clone_into(url);
        } else if has_mask(url) {
            problems.push(problem("/url", MASKED));
        }
        for (name, value) in headers.iter_mut().filter(|(_, value)| value.plain() == Some(MASK)) {
            match present.and_then(|(_, headers)| headers.get(name)).filter(|_| url == present_url) {
                Some(kept) => *value = kept.clone(),
                None => problems.push(header_problem(name, MASKED)),
            }
        }
        problems
    }
}

fn masked_headers(headers: &Headers) -> Map<String, Value> {
    headers.keys().map(|name| (name.clone(), MASK.into())).collect()
}

/// The URL with the names of its parameters, but without their values, which may be keys.
pub fn masked_url(url: &str) -> String {
    let (url, fragment) = url.split_once('#').map_or((url, String::new()), |(url, _)| (url, format!("#{MASK}")));
    let Some((path, query)) = url.split_once('?') else { return format!("{url}{fragment}") };
    let parameters = query.split('&').map(|it| match it.split_once('=') {
        Some((name, _)) => format!("{name}={MASK}"),
        None => MASK.to_owned(),
    });
    format!("{path}?{}{fragment}", parameters.collect::<Vec<_>>().join("&"))
}

/// Whether the URL has a value that [`masked_url`] has written.
fn has_mask(url: &str) -> bool {
    let parts = url.split_once(['?', '#']).map_or("", |(_, rest)| rest).split(['&', '#']);
    parts.map(|it| it.split_once('=').map_or(it, |(_, value)| value)).any(|it| it == MASK)
}

#[cfg(test)]
mod tests {
    use super::super::{RestHandler, headers};
    use super::*;
    use crate::seal::Sealer;

    #[test]
    fn what_is_shown_has_no_header_values() {
        let given = json!({"type": "http", "url": "https://a.example", "headers": {"X-Key": "s3cret"}});
        let shown = Handler::read(&given).unwrap().masked();
        assert_eq!(shown, json!({"type": "http", "url": "https://a.example", "headers": {"X-Key": "***"}}));
    }

    #[test]
    fn a_rest_handler_is_shown_whole_but_for_its_secrets() {
        let given = json!({
            "type": "rest", "method": "POST", "url": "https://a.example/{id}?key=s3cret", "query": ["q"],
            "headers": {"X-Key": "s3cret"}, "header_params": ["X-Trace"], "body": "form", "styles": {"q": "comma"},
        });
        let shown = Handler::read(&given).unwrap().masked();
        assert_eq!(
            shown,
            json!({
                "type": "rest", "method": "POST", "url": "https://a.example/{id}?key=***", "query": ["q"],
                "headers": {"X-Key": "***"}, "header_params": ["X-Trace"], "body": "form", "styles": {"q": "comma"},
            })
        );
        let mut again = Handler::read(&shown).unwrap();
        assert_eq!(again.unmask(Some(&Handler::read(&given).unwrap())), []);
        assert_eq!(again, Handler::read(&given).unwrap());
    }

    #[test]
    fn what_is_shown_has_no_values_of_the_urls_parameters() {
        for (url, shown) in [
            ("https://a.example/x", "https://a.example/x"),
            ("https://a.example/x?key=s3cret&b=&c", "https://a.example/x?key=***&b=***&***"),
            ("https://a.example?s3cret#s3cret", "https://a.example?***#***"),
            ("https://a.example/#a?b=c", "https://a.example/#***"),
        ] {
            assert_eq!(masked_url(url), shown);
        }
    }

    /// Makes a handler with this URL and these headers.
    type Make<'a> = &'a dyn Fn(&str, &[(&str, &str)]) -> Handler;

    #[test]
    fn a_masked_value_keeps_the_present_one_and_never_becomes_a_value() {
        let http = |url: &str, values: &[(&str, &str)]| Handler::Http { url: url.to_owned(), headers: headers(values) };
        let rest = |url: &str, values: &[(&str, &str)]| {
            Handler::Rest(RestHandler { headers: headers(values), ..RestHandler::get(url) })
        };
        let sealer = Sealer::new("k");
        let check = |mut given: Handler, present: Option<&Handler>, expected: &[&str]| {
            let problems = given.unmask(present);
            assert_eq!(problems.iter().map(|it| it.path.as_str()).collect::<Vec<_>>(), expected, "{given:?}");
        };
        for make in [&http as Make<'_>, &rest] {
            let literal = make("https://a.example/?key=s3cret", &[("A", "s3cret"), ("B", "Bearer ${ONE}")]);
            let present = literal.sealed(Some(&sealer)).unwrap();
            let mut shown = Handler::read(&present.masked()).unwrap();
            assert_eq!(shown.unmask(Some(&present)), []);
            assert_eq!(shown, present);
            let both = ["/handler/url", "/handler/headers/A"];
            let masked = || make("https://a.example/?key=***", &[("A", "***")]);
            check(masked(), None, &both);
            check(masked(), Some(&Handler::Builtin { key: "x".into() }), &both);
            check(make("https://evil.example/?key=***", &[("A", "***")]), Some(&present), &both);
            check(
                make("https://evil.example/", &[("A", "***"), ("B", "***")]),
                Some(&present),
                &["/handler/headers/A", "/handler/headers/B"],
            );
            check(make("https://a.example/?key=***", &[("C", "***")]), Some(&present), &["/handler/headers/C"]);
            check(make("https://a.example/?key=s3cret", &[("A", "***")]), Some(&present), &[]);
            check(make("https://a.example/***", &[("A", "new")]), Some(&present), &[]);
            for url in ["https://a.example?***", "https://a.example/#***", "https://a.example/?a=b&c=***#d"] {
                check(make(url, &[]), Some(&present), &["/handler/url"]);
            }
        }
    }
}
