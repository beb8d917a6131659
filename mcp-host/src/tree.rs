//! Ends all descendants of a process, also those that left their process group or their session.

use crate::process_table::ProcessTable;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use std::time::{Duration, Instant};

const BETWEEN_LOOKS: Duration = Duration::from_millis(20);
/// A tree that forks faster than it can be killed is given up after this time. The next look of the host continues.
const GIVE_UP: Duration = Duration::from_secs(10);

/// The descendants that still run.
pub fn running(table: &ProcessTable, root: i32) -> Vec<i32> {
    table.descendants(root).into_iter().filter(|pid| !table.is_zombie(*pid)).collect()
}

/// Ends all descendants of this process: with SIGTERM, and after the grace with SIGKILL. Reaps all of them.
pub fn end_own(grace: Duration) {
    let own = nix::unistd::getpid().as_raw();
    let begun = Instant::now();
    let mut told = grace.is_zero();
    while begun.elapsed() < grace + GIVE_UP {
        reap();
        let Ok(table) = ProcessTable::read() else { return };
        // A process that has ended counts until it has been reaped: its threads may end after it.
        if table.descendants(own).is_empty() {
            return;
        }
        let left = running(&table, own);
        if begun.elapsed() >= grace {
            kill_all(&left);
        } else if !told {
            signal_all(&left, Signal::SIGTERM);
            told = true;
        }
        std::thread::sleep(BETWEEN_LOOKS);
    }
}

/// Kills these processes. They are halted first, so that none of them starts another one meanwhile.
pub fn kill_all(pids: &[i32]) {
    signal_all(pids, Signal::SIGSTOP);
    signal_all(pids, Signal::SIGKILL);
}

fn signal_all(pids: &[i32], signal: Signal) {
    for &pid in pids {
        // The process may have ended.
        let _ = kill(Pid::from_raw(pid), signal);
    }
}

/// Takes notice of all children that have ended.
fn reap() {
    while let Ok(status) = waitpid(None, Some(WaitPidFlag::WNOHANG)) {
        if status == WaitStatus::StillAlive {
            break;
        }
    }
}
