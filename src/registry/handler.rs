//! Handlers, which carry out the calls of tools: how a handler is given, stored and shown. In the registry, only this
//! file distinguishes the kinds of handler. Where calls are run, `runners::prepare` distinguishes them.

use super::Tool;
use super::credential::is_credential_id;
use super::header_value::{HeaderValue, NOT_OPENED};
use crate::error::{Error, Place, Problem, Result, escaped};
use crate::ids::ModuleName;
use crate::nearest::{did_you_mean, nearest};
use crate::outgoing::{UrlRules, check_url, credentials_in, fault_of_header, may_carry_credentials};
use crate::seal::Sealer;
use crate::text_enum::{TextEnum, text_enum};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

const MAX_URL_BYTES: usize = 2_048;
const MAX_HEADERS: usize = 32;
const MAX_CODE_BYTES: usize = 256 * 1024;

text_enum! {
    /// The handlers that are code of the Worker itself.
    Builtin {
        ExecutePython = "execute_python",
        ReadFile = "read_file",
        WriteFile = "write_file",
        ListFiles = "list_files",
        EmailSearch = "email_search",
        EmailGet = "email_get",
    }
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Handler {
    /// Code of the Worker itself. The Worker may no longer have a built-in of this key; only a lookup tells
    /// ([`TextEnum::parse`]).
    Builtin { key: String },
    /// A server that receives calls as POST requests.
    Http {
        url: String,
        #[serde(default)]
        headers: BTreeMap<String, HeaderValue>,
    },
    /// A function that runs in the sandbox.
    Python { code: String, function: String },
    /// The module of this name. Only discovery makes such a handler.
    Module { module: String },
}

impl Handler {
    pub fn of(tool: &Tool) -> Result<Self> {
        serde_json::from_str(tool.handler.get())
            .map_err(|cause| Error::Internal(format!("the tool {} has a broken handler: {cause}", tool.id)))
    }

    /// Parses a handler as a registrant gives it, or returns everything that is wrong with its form.
    pub fn read(given: &Value) -> std::result::Result<Self, Vec<Problem>> {
        Self::read_form(given, false)
    }

    /// Parses a handler of a backup. Its headers may have sealed values.
    pub fn read_backup(given: &Value) -> std::result::Result<Self, Vec<Problem>> {
        Self::read_form(given, true)
    }

    fn read_form(given: &Value, is_backup: bool) -> std::result::Result<Self, Vec<Problem>> {
        let Value::Object(fields) = given else { return Err(vec![problem("", "must be an object with a `type`")]) };
        let mut form = Form { fields, may_be_sealed: is_backup, problems: Vec::new() };
        let handler = match form.text("type").as_str() {
            "builtin" => {
                form.no_others(&["type", "key"]);
                Self::Builtin { key: form.text("key") }
            }
            "http" => {
                form.no_others(&["type", "url", "headers"]);
                Self::Http { url: form.text("url"), headers: form.headers() }
            }
            "python" => {
                form.no_others(&["type", "code", "function"]);
                Self::Python { code: form.text("code"), function: form.text("function") }
            }
            "module" if is_backup => {
                form.no_others(&["type", "module"]);
                Self::Module { module: form.text("module") }
            }
            _ => {
                form.problems.truncate(0);
                form.problems.push(problem("/type", "must be builtin, http or python"));
                Self::Builtin { key: String::new() }
            }
        };
        if form.problems.is_empty() { Ok(handler) } else { Err(form.problems) }
    }

    /// The word that lists show for the handler: `http`, `python`, or the key of the built-in.
    pub fn key(&self) -> &str {
        match self {
            Self::Builtin { key } => key,
            Self::Http { .. } => "http",
            Self::Python { .. } => "python",
            Self::Module { .. } => "module",
        }
    }

    /// The handler as it is stored: every literal header value is sealed. Fails if a value must be sealed and the
    /// deployment has no key for it.
    pub fn sealed(&self, sealer: Option<&Sealer>) -> Result<Self> {
        let (url, headers) = match self {
            Self::Http { url, headers } => (url, headers),
            Self::Builtin { .. } | Self::Python { .. } | Self::Module { .. } => return Ok(self.clone()),
        };
        let Some(sealer) = sealer else {
            let literal = headers.iter().filter(|(_, value)| value.needs_seal());
            let problems = literal.map(|(name, _)| header_problem(name, NO_KEY)).collect::<Vec<_>>();
            return if problems.is_empty() { Ok(self.clone()) } else { Err(Error::Invalid(problems)) };
        };
        let seal = |(name, value): (&String, &HeaderValue)| Ok((name.clone(), value.sealed(sealer, name, url)?));
        Ok(Self::Http { url: url.clone(), headers: headers.iter().map(seal).collect::<Result<_>>()? })
    }

    /// The handler with its header values as they were given. A value that cannot be opened stays sealed.
    pub fn opened(&self, sealer: Option<&Sealer>) -> Self {
        let (url, headers) = match self {
            Self::Http { url, headers } => (url, headers),
            Self::Builtin { .. } | Self::Python { .. } | Self::Module { .. } => return self.clone(),
        };
        let open = |(name, value): (&String, &HeaderValue)| {
            let opened = value.open(sealer, name, url).map(HeaderValue::Plain);
            (name.clone(), opened.unwrap_or_else(|| value.clone()))
        };
        Self::Http { url: url.clone(), headers: headers.iter().map(open).collect() }
    }

    /// A problem for each header whose value is still sealed after [`Self::opened`].
    pub fn unopened(&self) -> Vec<Problem> {
        let headers = match self {
            Self::Http { headers, .. } => headers,
            Self::Builtin { .. } | Self::Python { .. } | Self::Module { .. } => return Vec::new(),
        };
        let sealed = headers.iter().filter(|(_, value)| value.plain().is_none());
        sealed.map(|(name, _)| header_problem(name, NOT_OPENED)).collect()
    }

    /// The handler with the names of its headers and of its URL's parameters, but without their values.
    pub fn masked(&self) -> Value {
        match self {
            Self::Http { url, headers } => {
                let headers = headers.keys().map(|name| (name.clone(), MASK.into())).collect::<Map<_, _>>();
                json!({"type": "http", "url": masked_url(url), "headers": headers})
            }
            Self::Builtin { key } => json!({"type": "builtin", "key": key}),
            Self::Python { code, function } => json!({"type": "python", "code": code, "function": function}),
            Self::Module { module } => json!({"type": "module", "module": module}),
        }
    }

    /// Replaces masked values, as responses show them, by the values of `present`, the handler of the current version.
    /// Returns a problem for each masked value that has no present one. A header keeps its value only if the URL stays
    /// the same: otherwise a registrant who cannot see the value could have it sent to another server.
    pub fn unmask(&mut self, present: Option<&Self>) -> Vec<Problem> {
        let Self::Http { url, headers } = self else { return Vec::new() };
        let (present_url, present_headers) = match present {
            Some(Self::Http { url, headers }) => (url.as_str(), Some(headers)),
            Some(Self::Builtin { .. } | Self::Python { .. } | Self::Module { .. }) | None => ("", None),
        };
        let mut problems = Vec::new();
        if *url == masked_url(present_url) {
            present_url.clone_into(url);
        } else if has_mask(url) {
            problems.push(problem("/url", MASKED));
        }
        for (name, value) in headers.iter_mut().filter(|(_, value)| value.plain() == Some(MASK)) {
            match present_headers.and_then(|it| it.get(name)).filter(|_| url == present_url) {
                Some(kept) => *value = kept.clone(),
                None => problems.push(header_problem(name, MASKED)),
            }
        }
        problems
    }

    /// Returns everything that is wrong with the handler. `rules` are those for its URL.
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
                let mut problems = check_headers(headers);
                let fault = match url.len() {
                    0..=MAX_URL_BYTES if has_placeholder(url) => Some(PLACEHOLDER),
                    0..=MAX_URL_BYTES => match check_url(url, rules) {
                        Ok(url) if !self.credentials().is_empty() && !may_carry_credentials(&url, rules.open) => {
                            Some("must be https, because the headers hold credentials")
                        }
                        Ok(_) => None,
                        Err(fault) => Some(fault),
                    },
                    _ => Some("is too long"),
                };
                problems.extend(fault.map(|it| problem("/url", it)));
                problems
            }
            Self::Python { code, function } => {
                let mut problems = Vec::new();
                // The limit is for the code as it is stored, in JSON.
                if Value::from(code.as_str()).to_string().len() > MAX_CODE_BYTES {
                    problems.push(problem("/code", format!("has more than {MAX_CODE_BYTES} bytes")));
                }
                if !is_identifier(function) {
                    problems.push(problem("/function", "must be the name of a function"));
                }
                problems
            }
            Self::Module { module } => match ModuleName::parse(module) {
                Some(_) => Vec::new(),
                None => vec![problem("/module", "must be 1 to 64 lower-case letters, digits, _ or -")],
            },
        }
    }

    /// The key of the built-in, whether this deployment has that built-in or not.
    pub fn builtin_key(&self) -> Option<&str> {
        match self {
            Self::Builtin { key } => Some(key),
            Self::Http { .. } | Self::Python { .. } | Self::Module { .. } => None,
        }
    }

    /// The reason why calls of the handler would reach nothing, if there is one. Servers and sandbox code are assumed
    /// to exist.
    pub fn missing_target(&self) -> Option<String> {
        self.builtin_key().and_then(missing_builtin)
    }

    /// The credentials that the handler's headers name. A sealed value tells none: see [`Self::opened`].
    pub fn credentials(&self) -> Vec<&str> {
        match self {
            Self::Http { headers, .. } => {
                headers.values().filter_map(HeaderValue::plain).flat_map(credentials_in).collect()
            }
            Self::Builtin { .. } | Self::Python { .. } | Self::Module { .. } => Vec::new(),
        }
    }
}

/// The reason why a built-in of that key cannot be called, if there is one.
pub fn missing_builtin(key: &str) -> Option<String> {
    Builtin::parse(key).is_none().then(|| format!("its handler {key} is not part of this deployment"))
}

/// What responses show instead of a value.
const MASK: &str = "***";
const MASKED: &str =
    "is masked, and stands for no value of the current version under the same URL: give the value itself";

const NO_KEY: &str = "has a literal value, which is stored sealed, and no SECRET_KEY is configured: \
    npx wrangler secret put SECRET_KEY, or name a credential as ${NAME}";

const PLACEHOLDER: &str = "must have no placeholder such as {id}: the URL of an http handler is the same for every call, \
    and the arguments reach the server in the body of the POST (a brace that is meant is %7B or %7D)";

/// Whether the URL has a part in braces, which a registrant would expect to be filled in.
fn has_placeholder(url: &str) -> bool {
    url.split_once('{').is_some_and(|(_, rest)| rest.contains('}'))
}

/// The URL with the names of its parameters, but without their values, which may be keys.
fn masked_url(url: &str) -> String {
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

fn check_headers(headers: &BTreeMap<String, HeaderValue>) -> Vec<Problem> {
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

fn header_problem(name: &str, message: &str) -> Problem {
    let shown = name.chars().take(64).collect::<String>();
    problem(&format!("/headers/{shown}"), message)
}

fn is_identifier(name: &str) -> bool {
    (1..=128).contains(&name.len())
        && name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
        && !name.starts_with(|it: char| it.is_ascii_digit())
}

/// A problem at a place within the handler.
fn problem(path: &str, message: impl Into<String>) -> Problem {
    Problem { place: Place::Body, path: format!("/handler{path}"), message: message.into() }
}

/// Reads an object field by field, and collects all problems.
struct Form<'a> {
    fields: &'a Map<String, Value>,
    /// Whether the values of headers may be sealed.
    may_be_sealed: bool,
    problems: Vec<Problem>,
}

impl Form<'_> {
    fn text(&mut self, name: &str) -> String {
        match self.fields.get(name) {
            Some(Value::String(text)) => text.clone(),
            _ => {
                self.problems.push(problem(&format!("/{name}"), "must be a text"));
                String::new()
            }
        }
    }

    fn headers(&mut self) -> BTreeMap<String, HeaderValue> {
        let fields = match self.fields.get("headers") {
            None | Some(Value::Null) => return BTreeMap::new(),
            Some(Value::Object(fields)) => fields,
            Some(_) => {
                self.problems.push(problem("/headers", "must be an object of texts"));
                return BTreeMap::new();
            }
        };
        let mut headers = BTreeMap::new();
        for (name, value) in fields {
            let read = HeaderValue::deserialize(value).ok();
            match read.filter(|it| self.may_be_sealed || it.plain().is_some()) {
                Some(value) => {
                    headers.insert(name.clone(), value);
                }
                None => self.problems.push(problem("/headers", "must be an object of texts")),
            }
        }
        headers
    }

    fn no_others(&mut self, known: &[&str]) {
        for name in self.fields.keys().filter(|it| !known.contains(&it.as_str())) {
            let shown = name.chars().take(64).collect::<String>();
            let suggestion = did_you_mean(nearest(name, known.iter().copied()));
            let message = format!("is unknown: the fields are {}{suggestion}", known.join(", "));
            self.problems.push(problem(&format!("/{}", escaped(&shown)), message));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::fixture;
    use serde_json::value::RawValue;

    #[test]
    fn handlers_are_told_apart_by_their_type() {
        let check = |json: &str, expected: Option<Handler>| {
            let mut tool = fixture("x");
            tool.handler = RawValue::from_string(json.to_owned()).unwrap();
            assert_eq!(Handler::of(&tool).ok(), expected, "{json}");
            assert_eq!(Handler::read(&serde_json::from_str(json).unwrap()).ok(), expected, "{json}");
        };
        check(r#"{"type":"builtin","key":"read_file"}"#, Some(Handler::Builtin { key: "read_file".into() }));
        check(
            r#"{"type":"http","url":"https://a.example"}"#,
            Some(Handler::Http { url: "https://a.example".into(), headers: BTreeMap::new() }),
        );
        check(
            r#"{"type":"python","code":"def f(a): ...","function":"f"}"#,
            Some(Handler::Python { code: "def f(a): ...".into(), function: "f".into() }),
        );
        check(r#"{"type":"shell"}"#, None);
        let module = json!({"type": "module", "module": "research"});
        assert!(Handler::read(&module).is_err(), "only discovery makes it");
        assert_eq!(Handler::read_backup(&module), Ok(Handler::Module { module: "research".into() }));
    }

    #[track_caller]
    fn faults(given: Value, expected: &[&str]) {
        let problems = match Handler::read(&given) {
            Ok(handler) => handler.check(UrlRules::default()),
            Err(problems) => problems,
        };
        assert_eq!(problems.iter().map(|it| it.path.as_str()).collect::<Vec<_>>(), expected, "{given}");
    }

    #[test]
    fn every_fault_of_a_handler_has_its_place() {
        faults(json!("http"), &["/handler"]);
        faults(json!({}), &["/handler/type"]);
        faults(json!({"type": "builtin"}), &["/handler/key"]);
        faults(json!({"type": "builtin", "key": "rm"}), &["/handler/key"]);
        faults(json!({"type": "builtin", "key": "read_file", "url": "x"}), &["/handler/url"]);
        faults(json!({"type": "http", "url": 7, "headers": []}), &["/handler/url", "/handler/headers"]);
        faults(json!({"type": "http", "url": "https://a.example/{id}"}), &["/handler/url"]);
        faults(json!({"type": "python", "code": "", "function": "1f"}), &["/handler/function"]);
        faults(json!({"type": "python", "code": "x".repeat(300_000), "function": "f"}), &["/handler/code"]);
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

    #[test]
    fn credentials_are_found_where_headers_name_them() {
        let headers = headers(&[("A", "Bearer ${ONE}"), ("B", "${TWO}${THREE} ${"), ("C", "$ONE {TWO}")]);
        let handler = Handler::Http { url: "https://a.example".into(), headers };
        assert_eq!(handler.credentials(), ["ONE", "TWO", "THREE"]);
    }

    #[test]
    fn what_is_shown_has_no_header_values() {
        let given = json!({"type": "http", "url": "https://a.example", "headers": {"X-Key": "s3cret"}});
        let shown = Handler::read(&given).unwrap().masked();
        assert_eq!(shown, json!({"type": "http", "url": "https://a.example", "headers": {"X-Key": "***"}}));
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

    #[test]
    fn a_masked_value_keeps_the_present_one_and_never_becomes_a_value() {
        let http = |url: &str, values: &[(&str, &str)]| Handler::Http { url: url.to_owned(), headers: headers(values) };
        let sealer = Sealer::new("k");
        let literal = http("https://a.example/?key=s3cret", &[("A", "s3cret"), ("B", "Bearer ${ONE}")]);
        let present = literal.sealed(Some(&sealer)).unwrap();
        let mut shown = Handler::read(&present.masked()).unwrap();
        assert_eq!(shown.unmask(Some(&present)), []);
        assert_eq!(shown, present);
        let check = |mut given: Handler, present: Option<&Handler>, expected: &[&str]| {
            let problems = given.unmask(present);
            assert_eq!(problems.iter().map(|it| it.path.as_str()).collect::<Vec<_>>(), expected, "{given:?}");
        };
        let both = ["/handler/url", "/handler/headers/A"];
        check(http("https://a.example/?key=***", &[("A", "***")]), None, &both);
        check(http("https://a.example/?key=***", &[("A", "***")]), Some(&Handler::Builtin { key: "x".into() }), &both);
        check(http("https://evil.example/?key=***", &[("A", "***")]), Some(&present), &both);
        check(
            http("https://evil.example/", &[("A", "***"), ("B", "***")]),
            Some(&present),
            &["/handler/headers/A", "/handler/headers/B"],
        );
        check(http("https://a.example/?key=***", &[("C", "***")]), Some(&present), &["/handler/headers/C"]);
        check(http("https://a.example/?key=s3cret", &[("A", "***")]), Some(&present), &[]);
        check(http("https://a.example/***", &[("A", "new")]), Some(&present), &[]);
        for url in ["https://a.example?***", "https://a.example/#***", "https://a.example/?a=b&c=***#d"] {
            check(http(url, &[]), Some(&present), &["/handler/url"]);
        }
    }

    #[test]
    fn literal_values_are_stored_sealed_and_open_with_the_same_key() {
        let url = "https://a.example".to_owned();
        let handler = Handler::Http { url, headers: headers(&[("A", "Bearer ${ONE}"), ("B", "s3cret")]) };
        let sealer = Sealer::new("k");
        let sealed = handler.sealed(Some(&sealer)).unwrap();
        assert!(!json!(sealed).to_string().contains("s3cret") && json!(sealed).to_string().contains("${ONE}"));
        assert_eq!(Handler::read_backup(&json!(sealed)).unwrap(), sealed);
        assert!(Handler::read(&json!(sealed)).is_err(), "a registrant gives values as they are");
        assert_eq!(sealed.opened(Some(&sealer)), handler);
        let unopened = sealed.opened(Some(&Sealer::new("other"))).unopened();
        assert_eq!(unopened.iter().map(|it| it.path.as_str()).collect::<Vec<_>>(), ["/handler/headers/B"]);
        assert!(handler.unopened().is_empty());
    }

    #[test]
    fn without_a_key_a_literal_value_is_refused() {
        let with = |value: &str| Handler::Http { url: "https://a.example".into(), headers: headers(&[("A", value)]) };
        let Err(Error::Invalid(problems)) = with("s3cret").sealed(None) else { unreachable!("it has no key") };
        assert_eq!(problems[0].path, "/handler/headers/A");
        assert!(problems[0].message.contains("wrangler secret put SECRET_KEY"));
        assert!(with("Bearer ${KEY}").sealed(None).is_ok());
    }

    fn headers(given: &[(&str, &str)]) -> BTreeMap<String, HeaderValue> {
        given.iter().map(|(name, value)| ((*name).to_owned(), HeaderValue::Plain((*value).to_owned()))).collect()
    }
}
