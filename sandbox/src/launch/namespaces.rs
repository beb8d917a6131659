//! Namespaces of Python's own: no network, no other processes, no mounts in common with anybody. All at once or none,
//! for kernels and containers that give some give the rest.

use nix::errno::Errno;
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{getegid, geteuid};
use std::fs::write;

/// Enters them; answers the names of those entered. The pid namespace begins with the next process.
pub fn enter() -> Vec<String> {
    let mut names = vec!["cgroup", "ipc", "mnt", "net", "pid", "uts"];
    let inner = CloneFlags::CLONE_NEWCGROUP
        | CloneFlags::CLONE_NEWIPC
        | CloneFlags::CLONE_NEWNS
        | CloneFlags::CLONE_NEWNET
        | CloneFlags::CLONE_NEWPID
        | CloneFlags::CLONE_NEWUTS;
    // Root has no need of a user namespace, where it is a root that may do this.
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

/// In a user namespace, where we are who we are outside. What that allows ends when Python is executed.
fn as_ourselves(inner: CloneFlags) -> Result<(), Errno> {
    let (uid, gid) = (geteuid(), getegid());
    unshare(CloneFlags::CLONE_NEWUSER | inner)?;
    let map = |file: &str, text: String| write(format!("/proc/self/{file}"), text).map_err(|_| Errno::EPERM);
    map("setgroups", "deny".into())?;
    map("gid_map", format!("{gid} {gid} 1"))?;
    map("uid_map", format!("{uid} {uid} 1"))
}
