//! A root of Python's own, in memory, with nothing in it but what Python reads, and that read-only.

use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::unistd::pivot_root;
use std::fs::{File, create_dir_all, read_link, symlink_metadata};
use std::io::{Error, Result};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// A directory that is everywhere, and has nothing in it that is needed; only in our mount namespace is it hidden.
const PLACE: &str = "/proc";
const NOTHING: Option<&str> = None;

/// Whether it was entered. Where not, all is as before, but for what lies hidden under `PLACE`.
pub fn enter(needed: &[PathBuf]) -> bool {
    match prepare(needed) {
        Ok(()) => leave_old().is_ok(),
        Err(_) => false,
    }
}

fn prepare(needed: &[PathBuf]) -> Result<()> {
    // What we mount must not be seen outside.
    mount(NOTHING, "/", NOTHING, MsFlags::MS_REC | MsFlags::MS_PRIVATE, NOTHING)?;
    mount(Some("tmpfs"), PLACE, Some("tmpfs"), MsFlags::MS_NOSUID | MsFlags::MS_NODEV, Some("size=1m,mode=755"))?;
    for path in needed {
        show(path)?;
    }
    Ok(())
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
    // The old root comes to lie over the new one, and is taken away.
    pivot_root(".", ".")?;
    umount2(".", MntFlags::MNT_DETACH)?;
    std::env::set_current_dir("/")?;
    let read_only =
        MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY | MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(NOTHING, "/", NOTHING, read_only, NOTHING)?;
    Ok(())
}
