//! The names of entries: relative paths that mean the same on every system.

use crate::error::shortened;

/// Everything that is wrong with the name of a file or a directory.
pub fn faults(name: &str, max_bytes: usize) -> Vec<String> {
    let path = name.strip_suffix('/').unwrap_or(name);
    let parts = || path.strip_prefix('/').unwrap_or(path).split('/');
    let is_drive = path.as_bytes().get(1) == Some(&b':') && path.starts_with(|it: char| it.is_ascii_alphabetic());
    let rules = [
        (name.is_empty(), "has no name"),
        (name.chars().any(char::is_control), "has a control character in its name"),
        (name.contains('\\'), "has a backslash in its name; `/` stands between folders"),
        (name.starts_with('/'), "has an absolute path as its name"),
        (is_drive, "has a drive letter in its name"),
        (parts().any(|it| it == ".."), "has `..` in its name"),
        (!name.is_empty() && parts().any(|it| it.is_empty() || it == "."), "has an empty part or `.` in its name"),
    ];
    let mut faults =
        rules.into_iter().filter(|(is_broken, _)| *is_broken).map(|(_, fault)| fault.to_owned()).collect::<Vec<_>>();
    if path.len() > max_bytes {
        faults.push(format!("has a name of {} bytes; at most {max_bytes} are read", path.len()));
    }
    faults
}

/// The name as a message can show it, whatever its bytes are.
pub fn shown(name: &[u8]) -> String {
    let text = shortened(&String::from_utf8_lossy(name));
    let mut plain = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            plain.extend(character.escape_default());
        } else {
            plain.push(character);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_names_are_fine() {
        for name in ["a", "a/b.py", "a/", "a/b/", "..a/b..", ".hidden", "...", "ä/日本 x.md", "ab:c", "a'\"$;%2e%2e"]
        {
            assert_eq!(faults(name, 1_024), Vec::<String>::new(), "{name}");
        }
        assert_eq!(faults(&"x".repeat(1_024), 1_024).len(), 0);
    }

    #[test]
    fn every_fault_of_a_name_is_told() {
        let check = |name: &str, expected: &[&str]| {
            let faults = faults(name, 1_024);
            assert_eq!(faults.len(), expected.len(), "{name}: {faults:?}");
            assert!(faults.iter().zip(expected).all(|(fault, it)| fault.contains(it)), "{name}: {faults:?}");
        };
        check("", &["no name"]);
        check("/", &["absolute", "empty part"]);
        check("//", &["absolute", "empty part"]);
        check("a//b", &["empty part"]);
        check("a//", &["empty part"]);
        check("./a", &["`.`"]);
        check("a/.", &["`.`"]);
        check("..", &["`..`"]);
        check("../", &["`..`"]);
        check("a/../b", &["`..`"]);
        check("/etc/passwd", &["absolute"]);
        check("//host/share", &["absolute", "empty part"]);
        check("C:/x", &["drive letter"]);
        check("c:", &["drive letter"]);
        check("a\\b", &["backslash"]);
        check("C:\\..\\x", &["backslash", "drive letter"]);
        check("a\0.py", &["control"]);
        check("a\n\u{85}b", &["control"]);
        check("/../\\\x1b", &["control", "backslash", "absolute", "`..`"]);
        check(&"x".repeat(1_025), &["1025 bytes; at most 1024"]);
    }

    #[test]
    fn a_shown_name_is_short_and_plain() {
        assert_eq!(shown(b"a\0b\x1b[31m\xff"), "a\\u{0}b\\u{1b}[31m\u{fffd}");
        assert!(shown(&[b'\n'; 65_535]).len() < 1_000);
    }
}
