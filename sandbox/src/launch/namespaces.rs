//! Separate namespaces for Python: it shares no network, processes or mounts with other processes. The launcher enters
//! all namespaces or none, because a kernel or container that allows some allows the rest.

use nix::errno::Errno;
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{getegid, geteuid};
use std::fs::write;

/// Enters the namespaces, and returns the names of those that were entered. The pid namespace begins with the next
/// process.
pub fn enter() -> Vec<String> {
    let mut names = vec!["cgroup", "ipc", "mnt", "net", "pid", "uts"];
    let inner = CloneFlags::CLONE_NEWCGROUP
        | CloneFlags::CLONE_NEWIPC
        | CloneFlags::CLONE_NEWNS
        | CloneFlags::CLONE_NEWNET
        | CloneFlags::CLONE_NEWPID
        | CloneFlags::CLONE_NEWUTS;
    // Root needs no user namespace, if it is a root with this privilege.
    let entered = match geteuid().is_root() {
        true => unshare(inner),
        false => {
            names.push("user");
            as_ourselves(inner)
        }
    };
    match entered {
        Ok(()) => names.iter().map(|&name| name.to_owned()).collect(),
        Err(_) => Vec::new(),
    }
}

/// Makes a user namespace with the same user ids inside and outside. The privileges in it end when Python is executed.
fn as_ourselves(inner: CloneFlags) -> Result<(), Errno> {
    let (uid, gid) = (geteuid(), getegid());
    unshare(CloneFlags::CLONE_NEWUSER | inner)?;
    let map = |file: &str, text: String| write(format!("/proc/self/{file}"), text).map_err(|_| Errno::EPERM);
    map("setgroups", "deny".into())?;
    map("gid_map", format!("{gid} {gid} 1"))?;
    map("uid_map", format!("{uid} {uid} 1"))
}
