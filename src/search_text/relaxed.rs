//! A search text that found nothing, with less required: one of its words is enough.

use super::{FullTextQuery, MAX_WORDS, SearchTerm, SearchTextTooLong, common, inflect, push_term, terms};

impl FullTextQuery {
    /// Parses a search text of which one word is enough, in any of its forms. Common words are left out. Phrases in
    /// quotes stay required, together with the alternatives that `OR` joins to them, and exclusions stay exclusions.
    /// The results must be ranked, so that the results with the most and the rarest words come first.
    ///
    /// None if the text has no word besides phrases and common words.
    pub fn parse_relaxed(text: &str, shortest_prefix: usize) -> Result<Option<Self>, SearchTextTooLong> {
        Self::parse(text, shortest_prefix)?;
        let (wanted, unwanted) = terms(text, shortest_prefix);
        let (mut required, loose): (Vec<_>, Vec<_>) =
            wanted.into_iter().partition(|group| group.iter().any(|it| it.is_quoted));
        let mut words = Vec::new();
        for word in loose.into_iter().flatten().filter(|it| it.is_prefix || !common::says_nothing(it)) {
            push_term(&mut words, word);
        }
        if words.is_empty() {
            return Ok(None);
        }
        let counted = required.iter().flatten().chain(&unwanted).chain(&words).map(SearchTerm::words).sum::<usize>();
        required.push(with_forms(words, MAX_WORDS.saturating_sub(counted)));
        Ok(Some(Self::of_groups(&required, &unwanted)))
    }
}

/// The words, each followed by its other forms, as far as `left` allows.
fn with_forms(words: Vec<SearchTerm>, mut left: usize) -> Vec<SearchTerm> {
    let mut all = Vec::new();
    for word in words {
        let forms = if word.is_prefix { Vec::new() } else { inflect::other_forms(&word.text) };
        push_term(&mut all, word);
        if forms.len() <= left {
            left -= forms.len();
            for text in forms {
                push_term(&mut all, SearchTerm { text, is_prefix: false, is_quoted: false });
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let query = FullTextQuery::parse_relaxed(text, 3).unwrap();
        assert_eq!(query.as_ref().and_then(FullTextQuery::fts5), expected, "{text}");
    }

    #[test]
    fn one_word_is_enough_and_common_words_do_not_count() {
        check("who is on the gas", Some(r#"("gas")"#));
        check("gas OIL 2001", Some(r#"("gas" OR "OIL" OR "2001")"#));
        check("gas OR oil of gas", Some(r#"("gas" OR "oil")"#));
        check("what is it", None);
        check("what is the*", Some(r#"("the" *)"#));
        check("", None);
    }

    #[test]
    fn phrases_and_exclusions_stay_as_they_are() {
        check(
            r#""credit union" gas oil -tax -"new york""#,
            Some(r#"(("credit union") AND ("gas" OR "oil")) NOT ("tax" OR "new york")"#),
        );
        check(r#""credit union" OR bank gas"#, Some(r#"("credit union" OR "bank") AND ("gas")"#));
        check(r#""credit union""#, None);
        check(r#""credit union" the"#, None);
        check("-gas", None);
        check(r#"gas "gas" oil"#, Some(r#"("gas") AND ("oil")"#));
    }

    #[test]
    fn words_are_looked_for_in_all_their_forms() {
        check("plates?", Some(r#"("plates?" OR "plate" OR "plated" OR "plating")"#));
        check("plate* gas", Some(r#"("plate" * OR "gas")"#));
        check("plate plates", Some(r#"("plate" OR "plates" OR "plated" OR "plating")"#));
    }

    #[test]
    fn forms_are_looked_for_as_far_as_words_are_left() {
        let terms = |count: usize| {
            let text = (0..count)
                .map(|it| format!("{}plate ", char::from(b'a' + it as u8 % 26).to_string().repeat(1 + it / 26)))
                .collect::<String>();
            FullTextQuery::parse_relaxed(&text, 3).unwrap().unwrap().fts5().unwrap().split(" OR ").count()
        };
        assert_eq!([terms(1), terms(16), terms(17), terms(40), terms(64)], [4, 64, 62, 64, 64]);
    }
}
