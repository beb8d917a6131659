//! The directory of the folders of calls on files, where no file system can be mounted for them. A server that is killed
//! leaves its directory behind; the next server that starts removes it. A living server has a lock on its directory.

use crate::folder::remove_all;
use crate::log::say;
use crate::random;
use rustix::fs::{FlockOperation, Mode, OFlags, fchmod, flock, fstat, mkdir, open};
use rustix::process::geteuid;
use std::fs;
use std::io::Result;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

const PREFIX: &str = "pegboard-files-";

/// The directory is removed with this value.
pub struct Scratch {
    pub path: PathBuf,
    /// Holds the lock.
    pub directory: OwnedFd,
}

impl Scratch {
    pub fn make(parent: &Path) -> Result<Self> {
        let path = parent.join(format!("{PREFIX}{}", random::name()?));
        mkdir(&path, Mode::RWXU)?;
        let directory = open_directory(&path)?;
        flock(&directory, FlockOperation::NonBlockingLockExclusive)?;
        if geteuid().is_root() {
            // Python runs as another user, who reaches the folders by their names.
            fchmod(&directory, Mode::from_raw_mode(0o711))?;
        }
        Ok(Self { path, directory })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        remove(&self.path, &self.directory);
    }
}

/// Removes the directories of servers that are dead.
pub fn sweep(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(PREFIX))
            && let Ok(directory) = open_directory(&path)
            // Other users of the machine may have made directories with such names.
            && fstat(&directory).is_ok_and(|stat| stat.st_uid == geteuid().as_raw())
            && flock(&directory, FlockOperation::NonBlockingLockExclusive).is_ok()
        {
            remove(&path, &directory);
        }
    }
}

/// Opens a directory that is no link.
fn open_directory(path: &Path) -> rustix::io::Result<OwnedFd> {
    open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
}

fn remove(path: &Path, directory: &OwnedFd) {
    if let Err(cause) = remove_all(directory.as_fd()).and_then(|()| fs::remove_dir(path)) {
        say(format!("{} cannot be removed: {cause}", path.display()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_dead_servers_are_swept() {
        let parent = std::env::temp_dir().join(format!("pegboard-scratch-{}", random::name().unwrap()));
        fs::create_dir(&parent).unwrap();
        let alive = Scratch::make(&parent).unwrap();
        for name in [format!("{PREFIX}dead"), "other".into()] {
            fs::create_dir_all(parent.join(&name).join("deep/er")).unwrap();
        }
        std::os::unix::fs::symlink(parent.join("other"), parent.join(format!("{PREFIX}link"))).unwrap();
        sweep(&parent);
        let mut left: Vec<_> = fs::read_dir(&parent).unwrap().map(|entry| entry.unwrap().path()).collect();
        left.sort();
        let mut expected = vec![parent.join("other"), alive.path.clone(), parent.join(format!("{PREFIX}link"))];
        expected.sort();
        assert_eq!(left, expected);
        assert!(parent.join("other/deep/er").exists());
        let path = alive.path.clone();
        drop(alive);
        assert!(!path.exists());
        fs::remove_dir_all(parent).unwrap();
    }
}
