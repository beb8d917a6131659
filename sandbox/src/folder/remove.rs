//! Removes what a call has left behind, however deep: a directory is moved to the top before its entries are removed. So
//! neither the depth of a tree nor the length of its paths matters.

use super::walk::{self, Kind};
use rustix::fs::{AtFlags, renameat, unlinkat};
use std::ffi::{CStr, CString};
use std::io::{Error, Result};
use std::os::fd::{AsFd, BorrowedFd};

/// Removes a directory of `top`, with everything in it.
pub fn tree(top: BorrowedFd, name: &str) -> Result<()> {
    let first = CString::new(name).map_err(Error::other)?;
    // Names that are random at the beginning are not taken by anybody else.
    trees(top, vec![first], name)
}

/// Removes everything in a directory.
pub fn contents(top: BorrowedFd) -> Result<()> {
    let mut directories = Vec::new();
    for (name, kind) in walk::entries(top)? {
        match kind {
            Kind::Directory => directories.push(name),
            Kind::File | Kind::Special => unlinkat(top, &*name, AtFlags::empty())?,
        }
    }
    trees(top, directories, &crate::random::name()?)
}

fn trees(top: BorrowedFd, mut left: Vec<CString>, prefix: &str) -> Result<()> {
    let mut moved = 0_u64;
    while let Some(name) = left.pop() {
        walk::permit(top, &name)?;
        let directory = walk::open(top, &name, Kind::Directory)?;
        for (entry, kind) in walk::entries(directory.as_fd())? {
            if kind != Kind::Directory {
                unlinkat(&directory, &*entry, AtFlags::empty())?;
                continue;
            }
            // Moving a directory changes the directory itself, so the owner needs all rights to it.
            walk::permit(directory.as_fd(), &entry)?;
            let name = CString::new(format!("{prefix}-{moved}")).map_err(Error::other)?;
            moved += 1;
            renameat(&directory, &*entry, top, &*name)?;
            left.push(name);
        }
        remove_empty(top, &name)?;
    }
    Ok(())
}

fn remove_empty(top: BorrowedFd, name: &CStr) -> Result<()> {
    Ok(unlinkat(top, name, AtFlags::REMOVEDIR)?)
}

#[cfg(test)]
mod tests {
    use crate::folder::test_support::TestFolder;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    /// `TestFolder` fails if its folder is not empty after the removal.
    #[test]
    fn whatever_is_left_is_removed() {
        let test = TestFolder::new();
        let files = test.files();
        // Deeper than a path can be long.
        let mut deep = fs::File::open(&files).map(std::os::fd::OwnedFd::from).unwrap();
        for _ in 0..3_000 {
            rustix::fs::mkdirat(&deep, "deep", rustix::fs::Mode::RWXU).unwrap();
            deep = super::super::open_directory(std::os::fd::AsFd::as_fd(&deep), "deep").unwrap();
        }
        for name in ["a", "b"] {
            fs::create_dir(files.join(name)).unwrap();
            fs::write(files.join(name).join("file"), "x").unwrap();
        }
        std::os::unix::fs::symlink("/", files.join("link")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, files.join("pipe"), rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0)
            .unwrap();
        fs::set_permissions(files.join("a"), fs::Permissions::from_mode(0o0)).unwrap();
        fs::write(files.parent().unwrap().join("beside"), "x").unwrap();
        fs::rename(&files, files.with_file_name("elsewhere")).unwrap();
    }
}
