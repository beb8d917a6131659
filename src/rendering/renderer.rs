//! The renderers, and what their configuration may hold. A [`Renderer`] can only be made of a configuration that keeps
//! the rules, so a plan never meets another one.

use super::expression::{Expression, Piece, Root, pieces};
use super::frame;
use crate::error::{Place, Problem};
use crate::outgoing::UrlRules;
use crate::text_enum::text_enum;
use serde_json::{Map, Value};

/// The most bytes of JSON that a configuration may have.
pub const MAX_CONFIG_BYTES: usize = 16 * 1024;

/// How deep a configuration may be nested.
const MAX_DEPTH: usize = 16;

/// How many expressions a configuration may have. Each of them may look through a large value.
const MAX_EXPRESSIONS: usize = 100;

/// The fields of a plan's configuration that Pegboard adds.
pub const MISSING: &str = "missing";
pub const CUT: &str = "cut";
pub const REFUSED: &str = "refused";

text_enum! {
    /// What shows the result of a call.
    RendererKind {
        /// A viewer and editor of code.
        Code = "code",
        /// A viewer and editor of Markdown and text.
        Document = "document",
        /// A page of HTML with data.
        Html = "html",
        /// A frame with another server's page.
        Frame = "frame",
    }
}

impl RendererKind {
    /// The two fields of which a configuration has exactly one.
    const fn subject(self) -> [&'static str; 2] {
        match self {
            Self::Code | Self::Document => ["file", "content"],
            Self::Html => ["artifact", "content"],
            Self::Frame => ["url", "port"],
        }
    }

    /// The rule of a field, if this kind knows the field. Further fields have none.
    fn rule(self, field: &str) -> Option<fn(&Value) -> Option<&'static str>> {
        match (self, field) {
            (Self::Code | Self::Document, "file") => Some(fault_of_text),
            (Self::Code | Self::Document | Self::Html, "content") => Some(fault_of_text),
            (Self::Code, "language") => Some(fault_of_text),
            (Self::Code | Self::Document, "editable") => Some(fault_of_flag),
            (Self::Html, "artifact") => Some(fault_of_artifact),
            (Self::Frame, "url") => Some(fault_of_url),
            (Self::Frame, "port") => Some(fault_of_port),
            (Self::Code | Self::Document | Self::Html | Self::Frame, _) => None,
        }
    }
}

/// A renderer with its configuration.
#[derive(Clone, Debug)]
pub struct Renderer {
    kind: RendererKind,
    config: Map<String, Value>,
}

impl Renderer {
    /// Checks a configuration. A field that is `null` counts as absent. Fails with every fault.
    pub fn new(kind: RendererKind, config: Map<String, Value>) -> Result<Self, Vec<Problem>> {
        let config: Map<_, _> = config.into_iter().filter(|(_, value)| !value.is_null()).collect();
        let mut problems = Vec::new();
        let mut problem = |path: &str, message: String| {
            problems.push(Problem { place: Place::Body, path: format!("/renderer_config{path}"), message });
        };
        let [one, other] = kind.subject();
        match (config.contains_key(one), config.contains_key(other)) {
            (true, true) => problem("", format!("must have {one} or {other}, and not both")),
            (false, false) => problem("", format!("must have {one} or {other}")),
            (true, false) | (false, true) => {}
        }
        for (name, value) in &config {
            let path = pointer("", name);
            if [MISSING, CUT, REFUSED].contains(&name.as_str()) {
                problem(&path, "is a field that only Pegboard sets".to_owned());
            }
            if let Some(fault) = kind.rule(name).and_then(|rule| rule(value)) {
                problem(&path, fault.to_owned());
            }
        }
        let config = Value::Object(config);
        if config.to_string().len() > MAX_CONFIG_BYTES {
            problem("", format!("must have at most {MAX_CONFIG_BYTES} bytes"));
        }
        let mut expressions = 0;
        check_texts(&config, "", MAX_DEPTH, &mut expressions, &mut problem);
        if expressions > MAX_EXPRESSIONS {
            problem("", format!("must have at most {MAX_EXPRESSIONS} expressions"));
        }
        match config {
            Value::Object(config) if problems.is_empty() => Ok(Self { kind, config }),
            _ => Err(problems),
        }
    }

    pub fn kind(&self) -> RendererKind {
        self.kind
    }

    pub fn config(&self) -> &Map<String, Value> {
        &self.config
    }

    pub fn into_config(self) -> Map<String, Value> {
        self.config
    }

    /// Whether an expression reads the result of the call.
    pub fn reads_result(&self) -> bool {
        self.config.values().any(reads_result)
    }
}

fn reads_result(value: &Value) -> bool {
    match value {
        Value::String(text) => {
            pieces(text).any(|it| matches!(it, Piece::Expression(Expression { root: Root::Return, .. })))
        }
        Value::Array(elements) => elements.iter().any(reads_result),
        Value::Object(fields) => fields.values().any(reads_result),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Checks the texts of a value: what looks like an expression must be one. Counts the expressions.
fn check_texts(
    value: &Value,
    path: &str,
    depth: usize,
    expressions: &mut usize,
    problem: &mut impl FnMut(&str, String),
) {
    let mut inside = |name: &str, value: &Value| match depth {
        0 => problem(path, format!("must not be nested deeper than {MAX_DEPTH} levels")),
        _ => check_texts(value, &pointer(path, name), depth - 1, expressions, problem),
    };
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| inside(name, value)),
        Value::Array(elements) => {
            elements.iter().enumerate().for_each(|(index, value)| inside(&index.to_string(), value));
        }
        Value::String(text) => {
            for piece in pieces(text) {
                match piece {
                    Piece::Text(_) => {}
                    Piece::Expression(_) => *expressions += 1,
                    Piece::Unknown(word) => {
                        let word: String = word.chars().take(64).collect();
                        problem(
                            path,
                            format!(
                                "{word} is no expression: there are $args, $return, $chat_id, $workspace and $toolset. \
                                 Write ${word} for the text"
                            ),
                        );
                    }
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The JSON pointer of a field.
fn pointer(path: &str, name: &str) -> String {
    format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"))
}

fn is_expression(value: &Value) -> bool {
    value.as_str().is_some_and(|it| Expression::whole(it).is_some())
}

fn fault_of_text(value: &Value) -> Option<&'static str> {
    value.as_str().is_none_or(str::is_empty).then_some("must be a text that is not empty")
}

fn fault_of_flag(value: &Value) -> Option<&'static str> {
    (!value.is_boolean() && !is_expression(value)).then_some("must be true, false or one expression")
}

fn fault_of_port(value: &Value) -> Option<&'static str> {
    let fault = "must be a number from 1 to 65535, or one expression";
    (frame::port_of(value).is_none() && !is_expression(value)).then_some(fault)
}

/// The call decides whether its URL may be shown. A URL without an expression is checked here too, as in open mode.
fn fault_of_url(value: &Value) -> Option<&'static str> {
    let Some(url) = value.as_str() else { return Some("must be a text") };
    match url.contains('$') {
        true => None,
        false => frame::fault_of_url(url, UrlRules { private: false, open: true, own_host: None }),
    }
}

fn fault_of_artifact(value: &Value) -> Option<&'static str> {
    let path = value.as_str().map(|it| it.strip_prefix("./").unwrap_or(it)).unwrap_or_default();
    let is_name = |it: &str| !["", ".", ".."].contains(&it);
    let is_path = path.split('/').all(is_name) && !path.contains(|it: char| it.is_control() || "\\$?#".contains(it));
    (!is_path).then_some("must be the path of a file of the toolset, such as artifacts/page.html, without expressions")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text_enum::TextEnum;
    use serde_json::json;

    /// The paths of the faults.
    fn faults(kind: &str, config: Value) -> Vec<String> {
        let Value::Object(config) = config else { unreachable!("a configuration") };
        match Renderer::new(RendererKind::parse(kind).unwrap(), config) {
            Ok(_) => Vec::new(),
            Err(problems) => {
                problems.into_iter().map(|it| it.path.strip_prefix("/renderer_config").unwrap().to_owned()).collect()
            }
        }
    }

    #[test]
    fn the_documents_configurations_are_good() {
        for (kind, config) in [
            ("code", json!({"file": "$args.path", "language": "auto", "editable": true})),
            ("code", json!({"content": "$return.output", "language": "shell", "editable": "$args.editable"})),
            ("document", json!({"file": "$args.path", "editable": true})),
            ("document", json!({"content": "# $return.title\n\n$return.text", "file": null})),
            ("html", json!({"artifact": "./artifacts/viz.html", "data": "$return"})),
            ("html", json!({"content": "<p>Costs $$5 or ${x}</p>", "data": {"rows": ["$return.rows", 1, null]}})),
            ("frame", json!({"url": "http://localhost:$return.port"})),
            ("frame", json!({"url": "https://maps.example/?q=$args.place", "height": 400})),
            ("frame", json!({"port": "$return.port"})),
            ("frame", json!({"port": 3000})),
            ("code", json!({"file": "/a", "further": {"any": [{"thing": "$chat_id"}]}})),
        ] {
            assert_eq!(faults(kind, config.clone()), Vec::<String>::new(), "{kind} {config}");
        }
    }

    #[test]
    fn every_fault_has_its_place() {
        let check = |kind: &str, config: Value, expected: &[&str]| assert_eq!(faults(kind, config), expected, "{kind}");
        check("code", json!({}), &[""]);
        check("code", json!({"file": "a", "content": "b"}), &[""]);
        check("code", json!({"file": 1, "language": "", "editable": "yes"}), &["/file", "/language", "/editable"]);
        check("document", json!({"content": ["a"], "editable": 0}), &["/content", "/editable"]);
        check("html", json!({"content": "a", "artifact": "b"}), &[""]);
        check("frame", json!({"url": "a"}), &["/url"]);
        check("frame", json!({"url": "http://a.example"}), &["/url"]);
        check("frame", json!({"url": {}}), &["/url"]);
        check("frame", json!({"port": "a$args.x"}), &["/port"]);
        check("frame", json!({"port": 0}), &["/port"]);
        let unknown = json!({"file": "$arg.path", "more": [{"a/b": "x $result.y $foo"}]});
        check("code", unknown, &["/file", "/more/0/a~1b", "/more/0/a~1b"]);
        check("code", json!({"file": "a", "missing": [], "cut": 1, "refused": "x"}), &["/missing", "/cut", "/refused"]);
        for path in ["", "/a", "../a", "a/../b", "a//b", "a\\b", "./", "a/", "$args.x", "a?b", "./../a", "a\nb"] {
            check("html", json!({"artifact": path}), &["/artifact"]);
        }
    }

    #[test]
    fn a_configuration_is_bounded() {
        assert_eq!(faults("code", json!({"content": "x".repeat(MAX_CONFIG_BYTES)})), [""]);
        assert_eq!(faults("code", json!({"content": "$args".repeat(MAX_EXPRESSIONS)})), Vec::<String>::new());
        assert_eq!(faults("code", json!({"content": "$args".repeat(MAX_EXPRESSIONS + 1)})), [""]);
        let nested = |levels: usize| (0..levels).fold(json!("$args"), |value, _| json!([value]));
        assert_eq!(faults("html", json!({"content": "x", "data": nested(MAX_DEPTH - 1)})), Vec::<String>::new());
        assert_eq!(faults("html", json!({"content": "x", "data": nested(MAX_DEPTH)})).len(), 1);
        assert_eq!(faults("html", json!({"content": "x", "data": nested(120)})).len(), 1);
    }

    #[test]
    fn a_result_is_only_read_if_an_expression_asks_for_it() {
        let reads = |config: Value| {
            Renderer::new(RendererKind::Html, config.as_object().unwrap().clone()).unwrap().reads_result()
        };
        assert!(reads(json!({"content": "a $return.x"})));
        assert!(reads(json!({"content": "a", "data": [{"b": "$return"}]})));
        assert!(!reads(json!({"content": "$$return $args.return", "data": {"$return": 1}})));
    }
}
