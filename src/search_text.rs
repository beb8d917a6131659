//! Turns the text that people type into a search box into an FTS5 expression. Every text is valid. All words are
//! required, `"a phrase"` is a phrase, `-word` excludes a word, `word*` is a prefix, and `OR` joins its neighbours.
//! Everything else is quoted, so that FTS5 cannot read any text as its own syntax.

mod common;
mod foreign;
mod inflect;
mod relaxed;
mod weight;

pub use foreign::ForeignSyntax;

use std::fmt;

/// The longest search text, in characters.
pub const MAX_CHARS: usize = 2_000;

/// How many words a search text may have. Words in phrases count; repeated terms count once. FTS5 visits every
/// occurrence of every word, so a text of a thousand common words would block the database for seconds.
pub const MAX_WORDS: usize = 64;

/// How many words a prefix counts as. A prefix is a search for all words that begin with it.
const PREFIX_WORDS: usize = 8;

/// A search text as an FTS5 expression.
#[derive(Clone, Debug, PartialEq)]
pub struct FullTextQuery {
    fts5: Option<String>,
    has_prefix: bool,
}

/// Why a search text is refused.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SearchTextTooLong {
    Characters,
    Words,
}

impl fmt::Display for SearchTextTooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Characters => write!(f, "has more than {MAX_CHARS} characters"),
            Self::Words => {
                write!(f, "has more than {MAX_WORDS} words to search for, where each prefix* counts as {PREFIX_WORDS}")
            }
        }
    }
}

impl FullTextQuery {
    /// Parses a search text whose words are all required. A prefix with fewer letters than `shortest_prefix` is read as
    /// a plain word, because in a large text half of all words may begin with it.
    pub fn parse(text: &str, shortest_prefix: usize) -> Result<Self, SearchTextTooLong> {
        if text.chars().count() > MAX_CHARS {
            return Err(SearchTextTooLong::Characters);
        }
        let (wanted, unwanted) = terms(text, shortest_prefix);
        if wanted.iter().flatten().chain(&unwanted).map(SearchTerm::words).sum::<usize>() > MAX_WORDS {
            return Err(SearchTextTooLong::Words);
        }
        if wanted.is_empty() {
            return Ok(Self { fts5: None, has_prefix: false });
        }
        Ok(Self::of_groups(&wanted, &unwanted))
    }

    /// One term of each wanted group must match, and no unwanted term may.
    fn of_groups(wanted: &[Vec<SearchTerm>], unwanted: &[SearchTerm]) -> Self {
        let has_prefix = wanted.iter().flatten().chain(unwanted).any(|it| it.is_prefix);
        let any_of = |terms: &[SearchTerm]| terms.iter().map(SearchTerm::fts5).collect::<Vec<_>>().join(" OR ");
        let wanted = wanted.iter().map(|it| format!("({})", any_of(it))).collect::<Vec<_>>().join(" AND ");
        let fts5 = if unwanted.is_empty() { wanted } else { format!("({wanted}) NOT ({})", any_of(unwanted)) };
        Self { fts5: Some(fts5), has_prefix }
    }

    /// Parses a search text of a model, which does not know the exact wording. One matching word is enough. A word also
    /// matches if it begins with one of the words, as far as [`MAX_WORDS`] allows. The results must be ranked, so that
    /// the results with the most matching words come first.
    pub fn parse_any(text: &str) -> Result<Self, SearchTextTooLong> {
        let shortest = 1;
        let mut query = Self::parse(text, shortest)?;
        let (wanted, unwanted) = terms(text, shortest);
        let mut wanted = wanted.into_iter().flatten().collect::<Vec<_>>();
        if !wanted.iter().all(common::is_common) {
            wanted.retain(|it| !common::is_common(it));
        }
        let counted = wanted.iter().chain(&unwanted).map(SearchTerm::words).sum();
        let mut left = MAX_WORDS.saturating_sub(counted);
        let mut any = Vec::new();
        for term in &wanted {
            let as_prefix = term.as_prefix().filter(|it| it.words() <= left);
            left -= as_prefix.as_ref().map_or(0, SearchTerm::words);
            any.extend(as_prefix.as_ref().map(SearchTerm::fts5));
            // The word itself scores higher than a word that only begins with it.
            any.push(term.fts5());
        }
        let any = any.join(" OR ");
        let none = unwanted.iter().map(SearchTerm::fts5).collect::<Vec<_>>().join(" OR ");
        query.fts5 = query.fts5.map(|_| if none.is_empty() { any } else { format!("({any}) NOT ({none})") });
        query.has_prefix = true;
        Ok(query)
    }

    /// The FTS5 expression. None if there is nothing to search for.
    pub fn fts5(&self) -> Option<&str> {
        self.fts5.as_deref()
    }

    /// Whether the expression holds a prefix.
    pub fn has_prefix(&self) -> bool {
        self.has_prefix
    }
}

/// A word or a phrase.
#[derive(Debug)]
struct SearchTerm {
    text: String,
    /// Whether the last word is only a prefix.
    is_prefix: bool,
    /// Whether the term stood in quotes.
    is_quoted: bool,
}

/// Terms are equal if they search for the same, whether or not one of them stood in quotes.
impl PartialEq for SearchTerm {
    fn eq(&self, other: &Self) -> bool {
        (&self.text, self.is_prefix) == (&other.text, other.is_prefix)
    }
}

impl SearchTerm {
    /// None if the text holds no letter or digit. (Some characters are letters to Rust and not to FTS5, such as a lone
    /// `Ⓐ` or a lone vowel sign of an Indic script. Such a term is a word that no text has.)
    fn new(content: &str, quoted: bool, shortest_prefix: usize) -> Option<Self> {
        if !content.contains(char::is_alphanumeric) {
            return None;
        }
        let stem = content.trim_end_matches('*');
        let is_prefix = !quoted && stem.len() < content.len() && weight::last_letters(stem) >= shortest_prefix;
        // SQLite would end the whole expression at a NUL.
        Some(Self { text: stem.replace(['"', '\0'], " "), is_prefix, is_quoted: quoted })
    }

    fn fts5(&self) -> String {
        format!("\"{}\"{}", self.text, if self.is_prefix { " *" } else { "" })
    }

    /// The term as a prefix, without the s of a plural. None if the term is too short or a prefix already.
    fn as_prefix(&self) -> Option<Self> {
        let letters = weight::last_letters(&self.text);
        if self.is_prefix || letters < 3 {
            return None;
        }
        let word = self.text.trim_end_matches(|it: char| !it.is_alphanumeric());
        let singular = word.strip_suffix('s').filter(|it| letters > 3 && !it.ends_with('s'));
        Some(Self { text: singular.unwrap_or(word).to_owned(), is_prefix: true, is_quoted: false })
    }

    /// How many words the term counts as.
    fn words(&self) -> usize {
        weight::words(&self.text) + if self.is_prefix { PREFIX_WORDS - 1 } else { 0 }
    }
}

/// The wanted terms, in groups of alternatives of which one must match, and the excluded terms. No term is repeated.
fn terms(text: &str, shortest_prefix: usize) -> (Vec<Vec<SearchTerm>>, Vec<SearchTerm>) {
    let (mut wanted, mut unwanted) = (Vec::new(), Vec::new());
    let mut group: Vec<SearchTerm> = Vec::new();
    let mut joins = false;
    for word in words(text, shortest_prefix) {
        match word {
            SearchWord::Or => joins = true,
            SearchWord::Term { excluded: true, term } => {
                joins = false;
                push_term(&mut unwanted, term);
            }
            SearchWord::Term { excluded: false, term } => {
                if !std::mem::take(&mut joins) {
                    push_group(&mut wanted, std::mem::take(&mut group));
                }
                push_term(&mut group, term);
            }
        }
    }
    push_group(&mut wanted, group);
    // The group before the first word is empty.
    wanted.retain(|it| !it.is_empty());
    (wanted, unwanted)
}

/// Adds a term, unless there is an equal one. A term counts as quoted if it stood in quotes once.
fn push_term(list: &mut Vec<SearchTerm>, term: SearchTerm) {
    match list.iter_mut().find(|it| **it == term) {
        Some(same) => same.is_quoted |= term.is_quoted,
        None => list.push(term),
    }
}

fn push_group(list: &mut Vec<Vec<SearchTerm>>, group: Vec<SearchTerm>) {
    match list.iter_mut().find(|it| **it == group) {
        Some(same) => same.iter_mut().zip(&group).for_each(|(it, other)| it.is_quoted |= other.is_quoted),
        None => list.push(group),
    }
}

enum SearchWord {
    Or,
    Term { excluded: bool, term: SearchTerm },
}

fn words(text: &str, shortest_prefix: usize) -> impl Iterator<Item = SearchWord> {
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
                return Some(SearchWord::Or);
            }
            if let Some(term) = SearchTerm::new(content, quoted, shortest_prefix) {
                return Some(SearchWord::Term { excluded, term });
            }
        }
    })
}

/// The next word or quoted phrase of `text`, whether it was quoted, and the rest of the text. A phrase without a
/// closing quote goes to the end.
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

#[cfg(test)]
mod properties;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(FullTextQuery::parse(text, 1).unwrap().fts5(), Some(expected));
    }

    #[test]
    fn any_word_will_do_where_a_model_asks() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(FullTextQuery::parse_any(text).unwrap().fts5(), expected, "{text}");
        };
        check("send emails up", Some(r#""send" * OR "send" OR "email" * OR "emails" OR "up""#));
        check("-draft mail* \"new york\"", Some(r#"("mail" * OR "new york" * OR "new york") NOT ("draft")"#));
        check("?!", None);
        check("-draft", None);
        // A final s is dropped, but not a double one.
        check("pass gas", Some(r#""pass" * OR "pass" OR "gas" * OR "gas""#));
        // Common words are ignored, unless there are no other words.
        check("Which files are there", Some(r#""file" * OR "files""#));
        check("Which files? Are there...", Some(r#""file" * OR "files?""#));
        check("what is it", Some(r#""what" * OR "what" OR "is" OR "it""#));
    }

    #[test]
    fn beginnings_are_looked_for_as_far_as_words_are_left() {
        let as_prefix = |count: usize| {
            let text = (0..count).map(|it| format!("word{it} ")).collect::<String>();
            let query = FullTextQuery::parse_any(&text).unwrap();
            let fts5 = query.fts5().unwrap();
            let prefixes = fts5.matches(" *").count();
            assert!((fts5.split(" OR ").count() - prefixes) + prefixes * PREFIX_WORDS <= MAX_WORDS);
            prefixes
        };
        assert_eq!([as_prefix(1), as_prefix(7), as_prefix(8), as_prefix(40), as_prefix(64)], [1, 7, 7, 3, 0]);
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
    fn what_is_repeated_is_searched_for_once() {
        check("a a b a", r#"("a") AND ("b")"#);
        check("a OR a OR b -c -c", r#"(("a" OR "b")) NOT ("c")"#);
        check("gas OR power gas", r#"("gas" OR "power") AND ("gas")"#);
    }

    #[test]
    fn short_prefixes_are_words_where_they_would_cost_too_much() {
        let check = |text: &str, expected: &str, has_prefix: bool| {
            let query = FullTextQuery::parse(text, 3).unwrap();
            assert_eq!((query.fts5(), query.has_prefix()), (Some(expected), has_prefix));
        };
        check("gas* -pow*", r#"(("gas" *)) NOT ("pow" *)"#, true);
        check("gas -pow*", r#"(("gas")) NOT ("pow" *)"#, true);
        check("ga* été*", r#"("ga") AND ("été" *)"#, true);
        check("é* a**", r#"("é") AND ("a")"#, false);
        // FTS5 reads only the last word as a prefix.
        check("report-a*", r#"("report-a")"#, false);
        check("a-.*", r#"("a-.")"#, false);
        check("report-.*", r#"("report-." *)"#, true);
        check("report\u{903}a*", "(\"report\u{903}a\")", false);
        check("a-report*", r#"("a-report" *)"#, true);
    }

    #[test]
    fn too_much_is_refused() {
        let parse = |text: &str| FullTextQuery::parse(text, 3);
        let words = |count: usize| (0..count).map(|it| format!("w{it} ")).collect::<String>();
        assert!(parse(&words(MAX_WORDS)).is_ok());
        assert_eq!(parse(&words(MAX_WORDS + 1)), Err(SearchTextTooLong::Words));
        assert_eq!(parse(&words(MAX_WORDS + 1).replace('w', "-w")), Err(SearchTextTooLong::Words));
        assert!(parse(&"same ".repeat(MAX_CHARS / 5)).is_ok());
        assert!(parse(&"\u{e9}".repeat(MAX_CHARS)).is_ok());
        assert_eq!(parse(&"x".repeat(MAX_CHARS + 1)), Err(SearchTextTooLong::Characters));
    }

    #[test]
    fn a_phrase_counts_its_words_and_a_prefix_many() {
        let parse = |text: &str| FullTextQuery::parse(text, 3).map(|_| ());
        let phrase = |words: usize| format!("\"{}\"", "a ".repeat(words));
        assert_eq!(parse(&phrase(MAX_WORDS)), Ok(()));
        assert_eq!(parse(&phrase(MAX_WORDS + 1)), Err(SearchTextTooLong::Words));
        assert_eq!(parse(&phrase(999)), Err(SearchTextTooLong::Words));
        assert_eq!(parse(&"a.".repeat(MAX_WORDS + 1)), Err(SearchTextTooLong::Words));
        assert_eq!(parse(&format!("b {}", phrase(MAX_WORDS))), Err(SearchTextTooLong::Words));
        let prefixes = |count: u8| (0..count).map(|it| format!("{}ab* OR ", char::from(b'a' + it))).collect::<String>();
        assert_eq!(parse(&prefixes(8)), Ok(()));
        assert_eq!(parse(&prefixes(9)), Err(SearchTextTooLong::Words));
        assert_eq!(parse(&prefixes(26)), Err(SearchTextTooLong::Words));
        assert_eq!(parse(&prefixes(26).replace("ab*", "*")), Ok(()));
        // A phrase that ends in a prefix counts all its words and the prefix.
        assert_eq!(parse(&format!("{}gas*", "a.".repeat(MAX_WORDS - 8))), Ok(()));
        assert_eq!(parse(&format!("{}gas*", "a.".repeat(MAX_WORDS - 7))), Err(SearchTextTooLong::Words));
    }

    #[test]
    fn nothing_to_search_for() {
        for text in ["", "   ", "!!! -- *", "\"\"", "-", "-gas", "OR", "\0", "*"] {
            assert_eq!(FullTextQuery::parse(text, 1).unwrap().fts5(), None, "{text:?}");
        }
    }
}
