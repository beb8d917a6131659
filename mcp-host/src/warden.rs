//! The warden of one running server: the parent of all its processes. A process whose own parent has ended becomes a child
//! of the warden, whatever its process group or session, so that nothing of a server can slip away. The warden ends when
//! the server has ended, and then ends the way the server did. The warden ends the server if the host tells it to, or dies.

use crate::enter;
use crate::home;
use crate::log::say;
use crate::tree;
use nix::sys::prctl::{set_child_subreaper, set_pdeathsig};
use nix::sys::signal::{SigSet, Signal, raise};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, dup2_stdin, dup2_stdout, getppid};
use std::fs::File;
use std::io::{Error, Result};
use std::path::Path;
use std::process::{Command, exit};
use std::time::Duration;

pub const ROLE: &str = "warden";

/// How long a server may take to end after SIGTERM.
pub const GRACE: Duration = Duration::from_secs(2);

/// The exit status of a shell whose command cannot be run.
const NOT_RUN: i32 = 127;

/// `warden HOST_PID OPEN_FILES HOME PROGRAM ARGUMENTS…`
pub fn main(arguments: &[String]) -> Result<()> {
    let [host, open_files, home, rest @ ..] = arguments else {
        return Err(Error::other("a warden is started by the host alone"));
    };
    let mut signals = SigSet::empty();
    for signal in [Signal::SIGCHLD, Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        signals.add(signal);
    }
    signals.thread_block()?;
    set_child_subreaper(true)?;
    set_pdeathsig(Signal::SIGTERM)?;
    // The host may have died before the line above.
    if getppid().to_string() != *host {
        return Err(Error::other("the host is gone"));
    }
    let ended = run(open_files, rest, &signals);
    home::remove(Path::new(home));
    finish(ended?)
}

/// Runs the server. Returns how the server ended, or none if it was told to end.
fn run(open_files: &str, program: &[String], signals: &SigSet) -> Result<Option<WaitStatus>> {
    let own = std::process::id().to_string();
    let mut command = Command::new(std::env::current_exe()?);
    let server = command.args([enter::ROLE, &own, open_files]).args(program).spawn()?;
    let server = Pid::from_raw(i32::try_from(server.id()).map_err(Error::other)?);
    // The pipes belong to the server alone, so that the host notices when the server closes them.
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&nothing)?;
    dup2_stdout(&nothing)?;
    loop {
        if signals.wait()? != Signal::SIGCHLD {
            tree::end_own(GRACE);
            return Ok(None);
        }
        while let Ok(status) = waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            match status {
                WaitStatus::StillAlive => break,
                status if status.pid() == Some(server) => {
                    tree::end_own(Duration::ZERO);
                    return Ok(Some(status));
                }
                _ => {}
            }
        }
    }
}

/// Ends the way the server ended.
fn finish(ended: Option<WaitStatus>) -> Result<()> {
    match ended {
        Some(WaitStatus::Exited(_, status)) => exit(status),
        Some(WaitStatus::Signaled(_, signal, _)) => {
            SigSet::all().thread_unblock()?;
            raise(signal)?;
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Says why a program could not be started, in the server's own stderr, and ends.
pub fn not_run(program: &str, cause: &Error) -> ! {
    say(format!("{program} cannot be started: {cause}"));
    exit(NOT_RUN)
}
