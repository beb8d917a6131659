//! The zygote's process.

use crate::log::say;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use std::io::{Error, Result};

/// A child process, so that its id is not reused until the supervisor has waited for it. It is killed when this value
/// is dropped.
pub struct Process {
    pid: Pid,
    is_over: bool,
}

impl Process {
    pub fn of(pid: i32) -> Result<Self> {
        let pid = Pid::from_raw(pid).ok_or_else(|| Error::other("no process id"))?;
        Ok(Self { pid, is_over: false })
    }

    /// Kills the process, and waits for its end.
    pub async fn end(mut self) {
        let waited = tokio::task::spawn_blocking(move || {
            self.kill();
            self.is_over = true;
            waitid(WaitId::Pid(self.pid), WaitIdOptions::EXITED)
        });
        if !matches!(waited.await, Ok(Ok(_))) {
            say("a zygote could not be waited for");
        }
    }

    fn kill(&self) {
        // This fails only if the process is already dead.
        let _ = kill_process(self.pid, Signal::KILL);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.is_over {
            self.kill();
        }
    }
}

/// The size of the process's address space.
pub fn address_space(pid: i32) -> Result<u64> {
    let statm = std::fs::read_to_string(format!("/proc/{pid}/statm"))?;
    let pages: Option<u64> = statm.split(' ').next().and_then(|pages| pages.parse().ok());
    let pages = pages.ok_or_else(|| Error::other("/proc is not as expected"))?;
    Ok(pages * rustix::param::page_size() as u64)
}
