//! The version of a toolset, by the rules of Semantic Versioning 2.0.0.

use std::cmp::Ordering;
use std::fmt;

/// The longest version, in bytes.
const MAX_BYTES: usize = 64;

/// `1.2.3`, `1.2.3-beta.1` or `1.2.3+build.7`. Versions that differ in their build alone are equal: neither is older.
#[derive(Clone, Debug)]
pub struct ToolsetVersion(String);

impl ToolsetVersion {
    pub fn parse(text: &str) -> Option<Self> {
        let (rest, build) = split(text, '+');
        let (core, pre_release) = split(rest, '-');
        let is_core = core.split('.').count() == 3 && core.split('.').all(is_number);
        let is_build = build.is_none_or(|it| it.split('.').all(is_identifier));
        let is_pre_release = pre_release.is_none_or(|it| it.split('.').all(is_pre_release_part));
        (is_core && is_build && is_pre_release && text.len() <= MAX_BYTES).then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The three numbers, and what comes before the release.
    fn parts(&self) -> (&str, Option<&str>) {
        split(split(&self.0, '+').0, '-')
    }
}

impl fmt::Display for ToolsetVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Ord for ToolsetVersion {
    fn cmp(&self, other: &Self) -> Ordering {
        let ((core, pre), (other_core, other_pre)) = (self.parts(), other.parts());
        let of_core = core.split('.').map(number_key).cmp(other_core.split('.').map(number_key));
        of_core.then_with(|| match (pre, other_pre) {
            // A release is newer than everything that came before it.
            (None, None) => Ordering::Equal,
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
            (Some(one), Some(two)) => one.split('.').map(part_key).cmp(two.split('.').map(part_key)),
        })
    }
}

impl PartialOrd for ToolsetVersion {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for ToolsetVersion {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for ToolsetVersion {}

fn split(text: &str, at: char) -> (&str, Option<&str>) {
    text.split_once(at).map_or((text, None), |(before, after)| (before, Some(after)))
}

/// Numbers without leading zeros sort as their length and then as texts, and so none is too large.
fn number_key(number: &str) -> (usize, &str) {
    (number.len(), number)
}

/// Numbers come before words, and words sort as texts.
fn part_key(part: &str) -> (bool, usize, &str) {
    if is_digits(part) { (false, part.len(), part) } else { (true, 0, part) }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit())
}

fn is_number(text: &str) -> bool {
    is_digits(text) && (text == "0" || !text.starts_with('0'))
}

fn is_identifier(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-')
}

fn is_pre_release_part(text: &str) -> bool {
    is_identifier(text) && (!is_digits(text) || is_number(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> ToolsetVersion {
        ToolsetVersion::parse(text).unwrap()
    }

    #[test]
    fn versions_follow_the_standard() {
        for good in
            ["0.0.0", "1.2.3", "10.20.99999999999999999999", "1.0.0-beta.1", "1.0.0--", "1.0.0+007", "1.0.0-a-b+c-d"]
        {
            assert_eq!(version(good).to_string(), good);
        }
        let long = format!("1.0.0-{}", "x".repeat(60));
        for bad in [
            "",
            "1",
            "1.0",
            "1.0.0.0",
            "01.0.0",
            "v1.0.0",
            "1.0.0-",
            "1.0.0-a..b",
            "1.0.0-01",
            "1.0.0+",
            "1.0.0-ä",
            " 1.0.0",
            "1.0.0+a+b",
            "-1.0.0",
            &long,
        ] {
            assert!(ToolsetVersion::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn versions_sort_as_the_standard_says() {
        let sorted = [
            "0.9.10",
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-alpha.beta",
            "1.0.0-beta",
            "1.0.0-beta.2",
            "1.0.0-beta.11",
            "1.0.0-rc.1",
            "1.0.0",
            "1.9.0",
            "1.10.0",
            "2.0.0",
            "10.0.0",
        ];
        for (index, one) in sorted.iter().enumerate() {
            for (other_index, other) in sorted.iter().enumerate() {
                assert_eq!(version(one).cmp(&version(other)), index.cmp(&other_index), "{one} {other}");
            }
        }
        assert_eq!(version("1.0.0+a"), version("1.0.0+b"));
        assert_ne!(version("1.0.0-a+b"), version("1.0.0+b"));
    }
}
