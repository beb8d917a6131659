//! What people type into a search box, as an FTS5 expression. Any text is valid: words are all
//! required, `"a phrase"` is a phrase, `-word` excludes, `word*` is a prefix, `OR` joins its
//! neighbours, and everything else is quoted, so that no text can be read as FTS5's own syntax.

use std::collections::HashSet;

/// The longest text that is searched for, in characters.
pub const MAX_CHARS: usize = 2_000;

/// How many different words are searched for; those after them are left out. Ranking looks at every place of
/// every word, so that a text of a thousand common ones would hold the database for seconds.
const MAX_TERMS: usize = 32;

/// The FTS5 expression for `text`, or nothing where there is nothing to search for.
pub fn to_fts5(text: &str) -> Option<String> {
    let mut wanted: Vec<Vec<String>> = Vec::new();
    let mut unwanted: Vec<String> = Vec::new();
    let mut joins_previous = false;
    let mut seen = HashSet::new();

    for word in words(text) {
        let (excluded, term) = match word {
            Word::Or => {
                joins_previous = true;
                continue;
            }
            Word::Term { excluded, term } => (excluded, term),
        };
        let joins = std::mem::take(&mut joins_previous);
        if seen.len() == MAX_TERMS || !seen.insert((excluded, term.clone())) {
            continue;
        }
        match wanted.last_mut() {
            _ if excluded => unwanted.push(term),
            Some(alternatives) if joins => alternatives.push(term),
            _ => wanted.push(vec![term]),
        }
    }
    if wanted.is_empty() {
        return None;
    }
    let wanted =
        wanted.iter().map(|alternatives| format!("({})", alternatives.join(" OR "))).collect::<Vec<_>>().join(" AND ");
    Some(if unwanted.is_empty() { wanted } else { format!("({wanted}) NOT ({})", unwanted.join(" OR ")) })
}

enum Word {
    Or,
    Term { excluded: bool, term: String },
}

fn words(text: &str) -> impl Iterator<Item = Word> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            rest = rest.trim_start();
            if rest.is_empty() {
                return None;
            }
            let (excluded, body) = match rest.strip_prefix('-') {
                Some(body) => (true, body),
                None => (false, rest),
            };
            let (content, quoted, after) = take_word(body);
            rest = after;
            if content == "OR" && !quoted && !excluded {
                return Some(Word::Or);
            }
            if let Some(term) = quote(content, !quoted) {
                return Some(Word::Term { excluded, term });
            }
        }
    })
}

/// The next word or quoted phrase of `text`, whether it was quoted, and what follows it.
/// A phrase that is never closed goes to the end.
fn take_word(text: &str) -> (&str, bool, &str) {
    if let Some(phrase) = text.strip_prefix('"') {
        return match phrase.split_once('"') {
            Some((content, after)) => (content, true, after),
            None => (phrase, true, ""),
        };
    }
    let end = text.find(|it: char| it.is_whitespace() || it == '"').unwrap_or(text.len());
    (&text[..end], false, &text[end..])
}

/// `content` as a quoted FTS5 string, or nothing if it holds no letter or digit to search for.
fn quote(content: &str, may_be_prefix: bool) -> Option<String> {
    let is_prefix = may_be_prefix && content.ends_with('*');
    // SQLite would take a NUL for the end of the whole expression.
    let content = content.replace(['"', '\0'], " ");
    content
        .contains(char::is_alphanumeric)
        .then(|| format!("\"{}\"{}", content.trim_end_matches('*'), if is_prefix { " *" } else { "" }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(to_fts5(text).as_deref(), Some(expected));
    }

    #[test]
    fn words_are_all_required() {
        check("meeting", r#"("meeting")"#);
        check("  meeting \t schedule ", r#"("meeting") AND ("schedule")"#);
    }

    #[test]
    fn phrases_prefixes_exclusions_and_alternatives() {
        check(r#""weekly report""#, r#"("weekly report")"#);
        check("sched*", r#"("sched" *)"#);
        check("gas -power", r#"(("gas")) NOT ("power")"#);
        check(r#"gas -"power plant" -oil"#, r#"(("gas")) NOT ("power plant" OR "oil")"#);
        check("gas OR power price", r#"("gas" OR "power") AND ("price")"#);
        check("a OR b OR c", r#"("a" OR "b" OR "c")"#);
    }

    #[test]
    fn an_or_with_no_neighbour_is_nothing() {
        check("OR gas", r#"("gas")"#);
        check("gas OR", r#"("gas")"#);
        check("gas OR -oil power", r#"(("gas") AND ("power")) NOT ("oil")"#);
        check("or", r#"("or")"#);
    }

    #[test]
    fn fts5_syntax_is_only_text() {
        check("NEAR(a b)", r#"("NEAR(a") AND ("b)")"#);
        check("subject:x", r#"("subject:x")"#);
        check("a AND NOT b", r#"("a") AND ("AND") AND ("NOT") AND ("b")"#);
        check("foo-bar ^x {y}", r#"("foo-bar") AND ("^x") AND ("{y}")"#);
        check(r#"never "closed phrase"#, r#"("never") AND ("closed phrase")"#);
        check(r#"glued"phrase"x"#, r#"("glued") AND ("phrase") AND ("x")"#);
        check("nul\0byte", r#"("nul byte")"#);
    }

    #[test]
    fn repeated_and_too_many_words_are_left_out() {
        check("a a b a", r#"("a") AND ("b")"#);
        let many = (0..1000).map(|it| format!("w{it} ")).collect::<String>();
        assert_eq!(to_fts5(&many).unwrap().matches("AND").count(), MAX_TERMS - 1);
    }

    #[test]
    fn nothing_to_search_for() {
        for text in ["", "   ", "!!! -- *", "\"\"", "-", "-gas", "OR", "\0", "*"] {
            assert_eq!(to_fts5(text), None, "{text:?}");
        }
    }
}
