//! The people whom `from` and `to` name: by an address, or by a part of one. The mail has no display names, but most of
//! its addresses are made of names, so `Tim Belden` finds `tim.belden@enron.com`.

/// The words of a text that are used. No name has more.
const MOST_WORDS: usize = 8;
/// The letters in which a misspelt name is expected to be right.
const SURE_LETTERS: usize = 3;

/// Whether a text has the form of a whole address. (Of the few addresses without this form, each is still found by
/// itself, because the address itself is preferred to addresses with the same words.)
pub fn is_address(text: &str) -> bool {
    let is_host = |host: &str| host.split_once('.').is_some_and(|(one, more)| !one.is_empty() && !more.is_empty());
    text.split_once('@').is_some_and(|(name, host)| !name.is_empty() && is_host(host))
        && !text.contains(char::is_whitespace)
}

/// The FTS5 expression for addresses that have all the words of a text, each as a word or as the beginning of a word.
pub fn part_expression(text: &str) -> Option<String> {
    let words = words(text).map(|it| if it.chars().count() > 1 { format!("\"{it}\" *") } else { format!("\"{it}\"") });
    joined(words, " AND ")
}

/// The FTS5 expression for addresses that have a word which begins like one of the words of a text. Of an address, only
/// the part before the @ counts.
pub fn near_expression(text: &str) -> Option<String> {
    let beginning = |it: &str| it.chars().take(SURE_LETTERS).collect::<String>();
    joined(words(name_of(text)).map(|it| format!("\"{}\" *", beginning(it))), " OR ")
}

/// The part of an address that names the person.
pub fn name_of(address: &str) -> &str {
    address.split_once('@').map_or(address, |(name, _)| if name.is_empty() { address } else { name })
}

/// The words of a text, as FTS5 splits it.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty()).take(MOST_WORDS)
}

fn joined(terms: impl Iterator<Item = String>, by: &str) -> Option<String> {
    let terms = terms.collect::<Vec<_>>();
    (!terms.is_empty()).then(|| terms.join(by))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_parts_are_told_apart() {
        for text in ["tim.belden@enron.com", "k..allen@enron.com", "a@b.c"] {
            assert!(is_address(text), "{text}");
        }
        for text in [
            "",
            "tim",
            "@enron.com",
            "tim@",
            "tim@enron",
            "tim@enron.",
            "tim belden",
            "tim belden <tim.belden@enron.com>",
        ] {
            assert!(!is_address(text), "{text}");
        }
    }

    #[test]
    fn the_words_of_a_part_are_beginnings() {
        assert_eq!(part_expression("belden, t").as_deref(), Some(r#""belden" * AND "t""#));
        assert_eq!(part_expression("@enron.com").as_deref(), Some(r#""enron" * AND "com" *"#));
        assert_eq!(part_expression("\"%*"), None);
        let many = part_expression(&"ab ".repeat(99)).unwrap();
        assert_eq!(many.matches(" AND ").count(), 7);
    }

    #[test]
    fn a_misspelt_name_is_right_in_its_first_letters() {
        assert_eq!(near_expression("tim.beldon@enron.com").as_deref(), Some(r#""tim" * OR "bel" *"#));
        assert_eq!(near_expression("@"), None);
        assert_eq!(near_expression("@enron.com").as_deref(), Some(r#""enr" * OR "com" *"#));
    }
}
