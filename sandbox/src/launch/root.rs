//! A root file system for Python, in memory and read-only, which holds only the files that Python reads.

use super::slots;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::unistd::pivot_root;
use std::fs::{File, create_dir_all, read_link, symlink_metadata};
use std::io::{Error, Result};
use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// A directory that exists on every system, and that Python does not need. It is hidden in our own mount namespace
/// only.
const PLACE: &str = "/proc";
const NOTHING: Option<&str> = None;

/// Enters the new root, and returns the slots that were mounted in it. Returns none if the new root could not be entered;
/// then the file system is unchanged, except that `PLACE` may be hidden.
pub fn enter(needed: &[PathBuf], slots: usize) -> Option<Vec<OwnedFd>> {
    let slots = prepare(needed, slots).ok()?;
    leave_old().is_ok().then_some(slots)
}

fn prepare(needed: &[PathBuf], count: usize) -> Result<Vec<OwnedFd>> {
    // Our mounts must not be visible outside.
    mount(NOTHING, "/", NOTHING, MsFlags::MS_REC | MsFlags::MS_PRIVATE, NOTHING)?;
    mount(Some("tmpfs"), PLACE, Some("tmpfs"), MsFlags::MS_NOSUID | MsFlags::MS_NODEV, Some("size=1m,mode=755"))?;
    for path in needed {
        show(path)?;
    }
    if count > 0 { slots::mount_all(Path::new(PLACE), count) } else { Ok(Vec::new()) }
}

fn show(path: &Path) -> Result<()> {
    let inside = Path::new(PLACE).join(path.strip_prefix("/").map_err(Error::other)?);
    if inside.exists() {
        return Ok(());
    }
    if let Some(parent) = inside.parent() {
        create_dir_all(parent)?;
    }
    let kind = symlink_metadata(path)?;
    if kind.is_symlink() {
        return symlink(read_link(path)?, inside);
    }
    match kind.is_dir() {
        true => create_dir_all(&inside)?,
        false => drop(File::create(&inside)?),
    }
    mount(Some(path), &inside, NOTHING, MsFlags::MS_BIND | MsFlags::MS_REC, NOTHING)?;
    let read_only =
        MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY | MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(NOTHING, &inside, NOTHING, read_only, NOTHING)?;
    Ok(())
}

fn leave_old() -> Result<()> {
    std::env::set_current_dir(PLACE)?;
    // The old root is mounted over the new one, and then unmounted.
    pivot_root(".", ".")?;
    umount2(".", MntFlags::MNT_DETACH)?;
    std::env::set_current_dir("/")?;
    let read_only =
        MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY | MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(NOTHING, "/", NOTHING, read_only, NOTHING)?;
    Ok(())
}
