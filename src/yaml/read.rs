//! Reads YAML 1.2 as JSON values. Only what JSON can say is read: anchors, aliases, tags, keys that are not scalars, keys
//! that come twice and several documents are refused, because strangers write these texts and each of these has been used
//! to make a small text large or to hide a value.

use super::located::{Located, Place};
use crate::error::shortened;
use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt;

/// How deep lists and objects may be nested. This is also the limit of the JSON reader.
const MAX_DEPTH: usize = 127;

/// The reason why a text cannot be read, and its line.
#[derive(Clone, Debug, PartialEq)]
pub struct YamlFault {
    /// From 1.
    pub line: u32,
    pub message: String,
}

impl fmt::Display for YamlFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

/// Reads one document with at most `max_values` values, or says what is wrong with it and in which line.
pub fn read(text: &str, max_values: usize) -> Result<Value, String> {
    read_located(text, max_values).map(Located::into_value).map_err(|fault| fault.to_string())
}

/// Reads one document with at most `max_values` values, and keeps the lines of all of them.
pub fn read_located(text: &str, max_values: usize) -> Result<Located, YamlFault> {
    // Editors put this mark before the text to say that it is UTF-8.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reading =
        Reading { open: Vec::new(), root: None, documents: 0, values_left: max_values, places: Vec::new() };
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|cause| {
            let line = cause.marker().line();
            // The parser has other words for a tab in every context, and may tell the line before.
            let tabbed = [line, line + 1].into_iter().find(|it| is_tabbed(text, *it));
            match tabbed.filter(|it| *it == line || cause.info().contains("a tab")) {
                Some(line) => YamlFault { line: number_of(line), message: TABS.to_owned() },
                None => YamlFault { line: number_of(line), message: cause.info().to_owned() },
            }
        })?;
        let line = number_of(span.start.line());
        reading.take(event, line).map_err(|message| YamlFault { line, message: message.into_owned() })?;
    }
    let empty = || YamlFault { line: 1, message: "the document is empty".to_owned() };
    reading.root.map(|value| Located::new(value, reading.places)).ok_or_else(empty)
}

fn number_of(line: usize) -> u32 {
    u32::try_from(line).unwrap_or(u32::MAX).max(1)
}

const TABS: &str = "the line is indented with a tab; YAML is indented with spaces";

/// Whether the indentation of a line has a tab.
fn is_tabbed(text: &str, line: usize) -> bool {
    let line = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
    line[..line.len() - line.trim_start_matches([' ', '\t']).len()].contains('\t')
}

/// A list or an object that has begun and not ended.
struct OpenValue {
    /// The index of its place.
    at: usize,
    parts: OpenParts,
}

enum OpenParts {
    List(Vec<Value>),
    /// The fields so far, and the key whose value comes next, with its line.
    Object(Map<String, Value>, Option<(String, u32)>),
}

struct Reading {
    open: Vec<OpenValue>,
    root: Option<Value>,
    documents: usize,
    values_left: usize,
    places: Vec<Place>,
}

type Taken = Result<(), Cow<'static, str>>;

impl Reading {
    fn take(&mut self, event: Event<'_>, line: u32) -> Taken {
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
            Event::DocumentStart(_) => {
                self.documents += 1;
                if self.documents > 1 { Err("a second document begins; one is read".into()) } else { Ok(()) }
            }
            Event::Alias(_) => Err(ANCHORS.into()),
            Event::Scalar(text, style, anchor, tag) => {
                self.plain(anchor, tag.is_some())?;
                let is_plain = style == ScalarStyle::Plain;
                match self.open.last_mut().map(|it| &mut it.parts) {
                    // Every scalar key is a text: `200:` is the key "200".
                    Some(OpenParts::Object(fields, key @ None)) => {
                        if fields.contains_key(text.as_ref()) {
                            return Err(format!("the key {} comes twice in one object", shortened(&text)).into());
                        }
                        *key = Some((text.into_owned(), line));
                        Ok(())
                    }
                    Some(_) | None => {
                        self.place(line)?;
                        self.put(if is_plain { scalar(&text) } else { Value::String(text.into_owned()) });
                        Ok(())
                    }
                }
            }
            Event::SequenceStart(anchor, tag) => {
                self.plain(anchor, tag.is_some())?;
                self.begin(OpenParts::List(Vec::new()), line)
            }
            Event::MappingStart(anchor, tag) => {
                self.plain(anchor, tag.is_some())?;
                self.begin(OpenParts::Object(Map::new(), None), line)
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let ended = self.open.pop().ok_or("a list or an object ends that has not begun")?;
                let end = self.places.len();
                if let Some(place) = self.places.get_mut(ended.at) {
                    place.end = end;
                }
                self.put(match ended.parts {
                    OpenParts::List(items) => Value::Array(items),
                    OpenParts::Object(fields, _) => Value::Object(fields),
                });
                Ok(())
            }
        }
    }

    fn plain(&self, anchor: usize, is_tagged: bool) -> Taken {
        if anchor != 0 {
            Err(ANCHORS.into())
        } else if is_tagged {
            Err("tags (!) are not read".into())
        } else {
            Ok(())
        }
    }

    fn begin(&mut self, parts: OpenParts, line: u32) -> Taken {
        if matches!(self.open.last(), Some(OpenValue { parts: OpenParts::Object(_, None), .. })) {
            return Err("a key is a list or an object; keys are texts".into());
        }
        if self.open.len() >= MAX_DEPTH {
            return Err("the document is nested too deep".into());
        }
        let at = self.places.len();
        self.place(line)?;
        self.open.push(OpenValue { at, parts });
        Ok(())
    }

    /// Notes the place of a value that begins: the line of its key, if it has one.
    fn place(&mut self, line: u32) -> Taken {
        self.values_left = self.values_left.checked_sub(1).ok_or("the document has too many values")?;
        let of_key = match self.open.last().map(|it| &it.parts) {
            Some(OpenParts::Object(_, Some((_, line)))) => Some(*line),
            Some(_) | None => None,
        };
        self.places.push(Place { line: of_key.unwrap_or(line), end: self.places.len() + 1 });
        Ok(())
    }

    /// Puts a whole value where it belongs.
    fn put(&mut self, value: Value) {
        match self.open.last_mut().map(|it| &mut it.parts) {
            None => self.root = Some(value),
            Some(OpenParts::List(items)) => items.push(value),
            Some(OpenParts::Object(fields, key)) => {
                fields.insert(key.take().unwrap_or_default().0, value);
            }
        }
    }
}

const ANCHORS: &str = "anchors (&) and aliases (*) are not read";

/// The value of a scalar without quotes, as YAML's core schema reads it.
fn scalar(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => number(text).unwrap_or_else(|| Value::String(text.to_owned())),
    }
}

/// A number in YAML's spelling: JSON's, and also `+1`, `007`, `.5`, `5.`, `0x1f` and `0o17`. Infinity and not-a-number, which
/// JSON does not have, stay texts.
fn number(text: &str) -> Option<Value> {
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok().map(Value::from);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return u64::from_str_radix(digits, 8).ok().map(Value::from);
    }
    let (sign, rest) = text.strip_prefix('-').map_or(("", text.strip_prefix('+').unwrap_or(text)), |it| ("-", it));
    if !rest.bytes().any(|it| it.is_ascii_digit())
        || !rest.bytes().all(|it| it.is_ascii_digit() || b".eE+-".contains(&it))
        || rest.starts_with(['+', '-', 'e', 'E'])
    {
        return None;
    }
    let (digits, exponent) = rest.split_at(rest.find(['e', 'E']).unwrap_or(rest.len()));
    let (whole, fraction) = digits.split_once('.').map_or((digits, None), |(whole, it)| (whole, Some(it)));
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    let fraction = fraction.map_or(String::new(), |it| format!(".{}", if it.is_empty() { "0" } else { it }));
    // The JSON reader is in the bundle already, and reading a float in another way would add tables of 14 KB.
    serde_json::from_str(&format!("{sign}{whole}{fraction}{exponent}")).ok()
}

#[cfg(test)]
mod tests {
    use super::super::Node;
    use super::*;
    use crate::stopwatch::computed;
    use serde_json::json;
    use std::time::Duration;

    #[track_caller]
    fn check(text: &str, expected: Value) {
        assert_eq!(read(text, 1_000), Ok(expected), "{text}");
    }

    #[track_caller]
    fn refused(text: &str, reason: &str) {
        let began = computed();
        let fault = read(text, 100_000).unwrap_err();
        assert!(fault.contains(reason), "{fault}");
        // A small text takes less than a millisecond, and a large one some microseconds for each value.
        let limit = if text.len() < 200_000 { Duration::from_millis(500) } else { Duration::from_secs(10) };
        assert!(
            computed().saturating_sub(began) < limit,
            "{:?} for {}",
            computed().saturating_sub(began),
            &text[..20.min(text.len())]
        );
    }

    #[test]
    fn documents_are_the_same_values_as_in_json() {
        check("openapi: 3.0.0\npaths:\n  /a:\n    get:\n      tags: [x, 'y']\n", {
            json!({"openapi": "3.0.0", "paths": {"/a": {"get": {"tags": ["x", "y"]}}}})
        });
        check("---\n- a: |\n    two\n    lines\n- >-\n  one\n  line\n- \"q\\n\"\n", {
            json!([{"a": "two\nlines\n"}, "one line", "q\n"])
        });
        check("200: ok\ntrue: yes\n~: no\n", json!({"200": "ok", "true": "yes", "~": "no"}));
        check(r#"{"json": [1, {"x": null}], "s": "é\u00e9"}"#, json!({"json": [1, {"x": null}], "s": "éé"}));
        check("a:\nb: ''\n# a remark\nc: []\nd: {}\n", json!({"a": null, "b": "", "c": [], "d": {}}));
    }

    #[test]
    fn plain_scalars_follow_the_core_schema() {
        for (text, expected) in [
            ("1", json!(1)),
            ("-1", json!(-1)),
            ("+1", json!(1)),
            ("007", json!(7)),
            ("0", json!(0)),
            ("1.5", json!(1.5)),
            ("1.0", json!(1.0)),
            (".5", json!(0.5)),
            ("5.", json!(5.0)),
            ("1e3", json!(1e3)),
            ("0x1f", json!(31)),
            ("0o17", json!(15)),
            ("18446744073709551615", json!(u64::MAX)),
            ("true", json!(true)),
            ("FALSE", json!(false)),
            ("null", json!(null)),
            ("~", json!(null)),
            ("yes", json!("yes")),
            ("on", json!("on")),
            (".inf", json!(".inf")),
            ("1.2.3", json!("1.2.3")),
            ("2026-11-17", json!("2026-11-17")),
            ("1e", json!("1e")),
            ("e1", json!("e1")),
            ("0xzz", json!("0xzz")),
            ("1e999", json!("1e999")),
            ("-", json!("-")),
            ("'1'", json!("1")),
        ] {
            let text = if text == "-" { "'-'" } else { text };
            check(&format!("[{text}]"), json!([expected]));
        }
    }

    #[test]
    fn what_strangers_hide_things_with_is_refused() {
        refused("a: &x 1\nb: 2", "line 1: anchors");
        refused("a: 1\nb: *x", "line 2: ");
        refused("a: !!str 1", "tags");
        refused("a: 1\nb: 2\na: 3", "line 3: the key a comes twice");
        refused("{a: 1, \"a\": 2}", "the key a comes twice");
        refused("? [a]\n: 1", "a key is a list or an object");
        refused("a: 1\n---\nb: 2", "a second document");
        refused("", "empty");
        refused("a: [1", "line");
        refused("a: 'x", "line");
    }

    #[test]
    fn tabs_do_not_indent() {
        refused("a:\n  b: 1\n\tc: 2", "line 3: the line is indented with a tab");
        for text in ["a:\n\tb: 1", "a:\n\t- 1", "a:\n  - b: 1\n \t  c: 2"] {
            refused(text, "is indented with a tab");
        }
        check("a: x\t# a remark\nb: \"c\td\"", json!({"a": "x", "b": "c\td"}));
    }

    #[test]
    fn a_mark_of_utf_8_is_no_part_of_the_text() {
        check("\u{feff}a: 1", json!({"a": 1}));
    }

    #[test]
    fn every_value_knows_its_line() {
        let text = "# a remark\na: 1\nb:\n  - x: |\n      two\n      lines\n    y:\n      z\n  - [1,\n     {k: v}]\nc: {}\nd: e\n";
        let document = read_located(text, 100).unwrap();
        let root = document.root();
        let lines = |node: Node<'_>| node.fields().map(|(name, it)| (name.to_owned(), it.line())).collect::<Vec<_>>();
        let named = |it: &[(&str, u32)]| it.iter().map(|(name, line)| ((*name).to_owned(), *line)).collect::<Vec<_>>();
        assert_eq!((root.line(), lines(root)), (2, named(&[("a", 2), ("b", 3), ("c", 11), ("d", 12)])));
        let items = root.fields().nth(1).unwrap().1.items().collect::<Vec<_>>();
        assert_eq!(items.iter().map(|it| it.line()).collect::<Vec<_>>(), [4, 9]);
        assert_eq!(lines(items[0]), named(&[("x", 4), ("y", 7)]));
        let inner = items[1].items().collect::<Vec<_>>();
        assert_eq!((inner[0].line(), inner[1].line(), lines(inner[1])), (9, 10, named(&[("k", 10)])));
        assert_eq!(inner[1].value(), &json!({"k": "v"}));
    }

    #[test]
    fn large_scalars_are_read_in_a_moment() {
        let long = "x".repeat(1 << 20);
        check(&format!("a: {long}"), json!({"a": long}));
        check(&format!("a: \"{long}\""), json!({"a": long}));
        refused(&format!("{long}: 1"), "");
        refused(&format!("a: \"{long}"), "");
    }

    #[test]
    fn hostile_documents_are_refused_at_once() {
        let mut laughs = "a: &a [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n".to_owned();
        for (one, other) in ('b'..='j').zip('a'..='i') {
            laughs.push_str(&format!("{one}: &{one} [{}]\n", vec![format!("*{other}"); 9].join(", ")));
        }
        refused(&laughs, "anchors");
        refused(&"[".repeat(100_000), "");
        refused(&"{a: ".repeat(49_000), "");
        refused(&"- ".repeat(50_000), "");
        let deep = (0..300).map(|it| format!("{}a:\n", " ".repeat(it))).collect::<String>();
        refused(&deep, "too deep");
        refused(&format!("[{}1]", "1,".repeat(200_000)), "too many values");
        let keys = (0..20_000).map(|it| format!("k{it}: 1\n")).collect::<String>() + "k7: 2";
        refused(&keys, "line 20001: the key k7 comes twice");
    }
}
