//! The exported name of a tool, the same in every format. All providers take `^[a-zA-Z0-9_-]{1,64}$`.
//!
//! The exported name of an id that fits is the id itself. An id that does not fit has a *hashed name*: the id's first
//! characters, with `_` for each character that does not fit, then `_H` and 60 bits of the id's SHA-256 in upper case.
//! Such ids are `module.tool`, `toolset:tool`, long ids, and ids that begin with a digit, which Gemini refuses. An id
//! with upper case also counts as an id that does not fit, so no hashed name is another tool's id.
//!
//! Nothing is stored to map a name back. The name holds the id's first characters, and an index finds tools by them
//! (`tools_by_exported_prefix` in 0004_registry.sql). The hash then tells which of these tools is meant.

use crate::ids::{ToolId, is_slug};
use sha2::{Digest, Sha256};

/// How many characters of the id a hashed name begins with. The index uses the same number.
const PREFIX: usize = 49;

/// The text before the hash.
const MARK: &str = "_H";

const DIGITS: usize = 12;
const ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// The exported name of an id that does not fit.
#[derive(Clone, Debug, PartialEq)]
pub struct HashedName {
    name: String,
}

impl HashedName {
    /// Parses a hashed name. None, if `name` is not a hashed name; `name` may still be a tool's id.
    pub fn parse(name: &str) -> Option<Self> {
        let (prefix, digits) = name.split_at_checked(name.len().checked_sub(DIGITS)?)?;
        let is_hashed = is_slug(name)
            && prefix.strip_suffix(MARK).is_some_and(|it| (1..=PREFIX + 1).contains(&it.len()))
            && digits.bytes().all(|it| ALPHABET.contains(&it));
        is_hashed.then(|| Self { name: name.to_owned() })
    }

    pub fn as_str(&self) -> &str {
        &self.name
    }

    /// The part before the hash: the id's first characters, with `_` for each character that does not fit. If the id
    /// begins with a digit or with `-`, the part begins with one more `_`.
    pub fn prefix(&self) -> &str {
        &self.name[..self.name.len() - DIGITS - MARK.len()]
    }

    /// Whether this is the name of the tool `id`.
    pub fn is_of(&self, id: &ToolId) -> bool {
        exported(id) == self.name
    }
}

/// The exported name of the tool.
pub fn exported(id: &ToolId) -> String {
    let id = id.as_str();
    let starts_well = !id.starts_with(|it: char| it.is_ascii_digit() || it == '-');
    if is_slug(id) && starts_well && !id.bytes().any(|it| it.is_ascii_uppercase()) {
        return id.to_owned();
    }
    let mut name = if starts_well { String::new() } else { "_".to_owned() };
    // Ids are ASCII: each byte is a character.
    name.extend(id.bytes().take(PREFIX).map(|it| if matches!(it, b'.' | b':') { '_' } else { char::from(it) }));
    name.push_str(MARK);
    name.extend(digits(id, DIGITS));
    name
}

/// The first bits of the text's SHA-256, five bits a character. At most 12 characters.
pub fn digits(text: &str, count: usize) -> impl Iterator<Item = char> {
    let hash = Sha256::digest(text);
    let bits = hash.iter().take(8).fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
    (0..count.min(DIGITS)).map(move |it| char::from(ALPHABET[(bits >> (59 - 5 * it)) as usize & 31]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dice::Dice;

    fn id(text: &str) -> ToolId {
        ToolId::parse(text).unwrap()
    }

    #[track_caller]
    fn check(of: &str, expected: &str) {
        let name = exported(&id(of));
        assert_eq!(name, expected);
        assert!(is_slug(&name));
        match HashedName::parse(&name) {
            None => assert_eq!(name, of),
            Some(hashed) => assert!(hashed.is_of(&id(of))),
        }
    }

    #[test]
    fn an_id_that_fits_is_its_own_name() {
        check("read_file", "read_file");
        check("a", "a");
        check("_-_", "_-_");
        check(&"x".repeat(64), &"x".repeat(64));
    }

    #[test]
    fn another_is_its_beginning_and_a_hash() {
        check("research.web_search", "research_web_search_HTN6NKACGI2DD");
        check("kit:analyze", "kit_analyze_HHJ6OWQ2K6BQO");
        check("srv:Get-Page", "srv_Get-Page_HK3HHD3KAFOP6");
        check(&"x".repeat(65), &format!("{}_HSU34L7PREBEC", "x".repeat(49)));
        check(".", "__HZW2O4KXKNHGG");
    }

    #[test]
    fn what_looks_alike_has_different_names() {
        let alike = ["a.b.c", "a:b.c", "a.b:c", "a_b.c", "a.b_c"];
        let names = alike.map(|it| exported(&id(it)));
        let mut different = names.to_vec();
        different.sort();
        different.dedup();
        assert_eq!(different.len(), alike.len(), "{names:?}");
        let long = |end: char| exported(&id(&format!("{}{end}", "x".repeat(100))));
        assert_ne!(long('a'), long('b'));
    }

    #[test]
    fn what_is_no_such_name_is_none() {
        let digits = "ABCDEFGHIJKL";
        for name in [
            "",
            "read_file",
            digits,
            "_HABCDEFGHIJKL",
            "x_HABCDEFGHIJK",
            "x_HABCDEFGHIJK1",
            "x_habcdefghijkl",
            "x.y_HABCDEFGHIJKL",
            "ä_HABCDEFGHIJKL",
            "x_HABCDEFGHIJKä",
            &format!("{}_H{digits}", "x".repeat(52)),
        ] {
            assert_eq!(HashedName::parse(name), None, "{name}");
        }
        assert!(!HashedName::parse("x_HABCDEFGHIJKL").unwrap().is_of(&id("x.y")));
    }

    #[test]
    fn any_id_comes_back_from_its_name() {
        let mut dice = Dice(7);
        for _ in 0..5_000 {
            let length = 1 + dice.below(120);
            let text = (0..length).map(|_| char::from(b"abzABZ019_-.:"[dice.below(13)])).collect::<String>();
            let (id, name) = (id(&text), exported(&id(&text)));
            assert!(is_slug(&name), "{text}: {name}");
            if name == text {
                assert_eq!(HashedName::parse(&name), None);
            } else {
                let hashed = HashedName::parse(&name).unwrap();
                assert!(hashed.is_of(&id));
                let replaced = text.replace(['.', ':'], "_");
                let prefix = hashed.prefix();
                let beginning = &replaced[..replaced.len().min(49)];
                assert!(prefix == beginning || &prefix[1..] == beginning, "{text}: {name}");
            }
        }
    }
}
