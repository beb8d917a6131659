//! The last step before a server: sets what a process can only set for itself, and becomes the server's program.

use crate::warden;
use nix::sys::prctl::{set_no_new_privs, set_pdeathsig};
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{SigSet, Signal};
use nix::unistd::{getppid, setsid};
use std::io::{Error, Result};
use std::os::unix::process::CommandExt;
use std::process::Command;

pub const ROLE: &str = "enter";

/// `enter WARDEN_PID OPEN_FILES PROGRAM ARGUMENTS…`
pub fn main(arguments: &[String]) -> Result<()> {
    let [parent, open_files, program, rest @ ..] = arguments else {
        return Err(Error::other("a server is entered by its warden alone"));
    };
    // A session of its own has no terminal, and is a process group of its own.
    setsid()?;
    set_pdeathsig(Signal::SIGKILL)?;
    // The warden may have died before the line above.
    if getppid().to_string() != *parent {
        return Err(Error::other("the warden is gone"));
    }
    // A program with another user's rights could not be killed.
    set_no_new_privs()?;
    let open_files: u64 = open_files.parse().map_err(Error::other)?;
    setrlimit(Resource::RLIMIT_NOFILE, open_files, open_files)?;
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    // The warden blocks its own signals.
    SigSet::all().thread_unblock()?;
    warden::not_run(program, &Command::new(program).args(rest).exec())
}
