//! The zygote's process.

use crate::log::say;
use rustix::process::{Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, pidfd_open, pidfd_send_signal, waitid};
use std::io::{Error, Result};
use std::os::fd::{AsFd, OwnedFd};

/// Killed when dropped.
pub struct Process {
    pidfd: OwnedFd,
}

impl Process {
    pub fn of(pid: i32) -> Result<Self> {
        let pid = Pid::from_raw(pid).ok_or_else(|| Error::other("no process id"))?;
        Ok(Self { pidfd: pidfd_open(pid, PidfdFlags::empty())? })
    }

    /// Kills it, and waits until it is gone.
    pub async fn end(self) {
        let waited = tokio::task::spawn_blocking(move || {
            self.kill();
            waitid(WaitId::PidFd(self.pidfd.as_fd()), WaitIdOptions::EXITED)
        });
        if !matches!(waited.await, Ok(Ok(_))) {
            say("a zygote could not be waited for");
        }
    }

    fn kill(&self) {
        // It fails only on one that is dead already.
        let _ = pidfd_send_signal(&self.pidfd, Signal::KILL);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// How much address space it has.
pub fn address_space(pid: i32) -> Result<u64> {
    let statm = std::fs::read_to_string(format!("/proc/{pid}/statm"))?;
    let pages: Option<u64> = statm.split(' ').next().and_then(|pages| pages.parse().ok());
    let pages = pages.ok_or_else(|| Error::other("/proc is not as expected"))?;
    Ok(pages * rustix::param::page_size() as u64)
}
