//! Handlers as registrants and backups give them: read field by field, so that all faults are told at once.

use super::rest::{QueryStyle, RestBody, RestHandler, RestMethod};
use super::{Handler, Headers, PythonHandler, problem};
use crate::error::{Problem, escaped};
use crate::nearest::{did_you_mean, nearest};
use crate::registry::header_value::HeaderValue;
use crate::text_enum::TextEnum;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

impl Handler {
    /// Parses a handler as a registrant gives it, or returns everything that is wrong with its form.
    pub fn read(given: &Value) -> Result<Self, Vec<Problem>> {
        Self::read_form(given, false)
    }

    /// Parses a handler of a backup. Its headers may have sealed values.
    pub fn read_backup(given: &Value) -> Result<Self, Vec<Problem>> {
        Self::read_form(given, true)
    }

    fn read_form(given: &Value, is_backup: bool) -> Result<Self, Vec<Problem>> {
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
            "rest" => {
                form.no_others(&[
                    "type",
                    "method",
                    "url",
                    "query",
                    "headers",
                    "header_params",
                    "body",
                    "content_type",
                    "styles",
                ]);
                Self::Rest(form.rest())
            }
            "python" => {
                form.no_others(&["type", "code", "function", "files", "requirements"]);
                Self::Python(PythonHandler {
                    code: form.text("code"),
                    function: form.text("function"),
                    files: form.truth("files"),
                    requirements: form.texts("requirements"),
                })
            }
            "module" if is_backup => {
                form.no_others(&["type", "module"]);
                Self::Module { module: form.text("module") }
            }
            "mcp" if is_backup => {
                form.no_others(&["type", "server", "tool", "annotations"]);
                let annotations = form.fields.get("annotations").and_then(Value::as_object).cloned();
                Self::Mcp { server: form.text("server"), tool: form.text("tool"), annotations }
            }
            "toolset" if is_backup => {
                form.no_others(&["type", "entrypoint"]);
                Self::Toolset { entrypoint: form.text("entrypoint") }
            }
            _ => {
                form.problems.truncate(0);
                form.problems.push(problem("/type", "must be builtin, http, rest or python"));
                Self::Builtin { key: String::new() }
            }
        };
        if form.problems.is_empty() { Ok(handler) } else { Err(form.problems) }
    }
}

/// Reads an object field by field, and collects all problems.
struct Form<'a> {
    fields: &'a Map<String, Value>,
    /// Whether the values of headers may be sealed.
    may_be_sealed: bool,
    problems: Vec<Problem>,
}

impl Form<'_> {
    fn add(&mut self, name: &str, message: impl Into<String>) {
        self.problems.push(problem(&format!("/{name}"), message));
    }

    /// The field, unless it is missing or null.
    fn given(&self, name: &str) -> Option<&Value> {
        self.fields.get(name).filter(|it| !it.is_null())
    }

    fn text(&mut self, name: &str) -> String {
        match self.fields.get(name) {
            Some(Value::String(text)) => text.clone(),
            _ => {
                self.add(name, "must be a text");
                String::new()
            }
        }
    }

    /// A list of texts; empty, if it is not given.
    fn texts(&mut self, name: &str) -> Vec<String> {
        let Some(given) = self.given(name) else { return Vec::new() };
        let texts = given.as_array().and_then(|it| it.iter().map(|it| it.as_str().map(str::to_owned)).collect());
        texts.unwrap_or_else(|| {
            self.add(name, "must be a list of texts");
            Vec::new()
        })
    }

    /// True or false; false, if it is not given.
    fn truth(&mut self, name: &str) -> bool {
        let Some(given) = self.given(name) else { return false };
        given.as_bool().unwrap_or_else(|| {
            self.add(name, "must be true or false");
            false
        })
    }

    /// One of the words of an enum.
    fn word<T: TextEnum>(&mut self, name: &str, default: T) -> T {
        let Some(given) = self.given(name) else { return default };
        given.as_str().and_then(T::parse).unwrap_or_else(|| {
            self.add(name, format!("must be one of {}", words::<T>()));
            default
        })
    }

    fn rest(&mut self) -> RestHandler {
        if self.given("method").is_none() {
            self.add("method", format!("must be one of {}", words::<RestMethod>()));
        }
        RestHandler {
            method: self.word("method", RestMethod::Get),
            url: self.text("url"),
            query: self.texts("query"),
            headers: self.headers(),
            header_params: self.texts("header_params"),
            body: self.word("body", RestBody::None),
            content_type: self.given("content_type").is_some().then(|| self.text("content_type")),
            styles: self.styles(),
        }
    }

    fn styles(&mut self) -> BTreeMap<String, QueryStyle> {
        let Some(given) = self.given("styles") else { return BTreeMap::new() };
        let style = |(name, style): (&String, &Value)| Some((name.clone(), QueryStyle::parse(style.as_str()?)?));
        let styles = given.as_object().and_then(|it| it.iter().map(style).collect());
        styles.unwrap_or_else(|| {
            self.add("styles", format!("must be an object whose values are each one of {}", words::<QueryStyle>()));
            BTreeMap::new()
        })
    }

    fn headers(&mut self) -> Headers {
        let fields = match self.given("headers") {
            None => return BTreeMap::new(),
            Some(Value::Object(fields)) => fields.clone(),
            Some(_) => {
                self.add("headers", "must be an object of texts");
                return BTreeMap::new();
            }
        };
        let mut headers = BTreeMap::new();
        for (name, value) in fields {
            let read = HeaderValue::deserialize(&value).ok();
            match read.filter(|it| self.may_be_sealed || it.plain().is_some()) {
                Some(value) => {
                    headers.insert(name, value);
                }
                None => self.add("headers", "must be an object of texts"),
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

/// The words of an enum, for a message.
fn words<T: TextEnum>() -> String {
    T::ALL.iter().map(|it| it.word()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outgoing::UrlRules;
    use crate::registry::fixture;
    use serde_json::json;
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
            r#"{"type":"rest","method":"GET","url":"https://a.example"}"#,
            Some(Handler::Rest(RestHandler::get("https://a.example"))),
        );
        check(
            r#"{"type":"rest","method":"PUT","url":"https://a.example/{id}","query":["q"],"header_params":["X-Trace"],
                "body":"json","styles":{"q":"comma"}}"#,
            Some(Handler::Rest(RestHandler {
                method: RestMethod::Put,
                query: vec!["q".into()],
                header_params: vec!["X-Trace".into()],
                body: RestBody::Json,
                styles: BTreeMap::from([("q".into(), QueryStyle::Comma)]),
                ..RestHandler::get("https://a.example/{id}")
            })),
        );
        let python = PythonHandler { code: "def f(a): ...".into(), function: "f".into(), ..PythonHandler::default() };
        check(r#"{"type":"python","code":"def f(a): ...","function":"f"}"#, Some(Handler::Python(python.clone())));
        check(
            r#"{"type":"python","code":"def f(a): ...","function":"f","files":true,"requirements":["pydantic"]}"#,
            Some(Handler::Python(PythonHandler {
                files: true,
                requirements: vec!["pydantic".into()],
                ..python.clone()
            })),
        );
        let plain = json!({"type": "python", "code": "def f(a): ...", "function": "f"});
        assert_eq!(json!(Handler::Python(python)), plain, "what is not used is not stored");
        check(r#"{"type":"shell"}"#, None);
        let module = json!({"type": "module", "module": "research"});
        assert!(Handler::read(&module).is_err(), "only discovery makes it");
        assert_eq!(Handler::read_backup(&module), Ok(Handler::Module { module: "research".into() }));
        let mcp = json!({"type": "mcp", "server": "time", "tool": "get time", "annotations": {"readOnlyHint": true}});
        assert!(Handler::read(&mcp).is_err(), "only discovery makes it");
        assert_eq!(json!(Handler::read_backup(&mcp).unwrap()), mcp);
        let toolset = json!({"type": "toolset", "entrypoint": "tools.files:read"});
        assert!(Handler::read(&toolset).is_err(), "only an import makes it");
        assert_eq!(json!(Handler::read_backup(&toolset).unwrap()), toolset);
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
        faults(json!({"type": "rest"}), &["/handler/method", "/handler/url"]);
        let wrong = json!({
            "type": "rest", "method": "get", "url": 7, "query": "q", "headers": {"A": 1}, "header_params": [1],
            "body": "xml", "content_type": 7, "styles": {"q": "matrix"}, "params": [],
        });
        let places = ["params", "method", "url", "query", "headers", "header_params", "body", "content_type", "styles"];
        faults(wrong, &places.map(|it| format!("/handler/{it}")).each_ref().map(String::as_str));
        faults(json!({"type": "python", "code": "", "function": "1f"}), &["/handler/function"]);
        faults(json!({"type": "python", "code": "x".repeat(300_000), "function": "f"}), &["/handler/code"]);
        let files = |files: Value, requirements: Value| json!({"type": "python", "code": "", "function": "f", "files": files, "requirements": requirements});
        faults(files(true.into(), json!(["pydantic", "covalt_toolset"])), &[]);
        faults(files(Value::Null, Value::Null), &[]);
        faults(files(json!("yes"), json!("pydantic")), &["/handler/files", "/handler/requirements"]);
        faults(files(false.into(), json!(["pydantic"])), &["/handler/requirements"]);
        faults(files(true.into(), json!(["pydantic", "numpy"])), &["/handler/requirements/1"]);
        faults(files(true.into(), json!(["pydantic", "pydantic"])), &["/handler/requirements/1"]);
    }
}
