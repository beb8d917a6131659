//! The wardens of the running servers: the only children that the host ever starts. A child of the host that is no warden
//! has lost its warden, and is killed.

use crate::process_table::ProcessTable;
use crate::tree;
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;
use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Default)]
pub struct Wardens(Mutex<HashSet<i32>>);

impl Wardens {
    fn pids(&self) -> MutexGuard<'_, HashSet<i32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn add(&self, pid: i32) {
        self.pids().insert(pid);
    }

    /// To be called when the warden has been reaped, and not before.
    pub fn remove(&self, pid: i32) {
        self.pids().remove(&pid);
    }

    /// Kills and reaps all processes that have lost their warden.
    pub fn sweep_orphans(&self, table: &ProcessTable) {
        let own = nix::unistd::getpid().as_raw();
        let orphans: Vec<i32> = {
            let wardens = self.pids();
            table.children(own).iter().copied().filter(|pid| !wardens.contains(pid)).collect()
        };
        for orphan in orphans {
            let mut left = tree::running(table, orphan);
            left.push(orphan);
            tree::kill_all(&left);
            // One that has not ended yet is reaped by the next sweep.
            let _ = waitpid(Pid::from_raw(orphan), Some(WaitPidFlag::WNOHANG));
        }
    }
}
