//! The page of a call whose renderer is `html`: a page with the data of the call in it. docs/rendering.md tells where the
//! data goes.
//!
//! The page is not parsed, only its tags are found, so that nothing else of the page changes. Text in comments, and in
//! elements whose content is no markup, holds no tags.

use serde_json::Value;

/// The page with a script that sets `window.__TOOL_DATA__`. The script stands before the first `</head>`, or else right
/// after the first `<body …>`, or else first, after a doctype.
pub fn with_data(page: &str, data: &Value) -> String {
    let (before, after) = page.split_at(place(page));
    format!("{before}{}{after}", script(data))
}

/// The script with the data. No text in the data can end the script, or be a line end where JSON allows one and old
/// scripts do not.
fn script(data: &Value) -> String {
    let json = data.to_string().replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029");
    format!("<script>window.__TOOL_DATA__ = {json};</script>")
}

/// Where the script goes, in bytes.
fn place(page: &str) -> usize {
    let mut markup = Markup { page, at: if page.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 } };
    let mut first = markup.at;
    // Before a doctype there are only white space and comments. Anything else makes the page one without a doctype.
    let mut may_have_doctype = true;
    while let Some(piece) = markup.next() {
        match piece.kind {
            Kind::End if piece.is("head") => return piece.start,
            Kind::Start if piece.is("body") => return markup.at,
            Kind::Doctype if may_have_doctype => first = markup.at,
            Kind::Comment | Kind::WhiteSpace => continue,
            Kind::Doctype | Kind::Start | Kind::End | Kind::Text => {}
        }
        may_have_doctype = false;
    }
    first
}

/// Elements whose content is text up to their end tag. Scripts run, so `noscript` is one of them.
const TEXT_ELEMENTS: [&str; 9] =
    ["script", "style", "title", "textarea", "noscript", "xmp", "iframe", "noembed", "noframes"];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Doctype,
    Comment,
    Start,
    End,
    WhiteSpace,
    Text,
}

/// A piece of a page.
struct Piece<'a> {
    kind: Kind,
    start: usize,
    /// The name of a tag.
    name: &'a str,
}

impl Piece<'_> {
    fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }
}

/// The pieces of a page, from `at` on.
struct Markup<'a> {
    page: &'a str,
    at: usize,
}

impl<'a> Markup<'a> {
    /// The next piece. None at the end of the page, and where a piece has no end: a parser takes the rest as its content.
    fn next(&mut self) -> Option<Piece<'a>> {
        let start = self.at;
        let rest = &self.page[start..];
        let opening = rest.find('<').unwrap_or(rest.len());
        if opening > 0 {
            self.at += opening;
            let is_space = rest[..opening].trim_ascii().is_empty();
            return Some(Piece { kind: if is_space { Kind::WhiteSpace } else { Kind::Text }, start, name: "" });
        }
        let starts_letter = |text: &str| text.starts_with(|it: char| it.is_ascii_alphabetic());
        let (kind, name, length) = match rest.get(1..)?.as_bytes().first() {
            Some(b'!') if rest.starts_with("<!--") => (Kind::Comment, "", comment_length(rest)?),
            Some(b'!') => {
                let is_doctype = rest.get(2..9).is_some_and(|it| it.eq_ignore_ascii_case("doctype"));
                (if is_doctype { Kind::Doctype } else { Kind::Comment }, "", rest.find('>')? + 1)
            }
            Some(b'?') => (Kind::Comment, "", rest.find('>')? + 1),
            Some(b'/') if starts_letter(&rest[2..]) => {
                let name = tag_name(&rest[2..]);
                (Kind::End, name, 2 + name.len() + attributes_length(&rest[2 + name.len()..])?)
            }
            Some(b'/') => (Kind::Comment, "", rest.find('>')? + 1),
            Some(_) if starts_letter(&rest[1..]) => {
                let name = tag_name(&rest[1..]);
                (Kind::Start, name, 1 + name.len() + attributes_length(&rest[1 + name.len()..])?)
            }
            Some(_) | None => (Kind::Text, "", 1),
        };
        self.at += length;
        if kind == Kind::Start && TEXT_ELEMENTS.iter().any(|it| name.eq_ignore_ascii_case(it)) {
            self.at += content_length(&self.page[self.at..], name)?;
        }
        Some(Piece { kind, start, name })
    }
}

/// The length of the comment at the beginning of the text.
fn comment_length(text: &str) -> Option<usize> {
    let inside = &text[4..];
    if let Some(end) = [">", "->"].iter().find(|it| inside.starts_with(**it)) {
        return Some(4 + end.len());
    }
    let is_end = |at: usize| inside[..at].ends_with("--") || inside[..at].ends_with("--!");
    inside.match_indices('>').find(|(at, _)| is_end(*at)).map(|(at, _)| 4 + at + 1)
}

/// The name of the tag that begins with the text.
fn tag_name(text: &str) -> &str {
    text.split(|it: char| it.is_ascii_whitespace() || it == '/' || it == '>').next().unwrap_or_default()
}

/// The length of the attributes that begin with the text, and of the `>` after them. In quotes, `>` ends nothing.
fn attributes_length(text: &str) -> Option<usize> {
    #[derive(Clone, Copy)]
    enum In {
        Gap,
        Name,
        AfterName,
        BeforeValue,
        Value,
        Quotes(u8),
    }
    let mut place = In::Gap;
    for (at, byte) in text.bytes().enumerate() {
        let is_space = byte.is_ascii_whitespace();
        place = match (place, byte) {
            (In::Quotes(quote), _) => {
                if byte == quote {
                    In::Gap
                } else {
                    place
                }
            }
            (_, b'>') => return Some(at + 1),
            (In::BeforeValue, b'"' | b'\'') => In::Quotes(byte),
            (In::BeforeValue, _) => {
                if is_space {
                    place
                } else {
                    In::Value
                }
            }
            (In::Value, _) => {
                if is_space {
                    In::Gap
                } else {
                    place
                }
            }
            (In::Name | In::AfterName, b'=') => In::BeforeValue,
            (_, b'/') => In::Gap,
            (In::Name | In::AfterName, _) if is_space => In::AfterName,
            (In::Gap, _) if is_space => In::Gap,
            (In::Gap | In::Name | In::AfterName, _) => In::Name,
        };
    }
    None
}

/// The length of an element's content that is text: up to the end tag of the element.
fn content_length(text: &str, name: &str) -> Option<usize> {
    let is_end = |at: usize| {
        let tag = &text.as_bytes()[at..];
        let ends = |it: &u8| it.is_ascii_whitespace() || [b'/', b'>'].contains(it);
        tag.get(2..2 + name.len()).is_some_and(|it| it.eq_ignore_ascii_case(name.as_bytes()))
            && tag.get(2 + name.len()).is_some_and(ends)
    };
    text.match_indices("</").map(|(at, _)| at).find(|at| is_end(*at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dice::Dice;
    use serde_json::json;

    /// The page with `|` where the script goes.
    fn marked(page: &str) -> String {
        let mut page = page.to_owned();
        page.insert(place(&page), '|');
        page
    }

    #[track_caller]
    fn check(expected: &str) {
        assert_eq!(marked(&expected.replacen('|', "", 1)), expected);
    }

    #[test]
    fn the_script_stands_before_the_end_of_the_head() {
        check("<!DOCTYPE html><html><head><title>a</title>|</head><body></body></html>");
        check("<HEAD>|</HEAD >");
        check("<head>|</head\n><body>");
        check("<head><meta content='</head>'><link title=\"</head>\">|</head>");
    }

    #[test]
    fn without_a_head_it_stands_at_the_start_of_the_body() {
        check("<html><body>|<p>a</p></body></html>");
        check("<BODY class='a>b' data-x=\"c>d\" e=f>|g");
        check("<body\n  hidden/>|a");
        check("<body>|<p></head>");
        check("<bodyguard><body a\">|b");
    }

    #[test]
    fn otherwise_it_is_first_after_a_doctype() {
        check("|");
        check("|<p>a</p>");
        check("|a < b <body");
        check("<!doctype html>|<p>a</p>");
        check("\u{feff} <!-- a --> \n<!DOCTYPE html>|<html><p>a");
        check("\u{feff}|<p>a");
        check("|<p>a</p><!doctype html>");
        check("|<html><!doctype html>");
        check("<!doctype html>|<!doctype html>");
        check("<?xml version='1.0'?><!DOCTYPE html>|<html/>");
    }

    #[test]
    fn text_that_is_no_markup_holds_no_tags() {
        check("<head><!-- </head> <body> -->|</head>");
        check("<head><!--> --><script>'</head>'; \"<body>\"</script >|</head>");
        check("<!--><body>|");
        check("<!---><body>|");
        check("<!-- a --!><body>|");
        check("<!-- a ---><body>|");
        check("<title></head></title><style></head></STYLE><textarea><body></textarea>|</head>");
        check("<script>a</scripts></head></script><body>|");
        check("<noscript><body></noscript><body>|");
        check("</ head></!head><!head><body>|");
        // A piece without an end is the rest of the page.
        check("|<!-- </head>");
        check("|<script></head>");
        check("|<p title='</head><body>");
    }

    #[test]
    fn data_cannot_leave_its_script() {
        let data =
            json!({"a": "</script><script>alert(1)</script><!--", "b": "\u{2028}\u{2029}\"\\", "<c>": [1.5, null]});
        let page = with_data("<head></head>", &data);
        let json = page.strip_prefix("<head><script>window.__TOOL_DATA__ = ").unwrap();
        let json = json.strip_suffix(";</script></head>").unwrap();
        assert!(!json.contains(['<', '\u{2028}', '\u{2029}']), "{json}");
        assert_eq!(serde_json::from_str::<Value>(json).unwrap(), data);
        assert_eq!(with_data("", &Value::Null), "<script>window.__TOOL_DATA__ = null;</script>");
    }

    /// Pieces of which each is whole: no other piece changes where it ends.
    const WHOLE: [&str; 24] = [
        "<!doctype html>",
        "<html lang=de>",
        "<head>",
        "</head>",
        "</HEAD\t>",
        "<body>",
        "<BODY onload=\"a('>')\">",
        "</body>",
        "<!-- </head><body> -->",
        "<!---->",
        "<!-->",
        "<script>'</head>'</script>",
        "<style>a>b{}</style>",
        "<title><body></title>",
        "<p title='</head>'>",
        "<br/>",
        "a < b",
        " ",
        "ä🎈",
        "</>",
        "<?php ?>",
        "<textarea></head></textarea>",
        "\u{feff}",
        "\n",
    ];

    /// Parts of pages that break off anywhere.
    const PARTS: [&str; 30] = [
        "<",
        ">",
        "</",
        "<!",
        "<!--",
        "-->",
        "--",
        "!",
        "-",
        "head",
        "body",
        "script",
        "title",
        "html",
        "doctype",
        "=",
        "'",
        "\"",
        "/",
        " ",
        "\n",
        "a",
        "ä",
        "🎈",
        "\0",
        "?",
        "\u{2028}",
        "\u{feff}",
        "<script>",
        "</script>",
    ];

    fn data(dice: &mut Dice, depth: usize) -> Value {
        let text = |dice: &mut Dice| (0..dice.below(6)).map(|_| dice.pick(&PARTS)).collect::<String>();
        match dice.below(if depth == 0 { 3 } else { 5 }) {
            0 => Value::Null,
            1 => json!(dice.below(1_000)),
            2 => Value::String(text(dice)),
            3 => (0..dice.below(4)).map(|_| data(dice, depth - 1)).collect(),
            _ => Value::Object((0..dice.below(4)).map(|_| (text(dice), data(dice, depth - 1))).collect()),
        }
    }

    #[test]
    fn any_page_keeps_its_text_and_any_data_keeps_to_its_script() {
        let mut dice = Dice(21);
        for round in 0..40_000 {
            let page = (0..dice.below(20)).map(|_| dice.pick(&PARTS)).collect::<String>();
            let data = data(&mut dice, 3);
            let shown = with_data(&page, &data);
            let at = place(&page);
            let script = shown.strip_prefix(&page[..at]).and_then(|it| it.strip_suffix(&page[at..]));
            let script = script.unwrap_or_else(|| panic!("{round}: the page is not the same"));
            let json = script.strip_prefix("<script>window.__TOOL_DATA__ = ").unwrap();
            let json = json.strip_suffix(";</script>").unwrap();
            assert!(!json.contains(['<', '\u{2028}', '\u{2029}']), "{round}: {json}");
            assert_eq!(serde_json::from_str::<Value>(json).unwrap(), data, "{round}");
        }
    }

    #[test]
    fn the_script_stands_between_whole_pieces() {
        let mut dice = Dice(22);
        for round in 0..40_000 {
            let pieces = (0..dice.below(12)).map(|_| dice.pick(&WHOLE)).collect::<Vec<_>>();
            let (page, at) = (pieces.concat(), place(&pieces.concat()));
            let mut ends = vec![0];
            for piece in &pieces {
                ends.push(ends.last().unwrap() + piece.len());
            }
            let before = ends.iter().position(|it| *it == at);
            let before = before.unwrap_or_else(|| panic!("{round}: {at} is inside a piece of {page:?}"));
            // The first of these decides, whatever stands around it.
            let is = |it: &&str, name: &str| it.trim_end_matches(['>', '\t']).eq_ignore_ascii_case(name);
            let decides = |it: &&&str| is(it, "</head") || it.to_ascii_lowercase().starts_with("<body");
            match pieces.iter().position(|it| decides(&it)) {
                Some(found) if is(&pieces[found], "</head") => assert_eq!(before, found, "{round}: {page:?}"),
                Some(found) => assert_eq!(before, found + 1, "{round}: {page:?}"),
                None => assert!(pieces[..before].iter().all(|it| !it.starts_with("<html")), "{round}: {page:?}"),
            }
        }
    }

    #[test]
    fn a_hostile_page_takes_the_time_of_its_length() {
        for hostile in ["<", "</", "<!--", "<!", "<a ", "<a b='", "<script>", "</script", "--", "<title></", "<p>", "&"]
        {
            let page = hostile.repeat(300_000);
            assert!(place(&page) <= page.len());
        }
    }
}
