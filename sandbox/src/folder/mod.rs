//! The folder of one call on files: the supervisor makes the folder before the child starts, reads it after the child is
//! dead, and removes it. While the child lives, the supervisor only counts what is in the folder.
//!
//! The supervisor reaches everything by descriptors, name by name, and follows no link. So nothing that a call leaves behind
//! leads the supervisor elsewhere.

mod remove;
mod snapshot;
mod usage;
mod walk;

pub use remove::contents as remove_all;
#[cfg(test)]
pub use snapshot::Left;
pub use snapshot::{Fault, Hash, MAX_PATH_BYTES, Snapshot, snapshot};
pub use usage::is_overfull;

use crate::random;
use rustix::fs::{AtFlags, Gid, Mode, OFlags, Uid, chmodat, chownat, fchmod, mkdirat, openat};
use std::collections::HashSet;
use std::io::{Result, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The parts of a folder; python/file_child.py knows them too.
const FILES: &str = "files";
const TEMPORARY: &str = "tmp";
const BUNDLE: &str = "bundle";

/// The directory in which folders are made.
pub struct Slot {
    pub directory: OwnedFd,
    /// Whether the folders of other calls are in the same directory.
    pub is_shared: bool,
}

/// If the server is not root, Python runs as the same user, and only permissions keep calls out of slots where there is no
/// landlock: a call cannot change permissions. The descriptor of a slot can list it whatever its permissions are.
impl Slot {
    fn permit(&self, mode: Mode) -> Result<()> {
        // The slots of root are closed to all other users, and a shared directory is guarded by landlock.
        if self.is_shared || rustix::process::geteuid().is_root() {
            return Ok(());
        }
        Ok(fchmod(&self.directory, mode)?)
    }

    /// The supervisor makes and removes folders.
    fn open(&self) -> Result<()> {
        self.permit(Mode::RWXU)
    }

    /// A call reaches its own folder by name.
    fn narrow(&self) -> Result<()> {
        self.permit(Mode::XUSR)
    }

    /// No call has a folder.
    pub fn close(&self) -> Result<()> {
        self.permit(Mode::empty())
    }
}

pub struct Folder {
    slot: Slot,
    name: String,
    folder: OwnedFd,
    files: OwnedFd,
}

/// A file that is put into a folder. The path has no slash at its beginning.
pub struct PlacedFile<'a> {
    pub path: &'a str,
    pub bytes: &'a [u8],
}

impl Folder {
    /// Makes an empty folder. `user` is the user that Python runs as, if the server is root.
    pub fn make(slot: Slot, user: Option<u32>) -> Result<Self> {
        let name = random::name()?;
        slot.open()?;
        mkdirat(&slot.directory, &*name, Mode::RWXU)?;
        let folder = open_directory(slot.directory.as_fd(), &name)?;
        for part in [FILES, TEMPORARY, BUNDLE] {
            mkdirat(&folder, part, ALL)?;
        }
        let files = open_directory(folder.as_fd(), FILES)?;
        if let Some(user) = user {
            let (user, group) = (Uid::from_raw(user), Gid::from_raw(user));
            chownat(&slot.directory, &*name, Some(user), Some(group), AtFlags::SYMLINK_NOFOLLOW)?;
        }
        // The call works in the parts of its folder, and can write neither beside them nor beside the folder.
        fchmod(&folder, Mode::RUSR | Mode::XUSR)?;
        slot.narrow()?;
        Ok(Self { slot, name, folder, files })
    }

    /// Puts the files of the session and of the bundle into the folder. The bundle cannot be written afterwards.
    pub fn fill<'a>(
        &self,
        files: impl Iterator<Item = PlacedFile<'a>>,
        bundle: impl Iterator<Item = PlacedFile<'a>>,
    ) -> Result<()> {
        place_all(self.files.as_fd(), files, Mode::from_raw_mode(0o666))?;
        let directory = open_directory(self.folder.as_fd(), BUNDLE)?;
        for made in place_all(directory.as_fd(), bundle, Mode::from_raw_mode(0o444))? {
            chmodat(&directory, made, READ_ONLY, AtFlags::empty())?;
        }
        fchmod(&directory, READ_ONLY)?;
        Ok(())
    }

    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.folder.as_fd()
    }

    /// The session's files.
    pub fn files(&self) -> BorrowedFd<'_> {
        self.files.as_fd()
    }

    /// Removes the folder, and returns the slot. A slot that cannot be emptied is lost.
    pub fn remove(self) -> Result<Slot> {
        self.slot.open()?;
        match self.slot.is_shared {
            true => remove::tree(self.slot.directory.as_fd(), &self.name)?,
            // Without landlock, a call may have renamed its folder, or made others beside it.
            false => remove::contents(self.slot.directory.as_fd())?,
        }
        self.slot.close()?;
        Ok(self.slot)
    }
}

/// How many entries a directory of folders has. A slot that no call uses has none.
pub fn count(directory: &OwnedFd) -> Result<usize> {
    Ok(walk::entries(directory.as_fd())?.len())
}

const ALL: Mode = Mode::from_raw_mode(0o777);
const READ_ONLY: Mode = Mode::from_raw_mode(0o555);

fn open_directory(parent: BorrowedFd, name: &str) -> rustix::io::Result<OwnedFd> {
    openat(parent, name, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
}

/// Writes the files, and returns the directories that were made for them. No other process knows the folder yet.
fn place_all<'a>(
    directory: BorrowedFd,
    files: impl Iterator<Item = PlacedFile<'a>>,
    mode: Mode,
) -> Result<HashSet<&'a str>> {
    let mut made = HashSet::new();
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    for PlacedFile { path, bytes } in files {
        for (end, _) in path.match_indices('/') {
            if made.insert(&path[..end]) {
                mkdirat(directory, &path[..end], ALL)?;
            }
        }
        let mut file = std::fs::File::from(openat(directory, path, flags, mode)?);
        file.write_all(bytes)?;
    }
    Ok(made)
}

#[cfg(test)]
pub mod test_support {
    use super::*;

    /// A folder in a directory of its own, which is removed with the value.
    pub struct TestFolder {
        pub folder: Option<Folder>,
        pub path: std::path::PathBuf,
    }

    impl TestFolder {
        pub fn new() -> Self {
            let path = std::env::temp_dir().join(format!("pegboard-folder-{}", random::name().unwrap()));
            std::fs::create_dir(&path).unwrap();
            let directory = std::fs::File::open(&path).unwrap().into();
            let folder = Folder::make(Slot { directory, is_shared: false }, None).unwrap();
            Self { folder: Some(folder), path }
        }

        pub fn folder(&self) -> &Folder {
            self.folder.as_ref().unwrap()
        }

        /// The path of the session's files.
        pub fn files(&self) -> std::path::PathBuf {
            self.path.join(&self.folder().name).join(FILES)
        }

        pub fn fill(&self, files: &[(&str, &[u8])]) {
            let placed = files.iter().map(|&(path, bytes)| PlacedFile { path, bytes });
            self.folder().fill(placed, std::iter::empty()).unwrap();
        }
    }

    impl Drop for TestFolder {
        fn drop(&mut self) {
            drop(self.folder.take().unwrap().remove().unwrap());
            std::fs::remove_dir(&self.path).unwrap();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::test_support::TestFolder;
    use super::*;
    use std::fs;

    #[test]
    fn files_are_placed_and_removed() {
        let test = TestFolder::new();
        let bundle = [("tools/a.py", &b"x"[..]), ("tools/deep/er/b.py", b"y")];
        let placed = |files: &[(&'static str, &'static [u8])]| {
            files.iter().map(|&(path, bytes)| PlacedFile { path, bytes }).collect::<Vec<_>>().into_iter()
        };
        test.folder().fill(placed(&[("a", b"1"), ("b/c", b"2"), ("b/d/e", b"")]), placed(&bundle)).unwrap();
        assert_eq!(fs::read(test.files().join("b/c")).unwrap(), b"2");
        assert_eq!(fs::read(test.files().join("b/d/e")).unwrap(), b"");
        let root = test.files().parent().unwrap().to_owned();
        assert_eq!(fs::read(root.join("bundle/tools/deep/er/b.py")).unwrap(), b"y");
        for directory in ["bundle", "bundle/tools", "bundle/tools/deep/er"] {
            let mode =
                std::os::unix::fs::PermissionsExt::mode(&fs::metadata(root.join(directory)).unwrap().permissions());
            assert_eq!(mode & 0o777, 0o555, "{directory}");
        }
    }

    #[test]
    fn two_files_cannot_have_one_place() {
        let test = TestFolder::new();
        for paths in [["a", "a"], ["b/c", "b"], ["d", "d/e"]] {
            let files = paths.map(|path| PlacedFile { path, bytes: b"" });
            assert!(test.folder().fill(files.into_iter(), std::iter::empty()).is_err(), "{paths:?}");
        }
    }
}
