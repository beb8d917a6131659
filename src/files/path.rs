//! Paths of files and directories. Every spelling of a path is parsed to the same text.

use std::fmt;

/// The longest path, in bytes.
pub const MAX_PATH_BYTES: usize = 1_024;

/// An absolute path: `/` alone, or names that each follow a `/`. No name is empty, is `.` or `..`, or holds a control
/// character.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FilePath(String);

impl FilePath {
    /// Parses a path that starts at the root. A `/` at the beginning or at the end may be missing.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        if text.len() > MAX_PATH_BYTES {
            return Err("is longer than 1024 bytes");
        }
        if text.chars().any(char::is_control) {
            return Err("must not hold control characters");
        }
        let mut names = Vec::new();
        for name in text.split('/') {
            match name {
                "" | "." => {}
                ".." => {
                    names.pop().ok_or("leads above the root")?;
                }
                name => names.push(name),
            }
        }
        let path = format!("/{}", names.join("/"));
        // A path that was given without its first slash is now one byte longer.
        if path.len() > MAX_PATH_BYTES { Err("is longer than 1024 bytes") } else { Ok(Self(path)) }
    }

    pub fn root() -> Self {
        Self("/".into())
    }

    /// The root is always a directory.
    pub fn is_root(&self) -> bool {
        self.0 == "/"
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The directories that contain this path, from the top down, without the root.
    pub fn directories(&self) -> impl Iterator<Item = &str> {
        self.0.char_indices().skip(1).filter(|(_, it)| *it == '/').map(|(end, _)| &self.0[..end])
    }

    /// The bounds of the paths below this directory. Every such path sorts after the first bound and before the second,
    /// because `0` is the character that follows `/`.
    pub fn below(&self) -> (String, String) {
        let directory = self.0.trim_end_matches('/');
        (format!("{directory}/"), format!("{directory}0"))
    }

    /// The path of `name` in this directory.
    pub fn join(&self, name: &str) -> String {
        self.below().0 + name
    }
}

impl fmt::Display for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_write_a_place_is_one_path() {
        let check = |text: &str, expected: &str| assert_eq!(FilePath::parse(text).unwrap().as_str(), expected);
        check("", "/");
        check("/", "/");
        check(".", "/");
        check("///.//", "/");
        check("a", "/a");
        check("a/", "/a");
        check("a//b/./c", "/a/b/c");
        check("/a/b/../c", "/a/c");
        check("a/b/../..", "/");
        check("/..a/b../...", "/..a/b../...");
        check("/ a /\u{e4}\u{2028}/🤖", "/ a /\u{e4}\u{2028}/🤖");
        check("/a%2fb\\c", "/a%2fb\\c");
        check("/'; DROP TABLE blobs; --", "/'; DROP TABLE blobs; --");
    }

    #[test]
    fn hostile_paths_are_refused() {
        for text in ["..", "/..", "a/../..", "/a/../../a", "./..", "//.."] {
            assert_eq!(FilePath::parse(text), Err("leads above the root"), "{text}");
        }
        for text in ["\0", "/a\0b", "/a\nb", "/\u{7f}", "/\u{85}", "/\u{9f}x", "\t", "/a/\r"] {
            assert_eq!(FilePath::parse(text), Err("must not hold control characters"), "{text:?}");
        }
    }

    #[test]
    fn a_path_has_at_most_1024_bytes() {
        assert!(FilePath::parse(&format!("/{}", "x".repeat(1_023))).is_ok());
        for text in ["x".repeat(1_024), format!("/{}", "x".repeat(1_024)), "/".repeat(1_025), "ä".repeat(513)] {
            assert!(FilePath::parse(&text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_path_knows_its_neighbours() {
        let path = FilePath::parse("/a/ä/c").unwrap();
        assert_eq!(path.directories().collect::<Vec<_>>(), ["/a", "/a/ä"]);
        assert_eq!(path.below(), ("/a/ä/c/".into(), "/a/ä/c0".into()));
        assert_eq!(path.join("d"), "/a/ä/c/d");
        let root = FilePath::root();
        assert_eq!(root.directories().count(), 0);
        assert_eq!(root.below(), ("/".into(), "0".into()));
        assert_eq!(root.join("d"), "/d");
        assert_eq!(FilePath::parse("a").unwrap().directories().count(), 0);
    }
}
