//! The session's files after a run, compared with those before it. The child is dead, so nothing changes meanwhile.

use super::walk::{self, Kind};
use crate::slot_size::{MAX_ENTRIES, MAX_FILE_BYTES, MAX_FILES, MAX_TOTAL_BYTES};
use rustix::fs::fstat;
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};
use std::ffi::CString;
use std::fs::File;
use std::io::{Error, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

/// The longest path, in bytes: the same as in the Worker.
pub const MAX_PATH_BYTES: usize = 1_024;
const BUFFER_BYTES: usize = 64 << 10;

pub type Hash = [u8; 32];

/// A file that is new, or that has other contents than before.
#[derive(Debug, PartialEq)]
pub struct Left {
    pub path: String,
    pub hash: Hash,
    pub bytes: Arc<[u8]>,
}

/// The changes of a run.
#[derive(Debug, Default, PartialEq)]
pub struct Snapshot {
    pub changed: Vec<Left>,
    pub deleted: Vec<String>,
}

/// Why there is no snapshot.
#[derive(Debug)]
pub enum Fault {
    /// The files break a rule. The text names the file.
    Broken(String),
    System(Error),
}

impl From<Error> for Fault {
    fn from(cause: Error) -> Self {
        Self::System(cause)
    }
}

impl From<rustix::io::Errno> for Fault {
    fn from(cause: rustix::io::Errno) -> Self {
        Self::System(cause.into())
    }
}

/// Compares the files below `directory` with those of before, which are given by their paths from the root of the session.
/// Files of which nothing is changed are compared byte by byte, which is far quicker than a hash.
pub fn snapshot(directory: BorrowedFd, before: &HashMap<&str, &[u8]>) -> std::result::Result<Snapshot, Fault> {
    let mut walk = Walk {
        before,
        found: Snapshot::default(),
        unchanged: Vec::new(),
        files: 0,
        bytes: 0,
        entries: 0,
        buffer: vec![0; BUFFER_BYTES],
    };
    let mut left = Vec::new();
    walk.directory(&Arc::new(directory.try_clone_to_owned()?), "", &mut left)?;
    while let Some(Unopened { parent, name, path }) = left.pop() {
        let directory = Arc::new(walk::open(parent.as_fd(), &name, Kind::Directory)?);
        walk.directory(&directory, &path, &mut left)?;
    }
    let Walk { mut found, unchanged, .. } = walk;
    let there = unchanged.iter().map(String::as_str).chain(found.changed.iter().map(|left| &*left.path));
    let there: HashSet<&str> = there.collect();
    found.deleted = before.keys().filter(|path| !there.contains(**path)).map(|path| (*path).to_owned()).collect();
    found.deleted.sort_unstable();
    found.changed.sort_unstable_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

/// A directory that is opened when its turn comes, so that few directories are open at once.
struct Unopened {
    parent: Arc<OwnedFd>,
    name: CString,
    path: String,
}

struct Walk<'a> {
    before: &'a HashMap<&'a str, &'a [u8]>,
    found: Snapshot,
    unchanged: Vec<String>,
    files: usize,
    bytes: u64,
    entries: usize,
    /// Most files are smaller than this buffer.
    buffer: Vec<u8>,
}

impl Walk<'_> {
    fn directory(
        &mut self,
        directory: &Arc<OwnedFd>,
        above: &str,
        left: &mut Vec<Unopened>,
    ) -> std::result::Result<(), Fault> {
        let entries = walk::entries(directory.as_fd())?;
        self.entries += entries.len();
        if self.entries > MAX_ENTRIES {
            return Err(broken(format!("the run left more than {MAX_ENTRIES} files and directories")));
        }
        for (name, kind) in entries {
            let path = path_of(above, &name)?;
            match kind {
                Kind::Directory => left.push(Unopened { parent: directory.clone(), name, path }),
                Kind::File => self.file(walk::open(directory.as_fd(), &name, kind)?, path)?,
                Kind::Special => return Err(broken(format!("{path} is neither a file nor a directory"))),
            }
        }
        Ok(())
    }

    fn file(&mut self, file: OwnedFd, path: String) -> std::result::Result<(), Fault> {
        let read = rustix::io::read(&file, &mut *self.buffer)?;
        // A file that fills the buffer may be longer.
        let size =
            if read < self.buffer.len() { read as u64 } else { u64::try_from(fstat(&file)?.st_size).unwrap_or(0) };
        if size > MAX_FILE_BYTES {
            return Err(broken(format!("{path} has {size} bytes; {MAX_FILE_BYTES} are allowed")));
        }
        self.files += 1;
        if self.files > MAX_FILES {
            return Err(broken(format!("the run left more than {MAX_FILES} files: {path} is one too many")));
        }
        self.bytes += size;
        if self.bytes > MAX_TOTAL_BYTES {
            return Err(broken(format!("the run left more than {MAX_TOTAL_BYTES} bytes of files: {path} is too much")));
        }
        let mut longer = Vec::new();
        let bytes = match size > read as u64 {
            true => {
                longer.extend_from_slice(&self.buffer[..read]);
                // Nobody writes any more; the bound is for what cannot be.
                File::from(file).take(size - read as u64).read_to_end(&mut longer)?;
                &longer[..]
            }
            false => &self.buffer[..read],
        };
        match self.before.get(&*path) == Some(&bytes) {
            true => self.unchanged.push(path),
            false => {
                let hash = Sha256::digest(bytes).into();
                self.found.changed.push(Left { path, hash, bytes: bytes.into() });
            }
        }
        Ok(())
    }
}

/// The path of an entry from the root of the session, if it can be a path of a session.
fn path_of(above: &str, name: &CString) -> std::result::Result<String, Fault> {
    let shown = || format!("{above}/{}", name.to_string_lossy().escape_debug());
    let Ok(text) = name.to_str() else {
        return Err(broken(format!("the name of {} is not UTF-8", shown())));
    };
    if text.chars().any(char::is_control) {
        return Err(broken(format!("the name of {} holds control characters", shown())));
    }
    let path = format!("{above}/{text}");
    match path.len() > MAX_PATH_BYTES {
        true => {
            let cut = path.floor_char_boundary(80);
            Err(broken(format!("the path {}… is longer than {MAX_PATH_BYTES} bytes", &path[..cut])))
        }
        false => Ok(path),
    }
}

fn broken(why: String) -> Fault {
    Fault::Broken(why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::test_support::TestFolder;
    use std::fs;
    use std::os::unix::ffi::OsStrExt;

    fn hash(bytes: &[u8]) -> Hash {
        Sha256::digest(bytes).into()
    }

    fn taken(test: &TestFolder, before: &[(&str, &[u8])]) -> std::result::Result<Snapshot, String> {
        let before = before.iter().copied().collect();
        snapshot(test.folder().files(), &before).map_err(|fault| match fault {
            Fault::Broken(why) => why,
            Fault::System(cause) => panic!("{cause}"),
        })
    }

    fn changed(snapshot: &Snapshot) -> Vec<(&str, &[u8])> {
        snapshot.changed.iter().map(|left| (&*left.path, &*left.bytes)).collect()
    }

    #[test]
    fn changes_are_found() {
        let test = TestFolder::new();
        test.fill(&[("same", b"1"), ("other", b"2"), ("gone", b"3"), ("a/b/gone", b"4")]);
        let before: [(&str, &[u8]); 4] = [("/same", b"1"), ("/other", b"2"), ("/gone", b"3"), ("/a/b/gone", b"4")];
        assert_eq!(taken(&test, &before).unwrap(), Snapshot::default());
        let files = test.files();
        fs::write(files.join("other"), "x").unwrap();
        fs::remove_file(files.join("gone")).unwrap();
        fs::remove_dir_all(files.join("a")).unwrap();
        fs::create_dir_all(files.join("new/er")).unwrap();
        fs::write(files.join("new/er/é \"'\\"), b"\0\xff").unwrap();
        let found = taken(&test, &before).unwrap();
        assert_eq!(changed(&found), [("/new/er/é \"'\\", &b"\0\xff"[..]), ("/other", b"x")]);
        assert_eq!(found.deleted, ["/a/b/gone", "/gone"]);
        assert_eq!(found.changed[1].hash, hash(b"x"));
    }

    #[test]
    fn files_of_any_length_are_compared() {
        for length in [0, 1, BUFFER_BYTES - 1, BUFFER_BYTES, BUFFER_BYTES + 1, 3 * BUFFER_BYTES] {
            let (old, mut new) = (vec![b'x'; length], vec![b'x'; length]);
            let test = TestFolder::new();
            test.fill(&[("a", &old)]);
            assert_eq!(taken(&test, &[("/a", &old)]).unwrap(), Snapshot::default(), "{length}");
            new.push(b'y');
            fs::write(test.files().join("a"), &new).unwrap();
            assert_eq!(changed(&taken(&test, &[("/a", &old)]).unwrap()), [("/a", &new[..])], "{length}");
        }
    }

    #[test]
    fn a_file_may_become_a_directory() {
        let test = TestFolder::new();
        test.fill(&[("a", b"1")]);
        fs::remove_file(test.files().join("a")).unwrap();
        fs::create_dir(test.files().join("a")).unwrap();
        fs::write(test.files().join("a/b"), "2").unwrap();
        let found = taken(&test, &[("/a", b"1")]).unwrap();
        assert_eq!((changed(&found), found.deleted.clone()), (vec![("/a/b", &b"2"[..])], vec!["/a".to_owned()]));
    }

    #[track_caller]
    fn refused(make: impl FnOnce(&std::path::Path), expected: &str) {
        let test = TestFolder::new();
        make(&test.files());
        let why = taken(&test, &[]).unwrap_err();
        assert!(why.contains(expected), "{why}");
    }

    #[test]
    fn what_cannot_be_kept_is_named() {
        refused(|at| std::os::unix::fs::symlink("/etc/passwd", at.join("link")).unwrap(), "/link is neither");
        refused(|at| drop(std::os::unix::net::UnixListener::bind(at.join("socket")).unwrap()), "/socket is neither");
        refused(|at| fs::write(at.join(std::ffi::OsStr::from_bytes(b"\xff")), "").unwrap(), "is not UTF-8");
        refused(|at| fs::write(at.join("a\nb"), "").unwrap(), "/a\\nb holds control characters");
        refused(|at| fs::write(at.join("big"), vec![0; (10 << 20) + 1]).unwrap(), "/big has 10485761 bytes");
        refused(|at| fs::File::create(at.join("hole")).unwrap().set_len(1 << 40).unwrap(), "/hole has 1099511627776");
        let name = "x".repeat(250);
        refused(
            |at| {
                let path = (0..5).fold(at.to_owned(), |path, _| path.join(&name));
                fs::create_dir_all(path).unwrap();
            },
            "is longer than 1024 bytes",
        );
        refused(
            |at| (0..=MAX_FILES).for_each(|number| fs::write(at.join(number.to_string()), "").unwrap()),
            "more than 2000 files",
        );
        refused(
            |at| (0..7).for_each(|number| fs::write(at.join(number.to_string()), vec![0; 10 << 20]).unwrap()),
            "more than 67108864 bytes",
        );
        refused(
            |at| (0..=MAX_ENTRIES).for_each(|number| fs::create_dir(at.join(number.to_string())).unwrap()),
            "more than 8000 files and directories",
        );
    }

    #[test]
    fn files_without_permissions_are_read() {
        let test = TestFolder::new();
        fs::create_dir(test.files().join("a")).unwrap();
        fs::write(test.files().join("a/b"), "x").unwrap();
        for path in ["a/b", "a"] {
            let none = std::os::unix::fs::PermissionsExt::from_mode(0o0);
            fs::set_permissions(test.files().join(path), none).unwrap();
        }
        assert_eq!(changed(&taken(&test, &[]).unwrap()), [("/a/b", &b"x"[..])]);
    }
}
