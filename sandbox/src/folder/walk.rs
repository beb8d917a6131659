//! Lists directories that a call has left behind.

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, SeekFrom, chmodat, openat, seek, statat};
use rustix::io::Errno;
use std::ffi::{CStr, CString};
use std::io::Result;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The names in a directory, without `.` and `..`, and whether each is a directory itself. The descriptor may be that of a
/// directory that can no longer be opened for reading.
pub fn entries(directory: BorrowedFd) -> Result<Vec<(CString, Kind)>> {
    seek(directory, SeekFrom::Start(0))?;
    let mut buffer = [MaybeUninit::uninit(); 8192];
    let mut list = RawDir::new(directory, &mut buffer);
    let mut found = Vec::new();
    while let Some(entry) = list.next() {
        let entry = entry?;
        if entry.file_name() == c"." || entry.file_name() == c".." {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::Unknown => {
                let stat = statat(directory, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)?;
                FileType::from_raw_mode(stat.st_mode)
            }
            known => known,
        };
        found.push((entry.file_name().to_owned(), Kind::of(kind)));
    }
    Ok(found)
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    File,
    Directory,
    /// A link, a device, a pipe or a socket. No call can make one; the filter sees to it.
    Special,
}

impl Kind {
    fn of(kind: FileType) -> Self {
        match kind {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Directory,
            _ => Self::Special,
        }
    }
}

/// Opens an entry for reading. A call may have made it with no permissions, which the owner can change.
pub fn open(directory: BorrowedFd, name: &CStr, kind: Kind) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let flags = if kind == Kind::Directory { flags | OFlags::DIRECTORY } else { flags };
    match openat(directory, name, flags, Mode::empty()) {
        Err(Errno::ACCESS) => {
            permit(directory, name)?;
            openat(directory, name, flags, Mode::empty())
        }
        opened => opened,
    }
}

/// Gives the owner all rights to an entry that is no link. Changing a mode would follow a link.
pub fn permit(directory: BorrowedFd, name: &CStr) -> rustix::io::Result<()> {
    let stat = statat(directory.as_fd(), name, AtFlags::SYMLINK_NOFOLLOW)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile | FileType::Directory => chmodat(directory, name, Mode::RWXU, AtFlags::empty()),
        _ => Err(Errno::ACCESS),
    }
}
