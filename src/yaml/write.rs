//! Writes a value as YAML. The same value always gives the same text, and every reader of YAML 1.2 reads the same value from
//! it. Readers of YAML 1.1 read the same texts, because a word that they take for something else has quotes.

use serde_json::{Map, Value};

/// How deep a part may lie to be written in block style. Deeper parts are written as JSON, which is YAML too, because
/// their indentation would be most of the text.
const MAX_BLOCK_DEPTH: usize = 24;

/// The longest key in block style, in characters. YAML allows 1,024.
const MAX_KEY_CHARS: usize = 500;

/// The text of a document, in block style, with a line break at its end.
pub fn write(value: &Value) -> String {
    let mut text = String::new();
    match value {
        Value::Object(fields) if is_block(value, 0) => write_fields(fields, 0, &mut text),
        Value::Array(items) if is_block(value, 0) => write_items(items, 0, &mut text),
        other => {
            write_inline(other, &mut text);
            text.push('\n');
        }
    }
    text
}

fn write_fields(fields: &Map<String, Value>, depth: usize, text: &mut String) {
    for (index, (name, value)) in fields.iter().enumerate() {
        // The first field of an element stands in the line of its dash.
        if index > 0 || !text.ends_with("- ") {
            indent(depth, text);
        }
        write_text(name, text);
        text.push(':');
        match value {
            Value::Object(inner) if is_block(value, depth + 1) => {
                text.push('\n');
                write_fields(inner, depth + 1, text);
            }
            Value::Array(items) if is_block(value, depth + 1) => {
                text.push('\n');
                write_items(items, depth + 1, text);
            }
            other => {
                text.push(' ');
                write_inline(other, text);
                text.push('\n');
            }
        }
    }
}

fn write_items(items: &[Value], depth: usize, text: &mut String) {
    for item in items {
        indent(depth, text);
        text.push_str("- ");
        match item {
            Value::Object(fields) if is_block(item, depth + 1) => write_fields(fields, depth + 1, text),
            other => {
                write_inline(other, text);
                text.push('\n');
            }
        }
    }
}

/// Whether a value takes lines of its own. Lists of lists do not.
fn is_block(value: &Value, depth: usize) -> bool {
    let fits = match value {
        Value::Object(fields) => {
            !fields.is_empty() && fields.keys().all(|name| name.chars().nth(MAX_KEY_CHARS).is_none())
        }
        Value::Array(items) => !items.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    };
    fits && depth <= MAX_BLOCK_DEPTH
}

fn indent(depth: usize, text: &mut String) {
    text.extend(std::iter::repeat_n("  ", depth));
}

/// Writes a value on the present line.
fn write_inline(value: &Value, text: &mut String) {
    match value {
        Value::String(it) => write_text(it, text),
        other => push_json(other, text),
    }
}

fn write_text(it: &str, text: &mut String) {
    if is_plain(it) { text.push_str(it) } else { push_json(&Value::from(it), text) }
}

/// Writes JSON. What JSON allows in a text and YAML does not is escaped.
fn push_json(value: &Value, text: &mut String) {
    for char in value.to_string().chars() {
        match char {
            '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                text.push_str(&format!("\\u{:04x}", u32::from(char)));
            }
            other => text.push(other),
        }
    }
}

/// Words that some reader takes for something else than a text.
const WORDS: [&str; 9] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];

/// Whether every reader takes a text without quotes for the same text.
fn is_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_word = WORDS.iter().any(|it| it.eq_ignore_ascii_case(text));
    let follows = |index: usize| bytes.get(index + 1).is_some_and(u8::is_ascii_alphanumeric);
    let is_fine = |(index, byte): (usize, &u8)| match byte {
        b'_' | b'-' | b'.' | b'/' => true,
        // A colon ends a key, and two spaces may become one.
        b':' | b' ' | b',' => follows(index) || (*byte == b',' && bytes.get(index + 1) == Some(&b' ')),
        other => other.is_ascii_alphanumeric(),
    };
    bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes.len() <= MAX_KEY_CHARS
        && bytes.iter().enumerate().all(is_fine)
        && !is_word
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;
    use crate::dice::Dice;
    use serde_json::json;

    #[test]
    fn a_document_is_written_in_blocks() {
        let value = json!({
            "id": "my-kit", "version": "1.0.0", "note": "Reads, and writes", "off": "Off", "odd key": "a: b",
            "tools": [{"entry": "tools.a:run", "schema": {"required": ["a", "1"], "any": {}}}, "x", [1, "a"]],
            "none": [], "lines": "one\ntwo", "ends with a colon:": "x:", "null": null, "half": 0.5,
        });
        let expected = r#"id: my-kit
version: "1.0.0"
note: Reads, and writes
"off": "Off"
odd key: "a: b"
tools:
  - entry: tools.a:run
    schema:
      required:
        - a
        - "1"
      any: {}
  - x
  - [1,"a"]
none: []
lines: "one\ntwo"
"ends with a colon:": "x:"
"null": null
half: 0.5
"#;
        assert_eq!(write(&value), expected);
        assert_eq!(read(expected, 1_000), Ok(value));
    }

    #[test]
    fn what_is_written_is_read_as_the_same_value() {
        let mut dice = Dice(21);
        for _ in 0..3_000 {
            let value = random_value(&mut dice, 5);
            let text = write(&value);
            assert_eq!(read(&text, 1_000_000).as_ref(), Ok(&value), "{text}");
        }
        for nest in [|value: Value| json!({"a": value}), |value: Value| json!({"a": [value]})] {
            let deep = (0..60).fold(json!("x"), |value, _| nest(value));
            assert_eq!(read(&write(&deep), 1_000), Ok(deep));
        }
        let long = json!({"a": {"k".repeat(3_000): "v", "é \"".repeat(700): {"b": 1}}, "c": "x ".repeat(50_000)});
        assert_eq!(read(&write(&long), 1_000), Ok(long));
    }

    fn random_value(dice: &mut Dice, depth: usize) -> Value {
        match dice.below(if depth == 0 { 6 } else { 10 }) {
            0 => Value::Null,
            1 => json!(dice.once_in(2)),
            2 => dice
                .pick(&[json!(0), json!(-1), json!(1.5), json!(u64::MAX), json!(1e300), json!(-2.5e-7)].each_ref())
                .clone(),
            3..=5 => json!(random_text(dice)),
            6 | 7 => (0..dice.below(4)).map(|_| random_value(dice, depth - 1)).collect(),
            _ => {
                let fields = (0..dice.below(4)).map(|_| (random_text(dice), random_value(dice, depth - 1)));
                Value::Object(fields.collect())
            }
        }
    }

    fn random_text(dice: &mut Dice) -> String {
        const PIECES: [&str; 44] = [
            "", "a", "Ab", "1", "true", "No", "~", " ", "  ", ":", ": ", " #", "#", "-", "- ", "?", "? ", "[", "]",
            "{", "}", ",", "&x", "*x", "!t", "|", ">", "'", "\"", "%", "@", "`", "\n", "\r", "\t", "\\", "é", "😀",
            "\u{0}", "\u{7f}", "\u{85}", "\u{2028}", "\u{feff}", "---",
        ];
        (0..dice.below(5)).map(|_| dice.pick(&PIECES)).collect()
    }
}
