//! The files of a toolset, as the MCP host takes their list. Pure.

use crate::hex;
use serde::Serialize;
use sha2::{Digest, Sha256};

/// The list of a toolset's files. A process of the toolset finds the files in its home.
#[derive(Clone, Debug, PartialEq)]
pub struct BundledFiles {
    body: String,
    hash: String,
    paths: Vec<String>,
}

#[derive(Serialize)]
struct FileList<'a> {
    files: Vec<ListedFile<'a>>,
}

#[derive(Serialize)]
struct ListedFile<'a> {
    path: &'a str,
    sha256: &'a str,
    size: u32,
}

impl BundledFiles {
    /// `files` are paths, hashes and sizes, in any order. None, if there are no files.
    pub fn new<'a>(files: impl IntoIterator<Item = (&'a str, &'a str, u32)>) -> Option<Self> {
        let mut files =
            files.into_iter().map(|(path, sha256, size)| ListedFile { path, sha256, size }).collect::<Vec<_>>();
        // The same files have the same hash.
        files.sort_unstable_by_key(|it| it.path);
        let paths = files.iter().map(|it| it.path.to_owned()).collect::<Vec<_>>();
        let body = serde_json::to_string(&FileList { files }).ok().filter(|_| !paths.is_empty())?;
        let hash = hex::encode(&Sha256::digest(&body));
        Some(Self { body, hash, paths })
    }

    /// The list as the host takes it.
    pub fn body(&self) -> &str {
        &self.body
    }

    /// The name of the list.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// Whether there is a file in this folder. `.` is the root.
    pub fn has_folder(&self, folder: &str) -> bool {
        let parts = folder.split('/').filter(|it| !it.is_empty() && *it != ".").collect::<Vec<_>>();
        let folder = parts.iter().map(|it| format!("{it}/")).collect::<String>();
        self.paths.iter().any(|it| it.starts_with(&folder))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_named_by_its_files() {
        let list = BundledFiles::new([("b/c.py", "22", 2), ("a", "11", 1)]).unwrap();
        assert_eq!(
            list.body(),
            r#"{"files":[{"path":"a","sha256":"11","size":1},{"path":"b/c.py","sha256":"22","size":2}]}"#
        );
        assert_eq!(list.hash(), hex::encode(&Sha256::digest(list.body())));
        assert_eq!(BundledFiles::new([("a", "11", 1), ("b/c.py", "22", 2)]).unwrap(), list, "whatever the order");
        assert_ne!(BundledFiles::new([("a", "11", 1), ("b/c.py", "23", 2)]).unwrap().hash(), list.hash());
        assert_eq!(BundledFiles::new([]), None);
    }

    #[test]
    fn a_folder_has_files() {
        let list = BundledFiles::new([("servers/time/main.py", "1", 1), ("data", "2", 1)]).unwrap();
        for folder in [".", "servers", "servers/time", "./servers/time/", "servers//time"] {
            assert!(list.has_folder(folder), "{folder}");
        }
        for folder in ["server", "data", "servers/time/main.py", "x"] {
            assert!(!list.has_folder(folder), "{folder}");
        }
    }
}
