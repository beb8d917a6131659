//! YAML 1.2, read as JSON values. Only what JSON can say is read: anchors, aliases, tags, keys that are not scalars, keys
//! that come twice and several documents are refused, because strangers write these texts and each of these has been used
//! to make a small text large or to hide a value.

use saphyr_parser::{Event, Parser, ScalarStyle, Span};
use serde_json::{Map, Value};

/// How deep lists and objects may be nested. This is also the limit of the JSON reader.
const MAX_DEPTH: usize = 127;

/// Reads one document with at most `max_values` values, or says what is wrong with it and in which line.
pub fn read(text: &str, max_values: usize) -> Result<Value, String> {
    let mut reading = Reading { open: Vec::new(), root: None, documents: 0, values_left: max_values };
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|cause| format!("line {}: {}", cause.marker().line(), cause.info()))?;
        reading.take(event).map_err(|fault| format!("line {}: {fault}", line(span)))?;
    }
    reading.root.ok_or_else(|| "the document is empty".to_owned())
}

fn line(span: Span) -> usize {
    span.start.line()
}

/// A list or an object that has begun and not ended.
enum OpenValue {
    List(Vec<Value>),
    /// The fields so far, and the key whose value comes next.
    Object(Map<String, Value>, Option<String>),
}

struct Reading {
    open: Vec<OpenValue>,
    root: Option<Value>,
    documents: usize,
    values_left: usize,
}

impl Reading {
    fn take(&mut self, event: Event<'_>) -> Result<(), &'static str> {
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
            Event::DocumentStart(_) => {
                self.documents += 1;
                if self.documents > 1 { Err("a second document begins; one is read") } else { Ok(()) }
            }
            Event::Alias(_) => Err(ANCHORS),
            Event::Scalar(text, style, anchor, tag) => {
                self.plain(anchor, tag.is_some())?;
                let is_plain = style == ScalarStyle::Plain;
                match self.open.last_mut() {
                    // Every scalar key is a text: `200:` is the key "200".
                    Some(OpenValue::Object(fields, key @ None)) => {
                        if fields.contains_key(text.as_ref()) {
                            return Err("a key comes twice in one object");
                        }
                        *key = Some(text.into_owned());
                        Ok(())
                    }
                    Some(_) | None => self.put(if is_plain { scalar(&text) } else { Value::String(text.into_owned()) }),
                }
            }
            Event::SequenceStart(anchor, tag) => {
                self.plain(anchor, tag.is_some())?;
                self.begin(OpenValue::List(Vec::new()))
            }
            Event::MappingStart(anchor, tag) => {
                self.plain(anchor, tag.is_some())?;
                self.begin(OpenValue::Object(Map::new(), None))
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(OpenValue::List(items)) => self.put(Value::Array(items)),
                Some(OpenValue::Object(fields, _)) => self.put(Value::Object(fields)),
                None => Err("a list or an object ends that has not begun"),
            },
        }
    }

    fn plain(&self, anchor: usize, is_tagged: bool) -> Result<(), &'static str> {
        if anchor != 0 {
            Err(ANCHORS)
        } else if is_tagged {
            Err("tags (!) are not read")
        } else {
            Ok(())
        }
    }

    fn begin(&mut self, value: OpenValue) -> Result<(), &'static str> {
        if matches!(self.open.last(), Some(OpenValue::Object(_, None))) {
            return Err("a key is a list or an object; keys are texts");
        }
        if self.open.len() >= MAX_DEPTH {
            return Err("the document is nested too deep");
        }
        self.open.push(value);
        Ok(())
    }

    /// Puts a whole value where it belongs.
    fn put(&mut self, value: Value) -> Result<(), &'static str> {
        self.values_left = self.values_left.checked_sub(1).ok_or("the document has too many values")?;
        match self.open.last_mut() {
            None => self.root = Some(value),
            Some(OpenValue::List(items)) => items.push(value),
            Some(OpenValue::Object(fields, key)) => {
                fields.insert(key.take().unwrap_or_default(), value);
            }
        }
        Ok(())
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
    use super::*;
    use serde_json::json;
    use std::time::{Duration, Instant};

    #[track_caller]
    fn check(text: &str, expected: Value) {
        assert_eq!(read(text, 1_000), Ok(expected), "{text}");
    }

    #[track_caller]
    #[expect(clippy::disallowed_methods, reason = "tests run on the host, where there is a clock")]
    fn refused(text: &str, reason: &str) {
        let began = Instant::now();
        let fault = read(text, 100_000).unwrap_err();
        assert!(fault.contains(reason), "{fault}");
        // A small text takes less than a millisecond, and a large one some microseconds for each value.
        let limit = if text.len() < 200_000 { Duration::from_millis(500) } else { Duration::from_secs(10) };
        assert!(began.elapsed() < limit, "{:?} for {}", began.elapsed(), &text[..20.min(text.len())]);
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
        refused("a: 1\nb: 2\na: 3", "line 3: a key comes twice");
        refused("{a: 1, \"a\": 2}", "a key comes twice");
        refused("? [a]\n: 1", "a key is a list or an object");
        refused("a: 1\n---\nb: 2", "a second document");
        refused("", "empty");
        refused("a: [1", "line");
        refused("a: 'x", "line");
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
        refused(&keys, "line 20001: a key comes twice");
    }
}
