//! Words that are operators in other search boxes, and only text in this one.

use super::{SearchWord, words};

/// Fields that other programs for mail take before a colon.
const FIELDS: [&str; 12] =
    ["subject", "from", "to", "body", "cc", "bcc", "sender", "date", "before", "after", "has", "in"];

/// Syntax of another search box in a search text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ForeignSyntax {
    /// `from:ada`
    Field,
    /// `gas NOT price`
    Not,
}

impl ForeignSyntax {
    /// The first such syntax of a text. A text without lower case is shouted, so its `NOT` is a word.
    pub fn of(text: &str) -> Option<Self> {
        let is_shouted = !text.contains(char::is_lowercase);
        words(text, 1).find_map(|word| match word {
            SearchWord::Or | SearchWord::Term { excluded: true, .. } => None,
            SearchWord::Term { term, .. } if term.is_quoted => None,
            SearchWord::Term { term, .. } if term.text == "NOT" && !is_shouted => Some(Self::Not),
            SearchWord::Term { term, .. } => {
                let (field, value) = term.text.split_once(':')?;
                (!value.is_empty() && FIELDS.iter().any(|it| it.eq_ignore_ascii_case(field))).then_some(Self::Field)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_syntax_of_other_search_boxes_is_seen() {
        let check =
            |text: &str, expected: Option<ForeignSyntax>| assert_eq!(ForeignSyntax::of(text), expected, "{text}");
        check("gas From:belden", Some(ForeignSyntax::Field));
        check("gas NOT price", Some(ForeignSyntax::Not));
        for text in
            ["from: belden", "re:gas", "\"from:belden\"", "-from:belden", "GAS NOT PRICE", "not gas", "gas OR oil"]
        {
            check(text, None);
        }
    }
}
