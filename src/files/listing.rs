//! The entries of a directory, and their listing as text.

use super::FilePath;
use std::fmt::Write;

/// How many entries a listing shows. A model has no use for more.
pub const MAX_LISTED: u32 = 10_000;

/// A file or directory inside the directory that was listed.
#[derive(Clone, Debug, PartialEq)]
pub struct DirectoryEntry {
    pub name: String,
    pub path: String,
    pub kind: DirectoryEntryKind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum DirectoryEntryKind {
    Directory,
    File { sha256: String, size: u32 },
}

/// The text with which the tool `list_files` responds.
pub fn listing_text(dir: &FilePath, entries: &[DirectoryEntry]) -> String {
    let mut text = format!("Contents of {dir}:");
    for entry in entries.iter().take(MAX_LISTED as usize) {
        // Writing to a String cannot fail.
        let _ = match &entry.kind {
            DirectoryEntryKind::Directory => write!(text, "\n[DIR]  {}", entry.path),
            DirectoryEntryKind::File { size, .. } => write!(text, "\n[FILE] {} ({size} bytes)", entry.path),
        };
    }
    if entries.len() > MAX_LISTED as usize {
        let _ = write!(text, "\n(There is more; the first {MAX_LISTED} are listed.)");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, size: u32) -> DirectoryEntry {
        DirectoryEntry {
            name: String::new(),
            path: path.into(),
            kind: DirectoryEntryKind::File { sha256: String::new(), size },
        }
    }

    #[test]
    fn a_listing_names_each_entry_by_its_path() {
        let inputs =
            DirectoryEntry { name: "inputs".into(), path: "/data/inputs".into(), kind: DirectoryEntryKind::Directory };
        insta::assert_snapshot!(
            listing_text(&FilePath::parse("data").unwrap(), &[inputs, file("/data/config.json", 256)]),
            @r"
        Contents of /data:
        [DIR]  /data/inputs
        [FILE] /data/config.json (256 bytes)
        "
        );
        assert_eq!(listing_text(&FilePath::root(), &[]), "Contents of /:");
    }

    #[test]
    fn a_listing_ends() {
        let lines = |count| listing_text(&FilePath::root(), &vec![file("/x", 0); count]).lines().count();
        assert_eq!((lines(10_000), lines(10_001)), (10_001, 10_002));
    }
}
