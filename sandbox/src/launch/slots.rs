//! The slots of the second room: file systems in memory, one for each call that may run at once. They are mounted in the
//! zygote's own mount namespace. The supervisor gets their descriptors, and never looks into that namespace.

use crate::random;
use crate::slot_size::{SLOT_BYTES, SLOT_INODES};
use nix::mount::{MsFlags, mount};
use nix::unistd::geteuid;
use rustix::fs::{Mode, OFlags, chmod, mkdir, open};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use std::io::{Error, IoSlice, Result};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

/// The directory of all slots, in the new root.
const ALL: &str = "work";

/// The message that brings the slots' descriptors to the supervisor.
pub const MESSAGE: &[u8] = b"D";

/// More descriptors than one message can carry are never needed.
pub const MOST: usize = 64;

pub fn directory() -> PathBuf {
    Path::new("/").join(ALL)
}

/// Mounts the slots below a root that is being prepared. Their names are random, and nobody can list them: a call learns
/// only the name of its own slot.
pub fn mount_all(root: &Path, count: usize) -> Result<Vec<OwnedFd>> {
    let all = root.join(ALL);
    mkdir(&all, Mode::RWXU)?;
    let mut slots = Vec::new();
    for _ in 0..count {
        let slot = all.join(random::name()?);
        mkdir(&slot, Mode::RWXU)?;
        let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
        let options = format!("size={SLOT_BYTES},nr_inodes={SLOT_INODES},mode=700");
        mount(Some("tmpfs"), &slot, Some("tmpfs"), flags, Some(options.as_str()))?;
        // The descriptor can still list the slot after the next line.
        slots.push(open(&slot, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?);
        // If the server is not root, the supervisor opens a slot only for its calls (`folder::Slot`).
        chmod(&slot, if geteuid().is_root() { UNLISTED } else { Mode::empty() })?;
    }
    chmod(&all, UNLISTED)?;
    Ok(slots)
}

/// The permissions of a directory whose entries can be reached only by their names.
const UNLISTED: Mode = Mode::from_raw_mode(0o111);

/// Hands the slots to the supervisor, over the socket that Python will inherit.
pub fn send(socket: BorrowedFd, slots: &[OwnedFd]) -> Result<()> {
    let descriptors: Vec<BorrowedFd> = slots.iter().map(AsFd::as_fd).collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
    let mut rights = SendAncillaryBuffer::new(&mut space);
    if !rights.push(SendAncillaryMessage::ScmRights(&descriptors)) {
        return Err(Error::other("too many slots"));
    }
    sendmsg(socket, &[IoSlice::new(MESSAGE)], &mut rights, SendFlags::NOSIGNAL)?;
    Ok(())
}
