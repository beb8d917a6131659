//! How fresh the data must be that a request reads, in a deployment whose database has read replicas.

/// The oldest state of the database that a request may read. D1 calls a named state a bookmark, and has a word for each
/// of the other two cases.
#[derive(Clone, Debug, PartialEq)]
pub enum Freshness {
    /// The present state.
    Latest,
    /// The state that a bookmark names, or a later one.
    Since(String),
    /// Whatever the nearest replica has.
    Any,
}

const LATEST: &str = "first-primary";
const ANY: &str = "first-unconstrained";

/// D1's bookmarks are four hexadecimal numbers, today of 8, 8, 8 and 32 digits.
const MAX_BOOKMARK_BYTES: usize = 128;

impl Freshness {
    /// Reads one of D1's two words, or a bookmark.
    pub fn parse(text: &str) -> Option<Self> {
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|it| it.is_ascii_hexdigit());
        match text {
            LATEST => Some(Self::Latest),
            ANY => Some(Self::Any),
            _ if text.len() <= MAX_BOOKMARK_BYTES && text.contains('-') && text.split('-').all(is_number) => {
                Some(Self::Since(text.to_owned()))
            }
            _ => None,
        }
    }

    /// The text by which D1 knows the state.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Latest => LATEST,
            Self::Since(bookmark) => bookmark,
            Self::Any => ANY,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_words_and_bookmarks_are_read() {
        let bookmark = "00000085-0000024c-00004c6d-8e61117bf38d7adb71b934ebbf891683";
        for (text, expected) in [
            ("first-primary", Freshness::Latest),
            ("first-unconstrained", Freshness::Any),
            (bookmark, Freshness::Since(bookmark.to_owned())),
        ] {
            let read = Freshness::parse(text).unwrap();
            assert_eq!(read, expected);
            assert_eq!(read.as_str(), text);
        }
    }

    #[test]
    fn everything_else_is_refused() {
        let long = format!("{}-1", "0".repeat(MAX_BOOKMARK_BYTES));
        for text in ["", "-", "1", "1-", "first", "any", "1-2-3-g", "1 - 2", "1-2\n", "ä-1", &long] {
            assert_eq!(Freshness::parse(text), None, "{text}");
        }
    }
}
