//! The expressions in a text. An expression is `$` and a root (`args`, `return`, `chat_id`, `workspace`, `toolset`). After
//! `$args` and `$return` follow any number of steps: `.name` into an object, and `[0]` into an array. An expression ends
//! where no further step begins. `$$` is one `$`.

use crate::text_enum::{TextEnum, text_enum};
use serde_json::Value;

text_enum! {
    /// The first word of an expression.
    Root {
        Args = "args",
        Return = "return",
        ChatId = "chat_id",
        Workspace = "workspace",
        Toolset = "toolset",
    }
}

impl Root {
    /// Whether steps may follow.
    const fn has_steps(self) -> bool {
        match self {
            Self::Args | Self::Return => true,
            Self::ChatId | Self::Workspace | Self::Toolset => false,
        }
    }
}

/// One step from a value into the value.
#[derive(Debug, PartialEq)]
enum Step<'a> {
    Field(&'a str),
    Element(usize),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expression<'a> {
    /// The expression as it is written, with its `$`.
    pub written: &'a str,
    pub root: Root,
    /// The steps as they are written.
    steps: &'a str,
}

impl<'a> Expression<'a> {
    /// Reads the expression that a text begins with.
    fn read(text: &'a str) -> Option<Self> {
        let word = word(text.strip_prefix('$')?);
        let root = Root::parse(word)?;
        let begin = 1 + word.len();
        let mut end = begin;
        while root.has_steps()
            && let Some((_, bytes)) = step(&text[end..])
        {
            end += bytes;
        }
        Some(Self { written: &text[..end], root, steps: &text[begin..end] })
    }

    /// The expression, if the text is nothing else.
    pub fn whole(text: &'a str) -> Option<Self> {
        Self::read(text).filter(|it| it.written.len() == text.len())
    }

    /// The value that the steps lead to.
    pub fn find<'v>(&self, root: &'v Value) -> Option<&'v Value> {
        let (mut value, mut rest) = (root, self.steps);
        while let Some((step, bytes)) = step(rest) {
            value = match step {
                Step::Field(name) => value.as_object()?.get(name)?,
                Step::Element(index) => value.as_array()?.get(index)?,
            };
            rest = &rest[bytes..];
        }
        Some(value)
    }
}

/// A part of a text.
#[derive(Debug, PartialEq)]
pub enum Piece<'a> {
    Text(&'a str),
    Expression(Expression<'a>),
    /// `$` and a word that is no root. It stands for itself, and may be misspelt.
    Unknown(&'a str),
}

/// The parts of a text, in their order.
pub fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, bytes) = first(rest);
        rest = &rest[bytes..];
        Some(piece)
    })
}

/// The first part of a text that is not empty, and how many bytes it takes.
fn first(text: &str) -> (Piece<'_>, usize) {
    match text.find('$').unwrap_or(text.len()) {
        0 => {}
        next => return (Piece::Text(&text[..next]), next),
    }
    if text.starts_with("$$") {
        return (Piece::Text(&text[..1]), 2);
    }
    if let Some(expression) = Expression::read(text) {
        return (Piece::Expression(expression), expression.written.len());
    }
    let word = word(&text[1..]);
    if word.starts_with(|it: char| it.is_ascii_alphabetic()) {
        return (Piece::Unknown(&text[..=word.len()]), 1 + word.len());
    }
    (Piece::Text(&text[..1]), 1)
}

/// The word of ASCII letters, digits and `_` that the text begins with.
fn word(text: &str) -> &str {
    let end = text.find(|it: char| !it.is_ascii_alphanumeric() && it != '_').unwrap_or(text.len());
    &text[..end]
}

/// The step that a text begins with, and its bytes.
fn step(text: &str) -> Option<(Step<'_>, usize)> {
    if let Some(inside) = text.strip_prefix('[') {
        let end = inside.find(|it: char| !it.is_ascii_digit())?;
        // A longer number does not fit an index on every machine.
        let index = inside[..end].parse().ok().filter(|_| end <= 9 && inside[end..].starts_with(']'))?;
        return Some((Step::Element(index), end + 2));
    }
    let name = name(text.strip_prefix('.')?);
    (!name.is_empty()).then(|| (Step::Field(name), 1 + name.len()))
}

/// The name of a field that the text begins with: letters, digits and `_` of any script, and `-` between them.
fn name(text: &str) -> &str {
    let is_letter = |it: char| it.is_alphanumeric() || it == '_';
    let mut end = 0;
    let mut dashes = 0;
    for letter in text.chars() {
        match letter {
            '-' if end > 0 => dashes += 1,
            _ if is_letter(letter) => {
                end += dashes + letter.len_utf8();
                dashes = 0;
            }
            _ => break,
        }
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Checks which part of a text is an expression.
    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(Expression::read(text).map(|it| it.written), expected, "{text}");
    }

    #[test]
    fn an_expression_ends_where_no_step_begins() {
        for whole in ["$args", "$args.x", "$args.a.b[0]", "$return.a[0][1].b", "$chat_id", "$workspace", "$toolset"] {
            check(whole, Some(whole));
            assert!(Expression::whole(whole).is_some());
        }
        check("$args.name.", Some("$args.name"));
        check("$args.name, and", Some("$args.name"));
        check("$args.größe!", Some("$args.größe"));
        check("$args.max-size", Some("$args.max-size"));
        check("$args.a--b", Some("$args.a--b"));
        check("$args.from-$args.to", Some("$args.from"));
        check("$args.a- b", Some("$args.a"));
        check("$args.-a", Some("$args"));
        check("$args-a", Some("$args"));
        check("$args[x]", Some("$args"));
        check("$args[]", Some("$args"));
        check("$args[0", Some("$args"));
        check("$args[1234567890]", Some("$args"));
        check("$args[123456789]", Some("$args[123456789]"));
        // Only arguments and results have steps.
        check("$workspace.zip", Some("$workspace"));
        check("$chat_id[0]", Some("$chat_id"));
        for none in ["", "$", "args", "$arg", "$argsx", "$args_", "$Args", "$ args", "$$args", "${args}"] {
            check(none, None);
        }
        assert_eq!(Expression::whole("$args.x "), None);
    }

    #[test]
    fn steps_lead_into_objects_and_arrays() {
        let value = json!({"a": {"b": [1, {"c": "x"}]}, "0": 2, "n": null});
        for (text, expected) in [
            ("$args", Some(&value)),
            ("$args.a.b[0]", Some(&json!(1))),
            ("$args.a.b[1].c", Some(&json!("x"))),
            ("$args.0", Some(&json!(2))),
            ("$args.n", Some(&json!(null))),
            ("$args[0]", None),
            ("$args.a.b[2]", None),
            ("$args.a.b.0", None),
            ("$args.a.b[0].c", None),
            ("$args.none", None),
            ("$args.n.x", None),
        ] {
            assert_eq!(Expression::whole(text).unwrap().find(&value), expected, "{text}");
        }
    }

    #[test]
    fn a_text_is_the_sum_of_its_pieces() {
        let shown = |text: &str| {
            let piece = |it| match it {
                Piece::Text(text) => text.to_owned(),
                Piece::Expression(it) => format!("<{}>", it.written),
                Piece::Unknown(word) => format!("?{word}?"),
            };
            pieces(text).map(piece).collect::<String>()
        };
        for (text, expected) in [
            ("", ""),
            ("plain ä text", "plain ä text"),
            ("$workspace/$args.path", "<$workspace>/<$args.path>"),
            ("$args$return", "<$args><$return>"),
            ("$$args costs $5, $$$args", "$args costs $5, $<$args>"),
            ("$ $. ${x} $", "$ $. ${x} $"),
            ("$arg and $retrun.x", "?$arg? and ?$retrun?.x"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }
}
