//! Counts what is in a folder while its call runs, where no file system limits it.

use super::walk::{self, Kind};
use crate::slot_size::{SLOT_BYTES, SLOT_INODES};
use rustix::fs::{AtFlags, statat};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

/// Whether the folder holds more than a slot may. The call changes the folder meanwhile, so an entry that is gone is not
/// counted.
pub fn is_overfull(top: OwnedFd) -> bool {
    let (mut bytes, mut inodes) = (0, 0);
    // A directory is opened when its turn comes, so that few directories are open at once.
    let mut left = vec![(Arc::new(top), c".".to_owned())];
    while let Some((parent, name)) = left.pop() {
        let Ok(directory) = walk::open(parent.as_fd(), &name, Kind::Directory).map(Arc::new) else { continue };
        let Ok(entries) = walk::entries(directory.as_fd()) else { continue };
        inodes += entries.len() as u64;
        for (name, kind) in entries {
            if kind == Kind::Directory {
                left.push((directory.clone(), name));
            } else if let Ok(stat) = statat(&directory, &*name, AtFlags::SYMLINK_NOFOLLOW) {
                // Blocks of 512 bytes: a file with holes counts with what it occupies.
                bytes += u64::try_from(stat.st_blocks).unwrap_or(0) * 512;
            }
            if bytes > SLOT_BYTES || inodes > SLOT_INODES {
                return true;
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::test_support::TestFolder;
    use std::fs;

    #[test]
    fn bytes_and_inodes_are_counted() {
        let test = TestFolder::new();
        let folder = || test.folder().descriptor().try_clone_to_owned().unwrap();
        assert!(!is_overfull(folder()));
        fs::create_dir(test.files().join("a")).unwrap();
        // A hole takes no room.
        fs::File::create(test.files().join("hole")).unwrap().set_len(SLOT_BYTES * 4).unwrap();
        assert!(!is_overfull(folder()));
        for number in 0..=SLOT_INODES {
            fs::write(test.files().join("a").join(number.to_string()), "").unwrap();
        }
        assert!(is_overfull(folder()));
        fs::remove_dir_all(test.files().join("a")).unwrap();
        assert!(!is_overfull(folder()));
        fs::write(test.files().join("full"), vec![1; SLOT_BYTES as usize + 1]).unwrap();
        assert!(is_overfull(folder()));
    }
}
