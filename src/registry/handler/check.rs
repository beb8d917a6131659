//! What a handler may hold.

use super::rest::RestHandler;
use super::url_template::UrlTemplate;
use super::{Builtin, Handler, Headers, header_problem, problem};
use crate::error::Problem;
use crate::ids::{ModuleName, ServerId};
use crate::outgoing::{UrlRules, check_url, credentials_in, fault_of_header, may_carry_credentials};
use crate::registry::credential::is_credential_id;
use crate::text_enum::TextEnum;
use serde_json::{Map, Value, json};

const MAX_URL_BYTES: usize = 2_048;
const MAX_HEADERS: usize = 32;
const MAX_UPSTREAM_NAME_BYTES: usize = 1_000;
const MAX_ANNOTATIONS_BYTES: usize = 4_096;

const PLACEHOLDER: &str = "must have no placeholder such as {id}: the URL of an http handler is the same for every call, \
    and the arguments reach the server in the body of the POST. A handler of the type rest fills placeholders with \
    arguments (a brace that is meant is %7B or %7D)";

impl Handler {
    /// Returns everything that is wrong with the handler in itself. `rules` are those for its URL. Whether a handler fits
    /// the parameters of its tool is checked by [`Self::check_parameters`].
    pub fn check(&self, rules: UrlRules<'_>) -> Vec<Problem> {
        match self {
            Self::Builtin { key } => match Builtin::parse(key) {
                Some(_) => Vec::new(),
                None => {
                    let known = Builtin::ALL.iter().map(|it| it.as_str()).collect::<Vec<_>>().join(", ");
                    vec![problem("/key", format!("is no handler of this deployment; there are {known}"))]
                }
            },
            Self::Http { url, headers } => {
                let placeholder = has_placeholder(url).then_some(PLACEHOLDER);
                let fault = too_long(url).or(placeholder).or_else(|| self.fault_of_url(url, rules));
                let mut problems = check_headers(headers);
                problems.extend(fault.map(|it| problem("/url", it)));
                problems
            }
            Self::Rest(rest) => self.check_rest(rest, rules),
            Self::Python(python) => python.check(),
            Self::Module { module } => match ModuleName::parse(module) {
                Some(_) => Vec::new(),
                None => vec![problem("/module", "must be 1 to 64 lower-case letters, digits, _ or -")],
            },
            Self::Mcp { server, tool, annotations } => check_mcp(server, tool, annotations.as_ref()),
            Self::Toolset { entrypoint } => match is_entrypoint(entrypoint) {
                true => Vec::new(),
                false => vec![problem("/entrypoint", "must be a module and a function, such as tools.files:read")],
            },
        }
    }

    /// Returns everything that is wrong with the handler for a tool whose parameters have these names.
    pub fn check_parameters(&self, names: &[&str]) -> Vec<Problem> {
        match self {
            Self::Rest(rest) => rest.check_parameters(names),
            Self::Builtin { .. }
            | Self::Http { .. }
            | Self::Python(_)
            | Self::Module { .. }
            | Self::Mcp { .. }
            | Self::Toolset { .. } => Vec::new(),
        }
    }

    fn check_rest(&self, rest: &RestHandler, rules: UrlRules<'_>) -> Vec<Problem> {
        let mut problems = check_headers(&rest.headers);
        let fault = too_long(&rest.url).or_else(|| match UrlTemplate::parse(&rest.url) {
            // Parameters stand in the path only, so every value leads to the same server.
            Ok(template) => self.fault_of_url(&template.filled(|_| "x".to_owned()), rules),
            Err(fault) => Some(fault),
        });
        problems.extend(fault.map(|it| problem("/url", it)));
        problems.extend(rest.check());
        problems
    }

    fn fault_of_url(&self, url: &str, rules: UrlRules<'_>) -> Option<&'static str> {
        match check_url(url, rules) {
            Ok(url) if !self.credentials().is_empty() && !may_carry_credentials(&url, rules.open) => {
                Some("must be https, because the headers hold credentials")
            }
            Ok(_) => None,
            Err(fault) => Some(fault),
        }
    }
}

fn too_long(url: &str) -> Option<&'static str> {
    (url.len() > MAX_URL_BYTES).then_some("is too long")
}

/// Whether the URL has a part in braces, which a registrant would expect to be filled in.
fn has_placeholder(url: &str) -> bool {
    url.split_once('{').is_some_and(|(_, rest)| rest.contains('}'))
}

fn check_headers(headers: &Headers) -> Vec<Problem> {
    let mut problems = Vec::new();
    if headers.len() > MAX_HEADERS {
        problems.push(problem("/headers", format!("holds {} headers; {MAX_HEADERS} are allowed", headers.len())));
    }
    for (name, value) in headers {
        // A sealed value was checked before it was sealed.
        let value = value.plain().unwrap_or_default();
        let named = || credentials_in(value).all(is_credential_id);
        let fault = fault_of_header(name, value)
            .or_else(|| (!named()).then_some("names what could be no credential between ${ and }"));
        problems.extend(fault.map(|it| header_problem(name, it)));
    }
    problems
}

/// `module.path:function`, of Python's names in ASCII.
fn is_entrypoint(text: &str) -> bool {
    let is_name = |it: &str| {
        !it.starts_with(|first: char| first.is_ascii_digit())
            && !it.is_empty()
            && it.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let parts = text.split_once(':').filter(|_| text.len() <= MAX_UPSTREAM_NAME_BYTES);
    parts.is_some_and(|(module, function)| module.split('.').all(is_name) && is_name(function))
}

fn check_mcp(server: &str, tool: &str, annotations: Option<&Map<String, Value>>) -> Vec<Problem> {
    let mut problems = Vec::new();
    if ServerId::parse(server).is_none() {
        problems.push(problem("/server", "must be 1 to 64 lower-case letters, digits, _ or -"));
    }
    if !(1..=MAX_UPSTREAM_NAME_BYTES).contains(&tool.len()) {
        problems.push(problem("/tool", format!("must have 1 to {MAX_UPSTREAM_NAME_BYTES} bytes")));
    }
    if annotations.is_some_and(|it| json!(it).to_string().len() > MAX_ANNOTATIONS_BYTES) {
        problems.push(problem("/annotations", format!("must have at most {MAX_ANNOTATIONS_BYTES} bytes")));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::super::headers;
    use super::*;

    #[test]
    fn an_entrypoint_is_a_module_and_a_function() {
        for good in ["main:run", "tools.files:read_file", "_a.b2:_c"] {
            assert!(is_entrypoint(good), "{good}");
        }
        for bad in ["", "run", "a:", ":b", "a.:b", "a:b:c", "a:b.c", "a-b:c", "2a:b", "../a:b", "a:b()"] {
            assert!(!is_entrypoint(bad), "{bad}");
        }
    }

    #[test]
    fn a_url_has_no_placeholders() {
        for url in ["https://a.example/{id}", "https://{host}/", "https://a.example/?q={q}#{x", "https://a.example/{}"]
        {
            assert!(has_placeholder(url), "{url}");
        }
        for url in ["https://a.example/%7Bid%7D", "https://a.example/}{", "https://a.example/{", "https://a.example/x"]
        {
            assert!(!has_placeholder(url), "{url}");
        }
    }

    #[test]
    fn headers_are_held_to_what_can_be_sent() {
        let faults = |name: &str, value: &str| check_headers(&headers(&[(name, value)])).len();
        for (name, value) in [("X-Key", "abc"), ("Authorization", "Bearer ${API_KEY}"), ("x", "")] {
            assert_eq!(faults(name, value), 0, "{name}: {value}");
        }
        for (name, value) in [
            ("", "x"),
            ("a b", "x"),
            ("Host", "x"),
            ("content-type", "x"),
            ("x", "a\r\nb"),
            ("x", "ä"),
            ("x", "${a b}"),
        ] {
            assert_eq!(faults(name, value), 1, "{name}: {value}");
        }
    }
}
