//! Properties that hold for every search text, checked with SQLite's own FTS5: the expression is never a syntax error,
//! and it finds what the text asks for.

use super::{FullTextQuery, MAX_CHARS, MAX_WORDS};
use crate::dice::Dice;
use rusqlite::Connection;

/// Texts that are hard to parse.
#[rustfmt::skip]
const NASTY: &[&str] = &[
    "a", "gas", "AND", "OR", "NOT", "NEAR", "or", "and", "NEAR(", "NEAR/2", "(", ")", "()", "{", "}", "[", "]", "^",
    ":", "+", "*", "**", "-", "--", "\"", "\"\"", "\"\"\"", "'", "''", "`", "\\", "/", ";", ",", ".", "!", "?", "%",
    "_", "=", "<", ">", "|", "&", "~", "#", "@", "$", "a-b", "a*b", "*a", "-a", "-\"a b\"", "\"a b", "subject:",
    "subject : a", "{subject body} : a", "- a", "^a", "a^", "a + b", "emails_fts", "rank", "rowid", "\0", "\u{1}",
    "\u{7f}", "\t", "\n", "\r\n", "\u{85}", "\u{a0}", "\u{ad}", "\u{300}", "e\u{301}", "\u{903}", "\u{200b}",
    "\u{200d}", "\u{202e}", "\u{2028}", "\u{3000}", "\u{e000}", "\u{feff}", "\u{fffd}", "\u{ffff}", "\u{10ffff}", "é",
    "ß", "İ", "日本", "١", "Ⅷ", "½", "²", "👩‍💻", "🇬🇧", "x'00'", "NULL", "1", "0x1", "1e9",
];

fn index(texts: &[String]) -> Connection {
    let database = Connection::open_in_memory().unwrap();
    database.execute_batch("CREATE VIRTUAL TABLE texts USING fts5 (subject, body)").unwrap();
    for text in texts {
        database.execute("INSERT INTO texts VALUES ('', ?1)", [text]).unwrap();
    }
    database
}

/// The rows that an expression finds, ranked as in a search.
fn found(database: &Connection, expression: &str) -> rusqlite::Result<Vec<u32>> {
    let mut select = database.prepare_cached("SELECT rowid FROM texts WHERE texts MATCH ?1 ORDER BY rank")?;
    let mut rows = select.query_map([expression], |row| row.get::<_, u32>(0))?.collect::<Result<Vec<_>, _>>()?;
    rows.sort_unstable();
    Ok(rows)
}

#[track_caller]
fn check_is_no_syntax_error(database: &Connection, text: &str) {
    let relaxed = FullTextQuery::parse_relaxed(text, 1).transpose();
    for query in [FullTextQuery::parse(text, 1), FullTextQuery::parse_any(text)].into_iter().chain(relaxed) {
        let Ok(query) = query else { return };
        let Some(expression) = query.fts5() else { return };
        // The expression alone, as mail is searched, and inside another expression, as tools are searched.
        for expression in [expression, &format!("subject : (a OR b) AND {{subject body}} : ({expression})")] {
            if let Err(cause) = found(database, expression) {
                panic!("{text:?} became {expression:?}: {cause}");
            }
        }
    }
}

#[test]
fn no_text_is_a_syntax_error() {
    let database = index(&["a gas b".to_owned(), "é 日本".to_owned()]);
    let mut dice = Dice(1);
    for _ in 0..8_000 {
        let mut text = String::new();
        for _ in 0..dice.below(12) {
            text.push_str(dice.pick(NASTY));
            text.push_str(dice.pick(&["", "", " ", "  ", "\t"]));
        }
        check_is_no_syntax_error(&database, &text);
    }
}

#[test]
fn no_character_is_a_syntax_error() {
    let database = index(&["a b".to_owned()]);
    let mut check = |character: char| {
        for text in [format!("{character}"), format!("a{character}b"), format!("-{character} a {character}*")] {
            check_is_no_syntax_error(&database, &text);
        }
    };
    ('\0'..='\u{3ff}').for_each(&mut check);
    (0x400..=0x10_ffff).step_by(509).filter_map(char::from_u32).for_each(check);
}

#[test]
fn the_longest_texts_are_no_syntax_errors() {
    let database = index(&["a b".to_owned()]);
    for piece in ["\"", "(", "-", "a ", "a\" ", "OR ", "a OR b -c ", "*", "é", "\"a\" \"b", "a.b.c.d.e.f "] {
        let text = piece.chars().cycle().take(MAX_CHARS).collect::<String>();
        FullTextQuery::parse(&text, 1).unwrap();
        check_is_no_syntax_error(&database, &text);
    }
}

#[test]
fn as_many_groups_as_there_may_be_are_no_syntax_error() {
    let words = (0..MAX_WORDS).map(|it| format!("w{it}")).collect::<Vec<_>>();
    let database = index(&[words.join(" "), words[1..].join(" ")]);
    let found = |text: &str| {
        check_is_no_syntax_error(&database, text);
        found(&database, FullTextQuery::parse(text, 1).unwrap().fts5().unwrap()).unwrap()
    };
    assert_eq!(found(&words.join(" ")), [1]);
    assert_eq!(found(&words.join(" OR ")), [1, 2]);
    assert_eq!(found(&format!("\"{}\"", words.join(" "))), [1]);
    assert_eq!(found(&words.iter().skip(1).map(|it| format!("{it} ")).collect::<String>()), [1, 2]);
    assert_eq!(found(&format!("w1 -{}", words[2..].join(" -"))), [] as [u32; 0]);
    let pairs = words.chunks(2).map(|it| it.join(" OR ")).collect::<Vec<_>>();
    assert_eq!(found(&pairs.join(" ")), [1, 2]);
}

/// A query with its intended meaning: one term of each group must match, and no unwanted term may.
#[derive(Default)]
struct IntendedQuery {
    groups: Vec<Vec<IntendedTerm>>,
    unwanted: Vec<IntendedTerm>,
}

enum IntendedTerm {
    Word(String),
    Prefix(String),
    Phrase(Vec<String>),
}

const VOCABULARY: [&str; 8] = ["ab", "abc", "b", "bcd", "c", "cab", "d", "or"];

impl IntendedTerm {
    fn random(dice: &mut Dice) -> Self {
        let word = |dice: &mut Dice| dice.pick(&VOCABULARY).to_owned();
        match dice.below(4) {
            0 => Self::Prefix(word(dice)),
            1 => Self::Phrase((0..=dice.below(3)).map(|_| word(dice)).collect()),
            _ => Self::Word(word(dice)),
        }
    }

    fn is_in(&self, words: &[String]) -> bool {
        match self {
            Self::Word(word) => words.contains(word),
            Self::Prefix(start) => words.iter().any(|it| it.starts_with(start)),
            Self::Phrase(phrase) => words.windows(phrase.len()).any(|it| it == phrase),
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Word(word) => word.clone(),
            Self::Prefix(start) => format!("{start}*"),
            Self::Phrase(phrase) => format!("\"{}\"", phrase.join(" ")),
        }
    }
}

impl IntendedQuery {
    fn random(dice: &mut Dice) -> Self {
        let terms = |dice: &mut Dice, most: usize| {
            (0..dice.below(most)).map(|_| IntendedTerm::random(dice)).collect::<Vec<_>>()
        };
        let mut groups = (0..dice.below(4)).map(|_| terms(dice, 4)).collect::<Vec<_>>();
        groups.retain(|it| !it.is_empty());
        Self { groups, unwanted: terms(dice, 3) }
    }

    fn finds(&self, words: &[String]) -> bool {
        let wanted = self.groups.iter().all(|group| group.iter().any(|it| it.is_in(words)));
        !self.groups.is_empty() && wanted && !self.unwanted.iter().any(|it| it.is_in(words))
    }

    /// The query as a person might type it, with the exclusions anywhere between the groups.
    fn text(&self, dice: &mut Dice) -> String {
        let mut pieces = self
            .groups
            .iter()
            .map(|group| group.iter().map(IntendedTerm::text).collect::<Vec<_>>().join(" OR "))
            .collect::<Vec<_>>();
        for it in &self.unwanted {
            pieces.insert(dice.below(pieces.len() + 1), format!("-{}", it.text()));
        }
        pieces.join(dice.pick(&[" ", "  ", " ! ", "\n"]))
    }
}

#[test]
fn a_query_finds_what_it_says() {
    let mut dice = Dice(2);
    let texts = (0..60)
        .map(|_| (0..dice.below(7)).map(|_| dice.pick(&VOCABULARY).to_owned()).collect::<Vec<_>>())
        .collect::<Vec<_>>();
    let database = index(&texts.iter().map(|it| it.join(" ")).collect::<Vec<_>>());
    let mut hits = 0;
    for _ in 0..3_000 {
        let meant = IntendedQuery::random(&mut dice);
        let text = meant.text(&mut dice);
        let expected = (1..).zip(&texts).filter(|(_, it)| meant.finds(it)).map(|(row, _)| row).collect::<Vec<_>>();
        let found = match FullTextQuery::parse(&text, 1).map(|it| it.fts5().map(str::to_owned)) {
            Ok(Some(expression)) => found(&database, &expression).unwrap(),
            Ok(None) => Vec::new(),
            // The query has more than eight prefixes, and is refused.
            Err(_) => continue,
        };
        assert_eq!(found, expected, "{text:?}");
        hits += found.len();
    }
    assert!(hits > 5_000, "the queries are of no use: they found {hits} texts");
}

/// A relaxed text finds at least what the text itself finds, and nothing that it excludes or without its phrases.
#[test]
fn a_relaxed_query_finds_more_and_keeps_phrases_and_exclusions() {
    let mut dice = Dice(3);
    let texts = (0..60)
        .map(|_| (0..dice.below(9)).map(|_| dice.pick(&VOCABULARY).to_owned()).collect::<Vec<_>>())
        .collect::<Vec<_>>();
    let database = index(&texts.iter().map(|it| it.join(" ")).collect::<Vec<_>>());
    let mut more = 0;
    for _ in 0..2_000 {
        let meant = IntendedQuery::random(&mut dice);
        // A relaxed query leaves out common words, even if they are alternatives.
        let is_common = |it: &IntendedTerm| matches!(it, IntendedTerm::Word(word) if word == "or");
        if meant.groups.iter().flatten().any(is_common) {
            continue;
        }
        let text = meant.text(&mut dice);
        let (Ok(strict), Ok(Some(relaxed))) = (FullTextQuery::parse(&text, 1), FullTextQuery::parse_relaxed(&text, 1))
        else {
            continue;
        };
        let strict = found(&database, strict.fts5().unwrap()).unwrap();
        let relaxed = found(&database, relaxed.fts5().unwrap()).unwrap();
        assert!(strict.iter().all(|it| relaxed.contains(it)), "{text:?}: {strict:?}, {relaxed:?}");
        for row in &relaxed {
            let words = &texts[*row as usize - 1];
            assert!(!meant.unwanted.iter().any(|it| it.is_in(words)), "{text:?} found {words:?}");
            let phrases =
                meant.groups.iter().filter(|group| group.iter().any(|it| matches!(it, IntendedTerm::Phrase(_))));
            assert!(
                phrases.into_iter().all(|group| group.iter().any(|it| it.is_in(words))),
                "{text:?} found {words:?}"
            );
        }
        more += relaxed.len() - strict.len();
    }
    assert!(more > 2_000, "the queries are of no use: relaxing found {more} more texts");
}
