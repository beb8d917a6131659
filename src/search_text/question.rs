//! A search text that is a question in plain words: it has common words besides others.

use super::relaxed::with_forms;
use super::{FullTextQuery, MAX_WORDS, SearchTerm, SearchTextTooLong, common, terms};

impl FullTextQuery {
    /// Parses a search text as [`Self::parse`] does, unless it is a question. Of a question, the common words are not
    /// required: only long texts that happen to have `what`, `is` and `the` would have them all. Its other words are
    /// required in any of their forms, because a question is seldom worded like its answer.
    pub fn parse_question(text: &str, shortest_prefix: usize) -> Result<Self, SearchTextTooLong> {
        let all = Self::parse(text, shortest_prefix)?;
        let (mut wanted, unwanted) = terms(text, shortest_prefix);
        let words = wanted.len();
        wanted.retain(|group| !group.iter().all(|it| is_word(it) && common::is_common(it)));
        if wanted.is_empty() || wanted.len() == words {
            return Ok(all);
        }
        let counted = wanted.iter().flatten().chain(&unwanted).map(SearchTerm::words).sum::<usize>();
        let mut left = MAX_WORDS.saturating_sub(counted);
        let in_forms = |group: Vec<SearchTerm>| match group.as_slice() {
            [one] if is_word(one) => with_forms(group, &mut left),
            _ => group,
        };
        let wanted = wanted.into_iter().map(in_forms).collect::<Vec<_>>();
        Ok(Self::of_groups(&wanted, &unwanted))
    }
}

/// Whether the term is a word as it was typed: neither in quotes nor a prefix.
fn is_word(term: &SearchTerm) -> bool {
    !term.is_quoted && !term.is_prefix
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_words_of_a_question_are_not_required() {
        let check = |text: &str, expected: &str| {
            assert_eq!(FullTextQuery::parse_question(text, 3).unwrap().fts5(), Some(expected), "{text}");
        };
        check("What is the gas of 2001?", r#"("gas") AND ("2001?")"#);
        check("gas AND OIL -the", r#"(("gas") AND ("OIL")) NOT ("the")"#);
        check("which plates", r#"("plates" OR "plate" OR "plated" OR "plating")"#);
        // Quotes and prefixes are meant, and so is an alternative to another word.
        check(r#""the" gas thes* the OR oil"#, r#"("the") AND ("gas") AND ("thes" *) AND ("the" OR "oil")"#);
        // Without a common word, and with nothing else, the text is no question.
        check("plates price", r#"("plates") AND ("price")"#);
        check("what is the", r#"("what") AND ("is") AND ("the")"#);
    }

    #[test]
    fn a_question_has_the_bounds_of_every_text() {
        let words = |count: usize| (0..count).map(|it| format!("plate{it} ")).collect::<String>();
        assert_eq!(FullTextQuery::parse_question(&words(MAX_WORDS + 1), 3), Err(SearchTextTooLong::Words));
        let most = FullTextQuery::parse_question(&format!("the {}", words(MAX_WORDS - 1)), 3).unwrap();
        assert!(most.fts5().unwrap().split(['(', ')']).count() > MAX_WORDS);
    }
}
